package canonical

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A ZeroIsNull is a value that JSON spells null when it is zero: a text that
// nobody gave, a line that nobody knows.
type ZeroIsNull interface{ ZeroIsNull() }

// Kept is the JSON of the struct that holds it, in one line. Where several
// documents repeat a value it is written once, by Keep, and copied after that.
// The value must not change any more. A field of this type is no member.
type Kept struct{ text []byte }

// Keep is v, which will hold it, as every document is going to repeat it. Of a
// value that has no JSON nothing is kept: the document says so.
func Keep(v any) Kept {
	return KeepBy(func(dst []byte) ([]byte, error) { return Line(dst, v) })
}

// KeepBy is Keep of the value whose Line line appends, faster than reflection can.
func KeepBy(line func(dst []byte) ([]byte, error)) Kept {
	sheet := sheets.Get().(*[]byte)
	defer sheets.Put(sheet)
	if cap(*sheet)-len(*sheet) < sheetRest {
		*sheet = make([]byte, 0, sheetSize)
	}
	rest := (*sheet)[len(*sheet):]
	text, err := line(rest)
	switch {
	case err != nil:
		return Kept{}
	case len(text) <= cap(rest):
		*sheet = (*sheet)[:len(*sheet)+len(text)]
	}
	return Kept{slices.Clip(text)}
}

// sheets are where kept texts are written, one behind the other: each takes as much
// memory as it is long, and none is written anywhere else before. What is longer
// than the rest of a sheet has grown out of it.
var sheets = sync.Pool{New: func() any { return new([]byte) }}

// A sheet with less left than what most texts take is done.
const (
	sheetSize = 128 << 10
	sheetRest = 8 << 10
)

// Same says whether two values have the same JSON, where both were kept.
func (k Kept) Same(o Kept) bool { return k.text != nil && bytes.Equal(k.text, o.text) }

// SHA256 is the lower-case hex digest of what was kept; "" when nothing was.
func (k Kept) SHA256() string {
	if k.text == nil {
		return ""
	}
	sum := sha256.Sum256(k.text)
	return hex.EncodeToString(sum[:])
}

// Line appends v in declared order and without blanks, in one line.
func Line(dst []byte, v any) ([]byte, error) {
	e := encoder{dst: dst, line: true}
	e.value(reflect.ValueOf(v))
	return e.dst, e.err
}

// Sheet is v as a document of rows: objects are indented by two blanks, and an
// entry of a list is one line. Members are in declared order, the last line ends.
func Sheet(v any) ([]byte, error) {
	d, err := SheetBy(nil, v)
	return d.Bytes(), err
}

// SheetBy is Sheet by as many hands as each has: each does n pieces of work in
// any order or at once. The rows of a long list are such pieces.
func SheetBy(each func(n int, do func(i int)), v any) (Doc, error) {
	e := encoder{dst: newPart(), each: each, sheet: true}
	e.value(reflect.ValueOf(v))
	e.dst = append(e.dst, '\n')
	e.end()
	return Doc{e.parts}, e.err
}

// A document grows by parts: one that is moved whenever it outgrows its place is
// moved several times over. A row that is longer than what is left moves alone.
// Each hand begins a part of its own, and has little to write where rows are kept.
const (
	partSize = 16 << 10
	partRest = 2 << 10
)

func newPart() []byte {
	if part, ok := rests.Get().(*[]byte); ok {
		return *part
	}
	return make([]byte, 0, partSize)
}

// rests are what others left of their last parts.
var rests sync.Pool

// end is cut by a hand that has no more to write.
func (e *encoder) end() {
	e.cut()
	if rest := e.dst; cap(rest) > 2*partRest {
		rests.Put(&rest)
	}
	e.dst = nil
}

// cut ends a part and goes on behind it.
func (e *encoder) cut() {
	if n := len(e.dst); n > 0 {
		e.parts = append(e.parts, e.dst[:n:n])
		e.dst = e.dst[n:]
	}
}

