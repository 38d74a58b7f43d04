//go:build unix

package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is many clients that bring chains to their end over HTTP, however often
// the service dies meanwhile. Each write has a key of its own and is made again
// until it is answered; what was answered goes into a ledger.
type load struct {
	*site
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	pick   func() string // the address to speak to; nil is the site's
	limit  time.Duration // for an answer, after which another node is asked
	others int           // intents that others made beside the clients

	writes  atomic.Int64 // that were acknowledged
	repeats atomic.Int64 // requests that had to be made again
	begun   atomic.Int64 // chains
	longest atomic.Int64 // wait for something that happens by itself, in ns

	mu     sync.Mutex // guards ledger and failed
	ledger []*entry
	failed []error
}

// entry is what one client was told about its chain.
type entry struct {
	text     string // of the intent, unlike any other
	high     bool
	draft    bool // said and no more
	intent   string
	task     string
	gate     string
	runs     map[string]string // Evidence by run
	votes    int               // activations
	consents int               // decisions on the gate
	reviews  int
	done     bool
}

func (s *site) load(pick func() string) *load {
	l := &load{site: s, pick: pick}
	l.ctx, l.cancel = context.WithCancel(s.Context())
	return l
}

// clients begins n clients. Each brings chains to their end until more says that
// there are enough.
func (l *load) clients(n int, more func() bool) {
	for i := range n {
		l.wait.Go(func() {
			for k := 0; more() && l.ctx.Err() == nil; k++ {
				e := &entry{text: fmt.Sprintf("chain %d of client %d", k, i), high: k%3 == 2, runs: map[string]string{}}
				l.mu.Lock()
				l.ledger = append(l.ledger, e)
				l.mu.Unlock()
				l.begun.Add(1)
				c := &carrier{load: l, entry: e, key: fmt.Sprintf("c%d-%d", i, k)}
				if err := c.carry(); err != nil {
					l.mu.Lock()
					l.failed = append(l.failed, fmt.Errorf("%s (%s): %w", e.text, e.intent, err))
					l.mu.Unlock()
					return
				}
				e.done = true
			}
		})
	}
}

