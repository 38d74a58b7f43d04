package pyagent

import (
	"io/fs"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/tool"
)

var (
	chainPackages = []string{
		"langchain", "langchain_core", "langchain_classic", "langchain_community", "langgraph", "langgraph_supervisor", "langgraph_swarm",
	}

	// Calls that give tools to a model.
	chainAgents = []string{
		"create_agent", "create_react_agent", "create_tool_calling_agent", "create_openai_tools_agent", "create_openai_functions_agent",
		"create_structured_chat_agent", "create_json_chat_agent", "create_xml_agent", "initialize_agent", "AgentExecutor",
		"from_agent_and_tools", "create_supervisor", "create_swarm", "create_deep_agent",
	}
)

// chainPlace is where the list of tools stands among the positional arguments of
// one of chainAgents, -1 for nowhere.
func chainPlace(kind string) int {
	switch kind {
	case "initialize_agent", "ToolNode", "bind_tools":
		return 0
	case "AgentExecutor", "from_agent_and_tools", "create_supervisor", "create_swarm", "create_deep_agent":
		return -1
	}
	return 1
}

// Source types of LangChain (§5.2).
const (
	chainFunction   = "langchain_function"
	chainStructured = "langchain_structured_tool"
	chainTool       = "langchain_tool" // Tool(…) and subclasses of BaseTool
)

// ReadLangChain reads the langchain block: its Python files as one program, with
// the block's name as source id, and its inventories.
func ReadLangChain(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	if m.LangChain == nil {
		return &tool.Reading{}, nil
	}
	p := newProgram("langchain", "langchain")
	if err := p.loadAll(tree, m.LangChain.Entrypoints); err != nil {
		return nil, err
	}
	p.langchain()
	if _, err := p.done(); err != nil {
		return nil, err
	}
	out := p.finish(tool.Source{ID: "langchain", Type: "langchain", Path: m.Name})
	for _, a := range m.LangChain.Inventories {
		r, err := listing.ReadInventory(tree, a, "langchain_inventory", tool.BlockSource("langchain", a.Path))
		if err != nil {
			return nil, err
		}
		out.Add(r)
	}
	return out, nil
}

// ReadLangChainSource reads one row of tool_sources of type langchain: a Python
// file, or the files of a folder.
func ReadLangChainSource(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	p := newProgram("langchain", s.ID)
	if err := p.load(tree, s.Path); err != nil {
		return nil, err
	}
	p.langchain()
	return p.done()
}

func (p *program) langchain() {
	r := &chainReader{program: p, decorating: map[*python.Call]bool{}, graphs: map[*module]*graphs{}}
	for _, m := range p.modules {
		r.tools(m)
	}
	for _, m := range p.modules {
		r.graphs[m] = r.findGraphs(m, m.targets())
	}
	r.onlyGraph()
	for _, m := range p.modules {
		r.names(m)
	}
	for _, m := range p.modules {
		r.agents(m)
	}
	p.toolkits()
}

type chainReader struct {
	*program
	decorating map[*python.Call]bool
	graphs     map[*module]*graphs
	only       string // name of the only graph of the program
}

// tools emits decorated functions and tools made by calls.
func (r *chainReader) tools(m *module) {
	m.file.Inspect(func(n python.Node) bool {
		f, ok := n.(*python.Function)
		if !ok {
			return true
		}
		for _, d := range f.Decorators {
			options, ok := m.decorator(d, []string{"tool"}, chainPackages)
			if !ok {
				continue
			}
			if c, ok := d.(*python.Call); ok {
				r.decorating[c] = true
			}
			r.function(m, m, f, f, options)
			break
		}
		return true
	})
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if !ok || r.decorating[c] {
			return true
		}
		if inner, ok := c.Func.(*python.Call); ok && m.is(inner.Func, []string{"tool"}, chainPackages) {
			r.decorating[inner] = true
			if d := m.functionNamed(c.Positional(0)); d != nil {
				r.function(d.mod, m, d.bind.Function, c, []*python.Call{inner})
			} else {
				m.dynamic("tool", reasonOf(c), "", label(c.Positional(0)), c.Range)
			}
			return true
		}
		switch q := m.which(c.Func, []string{"from_function", "Tool", "StructuredTool", "tool"}, chainPackages); last(q) {
		case "from_function":
			kind := chainStructured
			if strings.HasSuffix(q, ".Tool.from_function") {
				kind = chainTool
			}
			r.fromFunction(m, c, kind)
		case "StructuredTool":
			r.fromFunction(m, c, chainStructured)
		case "Tool":
			r.fromFunction(m, c, chainTool)
		case "tool":
			r.called(m, c)
		}
		return true
	})
}

