package handoff

import (
	"strconv"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
)

// The versions of §2. The contract is the one whose control union a packet has.
const (
	Version         = "shipgate.agent_handoff/v7"
	ContractVersion = "20"
)

// Operation is what kind of verification the packet is of.
type Operation string

// The operations.
const (
	VerifyPR      Operation = "verify_pr"
	VerifyLocal   Operation = "verify_local"
	VerifyPreview Operation = "verify_preview"
)

// Handoff is one packet. Lists are never nil.
type Handoff struct {
	SchemaVersion    string                  `json:"schema_version"`
	ContractVersion  string                  `json:"contract_version"`
	Tool             Tool                    `json:"tool"`
	Operation        Operation               `json:"operation"`
	Subject          Subject                 `json:"subject"`
	Gate             Gate                    `json:"gate"`
	Control          control.Control         `json:"control"`
	Authorization    report.Authorization    `json:"authorization"`
	BlockedBy        []Blocking              `json:"blocked_by"`
	FixTask          *report.FixTask         `json:"fix_task"`
	CapabilityReview report.CapabilityReview `json:"capability_review"`
	Remediation      []Step                  `json:"remediation_plan"`
	ForbiddenActions []string                `json:"forbidden_actions"`
	ForbiddenEdits   []string                `json:"forbidden_file_edits"`
	Artifacts        map[string]string       `json:"artifacts"`
	Reproducibility  Reproducibility         `json:"reproducibility"`
}

// Tool is who wrote the packet.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Subject is what was verified.
type Subject struct {
	Workspace    string      `json:"workspace"`
	Config       string      `json:"config"`
	BaseRef      report.Text `json:"base_ref"`
	HeadRef      string      `json:"head_ref"`
	ChangedFiles []string    `json:"changed_files"`
}

// Gate is the verdict, as the verifier has it.
type Gate struct {
	MergeVerdict    string      `json:"merge_verdict"`
	Applicability   string      `json:"applicability"`
	Decision        report.Text `json:"decision"`
	CanMerge        bool        `json:"can_merge_without_human"`
	CIWouldFail     *bool       `json:"ci_would_fail"` // nil without a decision
	GatingSignal    string      `json:"gating_signal"`
	StaticOnly      bool        `json:"static_analysis_only"`
	RuntimeVerified bool        `json:"runtime_behavior_verified"`
	Disclaimer      string      `json:"static_verdict_disclaimer"`
}

// gatingSignal is the one member that gates.
const gatingSignal = "release_decision.decision"

// Blocking is one finding that blocks or wants review.
type Blocking struct {
	Bucket         string      `json:"bucket"` // blocker or review_item
	CheckID        string      `json:"check_id"`
	Severity       string      `json:"severity"`
	Title          string      `json:"title"`
	ID             report.Text `json:"id"`
	Fingerprint    report.Text `json:"fingerprint"`
	SupportHash    report.Text `json:"support_hash"`
	BaselineStatus *string     `json:"baseline_status"`
	Blocks         bool        `json:"blocks_release"`
	CapabilityRefs []string    `json:"capability_refs"`
	TraceRefs      []string    `json:"capability_trace_refs"`
}

// Step is one thing that may be done, may not be done, or can be applied.
type Step struct {
	Safety    string      `json:"safety"` // allowed, forbidden or patch
	Kind      string      `json:"kind"`
	Reason    string      `json:"reason"`
	ID        report.Text `json:"id"`
	Actor     report.Text `json:"actor"`
	Command   report.Text `json:"command"`
	Target    report.Text `json:"target"`
	CheckID   report.Text `json:"check_id"`
	FindingID report.Text `json:"finding_id"`
	Patch     any         `json:"patch"`
}

// Reproducibility names the run by its content, as far as its record is there.
type Reproducibility struct {
	RequestID           report.Text       `json:"request_id"`
	RunID               report.Text       `json:"run_id"`
	SubjectID           report.Text       `json:"subject_id"`
	InputSetID          report.Text       `json:"input_set_id"`
	EngineRequirementID report.Text       `json:"engine_requirement_id"`
	ExecutorID          report.Text       `json:"executor_id"`
	DecisionID          report.Text       `json:"decision_id"`
	ConfigSHA256        report.Text       `json:"config_sha256"`
	BaselineSHA256      report.Text       `json:"baseline_sha256"`
	PolicyPacks         []PolicyPack      `json:"policy_packs"`
	ArtifactSHA256      map[string]string `json:"artifact_sha256"`
}

// PolicyPack is one policy pack by its content.
type PolicyPack struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// JSON is the packet as a document.
func (h *Handoff) JSON() ([]byte, error) { return canonical.Document(h) }

