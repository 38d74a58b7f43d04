package trigger

import (
	"slices"

	"plimsoll.dev/internal/gate/surface"
)

// Action is what a row asks for. Order of precedence: force_run, skip_shipgate,
// run_shipgate, dry_run.
type Action string

// The actions.
const (
	ForceRun     Action = "force_run"
	SkipShipgate Action = "skip_shipgate"
	RunShipgate  Action = "run_shipgate"
	DryRun       Action = "dry_run"
)

var precedence = []Action{ForceRun, SkipShipgate, RunShipgate, DryRun}

// Valid says whether a is one of the four.
func (a Action) Valid() bool { return slices.Contains(precedence, a) }

// yields says whether b wins over a.
func (a Action) yields(b Action) bool {
	return slices.Index(precedence, b) < slices.Index(precedence, a)
}

// Class is the sort of surface that a row is about.
type Class string

// The classes.
const (
	ClassCapability   Class = "capability"
	ClassHostBoundary Class = "host_boundary"
	ClassGovernance   Class = "governance"
	ClassAdoption     Class = "adoption"
	ClassDependency   Class = "dependency"
	ClassNegative     Class = "negative"
)

// Valid says whether c is one of the six.
func (c Class) Valid() bool {
	return slices.Contains([]Class{
		ClassCapability, ClassHostBoundary, ClassGovernance, ClassAdoption, ClassDependency, ClassNegative,
	}, c)
}

// Entry is one row of the catalogue.
type Entry struct {
	ID        string
	Class     Class
	Action    Action
	Rationale string // one sentence
	when      predicate
}

// The commands that a row may suggest. They name the current folder, because a
// row knows no workspace; the control has the exact commands.
const (
	detectCommand  = "shipgate detect --workspace . --json"
	previewCommand = "agents-shipgate verify --preview --json"
	verifyCommand  = "agents-shipgate verify --workspace . --json"
)

// command is what the row suggests to the agent; empty for rows without one.
func (e *Entry) command(agent string) string {
	switch e.Class {
	case ClassHostBoundary:
		return "shipgate check --agent " + agent + " --workspace . --format agent-boundary-json"
	case ClassCapability:
		return detectCommand
	case ClassAdoption:
		return verifyCommand
	case ClassGovernance, ClassDependency, ClassNegative:
		return ""
	}
	return ""
}

// why is what the suggestion says to the agent.
func (e *Entry) why() string {
	if e.Class == ClassHostBoundary {
		return "A boundary file changed."
	}
	return e.Rationale
}

// Catalogue is every row in table order. The slice is shared: do not write.
func Catalogue() []Entry { return catalogue }

const boundaryChanged = "A host boundary file changed."

