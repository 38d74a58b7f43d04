package flow

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/tool"
)

// Bounds of the inputs of one node.
const (
	maxInputs = 500
	maxLevel  = 64
)

// inputs reads what the model may fill in. What is not marked as the model's is
// fixed by the flow or computed from the run, and no input.
func (d *description) inputs(n *node) {
	if n.community {
		return
	}
	in := inputs{properties: map[string]any{}}
	in.scan(n.params, 0)
	switch {
	case n.is("toolHttpRequest"):
		in.placeholders(n.params, n.params.At("placeholderDefinitions", "values").Items)
	case n.is("toolCode"), n.is("toolWorkflow") && n.version < 2:
		if len(in.names) == 0 || n.params.Get("specifyInputSchema").True() {
			d.givenSchema(n, &in)
		}
	case builtIn(n):
		in.add("input", map[string]any{"type": "string"}, true)
		d.method = "prebuilt"
		d.lower(tool.Low)
	case n.is("toolVectorStore") || n.params.Get("mode").Str() == "retrieve-as-tool":
		in.add("input", map[string]any{"type": "string"}, true)
	}
	if in.computed || in.full {
		d.open("schema", "expression", "")
		d.lower(tool.Medium)
	}
	if d.input == nil && !in.unknown {
		d.input = in.schema()
	}
}

// builtIn nodes bring name, description and input with them; the flow says
// nothing about what they do.
func builtIn(n *node) bool {
	return n.is("toolCalculator", "toolWikipedia", "toolSerpApi", "toolSearXng", "toolWolframAlpha", "toolThink")
}

// inputs collects properties.
type inputs struct {
	properties map[string]any
	names      []string
	required   []any
	computed   bool // one of them has a name that is computed
	full       bool // there are too many
	unknown    bool // nothing can be said
}

func (in *inputs) add(name string, schema map[string]any, required bool) {
	if _, known := in.properties[name]; known || name == "" {
		return
	}
	if len(in.names) == maxInputs {
		in.full = true
		return
	}
	in.properties[name] = schema
	in.names = append(in.names, name)
	if required {
		in.required = append(in.required, name)
	}
}

func (in *inputs) schema() map[string]any {
	schema := map[string]any{"type": "object", "properties": in.properties}
	if len(in.required) > 0 {
		schema["required"] = in.required
	}
	return schema
}

// scan looks for $fromAI in every expression of a value.
func (in *inputs) scan(v source.Value, depth int) {
	if depth > maxLevel {
		in.full = true
		return
	}
	if v.Kind == source.String && strings.HasPrefix(v.Text, "=") {
		for _, call := range fromAI(v.Text) {
			if call.name == "" {
				in.computed = true
				continue
			}
			in.add(call.name, call.schema(), !call.hasDefault)
		}
	}
	for _, item := range v.Items {
		in.scan(item, depth+1)
	}
	for _, m := range v.Members {
		in.scan(m.Value, depth+1)
	}
}

// placeholders are the {name} parts of an HTTP tool's address and body, which
// the model fills in.
func (in *inputs) placeholders(params source.Value, defined []source.Value) {
	for _, p := range defined {
		schema := map[string]any{"type": placeholderType(p.Get("type").Str())}
		if s, ok := literal(p.Get("description")); ok && s != "" {
			schema["description"] = s
		}
		in.add(p.Get("name").Str(), schema, true)
	}
	for _, key := range []string{"url", "jsonBody", "jsonQuery", "jsonHeaders"} {
		if s, ok := literal(params.Get(key)); ok {
			for _, name := range braced(s) {
				in.add(name, map[string]any{"type": "string"}, true)
			}
		}
	}
	for _, key := range []string{"parametersQuery", "parametersBody", "parametersHeaders"} {
		for _, p := range params.At(key, "values").Items {
			if strings.HasPrefix(p.Get("valueProvider").Str(), "model") {
				in.add(p.Get("name").Str(), map[string]any{"type": "string"}, p.Get("valueProvider").Str() == "modelRequired")
			}
		}
	}
}

func placeholderType(kind string) string {
	switch kind {
	case "number", "boolean":
		return kind
	case "json":
		return "object"
	}
	return "string"
}

// braced are the names in {name}, where name is an identifier.
func braced(s string) []string {
	var out []string
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			return out
		}
		s = s[open+1:]
		end := 0
		for end < len(s) && isIdentifier(s[end]) {
			end++
		}
		if end > 0 && end < len(s) && s[end] == '}' {
			out = append(out, s[:end])
		}
	}
}

