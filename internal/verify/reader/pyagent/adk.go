package pyagent

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

const (
	adkFramework = "google_adk"
	adkFunction  = "google_adk_function"
	adkPrebuilt  = "google_adk_prebuilt_tool"
)

var (
	adkPackages = []string{"google"}
	adkAgents   = []string{"Agent", "LlmAgent", "SequentialAgent", "ParallelAgent", "LoopAgent", "BaseAgent", "RemoteA2aAgent", "LiveAgent"}
)

// ReadADK reads the google_adk block: entrypoints and agent configurations as
// one program, inventories, evaluation sets and traces (§4.5, §5.2). The
// reading is empty when there is no such block.
func ReadADK(m *manifest.Manifest, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	if m.ADK == nil {
		return &tool.Reading{}, nil
	}
	r := newADK(adkFramework, tree)
	if err := r.loadAll(tree, m.ADK.Entrypoints); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	for _, art := range m.ADK.AgentConfigs {
		if _, err := r.config.load(art.Path); err != nil {
			if !art.Optional {
				return nil, err
			}
			r.out.Add(tool.Skipped(tool.Source{ID: tool.BlockSource(adkFramework, art.Path), Type: adkFramework, Path: art.Path}, err))
		}
	}
	if err := r.inventories(m.ADK.Inventories); err != nil {
		return nil, err
	}
	for _, art := range m.ADK.EvalSets {
		n, err := r.around(art, "google_adk_eval_set")
		if err != nil {
			return nil, err
		}
		r.facts().EvalFiles += n
	}
	for _, art := range m.ADK.Traces {
		if _, err := r.around(art, "google_adk_trace_sample"); err != nil {
			return nil, err
		}
	}
	return r.finish(tool.Source{ID: adkFramework, Type: adkFramework, Path: m.Name}), nil
}

