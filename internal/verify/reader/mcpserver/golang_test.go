package mcpserver_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/mcpserver"
	"plimsoll.dev/internal/verify/tool"
)

const official = `package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

`

const community = `package main

import (
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

`

func TestRegistrationsInGo(t *testing.T) {
	for _, c := range []scriptCase{
		{
			name: "the official library, schemas from handlers",
			text: official + `
const prefix = "crm_"

type lookup struct {
	ID    string   ` + "`json:\"id\" jsonschema:\"Which one.\"`" + `
	Depth int      ` + "`json:\"depth,omitempty\" jsonschema:\"maximum=5\"`" + `
	Tags  []string ` + "`json:\"tags,omitempty\"`" + `
	inner string
	common
}

type common struct {
	Dry *bool ` + "`json:\"dry,omitempty\"`" + `
}

func find(ctx context.Context, req *mcp.CallToolRequest, in lookup) (*mcp.CallToolResult, any, error) { return nil, nil, nil }

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "crm"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: prefix + "find", Description: "Finds.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: ptr(false)}}, find)
	mcp.AddTool(server, &mcp.Tool{Name: "inline"}, func(ctx context.Context, _ *mcp.ServerSession, p *mcp.CallToolParamsFor[struct{ A float64 }]) (*mcp.CallToolResultFor[any], error) {
		return nil, nil
	})
	drop := &mcp.Tool{Name: "drop", Title: "Drop"}
	mcp.AddTool[map[string]any, any](server, drop, handler)
	server.AddTool(&mcp.Tool{Name: "raw", InputSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"q": {Type: "string"}}, Required: []string{"q"}}}, rawHandler)
	mcp.AddTool(server, build(), find)
}
`,
			tools: []string{
				`crm_find@s.go:28 "Finds." depth:integer[,5] dry:boolean id:string! tags:array {"openWorldHint":false,"readOnlyHint":true}`,
				"inline@s.go:29 A:number!", `drop@s.go:32 {"title":"Drop"}`, "raw@s.go:34 q:string!",
			},
			dynamics: []string{"tool_list runtime_call @s.go:35"},
		},
		{
			name: "the community library",
			text: strings.Replace(community, "go/mcp\"", "go/mcp\"\n\talias \"github.com/mark3labs/mcp-go/mcp\"", 1) + `
var level = []string{"a"}

func register(s *server.MCPServer) {
	tool := mcp.NewTool("send",
		mcp.WithDescription("Sends " + ` + "`mail`" + `),
		mcp.WithString("to", mcp.Required(), mcp.Description("Who")),
		mcp.WithNumber("count", mcp.Min(1), mcp.Max(1_0)),
		mcp.WithBoolean("now", mcp.DefaultBool(true)),
		mcp.WithArray("list", mcp.Items(map[string]any{"type": "string"})),
		alias.WithString("kind", mcp.Enum("x", "y")),
		mcp.WithReadOnlyHintAnnotation(false), mcp.WithDestructiveHintAnnotation(true),
	)
	s.AddTool(tool, handle)
	s.AddTool(mcp.NewTool("wipe", mcp.WithToolAnnotation(mcp.ToolAnnotation{Title: "Wipe", DestructiveHint: mcp.ToBoolPtr(true)})), handle)
	s.AddTool(getMe())
	s.AddTool(mcp.NewTool("icon", mcp.WithToolTitle("Icon"), mcp.WithToolIcons(mcp.Icon{Src: src()}), mcp.WithArray("ids", mcp.WithIntegerItems())), handle)
	s.AddTools(server.ServerTool{Tool: mcp.NewTool("one"), Handler: handle}, server.ServerTool{mcp.Tool{Name: "two", RawInputSchema: []byte(` + "`{\"type\":\"object\",\"properties\":{\"z\":{}}}`" + `)}, handle})
	for _, st := range all { s.AddTool(st.Tool, st.Handler) }
	s.AddTool(mcp.NewToolWithRawSchema("rawed", "R.", json.RawMessage(` + "`{\"properties\":{\"k\":{\"type\":\"string\"}}}`" + `)), handle)
}

var all = []server.ServerTool{{Tool: mcp.NewTool("three"), Handler: handle}}

func getMe() (mcp.Tool, server.ToolHandlerFunc) { return mcp.NewTool("get_me"), handle }
`,
			tools: []string{
				`send@s.go:13 "Sends mail" count:number[1,10] kind:string[x y] list:array now:boolean to:string! {"destructiveHint":true,"readOnlyHint":false}`,
				`wipe@s.go:23 {"destructiveHint":true,"title":"Wipe"}`, `icon@s.go:25 ids:array {"title":"Icon"}`, "one@s.go:26", "two@s.go:26 z:", `rawed@s.go:28 "R." k:string`, "three@s.go:31", "get_me@s.go:33",
			},
		},
		{
			name: "what is computed is said",
			text: community + `
func register(s *server.MCPServer, opts ...mcp.ToolOption) {
	name := "a"
	name = other()
	s.AddTool(mcp.NewTool(name), h)
	s.AddTool(mcp.NewTool(fmt.Sprintf("t_%d", 1)), h)
	s.AddTool(mcp.NewTool("spread", opts...), h)
	s.AddTool(mcp.NewTool("paged", mcp.WithString("q"), withPages(), mcp.WithDescription(text())), h)
	s.AddTool(mcp.NewTool("hint", mcp.WithReadOnlyHintAnnotation(isRead())), h)
	s.AddTools(load()...)
	for _, t := range remote() { s.AddTool(t, h) }
	s.AddTool(param, h)
	s.AddTool(mcp.Tool{Name: "bare"}, h)
}
`,
			tools: []string{
				`spread@s.go:14`, `paged@s.go:15 q:string`, "hint@s.go:16", `bare@s.go:20 {"mcp_unknown_schema":true}`,
			},
			dynamics: []string{
				"name computed_name @s.go:12", "name computed_name @s.go:13", "schema spread spread@s.go:14", "schema runtime_call paged@s.go:15",
				"tool_list runtime_call @s.go:17", "tool_list runtime_call @s.go:18", "tool_list unresolved_name @s.go:19", "schema computed_handler bare@s.go:20",
			},
			warnings: []string{"computed_description", "computed_annotation"},
		},
		{
			name: "types and handlers that are made in place",
			text: official + `
func made() func(context.Context, *mcp.CallToolRequest, struct{ Q string }) (*mcp.CallToolResult, any, error) { return nil }

func typed() mcp.ToolHandlerFor[args, any] { return nil }

type args struct{ Outer string }

func main() {
	type args struct{ Inner int }
	mcp.AddTool(s, &mcp.Tool{Name: "local"}, func(ctx context.Context, req *mcp.CallToolRequest, in args) (*mcp.CallToolResult, any, error) { return nil, nil, nil })
	mcp.AddTool(s, &mcp.Tool{Name: "made"}, made())
	mcp.AddTool(s, &mcp.Tool{Name: "typed"}, typed())
	schema, err := jsonschema.For[args](nil)
	mcp.AddTool(s, &mcp.Tool{Name: "reflected", InputSchema: schema}, made())
	later, err := jsonschema.For[args](nil)
	later.Properties["x"] = y
	mcp.AddTool(s, &mcp.Tool{Name: "later", InputSchema: later}, made())
	var tools []*mcp.Tool
	tools = append(tools, &mcp.Tool{Name: "grown", InputSchema: map[string]any{"type": "object"}})
	for _, t := range tools { s.AddTool(t, h) }
	changed := &mcp.Tool{Name: "changed", InputSchema: map[string]any{}}
	changed.Name = other
	s.AddTool(changed, h)
}
`,
			tools: []string{
				"local@s.go:18 Inner:integer!", "made@s.go:19 Q:string!", "typed@s.go:20 Outer:string!", "reflected@s.go:22 Inner:integer!",
				`later@s.go:25 {"mcp_unknown_schema":true}`, "grown@s.go:27", "changed@s.go:29",
			},
			dynamics: []string{"schema computed_schema later@s.go:25", "tool_list changed_value @s.go:31"},
		},
		{
			name:     "another library with the same words",
			text:     "package main\n\nimport \"example.test/mcp\"\n\nfunc main() { s.AddTool(mcp.NewTool(\"no\"), h); mcp.AddTool(s, &mcp.Tool{Name: \"no\"}, h) }\n",
			warnings: []string{"no_tools"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, "s.go", files("s.go", c.text))
			same(t, "tools", shown(r), c.tools)
			same(t, "dynamic", dynamics(r), c.dynamics)
			same(t, "warnings", codes(r), c.warnings)
		})
	}
}

