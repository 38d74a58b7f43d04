package report

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"

	"plimsoll.dev/internal/gate/control"
)

// The versions of §2.
const (
	RunVersion  = "shipgate.verify_run/v4"
	PlanVersion = "shipgate.verification_plan/v1"
)

// VerifyRun is verify-run.json: the request, who answered it and what came out,
// each under an id that anybody can recompute (§10.3).
type VerifyRun struct {
	SchemaVersion string                 `json:"schema_version"`
	RequestID     string                 `json:"request_id"`
	RunID         string                 `json:"run_id"` // the request's
	Plan          Plan                   `json:"plan"`
	Executor      Executor               `json:"executor"`
	UnitResultIDs []string               `json:"unit_result_ids"`
	DecisionID    string                 `json:"decision_id"`
	Outcome       Outcome                `json:"outcome"`
	Artifacts     map[string]ArtifactRef `json:"artifacts"`
}

// Plan is verification-plan.json.
type Plan struct {
	SchemaVersion string   `json:"schema_version"`
	RequestID     string   `json:"request_id"`
	Subject       Subject  `json:"subject"`
	Inputs        InputSet `json:"inputs"`
	Engine        Engine   `json:"engine"`
	Tasks         []Task   `json:"tasks"`
}

// Executor is what ran.
type Executor struct {
	ExecutorID          string `json:"executor_id"`
	EngineRequirementID string `json:"engine_requirement_id"`
	Runtime             string `json:"runtime_sha256"`
}

// Outcome is the verifier's answer, without its reasons.
type Outcome struct {
	Execution     string          `json:"execution"`
	Applicability string          `json:"applicability"`
	Decision      Text            `json:"decision"`
	MergeVerdict  string          `json:"merge_verdict"`
	CanMerge      bool            `json:"can_merge_without_human"`
	BaseStatus    string          `json:"base_status"`
	ExitCode      int             `json:"exit_code"`
	Control       control.Control `json:"control"`
}

// ArtifactRef is one artifact of the run.
type ArtifactRef struct {
	Path   string `json:"path"`
	SHA256 Text   `json:"sha256"`
}

