package activation_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/pipeline/activation"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
	"plimsoll.dev/testdata/contracts"
)

type vector struct {
	Name     string
	Contract struct {
		Kind                        contract.Kind
		Version                     int64
		State, FrozenFrom           contract.State
		RequiredActivationApprovals contract.RoleSet
	}
	SourceState, PredecessorState contract.State
	Options                       approval.Options
	IntentCreator                 contract.ActorID
	Steps                         []struct {
		At, Op      string
		Role        contract.Role
		ActorID     contract.ActorID
		ActorType   contract.ActorType
		HoldsRole   *bool
		SourceState contract.State
		Expected    struct {
			OK        bool
			Code      refusal.Code
			State     contract.State
			Version   int64
			Entries   int
			Duplicate bool
			Events    []event.Type
		}
	}
}

func TestTheLedger(t *testing.T) {
	for _, v := range contracts.Load[vector](t, "activation") {
		t.Run(v.Name, func(t *testing.T) {
			c := v.Contract
			s := state.Snapshot{
				Kind: c.Kind, State: c.State, Version: c.Version, FrozenFrom: c.FrozenFrom,
				GenerationPolicy: contract.GenerationPolicy{Approvals: c.RequiredActivationApprovals},
			}
			source, ledger := v.SourceState, []contract.Vote(nil)
			for i, step := range v.Steps {
				at, _ := contract.ParseTimestamp(step.At)
				var (
					out activation.Outcome
					err error
				)
				switch step.Op {
				case "edit":
					s.Version++
				case "source":
					source = step.SourceState
				default:
					actor := contract.Actor{ID: step.ActorID, Role: step.Role, Type: contract.Human}
					if step.ActorType != "" {
						actor.Type = step.ActorType
					}
					out, err = activation.Decide(s, ledger, activation.Terms{
						Creator: v.IntentCreator, Options: v.Options,
						Activate: state.Event{Actor: self, Source: source, Predecessor: v.PredecessorState},
					}, activation.Ballot{
						Voter:    approval.Voter{Actor: actor, HoldsRole: step.HoldsRole == nil || *step.HoldsRole},
						Decision: contract.Decision(step.Op),
					}, at.Time())
					s, ledger = out.Contract, out.Ledger
				}
				announced := []event.Type{}
				for _, e := range out.Effects {
					if e.Do == state.Announce {
						announced = append(announced, e.Event)
					}
				}
				want := step.Expected
				if (err == nil) != want.OK || refusal.CodeOf(err) != want.Code || out.Duplicate != want.Duplicate || !slices.Equal(announced, want.Events) {
					t.Errorf("step %d: %v, duplicate %v, %v", i+1, err, out.Duplicate, announced)
				}
				if s.State != want.State || s.Version != want.Version || len(ledger) != want.Entries {
					t.Errorf("step %d: %s version %d with %d entries", i+1, s.State, s.Version, len(ledger))
				}
			}
		})
	}
}

var (
	now  = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)
	self = contract.Actor{ID: "orchestrator-001", Role: contract.Orchestrator}
)

func person(role contract.Role, id contract.ActorID, d contract.Decision) activation.Ballot {
	return activation.Ballot{
		Voter:    approval.Voter{Actor: contract.Actor{ID: id, Role: role, Type: contract.Human}, HoldsRole: true},
		Decision: d,
	}
}

// In whatever order the listed roles approve, exactly the last one activates.
func TestTheLastApprovalActivates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := []contract.Role{contract.ProjectLead, contract.SecurityReviewer, contract.ReleaseManager, contract.Admin}
		list := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 4, rapid.ID).Draw(t, "list")
		s := state.Snapshot{
			Kind: contract.KindTaskSeed, State: contract.Draft, Version: 1,
			GenerationPolicy: contract.GenerationPolicy{Approvals: contract.RolesOf(list...)},
		}
		terms := activation.Terms{Options: approval.FourEyes(), Activate: state.Event{Actor: self, Source: contract.Active}}
		var ledger []contract.Vote
		for i, r := range list {
			if got := activation.Outstanding(s, ledger).Len(); got != len(list)-i {
				t.Fatalf("%d outstanding after %d of %d", got, i, len(list))
			}
			out, err := activation.Decide(s, ledger, terms, person(r, contract.ActorID(r), contract.Approved), now)
			if err != nil {
				t.Fatal(err)
			}
			s, ledger = out.Contract, out.Ledger
			if (s.State == contract.Active) != (i == len(list)-1) {
				t.Fatalf("%s after %d of %d", s.State, i+1, len(list))
			}
		}
	})
}

func TestThePolicyEngineDecidesWhereAListNamesIt(t *testing.T) {
	s := state.Snapshot{
		Kind: contract.KindTaskSeed, State: contract.Draft, Version: 1,
		GenerationPolicy: contract.GenerationPolicy{Approvals: contract.RolesOf(contract.PolicyEngine)},
	}
	b := person(contract.PolicyEngine, contract.PolicyEngineActor, contract.Approved)
	b.Voter.Type = contract.System
	out, err := activation.Decide(s, nil, activation.Terms{Activate: state.Event{Actor: self, Source: contract.Active}}, b, now)
	if err != nil || out.Contract.State != contract.Active {
		t.Errorf("got %s, %v", out.Contract.State, err)
	}
}

func TestASoloActivationIsMarked(t *testing.T) {
	s := state.Snapshot{Kind: contract.KindIntent, State: contract.Draft, Version: 1}
	terms := activation.Terms{Creator: "user-001", Activate: state.Event{Actor: self}}
	out, err := activation.Decide(s, nil, terms, person(contract.ProjectLead, "user-001", contract.Approved), now)
	if err != nil || !out.SelfApproved || out.Contract.State != contract.Active {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestAnIntentNamesWhoMayActivateItUntilOneHas(t *testing.T) {
	s := state.Snapshot{Kind: contract.KindIntent, State: contract.Draft, Version: 2}
	old := contract.Vote{Version: 1, Approval: contract.Approval{Role: contract.Admin, Decision: contract.Approved}}
	if got := activation.Outstanding(s, []contract.Vote{old}); got != contract.RolesOf(contract.ProjectLead, contract.Admin) {
		t.Errorf("got %s", got)
	}
	old.Version = 2
	if got := activation.Outstanding(s, []contract.Vote{old}); !got.Empty() {
		t.Errorf("got %s", got)
	}
}