func isIdentifier(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// givenSchema reads the schema or the example that a code or workflow tool asks
// for. Without one n8n passes a single text called query.
func (d *description) givenSchema(n *node, in *inputs) {
	if !n.params.Get("specifyInputSchema").True() {
		in.add("query", map[string]any{"type": "string"}, true)
		return
	}
	key, example := "jsonSchemaExample", true
	if n.params.Get("schemaType").Str() == "manual" {
		key, example = "inputSchema", false
	}
	written, ok := literal(n.params.Get(key))
	if !ok || len(written) > tool.MaxFile {
		d.open("schema", "expression", "")
		in.unknown = true
		d.lower(tool.Medium)
		return
	}
	v, err := source.ParseJSON([]byte(written))
	if err != nil || v.Kind != source.Map {
		d.open("schema", "unsupported_expression", "")
		in.unknown = true
		d.lower(tool.Medium)
		return
	}
	if !example {
		d.input, _ = tool.Plain(v).(map[string]any)
		return
	}
	for _, m := range v.Members {
		in.add(m.Key, map[string]any{"type": exampleType(m.Value)}, true)
	}
}

// exampleType is the JSON type of an example value.
func exampleType(v source.Value) string {
	switch v.Kind {
	case source.Bool:
		return "boolean"
	case source.Number:
		return "number"
	case source.List:
		return "array"
	case source.Map:
		return "object"
	case source.Null:
		return "null"
	case source.String, source.Date:
	}
	return "string"
}

// aiCall is one $fromAI(key, description, type, default) of an expression.
type aiCall struct {
	name, text, kind string // name is empty when it is computed
	hasDefault       bool
}

func (c *aiCall) schema() map[string]any {
	kind := "string"
	switch strings.ToLower(c.kind) {
	case "number", "boolean":
		kind = strings.ToLower(c.kind)
	case "json":
		kind = "object"
	}
	schema := map[string]any{"type": kind}
	if c.text != "" {
		schema["description"] = c.text
	}
	return schema
}

// fromAI finds the calls in one expression. Names are compared as n8n does,
// without regard to case.
func fromAI(s string) []aiCall {
	const call = "$fromai"
	lower := strings.ToLower(s)
	if len(lower) != len(s) {
		lower = s // letters whose lower case is longer; the usual spelling is still found
	}
	var out []aiCall
	for at := 0; len(out) < maxInputs; {
		i := strings.Index(lower[at:], call)
		if i < 0 && lower[at:] == s[at:] {
			i = strings.Index(s[at:], "$fromAI")
		}
		if i < 0 {
			break
		}
		at += i + len(call)
		rest := strings.TrimLeft(s[at:], " \t\r\n")
		if !strings.HasPrefix(rest, "(") {
			continue
		}
		args, length := callArguments(rest[1:])
		at = len(s) - len(rest) + 1 + length
		var c aiCall
		if len(args) > 0 {
			c.name = args[0]
		}
		if len(args) > 1 {
			c.text = args[1]
		}
		if len(args) > 2 {
			c.kind = args[2]
		}
		c.hasDefault = len(args) > 3
		out = append(out, c)
	}
	return out
}

// callArguments reads up to four arguments. A quoted one is its text, anything
// else is "". length is how much of s was read.
func callArguments(s string) (args []string, length int) {
	i := 0
	for len(args) < 4 {
		for i < len(s) && strings.IndexByte(" \t\r\n", s[i]) >= 0 {
			i++
		}
		if i == len(s) || s[i] == ')' {
			return args, i
		}
		arg, end := quotedArgument(s, i)
		for end < len(s) && strings.IndexByte(" \t\r\n", s[end]) >= 0 {
			end++
		}
		if end < len(s) && s[end] != ',' && s[end] != ')' {
			// Something more than a literal: the argument is computed.
			arg, end = "", skipArgument(s, i)
		}
		args = append(args, arg)
		i = end
		if i < len(s) && s[i] == ',' {
			i++
		} else {
			return args, i
		}
	}
	return args, i
}

// quotedArgument reads a quoted text at i; a template with ${ } is computed.
func quotedArgument(s string, i int) (string, int) {
	quote := s[i]
	if quote != '\'' && quote != '"' && quote != '`' {
		return "", skipArgument(s, i)
	}
	var b strings.Builder
	for j := i + 1; j < len(s); j++ {
		switch c := s[j]; {
		case c == '\\' && j+1 < len(s):
			j++
			b.WriteByte(unescaped(s[j]))
		case c == quote:
			if quote == '`' && strings.Contains(b.String(), "${") {
				return "", j + 1
			}
			return b.String(), j + 1
		default:
			b.WriteByte(c)
		}
	}
	return "", len(s)
}

func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	}
	return c
}

// skipArgument is where an argument ends that is no literal.
func skipArgument(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'', '"', '`':
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return min(i, len(s))
}
