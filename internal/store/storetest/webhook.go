package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

func webhooks(t *testing.T, open Open) {
	t.Helper()
	t.Run("a webhook is read as it was written", func(t *testing.T) {
		b := newBench(t, open)
		want := hook("wh-1")
		want.Types, want.Subjects = []event.Type{event.GateCreated, event.GateDecided}, []contract.ID{"PG-001"}
		b.update(func(tx pipeline.Tx) error { return tx.CreateWebhook(want) })
		b.update(func(tx pipeline.Tx) error {
			want.OldSecret, want.OldSecretUntil, want.Secret, want.Enabled = want.Secret, start.Add(24*time.Hour), []byte{0, 255}, false
			return tx.UpdateWebhook(want)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { old := hook("wh-1"); old.Revision = 1; return tx.UpdateWebhook(old) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.CreateWebhook(hook("wh-1")) })
		b.view(func(r pipeline.Reader) error {
			got, err := r.Webhook("wh-1")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the webhook differs (-want +got):\n%s", diff)
			}
			list, err2 := r.Webhooks(pipeline.Page{})
			if len(list) != 1 || err2 != nil {
				t.Errorf("the webhooks are %v (%v)", list, err2)
			}
			return err
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.DeleteWebhook("wh-1", 1) })
		b.update(func(tx pipeline.Tx) error { return tx.DeleteWebhook("wh-1", 2) })
		b.view(func(r pipeline.Reader) error {
			if _, err := r.Webhook("wh-1"); !b.absent(err) {
				t.Error("wh-1 is still there")
			}
			return nil
		})
	})

	t.Run("what is due keeps the order of each chain and of no other", func(t *testing.T) {
		b := newBench(t, open)
		emit(b, "IC-001/1", "IC-001/2", "IC-002/1", "IC-001/3")
		b.update(func(tx pipeline.Tx) error { return tx.CreateWebhook(hook("wh-1")) })
		b.update(func(tx pipeline.Tx) error {
			n, err := tx.Plan("wh-1", 3)
			if n != 3 {
				t.Errorf("planned %d events", n)
			}
			return err
		})
		due := func(want string) []pipeline.Delivery {
			t.Helper()
			var list []pipeline.Delivery
			b.view(func(r pipeline.Reader) (err error) {
				list, err = r.Due("wh-1", 10)
				return err
			})
			if got := places(list); got != want {
				t.Errorf("due are %s, want %s", got, want)
			}
			return list
		}
		list := due("1:IC-001 3:IC-002 ")
		b.update(func(tx pipeline.Tx) error { // the first one fails and holds up its own chain only
			d := list[0]
			d.Attempts, d.LastStatus, d.LastError, d.NextAt = 1, 503, "no answer", start.Add(time.Second)
			if err := tx.UpdateDelivery(d); err != nil {
				return err
			}
			d = list[1]
			d.Attempts, d.LastStatus, d.Status, d.NextAt, d.DeliveredAt = 1, 204, pipeline.DeliveryDelivered, time.Time{}, tx.Now()
			return tx.UpdateDelivery(d)
		})
		due("")
		b.at(time.Second)
		list = due("1:IC-001 ")
		if d := list[0]; d.Attempts != 1 || d.LastStatus != 503 || d.LastError != "no answer" || d.EventID != "intent.created.v1/IC-001/1" {
			t.Errorf("the delivery is %+v", d)
		}
		b.update(func(tx pipeline.Tx) error {
			d := list[0]
			d.Status, d.NextAt, d.DeliveredAt = pipeline.DeliveryDelivered, time.Time{}, tx.Now()
			return tx.UpdateDelivery(d)
		})
		due("2:IC-001 ")
		b.update(func(tx pipeline.Tx) error {
			if n, err := tx.Plan("wh-1", 10); n != 1 || err != nil {
				t.Errorf("planned %d more events (%v)", n, err)
			}
			n, err := tx.Plan("wh-1", 10)
			if n != 0 {
				t.Errorf("planned %d events that never happened", n)
			}
			return err
		})
		b.view(func(r pipeline.Reader) error {
			all, err := r.Deliveries(pipeline.DeliveryFilter{Webhook: "wh-1"}, 0, 0)
			if err != nil {
				return err
			}
			some, err := r.Deliveries(pipeline.DeliveryFilter{Webhook: "wh-1", Statuses: []pipeline.DeliveryStatus{pipeline.DeliveryPending}}, 4, 5)
			if got := places(all) + "| " + places(some); got != "4:IC-001 3:IC-002 2:IC-001 1:IC-001 | 2:IC-001 " {
				t.Errorf("the deliveries are %s", got)
			}
			h, err2 := r.Webhook("wh-1")
			if err2 != nil || h.Cursor != 4 || h.Revision != 1 {
				t.Errorf("the webhook stands at %+v (%v)", h, err2)
			}
			return err
		})
	})

	t.Run("a webhook gets what it asked for, and again when it is rewound", func(t *testing.T) {
		b := newBench(t, open)
		emit(b, "IC-001/1", "IC-002/1", "IC-001/2")
		b.update(func(tx pipeline.Tx) error {
			h := hook("wh-1")
			h.Cursor, h.Subjects, h.Types = 1, []contract.ID{"IC-001"}, []event.Type{event.IntentCreated}
			if err := tx.CreateWebhook(h); err != nil {
				return err
			}
			_, err := tx.Plan("wh-1", 10)
			return err
		})
		planned := func(want string) {
			t.Helper()
			b.view(func(r pipeline.Reader) error {
				list, err := r.Deliveries(pipeline.DeliveryFilter{Webhook: "wh-1"}, 0, 0)
				if got := places(list); got != want {
					t.Errorf("planned are %s, want %s", got, want)
				}
				return err
			})
		}
		planned("3:IC-001 ")
		b.update(func(tx pipeline.Tx) error {
			if err := tx.Rewind("wh-1", 0); err != nil {
				return err
			}
			_, err := tx.Plan("wh-1", 10)
			return err
		})
		planned("3:IC-001 1:IC-001 ")
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.Rewind("wh-9", 0) })
		b.refuse(fault.NotFound, func(tx pipeline.Tx) error { _, err := tx.Plan("wh-9", 1); return err })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error {
			return tx.UpdateDelivery(pipeline.Delivery{Webhook: "wh-1", Position: 2, Status: pipeline.DeliveryPending, NextAt: start})
		})
	})
}

// hook is a webhook that gets everything.
func hook(id string) *pipeline.Webhook {
	return &pipeline.Webhook{
		ID: id, URL: "https://example.org/" + id, Secret: []byte("s"), Types: []event.Type{}, Subjects: []contract.ID{}, Enabled: true,
		CreatedAt: start, UpdatedAt: start,
	}
}

// emit makes two chains and emits events of them, named "IC-001/1".
func emit(b *bench, places ...string) {
	b.Helper()
	b.bare("IC-001", "IC-002")
	for _, place := range places {
		b.update(func(tx pipeline.Tx) error {
			var id contract.ID
			var version int64
			if _, err := fmt.Sscanf(place, "%6s/%d", &id, &version); err != nil {
				return err
			}
			return tx.Emit(created(tx, id, version))
		})
	}
}

// places is where deliveries are, with their chains.
func places(list []pipeline.Delivery) string {
	return ids(list, func(d pipeline.Delivery) string { return fmt.Sprintf("%d:%s", d.Position, d.Chain) })
}
