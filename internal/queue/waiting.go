package queue

import (
	"context"
	"time"
)

// waiting counts the jobs that could run now, with the time the first of them
// could.
const waiting = `SELECT COUNT(*), MIN(scheduled_at) FROM river_job WHERE state = 'available'`

// Waiting is how many jobs could run and do not yet, and for how long the first of
// them has been waiting.
func (q *Queue) Waiting(ctx context.Context) (n int64, oldest time.Duration, err error) {
	var since any
	if err := q.driver.db.QueryRowContext(ctx, waiting).Scan(&n, &since); err != nil {
		return 0, 0, err
	}
	at := instant(since)
	if n == 0 || at.IsZero() {
		return n, 0, nil
	}
	return n, max(0, q.now().Sub(at)), nil
}