var commit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`) })

// NewPlan is the plan of one evaluation of these inputs, with every id filled
// in. It refuses inputs that are not named by their content.
func NewPlan(git GitSubject, inputs InputSet, engine Engine) (*Plan, error) {
	inputs = inputs.tidy()
	inputs.InputSetID = inputs.ID()
	engine.EngineRequirementID = engine.ID()
	paths := []string{inputs.Config.Path}
	for _, b := range inputs.ToolSources {
		paths = append(paths, b.Path)
	}
	task := Task{Kind: "evaluate", ShardCount: 1, InputPaths: sortedSet(paths)}
	task.TaskID = task.ID()
	p := &Plan{
		SchemaVersion: PlanVersion, Subject: Subject{SubjectID(git), git}, Inputs: inputs, Engine: engine, Tasks: []Task{task},
	}
	p.RequestID = RequestID(p.Subject.SubjectID, inputs.InputSetID, engine.EngineRequirementID, []string{task.TaskID})
	return p, p.check()
}

// check refuses what the schema refuses.
func (p *Plan) check() error {
	refuse := func(format string, args ...any) error {
		return contradiction("verification-plan.json", format, args...)
	}
	g := &p.Subject.Git
	for _, sha := range []Text{g.BaseCommit, g.BaseTree, g.HeadCommit, g.HeadTree, g.MergeBase, g.SourceHeadCommit} {
		if sha != "" && !commit().MatchString(string(sha)) {
			return refuse("%q is no commit id", sha)
		}
	}
	switch g.SnapshotKind {
	case CommittedTree:
		if g.WorktreeOverlay != "" {
			return refuse("a committed tree has an overlay")
		}
	case WorktreeOverlay:
		if !digest().MatchString(string(g.WorktreeOverlay)) {
			return refuse("a working tree has no overlay digest")
		}
	default:
		return refuse("snapshot kind %q", g.SnapshotKind)
	}
	e := &p.Engine
	for _, d := range []string{e.Distribution, e.AdapterSet, e.DependencySet, e.PluginSet, e.PolicyCatalog} {
		if !digest().MatchString(d) {
			return refuse("the engine is not named by digests")
		}
	}
	blobs := slices.Concat([]Blob{p.Inputs.Config, p.Inputs.Diff}, p.Inputs.ToolSources, p.Inputs.PolicyPacks, p.Inputs.ChangedFiles)
	for _, b := range []*Blob{p.Inputs.Baseline, p.Inputs.DiffFrom} {
		if b != nil {
			blobs = append(blobs, *b)
		}
	}
	for i := range blobs {
		if b := &blobs[i]; !digest().MatchString(b.SHA256) || b.Size < 0 ||
			!slices.Contains([]string{"git_blob", "worktree", "generated", "external_input", "artifact"}, b.Source) {
			return refuse("input %q is not named by its content", b.Path)
		}
	}
	return nil
}

// JSON is the bytes of verification-plan.json.
func (p *Plan) JSON() ([]byte, error) { return document(p) }

// NewVerifyRun is the record of a run. runtime is the digest of the program that
// ran. The ids of the plan are recomputed, and an outcome that contradicts
// itself is refused.
func NewVerifyRun(p *Plan, runtime string, units []UnitResult, o Outcome, artifacts map[string]ArtifactRef) (*VerifyRun, error) {
	r := &VerifyRun{
		SchemaVersion: RunVersion, RequestID: p.RequestID, RunID: p.RequestID, Plan: *p,
		Executor:  Executor{ExecutorID(p.Engine.EngineRequirementID, runtime), p.Engine.EngineRequirementID, runtime},
		Outcome:   o,
		Artifacts: artifacts,
	}
	for _, u := range units {
		r.UnitResultIDs = append(r.UnitResultIDs, u.UnitResultID)
	}
	slices.Sort(r.UnitResultIDs)
	r.DecisionID = DecisionID(r.RequestID, r.UnitResultIDs, string(o.Decision), o.MergeVerdict, o.CanMerge)
	if r.Artifacts == nil {
		r.Artifacts = map[string]ArtifactRef{}
	}
	for _, u := range units {
		if u.made == "" || u.UnitResultID != u.made || u.TaskID != p.Tasks[0].TaskID {
			return nil, contradiction("verify-run.json", "a unit result is not that of the plan's task")
		}
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return r, nil
}

// Check recomputes every id and says what contradicts itself.
func (r *VerifyRun) Check() error {
	refuse := func(format string, args ...any) error { return contradiction("verify-run.json", format, args...) }
	p := &r.Plan
	if r.SchemaVersion != RunVersion || len(p.Tasks) != 1 || len(r.UnitResultIDs) == 0 {
		return refuse("version %q, %d tasks, %d unit results", r.SchemaVersion, len(p.Tasks), len(r.UnitResultIDs))
	}
	if err := p.check(); err != nil {
		return err
	}
	for _, id := range []struct{ name, have, want string }{
		{"subject_id", p.Subject.SubjectID, SubjectID(p.Subject.Git)},
		{"input_set_id", p.Inputs.InputSetID, p.Inputs.ID()},
		{"engine_requirement_id", p.Engine.EngineRequirementID, p.Engine.ID()},
		{"task_id", p.Tasks[0].TaskID, p.Tasks[0].ID()},
		{"request_id of the plan", p.RequestID, RequestID(p.Subject.SubjectID, p.Inputs.InputSetID, p.Engine.EngineRequirementID, []string{p.Tasks[0].TaskID})},
		{"request_id", r.RequestID, p.RequestID},
		{"run_id", r.RunID, p.RequestID},
		{"executor_id", r.Executor.ExecutorID, ExecutorID(p.Engine.EngineRequirementID, r.Executor.Runtime)},
		{"the executor's engine", r.Executor.EngineRequirementID, p.Engine.EngineRequirementID},
		{"decision_id", r.DecisionID, DecisionID(r.RequestID, r.UnitResultIDs, string(r.Outcome.Decision), r.Outcome.MergeVerdict, r.Outcome.CanMerge)},
	} {
		if id.have != id.want {
			return refuse("%s is not the digest of its content", id.name)
		}
	}
	for _, id := range append([]string{r.Executor.Runtime}, r.UnitResultIDs...) {
		if !digest().MatchString(id) {
			return refuse("%q is no digest", id)
		}
	}
	return r.Outcome.check()
}

// check is the conditionals of the schema.
func (o *Outcome) check() error {
	refuse := func(format string, args ...any) error { return contradiction("verify-run.json", format, args...) }
	if !slices.Contains(executions, o.Execution) || !slices.Contains(applicabilites, o.Applicability) || !o.Control.State().Valid() {
		return refuse("execution %q, applicability %q", o.Execution, o.Applicability)
	}
	complete := o.Control.State() == control.Complete
	if complete != o.CanMerge {
		return refuse("control is %s and can_merge_without_human is %v", o.Control.State(), o.CanMerge)
	}
	verified := o.Applicability == "verified" && o.Decision == "passed" && o.Execution == "succeeded"
	skipped := o.Applicability == "not_applicable" && o.Decision == "" && o.Execution == "skipped"
	if complete && !verified && !skipped {
		return refuse("it may be merged without a person although it neither passed nor was skipped")
	}
	if !complete && o.Control.Permissions().UpdatePR && (o.Execution != "succeeded" || o.Decision == "" || o.Decision == "blocked") {
		return refuse("it may be published although it is blocked or was not evaluated")
	}
	return nil
}

// JSON is the bytes of verify-run.json.
func (r *VerifyRun) JSON() ([]byte, error) { return document(r) }

// ReadVerifyRun reads a verify-run.json and refuses one whose ids are not the
// digests of what they name.
func ReadVerifyRun(text []byte) (*VerifyRun, error) {
	var r VerifyRun
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, contradiction("verify-run.json", "%v", err)
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return &r, nil
}

// OutcomeOf is the outcome of a verifier.
func OutcomeOf(v *Verifier, exitCode int) Outcome {
	return Outcome{
		Execution: v.Execution, Applicability: v.Applicability, Decision: v.Decision, MergeVerdict: v.MergeVerdict,
		CanMerge: v.CanMerge, BaseStatus: v.BaseStatus, ExitCode: exitCode, Control: v.Control,
	}
}

// Agrees refuses a run and a verifier that tell different stories (§15).
func (r *VerifyRun) Agrees(v *Verifier) error {
	o, w := r.Outcome, OutcomeOf(v, r.Outcome.ExitCode)
	mine, err := document(o)
	if err != nil {
		return err
	}
	other, err := document(w)
	if err != nil {
		return err
	}
	switch {
	case string(mine) != string(other):
		return contradiction("verify-run.json", "its outcome is not that of verifier.json")
	case v.RequestID != "" && string(v.RequestID) != r.RequestID, v.DecisionID != "" && string(v.DecisionID) != r.DecisionID:
		return contradiction("verify-run.json", "its ids are not those of verifier.json")
	}
	return nil
}
