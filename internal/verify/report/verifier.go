package report

import (
	"encoding/json"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/tool"
)

// VerifierVersion is verifier_schema_version (§2).
const VerifierVersion = "0.8"

// Verifier is verifier.json (§10.2): what the run found, what it decided and
// what may happen next. Members are in the order they are printed in.
type Verifier struct {
	SchemaVersion     string             `json:"verifier_schema_version"`
	Workspace         string             `json:"workspace"`
	Config            string             `json:"config"`
	Mode              string             `json:"mode"` // advisory, strict, skipped, preview
	BaseRef           Text               `json:"base_ref"`
	HeadRef           string             `json:"head_ref"`
	BaseStatus        string             `json:"base_status"`
	HeadStatus        string             `json:"head_status"` // repeats execution
	HeadExitCode      int                `json:"head_exit_code"`
	Execution         string             `json:"execution"`     // not_run, succeeded, skipped, failed
	Applicability     string             `json:"applicability"` // not_evaluated, verified, not_applicable, failed
	Decision          Text               `json:"decision"`
	MergeVerdict      string             `json:"merge_verdict"`
	CanMerge          bool               `json:"can_merge_without_human"`
	Headline          Text               `json:"headline"`
	ReleaseDecision   *decision.Decision `json:"release_decision"`
	FixTask           *FixTask           `json:"fix_task"`
	Control           control.Control    `json:"control"`
	Authorization     Authorization      `json:"authorization"`
	DiffStatus        DiffStatus         `json:"diff_status"`
	DiffTextAvailable bool               `json:"diff_text_available"`
	ChangedFiles      []string           `json:"changed_files"`
	CapabilityReview  CapabilityReview   `json:"capability_review"`
	Trigger           Trigger            `json:"trigger"`
	ForbiddenActions  []string           `json:"forbidden_actions"`
	ForbiddenEdits    []string           `json:"forbidden_file_edits"`
	Artifacts         map[string]string  `json:"artifacts"`
	AgentSummary      *AgentSummary      `json:"agent_summary"`
	ReviewerSummary   *ReviewerSummary   `json:"reviewer_summary"`
	BaseNotes         []string           `json:"base_notes"`
	BaseReport        Text               `json:"base_report_json"`
	HeadReport        Text               `json:"head_report_json"`
	BaseTree          Text               `json:"base_tree_sha"`
	HeadTree          Text               `json:"head_tree_sha"`
	Identity
	DecisionID      Text   `json:"decision_id"`
	StaticOnly      bool   `json:"static_analysis_only"`      // always true
	RuntimeVerified bool   `json:"runtime_behavior_verified"` // always false
	Disclaimer      string `json:"static_verdict_disclaimer"`
}

// Identity is the ids of a run (§10.3); empty when nothing was run.
type Identity struct {
	RequestID           Text `json:"request_id"`
	SubjectID           Text `json:"subject_id"`
	InputSetID          Text `json:"input_set_id"`
	EngineRequirementID Text `json:"engine_requirement_id"`
	ExecutorID          Text `json:"executor_id"`
}

// DiffStatus is §9.4.
type DiffStatus struct {
	Completeness    string `json:"completeness"`
	Reason          Text   `json:"reason"`
	FetchRepairable bool   `json:"fetch_repairable"`
	Detail          Text   `json:"detail"`
	Remediation     Text   `json:"remediation"`
}

// FixTask is §9.5.
type FixTask struct {
	Actor        control.Actor  `json:"actor"`
	Safe         bool           `json:"safe_to_attempt"`
	Instructions []string       `json:"instructions"`
	Allowed      []Repair       `json:"allowed_repairs"`
	Forbidden    []Repair       `json:"forbidden_repairs"`
	Shortcuts    []string       `json:"forbidden_shortcuts"`
	Patches      []FixTaskPatch `json:"patches"`
	Command      Text           `json:"verification_command"`
}

