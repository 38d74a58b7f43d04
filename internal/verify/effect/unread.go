package effect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// inventoryBlock is the block of the manifest in which a framework's tools are
// listed, for those that have one (§4.5).
var inventoryBlock = map[string]string{"google_adk": "google_adk", "langchain": "langchain", "crewai": "crewai", "n8n": "n8n"}

// unread reports lists of tools that could not be read, one issue per agent or
// source. A declaration alone does not close them: it was made about other code
// than a change may bring. An inventory of the framework does, once a closed
// world says which of its tools the agent has.
func (b *binder) unread() {
	type group struct {
		source, agent, key string
		at                 tool.Origin
		reasons            []string
		count              int
	}
	inventories := map[string]bool{}
	for _, t := range b.x.s.Catalog {
		for i := range t.Members {
			if framework, ok := strings.CutSuffix(t.Members[i].Origin.Type, "_inventory"); ok {
				inventories[framework] = true
			}
		}
	}
	allowed := allowLists(b.x.r.Toolkit)
	groups := map[sourceName]*group{}
	read := *b.x.r
	read.Dynamic = slices.Clone(read.Dynamic)
	b.x.s.Reading = &read
	for n := range read.Dynamic {
		d := &read.Dynamic[n]
		if d.Resolved || d.Kind == "schema" {
			continue
		}
		o, holder := d.Origin, b.g.Root
		if d.Agent != "" {
			holder = b.id(d.Agent, o.SourceID)
			b.spoken[holder] = true
		}
		_, closed := b.declares[holder]
		limits, limited := allowed[sourceName{o.SourceID, d.Name}]
		listed := inventories[d.Framework]
		if closed && (listed || limited && b.names(holder, limits)) {
			d.Resolved = true // for everybody who looks at this side from here on
			continue
		}
		key := ""
		switch block := inventoryBlock[d.Framework]; {
		case listed || limited:
			key = "agent_bindings.declarations[].tools"
		case block != "":
			key = block + ".tool_inventories"
		}
		k := sourceName{o.SourceID, d.Agent}
		g := groups[k]
		if g == nil {
			g = &group{source: o.SourceID, agent: d.Agent, at: o, key: key}
			groups[k] = g
		}
		if earlier(o, g.at) {
			g.at, g.key = o, key
		}
		g.reasons = append(g.reasons, strings.ReplaceAll(cmp.Or(d.Reason, d.Kind), "_", " "))
		g.count++
	}
	for _, g := range groups {
		what := "A list of its tools"
		if g.count > 1 {
			what = fmt.Sprintf("%d lists of its tools", g.count)
		}
		i := at(g.at, PartialBinding, cmp.Or(g.agent, g.source), fmt.Sprintf("%s cannot be read (%s), first at %s.",
			what, strings.Join(sorted(g.reasons), ", "), place(g.at)))
		i.Key, i.InSource = g.key, g.key == ""
		b.issue(i)
	}
}

// allowLists are the literal allow-lists of constructors by the name that code
// binds them to. Of several under one name all count, and one without a list
// limits nothing.
func allowLists(toolkits []tool.Toolkit) map[sourceName][]string {
	lists, open := map[sourceName][]string{}, map[sourceName]bool{}
	for _, k := range toolkits {
		at := sourceName{k.Origin.SourceID, k.Binding}
		open[at] = open[at] || !k.Limited || k.Binding == ""
		lists[at] = append(lists[at], k.Scopes...)
	}
	for at := range open {
		if open[at] {
			delete(lists, at)
		}
	}
	return lists
}

// names says whether the declaration of an agent names every one of the tools.
func (b *binder) names(agent string, tools []string) bool {
	return len(tools) > 0 && !slices.ContainsFunc(tools, func(name string) bool { return b.declared[agent][name] == "" })
}
