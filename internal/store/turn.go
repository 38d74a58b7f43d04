package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// turn lets the updates of one process share commits. A commit waits for the
// disk; on SQLite that is nearly all an update costs, and only one can be under
// way.
//
// Who wants to write waits for its turn, does its work in the transaction that
// is open or opens one, gives the turn on and queues for it once more. Those
// that were waiting meanwhile come first and add their work to the same
// transaction; whoever then gets the turn back commits for all. Nobody is told
// of success before that commit. Alone, an update gives the turn to itself and
// loses nothing.
//
// An update that fails is undone by itself, to its savepoint. When the commit
// fails, or SQLite rolled back on its own, all of the group failed and each
// runs again.
type turn struct {
	baton chan struct{} // full while somebody has the turn; waiters are first come, first served
	open  *group        // touched with the baton only
}

// group is one transaction of several updates.
type group struct {
	conn *sql.Conn
	tx   *sql.Tx
	size int           // updates whose work is in it
	head *heads        // after them; nil while none has written events or records
	done chan struct{} // closed once it is committed or lost
	err  error         // set before done is closed
}

func newTurn() *turn { return &turn{baton: make(chan struct{}, 1)} }

func (u *turn) update(ctx context.Context, s *Store, fn func(pipeline.Tx) error) error {
	const op = "store.Update"
	select {
	case u.baton <- struct{}{}:
	case <-ctx.Done():
		return fault.E(op, fault.Unavailable, "wait for the writer", context.Cause(ctx))
	}
	g, err := u.part(ctx, s, fn)
	if err != nil {
		return err
	}
	// From here on the work is in the group: whether it is kept is no longer
	// the caller's to stop, so ctx is not asked any more.
	select {
	case <-g.done:
	case u.baton <- struct{}{}:
		if u.open == g {
			u.close(s, nil)
		}
		<-u.baton
		<-g.done
	}
	return g.err
}

// part does one update's work in the open group and gives the baton on. Only
// when it answers no error is the work in the group.
func (u *turn) part(ctx context.Context, s *Store, fn func(pipeline.Tx) error) (*group, error) {
	const op = "store.Update"
	d := &s.db.Dialect
	if u.open == nil {
		g, err := begin(ctx, s)
		if err != nil {
			<-u.baton
			return nil, d.fail(op, "begin a transaction", err)
		}
		u.open = g
	}
	g := u.open

	// The first of a group needs no savepoint: undoing it undoes all there is.
	whole := g.size == 0
	if !whole {
		if err := g.exec(s, `SAVEPOINT part`); err != nil {
			u.close(s, err)
			<-u.baton
			return nil, d.fail(op, "begin a transaction", err)
		}
	}
	// undo takes the work out of the group and gives the baton on. The watch
	// calls it when fn hangs, so that those who wait go on without it.
	undo := sync.OnceFunc(func() {
		switch {
		case whole:
			u.close(s, errUndone)
		default:
			if _, err := g.tx.Exec(`ROLLBACK TO part; RELEASE part`); err != nil {
				u.close(s, err)
			}
		}
		<-u.baton
	})

	t := newTx(ctx, s, g.tx, undo)
	if g.head != nil {
		before := *g.head
		t.heads = &before
	}
	kept := false
	defer func() {
		if !kept { // an error or a panic of fn
			undo()
		}
	}()
	if err := t.run(fn); err != nil {
		return nil, err
	}
	if !whole {
		if err := g.exec(s, `RELEASE part`); err != nil {
			u.close(s, err)
			kept = true
			<-u.baton
			return nil, &againError{fault.E(op, fault.Unavailable, "commit", err)}
		}
	}
	g.size++
	g.head = t.heads
	kept = true
	<-u.baton
	return g, nil
}

// begin opens a group. The queue uses the connection as well and may have it;
// ctx ends that wait, but not the transaction, which is of others too.
func begin(ctx context.Context, s *Store) (*group, error) {
	conn, err := s.db.Write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	sqlTx, err := conn.BeginTx(context.WithoutCancel(ctx), &s.db.Dialect.Write)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &group{conn: conn, tx: sqlTx, done: make(chan struct{})}, nil
}

// exec runs a statement of the turn itself, prepared if it is.
func (g *group) exec(s *Store, query string, args ...any) error {
	if p := s.prepared.find(query); p != nil {
		_, err := g.tx.Stmt(p).Exec(args...)
		return err
	}
	_, err := g.tx.Exec(query, args...)
	return err
}

// putHeads keeps how far the stream and the log have come with the group.
func (s *Store) putHeads(g *group) error {
	return g.exec(s, `UPDATE heads SET event_last = $1, audit_count = $2, audit_link = $3`, g.head.last, g.head.log.Count, g.head.log.Link[:])
}

// errUndone says that a group was given up because its only update failed.
var errUndone = fault.E("store.Update", fault.Internal, "the update was undone", nil)

// close commits the open group, or gives it up when there is a cause. The
// caller has the baton.
func (u *turn) close(s *Store, cause error) {
	g := u.open
	u.open = nil
	err := cause
	if err == nil && g.head != nil {
		err = s.putHeads(g)
	}
	if err == nil {
		err = g.tx.Commit()
	}
	if err != nil {
		_ = g.tx.Rollback()
		g.err = &againError{fault.E("store.Update", fault.Unavailable, "commit", err)}
	}
	_ = g.conn.Close() // gives it back
	close(g.done)
	s.prepared.learn(context.Background())
}
