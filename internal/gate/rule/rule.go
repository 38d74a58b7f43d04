// Package rule holds the checks of the boundary: one file per rule, listed in
// catalogue.go and nowhere else.
//
// A rule is a value without state. It looks at typed surfaces, reports findings
// with their evidence, and knows nothing about severity overrides, routes or
// output: those belong to packages policy, control and gate
// (docs/spec/boundary.md §5).
package rule

import (
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/surface"
)

// Action is what a finding asks for. Order: allow < warn < require_review < block.
type Action string

// The actions.
const (
	Allow         Action = "allow"
	Warn          Action = "warn"
	RequireReview Action = "require_review"
	Block         Action = "block"
)

var actionOrder = map[Action]int{Allow: 1, Warn: 2, RequireReview: 3, Block: 4}

// Valid says whether a is one of the four.
func (a Action) Valid() bool { return actionOrder[a] > 0 }

// Less says whether a asks for less than b.
func (a Action) Less(b Action) bool { return actionOrder[a] < actionOrder[b] }

// Risk is how much a finding may cost. Order: none < low < medium < high < critical.
type Risk string

// The risks.
const (
	None     Risk = "none"
	Low      Risk = "low"
	Medium   Risk = "medium"
	High     Risk = "high"
	Critical Risk = "critical"
)

var riskOrder = map[Risk]int{None: 1, Low: 2, Medium: 3, High: 4, Critical: 5}

// Valid says whether r is one of the five.
func (r Risk) Valid() bool { return riskOrder[r] > 0 }

// Less says whether r is smaller than b.
func (r Risk) Less(b Risk) bool { return riskOrder[r] < riskOrder[b] }

// Family says which policy record a rule belongs to. Rules of the generic
// family are not overridable.
type Family string

// The families.
const (
	CodexFamily   Family = "codex"
	HostFamily    Family = "host"
	GenericFamily Family = "generic"
)

// Rule is one check. The same Pass always yields the same findings.
type Rule struct {
	ID             string // stable and never reused, for example "HOST-MCP-SERVER-ADDED"
	CheckID        string
	Family         Family
	Action         Action // default, and the floor of every policy (§10.4)
	Risk           Risk   // likewise
	Title          string // at most 60 bytes, no full stop; enters the policy digest
	Recommendation string // one sentence for the person; enters the policy digest
	// Kinds is every evidence kind the rule can report.
	Kinds []string
	// AgentSafe: an agent may repair a finding of this rule by itself (§7.6).
	// No shipped rule is.
	AgentSafe bool
	Check     func(*Pass)
}

// Finding is one thing a rule has to say about one path.
type Finding struct {
	Rule *Rule
	Path string
	Line int // one-based place for people; 0 when there is none. Not part of the result object.
	// Evidence begins with the member "kind".
	Evidence canonical.Object
	// Title and Recommendation replace the rule's own where they are not empty
	// (the adoption wording of rule 24).
	Title, Recommendation string
}

// Kind is the evidence kind of the finding.
func (f *Finding) Kind() string {
	k, _ := f.Evidence.Get("kind").(string)
	return k
}

// Pass is everything a rule may look at, and where it reports.
type Pass struct {
	// Surfaces is every touched protected path in every after-state, typed.
	Surfaces []*surface.Surface
	// Issues are the inputs that could not be read in full.
	Issues []surface.Issue
	// Codes is issues[] of the result so far, sorted: Issues' codes and those
	// that policy loading and content resolution add.
	Codes []string
	// Diagnostics of level warning or error so far, in result order; rule 27
	// takes its path from the first.
	Diagnostics []surface.Diagnostic
	// PolicyConflicts are the issue codes that make rule 11 report
	// boundary_policy_conflict; empty without a conflict.
	PolicyConflicts []string
	// PolicyInvalid is set when an explicit policy could not be used (rule 1).
	PolicyInvalid *PolicyInvalid
	// Adoption says that the change is proven to introduce the manifest (§5.3).
	Adoption bool
	// ProposalSafe is the path of a manifest that gains nothing but well-formed
	// tool sources, or loses nothing but rows of checks.ignore (§5.3); it needs no
	// catch-all row. Empty when there is none.
	ProposalSafe string

	current  *Rule
	findings []Finding
}

// PolicyInvalid says why an explicit policy is not used.
type PolicyInvalid struct {
	Path    string // as given with --policy
	Code    string // policy_missing, policy_load_failed or policy_unknown_fields
	Message string
}

// Report records a finding of the running rule.
func (p *Pass) Report(path string, line int, kind string, evidence ...canonical.Member) {
	p.ReportWith(Finding{Path: path, Line: line, Evidence: Evidence(kind, evidence...)})
}

// ReportWith records a finding that needs more than Report gives.
func (p *Pass) ReportWith(f Finding) {
	f.Rule = p.current
	p.findings = append(p.findings, f)
}

// Reported says whether a finding about path stands already, from any rule.
// Only the generic rules, which run last, may ask.
func (p *Pass) Reported(path string) bool {
	for i := range p.findings {
		if p.findings[i].Path == path {
			return true
		}
	}
	return false
}

// Findings is everything reported so far.
func (p *Pass) Findings() []Finding { return p.findings }

// Run runs the rules over the pass, in order.
func (p *Pass) Run(rules []*Rule) []Finding {
	for _, r := range rules {
		p.current = r
		r.Check(p)
	}
	return p.findings
}

// Evidence is an evidence object of the given kind.
func Evidence(kind string, members ...canonical.Member) canonical.Object {
	return append(canonical.Object{{Key: "kind", Value: kind}}, members...)
}

// With is one member of an evidence object.
func With(key string, value any) canonical.Member { return canonical.Member{Key: key, Value: value} }
