// Package script reads TypeScript and JavaScript source without running it:
// imports, bindings with their scopes, calls, and the literals given to them.
//
// It is no compiler. It reads the tokens of a file, matches brackets, and reads
// expressions where somebody asks; types, decorators and the bodies of
// functions are stepped over. What it does not understand is an expression of
// kind Unknown at its place, never an absent one (docs/decisions/0072).
package script

import "fmt"

// Position is a place in a file, one-based; a column counts characters.
type Position struct{ Line, Column int }

// Error says why a file cannot be read, and where. It repeats nothing of it.
type Error struct {
	Pos    Position
	Reason string
	Large  bool // the file has more tokens than are read
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at line %d, column %d", e.Reason, e.Pos.Line, e.Pos.Column)
}

// Kind is the sort of an expression.
type Kind string

// The kinds of expressions.
const (
	String    Kind = "string"   // Text, unescaped
	Number    Kind = "number"   // Text as written, with a sign
	Bool      Kind = "bool"     // Text is true or false
	Null      Kind = "null"     //
	Name      Kind = "name"     // Text
	This      Kind = "this"     //
	Member    Kind = "member"   // X.Text
	Index     Kind = "index"    // X[Y]
	Call      Kind = "call"     // X(Args); New
	Object    Kind = "object"   // Props
	Array     Kind = "array"    // Args; a hole is Unknown
	Spread    Kind = "spread"   // ...X
	Function  Kind = "function" // Fn
	Concat    Kind = "concat"   // Args joined by +, or a template
	Either    Kind = "either"   // Args joined by ?? or ||
	Condition Kind = "condition"
	Unknown   Kind = "unknown" // Args are the parts that were seen
)

// Expr is one expression. At is the index of its first token, which is what
// names in it are looked up from.
type Expr struct {
	Kind  Kind
	Text  string
	X, Y  *Expr
	Args  []*Expr
	Props []Prop
	Fn    *Func
	New   bool
	At    int
	Pos   Position
}

// Prop is one property of an object. Key is "" for a computed one, whose key is
// KeyExpr, and for a spread, whose Value is of kind Spread.
type Prop struct {
	Key     string
	KeyExpr *Expr
	Value   *Expr
	Pos     Position
}

// Get is the value of the last property named key, nil without one.
func (e *Expr) Get(key string) *Expr {
	if e == nil || e.Kind != Object {
		return nil
	}
	for i := len(e.Props) - 1; i >= 0; i-- {
		if e.Props[i].Key == key && e.Props[i].KeyExpr == nil && e.Props[i].Value.Kind != Spread {
			return e.Props[i].Value
		}
	}
	return nil
}

// Func is a function. Body and End are the tokens of its braces; Body is -1 for
// an arrow function whose body is the expression Result.
type Func struct {
	Params    []Param
	Body, End int
	Result    *Expr
}

// Param is one parameter. Name is "" for a pattern. Type is the first name of
// its annotation, "mcp.McpServer" for a qualified one.
type Param struct {
	Name, Type string
	At         int
	Field      bool // declared as a field by a modifier
}

// Import is one imported name: Name of module From, "default" or "*".
type Import struct{ From, Name string }

// How says how a binding came to be.
type How string

// The ways.
const (
	ByConst    How = "const"
	ByLet      How = "let"  // let and var
	ByEnum     How = "enum" // Init is an object of the members
	ByFunction How = "function"
	ByClass    How = "class"
	ByParam    How = "param"
	ByImport   How = "import"
	ByEach     How = "each" // the variable of a for-of loop; Init is what it goes over
)

// Binding is a name in a scope. Path leads from Init to the value when a pattern
// took it apart: keys, decimal indexes.
type Binding struct {
	Name     string
	How      How
	Init     *Expr
	Path     []string
	Type     string
	Import   Import
	Fn       *Func
	Changed  bool // assigned or changed in place after it was made
	from, to int  // tokens of its scope
	at       int
	later    []int // tokens of the values that are assigned to it
}
