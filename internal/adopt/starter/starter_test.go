package starter_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/adopt/starter"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

const archives = "../detect/testdata/*.txtar"

// repository is an archive's files, their names, and what detection says.
func repository(t testing.TB, name string) (fstest.MapFS, *detect.Result) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files, names := fstest.MapFS{}, []string{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "repo/"); ok {
			files[name] = &fstest.MapFile{Data: f.Data}
			names = append(names, name)
		}
	}
	d, err := detect.Detect(files, names, detect.Options{Name: "folder", Listed: "walk"})
	if err != nil {
		t.Fatal(err)
	}
	return files, d
}

// claims are keys that only a person may write.
var claims = regexp.MustCompile(`(?m)^\s*-?\s*(effect|authority|approval|safeguards|declarations|binding|actions|policies|permissions|scopes|risk_overrides|tool_identity|complete|require_\w+|checks|human_ack|baseline):`)

// What is written loads, its sources can be read, and it claims nothing.
func TestADraftLoadsWithAllOfItsSources(t *testing.T) {
	names, err := filepath.Glob(archives)
	if err != nil || len(names) < 14 {
		t.Fatal(err, len(names))
	}
	written := 0
	for _, name := range names {
		for _, minimal := range []bool{false, true} {
			files, d := repository(t, name)
			draft, err := starter.Manifest(d, starter.Options{Minimal: minimal})
			if errors.Is(err, starter.ErrNothing) {
				if len(d.Suggested) > 0 {
					t.Errorf("%s: nothing to write, and there is %v", name, d.Suggested)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			written++
			if found := claims.Find(draft.Text); found != nil {
				t.Errorf("%s claims %q", name, found)
			}
			if minimal && bytes.Contains(draft.Text, []byte("#")) {
				t.Errorf("%s: a comment in\n%s", name, draft.Text)
			}
			tree := maps.Clone(files)
			tree["shipgate.yaml"] = &fstest.MapFile{Data: draft.Text}
			side, err := verify.Load(tree, verify.LoadOptions{Name: "shipgate.yaml"})
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, draft.Text)
				continue
			}
			for _, s := range side.Surface.Reading.Sources {
				if s.State != tool.Loaded && s.Path != starter.Placeholder {
					t.Errorf("%s: %+v", name, s)
				}
			}
			questions(t, draft)
		}
	}
	if written < 20 {
		t.Errorf("only %d drafts", written)
	}
}

// questions holds that each question has a patch that applies to the text, at
// its line, and gives a manifest that loads once it is answered.
func questions(t testing.TB, draft starter.Draft) {
	t.Helper()
	lines := bytes.Count(draft.Text, []byte("\n"))
	for i, q := range draft.Questions {
		if q.Key == "" || q.Why == "" || q.Path != "shipgate.yaml" || q.Line < 1 || q.Line > lines {
			t.Errorf("%+v of %d lines", q, lines)
		}
		if i > 0 && q.Line < draft.Questions[i-1].Line {
			t.Errorf("%s stands out of order", q.Key)
		}
		after := patched(t, draft.Text, q.Patch)
		answered := bytes.ReplaceAll(after, []byte("effect: CHANGE_ME"), []byte("effect: write"))
		answered = bytes.ReplaceAll(answered, []byte("mode: CHANGE_ME"), []byte("mode: none"))
		if _, err := manifest.Load(answered, manifest.Options{}); err != nil {
			t.Errorf("%s: %v\n%s", q.Key, err, answered)
		}
	}
}

// patched applies a unified diff as written: every line of the old side must
// stand where it says.
func patched(t testing.TB, text []byte, patch string) []byte {
	t.Helper()
	old := strings.SplitAfter(string(text), "\n")
	var out []string
	at := 0
	for _, line := range strings.SplitAfter(patch, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@ -"):
			from := 0
			for _, c := range line[4:] {
				if c < '0' || c > '9' {
					break
				}
				from = from*10 + int(c-'0')
			}
			for ; at < from-1; at++ {
				out = append(out, old[at])
			}
		case line[0] == '+':
			out = append(out, line[1:])
		default:
			if at >= len(old) || old[at] != line[1:] {
				t.Fatalf("the patch does not fit at line %d: %q\n%s\n%s", at+1, line, patch, text)
			}
			if line[0] == ' ' {
				out = append(out, old[at])
			}
			at++
		}
	}
	return []byte(strings.Join(append(out, old[at:]...), ""))
}

