package hook

import (
	"bytes"
	"encoding/json"
)

// Entry is one hook as it stands in a host's settings.
type Entry struct {
	// File is the settings file, relative to the root of the repository.
	File string
	// Event is the key below "hooks" whose list holds the entry.
	Event string
	// Command is what the host's shell runs; Timeout the limit that the entry
	// asks of the host, in seconds.
	Command string
	Timeout int

	grouped bool
}

// Entries is what goes into a host's settings, one for each event that is
// hooked; none for a host that is not Valid.
func Entries(h Host) []Entry {
	f, known := facts[h]
	if !known {
		return nil
	}
	return []Entry{{File: f.file, Event: f.event, Command: Command(h), Timeout: HostSeconds, grouped: f.speaks}}
}

// handler is one command as the hosts' settings have it.
type handler struct {
	Type    string `json:"type,omitempty"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// Value is the element of the event's list as compact JSON, without a line
// break: a group of one handler for Claude Code and Codex, the handler itself
// for Cursor, whose file also needs "version": 1 at its top.
func (e Entry) Value() []byte {
	h := handler{Command: e.Command, Timeout: e.Timeout}
	if !e.grouped {
		return line(h)
	}
	h.Type = "command"
	return line(struct {
		Hooks []handler `json:"hooks"`
	}{[]handler{h}})
}

// line panics when v cannot be printed: every value here is of plain types.
func line(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("hook: print: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
