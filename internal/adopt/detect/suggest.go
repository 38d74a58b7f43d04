package detect

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader"
	"plimsoll.dev/internal/verify/tool"
)

// maxSingle is the most files that are suggested one by one; more of a folder
// are suggested as the folder.
const maxSingle = 5

// suggest reads what the evidence leads to and keeps what yields something. A
// source that its reader refuses is never suggested: the first verification
// would end with it.
func (s *survey) suggest() {
	for i := range pyFamilies {
		s.python(pyFamilies[i].kind)
	}
	s.mcpServers()
	slices.SortStableFunc(s.shapes, func(a, b shape) int { return slices.Index(Types, a.Type) - slices.Index(Types, b.Type) })
	var flows []string
	for _, sh := range s.shapes {
		switch sh.Type {
		case N8N, Conductor:
			flows = append(flows, sh.file)
		default:
			s.shape(sh)
		}
	}
	s.n8n(flows)
	s.conductor(flows)
	if len(s.out.Found) > maxListed {
		s.note("too_many_sources", ".", 0, "only the first of "+counted(len(s.out.Found), "source")+" are suggested")
		s.out.Found = s.out.Found[:maxListed]
	}
	for _, f := range s.out.Found {
		if len(f.Entries) == 0 {
			s.out.Suggested = append(s.out.Suggested, f.Source)
		}
		for _, e := range f.Entries {
			s.out.Suggested = append(s.out.Suggested, Source{Type: f.Type, Path: e, Key: f.Key})
		}
	}
}

// projectOf is the folder of the project that a file is part of.
func (s *survey) projectOf(file string) string {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if reason, _ := leftOut(dir + "/x"); s.markers[dir] && reason == "" {
			return dir
		}
	}
	return "."
}

// byProject groups files, projects sorted.
func (s *survey) byProject(files []string) (projects []string, group map[string][]string) {
	group = map[string][]string{}
	for _, f := range files {
		p := s.projectOf(f)
		group[p] = append(group[p], f)
	}
	for p := range group {
		projects = append(projects, p)
	}
	slices.SortFunc(projects, byDepth)
	return projects, group
}

// row is a source that stands in tool_sources.
func (s *survey) row(kind Type, at, mode, project string) Found {
	key := "tool_sources"
	switch kind {
	case OpenAI:
		key = "openai_api.tools"
	case Anthropic:
		key = "anthropic.tools"
	case N8N:
		key = "n8n.workflows"
	default:
	}
	return Found{Source: Source{Type: kind, Path: at, Key: key, Mode: mode}, ID: idOf(kind, at), Project: project}
}

// folders are the folders of the files, none below another; nil when they are
// many: the folder of all is one row then.
func (s *survey) folders(kind Type, files []string, project string) []Found {
	var dirs []string
	for _, f := range files {
		dirs = append(dirs, path.Dir(f))
	}
	slices.SortFunc(dirs, byDepth)
	var set []Found
	for _, d := range dirs {
		if slices.ContainsFunc(set, func(f Found) bool { return below(d, f.Path) }) {
			continue
		}
		if set = append(set, s.row(kind, d, "", project)); len(set) > maxSingle {
			return nil
		}
	}
	return set
}