// repeat writes what was kept: into a sheet as a part of its own, so that it is
// not copied.
func (e *encoder) repeat(text []byte) {
	if e.sheet && len(text) > partRest/4 {
		e.cut()
		e.parts = append(e.parts, text)
		return
	}
	e.dst = append(e.dst, text...)
}

// SHA256Of is the lower-case hex digest of the canonical spelling of the JSON form
// of any v, without the members named in without at the top: of what Reorder makes
// of that form. Long lists are hashed as they are written.
func (s Spelling) SHA256Of(v any, without ...string) (string, error) {
	e := encoder{line: true, sorted: true, spelling: s, without: without, hash: sha256.New()}
	draft := drafts.Get().(*[]byte)
	defer drafts.Put(draft)
	e.dst = (*draft)[:0]
	e.value(reflect.ValueOf(v))
	e.hash.Write(e.dst)
	*draft = e.dst
	return hex.EncodeToString(e.hash.Sum(nil)), e.err
}

var drafts = sync.Pool{New: func() any { return new([]byte) }}

// hashSize is about how much is hashed at once.
const hashSize = 32 << 10

// encoder writes what encoding/json would, without a buffer for each value: the
// artifacts of a large repository are tens of megabytes.
type encoder struct {
	parts   [][]byte // of a sheet, in order, before dst
	dst     []byte
	sheet   bool // parts are welcome
	each    func(n int, do func(i int))
	depth   int
	line    bool // everything in one line
	sorted  bool // members by name, in spelling
	without []string

	spelling Spelling
	hash     hash.Hash // of what is hashed and not kept; else nil
	err      error
}

// A writer writes values of one type.
type writer func(*encoder, reflect.Value)

var writers sync.Map // reflect.Type to writer

func (e *encoder) value(v reflect.Value) {
	if !v.IsValid() {
		e.dst = append(e.dst, "null"...)
		return
	}
	writerOf(v.Type())(e, v)
}

func writerOf(t reflect.Type) writer {
	if w, ok := writers.Load(t); ok {
		return w.(writer)
	}
	// A type may hold itself: whoever meets it before it is known waits for it.
	var made sync.WaitGroup
	var w writer
	made.Add(1)
	other, loaded := writers.LoadOrStore(t, writer(func(e *encoder, v reflect.Value) { made.Wait(); w(e, v) }))
	if loaded {
		return other.(writer)
	}
	w = newWriter(t)
	made.Done()
	writers.Store(t, w)
	return w
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	zeroIsNull    = reflect.TypeFor[ZeroIsNull]()
	keptType      = reflect.TypeFor[Kept]()
)

func newWriter(t reflect.Type) writer {
	if t == reflect.TypeFor[Object]() {
		return (*encoder).object
	}
	if t.Implements(zeroIsNull) {
		w := ofKind(t)
		return func(e *encoder, v reflect.Value) {
			if v.IsZero() {
				e.dst = append(e.dst, "null"...)
				return
			}
			w(e, v)
		}
	}
	for _, own := range []reflect.Type{marshaler, textMarshaler} {
		if t.Implements(own) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(own) {
			return (*encoder).foreign
		}
	}
	return ofKind(t)
}

