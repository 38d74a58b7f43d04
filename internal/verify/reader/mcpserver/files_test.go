package mcpserver_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/mcpserver"
	"plimsoll.dev/internal/verify/tool"
)

func server(body string) string { return head + body + "\n" }

func TestADirectoryIsReadWithoutItsTestsAndDependencies(t *testing.T) {
	tree := files(
		"app/src/index.ts", server(`server.tool("main", h);`),
		"app/src/more.mts", server(`server.tool("more", h);`),
		"app/src/old.js", "const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');\nconst server = new McpServer({});\nserver.tool('old', h);\n",
		"app/src/index.test.ts", server(`server.tool("tested", h);`),
		"app/node_modules/x/index.js", server(`server.tool("dependency", h);`),
		"app/dist/index.js", server(`server.tool("built", h);`),
		"app/.cache/x.ts", server(`server.tool("hidden", h);`),
		"app/src/types.d.ts", "declare module 'x' { export tool }",
		"app/src/other.ts", "this file is no script { ((",
		"app/readme.md", "server.tool('no')",
		"elsewhere/x.ts", server(`server.tool("elsewhere", h);`),
	)
	r := read(t, "app", tree)
	same(t, "tools", shown(r), []string{"main@app/src/index.ts:4", "more@app/src/more.mts:4", "old@app/src/old.js:3"})
	r = read(t, "app/src/index.test.ts", tree)
	same(t, "a test that is named", shown(r), []string{"tested@app/src/index.test.ts:4"})
}

func TestImportsAreFollowedInsideOfTheSource(t *testing.T) {
	tree := files(
		"srv/index.ts", `import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import register, { NAMES, config as shared } from "./tools.js";
import * as all from './all';
import { outside } from "../outside";
const server = new McpServer({});
server.registerTool(NAMES.first, shared, h);
server.registerTool(all.NAMES.second, { inputSchema: all.shape }, h);
server.registerTool(outside, {}, h);
register(server);
`,
		"srv/tools.ts", `import { z } from "zod";
export const NAMES = { first: "one", second: "two" };
const local = { description: "Shared." };
export { local as config };
export const shape = { q: z.string() };
export default function register(server) { server.registerTool("inner", {}, h) }
`,
		"srv/all/index.ts", `export * from "../tools";`,
		"outside.ts", `export const outside = "x"; server.registerTool("outer", {}, h)`,
	)
	want := []string{`one@srv/index.ts:7 "Shared."`, "two@srv/index.ts:8 q:string!", "inner@srv/tools.ts:6"}
	for _, path := range []string{"srv", "srv/index.ts"} {
		r := read(t, path, tree)
		same(t, path, shown(r), want)
		same(t, path, dynamics(r), []string{"name imported @srv/index.ts:9"})
	}
}

func TestCommonJS(t *testing.T) {
	r := read(t, "s", files(
		"s/index.js", "#!/usr/bin/env node\n'use strict'\nconst { McpServer } = require(\"@modelcontextprotocol/sdk/server/mcp.js\")\nconst { NAME, list } = require('./names')\nconst server = new McpServer({})\nserver.tool(NAME, h)\nfor (const t of list) server.tool(t, h)\n",
		"s/names.js", "exports.NAME = 'a'\nmodule.exports.list = ['b', 'c']\n",
	))
	same(t, "tools", shown(r), []string{"a@s/index.js:6", "b@s/index.js:7", "c@s/index.js:7"})
}

func TestALinkInsideOfADirectoryIsTold(t *testing.T) {
	tree := files("app/index.ts", server(`server.tool("main", h);`))
	tree["app/more.ts"] = &fstest.MapFile{Data: []byte("../other.ts"), Mode: fs.ModeSymlink}
	tree["app/kit"] = &fstest.MapFile{Data: []byte("../kit"), Mode: fs.ModeSymlink}
	r := read(t, "app", tree)
	same(t, "tools", shown(r), []string{"main@app/index.ts:4"})
	same(t, "warnings", codes(r), []string{"linked_file", "linked_file"})
}

func TestTheSameToolTwice(t *testing.T) {
	r := read(t, "s.ts", files("s.ts", server(`
if (a) server.tool("x", "One.", h); else server.tool("x", "One.", other);
server.tool("x", "One.", { readOnlyHint: true }, h);`)))
	same(t, "tools", shown(r), []string{`x@s.ts:5 "One."`, `x@s.ts:6 "One." {"readOnlyHint":true}`})
	same(t, "warnings", codes(r), []string{"duplicate_tool", "duplicate_tool"})
}

func TestWhatStopsTheReading(t *testing.T) {
	long := strings.Repeat("a.ts", 1)
	many := fstest.MapFS{}
	for i := range 2100 {
		many["m/"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26)+".ts"] = &fstest.MapFile{}
	}
	for _, c := range []struct {
		name, path string
		tree       fstest.MapFS
		problem    tool.Problem
		line       int
	}{
		{"no file", "gone.ts", files(), tool.NotThere, 0},
		{"outside", "../x.ts", files(), tool.Outside, 0},
		{"another language", "x.rb", files("x.rb", ""), tool.Malformed, 0},
		{"an open bracket", long, files(long, server("\nserver.tool('a', {")), tool.Malformed, 5},
		{"a string that does not end", long, files(long, server("const a = 'x\n")), tool.Malformed, 4},
		{"a bracket too many", "d", files("d/a.ts", server("}")), tool.Malformed, 4},
		{"a comment that hides from modules only", long, files(long, server("x\n--> server.tool('a')")), tool.Malformed, 5},
		{"a broken file that is imported", "a.ts", files("a.ts", "import {x} from './b'", "b.ts", "\n\n("), tool.Malformed, 3},
		{"too many files", "m", many, tool.TooLarge, 0},
		{"a large file", long, files(long, strings.Repeat("// x\n", 3<<20)), tool.TooLarge, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := mcpserver.ReadServer(nil, manifest.Source{ID: "srv", Path: c.path}, c.tree)
			if err == nil {
				t.Fatalf("read: %v", shown(r))
			}
			if err.Problem != c.problem || err.Line != c.line || err.SourceID != "srv" {
				t.Errorf("%+v", err)
			}
		})
	}
}
