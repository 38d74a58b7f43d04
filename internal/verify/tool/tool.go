// Package tool holds what readers find in a repository: tools as they are
// written down somewhere, agents, who may call what, and what could not be read.
//
// An observation is a fact about a file, never a judgement: whether a tool is
// dangerous is package effect's question (docs/spec/verification.md §5).
package tool

import "plimsoll.dev/internal/gate/source"

// Confidence is how sure a reader or a hint is.
type Confidence string

// The confidences, best first.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Origin is where an observation stands. Lines and columns are one-based, 0 is
// "not known"; a JSON input carries a pointer as well.
type Origin struct {
	Type     string // source_type: mcp, openapi, sdk_function, langchain_tool, ...
	SourceID string // id of the row in tool_sources, or of the framework block's artifact
	Ref      string // what the source names: the declared path
	Path     string // file, relative to the manifest directory
	Start    source.Position
	EndLine  int
	Pointer  string // RFC 6901
	Location string // path:line of code
}

// Tool is one observation of a tool (§5.1).
type Tool struct {
	Name        string
	Description string
	Owner       string
	Provider    string // where the source says so; else the source id stands for it
	Origin      Origin

	Input     any // JSON Schema as decoded JSON (map[string]any, ...); nil when none
	Output    any
	Params    []Parameter
	Signature string // function_signature of code

	// Annotations is the free map of §5.3. Values are JSON values: bool, string,
	// json.Number, nil, []any, map[string]any.
	Annotations map[string]any

	Auth       Auth
	Hints      []Hint // manual hints only; package effect derives the others
	Method     string // extraction.method: declared, parsed, prebuilt, stub
	Confidence Confidence

	Once *Once // of a reading that another side may take over, or nil
}

// Once marks what one reading of one source found. A side that takes over the
// reading of the other side takes over its mark: observations of one mark and one
// name in their source are the same in every field.
type Once struct{ _ byte }

// Locator is the native locator of §5.4.
func (t *Tool) Locator() string {
	switch t.Origin.Type {
	case "openapi":
		if method, ok := t.Annotations["httpMethod"].(string); ok {
			path, _ := t.Annotations["path"].(string)
			return method + " " + path
		}
	case "mcp", "codex_config_mcp", "codex_plugin_mcp_inventory", "n8n_mcp_client_tool", "mcp_server_code":
		return t.Name
	}
	for _, at := range []string{t.Origin.Ref, t.Origin.Location, t.Origin.Pointer} {
		if at != "" {
			return at + "#" + t.Name
		}
	}
	return t.Name
}

// Flag is the boolean annotation key: its value, and whether it is there as an
// exact boolean.
func (t *Tool) Flag(key string) (value, ok bool) {
	value, ok = t.Annotations[key].(bool)
	return value, ok
}

// Parameter is one input of a tool. Minimum and Maximum are JSON numbers as
// written, "" when absent. Type is a JSON type, a list joined by "|", "enum",
// "object", "array" or "".
type Parameter struct {
	Name, Type       string
	Required         bool
	Description      string
	Enum             []any
	Minimum, Maximum string
	Format           string
	Default          any
}

// Auth is what a source says about credentials. The zero Auth says nothing.
type Auth struct {
	Type           string
	Scopes         []string
	CredentialMode string
	Source         string // where it was read: "source", "source.authority", ...
	Anonymous      bool   // an alternative without any credential is offered
	Differ         bool   // several alternatives are offered and do not agree on type and scopes
}

// Hint is a risk tag with its evidence (§6.1).
type Hint struct {
	Tag        string
	Source     string
	Confidence Confidence
	Evidence   string
}

// Agent is one agent that code or a flow shows.
type Agent struct {
	Name   string
	Origin Origin
}

// EdgeKind is how an agent reaches something.
type EdgeKind string

// The kinds of §6.4: the first four lead to tools, the last two to agents.
const (
	DirectTool EdgeKind = "direct_tool"
	ToolNode   EdgeKind = "tool_node"
	Toolset    EdgeKind = "toolset"
	Workflow   EdgeKind = "workflow"
	Subagent   EdgeKind = "subagent"
	Handoff    EdgeKind = "handoff"
)

