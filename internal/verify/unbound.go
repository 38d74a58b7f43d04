package verify

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// maxUnbound is how many unbound tools are named; all of them are counted.
const maxUnbound = 10

// unbound says which tools of the head no agent is bound to, though they were
// bound or not there at the base (D70.W2). A closed list that leaves a tool out
// makes it no capability; it stays something that the change added. It is ""
// when there is none.
func (r *Run) unbound() string {
	if r.HeadSide == nil {
		return ""
	}
	known := map[[2]string]bool{}
	if r.BaseSide != nil {
		for _, t := range loose(r.BaseSide.Surface) {
			known[looseKey(t)] = true
		}
	}
	var places []string
	count := 0
	for _, t := range loose(r.HeadSide.Surface) {
		if known[looseKey(t)] {
			continue
		}
		if count++; count <= maxUnbound {
			places = append(places, redact.Text(t.Name)+", "+r.placeOf(&t.Origin))
		}
	}
	switch {
	case count == 0:
		return ""
	case count == 1:
		return "1 tool is bound to no agent: " + places[0]
	case count > maxUnbound:
		places = append(places, fmt.Sprintf("and %d more", count-maxUnbound))
	}
	return fmt.Sprintf("%d tools are bound to no agent: %s", count, strings.Join(places, "; "))
}

func loose(s *effect.Surface) []*effect.Tool {
	var out []*effect.Tool
	for _, t := range s.Catalog {
		if s.Reach[t.ID] == effect.Unbound {
			out = append(out, t)
		}
	}
	return out
}

// looseKey holds still when a source moves.
func looseKey(t *effect.Tool) [2]string { return [2]string{t.Origin.SourceID, t.Name} }

func (r *Run) placeOf(o *tool.Origin) string {
	at := r.place(o.Path)
	if at == "" {
		at = o.Ref
	}
	if o.Start.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, o.Start.Line)
	}
	return at
}

// offered is a warning for each new tool of a server, listed or in code, that a
// declaration leaves out although it binds other tools of the same source: the
// host will offer it with them (D70.X10). Without a base nothing is new.
func (r *Run) offered() []tool.Warning {
	if r.BaseSide == nil {
		return nil
	}
	s := r.HeadSide.Surface
	unheld := loose(s)
	if len(unheld) == 0 {
		return nil
	}
	old := map[[2]string]bool{}
	for _, t := range r.BaseSide.Surface.Catalog {
		for i := range t.Members {
			old[[2]string{t.Members[i].Origin.SourceID, t.Members[i].Name}] = true
		}
	}
	by := bindingSources(s)
	var list []tool.Warning
	for _, t := range unheld {
		for i := range t.Members {
			o := &t.Members[i].Origin
			row, bound := by[o.SourceID]
			if !bound || !server(s.Manifest, o.SourceID) || old[[2]string{o.SourceID, t.Members[i].Name}] {
				continue
			}
			list = append(list, tool.Warning{
				Code: decision.UnboundNewTool, SourceID: o.SourceID, Origin: *o, Name: t.Name,
				Pointer: fmt.Sprintf("/agent_bindings/declarations/%d/tools", row),
				Message: fmt.Sprintf("The tool %s, %s, is new, and the declaration of %s leaves it out while it binds other tools of %s.",
					redact.Text(t.Name), r.placeOf(o), s.Manifest.Bindings.Declarations[row].Agent, o.SourceID),
			})
			break
		}
	}
	return list
}

// bindingSources are the sources that declarations bind tools of which the root
// agent reaches, each with the first such declaration.
func bindingSources(s *effect.Surface) map[string]int {
	tools := map[string]*effect.Tool{}
	for _, t := range s.Catalog {
		tools[t.ID] = t
	}
	rows := map[source.Position]int{}
	for row, d := range s.Manifest.Bindings.Declarations {
		rows[d.Pos] = row
	}
	by := map[string]int{}
	for _, e := range s.Graph.Edges {
		t := tools[e.Tool]
		row, known := rows[e.At.Start]
		if t == nil || !known || !e.Declared || e.At.Type != "manifest" || e.At.SourceID != "" || s.Reach[t.ID] == effect.Unbound {
			continue
		}
		for i := range t.Members {
			id := t.Members[i].Origin.SourceID
			if have, ok := by[id]; !ok || row < have {
				by[id] = row
			}
		}
	}
	return by
}

// server says whether a source is what a server offers as a whole.
func server(m *manifest.Manifest, sourceID string) bool {
	return slices.ContainsFunc(m.Sources, func(s manifest.Source) bool {
		return s.ID == sourceID && (s.Type == "mcp" || s.Type == "mcp_server")
	})
}
