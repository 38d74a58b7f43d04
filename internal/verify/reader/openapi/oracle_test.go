package openapi_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"plimsoll.dev/internal/verify/reader/openapi"
	"plimsoll.dev/internal/verify/tool"
)

// A second reader must see the same operations, parameters, bodies and scopes.
func TestAnotherReaderSeesTheSame(t *testing.T) {
	compared := 0
	compare := func(t *testing.T, files fs.FS, name string) {
		t.Helper()
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil || !strings.HasPrefix(doc.OpenAPI, "3.") || doc.Paths == nil {
			return // no document of ours, or one that refers to other files
		}
		r, failure := openapi.Parse(name, text, "openapi", "api")
		if failure != nil {
			// The other reader lets a key stand twice; we do not.
			if strings.Contains(failure.Detail, "key twice") || strings.Contains(failure.Detail, "version 3.0 or 3.1") {
				return
			}
			t.Errorf("%s: %v", name, failure)
			return
		}
		var ours []string
		for i := range r.Tools {
			ours = append(ours, ourView(&r.Tools[i]))
		}
		var theirs []string
		for address, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				theirs = append(theirs, theirView(doc, address, method, item, op))
			}
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		same(t, name, ours, theirs)
		compared++
	}
	own := os.DirFS("testdata")
	for _, name := range []string{"support-tools.openapi.yaml", "support.openapi.yaml", "fleet.openapi.yaml"} {
		compare(t, own, name)
	}
	if compared != 3 {
		t.Fatalf("%d of our documents were compared", compared)
	}
	// The documents that the other reader is tested with.
	where, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/getkin/kin-openapi").Output()
	if err != nil {
		t.Skip("the go command does not say where the module is:", err)
	}
	module := os.DirFS(strings.TrimSpace(string(where)))
	err = fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > 256<<10 {
			return err
		}
		switch path.Ext(name) {
		case ".yml", ".yaml", ".json":
			compare(t, module, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d documents compared", compared)
}

// ourView is an operation as both readers can say it: locator, id, the names of
// parameters and of the body's own properties, and the scopes.
func ourView(t *tool.Tool) string {
	var names []string
	schema, _ := t.Input.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	required, _ := schema["required"].([]any)
	return fmt.Sprintf("%s %v %v %v", t.Locator(), names, required, t.Auth.Scopes)
}

func theirView(doc *openapi3.T, address, method string, item *openapi3.PathItem, op *openapi3.Operation) string {
	type place struct{ name, in string }
	var order []place
	must := map[place]bool{}
	for _, list := range []openapi3.Parameters{item.Parameters, op.Parameters} {
		for _, p := range list {
			if p.Value == nil || p.Value.Name == "" || p.Value.In == "" {
				continue
			}
			if lower := strings.ToLower(p.Value.Name); p.Value.In == "header" && (lower == "accept" || lower == "content-type" || lower == "authorization") {
				continue
			}
			at := place{p.Value.Name, p.Value.In}
			if _, seen := must[at]; !seen {
				order = append(order, at)
			}
			must[at] = p.Value.Required || at.in == "path"
		}
	}
	named := map[string]bool{}
	add := func(name, in string, required bool) {
		for {
			if _, taken := named[name]; !taken {
				break
			}
			name = in + "_" + name
		}
		named[name] = required
	}
	for _, at := range order {
		add(at.name, at.in, must[at])
	}
	if body := op.RequestBody; body != nil && body.Value != nil && len(body.Value.Content) > 0 {
		theirBody(body.Value, add)
	}
	var names []string
	required := []any{}
	for name := range named {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if named[name] {
			required = append(required, name)
		}
	}
	var scopes []string
	security := &doc.Security
	if op.Security != nil {
		security = op.Security
	}
	for _, alternative := range *security {
		for _, list := range alternative {
			scopes = append(scopes, list...)
		}
	}
	slices.Sort(scopes)
	return fmt.Sprintf("%s %s %v %v %v", method, address, names, required, slices.Compact(scopes))
}

func theirBody(body *openapi3.RequestBody, add func(name, in string, required bool)) {
	var schema *openapi3.Schema
	for kind, media := range body.Content {
		base, _, _ := strings.Cut(kind, ";")
		isJSON := base == "application/json" || strings.HasSuffix(base, "+json")
		if (isJSON || len(body.Content) == 1) && media != nil && media.Schema != nil {
			schema = media.Schema.Value
		}
	}
	if schema == nil || !theirObject(schema, 0) {
		add("body", "request", body.Required)
		return
	}
	var names []string
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		add(name, "body", body.Required && slices.Contains(schema.Required, name))
	}
}

func theirObject(s *openapi3.Schema, depth int) bool {
	if s.Type != nil && len(*s.Type) > 0 {
		return s.Type.Includes("object")
	}
	if len(s.Properties) > 0 {
		return true
	}
	if depth > 32 {
		return false
	}
	for _, list := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		for _, part := range list {
			if part.Value != nil && theirObject(part.Value, depth+1) {
				return true
			}
		}
	}
	return false
}
