package mcpserver

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// The two Go libraries whose registrations are read.
const (
	officialGo = "github.com/modelcontextprotocol/go-sdk/mcp"
	communityG = "github.com/mark3labs/mcp-go/"
)

// golang reads the Go files among names, package by package: constants, types
// and handlers of a registration may stand in any file of its package.
func (r *reader) golang(names []string) *tool.SourceError {
	g := &golang{reader: r, files: token.NewFileSet(), packages: map[string]*goPackage{}, modules: map[string]string{}}
	var dirs []string
	for _, name := range names {
		if path.Ext(name) != ".go" {
			continue
		}
		if dir := path.Dir(name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := g.load(dir, names); err != nil {
			return err
		}
	}
	for _, dir := range g.dirs {
		p := g.packages[dir]
		for _, f := range p.files {
			g.registrations(p, f)
		}
	}
	g.handed()
	return nil
}

type golang struct {
	*reader
	files    *token.FileSet
	packages map[string]*goPackage // by directory
	dirs     []string              // of packages, in order
	modules  map[string]string     // path of the module of a go.mod, by directory
	depth    int                   // of the current trace
	steps    int                   // of the current trace
	parts    int                   // of the current string
	nodes    int                   // of the current schema literal
}

// goPackage is what the files of one directory declare.
type goPackage struct {
	dir    string
	files  []*goFile
	values map[string]goValue // package-level constants and variables
	funcs  map[string]goFunc
	types  map[string]goType

	kinds   map[string]goValue // package-level variables with a declared type
	methods map[string]goFunc  // by type.name

	assigned map[*ast.FuncDecl]map[string][]ast.Expr
}

type goFile struct {
	name    string
	tree    *ast.File
	imports map[string]string // local name to path
}

type goValue struct {
	file *goFile
	expr ast.Expr
	kind ast.Expr // declared type
}

type goFunc struct {
	file *goFile
	decl *ast.FuncDecl
}

type goType struct {
	file *goFile
	spec *ast.TypeSpec
}

// load parses a directory if one of its files names a library we know.
func (g *golang) load(dir string, names []string) *tool.SourceError {
	var mine []string
	for _, name := range names {
		if path.Dir(name) == dir && path.Ext(name) == ".go" {
			mine = append(mine, name)
		}
	}
	if len(names) == 1 { // one file was named: its package goes with it
		entries, err := fs.ReadDir(g.tree, dir)
		if err != nil {
			return &tool.SourceError{Path: dir, Problem: tool.Unreadable, Detail: "could not be read", Err: err}
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.Type().IsRegular() && path.Ext(name) == ".go" && !isTest(e.Name()) && name != names[0] {
				mine = append(mine, name)
			}
		}
	}
	known := false
	for _, name := range mine {
		text, err := g.read(name)
		if err != nil {
			return err
		}
		known = known || bytes.Contains(text, []byte(officialGo)) || bytes.Contains(text, []byte(communityG))
	}
	if !known {
		return nil
	}
	p := &goPackage{dir: dir, values: map[string]goValue{}, funcs: map[string]goFunc{}, types: map[string]goType{}, assigned: map[*ast.FuncDecl]map[string][]ast.Expr{}, kinds: map[string]goValue{}, methods: map[string]goFunc{}}
	for _, name := range mine {
		if err := g.parse(p, name); err != nil {
			return err
		}
	}
	g.packages[dir] = p
	g.dirs = append(g.dirs, dir)
	return nil
}

func (g *golang) parse(p *goPackage, name string) *tool.SourceError {
	tree, err := parser.ParseFile(g.files, name, g.text[name], 0)
	if err != nil {
		line := 0
		if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
			line = list[0].Pos.Line
		}
		return &tool.SourceError{Path: name, Line: line, Problem: tool.Malformed, Detail: "is not valid Go", Err: err}
	}
	f := &goFile{name: name, tree: tree, imports: map[string]string{}}
	for _, spec := range tree.Imports {
		from, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		local := path.Base(from)
		if strings.HasPrefix(local, "v") && strings.Trim(local[1:], "0123456789") == "" && len(local) > 1 {
			local = path.Base(path.Dir(from))
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		f.imports[local] = from
	}
	p.files = append(p.files, f)
	for _, decl := range tree.Decls {
		p.declare(f, decl)
	}
	return nil
}

func (p *goPackage) declare(f *goFile, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || p.funcs[d.Name.Name].decl == nil {
			p.funcs[d.Name.Name] = goFunc{f, d}
		}
		if d.Recv != nil && len(d.Recv.List) == 1 {
			p.methods[callee(bare(d.Recv.List[0].Type))+"."+d.Name.Name] = goFunc{f, d}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				p.types[s.Name.Name] = goType{f, s}
			case *ast.ValueSpec:
				for i, name := range s.Names {
					if s.Type != nil {
						p.kinds[name.Name] = goValue{file: f, kind: s.Type}
					}
					if len(s.Values) == len(s.Names) {
						p.values[name.Name] = goValue{f, s.Values[i], s.Type}
					}
				}
			}
		}
	}
}

