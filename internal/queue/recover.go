package queue

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river/rivermigrate"

	"plimsoll.dev/internal/fault"
)

// These are the only statements of ours on tables of River, which has no call
// for what they do. A job that a dead
// process was running is as it was before: available, its attempt not counted,
// its place in the line kept. Who leads the upkeep need not be waited for
// either, when it is known to be dead.
const (
	giveBackAll = `UPDATE river_job SET state = 'available', attempt = max(attempt - 1, 0) WHERE state = 'running'`
	forgetAll   = `DELETE FROM river_leader`

	giveBackOf = `UPDATE river_job SET state = 'available', attempt = greatest(attempt - 1, 0)
		WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1`
	forgetOf = `DELETE FROM river_leader WHERE leader_id = $1`

	lineUp = `UPDATE river_job SET state = 'available' WHERE id = $1 AND state = 'scheduled'`
)

// recoverAll gives back every job that runs before this process starts.
func (q *Queue) recoverAll(ctx context.Context) error {
	for _, statement := range []string{giveBackAll, forgetAll} {
		if _, err := q.driver.db.ExecContext(ctx, statement); err != nil {
			return fault.E("queue.Run", fault.Unavailable, "give back what the last process was running", err)
		}
	}
	return nil
}

// recover buries the nodes that have been silent and gives their jobs back.
func (q *Queue) recover(ctx context.Context) error {
	_, err := q.conf.Nodes.Bury(ctx, q.conf.Silence, func(ctx context.Context, tx *sql.Tx, node string) error {
		for _, statement := range []string{giveBackOf, forgetOf} {
			if _, err := tx.ExecContext(ctx, statement, node); err != nil {
				return fault.E("queue.Run", fault.Unavailable, "give the jobs of "+node+" back", err)
			}
		}
		return nil
	})
	return err
}

// migrating is the advisory lock under which nodes that start together migrate
// one after the other. The number means nothing.
const migrating = 7_305_809_111

// Migrate makes the tables of River or brings them up to date.
func Migrate(ctx context.Context, d Driver) error {
	const op = "queue.Migrate"
	if !d.alone {
		conn, err := d.db.Conn(ctx)
		if err != nil {
			return fault.E(op, fault.Unavailable, "connect", err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrating)); err != nil {
			return fault.E(op, fault.Unavailable, "wait for the migrations of other nodes", err)
		}
		defer func() {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(migrating))
		}()
	}
	m, err := rivermigrate.New(d.river, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("read the migrations of the queue: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fault.E(op, fault.Unavailable, "migrate the queue", err)
	}
	return nil
}
