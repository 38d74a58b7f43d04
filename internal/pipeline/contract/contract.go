// Package contract holds the five documents that carry a piece of work from
// intent to evidence: IntentContract, TaskSeed, Acceptance, PublishGate and
// Evidence (docs/spec/contracts.md §1).
//
// It is the schema layer. Decode reads a document strictly and reports every
// fault at once with its JSON pointer; the types below are what is left when
// nothing is wrong. What a document means beside others is said elsewhere:
// package document (application rules), package approval (gates), package
// state (what may become what).
//
// The package also owns the one canonical spelling that every digest of the
// contracts is taken over (§10.3), the words that all of the pipeline shares
// (roles, actors, timestamps), and nothing that knows a clock.
package contract

import (
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/refusal"
)

// SchemaVersion is the version every document carries. A document with another
// is refused, never guessed (docs/spec/contracts.md §15).
const SchemaVersion = "1.0.0"

// Kind is one of the five kinds of contract.
type Kind string

// The kinds, in the order in which a chain brings them forth.
const (
	KindIntent      Kind = "IntentContract"
	KindTaskSeed    Kind = "TaskSeed"
	KindAcceptance  Kind = "Acceptance"
	KindPublishGate Kind = "PublishGate"
	KindEvidence    Kind = "Evidence"
)

// Kinds is the five kinds in chain order.
func Kinds() []Kind {
	return []Kind{KindIntent, KindTaskSeed, KindAcceptance, KindPublishGate, KindEvidence}
}

// Prefix is the prefix of the ids of k, "" for an unknown kind.
func (k Kind) Prefix() string {
	switch k {
	case KindIntent:
		return "IC"
	case KindTaskSeed:
		return "TS"
	case KindAcceptance:
		return "AC"
	case KindPublishGate:
		return "PG"
	case KindEvidence:
		return "EV"
	}
	return ""
}

// Valid says whether k is one of the five.
func (k Kind) Valid() bool { return k.Prefix() != "" }

// Source is the kind a contract of kind k is made from, "" for an intent.
func (k Kind) Source() Kind {
	switch k {
	case KindTaskSeed:
		return KindIntent
	case KindAcceptance, KindEvidence:
		return KindTaskSeed
	case KindPublishGate:
		return KindAcceptance
	case KindIntent:
	}
	return ""
}

// State is where a contract is in its life. Which state may follow which is
// the table of package state.
type State string

// The states.
const (
	Draft      State = "Draft"
	Active     State = "Active"
	Frozen     State = "Frozen"
	Published  State = "Published"
	Superseded State = "Superseded"
	Revoked    State = "Revoked"
	Archived   State = "Archived"
)

// States is the seven states in the order of docs/spec/contracts.md §2.1, which
// is no order of transitions.
func States() []State {
	return []State{Draft, Active, Frozen, Published, Superseded, Revoked, Archived}
}

// Valid says whether s is one of the seven.
func (s State) Valid() bool {
	switch s {
	case Draft, Active, Frozen, Published, Superseded, Revoked, Archived:
		return true
	}
	return false
}

// Check refuses what is none of the seven.
func (s State) Check() error {
	if s.Valid() {
		return nil
	}
	r := refusal.At(refusal.ContractSchemaInvalid, "/state", "%q is no state", s)
	r.Keyword = "enum"
	return r
}

// Live says whether a contract in s is under way: at most one version of an id
// is (docs/spec/contracts.md §1.8).
func (s State) Live() bool { return s == Active || s == Frozen }

// ID names a contract, for example "TS-001". Ids compare as exact strings:
// IC-001 and IC-0001 are two contracts.
type ID string

// Kind is the kind that id's prefix stands for, "" when id is malformed.
func (id ID) Kind() Kind {
	prefix, digits, ok := strings.Cut(string(id), "-")
	if !ok || len(digits) < 3 || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	for _, k := range Kinds() {
		if k.Prefix() == prefix {
			return k
		}
	}
	return ""
}

// Valid says whether id has the form of some kind.
func (id ID) Valid() bool { return id.Kind() != "" }

// NewID is the n-th id of kind k, counted from 1 and padded to three digits.
// The counter is the store's: a number is never given out twice.
func NewID(k Kind, n int64) ID {
	digits := strconv.FormatInt(n, 10)
	return ID(k.Prefix() + "-" + strings.Repeat("0", max(0, 3-len(digits))) + digits)
}

// Base is what every contract carries (docs/spec/contracts.md §1.1). Version
// counts revisions of the content; a change of state leaves it alone (§1.8).
type Base struct {
	ID        ID
	Kind      Kind
	State     State
	Version   int64
	CreatedAt Timestamp
	UpdatedAt Timestamp
}

// Head is the common part itself; it makes every kind a Document.
func (b Base) Head() Base { return b }

// Document is one of *Intent, *TaskSeed, *Acceptance, *PublishGate and
// *Evidence.
type Document interface {
	// Head is the part all kinds have in common.
	Head() Base
	// Source is the id of the contract this one was made from, "" for an
	// intent. It names no version: the store keeps that beside the document
	// (docs/spec/contracts.md §1.8, R-57).
	Source() ID

	// With is a copy of the document with another common part: the only way a
	// transition touches a document.
	With(Base) Document

	members() canonical.Object
}

// Priority is a hint for scheduling and never an input of the risk.
type Priority string

// The priorities.
const (
	PriorityLow      Priority = "low"
	PriorityMedium   Priority = "medium"
	PriorityHigh     Priority = "high"
	PriorityCritical Priority = "critical"
)

// Valid says whether p is one of the four.
func (p Priority) Valid() bool {
	switch p {
	case PriorityLow, PriorityMedium, PriorityHigh, PriorityCritical:
		return true
	}
	return false
}

// Level is how much may go wrong. Levels are ordered and only rise
// (docs/spec/contracts.md §6.1); package risk derives them.
type Level string

// The levels.
const (
	Low      Level = "low"
	Medium   Level = "medium"
	High     Level = "high"
	Critical Level = "critical"
)

func (l Level) rank() int {
	switch l {
	case Low:
		return 1
	case Medium:
		return 2
	case High:
		return 3
	case Critical:
		return 4
	}
	return 0
}

// Levels is the four levels, rising.
func Levels() []Level { return []Level{Low, Medium, High, Critical} }

// Valid says whether l is one of the four.
func (l Level) Valid() bool { return l.rank() > 0 }

// Below says whether l is a lower level than m.
func (l Level) Below(m Level) bool { return l.rank() < m.rank() }

// Max is the higher of l and m. The zero Level is below all others.
func (l Level) Max(m Level) Level {
	if l.Below(m) {
		return m
	}
	return l
}

// Human says whether people decide at this level: from high on.
func (l Level) Human() bool { return !l.Below(High) }