var catalogue = []Entry{
	{
		ID: "TRIGGER-MCP-EXPORT-CHANGED", Class: ClassCapability, Action: RunShipgate,
		Rationale: "A file that exports MCP tools changed.",
		when:      paths("**/*mcp*.json", ".agents-shipgate/*.json"),
	},
	{
		ID: "TRIGGER-OPENAPI-SPEC-CHANGED", Class: ClassCapability, Action: RunShipgate,
		Rationale: "An API description that tools can be made of changed.",
		when: paths(
			"**/*openapi*.yaml", "**/*openapi*.yml", "**/*openapi*.json",
			"**/*swagger*.yaml", "**/*swagger*.yml", "**/*swagger*.json",
		),
	},
	{
		ID: "TRIGGER-STATIC-TOOL-INVENTORY-CHANGED", Class: ClassCapability, Action: RunShipgate,
		Rationale: "A static list of tools changed.",
		when:      paths("tools/*openai*tools*.json", "tools/*anthropic*tools*.json", "tools/anthropic-tools.json"),
	},
	{
		ID: "TRIGGER-CODEX-BOUNDARY-CONFIG-CHANGED", Class: ClassHostBoundary, Action: RunShipgate,
		Rationale: boundaryChanged, when: adapter(surface.Codex),
	},
	{
		ID: "TRIGGER-CLAUDE-BOUNDARY-CONFIG-CHANGED", Class: ClassHostBoundary, Action: RunShipgate,
		Rationale: boundaryChanged, when: adapter(surface.ClaudeCode),
	},
	{
		ID: "TRIGGER-CURSOR-BOUNDARY-CONFIG-CHANGED", Class: ClassHostBoundary, Action: RunShipgate,
		Rationale: boundaryChanged, when: adapter(surface.Cursor),
	},
	{
		ID: "TRIGGER-VSCODE-MCP-BOUNDARY-CHANGED", Class: ClassHostBoundary, Action: RunShipgate,
		Rationale: boundaryChanged, when: adapter(surface.VSCodeMCP),
	},
	{
		ID: "TRIGGER-SHARED-HOST-BOUNDARY-CHANGED", Class: ClassHostBoundary, Action: RunShipgate,
		Rationale: boundaryChanged, when: adapter(surface.Shared),
	},
	{
		ID: "TRIGGER-CODEX-PLUGIN-CHANGED", Class: ClassCapability, Action: RunShipgate,
		Rationale: "A part of a plugin package or marketplace changed.",
		when:      paths(pluginPatterns...),
	},
	{
		ID: "TRIGGER-N8N-WORKFLOW-CHANGED", Class: ClassCapability, Action: RunShipgate,
		Rationale: "An n8n workflow changed.",
		when: anyOf(
			tokens("n8n-nodes-base."), tokens("n8n-nodes-langchain."), tokens("@n8n/n8n-nodes-"),
			paths("**/*n8n*.json", "**/.n8n/**"),
		),
	},
	{
		ID: "TRIGGER-CONDUCTOR-WORKFLOW-CHANGED", Class: ClassCapability, Action: RunShipgate,
		Rationale: "A Conductor workflow changed.",
		when: anyOf(
			tokens("CALL_MCP_TOOL"), tokens("LIST_MCP_TOOLS"), tokens("LLM_CHAT_COMPLETE"),
			paths("**/conductor/**/*.json", "**/ai/examples/**/*.json"),
		),
	},
	{
		ID: "TRIGGER-FUNCTION-TOOL-DECORATOR", Class: ClassCapability, Action: RunShipgate,
		Rationale: "The diff holds a function that is given to an agent as a tool.",
		when:      anyOf(tokens("@function_tool"), tokens("@tool"), tokens("FunctionTool(")),
	},
	{
		ID: "TRIGGER-GOOGLE-ADK-AGENT-TOOLS-CHANGED", Class: ClassCapability, Action: RunShipgate,
		Rationale: "The diff holds the tool list of an ADK agent.",
		when: anyOf(
			tokens("tools=[", "LlmAgent("),
			tokens("tools=[", "google.adk", "Agent("), tokens("tools=[", "google-adk", "Agent("),
		),
	},
	{
		ID: "TRIGGER-PROMPTS-OR-POLICIES", Class: ClassGovernance, Action: RunShipgate,
		Rationale: "A prompt or a policy changed.",
		when:      paths("**/prompts/**", "**/policies/**"),
	},
	{
		ID: "TRIGGER-SHIPGATE-MANIFEST", Class: ClassGovernance, Action: RunShipgate,
		Rationale: "The manifest of the gate changed.",
		when:      paths("**/shipgate.yaml"),
	},
	{
		ID: "TRIGGER-SHIPGATE-CI-WORKFLOW", Class: ClassGovernance, Action: RunShipgate,
		Rationale: "The workflow that runs the gate changed.",
		when:      anyOf(gateWorkflow, tokens("ThreeMoonsLab/agents-shipgate")),
	},
	{
		ID: "TRIGGER-EXISTING-MANIFEST-PRESENT", Class: ClassAdoption, Action: ForceRun,
		Rationale: "The repository has a manifest: every change is verified.",
		when:      manifest,
	},
	{
		ID: "TRIGGER-FRAMEWORK-VERSION-BUMP", Class: ClassDependency, Action: DryRun,
		Rationale: "The version of an agent framework may have changed.",
		when: both(
			anyOf(
				tokens("openai-agents"), tokens("langchain"), tokens("crewai"), tokens("google-adk"),
				tokens("conductor-oss"),
			),
			paths(dependencyPatterns...),
		),
	},
	{
		ID: "TRIGGER-DOCS-ONLY-NEGATIVE", Class: ClassNegative, Action: SkipShipgate,
		Rationale: "Only documents and tests changed.",
		when:      documents,
	},
}

var pluginPatterns = []string{
	"**/.codex-plugin/**", "**/.agents/plugins/**", "**/.app.json", "**/.mcp.json", "**/SKILL.md",
}

// dependencyPatterns are the files that pin what a program is built from, for
// the languages that the frameworks are written in.
var dependencyPatterns = []string{
	"**/pyproject.toml", "**/requirements*.txt", "**/requirements*.in", "**/requirements/**", "**/constraints*.txt",
	"**/setup.py", "**/setup.cfg", "**/Pipfile", "**/Pipfile.lock", "**/poetry.lock", "**/uv.lock", "**/pdm.lock",
	"**/environment.yml", "**/environment.yaml",
	"**/package.json", "**/package-lock.json", "**/yarn.lock", "**/pnpm-lock.yaml", "**/bun.lock",
	"**/go.mod", "**/go.sum", "**/pom.xml", "**/build.gradle", "**/build.gradle.kts", "**/gradle.lockfile",
}

// docPatterns are what documents and tests are called; case counts, so that a
// name that merely resembles one skips nothing.
var docPatterns = surface.ExactGlobs(docNames...)

var docNames = []string{"**/*.md", "**/tests/**", "**/test/**", "**/test_*.py", "**/*_test.py", "**/conftest.py"}

// neverDocs are the files that stay tools, prompts, policies, skills or plugins
// wherever they lie.
var neverDocs = surface.FoldedGlobs(neverDocPatterns...)

var neverDocPatterns = append([]string{
	"**/shipgate.yaml", "**/*tools*.json", "**/*mcp*.json", "**/prompts/**", "**/policies/**",
	"**/*openapi*.yaml", "**/*openapi*.yml", "**/*openapi*.json",
	"**/*swagger*.yaml", "**/*swagger*.yml", "**/*swagger*.json",
}, pluginPatterns...)
