package verify

import (
	"path"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
)

// reports are the files for readers: the whole report, and the same for people,
// for code scanning and for a pull request; and, where answers are missing, what
// to fill in.
func (a *artifacts) reports(v *report.Verifier, version string) error {
	in := a.in
	gaps := a.run.Decision.Coverage.Gaps
	names := []Artifact{
		{Name: "report.json", Key: "report_json"},
		{Name: "report.md", Key: "report_markdown"},
		{Name: "report.sarif", Key: "report_sarif"},
		{Name: "pr-comment.md", Key: "pr_comment_markdown"},
	}
	in.Generated = a.paths(names...)
	text, err := report.New(in).JSON()
	if err := a.add("report.json", "report_json", text, err); err != nil {
		return err
	}
	if err := a.add("report.md", "report_markdown", report.Markdown(in), nil); err != nil {
		return err
	}
	text, err = report.SARIF(in, version)
	if err := a.add("report.sarif", "report_sarif", text, err); err != nil {
		return err
	}
	v.Artifacts = a.paths(verifierFile, names[3])
	whole, err := report.NewVerifier(*v)
	if err != nil {
		return err
	}
	style := report.Style(a.run.Input.Options.Comment)
	if err := a.add("pr-comment.md", "pr_comment_markdown", report.Comment(in, whole, style), nil); err != nil {
		return err
	}
	if len(gaps) == 0 {
		return nil
	}
	if err := a.add("suggested-declarations.yaml", "suggested_declarations_yaml", decision.Declarations(gaps), nil); err != nil {
		return err
	}
	return a.add("suggested-inventory.json", "suggested_inventory_json", decision.Inventory(a.run.HeadSide.Surface), nil)
}

// reportInput is the run as the reports want it.
func (r *Run) reportInput() *report.Input {
	prefix := path.Dir(r.Input.ManifestPath)
	if prefix == "." {
		prefix = ""
	}
	in := &report.Input{
		ManifestDir: r.Input.Dir, ConfigPath: r.Input.ManifestPath, Prefix: prefix, Head: r.HeadSide.Surface,
		Findings: r.Evaluation.Findings, Aside: r.Evaluation.Aside, Summary: r.summary, Decision: r.Decision, Actions: r.Actions,
		PolicyGaps: check.PolicyGaps(r.Subject), NoHeuristics: r.Input.Options.NoHeuristics, Policy: r.Policies[1], TrustRoots: r.trustRoots(),
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
