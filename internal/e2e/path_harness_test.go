//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// estate is a garden that several nodes may serve, each at an address of its own
// that it keeps when it is killed and started again.
type estate struct {
	*garden

	mu       sync.Mutex // guards nodes, logs and turn
	nodes    []*process
	settings [][]string
	logs     []*process // also of those that are gone
	turn     int
}

// lay founds an estate with so many nodes.
func lay(t *testing.T, db string, nodes int) *estate {
	t.Helper()
	e := &estate{}
	for range nodes {
		e.settings = append(e.settings, []string{"--listen", free(t), "--log.level", "debug", "--log.format", "json"})
	}
	e.garden = grow(t, db, e.settings[0]...)
	identity := []string{"--identity.key", filepath.Join(e.dir, "identity.key")}
	for i := range e.settings {
		e.settings[i] = append(e.settings[i], identity...)
	}
	e.nodes = []*process{e.process()}
	for _, settings := range e.settings[1:] {
		e.nodes = append(e.nodes, e.serve(settings...))
	}
	e.logs = slices.Clone(e.nodes)
	return e
}

// free is an address nobody listens at now.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// next has the commands that follow speak to the next node.
func (e *estate) next() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turn++
	e.use(e.nodes[e.turn%len(e.nodes)])
}

// hunt kills one node after the other, each at any instant, and starts it again,
// until it is told to stop. It answers how often.
func (e *estate) hunt(seed uint64) (stop func() int) {
	e.Helper()
	over, done := make(chan struct{}), make(chan int, 1)
	chance := rand.New(rand.NewPCG(seed, 3))
	go func() {
		kills := 0
		defer func() { done <- kills }()
		for {
			select {
			case <-over:
				return
			case <-time.After(100*time.Millisecond + time.Duration(chance.Int64N(int64(900*time.Millisecond)))):
			}
			e.mu.Lock()
			i := chance.IntN(len(e.nodes))
			victim := e.nodes[i]
			e.mu.Unlock()
			victim.kill()
			kills++
			fresh, ready := e.launch(e.settings[i]...)
			select {
			case at, ok := <-ready:
				if !ok {
					<-fresh.exited
					e.Errorf("kill %d (seed %d): the service ended instead of serving\n%s", kills, seed, fresh.log.String())
					return
				}
				fresh.address = at
			case <-time.After(patience):
				e.Errorf("kill %d (seed %d): the service does not serve any more", kills, seed)
				return
			}
			e.mu.Lock()
			e.nodes[i] = fresh
			e.logs = append(e.logs, fresh)
			e.mu.Unlock()
		}
	}()
	return func() int { close(over); return <-done }
}

// stopAll ends every node in order.
func (e *estate) stopAll() {
	e.Helper()
	for _, p := range e.nodes {
		p.stop()
	}
}

// logged is a line of a log, with what these tests speak of.
type logged struct {
	Msg, Job, Chain, Operation string
	Status                     int
	Replayed                   bool
	Correlation                string `json:"correlation_id"`
	text                       string
}

// lines is what every process of the estate has logged.
func (e *estate) lines() []logged {
	e.Helper()
	list := []logged{}
	for _, p := range e.logs {
		for text := range strings.SplitSeq(p.log.String(), "\n") {
			l := logged{text: text}
			if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &l) == nil {
				list = append(list, l)
			}
		}
	}
	return list
}

// path is one request on its way to a release.
type path struct {
	*estate
	id, text string
	flags    []string
	dir      string
	killed   bool // nodes come and go: what is not done yet is tried again

	decision     piece
	intent, task string
	acceptance   string
	gate         string
}

// try runs a command of somebody on one of the nodes. While nobody is killed it
// has to succeed.
func (p *path) try(who string, args ...string) output {
	p.Helper()
	p.next()
	o := p.command(who, args...)
	if !p.killed {
		p.must(o)
	}
	return o
}

// see reads something from one of the nodes, and says whether it could.
func (p *path) see(who, at string, out any) bool {
	p.Helper()
	p.next()
	u := p.user(who)
	u.limit = 10 * time.Second
	err := u.get(p.Context(), at, out)
	if err != nil && !p.killed {
		p.Fatalf("%s: %v", at, err)
	}
	return err == nil
}

// step does something until it is done, which is seen by what has come of it.
func (p *path) step(what string, done func() bool, do func()) {
	p.Helper()
	until(p, p.id+": "+what, func() bool {
		if done() {
			return true
		}
		if do != nil {
			do()
		}
		if p.killed {
			return done()
		}
		do = nil // it was taken, and needs no second time
		return done()
	})
}

// contract is a contract of the path as it stands now.
func (p *path) contract(kind string) (shown, bool) {
	p.Helper()
	var c chain
	if !p.see("ada", "/v1/chains/"+p.intent, &c) {
		return shown{}, false
	}
	return c.of(kind)
}

func (p *path) is(kind, state string) bool {
	p.Helper()
	c, ok := p.contract(kind)
	return ok && c.Contract.State == state
}

