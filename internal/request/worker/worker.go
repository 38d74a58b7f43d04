// Package worker is the thirteen workers' built-in engines and the words they
// share with the orchestrator: the task a worker gets, and the drafts it answers
// (docs/spec/circle.md §§1, 6).
//
// An engine is a function of its task. It does no I/O, reads no clock, draws no
// ids and keeps nothing, so that a run which is repeated after a crash answers
// what it would have answered. It returns drafts and nothing else: what follows
// from a draft - a note is kept, a challenge is opened, a consent is asked for -
// is decided by the orchestrator from the draft's type and from the plan. An
// engine that was talked into something can spoil a draft, and nothing more.
//
// Only package request may import this one.
package worker

import (
	"time"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Engine does the job of one worker.
type Engine interface {
	// Work answers the drafts of one turn: at least one, each of a type in
	// Task.Outputs, with a content its schema admits. An error is a failed run;
	// its text never quotes the request.
	Work(t *Task) (Result, error)
}

// Func is a function that is an Engine.
type Func func(t *Task) (Result, error)

// Work implements Engine.
func (f Func) Work(t *Task) (Result, error) { return f(t) }

// Task is one turn of a worker.
type Task struct {
	Worker  constitution.AgentID
	Outputs []envelope.ArtifactType // what this turn is for; nothing else may be returned
	Run     string                  // the id of the run
	Now     time.Time               // UTC

	// IDs is the ids the drafts will have, in their order: Result.Drafts[i] becomes
	// the artifact IDs[i]. A content may name another draft of the same turn.
	IDs []string

	Request Request
	Earlier []artifact.Artifact // of earlier steps, as far as this worker's output may rest on them; oldest first
	Facts   Facts

	// Stops is what blocks the request so far, in the order in which several act.
	// Of a hand-over (docs/spec/circle.md §8) it holds the condition whose remedy
	// the worker is asked for.
	Stops    []envelope.Condition
	HandOver bool

	Attempt int          // 1, and one more for each regeneration
	Faults  problem.List // what was wrong with the attempt before
}

// Request is the envelope, reduced to what the worker's job needs, with what
// triage decided. A member that the job does not need is empty: see Needs.
type Request struct {
	ID      string
	Circle  string
	Member  string // who asks
	Channel envelope.Channel
	Origin  envelope.Origin
	Target  envelope.Level
	Locale  string // of the request, or of its text; "en" when neither says

	Intent   constitution.Intent
	Flags    []envelope.Flag // after triage
	Consent  envelope.ConsentStatus
	Actions  []envelope.Action
	Expected []envelope.ArtifactType

	Participants []string
	References   []envelope.Reference

	// Text is the request's text with every secret redacted; Source is the same
	// as something an artifact is made from.
	Text     string
	Source   artifact.Source
	Findings []Finding
}

// Has says whether the request carries the flag.
func (r *Request) Has(f envelope.Flag) bool {
	for _, have := range r.Flags {
		if have == f {
			return true
		}
	}
	return false
}

// Finding is what the screen found in a text: a rule and a place, never the text.
type Finding struct {
	Sort  string // secret, personal, breach
	Kind  string // of the rule: email, health, bypass
	Rule  string
	Form  string // how the text had to be read: plain, base64
	Start int    // bytes of the text as it was received
	End   int
	Data  bool // a breach that is talked about, and so none
}

// Result is what an engine answers.
type Result struct {
	Drafts []Draft
}

// Draft is one artifact to be. The orchestrator sets what an engine has no say
// in: its status, origin, provenance and the widest level it may have.
type Draft struct {
	Type    envelope.ArtifactType
	Content []byte // JSON, as the artifact schema has the type

	// Sources is what it was made from beside the text of the request, which
	// always counts, and all of Task.Earlier, which counts as well.
	Sources []artifact.Source

	// Level is the widest level it should have; "" is as wide as the request's
	// target, its flags and its sources allow. It only narrows.
	Level envelope.Level

	Flags    []envelope.Flag // found in the content, beside those of the request
	Concerns []string        // members whose personal data is in the content

	// Scope is what a confirmation would let happen: the recipients of what would
	// leave. The orchestrator sets the action by the type and holds the level
	// against the target.
	Scope artifact.Scope

	// WaitsFor is the artifact whose consents it waits for: the subject of a
	// consent request. "" is its own.
	WaitsFor string
}
