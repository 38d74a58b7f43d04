package effect

import (
	"slices"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// circumstances are all that the judgement of a tool rests on besides the tool
// itself: the same tool under the same circumstances is judged the same.
type circumstances struct {
	root     string // the agent that people talk to
	reach    Reach
	bound    bool                // it is clear how the root reaches it
	declared *manifest.Action    // what people say of it
	risk     *manifest.Risk      // which tags people give and take
	block    *manifest.Authority // what people say of its source
	row      bool                // its source is a row of the manifest
	unread   string              // why not all tools of its source could be listed, "" when they could

	approval, confirmation, idempotency bool // policies select it for them
}

// circumstancesOf answers for each tool of the catalog.
func (x *resolver) circumstancesOf() func(place int) circumstances {
	s, unread := x.s, unreadSources(x.s.Reading)
	blocks := make(map[string]*manifest.Authority, len(x.m.Sources))
	rows := make(map[string]bool, len(x.m.Sources))
	for i := range x.m.Sources {
		rows[x.m.Sources[i].ID] = true
		if a := x.m.Sources[i].Authority; a != nil {
			blocks[x.m.Sources[i].ID] = a
		}
	}
	questioned := map[string]bool{} // tool ids that an issue of the graph is about
	for i := range s.Graph.Issues {
		if id := s.Graph.Issues[i].ToolID; id != "" {
			questioned[id] = true
		}
	}
	return func(place int) circumstances {
		t, held := s.Catalog[place], &x.held[place]
		w := circumstances{
			root: s.Graph.Root, reach: held.reach, declared: x.declared[t.ID], risk: x.risk[t.ID],
			row: rows[t.Origin.SourceID], unread: unread[t.Origin.SourceID],
			approval: s.Controlled(ApprovalControl, t), confirmation: s.Controlled(ConfirmationControl, t),
			idempotency: s.Controlled(IdempotencyControl, t),
		}
		for i := range t.Members {
			if w.block == nil {
				w.block = blocks[t.Members[i].Origin.SourceID]
			}
		}
		w.bound = w.root != "" && !questioned[t.ID] &&
			!slices.ContainsFunc(held.path, func(node string) bool { return x.conflict[node] })
		return w
	}
}

// share is how many tools one hand takes at a time.
const share = 64

// shared does something with each of n tools, by shares.
func (x *resolver) shared(n int, do func(h *hand, i int)) {
	x.each.Do((n+share-1)/share, func(s int) {
		h := x.hands.Get().(*hand)
		defer x.hands.Put(h)
		for i := s * share; i < min(n, (s+1)*share); i++ {
			do(h, i)
		}
	})
}

// judge judges every tool of the catalog. Only reachable ones get an action, but
// the classes of all are wanted.
func (x *resolver) judge() {
	catalog, of := x.s.Catalog, x.circumstancesOf()
	x.shared(len(catalog), func(h *hand, i int) {
		t := catalog[i]
		t.under = of(i)
		if twin := x.twin(t); twin != nil {
			catalog[i] = twin
			return
		}
		t.acts = t.judge(h)
	})
}

// twin is the same tool of the other side, when it was judged under the same
// circumstances; else nil. Entries that are about a tool are compared by where
// they are, so both sides have to have one manifest.
func (x *resolver) twin(t *Tool) *Tool {
	if x.other == nil || x.other.Manifest != x.m {
		return nil
	}
	o := x.other.Tool(t.ID)
	if o == nil || o.under != t.under || len(t.Issues) > 0 || len(o.Issues) > 0 {
		return nil
	}
	// Members of one reading with one id are one observation.
	once := func(a, b tool.Tool) bool { return a.Once != nil && a.Once == b.Once }
	if !slices.Equal(t.Observations, o.Observations) || !slices.EqualFunc(t.Members, o.Members, once) {
		return nil
	}
	return o
}

// judge says what a tool may do under its circumstances: nil for one that the
// root agent does not reach.
func (t *Tool) judge(h *hand) *Action {
	w := &t.under
	t.hint(h, w.risk)
	au := resolveAuthority(t.Auth, w.block, w.declared)
	c := &claims{t: t, hand: h, list: h.claims[:0]}
	c.effects(au.scopes, w.declared, w.risk)
	t.classify(c.list)
	if h.claims = c.list; w.reach != Reachable {
		return nil
	}
	a := Assessment{Claims: c.list, Issues: append(h.issues[:0], t.Issues...)}
	a.assessEffect(t, w.declared)
	c.authority(au)
	a.assessAuthority(t, au, w.row)
	a.assessAnnotations(t, w.declared)
	a.assessSurface(t, w.unread)
	a.BindingEligible = w.bound
	h.claims, h.issues = c.list, a.Issues
	a.Claims, a.Issues = own(c.list), own(tidy(a.Issues))
	a.finish(t)
	return t.action(h, a, au)
}

// own is a list that a hand uses again, for a tool to keep.
func own[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list)
}
