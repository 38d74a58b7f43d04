package preflight

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// The limits of a plan (docs/spec/verification.md §1).
const (
	MaxPlan     = 64 << 20  // bytes of the JSON text
	MaxDiff     = 32 << 20  // bytes of diff_text
	maxLines    = 2_500_000 // of diff_text; each costs memory of its own, however short
	MaxFiles    = 100_000
	MaxPath     = 4096     // bytes of one changed file
	MaxNames    = 16 << 20 // bytes of all changed files together
	MaxRequests = 10_000
	MaxName     = 256  // bytes of a tool, provider, operation, host or surface
	MaxText     = 4096 // bytes of any other text of a request
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

// Access is one text or truth anywhere in requested_access, with the nearest key
// above it.
type Access struct {
	Key   string
	Text  string
	Truth bool
}

// Empty says whether nothing is planned.
func (p *Plan) Empty() bool {
	return len(p.ChangedFiles) == 0 && p.DiffText == "" && len(p.Capabilities) == 0 && len(p.Hosts) == 0
}

// ParsePlan reads a plan strictly: an unknown key, a blank, a key twice and
// whatever its schema does not allow is refused with its place. The error is a
// *DocumentError.
func ParsePlan(text []byte) (*Plan, error) {
	v, err := parse(text, MaxPlan)
	if err != nil {
		return nil, err
	}
	var r reader
	p := r.plan(v)
	if err := r.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// ParseCapabilityRequests reads one capability request, or a list of them. The
// error is a *DocumentError.
func ParseCapabilityRequests(text []byte) ([]CapabilityRequest, error) {
	v, err := parse(text, MaxPlan)
	if err != nil {
		return nil, err
	}
	var r reader
	var out []CapabilityRequest
	if v.Kind == source.List {
		for i, e := range r.items("", v, MaxRequests) {
			out = append(out, r.capability(item("", i), e))
		}
	} else {
		out = []CapabilityRequest{r.capability("", v)}
	}
	return out, r.err()
}

// CheckPlan refuses a plan that was put together by hand and that no plan
// document could be. The error is a *DocumentError.
func CheckPlan(p *Plan) error {
	var r reader
	if len(p.ChangedFiles) > MaxFiles {
		r.wrong("changed_files", source.Value{}, "has %d entries; at most %d are taken", len(p.ChangedFiles), MaxFiles)
		return r.err()
	}
	if len(p.Capabilities) > MaxRequests {
		r.wrong("capability_requests", source.Value{}, "has %d entries; at most %d are taken", len(p.Capabilities), MaxRequests)
	}
	total := 0
	for i, name := range p.ChangedFiles {
		r.path(item("changed_files", i), source.Value{Kind: source.String, Text: name})
		total += len(name)
	}
	r.names(source.Value{}, total)
	r.diff("diff_text", source.Value{Kind: source.String, Text: p.DiffText})
	return r.err()
}

func (r *reader) plan(v source.Value) *Plan {
	p := &Plan{}
	if !r.object("", v, "schema_version", "changed_files", "diff_text", "capability_requests", "host_permission_requests", "context") {
		return p
	}
	r.version("schema_version", v.Get("schema_version"), PlanVersion)
	total := 0
	for i, e := range r.items("changed_files", v.Get("changed_files"), MaxFiles) {
		p.ChangedFiles = append(p.ChangedFiles, r.path(item("changed_files", i), e))
		total += len(e.Text)
	}
	r.names(v.Get("changed_files"), total)
	if d := v.Get("diff_text"); d.Present() && d.Kind != source.Null {
		p.DiffText = r.diff("diff_text", d)
	}
	for i, e := range r.items("capability_requests", v.Get("capability_requests"), MaxRequests) {
		p.Capabilities = append(p.Capabilities, r.capability(item("capability_requests", i), e))
	}
	for i, e := range r.items("host_permission_requests", v.Get("host_permission_requests"), MaxRequests) {
		p.Hosts = append(p.Hosts, r.host(item("host_permission_requests", i), e))
	}
	if c := v.Get("context"); c.Present() && r.object("context", c, "agent", "task") {
		r.maybe("context.agent", c.Get("agent"))
		r.maybe("context.task", c.Get("task"))
	}
	return p
}

// path is the name of a file.
func (r *reader) path(at string, v source.Value) string {
	name := r.bounded(at, v, MaxPath)
	if strings.ContainsRune(name, 0) {
		r.wrong(at, v, "holds a NUL and is the name of no file")
	}
	return name
}

// name is what a result repeats in every row about a request.
func (r *reader) name(at string, v source.Value) string { return r.bounded(at, v, MaxName) }

// names bounds what a result repeats many times.
func (r *reader) names(v source.Value, total int) {
	if total > MaxNames {
		r.wrong("changed_files", v, "is longer than %d bytes in all", MaxNames)
	}
}

func (r *reader) diff(at string, v source.Value) string {
	switch {
	case v.Kind != source.String:
		r.wrong(at, v, "must be a text")
	case len(v.Text) > MaxDiff:
		r.wrong(at, v, "is larger than %d bytes", MaxDiff)
	case strings.Count(v.Text, "\n") > maxLines:
		r.wrong(at, v, "has more than %d lines", maxLines)
	}
	return v.Str()
}

// effects are what a request may ask for (§13.1).
var effects = []string{
	"read", "write", "destructive", "external_communication", "financial_write", "production_operation",
	"privileged_data_access", "code_execution", "identity_access",
}

// member is a member of an object; one that is not there is missing at the place
// of the object.
func member(v source.Value, key string) source.Value {
	m := v.Get(key)
	if !m.Present() {
		m.Pos = v.Pos
	}
	return m
}

func (r *reader) capability(at string, v source.Value) CapabilityRequest {
	var c CapabilityRequest
	if !r.object(at, v, "schema_version", "tool_name", "provider", "operation", "effect", "risk_tags", "scopes", "source_type", "controls", "evidence") {
		return c
	}
	get := func(key string) (string, source.Value) { return below(at, key), member(v, key) }
	place, version := get("schema_version")
	r.version(place, version, CapabilityRequestVersion)
	c.Tool, c.Provider, c.Operation = r.name(get("tool_name")), r.name(get("provider")), r.name(get("operation"))
	place, effect := get("effect")
	if c.Effect = r.text(place, effect); c.Effect != "" && !slices.Contains(effects, c.Effect) {
		r.wrong(place, effect, "must be one of %s", strings.Join(effects, ", "))
	}
	for _, tag := range r.texts(get("risk_tags")) {
		c.RiskTags = append(c.RiskTags, strings.ToLower(strings.TrimSpace(tag)))
	}
	slices.Sort(c.RiskTags)
	c.RiskTags = slices.Compact(c.RiskTags)
	c.Scopes, c.SourceType = r.texts(get("scopes")), r.maybe(get("source_type"))
	if place, k := get("controls"); k.Present() && r.object(place, k, "approval_required", "approval_threshold", "confirmation_required",
		"safeguard_audit_log", "safeguard_dry_run", "safeguard_idempotency", "safeguard_rollback") {
		truth := func(key string) bool { return r.truth(below(place, key), k.Get(key)) }
		c.Controls = Controls{
			Approval: truth("approval_required"), Confirmation: truth("confirmation_required"),
			ApprovalThreshold: r.maybe(below(place, "approval_threshold"), k.Get("approval_threshold")),
			AuditLog:          truth("safeguard_audit_log"), DryRun: truth("safeguard_dry_run"),
			Idempotency: truth("safeguard_idempotency"), Rollback: truth("safeguard_rollback"),
		}
	}
	if place, e := get("evidence"); e.Present() && r.object(place, e, "owner", "runbook", "approval_ticket") {
		text := func(key string) string { return r.maybe(below(place, key), e.Get(key)) }
		c.Owner, c.Runbook, c.Ticket = text("owner"), text("runbook"), text("approval_ticket")
	}
	return c
}

func (r *reader) host(at string, v source.Value) HostRequest {
	var h HostRequest
	if !r.object(at, v, "schema_version", "host", "surface", "operation", "path", "subject", "requested_access", "reason") {
		return h
	}
	get := func(key string) (string, source.Value) { return below(at, key), member(v, key) }
	place, version := get("schema_version")
	r.version(place, version, HostRequestVersion)
	h.Host, h.Surface, h.Operation, h.Subject = r.name(get("host")), r.name(get("surface")), r.name(get("operation")), r.text(get("subject"))
	h.Reason = r.maybe(get("reason"))
	if place, p := get("path"); p.Present() && p.Kind != source.Null {
		h.Path = r.path(place, p)
	}
	place, access := get("requested_access")
	if access.Kind != source.Map {
		r.wrong(place, access, "must be an object")
	}
	h.Access = leaves(nil, "", access)
	return h
}

// leaves are the texts and truths of a value in order; a number is its text.
func leaves(list []Access, key string, v source.Value) []Access {
	switch v.Kind {
	case source.Map:
		for _, m := range v.Members {
			list = leaves(list, m.Key, m.Value)
		}
	case source.List:
		for _, e := range v.Items {
			list = leaves(list, key, e)
		}
	case source.String, source.Number:
		list = append(list, Access{Key: key, Text: v.Text})
	case source.Bool:
		list = append(list, Access{Key: key, Truth: v.Truth})
	case source.Null, source.Date:
	}
	return list
}
