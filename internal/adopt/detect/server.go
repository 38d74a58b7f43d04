package detect

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/verify/script"
)

// maxScripts is the most TypeScript and JavaScript files, and the most Go files,
// that are parsed.
const maxScripts = 2000

// serverModule says whether a module of a script is the side of MCP that offers
// tools. Clients only call them.
func serverModule(m string) bool {
	return m == "@modelcontextprotocol/sdk" || strings.HasPrefix(m, "@modelcontextprotocol/sdk/server") || m == "@modelcontextprotocol/server" ||
		strings.HasPrefix(m, "@modelcontextprotocol/server/")
}

// own calls each for the files with one of the endings that may use a library, at
// most maxScripts.
func (s *survey) own(is func(name string) bool, search [][]byte, each func(name string, text []byte)) {
	var names []string
	for _, f := range s.files {
		if is(f.name) && !skipped(f.reason) {
			names = append(names, f.name)
		}
	}
	slices.SortFunc(names, byDepth)
	parsed, over := 0, 0
	for _, name := range names {
		text, ok := s.read(name)
		if !ok || !slices.ContainsFunc(search, func(m []byte) bool { return bytes.Contains(text, m) }) {
			continue
		}
		if parsed == maxScripts {
			over++
			continue
		}
		parsed++
		each(name, text)
	}
	if over > 0 {
		s.note("too_many_scripts", ".", 0, counted(over, "source file")+" beyond the first "+strconv.Itoa(maxScripts)+" may use a library and were not looked at")
	}
}

// scripts looks at TypeScript and JavaScript.
func (s *survey) scripts() {
	search := [][]byte{[]byte("@modelcontextprotocol/")}
	for _, f := range foreignNames {
		search = append(search, []byte(f.name))
	}
	s.own(isScript, search, func(name string, text []byte) {
		f, err := script.Parse(name, text)
		if err != nil {
			if reason, _ := leftOut(name); reason == "" {
				s.note("unreadable_file", name, err.Pos.Line, err.Reason)
			}
			return
		}
		server := false
		for _, m := range f.Modules() {
			if serverModule(m) {
				server = true
				s.hit(hit{kind: MCPServer, file: name, line: lineOf(text, m), strength: Strong, role: "import", what: "imports " + m})
			}
			for _, other := range foreignNames {
				if m == other.name || strings.HasPrefix(m, other.name+"/") {
					s.unsupported(other.is, name, lineOf(text, m), "imports "+m)
				}
			}
		}
		if reason, _ := leftOut(name); server && reason == "" {
			s.servers = append(s.servers, name)
		}
	})
}

// lineOf is the line on which a module is named first.
func lineOf(text []byte, module string) int {
	for _, quote := range []string{`"`, `'`} {
		if i := bytes.Index(text, []byte(quote+module+quote)); i >= 0 {
			return 1 + bytes.Count(text[:i], []byte("\n"))
		}
	}
	return 0
}

// The Go libraries of MCP servers, and what a server calls of them.
var (
	goLibraries = []string{"github.com/modelcontextprotocol/go-sdk/", "github.com/mark3labs/mcp-go/"}
	goCalls     = []string{"NewServer", "NewMCPServer", "AddTool", "AddTools", "NewTool", "NewToolWithRawSchema"}
)

// golang looks at Go.
func (s *survey) golang() {
	search := [][]byte{}
	for _, l := range goLibraries {
		search = append(search, []byte(l))
	}
	requires := map[string]bool{} // folders of modules, and whether they require a library
	for _, f := range s.files {
		if path.Base(f.name) == "go.mod" && !skipped(f.reason) {
			text, ok := s.read(f.name)
			requires[path.Dir(f.name)] = !ok || slices.ContainsFunc(goLibraries, func(l string) bool {
				return bytes.Contains(text, []byte(strings.TrimSuffix(l, "/")))
			})
		}
	}
	// A module that does not require a library holds no file that imports it.
	may := func(name string) bool {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			if r, known := requires[dir]; known {
				return r
			}
			if dir == "." || dir == "/" {
				return true // the module begins above the workspace
			}
		}
	}
	s.own(func(name string) bool { return path.Ext(name) == ".go" && may(name) }, search, func(name string, text []byte) {
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			if reason, _ := leftOut(name); reason == "" {
				s.note("unreadable_file", name, 0, "is not Go as we read it")
			}
			return
		}
		s.goFile(name, tree, files)
	})
}

// goFile takes the evidence of one file. A client imports the same library: an
// import counts beside the call that makes a server or a tool.
func (s *survey) goFile(name string, tree *ast.File, files *token.FileSet) {
	locals := map[string]*ast.ImportSpec{}
	for _, i := range tree.Imports {
		at, err := strconv.Unquote(i.Path.Value)
		if err != nil || !slices.ContainsFunc(goLibraries, func(l string) bool { return strings.HasPrefix(at, l) }) {
			continue
		}
		local := path.Base(at)
		if i.Name != nil {
			local = i.Name.Name
		}
		locals[local] = i
	}
	if len(locals) == 0 {
		return
	}
	used := false
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(goCalls, fun.Sel.Name) {
			return true
		}
		if x, ok := fun.X.(*ast.Ident); ok && locals[x.Name] != nil {
			used = true
			s.hit(hit{
				kind: MCPServer, file: name, line: files.Position(call.Pos()).Line, strength: Strong, role: "call",
				what: "calls " + x.Name + "." + fun.Sel.Name,
			})
		}
		return true
	})
	if !used {
		return
	}
	for _, i := range tree.Imports {
		at, err := strconv.Unquote(i.Path.Value)
		if err == nil && slices.ContainsFunc(goLibraries, func(l string) bool { return strings.HasPrefix(at, l) }) {
			s.hit(hit{kind: MCPServer, file: name, line: files.Position(i.Pos()).Line, strength: Strong, role: "import", what: "imports " + at})
		}
	}
	if reason, _ := leftOut(name); reason == "" {
		s.servers = append(s.servers, name)
	}
}
