// Package stale says how old the copies are that a piece of work relies on, and
// what follows (docs/spec/contracts.md §11).
package stale

import (
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

const (
	softAge = 600 * time.Second
	hardAge = 3600 * time.Second
)

// Copies is what is known of the copies before a generation, a run or the
// making of a gate, and again when a run ends.
type Copies struct {
	Fetched           time.Time // the last successful fetch; zero is never
	DependencyChanged bool
	CommitChanged     bool // the tip of the branch moved, and not by the chain itself
	// Digest is nil but before a publication run, when the approval digest has
	// been computed again: false says that it equals the gate's, and then a
	// moved commit is no change; true is a change whatever else holds (R14).
	DigestChanged *bool
}

// Dependency is a contract reached through references, as it is compared.
type Dependency struct {
	ID      contract.ID
	Version int64
	State   contract.State
}

// Changed says whether any dependency of a fetch is not what it was, or is
// gone.
func Changed(fetched, current []Dependency) bool {
	now := map[contract.ID]Dependency{}
	for _, d := range current {
		now[d.ID] = d
	}
	for _, d := range fetched {
		if now[d.ID] != d {
			return true
		}
	}
	return false
}

// Classify compares the copies with the service clock. A clock behind the fetch
// is clock noise, and no data can be fresh.
func Classify(c Copies, now time.Time) contract.Classification {
	commit := c.CommitChanged
	if c.DigestChanged != nil {
		commit = *c.DigestChanged
	}
	age := now.Sub(c.Fetched)
	switch {
	case c.Fetched.IsZero() || c.DependencyChanged || commit || age > hardAge:
		return contract.HardStaleCopies
	case age > softAge:
		return contract.SoftStale
	}
	return contract.Fresh
}

// Proceeds says whether work goes on under a classification while a refetch is
// under way, and whether one is wanted.
func Proceeds(c contract.Classification) (proceed, refetch bool) {
	return c != contract.HardStaleCopies, c != contract.Fresh
}

// After is what holds once a refetch was tried. freeze is the cause for which a
// contract in state s becomes Frozen, "" for none: only an Active one has
// anything to suspend.
func After(c contract.Classification, refetched bool, s contract.State) (after contract.Classification, freeze contract.Cause, err error) {
	if refetched {
		return contract.Fresh, "", nil
	}
	if c != contract.HardStaleCopies {
		return c, "", nil
	}
	if s == contract.Active {
		freeze = contract.HardStale
	}
	return c, freeze, refusal.New(refusal.StaleHard, "the copies are too old and no refetch succeeds")
}
