package effect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
)

// describe is a selector for people.
func describe(sel manifest.Selector) string {
	text := sel.Tool
	if sel.ToolID != "" {
		text = sel.ToolID
	}
	for _, part := range []struct{ name, value string }{
		{"provider", sel.Provider}, {"source type", sel.SourceType}, {"source", sel.SourceID},
	} {
		if part.value != "" {
			text += fmt.Sprintf(" (%s %s)", part.name, part.value)
		}
	}
	return text
}

// indexObservations prepares for observed: a member of a binding names an
// observation, because canonical tools do not exist yet.
func (x *resolver) indexObservations(all []observation) {
	x.obsByName = make(map[string][]observation, len(all))
	for _, o := range all {
		x.obsByName[o.tool.Name] = append(x.obsByName[o.tool.Name], o)
	}
}

func (x *resolver) observed(sel manifest.Selector) []observation {
	var hits []observation
	for _, o := range x.obsByName[sel.Tool] {
		if (sel.SourceID == "" || sel.SourceID == o.tool.Origin.SourceID) &&
			(sel.SourceType == "" || sel.SourceType == o.tool.Origin.Type) {
			hits = append(hits, o)
		}
	}
	return hits
}

// indexTools prepares for match and for bound names of sources.
func (x *resolver) indexTools() {
	x.s.tools = make(map[string]int, len(x.s.Catalog))
	x.byName = make(map[string][]*Tool, len(x.s.Catalog))
	x.bySource = make(map[sourceName][]*Tool, len(x.s.Catalog))
	// Most lists are of one tool, and lie here.
	room := make([]*Tool, 0, 2*len(x.s.Catalog))
	// The members of one tool come one after the other.
	add := func(list []*Tool, t *Tool) []*Tool {
		switch n := len(list); {
		case n > 0 && list[n-1] == t:
			return list
		case n > 0:
			return append(list, t)
		}
		room = append(room, t)
		return room[len(room)-1 : len(room) : len(room)]
	}
	for n, t := range x.s.Catalog {
		x.s.tools[t.ID] = n
		for i := range t.Members {
			name, key := t.Members[i].Name, sourceName{t.Members[i].Origin.SourceID, t.Members[i].Name}
			x.byName[name] = add(x.byName[name], t)
			x.bySource[key] = add(x.bySource[key], t)
		}
	}
}

// match is every canonical tool that a selector fits (§5.4, row selector). A
// name is that of the tool or of an observation behind it; source type and
// source id must hold for one and the same observation.
func (x *resolver) match(sel manifest.Selector) []*Tool {
	k := [...]string{sel.Tool, sel.ToolID, sel.Provider, sel.SourceType, sel.SourceID}
	hits, known := x.matched[k]
	if !known {
		hits = x.search(sel)
		x.matched[k] = hits
	}
	return hits
}

func (x *resolver) search(sel manifest.Selector) []*Tool {
	candidates := x.byName[sel.Tool]
	if sel.ToolID != "" {
		candidates = nil
		if t := x.s.Tool(sel.ToolID); t != nil {
			candidates = []*Tool{t}
		}
	}
	var hits []*Tool
	for _, t := range candidates {
		if (sel.Provider == "" || sel.Provider == t.Provider) && seenIn(t, sel) {
			hits = append(hits, t)
		}
	}
	return hits
}

func seenIn(t *Tool, sel manifest.Selector) bool {
	if sel.SourceID == "" && sel.SourceType == "" {
		return true
	}
	for i := range t.Members {
		o := t.Members[i].Origin
		if (sel.SourceID == "" || sel.SourceID == o.SourceID) && (sel.SourceType == "" || sel.SourceType == o.Type) {
			return true
		}
	}
	return false
}

// one is the tool that a selector names. When it names none or several, that is
// an issue, and nothing is selected: a control that might be meant for another
// tool controls nothing.
func (x *resolver) one(sel manifest.Selector, what string) *Tool {
	hits := x.match(sel)
	if len(hits) == 1 {
		return hits[0]
	}
	// The same question twice is one question; the number of issues must not grow
	// with entries times tools.
	asked := what + "\x00" + describe(sel)
	if x.asked[asked] {
		return nil
	}
	x.asked[asked] = true
	if len(hits) == 0 {
		x.orphan(Issue{
			Kind: UnresolvedSelector, Subject: cmp.Or(sel.Tool, sel.ToolID), Path: sel.Path, Key: key(sel.Path),
			Why: fmt.Sprintf("%s names %s, and no tool of the sources is that.", what, describe(sel)), Candidates: x.similar(sel.Tool),
		})
		return nil
	}
	candidates := apart(hits)
	for _, t := range hits {
		i := about(t, AmbiguousSelector, fmt.Sprintf("%s names %s, and %d tools of the sources are that.", what, describe(sel), len(hits)))
		i.Path, i.Key, i.Candidates = sel.Path, key(sel.Path)+".source_id", candidates
		t.Issues = append(t.Issues, i)
	}
	return nil
}

