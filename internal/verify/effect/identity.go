package effect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// stableID is prefix, underscore and the full digest of the object in compact
// canonical JSON (§5.4).
func stableID(prefix string, o canonical.Object) string {
	return prefix + "_" + digest(canonical.UTF8, o)
}

// digest is the hex digest of v. Most of what is hashed here is short, and there
// is much of it: the text is written where the last one was.
func digest(spelling canonical.Spelling, v any) string {
	text := hashed.Get().(*[]byte)
	defer hashed.Put(text)
	*text = spelling.Append((*text)[:0], v)
	sum := sha256.Sum256(*text)
	return hex.EncodeToString(sum[:])
}

var hashed = sync.Pool{New: func() any { return new([]byte) }}

// observation is one tool of the reading and its id.
type observation struct {
	id   string
	tool *tool.Tool
	at   int // in the reading
}

// observationID names an observation by what its source calls it.
func observationID(h *hand, t *tool.Tool) string {
	h.start()
	h.string("native_locator", t.Locator())
	h.string("source_id", t.Origin.SourceID)
	h.string("source_type", t.Origin.Type)
	h.close()
	return h.digest("obs_v1_")
}

// structuralID names the tool that one observation is.
func structuralID(h *hand, observation string) string {
	h.start()
	h.string("observation_id", observation)
	h.close()
	return h.digest("tool_v2_")
}

// observe gives every tool of the reading its id, in the order of ids where there
// are bindings that name them. A tool that cannot be told apart from another has
// no identity: exit 3.
func (x *resolver) observe() ([]observation, error) {
	m, r := x.m, x.r
	known := map[string]bool{}
	for _, s := range r.Sources {
		known[s.ID] = true
	}
	if len(known) > 0 {
		for _, s := range m.Sources {
			known[s.ID] = true
		}
	}
	all := make([]observation, len(r.Tools))
	x.shared(len(all), func(h *hand, i int) {
		if like := x.like[i]; like != nil {
			all[i] = observation{like.Observations[0], &r.Tools[i], i}
			return
		}
		all[i] = observation{observationID(h, &r.Tools[i]), &r.Tools[i], i}
	})
	first := make(map[string]*tool.Tool, len(r.Tools))
	for i := range r.Tools {
		t := &r.Tools[i]
		switch {
		case strings.TrimSpace(t.Origin.SourceID) == "":
			return nil, unreadable(t, fmt.Sprintf("the tool %q comes from a source without an id", t.Name))
		case len(known) > 0 && !known[t.Origin.SourceID]:
			return nil, unreadable(t, fmt.Sprintf("the tool %q names the source %q, which was not read", t.Name, t.Origin.SourceID))
		}
		id := all[i].id
		if other, twice := first[id]; twice {
			return nil, unreadable(t, fmt.Sprintf(
				"the tool %q is there twice in this source, the first time at %s: two tools of one name cannot be told apart", t.Name, place(other.Origin),
			))
		}
		first[id] = t
	}
	if len(m.Identities) > 0 {
		slices.SortFunc(all, func(a, b observation) int { return strings.Compare(a.id, b.id) })
	}
	return all, nil
}

// liken finds the tools of the other side that stand for what one reading saw on
// both. Which they are does not change with what else is there; what is said of
// them may.
func (x *resolver) liken(other *Prepared) {
	x.like, x.single = make([]*Tool, len(x.r.Tools)), make([]*Tool, len(x.r.Tools))
	if other == nil || other.x.m != x.m {
		return
	}
	theirs := other.x.r.Tools
	starts := map[*tool.Once]int{} // what one reading saw stands together
	for i := len(theirs) - 1; i >= 0; i-- {
		if once := theirs[i].Once; once != nil && (i == 0 || theirs[i-1].Once != once) {
			starts[once] = i
		}
	}
	next := 0
	for i := range x.r.Tools {
		t := &x.r.Tools[i]
		if t.Once == nil {
			continue
		}
		at := next
		if i == 0 || x.r.Tools[i-1].Once != t.Once {
			start, there := starts[t.Once]
			if !there {
				start = len(theirs)
			}
			at = start
		}
		if next = at + 1; at < len(theirs) && theirs[at].Once == t.Once && theirs[at].Name == t.Name && theirs[at].Origin == t.Origin {
			x.like[i] = other.x.single[at]
		}
	}
}

func unreadable(t *tool.Tool, detail string) error {
	o := t.Origin
	return &tool.SourceError{
		SourceID: o.SourceID, Path: cmp.Or(o.Path, o.Ref), Line: o.Start.Line, Pointer: o.Pointer,
		Problem: tool.Malformed, Detail: detail,
	}
}

// place is where something stands, for people.
func place(o tool.Origin) string {
	file := cmp.Or(o.Path, o.Ref, o.SourceID)
	switch {
	case o.Location != "":
		return o.Location
	case o.Start.Line > 0:
		return fmt.Sprintf("%s:%d", file, o.Start.Line)
	case o.Pointer != "":
		return file + "#" + o.Pointer
	}
	return file
}

