// Package manifest reads shipgate.yaml: what a team declares about its agent,
// where its tools come from and which controls stand
// (docs/spec/verification.md §4).
//
// A manifest is a claim by people, never a command: nothing that it names is
// run. It is read strictly, because a misspelt key that is skipped is a control
// that silently does not exist.
package manifest

import (
	"strconv"

	"plimsoll.dev/internal/gate/source"
)

// Review is the placeholder that templates ask with. As any value of a loaded
// manifest it is refused (§4.1 rule 6).
const Review = "<REVIEW_REQUIRED>"

// Manifest is one loaded shipgate.yaml. Absent blocks are nil where §4.2 says
// null and zero values elsewhere.
type Manifest struct {
	Name string // file name as given, relative to the manifest directory
	Text []byte // the bytes that were read; patches are made against them
	Root source.Value

	Version     string
	Project     Project
	Agent       Agent
	Environment Environment
	Sources     []Source

	OpenAI    *OpenAI
	Anthropic *Anthropic
	ADK       *ADK
	LangChain *Framework
	CrewAI    *Framework
	Plugins   *Plugins
	N8N       *N8N

	Identities   []Identity // tool_identity.bindings[]
	Bindings     Bindings
	Surface      Surface
	Validation   *Validation
	Policies     Policies
	Permissions  Permissions
	Risks        []Risk // risk_overrides.tools, sorted by tool
	Checks       Checks
	Baseline     Baseline
	Organization *Organization
	Acks         []Ack
	CI           CI
	Output       Output
}

// At is where the value at the given keys stands in the file; list items are
// addressed by their decimal index. The zero Position means it is not there.
func (m *Manifest) At(path ...string) source.Position { return position(m.Root, path) }

// Project names the repository.
type Project struct{ Name, Owner, Repo string }

// Agent is §4.3.
type Agent struct {
	Name         string
	Purpose      []string // declared_purpose
	Prohibited   []string // prohibited_actions
	Instructions string   // instructions_preview
	SDK          SDK
}

// SDK says where the agent's own code is. Object names the root agent's
// variable.
type SDK struct {
	Type, Language, Entrypoint, Object string
	StaticExtract                      bool
}

// Environment is where the agent runs.
type Environment struct{ Target, PromotionFrom, PromotionTo string }

// Production says whether the target is production_like or production.
func (e Environment) Production() bool {
	return e.Target == "production" || e.Target == "production_like"
}

// Source is one row of tool_sources (§4.4).
type Source struct {
	Index     int // in tool_sources
	ID        string
	Type      string
	Path      string
	Mode      string
	Trust     string
	Optional  bool
	Authority *Authority
	Binding   *SourceBinding
	Pos       source.Position
}

// Authority is what a source or an action may act with. Mode is none, scoped,
// unscoped or ambient.
type Authority struct {
	Mode, AuthType, CredentialMode, Reason string
	Scopes                                 []string
}

// SourceBinding says that all tools of a source belong to the root agent.
type SourceBinding struct {
	Complete bool
	Reason   string
}

// Artifact is a file named by a framework block: "path" or {path, optional}.
type Artifact struct {
	Path     string
	Optional bool
	Name     string   // function_schemas, response_formats
	Critical []string // response_formats: downstream_critical_fields
	Plugin   string   // codex_plugins.mcp_tool_inventories
	Server   string
	Pos      source.Position
}

// OpenAI is the openai_api block.
type OpenAI struct {
	Prompts, Tools, FunctionSchemas, ResponseFormats []Artifact
	ModelConfig                                      *Artifact
	TestCases, Traces, PolicyRules                   []Artifact
}

// Anthropic is the anthropic block.
type Anthropic struct{ Prompts, Tools, PolicyRules []Artifact }

// ADK is the google_adk block.
type ADK struct{ Entrypoints, AgentConfigs, EvalSets, Inventories, Traces []Artifact }

// Framework is the langchain or the crewai block.
type Framework struct{ Entrypoints, Inventories []Artifact }

// Plugins is the codex_plugins block.
type Plugins struct{ Inventories []Artifact }

// N8N is the n8n block.
type N8N struct {
	Workflows, CredentialStubs, VariableStubs, DataTables, Executions, EvalSets, Inventories []Artifact
}

// Selector names one tool (§5.4, row "selector"). Tool or ToolID is set.
type Selector struct {
	Tool, ToolID, Provider, SourceType, SourceID, Reason string
	Path                                                 []string // of the entry in the manifest
	Pos                                                  source.Position
}

// Identity says that several observations are one capability (§4.7).
type Identity struct {
	ID, Provider, Reason string
	Primary              Selector
	Members              []Selector
	Pos                  source.Position
}

// Bindings is agent_bindings (§4.7).
type Bindings struct {
	RootObject, RootSource string // root{object, source_id}; both empty when absent
	Declarations           []Binding
}

// Binding is a closed-world declaration: the listed set is the whole set.
type Binding struct {
	Agent    string
	Tools    []Selector
	Handoffs []string
	Reason   string
	Pos      source.Position
}

