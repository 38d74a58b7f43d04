// Package effect says what a tool may do, with whose authority, and who may
// call it (docs/spec/verification.md §§5.4–6).
//
// Evidence has a basis. A declaration of people, the structure of a protocol, a
// typed hint of a provider and a scope are proof that a control may rest on;
// words in a description are not: they raise a question, they never block.
package effect

import (
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Effect is what an action does, from §4.8.
type Effect string

// The effects.
const (
	Read                  Effect = "read"
	Write                 Effect = "write"
	Destructive           Effect = "destructive"
	ExternalCommunication Effect = "external_communication"
	FinancialWrite        Effect = "financial_write"
	ProductionOperation   Effect = "production_operation"
	PrivilegedDataAccess  Effect = "privileged_data_access"
	CodeExecution         Effect = "code_execution"
	IdentityAccess        Effect = "identity_access"
)

// Basis is what a claim rests on (§6.2).
type Basis string

// The bases.
const (
	ReviewedDeclaration Basis = "reviewed_declaration"
	ProtocolStructure   Basis = "protocol_structure"
	TypedProviderFact   Basis = "typed_provider_fact"
	StructuralScope     Basis = "structural_scope"
	InferredKeyword     Basis = "inferred_keyword"
	InferredRegex       Basis = "inferred_regex"
	ProtocolDefault     Basis = "protocol_default"
	UnknownBasis        Basis = "unknown"
)

// The dimensions of a claim.
const (
	EffectDimension    = "effect"
	AuthorityDimension = "authority"
)

// Claim is one piece of evidence about an action.
type Claim struct {
	ID         string // claim_ + short hash of the other fields
	Dimension  string // effect or authority
	Value      string // an Effect, or an authority mode
	Basis      Basis
	Eligible   bool // a control may rest on it
	Confidence tool.Confidence
	Source     string // what was read: httpMethod, readOnlyHint, auth.scopes, action_surface.actions[].effect, words, ...
	Provenance string // static_declaration, ast_extraction or keyword_heuristic
	Why        string // what was seen, in words; never a secret
	At         tool.Origin
}

// Issue is one thing that keeps an action, a tool or the graph from being
// understood. Kind is one of the 29 gap kinds of §8.3.
type Issue struct {
	Kind       string
	Subject    string // tool name, agent name or source id
	Agent      string // the agent that holds the subject, when the subject is a tool of an agent
	ToolID     string // "" when it is not about a tool
	SourceID   string
	SourceType string
	SourceRef  string
	Why        string
	Key        string // the manifest key that is missing or would settle it, dotted
	InSource   bool   // nothing in the manifest settles it: the source itself has to say it, at At
	At         tool.Origin
	Candidates []string // names that could resolve it, sorted
	Path       []string // in the manifest, when an entry there is the cause
	Concern    bool     // a pure review concern: unscoped or ambient authority, otherwise full evidence
}

// EffectStatus is how well the effect of an action is known (§6.3).
type EffectStatus string

// The statuses.
const (
	EffectDeclared        EffectStatus = "declared"
	EffectConflicting     EffectStatus = "conflicting"
	EffectStructural      EffectStatus = "structural"
	EffectProtocolDefault EffectStatus = "protocol_default"
	EffectInferred        EffectStatus = "inferred"
	EffectUnknown         EffectStatus = "unknown"
)

// AuthorityStatus is how well the authority of an action is known.
type AuthorityStatus string

// The statuses.
const (
	AuthorityDeclared    AuthorityStatus = "declared"
	AuthorityStructural  AuthorityStatus = "structural"
	AuthorityPartial     AuthorityStatus = "partial"
	AuthorityConflicting AuthorityStatus = "conflicting"
	AuthorityUnknown     AuthorityStatus = "unknown"
)

// Assessment is what is known of one action (§6.3).
type Assessment struct {
	EffectStatus     EffectStatus
	EffectConfidence tool.Confidence
	Control          []Effect // control effects: every eligible claim's, sorted by rank
	Claims           []Claim  // effect and authority claims, strongest first

	Settled bool // an override says why the declared effect stands against other evidence

	AuthorityStatus AuthorityStatus
	AuthorityMode   string // none, scoped, unscoped, ambient, "" when unknown

	IdentityEligible bool
	BindingEligible  bool
	SurfaceComplete  bool

	Issues       []Issue
	PassEligible bool
}

// Eligible says whether an eligible claim of the assessment has the value e.
func (a *Assessment) Eligible(e Effect) bool {
	for _, have := range a.Control {
		if have == e {
			return true
		}
	}
	return false
}

// Tool is one canonical tool: one observation, or several that a manifest binds
// together (§5.4).
type Tool struct {
	ID           string      // tool_v2_…
	Observations []string    // ids of Members, in their order: obs_v1_…
	BindingID    string      // of the tool_identity binding, "" when structural
	tool.Tool                // the primary, completed from members
	Members      []tool.Tool // observations behind it, the primary first
	Hints        []tool.Hint // §6.1, all sources, one per (tag, source)
	Classes      []string    // permission classes of §6.3, strongest first
	Status       string      // structural or declared
	Issues       []Issue     // of identity

	under circumstances // that it was judged under
	acts  *Action       // once it is judged: what the root agent does with it, or nil
}

// IdentityEligible says whether it is clear which tool this is.
func (t *Tool) IdentityEligible() bool { return len(t.Issues) == 0 }

// Action is the action record of §5.5: one per reachable tool.
type Action struct {
	ID         string
	AgentID    string
	Tool       *Tool
	Provider   string
	Operation  string
	Effect     Effect
	RiskTags   []string // sorted
	Scopes     []string // required_scopes, sorted
	AuthType   string
	Mode       string // authority mode
	Credential string

	Approval     Control
	Threshold    string
	Confirmation bool // a confirmation policy names exactly this tool, and its identity is eligible
	Idempotency  Control
	AuditLog     Control
	Rollback     Control
	DryRun       Control

	Owner, Runbook, ApprovalTicket string

	Inputs, RequiredInputs []string // sorted names
	Declared               *manifest.Action
	Assessment             Assessment

	IdentityHash, SchemaHash, PolicyHash, RiskHash string
}

// Control is one control of an action and where it comes from.
type Control struct {
	Known     bool   // somebody said something
	Value     bool   // what holds
	Inherited *bool  // what policy, annotation or parameter gives, nil when nothing
	Declared  *bool  // what action_surface says, nil when nothing
	From      string // policy, annotation, parameter, declaration
}

// Downgraded says that a declaration sets false where something else gives true.
func (c Control) Downgraded() bool {
	return c.Declared != nil && !*c.Declared && c.Inherited != nil && *c.Inherited
}

// View is the side-effect view of §5.5.
type View struct {
	ExternallyVisible, SensitiveData, Financial, CodeExecution bool
	Reversibility                                              string // reversible, irreversible, unknown
	IdempotencyKnown                                           bool
}

// Node is an agent of the binding graph.
type Node struct {
	ID   string // agent_v1:…
	Name string
	At   tool.Origin
}

// Graph is who may call what (§6.4).
type Graph struct {
	Nodes    []Node
	Root     string // node id, "" when ambiguous or none
	Edges    []GraphEdge
	Status   string // conflicting, partial, declared, structural, unknown
	Issues   []Issue
	Eligible bool
}

// GraphEdge is a resolved edge.
type GraphEdge struct {
	Kind     tool.EdgeKind
	From     string // node id
	Tool     string // tool id, or ""
	To       string // node id, or ""
	Complete bool
	Declared bool
	At       tool.Origin
}

// Reach says how a tool is bound to the root agent.
type Reach string

// The reaches.
const (
	Reachable Reach = "reachable"
	Possible  Reach = "possible"
	Unbound   Reach = "unbound"
)

// Surface is everything known of one side.
type Surface struct {
	Manifest *manifest.Manifest
	Reading  *tool.Reading
	Catalog  []*Tool          // every canonical tool, sorted by name and id
	Reach    map[string]Reach // by tool id
	Graph    Graph
	Actions  []*Action           // one per reachable tool, sorted by id
	Warnings []tool.Warning      // of resolution, for example colliding action ids
	Paths    map[string][]string // by tool id: node ids from the root to the agent that holds the tool

	tools    map[string]int // by id: places in Catalog
	controls map[ControlKind]map[string]bool
	judged   bool    // tools know their actions, and every action is one of a reachable tool
	reached  []*Tool // what Tools lists of a judged side
}

// Tools is the tool inventory: what the root agent reaches, in catalog order. The
// list is nobody's to change.
func (s *Surface) Tools() []*Tool {
	if s.judged {
		return s.reached
	}
	var reached []*Tool
	for _, t := range s.Catalog {
		if s.Reach[t.ID] == Reachable {
			reached = append(reached, t)
		}
	}
	return reached
}

// Acting are the actions of Tools, in the order of Actions. The list is nobody's
// to change.
func (s *Surface) Acting() []*Action {
	if s.judged {
		return s.Actions
	}
	actions := make([]*Action, 0, len(s.Actions))
	for _, a := range s.Actions {
		if s.Reach[a.Tool.ID] == Reachable {
			actions = append(actions, a)
		}
	}
	return actions
}

// ActionOf is the action of one of the side's own tools, or nil.
func (s *Surface) ActionOf(t *Tool) *Action {
	if s.judged {
		return t.acts
	}
	return s.Action(t.ID)
}

// Tool is the tool with an id, or nil.
func (s *Surface) Tool(id string) *Tool {
	if s.tools != nil {
		if n, there := s.tools[id]; there {
			return s.Catalog[n]
		}
		return nil
	}
	for _, t := range s.Catalog {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// Shares says whether the side has the very tool of the other side: it was judged
// once, under the same circumstances, and both have one action of it.
func (s *Surface) Shares(t *Tool) bool { return s.judged && s.Tool(t.ID) == t }

// Action is the action of the tool with an id, or nil.
func (s *Surface) Action(toolID string) *Action {
	if s.judged {
		if t := s.Tool(toolID); t != nil {
			return t.acts
		}
		return nil
	}
	for _, a := range s.Actions {
		if a.Tool.ID == toolID {
			return a
		}
	}
	return nil
}
