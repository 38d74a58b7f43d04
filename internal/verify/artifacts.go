package verify

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/report"
	"plimsoll.dev/internal/verify/tool"
)

// Program is what ran: the facts that no input shows.
type Program struct {
	Version      string // of the gate
	Distribution string // names the build: version control and toolchain
	Dependencies string // every module with its sum
	Platform     string // GOOS/GOARCH
	Runtime      string // the toolchain's version
}

// Artifact is one file of a verification (docs/spec/verification.md §10).
type Artifact struct {
	Name string // file name in the reports folder
	Key  string // in artifacts{}
	Doc  canonical.Doc

	sha256 string // of Doc, in hex; "" until it is asked for
}

// Text is the bytes of the file.
func (a *Artifact) Text() []byte { return a.Doc.Bytes() }

// ArtifactNames are all files that a verification may write.
var ArtifactNames = []string{
	"report.json", "report.md", "report.sarif", "verifier.json", "verify-run.json", "pr-comment.md",
	"capabilities.lock.json", "base.capabilities.lock.json", "capability-lock-diff.json", "capability-lock-diff.md",
	"verification-plan.json", "verification-input.diff", "verification-base-report.json", "verification-unit-result.json",
	"verification-artifacts.json", "verification-receipt.json", "suggested-inventory.json", "suggested-declarations.yaml",
}

// artifacts collects what a run writes, in the order it is made.
type artifacts struct {
	run  *Run
	out  string // the reports folder as artifacts name it
	in   *report.Input
	list []Artifact

	verifier *report.Verifier // without ids and artifacts; not of a scan
	base     []delta.Fact     // of the base's side; those of the head are the run's
}

func (a *artifacts) add(name, key string, text []byte, err error) error {
	if err != nil {
		return err
	}
	return a.addDoc(name, key, canonical.Text(text), nil)
}

func (a *artifacts) addDoc(name, key string, doc canonical.Doc, err error) error {
	if err != nil {
		return err
	}
	a.list = append(a.list, Artifact{Name: name, Key: key, Doc: doc})
	return nil
}

// paths is artifacts{}: each key with its path.
func (a *artifacts) paths(more ...Artifact) map[string]string {
	m := map[string]string{}
	for _, x := range append(slices.Clone(a.list), more...) {
		m[x.Key] = path.Join(a.out, x.Name)
	}
	return m
}

// digest takes the digest of every file that has none yet.
func (a *artifacts) digest() {
	a.run.Input.Each.Do(len(a.list), func(i int) {
		if x := &a.list[i]; x.sha256 == "" {
			x.sha256 = x.Doc.SHA256()
		}
	})
}

// refs is the same with the digest of every file that is there already.
func (a *artifacts) refs() map[string]report.ArtifactRef {
	a.digest()
	m := map[string]report.ArtifactRef{}
	for _, x := range a.list {
		m[x.Key] = report.ArtifactRef{Path: path.Join(a.out, x.Name), SHA256: report.Text("sha256:" + x.sha256)}
	}
	return m
}

// Artifacts makes every file of the run. out is the reports folder as artifacts
// name it. The first error is a contradiction of our own.
func (r *Run) Artifacts(out string, p Program) ([]Artifact, error) {
	a := &artifacts{run: r, out: out}
	switch {
	case r.Decision == nil && r.Input.Options.Scan:
		return nil, nil // nothing was read, and there is no change to speak of
	case r.Decision == nil:
		return a.undecided(r.verifier(nil))
	}
	a.in = r.reportInput()
	var plan *report.Plan
	var err error
	begin := []func(){
		func() { r.Decision.Keep(r.Input.Each) },
		func() { plan, err = report.NewPlan(r.gitSubject(), r.inputSet(), p.engine()) },
	}
	if r.Input.Options.Scan {
		a.atOnce(begin)
	} else {
		a.atOnce(append([]func(){a.describe, func() { a.verifier = r.verifier(a.in) }}, begin...))
	}
	if err != nil {
		return nil, err
	}
	a.in.RunID = plan.RequestID
	if r.Input.Options.Scan {
		return a.scanned(p.Version)
	}
	return a.verified(plan, p)
}

