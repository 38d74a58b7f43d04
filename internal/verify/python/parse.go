package python

// parser makes a tree of tokens by recursive descent, one token of lookahead in
// most places. After the first fault it stands at the end of the file, so that
// every loop ends.
type parser struct {
	src    string
	tokens []token
	i      int
	stack  int
	end    Pos // of the last token taken that is no end of a line or block
	fault  *SyntaxError
}

func (p *parser) tok() *token { return &p.tokens[p.i] }

// ahead is the next token, at the end of the file the last one.
func (p *parser) ahead() *token { return &p.tokens[min(p.i+1, len(p.tokens)-1)] }

func (p *parser) next() *token {
	t := &p.tokens[p.i]
	if p.i < len(p.tokens)-1 {
		p.i++
	}
	switch t.kind {
	case newline, indent, dedent, endOfFile:
	default:
		p.end = t.end
	}
	return t
}

func (p *parser) fail(at Pos, detail string) {
	if p.fault == nil {
		p.fault = &SyntaxError{Pos: at, Detail: detail}
	}
	p.i = len(p.tokens) - 1
}

func (p *parser) unexpected(want string) {
	if p.fault == nil {
		p.fail(p.tok().start, "expected "+want)
	}
}

// op says whether the operator stands here.
func (p *parser) op(text string) bool {
	t := p.tok()
	return t.kind == operator && t.text == text
}

// word says whether the keyword stands here.
func (p *parser) word(text string) bool {
	t := p.tok()
	return t.kind == keyword && t.text == text
}

