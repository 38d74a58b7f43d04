package decision

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// maxWarnings is how many sources may warn before what was read is too little
// to decide on (§8.2 row 6).
const maxWarnings = 3

// cover counts what is known of one side and lists what is not. degraded is the
// reason when the reading itself is too weak, "" otherwise.
func cover(in *Input) (c Coverage, degraded string) {
	b := &builder{in: in, seen: map[string]bool{}}
	c, degraded = b.cover()
	slices.SortStableFunc(c.Gaps, func(x, y Gap) int {
		return cmp.Or(
			cmp.Compare(families[x.Kind], families[y.Kind]),
			strings.Compare(x.Subject, y.Subject), strings.Compare(x.Kind, y.Kind),
			strings.Compare(text(x.SourceType), text(y.SourceType)), strings.Compare(text(x.SourceRef), text(y.SourceRef)),
			strings.Compare(x.Why, y.Why),
		)
	})
	attribute(c.Gaps, in.BaseGaps)
	return c, degraded
}

// cover is the coverage with its gaps in the order they were met.
func (b *builder) cover() (c Coverage, degraded string) {
	in := b.in
	c = Coverage{
		Level: cmp.Or(in.Summary.Evidence, "static"), ReviewRecommended: in.Summary.ReviewRecommended,
		Identity: IdentityCoverage{Reasons: map[string]int{}},
		Binding:  BindingCoverage{Reasons: map[string]int{}},
		Semantic: SemanticCoverage{Reasons: map[string]int{}},
		Gaps:     []Gap{},
	}
	if in.Head == nil {
		return c, ""
	}
	b.index()
	c.countTools(in.Head)

	b.graph(&c)
	b.actions(&c)
	b.policies(&c)
	degraded = b.extraction(&c)

	in.Each.Do(len(b.asked), func(n int) {
		q := &b.asked[n]
		g := &b.gaps[q.gap]
		if *g = b.row(q.issue); !b.bare {
			g.Next = b.answer(q.issue)
		}
	})
	c.Gaps = append(c.Gaps, b.gaps...)
	return c, degraded
}

func (c *Coverage) countTools(head *effect.Surface) {
	names := map[string]int{}
	for _, t := range head.Catalog {
		c.Identity.Tools++
		c.Identity.Observations += max(len(t.Observations), 1)
		if t.Status == "declared" {
			c.Identity.Bound++
		}
		if len(t.Issues) == 0 {
			c.Identity.Eligible++
		}
		if names[t.Name]++; names[t.Name] == 2 {
			c.Identity.AmbiguousNames++
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
	tools map[string]*effect.Tool // by id
	named map[[2]string]int       // catalog tools by name and source; the source "" counts all of the name
	names []string                // of the catalog, sorted, each once
	holds map[string]string       // by tool id: the agent, first by name, whose list may hold the tool
	seen  map[string]bool
	gaps  []Gap
	asked []asked
	last  int  // the manifest's last line
	bare  bool // gaps are without their answers
}

// asked is an issue and the gap that is kept for it.
type asked struct {
	issue *effect.Issue
	gap   int
}

func (b *builder) index() {
	b.tools = make(map[string]*effect.Tool, len(b.in.Head.Catalog))
	b.named = map[[2]string]int{}
	for _, t := range b.in.Head.Catalog {
		b.tools[t.ID] = t
		b.named[[2]string{t.Name}]++
		if t.Origin.SourceID != "" {
			b.named[[2]string{t.Name, t.Origin.SourceID}]++
		}
		b.names = append(b.names, t.Name)
	}
	b.names = unique(b.names)
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

// add lists an issue once and says whether it was new.
func (b *builder) add(i *effect.Issue) bool {
	key := strings.Join([]string{i.Kind, i.Subject, i.ToolID, i.SourceType, i.SourceRef, i.Why, strings.Join(i.Path, "/")}, "\x00")
	if b.seen[key] {
		return false
	}
	b.seen[key] = true
	b.asked = append(b.asked, asked{i, len(b.gaps)})
	b.gaps = append(b.gaps, Gap{})
	return true
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
		b.list(c, &issues[n])
	}
}

// list takes one issue up and counts it in its family.
func (b *builder) list(c *Coverage, i *effect.Issue) {
	if _, known := families[i.Kind]; !known {
		// A kind that the schema does not have must not vanish: the surface is not
		// understood, and that is what the reader learns.
		own := *i
		i = &own
		i.Why = fmt.Sprintf("%s (%s)", i.Why, i.Kind)
		i.Kind = "incomplete_surface"
	}
	if !b.add(i) {
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
		for n := range t.Issues {
			b.list(c, &t.Issues[n])
		}
	}
	for _, a := range b.in.Head.Actions {
		c.Semantic.Actions++
		if a.Assessment.PassEligible {
			c.Semantic.Eligible++
			continue
		}
		open, concern := false, false
		for n := range a.Assessment.Issues {
			i := &a.Assessment.Issues[n]
			if i.Concern {
				concern = true
				continue
			}
			open = true
			b.list(c, i)
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
			})
		case len(a.Tool.Issues) == 0 && b.in.Head.Graph.Eligible:
			b.list(c, &effect.Issue{
				Kind: "incomplete_tool_identity", Subject: a.Tool.Name, ToolID: a.Tool.ID,
				SourceID: a.Tool.Origin.SourceID, SourceType: a.Tool.Origin.Type, SourceRef: a.Tool.Origin.Ref,
				Why: "It is not clear which tool this action is, or who may call it.",
			})
		}
	}
}

