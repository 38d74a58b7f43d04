package detect

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/reader/codex"
	"plimsoll.dev/internal/verify/tool"
)

// maxArtifacts is the most JSON and YAML files that are parsed.
const maxArtifacts = 2000

// shape is a file that is a source by its form.
type shape struct {
	Source
	file string
	name string // of a plugin
}

// words are what a file of one of the forms must hold; they only spare the
// parsing of other files.
var words = [][]byte{
	[]byte("inputSchema"), []byte("input_schema"), []byte("parameters"), []byte("openapi"), []byte("swagger"), []byte("taskReferenceName"),
	[]byte("n8n"), []byte("wildcard"), []byte(`"tools"`), []byte(`"plugins"`), []byte("agent_class"), []byte("instruction"), []byte(`"name"`),
}

// artifacts looks at JSON and YAML files by their form.
func (s *survey) artifacts() {
	var names []string
	for _, f := range s.files {
		ext := path.Ext(f.name)
		base := path.Base(f.name)
		if ext != ".json" && !isYAML(f.name) || skipped(f.reason) || base == "package.json" || base == "tsconfig.json" {
			continue
		}
		names = append(names, f.name)
	}
	slices.SortFunc(names, byDepth)
	parsed, over := 0, 0
	for _, name := range names {
		text, ok := s.read(name)
		if !ok || !mayHave(name, text) {
			continue
		}
		if parsed == maxArtifacts {
			over++
			continue
		}
		parsed++
		v, err := tool.Parse(name, text)
		if err != nil {
			// A manifest of ours, and host files with comments, are read elsewhere.
			if reason, _ := leftOut(name); reason == "" && bytes.ContainsAny(text, "{[:") && looksNamed(name) {
				s.note("unreadable_file", name, err.Line, err.Detail)
				s.leave("", name, unreadable)
			}
			continue
		}
		s.artifact(name, v)
	}
	if over > 0 {
		s.note("too_many_artifacts", ".", 0, counted(over, "JSON or YAML file")+" may be a source and were not looked at")
	}
}

// mayHave says whether a file is worth parsing.
func mayHave(name string, text []byte) bool {
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return bytes.Contains(text, []byte(w)) })
	}
	if isYAML(name) {
		return has("openapi", "swagger", "inputSchema", "input_schema", "agent_class") || path.Base(name) == "root_agent.yaml"
	}
	return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(text, w) })
}

// looksNamed says whether the name of a file promises a source: that it cannot be
// parsed is worth a word then.
func looksNamed(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc([]string{"mcp", "openapi", "swagger", "tools", "n8n", "conductor", "plugin", "workflow", "root_agent"}, func(w string) bool {
		return strings.Contains(lower, w)
	})
}

// artifact says what one parsed file is.
func (s *survey) artifact(name string, v source.Value) {
	items := []source.Value{v}
	if v.Kind == source.List {
		items = v.Items
	}
	add := func(kind Type, at, mode, called, what string) {
		if reason, dir := leftOut(name); reason != "" && !(reason == document && kind == OpenAPI) {
			s.leave(kind, dir, reason)
			return
		}
		s.take(hit{kind: kind, file: name, line: max(v.Pos.Line, 1), strength: Strong, role: "shape", what: what})
		s.shapes = append(s.shapes, shape{Source{Type: kind, Path: at, Mode: mode}, name, called})
	}
	switch {
	case below(name, codex.PluginFile) || strings.HasSuffix(name, "/"+codex.PluginFile):
		if v.Kind == source.Map && v.Get("name").Str() != "" {
			add(Plugin, path.Dir(path.Dir(name)), "package", v.Get("name").Str(), "is the manifest of a Codex plugin")
		}
	case below(name, codex.MarketFile) || strings.HasSuffix(name, "/"+codex.MarketFile):
		if v.Get("plugins").Kind == source.List {
			add(Plugin, name, "marketplace", v.Get("name").Str(), "is a marketplace of Codex plugins")
		}
	case v.Get("openapi").Present() && v.Get("paths").Kind == source.Map:
		add(OpenAPI, name, "", "", "is an OpenAPI document")
	case v.Get("swagger").Present() && v.Get("paths").Kind == source.Map:
		if reason, _ := leftOut(name); reason == "" {
			s.note("unsupported_version", name, v.Get("swagger").Pos.Line, "is an API description of version 2; only OpenAPI 3.0 and 3.1 are read")
			s.leave(OpenAPI, name, "unsupported_version")
		}
	case all(items, n8nWorkflow):
		add(N8N, name, "", "", "is an n8n workflow")
	case all(items, conductorWorkflow):
		if slices.ContainsFunc(items, func(w source.Value) bool { return agentTask(w.Get("tasks"), 0) }) {
			add(Conductor, name, "", "", "is a Conductor workflow whose tasks call tools or models")
		}
	case adkConfig(name, v):
		add(ADK, name, "", "", "is an Agent Config of the ADK")
	default:
		if kind := listOf(name, v); kind != "" {
			add(kind, name, "", "", map[Type]string{
				MCP: "lists tools of an MCP server", OpenAI: "lists tools for the OpenAI API", Anthropic: "lists tools for the Anthropic API",
			}[kind])
		}
	}
}

