package console

import (
	"context"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
)

// What the boundary holds back freezes nothing (rulings R10): the chain is active,
// and still does not go on. The page of a chain says why, and what to do.

// heldBack is why the Acceptance of a chain did not pass, as a part of the keys of
// words/: held.<Why> and held.<Why>_how. It is nil where the boundary holds nothing
// back.
type heldBack struct {
	Why      string
	Decision string // of the verification, where that is why
	Route    string // what the agent was asked for, where that is why
}

func (c *Console) heldBack(ctx context.Context, chain contract.ID, accept *pipeline.Shown) (*heldBack, error) {
	if accept == nil {
		return nil, nil
	}
	a, _ := accept.Document.(*contract.Acceptance)
	if a.Status != contract.Blocked && a.Status != contract.Failed || a.State != contract.Draft && a.State != contract.Active {
		return nil, nil
	}
	b, err := c.conf.Contracts.BoundaryOf(ctx, chain)
	if err != nil {
		return nil, err
	}
	if status, _ := b.Admits(); status != a.Status {
		return nil, nil // something else did, or the work is another by now
	}
	return whyHeld(b), nil
}

func whyHeld(b *risk.Boundary) *heldBack {
	switch {
	case b.ControlState == "human_review_required":
		return &heldBack{Why: "person"}
	case b.ControlState != "agent_action_required":
		return &heldBack{Why: "unknown"}
	case b.RouteKind != "verify":
		return &heldBack{Why: "agent", Route: b.RouteKind}
	case b.Verify == "":
		return &heldBack{Why: "owed"}
	}
	return &heldBack{Why: "verified", Decision: b.Verify}
}
