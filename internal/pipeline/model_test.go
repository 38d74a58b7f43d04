package pipeline_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// A gate under everything that people and the clock can do to it, in any order,
// against a model that knows the rules of docs/spec/contracts.md §6.4 to §6.7
// and nothing else. Whatever happens, no gate is published without both roles,
// and one end freezes the chain once.

type gateModel struct {
	state    contract.State
	final    contract.FinalDecision
	action   contract.Action
	cause    contract.Cause
	entries  []string // role/actor/decision
	deadline time.Time
	now      time.Time
	chain    contract.Cause // why the chain is frozen, "" while it is not
}

type member struct {
	id    contract.ActorID
	human bool
	roles contract.RoleSet
}

var committee = []member{
	{"lead-001", true, contract.RolesOf(contract.ProjectLead)},
	{"sec-001", true, contract.RolesOf(contract.SecurityReviewer)},
	{"adm-001", true, contract.RolesOf(contract.Admin)},
	{"rel-001", true, contract.RolesOf(contract.ReleaseManager)},
	{"two", true, contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer)},
	{"author", true, contract.RolesOf(contract.Requester, contract.ProjectLead)},
	{"bot", false, contract.RolesOf(contract.ProjectLead)},
}

var asked = contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer)

func (m *gateModel) end(final contract.FinalDecision, state contract.State, cause, chain contract.Cause) {
	m.final, m.state, m.cause = final, state, cause
	if m.chain == "" {
		m.chain = chain
	}
}

// overdue expires the gate when its time is over, and says whether it did or
// would have.
func (m *gateModel) overdue() bool {
	if m.final != contract.DecisionPending || !m.now.After(m.deadline) {
		return false
	}
	if m.state == contract.Active || m.state == contract.Frozen {
		m.end(contract.DecisionExpired, contract.Frozen, contract.GateExpired, contract.GateExpired)
	}
	return true
}

func (m *gateModel) open() refusal.Code {
	switch {
	case m.final == contract.DecisionExpired:
		return refusal.GateExpired
	case m.final != contract.DecisionPending:
		return refusal.GateAlreadyFinal
	case m.overdue():
		return refusal.GateExpired
	case m.state != contract.Active:
		return refusal.GateNotActive
	}
	return ""
}

func (m *gateModel) vote(who member, r contract.Role, d contract.Decision, digest bool) refusal.Code {
	entry := fmt.Sprintf("%s/%s/%s", r, who.id, d)
	if slices.Contains(m.entries, entry) {
		return ""
	}
	if code := m.open(); code != "" {
		return code
	}
	approves := d == contract.Approved
	switch {
	case !who.roles.Has(r):
		return refusal.ApprovalRoleNotHeld
	case !asked.Has(r) && (r != contract.Admin || approves):
		return refusal.GateRoleNotRequired
	case !who.human:
		return refusal.ApprovalHumanRequired
	case approves && m.approvedUnderAnotherRole(who, r):
		return refusal.ApprovalActorNotDistinct
	case approves && who.id == "author":
		return refusal.ApprovalSelfApproval
	case !digest:
		return refusal.GateDigestMismatch
	case approves && m.action == contract.Hold:
		return refusal.GateOnHold
	}
	m.entries = append(m.entries, entry)
	if !approves {
		m.end(contract.DecisionRejected, contract.Revoked, "", contract.GateRejected)
	} else if m.approved(contract.ProjectLead) && m.approved(contract.SecurityReviewer) {
		m.end(contract.DecisionApproved, contract.Published, "", "")
	}
	return ""
}

func (m *gateModel) approvedUnderAnotherRole(who member, r contract.Role) bool {
	for _, o := range asked.List() {
		if o != r && slices.Contains(m.entries, fmt.Sprintf("%s/%s/%s", o, who.id, contract.Approved)) {
			return true
		}
	}
	return false
}

func (m *gateModel) approved(r contract.Role) bool {
	for _, who := range committee {
		if slices.Contains(m.entries, fmt.Sprintf("%s/%s/%s", r, who.id, contract.Approved)) {
			return true
		}
	}
	return false
}

