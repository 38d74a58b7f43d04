package mcpserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/mcpserver"
	"plimsoll.dev/internal/verify/tool"
)

func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

func read(t *testing.T, path string, tree fstest.MapFS) *tool.Reading {
	t.Helper()
	r, err := mcpserver.ReadServer(nil, manifest.Source{ID: "srv", Type: "mcp_server", Path: path}, tree)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show is one tool in one line: name@file:line "description" parameters annotations.
func show(t tool.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@%s", t.Name, t.Origin.Location)
	if t.Description != "" {
		fmt.Fprintf(&b, " %q", t.Description)
	}
	for _, p := range t.Params {
		fmt.Fprintf(&b, " %s:%s", p.Name, p.Type)
		if p.Required {
			b.WriteString("!")
		}
		if p.Minimum+p.Maximum != "" {
			fmt.Fprintf(&b, "[%s,%s]", p.Minimum, p.Maximum)
		}
		if p.Enum != nil {
			fmt.Fprint(&b, p.Enum)
		}
	}
	if len(t.Annotations) > 0 {
		b.WriteString(" " + canonical.UTF8.String(t.Annotations))
	}
	return b.String()
}

func shown(r *tool.Reading) []string {
	var out []string
	for _, t := range r.Tools {
		out = append(out, show(t))
	}
	return out
}

func dynamics(r *tool.Reading) []string {
	var out []string
	for _, d := range r.Dynamic {
		out = append(out, fmt.Sprintf("%s %s %s@%s", d.Kind, d.Reason, d.Name, d.Origin.Location))
	}
	return out
}

func codes(r *tool.Reading) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

const head = `import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
const server = new McpServer({ name: "demo", version: "1" });
`

type scriptCase struct {
	name, text      string
	tools, dynamics []string
	warnings        []string
}

func tries(t *testing.T, cases []scriptCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, "s.ts", files("s.ts", c.text))
			same(t, "tools", shown(r), c.tools)
			same(t, "dynamic", dynamics(r), c.dynamics)
			same(t, "warnings", codes(r), c.warnings)
			for _, o := range r.Tools {
				if o.Origin.Type != "mcp_server_code" || o.Confidence != tool.Medium || o.Locator() != o.Name {
					t.Errorf("%+v", o.Origin)
				}
			}
		})
	}
}

