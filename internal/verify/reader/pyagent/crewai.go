package pyagent

import (
	"io/fs"
	"path"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/tool"
)

const (
	crewFramework = "crewai"
	crewFunction  = "crewai_function"
	crewClass     = "crewai_class_tool"
	crewPrebuilt  = "crewai_prebuilt_tool"
)

// crewPackages are where CrewAI's own names come from; crewai_tools had the
// decorator and the base class once.
var crewPackages = []string{"crewai", "crewai_tools"}

// ReadCrewAI reads the crewai block: entrypoints as one program, and
// inventories (§4.5, §5.2). The reading is empty when there is no such block.
func ReadCrewAI(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	if m.CrewAI == nil {
		return &tool.Reading{}, nil
	}
	r := newCrew(crewFramework, tree)
	if err := r.loadAll(tree, m.CrewAI.Entrypoints); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	for _, art := range m.CrewAI.Inventories {
		found, err := listing.ReadInventory(tree, art, "crewai_inventory", tool.BlockSource(crewFramework, art.Path))
		if err != nil {
			return nil, err
		}
		r.out.Add(found)
	}
	return r.finish(tool.Source{ID: crewFramework, Type: crewFramework, Path: m.Name}), nil
}

// ReadCrewAISource reads one row of tool_sources of type crewai: a Python file
// or a folder of them.
func ReadCrewAISource(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	r := newCrew(s.ID, tree)
	if err := r.load(tree, s.Path); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.out, nil
}

type crewReader struct {
	*program
	tree      fs.FS
	bases     map[*python.Class]bool    // classes that others are made from
	following map[*python.Function]bool // methods whose results are being followed
	bodies    map[*python.Function]*body
	named     map[*python.Class]map[string]item // values that classes give to names
	crews     map[*python.Call]bool
	configs   map[string]source.Value // agents.yaml by path; Null when it cannot be read
}

func newCrew(sourceID string, tree fs.FS) *crewReader {
	return &crewReader{
		program: newProgram(crewFramework, sourceID), tree: tree, bases: map[*python.Class]bool{}, following: map[*python.Function]bool{}, bodies: map[*python.Function]*body{}, named: map[*python.Class]map[string]item{}, crews: map[*python.Call]bool{}, configs: map[string]source.Value{},
	}
}

// read finds tools, then the names of agents and crews, then what they hold.
func (r *crewReader) read() *tool.SourceError {
	for _, m := range r.modules {
		m.file.Inspect(func(n python.Node) bool {
			if c, ok := n.(*python.Class); ok {
				r.prepare(m, c)
			}
			return true
		})
	}
	for _, m := range r.modules {
		m.file.Inspect(func(n python.Node) bool {
			switch n := n.(type) {
			case *python.Class:
				r.class(m, n)
			case *python.Function:
				r.function(m, n)
			}
			return true
		})
	}
	for _, m := range r.modules {
		targets := m.targets()
		m.file.Inspect(func(n python.Node) bool {
			c, ok := n.(*python.Call)
			if !ok {
				return true
			}
			switch {
			case m.makes(c, []string{"Agent", "LiteAgent"}, crewPackages):
				r.agents[c] = m.agentName(c, targets, c.Arg("role"), "agent")
			case m.makes(c, []string{"Crew"}, crewPackages):
				r.agents[c], r.crews[c] = m.agentName(c, targets, c.Arg("name"), "crew"), true
			}
			return true
		})
	}
	for _, m := range r.modules {
		m.file.Inspect(func(n python.Node) bool {
			if c, ok := n.(*python.Call); ok && r.overfull() == nil {
				r.call(m, c)
			}
			return true
		})
	}
	for _, m := range r.modules {
		m.handedOn([]string{"tools", "agents"})
		m.afterwards([]string{"tools", "agents"}, func(h holder, attr string, l *list) {
			if r.overfull() == nil {
				r.holds(h, attr, l)
			}
		})
	}
	r.toolkits()
	_, err := r.done()
	return err
}

// call reads an agent, a crew, or a task.
func (r *crewReader) call(m *module, c *python.Call) {
	name := r.agents[c]
	switch {
	case r.crews[c]:
		r.crew(m, c, name)
	case name != "":
		r.agent(m, c, name)
	case m.makes(c, []string{"Task"}, crewPackages):
		r.task(m, c)
	}
}

