package script

import "slices"

// object reads an object literal. Entries that are not understood keep their
// place as Unknown.
func (p *parser) object(e *Expr) *Expr {
	last := int(p.tok().match)
	p.i++
	e.Kind = Object
	for p.i < last {
		before := p.i
		if p.tok().is(",") || p.tok().is(";") {
			p.i++
			continue
		}
		prop := p.property()
		if !p.tok().is(",") && p.i < last {
			prop.Value = p.unknown(prop.Value)
			for p.i < last && !p.tok().is(",") {
				p.step(before)
				before = p.i
			}
		}
		e.Props = append(e.Props, prop)
	}
	p.i = last + 1
	return e
}

var accessors = []string{"get", "set", "async", "static", "readonly"}

func (p *parser) property() Prop {
	prop := Prop{Pos: p.tok().pos()}
	if p.tok().is("...") {
		prop.Value = p.prefix()
		return prop
	}
	accessor := false
	for p.tok().is("*") || p.tok().sort == word && slices.Contains(accessors, p.tok().text) && !p.endsKey(1) {
		accessor = accessor || p.tok().text == "get" || p.tok().text == "set"
		p.i++
	}
	key := p.tok()
	switch {
	case key.sort == text:
		prop.Key = unescape(key.text[1:max(1, len(key.text)-1)])
		p.i++
	case key.is("["):
		p.i++
		prop.KeyExpr = p.list("]", p.at(Unknown))
	case key.sort == word, key.sort == numeric, key.sort == private:
		prop.Key = key.text
		p.i++
	default:
		prop.Value = p.unknown()
		prop.KeyExpr = prop.Value
		return prop
	}
	switch t := p.tok(); {
	case t.is(":"):
		p.i++
		prop.Value = p.assignment()
	case t.is("("), t.is("<"):
		prop.Value = p.method()
		if accessor {
			prop.Value = &Expr{Kind: Unknown, At: prop.Value.At, Pos: prop.Value.Pos}
		}
	case t.is("="): // of an enum, or of a pattern
		p.i++
		prop.Value = p.assignment()
	default:
		prop.Value = &Expr{Kind: Name, Text: prop.Key, At: p.i - 1, Pos: key.pos()}
	}
	return prop
}

// endsKey says whether the token n ahead shows that the word before it is a key.
func (p *parser) endsKey(n int) bool {
	t := p.ahead(n)
	return t.sort == sign && slices.Contains([]string{":", "(", ",", "}", "=", "<"}, t.text)
}

// method reads a method of an object: parameters, result type, body.
func (p *parser) method() *Expr {
	e := p.at(Function)
	if p.tok().is("<") {
		if j := p.angles(p.i); j > 0 {
			p.i = j
		}
	}
	fn, next := p.signature(p.i)
	if fn == nil {
		e.Kind = Unknown
		p.step(p.i)
		return e
	}
	e.Fn, p.i = fn, next
	return e
}

// signature reads (params): type { body } from the parenthesis at i; nil when
// no body follows.
func (f *File) signature(i int) (*Func, int) {
	if !f.tokens[i].is("(") {
		return nil, i
	}
	fn := &Func{Params: f.params(i)}
	i = int(f.tokens[i].match) + 1
	if f.tokens[i].is(":") {
		i = f.skipType(i + 1)
	}
	if !f.tokens[i].is("{") {
		return nil, i
	}
	fn.Body, fn.End = i, int(f.tokens[i].match)
	return fn, fn.End + 1
}

// function reads a function expression or an arrow function; nil when none
// begins here.
func (p *parser) function() *Expr {
	first, i := p.i, p.i
	if p.tok().isWord("async") && !p.ahead(1).newline && !p.ahead(1).is("=>") {
		i++
	}
	if p.tokens[i].isWord("function") {
		i++
		if p.tokens[i].is("*") {
			i++
		}
		if p.tokens[i].sort == word {
			i++
		}
		if p.tokens[i].is("<") {
			if j := p.angles(i); j > 0 {
				i = j
			}
		}
		fn, next := p.signature(i)
		if fn == nil {
			return nil
		}
		p.i = next
		return p.fn(first, fn)
	}
	params, body := p.arrow(i)
	if body < 0 {
		return nil
	}
	fn := &Func{Params: params, Body: -1}
	p.i = body
	if p.tok().is("{") {
		fn.Body, fn.End = body, int(p.tok().match)
		p.i = fn.End + 1
	} else {
		fn.Result = p.assignment()
	}
	return p.fn(first, fn)
}

// fn is a function that began at token i.
func (p *parser) fn(i int, fn *Func) *Expr {
	return &Expr{Kind: Function, Fn: fn, At: i, Pos: p.tokens[i].pos()}
}

// arrow is the parameters of the arrow function that begins at i and the token
// after its =>, -1 when none begins there.
func (f *File) arrow(i int) ([]Param, int) {
	if f.tokens[i].sort == word && f.tokens[i+1].is("=>") {
		return []Param{{Name: f.tokens[i].text, At: i}}, i + 2
	}
	if f.tokens[i].is("<") {
		j := f.angles(i)
		if j < 0 {
			return nil, -1
		}
		i = j
	}
	if !f.tokens[i].is("(") {
		return nil, -1
	}
	next := int(f.tokens[i].match) + 1
	if f.tokens[next].is(":") {
		return f.arrowResult(i)
	}
	if !f.tokens[next].is("=>") {
		return nil, -1
	}
	return f.params(i), next + 1
}

// arrowResult reads (params): type =>. The type cannot be that of a function
// without parentheses around it, so the first => ends it.
func (f *File) arrowResult(i int) ([]Param, int) {
	next := f.typePart(int(f.tokens[i].match) + 2)
	for f.tokens[next].is("|") || f.tokens[next].is("&") || f.tokens[next].isWord("is") {
		next = f.typePart(next + 1)
	}
	if !f.tokens[next].is("=>") {
		return nil, -1
	}
	return f.params(i), next + 1
}

var modifiers = []string{"public", "private", "protected", "readonly", "override"}

// params are the parameters between the parenthesis at i and its partner.
func (f *File) params(i int) []Param {
	last := int(f.tokens[i].match)
	var out []Param
	for i++; i < last; {
		var one Param
		for f.tokens[i].is("@") && i < last { // a decorator
			i += 2
			if f.tokens[i].is("(") {
				i = int(f.tokens[i].match) + 1
			}
		}
		for f.tokens[i].sort == word && slices.Contains(modifiers, f.tokens[i].text) && f.tokens[i+1].sort == word {
			one.Field = true
			i++
		}
		if f.tokens[i].is("...") {
			i++
		}
		one.At = i
		if f.tokens[i].sort == word {
			one.Name = f.tokens[i].text
			i++
		} else if m := f.tokens[i].match; m > int32(i) { //nolint:gosec // bounded by maxTokens
			i = int(m) + 1
		}
		if f.tokens[i].is("?") {
			i++
		}
		if f.tokens[i].is(":") {
			one.Type = f.typeName(i + 1)
			i = f.skipType(i + 1)
		}
		out = append(out, one)
		for i < last && !f.tokens[i].is(",") { // a default
			if m := f.tokens[i].match; m > int32(i) { //nolint:gosec // bounded by maxTokens
				i = int(m)
			}
			i++
		}
		i++
	}
	return out
}