func (m *gateModel) act(r contract.Role, may contract.RoleSet, to contract.Action) refusal.Code {
	if code := m.open(); code != "" {
		return code
	}
	if !may.Has(r) {
		return refusal.RoleNotPermitted
	}
	m.action = to
	return ""
}

func (m *gateModel) freeze() refusal.Code {
	switch {
	case m.passed():
		return refusal.GateExpired
	case m.state == contract.Frozen:
		return refusal.ContractTransitionNoOp
	case m.state != contract.Active:
		return refusal.ContractTransitionForbidden
	}
	m.state, m.cause = contract.Frozen, contract.ManualCheck
	return ""
}

func (m *gateModel) resume() refusal.Code {
	switch {
	case m.passed():
		return refusal.GateExpired
	case m.state == contract.Active:
		return refusal.ContractTransitionNoOp
	case m.state != contract.Frozen:
		return refusal.ContractTransitionForbidden
	case m.final == contract.DecisionExpired:
		return refusal.GateExpired
	}
	m.state, m.cause = contract.Active, ""
	return ""
}

func (m *gateModel) revoke() refusal.Code {
	switch {
	case m.passed():
		return refusal.GateExpired
	case m.state == contract.Revoked:
		return refusal.ContractTransitionNoOp
	}
	m.state, m.cause = contract.Revoked, ""
	return ""
}

// passed is overdue for a command that is no decision: one on a gate that was
// taken back is answered by its state.
func (m *gateModel) passed() bool { return m.state != contract.Revoked && m.overdue() }

func TestAGateUnderAnyOrderOfDecisionsFreezesAndTime(t *testing.T) {
	// Each check opens a database of its own and commits to a disk at every step;
	// a number given on the command line stands.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := flag.Set("rapid.checks", "15"); err != nil {
			t.Fatal(err)
		}
	}
	template := gateTemplate(t)
	rapid.Check(t, func(rt *rapid.T) {
		o := template.open(t)
		defer o.close()
		g := o.newest("PG-001")
		m := &gateModel{
			state: contract.Active, final: contract.DecisionPending, action: contract.Publish, now: o.clock(),
			deadline: g.Document.(*contract.PublishGate).ApprovalDeadline.Time(),
		}
		said := func(what string, err error, want refusal.Code) {
			if got := refusal.CodeOf(err); got != want || (err == nil) != (want == "") {
				rt.Fatalf("%s was answered %v, want %q", what, err, want)
			}
		}
		someone := rapid.SampledFrom(committee)
		roles := rapid.SampledFrom([]contract.Role{contract.ProjectLead, contract.SecurityReviewer, contract.Admin, contract.ReleaseManager})
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { compareGate(rt, o, m) },
			"decide": func(rt *rapid.T) {
				who, r := someone.Draw(rt, "who"), roles.Draw(rt, "role")
				d := rapid.SampledFrom([]contract.Decision{contract.Approved, contract.Approved, contract.Rejected}).Draw(rt, "decision")
				right := rapid.IntRange(0, 4).Draw(rt, "digest") > 0
				digest := g.ApprovalDigest
				if !right {
					digest = contract.EmptyObjectHash
				}
				_, err := o.GateDecide(o.Context(), by(who.id, r), pipeline.GateArgs{ID: "PG-001", Version: 1, Decision: d, Digest: digest})
				said("a decision", err, m.vote(who, r, d, right))
			},
			"hold": func(rt *rapid.T) {
				who := rapid.SampledFrom([]pipeline.Caller{lead, security, admin, releaser}).Draw(rt, "who")
				_, err := o.GateHold(o.Context(), who, pipeline.HoldArgs{ID: "PG-001", Version: 1})
				said("a hold", err, m.act(who.Role, asked.Union(contract.RolesOf(contract.Admin)), contract.Hold))
			},
			"release": func(rt *rapid.T) {
				who := rapid.SampledFrom([]pipeline.Caller{lead, security, admin}).Draw(rt, "who")
				_, err := o.GateRelease(o.Context(), who, pipeline.HoldArgs{ID: "PG-001", Version: 1})
				said("a release", err, m.act(who.Role, contract.RolesOf(contract.ProjectLead, contract.Admin), contract.Publish))
			},
			"freeze": func(*rapid.T) {
				_, err := o.ContractFreeze(o.Context(), security, pipeline.FreezeArgs{ID: "PG-001", Version: 1, Cause: contract.ManualCheck, Reason: "wait"})
				said("a freeze", err, m.freeze())
			},
			"resume": func(*rapid.T) {
				_, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "PG-001", Version: 1, Resolution: "go on"})
				said("a resumption", err, m.resume())
			},
			"revoke": func(rt *rapid.T) {
				if rapid.IntRange(0, 3).Draw(rt, "really") > 0 {
					rt.Skip("rarely")
				}
				_, err := o.ContractRevoke(o.Context(), admin, pipeline.RevokeArgs{ID: "PG-001", Version: 1, Ground: contract.ManualStop, Reason: "stop"})
				said("a revocation", err, m.revoke())
			},
			"time": func(rt *rapid.T) {
				to := rapid.SampledFrom([]time.Time{m.now.Add(time.Hour), m.deadline, m.deadline.Add(time.Millisecond)}).Draw(rt, "to")
				if to.After(m.now) {
					m.now = to
					o.at(to)
				}
				if rapid.Bool().Draw(rt, "the timer is in time") {
					o.drain()
					m.overdue()
				}
			},
		})
	})
}

