package gate

import (
	"bytes"
	"encoding/json"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/trigger"
)

// The schemas of the two JSON formats.
const (
	SchemaVersion      = "shipgate.agent_boundary_result/v2"
	CodexSchemaVersion = "shipgate.codex_boundary_result/v2"
)

// Result is the answer to one check. Its members stand in the order in which
// they are printed (§8); callers switch on Control.State and on nothing else.
type Result struct {
	SchemaVersion           string             `json:"schema_version"`
	Agent                   Actor              `json:"agent"`
	Tool                    Tool               `json:"tool"`
	Subject                 Subject            `json:"subject"`
	Decision                rule.Action        `json:"decision"`
	RiskLevel               rule.Risk          `json:"risk_level"`
	AuditID                 string             `json:"audit_id"`
	PolicyVersion           string             `json:"policy_version"`
	Summary                 string             `json:"summary"`
	ChangedFiles            []string           `json:"changed_files"`
	Control                 control.Control    `json:"control"`
	Repair                  control.RepairPlan `json:"repair"`
	Policy                  policy.Record      `json:"policy"`
	ViolatedRules           []Violation        `json:"violated_rules"` // = Violations
	AffectedFiles           []AffectedFile     `json:"affected_files"`
	RequiredReviewers       []string           `json:"required_reviewers"`
	Explanation             string             `json:"explanation"`
	SuggestedFixes          []string           `json:"suggested_fixes"`
	AgentRepairInstructions []string           `json:"agent_repair_instructions"`
	Diagnostics             []Diagnostic       `json:"diagnostics"`
	Trace                   []Step             `json:"trace"`
	SourceArtifacts         map[string]string  `json:"source_artifacts"`
	Trigger                 *trigger.Result    `json:"trigger,omitempty"`
	FindingFingerprints     []string           `json:"finding_fingerprints"`
	PolicySnapshot          string             `json:"policy_snapshot_sha256,omitempty"`
	Actor                   Actor              `json:"actor"` // = Agent
	InputMode               Mode               `json:"input_mode"`
	Scope                   string             `json:"scope"`
	InputCoverage           Coverage           `json:"input_coverage"`
	HostCoverage            []HostCoverage     `json:"host_coverage"`
	AffectedHosts           []string           `json:"affected_hosts"`
	Policies                []policy.Record    `json:"policies"`
	PolicySet               string             `json:"policy_set_sha256"`
	Issues                  []string           `json:"issues"`
	Violations              []Violation        `json:"violations"`
	PendingReview           []control.Pending  `json:"pending_review"`
	StaticAnalysisOnly      bool               `json:"static_analysis_only"`
	RuntimeSessionVerified  bool               `json:"runtime_session_verified"`
	ExcludedScopes          []string           `json:"excluded_scopes"`

	// Undeclared are the changed capability surfaces that no manifest declares
	// (§6.4), all of them; the diagnostic names some.
	Undeclared []string `json:"-"`

	codexID string // audit_id of the deprecated format (§9.5); "" when it is AuditID
}

// Tool is the program that answered.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Subject names what was asked about. Only an error result says more than the
// agent: as given, because nothing could be resolved.
type Subject struct {
	Agent     Actor  `json:"agent"`
	Workspace string `json:"workspace,omitempty"`
	Diff      string `json:"diff,omitempty"`
	Base      string `json:"base,omitempty"`
	Head      string `json:"head,omitempty"`
}

// Violation is one row: one thing that one rule found at one path.
type Violation struct {
	ID             string           `json:"id"`
	CheckID        string           `json:"check_id"`
	Action         rule.Action      `json:"action"`
	RiskLevel      rule.Risk        `json:"risk_level"`
	Title          string           `json:"title"`
	Path           string           `json:"path,omitempty"`
	Evidence       canonical.Object `json:"evidence"`
	Recommendation string           `json:"recommendation"`

	Line int `json:"-"` // one-based place for people, 0 when there is none
}

// Kind is the evidence kind of the row.
func (v *Violation) Kind() string {
	k, _ := v.Evidence.Get("kind").(string)
	return k
}

// AffectedFile is one entry of affected_files[].
type AffectedFile struct {
	Path string `json:"path"`
}

// Diagnostic is one remark.
type Diagnostic struct {
	Level   string `json:"level"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`
}

// Step is one entry of trace[].
type Step struct {
	Step    string `json:"step"`
	Summary string `json:"summary"`
}

// JSON prints the result as agents read it: two-space indent, no HTML escaping,
// trailing newline. The same result is always the same bytes.
func (r *Result) JSON() []byte { return indented(r) }

// indented panics when v cannot be printed: every value in a result comes from
// types of ours that can.
func indented(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic("gate: print result: " + err.Error())
	}
	return b.Bytes()
}
