package state_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
	"plimsoll.dev/testdata/contracts"
)

var now = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

type vector struct {
	Name     string
	Kind     contract.Kind
	From     contract.State
	To       contract.State
	Context  vectorContext
	Expected struct {
		OK     bool
		Code   refusal.Code
		Events []event.Type
	}
}

type vectorContext struct {
	Actor struct {
		ActorID contract.ActorID
		Role    contract.Role
	}
	ContractVersion     int64
	ActivationApprovals []struct {
		Role            contract.Role
		Decision        contract.Decision
		ContractVersion int64
	}
	RequiredActivationApprovals contract.RoleSet
	AutoActivate                bool
	SystemGenerated             bool
	SourceState                 contract.State
	PredecessorState            contract.State
	Creator                     *contract.ActorID
	Gate                        *struct {
		FinalDecision     contract.FinalDecision
		RequiredApprovals contract.RoleSet
		ApprovedRoles     []contract.Role
	}
	Action         contract.Action
	DeadlinePassed bool
	RiskLevel      contract.Level
	Acceptance     *struct {
		State  contract.State
		Status contract.Status
	}
	AcceptanceStatus contract.Status
	Phase            string
	Cause            contract.Cause
	Ground           contract.Ground
	Reason           string
	Resolution       string
	FreezeCause      contract.Cause
	CauseCleared     bool
	FrozenFrom       contract.State
	Profile          state.Profile
	Successor        *struct {
		Version int64
		State   contract.State
	}
	RetentionReached bool
	OperationsRule   string
}

// request builds what Next is asked from a vector, the Policy Engine's answer
// included: the two layers run together as they do in the program.
func request(v vector) (state.Snapshot, state.Event) {
	c := v.Context
	s := state.Snapshot{
		Kind: v.Kind, State: v.From, Version: max(1, c.ContractVersion), FrozenFrom: c.FrozenFrom, Cause: c.FreezeCause,
		GenerationPolicy: contract.GenerationPolicy{AutoActivate: c.AutoActivate, Approvals: c.RequiredActivationApprovals},
		Creator:          c.Actor.ActorID, Level: c.RiskLevel,
	}
	if c.Creator != nil {
		s.Creator = *c.Creator
	}
	if s.State == contract.Frozen && s.FrozenFrom == "" {
		s.FrozenFrom = contract.Active
	}
	e := state.Event{
		To: v.To, Actor: contract.Actor{ID: c.Actor.ActorID, Role: c.Actor.Role},
		Cause: c.Cause, Ground: c.Ground, Reason: c.Reason, Resolution: c.Resolution,
		Profile: c.Profile, SystemGenerated: c.SystemGenerated, Source: c.SourceState, Predecessor: c.PredecessorState,
		InPublish: c.Phase == "Publish", AcceptanceStatus: c.AcceptanceStatus, CauseCleared: c.CauseCleared,
		OperatingRule: c.OperationsRule,
	}
	if c.RetentionReached {
		e.KeepUntil = now
	}
	if c.Successor != nil {
		e.Successor = &state.Version{Number: c.Successor.Version, State: c.Successor.State}
	}
	for _, a := range c.ActivationApprovals {
		e.Votes = append(e.Votes, contract.Vote{Version: a.ContractVersion, Approval: contract.Approval{Role: a.Role, Decision: a.Decision}})
	}
	e.Policy = answer(v, &s)
	return s, e
}

func answer(v vector, s *state.Snapshot) state.Answer {
	c := v.Context
	var gate *contract.PublishGate
	if c.Gate != nil {
		s.FinalDecision = c.Gate.FinalDecision
		gate = &contract.PublishGate{
			Base: contract.Base{ID: "PG-001"}, FinalDecision: c.Gate.FinalDecision, RequiredApprovals: c.Gate.RequiredApprovals, Action: c.Action,
			ApprovalDeadline: contract.At(now),
		}
		for _, r := range c.Gate.ApprovedRoles {
			gate.Approvals = append(gate.Approvals, contract.Approval{Role: r, Decision: contract.Approved})
		}
	}
	switch {
	case v.From == "" && c.Acceptance != nil:
		return state.Answered(approval.Admit(&contract.Acceptance{Base: contract.Base{State: c.Acceptance.State}, Status: c.Acceptance.Status}))
	case v.Kind == contract.KindPublishGate && v.To == contract.Published:
		return state.Answered(approval.Settled(gate))
	case v.Kind == contract.KindPublishGate && v.From == contract.Frozen && gate != nil:
		at := now
		if c.DeadlinePassed {
			at = now.Add(time.Millisecond)
		}
		return state.Answered(approval.Reopenable(gate, at))
	case v.To == contract.Published && v.Kind != contract.KindEvidence:
		return state.Answered(approval.Publishable(gate))
	}
	return state.Answer{}
}

func TestTransitions(t *testing.T) {
	for _, v := range contracts.Load[vector](t, "transitions") {
		s, e := request(v)
		next, effects, err := state.Next(s, e, now)
		if v.Expected.Code != "" {
			if refusal.CodeOf(err) != v.Expected.Code {
				t.Errorf("%s: got %v, want %s", v.Name, err, v.Expected.Code)
			}
			continue
		}
		var announced []event.Type
		for _, eff := range effects {
			if eff.Do == state.Announce {
				announced = append(announced, eff.Event)
			}
		}
		if err != nil || next.State != v.To || !slices.Equal(announced, v.Expected.Events) {
			t.Errorf("%s: %s, %v, %v, want %v", v.Name, next.State, announced, err, v.Expected.Events)
		}
	}
}

// A caller who does not ask the Policy Engine does not get through.
func TestAnEdgeWhoseAnswerNobodyAskedForIsClosed(t *testing.T) {
	for _, v := range contracts.Load[vector](t, "transitions") {
		s, e := request(v)
		before := e.Policy
		e.Policy = state.Answer{}
		_, _, err := state.Next(s, e, now)
		asks := before != (state.Answer{})
		if v.Expected.OK && asks && (err == nil || refusal.CodeOf(err) != "") {
			t.Errorf("%s: got %v", v.Name, err)
		}
		if r, ok := errors.AsType[*refusal.Refusal](err); ok && !r.Code.Valid() {
			t.Errorf("%s: %v is not in the catalogue", v.Name, r)
		}
	}
}
