package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// reader implements pipeline.Reader on one transaction.
//
// It carries the context of the call that began the transaction: the two live
// and end together, and no statement may outlive either.
type reader struct {
	ctx     context.Context
	s       *Store
	d       *Dialect
	q       *sql.Tx
	conn    *sql.Conn // of q, where writes go together; else nil
	watch   *watch
	now     time.Time // zero in a view that was not asked for it
	writing bool

	// What an update knows already (see known.go).
	chains map[contract.ID]*known
	runs   map[string]*pipeline.Run
	locks  map[string]pipeline.Lock

	// pending is what an update has still to write (see later.go).
	pending []pending

	// broken is the first statement that failed. PostgreSQL takes nothing more
	// after one, SQLite would, and may have rolled back on its own; so that
	// both keep the same, neither goes on.
	broken error
}

func newReader(ctx context.Context, s *Store, q *sql.Tx, abandon func()) *reader {
	return &reader{ctx: ctx, s: s, d: &s.db.Dialect, q: q, watch: newWatch(s.conf.Idle, abandon)}
}

// tx implements pipeline.Tx. What is only known at the commit waits in lists.
type tx struct {
	reader
	events  []event.Envelope
	records []event.Record
	jobs    []pipeline.Job
	heads   *heads // after this update; nil where places are given later, or nobody asked yet
}

func newTx(ctx context.Context, s *Store, q *sql.Tx, abandon func()) *tx {
	t := &tx{reader: *newReader(ctx, s, q, abandon)}
	t.writing = true
	t.chains, t.runs, t.locks = map[contract.ID]*known{}, map[string]*pipeline.Run{}, map[string]pipeline.Lock{}
	return t
}

// run is an update up to its commit.
func (t *tx) run(fn func(pipeline.Tx) error) error {
	const op = "store.Update"
	defer func() { _ = t.watch.finish() }() // after an error or a panic; else it has ended
	if err := t.start(op); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	if t.broken != nil {
		return t.broken
	}
	if err := t.flush(); err != nil {
		return err
	}
	return t.watch.finish()
}

// logs says whether the transaction wrote events or records.
func (t *tx) logs() bool { return len(t.events)+len(t.records) > 0 }

// flush writes what waited.
func (t *tx) flush() error {
	if len(t.jobs) > 0 {
		if err := t.watch.enter(); err != nil {
			return err
		}
		err := t.s.conf.Enqueue(t.statementContext(), t.q, t.jobs)
		t.watch.leave()
		if err != nil {
			return t.d.fail("store.Enqueue", "enqueue", err)
		}
	}
	if err := t.flushLogs(); err != nil {
		return err
	}
	return t.writePending()
}

// start reads the clock, and on a node whether it still counts as alive.
func (r *reader) start(op string) error {
	now := r.s.clock()
	if ask := r.d.Clock; ask != "" && (r.s.conf.Now == nil || r.leased()) {
		var at int64
		alive := true
		var err error
		if r.leased() {
			err = r.row(op, "read the clock", ask+`, EXISTS (SELECT 1 FROM nodes WHERE id = $1)`, r.s.conf.Node)(&at, &alive)
		} else {
			err = r.row(op, "read the clock", ask)(&at)
		}
		if err != nil {
			return err
		}
		if !alive {
			return fault.E(op, fault.Unavailable, "the lease of this node is over", pipeline.ErrLeaseLost)
		}
		if r.s.conf.Now == nil {
			now = time.UnixMicro(at)
		}
	}
	r.now = now.UTC().Truncate(time.Millisecond)
	return nil
}

// leased says whether this process may write only while others let it.
func (r *reader) leased() bool { return r.writing && r.s.leased.Load() }

// Now implements pipeline.Reader. A view reads the clock when it is first asked
// for it; when that fails, so does the view.
func (r *reader) Now() time.Time {
	if r.now.IsZero() {
		if err := r.start("store.View"); err != nil {
			r.now = r.s.clock().UTC().Truncate(time.Millisecond)
			if r.broken == nil {
				r.broken = err
			}
		}
	}
	return r.now
}

// statementContext is the context of one statement. Where updates share a
// transaction nothing may interrupt a statement, because SQLite would roll
// back the others with it; the context is then looked at in between.
func (r *reader) statementContext() context.Context {
	if r.writing && r.d.Grouped {
		return context.WithoutCancel(r.ctx)
	}
	return r.ctx
}