// atOnce takes steps that need nothing of each other.
func (a *artifacts) atOnce(steps []func()) {
	a.run.Input.Each.Do(len(steps), func(i int) { steps[i]() })
}

// verified is what a verification writes. All but what names the digests of the
// rest is made at once, and what takes longest comes first.
func (a *artifacts) verified(plan *report.Plan, p Program) ([]Artifact, error) {
	r, v := a.run, a.verifier
	var unit report.UnitResult
	ran := sync.OnceValues(func() (*report.VerifyRun, error) {
		unit = report.NewUnitResult(r.unit(plan.Tasks[0].TaskID))
		return report.NewVerifyRun(plan, hashed(p.Runtime), []report.UnitResult{unit}, report.OutcomeOf(v, r.ExitCode), nil)
	})
	whole, locks := a.whole(p.Version), a.locks()
	rest := append(a.suggestions(), &making{
		Artifact: Artifact{Name: "verification-unit-result.json", Key: "verification_unit_result_json"},
		text: func() (canonical.Doc, error) {
			if _, err := ran(); err != nil {
				return canonical.Doc{}, err
			}
			return unit.Doc(r.Input.Each)
		},
	}, &making{
		Artifact: Artifact{Name: "verification-plan.json", Key: "verification_plan_json"},
		text:     func() (canonical.Doc, error) { return textOf(plan.JSON()) },
	}, a.comment())
	names := a.paths(slices.Concat(a.lockNames(), artifactsOf(whole), artifactsOf(rest), []Artifact{verifierFile, runFile, setFile, receiptFile})...)
	last := []*making{{Artifact: verifierFile, text: func() (canonical.Doc, error) {
		run, err := ran()
		if err != nil {
			return canonical.Doc{}, err
		}
		own := *v
		own.Identity = report.Identity{
			RequestID: report.Text(run.RequestID), SubjectID: report.Text(plan.Subject.SubjectID), InputSetID: report.Text(plan.Inputs.InputSetID),
			EngineRequirementID: report.Text(plan.Engine.EngineRequirementID), ExecutorID: report.Text(run.Executor.ExecutorID),
		}
		own.DecisionID = report.Text(run.DecisionID)
		own.Artifacts = names
		return a.verifierDoc(&own)
	}}}
	if err := a.make(slices.Concat(whole, rest, last, locks.files)); err != nil {
		return nil, err
	}
	if err := a.compared(locks); err != nil {
		return nil, err
	}
	a.put(whole)
	a.put(rest)
	run, _ := ran()
	run.Artifacts = a.refs()
	text, err := run.JSON()
	if err := a.add(runFile.Name, runFile.Key, text, err); err != nil {
		return nil, err
	}
	a.put(last)
	return a.list, a.seal(run)
}

// The files that name other files, and are named before they are made.
var (
	verifierFile = Artifact{Name: "verifier.json", Key: "verifier_json"}
	runFile      = Artifact{Name: "verify-run.json", Key: "verify_run_json"}
	setFile      = Artifact{Name: "verification-artifacts.json", Key: "verification_artifacts_json"}
	receiptFile  = Artifact{Name: "verification-receipt.json", Key: "verification_receipt_json"}
)

// undecided is what a run without a decision writes: the verifier, and the comment
// that says why.
func (a *artifacts) undecided(v *report.Verifier) ([]Artifact, error) {
	v.Artifacts = a.paths(verifierFile)
	whole, err := report.NewVerifier(*v)
	if err != nil {
		return nil, err
	}
	comment := report.Comment(nil, whole, report.Style(a.run.Input.Options.Comment))
	if err := a.add(commentFile.Name, commentFile.Key, comment, nil); err != nil {
		return nil, err
	}
	v.Artifacts = a.paths(verifierFile)
	doc, err := a.verifierDoc(v)
	return a.list, a.addDoc(verifierFile.Name, verifierFile.Key, doc, err)
}

