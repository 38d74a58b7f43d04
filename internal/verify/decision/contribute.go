package decision

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

const matched = "matched"

type contributions struct {
	blockers, reviews []Item
	rows              []Contribution
	high              string // check id of the first active high review, "" for none
}

// contribute walks the findings in report order.
func contribute(in *Input) contributions {
	c := contributions{blockers: []Item{}, reviews: []Item{}, rows: make([]Contribution, 0, len(in.Findings))}
	for _, f := range ReportOrder(in.Findings) {
		category, rule, why := classify(f, in.FailOn)
		c.rows = append(c.rows, Contribution{
			FindingID: f.ID, Fingerprint: f.Fingerprint, CheckID: f.CheckID, Category: category, Rule: rule, Rationale: why,
		})
		switch category {
		case Blocker:
			c.blockers = append(c.blockers, item(f))
		case ReviewItem:
			c.reviews = append(c.reviews, item(f))
			if c.high == "" && activeHigh(f, in.Head) {
				c.high = f.CheckID
			}
		case Excluded:
		}
	}
	return c
}

// classify is the table of §8.1; the first condition that holds wins.
func classify(f *check.Finding, failOn []check.Severity) (Category, Rule, string) {
	accepted := f.BaselineStatus == matched
	severe := f.Severity == check.Critical || slices.Contains(failOn, f.Severity)
	review := f.Severity.Rank() >= check.Medium.Rank() || f.HumanReview
	baseline := Rule("")
	switch {
	case accepted && f.BlocksRelease:
		baseline = PolicyBaselineAccepted
	case accepted && severe:
		baseline = SeverityBaselineAccepted
	}

	switch {
	case unsupported(f):
		return Excluded, UnsupportedEvidence, "It rests on evidence that may raise a question but decides nothing."
	case f.Suppressed && check.Mandatory(f):
		return Blocker, PolicyBlockNew, "It is a mandatory control: a suppression does not take it away."
	case f.Suppressed:
		return Excluded, Suppressed, "The manifest suppresses it."
	case f.BlocksRelease && !accepted:
		return Blocker, PolicyBlockNew, "Its rule blocks a release and the baseline does not accept it."
	case severe && !accepted:
		return Blocker, SeverityBlockNew, "Severity " + string(f.Severity) + " blocks and the baseline does not accept it."
	case review && baseline != "":
		return ReviewItem, baseline, "It would block; the baseline accepts it, so a person looks at it."
	case review && f.Severity.Rank() >= check.Medium.Rank():
		return ReviewItem, NeedsReview, "Severity " + string(f.Severity) + " wants review."
	case review:
		return ReviewItem, NeedsReview, "Only a person may close it."
	case baseline != "":
		return Excluded, baseline, "It would block; the baseline accepts it and nothing asks for review."
	}
	return Excluded, SubThreshold, "Severity " + string(f.Severity) + " is below what is reviewed."
}

// unsupported holds for a finding whose predicates no control may rest on.
func unsupported(f *check.Finding) bool { return f.Support != nil && !f.Support.PolicyEligible }

// activeHigh: severe, not accepted, on a tool that the root agent reaches.
func activeHigh(f *check.Finding, head *effect.Surface) bool {
	return f.Severity.Rank() >= check.High.Rank() && f.BaselineStatus != matched &&
		f.ToolID != "" && head != nil && head.Reach[f.ToolID] == effect.Reachable
}

// ReportOrder is the findings by severity, check, tool and fingerprint (§7.2).
// Two that agree in all four are told apart by their id, so that the order of
// the input never shows.
func ReportOrder(findings []check.Finding) []*check.Finding {
	order := make([]*check.Finding, len(findings))
	for i := range findings {
		order[i] = &findings[i]
	}
	byReport := func(a, b *check.Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
			strings.Compare(a.CheckID, b.CheckID),
			strings.Compare(a.ToolName, b.ToolName),
			strings.Compare(a.Fingerprint, b.Fingerprint),
			strings.Compare(a.ID, b.ID),
		)
	}
	if !slices.IsSortedFunc(order, byReport) { // the engine has them in order already
		slices.SortStableFunc(order, byReport)
	}
	return order
}

func item(f *check.Finding) Item {
	i := Item{
		ID: f.ID, Fingerprint: f.Fingerprint, CheckID: f.CheckID, Severity: f.Severity, Title: redact.Text(f.Title), Blocks: f.BlocksRelease,
		CapabilityRefs: list(f.CapabilityRefs), TraceRefs: list(f.TraceRefs), Support: Support(f.Support),
	}
	if f.BaselineStatus != "" {
		status := f.BaselineStatus
		i.BaselineStatus = &status
	}
	if f.Source.Type != "" {
		i.Source = &f.Source
	}
	return i
}

// Support is s with every list there: the schema knows no null list.
func Support(s *check.Support) *check.Support {
	if s == nil {
		return nil
	}
	c := *s
	c.Bases, c.ClaimIDs = list(c.Bases), list(c.ClaimIDs)
	c.Confidence = cmp.Or(c.Confidence, tool.Low)
	c.Predicates = append([]check.Predicate{}, c.Predicates...)
	for i := range c.Predicates {
		p := &c.Predicates[i]
		p.Bases, p.ClaimIDs, p.Confidence = list(p.Bases), list(p.ClaimIDs), cmp.Or(p.Confidence, tool.Low)
	}
	return &c
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
