package pyagent

import (
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/python"
	"plimsoll.dev/internal/verify/reader/listing"
	"plimsoll.dev/internal/verify/reader/openapi"
	"plimsoll.dev/internal/verify/tool"
)

const (
	adkInventory = "google_adk_inventory"
	adkMCPTool   = "google_adk_mcp_tool"
)

// An adkToolset is a constructor of tools that nobody lists in the code.
type adkToolset struct {
	class, agent string
	at           tool.Origin
	base         string // folder that a relative path may also be meant from
	declared     bool   // by a configuration, not by code
	limited      bool   // a filter is written down in full
	filter       []string
	inventory    string
}

// isToolset says whether a call makes a toolset: by its name where it comes
// from outside of the program, else by its class.
func (r *adkReader) isToolset(m *module, c *python.Call) bool {
	if q := m.external(c.Func); q != "" && strings.HasSuffix(strings.ToLower(last(q)), "toolset") {
		return true
	}
	return m.adk(c.Func, "McpToolset", "MCPToolset") || m.makesOwn(c, []string{"BaseToolset", "McpToolset", "MCPToolset"}, adkPackages)
}

// openToolset reads what a toolset's call says.
func (r *adkReader) openToolset(agent string, m *module, c *python.Call) *tool.SourceError {
	ts := adkToolset{
		class: last(label(c.Func)), agent: agent, at: m.origin(adkFramework, c.Range), base: path.Dir(m.path),
	}
	if q := m.external(c.Func); q != "" {
		ts.class = last(q)
	}
	ts.filter, ts.limited = m.filter(c)
	for _, key := range []string{"inventory_path", "tool_inventory_path"} {
		if a := c.Arg(key); a != nil {
			ts.inventory = m.filePath(a)
		}
	}
	return r.open(&ts)
}

