package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/store/postgres/pgtest"
)

// generation is the schedule of docs/spec/contracts.md §4.4.
var generation = []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second}

func drain(t *testing.T, n *node) {
	t.Helper()
	if _, err := n.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestARetryStartsExactlyWhenItIsDue(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "generate", Work: d.work, Retry: generation}}})
			bad := errors.New("the output has no plan")
			d.answers = []error{bad, bad, bad, bad}
			n.enqueue(t, pipeline.Job{Kind: "generate", Key: "IC-001:1:TaskSeed"})
			for _, step := range []struct {
				at   time.Duration
				want string
			}{
				{0, "0s IC-001:1:TaskSeed#1"},
				{30*time.Second - time.Millisecond, ""},
				{30 * time.Second, "30s IC-001:1:TaskSeed#2"},
				{90*time.Second - time.Millisecond, ""},
				{90 * time.Second, "1m30s IC-001:1:TaskSeed#3"},
				{210*time.Second - time.Millisecond, ""},
				{210 * time.Second, "3m30s IC-001:1:TaskSeed#4!"},
				{24 * time.Hour, ""},
			} {
				d.at(step.at)
				drain(t, n)
				if got := d.read(); got != step.want {
					t.Errorf("after %v: %q, want %q", step.at, got, step.want)
				}
			}
		})
	}
}

func TestOnlyItsOwnFailuresCount(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{
				{Name: "generate", Work: d.work, Retry: generation},
				{Name: "panic", Work: func(ctx context.Context, a pipeline.Attempt) error { _ = d.work(ctx, a); panic("a broken invariant") }, Retry: generation[:1]},
				{Name: "slow", Work: func(ctx context.Context, a pipeline.Attempt) error {
					_ = d.work(ctx, a)
					<-ctx.Done()
					return fault.E("test", fault.Unavailable, "it took too long", ctx.Err())
				}, Retry: generation[:1], Timeout: time.Millisecond},
			}})
			steps := func(job pipeline.Job, want ...string) {
				t.Helper()
				n.enqueue(t, job)
				for i, at := range []time.Duration{0, time.Second, 31 * time.Second, 32 * time.Second, 200 * time.Second} {
					d.at(at)
					drain(t, n)
					if got := d.read(); got != want[i] {
						t.Errorf("%s after %v: %q, want %q", job.Key, at, got, want[i])
					}
				}
				d.at(0)
			}
			d.answers = []error{
				fault.E("test", fault.Unavailable, "the database is away", nil),
				errors.New("no plan"),
				&pipeline.Again{After: time.Second, Err: errors.New("the lock is held")},
				errors.New("no plan"),
			}
			steps(pipeline.Job{Kind: "generate", Key: "a"}, "0s a#1", "1s a#1", "31s a#2", "32s a#2", "3m20s a#3")
			steps(pipeline.Job{Kind: "panic", Key: "b"}, "0s b#1", "", "31s b#2!", "", "")
			steps(pipeline.Job{Kind: "slow", Key: "c"}, "0s c#1", "", "31s c#2!", "", "")
		})
	}
}

func TestAJobIsCarriedWholeAndStartsNoSoonerThanItMay(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			var got []pipeline.Attempt
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "expire_gate", Work: func(_ context.Context, a pipeline.Attempt) error {
				got = append(got, a)
				return nil
			}}}})
			due := noon.Add(24*time.Hour + time.Millisecond)
			n.enqueue(t, pipeline.Job{Kind: "expire_gate", Key: "PG-001", Chain: "IC-001", Args: []byte(`{"id": "PG-001", "text": "ä<&>"}`), At: due})
			d.at(24 * time.Hour)
			drain(t, n)
			if len(got) != 0 {
				t.Errorf("it started at %v, due is %v", d.clock(), due)
			}
			d.at(24*time.Hour + time.Millisecond)
			drain(t, n)
			if len(got) != 1 || got[0].Kind != "expire_gate" || got[0].Key != "PG-001" || got[0].Chain != "IC-001" || !got[0].At.Equal(due) || got[0].Number != 1 || !got[0].Last {
				t.Errorf("it was called with %+v", got)
			}
			if len(got) == 1 && !sameJSON(got[0].Args, []byte(`{"id": "PG-001", "text": "ä<&>"}`)) {
				t.Errorf("its arguments are %s", got[0].Args)
			}
			for _, args := range []string{`{`, `{"text":"\u0000"}`} {
				if err := n.try(t, pipeline.Job{Kind: "expire_gate", Args: []byte(args)}); err == nil {
					t.Errorf("the arguments %s were taken", args)
				}
			}
		})
	}
}

func TestAKeyIsUsedOnce(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}, {Name: "gate", Work: d.work, Retry: generation}}})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}, pipeline.Job{Kind: "judge", Key: "a", Args: []byte(`{"other":1}`)})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}, pipeline.Job{Kind: "judge", Key: "b"}, pipeline.Job{Kind: "gate", Key: "a"})
			drain(t, n)
			if got := d.read(); got != "0s a#1, 0s b#1, 0s a#1" {
				t.Errorf("it was called %q", got)
			}
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}) // it is done, not forgotten
			n.enqueue(t, pipeline.Job{Kind: "judge"}, pipeline.Job{Kind: "judge"})
			drain(t, n)
			if got := d.read(); got != "0s #1, 0s #1" {
				t.Errorf("then it was called %q", got)
			}
		})
	}
}

func TestAJobExistsWithItsTransactionOnly(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			undo := errors.New("undo")
			err := n.store.Update(t.Context(), func(tx pipeline.Tx) error {
				if err := tx.Enqueue(pipeline.Job{Kind: "judge", Key: "a"}); err != nil {
					return err
				}
				return undo
			})
			if !errors.Is(err, undo) {
				t.Fatal(err)
			}
			drain(t, n)
			if got := d.read(); got != "" {
				t.Errorf("a job that was undone was called: %s", got)
			}
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}) // its key is free
			drain(t, n)
			if got := d.read(); got != "0s a#1" {
				t.Errorf("it was called %q", got)
			}
		})
	}
}

func TestAKindNobodyKnowsWaits(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			old := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			old.enqueue(t, pipeline.Job{Kind: "from_the_future", Key: "a"}, pipeline.Job{Kind: "judge", Key: "b"})
			drain(t, old)
			if got := d.read(); got != "0s b#1" {
				t.Errorf("it was called %q", got)
			}
		})
	}
}

func TestTheTableOfKindsIsChecked(t *testing.T) {
	work := func(context.Context, pipeline.Attempt) error { return nil }
	for name, kinds := range map[string][]queue.Kind{
		"twice": {{Name: "a", Work: work}, {Name: "a", Work: work}}, "nameless": {{Work: work}}, "idle": {{Name: "a"}},
	} {
		if _, err := queue.New(queue.Driver{}, queue.Config{Node: "n", Kinds: kinds}); err == nil {
			t.Errorf("a kind that is %s was taken", name)
		}
	}
}

func TestNodesThatStartTogetherMigrateOnce(t *testing.T) {
	at := address(pgtest.New(t))
	errs := make(chan error, 4)
	for i := range cap(errs) {
		go func() {
			n, err := open(t.Context(), at, queue.Config{Node: fmt.Sprint(i)})
			if err == nil {
				err = n.close()
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
