package mcpserver

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/script"
	"plimsoll.dev/internal/verify/tool"
)

// scripts reads the TypeScript and JavaScript files among names.
func (r *reader) scripts(names []string, single bool) *tool.SourceError {
	s := &scripts{reader: r, files: map[string]*script.File{}, prog: &script.Program{}}
	s.prog.Load = s.load
	var roots []string
	for _, name := range names {
		if !isScript(name) {
			continue
		}
		text, err := r.read(name)
		if err != nil {
			return err
		}
		if single || registers(text) {
			roots = append(roots, name)
		}
	}
	done := map[string]bool{}
	var files []*script.File
	for len(roots) > 0 {
		name := roots[0]
		roots = roots[1:]
		if done[name] {
			continue
		}
		done[name] = true
		f := s.file(name)
		if s.err != nil {
			return s.err
		}
		if single {
			for _, module := range f.Modules() {
				if next := s.find(f, module); next != "" {
					roots = append(roots, next)
				}
			}
		}
		files = append(files, f)
	}
	s.hand = newHanding(s)
	files = s.hand.follow(files)
	for _, f := range files {
		if s.err != nil {
			return s.err
		}
		s.registrations(f)
	}
	s.hand.tell()
	return s.err
}

// registers says whether a file may register tools at all.
func registers(text []byte) bool {
	for _, mark := range []string{"modelcontextprotocol", "registerTool", "ListToolsRequestSchema", "tools/list"} {
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
	}
	return bytes.Contains(text, []byte(".tool(")) && (bytes.Contains(text, []byte("McpServer")) || bytes.Contains(bytes.ToLower(text), []byte("server.tool(")))
}

type scripts struct {
	*reader
	files map[string]*script.File // nil for one that cannot be read
	prog  *script.Program
	hand  *handing
	nodes int // of the schema that is being read
	err   *tool.SourceError
}

// file parses one file, once. The first failure is kept.
func (s *scripts) file(name string) *script.File {
	if f, ok := s.files[name]; ok {
		return f
	}
	s.files[name] = nil
	text, err := s.read(name)
	if err != nil {
		s.keep(err)
		return nil
	}
	f, failure := script.Parse(name, text)
	if failure != nil {
		problem := tool.Malformed
		if failure.Large {
			problem = tool.TooLarge
		}
		s.keep(&tool.SourceError{Path: name, Line: failure.Pos.Line, Problem: problem, Detail: failure.Reason, Err: failure})
		return nil
	}
	s.files[name] = f
	return f
}

func (s *scripts) keep(err *tool.SourceError) {
	if s.err == nil {
		s.err = err
	}
}

// load is the file of the source that an import leads to.
func (s *scripts) load(from *script.File, module string) *script.File {
	if name := s.find(from, module); name != "" {
		return s.file(name)
	}
	return nil
}

// find is the file that a relative module names: TypeScript imports its
// siblings under the name that they will have when built.
func (s *scripts) find(from *script.File, module string) string {
	if !strings.HasPrefix(module, "./") && !strings.HasPrefix(module, "../") && module != "." && module != ".." {
		return ""
	}
	base := path.Join(path.Dir(from.Path), module)
	if s.root != "." && base != s.root && !strings.HasPrefix(base, s.root+"/") || strings.HasPrefix(base, "..") {
		return ""
	}
	candidates := []string{base}
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch path.Ext(base) {
	case ".js":
		candidates = append(candidates, stem+".ts", stem+".tsx")
	case ".mjs":
		candidates = append(candidates, stem+".mts")
	case ".cjs":
		candidates = append(candidates, stem+".cts")
	case ".jsx":
		candidates = append(candidates, stem+".tsx")
	}
	for _, ext := range scriptSuffixes {
		candidates = append(candidates, base+ext)
	}
	for _, ext := range scriptSuffixes {
		candidates = append(candidates, base+"/index"+ext)
	}
	for _, name := range candidates {
		if isScript(name) && s.exists(name) {
			return name
		}
	}
	return ""
}

func (s *scripts) exists(name string) bool {
	if _, ok := s.files[name]; ok {
		return true
	}
	if _, ok := s.text[name]; ok {
		return true
	}
	f, err := s.tree.Open(name)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && f.Close() == nil && info.Mode().IsRegular()
}

// registrations reads every call of a file that registers tools.
func (s *scripts) registrations(f *script.File) {
	calls, failure := f.Calls("registerTool", "registerToolTask", "tool", "setRequestHandler")
	if failure != nil {
		s.keep(&tool.SourceError{Path: f.Path, Problem: tool.TooLarge, Detail: failure.Reason, Err: failure})
	}
	s.indirect(f)
	for _, call := range calls {
		s.prog.Reset()
		n := script.Node{File: f, Expr: call}
		switch call.X.Text {
		case "registerTool", "registerToolTask":
			if r := s.receiver(n); r == yes || r == maybe && len(call.Args) >= 2 {
				s.each(n, s.registerTool)
			}
		case "tool":
			if s.receiver(n) == yes || s.receiver(n) == maybe && serverName(call.X.X) {
				s.each(n, s.tool)
			}
		default:
			s.handler(n)
		}
	}
}

