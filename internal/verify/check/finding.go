package check

import (
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Severity is how much a finding weighs.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Info     Severity = "info"
)

// Rank orders severities: critical 4 … info 0, anything else -1.
func (s Severity) Rank() int {
	switch s {
	case Critical:
		return 4
	case High:
		return 3
	case Medium:
		return 2
	case Low:
		return 1
	case Info:
		return 0
	}
	return -1
}

// Source is where a finding points (§7.2). Type is manifest, a source type, or
// git for a changed file.
type Source struct {
	Type        string `json:"type"`
	Ref         string `json:"ref,omitempty"`
	Location    string `json:"location,omitempty"`
	Path        string `json:"path,omitempty"`
	StartLine   int    `json:"start_line,omitempty"`
	EndLine     int    `json:"end_line,omitempty"`
	StartColumn int    `json:"start_column,omitempty"`
	Pointer     string `json:"pointer,omitempty"`
}

// SourceOf is the place of an observation.
func SourceOf(o tool.Origin) Source {
	return Source{
		Type: o.Type, Ref: o.Ref, Location: o.Location, Path: o.Path,
		StartLine: o.Start.Line, EndLine: o.EndLine, StartColumn: o.Start.Column, Pointer: o.Pointer,
	}
}

// Provenance is what sort of evidence a finding rests on.
type Provenance string

// The provenances of §7.2.
const (
	StaticDeclaration Provenance = "static_declaration"
	ASTExtraction     Provenance = "ast_extraction"
	KeywordHeuristic  Provenance = "keyword_heuristic"
	RegexHeuristic    Provenance = "regex_heuristic"
	PolicyPack        Provenance = "policy_pack"
	RuntimeTrace      Provenance = "runtime_trace"
)

// PatchKind is what may close a finding.
type PatchKind string

// The kinds of §7.2.
const (
	SetPointer    PatchKind = "set_pointer"
	AppendPointer PatchKind = "append_pointer"
	RemovePointer PatchKind = "remove_pointer"
	Manual        PatchKind = "manual"
	NoPatch       PatchKind = "none"
)

// Patch is one suggested edit (§19).
type Patch struct {
	Kind         PatchKind       `json:"kind"`
	TargetFile   string          `json:"target_file,omitempty"` // absolute
	Pointer      string          `json:"pointer,omitempty"`
	Value        any             `json:"value,omitempty"`
	Format       string          `json:"target_format,omitempty"` // yaml or json
	Confidence   tool.Confidence `json:"confidence,omitempty"`
	Rationale    string          `json:"rationale,omitempty"`
	TargetSHA256 string          `json:"target_sha256,omitempty"`
	Instructions string          `json:"instructions,omitempty"`
}

// AgentAction is what the agent may do about a finding.
type AgentAction string

// The actions of §7.2. SuppressWithReason is reserved.
const (
	AutoApply     AgentAction = "auto_apply"
	Propose       AgentAction = "propose_patch_for_review"
	Escalate      AgentAction = "escalate_to_human"
	Informational AgentAction = "informational"
)

// Support says which assessed predicates a finding rests on (§7.2).
type Support struct {
	Hash             string          `json:"support_hash"`
	Status           string          `json:"status"`
	Confidence       tool.Confidence `json:"confidence"`
	Bases            []effect.Basis  `json:"evidence_bases"`
	Predicates       []Predicate     `json:"predicates"`
	ClaimIDs         []string        `json:"claim_ids"`
	PolicyEligible   bool            `json:"policy_eligible"`
	BlockingEligible bool            `json:"blocking_eligible"`
}

// Predicate is one row of a support. Status is matched, not_matched,
// indeterminate or conflicting.
type Predicate struct {
	Predicate      string          `json:"predicate"`
	Status         string          `json:"status"`
	Expected       any             `json:"expected"`
	Observed       any             `json:"observed"`
	Confidence     tool.Confidence `json:"confidence"`
	Bases          []effect.Basis  `json:"evidence_bases"`
	ClaimIDs       []string        `json:"claim_ids"`
	PolicyEligible bool            `json:"policy_eligible"`
	Why            string          `json:"why,omitempty"`
}

// Finding is one thing that a check found (§7.2). A check fills the first
// group; the engine the rest.
type Finding struct {
	CheckID        string          `json:"check_id"`
	Title          string          `json:"title"`
	Category       string          `json:"category"`
	Severity       Severity        `json:"severity"`
	Confidence     tool.Confidence `json:"confidence"`
	Recommendation string          `json:"recommendation"`
	ToolID         string          `json:"tool_id,omitempty"`
	ToolName       string          `json:"tool_name,omitempty"`
	AgentID        string          `json:"agent_id,omitempty"`
	Evidence       map[string]any  `json:"evidence"`
	Source         Source          `json:"source"`
	Provenance     Provenance      `json:"provenance_kind"`
	BlocksRelease  bool            `json:"blocks_release"`
	Support        *Support        `json:"support,omitempty"`

	ID                string      `json:"id"`
	Fingerprint       string      `json:"fingerprint"`
	DocsURL           string      `json:"docs_url"`
	Suppressed        bool        `json:"suppressed"`
	SuppressionReason string      `json:"suppression_reason,omitempty"`
	BaselineStatus    string      `json:"baseline_status,omitempty"` // new, matched or resolved; "" is null
	Patches           []Patch     `json:"patches"`
	AutofixSafe       bool        `json:"autofix_safe"`
	HumanReview       bool        `json:"requires_human_review"`
	PatchKind         PatchKind   `json:"suggested_patch_kind"`
	AgentAction       AgentAction `json:"agent_action"`
	CapabilityRefs    []string    `json:"capability_refs"`
	TraceRefs         []string    `json:"capability_trace_refs"`

	// Repair is what a check knows about closing the finding by machine; nil for
	// "nothing". It is used only when patches are asked for.
	Repair *Patch `json:"-"`
}
