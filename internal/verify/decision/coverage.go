package decision

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// maxWarnings is how many sources may warn before what was read is too little
// to decide on (§8.2 row 6).
const maxWarnings = 3

func (c *Coverage) countTools(head *effect.Surface, named map[string]int) {
	for _, n := range named {
		if n > 1 {
			c.Identity.AmbiguousNames++
		}
	}
	for _, t := range head.Catalog {
		c.Identity.Tools++
		c.Identity.Observations += max(len(t.Observations), 1)
		if t.Status == "declared" {
			c.Identity.Bound++
		}
		if len(t.Issues) == 0 {
			c.Identity.Eligible++
		}
		c.Binding.Catalog++
		switch head.Reach[t.ID] {
		case effect.Reachable:
			c.Binding.Reachable++
		case effect.Possible:
			c.Binding.Possible++
		default:
			c.Binding.Unbound++
		}
	}
	c.Binding.Eligible = head.Graph.Eligible
}

// builder makes one gap of each issue, wherever it is reported.
type builder struct {
	in    *Input
	named map[string]int           // how many catalog tools have a name
	twins func() map[[2]string]int // of names that several have: how many of a name are of one source
	names func() []string          // of the catalog, sorted, each once
	rows  func() map[string]int    // of tool_sources, by id
	holds map[string]string        // by tool id: the agent, first by name, whose list may hold the tool
	seen  map[issueKey]int         // into asked
	asked []asked
	spots map[string]spot // by pointer, of one hand
	last  int             // the manifest's last line
	bare  bool            // gaps are without their answers
}

// asked is what becomes one gap: an issue, or a source that warned.
type asked struct {
	issue  *effect.Issue
	warned *warned
	shared bool // the other side has the same issue of the same tool
}

// issueKey tells whether two issues are one.
type issueKey struct{ kind, subject, toolID, sourceType, sourceRef, why, path string }

func (b *builder) index() {
	catalog := b.in.Head.Catalog
	b.named = make(map[string]int, len(catalog))
	for _, t := range catalog {
		b.named[t.Name]++
	}
	b.twins = sync.OnceValue(func() map[[2]string]int {
		twins := map[[2]string]int{}
		for _, t := range catalog {
			if b.named[t.Name] > 1 && t.Origin.SourceID != "" {
				twins[[2]string{t.Name, t.Origin.SourceID}]++
			}
		}
		return twins
	})
	b.rows = sync.OnceValue(func() map[string]int {
		rows := map[string]int{}
		if m := b.in.Head.Manifest; m != nil {
			for i := range slices.Backward(m.Sources) {
				rows[m.Sources[i].ID] = i // the first of an id
			}
		}
		return rows
	})
	b.names = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(b.named)) })
	if m := b.in.Head.Manifest; m != nil {
		b.last = lastLine(m)
	}

	g := &b.in.Head.Graph
	nodes := make(map[string]string, len(g.Nodes))
	for _, n := range g.Nodes {
		nodes[n.ID] = n.Name
	}
	b.holds = map[string]string{}
	for _, e := range g.Edges {
		if have := b.holds[e.Tool]; e.Tool != "" && !e.Complete && (have == "" || nodes[e.From] < nodes[have]) {
			b.holds[e.Tool] = e.From
		}
	}
}

// add lists an issue once and says whether it was new. shared is as in asked.
func (b *builder) add(i *effect.Issue, shared bool) bool {
	key := issueKey{i.Kind, i.Subject, i.ToolID, i.SourceType, i.SourceRef, i.Why, strings.Join(i.Path, "/")}
	if n, seen := b.seen[key]; seen {
		b.asked[n].shared = b.asked[n].shared || shared
		return false
	}
	b.seen[key] = len(b.asked)
	b.asked = append(b.asked, asked{issue: i, shared: shared})
	return true
}

// shares says whether the other side has this tool and all that is known of it.
func (b *builder) shares(t *effect.Tool) bool {
	return t != nil && b.in.Other != nil && b.in.Other.Shares(t)
}

// graph lists what keeps the binding graph from being known. A graph that is
// not eligible and names no reason is a reason by itself.
func (b *builder) graph(c *Coverage) {
	g := &b.in.Head.Graph
	issues := g.Issues
	if len(issues) == 0 && !g.Eligible {
		issues = []effect.Issue{{Kind: "missing_binding_evidence", Subject: "root", Why: "Nothing shows which tools the agent reaches."}}
	}
	for n := range issues {
		b.list(c, &issues[n], false)
	}
}

