package effect

import (
	"fmt"
	"slices"
	"sync"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// resolver carries one resolution from step to step (§7.1).
type resolver struct {
	m *manifest.Manifest
	r *tool.Reading
	s *Surface

	like   []*Tool // by place in the reading: the tool that the other side has of the same observation, or nil
	single []*Tool // by place in the reading: the tool that is this observation alone, or nil

	obsByName map[string][]observation
	byName    map[string][]*Tool
	bySource  map[sourceName][]*Tool

	risk     map[string]*manifest.Risk // by tool id
	declared map[string]*manifest.Action
	conflict map[string]bool // node ids with conflicting binding evidence
	held     []hold          // by place in the catalog
	orphans  []Issue         // of entries that fit no tool

	each  tool.Each
	hands sync.Pool
	other *Surface // the other side of the change, or nil

	matched      map[[5]string][]*Tool
	asked        map[string]bool // selectors whose issue is reported
	helped       int             // entries that were told similar names
	catalogNames []string
	plain        []string // catalogNames without case and punctuation
}

// Resolve says what the tools of one side may do, with whose authority, and who
// may call them (docs/spec/verification.md §§5.4–6.4). The result does not depend
// on the order of the reading. It keeps both arguments and changes neither: where
// an inventory stands for an unread list, the surface's own copy of the reading
// says so.
//
// Errors are *tool.SourceError where a tool has no identity (exit code 3) and
// *ConfigError where declarations collide (exit code 2).
func Resolve(m *manifest.Manifest, r *tool.Reading) (*Surface, error) {
	p, err := Prepare(m, r, nil)
	if err != nil {
		return nil, err
	}
	return p.Judge(nil)
}

// Prepared is one side of which it is known which tools there are and who may
// call them, and not yet what they may do.
type Prepared struct{ x *resolver }

// Prepare is the first half of Resolve, by as many hands as each has; it may be
// nil.
func Prepare(m *manifest.Manifest, r *tool.Reading, each tool.Each) (*Prepared, error) {
	return PrepareLike(m, r, each, nil)
}

// PrepareLike is Prepare of one side while the other may be judged already. What
// both read alike is not named again. other may be nil.
func PrepareLike(m *manifest.Manifest, r *tool.Reading, each tool.Each, other *Prepared) (*Prepared, error) {
	x := &resolver{
		m: m, r: r, s: &Surface{Manifest: m, Reading: r}, risk: map[string]*manifest.Risk{}, declared: map[string]*manifest.Action{},
		asked: map[string]bool{}, matched: map[[5]string][]*Tool{}, each: each,
	}
	x.hands.New = func() any { return newHand() }
	x.liken(other)
	all, err := x.observe()
	if err != nil {
		return nil, err
	}
	if len(m.Identities) > 0 {
		x.indexObservations(all)
	}
	x.identify(all)
	x.indexTools()
	x.selectActions()
	x.risks()
	x.selectControls()
	x.bind()
	x.witness()
	return &Prepared{x}, nil
}

// Judge is the second half of Resolve, once. other is the other side of the
// change, or nil: what was judged there under the same circumstances is taken
// over, and both surfaces have one *Tool and one *Action of it.
func (p *Prepared) Judge(other *Surface) (*Surface, error) {
	x := p.x
	x.other = other
	x.judge()
	if err := x.act(); err != nil {
		return nil, err
	}
	return x.s, nil
}

// orphan keeps an issue of an entry that fits no tool until a tool is found to
// carry it.
func (x *resolver) orphan(i Issue) { x.orphans = append(x.orphans, i) }

// rules are what policy rule files say, if there are any.
func (x *resolver) rules() tool.APIPolicy {
	if x.r.API == nil {
		return tool.APIPolicy{}
	}
	return x.r.API.Policy
}

// selectActions resolves the declared actions. Two declarations of one tool
// declare nothing: which of them holds is not ours to say.
func (x *resolver) selectActions() {
	rows := map[string]int{}
	for n := range x.m.Surface.Actions {
		d := &x.m.Surface.Actions[n]
		sel := d.Selector
		if len(sel.Path) == 0 {
			sel.Path = []string{"action_surface", "actions", fmt.Sprint(d.Index)}
		}
		t := x.one(sel, "action_surface.actions")
		if t == nil {
			continue
		}
		if rows[t.ID]++; rows[t.ID] > 1 {
			t.Issues = append(t.Issues, twice(t, "action_surface.actions", sel.Path))
			delete(x.declared, t.ID)
			continue
		}
		x.declared[t.ID] = d
	}
}

// witness puts the issues that no tool carries where they are counted: on one
// tool of the agent, else on one of the catalog, else on the graph (§5.4).
func (x *resolver) witness() {
	for _, t := range x.s.Catalog {
		if len(t.Issues) > 0 {
			t.Issues = tidy(t.Issues)
		}
	}
	if len(x.orphans) == 0 {
		return
	}
	x.orphans = tidy(x.orphans)
	if len(x.s.Catalog) == 0 {
		x.s.Graph.Issues = tidy(slices.Concat(x.s.Graph.Issues, x.orphans))
		x.s.Graph.Eligible = false
		return
	}
	carrier := x.s.Catalog[0]
	if reached := x.s.Tools(); len(reached) > 0 {
		carrier = reached[0]
	}
	for _, i := range x.orphans {
		i.ToolID = carrier.ID
		carrier.Issues = append(carrier.Issues, i)
	}
	carrier.Issues = tidy(carrier.Issues)
}
