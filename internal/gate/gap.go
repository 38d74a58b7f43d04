package gate

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

// maxNamed is how many surfaces a diagnostic names (§6.4).
const maxNamed = 5

const (
	codeDeclared   = "capability_change_requires_verify"
	codeUndeclared = "undeclared_capability_surface"
)

// findGaps finds the two capability gaps. They are facts of the change, whatever
// the rows say (OP-17).
func (r *run) findGaps() {
	var added map[string][]*diff.Record
	for _, path := range r.in.ChangedFiles {
		switch {
		case r.isDeclared(path):
			r.declared = append(r.declared, path)
		case surface.IsAdapterPath(path) || trigger.FixturePath(path):
		default:
			if added == nil {
				added = recordsByPath(r.in.Records)
			}
			if trigger.Capability(path, addedLines(added[path])) {
				r.undeclared = append(r.undeclared, path)
			}
		}
	}
	if len(r.declared) > 0 {
		r.note(levelWarning, codeDeclared, "A declared tool source changed: "+named(r.declared)+".", "")
	}
	if len(r.undeclared) > 0 {
		r.note(levelWarning, codeUndeclared, "A capability surface changed that no manifest declares: "+named(r.undeclared)+".", "")
	}
	r.diagnostics = ordered(r.diagnostics)
}

// isDeclared says whether path is a declared tool source or lies below one. The
// root itself is none (§6.3).
func (r *run) isDeclared(path string) bool {
	return slices.ContainsFunc(r.in.Manifest.Declared, func(source string) bool {
		source = strings.TrimSuffix(source, "/")
		rest, below := strings.CutPrefix(path, source)
		return source != "" && source != "." && below && (rest == "" || rest[0] == '/')
	})
}

func recordsByPath(records []diff.Record) map[string][]*diff.Record {
	m := make(map[string][]*diff.Record, len(records))
	for i := range records {
		p := records[i].Path()
		m[p] = append(m[p], &records[i])
	}
	return m
}

func addedLines(records []*diff.Record) []string {
	var lines []string
	for _, r := range records {
		lines = append(lines, r.Added()...)
	}
	return lines
}

func named(paths []string) string {
	if len(paths) <= maxNamed {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxNamed], ", "), len(paths)-maxNamed)
}

// gapTrace is the trace step coverage, empty without a gap.
func (r *run) gapTrace() string {
	var parts []string
	if n := len(r.declared); n > 0 {
		parts = append(parts, fmt.Sprintf("%d changed path(s) of declared tool sources.", n))
	}
	if n := len(r.undeclared); n > 0 {
		parts = append(parts, fmt.Sprintf("%d changed path(s) of undeclared capability surfaces.", n))
	}
	return strings.Join(parts, " ")
}