func (p *parser) takeOp(text string) bool {
	if p.op(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) takeWord(text string) bool {
	if p.word(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) wantOp(text string) {
	if !p.takeOp(text) {
		p.unexpected(text)
	}
}

func (p *parser) wantWord(text string) {
	if !p.takeWord(text) {
		p.unexpected(text)
	}
}

func (p *parser) wantName() string {
	if p.tok().kind != name {
		p.unexpected("a name")
		return ""
	}
	return p.next().text
}

// since is the range from start to the end of the last token taken.
func (p *parser) since(start Pos) Range { return Range{start, p.end} }

// deeper bounds the recursion; every true is followed by one shallower.
func (p *parser) deeper() bool {
	if p.stack >= maxStack {
		p.fail(p.tok().start, "expressions are nested too deep")
		return false
	}
	p.stack++
	return true
}

func (p *parser) shallower() { p.stack-- }

// broken stands for an expression after a fault; the tree is thrown away.
func (p *parser) broken() Expr { return &Constant{Text: "..."} }

func (p *parser) module() []Stmt {
	var body []Stmt
	for p.fault == nil && p.tok().kind != endOfFile {
		body = p.statement(body)
	}
	return body
}

// block is ":" with statements on the same line or indented below.
func (p *parser) block() []Stmt {
	p.wantOp(":")
	var body []Stmt
	if p.tok().kind != newline {
		return p.simpleLine(body)
	}
	p.next()
	if p.tok().kind != indent {
		p.unexpected("an indented block")
		return nil
	}
	p.next()
	for p.fault == nil && p.tok().kind != dedent {
		if p.tok().kind == endOfFile {
			p.unexpected("the end of the block")
			return nil
		}
		body = p.statement(body)
	}
	p.next()
	return body
}

// simpleLine reads statements up to the end of the line.
func (p *parser) simpleLine(body []Stmt) []Stmt {
	for {
		body = append(body, p.simple())
		if !p.takeOp(";") {
			break
		}
		if p.tok().kind == newline {
			break
		}
	}
	if p.tok().kind != newline {
		p.unexpected("the end of the line")
		return body
	}
	p.next()
	return body
}

func (p *parser) statement(body []Stmt) []Stmt {
	t := p.tok()
	if t.kind == operator && t.text == "@" {
		return append(body, p.decorated())
	}
	if t.kind == name && t.text == "match" && p.matchAhead() {
		return append(body, p.match())
	}
	if t.kind != keyword {
		return p.simpleLine(body)
	}
	switch t.text {
	case "if":
		return append(body, p.ifStmt())
	case "for":
		return append(body, p.forStmt(t.start, false))
	case "while":
		return append(body, p.whileStmt())
	case "with":
		return append(body, p.withStmt(t.start, false))
	case "try":
		return append(body, p.try())
	case "def":
		return append(body, p.function(t.start, false, nil))
	case "class":
		return append(body, p.class(nil))
	case "async":
		return append(body, p.async(nil))
	}
	return p.simpleLine(body)
}

func (p *parser) async(decorators []Expr) Stmt {
	start := p.next().start
	switch {
	case p.word("def"):
		return p.function(start, true, decorators)
	case decorators == nil && p.word("for"):
		return p.forStmt(start, true)
	case decorators == nil && p.word("with"):
		return p.withStmt(start, true)
	}
	p.unexpected("def, for or with")
	return &Simple{}
}

func (p *parser) decorated() Stmt {
	var decorators []Expr
	for p.takeOp("@") {
		decorators = append(decorators, p.named())
		if p.tok().kind != newline {
			p.unexpected("the end of the line")
			return &Simple{}
		}
		p.next()
	}
	switch {
	case p.word("def"):
		return p.function(p.tok().start, false, decorators)
	case p.word("class"):
		return p.class(decorators)
	case p.word("async"):
		return p.async(decorators)
	}
	p.unexpected("def or class")
	return &Simple{}
}

func (p *parser) function(start Pos, async bool, decorators []Expr) Stmt {
	p.wantWord("def")
	f := &Function{Async: async, Decorators: decorators, Name: p.wantName()}
	f.TypeParams = p.typeParams()
	p.wantOp("(")
	f.Params = p.params(")", true)
	p.wantOp(")")
	if p.takeOp("->") {
		f.Returns = p.expression()
	}
	f.Body = p.block()
	f.Range = p.since(start)
	return f
}

func (p *parser) class(decorators []Expr) Stmt {
	start := p.tok().start
	p.wantWord("class")
	c := &Class{Decorators: decorators, Name: p.wantName()}
	c.TypeParams = p.typeParams()
	if p.takeOp("(") {
		c.Args = p.args()
		p.wantOp(")")
	}
	c.Body = p.block()
	c.Range = p.since(start)
	return c
}

// params reads parameters up to the closing token.
func (p *parser) params(end string, annotated bool) Params {
	var list []Param
	kind, defaulted, bare := Regular, false, false
	for p.fault == nil && !p.op(end) {
		start := p.tok().start
		switch {
		case p.takeOp("/"):
			if len(list) == 0 || kind != Regular || list[0].Kind == PositionalOnly {
				p.fail(start, "a slash in the wrong place")
				break
			}
			for i := range list {
				list[i].Kind = PositionalOnly
			}
		case p.takeOp("**"):
			list = append(list, p.param(VarKeywords, annotated))
			p.takeOp(",")
			if !p.op(end) {
				p.unexpected("the end of the parameters")
			}
			continue
		case p.op("*"):
			if kind == KeywordOnly {
				p.fail(start, "a second star")
				break
			}
			p.next()
			kind = KeywordOnly
			if bare = p.op(","); !bare {
				list = append(list, p.param(VarArgs, annotated))
			}
		default:
			param := p.param(kind, annotated)
			if p.takeOp("=") {
				param.Default = p.expression()
				defaulted = true
			} else if defaulted && kind == Regular {
				p.fail(start, "a parameter without a default after one with")
			}
			bare = false
			list = append(list, param)
		}
		if !p.takeOp(",") && !p.op(end) {
			p.unexpected("a comma")
		}
	}
	if bare || len(list) > 0 && bare {
		p.unexpected("a parameter after the star")
	}
	return Params{List: list}
}

func (p *parser) param(kind ParamKind, annotated bool) Param {
	start := p.tok().start
	param := Param{Kind: kind, Name: p.wantName()}
	if annotated && p.takeOp(":") {
		if at := p.tok().start; kind == VarArgs && p.takeOp("*") {
			value := p.binary(bitOr)
			param.Annotation = &Starred{Range: p.since(at), Value: value}
		} else {
			param.Annotation = p.expression()
		}
	}
	param.Range = p.since(start)
	return param
}

func (p *parser) typeParams() []TypeParam {
	if !p.takeOp("[") {
		return nil
	}
	var list []TypeParam
	for p.fault == nil && !p.op("]") {
		start := p.tok().start
		var tp TypeParam
		switch {
		case p.takeOp("**"):
			tp.Stars = 2
		case p.takeOp("*"):
			tp.Stars = 1
		}
		tp.Name = p.wantName()
		if tp.Stars == 0 && p.takeOp(":") {
			tp.Bound = p.expression()
		}
		if p.takeOp("=") {
			if tp.Stars == 1 {
				tp.Default = p.starOr(p.expression)
			} else {
				tp.Default = p.expression()
			}
		}
		tp.Range = p.since(start)
		list = append(list, tp)
		if !p.takeOp(",") && !p.op("]") {
			p.unexpected("a comma")
		}
	}
	if len(list) == 0 {
		p.unexpected("a type parameter")
	}
	p.wantOp("]")
	return list
}
