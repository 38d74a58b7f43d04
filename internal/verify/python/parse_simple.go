package python

import "strings"

// simple is a statement that fits on a line.
func (p *parser) simple() Stmt {
	t := p.tok()
	if t.kind == name && t.text == "type" && p.ahead().kind == name {
		return p.typeAlias()
	}
	if t.kind != keyword {
		return p.assignment()
	}
	start := t.start
	switch t.text {
	case "pass", "break", "continue":
		p.next()
		return &Simple{Range: p.since(start), Keyword: t.text}
	case "return":
		p.next()
		r := &Return{}
		if !p.lineEnds() {
			r.Value = p.starList()
		}
		r.Range = p.since(start)
		return r
	case "raise":
		return p.raise()
	case "global", "nonlocal":
		p.next()
		d := &Declare{Keyword: t.text, Names: []string{p.wantName()}}
		for p.takeOp(",") {
			d.Names = append(d.Names, p.wantName())
		}
		d.Range = p.since(start)
		return d
	case "del":
		return p.del()
	case "assert":
		p.next()
		a := &Assert{Test: p.expression()}
		if p.takeOp(",") {
			a.Message = p.expression()
		}
		a.Range = p.since(start)
		return a
	case "import":
		return p.importStmt()
	case "from":
		return p.fromStmt()
	}
	return p.assignment()
}

func (p *parser) lineEnds() bool {
	return p.tok().kind == newline || p.tok().kind == endOfFile || p.op(";")
}

func (p *parser) typeAlias() Stmt {
	start := p.next().start
	at := p.tok()
	a := &TypeAlias{Name: &Name{Range: Range{at.start, at.end}, ID: p.wantName()}}
	a.TypeParams = p.typeParams()
	p.wantOp("=")
	a.Value = p.expression()
	a.Range = p.since(start)
	return a
}

func (p *parser) raise() Stmt {
	start := p.next().start
	r := &Raise{}
	if !p.lineEnds() {
		r.Value = p.expression()
		if p.takeWord("from") {
			r.Cause = p.expression()
		}
	}
	r.Range = p.since(start)
	return r
}

func (p *parser) del() Stmt {
	start := p.next().start
	d := &Delete{}
	for {
		target := p.primaryOnly()
		p.checkTarget(target, targetDelete)
		d.Targets = append(d.Targets, target)
		if !p.takeOp(",") || p.lineEnds() {
			break
		}
	}
	d.Range = p.since(start)
	return d
}

func (p *parser) dotted() string {
	parts := []string{p.wantName()}
	for p.takeOp(".") {
		parts = append(parts, p.wantName())
	}
	return strings.Join(parts, ".")
}

func (p *parser) importStmt() Stmt {
	start := p.next().start
	s := &Import{}
	for {
		at := p.tok().start
		a := Alias{Name: p.dotted()}
		if p.takeWord("as") {
			a.As = p.wantName()
		}
		a.Range = p.since(at)
		s.Names = append(s.Names, a)
		if !p.takeOp(",") {
			break
		}
	}
	s.Range = p.since(start)
	return s
}

func (p *parser) fromStmt() Stmt {
	start := p.next().start
	s := &Import{From: true}
	for {
		if p.takeOp(".") {
			s.Level++
		} else if p.takeOp("...") {
			s.Level += 3
		} else {
			break
		}
	}
	if s.Level == 0 || !p.word("import") {
		s.Module = p.dotted()
	}
	p.wantWord("import")
	at := p.tok().start
	if p.takeOp("*") {
		s.Names = []Alias{{Range: p.since(at), Name: "*"}}
		s.Range = p.since(start)
		return s
	}
	grouped := p.takeOp("(")
	for {
		at := p.tok().start
		a := Alias{Name: p.wantName()}
		if p.takeWord("as") {
			a.As = p.wantName()
		}
		a.Range = p.since(at)
		s.Names = append(s.Names, a)
		if !p.takeOp(",") || grouped && p.op(")") {
			break
		}
	}
	if grouped {
		p.wantOp(")")
	}
	s.Range = p.since(start)
	return s
}

var augmented = map[string]bool{
	"+=": true, "-=": true, "*=": true, "/=": true, "//=": true, "%=": true, "@=": true, "&=": true, "|=": true,
	"^=": true, ">>=": true, "<<=": true, "**=": true,
}

// assignment is an expression, or an assignment of any form.
func (p *parser) assignment() Stmt {
	start := p.tok().start
	first := p.starListOrYield()
	t := p.tok()
	switch {
	case t.kind == operator && t.text == ":":
		p.checkTarget(first, targetSingle)
		p.next()
		a := &AnnAssign{Target: first, Annotation: p.expression()}
		if p.takeOp("=") {
			a.Value = p.starListOrYield()
		}
		a.Range = p.since(start)
		return a
	case t.kind == operator && augmented[t.text]:
		p.checkTarget(first, targetSingle)
		p.next()
		a := &AugAssign{Target: first, Op: strings.TrimSuffix(t.text, "="), Value: p.starListOrYield()}
		a.Range = p.since(start)
		return a
	case !p.op("="):
		return &Evaluate{Range: p.since(start), Value: first}
	}
	a := &Assign{}
	for p.takeOp("=") {
		p.checkTarget(first, targetMany)
		a.Targets = append(a.Targets, first)
		first = p.starListOrYield()
	}
	a.Value = first
	a.Range = p.since(start)
	return a
}

type targetRule uint8

const (
	targetMany   targetRule = iota // names, attributes, items, and lists of them with stars
	targetSingle                   // no list
	targetDelete                   // lists without stars
)

// checkTarget refuses what cannot be assigned to.
func (p *parser) checkTarget(e Expr, rule targetRule) {
	switch e := e.(type) {
	case *Name, *Attribute, *Subscript:
		return
	case *Starred:
		if rule == targetMany {
			p.checkTarget(e.Value, rule)
			return
		}
	case *Sequence:
		if rule != targetSingle && e.Kind != Set {
			for _, item := range e.Items {
				p.checkTarget(item, rule)
			}
			return
		}
	}
	if p.fault == nil {
		p.fail(e.At().Start, "this cannot be assigned to")
	}
}