// writers begins n more clients, which say what is wanted as fast as they can.
// Nothing follows from that, so that even a short life of the service does much.
func (l *load) writers(n int, more func() bool) {
	for i := range n {
		l.wait.Go(func() {
			for k := 0; more() && l.ctx.Err() == nil; k++ {
				e := &entry{text: fmt.Sprintf("wish %d of writer %d", k, i), draft: true}
				c := &carrier{load: l, entry: e, key: fmt.Sprintf("w%d-%d", i, k)}
				var made shown
				err := c.write(c.user("ada"), "/v1/intents", map[string]any{"intent": e.text, "priority": "low", "requestedCapabilities": []string{"read_repo"}}, &made)
				e.intent, e.done = made.Contract.ID, err == nil
				l.mu.Lock()
				l.ledger = append(l.ledger, e)
				if err != nil {
					l.failed = append(l.failed, err)
				}
				l.mu.Unlock()
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// finish waits for the clients and says which of them failed.
func (l *load) finish(within time.Duration) {
	l.Helper()
	ended := make(chan struct{})
	go func() { l.wait.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(within):
		l.cancel()
		<-ended
		l.Error("the clients did not come to an end")
	}
	l.cancel()
	for _, err := range l.failed {
		l.Error(err)
	}
}

// carrier brings one chain to its end.
type carrier struct {
	*load
	*entry
	key   string
	steps int
}

// again makes a request until somebody who may decides about it.
func (c *carrier) again(do func(u func(user) user) error) error {
	for {
		another := c.another()
		err := do(func(u user) user {
			if u.limit = c.limit; c.pick != nil {
				u.at = c.pick()
			}
			return u
		})
		if err == nil {
			return nil
		}
		if no, ok := errors.AsType[*refusal](err); ok && !no.nobody() {
			return err
		}
		c.repeats.Add(1)
		select {
		case <-c.ctx.Done():
			return errors.Join(c.ctx.Err(), err)
		case <-another: // so that even the shortest life is one under load
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// write is a write under a key of its own, acknowledged when it returns.
func (c *carrier) write(u user, path string, body, out any) error {
	c.steps++
	key := fmt.Sprintf("%s-%d", c.key, c.steps)
	err := c.again(func(at func(user) user) error { return at(u).post(c.ctx, path, key, body, out) })
	if err != nil {
		return fmt.Errorf("%s as %s under %s: %w", path, u.who, key, err)
	}
	c.writes.Add(1)
	return nil
}

func (c *carrier) put(u user, run, kind, media, text string) error {
	c.steps++
	key, path := fmt.Sprintf("%s-%d", c.key, c.steps), "/v1/runs/"+run+"/artifacts/"+kind
	err := c.again(func(at func(user) user) error {
		return at(u).send(c.ctx, http.MethodPut, path, key, media, []byte(text), nil)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.writes.Add(1)
	return nil
}

// see waits until the chain is as ok wants it.
func (c *carrier) see(what string, ok func(*chain) bool) (*chain, error) {
	begun := time.Now()
	defer func() {
		for waited := int64(time.Since(begun)); ; {
			if most := c.longest.Load(); waited <= most || c.longest.CompareAndSwap(most, waited) {
				return
			}
		}
	}()
	for {
		var now chain
		err := c.again(func(at func(user) user) error { return at(c.user("ada")).get(c.ctx, "/v1/chains/"+c.intent, &now) })
		if err != nil {
			return nil, err
		}
		if ok(&now) {
			return &now, nil
		}
		if c.ctx.Err() != nil || time.Since(begun) > 2*patience {
			return nil, fmt.Errorf("waited in vain for %s; the chain is in %s", what, now.Phase)
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// commits is the range of the chain, which no repository has to hold.
func (c *carrier) commits() (base, head string) {
	sum := sha256.Sum256([]byte(c.text))
	return hex.EncodeToString(sum[:20]), hex.EncodeToString(sum[12:])
}

// carry is a chain from what is wanted to its release.
func (c *carrier) carry() error {
	if err := c.judged(); err != nil {
		return err
	}
	base, head := c.commits()
	if err := c.run("Refactor", base, head, nil); err != nil {
		return err
	}
	people := []string{"lea"}
	if c.high {
		people = append(people, "sam")
	}
	for _, who := range people {
		c.reviews++
		body := map[string]any{"verdict": "approved", "blocking": []any{}, "headCommit": head}
		if err := c.write(c.user(who), "/v1/tasks/"+c.task+"/reviews", body, nil); err != nil {
			return err
		}
	}
	if c.high {
		if err := c.release(base, head); err != nil {
			return err
		}
	}
	_, err := c.see("the release", func(n *chain) bool {
		g, ok := n.of("PublishGate")
		c.gate = g.Contract.ID
		return ok && n.Phase == "Published"
	})
	return err
}

// judged is a chain from what is wanted to an Acceptance that counts.
func (c *carrier) judged() error {
	capabilities := []string{"read_repo", "write_repo"}
	if c.high {
		capabilities = append(capabilities, "network_access")
	}
	var made shown
	err := c.write(c.user("ada"), "/v1/intents", map[string]any{"intent": c.text, "priority": "medium", "requestedCapabilities": capabilities}, &made)
	if err != nil {
		return err
	}
	c.intent = made.Contract.ID
	if err := c.activate(c.intent, 1, "lea"); err != nil {
		return err
	}
	now, err := c.see("the task", func(n *chain) bool { _, ok := n.of("TaskSeed"); return ok })
	if err != nil {
		return err
	}
	task, _ := now.of("TaskSeed")
	c.task = task.Contract.ID
	if c.high {
		if err := c.activate(c.task, 1, "lea", "sam"); err != nil {
			return err
		}
	}
	base, head := c.commits()
	for _, phase := range []string{"Build", "Stabilize"} {
		if err := c.run(phase, base, head, task.Contract.Plan); err != nil {
			return err
		}
	}
	now, err = c.see("the verdict", func(n *chain) bool { return n.Phase == "Refactor" })
	if err != nil || !c.high {
		return err
	}
	a, _ := now.of("Acceptance")
	return c.activate(a.Contract.ID, a.Contract.Version, "lea", "sam")
}

// toGate is a chain up to its gate.
func (c *carrier) toGate() (shown, error) {
	if err := c.judged(); err != nil {
		return shown{}, err
	}
	var g shown
	_, err := c.see("the gate", func(n *chain) (ok bool) { g, ok = n.of("PublishGate"); return ok })
	return g, err
}

func (c *carrier) activate(id string, version int64, people ...string) error {
	for _, who := range people {
		c.votes++
		body := map[string]any{"version": version, "decision": "approved"}
		if err := c.write(c.user(who), "/v1/contracts/"+id+"/activations", body, nil); err != nil {
			return err
		}
	}
	return nil
}

// release is what people decide about high risk, and what follows.
func (c *carrier) release(base, head string) error {
	var g shown
	_, err := c.see("the gate", func(n *chain) (ok bool) { g, ok = n.of("PublishGate"); return ok })
	if err != nil {
		return err
	}
	for _, who := range []string{"lea", "sam"} {
		c.consents++
		body := map[string]any{"version": g.Contract.Version, "decision": "approved", "digest": g.Meta.Digest}
		if err := c.write(c.user(who), "/v1/gates/"+g.Contract.ID+"/decisions", body, nil); err != nil {
			return err
		}
	}
	return c.run("Publish", base, head, nil)
}

const report = `{"tool":"go","command":["go","test"],"exitCode":0,"passed":12,"failed":0,"skipped":0,"startedAt":"2026-03-29T10:00:00Z","endedAt":"2026-03-29T10:00:01Z"}`

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// run is one run of the executor protocol (docs/spec/contracts.md §20.3).
func (c *carrier) run(phase, base, head string, plan []string) error {
	who := c.user("bot").in("developer")
	switch {
	case phase == "Publish":
		who = c.user("rex")
	case phase == "Stabilize" || c.high:
		who = who.in("ci_agent")
	}
	var claim struct {
		ExecutionID string `json:"executionId"`
		LockToken   int64  `json:"lockToken"`
	}
	if err := c.write(who, "/v1/tasks/"+c.task+"/claim", map[string]any{"phase": phase, "baseCommit": base}, &claim); err != nil {
		return err
	}
	who = who.holding(claim.LockToken)
	output := digest("{}")
	puts := map[string][][3]string{
		"Build":     {{"build_log", "text/plain", "built\n"}, {"unit_test_result", "application/json", report}},
		"Stabilize": {{"integration_report", "application/json", report}},
	}[phase]
	if phase == "Publish" {
		var note []byte
		err := c.again(func(at func(user) user) error {
			return at(who.accepting("text/markdown")).send(c.ctx, http.MethodGet, "/v1/tasks/"+url.PathEscape(c.task)+"/release-note", "", "", nil, &note)
		})
		if err != nil {
			return err
		}
		puts, output = [][3]string{{"release_note", "text/markdown", string(note)}}, digest(string(note))
	}
	for _, p := range puts {
		if err := c.put(who, claim.ExecutionID, p[0], p[1], p[2]); err != nil {
			return err
		}
	}
	body := map[string]any{"outcome": "succeeded", "headCommit": head, "evidence": evidence(base, head, output)}
	if phase == "Stabilize" {
		checks := []map[string]any{}
		for _, step := range plan {
			checks = append(checks, map[string]any{"criterion": step, "passed": true, "detail": "seen"})
		}
		body["checks"] = checks
	}
	var ended struct {
		EvidenceID string `json:"evidenceId"`
	}
	if err := c.write(who, "/v1/runs/"+claim.ExecutionID+"/complete", body, &ended); err != nil {
		return err
	}
	c.runs[claim.ExecutionID] = ended.EvidenceID
	return nil
}

// evidence is what an executor knows of its run.
func evidence(base, head, output string) map[string]any {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	return map[string]any{
		"baseCommit": base, "headCommit": head, "inputHash": digest("{}"), "outputHash": output, "diffHash": digest(head),
		"model":       map[string]any{"name": "none", "version": "none", "parametersHash": digest("{}")},
		"tools":       []any{"go"},
		"environment": map[string]any{"os": "linux", "runtime": "go1.26", "containerImageDigest": "uncontainerized", "lockfileHash": digest("{}")},
		"startTime":   now, "endTime": now,
	}
}

// figures is what became of a load.
type figures struct{ lost, doubled int }

// settle compares the ledger with what the service has: everything that was
// acknowledged is there once, and nothing else.
func (l *load) settle(here sound) figures {
	l.Helper()
	var f figures
	miss := func(format string, args ...any) { l.Helper(); f.lost++; l.Errorf("lost: "+format, args...) }
	extra := func(format string, args ...any) { l.Helper(); f.doubled++; l.Errorf("doubled: "+format, args...) }
	compare := func(what string, got, want int) {
		l.Helper()
		if got < want {
			miss("%s: %d, want %d", what, got, want)
		}
		if got > want {
			extra("%s: %d, want %d", what, got, want)
		}
	}
	chains := map[string]chain{}
	for _, c := range here.chains {
		i, _ := c.of("IntentContract")
		if old, there := chains[i.Contract.Intent]; there {
			extra("%q is %s and %s", i.Contract.Intent, old.IntentID, c.IntentID)
		}
		chains[i.Contract.Intent] = c
	}
	compare("chains", len(here.chains), len(l.ledger)+l.others)
	evidence := map[string]string{}
	for _, r := range here.runs {
		evidence[r.ExecutionID] = r.EvidenceID
	}
	events, records := map[string]map[string]int{}, map[string]int{}
	for _, e := range here.events {
		if events[e.Event.Correlation] == nil {
			events[e.Event.Correlation] = map[string]int{}
		}
		events[e.Event.Correlation][e.Event.Type]++
	}
	for _, r := range here.audit {
		if r.Record.Success {
			records[r.Record.Action+" "+r.Record.Actor+" "+r.Record.ID]++
		}
	}
	for _, e := range l.ledger {
		if !e.done {
			continue // said already
		}
		c, there := chains[e.text]
		if !there || c.IntentID != e.intent {
			miss("%q was answered as %s and is %q", e.text, e.intent, c.IntentID)
			continue
		}
		compare(e.intent+" records of its creation", records["contract.create ada "+e.intent], 1)
		if e.draft {
			compare(e.intent+" contracts", len(c.Contracts), 1)
			compare(e.intent+" events", len(events[e.intent]), 0)
			continue
		}
		if c.Phase != "Published" {
			l.Errorf("%s ended in %s", e.intent, c.Phase)
		}
		for id, evidenceID := range e.runs {
			if evidence[id] != evidenceID {
				miss("run %s of %s was answered with %s and has %q", id, e.intent, evidenceID, evidence[id])
			}
		}
		// The four phases have a run each; the one of a release of low or medium
		// risk is the service's own.
		runs := 4
		count := map[string]int{}
		for _, one := range c.Contracts {
			count[one.Contract.Kind]++
		}
		compare(e.intent+" contracts of kind IntentContract", count["IntentContract"], 1)
		compare(e.intent+" contracts of kind TaskSeed", count["TaskSeed"], 1)
		compare(e.intent+" contracts of kind Acceptance", count["Acceptance"], 1)
		compare(e.intent+" contracts of kind PublishGate", count["PublishGate"], 1)
		compare(e.intent+" contracts of kind Evidence", count["Evidence"], runs)
		decisions := max(e.consents, 1)
		g, _ := c.of("PublishGate")
		compare(e.intent+" approvals", len(g.Contract.Approvals), decisions)
		for kind, want := range map[string]int{
			"intent.created.v1": 1, "taskseed.created.v1": 1, "taskseed.execution.completed.v1": runs, "evidence.created.v1": runs,
			"acceptance.created.v1": 2, "publishgate.created.v1": 1, "publishgate.decision.recorded.v1": decisions,
		} {
			compare(e.intent+" events "+kind, events[e.intent][kind], want)
		}
		compare(e.intent+" records of decisions", records["gate.decide lea "+e.gate]+records["gate.decide sam "+e.gate], e.consents)
		compare(e.intent+" records of reviews", records["review.record lea "+e.task]+records["review.record sam "+e.task], e.reviews)
	}
	return f
}

func TestALoadWithoutAnyAccidentIsAllThereOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		s := found(t, db)
		p := s.serve()
		l := s.load(nil)
		l.clients(4, func() bool { return l.begun.Load() < 12 })
		l.finish(patience)
		f := l.settle(s.prove())
		t.Logf("%d chains, %d acknowledged writes, %d lost, %d doubled", len(l.ledger), l.writes.Load(), f.lost, f.doubled)
		p.stop()
	})
}
