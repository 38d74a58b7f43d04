package artifact

import (
	"slices"
	"time"

	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/problem"
)

// Only people who are members at that instant move an artifact
// (docs/spec/circle.md §§5, 7). What consents do to it is in Settle.

// Adopted is a draft that a member wants to take effect.
func (a Artifact) Adopted(by circle.Person, roll circle.Roll, now time.Time) (Artifact, error) {
	if _, err := a.may(by, roll, "adopt an artifact", now); err != nil {
		return a, err
	}
	return a.moved(Adopt, now)
}

// Declined is an artifact that a member does not want. It stays, as a draft.
func (a Artifact) Declined(by circle.Person, roll circle.Roll, now time.Time) (Artifact, error) {
	if _, err := a.may(by, roll, "decline an artifact", now); err != nil {
		return a, err
	}
	return a.moved(Decline, now)
}

// Confirmed is an artifact that a member confirmed, naming the digest of what
// they saw. A core change is confirmed by one of the council. Whatever consents
// were counted before, they are counted again: one may have been revoked or have
// expired since, and a draft that was adopted never waited for any.
func (a Artifact) Confirmed(by circle.Person, roll circle.Roll, digest string, s Standing, now time.Time) (Artifact, error) {
	m, err := a.may(by, roll, "confirm an artifact", now)
	if err != nil {
		return a, err
	}
	if a.coreChange() && !m.Has(circle.Council) {
		return a, problem.New(problem.RoleRequired, "only one of the council can confirm a core change")
	}
	after, err := a.moved(Confirm, now)
	if err != nil {
		return a, err
	}
	if digest != a.ContentSHA256 {
		return a, problem.New(problem.DigestMismatch, "the digest is not that of the content: nobody confirms what they did not see")
	}
	if i := slices.IndexFunc(a.Blocks, func(c envelope.Condition) bool { return c != envelope.ConsentOwed }); i >= 0 {
		return a, problem.New(problem.ArtifactBlocked, "it is blocked: %s", a.Blocks[i])
	}
	if s.Outcome() != AllGranted {
		return a, problem.New(problem.ConsentMissing, "a consent that is owed is not in the ledger")
	}
	after.Blocks, after.ConfirmedBy, after.ConfirmedAt = nil, by.ID, now
	return after, nil
}

// may is the membership under which somebody moves an artifact. What is private
// is its owner's alone.
func (a *Artifact) may(by circle.Person, roll circle.Roll, what string, now time.Time) (circle.Member, error) {
	m, err := roll.Speaks(by, what, now)
	if err == nil && a.Visibility == envelope.Private && by.ID != a.Owner {
		err = problem.New(problem.RoleRequired, "only the member it belongs to can %s that is private", what)
	}
	return m, err
}

func (a Artifact) moved(e Event, now time.Time) (Artifact, error) {
	to, err := a.Status.After(e)
	if err != nil {
		return a, err
	}
	a.Status, a.Reason, a.UpdatedAt = to, "", now
	if to == Draft {
		a.Reason = e
	}
	return a, nil
}

// SeenBy says whether a member of a circle may read the artifact: a private one
// its owner, one of the circle its members, one of the clan the members of its
// circles, a public one everybody.
func (a *Artifact) SeenBy(actor string, member, clan bool) bool {
	switch a.Visibility {
	case envelope.Private:
		return member && actor == a.Owner
	case envelope.Circle:
		return member
	case envelope.Clan:
		return member || clan
	case envelope.Public:
		return true
	}
	return false
}
