package circle

import (
	"slices"
	"time"

	"plimsoll.dev/internal/request/problem"
)

// Role is what a member may do in a circle besides asking and consenting.
type Role string

// The roles (docs/spec/circle.md §7).
const (
	Plain   Role = "member"
	Council Role = "council" // counts for the quorum
	Steward Role = "steward" // admits and removes members, lifts channels, sets the quorum
)

var roles = []Role{Plain, Council, Steward}

// Roles is every role.
func Roles() []Role { return slices.Clone(roles) }

// Valid says whether r is one of the three.
func (r Role) Valid() bool { return slices.Contains(roles, r) }

// Member is one time of membership with the roles that were held all through it.
// Who leaves and comes back, or gets other roles, begins another: what somebody
// might do at an instant can be said for every instant.
type Member struct {
	Circle string
	Actor  string
	Spell  int64  // 1 for the actor's first time in the circle
	Roles  []Role // Plain among them, in the order of Roles
	Since  time.Time
	Until  time.Time // the first instant it no longer holds; zero while it lasts
	By     string    // who admitted the member, or gave the roles
}

// Has says whether the member holds a role.
func (m Member) Has(r Role) bool { return slices.Contains(m.Roles, r) }

// holds says whether the membership covers an instant.
func (m Member) holds(t time.Time) bool {
	return !t.Before(m.Since) && (m.Until.IsZero() || t.Before(m.Until))
}

// Roll is every membership of one circle, also those that ended.
type Roll []Member

// At is the membership of an actor at an instant.
func (r Roll) At(actor string, t time.Time) (Member, bool) {
	for _, m := range r {
		if m.Actor == actor && m.holds(t) {
			return m, true
		}
	}
	return Member{}, false
}

// With is the actors who hold a role at an instant, ascending.
func (r Roll) With(role Role, t time.Time) []string {
	list := []string{}
	for _, m := range r {
		if m.holds(t) && m.Has(role) {
			list = append(list, m.Actor)
		}
	}
	slices.Sort(list)
	return list
}

// Speaks is the membership under which somebody consents, confirms, declines or
// adopts at this instant. Only a person who is a member then has one.
func (r Roll) Speaks(by Person, what string, now time.Time) (Member, error) {
	if err := by.person(what); err != nil {
		return Member{}, err
	}
	m, ok := r.At(by.ID, now)
	if !ok {
		return Member{}, problem.New(problem.MemberRequired, "only a member of the circle can %s", what)
	}
	return m, nil
}

func (r Roll) steward(by Person, what string, now time.Time) error {
	m, err := r.Speaks(by, what, now)
	if err == nil && !m.Has(Steward) {
		err = problem.New(problem.RoleRequired, "only a steward of the circle can %s", what)
	}
	return err
}

// Change is a change of the memberships of one circle. Whoever stores it raises
// the revision of the circle with it.
type Change struct {
	Ended *Member // Until is set
	Begun *Member
}

// Admit makes somebody a member. Only a person can be one.
func (r Roll) Admit(c Circle, by, who Person, given []Role, now time.Time) (Change, error) {
	if err := r.steward(by, "admit members", now); err != nil {
		return Change{}, err
	}
	if err := who.person("be a member"); err != nil {
		return Change{}, err
	}
	if _, already := r.At(who.ID, now); already {
		return Change{}, problem.New(problem.MemberExists, "%s is a member already", who.ID)
	}
	held, err := ordered(given)
	if err != nil {
		return Change{}, err
	}
	return Change{Begun: &Member{Circle: c.ID, Actor: who.ID, Spell: r.spell(who.ID), Roles: held, Since: now, By: by.ID}}, nil
}

// Give sets the roles of a member. A circle keeps a steward.
func (r Roll) Give(by Person, actor string, given []Role, now time.Time) (Change, error) {
	if err := r.steward(by, "give roles", now); err != nil {
		return Change{}, err
	}
	m, ok := r.At(actor, now)
	if !ok {
		return Change{}, problem.New(problem.MemberRequired, "%s is no member of the circle", actor)
	}
	held, err := ordered(given)
	if err != nil {
		return Change{}, err
	}
	if slices.Equal(held, m.Roles) {
		return Change{}, nil
	}
	if !slices.Contains(held, Steward) {
		if err := r.stewardRemains(m, now); err != nil {
			return Change{}, err
		}
	}
	begun := &Member{Circle: m.Circle, Actor: actor, Spell: r.spell(actor), Roles: held, Since: now, By: by.ID}
	return Change{Ended: m.end(now), Begun: begun}, nil
}

// Remove ends a membership: a steward anybody's, everybody their own. A circle
// keeps a steward.
func (r Roll) Remove(by Person, actor string, now time.Time) (Change, error) {
	if by.ID == actor {
		if _, err := r.Speaks(by, "leave it", now); err != nil {
			return Change{}, err
		}
	} else if err := r.steward(by, "remove members", now); err != nil {
		return Change{}, err
	}
	m, ok := r.At(actor, now)
	if !ok {
		return Change{}, problem.New(problem.MemberRequired, "%s is no member of the circle", actor)
	}
	if err := r.stewardRemains(m, now); err != nil {
		return Change{}, err
	}
	return Change{Ended: m.end(now)}, nil
}

// stewardRemains refuses what would leave nobody to admit a member.
func (r Roll) stewardRemains(without Member, now time.Time) error {
	if without.Has(Steward) && len(r.With(Steward, now)) == 1 {
		return problem.New(problem.LastSteward, "%s is the last steward of the circle", without.Actor)
	}
	return nil
}

// spell is the number of an actor's next membership.
func (r Roll) spell(actor string) int64 {
	var last int64
	for _, m := range r {
		if m.Actor == actor {
			last = max(last, m.Spell)
		}
	}
	return last + 1
}

func (m Member) end(now time.Time) *Member {
	m.Until = now
	return &m
}

// ordered is the roles in their order, with the one every member has.
func ordered(given []Role) ([]Role, error) {
	if len(given) > maxRoles {
		return nil, problem.At(problem.FieldInvalid, "/roles", "at most %d roles are expected", maxRoles)
	}
	for i, role := range given {
		if !role.Valid() || slices.Contains(given[:i], role) {
			return nil, problem.At(problem.FieldInvalid, "/roles", "different ones of member, council, steward are expected")
		}
	}
	held := []Role{}
	for _, role := range roles {
		if role == Plain || slices.Contains(given, role) {
			held = append(held, role)
		}
	}
	return held, nil
}

// Apply is r after a change.
func (r Roll) Apply(c Change) Roll {
	after := slices.Clone(r)
	if c.Ended != nil {
		for i, m := range after {
			if m.Actor == c.Ended.Actor && m.Spell == c.Ended.Spell {
				after[i] = *c.Ended
			}
		}
	}
	if c.Begun != nil {
		after = append(after, *c.Begun)
	}
	return after
}
