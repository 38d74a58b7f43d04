package mcpserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A server that goes where nobody reads may be given more tools there.
func TestAServerThatIsHandedOn(t *testing.T) {
	for text, want := range map[string]string{
		`import { more } from "@corp/tools"; more(server);`:                                                                                "handed_on",
		`import { more } from "../outside"; more(server);`:                                                                                 "handed_on",
		`import more from "./gone.js"; more(server, 1);`:                                                                                   "handed_on",
		`const more = require("corp-tools"); more.add("x", server);`:                                                                       "handed_on",
		`(await import("@corp/tools")).more(server);`:                                                                                      "handed_on",
		`import { Kit } from "@corp/tools"; new Kit(server as any);`:                                                                       "handed_on",
		`import { more } from "@corp/tools"; more({ server, log });`:                                                                       "handed_on",
		`import { more } from "@corp/tools"; more([server!]);`:                                                                             "handed_on",
		`import { more } from "@corp/tools"; const s = server; more<T>((s));`:                                                              "handed_on",
		`import { more } from "@corp/tools"; more?.(...[server]);`:                                                                         "handed_on",
		`import { more } from "@corp/tools"; more(server.server);`:                                                                         "handed_on",
		`import { more } from "@corp/tools"; more(new McpServer({}));`:                                                                     "handed_on",
		`import { more } from "@corp/tools"; let s; s = new McpServer({}); more(s);`:                                                       "handed_on",
		`import { more } from "@corp/tools"; const ctx = { server }; more(ctx.server);`:                                                    "handed_on",
		`import { more } from "@corp/tools"; function f(s: McpServer) { more(s) }`:                                                         "handed_on",
		`import { more } from "@corp/tools"; function f(s) { more(s) } f(server);`:                                                         "handed_on",
		`import { more } from "@corp/tools"; function f({ s }) { more(s) } f({ s: server });`:                                              "handed_on",
		`import { more } from "@corp/tools"; function f(c) { more(c.s) } f({ s: server });`:                                                "handed_on",
		`import { more } from "@corp/tools"; const make = () => { const s = new McpServer({}); return s }; more(make());`:                  "handed_on",
		`import { more } from "@corp/tools"; function make() { const s = new McpServer({}); return { s } } const { s } = make(); more(s);`: "handed_on",
		`import { more } from "@corp/tools"; class K { s = new McpServer({}); go() { more(this.s) } }`:                                     "handed_on",
		`import { more } from "@corp/tools"; class K { constructor(private s: McpServer) { more(this.s) } }`:                               "handed_on",
		`import { more } from "@corp/tools"; class K extends McpServer { go() { more(this) } }`:                                            "handed_on",
		`import { Base } from "@corp/tools"; class K extends Base { constructor(s) { super(s) } } new K(server);`:                          "handed_on",
		`import { more } from "@corp/tools"; const wait = make(); wait.registerTool("x", {}, h); more(wait);`:                              "handed_on",
		`import { list } from "@corp/tools"; for (const add of list) add(server);`:                                                         "handed_on",
		`import { list } from "@corp/tools"; list.forEach((add) => add(server));`:                                                          "handed_on",
		`export function run(add) { add(server) }`:                                                                                         "handed_on",
		`function f(...all) { all[0].tool("x") } f(server);`:                                                                               "handed_on",
		`Reflect.apply(pick, server, []);`:                                                                                                 "handed_on",
		`Object.assign(globalThis.kit, { server });`:                                                                                       "handed_on",
		`server["register" + kind]("x", {}, h);`:                                                                                           "computed_member",
		`server["register" + "Tool"]("x", {}, h);`:                                                                                         "computed_member",
		`const m = "registerTool"; server[m]("x", {}, h);`:                                                                                 "computed_member",
		"server?.[`${a}Tool`](\"x\", {}, h);":                                                                                              "computed_member",
		`server.server[name](schema, h);`:                                                                                                  "computed_member",
		`const add = server.registerTool;`:                                                                                                 "computed_member",
		`use(server["registerTool"]);`:                                                                                                     "computed_member",
		`const { registerTool: add } = server;`:                                                                                            "computed_member",
		`const { ["register" + x]: add } = server;`:                                                                                        "computed_member",
		`const { close, ...rest } = server;`:                                                                                               "computed_member",
		`class K { s = new McpServer({}); go(m) { this.s[m]("x") } }`:                                                                      "computed_member",
		`const add = server.tool.bind(server);`:                                                                                            "indirect_call",
		`server.registerTool.call(server, "x", {}, h);`:                                                                                    "indirect_call",
	} {
		r := read(t, "s/s.ts", files("s/s.ts", head+text, "outside.ts", "export function more() {}"))
		same(t, text, slices.DeleteFunc(dynamics(r), func(d string) bool { return !strings.HasPrefix(d, "binding ") }), []string{"binding " + want + " @s/s.ts:4"})
		for _, d := range r.Dynamic {
			if d.Framework != "mcp_server" || d.Origin.Start.Line != 4 {
				t.Errorf("%s: %+v", text, d)
			}
		}
	}
}

