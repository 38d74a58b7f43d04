package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

func events(t *testing.T, open Open) {
	t.Helper()
	t.Run("an event is read as it was emitted, with its places", func(t *testing.T) {
		b := newBench(t, open)
		b.bare("IC-001")
		var want event.Envelope
		b.update(func(tx pipeline.Tx) error {
			want = created(tx, "IC-001", 1)
			return tx.Emit(want)
		})
		b.view(func(r pipeline.Reader) error {
			got, err := r.Event(want.ID)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got.Envelope); diff != "" || got.Position != 1 || got.Sequence != 1 {
				t.Errorf("the event is %d/%d and differs (-want +got):\n%s", got.Position, got.Sequence, diff)
			}
			a, err := json.Marshal(want)
			if err != nil {
				return err
			}
			if g, err := json.Marshal(got.Envelope); err != nil || string(g) != string(a) {
				t.Errorf("it is written as %s, was %s (%v)", g, a, err)
			}
			if _, err := r.Event("intent.created.v1/IC-009/1"); !b.absent(err) {
				t.Error("an event was found that never happened")
			}
			return nil
		})
	})

	t.Run("what is no event, and what was emitted before, is refused", func(t *testing.T) {
		b := newBench(t, open)
		b.bare("IC-001")
		b.update(func(tx pipeline.Tx) error { return tx.Emit(created(tx, "IC-001", 1)) })
		b.refuse(fault.NotFound, func(tx pipeline.Tx) error { return tx.Emit(created(tx, "IC-009", 1)) })
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error {
			e := created(tx, "IC-001", 2)
			e.Type = "intent.deleted.v1"
			return tx.Emit(e)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.Emit(created(tx, "IC-001", 1)) })
		b.view(func(r pipeline.Reader) error {
			first, last, err := r.EventRange()
			if first != 1 || last != 1 {
				t.Errorf("the events are %d to %d", first, last)
			}
			return err
		})
	})

	t.Run("nothing has happened in an empty store", func(t *testing.T) {
		b := newBench(t, open)
		b.view(func(r pipeline.Reader) error {
			first, last, err := r.EventRange()
			if first != 1 || last != 0 {
				t.Errorf("the events are %d to %d", first, last)
			}
			return err
		})
	})

	t.Run("events are read behind a position and filtered", func(t *testing.T) {
		b := newBench(t, open)
		b.bare("IC-001", "IC-002")
		for i := range 3 {
			b.update(func(tx pipeline.Tx) error {
				for _, id := range []contract.ID{"IC-001", "IC-002"} {
					if err := tx.Emit(created(tx, id, int64(i+1))); err != nil {
						return err
					}
				}
				return nil
			})
		}
		b.view(func(r pipeline.Reader) error {
			for _, want := range []struct {
				after  int64
				filter pipeline.EventFilter
				limit  int
				places string
			}{
				{0, pipeline.EventFilter{}, 0, "1:IC-001/1 2:IC-002/1 3:IC-001/2 4:IC-002/2 5:IC-001/3 6:IC-002/3 "},
				{2, pipeline.EventFilter{}, 2, "3:IC-001/2 4:IC-002/2 "},
				{0, pipeline.EventFilter{Chains: []contract.ID{"IC-002"}}, 2, "2:IC-002/1 4:IC-002/2 "},
				{4, pipeline.EventFilter{Subjects: []contract.ID{"IC-001"}, Types: []event.Type{event.IntentCreated}}, 0, "5:IC-001/3 "},
				{0, pipeline.EventFilter{Types: []event.Type{event.GateCreated}}, 0, ""},
				{6, pipeline.EventFilter{}, 0, ""},
			} {
				list, err := r.Events(want.after, want.filter, want.limit)
				if err != nil {
					return err
				}
				got := ids(list, func(e pipeline.Event) string { return fmt.Sprintf("%d:%s/%d", e.Position, e.Origin.Chain, e.Sequence) })
				if got != want.places {
					t.Errorf("behind %d: %s, want %s", want.after, got, want.places)
				}
			}
			return nil
		})
	})

	t.Run("positions are without gaps and in the order of the commits, whoever writes", func(t *testing.T) {
		b := newBench(t, open)
		const writers, rounds = 6, 5
		b.bare("IC-001", "IC-002", "IC-003")
		each(t, writers, func(i int) error {
			chain := contract.NewID(contract.KindIntent, int64(i/2+1)) // two writers for each chain
			for n := range rounds {
				version := int64(i%2*rounds + n + 1)
				var before int64
				err := b.store.Update(t.Context(), func(tx pipeline.Tx) error {
					_, last, err := tx.EventRange()
					if err != nil {
						return err
					}
					before = last
					if n == 2 { // one that is undone leaves no gap
						return errUndo
					}
					return tx.Emit(created(tx, chain, version))
				})
				if errors.Is(err, errUndo) {
					continue
				}
				if err != nil {
					return err
				}
				err = b.store.View(t.Context(), func(r pipeline.Reader) error {
					e, err := r.Event(created(r, chain, version).ID)
					if err == nil && e.Position <= before {
						t.Errorf("%s is at %d, although %d was there before", e.ID, e.Position, before)
					}
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		b.view(func(r pipeline.Reader) error {
			list, err := r.Events(0, pipeline.EventFilter{}, 0)
			if err != nil {
				return err
			}
			if len(list) != writers*(rounds-1) {
				t.Errorf("%d events were kept", len(list))
			}
			sequence := map[string]int64{}
			for i, e := range list {
				sequence[e.Origin.Chain]++
				if e.Position != int64(i+1) || e.Sequence != sequence[e.Origin.Chain] {
					t.Errorf("event %d is at %d, %d of %s", i+1, e.Position, e.Sequence, e.Origin.Chain)
				}
			}
			return nil
		})
	})
}

var errUndo = fault.E("test", fault.Invalid, "undo it", nil)
