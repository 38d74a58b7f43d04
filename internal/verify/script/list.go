package script

// Property is one property of an object, spreads and computed keys resolved.
type Property struct {
	Key  string
	Node Node
}

// Props are the properties of the object that n stands for, in order; a later
// one of the same key stands. It answers false when not all of them can be read.
func (p *Program) Props(n Node) ([]Property, bool) { return p.props(n, 0) }

func (p *Program) props(n Node, depth int) ([]Property, bool) {
	n = p.reduce(n, depth)
	if n.Kind() != Object || depth > maxChain {
		return nil, false
	}
	var out []Property
	complete := true
	for _, prop := range n.Expr.Props {
		if p.steps++; p.over() {
			return out, false
		}
		switch {
		case prop.Value.Kind == Spread:
			more, all := p.props(n.at(prop.Value.X), depth+1)
			out, complete = append(out, more...), complete && all
		case prop.KeyExpr != nil:
			key, ok := p.text(n.at(prop.KeyExpr), depth+1)
			if !ok {
				complete = false
				continue
			}
			out = append(out, Property{key, n.at(prop.Value)})
		default:
			out = append(out, Property{prop.Key, n.at(prop.Value)})
		}
	}
	return out, complete
}

// Get is the property key of an object, and whether it is there. An object that
// cannot be read in full may have it.
func (p *Program) Get(n Node, key string) (Node, bool) {
	props, _ := p.props(n, 0)
	for i := len(props) - 1; i >= 0; i-- {
		if props[i].Key == key {
			return props[i].Node, true
		}
	}
	return Node{}, false
}

// Items are the elements of the list that n stands for, spreads resolved: a
// literal, Object.values or Object.entries of a literal, or a map of one. It
// answers false when not all of them can be read; n itself is then reduced to
// what it is, for its reason.
func (p *Program) Items(n Node) ([]Node, bool) { return p.items(n, 0) }

func (p *Program) items(n Node, depth int) ([]Node, bool) {
	n = p.reduce(n, depth)
	if depth > maxChain {
		return nil, false
	}
	if n.Kind() == Call {
		return p.listCall(n, depth)
	}
	if n.Kind() != Array {
		return nil, false
	}
	var out []Node
	complete := true
	for _, item := range n.Expr.Args {
		if p.steps++; p.over() || len(out) > maxElements {
			return out, false
		}
		if item.Kind == Spread {
			more, all := p.items(n.at(item.X), depth+1)
			out, complete = append(out, more...), complete && all
			continue
		}
		out = append(out, n.at(item))
	}
	return out, complete
}

// listCall is the list that a call makes out of literals.
func (p *Program) listCall(n Node, depth int) ([]Node, bool) {
	e := n.Expr
	if e.X.Kind != Member || len(e.Args) != 1 {
		return nil, false
	}
	if e.X.X.Kind == Name && e.X.X.Text == "Object" {
		props, complete := p.props(n.at(e.Args[0]), depth+1)
		var out []Node
		for _, prop := range props {
			key := &Expr{Kind: String, Text: prop.Key, At: e.At, Pos: e.Pos}
			switch e.X.Text {
			case "values":
				out = append(out, prop.Node)
			case "entries":
				out = append(out, prop.Node.at(&Expr{Kind: Array, Args: []*Expr{key, prop.Node.Expr}, At: e.At, Pos: e.Pos}))
			case "keys":
				out = append(out, n.at(key))
			default:
				return nil, false
			}
		}
		return out, complete
	}
	if e.X.Text != "map" {
		return nil, false
	}
	items, complete := p.items(n.at(e.X.X), depth+1)
	fn := p.reduce(n.at(e.Args[0]), depth+1)
	if fn.Kind() != Function || fn.Expr.Fn == nil || len(fn.Expr.Fn.Params) == 0 {
		return nil, false
	}
	results := fn.File.Returns(fn.Expr.Fn)
	b := fn.File.eachAt(fn.Expr.Fn.Params[0].At)
	if len(results) != 1 || b == nil {
		return nil, false
	}
	out := make([]Node, 0, len(items))
	for _, item := range items {
		out = append(out, fn.at(results[0]).With(b, item))
	}
	return out, complete
}

// eachAt is the loop variable that is declared at or in the pattern at a token.
func (f *File) eachAt(at int) *Binding {
	for _, b := range f.each {
		if b.at == at || f.tokens[at].match > 0 && at < b.at && b.at < int(f.tokens[at].match) {
			return b
		}
	}
	return nil
}