// What is read, and what is known to register nothing, opens nothing.
func TestAServerThatStaysWhereItIsRead(t *testing.T) {
	for _, text := range []string{
		`import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"; await server.connect(new StdioServerTransport()); process.on("SIGINT", async () => { await server.close(); process.exit(0) });`,
		`console.error("ready", server); console.log(server.name, String(server)); log.info(server.name, server !== undefined, !server);`,
		`import express from "express"; const app = express(); app.post("/mcp", async (req, res) => { const t = new Transport({}); await server.connect(t); await t.handleRequest(req, res, req.body) }); app.listen(1);`,
		`import http from "node:http"; import { attach } from "ws"; const web = http.createServer(app); attach(web); web[x](1);`,
		`function add(s) { s.close() } add(server); const also = (s: McpServer) => s.close(); also(server);`,
		`const list = [one, two]; function one(s) { s.close() } function two(s) {} for (const f of list) f(server); list.forEach((f) => f(server));`,
		`class Kit { constructor(private s: McpServer) {} go() { this.put(this.s) } put(s) { s.close() } static of(s) { return new Kit(s) } } const k = new Kit(server); k.put(server); Kit.of(server);`,
		`import { put } from "./more.js"; put(server, { deep: 1 });`,
		`import * as more from "./more.js"; more.put(server); const late = await import("./more.js"); late.put(server);`,
		`const open = new Map<string, McpServer>(); open.set("a", server); const all = []; all.push(server); server.server.oninitialized = () => {};`,
		`const text = "sendLogging" + "Message"; server["connect"](t); const part = "close"; server[part](); if (typeof server.registerTool === "function") server.close();`,
		`const make = () => { const s = new McpServer({}); return s }; const s = make(); await s.connect(t); export default server; module.exports = { server };`,
		`const { connect } = server; const title = use({ server: "name", mcp: 1 }); other.server[x](1); other[server.name](2); run(() => server, () => { server.close() });`,
	} {
		r := read(t, "s/s.ts", files("s/s.ts", head+text, "s/more.ts", "export function put(s, o) { s.close() }"))
		same(t, text, dynamics(r), nil)
	}
}

// A function that a server is given to is read, whatever its file looks like.
func TestAServerIsFollowedIntoFilesOfTheSource(t *testing.T) {
	tree := files(
		"s/index.ts", head+`import { add } from "./kit"; import { Kit } from "./kit"; add({ host: server }); new Kit(server).go();`,
		"s/kit.ts", "import { deep } from \"./deep\";\nexport function add({ host }) {\n  host.tool(\"one\", h);\n  deep(1, host);\n}\nexport class Kit {\n  constructor(private host) {}\n  go() { this.host.tool(\"two\", h) }\n}\n",
		"s/deep.ts", "import { far } from \"far\";\nexport const deep = (n, host) => {\n  host.tool(\"three\", h);\n  far(host);\n  host[n](\"four\");\n};\n",
	)
	for _, path := range []string{"s", "s/index.ts"} {
		r := read(t, path, tree)
		got := shown(r)
		slices.Sort(got)
		same(t, path, got, []string{"one@s/kit.ts:3", "three@s/deep.ts:3", "two@s/kit.ts:8"})
		same(t, path, dynamics(r), []string{"binding handed_on @s/deep.ts:4", "binding computed_member @s/deep.ts:5"})
	}
}

func TestServersHandedInCirclesAndCrowds(t *testing.T) {
	circle := head + "function a(s, n) { b(s) } function b(s) { c(s) } function c(s) { a(s, 1) } a(server);\nconst x = y, y = x; x.registerTool(\"t\", {}, h);\n"
	same(t, "a circle", dynamics(read(t, "s.ts", files("s.ts", circle))), nil)
	var chain strings.Builder
	chain.WriteString(head)
	for i := range 60 { // each is declared before the one that hands to it
		chain.WriteString("function f" + strings.Repeat("x", i) + "(s) { " + map[bool]string{true: "s.close()", false: "f" + strings.Repeat("x", max(i-1, 0)) + "(s)"}[i == 0] + " }\n")
	}
	chain.WriteString("f" + strings.Repeat("x", 59) + "(server);\n")
	same(t, "a long way back", dynamics(read(t, "s.ts", files("s.ts", chain.String()))), []string{"binding too_deep @s.ts:1"})
	crowd := head + strings.Repeat("more(server, server);\n", 20_000)
	if r := read(t, "s.ts", files("s.ts", crowd)); len(r.Dynamic) != 20_000 {
		t.Errorf("%d dynamic surfaces", len(r.Dynamic))
	}
	wide := head + "more(" + strings.Repeat("server, ", 5_000) + ");\n"
	same(t, "many arguments", dynamics(read(t, "s.ts", files("s.ts", wide))), []string{"binding handed_on @s.ts:4"})
	deep := head + strings.Repeat("{ const s = server; { const s = new McpServer({});", 90) + "more(s);" + strings.Repeat("}", 180)
	same(t, "many scopes", dynamics(read(t, "s.ts", files("s.ts", deep))), []string{"binding handed_on @s.ts:4"})
	var many strings.Builder
	many.WriteString(head + "const s0 = name;\n")
	for i := range 12 {
		x := fmt.Sprintf("s%d", i)
		fmt.Fprintf(&many, "const s%d = %s.server%s;\n", i+1, x, strings.Repeat(" ?? "+x, 100))
	}
	many.WriteString("more(s12);\n")
	if got := dynamics(read(t, "s.ts", files("s.ts", many.String()))); !slices.Contains(got, "binding too_deep @s.ts:17") {
		t.Errorf("many ways: %v", got)
	}
}
