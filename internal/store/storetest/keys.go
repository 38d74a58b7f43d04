package storetest

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/store"
)

func keys(t *testing.T, open Open) {
	t.Helper()
	t.Run("what is done is found by its key", func(t *testing.T) {
		b := newBench(t, open)
		want := pipeline.Effect{Key: "IC-001:1:TaskSeed", Result: pipeline.Ref{ID: "TS-001", Version: 1}, Detail: []byte(`{"a":1}`), At: start}
		b.update(func(tx pipeline.Tx) error {
			if _, done, err := tx.Effect(want.Key); done || err != nil {
				t.Errorf("before it was done: %v, %v", done, err)
			}
			return tx.AddEffect(want)
		})
		b.view(func(r pipeline.Reader) error {
			got, done, err := r.Effect(want.Key)
			if diff := cmp.Diff(want, got); diff != "" || !done {
				t.Errorf("the effect differs (-want +got):\n%s", diff)
			}
			return err
		})
	})

	t.Run("of concurrent attempts one commits and the others read its result", func(t *testing.T) {
		b := newBench(t, open)
		var acted atomic.Int64
		each(t, 8, func(int) error {
			var mine bool
			err := b.store.Update(t.Context(), func(tx pipeline.Tx) error {
				mine = false
				_, done, err := tx.Effect("IC-001:1:TaskSeed")
				if err != nil || done {
					return err
				}
				mine = true
				return tx.AddEffect(pipeline.Effect{Key: "IC-001:1:TaskSeed", Result: pipeline.Ref{ID: "TS-001", Version: 1}, At: tx.Now()})
			})
			if mine {
				acted.Add(1)
			}
			return err
		})
		if acted.Load() != 1 {
			t.Errorf("%d attempts acted", acted.Load())
		}
	})

	t.Run("a request belongs to its actor", func(t *testing.T) {
		b := newBench(t, open)
		want := pipeline.Request{
			Actor: "ada", Key: "k1", Method: "POST", Path: "/v1/intents", Role: contract.Requester, BodyDigest: "sha256:aa", Status: 201,
			MediaType: "application/json", Headers: []byte(`{"etag":"x"}`), Answer: []byte(`{"id":"IC-001"}`), At: start,
		}
		b.update(func(tx pipeline.Tx) error { return tx.AddRequest(want) })
		b.update(func(tx pipeline.Tx) error {
			got, known, err := tx.Request("ada", "k1")
			if diff := cmp.Diff(want, got); diff != "" || !known {
				t.Errorf("the request differs (-want +got):\n%s", diff)
			}
			return err
		})
		b.view(func(r pipeline.Reader) error {
			_, known, err := r.Request("bob", "k1")
			if known {
				t.Error("bob has the request of ada")
			}
			return err
		})
	})

	t.Run("concurrent requests under one key act once", func(t *testing.T) {
		b := newBench(t, open)
		var acted atomic.Int64
		each(t, 6, func(int) error {
			for {
				var mine bool
				err := b.store.Update(t.Context(), func(tx pipeline.Tx) error {
					mine = false
					_, known, err := tx.Request("ada", "k1")
					if err != nil || known {
						return err
					}
					mine = true
					return tx.AddRequest(pipeline.Request{Actor: "ada", Key: "k1", Method: "POST", Path: "/", At: tx.Now()})
				})
				if fault.KindOf(err) == fault.Conflict && err != nil { // the first is under way
					continue
				}
				if mine && err == nil {
					acted.Add(1)
				}
				return err
			}
		})
		if acted.Load() != 1 {
			t.Errorf("%d requests acted", acted.Load())
		}
	})

	t.Run("jobs go to the queue in the transaction, or not at all", func(t *testing.T) {
		b := newBenchWith(t, open, store.Config{Enqueue: func(ctx context.Context, tx *sql.Tx, jobs []pipeline.Job) error {
			for _, j := range jobs { // a table of the store will do
				if _, err := tx.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2)`, "job "+j.Key, string(j.Kind)); err != nil {
					return err
				}
			}
			return nil
		}})
		job := pipeline.Job{Kind: "generate", Key: "IC-001:1:TaskSeed", Chain: "IC-001", Args: []byte(`{}`), At: start}
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error {
			if err := tx.Enqueue(job); err != nil {
				return err
			}
			return fault.E("test", fault.Invalid, "no", nil)
		})
		b.update(func(tx pipeline.Tx) error { return tx.Enqueue(job) }) // would be taken, had the first been kept
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.Enqueue(job) })
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error { return tx.Enqueue(pipeline.Job{}) })
	})

	t.Run("what is no longer kept is pruned, the rest stays", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error {
			for i, key := range []string{"old", "older", "new"} {
				at := start.Add(-time.Duration(8-3*i) * 24 * time.Hour)
				if err := tx.AddRequest(pipeline.Request{Actor: "ada", Key: key, At: at}); err != nil {
					return err
				}
			}
			if err := tx.CreateActor(&pipeline.Actor{ID: "ada", Type: contract.Human, Active: true, CreatedAt: start, UpdatedAt: start}); err != nil {
				return err
			}
			for id, expiry := range map[string]time.Duration{"ended": -30 * 24 * time.Hour, "live": time.Hour} {
				if err := tx.CreateToken(pipeline.Token{ID: id, Actor: "ada", Hash: hash(id), CreatedAt: start, ExpiresAt: start.Add(expiry)}); err != nil {
					return err
				}
			}
			return nil
		})
		b.update(func(tx pipeline.Tx) error {
			n, err := tx.Prune(start.Add(-7*24*time.Hour), 1)
			if n != 1 {
				t.Errorf("a limit of 1 removed %d", n)
			}
			return err
		})
		b.update(func(tx pipeline.Tx) error {
			n, err := tx.Prune(start.Add(-7*24*time.Hour), 100)
			if n != 1 {
				t.Errorf("the rest were %d", n)
			}
			return err
		})
		b.view(func(r pipeline.Reader) error {
			for key, want := range map[string]bool{"old": false, "older": true, "new": true} {
				_, known, err := r.Request("ada", key)
				if err != nil {
					return err
				}
				if known != want {
					t.Errorf("the %s request is there: %v, want %v", key, known, want)
				}
			}
			if _, err := r.Token("live"); err != nil {
				return err
			}
			if _, err := r.Token("ended"); !b.absent(err) {
				t.Error("the ended token is still there")
			}
			return nil
		})
	})
}

// each runs fn n times at once and fails the test for every error.
func each(t *testing.T, n int, fn func(i int) error) {
	t.Helper()
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- fn(i) }()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func hash(text string) (h [32]byte) {
	copy(h[:], text)
	return h
}
