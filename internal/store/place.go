package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline/event"
)

// An event is written with the change it announces, an audit record with the
// action it records. Its place in the stream or the log is another matter: it
// depends on everybody, and whoever gives places must be alone. Where updates
// come one after the other anyway (SQLite) each has its own with it. Elsewhere
// they are given in a transaction of their own right after, for many updates at
// once, so that commits need not wait for each other; an update is reported when
// its events and records have their places. Should the process die in between,
// the next to give places gives those as well.
//
// The order is that of writing. What follows from a change is written after the
// change is committed, so it never gets an earlier place; of two changes that
// know nothing of each other either may come first.

// placeLimit bounds what one transaction places, so that it stays short.
const placeLimit = 1000

// place gives places to at most placeLimit events and records that have none,
// and answers whether there may be more.
func (s *Store) place(ctx context.Context, q *sql.Tx) (more bool, err error) {
	d := &s.db.Dialect
	var last int64
	var head event.Head
	var link []byte
	err = q.QueryRowContext(ctx, `SELECT event_last, audit_count, audit_link FROM heads`+d.ForUpdate).Scan(&last, &head.Count, &link)
	if err != nil {
		return false, err
	}
	copy(head.Link[:], link)

	done, err := q.ExecContext(ctx, `UPDATE events SET position = $1 + u.n
		FROM (SELECT seq, row_number() OVER (ORDER BY seq) AS n FROM events WHERE position IS NULL ORDER BY seq LIMIT $2) AS u
		WHERE events.seq = u.seq`, last, int64(placeLimit))
	if err != nil {
		return false, err
	}
	events, err := done.RowsAffected()
	if err != nil {
		return false, err
	}
	next, records, err := s.link(ctx, q, head)
	if err != nil || events+records == 0 {
		return false, err
	}
	_, err = q.ExecContext(ctx, `UPDATE heads SET event_last = $1, audit_count = $2, audit_link = $3`, last+events, next.Count, next.Link[:])
	return events == placeLimit || records == placeLimit, err
}

// link appends the records that have no place to the log.
func (s *Store) link(ctx context.Context, q *sql.Tx, head event.Head) (event.Head, int64, error) {
	found, err := q.QueryContext(ctx, `SELECT seq, line FROM audit WHERE position IS NULL ORDER BY seq LIMIT $1`, int64(placeLimit))
	if err != nil {
		return head, 0, err
	}
	w := &where{}
	var values []string
	for found.Next() {
		var seq int64
		var line []byte
		if err := found.Scan(&seq, &line); err != nil {
			return head, 0, errors.Join(err, found.Close())
		}
		head = head.Append(line)
		values = append(values, "(CAST("+w.arg(seq)+" AS BIGINT), CAST("+w.arg(head.Count)+" AS BIGINT), CAST("+w.arg(append([]byte{}, head.Link[:]...))+" AS "+s.db.Dialect.Bytes+"))")
	}
	records := int64(len(values))
	if err := errors.Join(found.Err(), found.Close()); err != nil || records == 0 {
		return head, 0, err
	}
	// A few lengths of the list are enough for all: each text is prepared once.
	none := strings.Replace("(CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS BYTES))", "BYTES", s.db.Dialect.Bytes, 1)
	for len(values)&(len(values)-1) != 0 {
		values = append(values, none)
	}
	_, err = q.ExecContext(ctx, `UPDATE audit SET position = v.column2, link = v.column3
		FROM (VALUES `+strings.Join(values, ", ")+`) AS v WHERE audit.seq = v.column1`, w.args...)
	return head, records, err
}

// Place gives places to what a process left behind that died before it could.
// New and Beat call it; nothing waits for it.
func (s *Store) Place(ctx context.Context) error {
	const op = "store.Place"
	for {
		sqlTx, err := s.db.Upkeep.BeginTx(ctx, nil)
		if err != nil {
			return s.db.Dialect.fail(op, "begin a transaction", err)
		}
		more, err := s.place(ctx, sqlTx)
		if err == nil {
			err = sqlTx.Commit()
		}
		if err != nil {
			_ = sqlTx.Rollback()
			return s.db.Dialect.fail(op, "give events and records their places", err)
		}
		if !more {
			return nil
		}
	}
}

// placer lets updates that have committed wait for their places together: one
// round serves all that were there when it began.
type placer struct {
	baton chan struct{} // full while a round is under way

	mu   sync.Mutex // guards next
	next *round     // that has not begun
}

type round struct{ done chan struct{} }

func newPlacer() *placer { return &placer{baton: make(chan struct{}, 1)} }

// wait answers when all that was committed before it was called has its place.
// The commit stands whatever happens here: when ctx ends, or the database goes
// away, the next round does what this one did not.
func (p *placer) wait(ctx context.Context, place func(context.Context) error) {
	p.mu.Lock()
	if p.next == nil {
		p.next = &round{done: make(chan struct{})}
	}
	mine := p.next
	p.mu.Unlock()

	select {
	case <-mine.done:
	case <-ctx.Done():
	case p.baton <- struct{}{}:
		p.mu.Lock()
		begun := p.next != mine // somebody led it while we waited
		if !begun {
			p.next = nil
		}
		p.mu.Unlock()
		if !begun {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			_ = place(ctx)
			cancel()
			close(mine.done)
		}
		<-p.baton
	}
}
