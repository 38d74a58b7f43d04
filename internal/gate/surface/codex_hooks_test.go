package surface_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// codexHooks reads one side of a hooks.json that must parse.
func codexHooks(t *testing.T, text string) []surface.CodexHook {
	t.Helper()
	value, err := source.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return surface.CodexHooksOf(surface.Doc{Value: value})
}

func TestEveryShapeOfAHooksFileIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		events     []string // of the command handlers
	}{
		{"groups", `{"hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"a"}]}]}}`, []string{"Stop"}},
		{"one group", `{"hooks":{"Stop":{"hooks":[{"command":"a"}]}}}`, []string{"Stop"}},
		{"a group that is a handler", `{"hooks":{"Stop":[{"command":"a"}]}}`, []string{"Stop"}},
		{"one handler", `{"hooks":{"Stop":{"command":"a"}}}`, []string{"Stop"}},
		{"a handler outside its list", `{"hooks":{"Stop":{"hooks":{"command":"a"}}}}`, []string{"Stop"}},
		{"events in the root", `{"Stop":[{"command":"a"}],"Start":{"command":"b"}}`, []string{"Stop", "Start"}},
		{"an event named hooks", `{"hooks":[{"command":"a"}]}`, []string{"hooks"}},
		{"a command in words", `{"Stop":{"command":["sh","-c","a"]}}`, []string{"Stop"}},
		{"a type without a command", `{"Stop":{"type":"command"}}`, []string{"Stop"}},
		{"no command", `{"hooks":{"Stop":[{"type":"prompt","prompt":"x","command":""}],"Start":[1,"a",null,[]]}}`, nil},
		{"nothing", `{}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var events []string
			for _, h := range surface.NewCommandHooks(nil, codexHooks(t, c.text)) {
				events = append(events, h.Event)
			}
			if diff := cmp.Diff(c.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHandlerIsComparedAsAWhole(t *testing.T) {
	t.Parallel()
	const base = `{"Stop":{"type":"command","command":"a","timeout":1,"env":{"A":"é","B":null},"on":true,"args":["x","y"]}}`
	for name, c := range map[string]struct {
		text string
		news int
	}{
		"the same":          {base, 0},
		"keys in any order": {`{"Stop":{"args":["x","y"],"on":true,"env":{"B":null,"A":"\u00e9"},"timeout":1,"command":"a","type":"command"}}`, 0},
		"another command":   {`{"Stop":{"type":"command","command":"a ","timeout":1,"env":{"A":"é","B":null},"on":true,"args":["x","y"]}}`, 1},
		"another timeout":   {`{"Stop":{"type":"command","command":"a","timeout":2,"env":{"A":"é","B":null},"on":true,"args":["x","y"]}}`, 1},
		"another env":       {`{"Stop":{"type":"command","command":"a","timeout":1,"env":{"A":"e","B":null},"on":true,"args":["x","y"]}}`, 1},
		"other arguments":   {`{"Stop":{"type":"command","command":"a","timeout":1,"env":{"A":"é","B":null},"on":true,"args":["y","x"]}}`, 1},
		"another event":     {`{"Start":{"type":"command","command":"a","timeout":1,"env":{"A":"é","B":null},"on":true,"args":["x","y"]}}`, 1},
		"beside it another": {`{"Stop":[{"type":"command","command":"a","timeout":1,"env":{"A":"é","B":null},"on":true,"args":["x","y"]},{"command":"b"}]}`, 1},
		"gone":              {`{}`, 0},
	} {
		if got := surface.NewCommandHooks(codexHooks(t, base), codexHooks(t, c.text)); len(got) != c.news {
			t.Errorf("%s: %d new handlers, want %d", name, len(got), c.news)
		}
	}
}

func TestHooksInTOMLReadLikeThoseInJSON(t *testing.T) {
	t.Parallel()
	now := codexConfig(t, "[[hooks.Stop]]\nmatcher = \"*\"\n\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"a\"\nsince = 2026-01-02\ntimeout = 1.5\n")
	fresh := surface.NewCommandHooks(nil, now.Hooks)
	if len(fresh) != 1 || fresh[0].Event != "Stop" || !fresh[0].CommandPresent || fresh[0].Pos.Line == 0 {
		t.Fatalf("handlers: %+v", fresh)
	}
	same := codexConfig(t, "hooks.Stop = {hooks = [{timeout = 1.5, since = 2026-01-02, command = 'a', type = 'command'}]}\n")
	if got := surface.NewCommandHooks(now.Hooks, same.Hooks); got != nil {
		t.Errorf("another spelling is another handler: %+v", got)
	}
}
