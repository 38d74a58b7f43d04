package pyagent

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/tool"
)

// allowLists are the arguments that limit what a constructor opens. No provider
// is named: the rule is about the form.
var allowLists = []string{
	"actions", "allowed_actions", "allowed_operations", "allowed_tool_names", "allowed_tools", "apis", "enabled_tools", "include_tools",
	"included_tools", "operations", "permissions", "scopes", "selected_tools", "tool_filter", "tool_names", "toolsets", "include",
}

// configurations are the arguments that say where a toolkit is described.
var configurations = []string{"config", "config_file", "config_path", "configuration", "file", "file_path", "manifest", "path", "settings", "spec", "tool_config"}

// toolkits notes every constructor from outside of the program that opens a
// family of tools (tool.Toolkit): one that is called so, that takes an
// allow-list, or that an agent gets tools from. An allow-list that is computed counts as none, so that replacing a
// literal list by a computed one is seen as opening.
func (p *program) toolkits() {
	for _, m := range p.modules {
		bound := m.bindings()
		m.file.Inspect(func(n python.Node) bool {
			c, ok := n.(*python.Call)
			if !ok {
				return true
			}
			q := m.constructor(c.Func)
			if q == "" {
				return true
			}
			limit, given := m.limits(c)
			if !given && !opens(last(q)) && (!p.offering[c] || p.ownClass(c, q)) {
				return true
			}
			k := tool.Toolkit{
				Provider: q[:max(strings.LastIndexByte(q, '.'), 0)], Constructor: last(q), Binding: bound[c],
				Scopes: limit, Limited: limit != nil, Config: m.configured(c), Origin: m.origin(p.framework, c.Range),
			}
			if head, method, ok := cutConstructor(q); ok {
				k.Provider, k.Constructor = head[:max(strings.LastIndexByte(head, '.'), 0)], last(head)+"."+method
			}
			if k.Binding == "" {
				k.Binding = p.ownerName(c)
			}
			p.out.Toolkit = append(p.out.Toolkit, k)
			return true
		})
	}
}

// ownClass says whether a constructor is a framework's own, or was read as a tool
// or an agent: then it brings no family of tools with it.
func (p *program) ownClass(c *python.Call, q string) bool {
	_, listed := p.made[c]
	return listed || p.agents[c] != "" || strings.HasPrefix(q, "google.adk.") ||
		slices.Contains([]string{"agents", "openai_agents", "langchain", "langchain_core", "langgraph", "crewai", "crewai_tools"}, first(q))
}

// bindings say what each call is assigned to, and for a call inside of another
// what that one is assigned to.
func (m *module) bindings() map[*python.Call]string {
	bound := m.targets()
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if !ok || bound[c] == "" {
			return true
		}
		for _, a := range c.Args {
			python.Inspect(a.Value, func(n python.Node) bool {
				if inner, ok := n.(*python.Call); ok {
					if bound[inner] != "" {
						return false
					}
					bound[inner] = bound[c]
				}
				return true
			})
		}
		return true
	})
	return bound
}

// offers notes the constructors of others that an element of a list, or a call
// such as kit.get_tools(), gets its tools from.
func (m *module) offers(e python.Expr, hop int) {
	if hop > maxHops {
		return
	}
	switch e := e.(type) {
	case *python.Await:
		m.offers(e.Value, hop+1)
	case *python.Call:
		if m.constructor(e.Func) != "" {
			m.prog.offering[e] = true
		} else if a, ok := e.Func.(*python.Attribute); ok {
			m.offers(a.Value, hop+1)
		}
	case *python.Name, *python.Attribute:
		for _, d := range m.defs(e) {
			if c, ok := d.bind.Value.(*python.Call); ok {
				d.mod.offers(c, hop+1)
			}
		}
	}
}

