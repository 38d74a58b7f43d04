package state

import (
	"slices"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
)

// edge is one row of the table: a pair of states that can be taken by some
// kinds. open, when it is there, closes the pair again for some events, with
// the code closed: that is part of the matrix and asked before the role.
type edge struct {
	kinds   []contract.Kind
	from    []contract.State // "" is creation
	to      contract.State
	open    func(Snapshot, Event) bool
	only    string // open in words
	closed  refusal.Code
	by      authority
	guards  []guard
	effects []effect
}

// effect is an Effect that some events of an edge have; no when is always.
type effect struct {
	Effect
	when  func(Snapshot, Event) bool
	words string
}

var (
	intents  = []contract.Kind{contract.KindIntent}
	targets  = []contract.Kind{contract.KindTaskSeed, contract.KindAcceptance}
	work     = []contract.Kind{contract.KindIntent, contract.KindTaskSeed, contract.KindAcceptance}
	gates    = []contract.Kind{contract.KindPublishGate}
	evidence = []contract.Kind{contract.KindEvidence}
	mutable  = []contract.Kind{contract.KindIntent, contract.KindTaskSeed, contract.KindAcceptance, contract.KindPublishGate}
)

func announce(t event.Type) effect { return effect{Effect: Effect{Announce, t}} }

func always(a Action) effect { return effect{Effect: Effect{Do: a}} }

// table is every edge there is: creation (docs/spec/contracts.md §2.2), then the
// pairs of §2.3 with the authority, guards and events of §2.4. A pair of a kind
// is in at most one row; a pair in none is refused with the code of refused.
var table = []edge{
	{
		kinds: intents, from: states(""), to: contract.Draft,
		by: raises,
	},
	{
		kinds: []contract.Kind{contract.KindTaskSeed}, from: states(""), to: contract.Draft,
		by: orchestrator, guards: []guard{sourceGenerates},
		effects: []effect{announce(event.TaskSeedCreated)},
	},
	{
		kinds: []contract.Kind{contract.KindTaskSeed}, from: states(""), to: contract.Active,
		by: anybody, guards: []guard{sourceGenerates, generated},
		effects: []effect{announce(event.TaskSeedCreated), always(Examine)},
	},
	{
		kinds: []contract.Kind{contract.KindAcceptance}, from: states(""), to: contract.Draft,
		by: orchestrator, guards: []guard{sourceGenerates},
		effects: []effect{announce(event.AcceptanceCreated)},
	},
	{
		kinds: []contract.Kind{contract.KindAcceptance}, from: states(""), to: contract.Active,
		by: anybody, guards: []guard{sourceGenerates, generated},
		effects: []effect{announce(event.AcceptanceCreated), always(Examine)},
	},
	{
		kinds: gates, from: states(""), to: contract.Active,
		open: func(s Snapshot, _ Event) bool { return s.FinalDecision == contract.DecisionPending },
		only: "undecided", closed: refusal.ContractInitialStateForbidden,
		by: policyEngine, guards: []guard{policyAdmits},
		effects: []effect{announce(event.GateCreated)},
	},
	{
		kinds: gates, from: states(""), to: contract.Published,
		open: func(s Snapshot, _ Event) bool {
			return !s.Level.Human() && s.FinalDecision == contract.DecisionApproved
		},
		only: "low or medium, approved", closed: refusal.ContractInitialStateForbidden,
		by: policyEngine, guards: []guard{policyAdmits},
		effects: []effect{announce(event.GateCreated), announce(event.GateDecided), always(Supersede), always(Examine)},
	},
	{
		kinds: gates, from: states(""), to: contract.Draft,
		open: func(s Snapshot, _ Event) bool {
			return !s.Level.Human() && s.FinalDecision == contract.DecisionRejected
		},
		only: "low or medium, rejected; revoked in the same transaction", closed: refusal.ContractInitialStateForbidden,
		by: policyEngine, guards: []guard{policyAdmits},
		effects: []effect{announce(event.GateCreated), announce(event.GateDecided)},
	},
	{
		kinds: evidence, from: states(""), to: contract.Published,
		by:      anybody,
		effects: []effect{announce(event.EvidenceCreated)},
	},

	{
		kinds: intents, from: states(contract.Draft), to: contract.Active,
		by: orchestrator, guards: []guard{intentApproved, noLivePredecessor},
		effects: []effect{announce(event.IntentCreated)},
	},
	{
		kinds: targets, from: states(contract.Draft), to: contract.Active,
		by: orchestrator, guards: []guard{rolesApproved, sourceActive},
		effects: []effect{always(Examine)},
	},
	{
		kinds: targets, from: states(contract.Draft), to: contract.Frozen,
		open: func(_ Snapshot, e Event) bool { return e.Cause == contract.GenerationFailed },
		only: "cause generation_failed", closed: refusal.ContractTransitionForbidden,
		by:      orchestrator,
		effects: []effect{always(Preempt)},
	},
	{
		kinds: mutable, from: states(contract.Active), to: contract.Frozen,
		by: freezes, guards: []guard{knownCause},
		effects: []effect{
			{
				Effect: Effect{Announce, event.GateDecided},
				when: func(s Snapshot, e Event) bool {
					return s.Kind == contract.KindPublishGate && e.Cause == contract.GateExpired
				},
				words: "a gate with cause gate_expired",
			},
			always(Preempt),
		},
	},
	{
		kinds: work, from: states(contract.Active), to: contract.Published,
		by: orchestrator, guards: []guard{policyAdmits, inPublish, acceptancePassed},
		effects: []effect{always(Supersede)},
	},
	{
		kinds: gates, from: states(contract.Active), to: contract.Published,
		by: orchestrator, guards: []guard{policyAdmits},
		effects: []effect{announce(event.GateDecided), always(Supersede), always(Examine)},
	},
	{
		kinds: mutable, from: states(contract.Frozen), to: contract.Active,
		open: func(_ Snapshot, e Event) bool { return e.Profile != Strict },
		only: "profile default", closed: refusal.ContractTransitionForbidden,
		by: resumes, guards: []guard{resolved, causeGone, gateReopens, activationComplete},
		effects: []effect{always(Examine)},
	},
	{
		kinds: mutable, from: states(contract.Published), to: contract.Superseded,
		by: orchestrator, guards: []guard{replaced},
	},
	{
		kinds: mutable, from: states(contract.Draft, contract.Active, contract.Frozen, contract.Published), to: contract.Revoked,
		by: revokes, guards: []guard{grounded},
		effects: []effect{
			{
				Effect: Effect{Announce, event.GateDecided},
				when: func(s Snapshot, e Event) bool {
					return s.Kind == contract.KindPublishGate && s.State == contract.Active &&
						s.FinalDecision == contract.DecisionRejected
				},
				words: "a gate that people rejected",
			},
			always(Preempt),
		},
	},
	{
		kinds: evidence, from: states(contract.Published), to: contract.Revoked,
		open: func(_ Snapshot, e Event) bool { return e.Ground == contract.Audit },
		only: "ground audit", closed: refusal.EvidenceImmutable,
		by: audits, guards: []guard{grounded},
	},
	{
		kinds: mutable, from: states(contract.Published, contract.Superseded, contract.Revoked), to: contract.Archived,
		by: archives, guards: []guard{due},
	},
	{
		kinds: evidence, from: states(contract.Published, contract.Revoked), to: contract.Archived,
		by: archives, guards: []guard{due},
	},
}

