package hook

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
)

// Bounds on what a host says.
const (
	// MaxEvent is how many bytes of an event are read. Hosts put the agent's last
	// message into it.
	MaxEvent   = 4 << 20
	maxSession = 256
	maxPath    = 4096
	maxRoots   = 8
	maxLoops   = 1 << 20
)

// Event is what a host says when its agent wants to stop.
type Event struct {
	Host Host
	Name string
	// Session is the host's name of the session, never "".
	Session string
	// Roots are the folders in which the agent works, absolute as the host's
	// system writes them; one at least.
	Roots []string
	// Again says that a hook has already sent the agent on in this turn.
	Again bool
	// Aborted says that a person ended the turn: nothing is answered for the agent,
	// which did not end it, and what it left is judged when it next wants to stop.
	Aborted bool
}

const opParse = "hook.Parse"

// Parse reads the event that the host wrote (docs/spec/verification.md §21.6).
// Fields that are not needed are ignored, whatever they hold. A field that is
// needed and missing, of the wrong type or out of bounds is fault.Invalid, and
// the caller answers as for a gate that failed. want is the event that the
// settings name, "" for any that the host's table has. No text of the event
// is repeated in an error.
func Parse(h Host, want string, text []byte) (*Event, *fault.Error) {
	f, known := facts[h]
	if !known {
		return nil, fault.E(opParse, fault.Invalid, "the host is not one of ours", nil)
	}
	if len(text) > MaxEvent {
		return nil, fault.E(opParse, fault.Invalid, "the event is too large", nil)
	}
	text, _ = source.TrimBOM(text)
	v, err := source.ParseJSON(text)
	if err != nil {
		return nil, fault.E(opParse, fault.Invalid, "the event is no JSON", err)
	}
	if v.Kind != source.Map {
		return nil, fault.E(opParse, fault.Invalid, "the event is no JSON object", nil)
	}
	e := &Event{Host: h, Name: v.Get("hook_event_name").Str(), Session: v.Get(f.session).Str()}
	if !slices.Contains(h.Events(), e.Name) || want != "" && want != e.Name {
		return nil, fault.E(opParse, fault.Invalid, "hook_event_name is not the event that is hooked", nil)
	}
	if e.Session == "" || len(e.Session) > maxSession || strings.ContainsFunc(e.Session, unprintable) {
		return nil, fault.E(opParse, fault.Invalid, f.session+" is missing or no name of a session", nil)
	}
	if e.Roots = roots(v.Get(f.roots)); e.Roots == nil {
		return nil, fault.E(opParse, fault.Invalid, f.roots+" is missing or names no absolute folder", nil)
	}
	again, ok := sentOn(v.Get(f.again))
	if !ok {
		return nil, fault.E(opParse, fault.Invalid, f.again+" is missing or of the wrong type", nil)
	}
	e.Again = again
	e.Aborted = f.aborts && v.Get("status").Str() == "aborted"
	return e, nil
}

// roots is one folder or a list of them; nil where one of them cannot be.
func roots(v source.Value) []string {
	list := []source.Value{v}
	if v.Kind == source.List {
		list = v.Items
	}
	if len(list) == 0 || len(list) > maxRoots {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		p := item.Str()
		if len(p) > maxPath || !absolute(p) || !utf8.ValidString(p) || strings.ContainsAny(p, "\x00\r\n") {
			return nil
		}
		out = append(out, p)
	}
	return out
}

// absolute says whether a path is absolute on one of the systems that hosts run
// on; whether it is on this one is for who opens it.
func absolute(p string) bool {
	if path.IsAbs(p) {
		return true
	}
	drive := len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
	return drive || strings.HasPrefix(p, `\\`)
}

// sentOn reads stop_hook_active, a boolean, or loop_count, a number.
func sentOn(v source.Value) (again, ok bool) {
	switch v.Kind {
	case source.Bool:
		return v.Truth, true
	case source.Number:
		n, err := strconv.Atoi(v.Text)
		return n > 0, err == nil && n >= 0 && n <= maxLoops
	case source.Null, source.String, source.Date, source.List, source.Map:
	}
	return false, false
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }
