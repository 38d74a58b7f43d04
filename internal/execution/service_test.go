//go:build !windows

package execution_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// service is the executor protocol in memory, strict where an executor could go
// wrong: tokens, keys, the artifacts a result needs.
type service struct {
	mu   sync.Mutex // guards everything below
	down bool       // nobody answers

	phase     phase.Phase
	base      string
	head      string
	beat      time.Duration
	limit     time.Duration // between claim and runDeadline, 0 for none
	refuse    map[string]refusal.Code
	stop      bool
	note      string
	keys      map[string]*run // claims by key
	runs      map[string]*run // by execution
	beats     int
	failures  int // calls that got no answer
	afterBeat func()
}

type run struct {
	Ticket    execution.Ticket
	Artifacts map[phase.Proof][]byte
	End       *execution.End
	Ends      int
	Late      []execution.End
	Verified  []execution.VerifyRequest
	asked     execution.ClaimRequest
	over      bool
	verifies  map[string][]byte
	ended     map[string]execution.Ended
}

func newService(p phase.Phase) *service {
	return &service{phase: p, beat: time.Minute, refuse: map[string]refusal.Code{}, keys: map[string]*run{}, runs: map[string]*run{}, note: "# Release note: IC-001 version 1\n"}
}

var errAway = errors.New("connection refused")

// locked does one call.
func (s *service) locked(name string, fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		s.failures++
		return errAway
	}
	if code := s.refuse[name]; code != "" {
		return refusal.New(code, "the test refuses %s", name)
	}
	return fn()
}