func TestRegistrationsInTypeScript(t *testing.T) {
	tries(t, []scriptCase{
		{
			name: "registerTool with everything",
			text: head + `
server.registerTool(
  "send_mail",
  {
    title: "Send mail",
    description: ` + "`Sends a mail.\n`" + `,
    inputSchema: {
      to: z.string().email().describe("Who"),
      copies: z.array(z.string()).max(5).optional(),
      priority: z.enum(["low", "high"]).default("low"),
      limit: z.number().int().min(1).max(100),
    },
    outputSchema: { id: z.string() },
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
  async ({ to, copies }: { to: string; copies?: string[] }): Promise<Result<string>> => { const x = a < b; return { content: [] }; },
);
`,
			tools: []string{`send_mail@s.ts:5 "Sends a mail." copies:array limit:integer![1,100] priority:string[low high] to:string! {"destructiveHint":true,"readOnlyHint":false,"title":"Send mail"}`},
		},
		{
			name: "tool in all its forms",
			text: head + `
server.tool("ping", async () => ok());
server.tool('read', "Reads.", async () => ok())
server.tool("add", { a: z.number(), b: z.number() }, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
server.tool("del", "Deletes.", { id: z.string() }, { destructiveHint: true }, async function ({ id }) { return gone(id) });
server.tool("look", "Looks.", { readOnlyHint: true, openWorldHint: false }, handler);
`,
			tools: []string{
				"ping@s.ts:5", `read@s.ts:6 "Reads."`, "add@s.ts:7 a:number! b:number!",
				`del@s.ts:8 "Deletes." id:string! {"destructiveHint":true}`, `look@s.ts:9 "Looks." {"openWorldHint":false,"readOnlyHint":true}`,
			},
		},
		{
			name:  "a tool that runs as a task",
			text:  head + `server.experimental.tasks.registerToolTask("slow", { description: "Slow.", inputSchema: { q: z.string() } }, { createTask, getTask });`,
			tools: []string{`slow@s.ts:4 "Slow." q:string!`},
		},
		{
			name: "names and schemas behind constants",
			text: head + `
const PREFIX = 'crm' as const;
const Name = { list: PREFIX + "_list", ` + "get: `${PREFIX}_get`" + ` } satisfies Record<string, string>;
enum Other { Drop = "crm_drop" }
const base = z.object({ id: z.string().uuid() });
const Extended = base.extend({ note: z.string().nullable() }).partial({ note: true });
const config = { description: "Lists." , inputSchema: base.shape };
server.registerTool(Name.list, config, h);
server.registerTool(Name["get"], { ...config, description: ["Gets", "one."].join(" "), inputSchema: Extended }, h);
server.registerTool(Other.Drop, { ...config, annotations: Object.freeze({ destructiveHint: true }) }, h);
`,
			tools: []string{
				`crm_list@s.ts:11 "Lists." id:string!`, `crm_get@s.ts:12 "Gets one." id:string! note:string|null`,
				`crm_drop@s.ts:13 "Lists." id:string! {"destructiveHint":true}`,
			},
		},
		{
			name: "what is computed is said",
			text: head + `
let name = "a"; if (x) name = "b";
server.registerTool(name, {}, h);
server.registerTool(process.env.TOOL, {}, h);
server.registerTool("schema", { inputSchema: makeSchema() }, h);
server.registerTool("part", { inputSchema: { a: z.string(), b: makeType() }, description: text() }, h);
server.registerTool("hint", { annotations: { readOnlyHint: isReadOnly(), idempotentHint: true } }, h);
server.registerTool("spread", { ...options() }, h);
for (const t of await load()) server.tool(t.name, t.description, h);
`,
			tools: []string{
				`schema@s.ts:8 {"mcp_unknown_schema":true}`, "part@s.ts:9 a:string! b:!", `hint@s.ts:10 {"idempotentHint":true}`,
				`spread@s.ts:11 {"mcp_unknown_schema":true}`,
			},
			dynamics: []string{
				"name changed_value @s.ts:6", "name unresolved_name @s.ts:7", "schema runtime_call schema@s.ts:8", "schema runtime_call part@s.ts:9",
				"schema spread spread@s.ts:11", "tool_list runtime_call @s.ts:12",
			},
			warnings: []string{"computed_description", "computed_annotation"},
		},
		{
			name: "loops over literals",
			text: head + `
const TOOLS = [
  { name: "one", description: "First.", schema: { q: z.string() } },
  { name: "two", description: "Second.", schema: {} },
];
for (const t of TOOLS) { server.registerTool(t.name, { description: t.description, inputSchema: t.schema }, run(t)); }
TOOLS.forEach(({ name, description }) => server.tool(` + "`copy_${name}`" + `, description, h));
const byName = { three: { description: "Third." } };
for (const [key, def] of Object.entries(byName)) server.registerTool(key, def, h);
`,
			tools: []string{
				`one@s.ts:9 "First." q:string!`, `two@s.ts:9 "Second."`, `copy_one@s.ts:10 "First."`, `copy_two@s.ts:10 "Second."`, `three@s.ts:12 "Third."`,
			},
		},
		{
			name: "receivers that are servers, and some that are not",
			text: `import { McpServer as Srv } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as mcp from "@modelcontextprotocol/sdk/server/mcp.js"
import { tool } from "langchain"; import { Registry } from "./registry";
export function register(srv: Srv) { srv.tool("param", h) }
export const more = (s: mcp.McpServer, { log }: Opts): void => { s.tool("qualified", h) }
class Kit {
  private readonly server: Srv;
  static other = new Registry();
  other = new Registry();
  constructor(private host: Srv, opts?: Options) { this.server = new Srv({ name: "k" }); this.setup() }
  private setup(): void {
    this.server.registerTool("field", {}, h);
    this.host!.tool("property", h);
    (this.server as any).tool("cast", h);
    this.other.tool("no", h);
  }
}
const agent = new Registry(); agent.tool("no", h); agent.registerTool("no", {}, h);
const list = [1]; list.tool("no", h);
new Srv({ name: "x" }).tool("chain", h);
tool("no", h);
`,
			tools: []string{"param@s.ts:4", "qualified@s.ts:5", "field@s.ts:12", "property@s.ts:13", "cast@s.ts:14", "chain@s.ts:20"},
		},
		{
			name: "servers behind patterns, parents and objects",
			text: `import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
class Kit extends McpServer {
  setup() { this.tool("inherited", h); const { server } = this; server.registerTool("taken", {}, h); }
}
class Other extends Registry { setup() { this.tool("no", h) } }
const ctx = { server: new McpServer({}), log: {} };
ctx.server.tool("kept", h); ctx.log.tool("no", h);
const add = ctx.server.registerTool.bind(ctx.server);
let late; late = new McpServer({}); late.registerTool("late", {}, h);
const [first] = servers(); first.registerTool("first", {}, h);
`,
			tools:    []string{"inherited@s.ts:3", "taken@s.ts:3", "kept@s.ts:7", "late@s.ts:9", "first@s.ts:10"},
			dynamics: []string{"binding indirect_call @s.ts:8"},
		},
		{
			name: "lists of the low-level server",
			text: `import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ListToolsRequestSchema, CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { zodToJsonSchema } from "zod-to-json-schema";
import { z } from "zod";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
const Args = z.object({ path: z.string(), depth: z.number().max(9).optional() });
const EXTRA: Tool[] = [{ name: "extra", inputSchema: { type: "object" as const } }];
server.setRequestHandler(ListToolsRequestSchema, async () => {
  log(() => { return { tools: [{ name: "no" }] } });
  return {
    tools: [
      { name: "walk", description: "Walks.", inputSchema: zodToJsonSchema(Args) as ToolInput, annotations: { readOnlyHint: true } },
      { name: "raw", inputSchema: { type: "object", properties: { n: { type: "integer", maximum: LIMIT } }, required: ["n"] } },
      ...EXTRA,
      makeTool("x"),
    ],
  };
});
server.setRequestHandler(CallToolRequestSchema, async (request) => ({ content: [] }));
`,
			tools: []string{
				`walk@s.ts:12 "Walks." depth:number[,9] path:string! {"readOnlyHint":true}`, "raw@s.ts:13 n:integer!", "extra@s.ts:7",
			},
			dynamics: []string{"schema unresolved_name raw@s.ts:13", "name runtime_call @s.ts:15"},
		},
		{
			name: "other lists",
			text: `import { Server } from "@modelcontextprotocol/sdk/server/index.js";
const s = new Server({}, {});
const defs = [{ name: "a" }, { name: "b" }];
s.setRequestHandler("tools/list", () => ({ tools: defs.map((d) => ({ name: d.name, inputSchema: { type: "object" } })) }));
s.setRequestHandler(ListToolsRequestSchema, this.list.bind(this));
s.setRequestHandler(ListToolsRequestSchema, listTools);
function listTools() { if (a) { return { tools: all() } } return { tools: [] } }
`,
			tools:    []string{"a@s.ts:4", "b@s.ts:4"},
			dynamics: []string{"tool_list runtime_call @s.ts:5", "tool_list runtime_call @s.ts:6"},
		},
	})
}

