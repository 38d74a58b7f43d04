package decision

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
)

// Survey is what is known of one side and what is not, as far as it does not
// depend on findings: it can be made while they are looked for.
type Survey struct {
	b        *builder
	coverage Coverage // its gaps in the order they were met
	degraded string   // why the reading itself is too weak, "" when it is not
	weak     bool     // because of tools that were read with low confidence
	low      []*effect.Tool
}

// SurveyOf surveys the head of a decision that is not made yet. Of the input it
// needs the head, its policy gaps, the path of the manifest and the other side.
func SurveyOf(in Input) *Survey {
	b := &builder{in: &in, seen: map[issueKey]int{}}
	return b.survey()
}

func (b *builder) survey() *Survey {
	s := &Survey{b: b, coverage: Coverage{
		Identity: IdentityCoverage{Reasons: map[string]int{}},
		Binding:  BindingCoverage{Reasons: map[string]int{}},
		Semantic: SemanticCoverage{Reasons: map[string]int{}},
		Gaps:     []Gap{},
	}}
	head := b.in.Head
	if head == nil {
		return s
	}
	if !b.bare {
		b.index()
		s.coverage.countTools(head, b.named)
	}
	b.graph(&s.coverage)
	b.actions(&s.coverage)
	b.policies(&s.coverage)
	b.extraction(s)
	if s.weak {
		s.listLow()
	}
	s.answer()
	return s
}

// listLow lists the tools that were read with low confidence. A few weak ones
// among many recommend a review and are no gap by themselves.
func (s *Survey) listLow() {
	for _, t := range s.low {
		s.b.add(&effect.Issue{
			Kind: "low_confidence_tool", Subject: t.Name, ToolID: t.ID, SourceType: t.Origin.Type, SourceRef: t.Origin.Ref,
			Why: "The tool was read with low confidence.",
		}, false)
	}
}

// answer makes the gaps of what was listed since it was called last.
func (s *Survey) answer() {
	const share = 64 // how many one hand takes at a time
	list := s.b.asked[len(s.coverage.Gaps):]
	gaps := make([]Gap, len(list))
	s.b.in.Each.Do((len(list)+share-1)/share, func(n int) {
		own := *s.b
		own.spots = map[string]spot{}
		for i := n * share; i < min(len(list), (n+1)*share); i++ {
			gaps[i] = own.gap(&list[i])
		}
	})
	s.coverage.Gaps = append(s.coverage.Gaps, gaps...)
}

func (b *builder) gap(q *asked) Gap {
	if q.warned != nil {
		return b.warningGap(q.warned)
	}
	g := b.row(q.issue)
	if !b.bare {
		g.Next = b.answer(q.issue)
	}
	return g
}

// cover is the coverage of a decision, and why the reading itself is too weak; ""
// when it is not.
func cover(in *Input) (c Coverage, degraded string) {
	s := in.Survey
	if s == nil {
		s = SurveyOf(*in)
	}
	if in.Summary.ReviewRecommended && !s.weak && len(s.low) > 0 {
		s.listLow()
		s.answer()
	}
	c = s.coverage
	c.Level, c.ReviewRecommended = cmp.Or(in.Summary.Evidence, "static"), in.Summary.ReviewRecommended
	var had map[gapKey]bool
	c.Gaps, had = s.sorted()
	attribute(c.Gaps, had, in.BaseGaps)
	return c, s.degraded
}

// sorted is the gaps in the order of the report, and which of them the other side
// has too.
func (s *Survey) sorted() (gaps []Gap, shared map[gapKey]bool) {
	// A gap is too large to be moved while sorting.
	type row struct {
		*Gap
		family gapFamily
		shared bool
	}
	rows := make([]row, len(s.coverage.Gaps))
	for i := range rows {
		g := &s.coverage.Gaps[i]
		rows[i] = row{g, families[g.Kind], s.b.asked[i].shared}
	}
	slices.SortStableFunc(rows, func(x, y row) int {
		return cmp.Or(
			cmp.Compare(x.family, y.family),
			strings.Compare(x.Subject, y.Subject), strings.Compare(x.Kind, y.Kind),
			strings.Compare(text(x.SourceType), text(y.SourceType)), strings.Compare(text(x.SourceRef), text(y.SourceRef)),
			strings.Compare(x.Why, y.Why),
		)
	})
	gaps, shared = make([]Gap, len(rows)), map[gapKey]bool{}
	for i, r := range rows {
		gaps[i] = *r.Gap
		if r.shared {
			shared[r.key()] = true
		}
	}
	return gaps, shared
}
