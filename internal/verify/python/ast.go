package python

// Node is anything in the tree.
type Node interface{ At() Range }

// Expr is an expression: one of the pointer types below that say so.
type Expr interface {
	Node
	expr()
}

// Name is an identifier in its normal form (NFKC), as Python compares them.
type Name struct {
	Range
	ID    string
	scope *Scope
}

// Str is a string or bytes literal, neighbours joined. Opaque says that it holds
// a character given by its Unicode name, which is U+FFFD in Value.
type Str struct {
	Range
	Value  string
	Bytes  bool
	Opaque bool
	holes  []int // byte offsets in Value of such characters
}

// FString is a formatted string: Str and Interpolation parts, neighbours joined.
// Template says that it is a t-string.
type FString struct {
	Range
	Parts    []Expr
	Template bool
}

// Interpolation is one {…} of an FString. Conversion is 's', 'r', 'a' or 0; Spec
// is nil without a format. Text of {x=} stands in the Str before it.
type Interpolation struct {
	Range
	Value      Expr
	Conversion byte
	Spec       *FString
}

// NumberKind is the sort of a Number.
type NumberKind string

// The kinds.
const (
	Int       NumberKind = "int"
	Float     NumberKind = "float"
	Imaginary NumberKind = "imaginary"
)

// Number is a number as written, without underscores, in lower case.
type Number struct {
	Range
	Kind NumberKind
	Text string
}

// Constant is None, True, False or "...".
type Constant struct {
	Range
	Text string
}

// Attribute is Value.Name.
type Attribute struct {
	Range
	Value Expr
	Name  string
}

// Subscript is Value[Index].
type Subscript struct {
	Range
	Value, Index Expr
}

// Call is Func(Args…).
type Call struct {
	Range
	Func Expr
	Args []Arg
}

// Arg is an argument of a call or a class. Stars is 0, 1 for *value and 2 for
// **value; Name is "" for a positional one.
type Arg struct {
	Range
	Stars int
	Name  string
	Value Expr
}

// Starred is *Value.
type Starred struct {
	Range
	Value Expr
}

// Unary is Op Operand; Op is one of not, -, +, ~.
type Unary struct {
	Range
	Op      string
	Operand Expr
}

// Binary is Left Op Right for arithmetic and bit operators.
type Binary struct {
	Range
	Op          string
	Left, Right Expr
}

// Logical is and/or over two or more values.
type Logical struct {
	Range
	Op     string
	Values []Expr
}

// Compare is Left Ops[0] Values[0] Ops[1] …; "not in" and "is not" are one
// operator.
type Compare struct {
	Range
	Left   Expr
	Ops    []string
	Values []Expr
}

// Lambda is lambda Params: Body.
type Lambda struct {
	Range
	Params Params
	Body   Expr
}

// Conditional is Then if Test else Else.
type Conditional struct {
	Range
	Test, Then, Else Expr
}

// Sequence is a list, tuple or set display.
type Sequence struct {
	Range
	Kind  SequenceKind
	Items []Expr
}

// SequenceKind is the sort of a Sequence or of a Comprehension.
type SequenceKind string

// The kinds; the last two are of comprehensions alone.
const (
	List      SequenceKind = "list"
	Tuple     SequenceKind = "tuple"
	Set       SequenceKind = "set"
	DictComp  SequenceKind = "dict"
	Generator SequenceKind = "generator"
)

// Dict is a dict display.
type Dict struct {
	Range
	Items []DictItem
}

// DictItem is Key: Value, or **Value with a nil Key.
type DictItem struct{ Key, Value Expr }

// Comprehension is Item for … in …; a dict's has a Value too.
type Comprehension struct {
	Range
	Kind    SequenceKind
	Item    Expr
	Value   Expr
	Clauses []CompClause
}

// CompClause is one for … in … if … of a comprehension.
type CompClause struct {
	Async        bool
	Target, Iter Expr
	Ifs          []Expr
}

// Await is await Value.
type Await struct {
	Range
	Value Expr
}

// Yield is yield Value or yield from Value; Value may be nil without From.
type Yield struct {
	Range
	From  bool
	Value Expr
}

// Walrus is Target := Value.
type Walrus struct {
	Range
	Target *Name
	Value  Expr
}

// Slice is Lower:Upper:Step; each may be nil.
type Slice struct {
	Range
	Lower, Upper, Step Expr
}

func (*Name) expr()          {}
func (*Str) expr()           {}
func (*FString) expr()       {}
func (*Interpolation) expr() {}
func (*Number) expr()        {}
func (*Constant) expr()      {}
func (*Attribute) expr()     {}
func (*Subscript) expr()     {}
func (*Call) expr()          {}
func (*Starred) expr()       {}
func (*Unary) expr()         {}
func (*Binary) expr()        {}
func (*Logical) expr()       {}
func (*Compare) expr()       {}
func (*Lambda) expr()        {}
func (*Conditional) expr()   {}
func (*Sequence) expr()      {}
func (*Dict) expr()          {}
func (*Comprehension) expr() {}
func (*Await) expr()         {}
func (*Yield) expr()         {}
func (*Walrus) expr()        {}
func (*Slice) expr()         {}

// Params are the parameters of a function in the order written.
type Params struct {
	List []Param
}

// ParamKind is how a parameter takes its argument.
type ParamKind string

// The kinds.
const (
	PositionalOnly ParamKind = "positional_only"
	Regular        ParamKind = "regular"
	VarArgs        ParamKind = "*"
	KeywordOnly    ParamKind = "keyword_only"
	VarKeywords    ParamKind = "**"
)

// Param is one parameter. Annotation and Default may be nil.
type Param struct {
	Range
	Kind                ParamKind
	Name                string
	Annotation, Default Expr
}

// Arg is the value of the keyword argument name, nil when there is none.
func (c *Call) Arg(name string) Expr {
	for _, a := range c.Args {
		if a.Stars == 0 && a.Name == name && name != "" {
			return a.Value
		}
	}
	return nil
}

// Positional is the i-th positional argument, nil when there is none or when a
// *value before it makes its place unknown.
func (c *Call) Positional(i int) Expr {
	for _, a := range c.Args {
		switch {
		case a.Stars == 1:
			return nil
		case a.Stars == 2 || a.Name != "":
			continue
		case i == 0:
			return a.Value
		}
		i--
	}
	return nil
}

// Spread says whether the call has a *value or **value: arguments that reading
// does not show.
func (c *Call) Spread() bool {
	for _, a := range c.Args {
		if a.Stars > 0 {
			return true
		}
	}
	return false
}
