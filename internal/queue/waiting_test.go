package queue_test

import (
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
)

func TestTheQueueSaysHowLongTheFirstJobHasWaited(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			d := &diary{now: noon}
			n := start(t, db.make(t), queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "generate", Work: d.work}}})
			expect := func(many int64, long time.Duration) {
				t.Helper()
				got, oldest, err := n.Waiting(t.Context())
				if err != nil || got != many || oldest.Round(time.Second) != long {
					t.Errorf("%d jobs for %v, want %d for %v: %v", got, oldest, many, long, err)
				}
			}
			expect(0, 0)
			n.enqueue(t, pipeline.Job{Kind: "generate", Key: "a"}, pipeline.Job{Kind: "generate", Key: "later", At: noon.Add(time.Hour)})
			d.at(40 * time.Second)
			n.enqueue(t, pipeline.Job{Kind: "generate", Key: "b"})
			expect(2, 40*time.Second)
			drain(t, n)
			expect(0, 0)
		})
	}
}