func (r *crewReader) agent(m *module, c *python.Call, name string) {
	r.out.Agents = append(r.out.Agents, tool.Agent{Name: name, Origin: m.origin(crewFramework, c.Range)})
	h := holder{m, name, c.Range}
	if tools := c.Arg("tools"); tools != nil {
		r.holds(h, "tools", m.readList(tools))
	}
	for _, key := range [...]string{"mcps", "apps"} {
		if v := c.Arg(key); v != nil && elements(m, v) > 0 {
			m.dynamic(map[string]string{"mcps": "mcp_client", "apps": "toolset"}[key], runtimeCall, name, "", v.At())
		}
	}
	if k, ok := c.Arg("allow_code_execution").(*python.Constant); ok && k.Text == "True" {
		r.prebuilt(h, item{m, k, true}, "CodeInterpreterTool", "")
	}
	if v := c.Arg("config"); v != nil {
		r.config(h, v)
	}
	if c.Spread() {
		m.dynamic("tool_list", unsupported, name, "", c.Range)
	}
}

// crew connects a crew with its members.
func (r *crewReader) crew(m *module, c *python.Call, name string) {
	r.out.Agents = append(r.out.Agents, tool.Agent{Name: name, Origin: m.origin(crewFramework, c.Range)})
	h := holder{m, name, c.Range}
	if agents := c.Arg("agents"); agents != nil {
		if members := r.decorated(m, agents); members != nil {
			r.holds(h, "agents", &list{items: members})
		} else {
			r.holds(h, "agents", m.readList(agents))
		}
	}
	if boss := c.Arg("manager_agent"); boss != nil {
		r.member(h, item{m, boss, true})
	}
	if c.Spread() {
		m.dynamic("agent_list", unsupported, name, "", c.Range)
	}
}

// holds adds the elements of a list of tools or agents.
func (r *crewReader) holds(h holder, kind string, l *list) {
	for _, it := range l.items {
		if r.overfull() != nil {
			return
		}
		it.sure = it.sure && l.complete()
		if kind == "agents" {
			r.member(h, it)
		} else {
			r.tool(h, it, 0)
		}
	}
	h.gaps(map[string]string{"tools": "tool_list", "agents": "agent_list"}[kind], l)
}

// member adds one agent of a crew.
func (r *crewReader) member(h holder, it item) {
	if k, ok := it.expr.(*python.Constant); ok && k.Text == "None" {
		return
	}
	names := it.mod.agentsOf(it.expr)
	if f := r.method(it.mod, it.expr); f != nil {
		names = r.makers(f)
	}
	for _, name := range names {
		h.edge(tool.Subagent, name, item{it.mod, it.expr, it.sure && len(names) == 1})
	}
	if len(names) > 0 {
		return
	}
	to := label(it.expr)
	it.mod.dynamic("agent_list", reasonOf(it.expr), h.name, to, it.expr.At())
	if to != "" {
		h.edge(tool.Subagent, to, item{it.mod, it.expr, false})
	}
}

// A body is what a reader asks of a function: the agents that it makes, and the
// values that it returns. It is looked at once.
type body struct {
	agents  []*python.Call
	returns []python.Expr
}

func (r *crewReader) body(f *python.Function) *body {
	if b, known := r.bodies[f]; known {
		return b
	}
	b := &body{}
	r.bodies[f] = b
	var visit func(inner bool) func(python.Node) bool
	visit = func(inner bool) func(python.Node) bool {
		return func(n python.Node) bool {
			switch n := n.(type) {
			case *python.Call:
				if r.agents[n] != "" && !r.crews[n] {
					b.agents = append(b.agents, n)
				}
			case *python.Return:
				if n.Value != nil && !inner {
					b.returns = append(b.returns, n.Value)
				}
			case *python.Function:
				for _, s := range n.Body {
					python.Inspect(s, visit(true))
				}
				return false
			case *python.Class:
				return false
			}
			return true
		}
	}
	for _, s := range f.Body {
		python.Inspect(s, visit(false))
	}
	return b
}

// makers are the names of the agents that a function makes.
func (r *crewReader) makers(f *python.Function) []string {
	var names []string
	for _, c := range r.body(f).agents {
		names = append(names, r.agents[c])
	}
	return names
}

// method is the method of the class around that self.name(…) or self.name
// means.
func (r *crewReader) method(m *module, e python.Expr) *python.Function {
	if c, ok := e.(*python.Call); ok {
		e = c.Func
	}
	a, ok := e.(*python.Attribute)
	if !ok {
		return nil
	}
	class := m.selfOf(a.Value)
	if class == nil {
		return nil
	}
	return method(class, a.Name)
}

