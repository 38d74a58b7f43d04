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
	at, ok := since.(time.Time)
	if text, isText := since.(string); isText {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999-07:00"} {
			if at, err = time.Parse(layout, text); err == nil {
				ok = true
				break
			}
		}
	}
	if n == 0 || !ok {
		return n, 0, nil
	}
	return n, max(0, q.now().Sub(at)), nil
}
