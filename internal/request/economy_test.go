package request_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/worker"
)

// gauge watches how many workers of each class run at the same time for one
// request.
type gauge struct {
	mu    sync.Mutex // guards now and most
	now   map[string]int
	most  map[constitution.Class]int
	pairs atomic.Int64 // how often two of different classes ran together
}

func (g *gauge) watch(c constitution.Class, e worker.Engine) worker.Engine {
	return worker.Func(func(t *worker.Task) (worker.Result, error) {
		key := t.Request.ID + " " + string(c)
		g.mu.Lock()
		g.now[key]++
		g.most[c] = max(g.most[c], g.now[key])
		other := constitution.Heavy
		if c == constitution.Heavy {
			other = constitution.Supporting
		}
		if g.now[t.Request.ID+" "+string(other)] > 0 {
			g.pairs.Add(1)
		}
		g.mu.Unlock()
		time.Sleep(5 * time.Millisecond) // so that runs overlap where they may
		g.mu.Lock()
		g.now[key]--
		g.mu.Unlock()
		return e.Work(t)
	})
}

// Many jobs of many requests at once, each of them twice: there is never more
// than one heavy and one supporting worker of a request at work.
func TestNeverMoreThanOneHeavyAndOneSupportingWorkerAtATime(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		g := &gauge{now: map[string]int{}, most: map[constitution.Class]int{}}
		w := newWorldAt(t, at, func(c *request.Config) {
			for _, spec := range c.Set.Set().Registry().Workers {
				c.Engines[spec.ID] = g.watch(spec.Class, c.Engines[spec.ID])
			}
		})
		ids := []string{}
		for i := range 8 {
			a := decision(fmt.Sprintf("Let us decide whether bed %d gets water, as the contract says.", i))
			a.id, a.flags = fmt.Sprintf("race-%d", i), []string{"location"}
			a.references = []envelope.Reference{{Kind: envelope.RefContract, ID: "git@example.org:app"}}
			ids = append(ids, a.id)
			must(w.Ask(t.Context(), as("olha"), a.document()))
		}
		var group sync.WaitGroup
		quit := make(chan struct{})
		for range 8 {
			group.Go(func() {
				for {
					select {
					case <-quit:
						return
					default:
					}
					j, ok := w.due()
					if !ok {
						time.Sleep(time.Millisecond)
						continue
					}
					if err := w.Work(t.Context(), pipeline.Attempt{Job: j.Job, Number: 1}); err != nil {
						w.back(j, 0)
					}
				}
			})
		}
		ended := func() bool {
			for _, id := range ids {
				if must(w.RequestGet(t.Context(), as("olha"), id)).State != request.Ended {
					return false
				}
			}
			return true
		}
		for limit := time.Now().Add(time.Minute); !ended(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Error("the requests do not end")
				break
			}
		}
		close(quit)
		group.Wait()
		for class, n := range g.most {
			if n > 1 {
				t.Errorf("%d %s workers of one request ran at the same time", n, class)
			}
		}
		for _, id := range ids {
			w.sound(must(w.RequestGet(t.Context(), as("olha"), id)))
		}
	})
}
