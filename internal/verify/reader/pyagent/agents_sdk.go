package pyagent

import (
	"io/fs"
	"slices"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

var sdkPackages = []string{"agents", "openai_agents"}

const sdkFunction = "sdk_function"

// ReadAgentsSDK reads one source of type openai_agents_sdk: functions that are
// tools, agents with what they hold, and handoffs (§5.2, §6.4). Without a path
// it is the manifest's agent.sdk.entrypoint.
func ReadAgentsSDK(m *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	where := s.Path
	if where == "" {
		where = m.Agent.SDK.Entrypoint
	}
	if where == "" {
		return nil, &tool.SourceError{
			SourceID: s.ID, Path: m.Name, Problem: tool.NotThere, Detail: "the source has no path and the agent has no sdk.entrypoint",
		}
	}
	p := newProgram(agentsSDK, s.ID)
	if err := p.load(tree, where); err != nil {
		return nil, err
	}
	r := sdkReader{p}
	for _, mod := range p.modules {
		r.functions(mod)
	}
	for _, mod := range p.modules {
		r.name(mod)
	}
	for _, mod := range p.modules {
		r.agents(mod)
	}
	p.toolkits()
	return p.done()
}

type sdkReader struct{ *program }

func (r sdkReader) isAgent(m *module, c *python.Call) bool {
	return m.makes(c, []string{"Agent", "RealtimeAgent", "SandboxAgent"}, sdkPackages)
}

// functions emits every decorated function, and every tool made by a call.
func (r sdkReader) functions(m *module) {
	decorating := map[*python.Call]bool{}
	m.file.Inspect(func(n python.Node) bool {
		f, ok := n.(*python.Function)
		if !ok {
			return true
		}
		for _, d := range f.Decorators {
			if options, ok := m.decorator(d, []string{"function_tool"}, sdkPackages); ok {
				if c, ok := d.(*python.Call); ok {
					decorating[c] = true
				}
				r.function(m, m, f, f, options)
				break
			}
		}
		return true
	})
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if !ok || decorating[c] {
			return true
		}
		inner, curried := c.Func.(*python.Call)
		switch {
		case curried && m.is(inner.Func, []string{"function_tool"}, sdkPackages) && inner.Positional(0) == nil:
			r.wrapped(m, c, []*python.Call{inner})
		case m.is(c.Func, []string{"function_tool"}, sdkPackages):
			r.wrapped(m, c, []*python.Call{c})
		case m.is(c.Func, []string{"FunctionTool"}, sdkPackages):
			r.constructed(m, c)
		}
		return true
	})
}

// function emits a function as the tool that made makes; options are the calls
// whose keyword arguments describe it, the nearest first.
func (r sdkReader) function(m, at *module, f *python.Function, made python.Node, options []*python.Call) {
	t := m.function(f, sdkFunction)
	if !at.override(&t.Name, options, "name_override") {
		at.dynamic("name", unsupported, "", f.Name, made.At())
	}
	if !at.override(&t.Description, options, "description_override") {
		at.dynamic("schema", unsupported, "", t.Name, made.At())
	}
	if made != python.Node(f) {
		t.Origin = at.origin(sdkFunction, made.At())
	}
	at.emit(made, t)
}

// override sets text to the first of the calls' arguments name; false when it is
// there and is no literal text.
func (m *module) override(text *string, options []*python.Call, name string) bool {
	for _, c := range options {
		a := c.Arg(name)
		if a == nil {
			continue
		}
		if k, ok := a.(*python.Constant); ok && k.Text == "None" {
			return true
		}
		s, ok := m.file.Text(a)
		if ok {
			*text = s
		}
		return ok
	}
	for _, c := range options {
		if c.Spread() {
			return false
		}
	}
	return true
}

