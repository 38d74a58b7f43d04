package policy

import (
	"cmp"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
)

const packagedDiscovery = "packaged_default:agent-boundary"

// family is one policy record in the making, with the rules it grades.
type family struct {
	name   rule.Family
	record Record
	rules  []*rule.Rule // sorted by id
}

type loader struct {
	catalogue map[string]*rule.Rule
	families  []*family
	out       Effective
}

func newLoader(catalogue []*rule.Rule) *loader {
	l := &loader{catalogue: make(map[string]*rule.Rule, len(catalogue))}
	for _, name := range []rule.Family{rule.CodexFamily, rule.HostFamily} {
		l.families = append(l.families, &family{name: name, record: Record{
			ID: string(name) + "-boundary", Version: "1", Source: PackagedDefault, Discovery: []string{packagedDiscovery},
		}})
	}
	for _, r := range catalogue {
		l.catalogue[r.ID] = r
		if f := l.family(r.Family); f != nil {
			f.rules = append(f.rules, r)
		}
	}
	for _, f := range l.families {
		slices.SortFunc(f.rules, func(a, b *rule.Rule) int { return cmp.Compare(a.ID, b.ID) })
	}
	l.out.grades = make(map[string]Grade, len(catalogue))
	return l
}

// family is nil for the generic family, which no policy grades.
func (l *loader) family(name rule.Family) *family {
	for _, f := range l.families {
		if f.name == name {
			return f
		}
	}
	return nil
}

func (l *loader) explicit(file File, path string) {
	for _, f := range l.families {
		f.record.Source, f.record.Path, f.record.Discovery = Explicit, path, []string{"explicit:" + path}
	}
	if !file.Found && file.Err == "" {
		l.refuse(Missing, path, problem{CodeMissing, "The policy named by --policy does not exist."})
		return
	}
	doc, p := read(file, l.catalogue, l.families)
	switch {
	case p != nil:
		l.refuse(Invalid, path, *p)
	case len(doc.faults) > 0:
		l.refuse(Invalid, path, problem{CodeUnknownFields, doc.describeFaults()})
	default:
		l.apply(doc, path, l.families)
	}
}

// refuse leaves the built-in rules in force instead of an explicit policy
// (§10.5, the first three cases).
func (l *loader) refuse(source Source, path string, p problem) {
	for _, f := range l.families {
		f.record.Source = source
	}
	l.note("error", p.code, p.code, path, p.message)
	l.out.Invalid = &rule.PolicyInvalid{Path: path, Code: p.code, Message: p.message}
}

// workspace reads one of the three fixed files for the given families. What can
// be used of it is used; the code it leaves stops the change all the same.
func (l *loader) workspace(file File, path string, families ...*family) {
	for _, f := range families {
		f.record.Source, f.record.Path, f.record.Discovery = Workspace, path, []string{"workspace:" + path}
		if path != Unified {
			f.record.Discovery = append(f.record.Discovery, "legacy_policy_compatibility")
		}
	}
	doc, p := read(file, l.catalogue, families)
	if p != nil {
		for _, f := range families {
			f.record.Source = Invalid
		}
		l.note("warning", p.code, p.code, path, p.message)
		return
	}
	if len(doc.faults) > 0 {
		l.note("warning", CodeUnknownFields, CodeUnknownFields, path, doc.describeFaults())
	}
	l.apply(doc, path, families)
}

// apply raises grades. Every value counts on its own: of two entries for one
// rule the stricter value wins, so that no order of entries can hide one.
func (l *loader) apply(doc document, path string, families []*family) {
	if doc.marked {
		l.out.Marked = append(l.out.Marked, path)
	}
	for _, f := range families {
		f.record.ID = cmp.Or(doc.id, f.record.ID)
		f.record.Version = cmp.Or(doc.version, f.record.Version)
	}
	seen := make(map[string]int, len(doc.entries))
	for i := range doc.entries {
		e := &doc.entries[i]
		first, again := seen[e.rule.ID]
		switch {
		case !again:
			seen[e.rule.ID] = i
		case doc.entries[first].value.Equal(e.value):
			continue
		default:
			l.conflict(CodeConflict, CodeRuleConflict, path,
				"Rule "+e.rule.ID+" is listed twice with different members.")
		}
		l.raise(e, path)
	}
}

func (l *loader) raise(e *entry, path string) {
	g, ok := l.out.grades[e.rule.ID]
	if !ok {
		g = builtIn(e.rule)
		g.Title = cmp.Or(e.title, g.Title)
		g.Recommendation = cmp.Or(e.recommendation, g.Recommendation)
	}
	if e.action != "" && e.action.Less(e.rule.Action) || e.risk != "" && e.risk.Less(e.rule.Risk) {
		l.conflict(CodeFloor, CodeFloor, path, "Rule "+e.rule.ID+" is set below its built-in grade; the built-in grade stays.")
	}
	if g.Action.Less(e.action) {
		g.Action = e.action
	}
	if g.Risk.Less(e.risk) {
		g.Risk = e.risk
	}
	l.out.grades[e.rule.ID] = g
}

func (l *loader) conflict(code, issue, path, message string) {
	l.note("error", code, issue, path, message)
	l.out.Conflicts = append(l.out.Conflicts, issue)
}

func (l *loader) note(level, code, issue, path, message string) {
	l.out.Diagnostics = append(l.out.Diagnostics, surface.Diagnostic{Level: level, Code: code, Message: message, Path: path})
	l.out.Codes = append(l.out.Codes, issue)
}

func (l *loader) finish() Effective {
	e := &l.out
	set := make([]canonical.Object, len(l.families))
	for i, f := range l.families {
		set[i] = payload(f, e.grades)
		f.record.Snapshot = canonical.Spaced.SHA256(set[i])
		e.Records = append(e.Records, f.record)
	}
	e.Set = canonical.Compact.SHA256(set)
	e.Codes = sortedUnique(e.Codes)
	e.Conflicts = sortedUnique(e.Conflicts)
	return *e
}

func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