// Repair is one thing that may, or may not, be done.
type Repair struct {
	ID        string        `json:"id"`
	Actor     control.Actor `json:"actor"`
	Kind      string        `json:"kind"`
	Reason    string        `json:"reason"`
	Command   Text          `json:"command"`
	Target    Text          `json:"target"`
	CheckID   Text          `json:"check_id"`
	FindingID Text          `json:"finding_id"`
}

// FixTaskPatch is a patch of §19 for the coding agent.
type FixTaskPatch struct {
	CheckID   string          `json:"check_id"`
	FindingID Text            `json:"finding_id"`
	Patch     json.RawMessage `json:"patch"`
}

// CapabilityReview counts what the change does to capabilities.
type CapabilityReview struct {
	Added            int         `json:"added"`
	Modified         int         `json:"modified"`
	Removed          int         `json:"removed"`
	TrustRootTouched bool        `json:"trust_root_touched"`
	PolicyWeakened   bool        `json:"policy_weakened"`
	WeakeningProven  bool        `json:"policy_weakening_proven"`
	TopChanges       []TopChange `json:"top_changes"`
	Notes            []string    `json:"notes"`
}

// TopChange is one capability that changed, worst first.
type TopChange struct {
	ID              string   `json:"id"`
	Bucket          string   `json:"change_bucket"` // added, modified, removed
	ChangeType      string   `json:"change_type"`
	SubjectKind     string   `json:"subject_kind"`
	Subject         string   `json:"subject"`
	Rationale       string   `json:"rationale"`
	Impact          string   `json:"impact"`
	RelatedFindings []string `json:"related_finding_ids"`
	SourcePath      Text     `json:"source_path"`
	SourceLine      Line     `json:"source_start_line"`
}

// Trigger is why verification ran. Without a complete diff a negative trigger
// may not be read: EvaluationStatus is not_evaluated and the rest is null (§9.4).
type Trigger struct {
	EvaluationStatus string   `json:"evaluation_status"` // evaluated or not_evaluated
	ShouldRun        *bool    `json:"should_run"`
	Action           Text     `json:"action"`
	RuleIDs          []string `json:"rule_ids"`
	Rationale        Text     `json:"rationale"`
}

// Authorization is a signed grant of a person and what came of it. Without
// support for grants it is not_requested and everything else is null (§10.2).
type Authorization struct {
	SchemaVersion string   `json:"schema_version"`
	Status        string   `json:"status"`
	ID            Text     `json:"authorization_id"`
	RequestID     Text     `json:"authorization_request_id"`
	TrustPolicyID Text     `json:"trust_policy_id"`
	KeyID         Text     `json:"key_id"`
	Provider      Text     `json:"provider"`
	Principal     Text     `json:"principal"`
	OperationID   Text     `json:"operation_id"`
	Command       Text     `json:"command"`
	IssuedAt      Text     `json:"issued_at"`
	ExpiresAt     Text     `json:"expires_at"`
	ReasonCodes   []string `json:"reason_codes"`
}

// AuthorizationVersion is the version of the authorization block.
const AuthorizationVersion = "shipgate.human_authorization_evaluation/v1"

// NotRequested is the authorization of a run that asked for none.
func NotRequested() Authorization {
	return Authorization{SchemaVersion: AuthorizationVersion, Status: "not_requested", ReasonCodes: []string{}}
}

// AgentSummary is the result for an agent that reads no further (§10.1).
type AgentSummary struct {
	Verdict       string      `json:"verdict"`
	Headline      string      `json:"headline"`
	Blockers      int         `json:"blocker_count"`
	ReviewItems   int         `json:"review_item_count"`
	AutoPatches   int         `json:"auto_appliable_patches"`
	NeedsHuman    int         `json:"needs_human_review"`
	FirstAction   FirstAction `json:"first_recommended_action"`
	EvidenceGaps  int         `json:"evidence_gap_count"`
	SourceWarning int         `json:"source_warning_count"`
}