// scope is where an expression is looked at from: its package and file, and the
// nodes around it, outermost first.
type scope struct {
	p     *goPackage
	f     *goFile
	stack []ast.Node
}

// imported is the path and the name of a qualified identifier of another
// package.
func (s scope) imported(e ast.Expr) (from, name string) {
	switch x := e.(type) {
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok && object(id) == nil { // else a variable hides the package
			return s.f.imports[id.Name], x.Sel.Name
		}
	case *ast.Ident: // of a package that is imported with a dot
		if from, ok := s.f.imports["."]; ok {
			return from, x.Name
		}
	case *ast.IndexExpr:
		return s.imported(x.X)
	case *ast.IndexListExpr:
		return s.imported(x.X)
	case *ast.StarExpr:
		return s.imported(x.X)
	case *ast.ParenExpr:
		return s.imported(x.X)
	}
	return "", ""
}

func isLibrary(from string) bool { return from == officialGo || strings.HasPrefix(from, communityG) }

// registrations walks over a file and reads every literal tool and every call
// that registers one.
func (g *golang) registrations(p *goPackage, f *goFile) {
	var stack []ast.Node
	known := false
	for _, from := range f.imports {
		known = known || isLibrary(from)
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		s := scope{p: p, f: f, stack: stack}
		switch x := n.(type) {
		case *ast.CallExpr:
			g.call(s, x, known)
		case *ast.CompositeLit:
			g.composite(s, x)
		}
		stack = append(stack, n)
		return true
	})
}

