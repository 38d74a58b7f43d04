package queue_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/postgres/pgtest"
)

// running starts a queue and answers how to stop it and what it ended with.
func running(t *testing.T, n *node) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// soon waits for a signal that must come.
func soon[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

func TestARunningQueueWorksWhatIsCommitted(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			done := make(chan string, 10)
			n := start(t, at, queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: func(_ context.Context, a pipeline.Attempt) error {
				done <- a.Key
				return nil
			}}}})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "before"})
			stop := running(t, n)
			if got := soon(t, done, "the job from before the start"); got != "before" {
				t.Errorf("it worked %s", got)
			}
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "after"})
			soon(t, done, "the job from after the start")
			due := time.Now().Add(300 * time.Millisecond)
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "later", At: due})
			soon(t, done, "the job that was scheduled")
			if late := time.Since(due); late < 0 || late > 3*time.Second {
				t.Errorf("it started %v after it was due", late)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAStopWaitsForWhatRunsAndTakesNothingMore(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			started, release := make(chan string, 10), make(chan struct{})
			kinds := []queue.Kind{{Name: "judge", Work: func(_ context.Context, a pipeline.Attempt) error {
				started <- fmt.Sprintf("%s#%d", a.Key, a.Number)
				<-release
				return nil
			}}}
			n := start(t, at, queue.Config{Kinds: kinds, Workers: 1})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}, pipeline.Job{Kind: "judge", Key: "b"})
			stop := running(t, n)
			soon(t, started, "the first job")
			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			select {
			case err := <-stopped:
				t.Fatalf("it stopped while a job ran: %v", err)
			case <-time.After(100 * time.Millisecond):
			}
			close(release)
			if err := soon(t, stopped, "the stop"); err != nil {
				t.Error(err)
			}
			if len(started) > 0 {
				t.Errorf("it took %s after it was asked to stop", <-started)
			}

			d := &diary{now: time.Now().Add(time.Minute)}
			if err := n.close(); err != nil {
				t.Fatal(err)
			}
			n.close = func() error { return nil }
			next := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			drain(t, next)
			if got := d.read(); !strings.HasSuffix(got, " b#1") || strings.Contains(got, "a#") {
				t.Errorf("what was left over is %q, want b alone", got)
			}
		})
	}
}

func TestASecondSignalGivesWhatRunsBackUncounted(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			started := make(chan struct{}, 1)
			n := start(t, at, queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: func(ctx context.Context, _ pipeline.Attempt) error {
				started <- struct{}{}
				<-ctx.Done()
				return fault.E("test", fault.Unavailable, "cancelled", ctx.Err())
			}, Retry: generation}}})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"})
			stop := running(t, n)
			soon(t, started, "the job")
			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			if err := n.Abort(t.Context()); err != nil {
				t.Error(err)
			}
			if err := soon(t, stopped, "the stop"); err != nil {
				t.Error(err)
			}
			if err := n.close(); err != nil {
				t.Fatal(err)
			}
			n.close = func() error { return nil }
			d := &diary{now: time.Now().Add(time.Minute)}
			next := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			drain(t, next)
			if got := d.read(); !strings.HasSuffix(got, " a#1") {
				t.Errorf("it was called %q, want its first attempt again", got)
			}
		})
	}
}

func TestANodeThatWasDeclaredDeadStops(t *testing.T) {
	at := address(pgtest.New(t))
	cancelled := make(chan struct{}, 1)
	started := make(chan struct{}, 1)
	n := start(t, at, queue.Config{Node: "frozen", Beat: 50 * time.Millisecond, Silence: time.Hour, Kinds: []queue.Kind{{Name: "judge", Work: func(ctx context.Context, _ pipeline.Attempt) error {
		started <- struct{}{}
		<-ctx.Done()
		cancelled <- struct{}{}
		return ctx.Err()
	}}}})
	n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"})
	ended := make(chan error, 1)
	go func() { ended <- n.Run(t.Context()) }()
	soon(t, started, "the job")
	if err := n.store.Leave(t.Context(), "frozen"); err != nil { // what a burial does
		t.Fatal(err)
	}
	soon(t, cancelled, "the end of the job")
	if err := soon(t, ended, "the end of the node"); !errors.Is(err, pipeline.ErrLeaseLost) {
		t.Errorf("it ended with %v", err)
	}
}

func TestAnUpdateOfADeadNodeIsRefused(t *testing.T) {
	db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.New(t.Context(), db, store.Config{
		Enqueue: (&queue.Inserter{}).Enqueue, Origin: "plimsoll.test/log", Node: "a",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	update := func() error { return s.Update(t.Context(), func(pipeline.Tx) error { return nil }) }
	allowed := func(when string) {
		t.Helper()
		if err := update(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	allowed("before its first beat")
	if err := s.Beat(t.Context(), "a", true); err != nil {
		t.Fatal(err)
	}
	allowed("while it lives")
	if _, err := s.Bury(t.Context(), -time.Minute, func(context.Context, *sql.Tx, string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := update(); !errors.Is(err, pipeline.ErrLeaseLost) {
		t.Errorf("when it is dead: %v", err)
	}
	if err := s.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	allowed("when it has left")
}
