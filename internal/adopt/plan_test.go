package adopt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/adopt"
	"plimsoll.dev/internal/adopt/hook"
)

// of is a workspace with one file.
func of(name, text string) fstest.MapFS {
	return fstest.MapFS{name: {Data: []byte(text), Mode: 0o644}}
}

// only is the one edit of a target.
func only(t *testing.T, plan *adopt.Plan, target adopt.Target) *adopt.Edit {
	t.Helper()
	var out *adopt.Edit
	for i := range plan.Edits {
		if plan.Edits[i].Target == target {
			if out != nil {
				t.Fatalf("%s has two edits", target)
			}
			out = &plan.Edits[i]
		}
	}
	if out == nil {
		t.Fatalf("%s has no edit", target)
	}
	return out
}

func expect(t *testing.T, e *adopt.Edit, want adopt.Outcome, after string) {
	t.Helper()
	if e.Outcome != want {
		t.Errorf("%s: %s (%s), want %s", e.Path, e.Outcome, e.Note, want)
	}
	if e.Outcome.LeftAlone() && (e.Changes() || e.Note == "") {
		t.Errorf("%s: left alone, but changed or without a reason", e.Path)
	}
	if after != "" && string(e.After) != after {
		t.Errorf("%s is now\n%s\nwant\n%s", e.Path, e.After, after)
	}
}

var agents = adopt.Options{Instructions: []adopt.Target{adopt.AgentsMD}}

func block(marker, body string) string {
	return "<!-- agents-shipgate:start" + marker + " -->\n" + body + "<!-- agents-shipgate:end -->\n"
}

func TestBlocksOfOtherVersions(t *testing.T) {
	defer adopt.Remember(adopt.AgentsMD, "## Old words\n")()
	now := string(install(fstest.MapFS{}, agents).Edits[0].After)
	around := func(b string) string { return "# Top\n\n" + b + "\nBelow.\n" }
	for _, c := range []struct {
		name, before string
		want         adopt.Outcome
		after        string
	}{
		{"one of this version", around(now), adopt.Unchanged, around(now)},
		{"older words", around(block(" v=1", "## Old words\n")), adopt.Updated, around(now)},
		{"older words, other line breaks", strings.ReplaceAll(around(block(" v=1", "## Old words\n")), "\n", "\r\n"), adopt.Updated, strings.ReplaceAll(around(now), "\n", "\r\n")},
		{"from before versions", around(block("", "## Old words\n")), adopt.Migrated, around(now)},
		{"at the end, without a line break", "x\n\n" + strings.TrimSuffix(block("", "## Old words\n"), "\n"), adopt.Migrated, "x\n\n" + strings.TrimSuffix(now, "\n")},
		{"of a newer version", around(block(" v=2", "## New words\n")), adopt.NewerVersion, ""},
		{"edited", around(block(" v=1", "## Old words!\n")), adopt.Edited, ""},
		{"edited and older", around(block("", "## Old words!\n")), adopt.Edited, ""},
		{"this version's words under an older number", around(strings.Replace(now, " v=1", "", 1)), adopt.Migrated, around(now)},
		{"indented", around("  " + strings.TrimSuffix(strings.ReplaceAll(now, "\n", "\n  "), "  ")), adopt.Unchanged, ""},
		{"begun twice", around(now + block(" v=1", "")), adopt.Ambiguous, ""},
		{"not ended", "<!-- agents-shipgate:start v=1 -->\n", adopt.Ambiguous, ""},
		{"not begun", "<!-- agents-shipgate:end -->\n", adopt.Ambiguous, ""},
		{"the wrong way round", "<!-- agents-shipgate:end -->\n<!-- agents-shipgate:start v=1 -->\n", adopt.Ambiguous, ""},
		{"a marker that says more", "<!-- agents-shipgate:start v=1 x -->\n" + now, adopt.Ambiguous, ""},
		{"a marker with a number that is none", block(" v=01", ""), adopt.Ambiguous, ""},
		{"a marker with a huge number", block(" v=99999999999999999999", ""), adopt.Ambiguous, ""},
		{"inside a fence", "```md\n" + now + "```\n", adopt.Ambiguous, ""},
		{"inside a longer fence", "~~~~ md\n" + now + "~~~~~\n", adopt.Ambiguous, ""},
		{"behind a fence", "```\na\n```\n\n" + now, adopt.Unchanged, ""},
		{"behind a fence that nobody closed", "```\na\n\n" + now, adopt.Unchanged, ""},
		{"named in a sentence", "Between agents-shipgate:start and `<!-- agents-shipgate:end -->` it is ours.\n", adopt.Appended, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := of("AGENTS.md", c.before)
			expect(t, only(t, install(w, agents), adopt.AgentsMD), c.want, c.after)
			// What is not known, or not clear, is not taken back either.
			if e := only(t, remove(w), adopt.AgentsMD); c.want.LeftAlone() {
				expect(t, e, c.want, "")
			}
		})
	}
}

