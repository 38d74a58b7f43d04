package python

// Stmt is a statement: one of the pointer types below that say so.
type Stmt interface {
	Node
	stmt()
}

// Function is def or async def. Its range starts at the keyword, after the
// decorators.
type Function struct {
	Range
	Name       string
	Async      bool
	Decorators []Expr
	TypeParams []TypeParam
	Params     Params
	Returns    Expr
	Body       []Stmt
}

// Class is a class statement; its range starts at the keyword.
type Class struct {
	Range
	Name       string
	Decorators []Expr
	TypeParams []TypeParam
	Args       []Arg // bases and keywords
	Body       []Stmt
}

// TypeParam is T, *Ts or **P in brackets after a name.
type TypeParam struct {
	Range
	Stars          int
	Name           string
	Bound, Default Expr
}

// Return is return Value.
type Return struct {
	Range
	Value Expr
}

// Delete is del Targets.
type Delete struct {
	Range
	Targets []Expr
}

// Assign is Targets[0] = Targets[1] = … = Value.
type Assign struct {
	Range
	Targets []Expr
	Value   Expr
}

// AugAssign is Target Op= Value; Op is without the equals sign.
type AugAssign struct {
	Range
	Target Expr
	Op     string
	Value  Expr
}

// AnnAssign is Target: Annotation = Value; Value may be nil.
type AnnAssign struct {
	Range
	Target, Annotation, Value Expr
}

// TypeAlias is type Name[TypeParams] = Value.
type TypeAlias struct {
	Range
	Name       *Name
	TypeParams []TypeParam
	Value      Expr
}

// For is for Target in Iter.
type For struct {
	Range
	Async        bool
	Target, Iter Expr
	Body, Else   []Stmt
}

// While is while Test.
type While struct {
	Range
	Test       Expr
	Body, Else []Stmt
}

// If is if with its elif branches, flat.
type If struct {
	Range
	Branches []Branch
	Else     []Stmt
}

// Branch is one test of an If; its range starts at if or elif.
type Branch struct {
	Range
	Test Expr
	Body []Stmt
}

// With is with Items.
type With struct {
	Range
	Async bool
	Items []WithItem
	Body  []Stmt
}

// WithItem is Context as Target; Target may be nil.
type WithItem struct{ Context, Target Expr }

// Raise is raise Value from Cause.
type Raise struct {
	Range
	Value, Cause Expr
}

// Try is try with its handlers; Star says except*.
type Try struct {
	Range
	Star                bool
	Body, Else, Finally []Stmt
	Handlers            []Handler
}

// Handler is except Type as Name.
type Handler struct {
	Range
	Type Expr
	Name string
	Body []Stmt
}

// Assert is assert Test, Message.
type Assert struct {
	Range
	Test, Message Expr
}

// Import is import Names; From says from Module import Names, Level the leading
// dots.
type Import struct {
	Range
	From   bool
	Module string
	Level  int
	Names  []Alias
}

// Alias is Name as As; Name is "*" in a star import.
type Alias struct {
	Range
	Name, As string
}

// Declare is global or nonlocal Names.
type Declare struct {
	Range
	Keyword string
	Names   []string
}

// Evaluate is an expression on a line of its own.
type Evaluate struct {
	Range
	Value Expr
}

// Simple is pass, break or continue.
type Simple struct {
	Range
	Keyword string
}

// Match is match Subject.
type Match struct {
	Range
	Subject Expr
	Cases   []Case
}

// Case is case Pattern if Guard.
type Case struct {
	Pattern *Pattern
	Guard   Expr
	Body    []Stmt
}

// PatternKind is the sort of a Pattern.
type PatternKind string

// The kinds.
const (
	MatchValue     PatternKind = "value"     // Value
	MatchSingleton PatternKind = "singleton" // Value is None, True or False
	MatchSequence  PatternKind = "sequence"  // Items
	MatchMapping   PatternKind = "mapping"   // Keys and Items; Name is **rest
	MatchClass     PatternKind = "class"     // Value(Items…): the last len(Keywords) are keyword patterns
	MatchStar      PatternKind = "star"      // Name, "" for _
	MatchAs        PatternKind = "as"        // Items[0] as Name; both may be absent
	MatchOr        PatternKind = "or"        // Items
)

// Pattern is a pattern of a case.
type Pattern struct {
	Range
	Kind     PatternKind
	Value    Expr
	Name     string
	Keys     []Expr
	Keywords []string
	Items    []*Pattern
}

func (*Function) stmt()  {}
func (*Class) stmt()     {}
func (*Return) stmt()    {}
func (*Delete) stmt()    {}
func (*Assign) stmt()    {}
func (*AugAssign) stmt() {}
func (*AnnAssign) stmt() {}
func (*TypeAlias) stmt() {}
func (*For) stmt()       {}
func (*While) stmt()     {}
func (*If) stmt()        {}
func (*With) stmt()      {}
func (*Raise) stmt()     {}
func (*Try) stmt()       {}
func (*Assert) stmt()    {}
func (*Import) stmt()    {}
func (*Declare) stmt()   {}
func (*Evaluate) stmt()  {}
func (*Simple) stmt()    {}
func (*Match) stmt()     {}
