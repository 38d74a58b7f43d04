package adopt_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/adopt"
)

const contract = "{\n  \"contract_version\": \"20\",\n  \"minimum_control_contract_version\": \"14\",\n  \"cli_version\": \"0.16.0\"\n}\n"

// everything is all that can be written.
func everything() adopt.Options {
	return adopt.Options{
		Manifest: []byte("version: \"0.1\"\n"), Contract: []byte(contract), Ignore: true, Instructions: adopt.Instructions,
		Workflow: true, PreCommit: true, Hooks: []adopt.Target{adopt.CodexHooks, adopt.ClaudeHooks, adopt.CursorHooks},
		Version: "0.16.0",
	}
}

// apply is a workspace after a plan.
func apply(before fstest.MapFS, plan *adopt.Plan) fstest.MapFS {
	after := fstest.MapFS{}
	for name, f := range before {
		after[name] = f
	}
	for i := range plan.Edits {
		e := &plan.Edits[i]
		switch {
		case !e.Changes():
		case e.Delete:
			delete(after, e.Path)
		default:
			after[e.Path] = &fstest.MapFile{Data: e.After, Mode: 0o644}
		}
	}
	return after
}

// differences are the files of two workspaces that are not the same.
func differences(a, b fstest.MapFS) []string {
	var out []string
	for name, f := range a {
		if g, ok := b[name]; !ok {
			out = append(out, name+" is gone")
		} else if !bytes.Equal(f.Data, g.Data) {
			out = append(out, fmt.Sprintf("%s is\n%q\nwas\n%q", name, g.Data, f.Data))
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, fmt.Sprintf("%s is left over: %q", name, b[name].Data))
		}
	}
	slices.Sort(out)
	return out
}

// texts are pieces of what people write in the files that adoption edits.
var texts = map[string][]string{
	"markdown": {
		"# Title", "", "Some words.", "\tindented by a tab", "```", "```sh", "~~~", "- item", "## Agent boundary", "shipgate check --agent codex",
		"<!-- a comment -->", "`agents-shipgate:start`", "   ", "é ü 漢", "trailing  ", "\r", "````",
	},
	"ignore": {"*.log", "", "# notes", "!keep.log", "/build/", "agents-shipgate-reports", "/agents-shipgate-reports/", "dir/", " "},
}

// anyText is lines with any mixture of line breaks, with or without the last one,
// with or without a byte order mark; perhaps nothing at all.
func anyText(kind string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom(texts[kind]), 0, 8).Draw(t, "lines")
		breaks := rapid.SampledFrom([]string{"\n", "\r\n", "mixed"}).Draw(t, "breaks")
		var b strings.Builder
		if rapid.IntRange(0, 5).Draw(t, "mark") == 0 {
			b.WriteString("\xEF\xBB\xBF")
		}
		for i, line := range lines {
			b.WriteString(line)
			nl := breaks
			if nl == "mixed" {
				nl = rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "break")
			}
			if i+1 < len(lines) || rapid.Bool().Draw(t, "ended") {
				b.WriteString(nl)
			}
		}
		return b.String()
	})
}

