package preflight

// The limits of a plan (docs/spec/verification.md §1).
const (
	MaxPlan     = 64 << 20 // bytes of the JSON text
	MaxDiff     = 32 << 20 // bytes of diff_text
	MaxFiles    = 100_000
	MaxPath     = 4096 // bytes of one changed file
	MaxRequests = 10_000
)

// The versions that a plan and its requests may name.
const (
	PlanVersion              = "preflight_plan_v1"
	CapabilityRequestVersion = "capability_request_v1"
	HostRequestVersion       = "host_permission_request_v1"
)

// Plan is PreflightPlanV1: what somebody means to do (§13.1).
type Plan struct {
	ChangedFiles []string
	DiffText     string
	Capabilities []CapabilityRequest
	Hosts        []HostRequest
}

// CapabilityRequest is a tool that somebody means to add or to widen.
type CapabilityRequest struct {
	Tool, Provider, Operation string
	Effect                    string   // of effects
	RiskTags                  []string // lower case, sorted, unique
	Scopes                    []string // as written, in order
	SourceType                string
	Controls                  Controls
	Owner, Runbook, Ticket    string // "" where there is none
}

// Controls are what a requested tool is held by. A control that the plan leaves
// open is not there.
type Controls struct {
	Approval, Confirmation                  bool
	ApprovalThreshold                       string
	AuditLog, DryRun, Idempotency, Rollback bool
}

// HostRequest is a permission that somebody means to ask of a host.
type HostRequest struct {
	Host, Surface, Operation, Path, Subject, Reason string
	Access                                          []Access
}

// Access is one text or truth anywhere in requested_access, with the keys that
// lead to it.
type Access struct {
	Keys  []string
	Text  string
	Truth bool
}

// Empty says whether nothing is planned.
func (p *Plan) Empty() bool {
	return len(p.ChangedFiles) == 0 && p.DiffText == "" && len(p.Capabilities) == 0 && len(p.Hosts) == 0
}