// decorator says whether a decorator is one of names, plain or called, or a
// functools.partial of it; the calls bring its options, the nearest first.
func (m *module) decorator(d python.Expr, names, packages []string) ([]*python.Call, bool) {
	var options []*python.Call
	for range maxHops {
		c, ok := m.file.Value(d).(*python.Call)
		switch {
		case m.is(d, names, packages):
			return options, true
		case !ok:
			return nil, false
		case m.is(c.Func, names, packages):
			return append(options, c), true
		case m.file.Is(c.Func, "functools.partial") && c.Positional(0) != nil:
			options = append(options, c)
			d = c.Positional(0)
		case len(c.Args) >= 0 && m.aliased(c.Func):
			options = append(options, c)
			d = c.Func
		default:
			return nil, false
		}
	}
	return nil, false
}

// aliased says whether a called name stands for a partial, which is looked at
// next.
func (m *module) aliased(e python.Expr) bool {
	if _, ok := e.(*python.Name); !ok {
		return false
	}
	c, ok := m.file.Value(e).(*python.Call)
	return ok && m.file.Is(c.Func, "functools.partial")
}

// wrapped emits function_tool(f, …) and function_tool(…)(f).
func (r sdkReader) wrapped(m *module, c *python.Call, options []*python.Call) {
	target := c.Positional(0)
	if target == nil {
		target = c.Arg("func")
	}
	if target == nil {
		return // it waits for its function
	}
	for _, d := range m.defs(target) {
		if d.bind.Function != nil {
			r.function(d.mod, m, d.bind.Function, c, options)
			return
		}
	}
	m.dynamic("tool", reasonOf(target), "", label(target), c.Range)
}

// reasonOf is why an expression that should be a function is none to us.
func reasonOf(e python.Expr) string {
	switch e.(type) {
	case *python.Name, *python.Attribute:
		return unresolvedName
	case *python.Call:
		return runtimeCall
	case *python.Comprehension:
		return comprehension
	}
	return unsupported
}

// constructed emits FunctionTool(name=…, params_json_schema=…).
func (r sdkReader) constructed(m *module, c *python.Call) {
	name, ok := m.file.Text(argument(c, "name", 0))
	if !ok {
		m.dynamic("name", unsupported, "", label(c.Func), c.Range)
		return
	}
	t := tool.Tool{
		Name: name, Origin: m.origin(sdkFunction, c.Range), Annotations: map[string]any{}, Method: "parsed", Confidence: tool.Medium,
	}
	t.Description, _ = m.file.Text(argument(c, "description", 1))
	m.useSchema(&t, argument(c, "params_json_schema", 2))
	m.emit(c, t)
}

// argument is a keyword argument, or the positional one at i.
func argument(c *python.Call, name string, i int) python.Expr {
	if a := c.Arg(name); a != nil {
		return a
	}
	if i < 0 {
		return nil
	}
	return c.Positional(i)
}

// name gives every agent its name: the target of its assignment, else its own
// name where it is literal, else what is around it (§5.2).
func (r sdkReader) name(m *module) {
	targets := m.targets()
	m.file.Inspect(func(n python.Node) bool {
		if c, ok := n.(*python.Call); ok && (r.isAgent(m, c) || r.isClone(m, c)) {
			r.program.agents[c] = m.agentName(c, targets, argument(c, "name", 0), "agent")
		}
		return true
	})
}

// agentName is the name of the agent that a call makes.
func (m *module) agentName(c *python.Call, targets map[*python.Call]string, own python.Expr, otherwise string) string {
	if name := targets[c]; name != "" {
		return name
	}
	if name, ok := m.file.Text(own); ok && name != "" {
		return name
	}
	if name := m.prog.ownerName(c); name != "" {
		return name
	}
	return otherwise
}

// isClone says whether a call copies an agent.
func (r sdkReader) isClone(m *module, c *python.Call) bool { return r.cloned(m, c) != nil }

// cloned is the agent that agent.clone(…) or dataclasses.replace(agent, …) is
// made from, and its module.
func (r sdkReader) cloned(m *module, c *python.Call) *origin {
	from := c.Positional(0)
	if !m.file.Is(c.Func, "dataclasses.replace", "copy.replace") {
		a, ok := c.Func.(*python.Attribute)
		if !ok || a.Name != "clone" {
			return nil
		}
		from = a.Value
	}
	for _, d := range m.defs(from) {
		if call, ok := d.bind.Value.(*python.Call); ok && (r.isAgent(d.mod, call) || r.program.agents[call] != "") {
			return &origin{d.mod, call}
		}
	}
	return nil
}