func TestOlderBlocksAreTakenBack(t *testing.T) {
	defer adopt.Remember(adopt.AgentsMD, "## Old words\n")()
	e := only(t, remove(of("AGENTS.md", "# Top\n\n"+block("", "## Old words\n"))), adopt.AgentsMD)
	expect(t, e, adopt.Removed, "# Top\n")
	e = only(t, remove(of("AGENTS.md", block("", "## Old words\n"))), adopt.AgentsMD)
	if !e.Delete {
		t.Error("a file that held the block alone stays")
	}
}

func TestWholeFilesOfOtherVersions(t *testing.T) {
	defer adopt.Remember(adopt.CursorRule, "old\nrule\n")()
	const path = ".cursor/rules/agents-shipgate.mdc"
	opt := adopt.Options{Instructions: []adopt.Target{adopt.CursorRule}}
	now := string(install(fstest.MapFS{}, opt).Edits[0].After)
	expect(t, only(t, install(of(path, "old\nrule\n"), opt), adopt.CursorRule), adopt.Updated, now)
	expect(t, only(t, install(of(path, "old\r\nrule\r\n"), opt), adopt.CursorRule), adopt.Updated, strings.ReplaceAll(now, "\n", "\r\n"))
	expect(t, only(t, install(of(path, now), opt), adopt.CursorRule), adopt.Unchanged, now)
	expect(t, only(t, install(of(path, now+"\n"), opt), adopt.CursorRule), adopt.Edited, "")
	expect(t, only(t, remove(of(path, now+"\n")), adopt.CursorRule), adopt.Edited, "")
	if e := only(t, remove(of(path, "old\r\nrule\r\n")), adopt.CursorRule); !e.Delete {
		t.Error("an older one stays")
	}
}

func TestContractsOfOtherVersions(t *testing.T) {
	const path = ".shipgate/agent-contract.json"
	opt := adopt.Options{Contract: []byte(contract)}
	version := func(v string) string { return strings.ReplaceAll(contract, "0.16.0", v) }
	for _, c := range []struct {
		text string
		want adopt.Outcome
	}{
		{contract, adopt.Unchanged},
		{version("0.15.9"), adopt.Updated},
		{version("0.9.0"), adopt.Updated},
		{version("0.16.1"), adopt.NewerVersion},
		{version("1.0"), adopt.NewerVersion},
		{contract + " ", adopt.Edited},
		{`{"contract_version": "20"}`, adopt.Edited},
		{"not a contract", adopt.Edited},
		{"", adopt.Edited},
	} {
		e := only(t, install(of(path, c.text), opt), adopt.Contract)
		expect(t, e, c.want, "")
		if e := only(t, remove(of(path, c.text)), adopt.Contract); e.Delete != (c.want == adopt.Unchanged) {
			t.Errorf("%q: taken back: %v", c.text, e.Delete)
		}
	}
}

