package script

import (
	"iter"
	"slices"
)

// Mentions are the names, and every this, that stand for a value: no keys, no
// members and no declarations. Each comes with its token.
func (f *File) Mentions() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range f.tokens {
			t := &f.tokens[i]
			if t.sort != word || i > 0 && (f.tokens[i-1].is(".") || f.tokens[i-1].is("?.")) {
				continue
			}
			if t.text != "this" && (len(f.names[t.text]) == 0 || f.tokens[i+1].is(":") && i > 0 && (f.tokens[i-1].is("{") || f.tokens[i-1].is(","))) {
				continue
			}
			if !yield(i, t.text) {
				return
			}
		}
	}
}

// Same is how many bindings a name has: what a Lookup of it costs.
func (f *File) Same(name string) int { return len(f.names[name]) }

// Along is the name or the this at a token with the members behind it, at most
// n, and the token after each of the expressions: a, a.b, a.b.c.
func (f *File) Along(i, n int) ([]*Expr, []int) {
	e := &Expr{Kind: Name, Text: f.tokens[i].text, At: i, Pos: f.tokens[i].pos()}
	if e.Text == "this" {
		e.Kind = This
	}
	exprs, ends := []*Expr{e}, []int{f.past(i + 1)}
	for len(exprs) <= n {
		j, name := f.member(ends[len(ends)-1])
		if name == "" {
			break
		}
		e = &Expr{Kind: Member, X: e, Text: name, At: i, Pos: f.tokens[i].pos()}
		exprs, ends = append(exprs, e), append(ends, f.past(j))
	}
	return exprs, ends
}

// past is the token after marks that say that a value is there.
func (f *File) past(i int) int {
	for f.tokens[i].is("!") && !f.tokens[i].newline {
		i++
	}
	return i
}

// member reads .name, ?.name or ["name"] at i: the token after it, and the name.
func (f *File) member(i int) (int, string) {
	t := &f.tokens[i]
	if t.is("?.") && f.tokens[i+1].is("[") {
		i++
		t = &f.tokens[i]
	}
	switch {
	case (t.is(".") || t.is("?.")) && (f.tokens[i+1].sort == word || f.tokens[i+1].sort == private):
		return i + 2, f.tokens[i+1].text
	case t.is("[") && f.tokens[i+1].sort == text && f.tokens[i+2].is("]"):
		return i + 3, bare(&f.tokens[i+1])
	}
	return i, ""
}

// After says what is done with the value that ends before token i: the member
// that is taken of it and whether that is called, or the expression of a
// computed member.
func (f *File) After(i int) (member string, called bool, computed *Expr) {
	if j, name := f.member(i); name != "" {
		j = f.past(j)
		if f.tokens[j].is("<") {
			j = max(f.angles(j), j)
		}
		return name, f.tokens[j].is("(") || f.tokens[j].is("?.") && f.tokens[j+1].is("("), nil
	}
	if f.tokens[i].is("?.") {
		i++
	}
	if f.tokens[i].is("[") {
		p := &parser{File: f, i: i + 1}
		return "", false, p.list("]", p.at(Unknown))
	}
	return "", false, nil
}

// Pos is the place of a token.
func (f *File) Pos(i int) Position { return f.tokens[i].pos() }

// Before says whether the token before i is that word.
func (f *File) Before(i int, text string) bool { return i > 0 && f.tokens[i-1].isWord(text) }

// Taken are the keys of the pattern that takes the value at token i apart, "..."
// for the rest and "" for a computed one.
func (f *File) Taken(i int) []string {
	if i < 2 || !f.tokens[i-1].is("=") || !f.tokens[i-2].is("}") {
		return nil
	}
	var out []string
	last := i - 2
	for j := int(f.tokens[last].match) + 1; j < last; j++ {
		switch t := &f.tokens[j]; {
		case t.is("["):
			out = append(out, "")
		case t.is("..."):
			out = append(out, "...")
		default:
			out = append(out, bare(t))
		}
		for j < last && !f.tokens[j].is(",") {
			if m := int(f.tokens[j].match); m > j {
				j = m
			}
			j++
		}
	}
	return out
}