// decorated are the members that self.agents stands for in a class of the
// project template: what its methods under @agent make. Nil for anything else.
func (r *crewReader) decorated(m *module, e python.Expr) []item {
	a, ok := e.(*python.Attribute)
	if !ok || a.Name != "agents" {
		return nil
	}
	class := m.selfOf(a.Value)
	if class == nil {
		return nil
	}
	var out []item
	for _, s := range class.Body {
		f, ok := s.(*python.Function)
		if !ok || !r.isDecorated(m, f, "agent") {
			continue
		}
		made := r.body(f).agents
		for _, call := range made {
			out = append(out, item{m, call, true})
		}
		if len(made) == 0 {
			out = append(out, item{m, f.Decorators[0], false})
		}
	}
	return out
}

func (r *crewReader) isDecorated(m *module, f *python.Function, name string) bool {
	for _, d := range f.Decorators {
		if m.is(decorating(d), []string{name}, crewPackages) {
			return true
		}
	}
	return false
}

// task gives an agent the tools that are only its for one task.
func (r *crewReader) task(m *module, c *python.Call) {
	tools := c.Arg("tools")
	if tools == nil {
		return
	}
	var names []string
	if who := c.Arg("agent"); who != nil {
		if names = m.agentsOf(who); len(names) == 0 {
			if f := r.method(m, who); f != nil {
				names = r.makers(f)
			}
		}
	}
	if len(names) == 0 {
		// Whoever the crew gives the task to may use them.
		r.holds(holder{m, "", c.Range}, "tools", &list{gaps: m.readList(tools).gaps})
		m.dynamic("task_tools", unresolvedName, "", "", tools.At())
		return
	}
	for _, name := range names {
		l := m.readList(tools)
		if len(names) > 1 {
			for i := range l.items {
				l.items[i].sure = false
			}
		}
		r.holds(holder{m, name, c.Range}, "tools", l)
	}
}

// config reads the entry of an agent in the project template's agents.yaml,
// which may name tools as well: config=self.agents_config["name"].
func (r *crewReader) config(h holder, e python.Expr) {
	sub, ok := h.mod.file.Value(e).(*python.Subscript)
	if !ok {
		if v, ok := h.mod.file.Literal(e); ok {
			if entry, ok := v.(map[string]any); ok && entry["tools"] == nil {
				return
			}
		}
		h.mod.dynamic("tool_list", reasonOf(e), h.name, label(e), e.At())
		return
	}
	key, ok := h.mod.file.Text(sub.Index)
	entry := r.configFile(h, sub.Value).Get(key)
	if !ok || entry.Kind != source.Map {
		h.mod.dynamic("tool_list", unresolvedName, h.name, label(sub.Value), e.At())
		return
	}
	class := h.mod.selfOf(sub.Value.(*python.Attribute).Value) // configFile answered
	for _, v := range entry.Get("tools").Strings() {
		if f := method(class, v.Text); f != nil {
			r.given(h, item{h.mod, sub, true}, f, 0)
		} else {
			h.mod.dynamic("tool", unresolvedName, h.name, v.Text, e.At())
		}
	}
}

// configFile is the file behind self.agents_config, null when it is not known.
func (r *crewReader) configFile(h holder, e python.Expr) source.Value {
	a, ok := e.(*python.Attribute)
	if !ok {
		return source.Value{}
	}
	class := h.mod.selfOf(a.Value)
	if class == nil {
		return source.Value{}
	}
	name := "config/agents.yaml" // where the template keeps it
	if v := r.attribute(def{mod: h.mod, bind: &python.Binding{Class: class}}, a.Name, 0); v.expr != nil {
		text, ok := v.mod.file.Text(v.expr)
		if !ok {
			return source.Value{}
		}
		name = text
	} else if a.Name != "agents_config" {
		return source.Value{}
	}
	file, ok := tool.Clean(path.Join(path.Dir(h.mod.path), name))
	if !ok {
		return source.Value{}
	}
	if v, known := r.configs[file]; known {
		return v
	}
	text, err := tool.ReadFile(r.tree, file)
	var v source.Value
	if err == nil {
		v, err = tool.Parse(file, text)
	}
	if err != nil {
		r.out.Warn("unreadable_config", "the configuration of agents could not be read", h.mod.origin(crewFramework, e.At()))
	}
	r.configs[file] = v
	return v
}