// phase says whether the chain has got to one of the phases.
func (p *path) phase(list ...string) bool {
	p.Helper()
	var c chain
	return p.see("ada", "/v1/chains/"+p.intent, &c) && slices.Contains(list, c.Phase)
}

// phases is the phases of a chain from one on.
func phasesFrom(first string) []string {
	all := []string{"Plan", "Build", "Stabilize", "Refactor", "Publish", "Published"}
	return all[slices.Index(all, first):]
}

// asks asks the circle, in words, and has whoever is asked consent.
func (p *path) asks() {
	p.Helper()
	var answer pack
	ask := []string{"ask", p.text, "--id", p.id, "--expect", "decision_draft"}
	for _, f := range p.flags {
		ask = append(ask, "--flag", f)
	}
	p.step("it is asked", func() bool {
		var list struct{ Items []pack }
		return p.see("ada", "/v1/requests?limit=200", &list) && slices.ContainsFunc(list.Items, func(q pack) bool { return q.RequestID == p.id })
	}, func() { p.try("ada", ask...) })
	p.step("it is answered", func() bool {
		answer = pack{}
		return p.see("ada", "/v1/requests/"+p.id, &answer) && answer.State == "ended"
	}, nil)
	p.sound(&answer)
	p.decision = p.of(&answer, "decision_draft")
	var content struct {
		Change *struct {
			Repository string
			Intent     string
		}
	}
	p.read(string(p.decision.Content), &content)
	if content.Change == nil || content.Change.Repository != "app" {
		p.Fatalf("%s: the decision is about no change of the repository: %s", p.id, p.decision.Content)
	}
	now := func() (o outcome, ok bool) {
		return o, p.see("ada", "/v1/artifacts/"+p.decision.ID, &o)
	}
	for {
		o, ok := now()
		if !ok {
			continue
		}
		at := slices.IndexFunc(o.Owed, func(w owed) bool { return w.Kind == "consent" && w.Answer != "granted" })
		if at < 0 {
			break
		}
		who := o.Owed[at]
		p.step(who.Member+" consents", func() bool {
			o, ok := now()
			return ok && !slices.ContainsFunc(o.Owed, func(w owed) bool {
				return w.Kind == "consent" && w.Member == who.Member && w.Answer != "granted"
			})
		}, func() { p.try(who.Member, "consent", "grant", p.decision.ID, "--sha256", p.decision.SHA256) })
	}
	p.step("the decision is confirmed", func() bool {
		o, ok := now()
		p.intent = o.Artifact.ContractID
		return ok && o.Artifact.Status == "confirmed" && p.intent != ""
	}, func() { p.try("ada", "artifact", "confirm", p.decision.ID, "--sha256", p.decision.SHA256) })
}

// works activates the contract and does the work, to the gate.
func (p *path) works() {
	p.Helper()
	if c, ok := p.contract("IntentContract"); !p.killed && (!ok || c.Contract.State != "Draft") {
		p.Errorf("%s: after the confirmation the intent is %s", p.id, c.Contract.State)
	}
	p.step("the intent is activated", func() bool {
		c, ok := p.contract("IntentContract")
		return ok && c.Contract.State != "Draft"
	}, func() { p.try("lea", "intent", "approve", p.intent) })
	p.step("there is a task", func() bool {
		c, ok := p.contract("TaskSeed")
		p.task = c.Contract.ID
		return ok && c.Contract.State == "Active"
	}, nil)
	run := func(phase, who, role string, script string) {
		p.Helper()
		next := phasesFrom(phase)[1:]
		args := []string{"run", p.task, "--repo", p.dir, "--as", role, "--phase", phase}
		if script != "" {
			args = append(args, "--", "sh", "-ec", script)
		}
		p.step(phase+" is done", func() bool {
			if phase == "Stabilize" {
				c, ok := p.contract("Acceptance")
				p.acceptance = c.Contract.ID
				return ok && c.Contract.Status == "passed"
			}
			if phase == "Refactor" {
				var list struct{ Items []run1 }
				return p.see("ada", "/v1/runs?phase=Refactor&outcome=succeeded&taskSeedId="+p.task, &list) && len(list.Items) > 0
			}
			return p.phase(next...)
		}, func() {
			if o := p.try(who, args...); o.code == 0 && !strings.Contains(o.text, p.id) {
				p.Errorf("%s does not name the path: %s", o.line, o.text)
			}
		})
	}
	run("Build", "bot", "developer", `mkdir -p .claude/commands; echo hello > .claude/commands/hello.md`)
	run("Stabilize", "bot", "ci_agent", "true") // and makes the verification that is owed
	approve := func(what, kind string, id *string, done func(shown) bool) {
		p.Helper()
		for _, who := range []string{"lea", "sam"} {
			p.step(who+" agrees to the "+what, func() bool {
				c, ok := p.contract(kind)
				*id = c.Contract.ID
				return ok && (done(c) || p.voted(what, c, who))
			}, func() { p.try(who, what, "approve", *id) })
		}
		p.step("the "+what+" is approved", func() bool { c, ok := p.contract(kind); return ok && done(c) }, nil)
	}
	approve("acceptance", "Acceptance", &p.acceptance, func(c shown) bool { return c.Contract.State != "Draft" })
	p.step("there is a gate", func() bool {
		c, ok := p.contract("PublishGate")
		p.gate = c.Contract.ID
		return ok
	}, nil)
	if !p.killed { // it waits in the inbox of whoever is asked
		p.onPages("lea", "/inbox")
		p.onPages("sam", "/inbox", "/decisions/gates/"+p.gate)
	}
	approve("gate", "PublishGate", &p.gate, func(c shown) bool { return c.Contract.FinalDecision == "approved" })
	run("Refactor", "bot", "developer", "true")
	for _, who := range []string{"lea", "sam"} {
		p.step(who+" reviews the work", func() bool {
			var list struct {
				Items []struct{ Result struct{ Reviewer string } }
			}
			return p.phase(phasesFrom("Publish")...) ||
				p.see("ada", "/v1/tasks/"+p.task+"/reviews", &list) && slices.ContainsFunc(list.Items, func(r struct{ Result struct{ Reviewer string } }) bool { return r.Result.Reviewer == who })
		}, func() { p.try(who, "task", "review", p.task) })
	}
	p.step("it is to be published", func() bool { return p.phase(phasesFrom("Publish")...) }, nil)
	run("Publish", "rex", "release_manager", "")
	p.step("it is published", func() bool { return p.is("IntentContract", "Published") }, nil)
}

