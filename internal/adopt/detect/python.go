package detect

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/python"
)

const (
	maxPython  = 1000 // files that are parsed (§18.1)
	maxImports = 2000 // names that one file imports
)

// A pyFamily is a Python framework as its users write it.
type pyFamily struct {
	kind       Type
	packages   []string // first parts of qualified names; one that ends in "_" is a beginning
	decorators []string
	calls      []string // classes and functions that make agents or tools
	bases      []string // classes that a tool or an agent is made from
	known      []string // names that no package of the user has by chance
	dependency string
}

var pyFamilies = []pyFamily{
	{
		kind: AgentsSDK, packages: []string{"agents", "openai_agents"},
		decorators: []string{"function_tool", "input_guardrail", "output_guardrail"},
		calls:      []string{"Agent", "SandboxAgent", "RealtimeAgent", "Runner", "FunctionTool", "function_tool", "handoff"},
		known:      []string{"function_tool", "Runner", "RunContextWrapper", "ModelSettings", "GuardrailFunctionOutput", "FunctionTool", "input_guardrail"},
		dependency: "openai-agents",
	},
	{
		kind: ADK, packages: []string{"google.adk"},
		calls: []string{
			"Agent", "LlmAgent", "SequentialAgent", "ParallelAgent", "LoopAgent", "FunctionTool", "LongRunningFunctionTool", "AgentTool",
			"McpToolset", "MCPToolset", "OpenAPIToolset", "Runner", "App",
		},
		bases:      []string{"BaseAgent", "LlmAgent", "Agent", "BaseTool", "BaseToolset"},
		dependency: "google-adk",
	},
	{
		kind: LangChain, packages: []string{"langchain", "langchain_", "langgraph", "langgraph_"},
		decorators: []string{"tool"},
		calls: []string{
			"create_agent", "create_react_agent", "create_tool_calling_agent", "create_openai_functions_agent", "create_openai_tools_agent",
			"create_structured_chat_agent", "create_supervisor", "create_swarm", "initialize_agent", "AgentExecutor", "StructuredTool", "Tool",
			"ToolNode", "StateGraph", "tool",
		},
		bases: []string{"BaseTool", "StructuredTool", "Tool"}, dependency: "langchain",
	},
	{
		kind: CrewAI, packages: []string{"crewai", "crewai_tools"},
		decorators: []string{"tool", "agent", "task", "crew", "CrewBase"}, calls: []string{"Agent", "Crew", "Task", "LiteAgent"},
		bases: []string{"BaseTool"}, dependency: "crewai",
	},
}

// unread are Python libraries of agents and tools that no reader reads yet, by
// the beginning of their qualified names.
var unread = []struct{ prefix, name string }{
	{"mcp.server", "MCP servers in Python"},
	{"fastmcp", "MCP servers in Python"},
	{"autogen", "AutoGen"},
	{"autogen_agentchat", "AutoGen"},
	{"autogen_core", "AutoGen"},
	{"pydantic_ai", "Pydantic AI"},
	{"llama_index", "LlamaIndex"},
	{"semantic_kernel", "Semantic Kernel"},
	{"smolagents", "smolagents"},
	{"strands", "Strands Agents"},
	{"agno", "Agno"},
	{"haystack", "Haystack"},
	{"claude_agent_sdk", "Claude Agent SDK"},
	{"agent_framework", "Microsoft Agent Framework"},
}

// marks are what a file that uses one of the libraries must hold. They only spare
// the parsing of other files; evidence is what the tree shows.
var marks = func() [][]byte {
	list := [][]byte{[]byte("agents"), []byte("adk"), []byte("lang"), []byte("crewai"), []byte("openai"), []byte("anthropic")}
	for _, u := range unread {
		list = append(list, []byte(u.prefix[:min(len(u.prefix), 3)]))
	}
	return list
}

// under says whether a qualified name lies in a package.
func under(name, pkg string) bool {
	return name == pkg || strings.HasPrefix(name, pkg+".") || strings.HasSuffix(pkg, "_") && strings.HasPrefix(name, pkg)
}

func (f *pyFamily) holds(name string) bool {
	return slices.ContainsFunc(f.packages, func(p string) bool { return under(name, p) })
}

// pyFile is what one file shows.
type pyFile struct {
	name    string
	imports []string // qualified, with leading dots when relative
	tree    *python.File
}

