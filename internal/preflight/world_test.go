package preflight_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll.dev"
	"plimsoll.dev/internal/preflight"
)

// schemas are those that a result or a plan is held against: the published ones,
// and the later one that the published result was made from.
var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	add := func(name string, text []byte, err error) {
		if err != nil {
			panic(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///"+name, v); err != nil {
			panic(err)
		}
		if all[name], err = c.Compile("mem:///" + name); err != nil {
			panic(err)
		}
	}
	for _, name := range []string{"preflight-result.v3", "preflight-plan.v1"} {
		text, err := plimsoll.VerificationSchema(name)
		add(name, text, err)
	}
	text, err := os.ReadFile("testdata/preflight-schema.v0.4.json")
	add("later", text, err)
	return all
})

// judged is what a schema says of a document; nil when it accepts it.
func judged(name string, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schemas()[name].Validate(v)
}

// manifest is the least that a gate is adopted with.
const manifest = `version: "0.1"
project: {name: shop}
agent: {name: helper, declared_purpose: [look up orders]}
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools.json}
checks:
  policy_packs:
    - {id: house, path: rules/house.yaml}
baseline: {audit_log: logs/accepted.jsonl}
`

// adopted is a workspace with a manifest and two protected files.
func adopted() fstest.MapFS {
	return fstest.MapFS{
		"shipgate.yaml": text(manifest), "AGENTS.md": text("Ask first.\n"), "src/app.py": text("print(1)\n"),
		"tools.json": text(`{"tools":[]}`), "rules/house.yaml": text("id: house\n"),
		".github/workflows/test.yml": text("on: push\n"),
	}
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s), Mode: 0o644} }

func link(to string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
}

// input is a preflight of a plan in a workspace.
func input(t testing.TB, files fs.FS, plan *preflight.Plan) preflight.Input {
	t.Helper()
	tree, err := preflight.List(files)
	if err != nil {
		t.Fatal(err)
	}
	return preflight.Input{
		Workspace: ".", Config: "shipgate.yaml", Root: "/shop", Repository: true, Manifest: "shipgate.yaml",
		Files: files, Tree: tree, Plan: plan,
	}
}

// evaluate evaluates and holds the result against both schemas.
func evaluate(t testing.TB, in preflight.Input) *preflight.Result {
	t.Helper()
	r, err := preflight.Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	printed(t, r)
	return r
}

func printed(t testing.TB, r *preflight.Result) []byte {
	t.Helper()
	out, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"preflight-result.v3", "later"} {
		if err := judged(name, out); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	return out
}

func parse(t testing.TB, plan string) *preflight.Plan {
	t.Helper()
	p, err := preflight.ParsePlan([]byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// touching is a plan that changes files.
func touching(names ...string) *preflight.Plan { return &preflight.Plan{ChangedFiles: names} }

// quoted is s as JSON.
func quoted(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}
