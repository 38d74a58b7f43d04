package approval_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
	"plimsoll.dev/testdata/contracts"
)

type entry struct {
	Role      contract.Role
	ActorID   contract.ActorID
	Decision  contract.Decision
	DecidedAt string
	Reason    *string
}

type expectation struct {
	OK                 *bool
	Code               refusal.Code
	Duplicate          bool
	FinalDecision      contract.FinalDecision
	State              contract.State
	InitialState       contract.State
	FreezeCause        contract.Cause
	Action             contract.Action
	Approvals          []entry
	ApprovalDeadline   text
	Events             []event.Type
	ChainEffect        map[string]string
	PublicationAllowed bool
	RequiredApprovals  contract.RoleSet
	Canonical, Digest  string
}

type step struct {
	At, Op, Role, ActorID, Digest, Cause, Resolution string
	Reason                                           *string
	HoldsRole                                        *bool
	ActorType                                        contract.ActorType
	Expected                                         expectation
}

type gateVector struct {
	Name, Mode        string
	RiskLevel         contract.Level
	PolicyViolation   bool
	ViolatedRule      string
	CreatedAt         string
	RequiredApprovals contract.RoleSet
	Gate              struct {
		RiskLevel                   contract.Level
		RequiredApprovals           contract.RoleSet
		Action                      contract.Action
		State                       contract.State
		FinalDecision               contract.FinalDecision
		Approvals                   []entry
		CreatedAt, ApprovalDeadline string
	}
	Options struct {
		DistinctActors, ForbidSelfApproval bool
	}
	IntentCreator contract.ActorID
	Profile       state.Profile
	Chain         map[string]contract.State
	Steps         []step
	Input         *struct {
		GateID, AcceptanceID                                         contract.ID
		GateVersion, AcceptanceVersion                               int64
		DiffHash, BoundaryAuditID, VerifyDecisionID, PolicySetDigest text
	}
	Expected expectation
}

func at(t testing.TB, s string) time.Time {
	t.Helper()
	ts, ok := contract.ParseTimestamp(s)
	if !ok {
		t.Fatalf("%q is no timestamp", s)
	}
	return ts.Time()
}

func TestGates(t *testing.T) {
	run := map[string]int{}
	for _, v := range contracts.Load[gateVector](t, "publish-gate") {
		run[v.Mode]++
		t.Run(v.Name, func(t *testing.T) {
			switch v.Mode {
			case "creation":
				creation(t, v)
			case "sequence":
				sequence(t, v)
			case "matrix":
				faults := approval.AtRest(&contract.PublishGate{RiskLevel: v.RiskLevel, RequiredApprovals: v.RequiredApprovals})
				got := slices.Contains(faults.Codes(), refusal.GateRequiredApprovalsMismatch)
				if got == *v.Expected.OK {
					t.Errorf("got %v", faults)
				}
			case "digest":
				in := v.Input
				s := approval.Subject{
					GateID: in.GateID, GateVersion: in.GateVersion, AcceptanceID: in.AcceptanceID, AcceptanceVersion: in.AcceptanceVersion,
					DiffHash: string(in.DiffHash), BoundaryAuditID: string(in.BoundaryAuditID),
					VerifyDecisionID: string(in.VerifyDecisionID), PolicySetDigest: string(in.PolicySetDigest),
				}
				if string(s.Canonical()) != v.Expected.Canonical || s.Digest() != v.Expected.Digest {
					t.Errorf("got %s, %s", s.Canonical(), s.Digest())
				}
			}
		})
	}
	if run["creation"] != 8 || run["matrix"] != 8 || run["digest"] != 3 || run["sequence"] != 66 {
		t.Errorf("run: %v", run)
	}
}

// machine carries out what a decision asks for, as the use case does.
type machine struct {
	t       *testing.T
	gate    *contract.PublishGate
	cause   contract.Cause
	profile state.Profile
	chain   map[string]contract.State
	effect  map[string]string
}

func (m *machine) move(e state.Event, now time.Time) ([]event.Type, error) {
	m.t.Helper()
	s := state.Snapshot{
		Kind: contract.KindPublishGate, State: m.gate.State, Version: 1, Cause: m.cause, FrozenFrom: contract.Active,
		Level: m.gate.RiskLevel, FinalDecision: m.gate.FinalDecision,
	}
	e.Profile = m.profile
	next, effects, err := state.Next(s, e, now)
	if err != nil {
		return nil, err
	}
	b := m.gate.Base
	b.State, b.UpdatedAt = next.State, next.UpdatedAt
	m.gate, m.cause = m.gate.With(b).(*contract.PublishGate), next.Cause
	var announced []event.Type
	for _, eff := range effects {
		if eff.Do == state.Announce {
			announced = append(announced, eff.Event)
		}
	}
	return announced, nil
}

