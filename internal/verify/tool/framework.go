package tool

// API is what the openai_api and anthropic blocks hold besides tools (§12.7).
type API struct {
	Prompts         []Prompt
	ResponseFormats []ResponseFormat
	RetryPolicy     *bool // declared at all; nil when no policy or config file says anything
	Retry           any   // the first declared retry policy as decoded JSON; nil when there is none
	Timeouts        *bool
	TestCases       int
	Traces          []TraceEvent
	Policy          APIPolicy
	OpenAI          bool // an openai_api block exists
	Anthropic       bool
}

func (a *API) add(o *API) {
	a.Prompts = append(a.Prompts, o.Prompts...)
	a.ResponseFormats = append(a.ResponseFormats, o.ResponseFormats...)
	a.TestCases += o.TestCases
	a.Traces = append(a.Traces, o.Traces...)
	a.Policy.Approval = append(a.Policy.Approval, o.Policy.Approval...)
	a.Policy.Confirmation = append(a.Policy.Confirmation, o.Policy.Confirmation...)
	a.Policy.Idempotency = append(a.Policy.Idempotency, o.Policy.Idempotency...)
	a.Policy.Outputs = append(a.Policy.Outputs, o.Policy.Outputs...)
	if o.RetryPolicy != nil {
		a.RetryPolicy = o.RetryPolicy
	}
	if a.Retry == nil {
		a.Retry = o.Retry
	}
	if o.Timeouts != nil {
		a.Timeouts = o.Timeouts
	}
	a.OpenAI = a.OpenAI || o.OpenAI
	a.Anthropic = a.Anthropic || o.Anthropic
}

// Prompt is the text of one prompt file.
type Prompt struct {
	Path string
	Text string
}

// ResponseFormat is one response_formats file. Schema is decoded JSON.
type ResponseFormat struct {
	Name     string
	Path     string
	Schema   any
	Critical []string
}

// TraceEvent is one recorded tool call. A nil pointer is "not recorded".
type TraceEvent struct {
	Tool                         string
	Approved, Confirmed, Success *bool
	Path, Pointer                string
}

// APIPolicy is what policy rule files declare; they name tools by name.
type APIPolicy struct {
	Approval, Confirmation, Idempotency []string
	Outputs                             []OutputFields
}

// OutputFields are the declared success and failure fields of a tool.
type OutputFields struct {
	Tool             string
	Success, Failure []string
}

// ADK is what the Google ADK readers saw besides tools.
type ADK struct {
	Agents    int
	Callbacks int // callbacks and plugins, anywhere
	EvalFiles int
	Inventory bool // an explicit inventory was loaded
}

func (a *ADK) add(o *ADK) {
	a.Agents += o.Agents
	a.Callbacks += o.Callbacks
	a.EvalFiles += o.EvalFiles
	a.Inventory = a.Inventory || o.Inventory
}

// N8N is what the n8n reader saw besides tools.
type N8N struct {
	Workflows, AIAgents, EvalFiles  int
	CredentialRefs, CredentialStubs int
	Inventory                       bool
	Secrets                         []SecretSite
}

func (n *N8N) add(o *N8N) {
	n.Workflows += o.Workflows
	n.AIAgents += o.AIAgents
	n.EvalFiles += o.EvalFiles
	n.CredentialRefs += o.CredentialRefs
	n.CredentialStubs += o.CredentialStubs
	n.Inventory = n.Inventory || o.Inventory
	n.Secrets = append(n.Secrets, o.Secrets...)
}

// SecretSite says where a secret-like value stands and what kind it looks
// like; never the value.
type SecretSite struct{ Path, Pointer, Kind string }

// Plugin is one Codex plugin package and its components.
type Plugin struct {
	SourceID, Name, Root, ManifestPath string
	Issues                             []string // identity: missing_name, name_differs_from_root, duplicate_name, ...
	Components                         []Component
	Skills                             []Skill
	Servers                            []PluginServer
	Apps                               []PluginApp
	Hooks                              int
}

// Component is a path that a plugin names. Reason is "" when it is there, else
// missing or outside.
type Component struct{ Kind, Path, Reason string }

// Skill is one SKILL.md.
type Skill struct {
	Name, Path    string
	MissingFields []string
	Duplicate     bool
}

// PluginServer is an MCP server of a plugin. Inventory is "" when none is
// loaded for it.
type PluginServer struct{ Name, Path, Inventory string }

// PluginApp is a connector. Local says that a local surface describes it.
type PluginApp struct {
	Name, ConnectorID, Path string
	Local                   bool
}

// Marketplace is .agents/plugins/marketplace.json.
type Marketplace struct {
	SourceID, Path string
	Entries        []MarketEntry
}

// MarketEntry is one offered plugin. Missing lists policy.installation,
// policy.authentication and category where they are absent.
type MarketEntry struct {
	Plugin  string
	Missing []string
}

// Toolkit is a constructor in code that opens a family of provider tools with
// an allow-list or a configuration binding
// (SHIP-VERIFY-CAPABILITY-SCOPE-BROADENED, SHIP-CAP-CONFIG-BINDING-*).
type Toolkit struct {
	Provider    string   // module the constructor comes from
	Constructor string   // for example McpToolset, StripeAgentToolkit
	Binding     string   // variable or call it is bound to, the identity across two sides
	Scopes      []string // the literal allow-list, sorted
	Limited     bool     // an allow-list is given at all
	Config      string   // what configures it: env NAME, file path, or ""
	Origin      Origin
}

// Evidence is the content of validation evidence files (§4.6, §12.6).
type Evidence struct {
	Traces     EvidenceFiles[TraceEvent]
	Overrides  EvidenceFiles[OverrideEvent]
	Exclusions EvidenceFiles[Exclusion]
	Promotion  EvidenceFiles[Promotion]
}

func (e *Evidence) add(o *Evidence) {
	e.Traces.add(&o.Traces)
	e.Overrides.add(&o.Overrides)
	e.Exclusions.add(&o.Exclusions)
	e.Promotion.add(&o.Promotion)
}

// EvidenceFiles are the files of one role and the rows in them.
type EvidenceFiles[T any] struct {
	Files []EvidenceFile
	Rows  []T
}

func (e *EvidenceFiles[T]) add(o *EvidenceFiles[T]) {
	e.Files = append(e.Files, o.Files...)
	e.Rows = append(e.Rows, o.Rows...)
}

// EvidenceFile is one declared file. Status is expected_but_absent,
// source_load_failed, loaded or loaded_with_warnings.
type EvidenceFile struct{ Path, Status, Detail string }

// OverrideEvent is a row of an override log.
type OverrideEvent struct{ Tool, Action, Reason, Actor, Timestamp, Location string }

// Exclusion keeps a high-risk tool out of automatic approval.
type Exclusion struct{ Tool, Reason, Owner, Location string }

// Promotion is one promotion criteria file.
type Promotion struct {
	Posture                                          string
	ApprovalTrace, OverrideReason, HighRiskExclusion bool
	Location                                         string
}