// verifierDoc is verifier.json: an artifact that contradicts itself is none.
func (a *artifacts) verifierDoc(v *report.Verifier) (canonical.Doc, error) {
	whole, err := report.NewVerifier(*v)
	if err != nil {
		return canonical.Doc{}, err
	}
	return whole.Doc(a.run.Input.Each)
}

// seal lists every file under one id and says what came out of the request.
func (a *artifacts) seal(run *report.VerifyRun) error {
	a.digest()
	files := make([]report.ArtifactFile, len(a.list))
	for i, x := range a.list {
		files[i] = report.ArtifactFile{Path: path.Join(a.out, x.Name), SHA256: "sha256:" + x.sha256, Size: int64(x.Doc.Len())}
	}
	set := report.NewArtifactManifest(files)
	text, err := set.JSON()
	if err := a.add(setFile.Name, setFile.Key, text, err); err != nil {
		return err
	}
	text, err = report.NewReceipt(report.Receipt{
		RequestID: run.RequestID, ExecutorID: run.Executor.ExecutorID, UnitResultIDs: run.UnitResultIDs,
		DecisionID: run.DecisionID, ArtifactSetID: set.ArtifactSetID,
	}).JSON()
	return a.add(receiptFile.Name, receiptFile.Key, text, err)
}

// verifier is verifier.json without ids and artifacts. whole is nil for a run that
// decided nothing.
func (r *Run) verifier(whole *report.Input) *report.Verifier {
	in := r.Input
	v := &report.Verifier{
		Workspace: in.Workspace, Config: in.Config, Mode: r.Mode, BaseRef: report.Text(in.BaseRef), HeadRef: in.HeadRef,
		BaseStatus: r.BaseStatus, HeadStatus: string(r.Execution), HeadExitCode: r.ExitCode, Execution: string(r.Execution),
		Applicability: string(r.Applicability), MergeVerdict: string(r.Verdict), CanMerge: r.CanMerge, Headline: report.Text(r.Headline),
		ReleaseDecision: r.Decision, FixTask: r.Fix, Control: r.Control, DiffStatus: r.Diff, DiffTextAvailable: len(in.DiffText) > 0,
		ChangedFiles: in.ChangedFiles, Trigger: r.trigger(), BaseNotes: r.BaseNotes,
		BaseTree: report.Text(in.Git.BaseTree), HeadTree: report.Text(in.Git.HeadTree), ForbiddenActions: forbiddenActions,
		ForbiddenEdits: surface.RootPatterns(surface.ClassCIGate, surface.ClassInstructions, surface.ClassPolicy, surface.ClassHostBoundary),
	}
	if whole != nil {
		v.Decision = report.Text(r.Decision.Decision)
		v.AgentSummary, v.ReviewerSummary = whole.AgentSummary(), whole.ReviewerSummary()
		v.CapabilityReview = r.capabilityReview(whole)
	}
	return v
}

// forbiddenActions are what no caller may do on its own, whatever the verdict.
var forbiddenActions = []string{
	"merge", "report_complete_without_control_complete", "suppress_finding", "lower_severity", "add_waiver", "expand_baseline",
	"weaken_policy", "remove_ci_gate", "weaken_agent_instructions", "assert_effect", "assert_authority", "assert_approval",
	"assert_confirmation", "assert_idempotency",
}

// trigger is why the run is owed: what check's catalogue says of the change.
// Without the whole change nothing is said (§9.4).
func (r *Run) trigger() report.Trigger {
	if r.Diff.Completeness != complete || len(r.Gate) == 0 {
		return report.Trigger{EvaluationStatus: "not_evaluated"}
	}
	t := report.Trigger{EvaluationStatus: "evaluated"}
	should := false
	for _, res := range r.Gate {
		if res.Trigger == nil {
			continue
		}
		should = should || res.Trigger.ShouldRun
		t.Rationale = report.Text(res.Trigger.Rationale)
		for _, m := range res.Trigger.MatchedRules {
			t.RuleIDs = append(t.RuleIDs, m.ID)
		}
		switch {
		case res.Trigger.ForceRun:
			t.Action = "force_run"
		case res.Trigger.RunShipgate && t.Action == "":
			t.Action = "run_shipgate"
		}
	}
	t.RuleIDs, t.ShouldRun = set(t.RuleIDs), &should
	return t
}