// settle applies an outcome: the decision on the gate, its change of state, and
// what the chain has to suffer for it.
func (m *machine) settle(out approval.Outcome, now time.Time) []event.Type {
	m.t.Helper()
	m.gate = out.Gate
	if out.Cause != "" {
		m.cause = out.Cause
	}
	var announced []event.Type
	if out.Trigger != "" {
		announced = []event.Type{event.GateDecided}
	}
	if out.Then != nil {
		self := contract.Actor{ID: "orchestrator-001", Role: contract.Orchestrator}
		got, err := m.move(state.Event{
			To: out.Then.To, Actor: self, Cause: out.Then.Cause, Ground: out.Then.Ground, Reason: out.Then.Reason,
			Policy: state.Answered(approval.Settled(out.Gate)),
		}, now)
		if err != nil || !slices.Equal(got, announced) {
			m.t.Errorf("the move to %s announces %v, %v", out.Then.To, got, err)
		}
	}
	m.freeze(out.FreezeChain)
	return announced
}

func (m *machine) freeze(cause contract.Cause) {
	if cause == "" {
		return
	}
	for name, s := range m.chain {
		if s == contract.Active {
			m.chain[name] = contract.Frozen
			m.effect[name], m.effect["cause"] = string(contract.Frozen), string(cause)
		}
	}
}

func creation(t *testing.T, v gateVector) {
	t.Helper()
	o := approval.Order{
		ID: "PG-001", Version: 1, Level: v.RiskLevel, Deadlines: approval.DefaultDeadlines(),
		Acceptance: &contract.Acceptance{Base: contract.Base{ID: "AC-001", State: contract.Active}, Status: contract.Passed},
	}
	if v.PolicyViolation {
		o.Violation = v.ViolatedRule
	}
	now := at(t, v.CreatedAt)
	made, err := approval.Make(o, now)
	if err != nil {
		t.Fatal(err)
	}
	g, want := made.Gate, v.Expected
	if g.State != want.InitialState || g.FinalDecision != want.FinalDecision || g.Action != want.Action ||
		g.RequiredApprovals != want.RequiredApprovals || g.ApprovalDeadline.String() != string(want.ApprovalDeadline) {
		t.Errorf("made %+v", g)
	}
	compareEntries(t, g.Approvals, want.Approvals)
	if _, err := contract.Decode(contract.Encode(g)); err != nil {
		t.Errorf("the schema refuses the gate: %v", err)
	}
	self := contract.Actor{ID: contract.PolicyEngineActor, Role: contract.PolicyEngine}
	_, effects, err := state.Next(
		state.Snapshot{Kind: contract.KindPublishGate, Level: g.RiskLevel, FinalDecision: g.FinalDecision},
		state.Event{To: g.State, Actor: self, Policy: state.Answered(approval.Admit(o.Acceptance))}, now)
	var announced []event.Type
	for _, eff := range effects {
		if eff.Do == state.Announce {
			announced = append(announced, eff.Event)
		}
	}
	if err != nil || !slices.Equal(announced, want.Events) || (made.Entry != nil) != (len(announced) == 2) {
		t.Errorf("announced %v, %v", announced, err)
	}
	m := &machine{t: t, gate: g, effect: map[string]string{}, chain: map[string]contract.State{
		"acceptance": contract.Active, "taskSeed": contract.Active, "intent": contract.Active,
	}}
	if made.Then != nil {
		_, err := m.move(state.Event{
			To: made.Then.To, Actor: contract.Actor{Role: contract.Orchestrator}, Cause: made.Then.Cause, Ground: made.Then.Ground, Reason: made.Then.Reason,
		}, now)
		if err != nil {
			t.Error(err)
		}
	}
	m.freeze(made.FreezeChain)
	if m.gate.State != want.State || m.cause != want.FreezeCause || len(want.ChainEffect) > 0 && !reflect.DeepEqual(m.effect, want.ChainEffect) {
		t.Errorf("ends as %s (%s), chain %v", m.gate.State, m.cause, m.effect)
	}
	if faults := approval.AtRest(m.gate); len(faults) > 0 {
		t.Errorf("at rest: %v", faults)
	}
}