// filter is the literal tool_filter of a call.
func (m *module) filter(c *python.Call) (names []string, limited bool) {
	a := c.Arg("tool_filter")
	if a == nil {
		return nil, false
	}
	v, ok := m.file.Literal(m.unwrap(a))
	list, isList := v.([]any)
	if !ok || !isList {
		return nil, false
	}
	for _, item := range list {
		name, ok := item.(string)
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// open adds what stands for a toolset: its inventory, what its filter names, or
// only that it is there.
func (r *adkReader) open(ts *adkToolset) *tool.SourceError {
	d := tool.Dynamic{
		Framework: adkFramework, Kind: "toolset", Reason: runtimeCall, Agent: ts.agent, Name: ts.class, Filtered: ts.limited, Origin: ts.at,
	}
	if strings.Contains(strings.ToLower(ts.class), "mcp") {
		d.Kind = "mcp_toolset"
	}
	names, err := r.inventory(ts)
	if err != nil {
		return err
	}
	if names != nil {
		d.Resolved, d.Inventory = true, ts.inventory
		r.facts().Inventory = true
	}
	r.out.Dynamic = append(r.out.Dynamic, d)
	if ts.limited {
		names = ts.filter
	}
	for _, name := range names {
		if !d.Resolved {
			t := tool.Tool{
				Name: name, Origin: ts.at, Method: "stub", Confidence: tool.Low, Annotations: map[string]any{"mcp_unknown_schema": true},
			}
			t.Origin.Type = adkMCPTool
			r.once(t)
		}
		if ts.agent == "" {
			continue
		}
		r.out.Edges = append(r.out.Edges, tool.Edge{
			Kind: tool.Toolset, Agent: ts.agent, To: name, Complete: true, Declared: ts.declared, Origin: ts.at,
		})
	}
	return nil
}

// inventory loads the inventory that a toolset names; nil when there is none or
// it is not there.
func (r *adkReader) inventory(ts *adkToolset) ([]string, *tool.SourceError) {
	if ts.inventory == "" {
		return nil, nil
	}
	file := r.findFile(ts.inventory, ts.base)
	if file == "" {
		r.out.Warn("missing_inventory", "the inventory that a toolset names is not there", ts.at)
		return nil, nil
	}
	ts.inventory = file
	if names, known := r.listed[file]; known {
		return names, nil
	}
	found, err := listing.ReadInventory(r.tree, manifest.Artifact{Path: file}, adkInventory, r.sourceID)
	if err != nil {
		return nil, err
	}
	return r.adopt(file, found), nil
}

// adopt takes the tools of a list that belongs to the source itself.
func (r *adkReader) adopt(file string, found *tool.Reading) []string {
	names := []string{}
	for i := range found.Tools {
		names = append(names, found.Tools[i].Name)
	}
	found.Sources = nil
	r.out.Add(found)
	slices.Sort(names)
	names = slices.Compact(names)
	r.listed[file] = names
	return names
}

// findFile is a path of the program as it can be meant: from the manifest's
// folder or from that of the code; "" when neither is there.
func (r *adkReader) findFile(name, base string) string {
	for _, p := range []string{path.Clean(name), path.Join(base, name)} {
		if clean, ok := tool.Clean(p); ok {
			if _, err := tool.ReadFile(r.tree, clean); err == nil || err.Problem != tool.NotThere {
				return clean
			}
		}
	}
	return ""
}

// document reads OpenAPIToolset: a literal document, or one in a file that the
// call reads.
func (r *adkReader) document(h holder, it item, m *module, c *python.Call) *tool.SourceError {
	at := m.origin(adkFramework, c.Range)
	names, err := r.operations(m, c)
	filter, limited := m.filter(c)
	r.out.Dynamic = append(r.out.Dynamic, tool.Dynamic{
		Framework: adkFramework, Kind: "openapi_toolset", Reason: "unresolved_document", Agent: h.name, Name: "OpenAPIToolset",
		Resolved: names != nil, Filtered: limited, Origin: at,
	})
	if err != nil || names == nil {
		return err
	}
	if c.Arg("tool_filter") != nil && !limited {
		limited, it.sure = false, false // a filter that is computed lets through some of them
	}
	for _, name := range names {
		if h.name != "" && (!limited || slices.ContainsFunc(filter, func(f string) bool { return snake(f) == snake(name) })) {
			h.edge(tool.Toolset, name, it)
		}
	}
	return nil
}

// snake is a name as the kit spells it for the model.
func snake(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		switch {
		case 'A' <= c && c <= 'Z':
			if lower {
				b.WriteByte('_')
			}
			b.WriteRune(c + 'a' - 'A')
			lower = false
			continue
		case c == '-' || c == '.' || c == ' ':
			b.WriteByte('_')
			lower = false
			continue
		}
		b.WriteRune(c)
		lower = true
	}
	return b.String()
}

// operations are the names of the tools of the document, nil when it cannot be
// read where it stands.
func (r *adkReader) operations(m *module, c *python.Call) ([]string, *tool.SourceError) {
	place := m.path + "#" + m.origin("", c.Range).Location
	var text []byte
	if spec := c.Arg("spec_dict"); spec != nil {
		v, ok := m.file.Literal(spec)
		if !ok {
			return r.documentFile(m, spec)
		}
		text = canonical.UTF8.Append(nil, v)
	} else if spec := argument(c, "spec_str", 1); spec != nil {
		s, ok := m.file.Text(spec)
		if !ok {
			return r.documentFile(m, spec)
		}
		text = []byte(s)
	} else {
		return nil, nil
	}
	if names, known := r.listed[place]; known {
		return names, nil
	}
	found, err := openapi.Parse(m.path, text, "openapi", r.sourceID)
	if err != nil {
		err.Line, err.Pointer = c.Start.Line, ""
		return nil, err
	}
	for i := range found.Tools {
		o := m.origin("openapi", c.Range)
		o.Pointer = found.Tools[i].Origin.Pointer
		found.Tools[i].Origin = o
	}
	return r.adopt(place, found), nil
}

// documentFile reads a document whose text the program takes from a file:
// Path("…").read_text(), open("…").read(), or a parser around them.
func (r *adkReader) documentFile(m *module, e python.Expr) ([]string, *tool.SourceError) {
	name := m.fileRead(e, 0)
	if name == "" {
		return nil, nil
	}
	file := r.findFile(name, path.Dir(m.path))
	if file == "" {
		r.out.Warn("missing_document", "the OpenAPI document that a toolset reads is not there", m.origin(adkFramework, e.At()))
		return nil, nil
	}
	if names, known := r.listed[file]; known {
		return names, nil
	}
	found, err := openapi.Read(r.tree, file, "openapi", r.sourceID)
	if err != nil {
		return nil, err
	}
	return r.adopt(file, found), nil
}

// fileRead is the path that an expression reads a whole file from.
func (m *module) fileRead(e python.Expr, hop int) string {
	c, ok := m.file.Value(e).(*python.Call)
	if !ok || hop > maxHops {
		return ""
	}
	if a, ok := c.Func.(*python.Attribute); ok {
		switch a.Name {
		case "read_text", "read_bytes":
			return m.filePath(a.Value)
		case "read":
			if opened, ok := m.file.Value(a.Value).(*python.Call); ok && (label(opened.Func) == "open" || strings.HasSuffix(label(opened.Func), ".open")) {
				if o, ok := opened.Func.(*python.Attribute); ok && opened.Positional(0) == nil {
					return m.filePath(o.Value)
				}
				return m.filePath(opened.Positional(0))
			}
		case "load", "loads", "safe_load":
			return m.fileRead(c.Positional(0), hop+1)
		}
		return ""
	}
	if label(c.Func) == "open" {
		return m.filePath(c.Positional(0)) // json.load(open("…"))
	}
	return ""
}

// filePath is the literal path that an expression builds. One built from
// __file__ is given from the folder of the module.
func (m *module) filePath(e python.Expr) string { return m.pathHop(e, 0) }

func (m *module) pathHop(e python.Expr, hop int) string {
	if e == nil || hop > maxHops {
		return ""
	}
	if text, ok := m.file.Text(e); ok {
		return text
	}
	switch e := m.file.Value(e).(type) {
	case *python.Binary:
		left, right := m.pathHop(e.Left, hop+1), m.pathHop(e.Right, hop+1)
		if e.Op == "/" && left != "" && right != "" {
			return path.Join(left, right)
		}
	case *python.Attribute:
		if e.Name == "parent" {
			if p := m.pathHop(e.Value, hop+1); p != "" {
				return path.Dir(p)
			}
		}
	case *python.Name:
		if e.ID == "__file__" {
			return m.path
		}
	case *python.Call:
		name := label(e.Func)
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "Path", "PurePath", "str", "abspath", "fspath", "realpath":
			return m.pathHop(e.Positional(0), hop+1)
		case "resolve", "absolute":
			if a, ok := e.Func.(*python.Attribute); ok {
				return m.pathHop(a.Value, hop+1)
			}
		case "dirname":
			if p := m.pathHop(e.Positional(0), hop+1); p != "" {
				return path.Dir(p)
			}
		case "join", "joinpath":
			var parts []string
			if a, ok := e.Func.(*python.Attribute); ok && strings.HasSuffix(name, "joinpath") {
				parts = append(parts, m.pathHop(a.Value, hop+1))
			}
			for i := range e.Args {
				parts = append(parts, m.pathHop(e.Positional(i), hop+1))
			}
			if len(parts) > 0 && !slices.Contains(parts, "") {
				return path.Join(parts...)
			}
		}
	}
	return ""
}

