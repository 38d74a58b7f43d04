package source

import "bytes"

// ParseJSONC reads JSON with // and /* */ comments and trailing commas, as VS
// Code writes it (docs/spec/boundary.md §4.3, ruling R5); otherwise it is as
// strict as ParseJSON.
func ParseJSONC(text []byte) (Value, *ParseError) { return readJSON(text, true) }

// comment skips the comment it stands on. A line comment ends at LF or CR, as
// in the host, and may not hold U+2028 or U+2029: some readers end it there,
// and what follows would be a key to them and silence to others.
func (r *jsonReader) comment() bool {
	rest := r.text[r.off:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexAny(rest, "\r\n"); end >= 0 {
			rest = rest[:end]
		}
		if i := bytes.IndexAny(rest, "\u2028\u2029"); i >= 0 {
			r.off += i
			return false
		}
		r.off += len(rest)
		return true
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return false
		}
		r.off += end + 4
		return true
	}
	return false
}
