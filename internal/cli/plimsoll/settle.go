package plimsoll

import (
	"context"
	"net/url"
	"time"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// The service does what follows from a change in jobs of its own, usually within
// a tenth of a second. A command whose next line would name the effect waits for
// it, and goes on without it when the service is slower than a person's patience.
const (
	patience = 3 * time.Second
	glance   = 30 * time.Millisecond
)

// settle reads a chain until what was done to it has its effect, and returns it
// as it was read last. Nothing depends on the answer: what cannot be read is nil.
func (c *client) settle(ctx context.Context, intent contract.ID, done func(*api.Chain) bool) *api.Chain {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last *api.Chain
	for {
		var chain api.Chain
		if _, err := c.get(ctx, "/v1/chains/"+url.PathEscape(string(intent)), nil, &chain); err != nil {
			return last
		}
		if last = &chain; done(last) {
			return last
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(glance):
		}
	}
}

// task is the newest TaskSeed of a chain, nil while there is none.
func task(c *api.Chain) *document {
	var newest *document
	for _, one := range c.Contracts {
		if d := documentOf(one); d.Kind == contract.KindTaskSeed {
			newest = &d
		}
	}
	return newest
}

// left says whether a chain has gone on from a phase, or cannot: its newest
// acceptance does not let it.
func left(p phase.Phase) func(*api.Chain) bool {
	return func(c *api.Chain) bool {
		var acceptance document
		for _, one := range c.Contracts {
			if d := documentOf(one); d.Kind == contract.KindAcceptance {
				acceptance = d
			}
		}
		return phase.Phase(c.Phase) != p || acceptance.Status == "blocked" || acceptance.Status == "failed"
	}
}

// released says whether a chain is published, or waits for people to let it be.
func released(c *api.Chain) bool {
	waits := false
	for _, one := range c.Contracts {
		if d := documentOf(one); d.Kind == contract.KindPublishGate {
			waits = d.Decision != "approved"
		}
	}
	switch phase.Phase(c.Phase) {
	case phase.Published:
		return true
	case phase.Publish:
		return waits
	case phase.Plan, phase.Build, phase.Stabilize, phase.Refactor:
	}
	return false
}
