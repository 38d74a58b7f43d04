package storetest

import (
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/store"
)

// condition is what people who look after the service see of the store.
func condition(t *testing.T, open Open) {
	t.Helper()
	t.Run("nodes are seen with their program and their last beat", func(t *testing.T) {
		b := newBenchWith(t, open, store.Config{Version: "1.2.3"})
		for _, node := range []string{"a", "b"} {
			if err := b.store.Beat(t.Context(), node, true); err != nil {
				t.Fatal(err)
			}
		}
		b.at(10 * time.Second)
		if err := b.store.Beat(t.Context(), "b", false); err != nil {
			t.Fatal(err)
		}
		c, err := b.store.Condition(t.Context())
		if err != nil || len(c.Nodes) != 2 || c.Size <= 0 || c.Database == "" || !c.At.Equal(start.Add(10*time.Second)) {
			t.Fatalf("%+v %v", c, err)
		}
		for i, seen := range []time.Time{start, start.Add(10 * time.Second)} {
			if n := c.Nodes[i]; n.Version != "1.2.3" || !n.Started.Equal(start) || !n.Seen.Equal(seen) {
				t.Errorf("%+v, want to be seen at %s", n, seen)
			}
		}
		if c.FirstEvent != 1 || c.LastEvent != 0 {
			t.Errorf("events %d to %d of none", c.FirstEvent, c.LastEvent)
		}
	})

	t.Run("what a subscriber did not take is told with the oldest of it", func(t *testing.T) {
		b := newBench(t, open)
		emit(b, "IC-001/1", "IC-002/1", "IC-001/2")
		for _, id := range []string{"wh-1", "wh-2"} {
			b.update(func(tx pipeline.Tx) error { return tx.CreateWebhook(hook(id)) })
		}
		b.update(func(tx pipeline.Tx) error {
			for _, id := range []string{"wh-1", "wh-2"} {
				if _, err := tx.Plan(id, 10); err != nil {
					return err
				}
			}
			list, err := tx.Deliveries(pipeline.DeliveryFilter{Webhook: "wh-1"}, 0, 10)
			if err != nil {
				return err
			}
			for i, d := range list { // the newest first; the newest was not tried
				if i == 0 {
					continue
				}
				d.Attempts, d.LastStatus, d.LastError, d.NextAt = int64(i), 500+i, "no", start.Add(time.Duration(i)*time.Hour)
				if err := tx.UpdateDelivery(d); err != nil {
					return err
				}
			}
			return nil
		})
		c, err := b.store.Condition(t.Context())
		want := store.Failing{Webhook: "wh-1", URL: hook("wh-1").URL, Deliveries: 2, Attempts: 2, LastStatus: 502, LastError: "no", NextAt: start.Add(2 * time.Hour)}
		if err != nil || len(c.Failing) != 1 || c.Failing[0] != want || c.Webhooks != 2 || c.FirstEvent != 1 || c.LastEvent != 3 {
			t.Errorf("%+v %v, want %+v", c, err, want)
		}
	})
}
