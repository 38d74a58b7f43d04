package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/testdata/contracts"
)

// onBoth is the stories that are told on PostgreSQL too: a rejection, an expiry,
// a lost lock and a revision. What differs there is how rows are locked.
var onBoth = []int{3, 4, 8, 9}

// The whole chains of docs/spec/contracts.md §19, told to the use cases on a
// database, with a clock and a queue that the story moves. In every other story
// the queue delivers each job twice.

type storyFile struct {
	Count   int
	Steps   int
	Vectors []story
	Format  struct {
		Actors []struct {
			ActorID contract.ActorID
			Roles   []string
			Type    contract.ActorType
		}
	}
}

type story struct {
	Name  string
	Steps []storyStep
}

type storyStep struct {
	Step    int
	At      time.Time
	Command string
	Actor   struct {
		ActorID contract.ActorID
		Role    contract.Role
	}
	Args     storyArgs
	Expected struct {
		OK        bool
		Code      refusal.Code
		Result    map[string]any
		Events    []struct{ ID string }
		Phase     *string
		Contracts []map[string]any
	}
}

type storyArgs struct {
	ID                    contract.ID
	Version               int64
	Intent, Priority      string
	RequestedCapabilities []string
	Decision              contract.Decision
	Reason                *string
	Digest                string
	Phase                 string
	ExecutionID           string
	Outcome               phase.Outcome
	HeadCommit            string
	SameDiff              bool
	Checks                []event.Check
	RiskSignals           map[string]bool
	Artifacts             []phase.Proof
	Verdict               string
	Blocking              []pipeline.Blocking
	Resolution            string
	Ground                contract.Ground
	TaskSeedID            contract.ID
	Capability            string
	CommitChanged         bool
	Refetch               string
}

func TestTheStoriesOfTheSpecification(t *testing.T) {
	text, err := contracts.Files.ReadFile("vectors/stories.json")
	if err != nil {
		t.Fatal(err)
	}
	var file storyFile
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for i, s := range file.Vectors {
		steps += len(s.Steps)
		t.Run(s.Name, func(t *testing.T) {
			tell := func(t *testing.T, at string) {
				t.Helper()
				w := newWorldAt(t, at, nil)
				w.twice = i%2 == 0 // a queue delivers at least once
				for _, a := range file.Format.Actors {
					roles, err := contract.ParseRoles(a.Roles)
					if err != nil {
						t.Fatal(err)
					}
					w.people(pipeline.Actor{ID: a.ActorID, Type: a.Type, Roles: roles})
				}
				teller := &teller{world: w}
				for _, step := range s.Steps {
					if !teller.tell(step) {
						return
					}
				}
			}
			if slices.Contains(onBoth, i+1) {
				both(t, tell)
				return
			}
			t.Parallel()
			tell(t, filepath.Join(t.TempDir(), "plimsoll.db"))
		})
	}
	if len(file.Vectors) != file.Count || steps != file.Steps || steps == 0 {
		t.Errorf("told %d stories with %d steps, the file has %d with %d", len(file.Vectors), steps, file.Count, file.Steps)
	}
}

// teller tells one story.
type teller struct {
	*world
	events int64
}

func (s *teller) tell(step storyStep) bool {
	s.Helper()
	where := fmt.Sprintf("step %d, %s", step.Step, step.Command)
	s.at(step.At)
	s.drain()
	before := s.records()
	result, err := s.command(step)
	after := s.records()
	s.drain()
	if got := refusal.CodeOf(err); got != step.Expected.Code || (err == nil) != step.Expected.OK {
		s.Errorf("%s: answered %v (%s), want %q", where, err, got, step.Expected.Code)
		return false
	}
	for name, want := range step.Expected.Result {
		if diff := cmp.Diff(want, result[name]); diff != "" {
			s.Errorf("%s: %s differs (-want +got)\n%s", where, name, diff)
		}
	}
	if audited(step.Command) {
		s.audit(where, step, after[len(before):])
	}
	s.compare(where, step)
	return !s.Failed()
}

func audited(command string) bool { return command != "clock.tick" && command != "context.set" }

