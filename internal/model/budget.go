package model

import (
	"sync"

	"plimsoll.dev/internal/fault"
)

// estimate is about how many tokens a text of so many bytes has: a token has four
// bytes of English, five of Ukrainian and three of Japanese.
func estimate(bytes int) int64 { return int64(bytes+2) / 3 }

// maxRuns is how many runs the budget remembers. A run lasts a minute or so; one
// that is forgotten began long before.
const maxRuns = 4096

// budget counts what runs have cost. It is kept in memory: a process that starts
// anew counts anew, and the registry bounds how often a step is tried.
type budget struct {
	requests int
	tokens   int64

	mu    sync.Mutex // guards spent and order
	spent map[string]*spending
	order []string // of the keys of spent, oldest first
}

type spending struct {
	requests int
	tokens   int64
}

func newBudget(l Limits) *budget {
	return &budget{requests: l.Requests, tokens: l.Tokens, spent: map[string]*spending{}}
}

// take reserves a request and what it may cost at most. Denied: the run has
// nothing left.
func (b *budget) take(run string, tokens int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.spent[run]
	if s == nil {
		if len(b.order) == maxRuns {
			delete(b.spent, b.order[0])
			b.order = append(b.order[:0], b.order[1:]...)
		}
		s = &spending{}
		b.spent[run] = s
		b.order = append(b.order, run)
	}
	switch {
	case s.requests >= b.requests:
		return fault.E("model.Draft", fault.Denied, "the run has asked the model as often as a run may", nil)
	case s.tokens+tokens > b.tokens:
		return fault.E("model.Draft", fault.Denied, "the run has no tokens left for another question", nil)
	}
	s.requests++
	s.tokens += tokens
	return nil
}

// settle puts what a question did cost in the place of what was reserved. An
// endpoint that counts too much harms its own run only.
func (b *budget) settle(run string, reserved, cost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.spent[run]; s != nil {
		s.tokens += min(max(cost, 0), b.tokens) - reserved
	}
}
