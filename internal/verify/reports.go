package verify

import (
	"path"

	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
)

// reports are the files for readers: the whole report, and the same for people,
// for code scanning and for a pull request; and, where answers are missing, what
// to fill in.
func (a *artifacts) reports(v *report.Verifier, version string) error {
	comment := Artifact{Name: "pr-comment.md", Key: "pr_comment_markdown"}
	if err := a.whole(version, append(reportFiles(), comment)); err != nil {
		return err
	}
	v.Artifacts = a.paths(verifierFile, comment)
	whole, err := report.NewVerifier(*v)
	if err != nil {
		return err
	}
	style := report.Style(a.run.Input.Options.Comment)
	if err := a.add(comment.Name, comment.Key, report.Comment(a.in, whole, style), nil); err != nil {
		return err
	}
	return a.suggestions()
}

// suggestions are what would close the gaps; there are none without gaps.
func (a *artifacts) suggestions() error {
	gaps := a.run.Decision.Coverage.Gaps
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