// compareGate holds what is stored against the model.
func compareGate(rt *rapid.T, o office, m *gateModel) {
	c := o.newest("PG-001")
	g := c.Document.(*contract.PublishGate)
	entries := []string{}
	for _, a := range g.Approvals {
		entries = append(entries, fmt.Sprintf("%s/%s/%s", a.Role, a.ActorID, a.Decision))
	}
	if g.State != m.state || g.FinalDecision != m.final || g.Action != m.action || c.FreezeCause != m.cause || !slices.Equal(entries, m.entries) {
		rt.Fatalf("the gate is %s %s %s %s %v, want %s %s %s %s %v",
			g.State, g.FinalDecision, g.Action, c.FreezeCause, entries, m.state, m.final, m.action, m.cause, m.entries)
	}
	if faults := approval.AtRest(g); len(faults) > 0 {
		rt.Fatalf("the stored gate contradicts itself: %v", faults)
	}
	for _, id := range []contract.ID{"IC-001", "TS-001", "AC-001"} {
		if row := o.newest(id); row.FreezeCause != m.chain || (stateText(row) == contract.Frozen) != (m.chain != "") {
			rt.Fatalf("%s is %s %q, want %q", id, stateText(row), row.FreezeCause, m.chain)
		}
	}
}

func stateText(c *pipeline.Contract) contract.State { return c.Document.Head().State }

// template is a world as far as a pending gate, to be copied.
type template struct {
	file []byte
	from *world
}

func gateTemplate(t *testing.T) template {
	t.Helper()
	w := &world{T: t, now: start, ids: map[string]int{}, seen: map[string]bool{}, tip: "c0ffee0", fetches: true, tokens: map[string]int64{}}
	path := filepath.Join(t.TempDir(), "plimsoll.db")
	w.open(path, nil)
	for _, m := range committee {
		typ := contract.Agent
		if m.human {
			typ = contract.Human
		}
		w.people(pipeline.Actor{ID: m.id, Type: typ, Roles: m.roles})
	}
	w.people(pipeline.Actor{ID: ci.Actor, Type: contract.Agent, Roles: contract.RolesOf(contract.CIAgent)})
	o := office{w}
	shown, err := o.IntentCreate(o.Context(), by("author", contract.Requester), pipeline.IntentArgs{
		Intent: "Add a login page", Priority: "low", RequestedCapabilities: []string{"read_repo", "write_repo", "network_access"},
	})
	must(o, shown, err)
	o.vote(lead, "IC-001", 1)
	o.judged()
	w.close()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return template{file: file, from: w}
}

// open is a copy of the template, with the jobs that were in its line.
func (m template) open(t *testing.T) office {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plimsoll.db")
	if err := os.WriteFile(path, m.file, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{
		T: t, now: m.from.now, ids: maps.Clone(m.from.ids), seen: maps.Clone(m.from.seen), line: slices.Clone(m.from.line),
		tip: m.from.tip, fetches: true, tokens: map[string]int64{},
	}
	w.open(path, nil)
	return office{w}
}
