package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

func locks(t *testing.T, open Open) {
	t.Helper()
	// take is an acquisition as a use case makes it.
	take := func(tx pipeline.Tx, holder string, keys ...string) error {
		list, err := tx.Locks(keys...)
		if err != nil {
			return err
		}
		for _, l := range list {
			l.Token++
			l.Holder, l.Actor, l.AcquiredAt, l.HeartbeatAt = holder, "robot", tx.Now(), tx.Now()
			if err := tx.PutLock(l); err != nil {
				return err
			}
		}
		return nil
	}
	letGo := func(tx pipeline.Tx, key string) error {
		list, err := tx.Locks(key)
		if err != nil {
			return err
		}
		l := list[0]
		l.Holder, l.Actor, l.AcquiredAt, l.HeartbeatAt = "", "", time.Time{}, time.Time{}
		return tx.PutLock(l)
	}

	t.Run("keys come in ascending order, each once, also those never held", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { return take(tx, "run-1", "contract:TS-002") })
		want := []pipeline.Lock{
			{Key: "contract:TS-001"},
			{Key: "contract:TS-002", Token: 1, Holder: "run-1", Actor: "robot", AcquiredAt: start, HeartbeatAt: start},
			{Key: "repo-path:."},
		}
		keys := []string{"repo-path:.", "contract:TS-002", "contract:TS-001", "contract:TS-002"}
		b.view(func(r pipeline.Reader) error {
			got, err := r.Locks(keys...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("a view sees other locks (-want +got):\n%s", diff)
			}
			return err
		})
		b.update(func(tx pipeline.Tx) error {
			got, err := tx.Locks(keys...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("an update sees other locks (-want +got):\n%s", diff)
			}
			return err
		})
	})

	t.Run("the token grows for ever and fences former holders off", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { return take(tx, "run-1", "contract:TS-001") })
		b.update(func(tx pipeline.Tx) error { return tx.Fence("contract:TS-001", 1) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.Fence("contract:TS-001", 0) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.Fence("contract:TS-001", 2) })
		b.update(func(tx pipeline.Tx) error { return letGo(tx, "contract:TS-001") })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.Fence("contract:TS-001", 1) }) // nobody holds it
		b.update(func(tx pipeline.Tx) error { return take(tx, "run-2", "contract:TS-001") })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.Fence("contract:TS-001", 1) })
		b.update(func(tx pipeline.Tx) error { return tx.Fence("contract:TS-001", 2) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { // a former holder's heartbeat
			return tx.PutLock(pipeline.Lock{Key: "contract:TS-001", Token: 1, Holder: "run-1", AcquiredAt: start, HeartbeatAt: start})
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { // a row that was never read
			return tx.PutLock(pipeline.Lock{Key: "contract:TS-009", Token: 1, Holder: "run-1", AcquiredAt: start, HeartbeatAt: start})
		})
	})

	t.Run("who had a key is remembered", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { return take(tx, "lock-1", "repo-path:b", "repo-path:a") })
		b.at(time.Minute)
		b.update(func(tx pipeline.Tx) error { return take(tx, "lock-2", "repo-path:a") })
		b.view(func(r pipeline.Reader) error {
			got, err := r.Holding("lock-1")
			want := []pipeline.Hold{{Key: "repo-path:a", Token: 1, Actor: "robot", At: start}, {Key: "repo-path:b", Token: 1, Actor: "robot", At: start}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lock-1 had other keys (-want +got):\n%s", diff)
			}
			if stranger, err := r.Holding("lock-3"); err != nil || len(stranger) != 0 {
				t.Errorf("a stranger had %v (%v)", stranger, err)
			}
			return err
		})
	})

	t.Run("locks that are held are listed by key", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error {
			if err := take(tx, "lock-1", "contract:TS-001", "repo-path:a", "repo-path:b"); err != nil {
				return err
			}
			if err := take(tx, "lock-2", "repo-path:c"); err != nil {
				return err
			}
			return letGo(tx, "repo-path:b")
		})
		b.view(func(r pipeline.Reader) error {
			for _, want := range []struct {
				filter pipeline.LockFilter
				page   pipeline.Page
				keys   string
			}{
				{pipeline.LockFilter{}, pipeline.Page{}, "contract:TS-001 repo-path:a repo-path:c "},
				{pipeline.LockFilter{}, pipeline.Page{Limit: 1, Behind: pipeline.Mark{ID: "contract:TS-001"}}, "repo-path:a "},
				{pipeline.LockFilter{Holders: []string{"lock-2"}}, pipeline.Page{}, "repo-path:c "},
				{pipeline.LockFilter{Keys: []string{"repo-path:a", "repo-path:b"}}, pipeline.Page{}, "repo-path:a "},
				{pipeline.LockFilter{Prefixes: []string{"repo-path:", "repo"}}, pipeline.Page{}, "repo-path:a repo-path:c "},
				{pipeline.LockFilter{Since: start}, pipeline.Page{Limit: 2}, "contract:TS-001 repo-path:a "},
				{pipeline.LockFilter{Since: start.Add(time.Microsecond)}, pipeline.Page{}, ""},
			} {
				list, err := r.LockList(want.filter, want.page)
				if err != nil {
					return err
				}
				if got := ids(list, func(l pipeline.Lock) string { return l.Key }); got != want.keys {
					t.Errorf("held are %s, want %s", got, want.keys)
				}
			}
			return nil
		})
	})

	t.Run("of many that take a key each gets a token of its own", func(t *testing.T) {
		b := newBench(t, open)
		const writers = 8
		each(t, writers, func(i int) error {
			return b.store.Update(t.Context(), func(tx pipeline.Tx) error {
				return take(tx, "run-"+string(rune('a'+i)), "repo-path:b", "repo-path:a")
			})
		})
		b.view(func(r pipeline.Reader) error {
			list, err := r.Locks("repo-path:a", "repo-path:b")
			for _, l := range list {
				if l.Token != writers {
					t.Errorf("%d took %s, its token is %d", writers, l.Key, l.Token)
				}
			}
			return err
		})
	})
}