// idOf is an id that says what the source is.
func idOf(kind Type, at string) string {
	if slices.Contains([]Type{OpenAI, Anthropic, N8N}, kind) {
		return string(kind)
	}
	stem := strings.TrimSuffix(strings.ToLower(at), strings.ToLower(path.Ext(at)))
	words := strings.FieldsFunc(stem, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	if stem = strings.Join(words, "_"); stem == "" {
		stem = string(kind)
	}
	return stem[max(0, len(stem)-60):]
}

// load reads a source as a verification would.
func (s *survey) load(f *Found) *tool.SourceError {
	m := &manifest.Manifest{Name: manifest.DefaultName}
	list := []manifest.Artifact{{Path: f.Path}}
	if len(f.Entries) > 0 {
		list = nil
		for _, e := range f.Entries {
			list = append(list, manifest.Artifact{Path: e})
		}
	}
	switch {
	case f.Type == OpenAI:
		m.OpenAI = &manifest.OpenAI{Tools: list}
	case f.Type == Anthropic:
		m.Anthropic = &manifest.Anthropic{Tools: list}
	case f.Type == N8N:
		m.N8N = &manifest.N8N{Workflows: list}
	case len(f.Entries) > 0 && f.Type == LangChain:
		m.LangChain = &manifest.Framework{Entrypoints: list}
	case len(f.Entries) > 0 && f.Type == CrewAI:
		m.CrewAI = &manifest.Framework{Entrypoints: list}
	case len(f.Entries) > 0 && f.Type == ADK:
		m.ADK = &manifest.ADK{Entrypoints: list}
	default:
		m.Sources = []manifest.Source{{ID: f.ID, Type: string(f.Type), Path: f.Path, Mode: f.Mode}}
	}
	r, err := reader.Read(m, s.tree)
	f.Reading = r
	return err
}

// yield is what a set of sources shows: how much, and how much of it stays open.
type yield struct{ seen, twice, open int }

func yieldOf(set []Found) yield {
	var y yield
	known := map[string]bool{}
	count := func(what, name string, o *tool.Origin) {
		if reason, _ := leftOut(o.Path); reason != "" && reason != document {
			return
		}
		key := fmt.Sprintln(what, name, o.Path, o.Start.Line)
		if known[key] {
			y.twice++
			return
		}
		known[key] = true
		if what == "dynamic" {
			y.open++
		} else {
			y.seen++
		}
	}
	for _, f := range set {
		for i := range f.Reading.Tools {
			count("tool", f.Reading.Tools[i].Name, &f.Reading.Tools[i].Origin)
		}
		for i := range f.Reading.Agents {
			count("agent", f.Reading.Agents[i].Name, &f.Reading.Agents[i].Origin)
		}
		for i := range f.Reading.Dynamic {
			d := &f.Reading.Dynamic[i]
			count("dynamic", d.Kind+" "+d.Reason+" "+d.Agent+" "+d.Name, &d.Origin)
		}
	}
	return y
}

// better says whether a set shows more than another, or the same with less that
// stays open.
func (y yield) better(o yield) bool {
	switch {
	case y.seen != o.seen:
		return y.seen > o.seen
	case y.open != o.open:
		return y.open < o.open
	}
	return y.twice < o.twice
}

// best is the set that shows most; of equals the first. The error is that of the
// first set when none can be read.
func (s *survey) best(sets [][]Found) ([]Found, yield, *tool.SourceError) {
	var chosen []Found
	var most yield
	var failed *tool.SourceError
	for _, set := range sets {
		ok := len(set) > 0 && s.affords(set)
		for i := range set {
			if err := s.load(&set[i]); err != nil {
				if failed == nil {
					failed = err
				}
				ok = false
				break
			}
		}
		if !ok {
			continue
		}
		if y := yieldOf(set); chosen == nil || y.better(most) {
			chosen, most = set, y
		}
	}
	return chosen, most, failed
}

// maxLoads is the most files that are read to try suggestions, each as often as
// it is read.
const maxLoads = 20_000

// affords says whether one more set may be tried.
func (s *survey) affords(set []Found) bool {
	cost := 0
	for _, f := range set {
		switch {
		case len(f.Entries) > 0:
			cost += len(f.Entries)
		case s.set[f.Path]:
			cost++
		default:
			at := f.Path + "/"
			from, _ := slices.BinarySearchFunc(s.files, at, func(e entry, at string) int { return strings.Compare(e.name, at) })
			for i := from; i < len(s.files) && strings.HasPrefix(s.files[i].name, at); i++ {
				cost++
			}
			if f.Path == "." {
				cost = len(s.files)
			}
		}
	}
	// A folder is read up to its reader's own limit.
	if s.loads += min(cost, 2000); s.loads <= maxLoads {
		return true
	}
	if s.loads-min(cost, 2000) <= maxLoads {
		s.note("too_many_suggestions", ".", 0, "there is more that looks like sources than is read to try it; look at candidate_files")
	}
	return false
}

// keep adds the sources of one family in one project, or says why not.
func (s *survey) keep(kind Type, files []string, set []Found, y yield, failed *tool.SourceError) bool {
	switch {
	case set == nil && failed != nil:
		s.note("unreadable_source", failed.Path, failed.Line, "the "+string(kind)+" source cannot be read: "+failed.Detail)
		for _, f := range files {
			s.leave(kind, f, unreadable)
		}
		return false
	case set == nil:
		return false
	case y.seen+y.open == 0:
		for _, f := range files {
			s.leave(kind, f, noTools)
		}
		return false
	}
	for i := range set {
		s.add(set[i])
	}
	return true
}

// add keeps one source under an id of its own, and says what of it stays open.
func (s *survey) add(f Found) {
	if !slices.Contains([]Type{OpenAI, Anthropic, N8N}, f.Type) && len(f.Entries) == 0 {
		id, n := f.ID, 2
		for slices.ContainsFunc(s.out.Found, func(o Found) bool { return o.ID == id }) {
			id = fmt.Sprintf("%s_%d", f.ID, n)
			n++
		}
		if id != f.ID {
			f.ID = id
			if err := s.load(&f); err != nil {
				return // it was read a moment ago: the file is changing
			}
		}
	}
	for i := range f.Reading.Dynamic {
		d := &f.Reading.Dynamic[i]
		if !d.Resolved {
			s.note("dynamic_tools", d.Origin.Path, d.Origin.Start.Line, strings.ReplaceAll(d.Kind+" cannot be listed by reading: "+d.Reason, "_", " "))
		}
	}
	s.out.Found = append(s.out.Found, f)
}

// python suggests the sources of one Python framework.
func (s *survey) python(kind Type) {
	projects, group := s.byProject(slices.DeleteFunc(s.of(kind, "decorator", "call"), isYAML))
	var entries []string
	var of []string
	for _, p := range projects {
		files := group[p]
		whole := s.closure(files)
		sets := [][]Found{}
		if len(files) <= maxSingle {
			var single []Found
			for _, f := range files {
				single = append(single, s.row(kind, f, "", p))
			}
			sets = append(sets, single)
		}
		if kind == AgentsSDK {
			sets = append(sets, s.folders(kind, files, p))
		}
		for _, list := range [][]string{files, whole} {
			if dir := common(list); kind == AgentsSDK || !slices.ContainsFunc(list, func(f string) bool { return path.Dir(f) != dir }) {
				sets = append(sets, []Found{s.row(kind, dir, "", p)})
			}
		}
		if kind != AgentsSDK {
			sets = append(sets, []Found{s.program(kind, files, p)}, []Found{s.program(kind, whole, p)})
		}
		set, y, failed := s.best(sets)
		if len(set) == 1 && len(set[0].Entries) > 0 {
			entries, of = append(entries, s.needed(set[0], files, y)...), append(of, p)
			continue
		}
		s.keep(kind, files, set, y, failed)
	}
	if len(entries) == 0 {
		return
	}
	// A framework has one block in a manifest, whose files are one program.
	p := of[0]
	if len(of) > 1 {
		p = "."
	}
	set, y, failed := s.best([][]Found{{s.program(kind, entries, p)}})
	s.keep(kind, entries, set, y, failed)
}

// program is Python files that are read together, as a block of the manifest.
func (s *survey) program(kind Type, files []string, project string) Found {
	files = slices.Clone(files)
	slices.Sort(files)
	return Found{Source: Source{Type: kind, Path: files[0], Key: string(kind) + ".python_entrypoints"}, ID: string(kind), Project: project, Entries: slices.Compact(files)}
}

// needed are the files of a program that it shows as much with as with all.
func (s *survey) needed(f Found, files []string, y yield) []string {
	used := map[string]bool{}
	for _, name := range files {
		used[name] = true
	}
	for i := range f.Reading.Tools {
		used[f.Reading.Tools[i].Origin.Path] = true
	}
	for i := range f.Reading.Edges {
		used[f.Reading.Edges[i].Origin.Path] = true
	}
	less := slices.DeleteFunc(slices.Clone(f.Entries), func(name string) bool { return !used[name] })
	smaller := s.program(f.Type, less, f.Project)
	if err := s.load(&smaller); err != nil || yieldOf([]Found{smaller}) != y {
		return f.Entries
	}
	return less
}

// mcpServers suggests the code of MCP servers.
func (s *survey) mcpServers() {
	slices.Sort(s.servers)
	projects, group := s.byProject(slices.Compact(s.servers))
	for _, p := range projects {
		files := group[p]
		var sets [][]Found
		if len(files) == 1 {
			sets = append(sets, []Found{s.row(MCPServer, files[0], "", p)})
		}
		sets = append(sets, s.folders(MCPServer, files, p), []Found{s.row(MCPServer, common(files), "", p)})
		set, y, failed := s.best(sets)
		if !s.keep(MCPServer, files, set, y, failed) {
			continue
		}
		for i := range set {
			for _, t := range set[i].Reading.Tools {
				if t.Name != "" {
					s.hit(hit{kind: MCPServer, file: t.Origin.Path, line: t.Origin.Start.Line, strength: Strong, role: "call", what: "registers the tool " + t.Name})
				}
			}
		}
	}
}

// n8n suggests the workflows of n8n: a block, in which one may call another.
func (s *survey) n8n(flows []string) {
	var good []string
	project := ""
	for _, name := range s.of(N8N, "shape") {
		if !slices.Contains(flows, name) {
			continue
		}
		set, y, failed := s.best([][]Found{{s.row(N8N, name, "", s.projectOf(name))}})
		if failed != nil || set == nil {
			s.keep(N8N, []string{name}, nil, y, failed)
			continue
		}
		good = append(good, name)
		if p := s.projectOf(name); project == "" || project == p {
			project = p
		} else {
			project = "."
		}
	}
	if len(good) == 0 {
		return
	}
	entries := s.gathered(good)
	f := s.row(N8N, entries[0], "", project)
	f.Entries = entries[:min(len(entries), maxListed)]
	set, y, failed := s.best([][]Found{{f}})
	s.keep(N8N, good, set, y, failed)
}

// gathered names folders in place of many workflows, where these are all the JSON
// that a folder holds: the next workflow is then declared as well.
func (s *survey) gathered(flows []string) []string {
	if len(flows) <= maxSingle {
		return flows
	}
	flow := map[string]bool{}
	for _, name := range flows {
		flow[name] = true
	}
	mixed := map[string]bool{".": true}
	for _, f := range s.files {
		if !strings.EqualFold(path.Ext(f.name), ".json") || flow[f.name] {
			continue
		}
		for dir := path.Dir(f.name); !mixed[dir]; dir = path.Dir(dir) {
			mixed[dir] = true
		}
	}
	var entries []string
	for _, name := range slices.SortedFunc(slices.Values(flows), byDepth) {
		dir := path.Dir(name)
		switch {
		case mixed[dir]:
			entries = append(entries, name)
		case !slices.ContainsFunc(entries, func(e string) bool { return below(dir, e) }):
			entries = append(entries, dir)
		}
	}
	return entries
}

// conductor suggests workflows of Conductor. One runs another by its name, inside
// of one source.
func (s *survey) conductor(flows []string) {
	files := slices.DeleteFunc(s.of(Conductor, "shape"), func(name string) bool { return !slices.Contains(flows, name) })
	projects, group := s.byProject(files)
	for _, p := range projects {
		list := group[p]
		var sets [][]Found
		if len(list) <= maxSingle {
			var single []Found
			for _, name := range list {
				single = append(single, s.row(Conductor, name, "", p))
			}
			sets = append(sets, single)
		}
		sets = append(sets, []Found{s.row(Conductor, common(list), "", p)})
		set, y, failed := s.best(sets)
		s.keep(Conductor, list, set, y, failed)
	}
}

// shape suggests one file that is a source by its form.
func (s *survey) shape(sh shape) {
	if sh.Type == Plugin {
		s.out.Plugins = append(s.out.Plugins, PluginCandidate{Name: shown(sh.name), Path: sh.Path, Mode: sh.Mode})
	}
	f := s.row(sh.Type, sh.Path, sh.Mode, s.projectOf(sh.file))
	set, y, failed := s.best([][]Found{{f}})
	if sh.Type == Plugin && failed == nil {
		s.add(set[0]) // its tools come from inventories; the plugin itself counts
		return
	}
	s.keep(sh.Type, []string{sh.file}, set, y, failed)
}