// loose records toolsets that no agent was seen to hold: somebody may.
func (r *adkReader) loose(m *module) *tool.SourceError {
	var fault *tool.SourceError
	m.file.Inspect(func(n python.Node) bool {
		c, ok := n.(*python.Call)
		if !ok || fault != nil || r.met[c] {
			return fault == nil
		}
		switch {
		case m.adk(c.Func, "OpenAPIToolset"):
			fault = r.document(holder{mod: m}, item{m, c, true}, m, c)
		case r.isToolset(m, c):
			fault = r.openToolset("", m, c)
		}
		return fault == nil
	})
	return fault
}

// returned is the schema of what a function gives back: a class by its
// annotation, or the keys of the dicts that every return writes down.
func (m *module) returned(f *python.Function) any {
	if d := m.pydantic(f.Returns); d != nil {
		s := schemas{mod: d.mod, open: map[*python.Class]bool{}}
		return s.class(d.bind.Class, 0)
	}
	properties, complete := map[string]any{}, true
	for _, s := range f.Body {
		python.Inspect(s, func(n python.Node) bool {
			switch n := n.(type) {
			case *python.Function, *python.Class, *python.Lambda:
				return false
			case *python.Return:
				dict, ok := m.file.Value(n.Value).(*python.Dict)
				complete = complete && ok
				if !ok {
					return true
				}
				for _, item := range dict.Items {
					key, ok := m.file.Text(item.Key)
					if complete = complete && ok; ok {
						properties[key] = map[string]any{}
					}
				}
			}
			return true
		})
	}
	if !complete || len(properties) == 0 {
		return nil
	}
	return map[string]any{"type": "object", "properties": properties}
}

// inventories loads the block's own lists, each a source of its own.
func (r *adkReader) inventories(list []manifest.Artifact) *tool.SourceError {
	for _, art := range list {
		found, err := listing.ReadInventory(r.tree, art, adkInventory, tool.BlockSource(adkFramework, art.Path))
		if err != nil {
			return err
		}
		for _, row := range found.Sources {
			r.facts().Inventory = r.facts().Inventory || row.State == tool.Loaded
		}
		r.out.Add(found)
	}
	return nil
}

// around reads a file that stands beside the agents, and counts it when it
// holds something.
func (r *adkReader) around(art manifest.Artifact, kind string) (int, *tool.SourceError) {
	row := tool.Source{ID: tool.BlockSource(adkFramework, art.Path), Type: kind, Path: art.Path, State: tool.Loaded, Optional: art.Optional}
	text, err := tool.ReadFile(r.tree, art.Path)
	var v source.Value
	if err == nil && path.Ext(art.Path) != ".jsonl" {
		clean, _ := tool.Clean(art.Path)
		v, err = tool.Parse(clean, text)
	}
	if err != nil {
		err.SourceID = row.ID
		if art.Optional {
			r.out.Add(tool.Skipped(row, err))
			return 0, nil
		}
		return 0, err
	}
	r.out.Sources = append(r.out.Sources, row)
	if len(v.Items)+len(v.Members) == 0 && (path.Ext(art.Path) != ".jsonl" || len(text) == 0) {
		r.out.Warn("empty_eval_set", "the file is empty and counts for nothing", tool.Origin{Type: kind, SourceID: row.ID, Ref: art.Path, Path: art.Path})
		return 0, nil
	}
	return 1, nil
}
