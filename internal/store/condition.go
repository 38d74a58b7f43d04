package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Condition is how the database and what works on it do, for people who look
// after the service. It is no part of the port: no use case reads it.
type Condition struct {
	Database string // the name of the dialect
	Size     int64  // in bytes
	At       time.Time
	Nodes    []Node
	Failing  []Failing
	Webhooks int // how many subscribers there are

	FirstEvent, LastEvent int64 // the positions that are kept; (1, 0) for none
}

// Node is a process with a lease. There is none where one process works alone.
type Node struct {
	ID            string
	Version       string // of its program; "" is not known
	Started, Seen time.Time
}

// Failing is a subscriber that did not take what was brought to it.
type Failing struct {
	Webhook    string
	URL        string
	Deliveries int64 // tried at least once; at most failingMost
	Attempts   int64 // of the oldest
	LastStatus int   // of the answer to it; 0 when there was none
	LastError  string
	NextAt     time.Time // when the oldest is tried again
}

// What is looked at, so that looking costs the same however bad it is.
const (
	failingMost = 1000
	nodesMost   = 200
)

// Condition reads how the service does.
func (s *Store) Condition(ctx context.Context) (Condition, error) {
	const op = "store.Condition"
	d := &s.db.Dialect
	c := Condition{Database: d.Name}
	fail := func(what string, err error) (Condition, error) { return Condition{}, d.fail(op, what, err) }
	tx, err := s.db.Read.BeginTx(ctx, &d.Read)
	if err != nil {
		return fail("begin", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := tx.QueryRowContext(ctx, d.Size).Scan(&c.Size); err != nil {
		return fail("read the size of the database", err)
	}
	c.At = s.clock().UTC()
	if d.Clock != "" && s.conf.Now == nil { // the clock that leases are counted on
		var at int64
		if err := tx.QueryRowContext(ctx, d.Clock).Scan(&at); err != nil {
			return fail("read the clock", err)
		}
		c.At = time.UnixMicro(at).UTC()
	}
	if err := tx.QueryRowContext(ctx, `SELECT coalesce((SELECT min(position) FROM events), event_last + 1), event_last FROM heads`).
		Scan(&c.FirstEvent, &c.LastEvent); err != nil {
		return fail("read how far the events have come", err)
	}
	if c.Nodes, err = gather(ctx, tx, func(rows *sql.Rows) (n Node, err error) {
		return n, rows.Scan(&n.ID, &n.Version, instant{&n.Started}, instant{&n.Seen})
	}, `SELECT id, version, started_at, beat_at FROM nodes ORDER BY started_at, id LIMIT $1`, int64(nodesMost)); err != nil {
		return fail("list the nodes", err)
	}
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM webhooks`).Scan(&c.Webhooks); err != nil {
		return fail("count the webhooks", err)
	}
	c.Failing, err = gather(ctx, tx, func(rows *sql.Rows) (f Failing, err error) {
		return f, rows.Scan(&f.Webhook, &f.URL, &f.Deliveries, &f.Attempts, &f.LastStatus, &f.LastError, instant{&f.NextAt})
	}, `SELECT h.id, h.url, (SELECT count(*) FROM (
			SELECT 1 FROM deliveries e WHERE e.webhook = h.id AND e.status = 'pending' AND e.attempts > 0 LIMIT $1) AS many),
			d.attempts, d.last_status, d.last_error, d.next_at
		FROM webhooks h JOIN deliveries d ON d.webhook = h.id AND d.status = 'pending' AND d.attempts > 0
			AND d.position = (SELECT min(f.position) FROM deliveries f WHERE f.webhook = h.id AND f.status = 'pending' AND f.attempts > 0)
		WHERE h.enabled ORDER BY h.id LIMIT $2`, int64(failingMost), int64(nodesMost))
	if err != nil {
		return fail("list what subscribers did not take", err)
	}
	return c, nil
}

// gather is the rows of a query outside of a view.
func gather[T any](ctx context.Context, tx *sql.Tx, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	found, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var out []T
	for found.Next() {
		v, err := scan(found)
		if err != nil {
			return nil, errors.Join(err, found.Close())
		}
		out = append(out, v)
	}
	return out, errors.Join(found.Err(), found.Close())
}
