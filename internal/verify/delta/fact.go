package delta

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Text is a string that JSON spells null when it is empty.
type Text string

// ZeroIsNull says that "" is null.
func (Text) ZeroIsNull() {}

// MarshalJSON writes null for "".
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return canonical.AppendText(make([]byte, 0, len(t)+2), string(t))
}

func (t Text) value() any {
	if t == "" {
		return nil
	}
	return string(t)
}

// Line is a one-based line or column that JSON spells null when it is 0.
type Line int

// ZeroIsNull says that 0 is null.
func (Line) ZeroIsNull() {}

// MarshalJSON writes null for 0.
func (l Line) MarshalJSON() ([]byte, error) {
	if l == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(l), 10), nil
}

func (l Line) value() any {
	if l == 0 {
		return nil
	}
	return int(l)
}

// Fact is one capability: what one agent may do with one tool
// (docs/spec/verification.md §11.1). ID is cap_ and the identity hash.
type Fact struct {
	Kept      canonical.Kept `json:"-"`
	Digest    string         `json:"-"` // sha256: and the digest of its line in a lock; "" when it was not taken
	ID        string         `json:"id"`
	Identity  Identity       `json:"identity"`
	Effect    Effects        `json:"effect"`
	Authority Authority      `json:"authority"`
	Controls  Controls       `json:"controls"`
	Evidence  Evidence       `json:"evidence"`
	Hashes    Hashes         `json:"hashes"`
	RiskTags  []string       `json:"risk_tags"`
	Semantic  *Semantic      `json:"semantic_assessment"`
}

// Identity says which capability it is. Operation is "METHOD /path" or the tool
// name. Resource is what a reader says it acts on: an HTTP path, an MCP server.
type Identity struct {
	AgentID     string   `json:"agent_id"`
	ToolID      string   `json:"tool_id"`
	ToolName    string   `json:"tool_name"`
	Provider    string   `json:"provider"`
	Operation   string   `json:"operation"`
	SubjectKind string   `json:"subject_kind"`
	Resource    []string `json:"resource"`
	Scope       []string `json:"scope"`
}

// Effects is the side-effect view of §5.5. IdempotencyKnown is true or nil:
// nobody can prove that a call is not idempotent.
type Effects struct {
	Effect               effect.Effect `json:"effect"`
	ExternallyVisible    bool          `json:"externally_visible"`
	HandlesSensitiveData bool          `json:"handles_sensitive_data"`
	Financial            bool          `json:"financial"`
	CodeExecution        bool          `json:"code_execution"`
	HighRisk             bool          `json:"high_risk"`
	Reversibility        string        `json:"reversibility"`
	IdempotencyKnown     *bool         `json:"idempotency_known"`
}

// Authority is what the capability acts with.
type Authority struct {
	AuthType       Text     `json:"auth_type"`
	CredentialMode Text     `json:"credential_mode"`
	Scopes         []string `json:"scopes"`
	BroadScopes    []string `json:"broad_scopes"`
	Source         Text     `json:"source"`
}

// Controls is what stands between the agent and the effect. Nil is "nobody said".
type Controls struct {
	ApprovalRequired       *bool `json:"approval_required"`
	ApprovalThreshold      Text  `json:"approval_threshold"`
	ConfirmationRequired   bool  `json:"confirmation_required"`
	SafeguardIdempotency   *bool `json:"safeguard_idempotency"`
	SafeguardAuditLog      *bool `json:"safeguard_audit_log"`
	SafeguardRollback      *bool `json:"safeguard_rollback"`
	SafeguardDryRun        *bool `json:"safeguard_dry_run"`
	EvidenceOwner          Text  `json:"evidence_owner"`
	EvidenceRunbook        Text  `json:"evidence_runbook"`
	EvidenceApprovalTicket Text  `json:"evidence_approval_ticket"`
}

// Evidence is where the capability was read.
type Evidence struct {
	SourceType        string          `json:"source_type"`
	SourceID          Text            `json:"source_id"`
	SourceRef         Text            `json:"source_ref"`
	SourceLocation    Text            `json:"source_location"`
	SourcePath        Text            `json:"source_path"`
	SourceStartLine   Line            `json:"source_start_line"`
	SourceEndLine     Line            `json:"source_end_line"`
	SourceStartColumn Line            `json:"source_start_column"`
	SourcePointer     Text            `json:"source_pointer"`
	ProvenanceKind    string          `json:"provenance_kind"`
	Confidence        tool.Confidence `json:"confidence"`
}

// Hashes are short hashes of the parts, so that a reader sees which part of a
// capability moved without comparing all of it. How well something is known is
// part of the evidence: better evidence for the same capability is no change of
// the capability.
type Hashes struct {
	Identity  string `json:"identity_hash"`
	Binding   string `json:"binding_hash"`
	Effect    string `json:"effect_hash"`
	Authority string `json:"authority_hash"`
	Control   string `json:"control_hash"`
	Schema    string `json:"schema_hash"`
	Risk      string `json:"risk_hash"`
	Evidence  string `json:"evidence_hash"`
}

