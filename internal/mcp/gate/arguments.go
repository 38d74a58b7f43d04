package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Arguments are those that a call gave, by name and of the types of the table.
// One that is null where null is the default is not among them.
type Arguments struct {
	of     *tool
	values map[string]any // string, bool, []string or json.RawMessage
}

// Given says whether the caller gave the argument.
func (a Arguments) Given(name string) bool {
	_, ok := a.values[name]
	return ok
}

// Text is a text argument, or its default; "" for one whose default is null.
func (a Arguments) Text(name string) string {
	s, _ := a.value(name).(string)
	return s
}

// List is a list argument, or its default.
func (a Arguments) List(name string) []string {
	l, _ := a.value(name).([]string)
	return l
}

// Document is the text of a JSON object, as it was sent; nil when it was not.
func (a Arguments) Document(name string) []byte {
	d, _ := a.value(name).(json.RawMessage)
	return d
}

func (a Arguments) value(name string) any {
	if v, ok := a.values[name]; ok {
		return v
	}
	if i := a.of.index(name); i >= 0 {
		return a.of.arguments[i].fallback
	}
	return nil
}

func (t *tool) index(name string) int {
	return slices.IndexFunc(t.arguments, func(a argument) bool { return a.name == name })
}

// read takes the arguments of a call, or says in one line what is wrong with
// them. A name twice is refused: two readers would see two calls.
func (t *tool) read(raw json.RawMessage) (Arguments, error) {
	a := Arguments{of: t, values: map[string]any{}}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if raw[0] != '{' || !json.Valid(raw) {
		return a, errors.New("the arguments are no JSON object")
	}
	seen := map[string]bool{}
	for key, value := range members(raw) {
		var name string
		if err := json.Unmarshal(key, &name); err != nil {
			return a, errors.New("the arguments cannot be read")
		}
		i := t.index(name)
		switch {
		case i < 0:
			return a, fmt.Errorf("there is no argument %.100q", name)
		case seen[name]:
			return a, fmt.Errorf("%s is given twice", name)
		}
		seen[name] = true
		read, err := t.arguments[i].read(value)
		if err != nil {
			return a, err
		}
		if read != nil {
			a.values[name] = read
		}
	}
	if t.refuse != nil {
		return a, t.refuse(a)
	}
	return a, nil
}

// members are the keys and values of an object of valid JSON, each a part of it:
// a decoder would copy a large one twice.
func members(object []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		var key []byte
		depth, from := 0, -1
		for i := 0; i < len(object); i++ {
			end := depth == 1 && (object[i] == ',' || object[i] == '}')
			switch {
			case end && from >= 0:
				if !yield(key, bytes.TrimSpace(object[from:i])) {
					return
				}
				from = -1
			case depth == 1 && from < 0 && object[i] == ':':
				from = i + 1
			}
			switch object[i] {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			case '"':
				begin := i
				for i++; object[i] != '"'; i++ {
					if object[i] == '\\' {
						i++
					}
				}
				if depth == 1 && from < 0 {
					key = object[begin : i+1]
				}
			}
		}
	}
}

// read is the value of one argument, nil for a null that means "not given".
func (a *argument) read(value json.RawMessage) (any, error) {
	if string(value) == "null" {
		if a.fallback == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("%s is null", a.name)
	}
	switch a.kind {
	case text:
		return a.readText(value)
	case flag:
		var b bool
		if err := json.Unmarshal(value, &b); err != nil {
			return nil, fmt.Errorf("%s is neither true nor false", a.name)
		}
		return b, nil
	case list:
		return a.readList(value)
	case document:
		if value[0] != '{' {
			return nil, fmt.Errorf("%s is no JSON object", a.name)
		}
		if len(value) > a.most {
			return nil, fmt.Errorf("%s is over %d MiB", a.name, a.most>>20)
		}
		return value, nil
	}
	return nil, fmt.Errorf("%s cannot be read", a.name)
}

func (a *argument) readText(value json.RawMessage) (any, error) {
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return nil, fmt.Errorf("%s is no text", a.name)
	}
	if a.one != nil {
		if !slices.Contains(a.one, s) {
			return nil, fmt.Errorf("%s is %.100q; it must be one of %s", a.name, s, strings.Join(a.one, ", "))
		}
		return s, nil
	}
	switch {
	case len(s) > a.most && a.most >= 1<<20:
		return nil, fmt.Errorf("%s is over %d MiB", a.name, a.most>>20)
	case len(s) > a.most:
		return nil, fmt.Errorf("%s is over %d bytes", a.name, a.most)
	case s == "" && a.fallback != "":
		return nil, fmt.Errorf("%s is empty", a.name)
	}
	return s, nil
}

func (a *argument) readList(value json.RawMessage) (any, error) {
	var entries []*string
	if err := json.Unmarshal(value, &entries); err != nil {
		return nil, fmt.Errorf("%s is no list of texts", a.name)
	}
	if len(entries) > a.most {
		return nil, fmt.Errorf("%s has more than %d entries", a.name, a.most)
	}
	l := make([]string, 0, len(entries))
	for i, e := range entries {
		if e == nil || *e == "" {
			return nil, fmt.Errorf("%s[%d] is empty", a.name, i)
		}
		if strings.ContainsAny(*e, "\r\n\x00") {
			return nil, fmt.Errorf("%s[%d] holds a line break", a.name, i)
		}
		if len(*e) > MaxText {
			return nil, fmt.Errorf("%s[%d] is over %d bytes", a.name, i, MaxText)
		}
		l = append(l, *e)
	}
	return l, nil
}
