package script

import (
	"slices"
	"strconv"
)

// outline walks over all tokens once and notes what names stand for.
func (f *File) outline() {
	for i := 0; i < len(f.tokens)-lookahead && f.work <= maxWork; i++ {
		t := &f.tokens[i]
		if i > 0 && (f.tokens[i-1].is(".") || f.tokens[i-1].is("?.")) {
			continue
		}
		switch {
		case t.is("("):
			f.callable(i)
		case t.sort != word:
		case f.tokens[i+1].is("=>"):
			f.arrowBody(i, []Param{{Name: t.text, At: i}}, i+2)
		default:
			f.statement(i)
		}
	}
	slices.SortFunc(f.bodies, func(a, b body) int { return a.from - b.from })
	f.changes()
}

func (f *File) statement(i int) {
	switch t := &f.tokens[i]; t.text {
	case "import":
		f.importing(i)
	case "export":
		f.exporting(i)
	case "const", "let", "var":
		f.declare(i)
	case "function":
		f.named(i)
	case "class":
		f.class(i)
	case "enum":
		f.enum(i)
	case "module", "exports":
		f.commonJS(i)
	}
}

func (f *File) bind(b Binding) {
	f.names[b.Name] = append(f.names[b.Name], &b)
	if b.How == ByEach {
		f.each = append(f.each, &b)
	}
}

// scope is the extent of the block that a token stands in; that of a loop when
// it stands in its head.
func (f *File) scope(i int) (from, to int) {
	o := int(f.tokens[i].encl)
	for o >= 0 {
		if f.tokens[o].is("{") {
			return o, int(f.tokens[o].match)
		}
		if f.tokens[o].is("(") && o > 0 && (f.tokens[o-1].isWord("for") || f.tokens[o-1].isWord("await")) {
			next := int(f.tokens[o].match) + 1
			if f.tokens[next].is("{") {
				return o, int(f.tokens[next].match)
			}
			return o, f.statementEnd(next)
		}
		o = int(f.tokens[o].encl)
	}
	return 0, len(f.tokens)
}

// statementEnd is about where the expression or statement that begins at i
// ends: at the next comma, semicolon or closing bracket of its level. The
// bound keeps a chain of functions linear.
func (f *File) statementEnd(i int) int {
	const most = 300
	for range most {
		t := &f.tokens[i]
		switch {
		case t.sort == end, t.is(","), t.is(";"), t.is(")"), t.is("]"), t.is("}"), t.sort == templateMiddle, t.sort == templateTail:
			return i
		case t.sort == templateHead:
			i = f.templateEnd(i)
		case t.match > int32(i): //nolint:gosec // bounded by maxTokens
			i = int(t.match)
		}
		i++
	}
	if o := f.tokens[i].encl; o >= 0 {
		return int(f.tokens[o].match)
	}
	return len(f.tokens)
}

// declare reads const, let and var, and answers the names.
func (f *File) declare(i int) []string {
	how := ByLet
	if f.tokens[i].text == "const" {
		how = ByConst
	}
	var names []string
	from, to := f.scope(i)
	for j := i + 1; ; {
		target, b := j, Binding{How: how, from: from, to: to, at: j}
		switch t := &f.tokens[j]; {
		case t.sort == word && t.text != "enum":
			b.Name = t.text
			j++
		case t.is("{"), t.is("["):
			j = int(t.match) + 1
		default:
			return names
		}
		if f.tokens[j].is("!") {
			j++
		}
		if f.tokens[j].is(":") {
			b.Type = f.typeName(j + 1)
			j = f.skipType(j + 1)
		}
		switch {
		case f.tokens[j].isWord("of"):
			b.How = ByEach
			b.Init, j = f.expression(j + 1)
		case f.tokens[j].is("="):
			b.Init, j = f.expression(j + 1)
		}
		names = append(names, f.target(target, b, 0)...)
		if !f.tokens[j].is(",") {
			return names
		}
		j++
	}
}

