package starter

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/patch"
	"plimsoll.dev/internal/verify/tool"
)

// maxAsked is the most tools that one patch names.
const maxAsked = 50

// asker turns what the draft leaves open into questions.
type asker struct {
	text    []byte
	m       *manifest.Manifest
	w       *writer
	surface *effect.Surface
	out     []Question
}

// ask is every question, in the order of their lines.
func (a *asker) ask() []Question {
	a.out = []Question{}
	a.who()
	a.root()
	a.unbound()
	a.same()
	a.tools()
	slices.SortStableFunc(a.out, func(x, y Question) int { return cmp.Compare(x.Line, y.Line) })
	return a.out
}

// add asks one thing, whose answer is an edit of the draft. An edit that cannot
// be made is no question: a patch that fails helps nobody.
func (a *asker) add(key, why string, edits ...patch.Edit) {
	after, err := patch.Apply(a.text, patch.YAML, edits...)
	if err != nil || bytes.Equal(after, a.text) {
		return
	}
	after = a.placed(after)
	line := 1
	for i := range min(len(after), len(a.text)) {
		if after[i] != a.text[i] {
			break
		}
		if after[i] == '\n' {
			line++
		}
	}
	a.out = append(a.out, Question{
		Key: key, Path: manifest.DefaultName, Line: min(line, bytes.Count(a.text, []byte("\n"))),
		Why: oneLine(why), Patch: patch.Narrow(manifest.DefaultName, a.text, after),
	})
}

// placed moves a new block to below the comment that speaks of it. Where an edit
// puts it, patches of several questions meet, and only the first would apply.
func (a *asker) placed(after []byte) []byte {
	n, begin := len(after)-len(a.text), 0
	for begin < len(a.text) && a.text[begin] == after[begin] {
		begin++
	}
	begin = 1 + bytes.LastIndexByte(a.text[:begin], '\n')
	if n <= 0 || !bytes.Equal(a.text[begin:], after[begin+n:]) {
		return after
	}
	block := after[begin : begin+n]
	key, _, _ := strings.Cut(strings.TrimSpace(string(block)), ":")
	for _, mark := range []string{"\n#   " + key + ": ", "\n  # " + key + ": "} {
		if at := bytes.Index(a.text, []byte(mark)); at >= 0 {
			at += 1 + bytes.IndexByte(a.text[at+1:], '\n') + 1
			return slices.Concat(a.text[:at], block, a.text[at:])
		}
	}
	return after
}

func set(pointer string, value any) patch.Edit {
	return patch.Edit{Kind: check.SetPointer, Pointer: pointer, Value: value}
}

// who asks for names, purpose and environment. Of a value that is needed and not
// known the patch shows the form.
func (a *asker) who() {
	if a.m.Project.Name == Placeholder {
		a.add("project.name", "The project has no name that could be read.", set("/project/name", "my-project"))
	}
	if a.m.Agent.Name == Placeholder {
		why := "No agent's name could be read."
		if n := len(a.w.d.AgentNames); n > 0 {
			why = "Which of the agents is it that people talk to: " + names(a.w.d.AgentNames) + "?"
		}
		a.add("agent.name", why, set("/agent/name", cmp.Or(plain(first(a.w.d.AgentNames)), "my-agent")))
	}
	if a.w.purpose {
		a.add("agent.declared_purpose", "What is the agent for? Its tools are held against it.", set("/agent/declared_purpose/0", "say in one line what the agent is for"))
	} else {
		a.add("agent.declared_purpose", "What is the agent for? Its tools are held against it.", set("/agent/declared_purpose", []any{Placeholder}))
	}
	a.add("environment.target", "Where does the agent run: local, staging, production_like or production? Until somebody says, the strictest is taken.", set("/environment/target", "staging"))
	if a.w.missing {
		a.add("tool_sources", "No tool could be read: which file lists them?", set("/tool_sources/0/path", "tools/mcp-tools.json"))
	}
}

const rootKey = "agent_bindings.root"