func states(list ...contract.State) []contract.State { return list }

// lookup gives the row of a pair, or the code that stands in the matrix in its
// place.
func lookup(k contract.Kind, from, to contract.State) (*edge, refusal.Code) {
	for i := range table {
		e := &table[i]
		if e.to == to && slices.Contains(e.kinds, k) && slices.Contains(e.from, from) {
			return e, ""
		}
	}
	return nil, refused(k, from, to)
}

// refused is the matrix outside the edges. Its order is that of
// docs/spec/contracts.md §2.3: no change, Archived, Evidence in a state it
// cannot hold, Evidence that would change, and any other pair. Two of the codes
// are those of other layers; the matrix quotes them.
func refused(k contract.Kind, from, to contract.State) refusal.Code {
	switch {
	case from == "" && k == contract.KindEvidence:
		return refusal.EvidenceStateInvalid
	case from == "":
		return refusal.ContractInitialStateForbidden
	case from == to:
		return refusal.ContractTransitionNoOp
	case from == contract.Archived:
		return refusal.ContractArchivedImmutable
	case k == contract.KindEvidence && from == contract.Published:
		return refusal.EvidenceImmutable
	case k == contract.KindEvidence && from != contract.Revoked:
		return refusal.EvidenceStateInvalid
	case k == contract.KindPublishGate && from == contract.Draft && to == contract.Active:
		return refusal.GateAlreadyFinal // the only Draft gate is one already rejected
	}
	return refusal.ContractTransitionForbidden
}