// Edge leads from an agent to one tool or one agent, by name inside of a
// source. Complete is false when the list it comes from could not be read in
// full.
type Edge struct {
	Kind     EdgeKind
	Agent    string // from
	To       string // tool or agent name as the source spells it
	ToSource string // source id of what it leads to, "" for that of the edge
	Complete bool
	Declared bool // static declaration (a file that lists), not parsed code
	Origin   Origin
	Unproven string // why it is not complete
}

// Target is the source id of what the edge leads to.
func (e *Edge) Target() string {
	if e.ToSource != "" {
		return e.ToSource
	}
	return e.Origin.SourceID
}

// Dynamic is something that offers tools and cannot be enumerated by reading.
type Dynamic struct {
	Framework string // openai_agents_sdk, langchain, crewai, google_adk, n8n, conductor, mcp_server, codex_config
	Kind      string // toolset, tool_list, binding, schema, name, workflow, mcp_client, wildcard, community_node, ...
	Reason    string // comprehension, runtime_call, unresolved_name, unsupported_expression, expression, ...
	Agent     string // when an agent is named
	Name      string // a name that was seen, or ""
	Filtered  bool   // a static filter limits it
	Resolved  bool   // an inventory stands for it
	Inventory string // inventory_path
	Selection string // n8n: all, all_except, selected
	Node      string // n8n: id of the node
	Origin    Origin
}

// Warning is something in a source that was read but not understood, or was
// not there although optional. It never hides a tool.
type Warning struct {
	Code     string // snake case: missing_optional_source, unnamed_tool, duplicate_tool, external_ref, ...
	Message  string // one sentence, no value of a secret
	SourceID string
	Origin   Origin

	// What a person may add to the manifest about it: Name, to the list at
	// Pointer (RFC 6901). Both are empty where no key of the manifest answers.
	Name, Pointer string
}

// State is how the reading of one source ended.
type State string

// The states.
const (
	Loaded      State = "loaded"
	Missing     State = "missing"     // optional and not there
	Failed      State = "failed"      // optional and unreadable
	Unsupported State = "unsupported" // no reader for its type (ruling R13)
)

// Source is one declared source and what came of it.
type Source struct {
	ID, Type, Path string
	State          State
	Tools          int
	Optional       bool
}

// Reading is everything that one side's readers found, in the order of the
// manifest and then of the files.
type Reading struct {
	Sources  []Source
	Tools    []Tool
	Agents   []Agent
	Edges    []Edge
	Dynamic  []Dynamic
	Warnings []Warning

	API     *API
	ADK     *ADK
	N8N     *N8N
	Plugins []Plugin
	Markets []Marketplace
	Toolkit []Toolkit

	// Evidence files of validation (§4.6), by role.
	Evidence Evidence
}

// Add appends what another reader found.
func (r *Reading) Add(o *Reading) {
	r.Sources = append(r.Sources, o.Sources...)
	r.Tools = append(r.Tools, o.Tools...)
	r.Agents = append(r.Agents, o.Agents...)
	r.Edges = append(r.Edges, o.Edges...)
	r.Dynamic = append(r.Dynamic, o.Dynamic...)
	r.Warnings = append(r.Warnings, o.Warnings...)
	r.Plugins = append(r.Plugins, o.Plugins...)
	r.Markets = append(r.Markets, o.Markets...)
	r.Toolkit = append(r.Toolkit, o.Toolkit...)
	if o.API != nil {
		if r.API == nil {
			r.API = &API{}
		}
		r.API.add(o.API)
	}
	if o.ADK != nil {
		if r.ADK == nil {
			r.ADK = &ADK{}
		}
		r.ADK.add(o.ADK)
	}
	if o.N8N != nil {
		if r.N8N == nil {
			r.N8N = &N8N{}
		}
		r.N8N.add(o.N8N)
	}
	r.Evidence.add(&o.Evidence)
}