// ReadADKSource reads one row of tool_sources of type google_adk: a Python file,
// a folder of them with the root_agent.yaml that may lie there, or an agent
// configuration.
func ReadADKSource(_ *manifest.Manifest, s manifest.Source, tree fs.FS) (*tool.Reading, *tool.SourceError) {
	r := newADK(s.ID, tree)
	configs := []string{s.Path}
	if !isConfig(s.Path) {
		configs = nil
		root := path.Join(s.Path, "root_agent.yaml")
		_, serr := tool.ReadFile(tree, root)
		if serr == nil {
			configs = append(configs, root)
		}
		if err := r.load(tree, s.Path); err != nil && (serr != nil || err.Problem != tool.NotThere) {
			return nil, err
		}
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	for _, name := range configs {
		if _, err := r.config.load(name); err != nil {
			return nil, err
		}
	}
	return r.out, nil
}

type adkReader struct {
	*program
	tree   fs.FS
	config *adkConfig
	long   map[*python.Function]bool // wrapped as LongRunningFunctionTool somewhere
	met    map[*python.Call]bool     // toolsets that an agent holds
	held   map[place]string          // the agents that hold them, by where they stand
	listed map[string][]string       // names of the tools of inventories and documents by path
}

// place is where a call stands.
type place struct {
	path string
	at   source.Position
}

// meet notes that an agent holds a toolset.
func (r *adkReader) meet(h holder, m *module, c *python.Call) {
	r.met[c] = true
	r.held[place{m.path, source.Position(c.Start)}] = h.name
}

func newADK(sourceID string, tree fs.FS) *adkReader {
	r := &adkReader{
		program: newProgram(adkFramework, sourceID), tree: tree, long: map[*python.Function]bool{}, met: map[*python.Call]bool{},
		held:   map[place]string{},
		listed: map[string][]string{},
	}
	r.out.ADK = &tool.ADK{}
	r.config = &adkConfig{adkReader: r, names: map[string]string{}}
	return r
}

func (r *adkReader) facts() *tool.ADK { return r.out.ADK }

// adk says whether an expression may mean one of names of the kit.
func (m *module) adk(e python.Expr, names ...string) bool {
	return strings.HasPrefix(m.which(e, names, adkPackages), "google.adk")
}

// isAgent says whether a call makes an agent: of a class of the kit, or of the
// program made from one.
func (r *adkReader) isAgent(m *module, c *python.Call) bool {
	return m.adk(c.Func, adkAgents...) || m.makesOwn(c, adkAgents, adkPackages)
}

// makesOwn says whether a call makes an object of a class of the program that
// is made from one of names.
func (m *module) makesOwn(c *python.Call, names, packages []string) bool {
	for _, d := range m.defs(c.Func) {
		if d.classIs(names, packages) {
			return true
		}
	}
	return false
}

// read finds the agents of all modules, and what each of them holds.
func (r *adkReader) read() *tool.SourceError {
	for _, m := range r.modules {
		targets := m.targets()
		m.file.Inspect(func(n python.Node) bool {
			switch n := n.(type) {
			case *python.Call:
				r.name(m, n, targets)
			case *python.Class:
				r.ownClass(m, n)
			}
			return true
		})
	}
	for _, m := range r.modules {
		var fault *tool.SourceError
		m.file.Inspect(func(n python.Node) bool {
			if c, ok := n.(*python.Call); ok && fault == nil {
				if fault = r.call(m, c); fault == nil {
					fault = r.overfull()
				}
			}
			return fault == nil
		})
		if fault != nil {
			return fault
		}
	}
	for _, m := range r.modules {
		if err := r.loose(m); err != nil {
			return err
		}
	}
	for _, m := range r.modules {
		if err := r.added(m); err != nil {
			return err
		}
	}
	r.toolkits()
	r.bindToolkits()
	_, err := r.done()
	return err
}

// bindToolkits names a toolset that stands in an agent's list after the agent.
func (r *adkReader) bindToolkits() {
	for i := range r.out.Toolkit {
		k := &r.out.Toolkit[i]
		if agent := r.held[place{k.Origin.Path, k.Origin.Start}]; k.Binding == "" {
			k.Binding = agent
		}
	}
}

// added reads what is given to an agent after it was made.
func (r *adkReader) added(m *module) *tool.SourceError {
	var fault *tool.SourceError
	m.handedOn([]string{"tools", "sub_agents"})
	m.afterwards([]string{"tools", "sub_agents"}, func(h holder, attr string, l *list) {
		if fault != nil {
			return
		}
		for _, it := range l.items {
			it.sure = it.sure && l.complete()
			if attr == "sub_agents" {
				r.subAgent(h, it)
			} else if err := r.item(h, it, 0); err != nil && fault == nil {
				fault = err
			}
		}
		h.gaps(map[string]string{"tools": "tool_list", "sub_agents": "sub_agents"}[attr], l)
		if fault == nil {
			fault = r.overfull()
		}
	})
	return fault
}

// name notes agents and what is wrapped as long-running.
func (r *adkReader) name(m *module, c *python.Call, targets map[*python.Call]string) {
	switch {
	case r.isAgent(m, c):
		r.agents[c] = m.agentName(c, targets, argument(c, "name", -1), "agent")
	case m.adk(c.Func, "LongRunningFunctionTool"):
		for _, d := range m.defs(argument(c, "func", 0)) {
			if d.bind.Function != nil {
				r.long[d.bind.Function] = true
			}
		}
	}
}

// ownClass treats a class made from an agent class, which passes its tools to
// super().__init__ itself, as an agent of its name.
func (r *adkReader) ownClass(m *module, class *python.Class) {
	own := def{mod: m, bind: &python.Binding{Class: class}}
	if !own.classIs(adkAgents, adkPackages) {
		return
	}
	for _, s := range class.Body {
		python.Inspect(s, func(n python.Node) bool {
			if c, ok := n.(*python.Call); ok && isSuperInit(c) && (c.Arg("tools") != nil || c.Arg("sub_agents") != nil) {
				r.agents[c] = class.Name
			}
			return true
		})
	}
}

func isSuperInit(c *python.Call) bool {
	a, ok := c.Func.(*python.Attribute)
	if !ok || a.Name != "__init__" {
		return false
	}
	up, ok := a.Value.(*python.Call)
	return ok && label(up.Func) == "super"
}

// call reads one call: an agent, or an app or a runner with plugins.
func (r *adkReader) call(m *module, c *python.Call) *tool.SourceError {
	if plugins := c.Arg("plugins"); plugins != nil && m.adk(c.Func, "App", "Runner", "InMemoryRunner") {
		r.facts().Callbacks += elements(m, plugins)
	}
	if name := r.agents[c]; name != "" {
		return r.agent(m, c, name)
	}
	return nil
}

// elements counts what a list holds as far as it is written down, one for
// anything that is no list.
func elements(m *module, e python.Expr) int {
	switch v := m.file.Value(e).(type) {
	case *python.Sequence:
		return len(v.Items)
	case *python.Constant:
		return 0
	}
	return 1
}

func (r *adkReader) agent(m *module, c *python.Call, name string) *tool.SourceError {
	r.out.Agents = append(r.out.Agents, tool.Agent{Name: name, Origin: m.origin(adkFramework, c.Range)})
	r.facts().Agents++
	h := holder{m, name, c.Range}
	for _, a := range c.Args {
		if strings.HasSuffix(a.Name, "_callback") || strings.HasSuffix(a.Name, "_callbacks") || a.Name == "plugins" {
			r.facts().Callbacks += elements(m, a.Value)
		}
	}
	if tools := c.Arg("tools"); tools != nil {
		l := m.readList(tools)
		for _, it := range l.items {
			it.sure = it.sure && l.complete()
			if err := r.item(h, it, 0); err != nil {
				return err
			}
			if err := r.overfull(); err != nil {
				return err
			}
		}
		h.gaps("tool_list", l)
	}
	if agents := c.Arg("sub_agents"); agents != nil {
		l := m.readList(agents)
		for _, it := range l.items {
			it.sure = it.sure && l.complete()
			r.subAgent(h, it)
		}
		h.gaps("sub_agents", l)
	}
	if run := c.Arg("code_executor"); run != nil && elements(m, run) > 0 {
		r.prebuilt(h, item{m, run, true}, "code_executor", "runs code that the model writes")
	}
	if c.Spread() {
		m.dynamic("tool_list", unsupported, name, "", c.Range)
	}
	return nil
}

// subAgent adds one element of sub_agents, or the agent behind an AgentTool.
func (r *adkReader) subAgent(h holder, it item) {
	names := it.mod.agentsOf(it.expr)
	for _, name := range names {
		h.edge(tool.Subagent, name, item{it.mod, it.expr, it.sure && len(names) == 1})
	}
	if len(names) > 0 {
		return
	}
	to := label(it.expr)
	it.mod.dynamic("sub_agents", reasonOf(it.expr), h.name, to, it.expr.At())
	if to != "" {
		h.edge(tool.Subagent, to, item{it.mod, it.expr, false})
	}
}

// item adds one element of a list of tools.
func (r *adkReader) item(h holder, it item, hop int) *tool.SourceError {
	if t, ok := it.expr.(*python.Conditional); ok && hop < maxHops {
		it.mod.dynamic("tool_list", conditional, h.name, "", t.Range)
		for _, e := range []python.Expr{t.Then, t.Else} {
			if err := r.item(h, item{it.mod, e, false}, hop+1); err != nil {
				return err
			}
		}
		return nil
	}
	defs := it.mod.defsOf(it.expr)
	for _, d := range defs {
		// What an element means is read where it is defined; the edge stands
		// where the list is.
		one := item{it.mod, it.expr, it.sure && len(defs) == 1}
		known, err := r.means(h, one, d)
		if err != nil {
			return err
		}
		if !known {
			it.mod.dynamic("tool", d.unknown(it.expr), h.name, label(it.expr), it.expr.At())
		}
	}
	if len(defs) == 0 {
		it.mod.dynamic("tool", reasonOf(it.expr), h.name, label(it.expr), it.expr.At())
	}
	return nil
}

// unknown is why a definition is nothing that a reader understands.
func (d def) unknown(e python.Expr) string {
	switch d.bind.Value.(type) {
	case *python.Call, *python.Await:
		return runtimeCall
	case *python.Comprehension:
		return comprehension
	}
	if d.bind.Kind == python.Imported || d.bind.Kind == python.Parameter || d.bind.Kind == python.Bound {
		return unresolvedName
	}
	return reasonOf(e)
}

// means adds what one definition offers; false when it is not understood.
func (r *adkReader) means(h holder, it item, d def) (bool, *tool.SourceError) {
	switch {
	case d.bind.Function != nil:
		h.edge(tool.DirectTool, r.function(d, nil), it)
		return true, nil
	case d.bind.Kind == python.Imported:
		if strings.HasPrefix(d.bind.Import, "google.adk.") {
			r.prebuilt(h, it, last(d.bind.Import), "")
			return true, nil
		}
		return false, nil
	case d.bind.Value == nil:
		return false, nil
	}
	value := d.bind.Value
	if w, ok := value.(*python.Await); ok {
		value = w.Value
	}
	if c, ok := value.(*python.Call); ok {
		return r.made(h, it, d.mod, c)
	}
	return false, nil
}

// function emits a function as a tool, once.
func (r *adkReader) function(d def, notes map[string]any) string {
	f := d.bind.Function
	t := d.mod.function(f, adkFunction)
	withoutContext(&t)
	t.Output = d.mod.returned(f)
	if r.long[f] {
		t.Annotations["long_running"] = true
	}
	for key, value := range notes {
		t.Annotations[key] = value
	}
	return d.mod.emit(f, t)
}

// withoutContext drops the parameter that the kit fills in by its name alone.
func withoutContext(t *tool.Tool) {
	const name = "tool_context"
	schema, _ := t.Input.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	if _, ok := properties[name]; !ok {
		return
	}
	delete(properties, name)
	if required, ok := schema["required"].([]any); ok {
		schema["required"] = slices.DeleteFunc(required, func(v any) bool { return v == name })
	}
	t.Params = tool.Parameters(schema)
}

// made adds what a call offers: a wrapped function, an agent, a toolset, or a
// tool of the kit or of the program's own.
func (r *adkReader) made(h holder, it item, m *module, c *python.Call) (bool, *tool.SourceError) {
	switch {
	case m.adk(c.Func, "FunctionTool", "LongRunningFunctionTool"):
		return r.wrapped(h, it, m, c), nil
	case m.adk(c.Func, "AgentTool"):
		r.subAgent(h, item{m, argument(c, "agent", 0), it.sure})
		return true, nil
	case m.adk(c.Func, "OpenAPIToolset"):
		r.meet(h, m, c)
		return true, r.document(h, it, m, c)
	case r.isToolset(m, c):
		r.meet(h, m, c)
		return true, r.openToolset(h.name, m, c)
	case m.makesOwn(c, []string{"BaseTool", "FunctionTool"}, adkPackages):
		return r.ownTool(h, it, m, c), nil
	case m.adk(c.Func, "LangchainTool", "CrewaiTool"):
		name, ok := m.file.Text(c.Arg("name"))
		if !ok {
			return false, nil
		}
		r.prebuilt(h, it, name, "")
		return true, nil
	case strings.HasPrefix(m.external(c.Func), "google.adk.tools."):
		r.prebuilt(h, it, last(m.external(c.Func)), "")
		return true, nil
	}
	return false, nil
}

// wrapped is FunctionTool(f) and LongRunningFunctionTool(f).
func (r *adkReader) wrapped(h holder, it item, m *module, c *python.Call) bool {
	target := argument(c, "func", 0)
	found := false
	for _, d := range m.defs(target) {
		if d.bind.Function == nil {
			continue
		}
		notes := map[string]any{}
		if k, ok := c.Arg("require_confirmation").(*python.Constant); ok && k.Text == "True" {
			notes["adk_require_confirmation"] = true
		}
		h.edge(tool.DirectTool, r.function(d, notes), it)
		found = true
	}
	return found
}

// prebuilt adds a tool that the kit brings: its name is all that is known.
func (r *adkReader) prebuilt(h holder, it item, name, text string) {
	t := tool.Tool{
		Name: name, Description: text, Origin: it.mod.origin(adkPrebuilt, it.expr.At()),
		Annotations: map[string]any{}, Method: "prebuilt", Confidence: tool.Low,
	}
	h.edge(tool.DirectTool, r.once(t), it)
}

// ownTool is an object of a class that the program makes from BaseTool. What it
// takes is decided in its code.
func (r *adkReader) ownTool(h holder, it item, m *module, c *python.Call) bool {
	for _, d := range m.defs(c.Func) {
		if d.bind.Class == nil {
			continue
		}
		t := tool.Tool{
			Name: d.bind.Class.Name, Description: docstring(d.bind.Class.Body), Origin: d.mod.origin(adkFunction, d.bind.Class.Range),
			Annotations: map[string]any{}, Method: "parsed", Confidence: tool.Low,
		}
		python.Inspect(d.bind.Class, func(n python.Node) bool {
			up, ok := n.(*python.Call)
			if !ok || !isSuperInit(up) {
				return true
			}
			if name, ok := d.mod.file.Text(up.Arg("name")); ok && name != "" {
				t.Name = name
			}
			if text, ok := d.mod.file.Text(up.Arg("description")); ok {
				t.Description = paragraph(text)
			}
			if k, ok := up.Arg("is_long_running").(*python.Constant); ok && k.Text == "True" {
				t.Annotations["long_running"] = true
			}
			return true
		})
		h.edge(tool.DirectTool, d.mod.emit(d.bind.Class, t), it)
		return true
	}
	return false
}
