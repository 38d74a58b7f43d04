package queue

import (
	"context"
	"database/sql"
	"time"

	"github.com/riverqueue/river/rivertype"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// Load is how many jobs of a kind there are in each state. What is finished and
// went well is not counted: nobody has to look at it.
type Load struct {
	Kind    pipeline.JobKind
	Waiting int64 // could run now
	Running int64
	Again   int64 // failed, and will be tried again at its time
	Later   int64 // has a time that has not come
	GivenUp int64 // of the last thirty days

	Oldest   time.Time // since when the first of those that wait could run; zero when none waits
	LastGone time.Time // when the last was given up; zero when none was
}

// loadMost is how many jobs of one state are counted, so that counting costs the
// same however long the queue is.
const loadMost = 10_000

// loads is one statement for each state: the index of the line begins with it.
var loads = []struct {
	state rivertype.JobState
	query string
	add   func(l *Load, n int64, at time.Time)
}{
	{rivertype.JobStateAvailable, lined, func(l *Load, n int64, at time.Time) { l.Waiting, l.Oldest = n, at }},
	{rivertype.JobStateRunning, lined, func(l *Load, n int64, _ time.Time) { l.Running = n }},
	{rivertype.JobStateRetryable, lined, func(l *Load, n int64, _ time.Time) { l.Again = n }},
	{rivertype.JobStateScheduled, lined, func(l *Load, n int64, _ time.Time) { l.Later = n }},
	{rivertype.JobStateCancelled, gone, giveUp},
	{rivertype.JobStateDiscarded, gone, giveUp},
}

func giveUp(l *Load, n int64, at time.Time) {
	l.GivenUp += n
	if at.After(l.LastGone) {
		l.LastGone = at
	}
}

const (
	lined = `SELECT kind, COUNT(*), MIN(scheduled_at) FROM (
		SELECT kind, scheduled_at FROM river_job WHERE state = $1 ORDER BY queue, priority, scheduled_at, id LIMIT $2) AS j GROUP BY kind`
	gone = `SELECT kind, COUNT(*), MAX(finalized_at) FROM (
		SELECT kind, finalized_at FROM river_job WHERE state = $1 AND finalized_at IS NOT NULL ORDER BY finalized_at DESC LIMIT $2) AS j GROUP BY kind`
)

// Loads is what lies in the queue, for each kind that has jobs. db is any
// connection that reads: it need not be the one that writes.
func Loads(ctx context.Context, db *sql.DB) ([]Load, error) {
	list := []Load{}
	at := map[pipeline.JobKind]int{}
	for _, l := range loads {
		rows, err := db.QueryContext(ctx, l.query, string(l.state), int64(loadMost))
		if err != nil {
			return nil, fault.E("queue.Loads", fault.Unavailable, "count the jobs", err)
		}
		for rows.Next() {
			var kind string
			var n int64
			var when any
			if err := rows.Scan(&kind, &n, &when); err != nil {
				_ = rows.Close()
				return nil, fault.E("queue.Loads", fault.Internal, "count the jobs", err)
			}
			k := pipeline.JobKind(kind)
			i, ok := at[k]
			if !ok {
				i = len(list)
				at[k], list = i, append(list, Load{Kind: k})
			}
			l.add(&list[i], n, instant(when))
		}
		if err := rows.Err(); err != nil {
			_ = rows.Close()
			return nil, fault.E("queue.Loads", fault.Unavailable, "count the jobs", err)
		}
		if err := rows.Close(); err != nil {
			return nil, fault.E("queue.Loads", fault.Unavailable, "count the jobs", err)
		}
	}
	return list, nil
}

// instant is a time as River keeps it: SQLite answers text where a time was
// computed. What does not read is the zero time.
func instant(v any) time.Time {
	switch v := v.(type) {
	case time.Time:
		return v.UTC()
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999-07:00"} {
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC()
			}
		}
	}
	return time.Time{}
}
