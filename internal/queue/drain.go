package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// Drain works every job that is due on the queue's clock, one after the other
// in the order of the line, until none is left, and answers how many attempts
// it made. It starts no loop and waits for nothing, so a story with a clock of
// its own is told in one thread. A Queue that runs is not drained.
func (q *Queue) Drain(ctx context.Context) (int, error) {
	const op = "queue.Drain"
	attempts := 0
	for {
		row, err := q.take(ctx)
		if err != nil {
			return attempts, fault.E(op, fault.Unavailable, "take a job", err)
		}
		if row == nil {
			return attempts, nil
		}
		attempts++
		what, wait, failure := q.kinds[pipeline.JobKind(row.Kind)].work(ctx, row)
		if err := q.put(ctx, row, what, wait, failure); err != nil {
			return attempts, fault.E(op, fault.Unavailable, "put a job back", err)
		}
	}
}

// take is the first job that is due, nil when there is none.
func (q *Queue) take(ctx context.Context) (*rivertype.JobRow, error) {
	now := q.now().UTC()
	exec := q.driver.river.GetExecutor()
	if _, err := exec.JobSchedule(ctx, &riverdriver.JobScheduleParams{Max: 1000, Now: &now}); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(q.kinds))
	for name := range q.kinds {
		names = append(names, string(name))
	}
	found, err := exec.JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{
		ClientID: q.conf.Node, Kind: names, MaxAttemptedBy: 100, MaxToLock: 1, Now: &now, Queue: line,
	})
	if err != nil || len(found.Jobs) == 0 {
		return nil, err
	}
	row := found.Jobs[0]
	return row, found.DecodeErrors[row.ID]
}

// put does what River does with the outcome of an attempt.
func (q *Queue) put(ctx context.Context, row *rivertype.JobRow, what outcome, wait time.Duration, failure error) error {
	now := q.now().UTC()
	var report []byte
	if failure != nil {
		var err error
		if report, err = json.Marshal(rivertype.AttemptError{At: now, Attempt: row.Attempt, Error: failure.Error()}); err != nil {
			return fmt.Errorf("report a failed attempt: %w", err)
		}
	}
	var to *riverdriver.JobSetStateIfRunningParams
	switch what {
	case completed:
		to = riverdriver.JobSetStateCompleted(row.ID, now, nil)
	case repeated:
		to = riverdriver.JobSetStateSnoozed(row.ID, now.Add(wait), row.Attempt-1, nil)
	case failed:
		to = riverdriver.JobSetStateErrorRetryable(row.ID, now.Add(wait), report, nil)
	case givenUp:
		to = riverdriver.JobSetStateCancelled(row.ID, now, report, nil)
	}
	_, err := q.driver.river.GetExecutor().JobSetStateIfRunningMany(ctx, &riverdriver.JobSetStateIfRunningManyParams{
		ID: []int64{to.ID}, Attempt: []*int{to.Attempt}, ErrData: [][]byte{to.ErrData}, FinalizedAt: []*time.Time{to.FinalizedAt},
		MetadataDoMerge: []bool{to.MetadataDoMerge}, MetadataUpdates: [][]byte{to.MetadataUpdates}, Now: &now,
		ScheduledAt: []*time.Time{to.ScheduledAt}, State: []rivertype.JobState{to.State},
	})
	return err
}
