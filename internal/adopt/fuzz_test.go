package adopt_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/adopt"
	"plimsoll.dev/internal/gate/source"
)

// Whatever is in the files: a plan changes nothing that it does not know, what it
// adds it takes back, and a second plan finds nothing to do.
func backAndForth(t *testing.T, path string, text []byte, opt adopt.Options) {
	t.Helper()
	before := fstest.MapFS{path: {Data: text}}
	first := install(before, opt)
	after := apply(before, first)
	if again := install(after, opt); len(differences(after, apply(after, again))) > 0 {
		t.Errorf("a second run changes something")
	}
	for i := range first.Edits {
		if first.Edits[i].Outcome != adopt.Appended {
			return // what was there of ours before is ours to take
		}
	}
	for _, d := range differences(before, apply(after, remove(after))) {
		t.Error(d)
	}
}

func FuzzBlock(f *testing.F) {
	for _, seed := range []string{
		"", "# A\n", "a\r\nb", "\xef\xbb\xbf", "```\n<!-- agents-shipgate:start v=1 -->\n```\n", "<!-- agents-shipgate:end -->", "\n\n\n", "a\r",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		backAndForth(t, "AGENTS.md", text, agents)
		rest, ok := adopt.FindBlock(adopt.AgentsMD, text)
		if ok && (len(rest) >= len(text) || len(rest) > 0 && !bytes.Contains(text, rest[:1])) {
			t.Errorf("the text without its block is no part of it: %q", rest)
		}
	})
}

func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"{}", "{\n}\n", `{"hooks":{"Stop":[]}}`, `{"hooks": {"Stop": [{"a": "\"]}"}]}, "x": 1e5}`, "\xef\xbb\xbf{ }", `{"Stop":[]}`,
		"{\r\n\t\"a\": [1,\r\n2]\r\n}", `[]`, `{"a":1,}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		backAndForth(t, ".claude/settings.json", text, adopt.Options{Hooks: []adopt.Target{adopt.ClaudeHooks}})
		if _, bad := adopt.Parts(text); bad == "wrong" {
			t.Errorf("a part is not the value that was read")
		}
	})
}

func FuzzPreCommit(f *testing.F) {
	for _, seed := range []string{
		"repos:\n- repo: x\n", "repos: []\n", "a: 1", "repos:\n\n  # c\n  -\n    repo: x", "---\n", "repos: |\n  - a\n", "{}", "\xef\xbb\xbfrepos:\n- a\n", "repos:\n- a\n...\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		opt := adopt.Options{PreCommit: true}
		backAndForth(t, ".pre-commit-config.yaml", text, opt)
		e := install(fstest.MapFS{".pre-commit-config.yaml": {Data: text}}, opt).Edits[0]
		if e.Outcome != adopt.Appended {
			return
		}
		body, _ := source.TrimBOM(e.After)
		root, err := source.ParseYAML(body)
		if err != nil || root.Get("repos").Items[0].Get("repo").Str() != "local" {
			t.Errorf("%q became %q", text, e.After)
		}
	})
}