func TestHooksOfOtherVersions(t *testing.T) {
	const older = `{"hooks":[{"type":"command","command":"shipgate hook claude-code","timeout":9}]}`
	defer adopt.Remember(adopt.ClaudeHooks, older)()
	const path = ".claude/settings.json"
	opt := adopt.Options{Hooks: []adopt.Target{adopt.ClaudeHooks}}
	entry := hook.Entries(hook.ClaudeCode)[0]
	before := `{"hooks": {"Stop": [{"hooks": []}, ` + older + `]}}`
	e := only(t, install(of(path, before), opt), adopt.ClaudeHooks)
	expect(t, e, adopt.Updated, "")
	if strings.Contains(string(e.After), `"timeout":9`) || !strings.Contains(string(e.After), `{"hooks": []}, {"hooks": [{"type": "command"`) {
		t.Errorf("%s", e.After)
	}
	expect(t, only(t, remove(of(path, before)), adopt.ClaudeHooks), adopt.Removed, `{"hooks": {"Stop": [{"hooks": []}]}}`)
	now := string(entry.Value())
	for text, want := range map[string]adopt.Outcome{
		`{"hooks": {"Stop": [` + now + `]}}`:                                               adopt.Unchanged,
		`{"hooks": {"Stop": [` + now + `, ` + now + `]}}`:                                  adopt.Ambiguous,
		`{"hooks": {"Stop": [` + now + `, ` + older + `]}}`:                                adopt.Ambiguous,
		`{"hooks": {"Stop": [` + strings.Replace(now, `:60`, `:1`, 1) + `]}}`:              adopt.Edited,
		`{"hooks": {"Stop": [` + strings.Replace(now, `:60`, `:1`, 1) + `, ` + now + `]}}`: adopt.Ambiguous,
		`{"Stop": []}`:                         adopt.Skipped,
		`{"hooks": []}`:                        adopt.Skipped,
		`{"hooks": {"Stop": {}}}`:              adopt.Skipped,
		`{"hooks": {}, "hooks": {}}`:           adopt.Skipped,
		`{"hooks": {}} // a comment`:           adopt.Skipped,
		`[]`:                                   adopt.Skipped,
		``:                                     adopt.Skipped,
		`{"hooks": {"Stop": [{"hooks": []}]}}`: adopt.Appended,
	} {
		expect(t, only(t, install(of(path, text), opt), adopt.ClaudeHooks), want, "")
		if e := only(t, remove(of(path, text)), adopt.ClaudeHooks); want != adopt.Unchanged && e.Changes() {
			t.Errorf("%s is taken back to %s", text, e.After)
		}
	}
}

// A formatter may have moved every blank. The entry goes all the same, and the
// containers that it leaves empty.
func TestHooksThatSomebodyFormatted(t *testing.T) {
	entry := string(hook.Entries(hook.Cursor)[0].Value())
	for before, want := range map[string]string{
		"{\n\"version\": 1,\n\"hooks\":\n{\n\"stop\":\n[\n" + entry + "\n]\n}\n}\n":                                              "{\n\"version\": 1\n}\n",
		"{\"version\":1,\"hooks\":{\"stop\":[" + entry + "],\"other\":[]}}":                                                      "{\"version\":1,\"hooks\":{\"other\":[]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[" + entry + ",{\"command\":\"x\"}]}}":                                               "{\"version\":1,\"hooks\":{\"stop\":[{\"command\":\"x\"}]}}",
		"\n {\"hooks\":{\"stop\":[" + strings.Replace(entry, `,"timeout"`, "\n,\n\"timeout\"", 1) + "]},\"version\":1,\"z\":2} ": "\n {\"version\":1,\"z\":2} ",
	} {
		expect(t, only(t, remove(of(".cursor/hooks.json", before)), adopt.CursorHooks), adopt.Removed, want)
	}
}

