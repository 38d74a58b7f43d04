package arch_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const root = "../.."

// maxLines is the length over which a Go file hides two files.
const maxLines = 600

// walk calls fn for every file of the tree that people write: no test data, no
// built things.
func walk(t *testing.T, fn func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", ".cache", "bin", "dist", "testdata":
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		fn(filepath.ToSlash(rel), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestGoFilesAreShort(t *testing.T) {
	walk(t, func(path string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); strings.HasSuffix(path, ".go") && n > maxLines {
			t.Errorf("%s has %d lines; over %d it is two files", path, n, maxLines)
		}
	})
}

// unfinished finds marks of work left open. The words are put together here so
// that this file does not find itself.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

func TestNothingIsLeftOpen(t *testing.T) {
	walk(t, func(path string, text []byte) {
		if strings.HasPrefix(path, "docs/spec/") || !utf8.Valid(text) { // the bytes of a picture say nothing
			return
		}
		if m := unfinished.Find(text); m != nil {
			t.Errorf("%s says %s; finish it or take it out", path, m)
		}
	})
}

func TestNoPathOfOneMachine(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	places := []string{here + string(filepath.Separator)}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		places = append(places, home+string(filepath.Separator))
	}
	walk(t, func(path string, text []byte) {
		for _, place := range places {
			if bytes.Contains(text, []byte(place)) {
				t.Errorf("%s holds %s, a path of this machine", path, place)
			}
		}
	})
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	walk(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".md") || strings.HasPrefix(path, "docs/spec/") {
			return
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			target, _, _ := strings.Cut(string(m[1]), "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, target)
			}
		}
	})
}

// A decision record answers four questions, or it is a note.
func TestDecisionsAnswerTheFourQuestions(t *testing.T) {
	walk(t, func(path string, text []byte) {
		if !strings.HasPrefix(path, "docs/decisions/") {
			return
		}
		for _, heading := range []string{"## Context", "## Choice", "## What we gave up", "## How we would notice we were wrong"} {
			if !bytes.Contains(text, []byte("\n"+heading+"\n")) {
				t.Errorf("%s has no section %q", path, heading)
			}
		}
	})
}

var (
	required = regexp.MustCompile(`(?m)^\s*(?:require )?([a-z0-9.]+\.[a-z]+/?\S*) v\S+$`)
	version  = regexp.MustCompile(`/v\d+$`)
)

// Dependencies are few, and each is a choice somebody can read about.
func TestEveryDependencyHasADecisionAndALicence(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var decisions []byte
	walk(t, func(path string, text []byte) {
		if strings.HasPrefix(path, "docs/decisions/") {
			decisions = append(decisions, text...)
		}
	})
	for _, m := range required.FindAllSubmatch(mod, -1) {
		name := version.ReplaceAllString(strings.TrimPrefix(string(m[1]), "github.com/"), "")
		if !bytes.Contains(decisions, []byte(name)) {
			t.Errorf("go.mod requires %s and no page of docs/decisions speaks of it", m[1])
		}
	}
	licences, err := os.ReadFile(filepath.Join(root, "docs/licences.md"))
	if err != nil {
		t.Fatal(err)
	}
	for system, g := range graphs(t) {
		for _, program := range []string{"cmd/shipgate", "cmd/agents-shipgate", "cmd/plimsoll"} {
			for _, dep := range g[module+"/"+program].Deps {
				if m := g[dep].Module; m != nil && m.Path != module && !bytes.Contains(licences, []byte("`"+m.Path+"`")) {
					t.Errorf("%s: %s is linked with %s, and docs/licences.md does not name it", system, program, m.Path)
				}
			}
		}
	}
}