// project takes over what the verifier says, and the record of its run.
func project(v *report.Verifier, run *report.VerifyRun, tool Tool) *Handoff {
	h := &Handoff{
		SchemaVersion: Version, ContractVersion: ContractVersion, Tool: tool, Operation: VerifyLocal,
		Subject: Subject{v.Workspace, v.Config, v.BaseRef, v.HeadRef, v.ChangedFiles},
		Gate: Gate{
			MergeVerdict: v.MergeVerdict, Applicability: v.Applicability, Decision: v.Decision, CanMerge: v.CanMerge,
			GatingSignal: gatingSignal, StaticOnly: v.StaticOnly, RuntimeVerified: v.RuntimeVerified, Disclaimer: v.Disclaimer,
		},
		Control: v.Control, Authorization: v.Authorization, BlockedBy: []Blocking{}, FixTask: v.FixTask,
		CapabilityReview: v.CapabilityReview, Remediation: []Step{}, ForbiddenActions: v.ForbiddenActions, ForbiddenEdits: v.ForbiddenEdits,
		Artifacts:       v.Artifacts,
		Reproducibility: reproducibility(v, run),
	}
	switch {
	case v.Mode == "preview":
		h.Operation = VerifyPreview
	case v.BaseRef != "":
		h.Operation = VerifyPR
	}
	if d := v.ReleaseDecision; d != nil {
		h.Gate.CIWouldFail = &d.FailPolicy.WouldFail
		h.BlockedBy = append(blocking("blocker", d.Blockers), blocking("review_item", d.ReviewItems)...)
	}
	if v.FixTask != nil {
		h.Remediation = remediation(v.FixTask)
	}
	return h
}

func blocking(bucket string, items []decision.Item) []Blocking {
	out := make([]Blocking, 0, len(items))
	for i := range items {
		x := &items[i]
		b := Blocking{
			Bucket: bucket, CheckID: x.CheckID, Severity: string(x.Severity), Title: x.Title, ID: report.Text(x.ID),
			Fingerprint: report.Text(x.Fingerprint), BaselineStatus: x.BaselineStatus, Blocks: x.Blocks,
			CapabilityRefs: list(x.CapabilityRefs), TraceRefs: list(x.TraceRefs),
		}
		if x.Support != nil {
			b.SupportHash = report.Text(x.Support.Hash)
		}
		out = append(out, b)
	}
	return out
}

// remediation is what may be done, then what may not, then what can be applied.
func remediation(t *report.FixTask) []Step {
	out := make([]Step, 0, len(t.Allowed)+len(t.Forbidden)+len(t.Patches))
	repairs := func(safety string, list []report.Repair) {
		for i := range list {
			r := &list[i]
			out = append(out, Step{
				Safety: safety, Kind: r.Kind, Reason: r.Reason, ID: report.Text(r.ID), Actor: report.Text(r.Actor), Command: r.Command,
				Target: r.Target, CheckID: r.CheckID, FindingID: r.FindingID,
			})
		}
	}
	repairs("allowed", t.Allowed)
	repairs("forbidden", t.Forbidden)
	for i, p := range t.Patches {
		kind, reason, target := patchWords(p.Patch)
		out = append(out, Step{
			Safety: "patch", Kind: kind, Reason: reason, ID: report.Text("patch_" + strconv.Itoa(i+1)), Actor: report.Text(t.Actor),
			Target: report.Text(target), CheckID: report.Text(p.CheckID), FindingID: p.FindingID, Patch: p.Patch,
		})
	}
	return out
}

// reproducibility is the ids of the run. Without its record the verifier's own
// ids stand, and what only the record knows is null.
func reproducibility(v *report.Verifier, run *report.VerifyRun) Reproducibility {
	r := Reproducibility{
		RequestID: v.RequestID, RunID: v.RequestID, SubjectID: v.SubjectID, InputSetID: v.InputSetID,
		EngineRequirementID: v.EngineRequirementID, ExecutorID: v.ExecutorID, DecisionID: v.DecisionID,
		PolicyPacks: []PolicyPack{}, ArtifactSHA256: map[string]string{},
	}
	if run == nil {
		return r
	}
	in := &run.Plan.Inputs
	r.RequestID, r.RunID, r.SubjectID = report.Text(run.RequestID), report.Text(run.RunID), report.Text(run.Plan.Subject.SubjectID)
	r.InputSetID, r.EngineRequirementID = report.Text(in.InputSetID), report.Text(run.Plan.Engine.EngineRequirementID)
	r.ExecutorID, r.DecisionID = report.Text(run.Executor.ExecutorID), report.Text(run.DecisionID)
	r.ConfigSHA256 = report.Text(in.Config.SHA256)
	if in.Baseline != nil {
		r.BaselineSHA256 = report.Text(in.Baseline.SHA256)
	}
	for _, p := range in.PolicyPacks {
		r.PolicyPacks = append(r.PolicyPacks, PolicyPack{p.Path, p.SHA256})
	}
	for key, a := range run.Artifacts {
		if a.SHA256 != "" {
			r.ArtifactSHA256[key] = string(a.SHA256)
		}
	}
	return r
}

func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}
