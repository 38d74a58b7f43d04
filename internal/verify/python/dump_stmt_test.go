package python_test

import (
	"fmt"
	"strings"

	"plimsoll.dev/internal/verify/python"
)

func (d *dumper) stmt(s python.Stmt) {
	at := d.at(s.At())
	switch s := s.(type) {
	case *python.Function:
		d.line(async(s.Async, "function")+" "+s.Name, at)
		d.under(func() {
			d.exprs("decorators", s.Decorators)
			d.typeParams(s.TypeParams)
			d.params(s.Params)
			d.named("returns", s.Returns)
			d.block("body", s.Body)
		})
	case *python.Class:
		d.line("class "+s.Name, at)
		d.under(func() {
			d.exprs("decorators", s.Decorators)
			d.typeParams(s.TypeParams)
			if len(s.Args) > 0 {
				d.line("args", "-")
				d.under(func() { d.args(s.Args) })
			}
			d.block("body", s.Body)
		})
	case *python.Return:
		d.line("return", at)
		d.below(s.Value)
	case *python.Delete:
		d.line("delete", at)
		d.below(s.Targets...)
	case *python.Assign:
		d.line("assign", at)
		d.below(s.Targets...)
		d.below(s.Value)
	case *python.AugAssign:
		d.line("augmented "+s.Op, at)
		d.below(s.Target, s.Value)
	case *python.AnnAssign:
		d.line("annotated", at)
		d.below(s.Target, s.Annotation, s.Value)
	case *python.TypeAlias:
		d.line("type alias", at)
		d.below(s.Name)
		d.under(func() { d.typeParams(s.TypeParams) })
		d.below(s.Value)
	case *python.Raise:
		d.line("raise", at)
		d.below(s.Value, s.Cause)
	case *python.Assert:
		d.line("assert", at)
		d.below(s.Test, s.Message)
	case *python.Import:
		d.imports(s, at)
	case *python.Declare:
		d.line(s.Keyword+" "+strings.Join(s.Names, ","), at)
	case *python.Evaluate:
		d.line("evaluate", at)
		d.below(s.Value)
	case *python.Simple:
		d.line(s.Keyword, at)
	default:
		d.compound(s, at)
	}
}

func (d *dumper) imports(s *python.Import, at string) {
	label := "import"
	if s.From {
		label = "from " + strings.Repeat(".", s.Level) + s.Module
	}
	d.line(label, at)
	d.under(func() {
		for _, a := range s.Names {
			at := d.at(a.Range)
			if d.minor < 10 {
				at = "-"
			}
			d.line(fmt.Sprintf("alias %s %s", a.Name, orDash(a.As)), at)
		}
	})
}

func (d *dumper) compound(s python.Stmt, at string) {
	switch s := s.(type) {
	case *python.For:
		d.line(async(s.Async, "for"), at)
		d.below(s.Target, s.Iter)
		d.under(func() { d.block("body", s.Body); d.block("else", s.Else) })
	case *python.While:
		d.line("while", at)
		d.below(s.Test)
		d.under(func() { d.block("body", s.Body); d.block("else", s.Else) })
	case *python.If:
		d.line("if", at)
		d.under(func() {
			for _, b := range s.Branches {
				d.line("branch", "-")
				d.below(b.Test)
				d.under(func() { d.stmts(b.Body) })
			}
			d.block("else", s.Else)
		})
	case *python.With:
		d.line(async(s.Async, "with"), at)
		d.under(func() {
			for _, item := range s.Items {
				d.line("item", "-")
				d.below(item.Context, item.Target)
			}
			d.block("body", s.Body)
		})
	case *python.Try:
		label := "try"
		if s.Star {
			label = "try *"
		}
		d.line(label, at)
		d.under(func() {
			d.block("body", s.Body)
			for _, h := range s.Handlers {
				d.line("except "+orDash(h.Name), d.at(h.Range))
				d.below(h.Type)
				d.under(func() { d.block("body", h.Body) })
			}
			d.block("else", s.Else)
			d.block("finally", s.Finally)
		})
	case *python.Match:
		d.line("match", at)
		d.below(s.Subject)
		d.under(func() {
			for _, c := range s.Cases {
				d.line("case", "-")
				d.under(func() {
					d.pattern(c.Pattern)
					d.named("guard", c.Guard)
					d.block("body", c.Body)
				})
			}
		})
	default:
		panic(fmt.Sprintf("no dump of %T", s))
	}
}

func (d *dumper) pattern(p *python.Pattern) {
	d.line(fmt.Sprintf("pattern %s %s %s", p.Kind, orDash(p.Name), orDash(strings.Join(p.Keywords, ","))), d.at(p.Range))
	if p.Kind == python.MatchSingleton {
		d.under(func() { d.line("constant "+p.Value.(*python.Constant).Text, "-") })
		return
	}
	d.below(p.Value)
	d.below(p.Keys...)
	d.under(func() {
		for _, item := range p.Items {
			d.pattern(item)
		}
	})
}