// function emits a decorated function. The name is the first text in the call,
// or name_or_callable.
func (r *chainReader) function(m, at *module, f *python.Function, made python.Node, options []*python.Call) string {
	t := m.function(f, chainFunction)
	for _, c := range options {
		name := argument(c, "name_or_callable", 0)
		if name == nil || at.functionNamed(name) != nil {
			continue
		}
		if text, ok := at.file.Text(name); ok {
			t.Name = text
			break
		}
		if !at.file.Is(c.Func, "functools.partial") {
			at.dynamic("name", unsupported, "", f.Name, name.At())
		}
	}
	if !at.override(&t.Description, options, "description") {
		at.dynamic("schema", unsupported, "", t.Name, made.At())
	}
	for _, c := range options {
		at.useSchema(&t, c.Arg("args_schema"))
	}
	if made != python.Node(f) {
		t.Origin = at.origin(chainFunction, made.At())
	}
	return at.emit(made, t)
}

// functionNamed is the function of the program that an expression names.
func (m *module) functionNamed(e python.Expr) *def {
	if e == nil {
		return nil
	}
	for _, d := range m.defs(e) {
		if d.bind.Function != nil {
			return &d
		}
	}
	return nil
}

// called emits tool(f) and tool("name")(f).
func (r *chainReader) called(m *module, c *python.Call) {
	if d := m.functionNamed(c.Positional(0)); d != nil {
		r.function(d.mod, m, d.bind.Function, c, []*python.Call{c})
		return
	}
	if d := m.functionNamed(c.Positional(1)); d != nil { // tool("name", f)
		r.function(d.mod, m, d.bind.Function, c, []*python.Call{c})
	}
}

// fromFunction emits StructuredTool.from_function(func=…, name=…) and the like.
// Without a function of the program the name must be literal.
func (r *chainReader) fromFunction(m *module, c *python.Call, kind string) {
	body := argument(c, "func", 0)
	plain := kind == chainTool && c.Arg("func") == nil && m.functionNamed(body) == nil
	if plain { // Tool(name, func, description)
		body = c.Positional(1)
	}
	d := m.functionNamed(body)
	if d == nil {
		d = m.functionNamed(c.Arg("coroutine"))
	}
	var t tool.Tool
	if d != nil {
		t = d.mod.function(d.bind.Function, kind)
		t.Origin = m.origin(kind, c.Range)
	} else {
		t = tool.Tool{Origin: m.origin(kind, c.Range), Annotations: map[string]any{}, Method: "parsed", Confidence: tool.Medium}
	}
	name := c.Arg("name")
	if name == nil && plain {
		name = c.Positional(0)
	}
	if name != nil {
		text, ok := m.file.Text(name)
		if !ok {
			m.dynamic("name", unsupported, "", label(c.Func), c.Range)
			return
		}
		t.Name = text
	}
	if t.Name == "" {
		m.dynamic("tool", reasonOf(body), "", label(body), c.Range)
		return
	}
	if !m.override(&t.Description, []*python.Call{c}, "description") {
		m.dynamic("schema", unsupported, "", t.Name, c.Range)
	}
	switch schema := c.Arg("args_schema"); {
	case schema != nil:
		m.useSchema(&t, schema)
	case d == nil:
		m.dynamic("schema", reasonOf(body), "", t.Name, c.Range)
	}
	m.emit(c, t)
}