// root asks which agent people talk to, when several may be it.
func (a *asker) root() {
	if a.w.rootObject != "" || a.surface == nil || len(a.surface.Graph.Nodes) < 2 || a.surface.Graph.Root != "" {
		return
	}
	var list []string
	for _, n := range a.surface.Graph.Nodes {
		if name := plain(n.Name); name != "" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 {
		return
	}
	a.add(rootKey, "Which agent do people talk to? One of: "+names(list)+".", set("/agent_bindings", map[string]any{"root": map[string]any{"object": Placeholder}}))
}

// unbound asks who may use the tools of a source when no agent is seen to.
func (a *asker) unbound() {
	if a.surface == nil {
		return
	}
	led := map[string]bool{} // tools that some agent is seen to use
	for _, e := range a.surface.Graph.Edges {
		led[e.Tool] = true
	}
	held, sources := map[string]bool{}, map[string][]string{}
	for _, t := range a.surface.Catalog {
		for i := range t.Members {
			id := t.Members[i].Origin.SourceID
			if sources[id] = append(sources[id], t.Name); a.surface.Reach[t.ID] != effect.Unbound || led[t.ID] {
				held[id] = true
			}
		}
	}
	if a.blocks() {
		return
	}
	for i, r := range a.w.rows {
		if len(sources[r.id]) == 0 || held[r.id] {
			continue
		}
		key := "tool_sources[" + strconv.Itoa(i) + "].binding"
		a.add(key, "Nothing shows which agent uses the tools of "+r.id+". If the agent may use every one of them, say so and why.",
			set("/tool_sources/"+strconv.Itoa(i)+"/binding", map[string]any{"complete": true, "reason": Placeholder}))
	}
}

// same asks whether tools of one name, in a list and in code, are one tool: then
// the list says in full what the code shows.
func (a *asker) same() {
	if a.surface == nil {
		return
	}
	byName := map[string][]*effect.Tool{}
	var order []string
	for _, t := range a.surface.Catalog {
		if plain(t.Name) == "" || plain(t.Origin.SourceID) == "" {
			continue
		}
		if byName[t.Name] == nil {
			order = append(order, t.Name)
		}
		byName[t.Name] = append(byName[t.Name], t)
	}
	var bindings []any
	for _, name := range order {
		pair := byName[name]
		if len(pair) != 2 || a.listed(pair[0]) == a.listed(pair[1]) {
			continue
		}
		list, code := pair[0], pair[1]
		if a.listed(code) {
			list, code = code, list
		}
		selector := func(t *effect.Tool) map[string]any {
			return map[string]any{"source_id": t.Origin.SourceID, "tool": t.Name}
		}
		bindings = append(bindings, map[string]any{
			"id": name, "provider": Placeholder, "reason": Placeholder, "primary": selector(list), "members": []any{selector(list), selector(code)},
		})
	}
	if len(bindings) == 0 || len(bindings) > maxAsked {
		return
	}
	a.add("tool_identity.bindings", "A list and the code name the same tools. If one is made from the other, say so and who provides them; the list then says in full what the code shows.",
		set("/tool_identity", map[string]any{"bindings": bindings}))
}

// listed says whether a tool stands in a list of its own. What a workflow offers
// to others as a server is of type mcp too, and no list.
func (a *asker) listed(t *effect.Tool) bool {
	return t.Origin.Type == "mcp" && slices.ContainsFunc(a.w.rows, func(r row) bool { return r.kind == string(detect.MCP) && r.id == t.Origin.SourceID })
}

// blocks asks about tools of blocks, which no source can bind: then one
// declaration has to say the whole set, and names what the code shows as well.
func (a *asker) blocks() bool {
	open := false
	var tools []any
	for _, t := range a.surface.Catalog {
		if plain(t.Name) == "" {
			continue
		}
		unbound := a.surface.Reach[t.ID] == effect.Unbound
		if unbound || slices.Contains(a.w.rootTools, t.Name) {
			tools = append(tools, a.entry(t))
		}
		for _, r := range a.w.blocks {
			open = open || unbound && len(r.reading.Agents) == 0 && slices.ContainsFunc(r.reading.Tools, func(o tool.Tool) bool { return o.Origin == t.Origin && o.Name == t.Name })
		}
	}
	if !open || len(tools) > maxAsked {
		return false
	}
	handoffs := []any{}
	for _, h := range a.w.rootHandoffs {
		handoffs = append(handoffs, h)
	}
	key, why := "agent_bindings.declarations", "Nothing shows which agent uses these tools. Keep what the agent may use; the list says the whole set."
	said := map[string]any{"agent": "root", "complete": true, "tools": tools, "handoffs": handoffs, "reason": Placeholder}
	edit := patch.Edit{Kind: check.AppendPointer, Pointer: "/agent_bindings/declarations", Value: said}
	if i := slices.IndexFunc(a.out, func(q Question) bool { return q.Key == rootKey }); i >= 0 {
		// Both would make the block, and a block stands once.
		key, why = "agent_bindings", a.out[i].Why+" "+why
		edit = set("/agent_bindings", map[string]any{"root": map[string]any{"object": Placeholder}, "declarations": []any{said}})
		a.out = slices.Delete(a.out, i, i+1)
	}
	a.add(key, why, edit)
	return true
}

// entry names a tool, with its source when others have its name.
func (a *asker) entry(t *effect.Tool) map[string]any {
	e := map[string]any{"tool": t.Name}
	if n := 0; slices.ContainsFunc(a.surface.Catalog, func(o *effect.Tool) bool {
		if o.Name == t.Name {
			n++
		}
		return n > 1
	}) {
		e["source_id"] = t.Origin.SourceID
	}
	return e
}

// tools asks what the tools do, and what has to come before them.
func (a *asker) tools() {
	if a.surface == nil {
		return
	}
	var list []*effect.Tool
	for _, t := range a.surface.Catalog {
		if plain(t.Name) != "" && plain(t.Origin.SourceID) != "" && !strings.Contains(t.Name, "*") {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return
	}
	more := ""
	if n := len(list) - maxAsked; n > 0 {
		list, more = list[:maxAsked], fmt.Sprintf(" The patch names the first %d tools; %d more follow the same form.", maxAsked, n)
	}
	all := func(more map[string]any) []any {
		var out []any
		for _, t := range list {
			e := a.entry(t)
			maps.Copy(e, more)
			out = append(out, e)
		}
		return out
	}
	a.add("action_surface.actions", "What does each tool do (effect: read, write, destructive, external_communication, financial_write, production_operation, "+
		"privileged_data_access, code_execution or identity_access), and with whose authority (mode: none, scoped with auth_type and scopes, unscoped or ambient with a reason)?"+more,
		set("/action_surface", map[string]any{"actions": all(map[string]any{"effect": Placeholder, "authority": map[string]any{"mode": Placeholder}})}))
	a.add("policies", "Which tools run only after a person approved, which only after the user confirmed, and which may be called twice without doing it twice? "+
		"Keep in each list those of which it is true."+more,
		set("/policies", map[string]any{
			"require_approval_for_tools": all(nil), "require_confirmation_for_tools": all(nil), "require_idempotency_for_tools": all(nil),
		}))
}
