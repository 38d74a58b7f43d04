package canonical

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Document is v as files have it: declared order, two blanks of indent, nothing
// escaped for HTML, one line end (docs/spec/verification.md §1).
//
// The text is what json.Encoder writes with the same settings. It is indented
// here because the encoder's own way checks every byte again, which takes most
// of the time that a report of tens of megabytes needs.
func Document(v any) ([]byte, error) {
	var w indenter
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return w.out, nil
}

// indenter indents the compact JSON that is written to it.
type indenter struct {
	out             []byte
	depth           int
	opened          bool // the last byte opened a list or an object
	inText, escaped bool
}

const step = "  "

func (w *indenter) Write(p []byte) (int, error) {
	w.out = slices.Grow(w.out, w.size(p))
	for i := 0; i < len(p); {
		if w.inText {
			end := w.text(p[i:])
			w.out = append(w.out, p[i:i+end]...)
			i += end
			continue
		}
		c := p[i]
		i++
		if w.opened && c != '}' && c != ']' {
			w.opened = false
			w.depth++
			w.line()
		}
		switch c {
		case '{', '[':
			w.opened = true
		case '}', ']':
			if w.opened {
				w.opened = false // an empty one stays on its line
			} else {
				w.depth--
				w.line()
			}
		case '"':
			w.inText = true
		}
		w.out = append(w.out, c)
		switch c {
		case ',':
			w.line()
		case ':':
			w.out = append(w.out, ' ')
		}
	}
	return len(p), nil
}

func (w *indenter) line() {
	w.out = append(w.out, '\n')
	for range w.depth {
		w.out = append(w.out, step...)
	}
}

// text is how many bytes of p belong to the string that is open.
func (w *indenter) text(p []byte) int {
	for i, c := range p {
		switch {
		case w.escaped:
			w.escaped = false
		case c == '\\':
			w.escaped = true
		case c == '"':
			w.inText = false
			return i + 1
		}
	}
	return len(p)
}

// size is how long p gets: a document of megabytes is not to be copied while it
// grows.
func (w *indenter) size(p []byte) int {
	own := indenter{depth: w.depth, opened: w.opened, inText: w.inText, escaped: w.escaped}
	n := len(p)
	for i := 0; i < len(p); {
		if own.inText {
			i += own.text(p[i:])
			continue
		}
		c := p[i]
		i++
		if own.opened && c != '}' && c != ']' {
			own.opened = false
			own.depth++
			n += 1 + own.depth*len(step)
		}
		switch c {
		case '{', '[':
			own.opened = true
		case '}', ']':
			if own.opened {
				own.opened = false
				continue
			}
			own.depth--
			n += 1 + own.depth*len(step)
		case '"':
			own.inText = true
		case ',':
			n += 1 + own.depth*len(step)
		case ':':
			n++
		}
	}
	return n
}

// Reorder writes compact JSON text in this spelling after dst, without the
// members of the outermost object that are named in without. The text is valid:
// encoding/json wrote it. Numbers stay as they are written.
func (s Spelling) Reorder(dst, text []byte, without ...string) []byte {
	r := reorderer{spelling: s, text: text}
	return r.value(dst, without)
}

// reorderer walks over one text.
type reorderer struct {
	spelling Spelling
	text     []byte
	at       int
	scratch  []byte
}

// part is one written member of an object: its key, and where it lies.
type part struct {
	key        []byte
	start, end int
}

func (r *reorderer) value(dst []byte, without []string) []byte {
	switch r.text[r.at] {
	case '{':
		return r.object(dst, without)
	case '[':
		dst = append(dst, '[')
		for r.at++; r.text[r.at] != ']'; {
			if r.text[r.at] == ',' {
				r.at++
				dst = append(dst, r.spelling.comma...)
			}
			dst = r.value(dst, nil)
		}
		r.at++
		return append(dst, ']')
	case '"':
		_, dst = r.string(dst)
		return dst
	}
	start := r.at
	for r.at < len(r.text) && !strings.ContainsRune(",]} \n", rune(r.text[r.at])) {
		r.at++
	}
	return append(dst, r.text[start:r.at]...)
}

func (r *reorderer) object(dst []byte, without []string) []byte {
	dst = append(dst, '{')
	first := len(dst)
	parts := make([]part, 0, 12)
	for r.at++; r.text[r.at] != '}'; {
		if r.text[r.at] == ',' {
			r.at++
		}
		p := part{start: len(dst)}
		p.key, dst = r.string(dst)
		r.at++ // the colon
		dst = r.value(append(dst, r.spelling.colon...), nil)
		p.end = len(dst)
		if slices.Contains(without, string(p.key)) {
			dst = dst[:p.start]
			continue
		}
		parts = append(parts, p)
	}
	r.at++
	slices.SortStableFunc(parts, func(a, b part) int { return bytes.Compare(a.key, b.key) })
	from := len(r.scratch)
	r.scratch = append(r.scratch, dst[first:]...)
	written := r.scratch[from:]
	dst = dst[:first]
	for i, p := range parts {
		if i+1 < len(parts) && bytes.Equal(parts[i+1].key, p.key) {
			continue // the last of several members of one name counts
		}
		if len(dst) > first {
			dst = append(dst, r.spelling.comma...)
		}
		dst = append(dst, written[p.start-first:p.end-first]...)
	}
	r.scratch = r.scratch[:from]
	return append(dst, '}')
}

// string reads the string that begins here and writes it after dst.
func (r *reorderer) string(dst []byte) (value, written []byte) {
	start := r.at
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	quoted := r.text[start:r.at]
	if bytes.IndexByte(quoted, '\\') >= 0 {
		var s string
		if err := json.Unmarshal(quoted, &s); err != nil {
			panic("canonical: text that is no JSON: " + err.Error())
		}
		return []byte(s), r.spelling.appendString(dst, s)
	}
	value = quoted[1 : len(quoted)-1]
	if r.spelling.ascii {
		return value, r.spelling.appendString(dst, string(value))
	}
	return value, append(dst, quoted...)
}

// AppendText writes text after dst as a JSON string of a Document. It is for
// types with a JSON form of their own: their strings are many and short.
func AppendText(dst []byte, text string) ([]byte, error) {
	for i := range len(text) {
		if !isPlain(text[i]) {
			written, err := plain(text)
			return append(dst, written...), err
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"'), nil
}
