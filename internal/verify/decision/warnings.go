package decision

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// warned is the warnings of one source: one group counts once, however many
// symbols of it are dynamic.
type warned struct {
	name    string // of the source: its id, else its path
	source  *tool.Source
	at      tool.Origin
	why     []string
	dynamic []tool.Dynamic
	missing bool           // the remedy is to provide the source
	adds    []tool.Warning // what a person may add to the manifest, by the code of the group
	code    string         // UndeclaredSource or UnboundNewTool, "" for what was not understood
	empty   []string       // pointers of the placeholders of a manifest
}

// Codes of warnings about what a change adds beside the declared agents. All of
// a code count as one source (D70.X9, D70.X10).
const (
	UndeclaredSource = "undeclared_tool_source"
	UnboundNewTool   = "unbound_new_tool"
)

// PlaceholderLeft is the code of a warning that the manifest still has a
// placeholder; its origin points at it (D80.A5).
const PlaceholderLeft = "placeholder_left"

// besides is the manifest key that such warnings are about.
var besides = map[string]string{UndeclaredSource: "tool_sources", UnboundNewTool: "agent_bindings"}

// Codes of warnings that say that a source is not there to be read.
var missingCodes = map[string]bool{
	"missing_optional_source": true, "optional_source_failed": true, "unreadable_optional_source": true, "unsupported_source_type": true,
}

// warnings groups everything that was read and not understood by its source,
// sorted by the name of the source.
func (b *builder) warnings() []warned {
	head := b.in.Head
	groups := map[string]*warned{}
	group := func(id string, at tool.Origin) *warned {
		name := cmp.Or(id, at.SourceID, at.Path, at.Ref, "manifest")
		g := groups[name]
		if g == nil {
			g = &warned{name: name, at: at}
			groups[name] = g
		}
		return g
	}
	var warnings []tool.Warning
	if head.Reading != nil {
		for i := range head.Reading.Sources {
			s := &head.Reading.Sources[i]
			if s.State == tool.Loaded {
				continue
			}
			g := group(s.ID, tool.Origin{Type: s.Type, SourceID: s.ID, Ref: s.Path, Path: s.Path})
			g.source, g.missing = s, true
		}
		warnings = append(warnings, head.Reading.Warnings...)
		for _, d := range head.Reading.Dynamic {
			if !d.Resolved {
				g := group(d.Origin.SourceID, d.Origin)
				g.dynamic = append(g.dynamic, d)
			}
		}
	}
	warnings = append(warnings, head.Warnings...)
	for i := range warnings {
		if key := besides[warnings[i].Code]; key != "" {
			// Apart from a source that has the same name.
			name := "\x00" + key
			g := groups[name]
			if g == nil {
				g = &warned{name: key, at: tool.Origin{Type: "manifest", Ref: key}, code: warnings[i].Code}
				groups[name] = g
			}
			g.why, g.adds = append(g.why, warnings[i].Message), append(g.adds, warnings[i])
			continue
		}
		g := group(warnings[i].SourceID, warnings[i].Origin)
		g.missing = g.missing || missingCodes[warnings[i].Code]
		g.why = append(g.why, warnings[i].Message)
		if warnings[i].Code == PlaceholderLeft {
			g.empty = append(g.empty, warnings[i].Origin.Pointer)
		}
	}

	list := make([]warned, 0, len(groups))
	for _, g := range groups {
		if len(g.why) == 0 && g.source != nil {
			g.why = []string{sourceWhy(g.source)} // its reader said nothing itself
		}
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b warned) int { return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.code, b.code)) })
	return list
}

func sourceWhy(s *tool.Source) string {
	switch s.State {
	case tool.Missing:
		return "The optional source is not there."
	case tool.Failed:
		return "The optional source could not be read."
	case tool.Unsupported:
		return fmt.Sprintf("Unsupported source type %q: nothing of it was read.", s.Type)
	case tool.Loaded:
	}
	return ""
}

// shown is how many reasons of one source are spelled out.
const shown = 3

func (w *warned) reason() string {
	var parts []string
	said := map[string]bool{"": true} // a source may warn of a hundred thousand things
	for _, why := range w.why {
		if why = sentence(why); !said[why] {
			said[why] = true
			parts = append(parts, why)
		}
	}
	if n := len(w.dynamic); n > 0 {
		d := &w.dynamic[0]
		parts = append(parts, fmt.Sprintf("%s: %s at %s (%s).",
			count(n, "place offers tools that reading cannot list", "places offer tools that reading cannot list"),
			words(d.Kind), cmp.Or(place(d.Origin), w.name), words(d.Reason)))
	}
	if n := len(parts) - shown; n > 0 {
		parts = append(parts[:shown], fmt.Sprintf("And %d more.", n))
	}
	return strings.Join(parts, " ")
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	if c := s[0]; 'a' <= c && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	return ended(s)
}

// ended ends with a full stop. What may begin with a name keeps its spelling.
func ended(s string) string { return strings.TrimSuffix(strings.TrimSpace(s), ".") + "." }

func words(code string) string { return strings.ReplaceAll(code, "_", " ") }

func place(o tool.Origin) string {
	if o.Path != "" && o.Start.Line > 0 {
		return fmt.Sprintf("%s:%d", o.Path, o.Start.Line)
	}
	return cmp.Or(o.Location, o.Path, o.Ref)
}

// warningGap is the one gap of a source that warned.
func (b *builder) warningGap(w *warned) Gap {
	issue := effect.Issue{
		Kind: "source_warning", Subject: w.name, SourceType: w.at.Type, SourceRef: cmp.Or(w.at.Ref, w.at.Path), Why: w.reason(),
	}
	g := b.row(&issue)
	switch {
	case b.bare:
	case w.code == UndeclaredSource:
		g.Next = b.declareSources(w)
	case w.code == UnboundNewTool:
		g.Next = b.bindOffered(w)
	case w.missing:
		g.Next = b.provideSource(w)
	case len(w.dynamic) > 0:
		g.Next = b.inventory(&issue, "declare_tool_inventory", w.dynamic[0].Framework)
	case len(w.empty) > 0 && len(w.empty) == len(w.why):
		g.Next = b.fill(w)
	default:
		g.Next = reviewWarning(w)
	}
	return g
}

// fill asks for what stands in place of the placeholders of the manifest.
func (b *builder) fill(w *warned) Next {
	t := Template{Key: dotted(w.empty[0])}
	for _, at := range w.empty {
		t.Edits = append(t.Edits, set(at, review))
	}
	what := "what is true, in place of the placeholder"
	if n := len(w.empty) - 1; n > 0 {
		what += fmt.Sprintf("; %d more beside it", n)
	}
	return b.next("review_warning", t, nil, what, "What nobody filled in says nothing that a decision could rest on.")
}