// statement is one call of the database: only while the transaction lasts,
// only with text both databases take.
func (r *reader) statement(op, what string, args []any, call func(ctx context.Context) error) error {
	if err := readable(op, what, args); err != nil {
		return err
	}
	if err := r.writePending(); err != nil {
		return err
	}
	if r.broken != nil {
		return r.broken
	}
	if r.ctx.Err() != nil {
		return fault.E(op, fault.Unavailable, what, context.Cause(r.ctx))
	}
	if err := r.watch.enter(); err != nil {
		return err
	}
	defer r.watch.leave()
	r.s.statements.Add(1)
	r.s.waits.Add(1)
	err := r.open()
	if err == nil {
		err = call(r.statementContext())
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return fault.E(op, fault.NotFound, what+": there is none", nil)
	}
	if _, ours := errors.AsType[*fault.Error](err); ours {
		return err
	}
	r.broken = r.d.fail(op, what, err)
	if r.ctx.Err() != nil {
		r.broken = fault.E(op, fault.Unavailable, what, context.Cause(r.ctx))
	}
	return r.broken
}

// readable refuses text that one of the databases does not take.
func readable(op, what string, args []any) error {
	for _, a := range args {
		if s, ok := a.(string); ok && (strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)) {
			return fault.E(op, fault.Invalid, what+": a text is not UTF-8 or holds U+0000", nil)
		}
	}
	return nil
}

// row asks for one row. NotFound says that there is none.
func (r *reader) row(op, what, query string, args ...any) func(to ...any) error {
	return func(to ...any) error {
		return r.statement(op, what, args, func(ctx context.Context) error {
			found, err := r.query(ctx, query, args)
			if err != nil {
				return err
			}
			defer func() { _ = found.Close() }()
			if !found.Next() {
				if err := found.Err(); err != nil {
					return err
				}
				return sql.ErrNoRows
			}
			if err := found.Scan(to...); err != nil {
				return err
			}
			return found.Close()
		})
	}
}

// rows asks for a list and reads it to its end.
func rows[T any](r *reader, op, what string, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	list := []T{}
	err := r.statement(op, what, args, func(ctx context.Context) error {
		found, err := r.query(ctx, query, args)
		if err != nil {
			return err
		}
		defer func() { _ = found.Close() }()
		for found.Next() {
			item, err := scan(found)
			if err != nil {
				return err
			}
			list = append(list, item)
		}
		return found.Err()
	})
	return list, err
}

// one is the first row of a list; NotFound says that there is none.
func one[T any](r *reader, op, what string, scan func(*sql.Rows) (T, error), query string, args ...any) (T, error) {
	list, err := rows(r, op, what, scan, query, args...)
	if err == nil && len(list) == 0 {
		err = fault.E(op, fault.NotFound, what+": there is none", nil)
	}
	if err != nil {
		var none T
		return none, err
	}
	return list[0], nil
}

// exec changes rows and answers how many.
func (r *reader) exec(op, what, query string, args ...any) (int64, error) {
	var n int64
	err := r.statement(op, what, args, func(ctx context.Context) error {
		done, err := r.execute(ctx, query, args)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, err
}

// create is exec for a row that must not be there yet.
func (t *tx) create(op, what, query string, args ...any) error {
	n, err := t.exec(op, what, query+orNot, args...)
	if err == nil && n == 0 {
		return there(op, what)
	}
	return err
}

// change is exec for a row that must still be as it was read.
func (t *tx) change(op, what, query string, args ...any) error {
	n, err := t.exec(op, what, query, args...)
	if err == nil && n == 0 {
		return gone(op, what)
	}
	return err
}

// orNot ends the creation of a row that may be there.
const orNot = ` ON CONFLICT DO NOTHING`

func there(op, what string) error {
	return fault.E(op, fault.Conflict, what+": it is there already", nil)
}

func gone(op, what string) error {
	return fault.E(op, fault.Conflict, what+": it is not as it was read", nil)
}

// lockChain keeps others out of a chain until the transaction ends.
func (r *reader) lockChain(op string, chain contract.ID) error {
	if !r.writing || r.d.ForUpdate == "" {
		return nil
	}
	_, err := r.holdChain(op, chain)
	return err
}
