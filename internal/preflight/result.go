package preflight

import (
	"encoding/json"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/control"
)

// SchemaVersion is preflight_schema_version (docs/spec/verification.md §2, A-3).
const SchemaVersion = "0.3"

// Severity is how much a signal or a piece of evidence weighs.
type Severity string

// The severities, heaviest first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Info     Severity = "info"
)

// weight orders severities: the heaviest is the smallest.
func (s Severity) weight() int {
	switch s {
	case Critical:
		return 0
	case High:
		return 1
	case Medium:
		return 2
	case Low:
		return 3
	case Info:
	}
	return 4
}

// Result is PreflightResultV3: the members in the order in which they are
// printed (§13.2).
type Result struct {
	Version             string          `json:"preflight_schema_version"`
	Workspace           string          `json:"workspace"`
	Config              string          `json:"config"`
	ChangedFiles        []string        `json:"changed_files"` // sorted, unique, from the root of the repository
	Control             control.Control `json:"control"`
	FirstNextAction     NextAction      `json:"first_next_action"`
	AllowedNextCommands []string        `json:"allowed_next_commands"`
	VerificationCommand *string         `json:"verification_command"` // null while a person decides
	RequiresVerify      bool            `json:"requires_verify"`
	RequiresHumanReview bool            `json:"requires_human_review"`
	ProtectedSurfaces   []Surface       `json:"protected_surfaces"`
	Touches             []Touch         `json:"protected_surface_touches"`
	TrustRootGraph      Graph           `json:"trust_root_graph"`
	TrustRootGraphHash  string          `json:"trust_root_graph_hash"` // 64 hex digits
	TrustRootGraphDiff  *Drift          `json:"trust_root_graph_diff"` // null without a base
	PolicySnapshotHash  *string         `json:"policy_snapshot_hash"`  // null without a readable manifest
	PolicyDrift         *Drift          `json:"policy_drift"`          // null without a base
	HostGrantDrift      json.RawMessage `json:"host_grant_drift"`      // null without a host baseline
	RequiredEvidence    []Evidence      `json:"required_evidence"`
	Signals             []Signal        `json:"signals"`
	PlanSummary         Summary         `json:"plan_summary"`
	ForbiddenActions    []string        `json:"forbidden_actions"`
	ForbiddenFileEdits  []string        `json:"forbidden_file_edits"`
	Notes               []string        `json:"notes"`
}

// NextAction is the older projection of the control's route.
type NextAction struct {
	Kind    string        `json:"kind"` // review, gather_evidence or verify; never continue
	Actor   control.Actor `json:"actor"`
	Command *string       `json:"command"`
	Why     string        `json:"why"`
}

// ScopeType is how much of a file is protected (§13.3).
type ScopeType string

// The scope types.
const (
	WholeFile         ScopeType = "whole_file"
	KeyLevel          ScopeType = "key_level"
	CapabilitySurface ScopeType = "capability_surface"
)

// Surface is one pattern of one kind that people protect.
type Surface struct {
	Kind         string    `json:"kind"`
	Pattern      string    `json:"pattern"`
	ScopeType    ScopeType `json:"scope_type"`
	Description  string    `json:"description"`
	Present      bool      `json:"present"`
	PresentPaths []string  `json:"present_paths"`
	HumanReview  bool      `json:"human_review_required"`
}

// Touch is one protected kind that a planned path reaches.
type Touch struct {
	Path        string    `json:"path"`
	Kind        string    `json:"kind"`
	Pattern     string    `json:"pattern"`
	ScopeType   ScopeType `json:"scope_type"`
	HumanReview bool      `json:"requires_human_review"`
}

// Graph is what the protected files of a workspace are at one time.
type Graph struct {
	Version string `json:"schema_version"`
	Hash    string `json:"graph_hash"`
	Nodes   []Node `json:"nodes"` // by id
}

// Node is one protected pattern with its files. FileHashes has 64 hex digits for
// a file that was read, and "unread" for one that was not.
type Node struct {
	ID           string            `json:"id"`
	Kind         string            `json:"kind"`
	Pattern      string            `json:"pattern"`
	ScopeType    ScopeType         `json:"scope_type"`
	PresentPaths []string          `json:"present_paths"`
	FileHashes   map[string]string `json:"file_hashes"`
}

// Drift is what differs from an earlier preflight. The lists hold paths.
type Drift struct {
	Changed  bool     `json:"changed"`
	BaseHash *string  `json:"base_hash"`
	HeadHash *string  `json:"head_hash"`
	Added    []string `json:"added"`
	Removed  []string `json:"removed"`
	Modified []string `json:"modified"`
}

// Evidence is one piece of evidence that a requested capability owes (§13.4).
type Evidence struct {
	ID             string   `json:"id"` // <provider>.<tool>.<operation>:<evidence>
	Field          string   `json:"field"`
	Satisfied      bool     `json:"satisfied"`
	Severity       Severity `json:"severity"`
	Reason         string   `json:"reason"`
	Recommendation string   `json:"recommendation"`
}

// SignalKind is the sort of a signal.
type SignalKind string

// The kinds in the order of §13.5.
const (
	SurfaceTouch    SignalKind = "protected_surface_touch"
	HostGrantDrift  SignalKind = "host_grant_drift"
	MissingEvidence SignalKind = "missing_evidence"
	LeastPrivilege  SignalKind = "least_privilege"
	PolicyDrift     SignalKind = "policy_drift"
	VerifyRequired  SignalKind = "verify_required"
)

// rank is the place of the kind in the table of §13.5.
func (k SignalKind) rank() int {
	switch k {
	case SurfaceTouch:
		return 0
	case HostGrantDrift:
		return 1
	case MissingEvidence:
		return 2
	case LeastPrivilege:
		return 3
	case PolicyDrift:
		return 4
	case VerifyRequired:
	}
	return 5
}

// Signal is one reason for the route.
type Signal struct {
	ID             string        `json:"id"`
	Kind           SignalKind    `json:"kind"`
	Severity       Severity      `json:"severity"`
	Actor          control.Actor `json:"actor"`
	Subject        string        `json:"subject"`
	Path           *string       `json:"path"`
	Reason         string        `json:"reason"`
	Recommendation string        `json:"recommendation"`
	RelatedCommand *string       `json:"related_command"`
}

// Summary counts what was planned and what came of it.
type Summary struct {
	ChangedFiles       int        `json:"changed_files_count"`
	CapabilityRequests int        `json:"capability_request_count"`
	HostRequests       int        `json:"host_permission_request_count"`
	Signals            int        `json:"signal_count"`
	Severities         Severities `json:"signal_severity_counts"`
	HumanSignals       int        `json:"human_signal_count"`
}

// Severities counts signals by severity; each is named, also at zero.
type Severities struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Medium   int `json:"medium"`
	Low      int `json:"low"`
	Info     int `json:"info"`
}

// JSON is the result as programs read it. The same result is always the same
// bytes.
func (r *Result) JSON() ([]byte, error) { return canonical.Document(r) }
