package mcpserver

import (
	"slices"

	"plimsoll.dev/internal/verify/script"
)

// registerTool reads server.registerTool(name, {title, description,
// inputSchema, outputSchema, annotations}, handler).
func (s *scripts) registerTool(n script.Node) {
	name, ok := s.toolName(n)
	if !ok {
		return
	}
	d := definition{name: name, at: s.place(n)}
	if len(n.Expr.Args) > 1 {
		config := n.At(n.Expr.Args[1])
		props, complete := s.prog.Props(config)
		s.fields(&d, props)
		if !complete {
			s.dynamic("schema", s.why(config, "spread"), name, d.at)
			if d.input.value == nil && d.input.unknown == "" {
				d.annotations = with(d.annotations, "mcp_unknown_schema", true)
			}
		}
	}
	if d.input.value == nil && d.input.unknown == "" && d.annotations["mcp_unknown_schema"] == nil {
		d.input.value = noInput()
	}
	s.add(d)
}

// noInput is the schema of a tool that is registered without one: the SDK
// offers an empty object.
func noInput() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{}}
}

func with(m map[string]any, key string, value any) map[string]any {
	if m == nil {
		m = map[string]any{}
	}
	m[key] = value
	return m
}

// toolName is the literal name of a registration; a computed one is a dynamic
// surface.
func (s *scripts) toolName(n script.Node) (string, bool) {
	if len(n.Expr.Args) == 0 {
		s.dynamic("name", "missing_name", "", s.place(n))
		return "", false
	}
	first := n.At(n.Expr.Args[0])
	name, ok := s.prog.Text(first)
	if !ok || name == "" {
		s.dynamic("name", s.why(first, "computed_name"), "", s.place(n))
		return "", false
	}
	return name, true
}

// fields reads the properties of a definition.
func (s *scripts) fields(d *definition, props []script.Property) {
	for _, p := range props {
		switch p.Key {
		case "description":
			s.describe(d, p.Node)
		case "title":
			if title, ok := s.prog.Text(p.Node); ok {
				d.annotations = with(d.annotations, "title", title)
			}
		case "inputSchema", "input_schema", "paramsSchema":
			d.input = s.schema(p.Node)
		case "outputSchema", "output_schema":
			d.output = s.schema(p.Node)
		case "annotations":
			s.annotate(d, p.Node)
		}
	}
}

func (s *scripts) describe(d *definition, n script.Node) {
	text, ok := s.prog.Text(n)
	if !ok {
		s.out.Warn("computed_description", "the description of a tool is computed and was not read", d.at)
		return
	}
	d.description = text
}

// annotate reads literal annotations. A computed hint is said, and absent: an
// unknown hint proves nothing.
func (s *scripts) annotate(d *definition, n script.Node) {
	props, complete := s.prog.Props(n)
	for _, p := range props {
		value, ok := s.plain(p.Node, 0)
		if !ok {
			complete = false
			delete(d.annotations, p.Key)
			continue
		}
		d.annotations = with(d.annotations, p.Key, value)
	}
	if !complete {
		s.out.Warn("computed_annotation", "an annotation of a tool is computed and was not read", d.at)
	}
}

var hints = []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// tool reads server.tool(name, description?, schema?, annotations?, handler).
func (s *scripts) tool(n script.Node) {
	name, ok := s.toolName(n)
	if !ok {
		return
	}
	d := definition{name: name, at: s.place(n)}
	rest := n.Expr.Args[1:]
	if len(rest) > 0 {
		rest = rest[:len(rest)-1] // the handler
	}
	given := false
	for i, arg := range rest {
		node := n.At(arg)
		kind := s.prog.Reduce(node)
		_, isText := s.prog.Text(node)
		switch {
		case i == 0 && (isText || kind.Kind() == script.Concat):
			s.describe(&d, node)
		case given || kind.Kind() == script.Object && s.areHints(kind):
			s.annotate(&d, node)
		case i == 0 && len(rest) > 1 && kind.Kind() == script.Unknown:
			// Of two and more, the first is a description.
			s.describe(&d, node)
		default:
			d.input = s.schema(node)
			given = true
		}
	}
	if !given {
		d.input.value = noInput()
	}
	s.add(d)
}

// areHints says whether an object is made of annotations and not of a schema.
func (s *scripts) areHints(n script.Node) bool {
	props, complete := s.prog.Props(n)
	for _, p := range props {
		if !slices.Contains(hints, p.Key) {
			return false
		}
		if kind := s.prog.Reduce(p.Node).Kind(); kind == script.Call || kind == script.Object {
			return false // a parameter that is called like a hint
		}
	}
	return complete && len(props) > 0
}

// handler reads setRequestHandler(ListToolsRequestSchema, () => ({tools: […]})).
func (s *scripts) handler(n script.Node) {
	if len(n.Expr.Args) < 2 || !s.listsTools(n.At(n.Expr.Args[0])) {
		return
	}
	fn := s.prog.Reduce(n.At(n.Expr.Args[1]))
	if fn.Kind() != script.Function || fn.Expr.Fn == nil {
		s.dynamic("tool_list", s.why(fn, "computed_handler"), "", s.place(n))
		return
	}
	results := fn.File.Returns(fn.Expr.Fn)
	if len(results) == 0 {
		s.dynamic("tool_list", "no_result", "", s.place(n))
	}
	for _, result := range results {
		s.toolList(n, fn.At(result))
	}
}

// listsTools says whether a request schema is that of tools/list.
func (s *scripts) listsTools(n script.Node) bool {
	if n.Expr.Kind == script.Name && n.Expr.Text == "ListToolsRequestSchema" {
		return true
	}
	if text, ok := s.prog.Text(n); ok {
		return text == "tools/list"
	}
	return s.prog.Reduce(n).Import.Name == "ListToolsRequestSchema"
}

// toolList reads the literal result {tools: […]} of a handler.
func (s *scripts) toolList(call, result script.Node) {
	list, ok := s.prog.Get(result, "tools")
	if !ok {
		s.dynamic("tool_list", s.why(result, "computed_list"), "", s.place(call))
		return
	}
	items, complete := s.prog.Items(list)
	for _, item := range items {
		s.listed(item)
	}
	if !complete {
		s.dynamic("tool_list", s.why(list, "computed_list"), "", s.place(call))
	}
}

// listed reads one element of a literal list of tools.
func (s *scripts) listed(n script.Node) {
	at := s.place(n)
	props, complete := s.prog.Props(n)
	d := definition{at: at}
	for _, p := range props {
		if p.Key == "name" {
			d.name, _ = s.prog.Text(p.Node)
		}
	}
	if d.name == "" {
		s.dynamic("name", s.why(n, "computed_name"), "", at)
		return
	}
	s.fields(&d, props)
	if !complete {
		s.dynamic("schema", "spread", d.name, at)
	}
	if d.input.value == nil && d.input.unknown == "" {
		d.annotations = with(d.annotations, "mcp_unknown_schema", true)
	}
	s.add(d)
}
