package python_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"plimsoll.dev/internal/verify/python"
)

// dumper prints a tree in the form of testdata/dump.py.
type dumper struct {
	out    strings.Builder
	depth  int
	format int
	minor  int // of the Python that it is compared with
}

func (d *dumper) at(r python.Range) string {
	if d.format > 0 && d.minor < 12 {
		return "-"
	}
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Column, r.End.Line, r.End.Column)
}

func (d *dumper) line(label, at string) {
	fmt.Fprintf(&d.out, "%s%s %s\n", strings.Repeat(" ", d.depth), label, at)
}

func (d *dumper) under(do func()) {
	d.depth++
	do()
	d.depth--
}

func (d *dumper) below(list ...python.Expr) {
	d.under(func() {
		for _, e := range list {
			if e != nil {
				d.expr(e)
			}
		}
	})
}

func (d *dumper) named(label string, e python.Expr) {
	if e != nil {
		d.line(label, "-")
		d.below(e)
	}
}

func (d *dumper) block(label string, body []python.Stmt) {
	if len(body) > 0 {
		d.line(label, "-")
		d.under(func() { d.stmts(body) })
	}
}

func (d *dumper) stmts(body []python.Stmt) {
	for _, s := range body {
		d.stmt(s)
	}
}

func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	var out strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r >= 0x7f:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

func (d *dumper) number(n *python.Number) string {
	text := strings.TrimSuffix(n.Text, "j")
	if n.Kind == python.Int {
		i, ok := new(big.Int).SetString(text, 0)
		if !ok {
			i, _ = new(big.Int).SetString(text, 10)
		}
		return "int " + i.Text(16)
	}
	f, _ := strconv.ParseFloat(text, 64)
	return fmt.Sprintf("%s %016x", n.Kind, math.Float64bits(f))
}

func (d *dumper) parts(list []python.Expr) {
	d.depth++
	d.format++
	for _, part := range list {
		f, ok := part.(*python.Interpolation)
		if !ok {
			d.line("str "+quoted(part.(*python.Str).Value), "-")
			continue
		}
		conversion := "-"
		if f.Conversion != 0 {
			conversion = string(f.Conversion)
		}
		d.line("field "+conversion, d.at(f.Range))
		d.below(f.Value)
		if f.Spec != nil {
			d.under(func() {
				d.line("spec", "-")
				d.parts(f.Spec.Parts)
			})
		}
	}
	d.format--
	d.depth--
}

func (d *dumper) expr(e python.Expr) {
	at := d.at(e.At())
	switch e := e.(type) {
	case *python.Name:
		d.line("name "+e.ID, at)
	case *python.Constant:
		d.line("constant "+e.Text, at)
	case *python.Str:
		if e.Bytes {
			d.line("bytes "+quoted(latin1(e.Value)), at)
			return
		}
		d.line("str "+quoted(e.Value), at)
	case *python.Number:
		d.line(d.number(e), at)
	case *python.FString:
		d.line("format", at)
		d.parts(e.Parts)
	case *python.Attribute:
		d.line("attribute "+e.Name, at)
		d.below(e.Value)
	case *python.Subscript:
		d.line("subscript", at)
		d.below(e.Value, e.Index)
	case *python.Call:
		d.line("call", at)
		d.below(e.Func)
		d.under(func() { d.args(e.Args) })
	case *python.Starred:
		d.line("starred", at)
		d.below(e.Value)
	case *python.Unary:
		d.line("unary "+e.Op, at)
		d.below(e.Operand)
	case *python.Binary:
		d.line("binary "+e.Op, at)
		d.below(e.Left, e.Right)
	case *python.Logical:
		d.line("logical "+e.Op, at)
		d.below(e.Values...)
	case *python.Compare:
		d.line("compare "+strings.Join(e.Ops, ","), at)
		d.below(e.Left)
		d.below(e.Values...)
	case *python.Lambda:
		d.line("lambda", at)
		d.under(func() { d.params(e.Params) })
		d.below(e.Body)
	case *python.Conditional:
		d.line("conditional", at)
		d.below(e.Test, e.Then, e.Else)
	case *python.Sequence:
		d.line(string(e.Kind), at)
		d.below(e.Items...)
	case *python.Dict:
		d.line("dictionary", at)
		d.under(func() {
			for _, item := range e.Items {
				label := "item"
				if item.Key == nil {
					label = "item **"
				}
				d.line(label, "-")
				d.below(item.Key, item.Value)
			}
		})
	case *python.Comprehension:
		d.comprehension(e, at)
	case *python.Await:
		d.line("await", at)
		d.below(e.Value)
	case *python.Yield:
		label := "yield"
		if e.From {
			label = "yield from"
		}
		d.line(label, at)
		d.below(e.Value)
	case *python.Walrus:
		d.line("walrus", at)
		d.below(e.Target, e.Value)
	case *python.Slice:
		d.line("slice", at)
		d.under(func() {
			d.named("lower", e.Lower)
			d.named("upper", e.Upper)
			d.named("step", e.Step)
		})
	default:
		panic(fmt.Sprintf("no dump of %T", e))
	}
}

func (d *dumper) comprehension(e *python.Comprehension, at string) {
	d.line("comprehension "+string(e.Kind), at)
	d.below(e.Item, e.Value)
	d.under(func() {
		for _, c := range e.Clauses {
			label := "clause"
			if c.Async {
				label = "clause async"
			}
			d.line(label, "-")
			d.below(c.Target, c.Iter)
			d.below(c.Ifs...)
		}
	})
}

func (d *dumper) args(list []python.Arg) {
	for _, a := range list {
		switch {
		case a.Stars == 1:
			d.line("starred", d.at(a.Range))
			d.below(a.Value)
		case a.Stars == 2:
			d.line("keyword **", d.at(a.Range))
			d.below(a.Value)
		case a.Name != "":
			d.line("keyword "+a.Name, d.at(a.Range))
			d.below(a.Value)
		default:
			d.expr(a.Value)
		}
	}
}

func (d *dumper) params(p python.Params) {
	for _, param := range p.List {
		d.line(fmt.Sprintf("param %s %s", param.Kind, param.Name), d.at(param.Range))
		d.under(func() {
			d.named("annotation", param.Annotation)
			d.named("default", param.Default)
		})
	}
}

func (d *dumper) typeParams(list []python.TypeParam) {
	for _, tp := range list {
		d.line(fmt.Sprintf("type param %d %s", tp.Stars, tp.Name), d.at(tp.Range))
		d.under(func() {
			d.named("bound", tp.Bound)
			d.named("default", tp.Default)
		})
	}
}

func (d *dumper) exprs(label string, list []python.Expr) {
	if len(list) > 0 {
		d.line(label, "-")
		d.below(list...)
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func async(is bool, label string) string {
	if is {
		return "async " + label
	}
	return label
}
