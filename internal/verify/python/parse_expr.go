package python

// precedence of the operators between comparison and unary ones.
const (
	bitOr = iota + 1
	bitXor
	bitAnd
	shift
	sum
	term
)

var precedence = map[string]int{
	"|": bitOr, "^": bitXor, "&": bitAnd, "<<": shift, ">>": shift, "+": sum, "-": sum,
	"*": term, "/": term, "//": term, "%": term, "@": term,
}

// starts says whether an expression, with a star or not, can begin here.
func (p *parser) starts() bool {
	t := p.tok()
	switch t.kind {
	case name, number, text, formatStart:
		return true
	case keyword:
		switch t.text {
		case "None", "True", "False", "not", "lambda", "await":
			return true
		}
	case operator:
		switch t.text {
		case "(", "[", "{", "-", "+", "~", "...", "*":
			return true
		}
	default:
	}
	return false
}

// listOf reads items with commas between: one item, or a tuple without
// parentheses.
func (p *parser) listOf(start Pos, item func() Expr) Expr {
	first := item()
	if !p.op(",") {
		return first
	}
	items := []Expr{first}
	for p.takeOp(",") && p.starts() {
		items = append(items, item())
	}
	return &Sequence{Range: p.since(start), Kind: Tuple, Items: items}
}

func (p *parser) starOr(item func() Expr) Expr {
	start := p.tok().start
	if !p.takeOp("*") {
		return item()
	}
	value := p.binary(bitOr)
	return &Starred{Range: p.since(start), Value: value}
}

func (p *parser) starList() Expr {
	return p.listOf(p.tok().start, func() Expr { return p.starOr(p.expression) })
}

func (p *parser) starListOrYield() Expr {
	if p.word("yield") {
		return p.yield()
	}
	return p.starList()
}

// targets are what a for assigns to, up to its in.
func (p *parser) targets() Expr {
	start := p.tok().start
	first := p.starTarget()
	if !p.op(",") {
		p.checkTarget(first, targetMany)
		return first
	}
	items := []Expr{first}
	for p.takeOp(",") && p.starts() {
		items = append(items, p.starTarget())
	}
	list := &Sequence{Range: p.since(start), Kind: Tuple, Items: items}
	p.checkTarget(list, targetMany)
	return list
}

func (p *parser) starTarget() Expr { return p.starOr(p.primaryOnly) }

func (p *parser) primaryOnly() Expr { return p.binary(bitOr) }

func (p *parser) yield() Expr {
	start := p.next().start
	y := &Yield{}
	if p.takeWord("from") {
		y.From = true
		y.Value = p.expression()
	} else if p.starts() {
		y.Value = p.starList()
	}
	y.Range = p.since(start)
	return y
}

// named is an expression or name := expression.
func (p *parser) named() Expr {
	t := p.tok()
	if n := p.ahead(); t.kind != name || n.kind != operator || n.text != ":=" {
		return p.expression()
	}
	p.next()
	p.next()
	w := &Walrus{Target: &Name{Range: Range{t.start, t.end}, ID: t.text}, Value: p.expression()}
	w.Range = p.since(t.start)
	return w
}

func (p *parser) expression() Expr {
	if !p.deeper() {
		return p.broken()
	}
	defer p.shallower()
	start := p.tok().start
	if p.word("lambda") {
		return p.lambda()
	}
	then := p.disjunction()
	if !p.takeWord("if") {
		return then
	}
	c := &Conditional{Then: then, Test: p.disjunction()}
	p.wantWord("else")
	c.Else = p.expression()
	c.Range = p.since(start)
	return c
}

func (p *parser) lambda() Expr {
	start := p.next().start
	l := &Lambda{Params: p.params(":", false)}
	p.wantOp(":")
	l.Body = p.expression()
	l.Range = p.since(start)
	return l
}

func (p *parser) disjunction() Expr { return p.logical("or", p.conjunction) }

func (p *parser) conjunction() Expr { return p.logical("and", p.inversion) }

func (p *parser) logical(op string, operand func() Expr) Expr {
	start := p.tok().start
	first := operand()
	if !p.word(op) {
		return first
	}
	values := []Expr{first}
	for p.takeWord(op) {
		values = append(values, operand())
	}
	return &Logical{Range: p.since(start), Op: op, Values: values}
}

func (p *parser) inversion() Expr {
	start := p.tok().start
	if !p.takeWord("not") {
		return p.comparison()
	}
	if !p.deeper() {
		return p.broken()
	}
	defer p.shallower()
	operand := p.inversion()
	return &Unary{Range: p.since(start), Op: "not", Operand: operand}
}

func (p *parser) comparison() Expr {
	start := p.tok().start
	left := p.binary(bitOr)
	op := p.compareOp()
	if op == "" {
		return left
	}
	c := &Compare{Left: left}
	for ; op != ""; op = p.compareOp() {
		c.Ops = append(c.Ops, op)
		c.Values = append(c.Values, p.binary(bitOr))
	}
	c.Range = p.since(start)
	return c
}

// compareOp takes a comparison operator, "" when there is none.
func (p *parser) compareOp() string {
	t := p.tok()
	if t.kind == operator {
		switch t.text {
		case "<", ">", "==", ">=", "<=", "!=":
			return p.next().text
		}
		return ""
	}
	switch {
	case p.takeWord("in"):
		return "in"
	case p.word("not") && p.ahead().kind == keyword && p.ahead().text == "in":
		p.next()
		p.next()
		return "not in"
	case p.takeWord("is"):
		if p.takeWord("not") {
			return "is not"
		}
		return "is"
	}
	return ""
}

