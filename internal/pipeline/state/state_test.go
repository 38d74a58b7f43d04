package state_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

func anyState(t *rapid.T, label string, more ...contract.State) contract.State {
	return rapid.SampledFrom(append(contract.States(), more...)).Draw(t, label)
}

func anyEvent(t *rapid.T, to contract.State) state.Event {
	e := state.Event{
		To:               to,
		Actor:            contract.Actor{ID: rapid.SampledFrom([]contract.ActorID{"a", "b"}).Draw(t, "actor"), Role: rapid.SampledFrom(contract.Roles()).Draw(t, "role")},
		Cause:            rapid.SampledFrom(append(contract.Causes(), "", "because")).Draw(t, "cause"),
		Ground:           rapid.SampledFrom([]contract.Ground{contract.Audit, contract.ManualStop, "", "whim"}).Draw(t, "ground"),
		Reason:           rapid.SampledFrom([]string{"", "x", state.Regenerated}).Draw(t, "reason"),
		Resolution:       rapid.SampledFrom([]string{"", " ", "x"}).Draw(t, "resolution"),
		Profile:          rapid.SampledFrom([]state.Profile{"", state.Default, state.Strict}).Draw(t, "profile"),
		SystemGenerated:  rapid.Bool().Draw(t, "generated"),
		Source:           anyState(t, "source", ""),
		Predecessor:      anyState(t, "predecessor", ""),
		InPublish:        rapid.Bool().Draw(t, "publish"),
		AcceptanceStatus: rapid.SampledFrom([]contract.Status{contract.Passed, contract.Failed, ""}).Draw(t, "status"),
		CauseCleared:     rapid.Bool().Draw(t, "cleared"),
		OperatingRule:    rapid.SampledFrom([]string{"", "OPS-7"}).Draw(t, "rule"),
		Policy:           state.Answered(rapid.SampledFrom([]error{nil, approval.Publishable(nil)}).Draw(t, "policy")),
	}
	if rapid.Bool().Draw(t, "kept") {
		e.KeepUntil = now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "keep")))
	}
	if rapid.Bool().Draw(t, "succeeded") {
		e.Successor = &state.Version{Number: rapid.Int64Range(1, 3).Draw(t, "successor"), State: anyState(t, "successor state")}
	}
	for range rapid.IntRange(0, 3).Draw(t, "votes") {
		e.Votes = append(e.Votes, contract.Vote{Version: rapid.Int64Range(1, 2).Draw(t, "vote version"), Approval: contract.Approval{
			Role: rapid.SampledFrom(contract.Roles()).Draw(t, "vote role"), Decision: rapid.SampledFrom([]contract.Decision{contract.Approved, contract.Rejected}).Draw(t, "vote"),
		}})
	}
	return e
}

func anySnapshot(t *rapid.T, k contract.Kind, from contract.State) state.Snapshot {
	s := state.Snapshot{
		Kind: k, State: from, Version: 1, Creator: "a",
		GenerationPolicy: contract.GenerationPolicy{AutoActivate: rapid.Bool().Draw(t, "auto"), Approvals: contract.RoleSet(rapid.Uint16Range(0, 31).Draw(t, "approvers"))},
		Level:            rapid.SampledFrom(contract.Levels()).Draw(t, "level"),
		FinalDecision:    rapid.SampledFrom([]contract.FinalDecision{"pending", "approved", "rejected", "expired"}).Draw(t, "decision"),
	}
	if from == contract.Frozen {
		s.FrozenFrom = rapid.SampledFrom([]contract.State{contract.Draft, contract.Active}).Draw(t, "frozen from")
		s.Cause = rapid.SampledFrom(contract.Causes()).Draw(t, "frozen for")
	}
	return s
}

// Every event on every state of every kind is answered: by exactly the state
// asked for, or by a code of the catalogue and no change.
func TestTheMachineIsTotal(t *testing.T) {
	for _, k := range contract.Kinds() {
		for _, from := range append(contract.States(), "") {
			for _, to := range contract.States() {
				rapid.Check(t, func(t *rapid.T) {
					s, e := anySnapshot(t, k, from), anyEvent(t, to)
					next, effects, err := state.Next(s, e, now)
					ok, _, code := state.Cell(k, from, to)
					if err != nil {
						r, refused := errors.AsType[*refusal.Refusal](err)
						if !refused || !r.Code.Valid() || effects != nil || next != s {
							t.Fatalf("%s %s to %s: %v with %v", k, from, to, err, effects)
						}
						if !ok && r.Code != code {
							t.Fatalf("%s %s to %s: %v, the matrix has %s", k, from, to, err, code)
						}
						return
					}
					if !ok || next.State != to || next.Kind != k || next.Version != s.Version || effects == nil {
						t.Fatalf("%s %s to %s: %+v", k, from, to, next)
					}
					if (next.State == contract.Frozen) != (next.Cause != "") || (next.State == contract.Frozen) != (next.FrozenFrom != "") {
						t.Fatalf("frozen without a cause, or a cause without frozen: %+v", next)
					}
					for _, eff := range effects {
						if (eff.Do == state.Announce) != eff.Event.Valid() {
							t.Fatalf("effect %+v", eff)
						}
						if eff.Event.Valid() && eff.Event.Kind() != string(k) {
							t.Fatalf("a %s announces %s", k, eff.Event)
						}
					}
				})
			}
		}
	}
}

