package pipeline_test

import (
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

func forbidding(c *pipeline.Config) {
	c.Violated = func(w pipeline.Work) string {
		if w.Level == contract.Low {
			return ""
		}
		return "no-writes"
	}
}

func TestAViolationOnMediumIsRejectedAtOnceAndTheChainIsFrozen(t *testing.T) {
	o := newOffice(t, forbidding)
	o.toRefactor()
	o.expect(map[contract.ID]string{
		"PG-001": "Revoked medium rejected", "AC-001": "Frozen gate_rejected passed", "TS-001": "Frozen gate_rejected", "IC-001": "Frozen gate_rejected",
	})
	g := o.newest("PG-001").Document.(*contract.PublishGate)
	if g.Action != contract.Reject || len(g.Approvals) != 1 || *g.Approvals[0].Reason != "no-writes" {
		t.Errorf("the gate is %+v", g)
	}
	if faults := approval.AtRest(g); len(faults) > 0 {
		t.Errorf("the stored gate contradicts itself: %v", faults)
	}
	states := map[event.Type]string{}
	for _, e := range read(o.world, func(r pipeline.Reader) ([]pipeline.Event, error) { return r.Events(0, pipeline.EventFilter{}, 0) }) {
		states[e.Type] = decode[struct{ State string }](o, e.Data).State
	}
	if states[event.GateCreated] != "Draft" || states[event.GateDecided] != "Revoked" {
		t.Errorf("the events say %s, then %s", states[event.GateCreated], states[event.GateDecided])
	}
}

func TestAViolationOnHighIsForPeopleToLookAt(t *testing.T) {
	o := newOffice(t, forbidding)
	o.toGate()
	o.expect(map[contract.ID]string{"PG-001": "Frozen policy_violation high pending", "AC-001": "Active passed"})
	_, err := o.ContractResume(o.Context(), lead, pipeline.ResumeArgs{ID: "PG-001", Version: 1, Resolution: "fine"})
	o.refuses(refusal.RoleNotPermitted, err)
	resumed, err := o.ContractResume(o.Context(), security, pipeline.ResumeArgs{ID: "PG-001", Version: 1, Resolution: "an exception was granted"})
	must(o, resumed, err)
	o.expect(map[contract.ID]string{"PG-001": "Active high pending"})
}

func TestEveryCommandOnAnOverdueGateExpiresItFirst(t *testing.T) {
	for name, command := range map[string]func(o office) error{
		"decide": func(o office) error { _, err := o.decide(security, contract.Approved); return err },
		"hold": func(o office) error {
			_, err := o.GateHold(o.Context(), security, pipeline.HoldArgs{ID: "PG-001", Version: 1})
			return err
		},
		"release": func(o office) error {
			_, err := o.GateRelease(o.Context(), lead, pipeline.HoldArgs{ID: "PG-001", Version: 1})
			return err
		},
		"freeze": func(o office) error {
			_, err := o.ContractFreeze(o.Context(), lead, pipeline.FreezeArgs{ID: "PG-001", Version: 1, Cause: contract.ManualCheck})
			return err
		},
		"revoke": func(o office) error {
			_, err := o.ContractRevoke(o.Context(), admin, pipeline.RevokeArgs{ID: "PG-001", Version: 1, Ground: contract.Audit, Reason: "x"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, nil)
			o.toGate()
			// Past the deadline, before the timer has run.
			o.at(o.clock().Add(24*time.Hour + time.Millisecond))
			o.refuses(refusal.GateExpired, command(o))
			o.expect(map[contract.ID]string{"PG-001": "Frozen gate_expired high expired", "AC-001": "Frozen gate_expired passed", "TS-001": "Frozen gate_expired"})
			n := 0
			for _, e := range read(o.world, func(r pipeline.Reader) ([]pipeline.Event, error) { return r.Events(0, pipeline.EventFilter{}, 0) }) {
				if e.Type == event.GateDecided {
					n++
				}
			}
			if n != 1 {
				t.Errorf("the expiry was announced %d times", n)
			}
		})
	}
}

func TestAGateThatIsFrozenExpiresAllTheSame(t *testing.T) {
	o := newOffice(t, nil)
	o.toGate()
	frozen, err := o.ContractFreeze(o.Context(), lead, pipeline.FreezeArgs{ID: "PG-001", Version: 1, Cause: contract.ManualCheck, Reason: "wait"})
	must(o, frozen, err)
	_, err = o.decide(lead, contract.Approved)
	o.refuses(refusal.GateNotActive, err)
	o.after(24*time.Hour + time.Millisecond)
	o.expect(map[contract.ID]string{"PG-001": "Frozen gate_expired high expired"})
}

func TestGateStatusTellsAPipelineWhetherTheseBytesMayGo(t *testing.T) {
	o := newOffice(t, nil)
	status := func(a pipeline.GateStatusArgs) *pipeline.GateStatus {
		t.Helper()
		s, err := o.GateStatus(o.Context(), a)
		return must(o, s, err)
	}
	ask := pipeline.GateStatusArgs{Repository: "git@example.org:app", HeadCommit: first}
	_, err := o.GateStatus(o.Context(), ask)
	o.refuses(refusal.RefNotFound, err)
	o.toGate()
	if s := status(ask); s.Publishable || s.Standing != pipeline.StandingWaiting || s.FinalDecision != contract.DecisionPending || !s.DigestCurrent || s.ID != "PG-001" {
		t.Errorf("a pending gate is shown as %+v", s)
	}
	for _, who := range []pipeline.Caller{lead, security} {
		out, err := o.decide(who, contract.Approved)
		must(o, out, err)
	}
	if s := status(pipeline.GateStatusArgs{DiffHash: contract.Hash([]byte(first))}); !s.Publishable || s.Standing != pipeline.StandingPassed {
		t.Errorf("an approved gate is shown as %+v", s)
	}
	o.run(job{who: ci, phase: phase.Refactor, head: second})
	if s := status(pipeline.GateStatusArgs{HeadCommit: second}); s.Publishable || s.DigestCurrent || s.Standing != pipeline.StandingStale {
		t.Errorf("other bytes than those agreed to are shown as %+v", s)
	}
	// The commit that was agreed to is no longer what the chain is about, and is
	// not one that nobody ever asked about.
	if s := status(ask); s.Publishable || s.DigestCurrent || s.Standing != pipeline.StandingStale {
		t.Errorf("a commit that was left behind is shown as %+v", s)
	}
	elsewhere := ask
	elsewhere.Repository = "git@example.org:another"
	_, err = o.GateStatus(o.Context(), elsewhere)
	o.refuses(refusal.RefNotFound, err)
}

func TestAPipelineIsToldOfARefusal(t *testing.T) {
	o := newOffice(t, nil)
	o.toGate()
	out, err := o.decide(lead, contract.Rejected)
	must(o, out, err)
	s, err := o.GateStatus(o.Context(), pipeline.GateStatusArgs{HeadCommit: first})
	if err != nil || s.Standing != pipeline.StandingRejected || s.Publishable {
		t.Errorf("a refused gate is shown as %+v, %v", s, err)
	}
}

func TestAskingForTheStatusOfAnOverdueGateChangesNothing(t *testing.T) {
	o := newOffice(t, nil)
	o.toGate()
	o.at(o.clock().Add(25 * time.Hour))
	s, err := o.GateStatus(o.Context(), pipeline.GateStatusArgs{HeadCommit: first})
	if err != nil || s.FinalDecision != contract.DecisionExpired || s.Publishable || s.Standing != pipeline.StandingExpired {
		t.Errorf("answered %+v, %v", s, err)
	}
	o.expect(map[contract.ID]string{"PG-001": "Active high pending"})
}

func TestOnePersonAloneIsMarkedAsSelfApproved(t *testing.T) {
	o := newOffice(t, func(c *pipeline.Config) { c.Options, c.Solo = approval.Options{}, true })
	o.people(pipeline.Actor{ID: "me", Type: contract.Human, Roles: contract.RolesOf(contract.Requester, contract.ProjectLead)})
	shown, err := o.IntentCreate(o.Context(), by("me", contract.Requester), pipeline.IntentArgs{
		Intent: "Add a login page", Priority: "low", RequestedCapabilities: []string{"read_repo"},
	})
	must(o, shown, err)
	o.vote(by("me", contract.ProjectLead), "IC-001", 1)
	votes, err := o.ActivationList(o.Context(), "IC-001")
	if list := must(o, votes, err); len(list) != 1 || !list[0].SelfApproved {
		t.Errorf("the ledger says %+v", list)
	}
}

func TestAGateShowsWhatAnApproverAgreesTo(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "write_repo")
	o.run(job{who: developer, phase: phase.Build, head: first, signals: map[string]bool{"customerDataWrite": true}})
	o.run(job{who: ci, phase: phase.Stabilize, head: first})
	for _, who := range []pipeline.Caller{lead, security, releaser} {
		o.vote(who, "AC-001", 2)
	}
	shown, err := o.GateGet(o.Context(), "PG-001")
	g := must(o, shown, err)
	covers := decode[map[string]any](o, g.Covers)
	if covers["diffHash"] != contract.Hash([]byte(first)) || covers["acceptanceVersion"] != 2.0 || covers["boundaryAuditId"] != nil ||
		contract.Hash(g.Covers) != g.ApprovalDigest {
		t.Errorf("the digest covers %s", g.Covers)
	}
	signals := decode[map[string]string](o, g.Signals)
	if signals["customerDataWrite"] != "observed" || signals["irreversiblePublish"] != "undeclared" {
		t.Errorf("the signals are %s", g.Signals)
	}
	if len(g.Outstanding) != 3 || g.HeadCommit != first || g.Phase != "Refactor" {
		t.Errorf("the gate is shown as %+v", g)
	}
}
