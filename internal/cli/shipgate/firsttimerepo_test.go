package shipgate_test

import (
	"fmt"
	"strings"
)

// names is what one user calls things: repositories of one kind differ in their
// folders, in the names of agents and tools, and in what lies beside them.
type names struct {
	product, agent   string
	read, write, bad string // tools; bad is the one that a change adds
	folder           string // of the code, "" for the top
}

// users are three of them.
var users = []names{
	{"billing-desk", "billing_agent", "get_invoice", "send_reminder", "delete_customer", ""},
	{"Trip Planner", "planner", "find_trains", "book_seat", "refund_ticket", "src"},
	{"ops.bot", "oncall", "list_alerts", "restart_service", "drop_database", "services/oncall/app"},
}

// at is the place of a file of the code.
func (n *names) at(name string) string {
	if n.folder == "" {
		return name
	}
	return n.folder + "/" + name
}

// in fills a text with the names.
func (n *names) in(text string) string {
	return strings.NewReplacer("AGENT", n.agent, "READ", n.read, "WRITE", n.write, "BAD", n.bad, "PRODUCT", n.product).Replace(text)
}

// unprepared is one kind of repository: its files, and what adds the tool that
// nobody wants to miss.
type unprepared struct {
	kind  string
	files func(n *names) map[string]string
	bad   func(n *names, files map[string]string)
}

// altered changes one place of a file.
func altered(n *names, files map[string]string, name, old, text string) {
	at := n.at(name)
	before := files[at]
	files[at] = strings.Replace(before, n.in(old), n.in(text), 1)
	if files[at] == before {
		panic("nothing to change in " + at)
	}
}

const pyTools = `

%[1]s
def READ(key: str) -> dict:
    """Look up READ by its key."""
    return store.get(key)


%[1]s
def WRITE(key: str, note: str) -> dict:
    """Do WRITE for one key."""
    return store.put(key, note)

`

const pyBad = `

%[1]s
def BAD(key: str) -> dict:
    """Do BAD for good; it cannot be undone."""
    return store.remove(key)

`

// python is a kind whose tools are decorated functions in lists.
func python(kind, requires, head, decorator, tail, list string) unprepared {
	return unprepared{
		kind: kind,
		files: func(n *names) map[string]string {
			return map[string]string{
				n.at("app.py"):           n.in(head + fmt.Sprintf(pyTools, decorator) + tail),
				n.at("store.py"):         "def get(key):\n    return {}\n",
				n.at("test_app.py"):      "def test_nothing():\n    assert True\n",
				n.at("requirements.txt"): requires + "\nrequests>=2\n",
				"README.md":              n.in("# PRODUCT\n\nAn agent.\n"),
				".gitignore":             "__pycache__/\n",
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "app.py", "\n"+tail, n.in(fmt.Sprintf(pyBad, decorator))+"\n"+strings.Replace(tail, list, list+", BAD", 1))
		},
	}
}

