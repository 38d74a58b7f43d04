// Package lock holds the rules of a lock: who has it, for how long, and with
// which fencing token (docs/spec/contracts.md §12).
//
// A Lock is a value, the row of one key. Every function takes the row and the
// service clock and gives the row after; the caller does so under the row's
// lock, in the transaction of the write it is for. The token grows with each
// acquisition and never shrinks, so a holder that was away is found out by the
// number it brings.
package lock

import (
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// The times of a lock.
const (
	TTL       = 300 * time.Second // at which the lock is gone
	Heartbeat = 60 * time.Second  // between heartbeats
	tolerated = 2 * Heartbeat     // after which a contender may take it
)

// Holder names who holds a lock: a run by its executionId, or the caller that
// took it by itself.
type Holder string

// Lock is the row of one key. The zero Lock was never held; Holder is "" when
// nobody has it. The row stays after a release, so that the token grows for
// ever.
type Lock struct {
	Holder Holder
	Token  int64
	Beat   time.Time // of the acquisition or the last heartbeat
}

// Missed is the heartbeats missed after so long without one.
func Missed(sinceBeat time.Duration) int {
	if sinceBeat <= 0 {
		return 0
	}
	return int((sinceBeat+Heartbeat-1)/Heartbeat) - 1
}

// Breakable says whether a contender may take a lock after so long without a
// heartbeat: after two missed ones.
func Breakable(sinceBeat time.Duration) bool { return sinceBeat > tolerated }

// Expired says whether a lock is gone after so long without a heartbeat.
func Expired(sinceBeat time.Duration) bool { return sinceBeat >= TTL }

// Held says whether somebody has l.
func (l Lock) Held(now time.Time) bool {
	return l.Holder != "" && !Expired(now.Sub(l.Beat))
}

// Until is when l ends unless a heartbeat comes.
func (l Lock) Until() time.Time { return l.Beat.Add(TTL) }

// Acquire takes l for h. Taking what h has counts as a heartbeat and keeps the
// token. broken says that a lock was taken from a holder that missed two
// heartbeats, which is audited as lock.break and ends the run that had it.
func (l Lock) Acquire(h Holder, now time.Time) (next Lock, broken bool, err error) {
	if !l.Held(now) {
		return l.give(h, now), false, nil
	}
	if l.Holder == h {
		l.Beat = now
		return l, false, nil
	}
	if !Breakable(now.Sub(l.Beat)) {
		return l, false, refusal.New(refusal.LockHeld, "%s holds it until %s", l.Holder, contract.At(l.Until()))
	}
	return l.give(h, now), true, nil
}

func (l Lock) give(h Holder, now time.Time) Lock {
	return Lock{Holder: h, Token: l.Token + 1, Beat: now}
}

// Preempt takes l over for a stopping write of the service, which never waits:
// the token grows, the run that held it is lost, and nobody has it afterwards.
func (l Lock) Preempt(now time.Time) Lock { return l.give("", now) }

// Renew is a heartbeat of h. had says that h was given the key at some time: it
// tells a former holder, who has lost the lock, from a stranger.
func (l Lock) Renew(h Holder, had bool, now time.Time) (Lock, error) {
	if err := l.belongs(h, had, now); err != nil {
		return l, err
	}
	l.Beat = now
	return l, nil
}

// Release gives l back; had as for Renew.
func (l Lock) Release(h Holder, had bool, now time.Time) (Lock, error) {
	if err := l.belongs(h, had, now); err != nil {
		return l, err
	}
	l.Holder = ""
	return l, nil
}

// Fence refuses a write under a token that is no longer the lock's. It is
// checked in the transaction that writes.
func (l Lock) Fence(token int64, now time.Time) error {
	if token != l.Token || !l.Held(now) {
		return lost("token %d is no longer good", token)
	}
	return nil
}

// Free refuses a write of the service itself while somebody else holds l.
func (l Lock) Free(h Holder, now time.Time) error {
	if l.Held(now) && l.Holder != h {
		return refusal.New(refusal.LockHeld, "%s holds it until %s", l.Holder, contract.At(l.Until()))
	}
	return nil
}

func (l Lock) belongs(h Holder, had bool, now time.Time) error {
	switch {
	case l.Holder == h && l.Held(now):
		return nil
	case l.Holder == h || had:
		return lost("%s has it no more", h)
	}
	return refusal.New(refusal.LockNotHolder, "%s never had it", h)
}

func lost(format string, args ...any) error { return refusal.New(refusal.LockLost, format, args...) }

// Attempts is one first attempt to take a lock and three retries.
const Attempts = 4

var delays = [Attempts]time.Duration{0, 15 * time.Second, 30 * time.Second, 60 * time.Second}

// Delay is how long attempt n, counted from 1, waits after the failed one before
// it. The error says that the attempts are used up.
func Delay(n int) (time.Duration, error) {
	if n < 1 || n > Attempts {
		return 0, refusal.New(refusal.LockExhausted, "%d attempts failed", Attempts)
	}
	return delays[n-1], nil
}

// Exhausted is the cause for which a contract in state s is frozen when the
// attempts are used up: only an Active one, others keep their state. For
// a repo-path the contract is the TaskSeed that wanted it.
func Exhausted(s contract.State) contract.Cause {
	if s == contract.Active {
		return contract.LockExhausted
	}
	return ""
}
