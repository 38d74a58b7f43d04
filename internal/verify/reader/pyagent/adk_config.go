package pyagent

import (
	"path"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

// maxConfigs bounds how many Agent Config files one source may lead to.
const maxConfigs = 500

// isConfig says whether a path is an Agent Config rather than Python.
func isConfig(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// An adkConfig reads Agent Config files of Google ADK: one agent per file, its
// tools by name, its sub-agents by file, by code or inline.
type adkConfig struct {
	*adkReader
	names map[string]string // agents by file; "" while a file is being read
}

// A place is a value in a config file.
type configPlace struct {
	file string
	json bool
	keys []string
}

func (p configPlace) below(keys ...string) configPlace {
	p.keys = append(p.keys[:len(p.keys):len(p.keys)], keys...)
	return p
}

func (c *adkConfig) origin(v source.Value, at configPlace) tool.Origin {
	o := tool.Origin{Type: "google_adk_config", SourceID: c.sourceID, Ref: at.file, Path: at.file, Start: v.Pos, EndLine: tool.EndLine(v)}
	if at.json {
		o.Pointer = tool.Pointer(at.keys...)
	}
	return o
}

// load reads one config file and everything it leads to, and answers with the
// name of its agent.
func (c *adkConfig) load(name string) (string, *tool.SourceError) {
	clean, ok := tool.Clean(name)
	if !ok {
		return "", c.owned(&tool.SourceError{Path: name, Problem: tool.Outside, Detail: "the path leaves the manifest directory"})
	}
	if agent, known := c.names[clean]; known {
		return agent, nil
	}
	if len(c.names) == maxConfigs {
		return "", c.owned(&tool.SourceError{Path: clean, Problem: tool.TooLarge, Detail: "leads to more than 500 agent configurations"})
	}
	text, err := tool.ReadFile(c.tree, clean)
	if err != nil {
		return "", c.owned(err)
	}
	root, err := tool.Parse(clean, text)
	if err != nil {
		return "", c.owned(err)
	}
	if root.Kind != source.Map || root.Get("name").Str() == "" {
		return "", c.owned(&tool.SourceError{Path: clean, Line: root.Pos.Line, Problem: tool.Malformed, Detail: "is not an agent configuration: an object with a name"})
	}
	c.names[clean] = root.Get("name").Str()
	return c.agent(root, configPlace{file: clean, json: tool.IsJSON(clean, text)}, 0)
}

// agent reads one agent, of a file or inline.
func (c *adkConfig) agent(v source.Value, at configPlace, depth int) (string, *tool.SourceError) {
	name := v.Get("name").Str()
	c.out.Agents = append(c.out.Agents, tool.Agent{Name: name, Origin: c.origin(v, at)})
	c.facts().Agents++
	for _, m := range v.Members {
		if strings.HasSuffix(m.Key, "callbacks") || strings.HasSuffix(m.Key, "callback") || m.Key == "plugins" {
			c.facts().Callbacks += max(len(m.Value.Items), one(m.Value))
		}
	}
	tools := v.Get("tools")
	if tools.Present() && tools.Kind != source.List && tools.Kind != source.Null {
		c.unread(name, "tool_list", "", c.origin(tools, at.below("tools")))
	}
	for i, item := range tools.Items {
		if err := c.tool(name, item, at.below("tools", strconv.Itoa(i))); err != nil {
			return "", err
		}
	}
	for i, item := range v.Get("sub_agents").Items {
		if err := c.subAgent(name, item, at.below("sub_agents", strconv.Itoa(i)), depth); err != nil {
			return "", err
		}
	}
	return name, nil
}

// one counts a value that is no list: 1 when it says something.
func one(v source.Value) int {
	if v.Kind == source.Map || v.Kind == source.String && v.Text != "" {
		return 1
	}
	return 0
}

// unread records an entry that says nothing a reader understands.
func (c *adkConfig) unread(agent, kind, name string, at tool.Origin) {
	at.Type = "google_adk"
	c.out.Dynamic = append(c.out.Dynamic, tool.Dynamic{
		Framework: "google_adk", Kind: kind, Reason: unsupported, Agent: agent, Name: name, Origin: at,
	})
}

// tool reads one entry of tools: a name, or an object with a name and args.
func (c *adkConfig) tool(agent string, v source.Value, at configPlace) *tool.SourceError {
	ref := v.Str()
	if v.Kind == source.Map {
		ref = v.Get("name").Str()
	}
	o, args := c.origin(v, at), v.Get("args")
	if ref == "" {
		c.unread(agent, "tool_list", "", o)
		return nil
	}
	switch base := last(ref); {
	case strings.HasSuffix(base, "Toolset"):
		return c.toolset(agent, base, v, args, o)
	case base == "AgentTool":
		return c.agentTool(agent, args.Get("agent"), at.below("args", "agent"), o)
	case base == "LongRunningFunctionTool" || base == "FunctionTool":
		if f := args.Get("func").Str(); f != "" {
			t := c.named(last(f), f, v, o)
			if base == "LongRunningFunctionTool" {
				t.Annotations["long_running"] = true
			}
			c.give(agent, t)
			return nil
		}
	}
	c.give(agent, c.named(last(ref), ref, v, o))
	return nil
}

// named is a tool that a config names, with what it says about it.
func (c *adkConfig) named(name, ref string, v source.Value, o tool.Origin) tool.Tool {
	t := tool.Tool{
		Name: name, Description: v.Get("description").Str(), Origin: o, Method: "declared", Confidence: tool.High,
		Annotations: map[string]any{},
	}
	if given, ok := tool.Plain(v.Get("annotations")).(map[string]any); ok {
		t.Annotations = given
	}
	if ref != name {
		t.Annotations["adk_reference"] = ref
	}
	if v.Get("long_running").True() || v.Get("is_long_running").True() {
		t.Annotations["long_running"] = true
	}
	for _, key := range []string{"input_schema", "inputSchema", "parameters"} {
		if s := v.Get(key); s.Kind == source.Map && t.Input == nil {
			t.Input = tool.Plain(s)
			t.Params = tool.Parameters(t.Input)
		}
	}
	for _, key := range []string{"output_schema", "outputSchema"} {
		if s := v.Get(key); s.Kind == source.Map && t.Output == nil {
			t.Output = tool.Plain(s)
		}
	}
	return t
}

// give adds a tool and the edge to it.
func (c *adkConfig) give(agent string, t tool.Tool) {
	c.out.Edges = append(c.out.Edges, tool.Edge{
		Kind: tool.DirectTool, Agent: agent, To: c.once(t), Complete: true, Declared: true, Origin: t.Origin,
	})
}

// toolset reads a toolset: the tools of its inventory, or a dynamic surface.
func (c *adkConfig) toolset(agent, class string, v, args source.Value, o tool.Origin) *tool.SourceError {
	ts := adkToolset{class: class, agent: agent, at: o, base: path.Dir(o.Path), declared: true}
	if filter := first2(args.Get("tool_filter"), v.Get("tool_filter")); filter.Kind == source.List {
		for _, item := range filter.Strings() {
			ts.filter = append(ts.filter, item.Text)
		}
		ts.limited = len(ts.filter) == len(filter.Items)
	}
	for _, from := range []source.Value{args, v} {
		for _, key := range []string{"inventory_path", "tool_inventory_path"} {
			if ts.inventory == "" {
				ts.inventory = from.Get(key).Str()
			}
		}
	}
	return c.open(&ts)
}

func first2(a, b source.Value) source.Value {
	if a.Present() {
		return a
	}
	return b
}

// agentTool is an agent that is offered as a tool: the agent behind it is what
// can be reached.
func (c *adkConfig) agentTool(agent string, v source.Value, at configPlace, o tool.Origin) *tool.SourceError {
	if !v.Present() {
		c.unread(agent, "tool_list", "AgentTool", o)
		return nil
	}
	return c.subAgent(agent, v, at, 0)
}

// subAgent reads one entry of sub_agents.
func (c *adkConfig) subAgent(agent string, v source.Value, at configPlace, depth int) *tool.SourceError {
	o := c.origin(v, at)
	edge := tool.Edge{Kind: tool.Subagent, Agent: agent, Complete: true, Declared: true, Origin: o}
	file := v.Get("config_path").Str()
	if file == "" && v.Kind == source.String && isConfig(v.Text) {
		file = v.Text
	}
	code := v.Get("code").Str()
	if code == "" && file == "" {
		code = v.Str()
	}
	switch {
	case file != "":
		if strings.HasPrefix(file, "/") {
			return c.owned(&tool.SourceError{Path: file, Problem: tool.Outside, Detail: "the path leaves the manifest directory"})
		}
		name, err := c.load(path.Join(path.Dir(at.file), file))
		if err != nil {
			return err
		}
		edge.To = name
	case code != "":
		if edge.To = c.inCode(code); edge.To == "" {
			edge.To, edge.Complete, edge.Unproven = last(code), false, unresolvedName
		}
	case v.Kind == source.Map && v.Get("name").Str() != "":
		if depth > maxHops {
			return c.owned(&tool.SourceError{Path: at.file, Problem: tool.TooLarge, Detail: "nests agents too deep"})
		}
		name, err := c.agent(v, at, depth+1)
		if err != nil {
			return err
		}
		edge.To = name
	default:
		c.unread(agent, "sub_agents", "", o)
		return nil
	}
	c.out.Edges = append(c.out.Edges, edge)
	return nil
}

// inCode is the agent of the program that a dotted name means: the variable of a
// module whose last name fits, because the manifest may lie inside of the
// package. It is "" when there is none or more than one.
func (c *adkConfig) inCode(code string) string {
	parts := strings.Split(code, ".")
	found := map[string]bool{}
	for _, m := range c.modules {
		own := m.segments()
		if n := len(parts) - 2; n >= 0 && (len(own) == 0 || own[len(own)-1] != parts[n]) {
			continue
		}
		for _, d := range m.top(parts[len(parts)-1], 0) {
			if call, ok := d.bind.Value.(*python.Call); ok && c.agents[call] != "" {
				found[c.agents[call]] = true
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	for name := range found {
		return name
	}
	return ""
}