// unpreparedKinds are ten kinds, at least one for each family of readers.
var unpreparedKinds = []unprepared{
	python("openai_agents_sdk", "openai-agents>=0.3", "import store\nfrom agents import Agent, function_tool\n", "@function_tool",
		"AGENT = Agent(\n    name=\"AGENT\",\n    instructions=\"Help.\",\n    tools=[READ, WRITE],\n)\n", "READ, WRITE"),
	python("langchain", "langchain>=1.0", "import store\nfrom langchain.agents import create_agent\nfrom langchain_core.tools import tool\n", "@tool",
		"tools = [READ]\ntools.extend([WRITE])\nAGENT = create_agent(\"openai:gpt-5\", tools=tools, name=\"AGENT\")\n", "tools = [READ"),
	python("google_adk", "google-adk", "import store\nfrom google.adk.agents import Agent\n", "",
		"root_agent = Agent(name=\"AGENT\", model=\"gemini-flash\", instruction=\"Help.\", tools=[READ, WRITE])\n", "READ, WRITE"),
	{
		kind: "crewai",
		files: func(n *names) map[string]string {
			return map[string]string{
				"pyproject.toml": "[project]\nname = \"crew\"\nversion = \"0.1.0\"\ndependencies = [\"crewai[tools]>=0.200\"]\n",
				n.at("tools.py"): n.in(`from crewai.tools import BaseTool
from pydantic import BaseModel, Field


class Key(BaseModel):
    key: str = Field(..., description="Which one.")


class Reader(BaseTool):
    name: str = "READ"
    description: str = "Look up READ by its key."
    args_schema: type[BaseModel] = Key

    def _run(self, key: str) -> str:
        return key


class Remover(BaseTool):
    name: str = "BAD"
    description: str = "Do BAD for good; it cannot be undone."
    args_schema: type[BaseModel] = Key

    def _run(self, key: str) -> str:
        return key
`),
				n.at("crew.py"): n.in(`from crewai import Agent, Crew, Task
from crewai.project import CrewBase, agent, crew, task
from tools import Reader, Remover


@CrewBase
class Team:
    @agent
    def AGENT(self) -> Agent:
        return Agent(config=self.agents_config["AGENT"], tools=[Reader()])

    @task
    def look(self) -> Task:
        return Task(config=self.tasks_config["look"])

    @crew
    def team(self) -> Crew:
        return Crew(agents=self.agents, tasks=self.tasks)
`),
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "crew.py", "[Reader()]", "[Reader(), Remover()]")
		},
	},
	{
		kind: "mcp",
		files: func(n *names) map[string]string {
			return map[string]string{
				n.at("mcp-tools.json"): n.in(`{"tools": [
  {"name": "READ", "description": "Look up.", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}}}, "annotations": {"readOnlyHint": true}},
  {"name": "WRITE", "description": "Do it.", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}}}}
]}
`),
				"README.md": "# exported\n",
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "mcp-tools.json", "\n]}", `,
  {"name": "BAD", "description": "For good.", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}}}, "annotations": {"destructiveHint": true}}
]}`)
		},
	},
	{
		kind: "anthropic with an API description",
		files: func(n *names) map[string]string {
			return map[string]string{
				n.at("tools.json"): n.in(`[
  {"name": "READ", "description": "Look up.", "input_schema": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}, "cache_control": {"type": "ephemeral"}}
]
`),
				n.at("openapi.yaml"): n.in(`openapi: 3.1.0
info: {title: API, version: "1"}
paths:
  /items:
    post:
      operationId: WRITE
      summary: Make an item.
      responses: {"201": {description: made}}
`),
				"requirements.txt": "anthropic\n",
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "tools.json", "\n]", `,
  {"name": "BAD", "description": "For good.", "input_schema": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}}
]`)
		},
	},
	{
		kind: "mcp_server in Go",
		files: func(n *names) map[string]string {
			return map[string]string{
				"go.mod": "module example.test/server\n\ngo 1.26\n\nrequire github.com/modelcontextprotocol/go-sdk v1.8.0\n",
				n.at("main.go"): n.in(`package main

import "github.com/modelcontextprotocol/go-sdk/mcp"

func register(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "READ", Description: "Look up."}, look)
	mcp.AddTool(server, &mcp.Tool{Name: "WRITE", Description: "Do it."}, look)
}

func main() { register(mcp.NewServer(&mcp.Implementation{Name: "PRODUCT"}, nil)) }
`),
				n.at("look.go"): `package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type key struct {
	Key string ` + "`json:\"key\" jsonschema:\"which one\"`" + `
}

func look(ctx context.Context, req *mcp.CallToolRequest, in key) (*mcp.CallToolResult, any, error) {
	return nil, nil, nil
}
`,
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "main.go", "\n}\n\nfunc main", "\n\tmcp.AddTool(server, &mcp.Tool{Name: \"BAD\", Description: \"For good.\"}, look)\n}\n\nfunc main")
		},
	},
	{
		kind: "mcp_server in TypeScript",
		files: func(n *names) map[string]string {
			return map[string]string{
				"package.json":  `{"name": "server", "version": "1.0.0", "type": "module", "dependencies": {"@modelcontextprotocol/sdk": "^1.20.0", "zod": "^3.0.0"}}` + "\n",
				"tsconfig.json": `{"compilerOptions": {"outDir": "dist"}}` + "\n",
				n.at("index.ts"): n.in(`import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "PRODUCT", version: "1.0.0" });

server.registerTool("READ", { description: "Look up.", inputSchema: { key: z.string() } }, async ({ key }) => ({ content: [{ type: "text", text: key }] }));
server.tool("WRITE", "Do it.", { key: z.string() }, async () => ({ content: [] }));
`),
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "index.ts", "server.tool(", "server.registerTool(\"BAD\", { description: \"For good.\", inputSchema: { key: z.string() }, annotations: { destructiveHint: true } }, async () => ({ content: [] }));\nserver.tool(")
		},
	},
	{
		kind: "n8n",
		files: func(n *names) map[string]string {
			return map[string]string{
				n.at("flow.json"): n.in(`{
  "name": "PRODUCT",
  "active": true,
  "nodes": [
    {"id": "1", "name": "When called", "type": "@n8n/n8n-nodes-langchain.chatTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}},
    {"id": "2", "name": "AGENT", "type": "@n8n/n8n-nodes-langchain.agent", "typeVersion": 2, "position": [200, 0], "parameters": {}},
    {"id": "3", "name": "READ", "type": "@n8n/n8n-nodes-langchain.toolHttpRequest", "typeVersion": 1, "position": [200, 200], "parameters": {"toolDescription": "Look up.", "url": "https://api.example.test/items"}}
  ],
  "connections": {
    "When called": {"main": [[{"node": "AGENT", "type": "main", "index": 0}]]},
    "READ": {"ai_tool": [[{"node": "AGENT", "type": "ai_tool", "index": 0}]]}
  }
}
`),
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "flow.json", "\n  ],", `,
    {"id": "4", "name": "BAD", "type": "@n8n/n8n-nodes-langchain.toolCode", "typeVersion": 1, "position": [300, 200], "parameters": {"name": "BAD", "description": "For good.", "jsCode": "return query"}}
  ],`)
			altered(n, files, "flow.json", `"connections": {`, `"connections": {
    "BAD": {"ai_tool": [[{"node": "AGENT", "type": "ai_tool", "index": 0}]]},`)
		},
	},
	{
		kind: "conductor",
		files: func(n *names) map[string]string {
			return map[string]string{
				n.at("flow.json"): n.in(`{
  "name": "AGENT",
  "version": 1,
  "schemaVersion": 2,
  "tasks": [
    {"name": "look", "taskReferenceName": "look", "type": "CALL_MCP_TOOL", "inputParameters": {"mcpServer": "http://tools.example.test/mcp", "method": "READ", "arguments": {}}}
  ]
}
`),
				"README.md": "# flows\n",
			}
		},
		bad: func(n *names, files map[string]string) {
			altered(n, files, "flow.json", "}}\n  ]", `}},
    {"name": "more", "taskReferenceName": "more", "type": "CALL_MCP_TOOL", "inputParameters": {"mcpServer": "http://tools.example.test/mcp", "method": "BAD", "arguments": {}}}
  ]`)
		},
	},
	{
		kind: "codex_plugin",
		files: func(n *names) map[string]string {
			return map[string]string{
				".codex-plugin/plugin.json": n.in(`{"name": "plugin", "version": "1.0.0", "description": "PRODUCT", "mcpServers": "./.mcp.json"}` + "\n"),
				".mcp.json":                 n.in(`{"mcpServers": {"READ": {"command": "npx", "args": ["-y", "@example/server"]}}}` + "\n"),
				"README.md":                 "# plugin\n",
			}
		},
		bad: func(n *names, files map[string]string) {
			files[".mcp.json"] = strings.Replace(files[".mcp.json"], `{"mcpServers": {`, n.in(`{"mcpServers": {"BAD": {"command": "npx", "args": ["-y", "@example/more"]}, `), 1)
		},
	},
}
