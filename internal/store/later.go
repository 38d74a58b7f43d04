package store

import (
	"context"
	"database/sql"
	"errors"

	"plimsoll.dev/internal/fault"
)

// Where the way to the database costs more than a statement, what an update
// writes waits in a list and goes there together: before the next thing is
// read, and at the latest with the end of the update. A write that did not find
// what it needs therefore fails the update a little later, never too late.

// Statement is a statement that changes rows.
type Statement struct {
	Query string
	Args  []any
}

// Together runs statements one after the other on a connection and its open
// transaction, without a wait between them. It answers how many rows each has
// changed; with an error, of those before the one that failed.
type Together func(ctx context.Context, conn *sql.Conn, list []Statement) ([]int64, error)

// pending is a statement that waits, and what it means when it changes fewer
// rows than it must.
type pending struct {
	Statement
	op, what string
	rows     int64
	missing  func(op, what string) error
}

// later changes a row before anything else is read, at the latest at the end of
// the update; missing is the error when there is none to change, nil when there
// need be none.
func (t *tx) later(op, what string, missing func(op, what string) error, query string, args ...any) error {
	return t.laterMany(op, what, 1, missing, query, args...)
}

// laterMany is later for so many rows.
func (t *tx) laterMany(op, what string, rows int, missing func(op, what string) error, query string, args ...any) error {
	p := pending{Statement: Statement{query, args}, op: op, what: what, rows: int64(rows), missing: missing}
	if t.conn == nil {
		n, err := t.exec(op, what, query, args...)
		if err != nil {
			return err
		}
		return p.judge(n)
	}
	if err := readable(op, what, args); err != nil {
		return err
	}
	t.pending = append(t.pending, p)
	return nil
}

func (p *pending) judge(n int64) error {
	if p.missing != nil && n < p.rows {
		return p.missing(p.op, p.what)
	}
	return nil
}

// writePending writes what waits.
func (r *reader) writePending() error {
	list := r.pending
	if len(list) == 0 || r.broken != nil {
		return r.broken
	}
	r.pending = nil
	if r.ctx.Err() != nil {
		return fault.E(list[0].op, fault.Unavailable, list[0].what, context.Cause(r.ctx))
	}
	statements := make([]Statement, len(list))
	for i, p := range list {
		statements[i] = p.Statement
	}
	if err := r.watch.enter(); err != nil {
		return err
	}
	defer r.watch.leave()
	r.s.statements.Add(int64(len(list)))
	r.s.waits.Add(1)
	changed, err := r.d.Together(r.ctx, r.conn, statements)
	for i, n := range changed {
		if missing := list[i].judge(n); missing != nil {
			r.broken = missing // the rest may have been written: nothing of it is kept
			return missing
		}
	}
	if err == nil && len(changed) < len(list) {
		err = errors.New("the database answered too little")
	}
	if err != nil {
		p := list[min(len(changed), len(list)-1)]
		r.broken = r.d.fail(p.op, p.what, err)
		if r.ctx.Err() != nil {
			r.broken = fault.E(p.op, fault.Unavailable, p.what, context.Cause(r.ctx))
		}
	}
	return r.broken
}
