package artifact

import (
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// SourceKind says what an artifact was made from.
type SourceKind string

// The kinds of source: what a request may refer to, the text of the request, and
// what the circle remembers.
const (
	FromRequest  SourceKind = "request"
	FromArtifact SourceKind = "artifact"
	FromContract SourceKind = "contract"
	FromDiff     SourceKind = "diff"
	FromDocument SourceKind = "document"
	FromURL      SourceKind = "url"
	FromMemory   SourceKind = "memory"
)

// Valid says whether k is one of the seven.
func (k SourceKind) Valid() bool {
	switch k {
	case FromRequest, FromArtifact, FromContract, FromDiff, FromDocument, FromURL, FromMemory:
		return true
	}
	return false
}

// Source is one thing an artifact was made from.
type Source struct {
	Kind       SourceKind
	ID         string
	SHA256     string // of exactly the bytes that were read
	Visibility envelope.Level
	Origin     envelope.Origin
}

// origin is where a source comes from, whatever it says: a page of the web is
// never from inside.
func (s Source) origin() envelope.Origin {
	if s.Kind == FromURL {
		return envelope.External
	}
	return s.Origin.Join(s.Origin)
}

// Provenance is where an artifact comes from (docs/spec/circle.md §5). Make sets
// the origin; nobody else does.
type Provenance struct {
	Origin                envelope.Origin
	RequestID             string
	Worker                constitution.AgentID
	RunID                 string
	ConstitutionVersion   string
	SubagentPromptVersion string
	Engine                constitution.Engine
	Model                 string // "" when no model was asked
	Sources               []Source
}

// Bounds is what may be said at most of whatever is made from these sources: its
// origin, external as soon as one is, and its level, the lowest of theirs. Of no
// sources they are internal and public. A source whose level is none bounds
// everything: the level is then none, and nothing may be made.
func Bounds(sources []Source) (envelope.Origin, envelope.Level) {
	origin, level := envelope.Internal, envelope.Public
	for _, s := range sources {
		origin = origin.Join(s.origin())
		level = level.Min(s.Visibility)
	}
	return origin, level
}
