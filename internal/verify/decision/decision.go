// Package decision turns findings and gaps of evidence into the release
// decision, the only gate of verification (docs/spec/verification.md §8).
//
// A finding says what is wrong; a gap says what is not known. A gap is never
// suppressed, accepted or overridden: it is closed by an answer, and each gap
// carries the place and the form of that answer, never the answer itself.
package decision

import (
	"cmp"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Verdict is the release decision.
type Verdict string

// The verdicts, worst first.
const (
	Blocked              Verdict = "blocked"
	InsufficientEvidence Verdict = "insufficient_evidence"
	ReviewRequired       Verdict = "review_required"
	Passed               Verdict = "passed"
)

// Disclaimer stands in every artifact that carries a verdict.
const Disclaimer = "This verdict covers deterministic static evidence only. Agents Shipgate did not execute the agent or prove " +
	"runtime behavior, tool routing, credential enforcement, or safety."

// Category is what a finding does to the decision.
type Category string

// The categories of §8.1.
const (
	Blocker    Category = "blocker"
	ReviewItem Category = "review_item"
	Excluded   Category = "excluded"
)

// Rule is why a finding has its category.
type Rule string

// The rules of §8.1.
const (
	PolicyBlockNew           Rule = "policy_block_new"
	SeverityBlockNew         Rule = "severity_block_new"
	PolicyBaselineAccepted   Rule = "policy_baseline_accepted"
	SeverityBaselineAccepted Rule = "severity_baseline_accepted"
	NeedsReview              Rule = "review_required"
	SubThreshold             Rule = "sub_threshold"
	UnsupportedEvidence      Rule = "unsupported_evidence"
	Suppressed               Rule = "suppressed"
)

// Decision is the ReleaseDecision of the verifier schema. Lists are never nil.
type Decision struct {
	Decision        Verdict        `json:"decision"`
	Reason          string         `json:"reason"`
	Blockers        []Item         `json:"blockers"`
	ReviewItems     []Item         `json:"review_items"`
	Contributions   []Contribution `json:"contribution_rules"`
	Coverage        Coverage       `json:"evidence_coverage"`
	Baseline        BaselineDelta  `json:"baseline_delta"`
	FailPolicy      FailPolicy     `json:"fail_policy"`
	StaticOnly      bool           `json:"static_analysis_only"`      // always true
	RuntimeVerified bool           `json:"runtime_behavior_verified"` // always false
	Disclaimer      string         `json:"static_verdict_disclaimer"`
	by              Condition
}

// Keep writes the rows that several artifacts repeat. Nothing of the decision may
// change after that.
func (d *Decision) Keep(each tool.Each) {
	blockers, items, rules, gaps := d.Blockers, d.ReviewItems, d.Contributions, d.Coverage.Gaps
	for _, items := range [][]Item{blockers, items} {
		each.Do(len(items), func(i int) { items[i].Kept = canonical.Keep(&items[i]) })
	}
	each.Do(len(rules), func(i int) { rules[i].Kept = canonical.Keep(&rules[i]) })
	each.Do(len(gaps), func(i int) { gaps[i].Kept = canonical.Keep(&gaps[i]) })
}

// Condition is the row of §8.2 that decided: 1 to 8.
type Condition int

// The conditions, in order.
const (
	ByBlocker Condition = iota + 1
	ByHighReview
	ByBindingGap
	BySemanticGap
	ByPolicyGap
	ByExtraction
	ByReview
	ByNothing
)

// By is the row of §8.2 that decided; 0 for a decision that was read.
func (d *Decision) By() Condition { return d.by }

// Open says whether a condition of rows 3 to 6 of §8.2 holds, decided or not:
// the fix task asks (§9.5).
func (d *Decision) Open() bool { return len(d.Coverage.Gaps) > 0 }

// Item is one finding that blocks or wants review.
type Item struct {
	Kept           canonical.Kept `json:"-"`
	ID             string         `json:"id"`
	Fingerprint    string         `json:"fingerprint"`
	CheckID        string         `json:"check_id"`
	Severity       check.Severity `json:"severity"`
	Title          string         `json:"title"`
	Blocks         bool           `json:"blocks_release"`
	BaselineStatus *string        `json:"baseline_status"`
	CapabilityRefs []string       `json:"capability_refs"`
	TraceRefs      []string       `json:"capability_trace_refs"`
	Source         *check.Source  `json:"source"`
	Support        *check.Support `json:"support"`
	PolicyEvidence *check.Source  `json:"policy_evidence_source"`
}

// Contribution says for one finding what it did to the decision, and why.
type Contribution struct {
	Kept        canonical.Kept `json:"-"`
	FindingID   string         `json:"finding_id"`
	Fingerprint string         `json:"fingerprint"`
	CheckID     string         `json:"check_id"`
	Category    Category       `json:"category"`
	Rule        Rule           `json:"rule"`
	Rationale   string         `json:"rationale"`
}

// Coverage is evidence_coverage of §8.3. Gaps are ordered binding, semantic,
// policy, extraction.
type Coverage struct {
	Level              string           `json:"level"` // static or mixed
	ReviewRecommended  bool             `json:"human_review_recommended"`
	SourceWarnings     int              `json:"source_warning_count"` // groups, one per source
	LowConfidenceTools int              `json:"low_confidence_tool_count"`
	PolicyGaps         int              `json:"policy_gap_count"`
	Identity           IdentityCoverage `json:"identity_coverage"`
	Binding            BindingCoverage  `json:"binding_coverage"`
	Semantic           SemanticCoverage `json:"semantic_coverage"`
	Gaps               []Gap            `json:"evidence_gaps"`
	besides            []string         // what the groups of warnings are about, "" for what was not understood
}

// IdentityCoverage counts tools by how well it is known which is which.
type IdentityCoverage struct {
	Observations   int            `json:"total_observations"`
	Tools          int            `json:"canonical_tools"`
	Bound          int            `json:"bound_tools"` // bound by tool_identity
	Eligible       int            `json:"pass_eligible_tools"`
	AmbiguousNames int            `json:"ambiguous_name_count"`
	Gaps           int            `json:"gap_count"`
	Reasons        map[string]int `json:"reason_counts"`
}

// BindingCoverage counts catalog tools by how the root agent reaches them.
type BindingCoverage struct {
	Catalog   int            `json:"total_catalog_tools"`
	Reachable int            `json:"reachable_tools"`
	Possible  int            `json:"possible_tools"`
	Unbound   int            `json:"unbound_tools"`
	Eligible  bool           `json:"pass_eligible"`
	Gaps      int            `json:"gap_count"`
	Reasons   map[string]int `json:"reason_counts"`
}

// SemanticCoverage counts analysed actions by how well their effect and
// authority are known.
type SemanticCoverage struct {
	Actions  int            `json:"total_actions"`
	Eligible int            `json:"pass_eligible_actions"`
	Concerns int            `json:"review_concern_count"`
	Gaps     int            `json:"gap_count"` // rows, identity included
	Reasons  map[string]int `json:"reason_counts"`
}

// BaselineDelta is what the accepted baseline did (§7.5).
type BaselineDelta struct {
	Enabled  bool    `json:"enabled"`
	Path     *string `json:"path"`
	Matched  int     `json:"matched_count"`
	New      int     `json:"new_count"`
	Resolved int     `json:"resolved_count"`
}

// FailPolicy is what the process exit says (§8.4).
type FailPolicy struct {
	Mode      string           `json:"ci_mode"`
	FailOn    []check.Severity `json:"fail_on"`
	NewOnly   bool             `json:"new_findings_only"`
	WouldFail bool             `json:"would_fail_ci"`
	ExitCode  int              `json:"exit_code"`
}

// Input is everything a decision depends on.
type Input struct {
	Findings   []check.Finding // of the whole run, finished by the engine, in any order
	Head       *effect.Surface
	PolicyGaps []effect.Issue // predicates that could not be judged (§11.4)
	Summary    Summary        // Summarize(Findings, Head)

	ConfigPath string // the manifest as artifacts name it, relative to the Git root

	Mode     string           // advisory or strict
	FailOn   []check.Severity // FailOn(...)
	NewOnly  bool             // --baseline-mode new-findings
	Baseline BaselineDelta

	Each tool.Each // does independent work; nil for one after the other

	// BaseGaps are the gaps of the base side, as GapsBefore has them; nil without
	// one. They only say who brought a gap in, they change no verdict (Appendix B,
	// "Docs-only turns").
	BaseGaps *[]Gap
	Other    *effect.Surface // the other side of the change; nil without one
	Survey   *Survey         // SurveyOf the same, when it was made already; for one decision
}

// FailOn is the severities that fail a strict run: the flag's if given, else
// the manifest's, else critical in strict mode and none in advisory (§8.4).
func FailOn(flag, declared []check.Severity, mode string) []check.Severity {
	switch {
	case flag != nil:
		return sorted(flag)
	case declared != nil:
		return sorted(declared)
	case mode == "strict":
		return []check.Severity{check.Critical}
	}
	return []check.Severity{}
}

// sorted is the severities, worst first, each once.
func sorted(list []check.Severity) []check.Severity {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b check.Severity) int { return cmp.Compare(b.Rank(), a.Rank()) })
	return append([]check.Severity{}, slices.Compact(out)...)
}

// Decide makes the release decision of one side.
func Decide(in Input) *Decision {
	var c contributions
	var coverage Coverage
	var degraded string
	parts := []func(){
		func() { coverage, degraded = cover(&in) },
		func() { c = contribute(&in) },
	}
	in.Each.Do(len(parts), func(i int) { parts[i]() })
	d := &Decision{
		Blockers: c.blockers, ReviewItems: c.reviews, Contributions: c.rows,
		Coverage: coverage, Baseline: in.Baseline, StaticOnly: true, Disclaimer: Disclaimer,
	}
	d.conclude(c, degraded)
	d.FailPolicy = failPolicy(&in, d)
	return d
}

// GapsBefore are the gaps of the base, in any order and without the answers that
// they ask for: nobody answers for what was. What the base shares with the other
// side is left out: it is that side's too.
func GapsBefore(in Input) []Gap {
	b := &builder{in: &in, seen: map[issueKey]int{}, bare: true}
	return b.survey().coverage.Gaps
}