// Surface is action_surface (§4.8).
type Surface struct {
	RequireExplicit bool
	Actions         []Action
	Policies        []Policy
}

// Action is one declared action. A nil pointer or a nil slice is "not said":
// only what is said overrides anything.
type Action struct {
	Index                   int
	Selector                Selector
	ID, Provider, Operation string
	Effect                  string
	RiskTags                []string
	Scopes                  []string // nil when not given
	Authority               *Authority
	Approval                *Approval
	Safeguards              Safeguards
	Evidence                ActionEvidence
	Override                *Override
	Pos                     source.Position
}

// Approval says whether a person must agree, and from which amount.
type Approval struct {
	Required  *bool
	Threshold string
}

// Safeguards are the declared controls of an action; nil is "not said".
type Safeguards struct{ Idempotency, AuditLog, Rollback, DryRun *bool }

// ActionEvidence names people and documents.
type ActionEvidence struct{ Owner, Runbook, ApprovalTicket string }

// Override is a later addition: why a declared effect stands against evidence.
type Override struct{ Evidence, Reason string }

// Policy is a rule of the team over its actions (§4.8, §11.4 user policies).
// Require maps a dotted path, aliases resolved, to the wanted value.
type Policy struct {
	ID                      string
	Match                   Match
	Require                 []Requirement
	Severity                string
	Block                   bool
	Message, Recommendation string
	Pos                     source.Position
}

// Match is the predicate part of a policy; an empty list is no predicate.
type Match struct{ ActionIDs, ToolIDs, Tools, Effects, RiskTags, Scopes []string }

// Requirement is one wanted value. Value is a JSON value.
type Requirement struct {
	Path  string
	Value any
}

// Validation is §4.6.
type Validation struct {
	Mode, Posture                                               string
	ApprovalTrace, OverrideReason, HighRiskExclusion            bool // required_evidence
	ApprovalTraces, OverrideLogs, Exclusions, PromotionCriteria []Artifact
}

// Policies selects tools that must be controlled (§4.6).
type Policies struct{ Approval, Confirmation, Idempotency []Selector }

// Permissions is what the whole agent is granted.
type Permissions struct {
	Scopes                []string
	CredentialMode, Notes string
}

// Risk is one entry of risk_overrides.tools.
type Risk struct {
	Tool             string
	Tags, RemoveTags []string
	Owner, Reason    string
	Confidence       string
	Pos              source.Position
}

// Checks is §4.9.
type Checks struct {
	Ignore           []Ignore
	Overrides        []SeverityOverride // sorted by check
	Acknowledgements []Acknowledgement
	Packs            []Pack
}

// Ignore suppresses a check, for one tool or for all.
type Ignore struct {
	Index                                 int
	CheckID, Tool, Owner, Reason, Expires string
	Pos                                   source.Position
}

// SeverityOverride moves a check's severity.
type SeverityOverride struct {
	CheckID, Severity, Reason, Expires string
	Pos                                source.Position
}

// Acknowledgement lets an override cross tiers.
type Acknowledgement struct {
	CheckID, Reason, Expires string
	Pos                      source.Position
}

// Pack names a policy pack file.
type Pack struct {
	ID, Path, Source, SHA256 string
	Optional                 bool
	Pos                      source.Position
}

// Baseline is the baseline block.
type Baseline struct{ IntegrityMode, AuditLog string }

// Organization is the organization block.
type Organization struct {
	ID, Repo, Service, Tier string
	Teams                   []Team // sorted by name
	Exceptions              *ExceptionPolicy
	Registry                string // audit.registry
}

// Team and its reviewers.
type Team struct {
	Name      string
	Reviewers []string
}

// ExceptionPolicy is what every waiver must carry. MaxAgeDays is positive or 0
// for "no limit".
type ExceptionPolicy struct {
	RequireOwner, RequireReason, RequireExpiry bool
	MaxAgeDays                                 int
}

// Ack is a row of human_ack. It is reported and never subtracts (§9.7).
type Ack struct{ Surface, Owner, Reason, Expires string }

// CI is the ci block. FailOn is nil when not given.
type CI struct {
	Mode                                   string
	FailOn                                 []string
	PRComment, Annotations, UploadArtifact bool
}

// Output is the output block.
type Output struct {
	Directory     string
	Formats       []string
	Packet        bool
	PacketFormats []string
}

func position(v source.Value, path []string) source.Position {
	pos := v.Pos
	for _, key := range path {
		next, at, ok := step(v, key)
		if !ok {
			return source.Position{}
		}
		v, pos = next, at
	}
	return pos
}

func step(v source.Value, key string) (source.Value, source.Position, bool) {
	if v.Kind == source.Map {
		for _, m := range v.Members {
			if m.Key == key {
				return m.Value, m.Pos, true
			}
		}
		return source.Value{}, source.Position{}, false
	}
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(v.Items) || strconv.Itoa(i) != key {
		return source.Value{}, source.Position{}, false
	}
	return v.Items[i], v.Items[i].Pos, true
}
