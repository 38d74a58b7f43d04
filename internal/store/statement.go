package store

import (
	"context"
	"database/sql"
	"sync"
)

// prepared keeps statements ready on the connection that writes. SQLite would
// otherwise parse and plan each of them anew, which takes as long as running
// it; the driver of PostgreSQL remembers them by itself.
//
// A statement cannot be prepared while the one connection is in a transaction,
// so what a transaction ran unprepared is prepared after it.
type prepared struct {
	db *sql.DB

	mu     sync.Mutex // guards both
	ready  map[string]*sql.Stmt
	wanted map[string]bool
}

// preparedLimit is more than the statements of this package. Lists of values
// make a text of their own for each length, and those must not pile up.
const preparedLimit = 256

func newPrepared(db *sql.DB) *prepared {
	return &prepared{db: db, ready: map[string]*sql.Stmt{}, wanted: map[string]bool{}}
}

// find is the statement if it is ready; else it will be.
func (p *prepared) find(query string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.ready[query]
	if s == nil && len(p.ready)+len(p.wanted) < preparedLimit {
		p.wanted[query] = true
	}
	return s
}

// learn prepares what was wanted. No transaction may be open. A statement that
// does not prepare goes on as before.
func (p *prepared) learn(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for query := range p.wanted {
		delete(p.wanted, query)
		if s, err := p.db.PrepareContext(ctx, query); err == nil {
			p.ready[query] = s
		}
	}
}

func (p *prepared) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for query, s := range p.ready {
		_ = s.Close()
		delete(p.ready, query)
	}
}

// query and execute run a statement, prepared if it is.
func (r *reader) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	if s := r.prepared(query); s != nil {
		return r.q.StmtContext(ctx, s).QueryContext(ctx, args...)
	}
	return r.q.QueryContext(ctx, query, args...)
}

func (r *reader) execute(ctx context.Context, query string, args []any) (sql.Result, error) {
	if s := r.prepared(query); s != nil {
		return r.q.StmtContext(ctx, s).ExecContext(ctx, args...)
	}
	return r.q.ExecContext(ctx, query, args...)
}

func (r *reader) prepared(query string) *sql.Stmt {
	if !r.writing || r.s.prepared == nil {
		return nil
	}
	return r.s.prepared.find(query)
}
