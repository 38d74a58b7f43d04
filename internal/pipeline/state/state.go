// Package state says what a contract may become, under whose authority, under
// which conditions and with which consequences.
//
// There is one table (table.go) and one function that reads it, Next. The
// matrices and lists in docs/states.md are printed from the table. Nothing else
// in the program changes a state (docs/spec/contracts.md §2).
//
//	            ┌────────► Revoked ◄───────┐
//	            │             ▲            ├─────► Archived
//	(create) ─► Draft ─► Active ─► Published ─► Superseded
//	            │        ▲    │
//	            └────► Frozen ◄┘
//
// Next is pure: what a condition reads is in the Snapshot and the Event, put
// there by the caller from the transaction it runs in. The answers of the
// Policy Engine arrive as Answers; an answer nobody asked for closes the edge.
package state

import (
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Profile decides whether a frozen contract can be resumed.
type Profile string

// The profiles. The zero value is Default.
const (
	Default Profile = "default"
	Strict  Profile = "strict" // Frozen leads to Revoked only
)

// Snapshot is a contract as the table sees it. State is "" before creation.
// FrozenFrom and Cause are kept beside the document while it is Frozen.
type Snapshot struct {
	Kind       contract.Kind
	State      contract.State
	Version    int64
	UpdatedAt  contract.Timestamp
	FrozenFrom contract.State
	Cause      contract.Cause

	Creator          contract.ActorID          // of the intent
	GenerationPolicy contract.GenerationPolicy // of a TaskSeed or Acceptance
	Level            contract.Level            // of a gate
	FinalDecision    contract.FinalDecision    // of a gate
}

// Event asks for a change of state. The members below To and Actor are what the
// edge asked for reads; the rest stays zero.
type Event struct {
	To    contract.State
	Actor contract.Actor

	Cause      contract.Cause  // of a freeze
	Ground     contract.Ground // of a revocation
	Reason     string          // of a freeze or revocation
	Resolution string          // of a resumption

	Profile          Profile
	SystemGenerated  bool            // a generator makes the contract, not a person
	Source           contract.State  // of the contract this one is made from
	Predecessor      contract.State  // of the previous version, "" for none
	Votes            []contract.Vote // the activation ledger, all versions
	Policy           Answer          // what the Policy Engine says of the gate concerned
	InPublish        bool            // the chain is in phase Publish
	AcceptanceStatus contract.Status
	CauseCleared     bool // whatever froze the contract is gone
	Successor        *Version
	KeepUntil        time.Time // from here on the contract may be archived; zero is never
	OperatingRule    string    // a recorded rule to archive earlier
}

// Version is a version of a contract with its state.
type Version struct {
	Number int64
	State  contract.State
}

// Answer is what the Policy Engine said when it was asked. The zero Answer is
// that nobody asked.
type Answer struct {
	asked bool
	err   error
}

// Answered wraps the answer of the Policy Engine: nil opens the edge, an error
// is passed on with its code unchanged.
func Answered(err error) Answer { return Answer{asked: true, err: err} }

// Err is the answer, or a fault of the caller's when nobody asked.
func (a Answer) Err() error {
	if !a.asked {
		return fault.E("state.Answer", fault.Internal, "the Policy Engine was not asked about the gate", nil)
	}
	return a.err
}

// Regenerated is the reason with which the Orchestrator revokes what a
// generator replaces (docs/spec/contracts.md §1.8).
const Regenerated = "regenerated"

// Effect is what belongs to a change of state and to its transaction. The use
// case carries it out.
type Effect struct {
	Do    Action
	Event event.Type // of an Announce
}

// Action is a kind of effect.
type Action string

// The actions.
const (
	Announce  Action = "announce"  // put the event on the bus
	Preempt   Action = "preempt"   // take the contract's lock over; the run that held it is lost
	Supersede Action = "supersede" // the Published predecessor becomes Superseded
	Examine   Action = "examine"   // look at the chain anew and dispatch what is due
)

// Next carries out e on s, or refuses. A refusal leaves s as it was and has no
// effects; its codes and their order are those of docs/spec/contracts.md §2.3.
// An error that is no refusal is a fault of the caller's.
func Next(s Snapshot, e Event, now time.Time) (Snapshot, []Effect, error) {
	edge, err := find(s, e)
	if err != nil {
		return s, nil, err
	}
	if err := edge.by.check(s, e); err != nil {
		return s, nil, err
	}
	for _, g := range edge.guards {
		if err := g.check(s, e, now); err != nil {
			return s, nil, err
		}
	}
	next := s
	next.State, next.UpdatedAt = e.To, contract.At(now)
	next.FrozenFrom, next.Cause = "", ""
	if e.To == contract.Frozen {
		next.FrozenFrom, next.Cause = s.State, e.Cause
	}
	effects := []Effect{}
	for _, eff := range edge.effects {
		if eff.when == nil || eff.when(s, e) {
			effects = append(effects, eff.Effect)
		}
	}
	return next, effects, nil
}

// find gives the edge of a pair, or the code the matrix has in its place:
// checks 1 to 6.
func find(s Snapshot, e Event) (*edge, error) {
	if err := e.To.Check(); err != nil {
		return nil, err
	}
	if !s.Kind.Valid() {
		return nil, fault.E("state.Next", fault.Internal, "a contract without a kind", nil)
	}
	edge, code := lookup(s.Kind, s.State, e.To)
	if edge != nil && edge.open != nil && !edge.open(s, e) {
		edge, code = nil, edge.closed
	}
	if edge != nil {
		return edge, nil
	}
	return nil, refuse(code, s, e)
}

func refuse(code refusal.Code, s Snapshot, e Event) error {
	if s.State == "" {
		return refusal.New(code, "no %s begins as %s", s.Kind, e.To)
	}
	return refusal.New(code, "%s: %s to %s", s.Kind, s.State, e.To)
}

// Executed refuses Evidence of a TaskSeed that cannot have been executed.
func Executed(task contract.State) error {
	if task == contract.Draft || task == "" {
		return refusal.At(refusal.TaskseedNotActive, "/taskSeedId", "a Draft TaskSeed is not executed")
	}
	return nil
}

// Running refuses work for a TaskSeed, or under an intent, that is not Active.
func Running(kind contract.Kind, s contract.State) error {
	if s != contract.Active {
		return refusal.New(refusal.TaskseedNotActive, "the %s is %s", kind, s)
	}
	return nil
}
