package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river/rivertype"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// Kind says what a kind of job calls and how it is repeated.
type Kind struct {
	Name pipeline.JobKind

	// Work is the use case. nil means done. A *pipeline.Again repeats the job
	// without counting, and so does a fault that is Unavailable; every other
	// error is a failed attempt.
	Work func(ctx context.Context, a pipeline.Attempt) error

	// Retry is how long after each failed attempt the next one may start,
	// counted from the end of the failed one. After the last attempt the job is
	// given up: whatever is owed then is the use case's to do in that attempt.
	Retry []time.Duration

	// Timeout ends an attempt, which then failed; a minute when it is 0.
	Timeout time.Duration
}

// away is how long a job waits when the database, or what else it needs, did
// not answer.
const away = time.Second

// outcome is what becomes of a job after an attempt.
type outcome int

const (
	completed outcome = iota
	repeated          // later, and the attempt does not count
	failed            // later, and the attempt counts
	givenUp
)

// verdict is the outcome of an attempt that ended with err, and how long the
// job then waits.
func (k Kind) verdict(ctx context.Context, attempt int, err error) (outcome, time.Duration) {
	if err == nil {
		return completed, 0
	}
	if again, ok := errors.AsType[*pipeline.Again](err); ok {
		return repeated, max(again.After, 0)
	}
	// An attempt that ran out of its time failed, whatever it was waiting for.
	if fault.KindOf(err) == fault.Unavailable && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return repeated, away
	}
	if attempt > len(k.Retry) {
		return givenUp, 0
	}
	return failed, k.Retry[attempt-1]
}

// work is one attempt. ctx is the job's own; the verdict needs to know whether
// its time ran out.
func (k Kind) work(ctx context.Context, row *rivertype.JobRow) (outcome, time.Duration, error) {
	j, err := job(row)
	if err != nil { // no repetition makes it readable
		return givenUp, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, k.timeout())
	defer cancel()
	err = k.call(ctx, pipeline.Attempt{Job: j, Number: row.Attempt, Last: row.Attempt > len(k.Retry)})
	what, wait := k.verdict(ctx, row.Attempt, err)
	return what, wait, err
}

// call makes a panic a failed attempt like any other: River would repeat it
// without an end.
func (k Kind) call(ctx context.Context, a pipeline.Attempt) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.E("queue.Run", fault.Internal, fmt.Sprintf("job %s panicked: %v\n%s", k.Name, p, debug.Stack()), nil)
		}
	}()
	return k.Work(ctx, a)
}

func (k Kind) timeout() time.Duration {
	if k.Timeout == 0 {
		return time.Minute
	}
	return k.Timeout
}

// kinds is the table the server hands over, by name.
func kinds(list []Kind) (map[pipeline.JobKind]Kind, error) {
	table := make(map[pipeline.JobKind]Kind, len(list))
	for _, k := range list {
		if _, twice := table[k.Name]; twice || k.Name == "" || k.Work == nil {
			return nil, fmt.Errorf("the kind of job %q is listed twice, has no name or calls nothing", k.Name)
		}
		table[k.Name] = k
	}
	return table, nil
}
