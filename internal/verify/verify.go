// Package verify answers a reviewer's question about a change: what can the
// agents of this repository do now that they could not do before, and may it be
// released (docs/spec/verification.md §9)?
//
// Verify is a pure function of both sides' trees and of what check reads of the
// change. It runs nothing of the repository and opens nothing but the files that
// it is given; the verdict covers static evidence only.
package verify

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/report"
	"plimsoll.dev/internal/verify/tool"
)

// Input is everything that Verify looks at.
type Input struct {
	Workspace    string // as artifacts and commands name it
	Config       string // as given, relative to the workspace
	ManifestPath string // repository-relative
	Dir          string // the manifest's folder, absolute, with slashes
	Reports      string // the reports folder as artifacts and texts name it

	Head, Base         fs.FS  // rooted at the manifest's folder; Base is nil without one
	HeadRoot, BaseRoot fs.FS  // rooted at the repository
	BaseMissing        string // why Base is nil: not_requested or ref_missing
	BaseRef, HeadRef   string // as given or chosen; HeadRef is "" for the working tree
	Git                GitIDs
	Elsewhere          string // id of a named head that the working tree has not checked out; else ""

	Changes      []*gate.Input // what check judges
	ChangedFiles []string      // sorted, repository-relative
	DiffText     []byte        // the texts of the change, in order
	Gap          *Gap          // nil when the change was read in full

	Options Options
	Each    tool.Each // does independent work; nil for one after the other
	Ahead   *Ahead    // Head, as it was read already; nil when it was not

	beside *Beside // the state of the head that is judged, when it is not the working tree
}

// GitIDs are the objects that the sides are; "" for what there is not.
type GitIDs struct{ BaseCommit, BaseTree, HeadCommit, HeadTree, MergeBase string }

// Gap says why the change could not be read. Reason is one of §9.4.
type Gap struct {
	Reason, Detail string
	Needs          []string // what a fetch has to bring
}

// Options are the flags of the run that judgement depends on.
type Options struct {
	Mode         string           // advisory or strict; "" for the manifest's
	FailOn       []check.Severity // nil for the manifest's
	NewOnly      bool             // --baseline-mode new-findings
	NoHeuristics bool
	Patches      bool
	Preview      bool
	Scan         bool   // one tree, no change: nothing is compared (§9.8)
	Today        string // YYYY-MM-DD, UTC
	Comment      string // style of the comment on a pull request

	Packs        []string // policy packs besides the manifest's, relative to its folder
	Baseline     []byte   // the accepted baseline; nil for none
	BaselinePath string
	Earlier      *Earlier // what stands for a base that cannot be read; nil for nothing
}

// Run is one verification: every decision that its artifacts show.
type Run struct {
	Input *Input

	Mode          string
	Execution     Execution
	Applicability Applicability
	Verdict       MergeVerdict
	CanMerge      bool
	BaseStatus    string
	BaseNotes     []string
	Diff          report.DiffStatus
	ExitCode      int

	HeadSide, BaseSide *Side // nil when they were not loaded
	Gate               []*gate.Result
	Policies           [2]*EffectivePolicy // base and head
	Subject            *check.Subject
	Evaluation         *check.Evaluation
	Decision           *decision.Decision // nil when nothing was decided
	Actions            *delta.Actions
	summary            decision.Summary
	policyGaps         []effect.Issue
	head               *loading      // what the head was read from
	changed            []report.Blob // see changedBlobs
	facts              []delta.Fact  // of the head, as the artifacts repeat them
	TrustRootTouched   bool
	PolicyWeakened     bool
	Fix                *report.FixTask // nil when nothing is left to do
	Control            control.Control
	Headline           string

	// Err is why the run failed: what Load says, or ErrNoManifest.
	Err error
}

// complete is the completeness of a change that was read in full.
const complete = "complete"

var errUnread = errors.New("verify: a decision to pass on a change that was not read in full")

