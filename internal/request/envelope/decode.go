package envelope

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"plimsoll.dev/internal/request/problem"
)

// The limits of an envelope, in bytes where nothing else is said.
const (
	MaxBytes        = 1 << 20 // a whole document: MaxText with every byte escaped, and room
	MaxText         = 65_536  // input_text
	MaxID           = 128     // ids of requests, circles, members and channels
	MaxReferenceID  = 2_048   // a reference may be a URL
	MaxParticipants = 256     // entries
	MaxReferences   = 64      // entries
)

// The forms are compiled for the first envelope, and not at every start of a
// program that reads none.
var (
	idForm = form(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)
	// contractForm is what ids of contracts look like. The id of a request names its
	// path, and so does that of an intent nobody asked for: one must not pass for the
	// other.
	contractForm = form(`^(IC|TS|AC|PG|EV)-[0-9]{3,}$`)
	localeForm   = form(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$`)
	digestForm   = form(`^[0-9a-f]{64}$`)
)

func form(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Decode reads one envelope (docs/spec/circle.md §4). The error is a
// problem.List with every fault at once, each with its code and JSON pointer,
// the first hundred of them. A text that is no JSON has one fault, because
// nothing else can be said of it.
//
// With an error the Envelope holds what could be read, so that a breach can be
// audited with its circle, member and channel, but no input text: nothing may be
// run on a request that was refused. No fault quotes the request; a name that is
// not known is only shown when it looks like one.
//
// `execute` among the actions is the fault problem.Breach beside all others
// (docs/spec/circle.md §8).
func Decode(text []byte) (Envelope, error) {
	v, faults := parse(text)
	if v == nil {
		return Envelope{}, faults.Err()
	}
	d := &decoder{faults: faults}
	e := d.envelope(v)
	if len(d.faults) > 0 {
		e.InputText = ""
	}
	return e, d.faults.Err()
}

type decoder struct {
	faults problem.List
}

func (d *decoder) fault(code problem.Code, path, format string, args ...any) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, problem.At(code, path, format, args...))
	}
}

func (d *decoder) envelope(v any) Envelope {
	e := Envelope{
		Circle: Context{Participants: []string{}, References: []Reference{}},
		Flags:  []Flag{}, AllowedActions: []Action{}, ExpectedOutputs: []ArtifactType{},
	}
	o, ok := d.object(v, "", "request_id", "circle_context", "visibility_level_target", "sensitivity_flags",
		"consent_status", "allowed_actions", "expected_output", "input_text")
	if !ok {
		return e
	}
	if e.RequestID = d.id(o, "request_id"); contractForm().MatchString(e.RequestID) {
		d.fault(problem.FieldInvalid, "/request_id", "a contract could have this id, and a request must not")
		e.RequestID = ""
	}
	if m, ok := d.need(o, "circle_context"); ok {
		e.Circle = d.context(m, "/circle_context")
	}
	e.Target = word(d, o, "visibility_level_target", levels)
	if m, ok := d.need(o, "sensitivity_flags"); ok {
		e.Flags = words(d, m, "/sensitivity_flags", flags)
	}
	e.Consent = word(d, o, "consent_status", consentStatuses)
	if m, ok := d.need(o, "allowed_actions"); ok {
		e.AllowedActions = d.actions(m, "/allowed_actions")
	}
	if m, ok := d.need(o, "expected_output"); ok {
		e.ExpectedOutputs = d.outputs(m, "/expected_output", e.AllowedActions)
	}
	e.InputText = d.inputText(o)
	return e
}

func (d *decoder) context(v any, path string) Context {
	c := Context{Participants: []string{}, References: []Reference{}}
	o, ok := d.object(v, path, "circle_id", "member_id", "channel", "locale", "participants", "references")
	if !ok {
		return c
	}
	c.CircleID = d.id(o, "circle_id")
	c.MemberID = d.name(o, "member_id")
	if m, ok := d.need(o, "channel"); ok {
		if ch, ok := d.object(m, path+"/channel", "kind", "id"); ok {
			c.Channel = Channel{Kind: word(d, ch, "kind", []Origin{Internal, External}), ID: d.name(ch, "id")}
		}
	}
	if m, ok := o.members["locale"]; ok {
		if s, ok := d.text(m, path+"/locale"); ok && !localeForm().MatchString(s) {
			d.fault(problem.FieldInvalid, path+"/locale", "a language tag of BCP 47 is expected, for example uk or en-GB")
		} else if ok {
			c.Locale = s
		}
	}
	if m, ok := o.members["participants"]; ok {
		c.Participants = d.participants(m, path+"/participants")
	}
	if m, ok := o.members["references"]; ok {
		c.References = d.references(m, path+"/references")
	}
	return c
}

func (d *decoder) participants(v any, path string) []string {
	list, ok := d.list(v, path, MaxParticipants)
	names := []string{}
	for i, m := range list {
		at := step(path, i)
		s, isText := d.text(m, at)
		switch {
		case !isText:
		case !d.named(s, at, MaxID):
		case slices.Contains(names, s):
			d.fault(problem.FieldDuplicate, at, "the member is named twice")
		default:
			names = append(names, s)
		}
	}
	if !ok {
		return []string{}
	}
	return names
}

func (d *decoder) references(v any, path string) []Reference {
	list, ok := d.list(v, path, MaxReferences)
	references := []Reference{}
	for i, m := range list {
		o, isObject := d.object(m, step(path, i), "kind", "id", "sha256")
		if !isObject {
			continue
		}
		r := Reference{Kind: word(d, o, "kind", referenceKinds)}
		if m, ok := d.need(o, "id"); ok {
			if s, ok := d.text(m, o.path+"/id"); ok && d.named(s, o.path+"/id", MaxReferenceID) {
				r.ID = s
			}
		}
		if m, ok := o.members["sha256"]; ok {
			if s, ok := d.text(m, o.path+"/sha256"); ok && !digestForm().MatchString(s) {
				d.fault(problem.FieldInvalid, o.path+"/sha256", "64 lower-case hex digits are expected")
			} else if ok {
				r.SHA256 = s
			}
		}
		references = append(references, r)
	}
	if !ok {
		return []Reference{}
	}
	return references
}

func (d *decoder) actions(v any, path string) []Action {
	list, ok := d.list(v, path, 0)
	if ok && len(list) == 0 {
		d.fault(problem.FieldInvalid, path, "at least one action is expected")
	}
	found := []Action{}
	for i, m := range list {
		at := step(path, i)
		s, isText := d.text(m, at)
		switch a := Action(s); {
		case !isText:
		case strings.EqualFold(strings.TrimSpace(s), "execute"):
			d.fault(problem.Breach, at, "nothing is executed for a request: there is no such action, and asking for it is a breach")
		case !a.Valid():
			d.fault(problem.FieldInvalid, at, "one of %s is expected", oneOf(actions))
		case slices.Contains(found, a):
			d.fault(problem.FieldDuplicate, at, "the action is there twice")
		default:
			found = append(found, a)
		}
	}
	return found
}

// outputs takes a name or a list of names. Each must be an artifact that a
// worker may make with the actions that are allowed.
func (d *decoder) outputs(v any, path string, allowed []Action) []ArtifactType {
	found := []ArtifactType{}
	if s, ok := v.(string); ok {
		return d.output(found, s, path, allowed)
	}
	list, isList := v.([]any)
	if !isList {
		if _, reported := v.(unreadable); !reported {
			d.fault(problem.FieldType, path, "a string or a list of strings is expected, not %s", kind(v))
		}
		return found
	}
	if len(list) == 0 {
		d.fault(problem.FieldInvalid, path, "at least one artifact type is expected")
	}
	for i, m := range list {
		if s, ok := d.text(m, step(path, i)); ok {
			found = d.output(found, s, step(path, i), allowed)
		}
	}
	return found
}

func (d *decoder) output(found []ArtifactType, name, at string, allowed []Action) []ArtifactType {
	t := ArtifactType(name)
	switch {
	case !t.Valid():
		d.fault(problem.FieldInvalid, at, "one of %s is expected", oneOf(ArtifactTypes()))
	case slices.Contains(found, t):
		d.fault(problem.FieldDuplicate, at, "the type is there twice")
	default:
		if len(allowed) > 0 && !slices.Contains(allowed, t.Needs()) {
			d.fault(problem.OutputForbidden, at, "an artifact of this type needs the action %s, which the request does not allow", t.Needs())
		}
		return append(found, t)
	}
	return found
}

func (d *decoder) inputText(o object) string {
	m, ok := d.need(o, "input_text")
	if !ok {
		return ""
	}
	s, ok := d.text(m, "/input_text")
	switch {
	case !ok:
	case s == "":
		d.fault(problem.FieldInvalid, "/input_text", "the text is empty")
	case len(s) > MaxText:
		d.fault(problem.TooLarge, "/input_text", "the text has %d bytes, at most %d are taken", len(s), MaxText)
	}
	return s
}

// object is a JSON object with its place.
type object struct {
	path    string
	members map[string]any
}

// object takes an object that has no other members than these.
func (d *decoder) object(v any, path string, known ...string) (object, bool) {
	members, ok := v.(map[string]any)
	if !ok {
		if _, reported := v.(unreadable); !reported {
			d.fault(problem.FieldType, path, "an object is expected, not %s", kind(v))
		}
		return object{}, false
	}
	unknown := []string{}
	for name := range members {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		at, shown := place(path, name)
		if shown {
			d.fault(problem.FieldUnknown, at, "there is no such member here; %s are known", oneOf(known))
		} else {
			d.fault(problem.FieldUnknown, at, "a member that is not known; %s are", oneOf(known))
		}
	}
	return object{path, members}, true
}

// need is a member that must be there.
func (d *decoder) need(o object, name string) (any, bool) {
	v, ok := o.members[name]
	if !ok {
		d.fault(problem.FieldMissing, o.path+"/"+name, "the member is missing")
	}
	return v, ok
}

func (d *decoder) text(v any, path string) (string, bool) {
	s, ok := v.(string)
	if !ok {
		if _, reported := v.(unreadable); !reported {
			d.fault(problem.FieldType, path, "a string is expected, not %s", kind(v))
		}
	}
	return s, ok
}

// list takes a list of at most so many entries, of any length when most is 0.
// Of a longer one it answers the entries that are looked at.
func (d *decoder) list(v any, path string, most int) ([]any, bool) {
	list, ok := v.([]any)
	if !ok {
		if _, reported := v.(unreadable); !reported {
			d.fault(problem.FieldType, path, "a list is expected, not %s", kind(v))
		}
		return nil, false
	}
	if most > 0 && len(list) > most {
		d.fault(problem.TooLarge, path, "the list has %d entries, at most %d are taken", len(list), most)
		return list[:most], true
	}
	return list, true
}

// id is a member in the form of request and circle ids.
func (d *decoder) id(o object, name string) string {
	v, ok := d.need(o, name)
	if !ok {
		return ""
	}
	s, ok := d.text(v, o.path+"/"+name)
	switch {
	case !ok:
		return ""
	case len(s) > MaxID:
		d.fault(problem.TooLarge, o.path+"/"+name, "the id has %d characters, at most %d are taken", len(s), MaxID)
		return ""
	case !idForm().MatchString(s):
		d.fault(problem.FieldInvalid, o.path+"/"+name, "an id begins with a letter or digit of ASCII and goes on with those and . _ : -")
		return ""
	}
	return s
}

// name is a member that names an actor or a channel. Their ids are not ours to
// form; they only have to be printable.
func (d *decoder) name(o object, name string) string {
	v, ok := d.need(o, name)
	if !ok {
		return ""
	}
	s, ok := d.text(v, o.path+"/"+name)
	if !ok || !d.named(s, o.path+"/"+name, MaxID) {
		return ""
	}
	return s
}

func (d *decoder) named(s, path string, most int) bool {
	switch {
	case s == "":
		d.fault(problem.FieldInvalid, path, "the id is empty")
	case len(s) > most:
		d.fault(problem.TooLarge, path, "the id has %d bytes, at most %d are taken", len(s), most)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) || strings.TrimSpace(s) != s:
		d.fault(problem.FieldInvalid, path, "an id has no control or invisible characters and no space around it")
	default:
		return true
	}
	return false
}

// word is a member that is one of a few words.
func word[T ~string](d *decoder, o object, name string, all []T) T {
	v, ok := d.need(o, name)
	if !ok {
		return ""
	}
	s, ok := d.text(v, o.path+"/"+name)
	if ok && !slices.Contains(all, T(s)) {
		d.fault(problem.FieldInvalid, o.path+"/"+name, "one of %s is expected", oneOf(all))
		return ""
	}
	return T(s)
}

// words is a list of different words, each one of a few.
func words[T ~string](d *decoder, v any, path string, all []T) []T {
	list, _ := d.list(v, path, 0)
	found := []T{}
	for i, m := range list {
		at := step(path, i)
		s, isText := d.text(m, at)
		switch {
		case !isText:
		case !slices.Contains(all, T(s)):
			d.fault(problem.FieldInvalid, at, "one of %s is expected", oneOf(all))
		case slices.Contains(found, T(s)):
			d.fault(problem.FieldDuplicate, at, "the word is there twice")
		default:
			found = append(found, T(s))
		}
	}
	return found
}

func oneOf[T ~string](all []T) string { return strings.Join(texts(all), ", ") }

func step(path string, i int) string { return path + "/" + strconv.Itoa(i) }

// kind is what a value is, in words.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case number:
		return "a number"
	}
	return fmt.Sprintf("%T", v)
}