func TestPreCommitOfOtherForms(t *testing.T) {
	const path = ".pre-commit-config.yaml"
	opt := adopt.Options{PreCommit: true}
	old := "- repo: old\n"
	defer adopt.Remember(adopt.PreCommit, old, "repos:\n  "+old)()
	whole := string(install(fstest.MapFS{}, opt).Edits[0].After)
	for before, want := range map[string]adopt.Outcome{
		"repos:\n  - repo: x\n    hooks: [{id: agents-shipgate}]\n":                                    adopt.Unchanged,
		"repos:\n  # agents-shipgate:start v=1\n  - repo: old\n  # agents-shipgate:end\n  - repo: x\n": adopt.Updated,
		"# agents-shipgate:start\nrepos:\n  - repo: old\n# agents-shipgate:end\n":                      adopt.Migrated,
		"repos:\n  # agents-shipgate:start v=1\n  - repo: mine\n  # agents-shipgate:end\n":             adopt.Edited,
		"repos:\n  # agents-shipgate:start v=1\n- repo: old\n  # agents-shipgate:end\n":                adopt.Edited,
		"repos: [{repo: x, hooks: []}]\n":                                                              adopt.Skipped,
		"repos: &all\n  - repo: x\n":                                                                   adopt.Skipped,
		"repos:\n":                                                                                     adopt.Skipped,
		"{repos: []}\n":                                                                                adopt.Skipped,
		"- a list\n":                                                                                   adopt.Skipped,
		"a: b: c\n":                                                                                    adopt.Skipped,
		"x: |+\n  the blank line would be its own\n":                                                   adopt.Skipped,

		"a: 1\n...\n":                                 adopt.Skipped,
		"repos:\n-\n  repo: x\n":                      adopt.Appended,
		"---\n# comment\nfail_fast: true\n":           adopt.Appended,
		"x: |\n  repos:\n  - no\nrepos:\n- repo: y\n": adopt.Appended,
	} {
		w := of(path, before)
		e := only(t, install(w, opt), adopt.PreCommit)
		expect(t, e, want, "")
		if want == adopt.Appended {
			for _, d := range differences(w, apply(w, remove(of(path, string(e.After))))) {
				t.Errorf("%q: %s", before, d)
			}
		}
		if want == adopt.Migrated && string(e.After) != whole {
			t.Errorf("migrated to\n%s", e.After)
		}
	}
}

// The digest in a manifest is a seal, not a permit: a wrong one keeps the file,
// a right one gives away the file that bears it and nothing else.
func TestAForgedSealHarmsNobody(t *testing.T) {
	body := "version: \"0.1\"\n"
	sum := sha256.Sum256([]byte(body))
	right := "# agents-shipgate:init sha256=" + hex.EncodeToString(sum[:]) + "\n" + body
	if string(adopt.Sealed([]byte(body))) != right {
		t.Fatal("the form of the seal changed")
	}
	for text, want := range map[string]adopt.Outcome{
		right:                                   adopt.Removed,
		strings.ReplaceAll(right, "\n", "\r\n"): adopt.Removed,
		right + "# more\n":                      adopt.Edited,
		body + right:                            adopt.Edited,
		"# agents-shipgate:init sha256=\n":      adopt.Edited,
		strings.Replace(right, "a", "b", 1):     adopt.Absent,
		body:                                    adopt.Absent,
	} {
		w := of("shipgate.yaml", text)
		w["other.yaml"] = &fstest.MapFile{Data: []byte(right)}
		plan := remove(w)
		e := only(t, plan, adopt.Manifest)
		if e.Outcome != want || e.Delete != (want == adopt.Removed) {
			t.Errorf("%q: %s", text, e.Outcome)
		}
		for i := range plan.Edits {
			if plan.Edits[i].Path != "shipgate.yaml" && plan.Edits[i].Changes() {
				t.Errorf("%s changes as well", plan.Edits[i].Path)
			}
		}
	}
}

