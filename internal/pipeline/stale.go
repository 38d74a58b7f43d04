package pipeline

import (
	"context"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/stale"
)

// This file says how old the copies are that the work of a chain relies on, and
// fetches new ones (docs/spec/contracts.md §11). The repository is asked before
// a transaction, and the answer used inside.

// copies evaluates how old the copies of the chain are, and what a refetch made
// before the transaction came to (§11).
func (x *session) copies(l look, digest *bool, of contract.State) (contract.Classification, contract.Cause, error) {
	w := x.w
	c := stale.Classify(w.copies(l, digest), x.Now())
	_, refetch := stale.Proceeds(c)
	// A digest that changed is no matter of copies: the work is judged again.
	refetched := refetch && (digest == nil || !*digest) && x.refetched(l)
	return stale.After(c, refetched, of)
}

// refetched takes what a fetch brought, and says whether it brought anything. A
// service that knows no repository has nothing to bring but its own contracts.
func (x *session) refetched(l look) bool {
	w := x.w
	if x.s.conf.Reference != nil && !l.fetched {
		return false
	}
	w.chain.FetchedAt, w.d.Dependencies = x.Now(), w.dependencies()
	if l.fetched {
		w.d.Tip = l.commit
		if w.chain.HeadCommit == w.chain.BaseCommit {
			w.chain.BaseCommit, w.chain.HeadCommit = l.commit, l.commit
		}
	}
	return true
}

// copies is what is known of the copies of the chain.
func (w *work) copies(l look, digest *bool) stale.Copies {
	return stale.Copies{
		Fetched:           w.chain.FetchedAt,
		DependencyChanged: stale.Changed(w.d.Dependencies, w.dependencies()),
		CommitChanged:     l.looked && w.d.Tip != "" && l.tip != w.d.Tip && l.tip != w.chain.HeadCommit,
		DigestChanged:     digest,
	}
}

// dependencies is the contracts the work of the chain rests on.
func (w *work) dependencies() []stale.Dependency {
	i := w.intentRow()
	if i == nil {
		return nil
	}
	return []stale.Dependency{{ID: i.Ref().ID, Version: i.Ref().Version, State: stateOf(i)}}
}

// look is what was seen of the repository before a transaction.
type look struct {
	tip     string
	looked  bool
	commit  string
	fetched bool
}

// look asks for the branch of a chain, and fetches when the copies are not
// fresh. Nothing of it happens inside a transaction. A repository that does not
// answer has not been seen to change; how old the copies may get decides then.
func (s *Service) look(ctx context.Context, id contract.ID, anyway bool) (look, error) {
	l := look{}
	if s.conf.Reference == nil {
		return l, nil
	}
	if tip, err := s.conf.Reference.Tip(ctx, s.conf.Repository); err == nil {
		l.tip, l.looked = tip, true
	}
	old, err := view(ctx, s, func(r Reader) (bool, error) {
		w, err := load(r, &s.conf, id)
		if err != nil {
			return false, err
		}
		_, refetch := stale.Proceeds(stale.Classify(w.copies(l, nil), r.Now()))
		return refetch, nil
	})
	if err != nil || !(old || anyway) {
		return l, err
	}
	if commit, err := s.conf.Reference.Fetch(ctx, s.conf.Repository); err == nil {
		l.commit, l.fetched = commit, true
	}
	return l, nil
}
