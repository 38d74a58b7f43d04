package preflight

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/surface"
)

// kind is one kind of protected surface in the order of §13.3.
type kind struct {
	name     string
	scope    ScopeType
	about    string
	class    surface.Class // "" for what only preflight tells apart
	patterns []string      // of a kind without a class
}

// kinds is the table of §13.3: what Codex reads first, then the trust roots of
// §9.6.
var kinds = [...]kind{
	{
		name: "codex_config", scope: WholeFile, about: "settings that Codex takes from the repository",
		patterns: []string{"**/.codex/config.toml", "**/.codex/config.json"},
	},
	{
		name: "codex_hooks", scope: WholeFile, about: "commands that Codex runs by itself",
		patterns: []string{"**/.codex/hooks.json", "**/.codex/hooks/**"},
	},
	{
		name: "codex_plugin", scope: CapabilitySurface, about: "what a Codex plugin offers",
		patterns: []string{"**/.codex-plugin/plugin.json"},
	},
	{name: "manifest", scope: KeyLevel, about: "what the gate holds the repository to", class: surface.ClassManifest},
	{name: "shipgate_state", scope: KeyLevel, about: "what people accepted: baselines, waivers, saved state", class: surface.ClassState},
	{name: "policy", scope: WholeFile, about: "the rules that changes are judged by", class: surface.ClassPolicy},
	{name: "prompts", scope: CapabilitySurface, about: "what agents of the repository are told", class: surface.ClassPrompts},
	{name: "ci_gate", scope: WholeFile, about: "the workflow that runs the gate", class: surface.ClassCIGate},
	{name: "agent_instructions", scope: WholeFile, about: "instructions and settings that coding agents follow", class: surface.ClassInstructions},
	{name: "codex_plugin", scope: CapabilitySurface, about: "what a Codex plugin offers", class: surface.ClassCodexPlugin},
	{name: "tool_surface_decl", scope: CapabilitySurface, about: "tools and servers that agents are given", class: surface.ClassToolSurface},
	{name: "host_boundary", scope: WholeFile, about: "settings of a host, and workflows", class: surface.ClassHostBoundary},
}

// protection is the protected surfaces of one workspace.
type protection struct {
	list     []Surface
	index    map[[2]string]int // kind and pattern to its place in list
	codex    []codexGlob
	manifest string
	decides  map[string]surface.Class // files that the manifest names (D70.V4)
	longest  int                      // of the names in decides
}

type codexGlob struct {
	at   int // in list
	glob surface.Globs
}

// protect lists the surfaces. decides are the files that the manifest names as
// inputs of the gate.
func protect(manifest string, decides map[string]surface.Class) *protection {
	p := &protection{index: map[[2]string]int{}, manifest: manifest, decides: decides}
	named := map[surface.Class][]string{}
	for name, class := range decides {
		p.longest = max(p.longest, len(name))
		if known, _ := surface.RootOf(name); known == "" {
			named[class] = append(named[class], name)
		}
	}
	if known, _ := surface.RootOf(manifest); known != surface.ClassManifest && manifest != "" {
		named[surface.ClassManifest] = append(named[surface.ClassManifest], manifest)
	}
	for i := range kinds {
		k := &kinds[i]
		if k.class == "" {
			for _, pattern := range k.patterns {
				p.codex = append(p.codex, codexGlob{p.add(k, pattern), surface.FoldedGlobs(pattern)})
			}
			continue
		}
		for _, pattern := range surface.RootPatterns(k.class) {
			if k.class != surface.ClassHostBoundary || remains(pattern) {
				p.add(k, pattern)
			}
		}
		slices.Sort(named[k.class])
		for _, name := range named[k.class] {
			p.add(k, name)
		}
	}
	return p
}

func (p *protection) add(k *kind, pattern string) int {
	key := [2]string{k.name, pattern}
	if at, known := p.index[key]; known {
		return at
	}
	p.index[key] = len(p.list)
	p.list = append(p.list, Surface{
		Kind: k.name, Pattern: pattern, ScopeType: k.scope, Description: k.about, PresentPaths: []string{}, HumanReview: true,
	})
	return len(p.list) - 1
}

// remains says whether a host's pattern has paths that no class before
// host_boundary takes.
func remains(pattern string) bool {
	sample := strings.ReplaceAll(strings.ReplaceAll(pattern, "**", "folder"), "*", "name")
	return surface.ClassOf(sample) == surface.ClassHostBoundary
}

// of are the surfaces that a path belongs to, by their place in the list: the
// one of Codex, and the class of trust root. A kind counts once.
func (p *protection) of(name string) []int {
	var at []int
	for _, c := range p.codex {
		if c.glob.Match(name) {
			at = append(at, c.at)
			break
		}
	}
	class, pattern := surface.RootOf(name)
	if class == "" && (name == p.manifest && name != "") {
		class, pattern = surface.ClassManifest, name
	}
	if class == "" {
		class, pattern = p.decided(name)
	}
	if class == "" {
		return at
	}
	if root, known := p.index[[2]string{string(class), pattern}]; known && (len(at) == 0 || p.list[at[0]].Kind != p.list[root].Kind) {
		at = append(at, root)
	}
	return at
}

// decided is the class of a file that the manifest names as an input of the
// gate, or of what lies in a folder that it names.
func (p *protection) decided(name string) (surface.Class, string) {
	for at := name; len(p.decides) > 0 && at != "." && at != ""; at = parent(at) {
		if len(at) > p.longest {
			continue // a path may have thousands of folders
		}
		if class, ok := p.decides[at]; ok {
			return class, at
		}
	}
	return "", ""
}

func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)]
}

// touches are what the planned paths reach, one for each path and kind, sorted. A
// plan that was made in a folder of the repository may name files from there, so
// a path counts below it too.
func (p *protection) touches(paths []string, folder string, places *places) []Touch {
	seen := map[[2]string]bool{}
	list := []Touch{}
	touch := func(name string, at int) {
		s := &p.list[at]
		if key := [2]string{name, s.Kind}; !seen[key] {
			seen[key] = true
			list = append(list, Touch{Path: name, Kind: s.Kind, Pattern: s.Pattern, ScopeType: s.ScopeType, HumanReview: true})
		}
	}
	for _, name := range paths {
		readings := []string{name}
		if folder != "." && folder != "" {
			readings = append(readings, path.Join(folder, name))
		}
		for _, reading := range readings {
			for _, also := range places.reached(reading) {
				for _, at := range p.of(also) {
					touch(name, at)
				}
			}
			// A folder stands for everything that lies in it.
			for _, inside := range places.inside(reading) {
				touch(name, inside.at)
			}
		}
	}
	slices.SortFunc(list, func(a, b Touch) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(p.index[[2]string{a.Kind, a.Pattern}], p.index[[2]string{b.Kind, b.Pattern}]))
	})
	return list
}

// forbiddenEdits are the patterns that no agent changes on its own: the classes
// of §9.5 and what Codex reads.
func forbiddenEdits() []string {
	list := surface.RootPatterns(surface.ClassCIGate, surface.ClassInstructions, surface.ClassPolicy, surface.ClassHostBoundary)
	for i := range kinds {
		if k := &kinds[i]; k.name == "codex_config" || k.name == "codex_hooks" {
			list = append(list, k.patterns...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