// pythons looks at all Python files.
func (s *survey) pythons() {
	var names []string
	for _, f := range s.files {
		if path.Ext(f.name) == ".py" {
			s.out.Signals.PythonFiles++
			if !skipped(f.reason) {
				names = append(names, f.name)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		// What the workspace itself runs comes first.
		one, _ := leftOut(a)
		other, _ := leftOut(b)
		if (one == "") != (other == "") {
			return map[bool]int{true: -1, false: 1}[one == ""]
		}
		return byDepth(a, b)
	})
	search := marks()
	parsed, over := 0, 0
	for _, name := range names {
		text, ok := s.read(name)
		if !ok || !slices.ContainsFunc(search, func(m []byte) bool { return bytes.Contains(text, m) }) {
			continue
		}
		if parsed == maxPython {
			over++
			continue
		}
		parsed++
		if f := s.parsePython(name, text); f != nil {
			s.pythonFile(f)
		}
	}
	if over > 0 {
		s.note("too_many_python_files", ".", 0, counted(over, "Python file")+" beyond the first 1000 may use a framework and were not looked at")
	}
}

// notebooks names those that may use a framework: code in them is not read.
func (s *survey) notebooks() {
	search := [][]byte{[]byte("langchain"), []byte("langgraph"), []byte("crewai"), []byte("google.adk"), []byte("from agents import")}
	first, count := "", 0
	s.own(func(name string) bool { return path.Ext(name) == ".ipynb" }, search, func(name string, _ []byte) {
		if reason, _ := leftOut(name); reason == "" {
			if count++; first == "" {
				first = name
			}
		}
	})
	if count > 0 {
		s.note("unread_notebooks", first, 0, counted(count, "notebook")+" may use an agent framework; code in notebooks is not read")
	}
}

// parsePython is a file's tree, parsed once; nil when it cannot be read.
func (s *survey) parsePython(name string, text []byte) *pyFile {
	if f, ok := s.trees[name]; ok {
		return f
	}
	s.trees[name] = nil
	tree, err := python.Parse(text)
	if err != nil {
		if reason, _ := leftOut(name); reason == "" {
			line, detail := 0, "is not Python as we read it"
			if e, ok := errors.AsType[*python.SyntaxError](err); ok {
				line, detail = e.Pos.Line, detail+": "+e.Detail
			}
			s.note("unreadable_file", name, line, detail)
			s.broken[name] = true
		}
		return nil
	}
	f := &pyFile{name: name, tree: tree}
	s.trees[name] = f
	return f
}

// imported calls each for every name that an import statement brings.
func imported(n *python.Import, each func(qualified string, at python.Pos)) {
	dots := strings.Repeat(".", n.Level)
	for _, a := range n.Names {
		switch {
		case !n.From:
			each(a.Name, n.Start)
		case a.Name == "*" || n.Module == "" && n.Level == 0:
			each(dots+n.Module, n.Start)
		case n.Module == "":
			each(dots+a.Name, n.Start)
		default:
			each(dots+n.Module+"."+a.Name, n.Start)
		}
	}
}

// pythonFile takes the evidence of one file.
func (s *survey) pythonFile(f *pyFile) {
	seen := map[Type]bool{} // families that the file imports
	inline, names := false, 0
	f.tree.Inspect(func(n python.Node) bool {
		imp, ok := n.(*python.Import)
		if !ok {
			return true
		}
		imported(imp, func(q string, at python.Pos) {
			if names++; names > maxImports {
				if names == maxImports+1 {
					s.note("too_many_imports", f.name, at.Line, "the file imports more names than are looked at")
				}
				return
			}
			f.imports = append(f.imports, q)
			inline = inline || under(q, "openai") || under(q, "anthropic")
			if kind := s.familyOf(f, q); kind != "" {
				seen[kind] = true
				s.hit(hit{kind: kind, file: f.name, line: at.Line, strength: Strong, role: "import", what: "imports " + q})
				return
			}
			for _, u := range unread {
				if under(q, u.prefix) && s.module(f.name, q) == "" {
					s.unsupported(u.name, f.name, at.Line, "imports "+q)
					return
				}
			}
		})
		return true
	})
	f.tree.Inspect(func(n python.Node) bool {
		switch n := n.(type) {
		case *python.Function:
			s.decorators(f, n.Decorators, seen, "the function "+n.Name)
		case *python.Class:
			s.decorators(f, n.Decorators, seen, "the class "+n.Name)
			for _, a := range n.Args {
				s.use(f, a.Value, seen, func(p *pyFamily) []string { return p.bases }, "call", "the class "+n.Name+" is made from ", n.Start)
			}
		case *python.Call:
			s.use(f, n.Func, seen, func(p *pyFamily) []string { return p.calls }, "call", "calls ", n.Start)
			if inline && n.Arg("tools") != nil && modelCall(n) {
				s.unsupported("tools that are written into a model call", f.name, n.Start.Line, "gives tools to a model call")
			}
		}
		return true
	})
}

// modelCall says whether a call has the form client.….create(…).
func modelCall(c *python.Call) bool {
	a, ok := c.Func.(*python.Attribute)
	return ok && slices.Contains([]string{"create", "stream", "parse"}, a.Name)
}

func (s *survey) decorators(f *pyFile, list []python.Expr, seen map[Type]bool, on string) {
	for _, d := range list {
		at := d.At().Start
		if c, ok := d.(*python.Call); ok {
			d = c.Func
		}
		s.use(f, d, seen, func(p *pyFamily) []string { return p.decorators }, "decorator", on+" is decorated with ", at)
	}
}

// use takes the evidence of one use of a name, when the file imports the
// framework that the name is of.
func (s *survey) use(f *pyFile, e python.Expr, seen map[Type]bool, names func(*pyFamily) []string, role, what string, at python.Pos) {
	for _, q := range f.tree.Candidates(e) {
		for i := range pyFamilies {
			p := &pyFamilies[i]
			if !seen[p.kind] || !p.holds(q) {
				continue
			}
			parts := strings.Split(q, ".")
			for _, part := range parts[1:] {
				if slices.Contains(names(p), part) {
					s.hit(hit{kind: p.kind, file: f.name, line: at.Line, strength: Strong, role: role, what: what + part})
					return
				}
			}
		}
	}
}

// familyOf is the framework that a qualified import is of, "" for none. A package
// of the workspace that has the framework's name takes its place, unless a
// declared dependency and names that only the framework has say otherwise.
func (s *survey) familyOf(f *pyFile, q string) Type {
	for i := range pyFamilies {
		p := &pyFamilies[i]
		if !p.holds(q) {
			continue
		}
		top, _, _ := strings.Cut(q, ".")
		if s.module(f.name, q) == "" {
			return p.kind
		}
		last := q[strings.LastIndexByte(q, '.')+1:]
		if s.declared[p.kind] && slices.Contains(p.known, last) {
			return p.kind
		}
		if !s.shadow[p.kind] {
			s.shadow[p.kind] = true
			s.note("local_package", f.name, 0, "the workspace has a package of its own named "+top+"; what imports it is not the framework "+string(p.kind))
		}
		return ""
	}
	return ""
}

// module is the file of the workspace that a qualified name leads to, "" for none.
func (s *survey) module(from, q string) string {
	dots := len(q) - len(strings.TrimLeft(q, "."))
	parts := strings.Split(q[dots:], ".")
	var roots []string
	if dots > 0 {
		dir := path.Dir(from)
		for range dots - 1 {
			dir = path.Dir(dir)
		}
		roots = []string{dir}
	} else {
		for dir := path.Dir(from); ; dir = path.Dir(dir) {
			roots = append(roots, dir, path.Join(dir, "src"), path.Join(dir, "lib"))
			if dir == "." || dir == "/" {
				break
			}
		}
	}
	for _, root := range roots {
		for n := min(len(parts), 16); n > 0; n-- {
			at := path.Join(append([]string{root}, parts[:n]...)...)
			for _, name := range []string{at + ".py", at + "/__init__.py"} {
				if s.set[name] && name != from {
					return name
				}
			}
		}
	}
	return ""
}

// maxClosure bounds the files that one program is followed through.
const maxClosure = 200

// closure is the files with those of the workspace that they import, and so on.
func (s *survey) closure(files []string) []string {
	all := slices.Clone(files)
	known := map[string]bool{}
	for _, f := range files {
		known[f] = true
	}
	for i := 0; i < len(all) && len(all) < maxClosure; i++ {
		f := s.trees[all[i]]
		if f == nil {
			text, ok := s.read(all[i])
			if !ok {
				continue
			}
			if f = s.parsePython(all[i], text); f == nil {
				continue
			}
		}
		if f.imports == nil {
			f.tree.Inspect(func(n python.Node) bool {
				if imp, ok := n.(*python.Import); ok {
					imported(imp, func(q string, _ python.Pos) {
						if len(f.imports) < maxImports {
							f.imports = append(f.imports, q)
						}
					})
				}
				return true
			})
		}
		for _, q := range f.imports {
			to := s.module(all[i], q)
			if reason, _ := leftOut(to); to != "" && !known[to] && reason == "" {
				known[to] = true
				all = append(all, to)
			}
		}
	}
	slices.Sort(all)
	return all
}
