package surface

import (
	"encoding/json"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/source"
)

// CodexHook is one handler of one event, from a hooks.json or from the hooks
// tables of a config.toml (docs/spec/boundary.md §5.1).
type CodexHook struct {
	Event string
	// Command: the handler runs one, by its type or because it names one.
	Command bool
	// CommandPresent: it names one.
	CommandPresent bool
	Pos            source.Position

	canonical string // the whole handler
}

// CodexHooksOf reads one parsed side of a hooks.json: the root's "hooks", or
// the root itself.
func CodexHooksOf(doc Doc) []CodexHook {
	if doc.Err != nil {
		return nil
	}
	if hooks := doc.Value.Get("hooks"); hooks.Kind == source.Map {
		return codexHooksIn(hooks)
	}
	return codexHooksIn(doc.Value)
}

// CodexHooks is the handlers of both sides of a hooks.json or config.toml; ok is
// false when they are not to be compared.
func (s *Surface) CodexHooks() (before, after []CodexHook, ok bool) {
	switch s.Role {
	case RoleCodexHooks:
		if !s.readable() {
			return nil, nil, false
		}
		return CodexHooksOf(s.OldDoc), CodexHooksOf(s.NewDoc), true
	case RoleCodexConfig:
		old, now, ok := s.CodexConfig()
		return old.Hooks, now.Hooks, ok
	case RoleClaudeSettings, RoleMCPServers, RoleCursorCLI, RoleCursorHooks, RoleWorkflow, RolePolicy, RoleSyntax, RoleText:
	}
	return nil, nil, false
}

// NewCommandHooks are the command handlers of after that before does not have
// under the same event, letter by letter in canonical JSON. The order of events,
// handlers and keys does not count.
func NewCommandHooks(before, after []CodexHook) []CodexHook {
	type key struct{ event, handler string }
	was := make(map[key]bool, len(before))
	for i := range before {
		was[key{before[i].Event, before[i].canonical}] = true
	}
	var out []CodexHook
	for i := range after {
		if after[i].Command && !was[key{after[i].Event, after[i].canonical}] {
			out = append(out, after[i])
		}
	}
	return out
}

// LosesHooks says whether Codex runs less at some event than before: its hooks
// are switched off, or a command is gone and no other has come in its place.
func (c *CodexConfig) LosesHooks(before *CodexConfig) bool {
	if c.HooksOff && !before.HooksOff {
		return true
	}
	now := map[string]int{}
	for i := range c.Hooks {
		if c.Hooks[i].Command {
			now[c.Hooks[i].Event]++
		}
	}
	for i := range before.Hooks {
		if h := &before.Hooks[i]; h.Command {
			if now[h.Event]--; now[h.Event] < 0 {
				return true
			}
		}
	}
	return false
}

// codexHooksIn reads a table of events. An event holds a list of groups or one
// group; a group holds its handlers under "hooks" or is one itself.
func codexHooksIn(events source.Value) []CodexHook {
	var out []CodexHook
	for _, event := range events.Members {
		for _, group := range listOrOne(event.Value) {
			handlers := []source.Value{group}
			if inner := group.Get("hooks"); inner.Kind == source.List || inner.Kind == source.Map {
				handlers = listOrOne(inner)
			}
			for _, h := range handlers {
				if h.Kind == source.Map {
					out = append(out, codexHook(event.Key, h))
				}
			}
		}
	}
	return out
}

func codexHook(event string, h source.Value) CodexHook {
	command := h.Get("command")
	present := command.Str() != "" || len(command.Items) > 0 || len(command.Members) > 0
	return CodexHook{
		Event:          event,
		Command:        present || h.Get("type").Str() == "command",
		CommandPresent: present,
		Pos:            h.Pos,
		canonical:      canonical.Compact.String(canonicalValue(h)),
	}
}

func listOrOne(v source.Value) []source.Value {
	if v.Kind == source.List {
		return v.Items
	}
	return []source.Value{v}
}

// canonicalValue is v in the types that canonical JSON is made of. A date
// becomes its text.
func canonicalValue(v source.Value) any {
	switch v.Kind {
	case source.Bool:
		return v.Truth
	case source.Number:
		return json.Number(v.Text)
	case source.String, source.Date:
		return v.Text
	case source.List:
		out := make([]any, len(v.Items))
		for i := range v.Items {
			out[i] = canonicalValue(v.Items[i])
		}
		return out
	case source.Map:
		out := make(canonical.Object, len(v.Members))
		for i, m := range v.Members {
			out[i] = canonical.Member{Key: m.Key, Value: canonicalValue(m.Value)}
		}
		return out
	case source.Null:
	}
	return nil
}
