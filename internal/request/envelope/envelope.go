// Package envelope is a request to the circle as it was received: the eight
// fields of docs/spec/circle.md §4, read so strictly that two readers cannot see
// two requests, with every fault reported at once.
//
// An envelope is a claim. Who really asks, over which channel, and whether a
// consent stands behind consent_status is decided by those who read it.
package envelope

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"plimsoll.dev/internal/canonical"
)

// Envelope is one request (docs/spec/circle.md §4). Lists are never nil after
// Decode; those that are sets keep the order they were written in.
type Envelope struct {
	RequestID       string
	Circle          Context
	Target          Level // visibility_level_target: who may see the outcome
	Flags           []Flag
	Consent         ConsentStatus // a claim only
	AllowedActions  []Action
	ExpectedOutputs []ArtifactType // one or more; a single name is a list of one
	InputText       string         // 1 to MaxText bytes of UTF-8
}

// Context is circle_context: who asks, in which circle, over which channel.
type Context struct {
	CircleID     string
	MemberID     string
	Channel      Channel
	Locale       string   // BCP 47; "" when the request names none
	Participants []string // member ids
	References   []Reference
}

// Channel is the way a request came in.
type Channel struct {
	Kind Origin
	ID   string
}

// Reference names something the request is about.
type Reference struct {
	Kind   ReferenceKind
	ID     string
	SHA256 string // 64 lower-case hex digits; "" when the request names none
}

// Has says whether the request carries the flag.
func (e *Envelope) Has(f Flag) bool { return slices.Contains(e.Flags, f) }

// Allows says whether the request allows the action.
func (e *Envelope) Allows(a Action) bool { return slices.Contains(e.AllowedActions, a) }

// Expects says whether the request asks for artifacts of this type.
func (e *Envelope) Expects(t ArtifactType) bool { return slices.Contains(e.ExpectedOutputs, t) }

// External says whether everything in the request is provenance=external
// (docs/spec/circle.md §5).
func (e *Envelope) External() bool { return e.Circle.Channel.Kind == External }

// OverAdapter is e as it counts when a channel adapter brought it: whatever it
// says, the channel is external and carries the adapter's own id
// (docs/spec/circle.md §4, circle_context).
func (e Envelope) OverAdapter(channel string) Envelope {
	e.Circle.Channel = Channel{Kind: External, ID: channel}
	return e
}

// Canonical is the bytes that "same id and same bytes" compares: canonical JSON
// of the eight fields. Spelling does not count: white space, escapes, the order
// of members, of the sets, and a single expected output beside a list of one.
func (e *Envelope) Canonical() []byte { return canonical.UTF8.Append(nil, e.object(sorted)) }

// SHA256 is the lower-case hex digest of Canonical.
func (e *Envelope) SHA256() string {
	sum := sha256.Sum256(e.Canonical())
	return hex.EncodeToString(sum[:])
}

// Encode is e as a document that Decode reads back to the same value.
func (e *Envelope) Encode() []byte { return canonical.UTF8.Append(nil, e.object(asWritten)) }

// MarshalJSON is Encode.
func (e Envelope) MarshalJSON() ([]byte, error) { return e.Encode(), nil }

func asWritten(list []string) []string { return list }

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func (e *Envelope) object(set func([]string) []string) canonical.Object {
	c := canonical.Object{
		{Key: "circle_id", Value: e.Circle.CircleID},
		{Key: "member_id", Value: e.Circle.MemberID},
		{Key: "channel", Value: canonical.Object{
			{Key: "kind", Value: string(e.Circle.Channel.Kind)},
			{Key: "id", Value: e.Circle.Channel.ID},
		}},
		{Key: "participants", Value: set(texts(e.Circle.Participants))},
	}
	if e.Circle.Locale != "" {
		c = append(c, canonical.Member{Key: "locale", Value: e.Circle.Locale})
	}
	references := make([]canonical.Object, len(e.Circle.References))
	for i, r := range e.Circle.References {
		references[i] = canonical.Object{{Key: "kind", Value: string(r.Kind)}, {Key: "id", Value: r.ID}}
		if r.SHA256 != "" {
			references[i] = append(references[i], canonical.Member{Key: "sha256", Value: r.SHA256})
		}
	}
	return canonical.Object{
		{Key: "request_id", Value: e.RequestID},
		{Key: "circle_context", Value: append(c, canonical.Member{Key: "references", Value: references})},
		{Key: "visibility_level_target", Value: string(e.Target)},
		{Key: "sensitivity_flags", Value: set(texts(e.Flags))},
		{Key: "consent_status", Value: string(e.Consent)},
		{Key: "allowed_actions", Value: set(texts(e.AllowedActions))},
		{Key: "expected_output", Value: set(texts(e.ExpectedOutputs))},
		{Key: "input_text", Value: e.InputText},
	}
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
