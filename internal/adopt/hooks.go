package adopt

import (
	"bytes"
	"encoding/json"
	"strings"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/gate/source"
)

// hostOf is the host whose settings a target edits.
func hostOf(t Target) hook.Host { return hook.Host(strings.TrimPrefix(string(t), hooksPrefix)) }

// HooksOf is the target that edits the settings of a host.
func HooksOf(h hook.Host) Target { return Target(hooksPrefix + string(h)) }

const hooksPrefix = "hooks-"

// settings edits the hooks of one host. All entries of a host stand in one file.
type settings struct {
	target  Target
	host    hook.Host
	entries []hook.Entry
}

// versioned says whether the file needs "version": 1 beside its hooks.
func (s *settings) versioned() bool { return s.host == hook.Cursor }

const versionMember = `"version": 1`

// whole is the file that is written where there is none.
func (s *settings) whole() string {
	var b bytes.Buffer
	b.WriteString("{")
	b.WriteString(`"hooks":{`)
	for i := range s.entries {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(quoted(s.entries[i].Event) + ":[")
		b.Write(s.entries[i].Value())
		b.WriteString("]")
	}
	b.WriteString("}")
	if s.versioned() {
		b.WriteString("," + versionMember)
	}
	b.WriteString("}")
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return ""
	}
	return out.String() + "\n"
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// state is what a file says about one entry.
type state struct {
	root              part
	hooks, event      int // indexes of the members, -1 for none
	items             []int
	older             []int // entries that an older version of the program wrote
	foreign           bool  // an entry that calls the gate and is not one of these
	bad               string
	eventPart, hkPart *part
}

// stateOf reads the file for one entry.
func (s *settings) stateOf(text []byte, e *hook.Entry) state {
	is := state{hooks: -1, event: -1}
	if is.root, is.bad = parseParts(text); is.bad != "" {
		return is
	}
	if is.hooks = is.root.get("hooks"); is.hooks < 0 {
		if is.root.get(e.Event) >= 0 {
			is.bad = "its events do not stand below \"hooks\""
		}
		return is
	}
	is.hkPart = &is.root.children[is.hooks].part
	if is.hkPart.value.Kind != source.Map {
		is.bad = "its \"hooks\" is no object"
		return is
	}
	if is.event = is.hkPart.get(e.Event); is.event < 0 {
		return is
	}
	is.eventPart = &is.hkPart.children[is.event].part
	if is.eventPart.value.Kind != source.List {
		is.bad = "what it has for " + e.Event + " is no list"
		return is
	}
	want, err := source.ParseJSON(e.Value())
	if err != nil {
		is.bad = "there is no entry for it"
		return is
	}
	for i, item := range is.eventPart.value.Items {
		at := &is.eventPart.children[i].part
		switch {
		case item.Equal(want):
			is.items = append(is.items, i)
		case !callsGate(item):
		case renderedBefore(s.target, compact(text[at.start:at.end])):
			is.older = append(is.older, i)
		default:
			is.foreign = true
		}
	}
	return is
}

// compact is a JSON value without any blank.
func compact(value []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return ""
	}
	return b.String()
}

func namesHook(text []byte) bool {
	return bytes.Contains(text, []byte("shipgate")) && bytes.Contains(text, []byte("hook "))
}

// callsGate says whether some text of a hook runs the hook command of the gate.
func callsGate(v source.Value) bool {
	if v.Kind == source.String {
		return namesHook([]byte(v.Text))
	}
	for _, item := range v.Items {
		if callsGate(item) {
			return true
		}
	}
	for i := range v.Members {
		if callsGate(v.Members[i].Value) {
			return true
		}
	}
	return false
}

// install puts every entry that is missing into a text.
//
// What is put into a container that was there begins with a blank or a line
// break; a container that is put in has none inside. So the form tells what was
// there before, and remove needs no record.
func (s *settings) install(f found) (text []byte, outcome Outcome, note string) {
	if !f.exists {
		return []byte(s.whole()), Created, ""
	}
	text, outcome = f.text, Unchanged
	for i := range s.entries {
		e := &s.entries[i]
		was := s.stateOf(text, e)
		switch n := len(was.items) + len(was.older); {
		case was.bad != "":
			return nil, Skipped, was.bad
		case n > 1 || n == 1 && was.foreign:
			return nil, Ambiguous, "it runs the gate more than once for " + e.Event
		case was.foreign:
			return nil, Edited, "its hook for " + e.Event + " runs the gate in other words than this program writes"
		case len(was.older) == 1:
			old := &was.eventPart.children[was.older[0]].part
			text, outcome = join(text[:old.start], oneLine(e.Value()), string(text[old.end:])), Updated
			continue
		case n == 1:
			continue
		}
		unit := unitOf(text, &was.root)
		item := oneLine(e.Value())
		list := quoted(e.Event) + ": [" + item + "]"
		switch {
		case was.hooks < 0:
			member := `"hooks": {` + list + `}`
			if s.versioned() && was.root.get("version") < 0 {
				member += ", " + versionMember
			}
			text = addChild(text, &was.root, unit, member)
		case was.event < 0:
			text = addChild(text, was.hkPart, unit, list)
		default:
			text = addChild(text, was.eventPart, unit, item)
		}
		outcome = Appended
		if now := s.stateOf(text, e); len(now.items) != 1 {
			return nil, Skipped, "it has a form that cannot be edited safely"
		}
	}
	return text, outcome, ""
}

// remove takes every entry out again. remains is false when the file is as this
// program made it where there was none.
func (s *settings) remove(f found) (text []byte, remains bool, outcome Outcome, note string) {
	if plain := plainBreaks(bytes.TrimPrefix(f.text, byteOrderMark)); plain == s.whole() || renderedBefore(s.target, plain) {
		return nil, false, Removed, ""
	}
	text, outcome = f.text, Absent
	for i := len(s.entries) - 1; i >= 0; i-- {
		e := &s.entries[i]
		was := s.stateOf(text, e)
		was.items = append(was.items, was.older...)
		switch {
		case was.bad != "":
			if !namesHook(text) {
				return nil, true, Absent, ""
			}
			return nil, true, Skipped, was.bad
		case len(was.items) > 1 || len(was.items) == 1 && was.foreign:
			return nil, true, Ambiguous, "it runs the gate more than once for " + e.Event
		case len(was.items) == 0:
			if was.foreign {
				return nil, true, Edited, "its hook for " + e.Event + " runs the gate in other words than this program writes"
			}
			continue
		}
		text, outcome = s.cut(text, &was), Removed
	}
	return text, true, outcome, ""
}

// cut takes one entry out, and the containers that were put in with it. One that
// was there before is told by what follows its bracket; in a file that somebody
// formatted since nothing tells, and there containers that become empty go.
func (s *settings) cut(text []byte, was *state) []byte {
	i := was.items[0]
	item := &was.eventPart.children[i].part
	written := string(text[item.start:item.end]) == oneLine(text[item.start:item.end])
	ours := func(p *part) bool {
		return len(p.children) == 1 && (!written || p.children[0].start == p.start+1)
	}
	switch {
	case !ours(was.eventPart):
		return cutChildren(text, was.eventPart, i, i)
	case !ours(was.hkPart):
		return cutChildren(text, was.hkPart, was.event, was.event)
	}
	last := was.hooks
	if written && s.versioned() && last+1 < len(was.root.children) {
		next := &was.root.children[last+1]
		if string(text[was.hkPart.end:next.part.end]) == ", "+versionMember {
			last++
		}
	}
	return cutChildren(text, &was.root, was.hooks, last)
}