func sequence(t *testing.T, v gateVector) {
	t.Helper()
	g := &contract.PublishGate{
		Base: contract.Base{
			ID: "PG-002", Kind: contract.KindPublishGate, Version: 1, State: v.Gate.State, CreatedAt: contract.At(at(t, v.Gate.CreatedAt)),
		},
		EntityID: "AC-001", Action: v.Gate.Action, RiskLevel: v.Gate.RiskLevel, RequiredApprovals: v.Gate.RequiredApprovals,
		FinalDecision: v.Gate.FinalDecision, ApprovalDeadline: contract.At(at(t, v.Gate.ApprovalDeadline)),
	}
	m := &machine{t: t, gate: g, profile: v.Profile, chain: v.Chain, effect: map[string]string{}}
	terms := approval.Terms{
		Digest: "sha256:current", Creator: v.IntentCreator,
		Options: approval.Options{DistinctActors: v.Options.DistinctActors, ForbidSelfApproval: v.Options.ForbidSelfApproval},
	}
	for i, s := range v.Steps {
		name := fmt.Sprintf("step %d", i+1)
		now := at(t, s.At)
		actor := contract.Actor{ID: contract.ActorID(s.ActorID), Role: contract.Role(s.Role), Type: contract.Human}
		if s.ActorType != "" {
			actor.Type = s.ActorType
		}
		var (
			out       = approval.Outcome{Gate: m.gate}
			announced []event.Type
			err       error
		)
		switch s.Op {
		case "approved", "rejected":
			digest := map[string]string{"current": "sha256:current", "other": "sha256:other"}[s.Digest]
			out, err = approval.Decide(m.gate, terms, approval.Ballot{
				Voter:    approval.Voter{Actor: actor, HoldsRole: s.HoldsRole == nil || *s.HoldsRole},
				Decision: contract.Decision(s.Op), Reason: s.Reason, Digest: digest,
			}, now)
		case "hold":
			out, err = approval.SetHold(m.gate, actor, now)
		case "release":
			out, err = approval.Release(m.gate, actor, now)
		case "tick":
			out = approval.Expire(m.gate, now)
		case "freeze":
			_, err = m.move(state.Event{To: contract.Frozen, Actor: actor, Cause: contract.Cause(s.Cause)}, now)
			out.Gate = m.gate
		case "resume":
			out = approval.Expire(m.gate, now)
			_, err = m.move(state.Event{
				To: contract.Active, Actor: actor, Resolution: s.Resolution, CauseCleared: true, Policy: state.Answered(approval.Reopenable(out.Gate, now)),
			}, now)
			if err == nil {
				out.Gate = m.gate
			}
		default:
			t.Fatalf("%s: unknown op %q", name, s.Op)
		}
		announced = m.settle(out, now)
		if (err == nil) != *s.Expected.OK || refusal.CodeOf(err) != s.Expected.Code || out.Duplicate != s.Expected.Duplicate && s.Op != "hold" {
			t.Errorf("%s: got %v, duplicate %v", name, err, out.Duplicate)
		}
		if m.gate.FinalDecision != s.Expected.FinalDecision || m.gate.State != s.Expected.State || !slices.Equal(announced, s.Expected.Events) {
			t.Errorf("%s: %s, %s, %v", name, m.gate.FinalDecision, m.gate.State, announced)
		}
	}
	want := v.Expected
	if m.gate.FinalDecision != want.FinalDecision || m.gate.State != want.State || m.gate.Action != want.Action || !reflect.DeepEqual(m.effect, want.ChainEffect) {
		t.Errorf("ends as %s, %s, %s, chain %v", m.gate.FinalDecision, m.gate.State, m.gate.Action, m.effect)
	}
	compareEntries(t, m.gate.Approvals, want.Approvals)
	if got := approval.Publishable(m.gate) == nil; got != want.PublicationAllowed {
		t.Errorf("publishable: %v", got)
	}
	if faults := approval.AtRest(m.gate); len(faults) > 0 {
		t.Errorf("at rest: %v", faults)
	}
}

func compareEntries(t *testing.T, got []contract.Approval, want []entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
		return
	}
	for i, w := range want {
		g := entry{got[i].Role, got[i].ActorID, got[i].Decision, got[i].DecidedAt.String(), got[i].Reason}
		if !reflect.DeepEqual(g, w) {
			t.Errorf("entry %d is %+v, want %+v", i, g, w)
		}
	}
}

