// Package store keeps everything the contracts are about. It implements
// pipeline.Store once, for both databases: the packages sqlite and postgres
// open one and say in a Dialect what they do differently.
//
// Every table has one file here that knows its columns. A document is kept as
// the bytes that were accepted; what is searched is kept beside it.
//
// How writers keep out of each other's way. On PostgreSQL an update locks the
// row of the chain before it reads anything of that chain, so use cases on one
// chain follow one another and those on two chains run side by side. On SQLite
// there is one writer, and updates that wait for each other share one commit
// (see turn.go). Events and audit records get their places in an order of which
// nothing is ever missing, without making commits wait for it (see place.go).
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// Enqueue adds jobs inside a transaction. Package queue has one; the server
// hands it over, so that neither adapter knows the other.
type Enqueue func(ctx context.Context, tx *sql.Tx, jobs []pipeline.Job) error

// Config is what a store needs beside a database.
type Config struct {
	// Enqueue puts the jobs of a transaction into the queue.
	Enqueue Enqueue

	// Now is the clock of the service. When it is nil the database is asked
	// where it has a clock of its own, else the process's clock is read: with
	// several nodes there must be one clock (docs/spec/contracts.md §0).
	Now func() time.Time

	// Origin names the audit log. It is written when the store is first used;
	// a later Config must name the same one or none.
	Origin string

	// Node is the id this process beats its lease under (see Beat). From its
	// first beat until it leaves, an update of a process that was declared dead
	// is refused.
	Node string
	// Version is of the program of this process, kept beside its lease.
	Version string

	// Idle is how long a transaction may do nothing; a second when it is 0.
	Idle time.Duration
}

// Store implements pipeline.Store.
type Store struct {
	db   *Database
	conf Config
	turn *turn // nil where every update commits by itself

	placer *placer // of places, where a commit does not give them

	prepared *prepared // nil where the driver remembers statements

	leased atomic.Bool // this process has a lease, or had until it was declared dead

	statements, waits atomic.Int64 // see Statements
}

// New is a store on an open database whose migrations have run.
func New(ctx context.Context, db *Database, conf Config) (*Store, error) {
	if conf.Enqueue == nil {
		return nil, errors.New("store: no queue to put jobs into")
	}
	if conf.Idle == 0 {
		conf.Idle = time.Second
	}
	s := &Store{db: db, conf: conf, placer: newPlacer()}
	if db.Dialect.Grouped {
		s.turn = newTurn()
		s.prepared = newPrepared(db.Write)
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	if err := s.Place(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// repetitions bounds how often an update is run again. A deadlock or a lost
// race needs one repetition; who needs ten is starved, and should hear of it.
const repetitions = 10

// Update implements pipeline.Store.
func (s *Store) Update(ctx context.Context, fn func(pipeline.Tx) error) error {
	const op = "store.Update"
	var err error
	for n := range repetitions {
		if n > 0 {
			// Those that lost a race together must not meet again.
			select {
			case <-time.After(time.Duration(n*n) * time.Millisecond):
			case <-ctx.Done():
				return fault.E(op, fault.Unavailable, "update", context.Cause(ctx))
			}
		}
		if s.turn != nil {
			err = s.turn.update(ctx, s, fn)
		} else {
			err = s.updateOnce(ctx, fn)
		}
		if _, again := errors.AsType[*againError](err); !again {
			return err
		}
	}
	return err
}

func (s *Store) updateOnce(ctx context.Context, fn func(pipeline.Tx) error) error {
	logs, err := s.commit(ctx, fn)
	if err == nil && logs {
		s.placer.wait(ctx, s.Place)
	}
	return err
}

// commit is an update in a transaction of its own, and whether it wrote events
// or records.
func (s *Store) commit(ctx context.Context, fn func(pipeline.Tx) error) (logs bool, err error) {
	const op = "store.Update"
	d := &s.db.Dialect
	conn, sqlTx, err := beginOn(ctx, s.db.Write, &d.Write)
	if err != nil {
		return false, d.fail(op, "begin a transaction", err)
	}
	defer func() { _ = conn.Close() }() // gives it back
	// A rollback after the commit is nothing; one after a panic frees the locks.
	defer func() { _ = sqlTx.Rollback() }()
	t := newTx(ctx, s, sqlTx, func() { _ = sqlTx.Rollback() })
	if d.Together != nil {
		t.conn = conn
	}
	if err := t.run(fn); err != nil {
		return false, err
	}
	if err := sqlTx.Commit(); err != nil {
		return false, d.fail(op, "commit", err)
	}
	return t.logs(), nil
}

// beginOn begins a transaction on a connection that the caller gives back. A
// pooled connection that died meanwhile is passed over, as the pool itself does
// where it chooses the connection.
func beginOn(ctx context.Context, db *sql.DB, how *sql.TxOptions) (*sql.Conn, *sql.Tx, error) {
	for tries := 1; ; tries++ {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, nil, err
		}
		sqlTx, err := conn.BeginTx(ctx, how)
		if err == nil {
			return conn, sqlTx, nil
		}
		_ = conn.Close()
		if tries == 3 || !errors.Is(err, driver.ErrBadConn) {
			return nil, nil, err
		}
	}
}

// View implements pipeline.Store.
func (s *Store) View(ctx context.Context, fn func(pipeline.Reader) error) error {
	var r *reader
	over := func() {
		if r.q != nil {
			_ = r.q.Rollback()
		}
	}
	r = newReader(ctx, s, nil, over)
	defer over()
	defer func() { _ = r.watch.finish() }() // after an error or a panic; else it has ended
	if err := fn(r); err != nil {
		return err
	}
	if r.broken != nil {
		return r.broken
	}
	return r.watch.finish()
}

// open begins the transaction of a view with its first statement: many views
// ask one thing and some nothing. The caller has entered the watch.
func (r *reader) open() error {
	if r.q != nil {
		return nil
	}
	q, err := r.s.db.Read.BeginTx(r.ctx, &r.d.Read)
	if err == nil {
		r.q = q
	}
	return err
}

// Statements is how many statements updates and views have run so far, and how
// often they waited for the database: what is sent together is one wait. The
// beginning and the end of a transaction, the jobs and the places come on top.
func (s *Store) Statements() (statements, waits int64) { return s.statements.Load(), s.waits.Load() }

// Close closes the database. Every loop that uses the store ends before.
func (s *Store) Close() error {
	if s.prepared != nil {
		s.prepared.close()
	}
	return s.db.Close()
}

// clock is the instant of a transaction on the process's clock.
func (s *Store) clock() time.Time {
	if s.conf.Now != nil {
		return s.conf.Now()
	}
	return time.Now()
}

// settle writes what is written once: the origin of the log.
func (s *Store) settle(ctx context.Context) error {
	const op = "store.New"
	var origin string
	err := s.db.Read.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'origin'`).Scan(&origin)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return s.db.Dialect.fail(op, "read the origin of the audit log", err)
	case s.conf.Origin != "" && s.conf.Origin != origin:
		return fault.E(op, fault.Conflict, fmt.Sprintf("the audit log of this database is %q, not %q", origin, s.conf.Origin), nil).
			WithHint("start with the origin the log was begun with")
	default:
		return nil
	}
	return s.begin(ctx)
}