// records is the audit log so far.
func (s *teller) records() []pipeline.AuditLine {
	return read(s.world, func(r pipeline.Reader) ([]pipeline.AuditLine, error) { return r.Audit(0, pipeline.AuditFilter{}, 0) })
}

// audit holds that the command left one record of its actor, with success false
// for a code.
func (s *teller) audit(where string, step storyStep, added []pipeline.AuditLine) {
	s.Helper()
	n := 0
	for _, line := range added {
		var r struct {
			ActorID, Role string
			Success       bool
			Action        string
			Error         *struct{ Code string }
		}
		if err := json.Unmarshal(line.Text, &r); err != nil {
			s.Fatal(err)
		}
		own := map[string]string{
			"intent.create": "contract.create", "intent.revise": "contract.create", "contract.revoke": "contract.transition",
			"run.start": "run.start", "run.finish": "run.end",
		}[step.Command]
		if own == "" {
			own = step.Command
		}
		if r.Action != own || r.ActorID != string(step.Actor.ActorID) || r.Role != string(step.Actor.Role) {
			continue
		}
		n++
		if r.Success != step.Expected.OK || !r.Success && (r.Error == nil || r.Error.Code != string(step.Expected.Code)) {
			s.Errorf("%s: the audit record says %s", where, line.Text)
		}
	}
	if n != 1 {
		s.Errorf("%s: %d audit records of the command, want 1", where, n)
	}
}

// command carries out a step and answers the members the vectors compare.
func (s *teller) command(step storyStep) (map[string]any, error) {
	ctx, who, a := s.Context(), by(step.Actor.ActorID, step.Actor.Role), step.Args
	switch step.Command {
	case "intent.create", "intent.revise":
		args := pipeline.IntentArgs{Intent: a.Intent, Priority: a.Priority, RequestedCapabilities: a.RequestedCapabilities}
		raise := s.IntentCreate
		if step.Command == "intent.revise" {
			raise = func(ctx context.Context, who pipeline.Caller, args pipeline.IntentArgs) (*pipeline.Shown, error) {
				return s.IntentRevise(ctx, who, a.ID, args)
			}
		}
		shown, err := raise(ctx, who, args)
		if err != nil {
			return nil, err
		}
		return map[string]any{"id": string(shown.Ref().ID), "version": float64(shown.Ref().Version)}, nil
	case "activation.decide":
		out, err := s.ActivationDecide(ctx, who, pipeline.ActivationArgs{ID: a.ID, Version: a.Version, Decision: a.Decision, Reason: a.Reason})
		if err != nil {
			return nil, err
		}
		return map[string]any{"duplicate": out.Duplicate}, nil
	case "run.start":
		c, err := s.claim(who, "TS-001", a.Phase)
		if err != nil {
			return nil, err
		}
		return map[string]any{"executionId": c.Run.ExecutionID}, nil
	case "run.heartbeat":
		who.LockToken = s.tokens[a.ExecutionID]
		_, err := s.RunHeartbeat(ctx, who, a.ExecutionID)
		return nil, err
	case "run.finish":
		return s.finish(step)
	case "review.record":
		_, err := s.ReviewRecord(ctx, who, pipeline.ReviewArgs{Task: "TS-001", Verdict: a.Verdict, HeadCommit: a.HeadCommit, Blocking: a.Blocking})
		return nil, err
	case "gate.decide":
		out, err := s.GateDecide(ctx, who, pipeline.GateArgs{
			ID: a.ID, Version: a.Version, Decision: a.Decision, Digest: s.digest(a), Reason: a.Reason,
		})
		if err != nil {
			return nil, err
		}
		return map[string]any{"finalDecision": string(out.FinalDecision), "duplicate": out.Duplicate}, nil
	case "gate.hold":
		_, err := s.GateHold(ctx, who, pipeline.HoldArgs{ID: a.ID, Version: a.Version})
		return nil, err
	case "gate.release":
		_, err := s.GateRelease(ctx, who, pipeline.HoldArgs{ID: a.ID, Version: a.Version})
		return nil, err
	case "contract.resume":
		_, err := s.ContractResume(ctx, who, pipeline.ResumeArgs{ID: a.ID, Version: a.Version, Resolution: a.Resolution})
		return nil, err
	case "contract.revoke":
		reason := ""
		if a.Reason != nil {
			reason = *a.Reason
		}
		_, err := s.ContractRevoke(ctx, who, pipeline.RevokeArgs{ID: a.ID, Version: a.Version, Ground: a.Ground, Reason: reason})
		return nil, err
	case "acceptance.reevaluate":
		out, err := s.AcceptanceReevaluate(ctx, who, pipeline.ReevaluateArgs{ID: a.ID})
		if err != nil {
			return nil, err
		}
		return map[string]any{"version": float64(out.Ref().Version)}, nil
	case "operation.request":
		return nil, s.OperationRequest(ctx, who, pipeline.OperationArgs{Task: a.TaskSeedID, Capability: a.Capability})
	case "clock.tick":
		return nil, nil
	case "context.set":
		if a.CommitChanged {
			s.tip = "feedfee"
		}
		if a.Refetch != "" {
			s.fetches = a.Refetch == "success"
		}
		return nil, nil
	}
	s.Fatalf("the story has the unknown command %s", step.Command)
	return nil, nil
}