// What must hold of any life, whatever is asked in whatever order.
func TestNoLifeLeavesTheLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(contract.Kinds()).Draw(t, "kind")
		s := anySnapshot(t, k, "")
		ended := false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			before := s.State
			next, _, err := state.Next(s, anyEvent(t, anyState(t, "to")), now)
			if err != nil {
				continue
			}
			s = next
			if ended && s.State == contract.Active {
				t.Fatalf("%s is Active again", k)
			}
			ended = ended || slices.Contains([]contract.State{contract.Published, contract.Superseded, contract.Revoked, contract.Archived}, s.State)
			if before == contract.Archived {
				t.Fatal("an Archived contract changed")
			}
			if k == contract.KindEvidence && !slices.Contains([]contract.State{contract.Published, contract.Revoked, contract.Archived}, s.State) {
				t.Fatalf("Evidence is %s", s.State)
			}
			if before == contract.Frozen && s.State != contract.Active && s.State != contract.Revoked {
				t.Fatalf("Frozen led to %s", s.State)
			}
		}
	})
}

func TestStrictProfileLeavesOnlyRevocation(t *testing.T) {
	for _, k := range contract.Kinds() {
		for _, to := range contract.States() {
			rapid.Check(t, func(t *rapid.T) {
				e := anyEvent(t, to)
				e.Profile = state.Strict
				next, _, err := state.Next(anySnapshot(t, k, contract.Frozen), e, now)
				if err == nil && next.State != contract.Revoked {
					t.Fatalf("%s: Frozen led to %s", k, next.State)
				}
			})
		}
	}
}

func TestEffectsOfTheEdges(t *testing.T) {
	lead := contract.Actor{ID: "lead-001", Role: contract.ProjectLead}
	self := contract.Actor{ID: "orchestrator-001", Role: contract.Orchestrator}
	for name, c := range map[string]struct {
		s    state.Snapshot
		e    state.Event
		want []state.Effect
	}{
		"a stop does not wait for the run it stops": {
			state.Snapshot{Kind: contract.KindTaskSeed, State: contract.Active},
			state.Event{To: contract.Frozen, Actor: lead, Cause: contract.ManualCheck},
			[]state.Effect{{Do: state.Preempt}},
		},
		"a resumption looks at the chain": {
			state.Snapshot{Kind: contract.KindTaskSeed, State: contract.Frozen, FrozenFrom: contract.Active, Cause: contract.ManualCheck},
			state.Event{To: contract.Active, Actor: lead, Resolution: "looked", CauseCleared: true},
			[]state.Effect{{Do: state.Examine}},
		},
		"a publication supersedes": {
			state.Snapshot{Kind: contract.KindIntent, State: contract.Active},
			state.Event{To: contract.Published, Actor: self, Policy: state.Answered(nil), InPublish: true, AcceptanceStatus: contract.Passed},
			[]state.Effect{{Do: state.Supersede}},
		},
		"an expiry is announced": {
			state.Snapshot{Kind: contract.KindPublishGate, State: contract.Active},
			state.Event{To: contract.Frozen, Actor: self, Cause: contract.GateExpired},
			[]state.Effect{{state.Announce, event.GateDecided}, {Do: state.Preempt}},
		},
		"a gate stopped by hand is not": {
			state.Snapshot{Kind: contract.KindPublishGate, State: contract.Active, FinalDecision: contract.DecisionPending},
			state.Event{To: contract.Revoked, Actor: lead, Ground: contract.ManualStop, Reason: "x"},
			[]state.Effect{{Do: state.Preempt}},
		},
	} {
		next, got, err := state.Next(c.s, c.e, now)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		if !next.UpdatedAt.Time().Equal(now) {
			t.Errorf("%s: stamped %s", name, next.UpdatedAt)
		}
	}
}

func TestWhoMayRevokeOnWhichGround(t *testing.T) {
	for _, c := range []struct {
		role   contract.Role
		ground contract.Ground
		reason string
		code   refusal.Code
	}{
		{contract.Admin, contract.Audit, "x", ""},
		{contract.Admin, contract.ManualStop, "x", ""},
		{contract.SecurityReviewer, contract.Audit, "x", ""},
		{contract.SecurityReviewer, contract.ManualStop, "x", refusal.RoleNotPermitted},
		{contract.SecurityReviewer, "", "x", refusal.RevokeGroundRequired},
		{contract.ProjectLead, contract.ManualStop, "x", ""},
		{contract.ProjectLead, contract.Audit, "x", refusal.RoleNotPermitted},
		{contract.Orchestrator, contract.ManualStop, state.Regenerated, ""},
		{contract.Orchestrator, contract.ManualStop, "x", refusal.RoleNotPermitted},
		{contract.QA, contract.ManualStop, "x", refusal.RoleNotPermitted},
		{contract.Admin, contract.Audit, "  ", refusal.RevokeReasonRequired},
	} {
		s := state.Snapshot{Kind: contract.KindTaskSeed, State: contract.Active}
		_, _, err := state.Next(s, state.Event{To: contract.Revoked, Actor: contract.Actor{Role: c.role}, Ground: c.ground, Reason: c.reason}, now)
		if refusal.CodeOf(err) != c.code {
			t.Errorf("%s, %q, %q: %v", c.role, c.ground, c.reason, err)
		}
	}
}

func TestAnEventForNoStateIsRefused(t *testing.T) {
	_, _, err := state.Next(state.Snapshot{Kind: contract.KindIntent, State: contract.Draft}, state.Event{To: "Done"}, now)
	if refusal.CodeOf(err) != refusal.ContractSchemaInvalid {
		t.Errorf("got %v", err)
	}
	if _, _, err := state.Next(state.Snapshot{Kind: "Order"}, state.Event{To: contract.Draft}, now); err == nil || refusal.CodeOf(err) != "" {
		t.Errorf("got %v", err)
	}
}