func pendingGate(level contract.Level, created time.Time) *contract.PublishGate {
	made, err := approval.Make(approval.Order{
		ID: "PG-001", Version: 1, Level: level, Deadlines: approval.DefaultDeadlines(),
		Acceptance: &contract.Acceptance{Base: contract.Base{ID: "AC-001", State: contract.Active}, Status: contract.Passed},
	}, created)
	if err != nil {
		panic(err)
	}
	return made.Gate
}

var created = time.Date(2026, 3, 29, 14, 0, 0, 0, time.UTC)

func ballot(role contract.Role, actor contract.ActorID, d contract.Decision) approval.Ballot {
	return approval.Ballot{
		Voter:    approval.Voter{Actor: contract.Actor{ID: actor, Role: role, Type: contract.Human}, HoldsRole: true},
		Decision: d, Digest: "sha256:current",
	}
}

var terms = approval.Terms{Digest: "sha256:current", Creator: "user-001", Options: approval.FourEyes()}

// Whatever the order in which the same people approve, the gate comes to the
// same decision, and only the last of them ends it.
func TestApprovalsAreASetOfRoles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.SampledFrom([]contract.Level{contract.High, contract.Critical}).Draw(t, "level")
		g := pendingGate(level, created)
		var ballots []approval.Ballot
		for _, r := range g.RequiredApprovals.List() {
			for i := range rapid.IntRange(1, 2).Draw(t, "holders") {
				ballots = append(ballots, ballot(r, contract.ActorID(fmt.Sprintf("%s-%d", r, i)), contract.Approved))
			}
		}
		seen := contract.RoleSet(0)
		for _, b := range rapid.Permutation(ballots).Draw(t, "order") {
			complete := seen == g.RequiredApprovals
			out, err := approval.Decide(g, terms, b, created.Add(time.Minute))
			if complete {
				if refusal.CodeOf(err) != refusal.GateAlreadyFinal {
					t.Fatalf("after the end: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			seen = seen.Union(contract.RolesOf(b.Voter.Role))
			g = out.Gate
			if done := seen == g.RequiredApprovals; done != (g.FinalDecision == contract.DecisionApproved) || done != (out.Then != nil) {
				t.Fatalf("%s of %s and %s", seen, g.RequiredApprovals, g.FinalDecision)
			}
			if approval.Outstanding(g) != g.RequiredApprovals.Minus(seen) {
				t.Fatalf("outstanding %s", approval.Outstanding(g))
			}
		}
	})
}

// One rejection among any approvals decides, wherever it comes before the last
// approval; and saying the same twice changes nothing.
func TestOneRejectionDecides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := pendingGate(contract.Critical, created)
		roles := rapid.Permutation(g.RequiredApprovals.List()).Draw(t, "order")
		stop := rapid.IntRange(0, len(roles)-1).Draw(t, "rejects at")
		for i, r := range roles {
			d := contract.Approved
			if i == stop {
				d = contract.Rejected
			}
			b := ballot(r, contract.ActorID(r), d)
			out, err := approval.Decide(g, terms, b, created)
			if i > stop {
				if refusal.CodeOf(err) != refusal.GateAlreadyFinal {
					t.Fatalf("after the rejection: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			g = out.Gate
			again, err := approval.Decide(g, terms, b, created)
			if err != nil || !again.Duplicate || again.Gate != g || again.Trigger != "" {
				t.Fatalf("the repeat: %+v, %v", again, err)
			}
		}
		if g.FinalDecision != contract.DecisionRejected || approval.Publishable(g) == nil {
			t.Fatalf("ends as %s", g.FinalDecision)
		}
	})
}

func TestADecisionChangesACopy(t *testing.T) {
	g := pendingGate(contract.High, created)
	before := contract.Encode(g)
	if _, err := approval.Decide(g, terms, ballot(contract.ProjectLead, "lead-001", contract.Approved), created); err != nil {
		t.Fatal(err)
	}
	if _, err := approval.Decide(g, terms, ballot(contract.ProjectLead, "lead-001", contract.Approved), created.Add(48*time.Hour)); refusal.CodeOf(err) != refusal.GateExpired {
		t.Fatal(err)
	}
	if string(contract.Encode(g)) != string(before) {
		t.Error("the gate that was asked has changed")
	}
}