func (p *parser) binary(least int) Expr {
	start := p.tok().start
	left := p.unary()
	for {
		t := p.tok()
		if t.kind != operator {
			return left
		}
		level := precedence[t.text]
		if level < least || level == 0 {
			return left
		}
		p.next()
		right := p.binary(level + 1)
		left = &Binary{Range: p.since(start), Op: t.text, Left: left, Right: right}
	}
}

func (p *parser) unary() Expr {
	t := p.tok()
	if t.kind != operator || t.text != "-" && t.text != "+" && t.text != "~" {
		return p.power()
	}
	if !p.deeper() {
		return p.broken()
	}
	defer p.shallower()
	p.next()
	operand := p.unary()
	return &Unary{Range: p.since(t.start), Op: t.text, Operand: operand}
}

func (p *parser) power() Expr {
	start := p.tok().start
	var base Expr
	if p.takeWord("await") {
		value := p.primary()
		base = &Await{Range: p.since(start), Value: value}
	} else {
		base = p.primary()
	}
	if !p.takeOp("**") {
		return base
	}
	if !p.deeper() {
		return p.broken()
	}
	defer p.shallower()
	exponent := p.unary()
	return &Binary{Range: p.since(start), Op: "**", Left: base, Right: exponent}
}

func (p *parser) primary() Expr {
	start := p.tok().start
	e := p.atom()
	for {
		switch {
		case p.takeOp("."):
			n := p.wantName()
			e = &Attribute{Range: p.since(start), Value: e, Name: n}
		case p.op("("):
			p.next()
			args := p.args()
			p.wantOp(")")
			e = &Call{Range: p.since(start), Func: e, Args: args}
		case p.takeOp("["):
			index := p.index()
			p.wantOp("]")
			e = &Subscript{Range: p.since(start), Value: e, Index: index}
		default:
			return e
		}
	}
}

// args are the arguments of a call whose parenthesis was just taken.
func (p *parser) args() []Arg {
	open := p.tokens[p.i-1].start
	var list []Arg
	named, unpacked := false, false
	seen := map[string]bool{}
	for p.fault == nil && !p.op(")") {
		t := p.tok()
		a := Arg{}
		n := p.ahead()
		switch {
		case p.takeOp("**"):
			a.Stars, a.Value, unpacked = 2, p.expression(), true
		case p.takeOp("*"):
			a.Stars, a.Value = 1, p.expression()
			if unpacked {
				p.fail(t.start, "*argument after **argument")
			}
		case t.kind == name && n.kind == operator && n.text == "=":
			p.next()
			p.next()
			a.Name, a.Value, named = t.text, p.expression(), true
			if seen[a.Name] {
				p.fail(t.start, "a keyword argument is repeated")
			}
			seen[a.Name] = true
		default:
			a.Value = p.named()
			if p.word("for") || p.word("async") {
				c := p.comprehension(t.start, Generator, a.Value, nil)
				if len(list) == 0 && p.op(")") {
					c.Range = Range{open, p.tok().end}
				} else {
					p.unexpected("parentheses around the generator")
				}
				a.Value = c
			}
			if named || unpacked {
				p.fail(t.start, "a positional argument after a keyword argument")
			}
		}
		a.Range = p.since(t.start)
		list = append(list, a)
		if !p.takeOp(",") && !p.op(")") {
			p.unexpected("a comma or the end of the arguments")
		}
	}
	return list
}

func (p *parser) index() Expr {
	start := p.tok().start
	item := func() Expr { return p.starOr(p.slice) }
	first := item()
	_, starred := first.(*Starred)
	if !p.op(",") && !starred {
		return first
	}
	items := []Expr{first}
	for p.takeOp(",") && (p.starts() || p.op(":")) {
		items = append(items, item())
	}
	return &Sequence{Range: p.since(start), Kind: Tuple, Items: items}
}

func (p *parser) slice() Expr {
	start := p.tok().start
	var lower Expr
	if !p.op(":") {
		lower = p.named()
		if !p.op(":") {
			return lower
		}
	}
	p.wantOp(":")
	s := &Slice{Lower: lower}
	if !p.op(":") && !p.op("]") && !p.op(",") {
		s.Upper = p.expression()
	}
	if p.takeOp(":") && !p.op("]") && !p.op(",") {
		s.Step = p.expression()
	}
	s.Range = p.since(start)
	return s
}

// comprehension reads the clauses after its item.
func (p *parser) comprehension(start Pos, kind SequenceKind, item, value Expr) *Comprehension {
	c := &Comprehension{Kind: kind, Item: item, Value: value}
	if _, starred := item.(*Starred); starred {
		p.fail(start, "a star in a comprehension")
	}
	for p.word("for") || p.word("async") {
		clause := CompClause{Async: p.takeWord("async")}
		p.wantWord("for")
		clause.Target = p.targets()
		p.wantWord("in")
		clause.Iter = p.disjunction()
		for p.takeWord("if") {
			clause.Ifs = append(clause.Ifs, p.disjunction())
		}
		c.Clauses = append(c.Clauses, clause)
	}
	c.Range = p.since(start)
	return c
}
