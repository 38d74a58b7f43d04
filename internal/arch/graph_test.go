package arch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "plimsoll.dev"

// systems are the operating systems the gate runs on: an import behind a build
// condition is an import all the same.
var systems = []string{"linux", "darwin", "windows"}

// goPackage is what go list says about one package.
type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	GoFiles    []string
	Imports    []string
	Deps       []string
	Module     *struct{ Path string }
}

// graph is the packages of ours and everything they depend on, by import path.
type graph map[string]goPackage

// loaded is the graph of every system, read once for all tests.
var loaded = sync.OnceValues(func() (map[string]graph, error) {
	all := map[string]graph{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,Imports,Deps,Module", "./...")
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w\n%s", system, err, stderr.Bytes())
		}
		g := graph{}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p goPackage
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read go list for %s: %w", system, err)
			}
			g[p.ImportPath] = p
		}
		all[system] = g
	}
	return all, nil
})

func graphs(t *testing.T) map[string]graph {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// short is an import path below our module, or "" for packages of others.
func short(importPath string) string {
	if importPath == module {
		return "."
	}
	if rest, ok := strings.CutPrefix(importPath, module+"/"); ok {
		return rest
	}
	return ""
}

// allows says whether l may import the package to.
func (l layer) allows(to string) bool {
	if slices.Contains(words, to) {
		return true
	}
	for _, m := range l.may {
		if below, ok := strings.CutSuffix(m, "/..."); ok && (to == below || strings.HasPrefix(to, below+"/")) || m == to {
			return true
		}
	}
	return false
}

// edges is everything in g that the table does not allow, as sentences.
func edges(g graph, table []layer) []string {
	var wrong []string
	for path, p := range g {
		from := short(path)
		if from == "" {
			continue
		}
		at := slices.IndexFunc(table, func(l layer) bool { return l.path == from })
		if at < 0 {
			wrong = append(wrong, from+" is in no layer: say in internal/arch/layers_test.go what it is for and what it may import")
			continue
		}
		l := table[at]
		for _, imported := range p.Imports {
			target := g[imported]
			switch to := short(imported); {
			case to != "" && !l.allows(to):
				wrong = append(wrong, fmt.Sprintf("%s (%s) must not import %s", from, l.why, to))
			case to == "" && !target.Standard && target.Module != nil && !slices.Contains(l.modules, target.Module.Path):
				wrong = append(wrong, fmt.Sprintf("%s (%s) must not depend on %s", from, l.why, target.Module.Path))
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

func TestPackagesImportOnlyWhatTheirLayerAllows(t *testing.T) {
	for system, g := range graphs(t) {
		for _, sentence := range edges(g, layers) {
			t.Errorf("%s: %s", system, sentence)
		}
	}
}

func TestEveryLayerExists(t *testing.T) {
	for _, l := range layers {
		if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(l.path))); err != nil {
			t.Errorf("the table names %s, which is not there", l.path)
		}
	}
}

// The check itself must be able to fail.
func TestForbiddenEdgesAreFound(t *testing.T) {
	other := &struct{ Path string }{"example.org/queue"}
	g := graph{
		module + "/internal/gate/source": {Imports: []string{module + "/internal/git", "strings", "example.org/queue/client"}},
		module + "/internal/git":         {Imports: []string{module + "/internal/gate/rule", module + "/internal/fault"}},
		module + "/internal/util":        {},
		"strings":                        {Standard: true},
		"example.org/queue/client":       {Module: other},
	}
	want := []string{
		"internal/gate/source (one file) must not depend on example.org/queue",
		"internal/gate/source (one file) must not import internal/git",
		"internal/util is in no layer: say in internal/arch/layers_test.go what it is for and what it may import",
	}
	got := edges(g, []layer{
		{path: "internal/gate/source", why: "one file"},
		{path: "internal/git", may: []string{"internal/gate/..."}},
	})
	if !slices.Equal(got, want) {
		t.Errorf("edges = %q, want %q", got, want)
	}
}