func ofKind(t reflect.Type) writer {
	switch t.Kind() {
	case reflect.Bool:
		return func(e *encoder, v reflect.Value) { e.dst = strconv.AppendBool(e.dst, v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(e *encoder, v reflect.Value) { e.dst = strconv.AppendInt(e.dst, v.Int(), 10) }
	case reflect.String:
		if t != reflect.TypeFor[json.Number]() {
			return func(e *encoder, v reflect.Value) { e.text(v.String()) }
		}
	case reflect.Interface:
		return func(e *encoder, v reflect.Value) { e.value(v.Elem()) }
	case reflect.Pointer:
		return pointerWriter(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return listWriter(t)
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !t.Key().Implements(textMarshaler) {
			return mapWriter(t)
		}
	case reflect.Struct:
		if fields, ok := membersOf(t); ok {
			return structWriter(t, fields)
		}
	default:
	}
	return (*encoder).foreign
}

func pointerWriter(t reflect.Type) writer {
	of := writerOf(t.Elem())
	return func(e *encoder, v reflect.Value) {
		if v.IsNil() {
			e.dst = append(e.dst, "null"...)
			return
		}
		of(e, v.Elem())
	}
}

func listWriter(t reflect.Type) writer {
	of := writerOf(t.Elem())
	return func(e *encoder, v reflect.Value) {
		if v.IsNil() {
			e.dst = append(e.dst, "null"...)
			return
		}
		n := v.Len()
		rows := !e.line
		e.dst = append(e.dst, '[')
		e.depth++
		if e.each != nil && n > 2*share {
			e.shared(of, v, rows)
			e.close(n, ']', rows)
			return
		}
		for i := range n {
			e.next(i, rows)
			e.line = true
			of(e, v.Index(i))
			e.line = !rows
		}
		e.close(n, ']', rows)
	}
}

// share is how many rows one hand takes at a time.
const share = 128

// shared writes the rows of a long list by many hands.
func (e *encoder) shared(of writer, v reflect.Value, rows bool) {
	n := v.Len()
	shares := make([]encoder, (n+share-1)/share)
	e.each(len(shares), func(s int) {
		own := encoder{dst: newPart(), sheet: true, depth: e.depth, line: true}
		for i := s * share; i < min(n, (s+1)*share); i++ {
			own.next(i, rows)
			of(&own, v.Index(i))
		}
		own.end()
		shares[s] = own
	})
	e.cut()
	for i := range shares {
		e.parts = append(e.parts, shares[i].parts...)
		if e.err == nil {
			e.err = shares[i].err
		}
	}
}

func mapWriter(t reflect.Type) writer {
	if t == reflect.TypeFor[map[string]any]() {
		return func(e *encoder, v reflect.Value) {
			m := v.Interface().(map[string]any) // no copy: what most evidence is
			if m == nil {
				e.dst = append(e.dst, "null"...)
				return
			}
			keys := make([]string, 0, 8)
			for k := range m {
				keys = append(keys, k)
			}
			e.members(v, keys, func(k string) { e.value(reflect.ValueOf(m[k])) })
		}
	}
	of := writerOf(t.Elem())
	return func(e *encoder, v reflect.Value) {
		if v.IsNil() {
			e.dst = append(e.dst, "null"...)
			return
		}
		values := make(map[string]reflect.Value, v.Len())
		for k, value := range v.Seq2() {
			values[k.String()] = value
		}
		e.members(v, slices.Collect(maps.Keys(values)), func(k string) { of(e, values[k]) })
	}
}

// members writes the map v, whose keys these are; value writes the one of a key.
func (e *encoder) members(v reflect.Value, keys []string, value func(key string)) {
	slices.Sort(keys)
	if e.sorted && slices.ContainsFunc(keys, func(k string) bool { return !utf8.ValidString(k) }) {
		e.foreign(v) // a name is sorted as it is written
		return
	}
	e.dst = append(e.dst, '{')
	e.depth++
	for i, k := range keys {
		e.next(i, !e.line)
		e.text(k)
		e.colon()
		value(k)
	}
	e.close(len(keys), '}', !e.line)
}

func (e *encoder) object(v reflect.Value) {
	o := v.Interface().(Object)
	if e.sorted {
		o = slices.Clone(o)
		slices.SortStableFunc(o, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
		for i, m := range o {
			if !utf8.ValidString(m.Key) || i > 0 && o[i-1].Key == m.Key {
				e.foreign(v)
				return
			}
		}
	}
	e.dst = append(e.dst, '{')
	e.depth++
	for i, m := range o {
		e.next(i, !e.line)
		e.text(m.Key)
		e.colon()
		e.value(reflect.ValueOf(m.Value))
	}
	e.close(len(o), '}', !e.line)
}

// next begins the next of several values.
func (e *encoder) next(i int, lines bool) {
	switch {
	case i > 0 && e.sorted:
		e.dst = append(e.dst, e.spelling.comma...)
	case i > 0:
		e.dst = append(e.dst, ',')
	}
	if e.sheet && cap(e.dst)-len(e.dst) < partRest {
		e.cut()
		e.dst = newPart()
	}
	if e.hash != nil && len(e.dst) > hashSize {
		e.hash.Write(e.dst)
		e.dst = e.dst[:0]
	}
	if lines {
		e.newline()
	}
}

// close ends a list or an object of n values.
func (e *encoder) close(n int, end byte, lines bool) {
	e.depth--
	if n > 0 && lines {
		e.newline()
	}
	e.dst = append(e.dst, end)
}

func (e *encoder) newline() {
	e.dst = append(e.dst, '\n')
	for range e.depth {
		e.dst = append(e.dst, step...)
	}
}

func (e *encoder) colon() {
	switch {
	case e.sorted:
		e.dst = append(e.dst, e.spelling.colon...)
	case e.line:
		e.dst = append(e.dst, ':')
	default:
		e.dst = append(e.dst, ": "...)
	}
}

// text writes a string as the JSON encoder does, or in the spelling of a digest.
func (e *encoder) text(s string) {
	if e.sorted {
		e.dst = e.spelling.appendString(e.dst, s)
		return
	}
	e.dst = appendText(e.dst, s)
}

// AppendString appends a string as documents and lines have it.
func AppendString(dst []byte, text string) []byte { return appendText(dst, text) }

// appendText is a string as encoding/json writes it without escapes for HTML.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := plainLen(s); i < len(s); i += plainLen(s[i:]) {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = appendASCII(append(dst, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			dst = appendEscape(append(dst, s[from:i]...), r)
			from = i + size
		}
		i += size
	}
	return append(append(dst, s[from:]...), '"')
}

// plainLen is how many bytes at the start of s are written as they are: printable
// ASCII but for the quote and the backslash. Eight are looked at in one step.
func plainLen(s string) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// A byte below n has its high bit in (w - ones*n) &^ w, one that is zero in
		// (w - ones) &^ w; a borrow reaches only bytes behind a hit.
		if ((w-ones*0x20)&^w|(quote-ones)&^quote|(slash-ones)&^slash|w)&high != 0 {
			break
		}
	}
	for i < len(s) && isPlain(s[i]) {
		i++
	}
	return i
}