// FirstAction is the first thing to do.
type FirstAction struct {
	Kind    string `json:"kind"` // apply_patch, review, declare, info
	Command Text   `json:"command"`
	Why     string `json:"why"`
}

// ReviewerSummary is the result for a person who reads no further.
type ReviewerSummary struct {
	Headline  string   `json:"headline"`
	Questions []string `json:"questions"` // what only a person can answer
}

// NewVerifier completes what every verifier.json has and refuses one whose
// parts contradict each other.
func NewVerifier(v Verifier) (*Verifier, error) {
	v.SchemaVersion, v.StaticOnly, v.RuntimeVerified, v.Disclaimer = VerifierVersion, true, false, decision.Disclaimer
	v.complete()
	if err := v.Check(); err != nil {
		return nil, err
	}
	return &v, nil
}

// complete gives every list and every default its value. What v points to may be
// in use elsewhere, and stays as it is.
func (v *Verifier) complete() {
	if v.HeadRef == "" {
		v.HeadRef = "HEAD"
	}
	if v.Authorization.Status == "" {
		v.Authorization = NotRequested()
	}
	v.Authorization.ReasonCodes = list(v.Authorization.ReasonCodes)
	v.ChangedFiles, v.BaseNotes = list(v.ChangedFiles), list(v.BaseNotes)
	v.ForbiddenActions, v.ForbiddenEdits = list(v.ForbiddenActions), list(v.ForbiddenEdits)
	if v.Artifacts == nil {
		v.Artifacts = map[string]string{}
	}
	r := &v.CapabilityReview
	r.TopChanges, r.Notes = slices.Clone(list(r.TopChanges)), list(r.Notes)
	for i := range r.TopChanges {
		r.TopChanges[i].RelatedFindings = list(r.TopChanges[i].RelatedFindings)
	}
	v.Trigger.RuleIDs = list(v.Trigger.RuleIDs)
	if v.Trigger.EvaluationStatus == "" {
		v.Trigger.EvaluationStatus = "not_evaluated"
	}
	if v.ReviewerSummary != nil {
		s := *v.ReviewerSummary
		s.Questions = list(s.Questions)
		v.ReviewerSummary = &s
	}
	if v.FixTask != nil {
		t := *v.FixTask
		t.Instructions, t.Allowed, t.Forbidden = list(t.Instructions), list(t.Allowed), list(t.Forbidden)
		t.Shortcuts, t.Patches = list(t.Shortcuts), list(t.Patches)
		v.FixTask = &t
	}
}

// JSON is the bytes of verifier.json.
func (v *Verifier) JSON() ([]byte, error) { return document(v) }

// Doc is the same in parts, by as many hands as each has.
func (v *Verifier) Doc(each tool.Each) (canonical.Doc, error) { return documentBy(each, v) }

// ReadVerifier reads a verifier.json and refuses one that contradicts itself:
// what depends on it would else repeat the contradiction (§15).
func ReadVerifier(text []byte) (*Verifier, error) {
	v := Verifier{
		SchemaVersion: VerifierVersion, Mode: "advisory", BaseStatus: "not_requested", HeadStatus: "not_run", Execution: "not_run",
		Applicability: "not_evaluated", MergeVerdict: "unknown", StaticOnly: true, Disclaimer: decision.Disclaimer,
		DiffStatus: DiffStatus{Completeness: "complete"},
	}
	var required map[string]json.RawMessage
	if err := json.Unmarshal(text, &required); err != nil {
		return nil, contradiction("verifier.json", "it is no JSON object")
	}
	for _, key := range []string{"workspace", "config", "diff_status", "control", "authorization"} {
		if _, ok := required[key]; !ok {
			return nil, contradiction("verifier.json", "%s is missing", key)
		}
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, contradiction("verifier.json", "%v", err)
	}
	v.complete()
	if err := v.Check(); err != nil {
		return nil, err
	}
	return &v, nil
}
