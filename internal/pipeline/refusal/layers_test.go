package refusal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/refusal"
)

// layers says which layer a package, or one file of it, is the code of. A file
// that is named here overrides its package.
var layers = map[string][]refusal.Layer{
	"contract":         {refusal.Schema},
	"contract/json.go": {refusal.Schema, refusal.Application}, // §10.3: what a text must be to have a hash
	"document":         {refusal.Application},
	"lock/key.go":      {refusal.Application}, // §0.1: lock keys are normalised by the application layer
	"lock":             {refusal.Orchestrator},
	"activation":       {refusal.Orchestrator},
	"artifact":         {refusal.Orchestrator},
	"generation":       {refusal.Orchestrator},
	"merge":            {refusal.Orchestrator},
	"phase":            {refusal.Orchestrator},
	"role":             {refusal.Orchestrator},
	"stale":            {refusal.Orchestrator},
	"state":            {refusal.Orchestrator},
	"approval":         {refusal.Policy},
	"risk":             {refusal.Policy},
	"ingest":           {refusal.Ingest},

	// The use cases are the Orchestrator. What they answer to a request as such is
	// the surface's, and a reference that resolves to nothing the application's.
	".":            {refusal.Orchestrator},
	"reference.go": {refusal.Application},
	"request.go":   {refusal.Surface, refusal.Orchestrator},
	"registry.go":  {refusal.Surface, refusal.Orchestrator},
	"webhook.go":   {refusal.Surface, refusal.Orchestrator},
}

// quoted is where a code of another layer is named and not raised, or printed in
// a table of the specification.
var quoted = map[string]string{
	"state/table.go EvidenceStateInvalid":            "the matrix of §2.3 prints EVST",
	"state/table.go GateAlreadyFinal":                "the matrix of §2.3 prints FIN",
	"generation/generation.go ContractSchemaInvalid": "asked about, in the list of what is retried (§4.4)",
	"generation/generation.go RefNotFound":           "asked about, in the list of what is retried (§4.4)",
}

// Every code is raised in the code of its own layer and nowhere else
// (docs/spec/contracts.md §0.1).
func TestEveryCodeIsRaisedInItsOwnLayer(t *testing.T) {
	names := codeNames(t)
	tree := os.DirFS("..")
	used := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || path.Dir(file) == "refusal" {
			return err
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			return err
		}
		allowed, ok := layers[file]
		if !ok {
			allowed = layers[path.Dir(file)]
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); !ok || x.Name != "refusal" {
				return true
			}
			code, ok := names[selector.Sel.Name]
			if !ok {
				return true
			}
			if _, ok := quoted[file+" "+selector.Sel.Name]; ok {
				used[file+" "+selector.Sel.Name] = true
				return true
			}
			for _, l := range allowed {
				if code.Entry().Layer == l {
					return true
				}
			}
			t.Errorf("%s names %s, which belongs to the layer %s", file, code, code.Entry().Layer)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range quoted {
		if !used[place] {
			t.Errorf("%s is excused and not there", place)
		}
	}
}

// codeNames maps the Go names of the codes to the codes.
func codeNames(t *testing.T) map[string]refusal.Code {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "catalogue.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]refusal.Code{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if value, err := strconv.Unquote(literal.Value); err == nil && refusal.Code(value).Valid() {
			names[spec.Names[0].Name] = refusal.Code(value)
		}
		return true
	})
	if len(names) != len(refusal.Codes()) {
		t.Fatalf("%d names for %d codes", len(names), len(refusal.Codes()))
	}
	return names
}