// Given is the parenthesis of the call that the value at token i is given to,
// as it is, in parentheses, or in a literal; -1 when it is given to none.
func (f *File) Given(i int) int {
	for range maxDepth {
		o := int(f.tokens[i].encl)
		if o < 0 || f.bodyAt(o) > 0 {
			return -1
		}
		if f.tokens[o].is("(") && f.calleeEnd(o) >= 0 {
			return o
		}
		i = o
	}
	return -1
}

// calleeEnd is the last token of what is called with the parenthesis at open,
// -1 when it is no call.
func (f *File) calleeEnd(open int) int {
	i := open - 1
	if i > 0 && f.tokens[i].is(">") {
		for j, n := i-1, 0; j > 0 && n < maxAngle; j, n = j-1, n+1 {
			if f.tokens[j].is("<") && f.angles(j) == open {
				i = j - 1
				break
			}
		}
	}
	for i > 0 && f.tokens[i].is("?.") {
		i--
	}
	if i < 0 || !f.endsValue(i) {
		return -1
	}
	return i
}

// CallAt is the call with the parenthesis at open. Its callee is Unknown when it
// cannot be read.
func (f *File) CallAt(open int) *Expr {
	start, whole := f.chainStart(f.calleeEnd(open))
	p := &parser{File: f, i: start}
	x := &Expr{Kind: Unknown, At: start, Pos: f.tokens[start].pos()}
	if whole {
		x = p.chain(open)
	}
	if x.Kind == Call && x.New && p.i > open {
		x.At, x.Pos = start, f.tokens[start].pos()
		return x
	}
	p.i = open + 1
	return &Expr{Kind: Call, X: x, Args: p.items(")"), At: start, Pos: f.tokens[start].pos()}
}

// maxValues is how many values of one name are looked at.
const maxValues = 16

// Values are what a name was made with and what is assigned to it later.
func (f *File) Values(b *Binding) []*Expr {
	var out []*Expr
	if b.Init != nil {
		out = append(out, b.Init)
	}
	for _, i := range b.later {
		e, _ := f.expression(i)
		out = append(out, e)
	}
	return out
}

// Declares says whether the token is where a binding is made.
func (b *Binding) Declares(i int) bool { return b.at == i }

// Of are the names that a parameter binds: its own, or those of its pattern.
func (f *File) Of(p Param) []*Binding {
	last := p.At
	if m := int(f.tokens[p.At].match); m > last {
		last = m
	}
	var out []*Binding
	for i := p.At; i <= last; i++ {
		if f.tokens[i].sort != word {
			continue
		}
		for _, b := range f.names[f.tokens[i].text] {
			if b.at == i {
				out = append(out, b)
			}
		}
	}
	return out
}

// Rest says whether a parameter stands for all that are left.
func (f *File) Rest(p Param) bool { return p.At > 0 && f.tokens[p.At-1].is("...") }

// Class is a class of a file: where its own names are looked up.
type Class struct {
	Name    string
	Extends string
	At      int
	methods map[string]*Func
}

// Method is a method of a class by its name, nil without one of its own.
func (c *Class) Method(name string) *Func { return c.methods[name] }

// ClassAt is the innermost class around a token, nil without one.
func (f *File) ClassAt(at int) *Class {
	if best := f.classAt(at); best >= 0 {
		return f.classes[best].known
	}
	return nil
}

// ClassNamed is the class that a binding stands for, nil when it is none.
func (f *File) ClassNamed(b *Binding) *Class {
	if b.How != ByClass || len(f.classes) > maxSame {
		return nil
	}
	i := slices.IndexFunc(f.classes, func(c class) bool { return c.known.At == b.at })
	if i < 0 {
		return nil
	}
	return f.classes[i].known
}