func TestADecisionThatStandsOnlyWithoutFourEyesIsMarked(t *testing.T) {
	solo := approval.Terms{Digest: terms.Digest, Creator: "user-001"}
	g := pendingGate(contract.High, created)
	out, err := approval.Decide(g, solo, ballot(contract.ProjectLead, "lead-001", contract.Approved), created)
	if err != nil || out.SelfApproved {
		t.Errorf("a first approval by another: %+v, %v", out, err)
	}
	out, err = approval.Decide(out.Gate, solo, ballot(contract.SecurityReviewer, "lead-001", contract.Approved), created)
	if err != nil || !out.SelfApproved || out.Then == nil {
		t.Errorf("the same person under a second role: %+v, %v", out, err)
	}
	out, err = approval.Decide(g, solo, ballot(contract.ProjectLead, "user-001", contract.Approved), created)
	if err != nil || !out.SelfApproved {
		t.Errorf("the creator: %+v, %v", out, err)
	}
	out, err = approval.Decide(g, solo, ballot(contract.ProjectLead, "user-001", contract.Rejected), created)
	if err != nil || out.SelfApproved {
		t.Errorf("a rejection needs no second pair of eyes: %+v, %v", out, err)
	}
}

func TestAReversalIsTold(t *testing.T) {
	g := pendingGate(contract.High, created)
	out, _ := approval.Decide(g, terms, ballot(contract.ProjectLead, "lead-001", contract.Approved), created)
	out, err := approval.Decide(out.Gate, terms, ballot(contract.ProjectLead, "lead-001", contract.Rejected), created)
	if err != nil || !out.Reversed || out.FreezeChain != contract.GateRejected {
		t.Errorf("got %+v, %v", out, err)
	}
	out, err = approval.Decide(g, terms, ballot(contract.SecurityReviewer, "sec-001", contract.Rejected), created)
	if err != nil || out.Reversed {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestAGateNeedsTime(t *testing.T) {
	_, err := approval.Make(approval.Order{
		ID: "PG-001", Version: 1, Level: contract.High,
		Acceptance: &contract.Acceptance{Base: contract.Base{State: contract.Active}, Status: contract.Passed},
	}, created)
	if refusal.CodeOf(err) != refusal.GateDeadlineInvalid {
		t.Errorf("got %v", err)
	}
}

func TestAGateOfNoLevelIsNotMade(t *testing.T) {
	_, err := approval.Make(approval.Order{
		ID: "PG-001", Version: 1, Deadlines: approval.DefaultDeadlines(),
		Acceptance: &contract.Acceptance{Base: contract.Base{State: contract.Active}, Status: contract.Passed},
	}, created)
	if err == nil || refusal.CodeOf(err) != "" {
		t.Errorf("got %v", err)
	}
}

// Every gate that decisions can lead to is consistent at rest, and none is
// Published before all required roles have approved.
func TestWhateverPeopleDoTheGateIsConsistent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		level := rapid.SampledFrom(contract.Levels()).Draw(rt, "level")
		m := &machine{t: t, gate: pendingGate(level, created), chain: map[string]contract.State{}, effect: map[string]string{}}
		now := created
		for range rapid.IntRange(0, 12).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 10).Draw(rt, "hours")) * time.Hour)
			b := ballot(
				rapid.SampledFrom(contract.Roles()).Draw(rt, "role"),
				rapid.SampledFrom([]contract.ActorID{"a", "b", "c", "user-001"}).Draw(rt, "actor"),
				rapid.SampledFrom([]contract.Decision{contract.Approved, contract.Approved, contract.Rejected}).Draw(rt, "decision"))
			var out approval.Outcome
			switch rapid.IntRange(0, 4).Draw(rt, "op") {
			case 0:
				out, _ = approval.SetHold(m.gate, b.Voter.Actor, now)
			case 1:
				out, _ = approval.Release(m.gate, b.Voter.Actor, now)
			case 2:
				out = approval.Expire(m.gate, now)
			default:
				out, _ = approval.Decide(m.gate, terms, b, now)
			}
			m.settle(out, now)
			if faults := approval.AtRest(m.gate); len(faults) > 0 {
				rt.Fatalf("%s\n%v", contract.Encode(m.gate), faults)
			}
			if m.gate.State == contract.Published && level.Human() && !approval.Outstanding(m.gate).Empty() {
				rt.Fatalf("Published without %s", approval.Outstanding(m.gate))
			}
		}
	})
}
