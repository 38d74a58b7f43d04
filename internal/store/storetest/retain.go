package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

func retention(t *testing.T, open Open) {
	t.Helper()
	const day = 24 * time.Hour

	t.Run("events are given up from the oldest on, and their chains count on", func(t *testing.T) {
		b := newBench(t, open)
		b.bare("IC-001", "IC-002")
		at := func(d time.Duration, id contract.ID, version int64) {
			t.Helper()
			b.at(d)
			b.update(func(tx pipeline.Tx) error { return tx.Emit(created(tx, id, version)) })
		}
		at(0, "IC-001", 1)
		at(day, "IC-002", 1)
		at(2*day, "IC-001", 2)
		at(3*day, "IC-002", 2)
		giveUp := func(before time.Duration, limit, want int) {
			t.Helper()
			b.update(func(tx pipeline.Tx) error {
				n, err := tx.GiveUpEvents(start.Add(before), limit)
				if n != want {
					t.Errorf("%d events were given up, want %d", n, want)
				}
				return err
			})
		}
		kept := func(first, last int64, want string) {
			t.Helper()
			b.view(func(r pipeline.Reader) error {
				list, err := r.Events(0, pipeline.EventFilter{}, 0)
				if err != nil {
					return err
				}
				got := ""
				for _, e := range list {
					got += fmt.Sprintf("%d:%s/%d ", e.Position, e.Origin.Chain, e.Sequence)
				}
				f, l, err := r.EventRange()
				if got != want || f != first || l != last {
					t.Errorf("kept are %s from %d to %d, want %s from %d to %d", got, f, l, want, first, last)
				}
				return err
			})
		}
		giveUp(0, 10, 0) // of exactly that instant is not before it
		giveUp(3*day, 1, 1)
		giveUp(3*day, 10, 2)
		giveUp(3*day, 10, 0)
		kept(4, 4, "4:IC-002/2 ")
		at(4*day, "IC-001", 3)
		kept(4, 5, "4:IC-002/2 5:IC-001/3 ")
		giveUp(10*day, 10, 2)
		kept(6, 5, "")
		at(5*day, "IC-002", 3)
		kept(6, 6, "6:IC-002/3 ")
	})

	t.Run("what a webhook has still to get stays, and one that is off keeps nothing", func(t *testing.T) {
		b := newBench(t, open)
		emit(b, "IC-001/1", "IC-001/2", "IC-001/3", "IC-001/4")
		b.update(func(tx pipeline.Tx) error {
			on, off := hook("wh-on"), hook("wh-off")
			if err := tx.CreateWebhook(on); err != nil {
				return err
			}
			if err := tx.CreateWebhook(off); err != nil {
				return err
			}
			if _, err := tx.Plan("wh-on", 3); err != nil {
				return err
			}
			if _, err := tx.Plan("wh-off", 10); err != nil {
				return err
			}
			off.Enabled = false
			return tx.UpdateWebhook(off)
		})
		giveUp := func(want int) {
			t.Helper()
			b.update(func(tx pipeline.Tx) error {
				n, err := tx.GiveUpEvents(start.Add(day), 10)
				if n != want {
					t.Errorf("%d events were given up, want %d", n, want)
				}
				return err
			})
		}
		deliver := func(positions ...int64) {
			t.Helper()
			b.update(func(tx pipeline.Tx) error {
				for _, p := range positions {
					d := pipeline.Delivery{Webhook: "wh-on", Position: p, Status: pipeline.DeliveryDelivered, DeliveredAt: tx.Now()}
					if err := tx.UpdateDelivery(d); err != nil {
						return err
					}
				}
				return nil
			})
		}
		giveUp(0) // all of them are owed
		deliver(1, 3)
		giveUp(1) // the second holds up the third
		deliver(2)
		giveUp(2)
		giveUp(0) // the fourth is not even planned
		b.view(func(r pipeline.Reader) error {
			list, err := r.Deliveries(pipeline.DeliveryFilter{Webhook: "wh-off"}, 0, 0)
			if got := places(list); got != "4:IC-001 " {
				t.Errorf("the webhook that is off keeps %s", got)
			}
			return err
		})
	})

	t.Run("records are given up behind a seal, and the log goes on from it", func(t *testing.T) {
		b := newBench(t, open)
		write := func(n int) {
			t.Helper()
			b.update(func(tx pipeline.Tx) error {
				for range n {
					if err := tx.Record(record(tx, "looked", "IC-001")); err != nil {
						return err
					}
				}
				return nil
			})
		}
		write(6)
		var heads []event.Head
		b.view(func(r pipeline.Reader) error {
			from, note, err := r.Seal()
			if err != nil || note != nil || from != event.Genesis("plimsoll.test/log") {
				t.Errorf("the log begins at %v with %q (%v)", from, note, err)
			}
			lines, err := r.Audit(0, pipeline.AuditFilter{}, 0)
			for _, l := range lines {
				heads = append(heads, event.Head{Count: l.Position, Link: l.Link})
			}
			return err
		})
		b.update(func(tx pipeline.Tx) error { return tx.GiveUpRecords(heads[1], []byte("two")) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.GiveUpRecords(heads[1], []byte("again")) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			return tx.GiveUpRecords(event.Head{Count: 4, Link: heads[4].Link}, []byte("another log"))
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			return tx.GiveUpRecords(event.Head{Count: 7}, []byte("too far"))
		})
		b.update(func(tx pipeline.Tx) error { return tx.GiveUpRecords(heads[3], []byte("four")) })
		write(1)
		b.view(func(r pipeline.Reader) error {
			from, note, err := r.Seal()
			if err != nil || string(note) != "four" || from != heads[3] {
				t.Errorf("the log begins at %v with %q (%v)", from, note, err)
			}
			lines, err := r.Audit(0, pipeline.AuditFilter{}, 0)
			if err != nil {
				return err
			}
			left := []event.Chained{}
			for _, l := range lines {
				left = append(left, l.Chained)
			}
			to, err := event.Verify(from, slices.Values(left))
			if err != nil {
				return err
			}
			head, err := r.AuditHead()
			if head != to || head.Count != 7 || len(left) != 3 {
				t.Errorf("%d records lead to %v, the head is %v", len(left), to, head)
			}
			return err
		})
	})
}