// baseTool emits a class made from BaseTool: name, description and args_schema
// are fields with literal values, and without a schema _run says the inputs.
func (d def) baseTool(kind string, packages []string) (string, bool) {
	c := d.bind.Class
	if c == nil || !d.classIs([]string{"BaseTool"}, packages) {
		return "", false
	}
	if name, ok := d.mod.prog.made[c]; ok {
		return name, true
	}
	m := d.mod
	t := tool.Tool{Name: c.Name, Origin: m.origin(kind, c.Range), Annotations: map[string]any{}, Method: "parsed", Confidence: tool.Medium}
	name, ok := m.file.Text(fieldValue(c, "name"))
	if ok {
		t.Name = name
	} else {
		m.dynamic("name", unsupported, "", c.Name, c.Range)
	}
	if text, ok := m.file.Text(fieldValue(c, "description")); ok {
		t.Description = text
	} else {
		t.Description = docstring(c.Body)
	}
	run := method(c, "_run")
	if run == nil {
		run = method(c, "_arun")
	}
	if run != nil {
		f := m.function(run, kind)
		t.Input, t.Params, t.Signature = f.Input, f.Params, f.Signature
	}
	switch schema := fieldValue(c, "args_schema"); {
	case schema != nil:
		m.useSchema(&t, schema)
	case run == nil:
		m.dynamic("schema", unsupported, "", t.Name, c.Range)
	}
	return m.emit(c, t), true
}

// fieldValue is the value that a class gives to a field, Field(default=…) taken
// off.
func fieldValue(c *python.Class, name string) python.Expr {
	for _, s := range c.Body {
		var target, value python.Expr
		switch s := s.(type) {
		case *python.AnnAssign:
			target, value = s.Target, s.Value
		case *python.Assign:
			target, value = s.Targets[0], s.Value
		}
		if n, ok := target.(*python.Name); !ok || n.ID != name || value == nil {
			continue
		}
		if call, ok := value.(*python.Call); ok && last(label(call.Func)) == "Field" {
			return argument(call, "default", 0)
		}
		return value
	}
	return nil
}

func method(c *python.Class, name string) *python.Function {
	for _, s := range c.Body {
		if f, ok := s.(*python.Function); ok && f.Name == name {
			return f
		}
	}
	return nil
}

// names gives a name to every call that gives tools to a model.
func (r *chainReader) names(m *module) {
	targets, g := m.targets(), r.graphs[m]
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if !ok {
			return true
		}
		kind := r.kind(m, c)
		switch kind {
		case "":
			return true
		case "bind_tools", "ToolNode":
			if r.program.agents[c] != "" {
				return true
			}
			if name := r.owner(g, c); name != "" {
				r.program.agents[c] = name
				return true
			}
		}
		otherwise := "agent"
		if kind == "ToolNode" {
			otherwise = "tool_node"
		}
		name := m.agentName(c, targets, c.Arg("name"), otherwise)
		r.program.agents[c] = name
		if kind != "bind_tools" && kind != "ToolNode" {
			r.inner(m, c, name)
		}
		return true
	})
}

// inner gives the name of an agent to the models with tools in its arguments.
func (r *chainReader) inner(m *module, agent *python.Call, name string) {
	for _, a := range agent.Args {
		python.Inspect(a.Value, func(n python.Node) bool {
			if c, ok := n.(*python.Call); ok && r.kind(m, c) == "bind_tools" {
				r.program.agents[c] = name
			}
			return true
		})
	}
}

// kind is the name of the call that gives tools to a model, "" for another one.
func (r *chainReader) kind(m *module, c *python.Call) string {
	if a, ok := c.Func.(*python.Attribute); ok && a.Name == "bind_tools" {
		return a.Name
	}
	if m.makes(c, []string{"ToolNode"}, chainPackages) {
		return "ToolNode"
	}
	return last(m.which(c.Func, chainAgents, chainPackages))
}

func (r *chainReader) agents(m *module) {
	m.file.Inspect(func(n python.Node) bool {
		if c, ok := n.(*python.Call); ok {
			if kind := r.kind(m, c); kind != "" {
				r.agent(m, c, r.program.agents[c], kind)
			}
		}
		return true
	})
	r.members(m, r.graphs[m])
}