func TestAGoPackageIsReadAsAWhole(t *testing.T) {
	tree := files(
		"cmd/main.go", "package main\n\nimport (\n\t\"example.test/m/tools\"\n\t\"github.com/mark3labs/mcp-go/server\"\n)\n\nfunc main() { s := server.NewMCPServer(\"x\", \"1\"); s.AddTool(tools.Find()); s.AddTool(elsewhere.Tool()) }\n",
		"tools/find.go", "package tools\n\nimport m \"github.com/mark3labs/mcp-go/mcp\"\n\nfunc Find() (m.Tool, any) { return m.NewTool(findName, m.WithInputSchema[Args]()), nil }\n",
		"tools/names.go", "package tools\n\nconst findName = \"find\"\n\ntype Args struct {\n\tNext *Args `json:\"next,omitempty\"`\n\tQ string `json:\"q\"`\n}\n",
		"tools/find_test.go", "package tools\n\nimport m \"github.com/mark3labs/mcp-go/mcp\"\n\nvar x = m.NewTool(\"tested\")\n",
		"vendor/v/v.go", "package v ((",
		"other/broken.go", "package other ((",
	)
	r := read(t, ".", tree)
	same(t, "tools", shown(r), []string{"find@tools/find.go:5 next: q:string!"})
	same(t, "dynamic", dynamics(r), []string{"tool_list runtime_call @cmd/main.go:8"})
	r = read(t, "tools/find.go", tree)
	same(t, "one file with its package", shown(r), []string{"find@tools/find.go:5 next: q:string!"})
}

