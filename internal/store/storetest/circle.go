package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/envelope"
)

// In the tests of the circle cr reads and ct writes: the port of the contracts
// has methods of the same names.

// circleUpdate runs an update of the circle that must succeed.
func (b *bench) circleUpdate(fn func(ct request.Tx) error) {
	b.Helper()
	if err := b.store.Circles().Update(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

// circleView runs a view of the circle that must succeed.
func (b *bench) circleView(fn func(cr request.Reader) error) {
	b.Helper()
	if err := b.store.Circles().View(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

// circleRefuse runs an update of the circle that must end with this kind of fault.
func (b *bench) circleRefuse(kind fault.Kind, fn func(ct request.Tx) error) {
	b.Helper()
	err := b.store.Circles().Update(b.Context(), fn)
	if got := fault.KindOf(err); err == nil || got != kind {
		b.Fatalf("the update ended with %v (%v), want %v", got, err, kind)
	}
}

// people registers the actors of the tests: three people, a dismissed one and an
// agent.
func (b *bench) people() {
	b.Helper()
	b.update(func(tx pipeline.Tx) error {
		for _, a := range []pipeline.Actor{
			{ID: "m-olha", Type: contract.Human, Active: true},
			{ID: "m-taras", Type: contract.Human, Active: true},
			{ID: "m-ira", Type: contract.Human, Active: true},
			{ID: "m-gone", Type: contract.Human},
			{ID: "robot", Type: contract.Agent, Active: true},
		} {
			a.CreatedAt, a.UpdatedAt = start, start
			if err := tx.CreateActor(&a); err != nil {
				return err
			}
		}
		return nil
	})
}

var person = circle.Person{ID: "m-olha", Human: true, Active: true}

func forest(b *bench, id, clan string) (*circle.Circle, circle.Member) {
	b.Helper()
	c, first, err := circle.Found(person, id, "Forest", clan, start)
	if err != nil {
		b.Fatal(err)
	}
	return &c, first
}

// found makes a circle with m-olha in it.
func (b *bench) found(id, clan string) {
	b.Helper()
	b.circleUpdate(func(ct request.Tx) error {
		c, first := forest(b, id, clan)
		return ct.CreateCircle(c, first)
	})
}

// console makes the channel of m-olha in c-forest.
func (b *bench) console(ct request.Tx) (*circle.Channel, error) {
	c := circle.OpenChannel("c-forest", envelope.Channel{Kind: envelope.Internal, ID: "console"}, "m-olha", "", ct.Now())
	return &c, ct.CreateChannel(&c)
}

func circles(t *testing.T, open Open) {
	t.Helper()
	t.Run("a circle is read as it was written", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		want, first := forest(b, "c-forest", "green")
		want.Quorum = &circle.Fraction{Numerator: 3, Denominator: 4}
		b.circleUpdate(func(ct request.Tx) error {
			own := *want
			return ct.CreateCircle(&own, first)
		})
		want.Revision = 1
		b.circleView(func(cr request.Reader) error {
			got, err := cr.Circle("c-forest")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the circle differs (-want +got):\n%s", diff)
			}
			roll, rollErr := cr.Roll("c-forest")
			if diff := cmp.Diff(circle.Roll{first}, roll); diff != "" || rollErr != nil {
				t.Errorf("its members differ (-want +got):\n%s", diff)
			}
			if _, err := cr.Circle("c-lake"); !b.absent(err) {
				t.Error("c-lake was found")
			}
			return err
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateCircle(&circle.Circle{ID: "c-forest", Name: "x"}, first) })
		b.circleRefuse(fault.Invalid, func(ct request.Tx) error { return ct.CreateCircle(want, first) })
		b.circleUpdate(func(ct request.Tx) error {
			want.Name, want.Quorum = "Old forest", nil
			return ct.UpdateCircle(want)
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error {
			c, _ := forest(b, "c-forest", "")
			c.Revision = 1
			return ct.UpdateCircle(c)
		})
	})

	t.Run("circles are listed by member and clan, newest change first", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		for i, c := range []struct{ id, clan string }{{"c-a", "green"}, {"c-b", "green"}, {"c-c", ""}} {
			b.at(time.Duration(i) * time.Minute)
			b.found(c.id, c.clan)
			b.circleUpdate(func(ct request.Tx) error {
				c, err := ct.Circle(c.id)
				if err != nil {
					return err
				}
				c.Updated = ct.Now()
				return ct.UpdateCircle(c)
			})
		}
		b.circleView(func(cr request.Reader) error {
			for _, want := range []struct {
				filter request.CircleFilter
				page   pipeline.Page
				ids    string
			}{
				{request.CircleFilter{}, pipeline.Page{}, "c-c c-b c-a "},
				{request.CircleFilter{Member: "m-olha"}, pipeline.Page{Limit: 2}, "c-c c-b "},
				{request.CircleFilter{Member: "m-taras"}, pipeline.Page{}, ""},
				{request.CircleFilter{Clan: "green"}, pipeline.Page{}, "c-b c-a "},
				{request.CircleFilter{}, pipeline.Page{Behind: pipeline.Mark{At: start.Add(time.Minute), ID: "c-b"}}, "c-a "},
			} {
				list, err := cr.Circles(want.filter, want.page)
				if err != nil {
					return err
				}
				if got := ids(list, func(c *circle.Circle) string { return c.ID }); got != want.ids {
					t.Errorf("%+v: %s, want %s", want.filter, got, want.ids)
				}
			}
			return nil
		})
	})

	t.Run("memberships keep their past, and only people of the registry have one", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "")
		want := circle.Roll{}
		change := func(what string, by func(roll circle.Roll, c circle.Circle, now time.Time) (circle.Change, error)) {
			t.Helper()
			b.circleUpdate(func(ct request.Tx) error {
				c, err := ct.Circle("c-forest")
				if err != nil {
					return err
				}
				roll, err := ct.Roll("c-forest")
				if err != nil {
					return err
				}
				change, err := by(roll, *c, ct.Now())
				if err != nil {
					return err
				}
				want = roll.Apply(change)
				return ct.ChangeMembers(c, change)
			})
			b.circleView(func(cr request.Reader) error {
				got, err := cr.Roll("c-forest")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: the members differ (-want +got):\n%s", what, diff)
				}
				return err
			})
		}
		taras := circle.Person{ID: "m-taras", Human: true, Active: true}
		change("admit", func(roll circle.Roll, c circle.Circle, now time.Time) (circle.Change, error) {
			return roll.Admit(c, person, taras, []circle.Role{circle.Council}, now)
		})
		b.at(time.Hour)
		change("give", func(roll circle.Roll, _ circle.Circle, now time.Time) (circle.Change, error) {
			return roll.Give(person, "m-taras", []circle.Role{circle.Steward}, now)
		})
		change("give at the same instant", func(roll circle.Roll, _ circle.Circle, now time.Time) (circle.Change, error) {
			return roll.Give(person, "m-taras", nil, now)
		})
		b.at(2 * time.Hour)
		change("leave", func(roll circle.Roll, _ circle.Circle, now time.Time) (circle.Change, error) {
			return roll.Remove(taras, "m-taras", now)
		})
		b.at(3 * time.Hour)
		change("come back", func(roll circle.Roll, c circle.Circle, now time.Time) (circle.Change, error) {
			return roll.Admit(c, person, taras, nil, now)
		})
		if m, ok := want.At("m-taras", start.Add(3*time.Hour)); !ok || m.Spell != 4 {
			t.Errorf("the membership is %+v", m)
		}
		for _, nobody := range []string{"robot", "m-gone", "m-unheard-of"} {
			b.circleRefuse(fault.NotFound, func(ct request.Tx) error {
				c, err := ct.Circle("c-forest")
				if err != nil {
					return err
				}
				return ct.ChangeMembers(c, circle.Change{Begun: &circle.Member{Circle: "c-forest", Actor: nobody, Spell: 1, Since: ct.Now(), By: "m-olha"}})
			})
		}
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { // who is a member is not one twice
			c, err := ct.Circle("c-forest")
			if err != nil {
				return err
			}
			return ct.ChangeMembers(c, circle.Change{Begun: &circle.Member{Circle: "c-forest", Actor: "m-taras", Spell: 9, Since: ct.Now(), By: "m-olha"}})
		})
	})

	t.Run("of stewards who remove each other at once one succeeds", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "")
		taras := circle.Person{ID: "m-taras", Human: true, Active: true}
		b.circleUpdate(func(ct request.Tx) error {
			c, first := forest(b, "c-forest", "")
			c.Revision = 1
			change, err := circle.Roll{first}.Admit(*c, person, taras, []circle.Role{circle.Steward}, ct.Now())
			if err != nil {
				return err
			}
			return ct.ChangeMembers(c, change)
		})
		var removed atomic.Int64
		each(t, 8, func(i int) error {
			by, who := person, "m-taras"
			if i%2 == 0 {
				by, who = taras, "m-olha"
			}
			err := b.store.Circles().Update(t.Context(), func(ct request.Tx) error {
				c, err := ct.Circle("c-forest")
				if err != nil {
					return err
				}
				roll, err := ct.Roll("c-forest")
				if err != nil {
					return err
				}
				change, err := roll.Remove(by, who, ct.Now())
				if err != nil {
					return err
				}
				return ct.ChangeMembers(c, change)
			})
			if err == nil {
				removed.Add(1)
			} else if k := fault.KindOf(err); k != fault.Conflict && k != fault.Denied {
				return err
			}
			return nil
		})
		b.circleView(func(cr request.Reader) error {
			roll, err := cr.Roll("c-forest")
			if left := roll.With(circle.Steward, start); len(left) != 1 || removed.Load() != 1 {
				t.Errorf("%d were removed, %v are left", removed.Load(), left)
			}
			return err
		})
	})

	t.Run("channels and the breaches over them", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "")
		var id string
		b.circleUpdate(func(ct request.Tx) error {
			c, err := b.console(ct)
			id = c.ID
			return err
		})
		b.circleRefuse(fault.Invalid, func(ct request.Tx) error { return ct.CreateChannel(&circle.Channel{ID: "ch-1", Revision: 1}) })
		yes, no := true, false
		b.circleUpdate(func(ct request.Tx) error {
			c, err := ct.Channel(id)
			if err != nil {
				return err
			}
			for i, q := range []string{"r-1", "r-2", "r-2", "r-3"} {
				if err := ct.AddBreach(circle.Breach{Channel: id, Request: q, Member: "m-olha", At: start.Add(time.Duration(i) * time.Minute)}); err != nil {
					return err
				}
			}
			seen, err := ct.Breaches(id, start)
			if got := ids(seen, func(b circle.Breach) string { return b.Request }); got != "r-2 r-3 " {
				t.Errorf("behind the first are %s", got)
			}
			c.Suspended = ct.Now()
			if err := ct.UpdateChannel(c); err != nil {
				return err
			}
			return err
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error {
			return ct.UpdateChannel(&circle.Channel{ID: id, Revision: 1, Circle: "c-forest"})
		})
		b.circleView(func(cr request.Reader) error {
			want := circle.OpenChannel("c-forest", envelope.Channel{Kind: envelope.Internal, ID: "console"}, "m-olha", "", start)
			want.Suspended, want.Revision = start, 2
			got, err := cr.Channel(id)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("the channel differs (-want +got):\n%s", diff)
			}
			for suspended, count := range map[*bool]int{nil: 1, &yes: 1, &no: 0} {
				list, err := cr.Channels(request.ChannelFilter{Circles: []string{"c-forest"}, Suspended: suspended}, pipeline.Page{})
				if len(list) != count || err != nil {
					t.Errorf("%d channels, %v", len(list), err)
				}
			}
			all, breachErr := cr.Breaches(id, start.Add(-1))
			if len(all) != 3 || breachErr != nil || !all[0].At.Equal(start) {
				t.Errorf("the breaches are %+v, %v", all, breachErr)
			}
			return err
		})
	})

	t.Run("a channel that two requests open at once is made once", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "")
		each(t, 6, func(int) error {
			return b.store.Circles().Update(t.Context(), func(ct request.Tx) error {
				id := circle.ChannelID("c-forest", envelope.Channel{Kind: envelope.Internal, ID: "console"}, "m-olha")
				if _, err := ct.Channel(id); fault.KindOf(err) != fault.NotFound {
					return err
				}
				_, err := b.console(ct)
				return err
			})
		})
	})

	t.Run("breaches are counted one after the other", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "")
		var id string
		b.circleUpdate(func(ct request.Tx) error {
			c, err := b.console(ct)
			id = c.ID
			return err
		})
		each(t, 8, func(i int) error {
			return b.store.Circles().Update(t.Context(), func(ct request.Tx) error {
				c, err := ct.Channel(id)
				if err != nil {
					return err
				}
				before, err := ct.Breaches(id, start.Add(-time.Hour))
				if err != nil {
					return err
				}
				c.LiftedBy, c.Lifted = fmt.Sprintf("%d before", len(before)), ct.Now()
				if err := ct.UpdateChannel(c); err != nil {
					return err
				}
				return ct.AddBreach(circle.Breach{Channel: id, Request: fmt.Sprint("r-", i), At: ct.Now()})
			})
		})
		b.circleView(func(cr request.Reader) error {
			c, err := cr.Channel(id)
			if c.LiftedBy != "7 before" {
				t.Errorf("the last of eight saw %s", c.LiftedBy)
			}
			return err
		})
	})
}
