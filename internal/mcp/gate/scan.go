package gate

import "encoding/json"

// MaxDepth is how deep a message may be nested.
const MaxDepth = 64

// maxID is the longest id of a call, in bytes as it was sent.
const maxID = 256

// scan walks over one message while it arrives: how deep it is nested, and its
// id, so that a message too long to be kept is answered too.
type scan struct {
	depth, deepest     int
	inString, escaped  bool
	object, atKey, tag bool   // the message is an object; a key comes next; the value of "id" is being read
	word, id           []byte // the last key, and the id
}

func (s *scan) feed(part []byte) {
	for i := 0; i < len(part); i++ {
		if s.inString && !s.escaped && s.depth > 1 {
			// Most of a long message is one text.
			for i < len(part) && part[i] != '"' && part[i] != '\\' {
				i++
			}
			if i == len(part) {
				return
			}
		}
		s.step(part[i])
	}
}

func (s *scan) step(b byte) {
	if s.tag && s.depth == 1 && (s.inString || b != ',' && b != '}' && b != ' ' && b != '\t' && b != '\r' && b != '\n') {
		s.id = keep(s.id, b)
	}
	if s.inString {
		s.within(b)
		return
	}
	switch b {
	case '"':
		s.inString, s.word = true, s.word[:0]
	case '{', '[':
		if s.depth == 0 {
			s.object, s.atKey = b == '{', b == '{'
		}
		s.depth++
		s.deepest = max(s.deepest, s.depth)
	case '}', ']':
		s.depth--
		s.tag = false
	case ':':
		if s.depth == 1 && s.object && s.atKey {
			s.atKey, s.tag = false, string(s.word) == `id`
			if s.tag {
				s.id = s.id[:0]
			}
		}
	case ',':
		if s.depth == 1 && s.object {
			s.atKey, s.tag = true, false
		}
	}
}

// within is one byte of a string.
func (s *scan) within(b byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case b == '\\':
		s.escaped = true
	case b == '"':
		s.inString = false
		return
	}
	if s.depth == 1 && s.atKey {
		s.word = keep(s.word, b)
	}
}

// keep is a byte more of something that is of no use once it is long.
func keep(to []byte, b byte) []byte {
	if len(to) <= maxID {
		return append(to, b)
	}
	return to
}

// answerTo is the id that a refusal goes to, as it was sent: a number or a text.
// It is null for a message that has none or that hides it.
func (s *scan) answerTo() json.RawMessage {
	if len(s.id) == 0 || len(s.id) > maxID || !json.Valid(s.id) || s.id[0] != '"' && s.id[0] != '-' && (s.id[0] < '0' || s.id[0] > '9') {
		return json.RawMessage("null")
	}
	return s.id
}
