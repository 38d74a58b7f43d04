package request

import (
	"context"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/problem"
)

// Circles, members and channels (docs/spec/circle.md §7).

// CircleArgs founds a circle.
type CircleArgs struct {
	ID   string // "" has one made
	Name string
	Clan string // "" stands alone
}

// CircleShown is a circle with its members, as a member sees it.
type CircleShown struct {
	*circle.Circle
	Members []circle.Member // who are members now, by actor
	Quorum  constitution.Quorum
}

// Tag is the entity tag of a circle.
func (c *CircleShown) Tag() string { return tag(c.ID, c.Revision) }

// QuorumArgs sets the part of the council that must consent to a core change; nil
// is the registry's.
type QuorumArgs struct {
	Circle string
	Quorum *circle.Fraction
}

// MemberArgs admits somebody, or gives a member other roles.
type MemberArgs struct {
	Circle string
	Actor  string
	Roles  []circle.Role // every member is a plain one besides
}

// CircleCreate founds a circle. Whoever does is its first member, with every
// role. A clan that has a circle already is joined by its stewards and by admins
// alone: the clan sees what each of its circles shows the clan.
func (s *Service) CircleCreate(ctx context.Context, by pipeline.Caller, a CircleArgs) (*CircleShown, error) {
	id := a.ID
	if id == "" {
		id = s.conf.NewID("circle")
	}
	return do(ctx, s, by, "circle.create", func(x *session) (*CircleShown, error) {
		x.about(ofCircle, "", "")
		if !nameable(id) {
			return nil, problem.At(problem.FieldInvalid, "/id", "an id begins with a letter or digit and has at most 128 of letters, digits and ._:-")
		}
		c, first, err := circle.Found(x.person(), id, a.Name, a.Clan, x.Now())
		if err != nil {
			return nil, err
		}
		if err := x.joinsClan(a.Clan); err != nil {
			return nil, err
		}
		x.about(ofCircle, id, "")
		if err := x.CreateCircle(&c, first); err != nil {
			if fault.KindOf(err) == fault.Conflict {
				return nil, problem.At(problem.FieldInvalid, "/id", "the id is in use")
			}
			return nil, err
		}
		x.rec.To = a.Clan
		return x.s.shown(&c, circle.Roll{first}, x.Now()), nil
	})
}

// joinsClan refuses a clan that has circles to whoever has no voice in it.
func (x *session) joinsClan(clan string) error {
	if clan == "" || x.actor.Roles.Has(contract.Admin) {
		return nil
	}
	list, err := x.Circles(CircleFilter{Clan: clan}, pipeline.Page{})
	if err != nil || len(list) == 0 {
		return err
	}
	for _, c := range list {
		roll, err := x.Roll(c.ID)
		if err != nil {
			return err
		}
		if slices.Contains(roll.With(circle.Steward, x.Now()), string(x.actor.ID)) {
			return nil
		}
	}
	return problem.New(problem.RoleRequired, "the clan has circles: a steward of one of them, or an admin, can add another")
}

func nameable(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i, r := range id {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._:-", r)) {
			return false
		}
	}
	return true
}

// CircleList is a page of the circles the caller is a member of.
func (s *Service) CircleList(ctx context.Context, by pipeline.Caller, p pipeline.Page) ([]*circle.Circle, error) {
	return view(ctx, s, by, func(r Reader, a *pipeline.Actor) ([]*circle.Circle, error) {
		return r.Circles(CircleFilter{Member: string(a.ID)}, p)
	})
}

// CircleGet is one circle with its members, for a member.
func (s *Service) CircleGet(ctx context.Context, by pipeline.Caller, id string) (*CircleShown, error) {
	return view(ctx, s, by, func(r Reader, a *pipeline.Actor) (*CircleShown, error) {
		c, roll, err := membership(r, id, string(a.ID), "see it")
		if err != nil {
			return nil, err
		}
		return s.shown(c, roll, r.Now()), nil
	})
}

// MemberList is who the members of a circle are now, for a member.
func (s *Service) MemberList(ctx context.Context, by pipeline.Caller, id string) ([]circle.Member, error) {
	c, err := s.CircleGet(ctx, by, id)
	if err != nil {
		return nil, err
	}
	return c.Members, nil
}

func (s *Service) shown(c *circle.Circle, roll circle.Roll, now time.Time) *CircleShown {
	q := s.conf.Set.Set().Registry().Quorum
	if c.Quorum != nil {
		q.Numerator, q.Denominator = c.Quorum.Numerator, c.Quorum.Denominator
	}
	out := &CircleShown{Circle: c, Members: []circle.Member{}, Quorum: q}
	for _, m := range roll {
		if now, ok := roll.At(m.Actor, now); ok && now.Spell == m.Spell {
			out.Members = append(out.Members, m)
		}
	}
	slices.SortFunc(out.Members, func(a, b circle.Member) int { return strings.Compare(a.Actor, b.Actor) })
	return out
}

// membership is a circle and its roll, for an actor who is a member now. Who is no
// member does not learn whether there is such a circle.
func membership(r reader, id, actor, what string) (*circle.Circle, circle.Roll, error) {
	c, err := r.Circle(id)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			err = problem.New(problem.MemberRequired, "only a member of the circle can %s", what)
		}
		return nil, nil, err
	}
	roll, err := r.Roll(id)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := roll.At(actor, r.Now()); !ok {
		return nil, nil, problem.New(problem.MemberRequired, "only a member of the circle can %s", what)
	}
	return c, roll, nil
}

