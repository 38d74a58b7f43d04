package verify

import (
	"path"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
)

// commentFile is named by the report, and made after it.
var commentFile = Artifact{Name: "pr-comment.md", Key: "pr_comment_markdown"}

// whole is the report for programs, for people and for code scanning. It names
// itself, what a change is compared by, and the comment.
func (a *artifacts) whole(version string) []*making {
	in, names := a.in, reportFiles
	if !a.run.Input.Options.Scan {
		names = slices.Concat(names, a.lockNames(), []Artifact{commentFile})
	}
	in.Generated = a.paths(names...)
	texts := []func() (canonical.Doc, error){
		func() (canonical.Doc, error) { return report.New(in).Doc() },
		func() (canonical.Doc, error) { return textOf(report.Markdown(in), nil) },
		func() (canonical.Doc, error) { return report.SARIF(in, version) },
	}
	list := make([]*making, len(texts))
	for i, text := range texts {
		list[i] = &making{reportFiles[i], text}
	}
	return list
}

// reportFiles are the whole report in its three forms.
var reportFiles = []Artifact{
	{Name: "report.json", Key: "report_json"},
	{Name: "report.md", Key: "report_markdown"},
	{Name: "report.sarif", Key: "report_sarif"},
}

// comment is what stands on a pull request.
func (a *artifacts) comment() *making {
	return &making{commentFile, func() (canonical.Doc, error) {
		own := *a.verifier
		own.Artifacts = a.paths(verifierFile, commentFile)
		whole, err := report.NewVerifier(own)
		if err != nil {
			return canonical.Doc{}, err
		}
		return canonical.Text(report.Comment(a.in, whole, report.Style(a.run.Input.Options.Comment))), nil
	}}
}

// suggestions are what would close the gaps; there are none without gaps.
func (a *artifacts) suggestions() []*making {
	gaps := a.run.Decision.Coverage.Gaps
	if len(gaps) == 0 {
		return nil
	}
	return []*making{
		{
			Artifact: Artifact{Name: "suggested-declarations.yaml", Key: "suggested_declarations_yaml"},
			text:     func() (canonical.Doc, error) { return textOf(decision.Declarations(gaps), nil) },
		},
		{
			Artifact: Artifact{Name: "suggested-inventory.json", Key: "suggested_inventory_json"},
			text:     func() (canonical.Doc, error) { return textOf(decision.Inventory(a.run.HeadSide.Surface), nil) },
		},
	}
}

// reportInput is the run as the reports want it.
func (r *Run) reportInput() *report.Input {
	prefix := path.Dir(r.Input.ManifestPath)
	if prefix == "." {
		prefix = ""
	}
	in := &report.Input{
		ManifestDir: r.Input.Dir, ConfigPath: r.Input.ManifestPath, Prefix: prefix, Head: r.HeadSide.Surface,
		Facts: r.facts, Findings: r.Evaluation.Findings, Aside: r.Evaluation.Aside, Summary: r.summary, Decision: r.Decision, Actions: r.Actions,
		Each: r.Input.Each, PolicyGaps: r.policyGaps, NoHeuristics: r.Input.Options.NoHeuristics, Policy: r.Policies[1], TrustRoots: r.trustRoots(),
	}
	if r.BaseSide != nil {
		in.Base = r.BaseSide.Surface
	}
	for _, p := range r.HeadSide.Packs {
		in.Packs = append(in.Packs, p.Name)
	}
	for i := range r.Evaluation.Findings {
		if f := &r.Evaluation.Findings[i]; weakens(f.CheckID) {
			in.Weakened = append(in.Weakened, f.Title)
		}
	}
	return in
}

// trustRoots are the changed files that are inputs of the gate itself.
func (r *Run) trustRoots() []report.TrustRoot {
	var roots []report.TrustRoot
	for i := range r.Evaluation.Findings {
		f := &r.Evaluation.Findings[i]
		if f.CheckID != trustRootTouched {
			continue
		}
		word := func(key string) string { s, _ := f.Evidence[key].(string); return s }
		roots = append(roots, report.TrustRoot{Path: word("changed_file"), Class: word("trust_root_class"), Glob: word("matched_glob")})
	}
	return roots
}
