// Package circle is who decides together: circles, their members with their
// roles, and the channels that requests come in over (docs/spec/circle.md §7,
// Circles and members; §8, suspension).
//
// A member is a person. An agent or a service takes part as a channel, never as
// a member: nothing here gives it a voice. Everything is a value; what a function
// answers is to be stored together with the circle whose revision it raises, so
// that two stewards who change one circle at the same time cannot both succeed.
package circle

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/problem"
)

// Circle is a group of people who decide together.
type Circle struct {
	ID       string
	Revision int64
	Name     string
	Clan     string    // the union it belongs to; circles without one stand alone
	Quorum   *Fraction // of the council, where it is not the registry's
	Created  time.Time
	Updated  time.Time // raised by every change of the circle or its members
}

// Fraction is a part of a council: Numerator of Denominator.
type Fraction struct{ Numerator, Denominator int }

// maxDenominator keeps products of fractions and councils small.
const maxDenominator = 1000

// Valid says whether f is more than a half and at most all: a council of which
// two halves could decide two things has not decided.
func (f Fraction) Valid() bool {
	return f.Denominator >= 1 && f.Denominator <= maxDenominator && f.Numerator <= f.Denominator && 2*f.Numerator > f.Denominator
}

// Needed is how many of a council must consent to a core change. The registry's
// least number of members always holds. A council of nobody is never enough: the
// answer is then one, whom there is not.
func (c *Circle) Needed(council int, q constitution.Quorum) int {
	if c.Quorum != nil {
		q.Numerator, q.Denominator = c.Quorum.Numerator, c.Quorum.Denominator
	}
	return max(1, q.Needed(council))
}

// Person is the actor who does something, as the registry of actors knows it.
type Person struct {
	ID     string
	Human  bool
	Active bool
}

// person refuses whoever is no acting human.
func (p Person) person(what string) error {
	if !p.Human || !p.Active {
		return problem.New(problem.HumanRequired, "only a person can %s", what)
	}
	return nil
}

// The limits of what people type.
const (
	maxName  = 200
	maxRoles = 3
)

// Found makes a circle with its first member, who has every role of it: somebody
// must be able to admit the next one.
func Found(by Person, id, name, clan string, now time.Time) (Circle, Member, error) {
	if err := by.person("found a circle"); err != nil {
		return Circle{}, Member{}, err
	}
	var faults problem.List
	for path, text := range map[string]string{"/name": name, "/clan": clan} {
		if strings.TrimSpace(text) != text || len(text) > maxName || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			faults = append(faults, problem.At(problem.FieldInvalid, path, "at most %d bytes without control characters or space around them are expected", maxName))
		}
	}
	if name == "" {
		faults = append(faults, problem.At(problem.FieldInvalid, "/name", "a circle has a name"))
	}
	if len(faults) > 0 {
		slices.SortFunc(faults, func(a, b *problem.Problem) int { return strings.Compare(a.Path, b.Path) })
		return Circle{}, Member{}, faults
	}
	c := Circle{ID: id, Name: name, Clan: clan, Created: now, Updated: now}
	return c, Member{Circle: id, Actor: by.ID, Spell: 1, Roles: Roles(), Since: now, By: by.ID}, nil
}

// SetQuorum is c with another part of the council that must consent to a core
// change; nil goes back to the registry's. A steward sets it.
func (c Circle) SetQuorum(roll Roll, by Person, f *Fraction, now time.Time) (Circle, error) {
	if err := roll.steward(by, "set the quorum", now); err != nil {
		return c, err
	}
	if f != nil && !f.Valid() {
		return c, problem.At(problem.QuorumInvalid, "/quorum", "a quorum is more than a half and at most all of the council, with a denominator up to %d", maxDenominator)
	}
	c.Quorum, c.Updated = f, now
	return c, nil
}
