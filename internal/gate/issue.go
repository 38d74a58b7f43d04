package gate

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/surface"
)

// Levels of a diagnostic.
const (
	levelInfo    = "info"
	levelWarning = "warning"
	levelError   = "error"
)

const (
	codeContentSource = "content_source"
	codeUnsupported   = "host_inventory_unsupported"
	// issuePrefix begins the codes of issues; other reasons why a side is not
	// known are tokens of a detached diff (§3.3).
	issuePrefix = "boundary_"
)

// collectIssues gathers every reason why an input was not read in full: those
// that came with the input, sides that are not known, files that no rule reads
// and that do not parse, and settings that lead out of the file (§4.5, §11.2).
func (r *run) collectIssues() {
	r.issues = slices.Clone(r.in.Issues)
	for _, s := range r.surfaces {
		for _, code := range []string{s.New.Unresolved, s.Old.Unresolved} {
			if strings.HasPrefix(code, issuePrefix) {
				r.issues = append(r.issues, surface.Issue{Code: code, Path: s.Path, Message: "A side of the file could not be read as text."})
			}
		}
		if issue := s.SyntaxIssue(); issue != nil && !r.policyInUse(s) {
			r.issues = append(r.issues, *issue)
		}
		if s.CodexProfileMissing() {
			r.issues = append(r.issues, surface.Issue{
				Code: codeUnsupported, Path: s.Path, Message: "The selected profile is not defined in this file.",
			})
		}
		if s.ClaudePolicyHelper() {
			r.issues = append(r.issues, surface.Issue{
				Code: codeUnsupported, Path: s.Path, Message: "The settings name a policyHelper, a program whose answer is not known here.",
			})
		}
	}
	// One row for each issue and path (§5.3); the first message stands, which is
	// that of the reader who met the file.
	slices.SortStableFunc(r.issues, func(a, b surface.Issue) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path))
	})
	r.issues = slices.CompactFunc(r.issues, func(a, b surface.Issue) bool { return a.Code == b.Code && a.Path == b.Path })
}

// policyInUse says whether loading the policy has already judged the text of s.
// The index side of a split policy is not what was loaded.
func (r *run) policyInUse(s *surface.Surface) bool {
	if s.Role != surface.RolePolicy || s.Source == surface.GitIndex {
		return false
	}
	if r.in.Policy.Explicit != nil {
		return s.Policy
	}
	for i := range r.policy.Records {
		if r.policy.Records[i].Path == s.Path {
			return true
		}
	}
	return false
}

// collectDiagnostics gathers the remarks that do not come from rules, and makes
// issues[] from those that stop a change.
func (r *run) collectDiagnostics() {
	r.diagnostics = append(slices.Clone(r.in.Diagnostics), r.policy.Diagnostics...)
	r.codes = slices.Clone(r.policy.Codes)
	for i := range r.issues {
		issue := &r.issues[i]
		r.note(levelError, issue.Code, issue.Message, issue.Path)
		r.codes = append(r.codes, issue.Code)
	}
	for i, s := range r.surfaces {
		r.noteSource(s, r.split(i))
		if s.NewDoc.HadBOM && s.Role != surface.RoleCodexHooks {
			r.noteMark(s.Path)
		}
	}
	for _, path := range r.policy.Marked {
		r.noteMark(path)
	}
	if r.proposal != "" {
		r.note(levelInfo, "proposal_safe_manifest_addition", "The manifest only gains well-formed tool sources.", r.proposal)
	}
	if r.unignored != "" {
		r.note(levelInfo, "manifest_ignores_less", "The manifest only stops ignoring findings.", r.unignored)
	}
	for i := range r.diagnostics {
		if d := &r.diagnostics[i]; d.Code == codeContentSource && d.Level == levelWarning {
			r.codes = append(r.codes, codeContentSource)
		}
	}
	slices.Sort(r.codes)
	r.codes = slices.Compact(r.codes)
	r.diagnostics = ordered(r.diagnostics)
}

func (r *run) note(level, code, message, path string) {
	r.diagnostics = append(r.diagnostics, surface.Diagnostic{Level: level, Code: code, Message: message, Path: path})
}

func (r *run) noteMark(path string) {
	r.note(levelInfo, "byte_order_mark", "The file begins with a byte order mark; it is read without it.", path)
}

// noteSource says where the text of a file came from: always when it could not
// be established from a detached diff, and as a remark for the files whose texts
// enter the Codex-family identity and for those judged in two after-states.
func (r *run) noteSource(s *surface.Surface, split bool) {
	switch {
	case s.Source == "" || !contentRead(s):
	case notRebuilt(s):
		r.note(levelWarning, codeContentSource, "The contents of the file could not be established ("+sourceToken(s)+").", s.Path)
	case unresolved(s) == "" && (codexEvaluators(s) > 0 || split):
		r.note(levelInfo, codeContentSource, "Both sides of the file were read ("+sourceToken(s)+").", s.Path)
	}
}

// notRebuilt says whether a detached diff left both sides unknown. Where only a
// side could not be read, an issue says so instead.
func notRebuilt(s *surface.Surface) bool {
	u := unresolved(s)
	return u != "" && !strings.HasPrefix(u, issuePrefix)
}

// split says whether the surface at i is one of two after-states of its path.
func (r *run) split(i int) bool {
	path := r.surfaces[i].Path
	return i > 0 && r.surfaces[i-1].Path == path || i+1 < len(r.surfaces) && r.surfaces[i+1].Path == path
}

// contentRead says whether any reader looks into the file at all (§4.3).
func contentRead(s *surface.Surface) bool {
	return s.Role != surface.RoleText || codexEvaluators(s) > 0
}

func unresolved(s *surface.Surface) string { return cmp.Or(s.New.Unresolved, s.Old.Unresolved) }

// sourceToken is how the texts were obtained, or why they were not.
func sourceToken(s *surface.Surface) string {
	if notRebuilt(s) {
		return unresolved(s)
	}
	return string(s.Source)
}

// ordered masks, sorts and deduplicates diagnostics by their canonical text
// (§8).
func ordered(list []surface.Diagnostic) []surface.Diagnostic {
	type keyed struct {
		key string
		d   surface.Diagnostic
	}
	all := make([]keyed, len(list))
	for i, d := range list {
		d.Message = redact.Text(d.Message)
		o := canonical.Object{{Key: "code", Value: d.Code}, {Key: "level", Value: d.Level}, {Key: "message", Value: d.Message}}
		if d.Path != "" {
			o = append(o, canonical.Member{Key: "path", Value: d.Path})
		}
		all[i] = keyed{canonical.Spaced.String(o), d}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	out := make([]surface.Diagnostic, 0, len(all))
	for i := range all {
		if i == 0 || all[i].key != all[i-1].key {
			out = append(out, all[i].d)
		}
	}
	return out
}
