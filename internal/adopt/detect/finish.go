package detect

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// bearing are the families that show agents or servers themselves. The others are
// lists of what an agent may be given.
var bearing = []Type{AgentsSDK, ADK, LangChain, CrewAI, MCPServer, N8N, Conductor, Plugin}

// finish says what the evidence means as a whole, and what to do next.
func (s *survey) finish() {
	r := s.out
	for _, f := range r.Frameworks {
		// An API description alone says that there is an API, not that an agent calls it.
		r.IsAgentProject = r.IsAgentProject || f.Type != OpenAPI
	}
	r.AgentNames = s.agentNames(func(*Found) bool { return true })
	s.projects()
	for e := range s.left {
		r.Excluded = append(r.Excluded, e)
	}
	slices.SortFunc(r.Excluded, func(a, b Excluded) int {
		return cmp.Or(cmp.Compare(untyped(a), untyped(b)), byDepth(a.Path, b.Path), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Reason, b.Reason))
	})
	if n := len(r.Excluded); n > maxListed {
		r.Excluded = r.Excluded[:maxListed]
		s.note("too_many_excluded", ".", 0, "only the first of "+counted(n, "path")+" that were left out are listed")
	}
	slices.Sort(r.Signals.Unsupported)
	slices.SortStableFunc(r.Diagnostics, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	r.Diagnostics = slices.Compact(r.Diagnostics)
	s.next()
	r.NextAction = r.NextActions[0].String()
}

// untyped puts what was left out without being opened behind what looks like a
// source.
func untyped(e Excluded) int {
	if e.Type == "" {
		return 1
	}
	return 0
}

// agentNames are the names of agents, those that no other agent leads to first.
func (s *survey) agentNames(of func(*Found) bool) []string {
	var first, rest []string
	for i := range s.out.Found {
		f := &s.out.Found[i]
		if !of(f) {
			continue
		}
		led := map[string]bool{}
		for _, e := range f.Reading.Edges {
			if e.Kind == tool.Subagent || e.Kind == tool.Handoff {
				led[e.To] = true
			}
		}
		for _, a := range f.Reading.Agents {
			name := shown(a.Name)
			if reason, _ := leftOut(a.Origin.Path); name == "" || reason != "" {
				continue
			}
			if led[a.Name] {
				rest = append(rest, name)
			} else {
				first = append(first, name)
			}
		}
	}
	names := []string{}
	for _, n := range append(first, rest...) {
		if !slices.Contains(names, n) && len(names) < 50 {
			names = append(names, n)
		}
	}
	return names
}

// projects groups what was found by the folders that are projects.
func (s *survey) projects() {
	kinds := map[string][]Type{}
	take := func(only func(Type) bool) {
		for _, h := range s.hits {
			if h.strength == Strong && only(h.kind) {
				p := s.projectOf(h.file)
				if !slices.Contains(kinds[p], h.kind) {
					kinds[p] = append(kinds[p], h.kind)
				}
			}
		}
	}
	take(func(k Type) bool { return slices.Contains(bearing, k) })
	if len(kinds) == 0 {
		take(func(k Type) bool { return k != OpenAPI })
	}
	r := s.out
	for p, list := range kinds {
		slices.SortFunc(list, func(a, b Type) int { return slices.Index(Types, a) - slices.Index(Types, b) })
		at := ""
		if name := path.Join(p, manifest.DefaultName); s.set[name] {
			at = name
		}
		r.Projects = append(r.Projects, Project{Path: p, Frameworks: list, Agents: s.agentNames(func(f *Found) bool { return f.Project == p }), Manifest: at})
	}
	slices.SortFunc(r.Projects, func(a, b Project) int { return byDepth(a.Path, b.Path) })
	switch len(r.Projects) {
	case 0:
		r.Scope = Unknown
	case 1:
		r.Scope = Single
	default:
		r.Scope = Ambiguous
	}
	if len(r.Projects) > maxListed {
		s.note("too_many_projects", ".", 0, "only the first of "+counted(len(r.Projects), "project")+" are listed")
		r.Projects = r.Projects[:maxListed]
	}
}