// digest is the approval digest a decision names.
func (s *teller) digest(a storyArgs) string {
	ref := pipeline.Ref{ID: a.ID, Version: a.Version}
	switch a.Digest {
	case "":
		return ""
	case "current":
	default:
		id, version, _ := strings.Cut(a.Digest, "@")
		ref.ID = contract.ID(id)
		if _, err := fmt.Sscan(version, &ref.Version); err != nil {
			s.Fatal(err)
		}
	}
	return read(s.world, func(r pipeline.Reader) (string, error) {
		c, err := r.ContractAt(ref)
		if err != nil {
			return "", err
		}
		return c.ApprovalDigest, nil
	})
}

// finish ends a run as its executor would: with what the phase asks for besides
// what the step names.
func (s *teller) finish(step storyStep) (map[string]any, error) {
	a, who := step.Args, by(step.Actor.ActorID, step.Actor.Role)
	run, chain := s.running(a.ExecutionID)
	who.LockToken = s.tokens[a.ExecutionID]
	kinds := map[string][]phase.Proof{
		"Build succeeded": {phase.BuildLog, phase.UnitTestResult}, "Build failed": {phase.ErrorLog},
		"Stabilize succeeded": {phase.IntegrationReport, phase.FailedTestLog}, "Stabilize failed": {phase.FailedTestLog},
	}[string(run.Phase)+" "+string(a.Outcome)]
	if run.Alive() {
		s.put(who, a.ExecutionID, append(kinds, a.Artifacts...)...)
	}
	head := a.HeadCommit
	if head == "" {
		head = chain.HeadCommit
	}
	diff, output := "", ""
	if a.SameDiff {
		diff = chain.DiffHash
	}
	if slices.Contains(a.Artifacts, phase.ReleaseNote) {
		note, err := s.NoteGet(s.Context(), run.TaskSeed.ID)
		if err != nil {
			s.Fatal(err)
		}
		output = contract.Hash(note.Markdown)
	}
	known := evidence(run.BaseCommit, head, diff, output, run.StartedAt, step.At)
	var out *pipeline.Ended
	var err error
	if a.Outcome == phase.Failed {
		out, err = s.RunFail(s.Context(), who, pipeline.FailArgs{Execution: a.ExecutionID, Reason: "it does not build", Evidence: known})
	} else {
		out, err = s.RunComplete(s.Context(), who, pipeline.CompleteArgs{
			Execution: a.ExecutionID, Outcome: a.Outcome, Evidence: known, Checks: a.Checks, Signals: a.RiskSignals,
		})
	}
	if err != nil {
		return nil, err
	}
	result := map[string]any{}
	if out.RetryAllowed {
		result["retryAllowed"] = true
	}
	if out.Completed != nil {
		result["completed"] = map[string]any{"outcome": string(out.Completed.Outcome), "runs": float64(out.Completed.Runs)}
	}
	return result, nil
}

