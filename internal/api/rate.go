package api

import (
	"sync"
	"time"
)

// Rate is how many requests a token may make: Burst at once, and PerSecond in
// the long run. A zero Rate sets no bound.
type Rate struct {
	PerSecond float64
	Burst     int
}

// admit is the generic cell rate algorithm: a function of the clock and one
// stored instant, the time at which the bucket would be empty again. It answers
// the instant to store and, when the request is refused, how long to wait.
func (r Rate) admit(now, full time.Time) (next time.Time, wait time.Duration) {
	if r.PerSecond <= 0 {
		return full, 0
	}
	step := time.Duration(float64(time.Second) / r.PerSecond)
	next = full
	if next.Before(now) {
		next = now
	}
	next = next.Add(step)
	if wait = next.Sub(now) - step*time.Duration(max(1, r.Burst)); wait > 0 {
		return full, wait
	}
	return next, 0
}

// limiter keeps one instant for each key. Keys whose instant has passed say
// nothing any more and are forgotten.
type limiter struct {
	rate Rate

	mu   sync.Mutex // guards full and size
	full map[string]time.Time
	size int // of full after the last time it was swept
}

func newLimiter(r Rate) *limiter { return &limiter{rate: r, full: map[string]time.Time{}} }

// admit answers how long key has to wait; 0 lets it through.
func (l *limiter) admit(now time.Time, key string) time.Duration {
	if l.rate.PerSecond <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next, wait := l.rate.admit(now, l.full[key])
	if wait > 0 {
		return wait
	}
	l.full[key] = next
	if len(l.full) > 2*l.size+1024 {
		for k, at := range l.full {
			if !at.After(now) {
				delete(l.full, k)
			}
		}
		l.size = len(l.full)
	}
	return 0
}
