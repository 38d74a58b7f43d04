package detect

import (
	"path"

	"plimsoll.dev/internal/verify/manifest"
)

// undeclared are the suggested sources that the workspace's own manifest does not
// name; a manifest that cannot be read names nothing, and verify says why.
func (s *survey) undeclared() []Source {
	text, ok := s.read(manifest.DefaultName)
	if !ok {
		return nil
	}
	m, err := manifest.Load(text, manifest.Options{})
	if err != nil {
		return nil
	}
	names := declaredPaths(m)
	var missing []Source
	for _, source := range s.out.Suggested {
		named := false
		for _, at := range names[source.Type] {
			named = named || below(path.Clean(source.Path), path.Clean(at)) || below(path.Clean(at), path.Clean(source.Path))
		}
		if !named {
			missing = append(missing, source)
		}
	}
	return missing
}

// declaredPaths are the files and folders that a manifest names, by family.
func declaredPaths(m *manifest.Manifest) map[Type][]string {
	names := map[Type][]string{}
	add := func(kind Type, lists ...[]manifest.Artifact) {
		for _, list := range lists {
			for _, a := range list {
				names[kind] = append(names[kind], a.Path)
			}
		}
	}
	for _, s := range m.Sources {
		names[Type(s.Type)] = append(names[Type(s.Type)], s.Path)
	}
	// An inventory is a list of tools of the form that an MCP source has.
	if b := m.OpenAI; b != nil {
		add(OpenAI, b.Tools, b.FunctionSchemas)
	}
	if b := m.Anthropic; b != nil {
		add(Anthropic, b.Tools)
	}
	if b := m.ADK; b != nil {
		add(ADK, b.Entrypoints, b.AgentConfigs)
		add(MCP, b.Inventories)
	}
	if b := m.LangChain; b != nil {
		add(LangChain, b.Entrypoints)
		add(MCP, b.Inventories)
	}
	if b := m.CrewAI; b != nil {
		add(CrewAI, b.Entrypoints)
		add(MCP, b.Inventories)
	}
	if b := m.N8N; b != nil {
		add(N8N, b.Workflows)
		add(MCP, b.Inventories)
	}
	if b := m.Plugins; b != nil {
		add(MCP, b.Inventories)
	}
	return names
}