// Verify judges the change. The error is an invariant of our own that does not
// hold; everything else is a Run, however it ended.
func Verify(in Input) (*Run, error) {
	if in.Options.Scan {
		in.alone()
	}
	r := &Run{Input: &in, Mode: in.Options.Mode, Diff: completeDiff(), Verdict: UnknownVerdict, Actions: &delta.Actions{Note: delta.NoBase}}
	if r.Mode == "" {
		r.Mode = "advisory"
	}
	r.BaseStatus = in.BaseMissing
	if in.Gap != nil {
		r.Diff = gapStatus("unavailable", in.Gap.Reason, in.Gap.Detail)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if in.Options.Preview {
		return r, r.preview()
	}
	if in.Gap != nil {
		return r, r.unread()
	}
	if r.loadSides(); r.Err != nil {
		return r, r.unloaded()
	}
	if err := r.judge(); err != nil {
		return nil, err
	}
	return r, r.conclude()
}

// check asks the boundary what it says of the same change.
func (r *Run) check() error {
	for _, in := range r.Input.Changes {
		res, err := gate.Check(*in)
		if err != nil {
			return err
		}
		r.Gate = append(r.Gate, res)
		if res.InputCoverage != gate.CoverageComplete && r.Diff.Completeness == complete {
			r.Diff = gapStatus("partial", partialReason(res.Issues), "The boundary check could not read: "+joined(res.Issues)+".")
		}
	}
	return nil
}

// partialReason is the reason of §9.4 that stands for what check could not read.
func partialReason(codes []string) string {
	for _, c := range codes {
		if c == "boundary_input_oversized" || c == "boundary_diff_oversized" {
			return "body_limit_exceeded"
		}
	}
	return "git_failed"
}

func joined(codes []string) string {
	if len(codes) == 0 {
		return "a host's configuration"
	}
	s := codes[0]
	for _, c := range codes[1:min(len(codes), 5)] {
		s += ", " + c
	}
	return s
}

func firstLine(s string) string {
	for i := range len(s) {
		if s[i] == '\n' {
			return s[:i]
		}
	}
	return s
}

// judge evaluates the head against the base and decides.
func (r *Run) judge() error {
	in := r.Input
	m := r.HeadSide.Surface.Manifest
	if in.Options.Mode == "" {
		r.Mode = m.CI.Mode
	}
	r.Policies[1] = policyOf(m, baselineOf(in.Head), gatePresent(in.HeadRoot))
	r.Subject = &check.Subject{Surface: r.HeadSide.Surface, Today: in.Options.Today, Packs: r.HeadSide.Packs, Diff: r.Actions}
	if r.BaseSide != nil {
		base := r.BaseSide.Surface
		r.Policies[0] = policyOf(base.Manifest, baselineOf(in.Base), gatePresent(in.BaseRoot))
		r.Actions = delta.DiffActions(base, r.HeadSide.Surface)
		r.Subject.Base, r.Subject.Diff = base, r.Actions
	}
	c := &compared{
		changed: in.ChangedFiles, manifest: in.ManifestPath, exempt: r.exempt(), head: r.HeadSide, base: r.BaseSide,
		roots: [2]fs.FS{in.BaseRoot, in.HeadRoot}, policies: r.Policies,
		introduced: r.BaseStatus == "missing_manifest",
	}
	r.compareEarlier()
	head := r.HeadSide.Surface
	head.Warnings = append(append(head.Warnings, r.undeclared()...), r.offered()...)
	var extra []check.Finding
	if !in.Options.Scan {
		extra = append(c.findings(), boundaryFindings(r.Gate)...)
	}
	opt := check.Options{Extra: extra, Each: in.Each, Patches: in.Options.Patches, Dir: in.Dir, NoHeuristics: in.Options.NoHeuristics}
	delta := decision.BaselineDelta{}
	if in.Options.Baseline != nil {
		b, err := check.ReadBaseline(in.Options.Baseline)
		if err != nil {
			return err
		}
		opt.Baseline, opt.BaselinePath = b, in.Options.BaselinePath
		opt.Integrity, opt.BaselinePath = r.integrity(), in.Options.BaselinePath
		delta.Enabled, delta.Path = true, &in.Options.BaselinePath
	}
	var err error
	var before *[]decision.Gap
	var survey *decision.Survey
	parts := []func(){
		func() { r.Evaluation, err = check.Evaluate(r.Subject, opt) },
		func() {
			before = r.gapsBefore()
			r.policyGaps = check.PolicyGaps(r.Subject)
			survey = decision.SurveyOf(r.open())
		},
	}
	in.Each.Do(len(parts), func(i int) { parts[i]() })
	if err != nil {
		return err
	}
	r.rooted()
	if got := r.Evaluation.Baseline; got != nil {
		delta.Matched, delta.New, delta.Resolved = got.Matched, got.New, got.Resolved
	}
	r.decide(delta, before, survey)
	return nil
}

// gapsBefore are the gaps that the base had besides those of what the head has
// alike; nil without a base.
func (r *Run) gapsBefore() *[]decision.Gap {
	if r.BaseSide == nil {
		return nil
	}
	base, head := r.BaseSide.Surface, r.HeadSide.Surface
	own := *base
	own.Actions = slices.DeleteFunc(slices.Clone(base.Actions), func(a *effect.Action) bool { return head.Shares(a.Tool) })
	subject := &check.Subject{Surface: &own, Today: r.Subject.Today, Packs: r.BaseSide.Packs, Diff: &delta.Actions{}}
	gaps := decision.GapsBefore(decision.Input{
		Head: base, Other: head, PolicyGaps: check.PolicyGaps(subject), ConfigPath: r.Input.ManifestPath, Each: r.Input.Each,
	})
	return &gaps
}

// open is what a decision looks at besides findings.
func (r *Run) open() decision.Input {
	in := decision.Input{Head: r.HeadSide.Surface, PolicyGaps: r.policyGaps, ConfigPath: r.Input.ManifestPath, Each: r.Input.Each}
	if r.BaseSide != nil {
		in.Other = r.BaseSide.Surface
	}
	return in
}

// decide makes the release decision, and says which gaps this change brought.
func (r *Run) decide(baseline decision.BaselineDelta, before *[]decision.Gap, survey *decision.Survey) {
	m := r.HeadSide.Surface.Manifest
	r.summary = decision.Summarize(r.Evaluation.Findings, r.HeadSide.Surface)
	in := r.open()
	in.Findings, in.Summary, in.BaseGaps, in.Survey, in.Baseline = r.Evaluation.Findings, r.summary, before, survey, baseline
	in.Mode, in.FailOn = r.Mode, decision.FailOn(r.Input.Options.FailOn, severities(m.CI.FailOn), r.Mode)
	in.NewOnly = r.Input.Options.NewOnly
	r.Decision = decision.Decide(in)
	r.ExitCode = r.Decision.FailPolicy.ExitCode
}

// exempt are manifests and instructions that check itself lets pass without a
// row: what it has judged already is no question to a person here.
func (r *Run) exempt() []string {
	var paths []string
	for _, res := range r.Gate {
		for _, d := range res.Diagnostics {
			switch d.Code {
			case "proposal_safe_manifest_addition", "manifest_ignores_less", "version_synced_instruction_document":
				paths = append(paths, d.Path)
			}
		}
	}
	// A path with a row of its own is judged, whatever a diagnostic of the other
	// half of the change says.
	return slices.DeleteFunc(paths, func(p string) bool {
		return slices.ContainsFunc(r.Gate, func(res *gate.Result) bool {
			return slices.ContainsFunc(res.Violations, func(v gate.Violation) bool { return v.Path == p })
		})
	})
}

// command is the command that verifies the same subject again.
func (r *Run) command() Command {
	c := Command{Workspace: r.Input.Workspace, Config: r.Input.Config, Base: r.Input.BaseRef, Head: r.Input.HeadRef}
	if r.Input.HeadRef == "" && r.Input.BaseRef == "HEAD" {
		c.Base = "" // the working tree is compared with its own commit unless something else is named
	}
	return c
}

// Preview is the command that says what a manifest would have to declare.
func (r *Run) Preview() string { return r.command().Preview() }

// Initialize is the command that writes a first manifest.
func (r *Run) Initialize() string { return r.command().initialize() }

// Gating are the findings that decided: blockers, then review items.
func (r *Run) Gating() []check.Finding {
	var out []check.Finding
	for _, f := range r.gating() {
		out = append(out, *f)
	}
	return out
}

func (r *Run) gating() []*check.Finding {
	byID := make(map[string]*check.Finding, len(r.Evaluation.Findings))
	for i := range r.Evaluation.Findings {
		byID[r.Evaluation.Findings[i].ID] = &r.Evaluation.Findings[i]
	}
	out := make([]*check.Finding, 0, len(r.Decision.Blockers)+len(r.Decision.ReviewItems))
	for _, items := range [][]decision.Item{r.Decision.Blockers, r.Decision.ReviewItems} {
		for i := range items {
			if f := byID[items[i].ID]; f != nil {
				out = append(out, f)
			}
		}
	}
	return out
}

// conclude projects the decision onto what may happen next (§9.3).
func (r *Run) conclude() error {
	r.Execution, r.Applicability = Succeeded, Verified
	r.Verdict = verdictOf(r.Decision.Decision)
	for i := range r.Evaluation.Findings {
		switch id := r.Evaluation.Findings[i].CheckID; {
		case id == trustRootTouched:
			r.TrustRootTouched = true
		case weakens(id):
			r.PolicyWeakened = true
		}
	}
	passed := r.Decision.Decision == decision.Passed
	unsafe := r.TrustRootTouched || r.PolicyWeakened || r.Diff.Completeness != complete
	r.Fix = r.besides(fixTask(r.Decision, r.gating(), unsafe, r.target(), r.command().String()))
	r.CanMerge = passed && r.Diff.Completeness == complete
	if passed && !r.CanMerge {
		// What check could not read always has a row that a person looks at.
		return errUnread
	}
	o := control.Outcome{
		Reason:      r.reason(r.Decision.Reason),
		Publishable: r.Diff.Completeness == complete && r.Decision.Decision != decision.Blocked,
		Evaluated:   r.CanMerge,
		Rerun:       r.command().String(),
	}
	switch {
	case r.CanMerge:
	case r.Fix.Actor == control.CodingAgent:
		o.Route = &control.Action{Kind: control.Repair, Command: string(r.Fix.Command), Why: r.Fix.Instructions[0]}
		o.Owed = true
	default:
		o.Person = &control.Person{Why: r.why(), Reviewers: r.reviewers()}
	}
	r.Headline = o.Reason
	return r.control(o)
}

// why is what a person is asked: the first thing that is open.
func (r *Run) why() string {
	if len(r.Fix.Instructions) > 0 {
		return r.Fix.Instructions[0]
	}
	return r.Decision.Reason
}

// reviewers are who check asks, and the teams of the organization.
func (r *Run) reviewers() []string {
	var who []string
	for _, res := range r.Gate {
		who = append(who, res.RequiredReviewers...)
	}
	if len(who) == 0 {
		who = append(who, "agent-policy-owner")
	}
	if r.HeadSide != nil && r.HeadSide.Surface.Manifest.Organization != nil {
		for _, team := range r.HeadSide.Surface.Manifest.Organization.Teams {
			who = append(who, team.Reviewers...)
		}
	}
	return who
}

func (r *Run) control(o control.Outcome) (err error) {
	if r.Control, err = control.Conclude(o); err != nil {
		return fmt.Errorf("conclude: %w", err)
	}
	return nil
}

// fail ends a run that decided nothing.
func (r *Run) fail(o control.Outcome) error {
	r.Execution, r.Applicability, r.Verdict = Failed, NoApplicability, UnknownVerdict
	o.Reason = r.reason(o.Reason)
	r.Headline = o.Reason
	if o.Route == nil {
		r.Fix = r.besides(&report.FixTask{
			Actor: control.Human, Shortcuts: control.ForbiddenShortcuts(), Command: report.Text(r.command().String()), Instructions: []string{o.Person.Why},
		})
	}
	return r.control(o)
}

// unread ends a run whose change or base could not be read (§9.3).
func (r *Run) unread() error {
	detail := "The change could not be read (" + spaced(string(r.Diff.Reason)) + ")."
	if r.Diff.Detail != "" {
		detail += " " + sentence(string(r.Diff.Detail))
	}
	if r.Diff.FetchRepairable && len(r.Input.Gap.Needs) > 0 {
		r.BaseStatus = cmp.Or(r.BaseStatus, "ref_missing")
		return r.fail(control.Outcome{Reason: detail, Route: &control.Action{
			Kind: control.FetchBase, Expects: strings.Join(r.Input.Gap.Needs, " "), Why: string(r.Diff.Remediation),
		}})
	}
	r.BaseStatus = cmp.Or(r.BaseStatus, "archive_failed")
	return r.fail(control.Outcome{Reason: detail, Person: &control.Person{Why: string(r.Diff.Remediation), Reviewers: r.reviewers()}})
}

// sentence ends a text that another package gave.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// unloaded ends a run whose head could not be loaded.
func (r *Run) unloaded() error {
	r.BaseStatus = cmp.Or(r.BaseStatus, "skipped")
	if !errors.Is(r.Err, ErrNoManifest) {
		return r.fail(control.Outcome{
			Reason: "The head could not be read: " + firstLine(r.Err.Error()),
			Person: &control.Person{Why: firstLine(r.Err.Error()), Reviewers: r.reviewers()},
		})
	}
	reason := "There is no manifest at " + r.Input.ManifestPath + "."
	if r.Input.Base != nil && present(r.Input.Base, path.Base(r.Input.ManifestPath)) {
		return r.fail(control.Outcome{
			Reason: "The change removes the manifest " + r.Input.ManifestPath + ".",
			Person: &control.Person{Why: "A person agrees to do without the gate's manifest, or it is restored.", Reviewers: r.reviewers()},
		})
	}
	if r.openReview() {
		return r.fail(control.Outcome{Reason: reason, Person: &control.Person{Why: "The boundary check asks for a person.", Reviewers: r.reviewers()}})
	}
	return r.fail(control.Outcome{Reason: reason, Route: &control.Action{
		Kind: control.Configure, Command: r.command().Preview(), Why: "Preview what a manifest would have to declare.",
	}})
}

// openReview says whether check leaves something to a person.
func (r *Run) openReview() bool {
	return slices.ContainsFunc(r.Gate, func(res *gate.Result) bool {
		required, _, _ := res.Control.HumanReview()
		return required
	})
}

// preview says what a verification would need, and runs none (§9.3).
func (r *Run) preview() error {
	r.Execution, r.Applicability, r.Mode = NotRun, NotEvaluated, "preview"
	r.BaseStatus = cmp.Or(r.BaseStatus, "not_requested")
	if r.Diff.FetchRepairable && len(r.Input.Gap.Needs) > 0 {
		r.Headline = "The change cannot be read yet."
		return r.control(control.Outcome{Reason: r.Headline, Route: &control.Action{
			Kind: control.FetchBase, Expects: strings.Join(r.Input.Gap.Needs, " "), Why: string(r.Diff.Remediation),
		}})
	}
	if r.Input.Elsewhere != "" {
		r.Headline = "The head to preview is not checked out."
		return r.control(control.Outcome{Reason: r.Headline, Route: &control.Action{
			Kind: control.FetchBase, Expects: r.Input.Elsewhere,
			Why: "A preview looks at the working tree for what a project is; check this commit out, then run the same command again.",
		}})
	}
	if r.Input.Head != nil && present(r.Input.Head, path.Base(r.Input.ManifestPath)) {
		r.Headline = "Run the verification."
		return r.control(control.Outcome{Reason: r.Headline, Route: &control.Action{
			Kind: control.Verify, Command: r.command().String(), Why: "A manifest is there; nothing was verified yet.",
		}})
	}
	r.Headline = "There is no manifest yet."
	return r.control(control.Outcome{Reason: r.Headline, Owed: true, Route: &control.Action{
		Kind: control.Initialize, Command: r.command().initialize(), Why: "A first manifest is written from what the repository shows; a person reviews it.",
	}})
}