// Who answers one question does not shut the door on the others: the patches
// apply one after another, in any order, and the answered manifest loads.
func TestPatchesApplyInAnyOrder(t *testing.T) {
	names, err := filepath.Glob(archives)
	if err != nil || len(names) < 14 {
		t.Fatal(err, len(names))
	}
	series := 0
	for n, name := range names {
		_, d := repository(t, name)
		draft, err := starter.Manifest(d, starter.Options{})
		if err != nil || len(draft.Questions) < 2 {
			continue
		}
		series++
		order := slices.Clone(draft.Questions)
		switch n % 3 {
		case 1:
			slices.Reverse(order)
		case 2:
			order = append(slices.Clone(order[len(order)/2:]), order[:len(order)/2]...)
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "shipgate.yaml")
		if err := os.WriteFile(file, draft.Text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, q := range order {
			cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(q.Patch)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v %s\n%s", name, q.Key, err, out, q.Patch)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("effect: CHANGE_ME"), []byte("effect: write"))
		text = bytes.ReplaceAll(text, []byte("mode: CHANGE_ME"), []byte("mode: none"))
		if _, err := manifest.Load(text, manifest.Options{}); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if series < 10 {
		t.Errorf("only %d series of patches", series)
	}
}

// git reads the patches as we do.
func TestGitAppliesThePatches(t *testing.T) {
	_, d := repository(t, "../detect/testdata/lists.txtar")
	draft, err := starter.Manifest(d, starter.Options{})
	if err != nil || len(draft.Questions) < 6 {
		t.Fatal(err, len(draft.Questions))
	}
	for _, q := range draft.Questions {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "shipgate.yaml"), draft.Text, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(q.Patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s\n%s", q.Key, err, out, q.Patch)
		}
		got, err := os.ReadFile(filepath.Join(dir, "shipgate.yaml"))
		if err != nil || !bytes.Equal(got, patched(t, draft.Text, q.Patch)) {
			t.Errorf("%s: %v", q.Key, err)
		}
	}
}

// The drafts are read here as a person reads them.
func TestDraftsReadLikeThis(t *testing.T) {
	for _, name := range []string{"agents_sdk", "langchain", "lists", "listed", "unread", "monorepo"} {
		_, d := repository(t, "../detect/testdata/"+name+".txtar")
		draft, err := starter.Manifest(d, starter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		b.Write(draft.Text)
		for _, q := range draft.Questions {
			b.WriteString("\n" + q.Key + ": " + q.Why + "\n" + q.Patch)
		}
		golden := "testdata/" + name + ".txt"
		if os.Getenv("PLIMSOLL_GOLDEN") != "" {
			if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(want, b.Bytes()) {
			t.Errorf("%s: %v\n%s", golden, err, b.Bytes())
		}
	}
}

// Whatever a reader saw, the draft is a manifest.
func TestADraftOfAnythingLoads(t *testing.T) {
	kinds := []detect.Type{
		detect.MCP, detect.OpenAPI, detect.AgentsSDK, detect.LangChain, detect.CrewAI, detect.ADK, detect.MCPServer, detect.Conductor,
		detect.N8N, detect.OpenAI, detect.Anthropic,
	}
	text := rapid.OneOf(
		rapid.String(), rapid.StringMatching(`[a-z_]{1,12}`),
		rapid.SampledFrom([]string{"", "null", "yes", "- x", "a: b", "#", "'", "\"", "\n", "CHANGE_ME", "<REVIEW_REQUIRED>", "*", "&a", "!t", "1e3", "2026-01-01", "\u2028", "~", "%x", "@x", "{", "[]"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		d := &detect.Result{AgentNames: rapid.SliceOfN(text, 0, 3).Draw(t, "agents"), ProjectNames: rapid.SliceOfN(text, 0, 2).Draw(t, "projects")}
		d.Signals.Unsupported = rapid.SliceOfN(text, 0, 2).Draw(t, "unsupported")
		for i := range rapid.IntRange(0, 4).Draw(t, "sources") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			id := rapid.StringMatching(`[a-z_]{1,6}`).Draw(t, "id") + string(rune('a'+i))
			path := rapid.StringMatching(`[a-zA-Z0-9 ._#:'"-]{1,10}`).Draw(t, "path")
			r := &tool.Reading{}
			at := tool.Origin{Type: string(kind), SourceID: id, Ref: path, Path: path, Start: source.Position{Line: 3, Column: 1}}
			for _, name := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, "tools") {
				r.Tools = append(r.Tools, tool.Tool{Name: name, Origin: at})
			}
			for _, name := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, "agents of it") {
				r.Agents = append(r.Agents, tool.Agent{Name: name, Origin: at})
				for i := range r.Tools {
					r.Edges = append(r.Edges, tool.Edge{Kind: tool.DirectTool, Agent: name, To: r.Tools[i].Name, Complete: rapid.Bool().Draw(t, "complete"), Origin: at})
				}
			}
			d.Found = append(d.Found, detect.Found{Source: detect.Source{Type: kind, Path: path}, ID: id, Reading: r})
		}
		draft, err := starter.Manifest(d, starter.Options{Minimal: rapid.Bool().Draw(t, "minimal"), Name: text.Draw(t, "name"), Agent: text.Draw(t, "agent")})
		if errors.Is(err, starter.ErrNothing) && len(d.Found)+len(d.Signals.Unsupported) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := manifest.Load(draft.Text, manifest.Options{}); err != nil {
			t.Fatalf("%v\n%s", err, draft.Text)
		}
		if found := claims.Find(draft.Text); found != nil {
			t.Fatalf("claims %q", found)
		}
		inProperty(t, draft)
	})
}

// inProperty is questions for a property: the patches apply.
func inProperty(t *rapid.T, draft starter.Draft) {
	for _, q := range draft.Questions {
		if q.Line < 1 || q.Patch == "" {
			t.Fatalf("%+v", q)
		}
		if again := strings.Count(q.Patch, "\n@@ "); again == 0 {
			t.Fatalf("no hunk in %q", q.Patch)
		}
	}
}
