package verify

import (
	"maps"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// decidedBy is the class of a file that is an input of the gate because a
// manifest of either side names it, "" for every other. What such files say is
// for people to decide, wherever they lie (docs/spec/verification.md §3.1):
// policy packs, policy rules, the evidence of what people did, and the log of
// baselines.
func (c *compared) decidedBy(name string) surface.Class {
	for _, s := range []*Side{c.base, c.head} {
		if s == nil {
			continue
		}
		files := named(s.Surface.Manifest)
		for _, p := range s.Packs {
			files[p.Path] = surface.ClassPolicy // also those of the command line
		}
		for _, file := range slices.Sorted(maps.Keys(files)) {
			clean, ok := tool.Clean(file)
			at := path.Join(path.Dir(c.manifest), clean)
			if ok && (name == at || strings.HasPrefix(name, at+"/")) {
				return files[file]
			}
		}
	}
	return ""
}

// named are the files that decide what the gate asks for, as the manifest
// writes them.
func named(m *manifest.Manifest) map[string]surface.Class {
	files := map[string]surface.Class{}
	add := func(lists ...[]manifest.Artifact) {
		for _, list := range lists {
			for _, a := range list {
				files[a.Path] = surface.ClassPolicy
			}
		}
	}
	for _, p := range m.Checks.Packs {
		files[p.Path] = surface.ClassPolicy
	}
	if b := m.OpenAI; b != nil {
		add(b.PolicyRules, b.Traces)
	}
	if b := m.Anthropic; b != nil {
		add(b.PolicyRules)
	}
	if b := m.ADK; b != nil {
		add(b.Traces)
	}
	if b := m.N8N; b != nil {
		add(b.Executions)
	}
	if v := m.Validation; v != nil {
		add(v.ApprovalTraces, v.OverrideLogs, v.Exclusions, v.PromotionCriteria)
	}
	if log := m.Baseline.AuditLog; log != "" {
		files[log] = surface.ClassState
	}
	return files
}
