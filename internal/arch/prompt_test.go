package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	constitutionPath = module + "/internal/request/constitution"
	assembleFile     = "internal/request/constitution/prompt.go"
)

// promptMakers is everything in a parsed file that makes a constitution.Prompt,
// or puts the parts of one together: all of it belongs into one function
// (docs/spec/circle.md §3).
func promptMakers(fset *token.FileSet, file *ast.File) []string {
	inside := file.Name.Name == "constitution"
	names := map[string]bool{} // what the package is called here
	var found []string
	say := func(n ast.Node, what string) {
		found = append(found, fmt.Sprintf("line %d: %s", fset.Position(n.Pos()).Line, what))
	}
	for _, imp := range file.Imports {
		switch p, _ := strconv.Unquote(imp.Path.Value); {
		case p == "unsafe":
			say(imp, "unsafe can write into any type")
		case p == constitutionPath && imp.Name != nil:
			names[imp.Name.Name] = true
		case p == constitutionPath:
			names["constitution"] = true
		}
	}
	isPrompt := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return e.Name == "Prompt" && (inside || names["."])
		case *ast.SelectorExpr:
			x, ok := e.X.(*ast.Ident)
			return ok && names[x.Name] && e.Sel.Name == "Prompt"
		}
		return false
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				say(c, "a link to a name of another package")
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if isPrompt(n.Type) {
				say(n, "a literal of Prompt")
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" && len(n.Args) == 1 && isPrompt(n.Args[0]) {
				say(n, "a new Prompt")
			}
			if isPrompt(n.Fun) {
				say(n, "a conversion to Prompt")
			}
		case *ast.TypeSpec:
			if isPrompt(n.Type) {
				say(n, "another name for Prompt")
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.Contains(text, "\n\n---\n\n") {
				say(n, "the separator of the two parts")
			}
		}
		return true
	})
	return found
}

// Only Assemble can make a Prompt: a second maker is a second place to put
// something into it.
func TestOnlyAssembleMakesAPrompt(t *testing.T) {
	fset := token.NewFileSet()
	makers := 0
	walk(t, func(name string, text []byte) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		// The type itself: nothing outside its package can fill it.
		if path.Dir(name) == path.Dir(assembleFile) {
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.TypeSpec)
				if !ok || s.Name.Name != "Prompt" {
					return true
				}
				for _, f := range s.Type.(*ast.StructType).Fields.List {
					if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
						t.Errorf("%s: a field of Prompt can be set from outside", fset.Position(f.Pos()))
					}
				}
				return false
			})
		}
		for _, sentence := range promptMakers(fset, file) {
			if name == assembleFile {
				makers++
				continue
			}
			t.Errorf("%s, %s: a prompt is made by Set.Assemble alone", name, sentence)
		}
	})
	// The separator, and in Assemble the prompt and the empty one beside an error.
	if makers != 3 {
		t.Errorf("%s has %d places that make a prompt, not the separator and the two returns of Assemble", assembleFile, makers)
	}
}

// The check itself must be able to fail.
func TestASecondMakerOfAPromptIsFound(t *testing.T) {
	const text = `package p

import (
	_ "unsafe"

	c "plimsoll.dev/internal/request/constitution"
)

type mine c.Prompt

//go:linkname assemble plimsoll.dev/internal/request/constitution.assemble
func assemble()

func hand(base, own string) (string, c.Prompt, *c.Prompt) {
	return base + "\n\n---\n\n" + own, c.Prompt{}, new(c.Prompt)
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"line 4: unsafe can write into any type", "line 11: a link to a name of another package", "line 9: another name for Prompt",
		"line 15: the separator of the two parts", "line 15: a literal of Prompt", "line 15: a new Prompt",
	}
	if got := promptMakers(fset, file); !slices.Equal(got, want) {
		t.Errorf("promptMakers = %q, want %q", got, want)
	}
}
