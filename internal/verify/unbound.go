package verify

import (
	"fmt"
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/effect"
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
