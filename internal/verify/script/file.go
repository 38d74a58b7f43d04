package script

import (
	"slices"
	"strings"
)

// File is one parsed file.
type File struct {
	Path    string
	tokens  []token
	names   map[string][]*Binding
	each    []*Binding // the loop variables among them
	classes []class
	bodies  []body
	exports map[string]*Expr // by exported name; module.exports is "="
	stars   []string         // modules that are exported whole
	from    map[string]Import
	work    int // expressions read so far

	// args are the arguments of calls by their parenthesis, while Calls runs: a
	// call inside of the arguments of another is read once.
	args map[int][]*Expr
}

// maxWork bounds the expressions that are read of one file, some of them more
// than once: calls stand inside of the arguments of calls.
const maxWork = 5_000_000

// tooMuch is the failure of a file that is nested and chained beyond the bound.
func (f *File) tooMuch() *Error {
	if f.work <= maxWork {
		return nil
	}
	return &Error{Pos: Position{Line: 1, Column: 1}, Reason: "the file holds too many nested expressions", Large: true}
}

// class is the body of a class, and its fields.
type class struct {
	from, to int
	extends  string
	fields   map[string]Field
	known    *Class
}

// Field is a field of a class: its declared type and its value, nil without.
type Field struct {
	Type    string
	Init    *Expr
	Changed bool // several values are assigned to it
}

// body is the extent of a function's body.
type body struct{ from, to int }

// Parse reads a file. The error says where its tokens or brackets break.
func Parse(path string, src []byte) (*File, *Error) {
	tokens, err := scan(src)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, tokens: tokens, names: map[string][]*Binding{}, exports: map[string]*Expr{}, from: map[string]Import{}}
	f.outline()
	if err := f.tooMuch(); err != nil {
		return nil, err
	}
	return f, nil
}

// Exported is what the file exports under name: an expression of its own, or a
// name of another module. Both are absent when it exports no such name itself.
func (f *File) Exported(name string) (*Expr, Import, bool) {
	if e := f.exports[name]; e != nil {
		return e, Import{}, true
	}
	imp, ok := f.from[name]
	return nil, imp, ok
}

// Stars are the modules that the file exports whole.
func (f *File) Stars() []string { return f.stars }

