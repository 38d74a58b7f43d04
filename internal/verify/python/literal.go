package python

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// Bounds of one literal: constants may be made of constants, and double each
// time.
const (
	maxLiteralNodes = 4000
	maxLiteralBytes = 1 << 20
	maxDigits       = 400
)

// Literal is the value an expression shows by itself, as a JSON value: string,
// json.Number, bool, nil, []any for a list, tuple or set, map[string]any for a
// dict with text keys. Texts added or written as f-strings of literals count.
// False: computed, bytes, or nothing JSON has.
func Literal(e Expr) (any, bool) {
	return (&folder{nodes: maxLiteralNodes, bytes: maxLiteralBytes}).value(e)
}

// Literal is the value an expression shows when constants of the file count: a
// name that is assigned exactly once, outside of any condition, to a literal,
// and that nothing changes.
func (f *File) Literal(e Expr) (any, bool) {
	return (&folder{file: f, nodes: maxLiteralNodes, bytes: maxLiteralBytes}).value(e)
}

// Text is Literal for a text.
func (f *File) Text(e Expr) (string, bool) {
	if e == nil {
		return "", false
	}
	v, _ := f.Literal(e)
	s, ok := v.(string)
	return s, ok
}

// Value follows a name to the one expression assigned to it, through several
// names if need be; any other expression is itself. It follows only names that
// are assigned exactly once, outside of any condition, and that nothing in the
// file changes in place.
func (f *File) Value(e Expr) Expr {
	for range maxCandidates {
		n, ok := e.(*Name)
		if !ok {
			return e
		}
		k := f.Lookup(n).constant()
		if k == nil {
			return e
		}
		e = k.Value
	}
	return e
}

// constant is the binding of a variable that has one value all the time.
func (v *Variable) constant() *Binding {
	k := v.Only()
	if k == nil || k.Kind != Assigned || k.Conditional || len(v.Mutated) > 0 {
		return nil
	}
	return k
}

type folder struct {
	file  *File
	nodes int
	bytes int
	depth int
}

func (d *folder) text(s string) (any, bool) {
	d.bytes -= len(s)
	return s, d.bytes >= 0
}

func (d *folder) value(e Expr) (any, bool) {
	if d.nodes--; d.nodes < 0 || d.depth > maxDepth {
		return nil, false
	}
	d.depth++
	defer func() { d.depth-- }()
	switch e := e.(type) {
	case *Str:
		if e.Bytes || e.Opaque {
			return nil, false
		}
		return d.text(e.Value)
	case *Constant:
		switch e.Text {
		case "None":
			return nil, true
		case "True", "False":
			return e.Text == "True", true
		}
	case *Number:
		return e.json()
	case *Unary:
		v, ok := d.value(e.Operand)
		n, isNumber := v.(json.Number)
		switch {
		case ok && isNumber && e.Op == "-":
			return negative(n), true
		case ok && isNumber && e.Op == "+":
			return n, true
		}
	case *Binary:
		if e.Op == "+" {
			return d.sum(e)
		}
	case *FString:
		return d.format(e)
	case *Sequence:
		list, ok := d.items(e.Items)
		return list, ok
	case *Dict:
		return d.dict(e)
	case *Name:
		if d.file == nil {
			return nil, false
		}
		if k := d.file.Lookup(e).constant(); k != nil {
			return d.value(k.Value)
		}
	}
	return nil, false
}

func negative(n json.Number) json.Number {
	if rest, ok := strings.CutPrefix(string(n), "-"); ok {
		return json.Number(rest)
	}
	if n == "0" {
		return n
	}
	return "-" + n
}

// sum joins texts or lists. It goes down the left side in a loop: a text in
// many lines is one long chain.
func (d *folder) sum(e *Binary) (any, bool) {
	var right []Expr
	var at Expr = e
	for {
		b, ok := at.(*Binary)
		if !ok || b.Op != "+" {
			break
		}
		right = append(right, b.Right)
		at = b.Left
	}
	left, ok := d.value(at)
	if !ok {
		return nil, false
	}
	switch left := left.(type) {
	case string:
		var text strings.Builder
		text.WriteString(left)
		for i := len(right) - 1; i >= 0; i-- {
			v, ok := d.value(right[i])
			s, isText := v.(string)
			if !ok || !isText {
				return nil, false
			}
			text.WriteString(s)
		}
		return d.text(text.String())
	case []any:
		for i := len(right) - 1; i >= 0; i-- {
			v, ok := d.value(right[i])
			more, isList := v.([]any)
			if !ok || !isList {
				return nil, false
			}
			left = append(left, more...)
		}
		return left, true
	}
	return nil, false
}

func (d *folder) format(e *FString) (any, bool) {
	if e.Template {
		return nil, false
	}
	var text strings.Builder
	for _, part := range e.Parts {
		i, ok := part.(*Interpolation)
		if ok {
			if i.Conversion != 0 && i.Conversion != 's' || i.Spec != nil {
				return nil, false
			}
			part = i.Value
		}
		v, known := d.value(part)
		s, isText := v.(string)
		if !known || !isText {
			return nil, false
		}
		text.WriteString(s)
	}
	return d.text(text.String())
}

func (d *folder) items(list []Expr) ([]any, bool) {
	out := make([]any, 0, len(list))
	for _, item := range list {
		if s, ok := item.(*Starred); ok {
			v, known := d.value(s.Value)
			more, isList := v.([]any)
			if !known || !isList {
				return nil, false
			}
			out = append(out, more...)
			continue
		}
		v, ok := d.value(item)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func (d *folder) dict(e *Dict) (any, bool) {
	out := make(map[string]any, len(e.Items))
	for _, item := range e.Items {
		if item.Key == nil {
			v, ok := d.value(item.Value)
			more, isDict := v.(map[string]any)
			if !ok || !isDict {
				return nil, false
			}
			for key, v := range more {
				out[key] = v
			}
			continue
		}
		key, ok := d.value(item.Key)
		name, isText := key.(string)
		v, known := d.value(item.Value)
		if !ok || !isText || !known {
			return nil, false
		}
		out[name] = v
	}
	return out, true
}

// json is the number as JSON writes it. A number that JSON has not, or with
// more digits than anybody means, is no literal.
func (n *Number) json() (any, bool) {
	switch n.Kind {
	case Int:
		if len(n.Text) > maxDigits {
			return nil, false
		}
		i, ok := new(big.Int).SetString(n.Text, 0)
		if !ok {
			i, ok = new(big.Int).SetString(strings.TrimLeft(n.Text, "0")+"0", 10)
			if !ok || i.Sign() != 0 {
				return nil, false
			}
		}
		return json.Number(i.String()), true
	case Float:
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			return nil, false
		}
		b, err := json.Marshal(f)
		return json.Number(b), err == nil
	case Imaginary:
	}
	return nil, false
}