func TestNothingIsReadThroughALinkOrOverTheLimit(t *testing.T) {
	link := func(to string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	ours := string(install(fstest.MapFS{}, agents).Edits[0].After)
	for _, w := range map[string]fstest.MapFS{
		"a link to a file":      {"AGENTS.md": link("real.md"), "real.md": {Data: []byte(ours)}},
		"a link that leads out": {"AGENTS.md": link("../../etc/passwd")},
		"a link in a circle":    {"AGENTS.md": link("AGENTS.md")},
		"a folder":              {"AGENTS.md/x": {}},
		"a device":              {"AGENTS.md": {Mode: fs.ModeDevice}},
		"too large":             {"AGENTS.md": {Data: bytes.Repeat([]byte("a\n"), 10<<20)}},
		"two bytes a character": {"AGENTS.md": {Data: []byte("\xff\xfea\x00")}},
	} {
		expect(t, only(t, install(w, agents), adopt.AgentsMD), adopt.Skipped, "")
		expect(t, only(t, remove(w), adopt.AgentsMD), adopt.Skipped, "")
	}
	w := fstest.MapFS{".cursor": link("elsewhere"), "elsewhere/hooks.json": {Data: []byte("{}")}, ".claude": {Data: []byte("a file")}}
	plan := install(w, everything())
	for _, target := range []adopt.Target{adopt.CursorRule, adopt.CursorHooks, adopt.ClaudeHooks} {
		expect(t, only(t, plan, target), adopt.Skipped, "")
	}
}

func TestUsualInstructions(t *testing.T) {
	for _, c := range []struct {
		files fstest.MapFS
		want  string
	}{
		{fstest.MapFS{}, "agents-md"},
		{fstest.MapFS{"CLAUDE.md": {}}, "agents-md claude-md"},
		{fstest.MapFS{".claude/settings.json": {}, ".cursor/mcp.json": {}}, "agents-md claude-md cursor"},
	} {
		var got []string
		for _, target := range adopt.Usual(c.files) {
			got = append(got, string(target))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

func TestPatchesOfASealedManifest(t *testing.T) {
	const patch = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n+@@ -1,2 +1,3 @@\n b\n@@ -9 +10,0 @@\n-c\n"
	const want = "--- a/x\n+++ b/x\n@@ -2,2 +2,3 @@\n a\n+@@ -1,2 +1,3 @@\n b\n@@ -10 +11,0 @@\n-c\n"
	if got := adopt.SealedPatch(patch); got != want {
		t.Errorf("%s", got)
	}
}

// A hook that its host will not call is not written: it would only look like one.
func TestNoHookIsWrittenWhereHooksAreSwitchedOff(t *testing.T) {
	for _, c := range []struct {
		target     adopt.Target
		name, text string
		off        bool
	}{
		{adopt.ClaudeHooks, ".claude/settings.json", `{"disableAllHooks": true}`, true},
		{adopt.ClaudeHooks, ".claude/settings.local.json", `{"disableAllHooks": true, "env": {}}`, true},
		{adopt.ClaudeHooks, ".claude/settings.local.json", `{"disableAllHooks": false}`, false},
		{adopt.CodexHooks, ".codex/config.toml", "[features]\nhooks = false\n", true},
		{adopt.CodexHooks, ".codex/config.toml", "features.codex_hooks = 0\n", true},
		{adopt.CodexHooks, ".codex/config.toml", "features.hooks = true\n", false},
		{adopt.CursorHooks, ".codex/config.toml", "features.hooks = false\n", false},
	} {
		e := only(t, install(of(c.name, c.text), adopt.Options{Hooks: []adopt.Target{c.target}}), c.target)
		if (e.Outcome == adopt.Skipped) != c.off || c.off && !strings.Contains(e.Note, "switches the hooks of this host off") {
			t.Errorf("%s %s: %s (%s)", c.name, c.text, e.Outcome, e.Note)
		}
	}
}
