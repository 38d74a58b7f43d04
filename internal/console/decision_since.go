package console

import (
	"context"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
)

// An agreement holds for exactly what was agreed to (rulings R14). Where that is
// another by now, the pages say which part of it is.

// lapsed is an agreement that holds no longer, or a question that is no longer
// about what there is.
type lapsed struct {
	Gate    contract.ID
	Version int64    // of the gate that was agreed to
	Who     []string // agreed; empty where nobody had yet
	Why     []string // what is another by now, in words
}

// lapse is what became of the agreements to a gate of a chain: to this version of
// it, or to the newest before it that anybody had agreed to. It is nil while
// everything holds.
func (c *Console) lapse(ctx context.Context, w *words, who people, rows []*pipeline.Shown, gate *pipeline.Shown) (*lapsed, error) {
	g, _ := gate.Document.(*contract.PublishGate)
	out := &lapsed{Gate: g.ID, Version: g.Version}
	since, err := c.conf.Contracts.GateSince(ctx, gate.Ref())
	if err != nil {
		return nil, err
	}
	if len(since) > 0 {
		out.Who, out.Why = agreedTo(g, who), partsOf(w, since)
		return out, nil
	}
	for _, r := range rows {
		old, ok := r.Document.(*contract.PublishGate)
		if !ok || old.ID != g.ID || old.Version >= g.Version || len(agreedTo(old, who)) == 0 || len(out.Who) > 0 && old.Version < out.Version {
			continue
		}
		if since, err = approval.Changed(r.Covers, gate.Covers); err != nil {
			return nil, fault.E("console.lapse", fault.Internal, "what "+string(g.ID)+" covers does not read", err)
		}
		out.Version, out.Who, out.Why = old.Version, agreedTo(old, who), partsOf(w, since)
	}
	if len(out.Why) == 0 {
		return nil, nil
	}
	return out, nil
}

// agreedTo is who agreed to a version of a gate.
func agreedTo(g *contract.PublishGate, who people) []string {
	list := []string{}
	for _, a := range g.Approvals {
		if a.Decision == contract.Approved {
			list = append(list, who.Name(a.ActorID))
		}
	}
	return list
}

// partsOf says what is another by now: of another change no more than that, for
// what was found in one is not said of another; and that the work was judged again
// only where it is all there is, for it follows from everything else.
func partsOf(w *words, members []string) []string {
	if len(members) > 0 && members[0] == "diffHash" {
		members = members[:1]
	}
	list := []string{}
	for _, m := range members {
		if len(list) > 0 && (m == "acceptanceId" || m == "acceptanceVersion") {
			continue
		}
		list = append(list, w.say("since."+m))
	}
	return list
}