// Facts is one fact per action of the surface, in the order of §11.1: agent,
// provider, operation, tool name, scope, id.
func Facts(s *effect.Surface) []Fact { return describe(nil, s, factOf) }

// FactsOf is Facts of both sides of a change, by as many hands as each has, in the
// form that documents repeat and with their digests. A capability that is the same on both sides is
// described once. base may be nil.
func FactsOf(each tool.Each, head, base *effect.Surface) (ofHead, ofBase []Fact) {
	keep := func(s *effect.Surface, a *effect.Action) Fact {
		f := factOf(s, a)
		f.Kept = canonical.Keep(&f)
		f.Digest = "sha256:" + f.Kept.SHA256()
		return f
	}
	ofHead = describe(each, head, keep)
	if base == nil {
		return ofHead, nil
	}
	known := make(map[string]*Fact, len(ofHead))
	for i := range ofHead {
		known[ofHead[i].Identity.ToolID] = &ofHead[i]
	}
	actions := byActionID(head.Actions)
	alike := head.Graph.Root == base.Graph.Root && head.Graph.Status == base.Graph.Status
	return ofHead, describe(each, base, func(s *effect.Surface, a *effect.Action) Fact {
		h := actions[a.ID]
		if alike && h != nil && slices.Equal(s.Paths[a.Tool.ID], head.Paths[h.Tool.ID]) && reflect.DeepEqual(a, h) {
			return *known[a.Tool.ID]
		}
		return keep(s, a)
	})
}

func describe(each tool.Each, s *effect.Surface, of func(*effect.Surface, *effect.Action) Fact) []Fact {
	made := make([]Fact, len(s.Actions))
	order := make([]*Fact, len(s.Actions)) // a fact is too large to be moved while sorting
	each.Do(len(made), func(i int) {
		made[i] = of(s, s.Actions[i])
		order[i] = &made[i]
	})
	if slices.IsSortedFunc(order, inOrder) {
		return made
	}
	slices.SortStableFunc(order, inOrder)
	facts := make([]Fact, len(order))
	for i, f := range order {
		facts[i] = *f
	}
	return facts
}

func inOrder(a, b *Fact) int {
	for _, c := range []int{
		strings.Compare(a.Identity.AgentID, b.Identity.AgentID),
		strings.Compare(a.Identity.Provider, b.Identity.Provider),
		strings.Compare(a.Identity.Operation, b.Identity.Operation),
		strings.Compare(a.Identity.ToolName, b.Identity.ToolName),
		slices.Compare(a.Identity.Scope, b.Identity.Scope),
	} {
		if c != 0 {
			return c
		}
	}
	return strings.Compare(a.ID, b.ID)
}

func factOf(s *effect.Surface, a *effect.Action) Fact {
	view := a.View()
	f := Fact{
		Identity: identityOf(a),
		Effect: Effects{
			Effect: a.Effect, ExternallyVisible: view.ExternallyVisible, HandlesSensitiveData: view.SensitiveData,
			Financial: view.Financial, CodeExecution: view.CodeExecution, HighRisk: highRisk(a),
			Reversibility: view.Reversibility,
		},
		Authority: Authority{
			AuthType: Text(a.AuthType), CredentialMode: Text(a.Credential), Scopes: sorted(a.Scopes),
			BroadScopes: broad(a.Scopes), Source: Text(authoritySource(a)),
		},
		Controls: controlsOf(a),
		Evidence: evidenceOf(a.Tool),
		RiskTags: sorted(a.RiskTags),
		Semantic: semanticOf(s, a),
	}
	if view.IdempotencyKnown {
		f.Effect.IdempotencyKnown = new(true)
	}
	f.Hashes = f.hashes()
	f.ID = "cap_" + f.Hashes.Identity
	return f
}

// CapabilityID is the id of the fact of an action, without the rest of it.
func CapabilityID(a *effect.Action) string {
	return "cap_" + short(identityOf(a))
}

func identityOf(a *effect.Action) Identity {
	return Identity{
		AgentID: a.AgentID, ToolID: a.Tool.ID, ToolName: a.Tool.Name, Provider: a.Provider, Operation: a.Operation,
		SubjectKind: "action", Resource: resources(a.Tool), Scope: sorted(a.Scopes),
	}
}

// resources is what a reader saw as structure: the path of an HTTP operation, the
// server of a tool. An annotation of a list that only looks like it is none.
func resources(t *effect.Tool) []string {
	list := []string{}
	if _, path := t.Method(); path != "" {
		list = append(list, path)
	}
	for _, key := range []string{"mcp_server", "codex_plugin_mcp_server"} {
		if s, ok := t.Annotations[key].(string); ok && s != "" {
			list = append(list, s)
		}
	}
	return sorted(list)
}

