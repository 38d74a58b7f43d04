package envelope

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"plimsoll.dev/internal/request/problem"
)

// What a hostile document can make us do: no nesting that an envelope does not
// have, and no answer longer than anybody reads.
const (
	maxDepth  = 8
	maxFaults = 100
)

// unreadable stands for a value whose fault has been reported.
type unreadable struct{}

// number stands for a number: an envelope has none, so what it says is of no
// interest.
type number struct{}

// parse reads a JSON document and keeps going where another reader would stop:
// after a member that is there twice, and after a text that is not UTF-8. What
// is wrong is in the list; the value is nil when nothing could be read.
func parse(text []byte) (any, problem.List) {
	switch {
	case len(text) > MaxBytes:
		return nil, problem.List{problem.At(problem.TooLarge, "", "the document has %d bytes, at most %d are taken", len(text), MaxBytes)}
	case !json.Valid(text):
		return nil, problem.List{problem.At(problem.Malformed, "", "the document is no JSON%s", where(text))}
	}
	p := &parser{text: text, in: json.NewDecoder(bytes.NewReader(text))}
	p.in.UseNumber()
	v := p.value("", 0)
	if v == nil { // the document is null
		v = unreadable{}
		p.fault(problem.FieldType, "", "an object is expected, not null")
	}
	return v, p.faults
}

// where is the place a text stops being JSON, never what stands there.
func where(text []byte) string {
	var v json.RawMessage
	if e, ok := json.Unmarshal(text, &v).(*json.SyntaxError); ok { //nolint:errorlint // Unmarshal returns it bare
		return " (byte " + strconv.FormatInt(e.Offset, 10) + ")"
	}
	return ""
}

type parser struct {
	text   []byte
	in     *json.Decoder
	faults problem.List
}

func (p *parser) fault(code problem.Code, path, format string, args ...any) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, problem.At(code, path, format, args...))
	}
}

// token is the next token with the bytes it was written as. The document is
// valid JSON, so there always is one.
func (p *parser) token() (json.Token, []byte) {
	start := p.in.InputOffset()
	t, err := p.in.Token()
	if err != nil {
		panic("envelope: valid JSON has no next token: " + err.Error())
	}
	return t, p.text[start:p.in.InputOffset()]
}

func (p *parser) value(path string, depth int) any {
	t, raw := p.token()
	switch t := t.(type) {
	case json.Delim:
		if depth >= maxDepth {
			p.fault(problem.Malformed, path, "the document is nested more than %d deep", maxDepth)
			p.skip()
			return unreadable{}
		}
		if t == '{' {
			return p.object(path, depth)
		}
		list := []any{}
		for p.in.More() {
			list = append(list, p.value(step(path, len(list)), depth+1))
		}
		p.token()
		return list
	case string:
		if !wellFormed(raw) {
			p.fault(problem.NotUTF8, path, "the text is not UTF-8, or holds half a surrogate pair")
			return unreadable{}
		}
		return t
	case json.Number:
		return number{}
	default: // a bool or nil
		return t
	}
}

func (p *parser) object(path string, depth int) any {
	members := map[string]any{}
	for p.in.More() {
		t, raw := p.token()
		name := t.(string)
		if !wellFormed(raw) {
			p.fault(problem.NotUTF8, path, "the name of a member is not UTF-8")
			p.value(path, depth+1)
			continue
		}
		at, _ := place(path, name)
		_, twice := members[name]
		if twice {
			p.fault(problem.FieldDuplicate, at, "the member is there twice")
		}
		v := p.value(at, depth+1)
		if !twice {
			members[name] = v
		}
	}
	p.token()
	return members
}

// skip reads to the end of the object or list that has just begun.
func (p *parser) skip() {
	for open := 1; open > 0; {
		switch t, _ := p.token(); t {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
}

var nameForm = regexp.MustCompile(`^[A-Za-z_-]{1,32}$`)

// place is the JSON pointer of a member, and whether it shows the name. Whatever
// does not look like a name may be something that must not be repeated: the
// object it stands in is the place then.
func place(path, name string) (at string, shown bool) {
	if !nameForm.MatchString(name) {
		return path, false
	}
	return path + "/" + name, true
}

// wellFormed says whether a JSON string as it was written means one text to
// everybody: the library puts U+FFFD where bytes are not UTF-8 or a surrogate
// stands alone.
func wellFormed(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		high := hex4(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(high) {
			continue
		}
		if len(raw) < i+7 || raw[i+1] != '\\' || raw[i+2] != 'u' || utf16.DecodeRune(high, hex4(raw[i+3:])) == utf8.RuneError {
			return false
		}
		i += 6
	}
	return true
}

// hex4 reads four hex digits; the library has made sure that they are there.
func hex4(digits []byte) rune {
	n, err := strconv.ParseUint(string(digits[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
