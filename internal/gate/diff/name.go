package diff

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// name is one name of a header line.
type name struct {
	text string // without prefix; printed lossily when it is not UTF-8
	ok   bool   // well formed, not empty and UTF-8
}

// badName is a name that says nothing.
var badName = name{text: InvalidPath}

func newName(raw []byte) name {
	switch {
	case len(raw) == 0:
		return badName
	case !utf8.Valid(raw):
		return name{text: lossy(raw)}
	}
	return name{text: string(raw), ok: true}
}

// names is everything the headers of one record say about its names.
type names struct {
	header   header
	old, new side // --- and +++
	from, to side // rename or copy
}

// side is a name line that may be there, once or more often.
type side struct {
	seen, null bool
	raw        []byte
	bad        bool // malformed, or two lines that differ
}

func (s *side) see(value []byte) {
	raw, ok := lineName(value)
	if !ok || s.seen && !bytes.Equal(raw, s.raw) {
		s.bad = true
	}
	s.seen, s.raw = true, raw
	s.null = string(value) == "/dev/null" || bytes.HasPrefix(value, []byte("/dev/null\t"))
}

// lineName is the name on a ---, +++, rename or copy line.
func lineName(value []byte) (raw []byte, ok bool) {
	if len(value) > 0 && value[0] == '"' {
		raw, rest, ok := unquote(value)
		return raw, ok && (len(rest) == 0 || rest[0] == '\t')
	}
	raw, _, _ = bytes.Cut(value, []byte{'\t'})
	return raw, len(raw) > 0
}

// settle decides the names of a record from its headers. Whatever they
// disagree on becomes InvalidPath.
func (n *names) settle(r *Record) {
	from, to := badName, badName
	paired := n.from.seen && n.to.seen
	switch {
	case n.header.ok:
		from, to = newName(n.header.old), newName(n.header.new)
		from = n.from.confirm(from, n.header.old)
		to = n.to.confirm(to, n.header.new)
		if from.text != to.text && !paired {
			// Nobody says that these two belong together: another prefix than
			// a/ and b/, or no change of one repository.
			from, to = badName, badName
		}
	case !n.header.malformed && paired:
		from, to = n.from.confirm(newName(n.from.raw), n.from.raw), n.to.confirm(newName(n.to.raw), n.to.raw)
	}

	from, r.ShapeOld = n.old.check(from, r.New)
	to, r.ShapeNew = n.new.check(to, r.Deleted)
	if from.text != to.text {
		r.ShapeOld = r.ShapeOld || r.New
		r.ShapeNew = r.ShapeNew || r.Deleted
	}
	both := r.New && r.Deleted
	if !r.New || r.ShapeOld || both {
		r.OldName, r.badOld = from.text, !from.ok
	}
	if !r.Deleted || r.ShapeNew || both {
		r.NewName, r.badNew = to.text, !to.ok
	}
	r.InvalidName = r.badOld || r.badNew
}

// confirm compares a rename or copy line, which has no prefix, with the name
// of the header.
func (s *side) confirm(n name, raw []byte) name {
	if s.seen && (s.bad || !bytes.Equal(s.raw, raw)) {
		return badName
	}
	return n
}

// check compares a --- or +++ line with the settled name n. gone says that the
// record has no file on this side; shape that the line names one all the same.
func (s *side) check(n name, gone bool) (_ name, shape bool) {
	switch {
	case !s.seen:
		return n, false
	case s.bad, s.null && !gone:
		return badName, gone
	case s.null:
		return n, false
	case newName(stripPrefix(s.raw)) != n:
		return badName, gone
	}
	return n, gone
}

// header is the name pair of a "diff --git" line.
type header struct {
	old, new  []byte // without prefix
	ok        bool   // there is exactly one way to read the pair
	malformed bool   // there is none
}

func splitHeader(s []byte) header {
	pair := func(left, right []byte) header {
		return header{old: stripPrefix(left), new: stripPrefix(right), ok: true}
	}
	if len(s) > 0 && s[0] == '"' {
		left, rest, ok := unquote(s)
		rest, space := bytes.CutPrefix(rest, []byte{' '})
		if !ok || !space {
			return header{malformed: true}
		}
		if len(rest) > 0 && rest[0] == '"' {
			right, tail, ok := unquote(rest)
			if !ok || len(tail) > 0 {
				return header{malformed: true}
			}
			return pair(left, right)
		}
		return pair(left, rest)
	}
	if i := bytes.Index(s, []byte(` "`)); i >= 0 {
		right, tail, ok := unquote(s[i+1:])
		if !ok || len(tail) > 0 {
			return header{malformed: true}
		}
		return pair(s[:i], right)
	}
	if i := bytes.IndexByte(s, ' '); i >= 0 && bytes.IndexByte(s[i+1:], ' ') < 0 {
		return pair(s[:i], s[i+1:])
	}
	// Halves that are equal without their prefixes differ in length by such a
	// prefix at most, so only three places can part them.
	var found header
	for _, i := range []int{len(s)/2 - 1, len(s) / 2, len(s)/2 + 1} {
		if i <= 0 || i >= len(s)-1 || s[i] != ' ' {
			continue
		}
		h := pair(s[:i], s[i+1:])
		if !bytes.Equal(h.old, h.new) {
			continue
		}
		if found.ok {
			return header{}
		}
		found = h
	}
	if !found.ok && bytes.IndexByte(s, ' ') < 0 {
		return header{malformed: true}
	}
	return found
}

func stripPrefix(raw []byte) []byte {
	if len(raw) >= 2 && (raw[0] == 'a' || raw[0] == 'b') && raw[1] == '/' {
		return raw[2:]
	}
	return raw
}

const (
	escapes = `abtnvfr"\`
	escaped = "\a\b\t\n\v\f\r\"\\"
)

// unquote reads a C-quoted name at the start of s and returns what follows it.
func unquote(s []byte) (raw, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '"' {
		return nil, nil, false
	}
	raw = make([]byte, 0, 64)
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return raw, s[i+1:], true
		case '\\':
			i++
			if i == len(s) {
				return nil, nil, false
			}
			if k := strings.IndexByte(escapes, s[i]); k >= 0 {
				raw = append(raw, escaped[k])
				continue
			}
			v, digits := 0, 0
			for digits < 3 && i+digits < len(s) && s[i+digits] >= '0' && s[i+digits] <= '7' {
				v = v*8 + int(s[i+digits]-'0')
				digits++
			}
			if digits == 0 || v > 0xFF {
				return nil, nil, false
			}
			raw = append(raw, byte(v))
			i += digits - 1
		default:
			raw = append(raw, c)
		}
	}
	return nil, nil, false
}
