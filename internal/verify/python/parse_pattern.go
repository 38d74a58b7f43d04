package python

// patterns is what stands after case: a pattern, or a sequence without brackets.
func (p *parser) patterns() *Pattern {
	start := p.tok().start
	first := p.starPattern()
	if !p.op(",") {
		if first.Kind == MatchStar {
			p.fail(start, "a star outside of a sequence")
		}
		return first
	}
	return p.sequencePattern(start, first, "")
}

// sequencePattern goes on after the first item up to the closing bracket, which
// it leaves.
func (p *parser) sequencePattern(start Pos, first *Pattern, end string) *Pattern {
	items := []*Pattern{first}
	for p.takeOp(",") {
		if end != "" && p.op(end) || end == "" && (p.op(":") || p.word("if")) {
			break
		}
		items = append(items, p.starPattern())
	}
	return &Pattern{Range: p.since(start), Kind: MatchSequence, Items: items}
}

func (p *parser) starPattern() *Pattern {
	start := p.tok().start
	if !p.takeOp("*") {
		return p.pattern()
	}
	n := p.wantName()
	if n == "_" {
		n = ""
	}
	return &Pattern{Range: p.since(start), Kind: MatchStar, Name: n}
}

func (p *parser) pattern() *Pattern {
	if !p.deeper() {
		return &Pattern{Kind: MatchAs}
	}
	defer p.shallower()
	start := p.tok().start
	first := p.closedPattern()
	if p.op("|") {
		items := []*Pattern{first}
		for p.takeOp("|") {
			items = append(items, p.closedPattern())
		}
		first = &Pattern{Range: p.since(start), Kind: MatchOr, Items: items}
	}
	if !p.takeWord("as") {
		return first
	}
	n := p.wantName()
	return &Pattern{Range: p.since(start), Kind: MatchAs, Name: n, Items: []*Pattern{first}}
}

func (p *parser) closedPattern() *Pattern {
	t := p.tok()
	switch t.kind {
	case number, text:
		return p.valuePattern()
	case keyword:
		if t.text == "None" || t.text == "True" || t.text == "False" {
			value := p.atom()
			return &Pattern{Range: p.since(t.start), Kind: MatchSingleton, Value: value}
		}
	case name:
		return p.namePattern()
	case operator:
		switch t.text {
		case "-":
			return p.valuePattern()
		case "(":
			return p.bracketPattern(")")
		case "[":
			return p.bracketPattern("]")
		case "{":
			return p.mappingPattern()
		}
	default:
	}
	p.unexpected("a pattern")
	return &Pattern{Kind: MatchAs}
}

// valuePattern is a literal: text, or a number with its sign and imaginary part.
func (p *parser) valuePattern() *Pattern {
	start := p.tok().start
	var value Expr
	if p.tok().kind == text {
		value = p.strings()
	} else {
		value = p.signed()
		if op := p.tok(); p.op("+") || p.op("-") {
			p.next()
			right := p.tok()
			if right.kind != number || numeral(right).Kind != Imaginary || imaginary(value) {
				p.unexpected("an imaginary number")
				return &Pattern{Kind: MatchAs}
			}
			p.next()
			value = &Binary{Range: p.since(start), Op: op.text, Left: value, Right: numeral(right)}
		}
	}
	return &Pattern{Range: p.since(start), Kind: MatchValue, Value: value}
}

// signed is a number with or without a minus.
func (p *parser) signed() Expr {
	start := p.tok().start
	minus := p.takeOp("-")
	t := p.tok()
	if t.kind != number {
		p.unexpected("a number")
		return p.broken()
	}
	p.next()
	if !minus {
		return numeral(t)
	}
	return &Unary{Range: p.since(start), Op: "-", Operand: numeral(t)}
}

func imaginary(e Expr) bool {
	if u, ok := e.(*Unary); ok {
		e = u.Operand
	}
	n, ok := e.(*Number)
	return ok && n.Kind == Imaginary
}

func (p *parser) namePattern() *Pattern {
	start := p.tok().start
	first := p.next()
	var value Expr = &Name{Range: Range{first.start, first.end}, ID: first.text}
	dotted := false
	for p.takeOp(".") {
		n := p.wantName()
		value = &Attribute{Range: p.since(start), Value: value, Name: n}
		dotted = true
	}
	switch {
	case p.op("("):
		return p.classPattern(start, value)
	case dotted:
		return &Pattern{Range: p.since(start), Kind: MatchValue, Value: value}
	case first.text == "_":
		return &Pattern{Range: p.since(start), Kind: MatchAs}
	}
	return &Pattern{Range: p.since(start), Kind: MatchAs, Name: first.text}
}

func (p *parser) classPattern(start Pos, class Expr) *Pattern {
	p.wantOp("(")
	c := &Pattern{Kind: MatchClass, Value: class}
	for p.fault == nil && !p.op(")") {
		t, n := p.tok(), p.ahead()
		if t.kind == name && n.kind == operator && n.text == "=" {
			p.next()
			p.next()
			c.Keywords = append(c.Keywords, t.text)
		} else if len(c.Keywords) > 0 {
			p.unexpected("a keyword pattern")
		}
		c.Items = append(c.Items, p.pattern())
		if !p.takeOp(",") && !p.op(")") {
			p.unexpected("a comma")
		}
	}
	p.wantOp(")")
	c.Range = p.since(start)
	return c
}

// bracketPattern is a sequence, or a pattern in parentheses.
func (p *parser) bracketPattern(end string) *Pattern {
	start := p.next().start
	if p.takeOp(end) {
		return &Pattern{Range: p.since(start), Kind: MatchSequence}
	}
	first := p.starPattern()
	if end == ")" && !p.op(",") {
		if first.Kind == MatchStar {
			p.fail(start, "a star outside of a sequence")
		}
		p.wantOp(end)
		return first
	}
	list := p.sequencePattern(start, first, end)
	p.wantOp(end)
	list.Range = p.since(start)
	return list
}

func (p *parser) mappingPattern() *Pattern {
	start := p.next().start
	m := &Pattern{Kind: MatchMapping}
	for p.fault == nil && !p.op("}") {
		if p.takeOp("**") {
			m.Name = p.wantName()
		} else {
			if m.Name != "" {
				p.unexpected("the end of the mapping")
			}
			m.Keys = append(m.Keys, p.patternKey())
			p.wantOp(":")
			m.Items = append(m.Items, p.pattern())
		}
		if !p.takeOp(",") && !p.op("}") {
			p.unexpected("a comma")
		}
	}
	p.wantOp("}")
	m.Range = p.since(start)
	return m
}

func (p *parser) patternKey() Expr {
	key := p.closedPattern()
	if key.Value == nil || key.Kind == MatchClass {
		p.unexpected("a key that is a value")
		return p.broken()
	}
	return key.Value
}