func (s *teller) running(id string) (*pipeline.Run, *pipeline.Chain) {
	type both struct {
		run   *pipeline.Run
		chain *pipeline.Chain
	}
	b := read(s.world, func(r pipeline.Reader) (both, error) {
		run, err := r.Run(id)
		if err != nil {
			return both{}, err
		}
		chain, err := r.Chain(run.Chain)
		return both{run, chain}, err
	})
	return b.run, b.chain
}

// compare holds what became visible against the step: events, phase, contracts.
func (s *teller) compare(where string, step storyStep) {
	s.Helper()
	list := read(s.world, func(r pipeline.Reader) ([]pipeline.Event, error) {
		return r.Events(s.events, pipeline.EventFilter{}, 0)
	})
	got, want := []string{}, []string{}
	for i, e := range list {
		s.events = e.Position
		got = append(got, e.ID)
		if err := e.Check(); err != nil {
			s.Errorf("%s: %v", where, err)
		}
		for _, later := range list[i+1:] {
			if event.Before(later.Type, e.Type) {
				s.Errorf("%s: %s came before %s", where, e.ID, later.ID)
			}
		}
	}
	for _, e := range step.Expected.Events {
		want = append(want, e.ID)
	}
	sort.Strings(got)
	sort.Strings(want)
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("%s: events differ (-want +got)\n%s", where, diff)
	}
	chain := read(s.world, func(r pipeline.Reader) (*pipeline.Chain, error) { return r.Chain("IC-001") })
	wanted := ""
	if step.Expected.Phase != nil {
		wanted = *step.Expected.Phase
	}
	if string(chain.Phase) != wanted {
		s.Errorf("%s: the chain is in %q, want %q", where, chain.Phase, wanted)
	}
	stored := read(s.world, func(r pipeline.Reader) ([]*pipeline.Contract, error) { return r.OfChain("IC-001") })
	rows := map[string]*pipeline.Contract{}
	for _, c := range stored {
		rows[fmt.Sprintf("%s %d", c.Ref().ID, c.Ref().Version)] = c
	}
	for _, e := range step.Expected.Contracts {
		name := fmt.Sprintf("%s %v", e["id"], e["version"])
		c := rows[name]
		delete(rows, name)
		if c == nil {
			s.Errorf("%s: %s is not stored", where, name)
			continue
		}
		is := described(c)
		for member, value := range e {
			if diff := cmp.Diff(value, is[member]); diff != "" {
				s.Errorf("%s: %s of %s differs (-want +got)\n%s", where, member, name, diff)
			}
		}
	}
	for name := range rows {
		s.Errorf("%s: %s is stored and not expected", where, name)
	}
}

// described is a stored contract as the stories state it.
func described(c *pipeline.Contract) map[string]any {
	h := c.Document.Head()
	m := map[string]any{"id": string(h.ID), "version": float64(h.Version), "state": string(h.State)}
	if h.State == contract.Frozen {
		m["freezeCause"] = string(c.FreezeCause)
	}
	switch d := c.Document.(type) {
	case *contract.Acceptance:
		m["status"] = string(d.Status)
	case *contract.PublishGate:
		m["riskLevel"], m["finalDecision"], m["action"] = string(d.RiskLevel), string(d.FinalDecision), string(d.Action)
		approvals := []any{}
		for _, a := range d.Approvals {
			approvals = append(approvals, string(a.Role)+"/"+string(a.ActorID)+"/"+string(a.Decision))
		}
		m["approvals"] = approvals
		if !d.ApprovalDeadline.IsZero() {
			m["approvalDeadline"] = d.ApprovalDeadline.String()
		}
	case *contract.Evidence:
		m["executionId"], m["actor"], m["policyVerdict"] = c.ExecutionID, string(d.Actor), string(d.PolicyVerdict)
		m["staleClassification"], m["mergeStatus"] = string(d.StaleStatus.Classification), string(d.MergeResult.Status)
		m["approvalsSnapshot"] = d.ApprovalsSnapshot != nil
	}
	return m
}