// constructor is the qualified name of a class of somebody else's, or of a
// from_… method of it; "" for anything else.
func (m *module) constructor(e python.Expr) string {
	q := m.external(e)
	if q == "" || !strings.Contains(q, ".") {
		return ""
	}
	if _, _, ok := cutConstructor(q); ok {
		return q
	}
	if name := last(q); name[0] >= 'A' && name[0] <= 'Z' {
		return q
	}
	return ""
}

// cutConstructor takes a.Class.from_x apart.
func cutConstructor(q string) (class, method string, ok bool) {
	i := strings.LastIndexByte(q, '.')
	if i < 0 || !strings.HasPrefix(q[i+1:], "from_") && q[i+1:] != "create" {
		return "", "", false
	}
	name := last(q[:i])
	return q[:i], q[i+1:], name != "" && name[0] >= 'A' && name[0] <= 'Z'
}

// opens says whether a class of this name offers tools that its call does not
// list.
func opens(name string) bool {
	lower := strings.ToLower(name)
	return strings.Contains(lower, "toolkit") || strings.Contains(lower, "toolset") ||
		strings.Contains(lower, "mcp") && (strings.Contains(lower, "server") || strings.Contains(lower, "client") || strings.Contains(lower, "tool"))
}

// limits is the literal allow-list of a call, sorted; given says whether there
// is an argument for one at all.
func (m *module) limits(c *python.Call) (limit []string, given bool) {
	l := limits{mod: m, found: map[string]bool{}}
	l.call(c, 0)
	if !l.literal {
		return nil, l.given
	}
	limit = []string{}
	for s := range l.found {
		limit = append(limit, s)
	}
	slices.Sort(limit)
	return limit, true
}

// limits collects what limits a constructor.
type limits struct {
	mod     *module
	found   map[string]bool
	given   bool
	literal bool
}

func (l *limits) call(c *python.Call, hop int) {
	for _, a := range c.Args {
		switch {
		case a.Stars > 0:
		case slices.Contains(allowLists, a.Name):
			l.list(a.Value, hop)
		case slices.Contains(configurations, a.Name):
			l.config(a.Value, hop)
		}
	}
}

// list is the value of an allow-list: a literal, or something made from one,
// such as a filter.
func (l *limits) list(e python.Expr, hop int) {
	l.given = true
	if v, ok := l.mod.file.Literal(l.mod.unwrap(e)); ok {
		if v != nil { // None is no limit
			l.literal = true
			flatten(v, "", l.found)
		}
		return
	}
	if hop > maxHops {
		return
	}
	switch e := l.mod.file.Value(e).(type) {
	case *python.Call:
		l.call(e, hop+1)
	case *python.Dict:
		l.dict(e, hop)
	}
}

// config is a configuration that may hold an allow-list beside values that are
// computed.
func (l *limits) config(e python.Expr, hop int) {
	if hop > maxHops {
		return
	}
	switch e := l.mod.file.Value(e).(type) {
	case *python.Dict:
		l.dict(e, hop)
	case *python.Call:
		l.call(e, hop+1)
	}
}

func (l *limits) dict(e *python.Dict, hop int) {
	for _, item := range e.Items {
		key, _ := l.mod.file.Text(item.Key)
		if slices.Contains(allowLists, key) {
			l.list(item.Value, hop+1)
		} else {
			l.config(item.Value, hop+1)
		}
	}
}

// unwrap is the list that set(…), list(…) and the like are made of.
func (m *module) unwrap(e python.Expr) python.Expr {
	c, ok := m.file.Value(e).(*python.Call)
	if !ok || len(c.Args) != 1 {
		return e
	}
	if n, ok := c.Func.(*python.Name); ok && m.file.Lookup(n) == nil && c.Positional(0) != nil &&
		(n.ID == "set" || n.ID == "list" || n.ID == "tuple" || n.ID == "frozenset") {
		return c.Args[0].Value
	}
	return e
}

