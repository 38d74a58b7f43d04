package python

import "strings"

func (p *parser) atom() Expr {
	t := p.tok()
	switch t.kind {
	case name:
		p.next()
		return &Name{Range: Range{t.start, t.end}, ID: t.text}
	case number:
		p.next()
		return numeral(t)
	case text, formatStart:
		return p.strings()
	case keyword:
		switch t.text {
		case "None", "True", "False":
			p.next()
			return &Constant{Range: Range{t.start, t.end}, Text: t.text}
		}
	case operator:
		switch t.text {
		case "...":
			p.next()
			return &Constant{Range: Range{t.start, t.end}, Text: t.text}
		case "(":
			return p.parenthesis()
		case "[":
			return p.list()
		case "{":
			return p.braces()
		}
	default:
	}
	p.unexpected("an expression")
	return p.broken()
}

func numeral(t *token) *Number {
	n := &Number{Range: Range{t.start, t.end}, Kind: Int, Text: strings.ToLower(strings.ReplaceAll(t.text, "_", ""))}
	switch {
	case len(n.Text) > 1 && n.Text[0] == '0' && strings.IndexByte("xob", n.Text[1]) >= 0:
	case strings.HasSuffix(n.Text, "j"):
		n.Kind = Imaginary
	case strings.ContainsAny(n.Text, ".e"):
		n.Kind = Float
	}
	return n
}

func (p *parser) parenthesis() Expr {
	start := p.next().start
	if p.takeOp(")") {
		return &Sequence{Range: p.since(start), Kind: Tuple}
	}
	if p.word("yield") {
		y := p.yield()
		p.wantOp(")")
		return y
	}
	at := p.tok().start
	first := p.starOr(p.named)
	switch {
	case p.word("for") || p.word("async"):
		c := p.comprehension(start, Generator, first, nil)
		p.wantOp(")")
		c.Range = p.since(start)
		return c
	case p.op(","):
		items := p.rest(first)
		p.wantOp(")")
		return &Sequence{Range: p.since(start), Kind: Tuple, Items: items}
	}
	if _, starred := first.(*Starred); starred {
		p.fail(at, "a star outside of a list")
	}
	p.wantOp(")")
	return first
}

// rest are the items of a display, the first of which was read.
func (p *parser) rest(first Expr) []Expr {
	items := []Expr{first}
	for p.takeOp(",") && p.starts() {
		items = append(items, p.starOr(p.named))
	}
	return items
}

func (p *parser) list() Expr {
	start := p.next().start
	if p.takeOp("]") {
		return &Sequence{Range: p.since(start), Kind: List}
	}
	first := p.starOr(p.named)
	if p.word("for") || p.word("async") {
		c := p.comprehension(start, List, first, nil)
		p.wantOp("]")
		c.Range = p.since(start)
		return c
	}
	items := p.rest(first)
	p.wantOp("]")
	return &Sequence{Range: p.since(start), Kind: List, Items: items}
}

func (p *parser) braces() Expr {
	start := p.next().start
	if p.takeOp("}") {
		return &Dict{Range: p.since(start)}
	}
	if p.op("**") {
		return p.dict(start, p.dictItem())
	}
	first := p.starOr(p.named)
	if p.takeOp(":") {
		value := p.expression()
		if p.word("for") || p.word("async") {
			c := p.comprehension(start, DictComp, first, value)
			p.wantOp("}")
			c.Range = p.since(start)
			return c
		}
		return p.dict(start, DictItem{Key: first, Value: value})
	}
	if p.word("for") || p.word("async") {
		c := p.comprehension(start, Set, first, nil)
		p.wantOp("}")
		c.Range = p.since(start)
		return c
	}
	items := p.rest(first)
	p.wantOp("}")
	return &Sequence{Range: p.since(start), Kind: Set, Items: items}
}

func (p *parser) dictItem() DictItem {
	if p.takeOp("**") {
		return DictItem{Value: p.binary(bitOr)}
	}
	item := DictItem{Key: p.expression()}
	p.wantOp(":")
	item.Value = p.expression()
	return item
}

func (p *parser) dict(start Pos, first DictItem) Expr {
	items := []DictItem{first}
	for p.takeOp(",") && (p.op("**") || p.starts()) {
		items = append(items, p.dictItem())
	}
	p.wantOp("}")
	return &Dict{Range: p.since(start), Items: items}
}
