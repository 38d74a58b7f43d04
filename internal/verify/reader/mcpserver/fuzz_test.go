package mcpserver_test

import (
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/mcpserver"
)

// Whatever a file holds, the reading ends in tools, dynamic surfaces or an
// error with the source's id; every tool has a name and a place.
func fuzz(f *testing.F, name string) {
	f.Helper()
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := mcpserver.ReadServer(nil, manifest.Source{ID: "srv", Path: name}, files(name, string(src)))
		if (r == nil) == (err == nil) {
			t.Fatalf("%v and %v", r, err)
		}
		if err != nil {
			if err.SourceID != "srv" {
				t.Fatalf("%+v", err)
			}
			return
		}
		for _, o := range r.Tools {
			if o.Name == "" || o.Origin.Location == "" {
				t.Fatalf("%+v", o)
			}
		}
	})
}

func FuzzTypeScriptServer(f *testing.F) {
	f.Add([]byte(head + `const a = { ...b, inputSchema: z.object({ x: z.lazy(() => a), y: z.union([z.string(), z.literal(1)]).optional() }) }; server.registerTool(a.name ?? "n", a, h)`))
	f.Add([]byte(head + `for (const t of [{ name: "x" }, ...[...y]].map((q) => ({ ...q }))) server.tool(t.name, t, { readOnlyHint: true }, h); const c = c; server.tool(c, z.array(c), h)`))
	f.Add([]byte(`import { Server } from "@modelcontextprotocol/sdk"; s.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "a", inputSchema: { type: "object", properties: {} } }, f()] }))`))
	fuzz(f, "s.ts")
}

func FuzzGoServer(f *testing.F) {
	f.Add([]byte(official + "type T struct { N *T `json:\"n\"`; M map[string][]T }\nfunc main() { t := &mcp.Tool{Name: a + \"b\"}; mcp.AddTool[T, any](s, t, func(c context.Context, r *mcp.CallToolRequest, in T) (any, any, error) { return 1, 2, nil }) }\nconst a = b\nconst b = a\n"))
	f.Add([]byte(community + "var x = []server.ServerTool{{Tool: mcp.NewTool(\"a\", mcp.WithString(\"b\", mcp.Enum(\"c\"), mcp.Max(1e9)), mcp.WithInputSchema[[]int]())}}\nfunc f() { for _, v := range x { s.AddTool(v.Tool) }; y := y; s.AddTools(append(x, y...)...) }\n"))
	fuzz(f, "s.go")
}
