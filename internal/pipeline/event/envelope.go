package event

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
)

// Subject is the contract an event is about.
type Subject struct {
	Kind    string
	ID      string
	Version int64
}

// Origin says in which chain an event happened, what led to it and when. Chain
// is the id of the intent; it is the partition, so everything of one chain is
// delivered in order. Cause is the id of an event of the same chain, "" only
// for IntentCreated. At is RFC 3339 text, the instant of the change.
//
// Correlation is the id of the path the chain is a part of: that of the request
// that started it, else the chain's. The store knows it, whatever is emitted.
type Origin struct {
	Chain       string
	Correlation string
	Cause       string
	At          string
}

// Envelope is one event as CloudEvents 1.0 writes it (docs/spec/contracts.md
// §3.2), with its payload as JSON text.
type Envelope struct {
	ID         string
	Type       Type
	Subject    Subject
	Origin     Origin
	DataSchema string
	Data       []byte
}

// Created announces a contract. document is its JSON text exactly as persisted.
func Created(s Subject, o Origin, document []byte) Envelope {
	t := CreatedType(s.Kind)
	return Envelope{
		ID:         id(t, s),
		Type:       t,
		Subject:    s,
		Origin:     o,
		DataSchema: "https://agent-protocols/schemas/" + s.Kind + ".schema.json",
		Data:       document,
	}
}

func signal(t Type, s Subject, o Origin, discriminator string, data canonical.Object) Envelope {
	return Envelope{
		ID:         id(t, s) + "/" + discriminator,
		Type:       t,
		Subject:    s,
		Origin:     o,
		DataSchema: "https://agent-protocols/schemas/events/" + string(t) + ".schema.json",
		Data:       canonical.UTF8.Append(nil, data),
	}
}

func id(t Type, s Subject) string {
	return string(t) + "/" + s.ID + "/" + strconv.FormatInt(s.Version, 10)
}

// TypeOf is the type an event id begins with, "" when it begins with none.
func TypeOf(id string) Type {
	name, _, _ := strings.Cut(id, "/")
	if t := Type(name); t.Valid() {
		return t
	}
	return ""
}

// Key is what a consumer remembers to act at most once.
func (e Envelope) Key() string { return e.Type.Source() + " " + e.ID }

// Check says what makes e no event of ours: a type outside the seven, a subject
// of another kind, no chain, or a cause that cannot have led to it. An emitter
// calls it before the event is stored; a consumer need not.
func (e Envelope) Check() error {
	switch {
	case !e.Type.Valid():
		return fmt.Errorf("event %s: the type %q is none of the seven", e.ID, e.Type)
	case e.Subject.Kind != e.Type.Kind() || e.Subject.ID == "" || e.Subject.Version < 1:
		return fmt.Errorf("event %s: the subject is no %s with a version", e.ID, e.Type.Kind())
	case e.Origin.Chain == "" || e.Origin.At == "":
		return fmt.Errorf("event %s: chain or time is missing", e.ID)
	case e.Type == IntentCreated && e.Origin.Cause != "":
		return fmt.Errorf("event %s: nothing causes the first event of a chain", e.ID)
	case e.Type != IntentCreated && !slices.Contains(e.Type.Causes(), TypeOf(e.Origin.Cause)):
		return fmt.Errorf("event %s: %q cannot have caused it", e.ID, e.Origin.Cause)
	case len(e.Data) == 0:
		return fmt.Errorf("event %s: the data is missing", e.ID)
	}
	return nil
}

// MarshalJSON writes the structured mode of CloudEvents.
func (e Envelope) MarshalJSON() ([]byte, error) {
	head := canonical.Object{
		{Key: "specversion", Value: "1.0"},
		{Key: "id", Value: e.ID},
		{Key: "source", Value: e.Type.Source()},
		{Key: "type", Value: string(e.Type)},
		{Key: "subject", Value: e.Subject.ID},
		{Key: "time", Value: e.Origin.At},
		{Key: "datacontenttype", Value: "application/json"},
		{Key: "dataschema", Value: e.DataSchema},
		{Key: "contractkind", Value: e.Subject.Kind},
		{Key: "contractversion", Value: e.Subject.Version},
		{Key: "correlationid", Value: cmp.Or(e.Origin.Correlation, e.Origin.Chain)},
		{Key: "partitionkey", Value: e.Origin.Chain},
	}
	if e.Origin.Cause != "" {
		head = append(head, canonical.Member{Key: "causationid", Value: e.Origin.Cause})
	}
	text := canonical.UTF8.Append(nil, head)
	text = append(text[:len(text)-1], `,"data":`...)
	text = append(text, e.Data...)
	return append(text, '}'), nil
}