// origin is a call in its module.
type origin struct {
	mod  *module
	call *python.Call
}

// agents adds the agents of a module and what each holds.
func (r sdkReader) agents(m *module) {
	m.file.Inspect(func(n python.Node) bool {
		if c, ok := n.(*python.Call); ok {
			if name := r.program.agents[c]; name != "" {
				r.agent(m, c, name)
			}
		}
		return true
	})
	r.laterLists(m)
	m.handedOn([]string{"tools", "handoffs", "mcp_servers"})
}

func (r sdkReader) agent(m *module, c *python.Call, name string) {
	r.out.Agents = append(r.out.Agents, tool.Agent{Name: name, Origin: m.origin(agentsSDK, c.Range)})
	at := holder{m, name, c.Range}
	for _, kind := range [...]string{"tools", "handoffs", "mcp_servers"} {
		from := origin{m, c}
		value := c.Arg(kind)
		for range maxHops {
			up := r.cloned(from.mod, from.call)
			if value != nil || up == nil {
				break
			}
			from = *up
			value = from.call.Arg(kind)
		}
		if value != nil {
			r.holds(at, kind, from.mod.readList(value))
		}
	}
	// What stands at which place has changed between versions of the SDK.
	if c.Spread() || r.isAgent(m, c) && c.Positional(1) != nil {
		m.dynamic("tool_list", unsupported, name, "", c.Range)
	}
}

// holder is an agent and where what it holds is said.
type holder struct {
	mod  *module
	name string
	at   python.Range
}

// holds adds the items of one list of an agent.
func (r sdkReader) holds(h holder, kind string, l *list) {
	for _, it := range l.items {
		it.sure = it.sure && l.complete()
		switch kind {
		case "tools":
			r.tool(h, it)
		case "handoffs":
			r.handoff(h, it)
		default:
			it.mod.dynamic("mcp_client", runtimeCall, h.name, label(it.expr), it.expr.At())
		}
	}
	what := map[string]string{"tools": "tool_list", "handoffs": "handoff_list", "mcp_servers": "mcp_client"}[kind]
	h.gaps(what, l)
}

// gaps says of an agent what could not be read of its list.
func (h holder) gaps(kind string, l *list) {
	seen := map[gap]bool{}
	for _, g := range l.gaps {
		if !seen[g] {
			seen[g] = true
			g.mod.dynamic(kind, g.reason, h.name, g.name, g.at)
		}
	}
}

// edge adds an edge of an agent.
func (h holder) edge(kind tool.EdgeKind, to string, it item) {
	if !h.mod.prog.spend() {
		return // done says so
	}
	e := tool.Edge{
		Kind: kind, Agent: h.name, To: to, Complete: it.sure,
		Origin: it.mod.origin(it.mod.prog.framework, it.expr.At()),
	}
	if !it.sure {
		e.Unproven = "the list it stands in could not be read in full"
	}
	h.mod.prog.out.Edges = append(h.mod.prog.out.Edges, e)
}

// oneOf adds an edge to each of the tools that an element of a list may be;
// places is how many places may give it its meaning. False: there is none.
func (h holder) oneOf(kind tool.EdgeKind, names []string, it item, places int) bool {
	it.sure = it.sure && places == 1
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		h.edge(kind, name, it)
	}
	return len(names) > 0
}

// tool adds one element of a list of tools.
func (r sdkReader) tool(h holder, it item) {
	if c, ok := it.mod.file.Value(it.expr).(*python.Call); ok {
		if a, ok := c.Func.(*python.Attribute); ok && a.Name == "as_tool" {
			r.subagent(h, item{it.mod, a.Value, it.sure})
			return
		}
	}
	var names []string
	defs := it.mod.defsOf(it.expr)
	for _, d := range defs {
		if name := r.made[d.node()]; name != "" {
			names = append(names, name)
		}
	}
	if h.oneOf(tool.DirectTool, names, it, len(defs)) {
		return
	}
	reason, name := reasonOf(it.expr), label(it.expr)
	if c, ok := it.mod.file.Value(it.expr).(*python.Call); ok {
		reason, name = runtimeCall, label(c.Func)
	}
	it.mod.dynamic("tool", reason, h.name, name, it.expr.At())
}

