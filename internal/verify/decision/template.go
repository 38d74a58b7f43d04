package decision

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// maxAccepted bounds the names that one gap offers; a catalog of thousands
// would otherwise be repeated in each.
const maxAccepted = 25

// The closed vocabularies that templates offer (§4.8).
var (
	effects = []string{
		"read", "write", "destructive", "external_communication", "financial_write", "production_operation",
		"privileged_data_access", "code_execution", "identity_access",
	}
	authorityModes = []string{"none", "scoped", "unscoped", "ambient"}
	sourceTypes    = []string{"mcp", "openapi", "openai_agents_sdk", "google_adk", "langchain", "crewai", "mcp_server"}
)

const review = manifest.Review

// file is the manifest as artifacts name it.
func (b *builder) file() string {
	if b.in.ConfigPath != "" {
		return b.in.ConfigPath
	}
	if m := b.in.Head.Manifest; m != nil && m.Name != "" {
		return m.Name
	}
	return "shipgate.yaml"
}

// next is the answer at a place of the manifest: kind of action, the key in
// words, the value that is asked for, and the edits that put it there.
func (b *builder) next(kind string, t Template, accepted []string, what, why string) Next {
	t.File, t.Variants = b.file(), list(t.Variants)
	b.lines(t.Edits)
	for i := range t.Variants {
		b.lines(t.Variants[i].Edits)
	}
	first := &t.Edits[0]
	at, where := b.spot(first.Pointer), " after line "
	if at.there {
		where = " at line "
	}
	more := ""
	if n := len(accepted) - maxAccepted; n > 0 {
		accepted, more = accepted[:maxAccepted], fmt.Sprintf(" (and %d more names)", n)
	}
	return Next{
		Kind: kind, Path: t.File, Accepted: list(accepted), Template: &t,
		Expects: "key " + first.keyAt(at.dotted, t.Key) + " in " + t.File + where + strconv.Itoa(at.line) + ": " + what + more,
		Why:     why, Human: true, PatchKind: check.Manual,
	}
}

