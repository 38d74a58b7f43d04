package hook_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/fault"
)

const (
	claudeStop = `{"session_id":"abc-1","transcript_path":"/home/me/t.jsonl","cwd":"/home/me/shop","permission_mode":"default",` +
		`"hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"Done.","unheard_of":[{"deep":null}]}`
	cursorStop = `{"conversation_id":"c-1","generation_id":"g","hook_event_name":"stop","cursor_version":"1.7","workspace_roots":["/a","/b"],` +
		`"status":"completed","loop_count":0}`
)

func TestEventsOfTheHosts(t *testing.T) {
	for _, c := range []struct {
		host  hook.Host
		text  string
		roots []string
		again bool
	}{
		{hook.ClaudeCode, claudeStop, []string{"/home/me/shop"}, true},
		{hook.ClaudeCode, strings.Replace(claudeStop, `"Stop"`, `"SubagentStop"`, 1), []string{"/home/me/shop"}, true},
		{hook.Codex, `{"session_id":"s","turn_id":"t","cwd":"/w","hook_event_name":"Stop","stop_hook_active":false}`, []string{"/w"}, false},
		{hook.Codex, "\ufeff" + `{"session_id":"s","cwd":"C:\\w","hook_event_name":"Stop","stop_hook_active":false}`, []string{`C:\w`}, false},
		{hook.Cursor, cursorStop, []string{"/a", "/b"}, false},
		{hook.Cursor, strings.Replace(cursorStop, `"loop_count":0`, `"loop_count":3`, 1), []string{"/a", "/b"}, true},
	} {
		e, err := hook.Parse(c.host, "", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if e.Host != c.host || !slices.Equal(e.Roots, c.roots) || e.Again != c.again || e.Session == "" {
			t.Errorf("%s: %+v", c.text, e)
		}
	}
}

// Only a person who aborts is let go; a turn that broke off, and a word that some
// other host puts there, is judged.
func TestAPersonMayAbort(t *testing.T) {
	for _, c := range []struct {
		host    hook.Host
		text    string
		aborted bool
	}{
		{hook.Cursor, strings.Replace(cursorStop, `"completed"`, `"aborted"`, 1), true},
		{hook.Cursor, cursorStop, false},
		{hook.Cursor, strings.Replace(cursorStop, `"completed"`, `"error"`, 1), false},
		{hook.Cursor, strings.Replace(cursorStop, `"completed"`, `true`, 1), false},
		{hook.Cursor, strings.Replace(cursorStop, `"status":"completed",`, ``, 1), false},
		{hook.ClaudeCode, strings.Replace(claudeStop, `"cwd"`, `"status":"aborted","cwd"`, 1), false},
	} {
		e, err := hook.Parse(c.host, "", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if e.Aborted != c.aborted {
			t.Errorf("%s: aborted %t", c.text, e.Aborted)
		}
	}
}

// Whatever is missing or cannot be refuses the event: the caller then answers as
// for a gate that failed.
func TestEventsThatCannotBe(t *testing.T) {
	without := func(old, with string) string {
		if !strings.Contains(claudeStop, old) {
			t.Fatalf("%s holds no %s", claudeStop, old)
		}
		return strings.Replace(claudeStop, old, with, 1)
	}
	for _, c := range []struct {
		name string
		host hook.Host
		want string
		text string
	}{
		{"nothing", hook.ClaudeCode, "", ""},
		{"no JSON", hook.ClaudeCode, "", "Stop"},
		{"no object", hook.ClaudeCode, "", "[" + claudeStop + "]"},
		{"two values", hook.ClaudeCode, "", claudeStop + claudeStop},
		{"broken off", hook.ClaudeCode, "", claudeStop[:len(claudeStop)-1]},
		{"a key twice", hook.ClaudeCode, "", without(`"cwd"`, `"cwd":"/elsewhere","cwd"`)},
		{"no session", hook.ClaudeCode, "", without(`"session_id":"abc-1",`, "")},
		{"an empty session", hook.ClaudeCode, "", without(`"abc-1"`, `""`)},
		{"a session of two lines", hook.ClaudeCode, "", without(`abc-1`, `a\nb`)},
		{"a session of many bytes", hook.ClaudeCode, "", without(`abc-1`, strings.Repeat("s", 257))},
		{"no folder", hook.ClaudeCode, "", without(`"cwd":"/home/me/shop",`, "")},
		{"a folder that is relative", hook.ClaudeCode, "", without(`"/home/me/shop"`, `"shop"`)},
		{"a folder with a NUL", hook.ClaudeCode, "", without(`/home/me/shop`, `/home/\u0000`)},
		{"a folder that is a number", hook.ClaudeCode, "", without(`"/home/me/shop"`, `7`)},
		{"no event", hook.ClaudeCode, "", without(`"hook_event_name":"Stop",`, "")},
		{"another event", hook.ClaudeCode, "", without(`"Stop"`, `"PreToolUse"`)},
		{"not the event that is hooked", hook.ClaudeCode, "SubagentStop", claudeStop},
		{"no flag", hook.ClaudeCode, "", without(`"stop_hook_active":true,`, "")},
		{"a flag that is text", hook.ClaudeCode, "", without(`"stop_hook_active":true`, `"stop_hook_active":"false"`)},
		{"another host's event", hook.Cursor, "", claudeStop},
		{"no roots", hook.Cursor, "", strings.Replace(cursorStop, `["/a","/b"]`, `[]`, 1)},
		{"a root among roots that is none", hook.Cursor, "", strings.Replace(cursorStop, `["/a","/b"]`, `["/a",null]`, 1)},
		{"too many roots", hook.Cursor, "", strings.Replace(cursorStop, `["/a"`, `["/a"`+strings.Repeat(`,"/a"`, 8), 1)},
		{"a count below nothing", hook.Cursor, "", strings.Replace(cursorStop, `"loop_count":0`, `"loop_count":-1`, 1)},
		{"a count that is no number of times", hook.Cursor, "", strings.Replace(cursorStop, `"loop_count":0`, `"loop_count":1e9`, 1)},
		{"too large", hook.ClaudeCode, "", without("Done.", strings.Repeat("x", hook.MaxEvent))},
		{"a host that is none", "emacs", "", claudeStop},
	} {
		e, err := hook.Parse(c.host, c.want, []byte(c.text))
		if err == nil {
			t.Errorf("%s: read as %+v", c.name, e)
		} else if err.Kind != fault.Invalid || strings.Contains(err.Error(), "abc-1") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Sessions are named by hosts: no name of theirs is a name on disk, and no two
// share a memory.
func TestMemoriesAreNamedByWhatTheyBelongTo(t *testing.T) {
	seen := map[string]string{}
	for _, e := range []hook.Event{
		{Host: hook.ClaudeCode, Name: "Stop", Session: "../../etc/passwd"},
		{Host: hook.ClaudeCode, Name: "Stop", Session: "s"},
		{Host: hook.ClaudeCode, Name: "SubagentStop", Session: "s"},
		{Host: hook.Codex, Name: "Stop", Session: "s"},
		{Host: hook.Codex, Name: "Stops", Session: ""},
	} {
		name := e.MemoryName()
		if len(name) > 60 || strings.Trim(name, "0123456789abcdef") != ".json" && !strings.HasSuffix(name, ".json") || strings.ContainsAny(name, `/\`) {
			t.Errorf("%+v is remembered as %q", e, name)
		}
		if before, taken := seen[name]; taken {
			t.Errorf("%+v and %s share %s", e, before, name)
		}
		seen[name] = fmt.Sprintf("%+v", e)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{claudeStop, cursorStop, "{}", "[", `{"cwd":7}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, h := range hook.Hosts() {
			e, err := hook.Parse(h, "", text)
			if err != nil {
				continue
			}
			if e.Host != h || !slices.Contains(h.Events(), e.Name) || e.Session == "" || len(e.Roots) == 0 {
				t.Errorf("%q reads as %+v", text, e)
			}
			if again, err := hook.Parse(h, e.Name, text); err != nil || again.MemoryName() != e.MemoryName() {
				t.Errorf("%q reads in two ways", text)
			}
		}
	})
}
