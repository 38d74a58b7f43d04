package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline"
)

// rate compares chains per second with as many jobs that do nothing, and then
// looks at how long effects take under half of that load.
func (b *report) rate(ctx context.Context, p place, o options) (err error) {
	at, err := p.make()
	if err != nil {
		return err
	}
	s, err := open(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	s.begin(ctx)
	if err := s.people(ctx); err != nil {
		return err
	}
	var ratios, batches, chains, floors []float64
	var work, floor []cost
	var shares []float64
	cpu := clockOf(ctx, s.db.Write, p.name == "postgres")
	jobs := int64(0)
	for i := -1; i < o.rounds; i++ {
		before := s.board.jobs.Load()
		var took, single time.Duration
		chain, err := cpu.of(o.chains, func() (err error) {
			took, err = s.chains(ctx, o.chains, o.clients)
			return err
		})
		if err != nil {
			return err
		}
		jobs = (s.board.jobs.Load() - before) / int64(o.chains)
		noop, err := cpu.of(o.chains, func() (err error) {
			single, err = s.noops(ctx, int(jobs)*o.chains, 1, o.clients)
			return err
		})
		if err != nil {
			return err
		}
		batch, err := s.noops(ctx, int(jobs)*o.chains, int(jobs)*o.chains, 1)
		if err != nil {
			return err
		}
		if i < 0 {
			continue // warm-up
		}
		ratios = append(ratios, single.Seconds()/took.Seconds())
		batches = append(batches, batch.Seconds()/took.Seconds())
		chains = append(chains, float64(o.chains)/took.Seconds())
		floors = append(floors, float64(jobs)*float64(o.chains)/single.Seconds())
		work, floor = append(work, chain), append(floor, noop)
		shares = append(shares, float64(noop.sum())/float64(chain.sum()))
	}
	rate := middle(chains)
	fmt.Printf("%-8s  %6.1f chains/s, %d jobs each; no-op jobs one by one %.0f/s; ratio %.2f (%.2f when all no-ops are there at the start)\n",
		p.name, rate, jobs, middle(floors), middle(ratios), middle(batches))
	if half := len(work) / 2; work[half].sum() > 0 {
		fmt.Printf("%-8s  processor time of a chain %s; of as many no-op jobs %s; ratio %.2f\n", p.name, work[half], floor[half], middle(shares))
	}
	b.say(middle(ratios) >= 0.6, "%s: %.1f chains/s are %.2f of the rate of as many no-op jobs (budget 0.6)", p.name, rate, middle(ratios))

	s.board.taken()
	if err := s.paced(ctx, rate/2, o.half); err != nil {
		return err
	}
	took := s.board.taken()
	fmt.Printf("%-8s  effect at %.1f chains/s: p50 %s, p95 %s, p99 %s of %d effects\n", p.name, rate/2, ms(middle(took)), ms(quantile(took, 95)), ms(quantile(took, 99)), len(took))
	b.say(quantile(took, 99) < 100*time.Millisecond, "%s: from event to effect p99 %s at half that load (budget 100 ms)", p.name, ms(quantile(took, 99)))
	return nil
}

// chains runs so many chains and answers how long all took.
func (s *service) chains(ctx context.Context, n, clients int) (time.Duration, error) {
	return together(n, clients, func() error { return s.chain(ctx) })
}

// noops enqueues n jobs that do nothing, so many in each transaction, and waits
// until all are done.
func (s *service) noops(ctx context.Context, n, each, clients int) (time.Duration, error) {
	began := time.Now()
	all := make(chan struct{})
	go func() {
		for range n {
			<-s.board.done
		}
		close(all)
	}()
	_, err := together(n/each, clients, func() error {
		return s.store.Update(ctx, func(tx pipeline.Tx) error {
			for range each {
				if err := tx.Enqueue(pipeline.Job{Kind: noop}); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	<-all
	return time.Since(began), nil
}

// together calls fn n times, from so many callers at once.
func together(n, callers int, fn func() error) (time.Duration, error) {
	turns := make(chan struct{}, n)
	for range n {
		turns <- struct{}{}
	}
	close(turns)
	began := time.Now()
	errs := make(chan error, callers)
	for range callers {
		go func() {
			var failed error
			for range turns {
				if failed == nil {
					failed = fn()
				}
			}
			errs <- failed
		}()
	}
	var err error
	for range callers {
		err = errors.Join(err, <-errs)
	}
	return time.Since(began), err
}

// paced begins chains at a rate, whether or not those before have ended.
func (s *service) paced(ctx context.Context, rate float64, during time.Duration) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	end := time.After(during)
	for {
		select {
		case <-end:
			all.Wait()
			return failed
		case <-tick.C:
		}
		all.Go(func() {
			if err := s.chain(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
			}
		})
	}
}