func (b *builder) policies(c *Coverage) {
	for n := range b.in.PolicyGaps {
		b.list(c, &b.in.PolicyGaps[n])
	}
}

// extraction lists what was read badly, and says whether that is too much.
func (b *builder) extraction(c *Coverage) string {
	reached := b.in.Head.Tools()
	var low []*effect.Tool
	for _, t := range reached {
		if t.Confidence == tool.Low {
			low = append(low, t)
		}
	}
	c.LowConfidenceTools = len(low)

	groups := b.warnings()
	c.SourceWarnings = len(groups)
	missing := ""
	for i := range groups {
		c.besides = append(c.besides, groups[i].code)
		if groups[i].missing && missing == "" {
			missing = groups[i].name
		}
		b.gaps = append(b.gaps, b.warningGap(&groups[i]))
	}

	reason := ""
	weak := len(low) >= max(1, (len(reached)+1)/2)
	switch {
	case weak:
		reason = fmt.Sprintf("%s read with low confidence, of %d that the agent reaches.", count(len(low), "tool was", "tools were"), len(reached))
	case len(groups) > maxWarnings:
		reason = fmt.Sprintf("%d sources were not understood in full.", len(groups))
	case missing != "":
		reason = fmt.Sprintf("The source %s was not read.", missing)
	}
	// A few weak tools among many recommend a review and are no gap by
	// themselves; then the summary says so and they are listed for it.
	if weak || b.in.Summary.ReviewRecommended {
		for _, t := range low {
			b.add(&effect.Issue{
				Kind: "low_confidence_tool", Subject: t.Name, ToolID: t.ID, SourceType: t.Origin.Type, SourceRef: t.Origin.Ref,
				Why: "The tool was read with low confidence.",
			})
		}
	}
	return reason
}

// attribute says of each gap whether this change brought it in. The verdict is
// the same either way: an inherited gap is a gap (Appendix B).
func attribute(gaps []Gap, base *[]Gap) {
	if base == nil {
		return
	}
	had := map[string]bool{}
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

// key tells whether two gaps are the same gap on both sides.
func (g *Gap) key() string {
	return strings.Join([]string{g.Kind, g.Subject, text(g.SourceType), text(g.SourceRef)}, "\x00")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