func (s *service) set(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

func (s *service) Claim(_ context.Context, key string, c execution.ClaimRequest) (*execution.Claim, error) {
	var out *execution.Claim
	err := s.locked("claim", func() error {
		r := s.keys[key]
		if r == nil {
			for _, other := range s.runs {
				if !other.over {
					return refusal.New(refusal.LockHeld, "%s holds it", other.Ticket.ExecutionID)
				}
			}
			r = &run{
				Ticket:    execution.Ticket{ExecutionID: fmt.Sprintf("exec-%d", len(s.runs)+1), LockToken: int64(len(s.runs) + 1)},
				Artifacts: map[phase.Proof][]byte{}, ended: map[string]execution.Ended{},
			}
			r.asked = c
			s.keys[key], s.runs[r.Ticket.ExecutionID] = r, r
		}
		if r.asked != c {
			return refusal.New(refusal.RequestIDConflict, "the key was used for %+v", r.asked)
		}
		base := s.base
		if base == "" {
			base = c.BaseCommit
		}
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // another clock than the runner's
		out = &execution.Claim{
			ExecutionID: r.Ticket.ExecutionID, LockToken: r.Ticket.LockToken, LockedUntil: now.Add(300 * time.Second), Heartbeat: s.beat,
			Phase: s.phase, Role: contract.Developer, BaseCommit: base, HeadCommit: s.head, Stale: contract.Fresh, Task: task(),
		}
		if s.limit > 0 {
			out.Deadline = now.Add(s.limit)
		}
		return nil
	})
	return out, err
}

func task() *contract.TaskSeed {
	return &contract.TaskSeed{
		Base:        contract.Base{ID: "TS-001", State: contract.Active, Version: 3},
		Description: "say hello", ExecutionPlan: []string{"write it", "test it"},
	}
}

// live is the run of a ticket that may still be written to.
func (s *service) live(t execution.Ticket) (*run, error) {
	r := s.runs[t.ExecutionID]
	if r == nil || r.Ticket != t || r.over {
		return r, refusal.New(refusal.LockLost, "%s is over", t.ExecutionID)
	}
	return r, nil
}

func (s *service) Heartbeat(_ context.Context, t execution.Ticket) (execution.Beat, error) {
	var b execution.Beat
	err := s.locked("beat", func() error {
		s.beats++
		if s.afterBeat != nil {
			s.afterBeat()
		}
		_, err := s.live(t)
		b.Stop = s.stop
		return err
	})
	return b, err
}

func (s *service) Put(_ context.Context, t execution.Ticket, _ string, kind phase.Proof, b []byte) error {
	return s.locked("put "+string(kind), func() error {
		r, err := s.live(t)
		if err != nil {
			return err
		}
		if _, err := artifact.NewRecord(kind, "TS-001", 3, s.phase, t.ExecutionID, b); err != nil {
			return err
		}
		if before, there := r.Artifacts[kind]; there && !bytes.Equal(before, b) {
			return refusal.New(refusal.ContractVersionConflict, "another %s", kind)
		}
		r.Artifacts[kind] = b
		return nil
	})
}

var errNoRun = errors.New("no such run")

func (s *service) End(_ context.Context, t execution.Ticket, key string, e execution.End) (execution.Ended, error) {
	var out execution.Ended
	name := "complete"
	if e.Outcome == phase.Failed {
		name = "fail"
	}
	err := s.locked(name, func() error {
		r := s.runs[t.ExecutionID]
		if r == nil {
			return errNoRun
		}
		if first, again := r.ended[key]; again {
			out = first
			return nil
		}
		if _, err := s.live(t); err != nil {
			r.Late = append(r.Late, e)
			out.Evidence = "EV-099"
			return err
		}
		for _, kind := range needs(s.phase, e) {
			if _, there := r.Artifacts[kind]; !there {
				return refusal.New(refusal.PhaseEvidenceMissing, "%s is missing", kind)
			}
		}
		if err := evidenceFits(e); err != nil {
			return err
		}
		out = execution.Ended{Evidence: "EV-001", RetryAllowed: name == "fail", Completed: name != "fail", Outcome: e.Outcome, Runs: 1}
		r.over, r.End, r.ended[key] = true, &e, out
		r.Ends++
		return nil
	})
	return out, err
}

func (s *service) Verify(_ context.Context, key string, v execution.VerifyRequest) error {
	return s.locked("verify", func() error {
		for _, r := range s.runs {
			if r.End == nil || r.End.HeadCommit != v.HeadCommit {
				continue
			}
			if before, there := r.verifies[key]; there && !bytes.Equal(before, v.Artifact) {
				return refusal.New(refusal.RequestIDConflict, "the key was used for another artifact")
			}
			r.verifies = map[string][]byte{key: v.Artifact}
			r.Verified = append(r.Verified, v)
			return nil
		}
		return refusal.New(refusal.PhaseGuardFailed, "no run has ended with %s", v.HeadCommit)
	})
}

func (s *service) Note(context.Context, contract.ID) ([]byte, error) {
	var note []byte
	err := s.locked("note", func() error { note = []byte(s.note); return nil })
	return note, err
}

// needs is what the steps out of a phase ask for.
func needs(p phase.Phase, e execution.End) []phase.Proof {
	failed := e.Outcome == phase.Failed || slices.ContainsFunc(e.Checks, func(c execution.Check) bool { return !c.Passed })
	switch {
	case e.Outcome == phase.Blocked:
	case p == phase.Build && !failed:
		return []phase.Proof{phase.BuildLog, phase.UnitTestResult}
	case p == phase.Build:
		return []phase.Proof{phase.ErrorLog}
	case p == phase.Stabilize && !failed:
		return []phase.Proof{phase.IntegrationReport}
	case p == phase.Stabilize:
		return []phase.Proof{phase.FailedTestLog}
	case p == phase.Publish && !failed:
		return []phase.Proof{phase.ReleaseNote}
	}
	return nil
}

// evidenceFits completes the Evidence as the service does and asks the schema.
func evidenceFits(e execution.End) error {
	var v map[string]any
	if err := json.Unmarshal(e.Evidence, &v); err != nil {
		return err
	}
	for name, value := range map[string]any{
		"schemaVersion": "1.0.0", "id": "EV-001", "kind": "Evidence", "state": "Published", "version": 1,
		"createdAt": "2030-01-01T00:00:00Z", "updatedAt": "2030-01-01T00:00:00Z", "taskSeedId": "TS-001", "actor": "bot",
		"staleStatus": map[string]any{"classification": "fresh", "evaluatedAt": "2030-01-01T00:00:00Z"},
		"mergeResult": map[string]any{"status": "not_applicable"}, "policyVerdict": "approved",
	} {
		v[name] = value
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d, err := contract.Decode(text)
	if err != nil {
		return err
	}
	ev := d.(*contract.Evidence)
	if ev.HeadCommit != e.HeadCommit || ev.EndTime.Before(ev.StartTime) {
		return refusal.New(refusal.EvidenceTimeOrder, "the Evidence does not fit")
	}
	return nil
}

// only is the one run there was.
func (s *service) only(t *testing.T) *run {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.runs) != 1 {
		t.Fatalf("there were %d runs", len(s.runs))
	}
	return s.runs["exec-1"]
}

// call is one call over the wire, for a runner in a process of its own.
type call struct {
	Method string
	Key    string
	Claim  execution.ClaimRequest
	Ticket execution.Ticket
	Kind   phase.Proof
	Bytes  []byte
	End    execution.End
	Verify execution.VerifyRequest
	Task   contract.ID
}

type reply struct {
	Code    refusal.Code
	Message string
	Claim   *execution.Claim
	Beat    execution.Beat
	Ended   execution.Ended
	Note    []byte
}

// listen serves s to other processes.
func (s *service) listen(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var c call
		var r reply
		err := json.NewDecoder(q.Body).Decode(&c)
		if err == nil {
			switch c.Method {
			case "claim":
				r.Claim, err = s.Claim(q.Context(), c.Key, c.Claim)
			case "beat":
				r.Beat, err = s.Heartbeat(q.Context(), c.Ticket)
			case "put":
				err = s.Put(q.Context(), c.Ticket, c.Key, c.Kind, c.Bytes)
			case "end":
				r.Ended, err = s.End(q.Context(), c.Ticket, c.Key, c.End)
			case "verify":
				err = s.Verify(q.Context(), c.Key, c.Verify)
			case "note":
				r.Note, err = s.Note(q.Context(), c.Task)
			}
		}
		if err != nil {
			if r.Code = refusal.CodeOf(err); r.Code == "" {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			r.Message = err.Error()
		}
		if err := json.NewEncoder(w).Encode(r); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// remote is the other side of listen. It may be told to die around a call.
type remote struct {
	url string
	die func(moment string)
}

func (r remote) call(ctx context.Context, name string, c call) (reply, error) {
	r.die("before " + name)
	body, err := json.Marshal(c)
	if err != nil {
		return reply{}, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return reply{}, err
	}
	defer answer.Body.Close() // read to its end
	var out reply
	if answer.StatusCode != http.StatusOK {
		return out, errAway
	}
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		return out, err
	}
	r.die("after " + name)
	if out.Code != "" {
		return out, refusal.New(out.Code, "%s", out.Message)
	}
	return out, nil
}

func (r remote) Claim(ctx context.Context, key string, c execution.ClaimRequest) (*execution.Claim, error) {
	out, err := r.call(ctx, "claim", call{Method: "claim", Key: key, Claim: c})
	return out.Claim, err
}

func (r remote) Heartbeat(ctx context.Context, t execution.Ticket) (execution.Beat, error) {
	out, err := r.call(ctx, "beat", call{Method: "beat", Ticket: t})
	return out.Beat, err
}

func (r remote) Put(ctx context.Context, t execution.Ticket, key string, kind phase.Proof, b []byte) error {
	_, err := r.call(ctx, "put "+string(kind), call{Method: "put", Ticket: t, Key: key, Kind: kind, Bytes: b})
	return err
}

func (r remote) End(ctx context.Context, t execution.Ticket, key string, e execution.End) (execution.Ended, error) {
	out, err := r.call(ctx, "end", call{Method: "end", Ticket: t, Key: key, End: e})
	return out.Ended, err
}

func (r remote) Verify(ctx context.Context, key string, v execution.VerifyRequest) error {
	_, err := r.call(ctx, "verify", call{Method: "verify", Key: key, Verify: v})
	return err
}

func (r remote) Note(ctx context.Context, id contract.ID) ([]byte, error) {
	out, err := r.call(ctx, "note", call{Method: "note", Task: id})
	return out.Note, err
}
