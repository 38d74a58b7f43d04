package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/source"
)

// LegacyResultName is what results were called before a format had a product in
// its name.
const LegacyResultName = "agent_result_v1"

// legacyNames are the formats whose results have no permission vector. A result
// of SchemaVersion without one is older than contract 20 too.
var legacyNames = []string{LegacyResultName, CodexSchemaVersion, SchemaVersion}

// MaxLegacy is the most bytes of an older result that are read.
const MaxLegacy = 10 << 20

// Legacy is what a caller may still take from a result older than contract 20:
// the judgement, and the control with the permissions that follow from its state.
type Legacy struct {
	SchemaVersion string
	Agent         string
	Decision      rule.Action
	Summary       string
	Control       control.Control
}

// DecodeLegacy reads a result that was written before permissions were
// (docs/spec/boundary.md §7.4). They follow from the state: complete gives all,
// anything else none, so publication is never assumed. A result that contradicts
// itself, that names permissions, or a state that did not exist then, is an
// Invalid fault, and a caller treats it as a stop.
func DecodeLegacy(data []byte) (*Legacy, error) {
	refuse := func(format string, args ...any) error {
		return fault.E("gate.DecodeLegacy", fault.Invalid, "read older result: "+fmt.Sprintf(format, args...), nil)
	}
	if len(data) > MaxLegacy {
		return nil, refuse("it is over %d MiB", MaxLegacy>>20)
	}
	doc, failed := source.ParseJSON(data)
	if failed != nil {
		return nil, refuse("%v", failed)
	}
	for _, key := range []string{"schema_version", "decision", "control"} {
		if !doc.Get(key).Present() {
			return nil, refuse("%s is missing", key)
		}
	}
	// The decoder below takes a key in any case; here only the exact one counts.
	for _, m := range slices.Concat(doc.Members, doc.Get("control").Members) {
		if m.Key != strings.ToLower(m.Key) {
			return nil, refuse("a key at line %d, column %d is not in lower case", m.Pos.Line, m.Pos.Column)
		}
	}
	var r struct {
		SchemaVersion string          `json:"schema_version"`
		Agent         string          `json:"agent"`
		Decision      rule.Action     `json:"decision"`
		Summary       string          `json:"summary"`
		Control       control.Control `json:"control"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, refuse("%v", err)
	}
	l := Legacy(r)
	switch {
	case !slices.Contains(legacyNames, l.SchemaVersion):
		return nil, refuse("format %q is not known", l.SchemaVersion)
	case doc.At("control", "permissions").Present():
		return nil, refuse("it has permissions, which its format has not")
	case !l.Decision.Valid():
		return nil, refuse("decision %q is not known", l.Decision)
	case l.Control.State() == control.Complete && (l.Decision == rule.RequireReview || l.Decision == rule.Block):
		return nil, refuse("it is complete although it decided %s", l.Decision)
	}
	return &l, nil
}