// CircleQuorum sets the quorum of a circle. A steward does.
func (s *Service) CircleQuorum(ctx context.Context, by pipeline.Caller, a QuorumArgs) (*CircleShown, error) {
	return do(ctx, s, by, "circle.quorum", func(x *session) (*CircleShown, error) {
		c, roll, err := x.circle(a.Circle, "set the quorum")
		if err != nil {
			return nil, err
		}
		next, err := c.SetQuorum(roll, x.person(), a.Quorum, x.Now())
		if err != nil {
			return nil, err
		}
		return x.s.shown(&next, roll, x.Now()), x.UpdateCircle(&next)
	})
}

// circle is a circle that somebody changes.
func (x *session) circle(id, what string) (*circle.Circle, circle.Roll, error) {
	c, roll, err := membership(x, id, string(x.actor.ID), what)
	if err != nil {
		x.about(ofCircle, "", "")
		return nil, nil, err
	}
	x.about(ofCircle, id, "")
	return c, roll, x.matches(tag(c.ID, c.Revision))
}

// MemberSet makes somebody a member, or gives a member other roles. A steward
// does.
func (s *Service) MemberSet(ctx context.Context, by pipeline.Caller, a MemberArgs) (*CircleShown, error) {
	return s.changeMembers(ctx, by, "circle.member.set", a.Circle, a.Actor, func(x *session, c *circle.Circle, roll circle.Roll) (circle.Change, error) {
		if _, already := roll.At(a.Actor, x.Now()); already {
			return roll.Give(x.person(), a.Actor, a.Roles, x.Now())
		}
		who, err := x.Contracts().Actor(contract.ActorID(a.Actor))
		if err != nil {
			if fault.KindOf(err) == fault.NotFound {
				err = problem.At(problem.FieldInvalid, "/member_id", "no actor of the registry has the id")
			}
			return circle.Change{}, err
		}
		return roll.Admit(*c, x.person(), person(who), a.Roles, x.Now())
	})
}

// MemberRemove ends a membership: a steward anybody's, everybody their own.
func (s *Service) MemberRemove(ctx context.Context, by pipeline.Caller, id, actor string) (*CircleShown, error) {
	return s.changeMembers(ctx, by, "circle.member.remove", id, actor, func(x *session, _ *circle.Circle, roll circle.Roll) (circle.Change, error) {
		return roll.Remove(x.person(), actor, x.Now())
	})
}

func (s *Service) changeMembers(ctx context.Context, by pipeline.Caller, action, id, actor string,
	fn func(*session, *circle.Circle, circle.Roll) (circle.Change, error),
) (*CircleShown, error) {
	return do(ctx, s, by, action, func(x *session) (*CircleShown, error) {
		c, roll, err := x.circle(id, "change its members")
		if err != nil {
			return nil, err
		}
		change, err := fn(x, c, roll)
		if err != nil {
			return nil, err
		}
		if change == (circle.Change{}) {
			return x.s.shown(c, roll, x.Now()), nil
		}
		x.rec.Cause = actor
		if m := change.Ended; m != nil {
			x.rec.From = named(m.Roles)
		}
		if m := change.Begun; m != nil {
			x.rec.To = named(m.Roles)
		}
		if err := x.ChangeMembers(c, change); err != nil {
			return nil, err
		}
		return x.s.shown(c, roll.Apply(change), x.Now()), nil
	})
}

func named(roles []circle.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// ChannelList is a page of the channels of a circle, for its members; of all
// circles the caller is a member of when the id is "".
func (s *Service) ChannelList(ctx context.Context, by pipeline.Caller, id string, suspended *bool, p pipeline.Page) ([]*circle.Channel, error) {
	return view(ctx, s, by, func(r Reader, a *pipeline.Actor) ([]*circle.Channel, error) {
		ids, err := mine(r, string(a.ID), id)
		if err != nil || len(ids) == 0 {
			return []*circle.Channel{}, err
		}
		return r.Channels(ChannelFilter{Circles: ids, Suspended: suspended}, p)
	})
}

// mine is the circles a caller may list things of: the one that is named, or all
// they are a member of.
func mine(r Reader, actor, id string) ([]string, error) {
	if id != "" {
		_, _, err := membership(r, id, actor, "see what is in it")
		return []string{id}, err
	}
	list, err := r.Circles(CircleFilter{Member: actor}, pipeline.Page{})
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return ids, err
}

// ChannelLift opens a suspended channel again. A steward does.
func (s *Service) ChannelLift(ctx context.Context, by pipeline.Caller, id string) (*circle.Channel, error) {
	return do(ctx, s, by, "channel.lift", func(x *session) (*circle.Channel, error) {
		c, err := x.Channel(id)
		if err != nil {
			if fault.KindOf(err) == fault.NotFound {
				err = problem.New(problem.MemberRequired, "only a member of the circle can lift a channel")
			}
			return nil, err
		}
		_, roll, err := x.circle(c.Circle, "lift a channel")
		if err != nil {
			return nil, err
		}
		x.about(ofChannel, id, "")
		next, err := c.Lift(roll, x.person(), x.Now())
		if err != nil {
			return nil, err
		}
		return &next, x.UpdateChannel(&next)
	})
}