// anyYAML is a configuration of pre-commit.
var anyYAML = rapid.Custom(func(t *rapid.T) string {
	indent := rapid.SampledFrom([]string{"", "  ", "    "}).Draw(t, "indent")
	var b strings.Builder
	some := func(name string, lines ...string) {
		if rapid.Bool().Draw(t, name) {
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
	}
	some("head", "# hooks of this repository", "")
	some("setting", "default_stages: [pre-commit]")
	some("document", "minimum_pre_commit_version: \"3.0\" # old")
	switch rapid.IntRange(0, 4).Draw(t, "repos") {
	case 0:
	case 1:
		b.WriteString("repos: []\n")
	default:
		b.WriteString(rapid.SampledFrom([]string{"repos:\n", "repos: # all\n", "repos:   \n"}).Draw(t, "key"))
		some("comment", "", indent+"# the first")
		for i := range rapid.IntRange(1, 3).Draw(t, "count") {
			fmt.Fprintf(&b, "%s- repo: https://example.invalid/r%d\n%s  rev: v1 # pinned\n%s  hooks: [{id: h%d}]\n", indent, i, indent, indent, i)
			some("between", "")
			some("note", indent+"# note")
		}
	}
	some("after", "", "exclude: ^vendor/")
	text := b.String()
	if rapid.Bool().Draw(t, "unended") {
		text = strings.TrimSuffix(text, "\n")
	}
	if rapid.IntRange(0, 3).Draw(t, "crlf") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if rapid.IntRange(0, 5).Draw(t, "mark") == 0 {
		text = "\xEF\xBB\xBF" + text
	}
	return text
})

// anySettings is a file of host settings, in any layout of white space.
func anySettings(event string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "break")
		space := func() string {
			return rapid.SampledFrom([]string{"", " ", nl, nl + "  ", nl + "\t", nl + "    ", " " + nl + nl + "  "}).Draw(t, "space")
		}
		object := func(members ...string) string {
			var b strings.Builder
			b.WriteString("{" + space())
			for i, m := range members {
				if i > 0 {
					b.WriteString(space() + "," + space())
				}
				b.WriteString(m)
			}
			return b.String() + space() + "}"
		}
		list := func(items ...string) string {
			o := object(items...)
			return "[" + o[1:len(o)-1] + "]"
		}
		member := func(key, value string) string { return `"` + key + `"` + space() + ":" + space() + value }
		hook := func(i int) string {
			return object(member("hooks", list(object(member("type", `"command"`), member("command", fmt.Sprintf(`"echo \"%d, ]}\" é"`, i))))))
		}
		var events, root []string
		if rapid.Bool().Draw(t, "event") {
			var hooks []string
			for i := range rapid.IntRange(0, 2).Draw(t, "hooks") {
				hooks = append(hooks, hook(i))
			}
			events = append(events, member(event, list(hooks...)))
		}
		if rapid.Bool().Draw(t, "other") {
			events = append(events, member("Other", list()))
		}
		if rapid.Bool().Draw(t, "setting") {
			root = append(root, member("permissions", object(member("allow", list(`"Read"`, `"x\\"`)))))
		}
		if rapid.Bool().Draw(t, "version") {
			root = append(root, member("version", "1"))
		}
		if rapid.Bool().Draw(t, "has hooks") {
			root = append(root, member("hooks", object(events...)))
		}
		if rapid.Bool().Draw(t, "last") {
			root = append(root, member("z", "1.5e3"))
		}
		mark := ""
		if rapid.IntRange(0, 5).Draw(t, "mark") == 0 {
			mark = "\xEF\xBB\xBF"
		}
		return mark + space() + object(root...) + space()
	})
}

// anyWorkspace holds any of the files that adoption edits, as people have them.
var anyWorkspace = rapid.Custom(func(t *rapid.T) fstest.MapFS {
	w := fstest.MapFS{"main.go": {Data: []byte("package main\n")}}
	put := func(name string, g *rapid.Generator[string]) {
		if rapid.Bool().Draw(t, "has "+name) {
			w[name] = &fstest.MapFile{Data: []byte(g.Draw(t, name)), Mode: 0o644}
		}
	}
	put("AGENTS.md", anyText("markdown"))
	put("CLAUDE.md", anyText("markdown"))
	put(rapid.SampledFrom([]string{".github/pull_request_template.md", ".github/PULL_REQUEST_TEMPLATE.md", "docs/Pull_Request_Template.md"}).
		Draw(t, "template"), anyText("markdown"))
	put(".gitignore", anyText("ignore"))
	put(".pre-commit-config.yaml", anyYAML)
	put(".claude/settings.json", anySettings("Stop"))
	put(".codex/hooks.json", anySettings("Stop"))
	put(".cursor/hooks.json", anySettings("stop"))
	put(".cursor/rules/other.mdc", anyText("markdown"))
	return w
})

func install(w fs.FS, opt adopt.Options) *adopt.Plan { return adopt.Install(w, opt) }

