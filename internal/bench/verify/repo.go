package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/script"
)

// generate makes a repository whose tools are written down in four ways: of
// each ten files four are lists of five MCP tools, two are OpenAPI documents of
// five operations, two are Python modules of three tools and two are TypeScript
// servers of two. One tool is new in the working tree.
func generate(dir string, tools int) (files int, err error) {
	w := &writer{dir: dir}
	var rows strings.Builder
	row := func(format string, args ...any) { fmt.Fprintf(&rows, "  - "+format+"\n", args...) }
	for i := range tools / 40 {
		for j := range 4 {
			name := fmt.Sprintf("lists/tools-%d-%d.json", i, j)
			w.write(name, list(i*4+j))
			row("{id: list_%d_%d, type: mcp, path: %s, binding: {complete: true, reason: generated}}", i, j, name)
		}
		for j := range 2 {
			name := fmt.Sprintf("apis/api-%d-%d.yaml", i, j)
			w.write(name, api(i*2+j))
			row("{id: api_%d_%d, type: openapi, path: %s, binding: {complete: true, reason: generated}}", i, j, name)
			w.write(fmt.Sprintf("agents/group%d/module_%d.py", i, j), module(i*2+j))
			w.write(fmt.Sprintf("servers/group%d/server-%d.ts", i, j), server(i*2+j))
		}
		row("{id: agents_%d, type: openai_agents_sdk, path: agents/group%d, binding: {complete: true, reason: generated}}", i, i)
		row("{id: servers_%d, type: mcp_server, path: servers/group%d, binding: {complete: true, reason: generated}}", i, i)
	}
	w.write("shipgate.yaml", `version: "0.1"
project: {name: generated}
agent: {name: helper, declared_purpose: ["look things up", "update orders"]}
environment: {target: staging}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [], handoffs: [], reason: generated}
tool_sources:
`+rows.String())
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "base"}} {
		w.git(args...)
	}
	w.write("lists/tools-0-0.json", strings.Replace(list(0), "find_item_0_0", "remove_item_0_0", 1))
	return w.files - 2, w.err
}

type writer struct {
	dir   string
	files int
	err   error
}

func (w *writer) write(name, text string) {
	if w.err != nil {
		return
	}
	w.files++
	at := filepath.Join(w.dir, filepath.FromSlash(name))
	if w.err = os.MkdirAll(filepath.Dir(at), 0o755); w.err == nil {
		w.err = os.WriteFile(at, []byte(text), 0o644)
	}
}

func (w *writer) git(args ...string) {
	if w.err != nil {
		return
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.err = fmt.Errorf("git %v: %w: %s", args, err, out)
	}
}

func list(n int) string {
	var b strings.Builder
	b.WriteString("{\n  \"tools\": [\n")
	for i := range 5 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `    {
      "name": "find_item_%d_%d",
      "description": "Look up one item of the warehouse by its number and return its place.",
      "inputSchema": {
        "type": "object",
        "properties": {
          "number": {"type": "string", "description": "number of the item"},
          "warehouse": {"type": "string", "enum": ["north", "south"]},
          "count": {"type": "integer", "minimum": 1, "maximum": 100}
        },
        "required": ["number"],
        "additionalProperties": false
      },
      "outputSchema": {"type": "object", "properties": {"place": {"type": "string"}}},
      "annotations": {"readOnlyHint": true},
      "auth": {"type": "oauth2", "scopes": ["items:read"]}
    }`, n, i)
	}
	b.WriteString("\n  ]\n}\n")
	return b.String()
}

func api(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "openapi: 3.1.0\ninfo: {title: Orders %d, version: \"1\"}\npaths:\n", n)
	for i := range 5 {
		method := []string{"get", "post", "get", "put", "get"}[i]
		fmt.Fprintf(&b, `  /orders%d/{id}/part%d:
    %s:
      operationId: order_%d_%d
      summary: Work on one part of an order
      description: Reads or updates a part of the order with this number.
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer, maximum: 50}}
      security:
        - oauth: ["orders:write"]
      responses:
        "200":
          description: the part
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Part"}
`, n, i, method, n, i)
	}
	b.WriteString(`components:
  schemas:
    Part:
      type: object
      properties:
        id: {type: string}
        state: {type: string, enum: [open, closed]}
        lines: {type: array, items: {type: object, properties: {sku: {type: string}, amount: {type: number}}}}
  securitySchemes:
    oauth:
      type: oauth2
      flows: {clientCredentials: {tokenUrl: https://example.com/token, scopes: {"orders:write": write}}}
`)
	return b.String()
}

func module(n int) string {
	var b strings.Builder
	b.WriteString("\"\"\"Tools of one part of the shop.\"\"\"\nfrom __future__ import annotations\n\nfrom agents import function_tool\n\n\n")
	for i := range 3 {
		fmt.Fprintf(&b, `@function_tool
def lookup_%d_%d(order_id: str, limit: int = 10) -> dict:
    """Look up the lines of one order.

    Args:
        order_id: number of the order
        limit: how many lines
    """
    rows = [row for row in DATABASE.get(order_id, []) if row["open"]]
    if not rows:
        return {"lines": [], "total": 0}
    return {"lines": rows[:limit], "total": sum(r["amount"] for r in rows)}


`, n, i)
	}
	b.WriteString("DATABASE: dict[str, list[dict]] = {}\n")
	return b.String()
}

func server(n int) string {
	var b strings.Builder
	b.WriteString("import { McpServer } from \"@modelcontextprotocol/sdk/server/mcp.js\";\nimport { z } from \"zod\";\n\n")
	fmt.Fprintf(&b, "export const server = new McpServer({ name: \"part-%d\", version: \"1.0.0\" });\n\n", n)
	for i := range 2 {
		fmt.Fprintf(&b, `server.registerTool(
  "stock_%d_%d",
  {
    title: "Stock",
    description: "Look up how many pieces of an article are in stock.",
    inputSchema: { sku: z.string().describe("article"), count: z.number().int().max(50).optional() },
    annotations: { readOnlyHint: true },
  },
  async ({ sku, count }) => ({ content: [{ type: "text", text: `+"`${sku}: ${count ?? 0}`"+` }] }),
);

`, n, i)
	}
	return b.String()
}

// parseAll reads and parses every source of the repository and looks at nothing.
func parseAll(dir string) int {
	failed := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == ".git" || d.Name() == "agents-shipgate-reports") {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !parses(name, text) {
			failed++
		}
		return nil
	})
	if err != nil || failed > 0 {
		fmt.Fprintln(os.Stderr, "parse:", failed, "files failed;", err)
		return 1
	}
	return 0
}

func parses(name string, text []byte) bool {
	switch filepath.Ext(name) {
	case ".json":
		_, err := source.ParseJSON(text)
		return err == nil
	case ".yaml":
		_, err := source.ParseYAML(text)
		return err == nil
	case ".py":
		_, err := python.Parse(text)
		return err == nil
	case ".ts":
		_, err := script.Parse(name, text)
		return err == nil
	}
	return true
}
