package delta

import (
	"cmp"
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
func Facts(s *effect.Surface) []Fact { return describe(nil, s, inOrder(s.Actions), factOf) }

// FactsOf is Facts of both sides of a change, by as many hands as each has, in the
// form that documents repeat and with their digests. An action that both sides
// have one of (D70.Z3) is described once. base may be nil.
func FactsOf(each tool.Each, head, base *effect.Surface) (ofHead, ofBase []Fact) {
	keep := func(s *effect.Surface, a *effect.Action) Fact {
		f := factOf(s, a)
		f.keep()
		return f
	}
	if base == nil {
		return describe(each, head, inOrder(head.Actions), keep), nil
	}
	order := make([][]*effect.Action, 2)
	each.Do(len(order), func(i int) { order[i] = inOrder([]*effect.Surface{head, base}[i].Actions) })
	ofHead = describe(each, head, order[0], keep)
	known := make(map[*effect.Action]*Fact, len(ofHead))
	if head.Graph.Root == base.Graph.Root && head.Graph.Status == base.Graph.Status {
		for i, a := range order[0] {
			known[a] = &ofHead[i]
		}
	}
	return ofHead, describe(each, base, order[1], func(s *effect.Surface, a *effect.Action) Fact {
		if f := known[a]; f != nil && slices.Equal(base.Paths[a.Tool.ID], head.Paths[a.Tool.ID]) {
			return *f
		}
		return keep(s, a)
	})
}

func describe(each tool.Each, s *effect.Surface, actions []*effect.Action, of func(*effect.Surface, *effect.Action) Fact) []Fact {
	facts := make([]Fact, len(actions))
	each.Do(len(facts), func(i int) { facts[i] = of(s, actions[i]) })
	return facts
}

// inOrder is actions in the order of their facts.
func inOrder(actions []*effect.Action) []*effect.Action {
	compare := func(a, b *effect.Action) int {
		c := slices.Compare([]string{a.AgentID, a.Provider, a.Operation, a.Tool.Name}, []string{b.AgentID, b.Provider, b.Operation, b.Tool.Name})
		if c == 0 {
			c = slices.Compare(sorted(a.Scopes), sorted(b.Scopes))
		}
		if c == 0 {
			c = strings.Compare(CapabilityID(a), CapabilityID(b))
		}
		return c
	}
	if slices.IsSortedFunc(actions, compare) {
		return actions
	}
	own := slices.Clone(actions)
	slices.SortStableFunc(own, compare)
	return own
}

// byPlace is the same order of the facts themselves.
func byPlace(a, b *Fact) int {
	i, j := &a.Identity, &b.Identity
	return cmp.Or(
		slices.Compare([]string{i.AgentID, i.Provider, i.Operation, i.ToolName}, []string{j.AgentID, j.Provider, j.Operation, j.ToolName}),
		slices.Compare(i.Scope, j.Scope), strings.Compare(a.ID, b.ID),
	)
}

func factOf(s *effect.Surface, a *effect.Action) Fact {
	view := a.View()
	scopes, inputs, required := sorted(a.Scopes), sorted(a.Inputs), sorted(a.RequiredInputs)
	f := Fact{
		Identity: identityOf(a, scopes),
		Effect: Effects{
			Effect: a.Effect, ExternallyVisible: view.ExternallyVisible, HandlesSensitiveData: view.SensitiveData,
			Financial: view.Financial, CodeExecution: view.CodeExecution, HighRisk: highRisk(a),
			Reversibility: view.Reversibility,
		},
		Authority: Authority{
			AuthType: Text(a.AuthType), CredentialMode: Text(a.Credential), Scopes: scopes,
			BroadScopes: broad(scopes), Source: Text(authoritySource(a)),
		},
		Controls: controlsOf(a),
		Evidence: evidenceOf(a.Tool),
		RiskTags: sorted(a.RiskTags),
		Semantic: semanticOf(s, a, scopes, inputs, required),
	}
	if view.IdempotencyKnown {
		f.Effect.IdempotencyKnown = new(true)
	}
	f.hash(inputs, required)
	return f
}

// CapabilityID is the id of the fact of an action, without the rest of it.
func CapabilityID(a *effect.Action) string {
	i := identityOf(a, sorted(a.Scopes))
	return capabilityID(&i)
}

// identityOf is the identity of an action, whose scopes are sorted.
func identityOf(a *effect.Action, scopes []string) Identity {
	return Identity{
		AgentID: a.AgentID, ToolID: a.Tool.ID, ToolName: a.Tool.Name, Provider: a.Provider, Operation: a.Operation,
		SubjectKind: "action", Resource: resources(a.Tool), Scope: scopes,
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

// broad is which of sorted scopes are broad.
func broad(scopes []string) []string {
	list := []string{}
	for _, s := range scopes {
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
	o := &t.Origin
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
func provenance(o *tool.Origin) string {
	if o.Location != "" {
		return "ast_extraction"
	}
	return "static_declaration"
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

// sorted is a sorted list without duplicates, never nil: an empty list is []. It
// is a copy unless the list is one already.
func sorted(list []string) []string {
	if list != nil && isSet(list) {
		return slices.Clip(list)
	}
	own := append([]string{}, list...)
	slices.Sort(own)
	return slices.Compact(own)
}

func isSet(list []string) bool {
	for i := range list[min(1, len(list)):] {
		if list[i] >= list[i+1] {
			return false
		}
	}
	return true
}
