// Package detect finds the agent frameworks and the tool sources of a repository,
// each with its evidence (docs/spec/verification.md §18.1). It runs nothing.
//
// Evidence is what a parser saw: an import, a decorator, a call, the shape of a
// file. A comment or a string that names a framework is none. What could not be
// read is a diagnostic, and what was left out is named with the reason.
package detect

import (
	"strconv"

	"plimsoll.dev/internal/verify/tool"
)

// Type is a family of readers (§5.2). Those of tool_sources have the same name
// there; openai_api, anthropic_api and n8n are blocks of the manifest.
type Type string

// The families.
const (
	MCP       Type = "mcp"
	OpenAPI   Type = "openapi"
	AgentsSDK Type = "openai_agents_sdk"
	LangChain Type = "langchain"
	CrewAI    Type = "crewai"
	ADK       Type = "google_adk"
	MCPServer Type = "mcp_server"
	Plugin    Type = "codex_plugin"
	Conductor Type = "conductor"
	N8N       Type = "n8n"
	OpenAI    Type = "openai_api"
	Anthropic Type = "anthropic_api"
)

// Types are the families in the order of results.
var Types = []Type{AgentsSDK, ADK, LangChain, CrewAI, MCPServer, MCP, OpenAPI, OpenAI, Anthropic, N8N, Conductor, Plugin}

// Score is a sum of evidence in halves: 4 is printed as 2.0.
type Score int

// MarshalJSON prints the score as a decimal number.
func (s Score) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

func (s Score) String() string { return strconv.Itoa(int(s)/2) + [2]string{".0", ".5"}[int(s)%2] }

// Strength is how much one kind of evidence counts.
type Strength string

// The strengths of §18.1: 2.0, 1.0 and 0.5.
const (
	Strong Strength = "strong"
	Medium Strength = "medium"
	Weak   Strength = "weak"
)

// Evidence is one thing that was seen. Line is 0 for a folder.
type Evidence struct {
	File string   `json:"file"`
	Line int      `json:"line"`
	Kind Strength `json:"kind"`
	What string   `json:"what"` // one sentence; no value of the file beyond names of code
}

// Framework is one family that was detected.
type Framework struct {
	Type       Type            `json:"type"`
	Score      Score           `json:"score"`
	Confidence tool.Confidence `json:"confidence"`
	Evidence   []Evidence      `json:"evidence"`
	Files      []string        `json:"candidate_files"`
}

// Source is a source that the manifest may name. Key is where it goes: a row of
// tool_sources, or a file in a list of a block; files of one block are read as
// one program. Mode is set for a Codex plugin alone.
type Source struct {
	Type Type   `json:"type"`
	Path string `json:"path"`
	Key  string `json:"key"`
	Mode string `json:"mode,omitempty"`
}

// Excluded is a file or folder that looks like a source and is not suggested.
type Excluded struct {
	Type   Type   `json:"type"`
	Path   string `json:"path"`
	Reason string `json:"reason"` // test_fixture, example, vendored, generated, document, unreadable, no_tools
}

// Project is a folder that holds agents of its own.
type Project struct {
	Path       string   `json:"path"` // "." is the workspace
	Frameworks []Type   `json:"frameworks"`
	Agents     []string `json:"agents"`
	Manifest   string   `json:"manifest"` // of the folder, "" when it has none
}

// PluginCandidate is a Codex plugin package or marketplace.
type PluginCandidate struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Mode string `json:"mode"` // package or marketplace
}

// Scope says whether the workspace holds one project of agents.
type Scope string

// The scopes.
const (
	Single    Scope = "single"
	Ambiguous Scope = "ambiguous"
	Unknown   Scope = "unknown"
)

// Signals are facts about the workspace as a whole.
type Signals struct {
	Files       int      `json:"files"`
	PythonFiles int      `json:"python_files"`
	Listed      string   `json:"listed_by"` // git or walk
	Manifests   []string `json:"manifests"`
	Hosts       []string `json:"host_configs"`          // configurations of coding agents
	Declared    []string `json:"declared_dependencies"` // of agent frameworks, "file: name"
	Unsupported []string `json:"unsupported_frameworks"`
}

// Diagnostic is something that was not read, or not to the end.
type Diagnostic struct {
	Code    string `json:"code"`
	Path    string `json:"path"`
	Line    int    `json:"line"` // 0 when not known
	Message string `json:"message"`
}

// Action is a row of next_actions (§1.2).
type Action struct {
	Kind    string  `json:"kind"` // command, edit, review or stop
	Command *string `json:"command"`
	Path    *string `json:"path"`
	Why     string  `json:"why"`
	Expects *string `json:"expects"`
}

func (a Action) String() string {
	if a.Command != nil {
		return *a.Command
	}
	return a.Why
}

// Found is a suggested source with what its reader read of it.
type Found struct {
	Source
	ID      string        // of the source in its Reading: unique in tool_sources, the key of a block
	Project string        // folder of the Project it belongs to
	Entries []string      // Python files that are one program, when several paths are needed; else nil
	Reading *tool.Reading // never nil
}

// Result is the document of §18.1.
type Result struct {
	IsAgentProject bool              `json:"is_agent_project"`
	Frameworks     []Framework       `json:"frameworks"`
	AgentNames     []string          `json:"agent_name_candidates"`
	ProjectNames   []string          `json:"project_name_candidates"`
	Scope          Scope             `json:"agent_scope"`
	Projects       []Project         `json:"agent_project_candidates"`
	Suggested      []Source          `json:"suggested_sources"`
	Excluded       []Excluded        `json:"excluded_sources"`
	Plugins        []PluginCandidate `json:"codex_plugin_candidates"`
	NextAction     string            `json:"next_action"`
	Signals        Signals           `json:"workspace_signals"`
	Diagnostics    []Diagnostic      `json:"diagnostics"`
	NextActions    []Action          `json:"next_actions"`
	Found          []Found           `json:"-"` // what is behind Suggested, in its order
}

// Options is what detection cannot know by itself.
type Options struct {
	Name      string // of the workspace's folder, a candidate for the name of the project; may be ""
	Workspace string // as commands are to name it; "" is "."
	Listed    string // where the list of files comes from: git or walk
	Partial   bool   // the list of files has an end before the workspace has
	Nested    int    // repositories inside of the workspace, whose files are not listed
}
