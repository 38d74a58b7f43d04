package listing_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/tool"
)

// tree is a manifest directory with one file.
func tree(name, text string) fstest.MapFS {
	return fstest.MapFS{name: {Data: []byte(text)}}
}

func source(path string) manifest.Source { return manifest.Source{ID: "kit", Type: "mcp", Path: path} }

// show is one tool in one line: name@pointer:line, parameters, annotations.
func show(t tool.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@%s:%d", t.Name, t.Origin.Pointer, t.Origin.Start.Line)
	for _, p := range t.Params {
		fmt.Fprintf(&b, " %s:%s", p.Name, p.Type)
		if p.Required {
			b.WriteString("!")
		}
	}
	if t.Annotations != nil {
		b.WriteString(" " + canonical.UTF8.String(t.Annotations))
	}
	if t.Auth.Source != "" {
		fmt.Fprintf(&b, " auth(%s %v %s)", t.Auth.Type, t.Auth.Scopes, t.Auth.CredentialMode)
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

// codes are the warnings as code@pointer.
func codes(r *tool.Reading) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Code+"@"+w.Origin.Pointer)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestAListOfTools(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want, warnings   []string
	}{
		{
			"an array with both spellings of a schema", "t.json",
			`[{"name":"a","inputSchema":{"properties":{"x":{"type":"string"}},"required":["x"]}},{"name":"b","input_schema":{"type":"array"}}]`,
			[]string{"a@/0:1 x:string!", "b@/1:1 input:array!"},
			nil,
		},
		{
			"an object, in YAML, with places", "t.yml",
			"# kit\ntools:\n  - name: a\n    annotations: {readOnlyHint: true}\n  - name: b\n    auth:\n      type: oauth2\n      scopes: [r, w]\n      credential_mode: user\n",
			[]string{`a@/tools/0:3 {"readOnlyHint":true}`, "b@/tools/1:5 auth(oauth2 [r w] user)"},
			nil,
		},
		{
			"hints that are no booleans stay as they are", "t.json", `[{"name":"a","annotations":{"readOnlyHint":"yes"}}]`,
			[]string{`a@/0:1 {"readOnlyHint":"yes"}`},
			nil,
		},
		{
			"what is no tool is said", "t.json", `[1, {"description":"d"}, {"name":7}, {"name":"  "}, "x", {"name":"ok"}]`,
			[]string{"ok@/5:1"},
			[]string{"not_a_tool@/0", "unnamed_tool@/1", "invalid_field@/2/name", "unnamed_tool@/2", "unnamed_tool@/3", "not_a_tool@/4"},
		},
		{
			"the same name twice is kept twice", "t.json", `{"tools":[{"name":"a"},{"name":"a","annotations":{"destructiveHint":true}}]}`,
			[]string{"a@/tools/0:1", `a@/tools/1:1 {"destructiveHint":true}`},
			[]string{"duplicate_tool@/tools/1"},
		},
		{
			"a schema that is none", "t.json", `[{"name":"a","inputSchema":"any"}]`,
			[]string{`a@/0:1 {"mcp_unknown_schema":true}`},
			[]string{"invalid_schema@/0/inputSchema"},
		},
		{
			"fields of the wrong kind", "t.json", `[{"name":"a","description":[],"auth":{"scopes":[1,"s"],"type":{}},"annotations":[],"owner":3}]`,
			[]string{"a@/0:1 auth( [s] )"},
			[]string{"invalid_field@/0/description", "invalid_field@/0/owner", "invalid_field@/0/annotations", "invalid_field@/0/auth/type", "invalid_field@/0/auth/scopes"},
		},
		{"no list at all", "t.json", `{"mcpServers":{}}`, nil, []string{"no_tools@"}},
		{"an empty list", "t.json", `[]`, nil, nil},
		{"wildcard", "t.json", `{"wildcard":true}`, []string{`kit.*@/wildcard:1 {"wildcard_tools":true}`}, []string{"wildcard_tools@/wildcard"}},
		{"a star", "t.yaml", "tools: '*'\n", []string{`kit.*@/tools:1 {"wildcard_tools":true}`}, []string{"wildcard_tools@/tools"}},
		{"a star and an empty list", "t.json", `{"wildcard":true,"tools":[]}`, []string{`kit.*@/wildcard:1 {"wildcard_tools":true}`}, []string{"wildcard_tools@/wildcard"}},
		{"a list that holds a star", "t.json", `["*"]`, []string{`kit.*@/0:1 {"wildcard_tools":true}`}, []string{"wildcard_tools@/0"}},
		{"no wildcard", "t.json", `{"wildcard":false,"tools":[{"name":"a"}]}`, []string{"a@/tools/0:1"}, nil},
		{"a name with a star", "t.json", `[{"name":"db_*"}]`, []string{`db_*@/0:1 {"wildcard_tools":true}`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := listing.ReadMCP(nil, source(c.file), tree(c.file, c.text))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "tools", shown(r), c.want)
			same(t, "warnings", codes(r), c.warnings)
			for _, o := range r.Tools {
				if o.Origin.Type != "mcp" || o.Origin.SourceID != "kit" || o.Origin.Ref != c.file || o.Confidence != tool.High {
					t.Errorf("origin %+v, %s", o.Origin, o.Confidence)
				}
			}
		})
	}
}