func TestZodTypes(t *testing.T) {
	for zod, want := range map[string]string{
		`z.string().min(2).max(8)`:             `{"maxLength":8,"minLength":2,"type":"string"}`,
		`z.number().positive().lt(1e3)`:        `{"exclusiveMaximum":1e3,"exclusiveMinimum":0,"type":"number"}`,
		`z.coerce.number().min(-5)`:            `{"minimum":-5,"type":"number"}`,
		`z.boolean().nullish()`:                `{"type":["boolean","null"]}`,
		`z.literal("x").describe('d')`:         `{"const":"x","description":"d","type":"string"}`,
		`z.union([z.string(), z.null()])`:      `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		`z.string().or(z.number())`:            `{"anyOf":[{"type":"string"},{"type":"number"}]}`,
		`z.record(z.string(), z.unknown())`:    `{"additionalProperties":{},"type":"object"}`,
		`z.tuple([z.string(), z.int()])`:       `{"prefixItems":[{"type":"string"},{"type":"integer"}],"type":"array"}`,
		`z.nativeEnum({ A: "a", B: "b" })`:     `{"enum":["a","b"],"type":"string"}`,
		`z.enum(KINDS)`:                        `{"enum":["p","q"],"type":"string"}`,
		`z.object({ a: z.string() }).strict()`: `{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`,
		`z.object({ a: z.any() }).omit({ a: true }).merge(z.object({ b: z.bigint() }))`: `{"properties":{"b":{"type":"integer"}},"required":["b"],"type":"object"}`,
		`z.iso.datetime().optional()`:                                                    `{"format":"date-time","type":"string"}`,
		`z.string().array().length(3)`:                                                   `{"items":{"type":"string"},"maxItems":3,"minItems":3,"type":"array"}`,
		`z.discriminatedUnion("k", [z.object({ k: z.literal(1) })])`:                     `{"anyOf":[{"properties":{"k":{"const":1,"type":"number"}},"required":["k"],"type":"object"}]}`,
		`z.preprocess((v) => v, z.string().transform(s => s.trim()))`:                    `{"type":"string"}`,
		`z.lazy(() => Tree)`:                                                             `{"x-shipgate-unknown":true}`,
		`z.string().refine((v) => v > "a", { message: "m" }).meta({ description: "x" })`: `{"description":"x","type":"string"}`,
		`custom(z.string())`:                                                             `{"x-shipgate-unknown":true}`,
	} {
		text := head + `const KINDS = ["p", "q"] as const; server.registerTool("t", { inputSchema: z.object({ v: ` + zod + ` }) }, h);`
		r := read(t, "s.ts", files("s.ts", text))
		schema, _ := r.Tools[0].Input.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		if got := canonical.UTF8.String(properties["v"]); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", zod, got, want)
		}
		if unknown := strings.Contains(want, "unknown\":true"); unknown != (len(r.Dynamic) > 0) {
			t.Errorf("%s: dynamic %v", zod, dynamics(r))
		}
	}
}