// capabilityReview is what the change does to capabilities, and what a reviewer
// would not see from that alone.
func (r *Run) capabilityReview(whole *report.Input) report.CapabilityReview {
	change := report.ChangeOf(whole)
	c := change.Review()
	c.TrustRootTouched, c.PolicyWeakened = r.TrustRootTouched, r.PolicyWeakened
	c.WeakeningProven = r.PolicyWeakened && r.Policies[0] != nil
	if !r.Actions.Enabled && r.Actions.Note != "" {
		c.Notes = append(c.Notes, r.Actions.Note)
	}
	for _, note := range []string{r.unbound(), r.outside(), r.empty()} {
		if note != "" {
			c.Notes = append(c.Notes, note)
		}
	}
	for _, w := range r.Evaluation.Refused {
		c.Notes = append(c.Notes, fmt.Sprintf("The waiver of %s in checks.ignore[%d] does not count: %s", w.CheckID, w.Index, w.Why))
	}
	return c
}

// gitSubject names what was verified by its objects.
func (r *Run) gitSubject() report.GitSubject {
	in := r.Input
	g := report.GitSubject{
		RepositoryID: repositoryID(r.HeadSide.Surface.Manifest), SnapshotKind: report.CommittedTree, BaseRef: report.Text(in.BaseRef),
		BaseCommit: report.Text(in.Git.BaseCommit), BaseTree: report.Text(in.Git.BaseTree), HeadRef: in.HeadRef,
		HeadCommit: report.Text(in.Git.HeadCommit), HeadTree: report.Text(in.Git.HeadTree), MergeBase: report.Text(in.Git.MergeBase),
		SourceHeadCommit: report.Text(in.Git.HeadCommit),
	}
	if in.HeadRef == "" {
		g.HeadRef, g.SnapshotKind = "HEAD", report.WorktreeOverlay
		g.WorktreeOverlay = report.Text("sha256:" + digest(append(slices.Clone(in.DiffText), canonical.UTF8.String(overlay(r.changedBlobs()))...)))
	}
	return g
}

// overlay is what lies over the commit, by content.
func overlay(blobs []report.Blob) []any {
	list := make([]any, len(blobs))
	for i, b := range blobs {
		list[i] = []any{b.Path, b.SHA256}
	}
	return list
}

// repositoryID names the repository by what its manifest says: nothing of the
// clone it lies in.
func repositoryID(m *manifest.Manifest) string {
	if m.Project.Repo != "" {
		return m.Project.Repo
	}
	return m.Project.Name
}

// inputSet is everything that was read, by content.
func (r *Run) inputSet() report.InputSet {
	in := r.Input
	from := "git_blob"
	if in.HeadRef == "" {
		from = "worktree"
	}
	dir := path.Dir(in.ManifestPath)
	packs := map[string]bool{}
	for _, p := range r.HeadSide.Packs {
		packs[path.Clean(p.Path)] = true
	}
	s := report.InputSet{
		Diff:         report.Blob{Path: "verification-input.diff", Source: "generated", SHA256: hashed(string(in.DiffText)), Size: int64(len(in.DiffText))},
		ChangedFiles: r.changedBlobs(), ChangedPaths: in.ChangedFiles, Options: r.options(), EvaluationDate: in.Options.Today,
	}
	for _, f := range r.HeadSide.Files {
		b := report.Blob{Path: path.Join(dir, f.Path), Source: from, SHA256: "sha256:" + f.SHA256, Size: f.Size}
		switch {
		case b.Path == in.ManifestPath:
			s.Config = b
		case packs[f.Path]:
			s.PolicyPacks = append(s.PolicyPacks, b)
		default:
			s.ToolSources = append(s.ToolSources, b)
		}
	}
	if e := in.Options.Earlier; e != nil {
		s.DiffFrom = &report.Blob{Path: e.path, Source: "external_input", SHA256: "sha256:" + e.sha256, Size: e.size}
	}
	if in.Options.Baseline != nil {
		s.Baseline = &report.Blob{
			Path: in.Options.BaselinePath, Source: "external_input", SHA256: hashed(string(in.Options.Baseline)), Size: int64(len(in.Options.Baseline)),
		}
	}
	return s
}

