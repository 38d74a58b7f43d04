package script

import "slices"

// maxParse bounds the recursion: a bracket costs two levels or three.
const maxParse = 4 * maxDepth

// parser reads expressions from the tokens of a file.
type parser struct {
	*File
	i     int
	depth int
}

func (p *parser) tok() *token        { return p.ahead(0) }
func (p *parser) ahead(n int) *token { return &p.tokens[min(p.i+n, len(p.tokens)-1)] }
func (p *parser) at(kind Kind) *Expr { return &Expr{Kind: kind, At: p.i, Pos: p.tok().pos()} }
func (p *parser) unknown(a ...*Expr) *Expr {
	return p.begun(p.i, a...)
}

// begun is what began at token i and is nothing else than its parts. It is made
// when that is known: most values are their own operand at every level.
func (p *parser) begun(i int, a ...*Expr) *Expr {
	e := &Expr{Kind: Unknown, At: i, Pos: p.tokens[min(i, len(p.tokens)-1)].pos()}
	for _, arg := range a {
		if arg != nil {
			e.Args = append(e.Args, arg)
		}
	}
	return e
}

// expression reads the expression that begins at token i and answers the token
// after it.
func (f *File) expression(i int) (*Expr, int) {
	p := &parser{File: f, i: i}
	e := p.assignment()
	return e, min(p.i, len(f.tokens)-1)
}

// assignment reads what may stand between two commas.
func (p *parser) assignment() *Expr {
	if p.depth++; p.depth > maxParse {
		return p.giveUp()
	}
	defer func() { p.depth-- }()
	if fn := p.function(); fn != nil {
		return fn
	}
	first := p.i
	left := p.binary()
	t := p.tok()
	switch {
	case t.is("?"):
		p.i++
		then := p.assignment()
		if !p.tok().is(":") {
			return p.begun(first, left, then)
		}
		p.i++
		e := p.begun(first, then, p.assignment())
		e.Kind, e.X = Condition, left
		return e
	case t.sort == sign && slices.Contains(assigns, t.text):
		p.i++
		return p.begun(first, left, p.assignment())
	}
	return left
}

var assigns = []string{"=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", "&=", "|=", "^=", "&&=", "||=", "??="}

// giveUp steps over the rest of the brackets that the place is in.
func (p *parser) giveUp() *Expr {
	e := p.unknown()
	if o := p.tok().encl; o >= 0 {
		p.i = int(p.tokens[o].match)
	} else {
		p.i = len(p.tokens) - 1
	}
	return e
}

var operators = []string{
	"+", "-", "*", "/", "%", "**", "==", "===", "!=", "!==", "<", "<=", ">", "<<", "&", "|", "^", "&&", "||", "??",
}

// binary reads operands and operators without regard to precedence: only
// chains of + and of ?? and || mean something here.
func (p *parser) binary() *Expr {
	first := p.i
	operand := p.unary()
	var operands []*Expr
	plus, either := true, true
	for {
		t := p.tok()
		isWord := t.sort == word && (t.text == "in" || t.text == "instanceof")
		if !isWord && (t.sort != sign || !slices.Contains(operators, t.text)) {
			break
		}
		plus = plus && t.is("+")
		either = either && (t.is("??") || t.is("||"))
		if operands == nil {
			operands = []*Expr{operand}
		}
		p.i++
		for p.tok().glued {
			p.i++
		}
		operands = append(operands, p.unary())
	}
	if operands == nil {
		return operand
	}
	e := p.begun(first)
	e.Args = operands
	switch {
	case plus:
		e.Kind = Concat
	case either:
		e.Kind = Either
	}
	return e
}

// unary reads prefix operators, and the casts of TypeScript around them.
func (p *parser) unary() *Expr {
	p.work++
	if p.depth++; p.depth > maxParse || p.work > maxWork {
		return p.giveUp()
	}
	defer func() { p.depth-- }()
	e := p.prefix()
	for t := p.tok(); t.sort == word && !t.newline && (t.text == "as" || t.text == "satisfies"); t = p.tok() {
		p.i = p.skipType(p.i + 1)
	}
	return e
}