// call reads mcp.NewTool(…), and sees to it that what AddTool registers is a
// literal that is read somewhere.
func (g *golang) call(s scope, call *ast.CallExpr, known bool) {
	from, name := s.imported(call.Fun)
	switch {
	case strings.HasPrefix(from, communityG) && name == "NewTool":
		g.newTool(s, call)
		return
	case strings.HasPrefix(from, communityG) && name == "NewToolWithRawSchema":
		g.rawTool(s, call)
		return
	case from == officialGo && name == "AddTool" && len(call.Args) >= 3:
		g.traced(s, call, call.Args[1])
		return
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !known || from != "" {
		return
	}
	switch sel.Sel.Name {
	case "AddTool", "AddSessionTool":
		args := call.Args
		if sel.Sel.Name == "AddSessionTool" && len(args) > 1 {
			args = args[1:]
		}
		if len(args) > 0 {
			g.traced(s, call, args[0])
		}
	case "AddTools", "SetTools":
		for _, arg := range call.Args {
			g.traced(s, call, arg)
		}
	}
}

// traced says so when the tool that a call registers is no literal that is
// read.
func (g *golang) traced(s scope, call *ast.CallExpr, arg ast.Expr) {
	g.steps = 0
	if reason := g.trace(s, arg); reason != "" {
		g.dynamic("tool_list", reason, "", g.place(s.f, call.Pos()))
	}
}

func (g *golang) place(f *goFile, pos token.Pos) tool.Origin {
	at := g.files.Position(pos)
	return g.origin(f.name, at.Line, at.Column)
}

// Bounds of one trace: how far names and functions are followed, and how many
// elements of lists are looked at.
const (
	maxTrace = 40
	maxSteps = 20_000
)

// trace follows an expression to the literal tool that it stands for: "" when
// there is one, else the reason why not.
func (g *golang) trace(s scope, e ast.Expr) string {
	g.depth++
	defer func() { g.depth-- }()
	if g.steps++; g.depth > maxTrace || g.steps > maxSteps {
		return "too_deep"
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return g.trace(s, x.X)
	case *ast.UnaryExpr:
		return g.trace(s, x.X)
	case *ast.StarExpr:
		return g.trace(s, x.X)
	case *ast.CompositeLit:
		return g.traceLiteral(s, x)
	case *ast.CallExpr:
		return g.traceCall(s, x)
	case *ast.SelectorExpr:
		if from, name := s.imported(x); from != "" {
			return g.traceOther(from, name)
		}
		return g.trace(s, x.X)
	case *ast.IndexExpr:
		return g.trace(s, x.X)
	case *ast.Ident:
		return g.traceName(s, x)
	}
	return "unsupported_expression"
}

func (g *golang) traceLiteral(s scope, x *ast.CompositeLit) string {
	if from, name := s.imported(x.Type); isLibrary(from) && name == "Tool" {
		return ""
	}
	if len(x.Elts) == 0 {
		return ""
	}
	// A list of tools, or a pair of tool and handler: each element, or the
	// field Tool of one.
	for _, element := range x.Elts {
		value := element
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && !isListType(x.Type) && id.Name != "Tool" {
				continue
			}
			value = kv.Value
		}
		if lit, ok := value.(*ast.CompositeLit); ok && lit.Type == nil {
			if g.elided(s, x) {
				continue
			}
		}
		if _, ok := value.(*ast.FuncLit); ok {
			continue
		}
		if reason := g.trace(s, value); reason != "" {
			return reason
		}
		if !isListType(x.Type) {
			return "" // the first field of an unkeyed pair
		}
	}
	return ""
}

// elided says whether an element without a type of its own is a tool.
func (g *golang) elided(s scope, list *ast.CompositeLit) bool {
	from, name := s.imported(elementType(list.Type))
	return isLibrary(from) && name == "Tool"
}

func isListType(e ast.Expr) bool {
	switch e.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true
	}
	return false
}

func elementType(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.ArrayType:
		return x.Elt
	case *ast.MapType:
		return x.Value
	}
	return nil
}

func (g *golang) traceCall(s scope, x *ast.CallExpr) string {
	from, name := s.imported(x.Fun)
	if strings.HasPrefix(from, communityG) && (name == "NewTool" || name == "NewToolWithRawSchema") {
		return ""
	}
	if from != "" {
		return g.traceOther(from, name)
	}
	id := callee(x.Fun)
	if id == "append" {
		for _, arg := range x.Args {
			if reason := g.trace(s, arg); reason != "" {
				return reason
			}
		}
		return ""
	}
	if fn := s.p.funcs[id]; fn.decl != nil && fn.decl.Body != nil {
		return g.traceBody(s.p, fn)
	}
	return "runtime_call"
}

func callee(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// traceBody says whether a function gives back tools that stand in its body.
func (g *golang) traceBody(p *goPackage, fn goFunc) string {
	found := false
	s := scope{p: p, f: fn.file}
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			from, name := s.imported(x.Fun)
			found = found || strings.HasPrefix(from, communityG) && strings.HasPrefix(name, "NewTool")
		case *ast.CompositeLit:
			from, name := s.imported(x.Type)
			found = found || isLibrary(from) && name == "Tool"
		}
		return !found
	})
	if found {
		return ""
	}
	return "runtime_call"
}

// traceOther looks for a function or a value in another package of the source.
func (g *golang) traceOther(from, name string) string {
	for _, dir := range g.dirs {
		p := g.packages[dir]
		if !g.imports(from, dir) {
			continue
		}
		if fn := p.funcs[name]; fn.decl != nil && fn.decl.Body != nil {
			return g.traceBody(p, fn)
		}
		if v, ok := p.values[name]; ok {
			return g.trace(scope{p: p, f: v.file}, v.expr)
		}
	}
	return "imported"
}
