package queue_test

import (
	"errors"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
)

func TestTheQueueSaysWhatItHoldsOfEachKind(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			d, bad := &diary{now: noon}, &diary{now: noon}
			n := start(t, db.make(t), queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "generate", Work: d.work}, {Name: "judge", Work: bad.work}}})
			expect := func(kind pipeline.JobKind, want queue.Load) {
				t.Helper()
				list, err := queue.Loads(t.Context(), n.read)
				if err != nil {
					t.Fatal(err)
				}
				got := queue.Load{}
				for _, l := range list {
					if l.Kind == kind {
						got = l
					}
				}
				if got.LastGone.IsZero() != (got.GivenUp == 0) {
					t.Errorf("%+v", got)
				}
				got.LastGone = want.LastGone
				if want.Kind = kind; got != want {
					t.Errorf("%+v, want %+v", got, want)
				}
			}
			n.enqueue(t, pipeline.Job{Kind: "generate", Key: "a"}, pipeline.Job{Kind: "generate", Key: "later", At: noon.Add(time.Hour)})
			d.at(40 * time.Second)
			n.enqueue(t, pipeline.Job{Kind: "generate", Key: "b"})
			expect("generate", queue.Load{Waiting: 2, Later: 1, Oldest: noon})
			bad.answers = []error{errors.New("no")}
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"})
			drain(t, n)
			expect("generate", queue.Load{Later: 1})
			expect("judge", queue.Load{GivenUp: 1})
		})
	}
}
