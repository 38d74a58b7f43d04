package execution

import (
	"context"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline/lock"
	"plimsoll.dev/internal/pipeline/refusal"
)

// givenUp says whether an answer means that the run is no longer ours
// (docs/spec/contracts.md §4.5, §20.3).
func givenUp(err error) bool {
	switch refusal.CodeOf(err) {
	case refusal.LockLost, refusal.LockNotHolder, refusal.PhaseTimeout:
		return true
	default:
		return false
	}
}

// unanswered says whether nobody knows what became of a call.
func unanswered(err error) bool {
	switch refusal.CodeOf(err) {
	case "", refusal.StoreUnavailable, refusal.RequestInternal, refusal.RequestRateLimited, refusal.RequestInProgress:
		return true
	default:
		return false
	}
}

// barred says whether the service does not know the caller, or not as one who
// may: a token that has run out. It says nothing about the run, whose account
// waits for a caller who may deliver it.
func barred(err error) bool {
	code := string(refusal.CodeOf(err))
	return strings.HasPrefix(code, "auth.") || strings.HasPrefix(code, "role.")
}

// pulse keeps the lock of a run until it is stopped.
type pulse struct {
	over chan string // gets one sentence when the command has to end
	stop context.CancelFunc
	done chan struct{}

	mu   sync.Mutex // guards lost
	lost error
}

// gone is the answer that took the run away, nil while it is ours.
func (p *pulse) gone() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

func (p *pulse) end() {
	p.stop()
	<-p.done
}

// beat sends heartbeats from now on, the lock having been taken just before.
// A service that does not answer changes nothing until the lock has certainly
// run out: one heartbeat that comes late revives it (§12). Time is measured by
// this machine's own monotonic clock, so that no clock has to agree with
// another.
func (r *Runner) beat(ctx context.Context, ticket Ticket, every time.Duration) *pulse {
	if every <= 0 {
		every = lock.Heartbeat
	}
	ctx, stop := context.WithCancel(ctx)
	p := &pulse{over: make(chan string, 1), stop: stop, done: make(chan struct{})}
	ttl := every * (lock.TTL / lock.Heartbeat)
	last := time.Now()
	go func() {
		defer close(p.done)
		wait := every
		for {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			asked := time.Now()
			call, cancel := context.WithTimeout(ctx, every)
			answer, err := r.conf.Server.Heartbeat(call, ticket)
			cancel()
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				last, wait = asked, every
				if answer.Stop {
					p.tell("the service asked the run to end")
				}
			case givenUp(err):
				p.lose(err)
				return
			default:
				wait = every / 4
				if time.Since(last) > ttl {
					p.lose(refusal.New(refusal.LockLost, "no heartbeat arrived for %s", ttl))
					return
				}
			}
		}
	}()
	return p
}

func (p *pulse) lose(err error) {
	p.mu.Lock()
	p.lost = err
	p.mu.Unlock()
	p.tell("the run was lost: " + err.Error())
}

// tell hands over the first reason; a second changes nothing.
func (p *pulse) tell(why string) {
	select {
	case p.over <- why:
	default:
	}
}