// indirect says so when a registering method is handed on instead of called:
// server.registerTool.bind(server).
func (s *scripts) indirect(f *script.File) {
	calls, failure := f.Calls("bind", "call", "apply")
	if failure != nil {
		return // it is told already
	}
	for _, call := range calls {
		if method := call.X.X; method.Kind == script.Member && slices.Contains([]string{"registerTool", "registerToolTask"}, method.Text) {
			s.dynamic("binding", "indirect_call", "", s.place(script.Node{File: f, Expr: call}))
		}
	}
}

// each reads a registration once, or once for each element of the literal list
// that the loop around it goes over.
func (s *scripts) each(n script.Node, read func(script.Node)) {
	if len(n.Expr.Args) == 0 {
		read(n)
		return
	}
	if _, ok := s.prog.Text(n.At(n.Expr.Args[0])); ok {
		read(n)
		return
	}
	loops := n.File.Loops(n.Expr.At)
	if len(loops) == 0 {
		read(n)
		return
	}
	b := loops[0]
	items, complete := s.prog.Items(script.Node{File: n.File, Expr: b.Init})
	for _, item := range items {
		read(n.With(b, item))
	}
	if !complete || len(items) == 0 {
		s.dynamic("tool_list", s.why(n.At(b.Init), "loop"), "", s.place(n))
	}
}

// why is the reason that a node is not known.
func (s *scripts) why(n script.Node, otherwise string) string {
	switch n = s.prog.Reduce(n); {
	case n.Kind() == script.Unknown && n.Reason != "":
		return n.Reason
	case n.Kind() == script.Call:
		return "runtime_call"
	}
	return otherwise
}

func (s *scripts) place(n script.Node) tool.Origin {
	return s.origin(n.File.Path, n.Expr.Pos.Line, n.Expr.Pos.Column)
}

// certainty is whether a receiver is a server.
type certainty int

const (
	no certainty = iota
	maybe
	yes
)

// serverTypes are the types of the SDK that tools are registered with.
var serverTypes = []string{"McpServer", "Server"}

const sdk = "@modelcontextprotocol/"

// receiver says whether the receiver of a method call is an MCP server.
func (s *scripts) receiver(n script.Node) certainty {
	x := n.Expr.X.X
	if s.hand.isServer(n.At(x), 0) {
		return yes
	}
	switch x.Kind {
	case script.Name:
		b := n.File.Lookup(x.Text, n.Expr.At)
		if b == nil {
			return maybe
		}
		if b.Type != "" {
			return s.typed(n, b.Type)
		}
		return s.value(n.At(x))
	case script.This:
		if parent := n.File.Extends(n.Expr.At); parent != "" {
			return s.typed(n, parent)
		}
	case script.Member:
		if x.X.Kind == script.This {
			field, ok := n.File.Field(x.Text, n.Expr.At)
			switch {
			case !ok:
				return maybe
			case field.Type != "":
				return s.typed(n, field.Type)
			case field.Init != nil:
				return s.value(n.At(field.Init))
			}
			return maybe
		}
		return s.value(n.At(x))
	case script.Call:
		return s.value(n.At(x))
	default:
	}
	return maybe
}

// value says whether an expression makes a server.
func (s *scripts) value(n script.Node) certainty {
	n = s.prog.Reduce(n)
	switch n.Kind() {
	case script.Call:
		if !n.Expr.New {
			return maybe
		}
	case script.String, script.Number, script.Bool, script.Null, script.Object, script.Array, script.Function, script.Concat:
		return no
	default:
		return maybe
	}
	callee := s.prog.Reduce(n.At(n.Expr.X))
	name := callee.Import.Name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	switch {
	case strings.HasPrefix(callee.Import.From, sdk) && slices.Contains(serverTypes, name):
		return yes
	case callee.Import.From != "" && !slices.Contains(serverTypes, name):
		return no
	}
	return maybe
}

// typed says whether a declared type is that of a server.
func (s *scripts) typed(n script.Node, name string) certainty {
	last := name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		last = name[i+1:]
	}
	first, _, _ := strings.Cut(name, ".")
	b := n.File.Lookup(first, n.Expr.At)
	if b != nil && b.How == script.ByImport && strings.HasPrefix(b.Import.From, sdk) {
		if b.Import.Name != "*" && b.Import.Name != "default" && name == first {
			last = b.Import.Name
		}
		if slices.Contains(serverTypes, last) {
			return yes
		}
		return no
	}
	if last == "any" || last == "unknown" || strings.Contains(last, "Server") {
		return maybe
	}
	return no
}

// serverName says whether an expression is called like a server.
func serverName(e *script.Expr) bool {
	name := strings.ToLower(e.Text)
	return strings.Contains(name, "server") || strings.Contains(name, "mcp")
}