func (p *parser) prefix() *Expr {
	t, first := p.tok(), p.i
	switch {
	case t.is("-") && p.ahead(1).sort == numeric:
		p.i++
		e := p.postfix()
		if e.Kind != Number {
			return p.begun(first, e)
		}
		e.Text, e.At, e.Pos = plainNumber("-"+e.Text), first, p.tokens[first].pos()
		return e
	case t.sort == sign && slices.Contains([]string{"!", "~", "+", "-", "++", "--"}, t.text),
		t.sort == word && slices.Contains([]string{"typeof", "void", "delete", "yield"}, t.text):
		p.i++
		return p.begun(first, p.unary())
	case t.isWord("await") && !p.ahead(1).is("=>"):
		p.i++
		return p.unary()
	case t.is("..."):
		p.i++
		e := p.begun(first)
		e.Kind, e.X = Spread, p.assignment()
		return e
	case t.is("<"): // an old cast
		if j := p.angles(p.i); j > 0 {
			p.i = j
			return p.unary()
		}
	}
	return p.postfix()
}

// postfix reads a value and what is applied to it.
func (p *parser) postfix() *Expr {
	e := p.primary()
	for {
		t := p.tok()
		switch {
		case t.is(".") || t.is("?."):
			p.i++
			e = p.access(e)
		case t.is("["):
			p.i++
			e = p.index(e)
		case t.is("("):
			e = p.call(e)
		case t.is("<"):
			j := p.angles(p.i)
			if j < 0 || !p.tokens[j].is("(") {
				return e
			}
			p.i = j
		case t.is("!") && !t.newline:
			p.i++
		case t.sort == template || t.sort == templateHead: // a tagged template
			u := &Expr{Kind: Unknown, Args: []*Expr{e, p.template()}, At: e.At, Pos: e.Pos}
			e = u
		case (t.is("++") || t.is("--")) && !t.newline:
			p.i++
			e = &Expr{Kind: Unknown, Args: []*Expr{e}, At: e.At, Pos: e.Pos}
		default:
			return e
		}
	}
}

func (p *parser) access(e *Expr) *Expr {
	t := p.tok()
	switch {
	case t.sort == word, t.sort == private:
		out := p.at(Member)
		out.X, out.Text = e, t.text
		p.i++
		return out
	case t.is("["):
		p.i++
		return p.index(e)
	case t.is("("):
		return p.call(e)
	}
	return p.unknown(e)
}

func (p *parser) index(e *Expr) *Expr {
	out := p.at(Index)
	out.X = e
	out.Y = p.list("]", out)
	if out.Y.Kind == String {
		return &Expr{Kind: Member, X: e, Text: out.Y.Text, At: out.At, Pos: out.Pos}
	}
	return out
}

// list reads a comma expression up to its closing bracket; its value is the
// last one.
func (p *parser) list(closing string, at *Expr) *Expr {
	last := &Expr{Kind: Unknown, At: at.At, Pos: at.Pos}
	for !p.tok().is(closing) && p.tok().sort != end {
		before := p.i
		last = p.assignment()
		if p.tok().is(",") {
			p.i++
		} else if !p.tok().is(closing) {
			last = p.unknown(last)
			p.step(before)
		}
	}
	p.i++
	return last
}

// step moves on past what is not understood, at least one token.
func (p *parser) step(before int) {
	if p.i > before {
		before = p.i
	}
	t := &p.tokens[before]
	switch {
	case t.sort == end:
		p.i = before
	case t.match > int32(before) && t.sort == sign: //nolint:gosec // bounded by maxTokens
		p.i = int(t.match) + 1
	case t.sort == templateHead:
		p.i = p.templateEnd(before) + 1
	default:
		p.i = before + 1
	}
}

func (p *parser) call(e *Expr) *Expr {
	out := &Expr{Kind: Call, X: e, At: e.At, Pos: e.Pos}
	open := p.i
	p.i++
	out.Args = p.items(")")
	if p.args != nil {
		p.args[open] = out.Args
	}
	return out
}

