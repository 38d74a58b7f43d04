package store

import (
	"errors"
	"sync"
	"time"

	"plimsoll.dev/internal/fault"
)

// errOver is what a Tx answers that is used after its transaction.
var errOver = fault.E("store.Tx", fault.Internal, "the transaction is over", nil)

// errIdle is the cause when a transaction was ended for doing nothing.
var errIdle = errors.New("it did nothing while others may wait: a nested update or a call to the outside has no place in it")

// watch ends a transaction that does nothing. The one writer of SQLite would
// otherwise wait for ever when an update calls another, and PostgreSQL would
// hold row locks as long as a model takes to answer.
type watch struct {
	limit   time.Duration
	abandon func() // rolls back; called at most once, with mu held

	mu    sync.Mutex // held over every statement
	timer *time.Timer
	last  time.Time // the end of the last statement
	over  error     // why no statement may follow
}

func newWatch(limit time.Duration, abandon func()) *watch {
	w := &watch{limit: limit, abandon: abandon, last: time.Now()}
	w.timer = time.AfterFunc(limit, w.expire)
	return w
}

func (w *watch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over != nil {
		return
	}
	if left := w.limit - time.Since(w.last); left > 0 { // it fired while a statement ran
		w.timer.Reset(left)
		return
	}
	w.over = fault.E("store.Tx", fault.Unavailable, "the transaction was ended", errIdle)
	w.abandon()
}

// enter comes before a statement and leave after it.
func (w *watch) enter() error {
	w.mu.Lock()
	if w.over != nil {
		defer w.mu.Unlock()
		return w.over
	}
	return nil
}

func (w *watch) leave() {
	w.last = time.Now()
	w.timer.Reset(w.limit)
	w.mu.Unlock()
}

// finish ends the watch; no statement may follow. It answers an error when the
// transaction was ended before.
func (w *watch) finish() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	ended := w.over
	if ended == nil {
		w.over = errOver
	}
	return ended
}