// flatten gives the texts of a list, and the paths of a dict to what is true or
// a text.
func flatten(v any, prefix string, into map[string]bool) {
	switch v := v.(type) {
	case string:
		into[joinPath(prefix, v)] = true
	case bool:
		if v && prefix != "" {
			into[prefix] = true
		}
	case []any:
		for _, item := range v {
			flatten(item, prefix, into)
		}
	case map[string]any:
		for key, item := range v {
			if prefix == "" && slices.Contains(allowLists, key) {
				flatten(item, "", into)
				continue
			}
			flatten(item, joinPath(prefix, key), into)
		}
	}
}

func joinPath(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// configured is what says what a toolkit opens: "env NAME" or a path of a file.
// An address is not kept: it may carry a secret.
func (m *module) configured(c *python.Call) string {
	for _, a := range c.Args {
		if a.Stars > 0 || a.Name != "" && !slices.Contains(configurations, a.Name) {
			continue
		}
		if name := m.environment(a.Value); name != "" && a.Name != "" {
			return "env " + name
		}
		text, ok := m.file.Text(a.Value)
		if ok && isFile(text) && (a.Name != "" || strings.Contains(label(c.Func), ".from_")) {
			return text
		}
	}
	return ""
}

func isFile(text string) bool {
	if text == "" || len(text) > 200 || strings.Contains(text, "://") || strings.ContainsAny(text, "\n\x00=") {
		return false
	}
	for _, end := range [...]string{".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".env", ".py"} {
		if strings.HasSuffix(text, end) {
			return true
		}
	}
	return false
}

// environment is the name of the variable that os.environ[…], os.environ.get(…)
// or os.getenv(…) reads.
func (m *module) environment(e python.Expr) string {
	var key python.Expr
	switch e := m.file.Value(e).(type) {
	case *python.Subscript:
		if m.file.Is(e.Value, "os.environ") {
			key = e.Index
		}
	case *python.Call:
		if m.file.Is(e.Func, "os.getenv", "os.environ.get") {
			key = e.Positional(0)
		}
	}
	name, _ := m.file.Text(key)
	return name
}

// targets says which name each call is assigned to: a variable, or an attribute
// of an object.
func (m *module) targets() map[*python.Call]string {
	found := map[*python.Call]string{}
	note := func(target, value python.Expr) {
		for _, c := range piped(value, nil, 0) {
			switch t := target.(type) {
			case *python.Name:
				found[c] = t.ID
			case *python.Attribute:
				found[c] = t.Name
			}
		}
	}
	m.file.Inspect(func(n python.Node) bool {
		switch n := n.(type) {
		case *python.Assign:
			for _, target := range n.Targets {
				list, ok := target.(*python.Sequence)
				values, same := n.Value.(*python.Sequence)
				if !ok || !same || len(list.Items) != len(values.Items) {
					note(target, n.Value)
					continue
				}
				for i := range list.Items {
					note(list.Items[i], values.Items[i])
				}
			}
		case *python.AnnAssign:
			note(n.Target, n.Value)
		case *python.Walrus:
			note(n.Target, n.Value)
		case *python.With:
			for _, w := range n.Items {
				if w.Target != nil {
					note(w.Target, w.Context)
				}
			}
		}
		return true
	})
	return found
}

// piped are the calls that a | b | c is made of; one call is itself.
func piped(e python.Expr, into []*python.Call, hop int) []*python.Call {
	if hop > 2*maxParts {
		return into
	}
	switch e := e.(type) {
	case *python.Call:
		return append(into, e)
	case *python.Await:
		return piped(e.Value, into, hop+1)
	case *python.Binary:
		if e.Op == "|" {
			return piped(e.Right, piped(e.Left, into, hop+1), hop+1)
		}
	}
	return into
}

// ownerName is the function or class around a call.
func (p *program) ownerName(c *python.Call) string {
	switch o := p.owners[c].(type) {
	case *python.Function:
		return o.Name
	case *python.Class:
		return o.Name
	}
	return ""
}
