package request

import (
	"context"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Model drafts with a language model (docs/spec/circle.md §6, Engines). The
// system prompt is a constitution.Prompt and nothing else; everything that came
// with a request is data of the user turn (§3, §8). Package model implements it.
//
// It is asked outside of every transaction, under the deadline of the run. What
// it answers is taken for the words of somebody outside: the orchestrator uses
// the prose of it, and never who is asked, who gets something, or a status.
//
// Errors carry a fault kind. Invalid: the answer breaks the contract or repeats
// the marker, and the model may be asked again with what was wrong, which is the
// caller's to do. Denied: the turn was not sent, because a secret was in it or
// the budget is spent. Unavailable: the endpoint does not answer.
type Model interface {
	// Draft asks once.
	Draft(ctx context.Context, p constitution.Prompt, t Turn) (Drafted, error)
	// Name is the model that is asked, for provenance.
	Name() string
}

// Turn is what the user turn is made of.
type Turn struct {
	Run     string // the id of the run: budgets and logs go by it
	Attempt int    // from 1
	Locale  string // the language of the drafts

	// Data is the texts of the request, each to be quoted between markers and
	// called data. Nothing of it is an instruction.
	Data []Data
	// Contract is the drafts that are asked for: exactly these types, one each.
	Contract []Blank
	// Faults is what was wrong with the answer before.
	Faults problem.List
}

// Data is one text that came with the request, or was found for it.
type Data struct {
	Name   string // what it is: request, document 1, privacy_report
	Origin envelope.Origin
	Text   string // secrets redacted
}

// Blank is a draft as the built-in engine wrote it, and what of it a model may
// write anew.
type Blank struct {
	Type    envelope.ArtifactType
	Content []byte   // JSON
	Prose   []string // the members of the content that are the model's
	Schema  []byte   // of the content, JSON Schema
}

// Drafted is a model's answer: for each Blank, in its order, a JSON object with
// the members that are the model's. Other members are refused.
type Drafted struct {
	Model  string // as the endpoint calls it
	Drafts []Prose
}

// Prose is what a model wrote of one draft.
type Prose struct {
	Type    envelope.ArtifactType
	Content []byte // JSON
}