func (r *chainReader) agent(m *module, c *python.Call, name, kind string) {
	h := holder{m, name, c.Range}
	r.out.Agents = append(r.out.Agents, tool.Agent{Name: name, Origin: m.origin("langchain", c.Range)})
	edge := tool.DirectTool
	if kind == "ToolNode" {
		edge = tool.ToolNode
	}
	value := argument(c, "tools", chainPlace(kind))
	if value != nil {
		l := m.readList(value)
		for _, it := range l.items {
			it.sure = it.sure && l.complete()
			r.tool(h, edge, it)
		}
		h.gaps("tool_list", l)
	}
	if c.Spread() {
		m.dynamic("tool_list", unsupported, name, "", c.Range)
	}
	r.middleware(h, c)
	switch kind {
	case "AgentExecutor", "from_agent_and_tools":
		r.toAgents(h, c.Arg("agent"))
	case "create_supervisor", "create_swarm":
		r.toAgentList(h, argument(c, "agents", 0))
	case "create_deep_agent":
		r.toAgentList(h, c.Arg("subagents"))
	}
}

// toAgents leads to the agents that an expression may be; another expression is
// a model or a chain, which is no agent by itself.
func (r *chainReader) toAgents(h holder, e python.Expr) {
	if e == nil {
		return
	}
	names := h.mod.agentsOf(e)
	for _, name := range names {
		if name != h.name {
			h.edge(tool.Subagent, name, item{h.mod, e, len(names) == 1})
		}
	}
}

func (r *chainReader) toAgentList(h holder, e python.Expr) {
	l := h.mod.readList(e)
	for _, it := range l.items {
		names := it.mod.agentsOf(it.expr)
		for _, name := range names {
			h.edge(tool.Subagent, name, item{it.mod, it.expr, it.sure && l.complete() && len(names) == 1})
		}
		if len(names) == 0 {
			it.mod.dynamic("handoff", reasonOf(it.expr), h.name, label(it.expr), it.expr.At())
		}
	}
	h.gaps("handoff_list", l)
}

// tool adds one element of a list of tools: a tool, a function, or a schema.
func (r *chainReader) tool(h holder, kind tool.EdgeKind, it item) {
	defs := it.mod.defsOf(it.expr)
	var names []string
	for _, d := range defs {
		if name, ok := r.toolOf(d); ok {
			names = append(names, name)
		}
	}
	if h.oneOf(kind, names, it, len(defs)) {
		return
	}
	reason := reasonOf(it.expr)
	if _, ok := it.mod.file.Value(it.expr).(*python.Call); ok {
		reason = runtimeCall
	}
	it.mod.dynamic("tool", reason, h.name, label(it.expr), it.expr.At())
}

// toolOf is the name of the tool that a definition is.
func (r *chainReader) toolOf(d def) (string, bool) {
	if name := r.made[d.node()]; name != "" {
		return name, true
	}
	switch {
	case d.bind.Function != nil && len(d.bind.Function.Decorators) == 0:
		return r.function(d.mod, d.mod, d.bind.Function, d.bind.Function, nil), true
	case d.bind.Class != nil:
		if name, ok := d.baseTool(chainTool, chainPackages); ok {
			return name, true
		}
		return r.schemaTool(d)
	}
	if c, ok := d.bind.Value.(*python.Call); ok {
		for _, made := range d.mod.defs(c.Func) {
			if name, ok := made.baseTool(chainTool, chainPackages); ok {
				return name, true
			}
		}
	}
	return "", false
}

// schemaTool emits a Pydantic class that a model is offered as a tool.
func (r *chainReader) schemaTool(d def) (string, bool) {
	if !d.classIs([]string{"BaseModel"}, pydanticPackages) {
		return "", false
	}
	s := schemas{mod: d.mod, open: map[*python.Class]bool{}}
	schema := s.class(d.bind.Class, 0)
	return d.mod.emit(d.bind.Class, tool.Tool{
		Name: d.bind.Class.Name, Description: docstring(d.bind.Class.Body), Origin: d.mod.origin(chainFunction, d.bind.Class.Range),
		Input: schema, Params: tool.Parameters(schema), Annotations: map[string]any{}, Method: "parsed", Confidence: tool.Medium,
	}), true
}