// foreign writes a value whose JSON only encoding/json knows.
func (e *encoder) foreign(v reflect.Value) {
	text, err := plain(v.Interface())
	switch {
	case err != nil:
		if e.err == nil {
			e.err = err
		}
	case e.sorted:
		e.dst = e.spelling.Reorder(e.dst, text, e.without...)
	case e.line:
		e.dst = append(e.dst, text...)
	default:
		e.rows(text)
	}
}

// rows lays out the first value of one line of JSON as Sheet does, and returns
// what follows it.
func (e *encoder) rows(text []byte) []byte {
	open, n := text[0], valueLen(text)
	if open != '{' && open != '[' || n == 2 {
		e.dst = append(e.dst, text[:n]...)
		return text[n:]
	}
	e.dst = append(e.dst, open)
	e.depth++
	i, rest := 0, text[1:]
	for rest[0] != '}' && rest[0] != ']' {
		if rest[0] == ',' {
			rest = rest[1:]
		}
		e.next(i, true)
		i++
		n := valueLen(rest)
		e.dst = append(e.dst, rest[:n]...)
		rest = rest[n:]
		if open == '{' {
			e.colon()
			rest = e.rows(rest[1:])
		}
	}
	e.close(i, rest[0], true)
	return rest[1:]
}

// valueLen is how long the first value of one line of JSON is.
func valueLen(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']'):
			return i
		case c == '}' || c == ']':
			depth--
		}
		if depth == 0 && !quoted && (text[i] == '"' || text[i] == '}' || text[i] == ']') {
			return i + 1
		}
	}
	return len(text)
}