// Modules are the modules that the file names in imports, exports and require,
// sorted.
func (f *File) Modules() []string {
	var out []string
	for i := range f.tokens {
		t := &f.tokens[i]
		if t.sort != text || i == 0 {
			continue
		}
		before := &f.tokens[i-1]
		if before.isWord("from") || before.isWord("import") ||
			before.is("(") && i > 1 && (f.tokens[i-2].isWord("require") || f.tokens[i-2].isWord("import")) {
			out = append(out, unescape(t.text[1:max(1, len(t.text)-1)]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxSame is how many bindings of one name are looked at.
const maxSame = 2000

// Lookup is the binding that the name stands for at a token: that of the
// innermost scope. nil without one.
func (f *File) Lookup(name string, at int) *Binding {
	list := f.names[name]
	if len(list) > maxSame {
		return nil
	}
	var best *Binding
	for _, b := range list {
		if b.from <= at && at < b.to && (best == nil || b.to-b.from < best.to-best.from || b.to-b.from == best.to-best.from && b.at >= best.at) {
			best = b
		}
	}
	return best
}

// Field is the field of the class around a token.
func (f *File) Field(name string, at int) (Field, bool) {
	best := f.classAt(at)
	if best < 0 {
		return Field{}, false
	}
	field, ok := f.classes[best].fields[name]
	return field, ok
}

// Extends is the name of what the class around a token extends, "" without one.
func (f *File) Extends(at int) string {
	if best := f.classAt(at); best >= 0 {
		return f.classes[best].extends
	}
	return ""
}

// classAt is the innermost class around a token, -1 without one.
func (f *File) classAt(at int) int {
	best := -1
	if len(f.classes) > maxSame {
		return best
	}
	for i, c := range f.classes {
		if c.from <= at && at < c.to && (best < 0 || c.from > f.classes[best].from) {
			best = i
		}
	}
	return best
}

// Loops are the loop variables and the parameters of functions given to forEach
// and map in whose scope a token stands, innermost first.
func (f *File) Loops(at int) []*Binding {
	var out []*Binding
	if len(f.each) > maxSame {
		return nil
	}
	for _, b := range f.each {
		if b.from <= at && at < b.to {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b *Binding) int {
		if a.from != b.from {
			return b.from - a.from
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// Returns are the expressions that a function gives back, those of functions
// inside of it not among them.
func (f *File) Returns(fn *Func) []*Expr {
	if fn.Body < 0 {
		return []*Expr{fn.Result}
	}
	var out []*Expr
	for i := fn.Body + 1; i < fn.End; i++ {
		if f.tokens[i].is("{") {
			if j := f.bodyAt(i); j > 0 {
				i = j
				continue
			}
		}
		if f.tokens[i].isWord("return") && !f.tokens[i+1].newline && !f.tokens[i-1].is(".") {
			e, _ := f.expression(i + 1)
			out = append(out, e)
		}
	}
	return out
}

// bodyAt is the end of the function body that opens at token i, 0 when the
// brace is none.
func (f *File) bodyAt(i int) int {
	j, ok := slices.BinarySearchFunc(f.bodies, i, func(b body, i int) int { return b.from - i })
	if !ok {
		return 0
	}
	return f.bodies[j].to
}

// Calls are the calls of methods with one of these names, in the order of the
// file. The callee of each is a Member. The error says that the file is nested
// too much to be read in full.
func (f *File) Calls(names ...string) ([]*Expr, *Error) {
	var out []*Expr
	f.args = map[int][]*Expr{}
	defer func() { f.args = nil }()
	for i := range f.tokens {
		t := &f.tokens[i]
		var name string
		switch {
		case t.sort == word && i > 0 && (f.tokens[i-1].is(".") || f.tokens[i-1].is("?.")):
			name = t.text
		case t.sort == text && i > 0 && f.tokens[i-1].is("[") && f.tokens[i+1].is("]"):
			name = unescape(t.text[1:max(1, len(t.text)-1)])
		}
		if name == "" || !slices.Contains(names, name) {
			continue
		}
		if call := f.callAt(i, name); call != nil {
			out = append(out, call)
		}
		if err := f.tooMuch(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// callAt is the call whose method name is token i.
func (f *File) callAt(i int, name string) *Expr {
	next, receiver := i+1, i-2
	if receiver < 0 {
		return nil
	}
	if f.tokens[i].sort == text {
		next = i + 2
		if f.tokens[receiver].is("?.") {
			receiver--
		}
	}
	for f.tokens[next].is("?.") || f.tokens[next].is("!") {
		next++
	}
	if f.tokens[next].is("<") {
		next = f.angles(next)
	}
	if next < 0 || !f.tokens[next].is("(") || receiver < 0 {
		return nil
	}
	start, whole := f.chainStart(receiver)
	if f.constructs(start, i) {
		return nil
	}
	p := &parser{File: f, i: start}
	x := &Expr{Kind: Unknown, At: start, Pos: f.tokens[start].pos()}
	if whole {
		x = p.chain(receiver + 1)
	}
	args, ok := f.args[next]
	if !ok {
		p.i = next + 1
		args = p.items(")")
	}
	member := &Expr{Kind: Member, X: x, Text: name, At: i, Pos: f.tokens[i].pos()}
	return &Expr{Kind: Call, X: member, Args: args, At: i, Pos: f.tokens[start].pos()}
}

// constructs says whether the names from a new up to token i are what it makes.
func (f *File) constructs(start, i int) bool {
	if !f.tokens[start].isWord("new") {
		return false
	}
	j := start + 1
	for j < i && f.tokens[j].sort == word && f.tokens[j+1].is(".") {
		j += 2
	}
	return j == i
}

// maxHops is how long a chain of members and calls is followed backwards.
const maxHops = 16

// chainStart is the first token of the chain of members and calls that ends
// with token i, and whether the chain is followed to its start.
func (f *File) chainStart(i int) (int, bool) {
	for hops := 0; i > 0; hops++ {
		if hops > maxHops {
			return i, false
		}
		t := &f.tokens[i]
		switch {
		case t.is("!"):
			i--
			continue
		case t.sort == templateTail:
			return int(t.match), true
		case (t.is(")") || t.is("]")) && t.match >= 0:
			i = int(t.match)
			before := i - 1
			if before < 0 || !f.endsValue(before) {
				return i, true // in parentheses, or a list
			}
			i = before
			continue
		case t.sort == word || t.sort == private:
			if i > 1 && (f.tokens[i-1].is(".") || f.tokens[i-1].is("?.")) {
				i -= 2
				continue
			}
			if i > 0 && f.tokens[i-1].isWord("new") {
				return i - 1, true
			}
		}
		return i, true
	}
	return max(i, 0), true
}

// endsValue says that a ( or [ after the token is applied to a value.
func (f *File) endsValue(i int) bool {
	t := &f.tokens[i]
	switch t.sort {
	case word:
		return !slices.Contains(before, t.text) && !slices.Contains([]string{"if", "while", "for", "with", "switch", "catch"}, t.text)
	case private:
		return true
	case sign:
		return t.text == ")" || t.text == "]" || t.text == "!"
	default:
	}
	return false
}
