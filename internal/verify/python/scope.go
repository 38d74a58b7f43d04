package python

// ScopeKind is the sort of a Scope.
type ScopeKind string

// The kinds. A lambda is a FunctionScope.
const (
	ModuleScope        ScopeKind = "module"
	FunctionScope      ScopeKind = "function"
	ClassScope         ScopeKind = "class"
	ComprehensionScope ScopeKind = "comprehension"
)

// Scope holds the variables of a module, function, class or comprehension. Node
// is nil for the module.
type Scope struct {
	Kind   ScopeKind
	Node   Node
	Parent *Scope
	names  map[string]*Variable
	order  []*Variable
	outer  map[string]*Scope // of global and nonlocal names

	annotations map[string]Expr
}

// Annotation is what the scope says of a name without giving it a value, as in
// `limit: int`; nil when it says nothing.
func (s *Scope) Annotation(name string) Expr { return s.annotations[name] }

// Variables are those of the scope in the order in which they are first bound.
func (s *Scope) Variables() []*Variable { return s.order }

// BindingKind is how a name gets a value.
type BindingKind string

// The kinds. Changed is an augmented assignment or del; Bound is everything
// whose value reading does not show: loop variables, unpacking, with, except,
// patterns.
const (
	Imported  BindingKind = "import"
	Defined   BindingKind = "function"
	Declared  BindingKind = "class"
	Assigned  BindingKind = "value"
	Parameter BindingKind = "parameter"
	Changed   BindingKind = "changed"
	Bound     BindingKind = "bound"
)

// Binding is one place where a name gets a value.
type Binding struct {
	Kind        BindingKind
	At          Range
	Import      string    // Imported: the qualified name, with leading dots when relative
	Function    *Function // Defined
	Class       *Class    // Declared
	Value       Expr      // Assigned; Changed by += and the like
	Annotation  Expr      // Assigned or Parameter, nil without one
	Conditional bool      // inside of if, a loop, try or match
}

// Variable is one name in one scope, with everything that is done to it.
type Variable struct {
	Name     string
	Scope    *Scope
	Bindings []Binding
	Mutated  []Node  // what may change the object in place: x.append(…), x[i] = …
	Passed   []*Call // calls that take it as an argument
	Aliases  []Expr  // other places the object was assigned to

	known   []string
	resolve uint8 // 0 not asked yet, 1 being asked, 2 known
}

// Only is the one binding of the variable, nil when there are several or none.
func (v *Variable) Only() *Binding {
	if v == nil || len(v.Bindings) != 1 {
		return nil
	}
	return &v.Bindings[0]
}

func newScope(kind ScopeKind, node Node, parent *Scope) *Scope {
	return &Scope{Kind: kind, Node: node, Parent: parent, names: map[string]*Variable{}}
}

func (s *Scope) variable(name string) *Variable {
	v := s.names[name]
	if v == nil {
		v = &Variable{Name: name, Scope: s}
		s.names[name] = v
		s.order = append(s.order, v)
	}
	return v
}

// Lookup finds the variable that a name means when it is used in the scope, nil
// for a builtin, a star import's or an unknown name. Classes are skipped on the
// way out, as Python does.
func (s *Scope) Lookup(name string) *Variable {
	for at := s; at != nil; at = at.Parent {
		if at.Kind == ClassScope && at != s {
			continue
		}
		if outer := at.outer[name]; outer != nil {
			return outer.names[name]
		}
		if v := at.names[name]; v != nil {
			return v
		}
	}
	return nil
}

// Lookup finds the variable that a name of the file means.
func (f *File) Lookup(n *Name) *Variable {
	if n == nil || n.scope == nil {
		return nil
	}
	return n.scope.Lookup(n.ID)
}

// ScopeOf is the scope in which the body of a function or class binds its
// names; nil for another node.
func (f *File) ScopeOf(n Node) *Scope { return f.scopes[n] }
