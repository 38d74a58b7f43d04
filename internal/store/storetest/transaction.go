package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/store"
)

func transactions(t *testing.T, open Open) {
	t.Helper()
	t.Run("an error of the function keeps nothing and comes back as it is", func(t *testing.T) {
		b := newBench(t, open)
		err := b.store.Update(t.Context(), func(tx pipeline.Tx) error {
			if _, err := b.chain(tx, "IC-001", contract.Draft); err != nil {
				return err
			}
			return errUndo
		})
		if err != error(errUndo) { //nolint:errorlint // as it is
			t.Errorf("Update answered %v", err)
		}
		b.view(func(r pipeline.Reader) error {
			if _, err := r.Contract("IC-001"); !b.absent(err) {
				t.Error("IC-001 was kept")
			}
			return nil
		})
	})

	t.Run("a panic keeps nothing and the store goes on", func(t *testing.T) {
		b := newBench(t, open)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = b.store.Update(t.Context(), func(tx pipeline.Tx) error {
				if _, err := b.chain(tx, "IC-001", contract.Draft); err != nil {
					return err
				}
				panic("a broken invariant")
			})
		}()
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Draft); return err })
	})

	t.Run("an update reads what it wrote, a view what was committed", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error {
			if _, err := b.chain(tx, "IC-001", contract.Draft); err != nil {
				return err
			}
			if _, err := tx.Contract("IC-001"); err != nil {
				return err
			}
			return b.store.View(t.Context(), func(r pipeline.Reader) error {
				if _, err := r.Contract("IC-001"); !b.absent(err) {
					t.Error("a view sees what is not committed")
				}
				return nil
			})
		})
	})

	t.Run("a view sees one state, whatever is committed meanwhile", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Draft); return err })
		b.view(func(r pipeline.Reader) error {
			if _, err := r.Contract("IC-001"); err != nil {
				return err
			}
			b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-002", contract.Draft); return err })
			if _, err := r.Contract("IC-002"); !b.absent(err) {
				t.Error("the view moved on")
			}
			return nil
		})
	})

	t.Run("the instant of a transaction is fixed and cut to milliseconds", func(t *testing.T) {
		b := newBench(t, open)
		b.at(1234567 * time.Nanosecond)
		b.update(func(tx pipeline.Tx) error {
			if want := start.Add(time.Millisecond); !tx.Now().Equal(want) || tx.Now().Location() != time.UTC {
				t.Errorf("it is %v, want %v", tx.Now(), want)
			}
			b.at(time.Hour)
			if !tx.Now().Equal(start.Add(time.Millisecond)) {
				t.Errorf("it moved to %v", tx.Now())
			}
			return nil
		})
	})

	t.Run("use cases on one chain follow one another", func(t *testing.T) {
		b := newBench(t, open)
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Active); return err })
		const writers = 8
		// Each reads before it writes, and writes one document because of what
		// another says: with anything less than a lock some would be refused.
		each(t, writers, func(i int) error {
			return b.store.Update(t.Context(), func(tx pipeline.Tx) error {
				intent, err := tx.Contract("IC-001")
				if err != nil {
					return err
				}
				chain, err := tx.Chain("IC-001")
				if err != nil {
					return err
				}
				chain.Returns++
				if err := tx.UpdateChain(chain); err != nil {
					return err
				}
				return tx.UpdateContract(intent)
			})
		})
		b.view(func(r pipeline.Reader) error {
			c, err := r.Chain("IC-001")
			if err == nil && c.Returns != writers {
				t.Errorf("%d writers counted to %d", writers, c.Returns)
			}
			return err
		})
	})

	t.Run("an update that hangs is ended and the others go on", func(t *testing.T) {
		b := newBenchWith(t, open, store.Config{Idle: 50 * time.Millisecond})
		inner := make(chan error, 1)
		err := b.store.Update(t.Context(), func(tx pipeline.Tx) error {
			if _, err := b.chain(tx, "IC-001", contract.Draft); err != nil {
				return err
			}
			// What must never be: an update inside an update, of the same chain.
			inner <- b.store.Update(t.Context(), func(tx pipeline.Tx) error {
				_, err := b.chain(tx, "IC-001", contract.Draft)
				return err
			})
			_, err := tx.Contract("IC-001")
			return err
		})
		if fault.KindOf(err) != fault.Unavailable || err == nil {
			t.Errorf("the outer update ended with %v", err)
		}
		if err := <-inner; err != nil {
			t.Errorf("the inner update ended with %v", err)
		}
	})

	t.Run("a transaction cannot be used after its end", func(t *testing.T) {
		b := newBench(t, open)
		var leaked pipeline.Tx
		b.update(func(tx pipeline.Tx) error { leaked = tx; return nil })
		if _, err := leaked.NextID(contract.KindIntent); err == nil {
			t.Error("it still answers")
		}
	})

	t.Run("a cancelled caller keeps nothing", func(t *testing.T) {
		b := newBench(t, open)
		ctx, cancel := context.WithCancel(t.Context())
		err := b.store.Update(ctx, func(tx pipeline.Tx) error {
			if _, err := b.chain(tx, "IC-001", contract.Draft); err != nil {
				return err
			}
			cancel()
			_, err := tx.Contract("IC-001")
			return err
		})
		if fault.KindOf(err) != fault.Unavailable || !errors.Is(err, context.Canceled) {
			t.Errorf("Update answered %v", err)
		}
		b.update(func(tx pipeline.Tx) error { _, err := b.chain(tx, "IC-001", contract.Draft); return err })
	})

	t.Run("of updates at the same time each keeps or loses its own", func(t *testing.T) {
		b := newBench(t, open)
		const writers = 24
		var kept atomic.Int64
		var mu sync.Mutex
		want := map[contract.ID]bool{}
		each(t, writers, func(i int) error {
			id := contract.NewID(contract.KindIntent, int64(i+1))
			err := b.store.Update(t.Context(), func(tx pipeline.Tx) error {
				if _, err := b.chain(tx, id, contract.Draft); err != nil {
					return err
				}
				if err := tx.Emit(created(tx, id, 1)); err != nil {
					return err
				}
				switch i % 3 {
				case 0:
					return errUndo
				case 1: // a statement that fails; going on after it must keep nothing
					if i%2 == 1 {
						_, _ = b.chain(tx, id, contract.Draft)
						return tx.Emit(created(tx, id, 1))
					}
				}
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			want[id] = err == nil
			if err == nil {
				kept.Add(1)
			}
			return nil
		})
		b.view(func(r pipeline.Reader) error {
			for id, there := range want {
				_, err := r.Contract(id)
				if absent := b.absent(err); absent == there {
					t.Errorf("%s is there: %v, its update succeeded: %v", id, !absent, there)
				}
			}
			_, last, err := r.EventRange()
			if last != kept.Load() {
				t.Errorf("%d updates were kept and %d events", kept.Load(), last)
			}
			return err
		})
	})
}