// node is what a definition makes a tool or agent of.
func (d def) node() python.Node {
	switch {
	case d.bind.Function != nil:
		return d.bind.Function
	case d.bind.Class != nil:
		return d.bind.Class
	case d.bind.Value != nil:
		return d.bind.Value
	}
	return nil
}

// defsOf are the definitions that an element of a list stands for; a call that
// stands in the list itself is its own.
func (m *module) defsOf(e python.Expr) []def {
	if c, ok := e.(*python.Call); ok {
		return []def{{mod: m, bind: &python.Binding{Kind: python.Assigned, Value: c}}}
	}
	return m.defs(e)
}

// agentsOf are the names of the agents that an expression may be.
func (m *module) agentsOf(e python.Expr) []string {
	var names []string
	for _, d := range m.defsOf(e) {
		for _, c := range piped(d.bind.Value, nil, 0) {
			if name := m.prog.agents[c]; name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (r sdkReader) subagent(h holder, it item) { r.toAgent(h, tool.Subagent, it) }

// handoff adds one element of handoffs: an agent, or handoff(agent, …).
func (r sdkReader) handoff(h holder, it item) {
	if c, ok := it.mod.file.Value(it.expr).(*python.Call); ok && it.mod.is(c.Func, []string{"handoff", "realtime_handoff"}, sdkPackages) {
		if to := argument(c, "agent", 0); to != nil {
			it.expr = to
		}
	}
	r.toAgent(h, tool.Handoff, it)
}

func (r sdkReader) toAgent(h holder, kind tool.EdgeKind, it item) {
	names := it.mod.agentsOf(it.expr)
	for _, name := range names {
		h.edge(kind, name, item{it.mod, it.expr, it.sure && len(names) == 1})
	}
	if len(names) > 0 {
		return
	}
	to := label(it.expr)
	it.mod.dynamic("handoff", reasonOf(it.expr), h.name, to, it.expr.At())
	if to != "" {
		h.edge(kind, to, item{it.mod, it.expr, false})
	}
}

// laterLists adds what is given to an agent after it was made: agent.tools = […],
// agent.handoffs.append(…). Statements of the module itself always run; others
// may not.
func (r sdkReader) laterLists(m *module) {
	always := map[python.Node]bool{}
	for _, s := range m.file.Body {
		always[s] = true
		if e, ok := s.(*python.Evaluate); ok {
			always[e.Value] = true
		}
	}
	m.file.Inspect(func(n python.Node) bool {
		switch n := n.(type) {
		case *python.Assign:
			for _, target := range n.Targets {
				r.later(m, target, n.Value, false, always[n])
			}
		case *python.AugAssign:
			r.later(m, n.Target, n.Value, false, always[n])
		case *python.Call:
			a, ok := n.Func.(*python.Attribute)
			if !ok || len(n.Args) == 0 {
				return true
			}
			switch a.Name {
			case "append", "insert":
				r.later(m, a.Value, n.Args[len(n.Args)-1].Value, true, always[n])
			case "extend":
				r.later(m, a.Value, n.Args[0].Value, false, always[n])
			}
		}
		return true
	})
}

func (r sdkReader) later(m *module, target, value python.Expr, single, always bool) {
	a, ok := target.(*python.Attribute)
	if !ok || a.Name != "tools" && a.Name != "handoffs" && a.Name != "mcp_servers" {
		return
	}
	for _, name := range m.agentsOf(a.Value) {
		l := &list{items: []item{{m, value, true}}}
		if !single {
			l = m.readList(value)
		}
		for i := range l.items {
			l.items[i].sure = l.items[i].sure && always
		}
		r.holds(holder{m, name, a.Range}, a.Name, l)
	}
}
