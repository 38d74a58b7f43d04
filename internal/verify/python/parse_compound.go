package python

func (p *parser) ifStmt() Stmt {
	start := p.tok().start
	s := &If{}
	for p.word("if") && len(s.Branches) == 0 || p.word("elif") {
		at := p.next().start
		b := Branch{Test: p.named()}
		b.Body = p.block()
		b.Range = p.since(at)
		s.Branches = append(s.Branches, b)
	}
	s.Else = p.elseBlock()
	s.Range = p.since(start)
	return s
}

// elseBlock is an else, nil without one.
func (p *parser) elseBlock() []Stmt {
	if p.takeWord("else") {
		return p.block()
	}
	return nil
}

func (p *parser) forStmt(start Pos, async bool) Stmt {
	p.wantWord("for")
	s := &For{Async: async, Target: p.targets()}
	p.wantWord("in")
	s.Iter = p.starList()
	s.Body = p.block()
	s.Else = p.elseBlock()
	s.Range = p.since(start)
	return s
}

func (p *parser) whileStmt() Stmt {
	start := p.next().start
	s := &While{Test: p.named()}
	s.Body = p.block()
	s.Else = p.elseBlock()
	s.Range = p.since(start)
	return s
}

func (p *parser) withStmt(start Pos, async bool) Stmt {
	p.wantWord("with")
	s := &With{Async: async}
	end := ":"
	if p.op("(") && p.groupedItems() {
		p.next()
		end = ")"
	}
	for p.fault == nil {
		item := WithItem{Context: p.expression()}
		if p.takeWord("as") {
			item.Target = p.starTarget()
			p.checkTarget(item.Target, targetMany)
		}
		s.Items = append(s.Items, item)
		if !p.takeOp(",") || end == ")" && p.op(")") {
			break
		}
	}
	if end == ")" {
		p.wantOp(")")
	}
	s.Body = p.block()
	s.Range = p.since(start)
	return s
}

// groupedItems says whether the parenthesis here holds the items of a with
// statement and not one expression. It looks as far as the parenthesis goes.
func (p *parser) groupedItems() bool {
	depth, first := 0, true
	for i := p.i; ; i++ {
		t := &p.tokens[i]
		switch {
		case t.kind == newline || t.kind == endOfFile:
			return false
		case t.kind == operator && (t.text == "(" || t.text == "[" || t.text == "{"):
			depth++
		case t.kind == operator && (t.text == ")" || t.text == "]" || t.text == "}"):
			depth--
			if depth == 0 {
				after := &p.tokens[i+1]
				return !first && after.kind == operator && after.text == ":"
			}
		case depth == 1 && (t.kind == operator && (t.text == ":=" || first && t.text == "*") ||
			t.kind == keyword && (t.text == "for" || t.text == "async" || t.text == "yield")):
			return false
		}
		first = first && i == p.i
		if depth == 1 && t.kind == operator && t.text == "," {
			if n := &p.tokens[i+1]; n.kind == operator && n.text == "*" {
				return false
			}
		}
	}
}

func (p *parser) try() Stmt {
	start := p.next().start
	s := &Try{Body: p.block()}
	for p.word("except") {
		at := p.next().start
		if len(s.Handlers) > 0 && s.Star != p.op("*") {
			p.fail(at, "except and except* do not mix")
		}
		s.Star = p.takeOp("*")
		var h Handler
		if !p.op(":") {
			from := p.tok().start
			h.Type = p.expression()
			if p.op(",") {
				list := []Expr{h.Type}
				for p.takeOp(",") && !p.op(":") {
					list = append(list, p.expression())
				}
				h.Type = &Sequence{Range: p.since(from), Kind: Tuple, Items: list}
			} else if p.takeWord("as") {
				h.Name = p.wantName()
			}
		} else if s.Star {
			p.unexpected("an exception type")
		}
		h.Body = p.block()
		h.Range = p.since(at)
		s.Handlers = append(s.Handlers, h)
	}
	if len(s.Handlers) > 0 {
		s.Else = p.elseBlock()
	}
	if p.takeWord("finally") {
		s.Finally = p.block()
	} else if len(s.Handlers) == 0 {
		p.unexpected("except or finally")
	}
	s.Range = p.since(start)
	return s
}

// matchAhead says whether the name match here begins a statement: only then does
// the line end with a colon and a case follow, indented.
func (p *parser) matchAhead() bool {
	if n := p.ahead(); n.kind == newline || n.kind == operator && n.text == ":" {
		return false
	}
	for i := p.i + 1; ; i++ {
		switch t := &p.tokens[i]; t.kind {
		case newline:
			colon := &p.tokens[i-1]
			return colon.kind == operator && colon.text == ":" && i+2 < len(p.tokens) &&
				p.tokens[i+1].kind == indent && p.tokens[i+2].kind == name && p.tokens[i+2].text == "case"
		case endOfFile:
			return false
		default:
		}
	}
}

func (p *parser) match() Stmt {
	start := p.next().start
	m := &Match{}
	at := p.tok().start
	m.Subject = p.listOf(at, func() Expr { return p.starOr(p.named) })
	if _, starred := m.Subject.(*Starred); starred {
		p.fail(at, "a star outside of a list")
	}
	p.wantOp(":")
	if p.tok().kind != newline || p.ahead().kind != indent {
		p.unexpected("an indented case")
		return m
	}
	p.next()
	p.next()
	for p.fault == nil && p.tok().kind != dedent {
		if t := p.tok(); t.kind != name || t.text != "case" {
			p.unexpected("case")
			return m
		}
		p.next()
		c := Case{Pattern: p.patterns()}
		if p.takeWord("if") {
			c.Guard = p.named()
		}
		c.Body = p.block()
		m.Cases = append(m.Cases, c)
	}
	p.next()
	m.Range = p.since(start)
	return m
}