// apart are the values that tell tools of one name apart: source ids where they
// do, tool ids otherwise.
func apart(tools []*Tool) []string {
	var sources, ids []string
	for _, t := range tools {
		ids = append(ids, t.ID)
		sources = append(sources, t.Origin.SourceID)
	}
	if sources = sorted(sources); len(sources) == len(tools) {
		return sources
	}
	return sorted(ids)
}

// key is a path in the manifest as a dotted key, list positions left out.
func key(path []string) string {
	var b strings.Builder
	for i, part := range path {
		switch {
		case part != "" && strings.Trim(part, "0123456789") == "":
			b.WriteString("[]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// names are the names of the catalog, sorted, each once.
func (x *resolver) names() []string {
	if x.catalogNames == nil {
		names := make([]string, 0, len(x.s.Catalog))
		for _, t := range x.s.Catalog {
			names = append(names, t.Name)
		}
		x.catalogNames = sorted(names)
	}
	return x.catalogNames
}

// similar are names of the catalog that the writer may have meant. Only the
// first entries are helped that way: each has to look at all names.
func (x *resolver) similar(name string) []string {
	const most, helped = 5, 100
	all := x.names()
	if x.helped++; x.helped > helped {
		return nil
	}
	if x.plain == nil {
		for _, n := range all {
			x.plain = append(x.plain, plainName(n))
		}
	}
	near := []string{}
	want := plainName(name)
	for i, have := range x.plain {
		if want != "" && have != "" && len(near) < most && (strings.Contains(have, want) || strings.Contains(want, have)) {
			near = append(near, all[i])
		}
	}
	if len(near) == 0 && len(all) <= most {
		return all
	}
	return near
}

// selectControls resolves the policies of the manifest and of policy rule files.
func (x *resolver) selectControls() {
	x.s.controls = map[ControlKind]map[string]bool{}
	p := x.m.Policies
	for _, list := range []struct {
		kind    ControlKind
		key     string
		entries []manifest.Selector
		rules   []string
	}{
		{ApprovalControl, "policies.require_approval_for_tools", p.Approval, x.rules().Approval},
		{ConfirmationControl, "policies.require_confirmation_for_tools", p.Confirmation, x.rules().Confirmation},
		{IdempotencyControl, "policies.require_idempotency_for_tools", p.Idempotency, x.rules().Idempotency},
	} {
		chosen := map[string]bool{}
		for _, sel := range list.entries {
			t := x.one(sel, list.key)
			if t == nil {
				continue
			}
			if chosen[t.ID] {
				t.Issues = append(t.Issues, twice(t, list.key, sel.Path))
			}
			chosen[t.ID] = true
		}
		for _, name := range list.rules {
			if t := x.ruled(name); t != nil {
				chosen[t.ID] = true
			}
		}
		x.s.controls[list.kind] = chosen
	}
}

// twice is the issue of a tool that two entries of one list are about.
func twice(t *Tool, what string, path []string) Issue {
	i := about(t, AmbiguousSelector, "Two entries of "+what+" are about this tool.")
	i.Path, i.Key = path, what
	return i
}

// ruled is the tool that a policy rule file names. The files know names only:
// where several tools have one, the tool of the block that the file belongs to
// is meant if it is the only one; else none is, and the missing control is found
// where it is needed.
func (x *resolver) ruled(name string) *Tool {
	hits := x.byName[name]
	if len(hits) > 1 {
		var block []*Tool
		for _, t := range hits {
			if t.Origin.Type == "openai_api" || t.Origin.Type == "anthropic_api" {
				block = append(block, t)
			}
		}
		hits = block
	}
	if len(hits) != 1 {
		return nil
	}
	return hits[0]
}

// risks finds the risk overrides of each tool. They know names only. What they
// add holds for every tool of the name. What they take away, read_only among it,
// holds for the one tool of the name: else a new source could bring a tool that
// an old entry clears.
func (x *resolver) risks() {
	for n := range x.m.Risks {
		risk := x.m.Risks[n]
		hits := x.byName[risk.Tool]
		var candidates []string
		lowers := len(risk.RemoveTags) > 0 || slices.Contains(risk.Tags, "read_only")
		if len(hits) > 1 && lowers {
			candidates = apart(hits)
			risk.RemoveTags = nil
			risk.Tags = slices.DeleteFunc(slices.Clone(risk.Tags), func(tag string) bool { return tag == "read_only" })
		}
		for _, t := range hits {
			if d := x.declared[t.ID]; candidates != nil && (d == nil || d.Effect == "") {
				i := about(t, AmbiguousLegacyName, fmt.Sprintf(
					"risk_overrides.tools takes tags from %s, a name that %d tools have; it takes none until the effect of each is declared.", risk.Tool, len(hits),
				))
				i.Key, i.Candidates = sourceEffect, candidates
				t.Issues = append(t.Issues, i)
			}
			merged := risk
			if have := x.risk[t.ID]; have != nil {
				merged.Tags = slices.Concat(have.Tags, risk.Tags)
				merged.RemoveTags = slices.Concat(have.RemoveTags, risk.RemoveTags)
				merged.Owner = cmp.Or(have.Owner, risk.Owner)
			}
			x.risk[t.ID] = &merged
			t.Owner = cmp.Or(merged.Owner, t.Owner)
		}
	}
}