func TestAListThatStopsTheReading(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"a star beside a list", "t.json", "{\n\"wildcard\":true,\"tools\":[{\"name\":\"a\"}]}", `source "kit": t.json:2: opens every tool and lists some as well`},
		{"a scalar", "t.yaml", "hello", `source "kit": t.yaml:1: holds neither a list of tools nor an object with tools`},
		{"nothing", "t.yaml", "", `source "kit": t.yaml:1: holds neither a list of tools nor an object with tools`},
		{"tools is a text", "t.json", `{"tools":"all"}`, `source "kit": t.json:1: tools is neither a list nor "*"`},
		{"tools is an object", "t.json", `{"tools":{}}`, `source "kit": t.json:1: tools is neither a list nor "*"`},
		{"a wildcard that is a text", "t.json", `{"wildcard":"true","tools":[]}`, `source "kit": t.json:1: wildcard is neither true nor false`},
		{"a key twice", "t.yaml", "tools: []\ntools: '*'\n", `source "kit": t.yaml:2: is not valid YAML, or holds a key twice`},
		{"broken JSON", "t.json", `{"tools":[}`, `source "kit": t.json:1: is not valid JSON, or holds a key twice`},
		{"a path outside", "../t.json", `[]`, `source "kit": ../t.json: the path leaves the manifest directory`},
		{"no file", "other.json", ``, `source "kit": other.json: no such file`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := fstest.MapFS{}
			if c.file != "../t.json" && c.file != "other.json" {
				files = tree(c.file, c.text)
			}
			_, err := listing.ReadMCP(nil, source(c.file), files)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAnInventoryHasTheTypeOfItsFramework(t *testing.T) {
	r, err := listing.ReadInventory(tree("inv/mcp.json", `{"tools":[{"name":"a"}]}`), manifest.Artifact{Path: "./inv/mcp.json"}, "google_adk_inventory", "google_adk")
	if err != nil {
		t.Fatal(err)
	}
	if o := r.Tools[0].Origin; o.Type != "google_adk_inventory" || o.SourceID != "google_adk" || o.Path != "inv/mcp.json" {
		t.Errorf("%+v", o)
	}
	if len(r.Sources) != 1 || r.Sources[0].State != tool.Loaded || r.Sources[0].Tools != 1 {
		t.Errorf("%+v", r.Sources)
	}
	for _, c := range []struct {
		files fstest.MapFS
		state tool.State
		code  string
	}{
		{fstest.MapFS{}, tool.Missing, "missing_optional_source"},
		{tree("i.json", "{"), tool.Failed, "unreadable_optional_source"},
	} {
		art := manifest.Artifact{Path: "i.json", Optional: true}
		r, err := listing.ReadInventory(c.files, art, "crewai_inventory", "crewai")
		if err != nil || r.Sources[0].State != c.state || r.Warnings[0].Code != c.code {
			t.Errorf("%v %+v", err, r)
		}
		art.Optional = false
		if _, err := listing.ReadInventory(c.files, art, "crewai_inventory", "crewai"); err == nil {
			t.Error("an inventory that is not optional was skipped")
		}
	}
}

func TestTheSampleLists(t *testing.T) {
	files := os.DirFS("testdata/support_refund_agent")
	r, err := listing.ReadMCP(nil, source("mcp-tools.json"), files)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "tools", shown(r), []string{
		`support.search_kb@/tools/0:3 query:string! {"idempotentHint":true,"readOnlyHint":true} auth(oauth2 [support:kb:read] )`,
		`gmail.send_customer_email@/tools/1:29 body:string! recipient:string! subject:string! {"openWorldHint":true} auth(oauth2 [gmail:send] )`,
	})
	if r, err = listing.ReadMCP(nil, source("wildcard-tools.json"), files); err != nil {
		t.Fatal(err)
	}
	same(t, "wildcard", shown(r), []string{`kit.*@/wildcard:3 {"wildcard_tools":true}`})
}
