package report

import (
	"sync"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Input is what report.json, report.md, report.sarif and pr-comment.md are made
// of: the facts of the run and what was decided about them.
type Input struct {
	RunID       string // of the run; any text that the same inputs give again
	ManifestDir string // absolute, with slashes
	ConfigPath  string // the manifest, relative to the Git root
	Prefix      string // the manifest's folder relative to the Git root, "" for the root itself

	Head       *effect.Surface
	Base       *effect.Surface // nil without base facts
	Facts      []delta.Fact    // of Head with their digests, where they were made already; else nil
	Findings   []check.Finding // all, suppressed ones too; their places are relative to the Git root
	Aside      []check.Finding // set aside by NoHeuristics
	Summary    decision.Summary
	Decision   *decision.Decision
	Actions    *delta.Actions // places relative to the Git root
	PolicyGaps []effect.Issue

	NoHeuristics bool
	Policy       any         // the head's effective policy (§9.7) as it is printed; nil for null
	TrustRoots   []TrustRoot // touched, sorted by path
	Weakened     []string    // sentences: what of the policy became weaker
	Packs        []string    // loaded policy packs, by id
	Generated    map[string]string

	Each tool.Each // does independent work; nil for one after the other

	ordered sync.Once
	order   []shown
}

// TrustRoot is a changed file that is an input of the gate itself (§9.6).
type TrustRoot struct {
	Path  string `json:"path"`
	Class string `json:"class"`
	Glob  string `json:"matched_glob"`
}

// shown is a finding with its evidence as it may be shown.
type shown struct {
	*check.Finding
	evidence any
}

// findings is all findings in report order. Every report has the same ones.
func (in *Input) findings() []shown {
	in.ordered.Do(func() {
		order := decision.ReportOrder(in.Findings)
		in.order = make([]shown, len(order))
		in.Each.Do(len(order), func(i int) { in.order[i] = shownOf(order[i]) })
	})
	return in.order
}

func shownOf(f *check.Finding) shown {
	if f.Evidence == nil {
		return shown{f, map[string]any{}}
	}
	return shown{f, redact.Value("", f.Evidence)}
}

func (in *Input) facts() []delta.Fact {
	if in.Facts == nil {
		facts, _ := delta.FactsOf(in.Each, in.Head, nil)
		return facts
	}
	return in.Facts
}

// path is a place below the manifest's folder as a reader of the repository
// writes it.
func (in *Input) path(p string) string {
	if p == "" || in.Prefix == "" {
		return p
	}
	return in.Prefix + "/" + p
}