// fewProjects is how many projects of their own a command is offered for.
const fewProjects = 10

// next says what to do, best first; at least one row.
func (s *survey) next() {
	r := s.out
	add := func(a Action) { r.NextActions = append(r.NextActions, a) }
	command := func(text, why string) { add(Action{Kind: "command", Command: &text, Why: why}) }
	edit := func(at, why, expects string) { add(Action{Kind: "edit", Path: &at, Why: why, Expects: &expects}) }
	missing := func() {
		for _, name := range r.Signals.Unsupported {
			edit(manifest.DefaultName, "No reader reads "+name+". If an agent gets tools from it, they count only when a file lists them.", "a list of these tools in a file, named as a source of type mcp")
		}
	}
	switch {
	case s.set[manifest.DefaultName]:
		for i, source := range s.undeclared() {
			if i == fewProjects {
				break
			}
			edit(manifest.DefaultName, "The manifest does not name "+source.Path+", which looks like a source of type "+string(source.Type)+".",
				"an entry of "+source.Key+" with the path "+source.Path+", if an agent is given these tools")
		}
		command("agents-shipgate verify --workspace "+control.Quote(s.opt.Workspace)+" --json", "A manifest is there: verify the change.")
		command("agents-shipgate doctor --workspace "+control.Quote(s.opt.Workspace)+" --json", "Compare the sources that it names with suggested_sources.")
	case r.IsAgentProject && r.Scope == Ambiguous:
		add(Action{Kind: "review", Why: "The workspace holds " + counted(len(r.Projects), "project") + " with agents; choose the folder that a manifest speaks for, or write one for all."})
		for _, p := range r.Projects[:min(len(r.Projects), fewProjects)] {
			switch {
			case p.Path == ".":
			case p.Manifest == "":
				command(s.initialize(p.Path), "Write a first manifest for "+p.Path+" alone.")
			default:
				command("agents-shipgate verify --workspace "+control.Quote(s.inside(p.Path))+" --json", "Verify "+p.Path+", which has a manifest.")
			}
		}
		command(s.initialize("."), "Write one first manifest for the whole workspace.")
	case r.IsAgentProject && len(r.Found) > 0:
		command(s.initialize("."), "Write a first manifest from what was found; a person reviews it.")
	case r.IsAgentProject:
		add(Action{Kind: "review", Why: s.evidenceOnly() + " No agent and no tool of it was found: if there is one, list its tools in a file and name that as a source of type mcp."})
	case len(r.Found) > 0:
		add(Action{Kind: "review", Why: "API descriptions alone are no agent. If agents are given these operations as tools, write a manifest."})
		command(s.initialize("."), "Write a first manifest that names the API descriptions.")
	case len(r.Signals.Unsupported) > 0:
	case len(r.Signals.Declared) > 0:
		add(Action{Kind: "review", Why: "A dependency is declared that agents are built with (" + r.Signals.Declared[0] + "), and no code that uses it was found. If this folder has no agent, no manifest is needed."})
	default:
		add(Action{Kind: "stop", Why: "No agent framework and no list of tools was found: no manifest is needed. The configuration of coding agents is read by check without one."})
	}
	missing()
}

// evidenceOnly is the first evidence of a project of which no source is known.
func (s *survey) evidenceOnly() string {
	for _, f := range s.out.Frameworks {
		if len(f.Evidence) > 0 && f.Type != OpenAPI {
			return "The file " + f.Evidence[0].File + " " + f.Evidence[0].What + "."
		}
	}
	return "A framework is used."
}

// initialize is the command that writes a first manifest for a folder of the
// workspace.
func (s *survey) initialize(dir string) string {
	return "agents-shipgate init --workspace " + control.Quote(s.inside(dir)) + " --write --json"
}

// inside is a folder of the workspace as commands name it.
func (s *survey) inside(dir string) string {
	switch {
	case dir == ".":
		return s.opt.Workspace
	case s.opt.Workspace == ".":
		return dir
	}
	return strings.TrimSuffix(s.opt.Workspace, "/") + "/" + dir
}