// items reads expressions between commas up to the closing bracket.
func (p *parser) items(closing string) []*Expr {
	var out []*Expr
	for !p.tok().is(closing) && p.tok().sort != end {
		before := p.i
		if p.tok().is(",") { // a hole
			out = append(out, p.unknown())
			p.i++
			continue
		}
		item := p.assignment()
		if !p.tok().is(",") && !p.tok().is(closing) {
			item = &Expr{Kind: Unknown, Args: []*Expr{item}, At: item.At, Pos: item.Pos}
			for !p.tok().is(",") && !p.tok().is(closing) && p.tok().sort != end {
				p.step(before)
				before = p.i
			}
		}
		out = append(out, item)
		if p.tok().is(",") {
			p.i++
		}
	}
	p.i++
	return out
}

// primary reads one value.
func (p *parser) primary() *Expr {
	t := p.tok()
	e := p.at(Unknown)
	switch t.sort {
	case text:
		e.Kind, e.Text = String, unescape(t.text[1:max(1, len(t.text)-1)])
	case numeric:
		e.Kind, e.Text = Number, plainNumber(t.text)
		if e.Text == "" {
			e.Kind = Unknown
		}
	case template, templateHead:
		return p.template()
	case word:
		return p.word(e)
	case sign:
		return p.sign(e)
	case end, templateMiddle, templateTail:
		return e
	default:
	}
	p.i++
	return e
}

func (p *parser) word(e *Expr) *Expr {
	t := p.tok()
	switch t.text {
	case "true", "false":
		e.Kind, e.Text = Bool, t.text
	case "null":
		e.Kind = Null
	case "this":
		e.Kind = This
	case "new":
		return p.construct(e)
	case "class":
		for !p.tok().is("{") && p.tok().sort != end {
			p.step(p.i)
		}
		p.step(p.i)
		return e
	default:
		e.Kind, e.Text = Name, t.text
	}
	p.i++
	return e
}

// construct reads new X.Y<T>(…).
func (p *parser) construct(e *Expr) *Expr {
	p.i++
	e.Kind, e.New = Call, true
	if p.tok().is(".") && p.ahead(1).sort == word { // new.target
		p.i += 2
		e.Kind = Unknown
		return e
	}
	e.X = p.primary()
	for p.tok().is(".") && p.ahead(1).sort == word {
		p.i++
		e.X = p.access(e.X)
	}
	if p.tok().is("<") {
		if j := p.angles(p.i); j > 0 {
			p.i = j
		}
	}
	if p.tok().is("(") {
		p.i++
		e.Args = p.items(")")
	}
	return e
}

func (p *parser) sign(e *Expr) *Expr {
	switch t := p.tok(); t.text {
	case "(":
		p.i++
		return p.list(")", e)
	case "[":
		p.i++
		e.Kind, e.Args = Array, p.items("]")
		return e
	case "{":
		return p.object(e)
	case ")", "]", "}", ",", ";", ":":
		return e // whoever asked sees that nothing was there
	}
	p.i++
	return e
}

// template reads a template; its pieces and expressions are the parts of a
// Concat, or it is a String.
func (p *parser) template() *Expr {
	e, t := p.at(Concat), p.tok()
	if t.sort == template {
		p.i++
		e.Kind, e.Text = String, unescape(t.text[1:max(1, len(t.text)-1)])
		return e
	}
	for {
		piece := p.at(String)
		raw, last := p.tok().text, p.tok().sort == templateTail
		if last {
			piece.Text = unescape(raw[1 : len(raw)-1])
		} else {
			piece.Text = unescape(raw[1 : len(raw)-2])
		}
		e.Args = append(e.Args, piece)
		next := int(p.tok().match)
		p.i++
		if last || next < 0 {
			return e
		}
		inner := p.assignment()
		if p.i != next {
			inner, p.i = p.unknown(inner), next
		}
		e.Args = append(e.Args, inner)
	}
}