// highRiskTags are tags that make a capability one that people look at first,
// whatever its effect is called.
var highRiskTags = []string{
	"code_execution", "destructive", "external_communication", "financial_write", "identity_access", "irreversible",
	"privileged_data", "production_ops", "secret_access",
}

func highRisk(a *effect.Action) bool {
	switch a.Effect {
	case effect.Read, effect.Write:
	default:
		return true
	}
	return slices.ContainsFunc(a.RiskTags, func(tag string) bool { return slices.Contains(highRiskTags, tag) })
}

func broad(scopes []string) []string {
	list := []string{}
	for _, s := range sorted(scopes) {
		if effect.BroadScope(s) {
			list = append(list, s)
		}
	}
	return list
}

// authoritySource says who speaks for the authority: the source that was read or
// the declaration of a person.
func authoritySource(a *effect.Action) string {
	switch {
	case a.Assessment.AuthorityStatus == effect.AuthorityDeclared:
		return "action_surface"
	case a.Assessment.AuthorityStatus == effect.AuthorityUnknown:
		return ""
	case a.Tool.Auth.Source != "":
		return a.Tool.Auth.Source
	}
	return a.Tool.Origin.Type
}

func controlsOf(a *effect.Action) Controls {
	return Controls{
		ApprovalRequired: held(a.Approval), ApprovalThreshold: Text(a.Threshold), ConfirmationRequired: a.Confirmation,
		SafeguardIdempotency: held(a.Idempotency), SafeguardAuditLog: held(a.AuditLog),
		SafeguardRollback: held(a.Rollback), SafeguardDryRun: held(a.DryRun),
		EvidenceOwner: Text(a.Owner), EvidenceRunbook: Text(a.Runbook), EvidenceApprovalTicket: Text(a.ApprovalTicket),
	}
}

func held(c effect.Control) *bool {
	if !c.Known {
		return nil
	}
	return new(c.Value)
}

func evidenceOf(t *effect.Tool) Evidence {
	o := t.Origin
	confidence := t.Confidence
	if confidence == "" {
		confidence = tool.Low
	}
	return Evidence{
		SourceType: o.Type, SourceID: Text(o.SourceID), SourceRef: Text(o.Ref), SourceLocation: Text(o.Location),
		SourcePath: Text(o.Path), SourceStartLine: Line(o.Start.Line), SourceEndLine: Line(o.EndLine),
		SourceStartColumn: Line(o.Start.Column), SourcePointer: Text(o.Pointer),
		ProvenanceKind: provenance(o), Confidence: confidence,
	}
}

// provenance tells parsed code from a written list: code has a place in a file,
// a list has a pointer into a document.
func provenance(o tool.Origin) string {
	if o.Location != "" {
		return "ast_extraction"
	}
	return "static_declaration"
}

func (f *Fact) hashes() Hashes {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	inputs, required, _ := f.inputs()
	return Hashes{
		Identity: h.short(&f.Identity),
		Binding:  h.short(f.Semantic.way()),
		Effect:   h.short(&f.Effect),
		Authority: h.short(struct {
			Authority *Authority `json:"authority"`
			Mode      string     `json:"mode"`
		}{&f.Authority, f.mode()}),
		Control: h.short(&f.Controls),
		Schema: h.short(struct {
			Inputs   []string `json:"input_fields"`
			Required []string `json:"required_input_fields"`
		}{inputs, required}),
		Risk: h.short(f.RiskTags),
		Evidence: h.short(struct {
			Known  *known    `json:"assessment"`
			Source *Evidence `json:"source"`
		}{f.Semantic.known(), &f.Evidence}),
	}
}

func (e *Evidence) object() canonical.Object {
	return canonical.Object{
		{Key: "confidence", Value: string(e.Confidence)},
		{Key: "provenance_kind", Value: e.ProvenanceKind},
		{Key: "source_end_line", Value: e.SourceEndLine.value()},
		{Key: "source_id", Value: e.SourceID.value()},
		{Key: "source_location", Value: e.SourceLocation.value()},
		{Key: "source_path", Value: e.SourcePath.value()},
		{Key: "source_pointer", Value: e.SourcePointer.value()},
		{Key: "source_ref", Value: e.SourceRef.value()},
		{Key: "source_start_column", Value: e.SourceStartColumn.value()},
		{Key: "source_start_line", Value: e.SourceStartLine.value()},
		{Key: "source_type", Value: e.SourceType},
	}
}

func optional(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}

// sorted is a sorted copy without duplicates, never nil: an empty list is [].
func sorted(list []string) []string {
	own := append([]string{}, list...)
	slices.Sort(own)
	return slices.Compact(own)
}
