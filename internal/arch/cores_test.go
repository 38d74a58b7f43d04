package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// impure are standard packages a core must not import, with the reason.
var impure = map[string]string{
	"os":           "files reach a core as bytes",
	"os/exec":      "only adapters start programs",
	"net":          "only adapters talk to others",
	"net/http":     "only adapters talk to others",
	"database/sql": "only adapters store",
	"log":          "a core returns what happened",
	"log/slog":     "a core returns what happened",
	"math/rand":    "chance is passed in",
	"math/rand/v2": "chance is passed in",
	"crypto/rand":  "chance is passed in",
	"sync/atomic":  "a core has no goroutines to share with",
}

// clockReaders are functions of package time that look at a clock.
var clockReaders = []string{"Now", "Since", "Until", "Sleep", "Tick", "NewTicker", "NewTimer", "After", "AfterFunc"}

// impurities is what a parsed file does that a core must not do.
func impurities(fset *token.FileSet, file *ast.File) []string {
	var wrong []string
	say := func(n ast.Node, format string, args ...any) {
		at := fset.Position(n.Pos())
		wrong = append(wrong, fmt.Sprintf("%s:%d: ", filepath.Base(at.Filename), at.Line)+fmt.Sprintf(format, args...))
	}
	for _, imp := range file.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if reason := impure[path]; err == nil && reason != "" {
			say(imp, "imports %s: %s", path, reason)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			say(n, "starts a goroutine: the caller decides what runs beside what")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clockReaders, n.Sel.Name) {
				say(n, "calls time.%s: time is an argument", n.Sel.Name)
			}
		}
		return true
	})
	return wrong
}

// slowStarts is what a parsed file does before main: the gate is started for
// every turn of an agent, so every microsecond of it is paid again and again.
func slowStarts(fset *token.FileSet, file *ast.File) []string {
	var wrong []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				wrong = append(wrong, fmt.Sprintf("line %d: an init function runs at every start", fset.Position(d.Pos()).Line))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok || d.Tok != token.VAR {
					continue
				}
				for _, value := range v.Values {
					call, ok := value.(*ast.CallExpr)
					if !ok {
						continue
					}
					if f, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(f.Sel.Name, "MustCompile") {
						wrong = append(wrong, fmt.Sprintf("line %d: a pattern compiled at every start", fset.Position(v.Pos()).Line))
					}
				}
			}
		}
	}
	return wrong
}

// parsed calls fn once for every non-test file of the packages that want
// selects, on whatever system the file is built.
func parsed(t *testing.T, want func(layer) bool, fn func(name string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	seen := map[string]bool{}
	for _, g := range graphs(t) {
		for _, l := range layers {
			p, ok := g[module+"/"+l.path]
			if !ok || !want(l) {
				continue
			}
			for _, name := range p.GoFiles {
				if seen[l.path+"/"+name] {
					continue
				}
				seen[l.path+"/"+name] = true
				fset := token.NewFileSet()
				file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				fn(l.path+"/"+name, fset, file)
			}
		}
	}
}

func TestCoresDoNoIO(t *testing.T) {
	parsed(t, func(l layer) bool { return l.core }, func(name string, fset *token.FileSet, file *ast.File) {
		for _, sentence := range impurities(fset, file) {
			t.Errorf("%s is part of a core and %s", name, sentence)
		}
	})
}

func TestTheGateStartsWithoutWork(t *testing.T) {
	linked := gatePackages(graphs(t)["linux"])
	if len(linked) < 5 {
		t.Fatalf("the gate is linked with %v only", linked)
	}
	parsed(t, func(l layer) bool { return slices.Contains(linked, l.path) }, func(name string, fset *token.FileSet, file *ast.File) {
		for _, sentence := range slowStarts(fset, file) {
			t.Errorf("%s: %s", name, sentence)
		}
	})
}

// Everything below internal/gate is core: a new package there cannot forget it.
func TestEverythingUnderGateIsCore(t *testing.T) {
	for _, l := range layers {
		if (l.path == "internal/gate" || strings.HasPrefix(l.path, "internal/gate/")) && !l.core {
			t.Errorf("%s is not marked as core", l.path)
		}
	}
}

// The checks themselves must be able to fail.
func TestImpureAndSlowFilesAreFound(t *testing.T) {
	const text = `package p

import (
	"os"
	"regexp"
	"time"
)

var pattern = regexp.MustCompile("x")

func init() { go work() }

func work() { os.Getpid(); _ = time.Now() }
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	wantImpure := []string{
		"p.go:4: imports os: files reach a core as bytes",
		"p.go:11: starts a goroutine: the caller decides what runs beside what",
		"p.go:13: calls time.Now: time is an argument",
	}
	if got := impurities(fset, file); !slices.Equal(got, wantImpure) {
		t.Errorf("impurities = %q, want %q", got, wantImpure)
	}
	wantSlow := []string{"line 9: a pattern compiled at every start", "line 11: an init function runs at every start"}
	if got := slowStarts(fset, file); !slices.Equal(got, wantSlow) {
		t.Errorf("slowStarts = %q, want %q", got, wantSlow)
	}
}
