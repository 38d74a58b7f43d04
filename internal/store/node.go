package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// Beat renews the lease of a node; the first beat takes it. A lease that was
// lost is not taken up again: a process that starts anew has a new name. Each
// beat also gives places to what a dead process left without.
func (s *Store) Beat(ctx context.Context, node string, first bool) error {
	const op = "store.Beat"
	at, err := s.instant(ctx, op)
	if err != nil {
		return err
	}
	query, args := `UPDATE nodes SET beat_at = $2 WHERE id = $1`, []any{node, at.UnixMicro()}
	if first {
		query, args = `INSERT INTO nodes (id, started_at, beat_at, version) VALUES ($1, $2, $2, $3)`, append(args, s.conf.Version)
	}
	done, err := s.db.Upkeep.ExecContext(ctx, query, args...)
	if err != nil {
		return s.db.Dialect.fail(op, "beat", err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return fault.E(op, fault.Unavailable, "beat", errors.Join(pipeline.ErrLeaseLost, err))
	}
	if first && node == s.conf.Node {
		s.leased.Store(true)
	}
	return s.Place(ctx)
}

// Bury declares the nodes dead that have not beaten for so long, and calls fn
// for each in the transaction that removes it; a node without a lease that fn
// knows of is its business. It answers whom it buried.
func (s *Store) Bury(ctx context.Context, silence time.Duration, fn func(ctx context.Context, tx *sql.Tx, node string) error) ([]string, error) {
	const op = "store.Bury"
	d := &s.db.Dialect
	at, err := s.instant(ctx, op)
	if err != nil {
		return nil, err
	}
	sqlTx, err := s.db.Upkeep.BeginTx(ctx, nil)
	if err != nil {
		return nil, d.fail(op, "begin a transaction", err)
	}
	defer func() { _ = sqlTx.Rollback() }()
	found, err := sqlTx.QueryContext(ctx, `DELETE FROM nodes WHERE beat_at < $1 RETURNING id`, at.Add(-silence).UnixMicro())
	if err != nil {
		return nil, d.fail(op, "look for dead nodes", err)
	}
	dead := []string{}
	for found.Next() {
		var id string
		if err := found.Scan(&id); err != nil {
			_ = found.Close()
			return nil, d.fail(op, "look for dead nodes", err)
		}
		dead = append(dead, id)
	}
	if err := errors.Join(found.Err(), found.Close()); err != nil {
		return nil, d.fail(op, "look for dead nodes", err)
	}
	for _, id := range dead {
		if err := fn(ctx, sqlTx, id); err != nil {
			return nil, err
		}
	}
	if err := sqlTx.Commit(); err != nil {
		return nil, d.fail(op, "commit", err)
	}
	return dead, nil
}

// Leave gives a lease back, so that nobody has to wait for its end. The node
// runs nothing any more.
func (s *Store) Leave(ctx context.Context, node string) error {
	if node == s.conf.Node {
		s.leased.Store(false) // what it still has to say, it may
	}
	if _, err := s.db.Upkeep.ExecContext(ctx, `DELETE FROM nodes WHERE id = $1`, node); err != nil {
		return s.db.Dialect.fail("store.Leave", "leave", err)
	}
	return nil
}

func (s *Store) instant(ctx context.Context, op string) (time.Time, error) {
	if s.db.Dialect.Clock == "" || s.conf.Now != nil {
		return s.clock().UTC(), nil
	}
	var at int64
	if err := s.db.Upkeep.QueryRowContext(ctx, s.db.Dialect.Clock).Scan(&at); err != nil {
		return time.Time{}, s.db.Dialect.fail(op, "read the clock", err)
	}
	return time.UnixMicro(at).UTC(), nil
}