// dotted is a pointer as the manifest is written about: action_surface.actions[3].
func dotted(pointer string) string {
	var b strings.Builder
	for _, step := range steps(pointer) {
		if _, err := strconv.Atoi(step); err == nil {
			b.WriteString("[" + step + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// key is the member that an edit asks for, by its whole path.
func (e *Edit) key(name string) string { return e.keyAt(dotted(e.Pointer), name) }

func (e *Edit) keyAt(path, name string) string {
	_, members := e.Value.(object)
	switch {
	case e.Kind == check.AppendPointer && members:
		return path + "[]." + name
	case e.Kind == check.AppendPointer:
		return path + "[]"
	case !members:
		return path
	}
	// authority.mode in a value that is the authority itself.
	last := path[strings.LastIndexByte(path, '.')+1:]
	return path + "." + strings.TrimPrefix(name, last+".")
}

func steps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts
}

// pointer is the RFC 6901 form of a path.
func pointer(path ...string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(p, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

func (b *builder) lines(edits []Edit) {
	for i := range edits {
		edits[i].Line = b.spot(edits[i].Pointer).line
	}
}

// spot is a place of the manifest as answers name it.
type spot struct {
	dotted string
	line   int
	there  bool
}

// spot is found once for all that is asked there.
func (b *builder) spot(pointer string) spot {
	s, known := b.spots[pointer]
	if !known {
		s.dotted = dotted(pointer)
		s.line, s.there = b.line(pointer)
		b.spots[pointer] = s
	}
	return s
}

// line is where a pointer is written: its own line when it is there, else the
// last line of the deepest thing above it that is.
func (b *builder) line(pointer string) (line int, there bool) {
	m := b.in.Head.Manifest
	if m == nil {
		return 1, false
	}
	path := steps(pointer)
	v, depth := m.Root, 0
	for _, key := range path {
		next, ok := child(v, key)
		if !ok {
			break
		}
		v, depth = next, depth+1
	}
	if depth == len(path) && v.Kind != source.List {
		return max(m.At(path...).Line, 1), true
	}
	if depth == 0 {
		return max(b.last, 1), false
	}
	return max(deepest(v), 1), false
}

// lastLine is the last line of a manifest: every gap of a key that is not there
// asks for it.
func lastLine(m *manifest.Manifest) int {
	text := bytes.TrimRight(m.Text, "\n")
	if len(text) == 0 {
		return deepest(m.Root)
	}
	return bytes.Count(text, []byte("\n")) + 1
}

func child(v source.Value, key string) (source.Value, bool) {
	for i := range v.Members {
		if v.Members[i].Key == key {
			return v.Members[i].Value, true
		}
	}
	if n, err := strconv.Atoi(key); err == nil && v.Kind == source.List && n >= 0 && n < len(v.Items) {
		return v.Items[n], true
	}
	return source.Value{}, false
}

// deepest is the last line that a value reaches.
func deepest(v source.Value) int {
	line := v.Pos.Line
	if n := len(v.Items); n > 0 {
		line = max(line, deepest(v.Items[n-1]))
	}
	if n := len(v.Members); n > 0 {
		line = max(line, v.Members[n-1].Pos.Line, deepest(v.Members[n-1].Value))
	}
	return line
}

// at is the value at a path of the manifest.
func (b *builder) at(path []string) (source.Value, bool) {
	m := b.in.Head.Manifest
	if m == nil || len(path) == 0 {
		return source.Value{}, false
	}
	v := m.Root
	for _, key := range path {
		next, ok := child(v, key)
		if !ok {
			return source.Value{}, false
		}
		v = next
	}
	return v, true
}

type object = canonical.Object

func with(o object, members ...canonical.Member) object {
	return append(append(make(object, 0, len(o)+len(members)), o...), members...)
}

func set(at string, value any) Edit { return Edit{Kind: check.SetPointer, Pointer: at, Value: value} }

func push(at string, value any) Edit {
	return Edit{Kind: check.AppendPointer, Pointer: at, Value: value}
}

// selects is the selector of a tool with no more than it takes to name exactly
// one (§5.4).
func (b *builder) selects(i *effect.Issue) object {
	t := b.in.Head.Tool(i.ToolID)
	if t == nil {
		o := object{{Key: "tool", Value: cmp.Or(i.Subject, review)}}
		if i.ToolID != "" {
			o = object{{Key: "tool_id", Value: i.ToolID}}
		}
		return o
	}
	switch {
	case b.named[t.Name] <= 1:
		return object{{Key: "tool", Value: t.Name}}
	case t.Origin.SourceID != "" && b.twins()[[2]string{t.Name, t.Origin.SourceID}] <= 1:
		return object{{Key: "tool", Value: t.Name}, {Key: "source_id", Value: t.Origin.SourceID}}
	}
	return object{{Key: "tool_id", Value: t.ID}}
}

// declared is the index of the tool's entry in action_surface.actions.
func (b *builder) declared(i *effect.Issue) (index int, ok bool) {
	if len(i.Path) >= 3 && i.Path[0] == "action_surface" && i.Path[1] == "actions" {
		if n, err := strconv.Atoi(i.Path[2]); err == nil {
			return n, true
		}
	}
	if a := b.in.Head.Action(i.ToolID); a != nil && a.Declared != nil {
		return a.Declared.Index, true
	}
	return 0, false
}

// action gives the edits that give an action some members: one append when it is
// not declared, one set for each when it is; two entries for one tool are
// refused by the loader.
func (b *builder) action(i *effect.Issue) func(members ...canonical.Member) []Edit {
	n, ok := b.declared(i)
	if !ok {
		selects := b.selects(i)
		return func(members ...canonical.Member) []Edit {
			return []Edit{push("/action_surface/actions", with(selects, members...))}
		}
	}
	return func(members ...canonical.Member) []Edit {
		edits := make([]Edit, 0, len(members))
		for _, m := range members {
			edits = append(edits, set(pointer("action_surface", "actions", strconv.Itoa(n), m.Key), m.Value))
		}
		return edits
	}
}

// effect asks what the action does. Against other evidence a declaration stands
// only with the evidence and the reason of an override (§4.8).
func (b *builder) effect(i *effect.Issue, kind string, conflict bool) Next {
	members := []canonical.Member{{Key: "effect", Value: review}}
	what := "what the action does, as one of the accepted values"
	if conflict {
		members = append(members, canonical.Member{
			Key: "override", Value: object{{Key: "evidence", Value: review}, {Key: "reason", Value: review}},
		})
		what += ", with the evidence and the reason why it stands"
	}
	return b.next(kind, Template{Key: "effect", Edits: b.action(i)(members...)}, effects, what,
		"A person states the effect; words in a name or a description do not prove one.")
}

// authority asks what the action acts with. Each mode demands and forbids other
// members, so each has a variant (§4.8).
func (b *builder) authority(i *effect.Issue, kind string) Next {
	const what, why = "the authority that the action has, with what its mode demands", "A person states the authority; nothing in the source says it in full."
	if t := b.in.Head.Tool(i.ToolID); i.Kind == "partial_authority_evidence" && t != nil && i.Key != "action_surface.actions[].authority" {
		// The source says one half. A declaration of the action may not replace it
		// (§6.3): the source says the rest, for one tool or for all of its tools.
		row := b.sourceRow(t.Origin.SourceID)
		if i.Key == "" || row < 0 {
			return b.atSource(t, kind, "names the sort of credential beside its scopes", why)
		}
		at := pointer("tool_sources", strconv.Itoa(row), "authority")
		edits := func(a canonical.Member, more ...canonical.Member) []Edit {
			return []Edit{set(at, with(a.Value.(object), more...))}
		}
		return b.next(kind, Template{
			Key: "authority.mode", Edits: edits(anyMode, needScopes),
			Variants: []Variant{
				{When: "none", Edits: edits(noMode)},
				{When: "scoped", Edits: edits(scopedMode, needScopes)},
				{When: "unscoped", Edits: edits(unscopedMode)},
				{When: "ambient", Edits: edits(ambientMode)},
			},
		}, authorityModes, "the authority of all tools of the source, with what its mode demands", why)
	}
	edits := b.action(i)
	return b.next(kind, Template{
		Key: "authority.mode", Edits: edits(anyMode, needScopes),
		Variants: []Variant{
			{When: "none", Edits: edits(noMode)},
			{When: "scoped", Edits: edits(scopedMode, needScopes)},
			{When: "unscoped", Edits: edits(unscopedMode)},
			{When: "ambient", Edits: edits(ambientMode)},
		},
	}, authorityModes, what, why)
}

// The authority of each mode with what it demands beside scopes, and the scopes.
// Every gap of an authority offers them; nobody changes them.
var (
	anyMode      = authorityOf(review, "auth_type")
	noMode       = authorityOf("none")
	scopedMode   = authorityOf("scoped", "auth_type")
	unscopedMode = authorityOf("unscoped", "auth_type", "reason")
	ambientMode  = authorityOf("ambient", "reason")
	needScopes   = canonical.Member{Key: "scopes", Value: []any{review}}
)

func authorityOf(mode string, asks ...string) canonical.Member {
	value := object{{Key: "mode", Value: mode}}
	for _, key := range asks {
		value = append(value, canonical.Member{Key: key, Value: review})
	}
	return canonical.Member{Key: "authority", Value: value}
}

// sourceRow is the index of a source in tool_sources, -1 for one that a
// framework block names.
func (b *builder) sourceRow(id string) int {
	if row, there := b.rows()[id]; there {
		return row
	}
	return -1
}

// inventories is the key under which a framework's tools are listed by name,
// for those that have one (§4.5).
var inventories = []struct{ prefix, block string }{
	{"google_adk", "google_adk"}, {"adk", "google_adk"}, {"langchain", "langchain"}, {"crewai", "crewai"}, {"n8n", "n8n"},
}

const whyInventory = "A list of the tools, as a file, stands for what reading cannot enumerate."

// listed is how an inventory for a framework or a source type is declared: the
// edit, its key, and the id of the source that it then is, as far as it is known.
func (b *builder) listed(i *effect.Issue, framework string) (e Edit, key, sourceID, what string) {
	const seen = " (suggested-inventory.json holds what was seen of them)"
	for _, f := range inventories {
		if strings.HasPrefix(framework, f.prefix) {
			return push(pointer(f.block, "tool_inventories"), review), "tool_inventories", review, "the path of a file that lists the tools" + seen
		}
	}
	if strings.HasPrefix(framework, "codex_plugin") {
		return push("/codex_plugins/mcp_tool_inventories", object{
			{Key: "path", Value: review}, {Key: "plugin", Value: review}, {Key: "server", Value: review},
		}), "path", review, "the path of a file that lists the server's tools, with the plugin and the server"
	}
	id := b.freeID(cmp.Or(b.sourceID(i), "tools") + "_inventory")
	return push("/tool_sources", object{{Key: "id", Value: id}, {Key: "type", Value: "mcp"}, {Key: "path", Value: review}}), "path", id,
		"the path of a file that lists the tools as a source of type mcp" + seen
}

// inventory asks for a file that lists the tools which reading could not list.
func (b *builder) inventory(i *effect.Issue, kind, framework string) Next {
	e, key, _, what := b.listed(i, framework)
	return b.next(kind, Template{Key: key, Edits: []Edit{e}}, nil, what, whyInventory)
}

// tool asks for what is not known of one tool. A tool of a list is completed in
// the list. A tool of code is listed beside it, and a person says that both are
// the same: nothing is joined by name (§5.4).
func (b *builder) tool(i *effect.Issue, kind string) Next {
	t := b.in.Head.Tool(i.ToolID)
	switch {
	case t == nil || t.Origin.SourceID == "" || t.Wildcard() && !isList(t.Origin.Type):
		return b.inventory(i, kind, i.SourceType)
	case isList(t.Origin.Type):
		return b.atSource(t, kind, "names one tool and has its input schema", "What the tool takes is written in the list that names it, and nowhere else.")
	}
	e, key, sourceID, what := b.listed(i, t.Origin.Type)
	in := func(source string) object {
		return object{{Key: "source_id", Value: source}, {Key: "tool", Value: t.Name}}
	}
	return b.next(kind, Template{Key: key, Edits: []Edit{e, push("/tool_identity/bindings", object{
		{Key: "id", Value: review},
		{Key: "provider", Value: review},
		{Key: "reason", Value: review},
		{Key: "primary", Value: in(sourceID)},
		{Key: "members", Value: []any{in(sourceID), in(t.Origin.SourceID)}},
	})}}, nil, what+"; and why the listed tool and the one in code are the same", whyInventory)
}

// atSource asks for what only the entry in the source can say: no key of the
// manifest stands for it.
func (b *builder) atSource(t *effect.Tool, kind, what, why string) Next {
	at := place(t.Origin)
	if t.Origin.Pointer != "" {
		at = t.Origin.Path + "#" + t.Origin.Pointer
	}
	return Next{
		Kind: kind, Path: cmp.Or(t.Origin.Path, t.Origin.Ref, b.file()), Accepted: []string{},
		Expects: fmt.Sprintf("the entry of %s at %s %s", t.Name, at, what), Why: why, Human: true, PatchKind: check.Manual,
	}
}

// isList holds for sources that list tools, as opposed to code that makes them.
func isList(sourceType string) bool {
	switch sourceType {
	case "mcp", "openapi", "openai_api", "anthropic_api", "codex_plugin_mcp_inventory":
		return true
	}
	return strings.HasSuffix(sourceType, "_inventory")
}

func (b *builder) sourceID(i *effect.Issue) string {
	if t := b.in.Head.Tool(i.ToolID); t != nil && i.SourceID == "" {
		return t.Origin.SourceID
	}
	return i.SourceID
}

// freeID is an id that no source has: the loader refuses a second one.
func (b *builder) freeID(id string) string {
	free := id
	for n := 2; b.sourceRow(free) >= 0; n++ {
		free = fmt.Sprintf("%s_%d", id, n)
	}
	return free
}

// provideSource asks for the source itself.
func (b *builder) provideSource(w *warned) Next {
	const kind, why = "provide_source", "A source that was not read may list tools that nobody looked at."
	row := b.sourceRow(w.name)
	switch {
	case row >= 0 && w.source != nil && w.source.State == tool.Unsupported:
		return b.next(kind, Template{
			Key: "type", Edits: []Edit{set(pointer("tool_sources", strconv.Itoa(row), "type"), review)},
		}, sourceTypes, "a type of source that can be read", why)
	case row >= 0:
		return b.next(kind, Template{
			Key: "path", Edits: []Edit{set(pointer("tool_sources", strconv.Itoa(row), "path"), review)},
		}, nil, "the path of the file or folder that is there", why)
	}
	return b.addSource(kind, why)
}

// addSource asks for one more row of tool_sources.
func (b *builder) addSource(kind, why string) Next {
	return b.next(kind, Template{
		Key: "type",
		Edits: []Edit{push("/tool_sources", object{
			{Key: "id", Value: review}, {Key: "type", Value: review}, {Key: "path", Value: review},
		})},
	}, sourceTypes, "a source that lists the tool: its id, its type and its path", why)
}