func all(items []source.Value, is func(source.Value) bool) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(v source.Value) bool { return !is(v) })
}

func n8nWorkflow(v source.Value) bool {
	return v.Get("nodes").Kind == source.List && v.Get("connections").Kind == source.Map && slices.ContainsFunc(v.Get("nodes").Items, func(n source.Value) bool {
		kind := n.Get("type").Str()
		return strings.HasPrefix(kind, "n8n-nodes-") || strings.HasPrefix(kind, "@n8n/")
	})
}

func conductorWorkflow(v source.Value) bool {
	tasks := v.Get("tasks")
	return v.Get("name").Str() != "" && tasks.Kind == source.List && len(tasks.Items) > 0 && !slices.ContainsFunc(tasks.Items, func(t source.Value) bool {
		return t.Get("taskReferenceName").Str() == ""
	})
}

// agentTask says whether something below the tasks of a workflow calls a tool or
// a model: other workflows only order the work of programs.
func agentTask(v source.Value, level int) bool {
	if level > 32 {
		return false
	}
	switch v.Kind {
	case source.List:
		return slices.ContainsFunc(v.Items, func(i source.Value) bool { return agentTask(i, level+1) })
	case source.Map:
		switch kind := v.Get("type").Str(); {
		case kind == "CALL_MCP_TOOL", kind == "LIST_MCP_TOOLS", kind == "AGENT", strings.HasPrefix(kind, "LLM_"):
			return true
		}
		return slices.ContainsFunc(v.Members, func(m source.Member) bool { return agentTask(m.Value, level+1) })
	default:
		return false
	}
}

func adkConfig(name string, v source.Value) bool {
	if !isYAML(name) || v.Get("name").Str() == "" {
		return false
	}
	kind := v.Get("agent_class").Str()
	known := slices.Contains([]string{"LlmAgent", "SequentialAgent", "ParallelAgent", "LoopAgent"}, kind)
	return known && (v.Get("instruction").Present() || v.Get("sub_agents").Present() || v.Get("tools").Present()) ||
		kind == "" && path.Base(name) == "root_agent.yaml" && v.Get("instruction").Present() && v.Get("model").Present()
}

// listOf says whose tools a list names: every entry has the form, or is a tool
// that the provider itself brings.
func listOf(name string, v source.Value) Type {
	items := v.Items
	if v.Kind == source.Map {
		tools := v.Get("tools")
		if declared(name) && (v.Get("wildcard").True() || tools.Str() == "*") {
			return MCP
		}
		items = tools.Items
	}
	count := map[Type]int{}
	for _, item := range items {
		kind := entryOf(item)
		if item.Kind != source.Map || kind == "" && item.Get("name").Str() == "" && item.Get("type").Str() == "" {
			return ""
		}
		count[kind]++
	}
	mcp, openai, anthropic := count[MCP], count[OpenAI], count[Anthropic]
	switch {
	case anthropic > 0 && declared(name) && openai == 0: // an MCP list may spell its schemas so
		return MCP
	case mcp > 0 && openai+anthropic == 0:
		return MCP
	case openai > 0 && mcp+anthropic == 0:
		return OpenAI
	case anthropic > 0 && mcp+openai == 0:
		return Anthropic
	case len(items) > 0 && mcp+openai+anthropic == 0 && declared(name) && all(items, func(i source.Value) bool { return i.Get("description").Str() != "" }):
		return MCP
	}
	return ""
}

// declared says whether the name of a file says that it lists tools of MCP.
func declared(name string) bool {
	return strings.Contains(strings.ToLower(path.Base(name)), "mcp") || strings.HasPrefix(name, ".agents-shipgate/") || strings.Contains(name, "/.agents-shipgate/")
}

// entryOf is the form of one tool in a list, "" for none.
func entryOf(v source.Value) Type {
	named := v.Get("name").Str() != ""
	schema := func(s source.Value) bool { return s.Kind == source.Map }
	switch {
	case named && schema(v.Get("inputSchema")):
		return MCP
	case named && schema(v.Get("input_schema")):
		return Anthropic
	case v.Get("type").Str() == "function" && v.At("function", "name").Str() != "",
		v.Get("type").Str() == "function" && named && schema(v.Get("parameters")),
		named && v.At("parameters", "type").Str() == "object":
		return OpenAI
	}
	return ""
}
