package gate

import (
	"cmp"
	"encoding/json"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/trigger"
)

// codexResult is the deprecated format, frozen: the same evaluation without the
// members that came later (§13.3).
type codexResult struct {
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
	Control                 legacyControl      `json:"control"`
	Repair                  control.RepairPlan `json:"repair"`
	Policy                  policy.Record      `json:"policy"`
	ViolatedRules           []Violation        `json:"violated_rules"`
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
}

type legacyControl control.Control

func (c legacyControl) MarshalJSON() ([]byte, error) { return control.Control(c).LegacyJSON() }

var _ json.Marshaler = legacyControl{}

// CodexJSON prints the result in the deprecated format.
func (r *Result) CodexJSON() []byte {
	return indented(codexResult{
		SchemaVersion: CodexSchemaVersion, Agent: r.Agent, Tool: r.Tool, Subject: r.Subject,
		Decision: r.Decision, RiskLevel: r.RiskLevel, AuditID: cmp.Or(r.codexID, r.AuditID), PolicyVersion: r.PolicyVersion,
		Summary: r.Summary, ChangedFiles: r.ChangedFiles, Control: legacyControl(r.Control), Repair: r.Repair, Policy: r.Policy,
		ViolatedRules: r.ViolatedRules, AffectedFiles: r.AffectedFiles, RequiredReviewers: r.RequiredReviewers,
		Explanation: r.Explanation, SuggestedFixes: r.SuggestedFixes, AgentRepairInstructions: r.AgentRepairInstructions,
		Diagnostics: r.Diagnostics, Trace: r.Trace, SourceArtifacts: r.SourceArtifacts, Trigger: r.Trigger,
		FindingFingerprints: r.FindingFingerprints, PolicySnapshot: r.PolicySnapshot,
	})
}
