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
	cpu := clockOf(ctx, s.db.Write, p.name == "postgres")
	var t turns
	for i := -1; i < o.rounds; i++ {
		if i == 0 {
			t = turns{} // what came before was the warm-up
		}
		if err := t.take(ctx, s, cpu, o); err != nil {
			return err
		}
	}
	rate := middle(t.chains)
	b.say(middle(t.ratios) >= 0.6, p.name+": rate of chains to that of as many no-op jobs", two(middle(t.ratios)), "≥ 0.6")
	b.add(p.name+": chains a second; no-op jobs a second, one by one", fmt.Sprintf("%.1f; %.0f", rate, middle(t.floors)))
	b.add(p.name+": the same where all no-ops are there at the start", two(middle(t.batches)))
	if middle(t.here)+middle(t.there) > 0 {
		b.add(p.name+": the same in processor time", two(middle(t.shares)))
		b.add(p.name+": processor time of a chain, in the service and in a database server", ms(middle(t.here))+"; "+ms(middle(t.there)))
		b.add(p.name+": processor time of as many no-op jobs, there too", ms(middle(t.noHere))+"; "+ms(middle(t.noThere)))
	}
	b.add(p.name+": a chain is", t.work.String())

	s.board.taken()
	if err := s.paced(ctx, rate/2, o.half); err != nil {
		return err
	}
	took := s.board.taken()
	b.say(quantile(took, 99) < 100*time.Millisecond, fmt.Sprintf("%s: from event to effect at %.1f chains a second, p99", p.name, rate/2), ms(quantile(took, 99)), "< 100 ms")
	b.add(p.name+": the same, p50 and p95", ms(middle(took))+"; "+ms(quantile(took, 95)))
	return nil
}

// turns is what the turns of a comparison came to.
type turns struct {
	chains, floors, ratios, batches, shares []float64
	here, there, noHere, noThere            []time.Duration
	work                                    work
}

// take is one turn: chains, as many jobs that do nothing, and those once more,
// enqueued at once.
func (t *turns) take(ctx context.Context, s *service, cpu clock, o options) error {
	before := s.work()
	var took, single time.Duration
	chain, err := cpu.of(o.chains, func() (err error) {
		took, err = s.chains(ctx, o.chains, o.clients)
		return err
	})
	if err != nil {
		return err
	}
	t.work = s.work().since(before, o.chains)
	jobs := int(t.work.jobs) * o.chains
	noop, err := cpu.of(o.chains, func() (err error) {
		single, err = s.noops(ctx, jobs, 1, o.clients)
		return err
	})
	if err != nil {
		return err
	}
	batch, err := s.noops(ctx, jobs, jobs, 1)
	if err != nil {
		return err
	}
	t.chains = append(t.chains, float64(o.chains)/took.Seconds())
	t.floors = append(t.floors, float64(jobs)/single.Seconds())
	t.ratios = append(t.ratios, single.Seconds()/took.Seconds())
	t.batches = append(t.batches, batch.Seconds()/took.Seconds())
	t.shares = append(t.shares, float64(noop.sum())/float64(max(chain.sum(), 1)))
	t.here, t.there = append(t.here, chain.here), append(t.there, chain.there)
	t.noHere, t.noThere = append(t.noHere, noop.here), append(t.noThere, noop.there)
	return nil
}

// work is what a chain asks of the store and the queue.
type work struct{ jobs, updates, views, statements, waits int64 }

func (w work) since(before work, n int) work {
	of := func(now, then int64) int64 { return (now - then + int64(n)/2) / int64(n) }
	return work{
		of(w.jobs, before.jobs), of(w.updates, before.updates), of(w.views, before.views), of(w.statements, before.statements), of(w.waits, before.waits),
	}
}

func (w work) String() string {
	return fmt.Sprintf("%d updates, %d views, %d statements in %d waits, %d jobs", w.updates, w.views, w.statements, w.waits, w.jobs)
}

func (s *service) work() work {
	statements, waits := s.store.Statements()
	return work{s.board.jobs.Load(), s.asked.updates.Load(), s.asked.views.Load(), statements, waits}
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
