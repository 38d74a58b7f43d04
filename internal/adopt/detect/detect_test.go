package detect_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll.dev/internal/adopt/detect"
)

// tree is the files of an archive below repo/, and their names.
func tree(a *txtar.Archive) (fstest.MapFS, []string) {
	files, names := fstest.MapFS{}, []string{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "repo/"); ok {
			files[name] = &fstest.MapFile{Data: f.Data}
			names = append(names, name)
		}
	}
	return files, names
}

func parsed(t testing.TB, name string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func run(t testing.TB, files fs.FS, names []string) *detect.Result {
	t.Helper()
	r, err := detect.Detect(files, names, detect.Options{Name: "folder", Listed: "git"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told is what a result says, a line each.
func told(r *detect.Result) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("agent project: %v, scope: %s", r.IsAgentProject, r.Scope)
	for _, f := range r.Frameworks {
		say("framework: %s %s %s in %s", f.Type, f.Score, f.Confidence, strings.Join(f.Files, " "))
	}
	say("agents: %s", strings.Join(r.AgentNames, ", "))
	say("projects: %s", strings.Join(r.ProjectNames, ", "))
	for _, p := range r.Projects {
		say("project: %s %v %v %s", p.Path, p.Frameworks, p.Agents, p.Manifest)
	}
	for _, s := range r.Suggested {
		say("source: %s %s %s %s", s.Type, s.Path, s.Key, s.Mode)
	}
	for _, p := range r.Plugins {
		say("plugin: %s %s %s", p.Name, p.Path, p.Mode)
	}
	for _, e := range r.Excluded {
		say("left out: %s %s %s", e.Type, e.Path, e.Reason)
	}
	say("unsupported: %s", strings.Join(r.Signals.Unsupported, ", "))
	for _, d := range r.Diagnostics {
		say("note: %s %s:%d", d.Code, d.Path, d.Line)
	}
	for _, n := range r.NextActions {
		say("next: %s %s", n.Kind, n)
	}
	return b.String()
}

// Each archive is a small repository and, as want, what is found in it.
func TestRepositories(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 14 {
		t.Fatal(err, len(archives))
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a := parsed(t, name)
			want := ""
			for _, f := range a.Files {
				if f.Name == "want" {
					want = string(f.Data)
				}
			}
			files, names := tree(a)
			got := told(run(t, files, names))
			if os.Getenv("PLIMSOLL_GOLDEN") != "" {
				a.Files = append(dropped(a.Files), txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func dropped(files []txtar.File) []txtar.File {
	var out []txtar.File
	for _, f := range files {
		if f.Name != "want" {
			out = append(out, f)
		}
	}
	return out
}