func TestGoThatDoesNotParse(t *testing.T) {
	text := official + "\nfunc main() {\n\tmcp.AddTool(\n"
	_, err := mcpserver.ReadServer(nil, manifest.Source{ID: "srv", Path: "s.go"}, files("s.go", text))
	if err == nil || err.Problem != tool.Malformed || err.Line == 0 {
		t.Errorf("%+v", err)
	}
}

func TestGoNamesThatStandForThemselves(t *testing.T) {
	text := community + `
const a, b = b + b, a + a
var m = map[string]any{"x": m, "y": m, "z": m}
var p = &p
func main() {
	s.AddTool(mcp.NewTool(a), h)
	s.AddTool(mcp.Tool{Name: "t", InputSchema: m, Annotations: mcp.ToolAnnotation{ReadOnlyHint: p}}, h)
	for _, q := range q { s.AddTool(q, h) }
}
`
	r := read(t, "s.go", files("s.go", text))
	same(t, "tools", shown(r), []string{`t@s.go:14`})
	same(t, "dynamic", dynamics(r), []string{"name computed_name @s.go:13", "schema too_deep t@s.go:14", "tool_list too_deep @s.go:15"})
}

func TestManyGoTools(t *testing.T) {
	var b strings.Builder
	b.WriteString(community + "var all = []server.ServerTool{\n")
	for i := range 500 {
		b.WriteString("\t{Tool: mcp.NewTool(\"t" + strings.Repeat("x", i) + "\"), Handler: h},\n")
	}
	b.WriteString("}\n\nfunc main() { s.AddTools(all...) }\n")
	r := read(t, "s.go", files("s.go", b.String()))
	if len(r.Tools) != 500 || len(r.Dynamic) != 0 {
		t.Errorf("%d tools, %v", len(r.Tools), dynamics(r))
	}
}