func remove(w fs.FS) *adopt.Plan { return adopt.Remove(w, []byte(contract), "0.16.0") }

func TestWhatIsWrittenIsTakenBackToTheByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := anyWorkspace.Draw(t, "workspace")
		after := apply(before, install(before, everything()))
		for _, d := range differences(before, apply(after, remove(after))) {
			t.Error(d)
		}
	})
}

func TestASecondRunChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := anyWorkspace.Draw(t, "workspace")
		after := apply(before, install(before, everything()))
		again := install(after, everything())
		for i := range again.Edits {
			e := &again.Edits[i]
			if e.Changes() || e.Diff() != "" {
				t.Errorf("%s: %s a second time: %s", e.Path, e.Outcome, e.Diff())
			}
		}
		gone := apply(after, remove(after))
		if plan := remove(gone); len(differences(gone, apply(gone, plan))) > 0 {
			t.Errorf("a second removal changed something")
		}
	})
}

// What people write in front of and behind what we wrote stays as they wrote it.
func TestEditsElsewhereSurviveRemoval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := anyWorkspace.Draw(t, "workspace")
		after := apply(before, install(before, everything()))
		edited, want := fstest.MapFS{}, fstest.MapFS{}
		for name, f := range after {
			edited[name] = f
		}
		for name, f := range before {
			want[name] = f
		}
		for _, name := range []string{"AGENTS.md", "CLAUDE.md", ".gitignore", ".pre-commit-config.yaml"} {
			was, had := before[name]
			if !had || !bytes.HasSuffix(was.Data, []byte("\n")) || bytes.HasPrefix(was.Data, []byte("\xEF\xBB\xBF")) {
				continue
			}
			head := rapid.SampledFrom([]string{"", "# above\n", "# one\n# two\n"}).Draw(t, "head")
			tail := rapid.SampledFrom([]string{"", "# below\n", "\n# below"}).Draw(t, "tail")
			edited[name] = &fstest.MapFile{Data: slices.Concat([]byte(head), after[name].Data, []byte(tail))}
			want[name] = &fstest.MapFile{Data: slices.Concat([]byte(head), was.Data, []byte(tail))}
		}
		for _, name := range []string{".claude/settings.json", ".codex/hooks.json", ".cursor/hooks.json"} {
			was, had := before[name]
			if !had || !bytes.ContainsAny(was.Data, `"`) {
				continue
			}
			add := func(text []byte) []byte {
				return bytes.Replace(text, []byte("{"), []byte("{ \"new\": [{}],\n"), 1)
			}
			edited[name] = &fstest.MapFile{Data: add(after[name].Data)}
			want[name] = &fstest.MapFile{Data: add(was.Data)}
		}
		for _, d := range differences(want, apply(edited, remove(edited))) {
			t.Error(d)
		}
	})
}

// Settings are edited by their text, so that nothing else in them moves.
func TestSettingsKeepEverythingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anySettings("Stop").Draw(t, "settings")
		w := fstest.MapFS{".claude/settings.json": {Data: []byte(text)}}
		plan := install(w, adopt.Options{Hooks: []adopt.Target{adopt.ClaudeHooks}})
		e := &plan.Edits[0]
		if e.Outcome != adopt.Appended {
			t.Fatalf("%s: %s", e.Outcome, e.Note)
		}
		// The new text is the old one with one piece put in.
		head := 0
		for head < len(text) && text[head] == e.After[head] {
			head++
		}
		if !strings.HasSuffix(string(e.After), text[head:]) || len(e.After) < len(text) {
			t.Errorf("more than one piece is new:\n%s\n%s", text, e.After)
		}
	})
}

func TestPathsOfAPlanStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, plan := range []*adopt.Plan{install(anyWorkspace.Draw(t, "w"), everything()), remove(anyWorkspace.Draw(t, "w"))} {
			seen := map[string]bool{}
			for i := range plan.Edits {
				p := plan.Edits[i].Path
				if !fs.ValidPath(p) || p != path.Clean(p) || seen[p] {
					t.Errorf("%q", p)
				}
				seen[p] = true
			}
		}
	})
}