// list takes one issue up and counts it in its family. What is shared is left out
// of gaps that are only asked what the other side had besides.
func (b *builder) list(c *Coverage, i *effect.Issue, shared bool) {
	if b.bare && shared {
		return
	}
	if _, known := families[i.Kind]; !known {
		// A kind that the schema does not have must not vanish: the surface is not
		// understood, and that is what the reader learns.
		own := *i
		i = &own
		i.Why = fmt.Sprintf("%s (%s)", i.Why, i.Kind)
		i.Kind = "incomplete_surface"
	}
	if !b.add(i, shared) {
		return
	}
	switch families[i.Kind] {
	case bindingGap:
		c.Binding.Gaps++
		c.Binding.Reasons[i.Kind]++
	case semanticGap:
		if identityKinds[i.Kind] {
			c.Identity.Gaps++
			c.Identity.Reasons[i.Kind]++
		}
		c.Semantic.Gaps++
		c.Semantic.Reasons[i.Kind]++
	case policyGap:
		c.PolicyGaps++
	case extractionGap:
	}
}

// actions lists what keeps tools and actions from being known. An identity that
// is not clear is a gap for every tool of the catalog, reached or not: which
// tool is reached is then the question.
func (b *builder) actions(c *Coverage) {
	for _, t := range b.in.Head.Catalog {
		if len(t.Issues) == 0 {
			continue
		}
		shared := b.shares(t)
		for n := range t.Issues {
			b.list(c, &t.Issues[n], shared)
		}
	}
	for _, a := range b.in.Head.Actions {
		c.Semantic.Actions++
		if a.Assessment.PassEligible {
			c.Semantic.Eligible++
			continue
		}
		open, concern, shared := false, false, b.shares(a.Tool)
		for n := range a.Assessment.Issues {
			i := &a.Assessment.Issues[n]
			if i.Concern {
				concern = true
				continue
			}
			open = true
			b.list(c, i, shared)
		}
		switch {
		case open:
		case concern:
			c.Semantic.Concerns++
		case a.Assessment.IdentityEligible && a.Assessment.BindingEligible:
			b.list(c, &effect.Issue{
				Kind: "incomplete_surface", Subject: a.Tool.Name, ToolID: a.Tool.ID,
				SourceID: a.Tool.Origin.SourceID, SourceType: a.Tool.Origin.Type, SourceRef: a.Tool.Origin.Ref,
				Why: "The action is not known well enough to pass.",
			}, shared)
		case len(a.Tool.Issues) == 0 && b.in.Head.Graph.Eligible:
			b.list(c, &effect.Issue{
				Kind: "incomplete_tool_identity", Subject: a.Tool.Name, ToolID: a.Tool.ID,
				SourceID: a.Tool.Origin.SourceID, SourceType: a.Tool.Origin.Type, SourceRef: a.Tool.Origin.Ref,
				Why: "It is not clear which tool this action is, or who may call it.",
			}, false) // the other side may have another graph
		}
	}
}

func (b *builder) policies(c *Coverage) {
	for n := range b.in.PolicyGaps {
		i := &b.in.PolicyGaps[n]
		b.list(c, i, b.shares(b.in.Head.Tool(i.ToolID)))
	}
}

// extraction lists what was read badly, and says whether that is too much.
func (b *builder) extraction(s *Survey) {
	c, reached := &s.coverage, b.in.Head.Tools()
	for _, t := range reached {
		if t.Confidence == tool.Low {
			s.low = append(s.low, t)
		}
	}
	c.LowConfidenceTools = len(s.low)

	groups := b.warnings()
	c.SourceWarnings = len(groups)
	missing := ""
	for i := range groups {
		c.besides = append(c.besides, groups[i].code)
		if groups[i].missing && missing == "" {
			missing = groups[i].name
		}
		b.asked = append(b.asked, asked{warned: &groups[i]})
	}

	s.weak = len(s.low) >= max(1, (len(reached)+1)/2)
	switch {
	case s.weak:
		s.degraded = fmt.Sprintf("%s read with low confidence, of %d that the agent reaches.", count(len(s.low), "tool was", "tools were"), len(reached))
	case len(groups) > maxWarnings:
		s.degraded = fmt.Sprintf("%d sources were not understood in full.", len(groups))
	case missing != "":
		s.degraded = fmt.Sprintf("The source %s was not read.", missing)
	}
}

// attribute says of each gap whether this change brought it in. The verdict is
// the same either way: an inherited gap is a gap (Appendix B). The base had the
// gaps of had, and its own.
func attribute(gaps []Gap, had map[gapKey]bool, base *[]Gap) {
	if base == nil {
		return
	}
	for i := range *base {
		had[(*base)[i].key()] = true
	}
	for i := range gaps {
		if had[gaps[i].key()] {
			gaps[i].Why += Inherited
		} else {
			gaps[i].Why += Introduced
		}
	}
}

// What the reason of a gap ends with when both sides are known.
const (
	Introduced = " This change introduced it."
	Inherited  = " It was there before this change."
)

// gapKey tells whether two gaps are the same gap on both sides.
type gapKey struct{ kind, subject, sourceType, sourceRef string }

func (g *Gap) key() gapKey { return gapKey{g.Kind, g.Subject, text(g.SourceType), text(g.SourceRef)} }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
