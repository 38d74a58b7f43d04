package control

import (
	"errors"
	"slices"
)

// Outcome is what one verification found out, as far as the route depends on it
// (docs/spec/verification.md §3).
type Outcome struct {
	Reason string // one sentence: what decided

	// Publishable: the run succeeded, the change was read in full, and a decision
	// exists that does not block.
	Publishable bool
	// Evaluated: the subject was evaluated in full and nothing is open.
	Evaluated bool

	// Person is set by every condition that only a person resolves.
	Person *Person
	// Route is what the coding agent may do instead; nil when there is nothing.
	Route *Action
	// Owed: verification is owed, but was not run.
	Owed bool
	// Rerun is the command that makes the same evidence again after publishing.
	Rerun string
}

// Person is what a person is asked.
type Person struct {
	Why       string
	Stop      bool // not even a review clears it: the change has to go another way
	Reviewers []string
}

// The invariants of an outcome. A contradiction is refused, never repaired.
var (
	errNoReason     = errors.New("control: an outcome without a reason")
	errContradicted = errors.New("control: evaluated in full, and something is open")
	errHumanRoute   = errors.New("control: a route for the agent that a person owns")
	errOwed         = errors.New("control: verification is owed and nothing leads to it")
	errNothing      = errors.New("control: neither evaluated nor routed")
)

// Conclude is the control of a verification: the first condition of §3 that
// holds. An error is a contradiction in the outcome; there is no control then.
func Conclude(o Outcome) (Control, error) {
	switch {
	case o.Reason == "":
		return Control{}, errNoReason
	case o.Evaluated && (o.Person != nil || o.Route != nil || o.Owed):
		return Control{}, errContradicted
	case o.Route != nil && o.Route.Kind.human():
		return Control{}, errHumanRoute
	}
	switch {
	case o.Person != nil:
		return o.person(), nil
	case o.Route != nil:
		return agent(o.Reason, *o.Route, o.Publishable && publishes(o.Route.Kind), o.Owed), nil
	case o.Owed:
		return Control{}, errOwed
	case o.Evaluated:
		return complete(o.Reason), nil
	}
	return Control{}, errNothing
}

func (o *Outcome) person() Control {
	reviewers := slices.Clone(o.Person.Reviewers)
	slices.Sort(reviewers)
	reviewers = slices.Compact(reviewers)
	if o.Publishable && !o.Person.Stop {
		c := publish(o.Reason, o.Person.Why, o.Rerun, o.Owed, reviewers)
		if o.Rerun == "" {
			c.also = nil
		}
		return c
	}
	kind := Review
	if o.Person.Stop {
		kind = Stop
	}
	return human(o.Reason, kind, o.Person.Why, o.Owed, reviewers)
}

// publishes says whether the change may be published while the agent follows a
// route of this kind: not while its own gate or its base is missing (§3, rule 2).
func publishes(k Kind) bool {
	switch k {
	case FetchBase, Install, Configure, Discover, Initialize, Verify:
		return false
	case Repair, Rerun, Review, Stop:
	}
	return true
}