// identify makes canonical tools of observations: one each, or one for all the
// members of a valid binding (§5.4). Nothing is ever joined by name.
func (x *resolver) identify(all []observation) {
	bound := map[string]int{} // observation id to the valid binding that has it
	bindings := make([][]observation, len(x.m.Identities))
	refused := map[string][]Issue{}
	refuse := func(n int, o observation, why string) {
		b := x.m.Identities[n]
		i := at(o.tool.Origin, InvalidBinding, o.tool.Name, fmt.Sprintf("The binding %s applies nowhere: %s.", b.ID, why))
		i.Path, i.Key = identityPath(n), "tool_identity.bindings[].members[].source_id"
		refused[o.id] = append(refused[o.id], i)
	}
	owners := map[string][]int{}
	faults := make([]string, len(x.m.Identities))
	for n, b := range x.m.Identities {
		bindings[n], faults[n] = members(b, x.observed)
		for _, o := range bindings[n] {
			owners[o.id] = append(owners[o.id], n)
		}
	}
	// An observation in two bindings is in neither, and so are they.
	for n := range bindings {
		for _, o := range bindings[n] {
			if len(owners[o.id]) > 1 && faults[n] == "" {
				faults[n] = fmt.Sprintf("%s of %s is a member of another binding, too", o.tool.Name, o.tool.Origin.SourceID)
			}
		}
	}
	for n, b := range x.m.Identities {
		if faults[n] == "" {
			for _, o := range bindings[n] {
				bound[o.id] = n
			}
			x.s.Catalog = append(x.s.Catalog, bind(n, b, bindings[n]))
			continue
		}
		for _, o := range bindings[n] {
			refuse(n, o, faults[n])
		}
		if len(bindings[n]) == 0 {
			x.orphan(Issue{
				Kind: InvalidBinding, Subject: b.ID, Path: identityPath(n), Key: "tool_identity.bindings[].members[].tool",
				Why: fmt.Sprintf("The binding %s applies nowhere: %s.", b.ID, faults[n]),
			})
		}
	}
	alone := slices.DeleteFunc(all, func(o observation) bool { _, ok := bound[o.id]; return ok })
	structural := make([]Tool, len(alone))
	x.shared(len(alone), func(h *hand, n int) {
		o, t := alone[n], &structural[n]
		t.Tool, t.Members, t.Status = *o.tool, x.r.Tools[o.at:o.at+1:o.at+1], "structural"
		t.Provider = cmp.Or(o.tool.Provider, o.tool.Origin.SourceID)
		if like := x.like[o.at]; like != nil {
			t.ID, t.Observations = like.ID, like.Observations
		} else {
			t.ID, t.Observations = structuralID(h, o.id), []string{o.id}
		}
		for _, i := range refused[o.id] {
			i.ToolID = t.ID
			t.Issues = append(t.Issues, i)
		}
		x.single[o.at] = t
	})
	x.s.Catalog = slices.Grow(x.s.Catalog, len(structural))
	for n := range structural {
		x.s.Catalog = append(x.s.Catalog, &structural[n])
	}
	slices.SortFunc(x.s.Catalog, func(a, b *Tool) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}

func identityPath(n int) []string { return []string{"tool_identity", "bindings", fmt.Sprint(n)} }

// members are the observations that a binding names, the primary first and the
// others by id, and what is wrong with the binding.
func members(b manifest.Identity, observed func(manifest.Selector) []observation) (found []observation, fault string) {
	primary := observed(b.Primary)
	seen := map[string]bool{}
	for _, sel := range b.Members {
		hits := observed(sel)
		for _, o := range hits {
			if !seen[o.id] {
				seen[o.id] = true
				found = append(found, o)
			}
		}
		switch {
		case len(hits) == 0:
			fault = cmp.Or(fault, fmt.Sprintf("no tool of the sources is %s", describe(sel)))
		case len(hits) > 1:
			fault = cmp.Or(fault, fmt.Sprintf("%d tools of the sources are %s", len(hits), describe(sel)))
		}
	}
	switch {
	case fault != "":
	case len(found) < 2:
		fault = "its members are fewer than two different tools"
	case len(primary) != 1:
		fault = fmt.Sprintf("its primary %s is not exactly one tool", describe(b.Primary))
	case !seen[primary[0].id]:
		fault = "its primary is not among its members"
	}
	slices.SortFunc(found, func(a, b observation) int {
		if len(primary) == 1 && a.id != b.id {
			if a.id == primary[0].id {
				return -1
			}
			if b.id == primary[0].id {
				return 1
			}
		}
		return strings.Compare(a.id, b.id)
	})
	return found, fault
}

// bind is one canonical tool out of the members of a valid binding. It starts
// from the primary; what the primary leaves open is filled from the others, and
// nothing is overwritten.
func bind(n int, b manifest.Identity, all []observation) *Tool {
	t := &Tool{
		ID: stableID("tool_v2", canonical.Object{
			{Key: "binding_id", Value: b.ID},
			{Key: "provider", Value: b.Provider},
		}),
		BindingID: b.ID, Tool: *all[0].tool, Status: "declared",
	}
	t.Provider = cmp.Or(b.Provider, all[0].tool.Provider, all[0].tool.Origin.SourceID)
	t.Annotations = map[string]any{}
	maps.Copy(t.Annotations, all[0].tool.Annotations)
	var differ []string
	mode := ""
	for k, o := range all {
		m := o.tool
		t.Observations = append(t.Observations, o.id)
		t.Members = append(t.Members, *m)
		// The first that says something is what the others are held against.
		if k > 0 {
			differ = append(differ, differences(&t.Tool, m)...)
		}
		switch own := ownAuthority(m.Auth).mode; {
		case mode == "":
			mode = own
		case own != "" && own != mode:
			differ = append(differ, "their authority mode")
		}
		t.fill(m)
	}
	if differ = sorted(differ); len(differ) > 0 {
		i := about(t, ConflictingIdentity, "The members of the binding "+b.ID+" differ in "+strings.Join(differ, ", ")+".")
		i.Path, i.Key, i.Candidates = identityPath(n), "tool_identity.bindings[].members", sourceIDs(t)
		t.Issues = append(t.Issues, i)
	}
	return t
}

const unknownSchema = "mcp_unknown_schema"

// fill completes t from a member; the first to come is the primary itself.
func (t *Tool) fill(m *tool.Tool) {
	t.Description = cmp.Or(t.Description, m.Description)
	t.Owner = cmp.Or(t.Owner, m.Owner)
	known := t.SchemaKnown()
	if !known || len(t.Params) == 0 && t.Input == nil {
		t.Input, t.Params = m.Input, m.Params
	}
	t.Signature = cmp.Or(t.Signature, m.Signature)
	if t.Output == nil {
		t.Output = m.Output
	}
	t.Auth.Type = cmp.Or(t.Auth.Type, m.Auth.Type)
	t.Auth.CredentialMode = cmp.Or(t.Auth.CredentialMode, m.Auth.CredentialMode)
	t.Auth.Source = cmp.Or(t.Auth.Source, m.Auth.Source)
	t.Auth.Scopes = sorted(slices.Concat(t.Auth.Scopes, m.Auth.Scopes))
	t.Auth.Anonymous = t.Auth.Anonymous || m.Auth.Anonymous
	t.Auth.Differ = t.Auth.Differ || m.Auth.Differ
	for key, value := range m.Annotations {
		if _, have := t.Annotations[key]; !have && (key != unknownSchema || !known) {
			t.Annotations[key] = value
		}
	}
	// That one source does not know the schema is no news once another does.
	if !known && schemaKnown(m) {
		delete(t.Annotations, unknownSchema)
	}
}

func sourceIDs(t *Tool) []string {
	ids := make([]string, 0, len(t.Members))
	for i := range t.Members {
		ids = append(ids, t.Members[i].Origin.SourceID)
	}
	return sorted(ids)
}

// differences are the things in which the observations of one capability must
// not differ (§5.4, row merge). What one of them does not say is no difference.
func differences(a, b *tool.Tool) []string {
	var list []string
	if x, y := inputsOf(a), inputsOf(b); x != nil && y != nil && !sameInputs(x, y) {
		list = append(list, "their inputs")
	}
	for key, value := range a.Annotations {
		other, both := b.Annotations[key]
		if both && !locating[key] && canonical.UTF8.String(jsonValue(value)) != canonical.UTF8.String(jsonValue(other)) {
			list = append(list, "the annotation "+key)
		}
	}
	if a.Auth.Type != "" && b.Auth.Type != "" && !strings.EqualFold(a.Auth.Type, b.Auth.Type) {
		list = append(list, "their auth type")
	}
	return list
}

// locating are annotations that say where an observation comes from or who holds
// it. They differ between sources by nature.
var locating = map[string]bool{
	"httpMethod": true, "path": true, "title": true, "mcp_server": true, "agent_bindings": true, "agent_handoffs": true,
	"binding_surface_partial": true, "adk_agent_name": true, "adk_agent_source_id": true, "codex_plugin": true,
	"codex_plugin_mcp_server": true, "exposed_by": true,
}

type input struct {
	kind     string
	required bool
}

// inputsOf is the input interface of an observation with coarse types, nil when
// it is not known.
func inputsOf(t *tool.Tool) map[string]input {
	if !schemaKnown(t) {
		return nil
	}
	inputs := make(map[string]input, len(t.Params))
	for _, p := range t.Params {
		kind := p.Type
		if kind == "integer" {
			kind = "number"
		}
		inputs[p.Name] = input{kind, p.Required || inputs[p.Name].required}
	}
	return inputs
}

func sameInputs(a, b map[string]input) bool {
	if len(a) != len(b) {
		return false
	}
	for name, x := range a {
		y, ok := b[name]
		if !ok || x.required != y.required || x.kind != "" && y.kind != "" && x.kind != y.kind {
			return false
		}
	}
	return true
}

// jsonValue is v in the types that canonical JSON spells. Readers promise JSON
// values; a value of another type is compared by its text.
func jsonValue(v any) any {
	switch v := v.(type) {
	case nil, bool, string, json.Number, int, int64, []string, canonical.Object:
		return v
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = jsonValue(item)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = jsonValue(item)
		}
		return m
	}
	return fmt.Sprint(v)
}
