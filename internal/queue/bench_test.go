package queue_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/store/postgres/pgtest"
)

// noops measures the jobs per second of a queue whose jobs do nothing: the
// floor everything else is compared with. All are enqueued before it starts.
func noops(b *testing.B, at address) {
	b.Helper()
	const jobs = 2000
	for range b.N {
		done := make(chan struct{}, jobs)
		n, err := open(b.Context(), at, queue.Config{Workers: 64, Kinds: []queue.Kind{{Name: "noop", Work: func(context.Context, pipeline.Attempt) error {
			done <- struct{}{}
			return nil
		}}}})
		if err != nil {
			b.Fatal(err)
		}
		err = n.store.Update(b.Context(), func(tx pipeline.Tx) error {
			for range jobs {
				if err := tx.Enqueue(pipeline.Job{Kind: "noop"}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		began := time.Now()
		go func() { ended <- n.Run(ctx) }()
		for range jobs {
			<-done
		}
		b.ReportMetric(jobs/time.Since(began).Seconds(), "jobs/s")
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		if err := n.close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNoopJobsSQLite(b *testing.B) {
	noops(b, address(filepath.Join(b.TempDir(), "plimsoll.db")))
}

func BenchmarkNoopJobsPostgres(b *testing.B) { noops(b, address(pgtest.New(b))) }

// updates measures changes per second: each writes a chain and a job and is
// on the disk when it is reported.
func updates(b *testing.B, at address, writers int) {
	b.Helper()
	n, err := open(b.Context(), at, queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: (&diary{}).work}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = n.close() })
	next := make(chan int64)
	errs := make(chan error, writers)
	b.ResetTimer()
	for range writers {
		go func() {
			var failed error
			for i := range next {
				if failed == nil {
					failed = makeChain(b.Context(), n.store, i)
				}
			}
			errs <- failed
		}()
	}
	for i := range b.N {
		next <- int64(i + 1)
	}
	close(next)
	for range writers {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
}

func BenchmarkUpdates(b *testing.B) {
	for _, writers := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("sqlite/%d", writers), func(b *testing.B) {
			updates(b, address(filepath.Join(b.TempDir(), "plimsoll.db")), writers)
		})
		b.Run(fmt.Sprintf("postgres/%d", writers), func(b *testing.B) { updates(b, address(pgtest.New(b)), writers) })
	}
}

// work runs a queue beside a benchmark until the benchmark ends.
func work(b *testing.B, n *node) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := n.close(); err != nil {
			b.Error(err)
		}
	})
}

// BenchmarkEffect measures from the call that changes something to the start of
// the job that reacts to it, one at a time.
func BenchmarkEffect(b *testing.B) {
	for _, db := range databases {
		b.Run(db.name, func(b *testing.B) {
			done := make(chan time.Time, 1)
			n, err := open(b.Context(), db.make(b), queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: func(context.Context, pipeline.Attempt) error {
				done <- time.Now()
				return nil
			}}}})
			if err != nil {
				b.Fatal(err)
			}
			work(b, n)
			took := make([]time.Duration, 0, b.N)
			for i := range b.N {
				began := time.Now()
				if err := makeChain(b.Context(), n.store, int64(i+1)); err != nil {
					b.Fatal(err)
				}
				took = append(took, (<-done).Sub(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkRestart measures from the start of a process to its first effect
// with 100,000 jobs waiting.
func BenchmarkRestart(b *testing.B) {
	for _, db := range databases {
		b.Run(db.name, func(b *testing.B) {
			at := db.make(b)
			n, err := open(b.Context(), at, queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: (&diary{}).work}}})
			if err != nil {
				b.Fatal(err)
			}
			for range 100 {
				err := n.store.Update(b.Context(), func(tx pipeline.Tx) error {
					for range 1000 {
						if err := tx.Enqueue(pipeline.Job{Kind: "judge"}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			if err := n.close(); err != nil {
				b.Fatal(err)
			}
			for range b.N {
				first := make(chan struct{}, 1)
				began := time.Now()
				n, err := open(b.Context(), at, queue.Config{Workers: 1, Kinds: []queue.Kind{{Name: "judge", Work: func(context.Context, pipeline.Attempt) error {
					select {
					case first <- struct{}{}:
					default:
					}
					return nil
				}}}})
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(b.Context())
				ended := make(chan error, 1)
				go func() { ended <- n.Run(ctx) }()
				<-first
				b.ReportMetric(time.Since(began).Seconds(), "s-to-first-effect")
				cancel()
				if err := <-ended; err != nil {
					b.Fatal(err)
				}
				if err := n.close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