type run1 struct {
	ExecutionID string `json:"executionId"`
	Correlation string `json:"correlationId"`
	Phase       string
}

// voted says whether somebody has decided on a Draft or a gate.
func (p *path) voted(what string, c shown, who string) bool {
	p.Helper()
	if what == "gate" {
		return slices.ContainsFunc(c.Contract.Approvals, func(a approval) bool { return a.Actor == who })
	}
	var list struct{ Items []approval }
	return p.see("ada", "/v1/contracts/"+c.Contract.ID+"/activations", &list) && slices.ContainsFunc(list.Items, func(a approval) bool { return a.Actor == who })
}

// came is what a request shows of the contract it led to.
type came struct {
	ContractID string `json:"contract_id"`
	ArtifactID string `json:"artifact_id"`
	Version    int64
	State      string
	Phase      string
	TaskID     string `json:"task_id"`
	Gate       *struct {
		GateID        string `json:"gate_id"`
		Version       int64
		RiskLevel     string `json:"risk_level"`
		FinalDecision string `json:"final_decision"`
	}
	ReleaseNote *struct {
		ExecutionID string `json:"execution_id"`
		SHA256      string
	} `json:"release_note"`
	PublishedAt *time.Time `json:"published_at"`
	Results     []struct {
		Version       int64
		State         string
		FinalDecision string `json:"final_decision"`
	}
}

// hears waits until the request has its result.
func (p *path) hears() came {
	p.Helper()
	var q struct {
		Correlation string `json:"correlation_id"`
		Contracts   []came
	}
	p.step("the result is written back", func() bool {
		q.Contracts = nil
		return p.see("ada", "/v1/requests/"+p.id, &q) && len(q.Contracts) == 1 && len(q.Contracts[0].Results) > 0
	}, nil)
	if q.Correlation != p.id {
		p.Errorf("the request is of the path %q", q.Correlation)
	}
	return q.Contracts[0]
}

// end is what a path came to, without ids and instants: the same however often
// nodes were killed.
func (p *path) end(c came) string {
	p.Helper()
	var chain chain
	if !p.see("ada", "/v1/chains/"+p.intent, &chain) {
		p.Fatalf("%s cannot be read", p.intent)
	}
	states := map[string]string{}
	for _, one := range chain.Contracts {
		if one.Contract.Kind != "Evidence" { // a run that was given up leaves one more
			d, _ := chain.of(one.Contract.Kind)
			states[one.Contract.Kind] = fmt.Sprintf("%s %s %s %s", d.Contract.State, d.Contract.Status, d.Contract.Risk, d.Contract.FinalDecision)
		}
	}
	gate, _ := chain.of("PublishGate")
	votes := []string{}
	for _, a := range gate.Contract.Approvals {
		votes = append(votes, a.Role+" "+a.Actor+" "+a.Decision)
	}
	slices.Sort(votes)
	results := []string{}
	for _, r := range c.Results {
		results = append(results, fmt.Sprintf("%d %s %s", r.Version, r.State, r.FinalDecision))
	}
	return fmt.Sprintf("%s %v votes %v request %s %s %s %s note %t results %v",
		chain.Phase, states, votes, c.State, c.Phase, c.Gate.RiskLevel, c.Gate.FinalDecision, c.ReleaseNote != nil && c.PublishedAt != nil, results)
}