// target binds the name or the names of the pattern at i.
func (f *File) target(i int, b Binding, depth int) []string {
	t := &f.tokens[i]
	switch {
	case depth > maxDepth:
		return nil
	case t.sort == word:
		b.Name, b.at = t.text, i
		f.bind(b)
		return []string{b.Name}
	case !t.is("{") && !t.is("["):
		return nil
	}
	var names []string
	b.Type = ""
	last, list := int(t.match), t.is("[")
	for j, n := i+1, 0; j < last; n++ {
		inner, at := b, j
		inner.Path = append(slices.Clone(b.Path), strconv.Itoa(n))
		switch {
		case f.tokens[j].is(","):
			j++
			continue
		case f.tokens[j].is("..."):
			at = j + 1
			inner.Path = append(slices.Clone(b.Path), "...")
		case !list:
			key := &f.tokens[j]
			name := key.text
			if key.sort == text {
				name = unescape(name[1:max(1, len(name)-1)])
			}
			inner.Path = append(slices.Clone(b.Path), name)
			if f.tokens[j+1].is(":") {
				at = j + 2
			}
		}
		names = append(names, f.target(at, inner, depth+1)...)
		for j = at; j < last && !f.tokens[j].is(","); j++ {
			if m := f.tokens[j].match; m > int32(j) { //nolint:gosec // bounded by maxTokens
				j = int(m)
			}
		}
		j++
	}
	return names
}

// named reads a function with the word function, a name or none.
func (f *File) named(i int) {
	j := i + 1
	if f.tokens[j].is("*") {
		j++
	}
	name := ""
	if f.tokens[j].sort == word {
		name = f.tokens[j].text
		j++
	}
	if f.tokens[j].is("<") {
		if k := f.angles(j); k > 0 {
			j = k
		}
	}
	fn, _ := f.signature(j)
	if fn == nil {
		return
	}
	f.inside(j, fn, fn.End, nil)
	if name != "" {
		from, to := f.scope(i)
		f.bind(Binding{Name: name, How: ByFunction, Fn: fn, from: from, to: to, at: i})
	}
}

// inside binds the parameters of a function over its body.
func (f *File) inside(from int, fn *Func, to int, over *Expr) {
	if fn.Body >= 0 {
		f.bodies = append(f.bodies, body{fn.Body, fn.End})
	}
	for n, p := range fn.Params {
		b := Binding{How: ByParam, Type: p.Type, from: from, to: to + 1, at: p.At}
		if n == 0 && over != nil {
			b.How, b.Init = ByEach, over
		}
		f.target(p.At, b, 0)
	}
}

// heads are the words before a parenthesis that is no list of parameters.
var heads = []string{"if", "for", "while", "switch", "catch", "with", "function", "await", "return", "super"}

// callable looks whether an arrow function or a method begins at the
// parenthesis i.
func (f *File) callable(i int) {
	applied := i > 0 && f.endsValue(i-1) && !f.tokens[i-1].isWord("async")
	if !applied {
		if params, j := f.arrow(i); j > 0 {
			f.arrowBody(i, params, j)
			return
		}
	}
	if i == 0 {
		return
	}
	name := &f.tokens[i-1]
	isName := name.sort == word && !slices.Contains(heads, name.text) || name.sort == text || name.sort == private || name.is("]") || name.is(">")
	if o := f.tokens[i].encl; !isName || o < 0 || !f.tokens[o].is("{") || i > 1 && (f.tokens[i-2].is(".") || f.tokens[i-2].isWord("function") || f.tokens[i-2].isWord("new")) {
		return
	}
	if fn, _ := f.signature(i); fn != nil {
		f.inside(i, fn, fn.End, nil)
	}
}

func (f *File) arrowBody(i int, params []Param, j int) {
	fn, to := &Func{Params: params, Body: -1}, f.statementEnd(j)
	if f.tokens[j].is("{") {
		fn.Body, fn.End = j, int(f.tokens[j].match)
		to = fn.End
	}
	f.inside(i, fn, to, f.iterated(i))
}

// iterated is what a function at i is called for each element of: the receiver
// of forEach, map or flatMap.
func (f *File) iterated(i int) *Expr {
	if i > 0 && f.tokens[i-1].isWord("async") {
		i--
	}
	if i < 4 || !f.tokens[i-1].is("(") || !f.tokens[i-3].is(".") && !f.tokens[i-3].is("?.") ||
		!slices.Contains([]string{"forEach", "map", "flatMap"}, f.tokens[i-2].text) {
		return nil
	}
	start, whole := f.chainStart(i - 4)
	if !whole {
		return nil
	}
	p := &parser{File: f, i: start}
	e := p.chain(i - 3)
	if p.i != i-3 {
		return nil
	}
	return e
}

// chain reads a value and what is applied to it before token stop.
func (p *parser) chain(stop int) *Expr {
	e := p.primary()
	for p.i < stop {
		switch t := p.tok(); {
		case t.is(".") || t.is("?."):
			p.i++
			e = p.access(e)
		case t.is("["):
			p.i++
			e = p.index(e)
		case t.is("("):
			e = p.call(e)
		case t.is("!"):
			p.i++
		default:
			return e
		}
	}
	return e
}
