package surface

import (
	"path"
	"slices"
	"strings"
)

// Class is a trust-root class of §4.2; empty for a path that has none.
type Class string

// The classes in table order: the first that matches wins.
const (
	ClassManifest     Class = "manifest"
	ClassState        Class = "shipgate_state"
	ClassPolicy       Class = "policy"
	ClassPrompts      Class = "prompts"
	ClassCIGate       Class = "ci_gate"
	ClassInstructions Class = "agent_instructions"
	ClassCodexPlugin  Class = "codex_plugin"
	ClassToolSurface  Class = "tool_surface_decl"
	ClassHostBoundary Class = "host_boundary"
)

type trustRoot struct {
	class    Class
	patterns []string
	globs    []glob
}

var trustRoots = compileRoots([]trustRoot{
	{class: ClassManifest, patterns: []string{"**/shipgate.yaml"}},
	{class: ClassState, patterns: []string{"**/.agents-shipgate/**"}},
	{class: ClassPolicy, patterns: []string{"**/policies/**"}},
	{class: ClassPrompts, patterns: []string{"**/prompts/**"}},
	{class: ClassCIGate, patterns: gateWorkflows},
	{class: ClassInstructions, patterns: []string{
		"**/AGENTS.md", "**/AGENTS.override.md", "**/CLAUDE.md", "**/.claude/**", "**/.cursor/rules/**",
		"**/.agents/skills/**", "**/.codex/**",
	}},
	{class: ClassCodexPlugin, patterns: []string{"**/.codex-plugin/**"}},
	{class: ClassToolSurface, patterns: []string{
		"**/.app.json", "**/.mcp.json", "**/.cursor/mcp.json", "**/.vscode/mcp.json", "**/SKILL.md",
	}},
})

// RootPatterns are the patterns of the given classes, in table order; those of
// host_boundary are the adapters'.
func RootPatterns(classes ...Class) []string {
	var out []string
	for i := range trustRoots {
		if slices.Contains(classes, trustRoots[i].class) {
			out = append(out, trustRoots[i].patterns...)
		}
	}
	if slices.Contains(classes, ClassHostBoundary) {
		for i := range adapters {
			for _, p := range adapters[i].Patterns {
				if !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

func compileRoots(list []trustRoot) []trustRoot {
	for i := range list {
		list[i].globs = globs(list[i].patterns...)
	}
	return list
}

var gateWorkflows = []string{
	"**/.github/workflows/agents-shipgate.yml", "**/.github/workflows/agents-shipgate.yaml",
}

var gateWorkflowGlobs = globs(gateWorkflows...)

// ClassOf is the trust-root class of a path by its name alone.
func ClassOf(p string) Class {
	class, _ := RootOf(p)
	return class
}

// RootOf is the trust-root class of a path and the pattern that gave it; both
// are empty for a path that has none.
func RootOf(p string) (class Class, pattern string) {
	f := fold(p)
	for i := range trustRoots {
		for j := range trustRoots[i].globs {
			if matchAny(trustRoots[i].globs[j:j+1], f) {
				return trustRoots[i].class, trustRoots[i].patterns[j]
			}
		}
	}
	for i := range adapters {
		for j := range adapters[i].globs {
			if matchAny(adapters[i].globs[j:j+1], f) {
				return ClassHostBoundary, adapters[i].Patterns[j]
			}
		}
	}
	return "", ""
}

// GovernsGate says whether a path of this class and name decides how the gate
// itself judges. The whole trail of instructions does not; AGENTS.md and
// CLAUDE.md do, in any spelling.
func GovernsGate(class Class, p string) bool {
	switch class {
	case ClassManifest, ClassState, ClassPolicy, ClassCIGate:
		return true
	case ClassInstructions:
		name := Fold(path.Base(p))
		return name == "agents.md" || name == "claude.md"
	case ClassPrompts, ClassCodexPlugin, ClassToolSurface, ClassHostBoundary:
		return false
	default:
		return false
	}
}

// IsGateWorkflow says whether p is a gate workflow at any depth (rule 10).
func IsGateWorkflow(p string) bool { return matchAny(gateWorkflowGlobs, fold(p)) }

// IsBoundary says whether p matches an adapter or has a trust-root class.
func IsBoundary(p string) bool { return ClassOf(p) != "" }

// ListingPatterns are few Git pathspecs without glob magic, so that "*" stands
// for "/" too, which together match every adapter path, trust root and link
// point, and more besides: Git tries each pattern on each index entry, and it is
// several times faster where a pattern has one star only (§2.1).
func ListingPatterns() []string {
	var out []string
	add := func(patterns []string) {
		for _, p := range patterns {
			for _, c := range coarse(p) {
				if !slices.Contains(out, c) {
					out = append(out, c)
				}
			}
		}
	}
	for i := range adapters {
		add(adapters[i].Patterns)
	}
	for i := range trustRoots {
		add(trustRoots[i].patterns)
	}
	add(linkPointPatterns)
	return out
}

// coarse matches all that a pattern matches: by the dot it begins with, by the
// end of the name, or by a word of the path.
func coarse(pattern string) []string {
	name, _, folder := strings.Cut(strings.TrimPrefix(pattern, "**/"), "/")
	switch {
	case strings.HasPrefix(name, "."):
		return []string{".*", "*/.*"}
	case folder || path.Ext(name) == "":
		return []string{"*" + name + "*"}
	case strings.EqualFold(path.Ext(name), ".md"):
		return []string{"*.md"}
	}
	return []string{"*" + name}
}
