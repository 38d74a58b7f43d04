package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

func actors(t *testing.T, open Open) {
	t.Helper()
	actor := func(id contract.ActorID, kind contract.ActorType, roles ...contract.Role) *pipeline.Actor {
		return &pipeline.Actor{ID: id, Type: kind, Roles: contract.RolesOf(roles...), Name: "N", Active: true, CreatedAt: start, UpdatedAt: start}
	}

	t.Run("an actor is read as it was written, and its id is used once", func(t *testing.T) {
		b := newBench(t, open)
		want := actor("ada", contract.Human, contract.ProjectLead, contract.QA)
		b.update(func(tx pipeline.Tx) error { return tx.CreateActor(want) })
		b.update(func(tx pipeline.Tx) error {
			want.Active, want.Name, want.UpdatedAt = false, "Ada \u00e4", start.Add(time.Second)
			return tx.UpdateActor(want)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.CreateActor(actor("ada", contract.Agent)) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			old := actor("ada", contract.Human)
			old.Revision = 1
			return tx.UpdateActor(old)
		})
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error { // a text no database keeps as it is
			bad := actor("bob", contract.Human)
			bad.Name = "b\x00b"
			return tx.CreateActor(bad)
		})
		b.view(func(r pipeline.Reader) error {
			got, err := r.Actor("ada")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the actor differs (-want +got):\n%s", diff)
			}
			if _, err := r.Actor("bob"); !b.absent(err) {
				t.Error("bob was found")
			}
			return err
		})
	})

	t.Run("the registry is listed newest change first", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error {
			for _, id := range []contract.ActorID{"ada", "bob", "eve"} {
				if err := tx.CreateActor(actor(id, contract.Human)); err != nil {
					return err
				}
			}
			a, err := tx.Actor("ada")
			if err != nil {
				return err
			}
			a.UpdatedAt = start.Add(time.Second)
			return tx.UpdateActor(a)
		})
		b.view(func(r pipeline.Reader) error {
			name := func(a *pipeline.Actor) string { return string(a.ID) }
			list, err := r.Actors(pipeline.Page{Limit: 2})
			if err != nil {
				return err
			}
			more, err := r.Actors(pipeline.Page{Limit: 2, Behind: pipeline.Mark{At: start, ID: "eve"}})
			if got := ids(list, name) + "| " + ids(more, name); got != "ada eve | bob " {
				t.Errorf("the registry is %s", got)
			}
			return err
		})
	})

	t.Run("two admins cannot dismiss each other", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error {
			for _, a := range []*pipeline.Actor{
				actor("ada", contract.Human, contract.Admin), actor("bob", contract.Human, contract.ProjectLead, contract.Admin),
				actor("robot", contract.Agent, contract.Admin), actor("eve", contract.Human, contract.QA),
			} {
				if err := tx.CreateActor(a); err != nil {
					return err
				}
			}
			return nil
		})
		last := fault.E("test", fault.Conflict, "the last admin", nil)
		ended := make([]error, 2)
		each(t, 2, func(i int) error {
			ended[i] = b.store.Update(t.Context(), func(tx pipeline.Tx) error {
				admins, err := tx.Admins()
				if err != nil {
					return err
				}
				if len(admins) < 2 {
					return last
				}
				a, err := tx.Actor([]contract.ActorID{"ada", "bob"}[i])
				if err != nil {
					return err
				}
				a.Active = false
				return tx.UpdateActor(a)
			})
			return nil
		})
		if (ended[0] == nil) == (ended[1] == nil) {
			t.Errorf("they ended with %v and %v", ended[0], ended[1])
		}
		b.view(func(r pipeline.Reader) error {
			admins, err := r.Admins()
			if len(admins) != 1 {
				t.Errorf("the admins are %v", admins)
			}
			return err
		})
	})

	t.Run("a token is found by its digest and revoked once", func(t *testing.T) {
		b := newBench(t, open)
		want := pipeline.Token{
			ID: "tok-1", Actor: "ada", Hash: hash("secret"), Scopes: []string{"read", "decide"}, Name: "laptop", CreatedAt: start, ExpiresAt: start.Add(time.Hour),
		}
		b.update(func(tx pipeline.Tx) error {
			if err := tx.CreateActor(actor("ada", contract.Human)); err != nil {
				return err
			}
			if err := tx.CreateActor(actor("bob", contract.Human)); err != nil {
				return err
			}
			if err := tx.CreateToken(pipeline.Token{ID: "tok-2", Actor: "bob", Hash: hash("other"), Scopes: []string{}, CreatedAt: start.Add(time.Second), ExpiresAt: start}); err != nil {
				return err
			}
			return tx.CreateToken(want)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			again := want
			again.ID = "tok-3" // another id, the same secret
			return tx.CreateToken(again)
		})
		b.at(time.Minute)
		b.update(func(tx pipeline.Tx) error { return tx.RevokeToken("tok-1") })
		b.at(time.Hour)
		b.update(func(tx pipeline.Tx) error { return tx.RevokeToken("tok-1") })
		b.refuse(fault.NotFound, func(tx pipeline.Tx) error { return tx.RevokeToken("tok-9") })
		want.RevokedAt = start.Add(time.Minute)
		b.view(func(r pipeline.Reader) error {
			got, err := r.TokenByHash(want.Hash)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("the token differs (-want +got):\n%s", diff)
			}
			if _, err := r.TokenByHash(hash("guess")); !b.absent(err) {
				t.Error("a guess was found")
			}
			if got, err := r.Token("tok-1"); err != nil || got.Hash != want.Hash {
				t.Errorf("tok-1 is %v (%v)", got, err)
			}
			name := func(k *pipeline.Token) string { return k.ID }
			all, err := r.Tokens("", pipeline.Page{})
			if err != nil {
				return err
			}
			own, err := r.Tokens("ada", pipeline.Page{})
			if got := ids(all, name) + "| " + ids(own, name); got != "tok-2 tok-1 | tok-1 " {
				t.Errorf("the tokens are %s", got)
			}
			return err
		})
	})
}