// changedBlobs are the changed files that the head still has. They are read
// once: the subject and the input set name the same bytes.
func (r *Run) changedBlobs() []report.Blob {
	if r.changed != nil {
		return r.changed
	}
	from := "git_blob"
	if r.Input.HeadRef == "" {
		from = "worktree"
	}
	r.changed = []report.Blob{}
	for _, name := range r.Input.ChangedFiles {
		if text, ok := readWhole(r.Input.HeadRoot, name); ok {
			r.changed = append(r.changed, report.Blob{Path: name, Source: from, SHA256: hashed(string(text)), Size: int64(len(text))})
		}
	}
	return r.changed
}

func readWhole(root fs.FS, name string) ([]byte, bool) {
	if root == nil {
		return nil, false
	}
	text, failed := tool.ReadFile(root, name)
	return text, failed == nil
}

// options are the flags that judgement depends on.
func (r *Run) options() map[string]string {
	o := r.Input.Options
	m := map[string]string{"ci_mode": r.Mode}
	if o.FailOn != nil {
		m["fail_on"] = strings.Join(severityWords(o.FailOn), ",")
	}
	for name, on := range map[string]bool{"new_findings_only": o.NewOnly, "no_heuristics": o.NoHeuristics, "suggest_patches": o.Patches} {
		if on {
			m[name] = "true"
		}
	}
	return m
}

func severityWords(list []check.Severity) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// unit is what the evaluation found, before anything was decided.
func (r *Run) unit(task string) report.UnitResult {
	u := report.UnitResult{TaskID: task, SourceWarnings: len(r.HeadSide.Surface.Reading.Warnings)}
	for i := range r.Evaluation.Findings {
		f := &r.Evaluation.Findings[i]
		row := report.UnitFinding{
			ID: f.ID, Fingerprint: f.Fingerprint, CheckID: f.CheckID, Severity: string(f.Severity),
			Suppressed: f.Suppressed, BaselineStatus: report.Text(f.BaselineStatus),
		}
		if f.Support != nil {
			row.SupportHash = report.Text(f.Support.Hash)
		}
		u.Findings = append(u.Findings, row)
	}
	for _, g := range r.Decision.Coverage.Gaps {
		gap := report.UnitGap{Kind: g.Kind, Subject: g.Subject}
		if g.SourceRef != nil {
			gap.SourceRef = report.Text(*g.SourceRef)
		}
		u.Gaps = append(u.Gaps, gap)
	}
	for i := range r.facts {
		u.Capabilities = append(u.Capabilities, report.UnitFact{ID: r.facts[i].ID, Hash: r.facts[i].Digest})
	}
	for _, t := range r.HeadSide.Surface.Tools() {
		u.ToolInventory = append(u.ToolInventory, t.ID)
	}
	return u
}

func hashed(text string) string { return "sha256:" + digest([]byte(text)) }

// engine is what has to run so that the same inputs give the same decision.
func (p Program) engine() report.Engine {
	var catalog []any
	for _, c := range check.Catalogue() {
		catalog = append(catalog, []any{c.ID, string(c.Severity), string(c.Floor), c.HumanAlways})
	}
	return report.Engine{
		Package: "agents-shipgate", Version: p.Version, Distribution: hashed(p.Distribution),
		AdapterSet: hashed(strings.Join(manifest.SourceTypes(), "\n")), DependencySet: hashed(p.Dependencies), PluginSet: hashed(""),
		PolicyCatalog: "sha256:" + canonical.Compact.SHA256(catalog), Platform: p.Platform,
		PythonImplementation: "none", PythonVersion: "0",
	}
}
