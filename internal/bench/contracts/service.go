package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/sqlite"
)

// noop is a kind of job that does nothing: the floor.
const noop pipeline.JobKind = "bench_noop"

// service is the control plane on one database, wired as the server wires it,
// without its surface.
type service struct {
	*pipeline.Service
	store *store.Store
	db    *store.Database
	queue *queue.Queue
	board *board
	asked *asked
	end   func() error
}

// asked counts the transactions of the use cases.
type asked struct {
	*store.Store
	updates, views atomic.Int64
}

func (a *asked) Update(ctx context.Context, fn func(pipeline.Tx) error) error {
	a.updates.Add(1)
	return a.Store.Update(ctx, fn)
}

func (a *asked) View(ctx context.Context, fn func(pipeline.Reader) error) error {
	a.views.Add(1)
	return a.Store.View(ctx, fn)
}

// board sees every job when it is enqueued and when it is done.
type board struct {
	jobs  atomic.Int64   // that were enqueued, timers included
	done  chan struct{}  // gets one for each job that does nothing
	first chan time.Time // gets the time of the first effect

	mu      sync.Mutex
	since   map[string]time.Time
	took    []time.Duration
	waiting map[contract.ID]chan pipeline.JobKind
}

func name(j pipeline.Job) string { return string(j.Kind) + " " + j.Key }

func (b *board) enqueued(jobs []pipeline.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for _, j := range jobs {
		b.jobs.Add(1)
		if !j.At.After(now) && j.Kind != noop {
			b.since[name(j)] = now
		}
	}
}

// finished is called when what a job does is on the disk.
func (b *board) finished(j pipeline.Job) {
	if j.Kind == noop {
		b.done <- struct{}{}
		return
	}
	select {
	case b.first <- time.Now():
	default: // it was not the first
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if since, ok := b.since[name(j)]; ok {
		b.took = append(b.took, time.Since(since))
		delete(b.since, name(j))
	}
	if c := b.waiting[j.Chain]; c != nil {
		select {
		case c <- j.Kind:
		default: // nobody waits for so many
		}
	}
}

// watch is the jobs of a chain that were done from now on.
func (b *board) watch(chain contract.ID) <-chan pipeline.JobKind {
	c := make(chan pipeline.JobKind, 32)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[chain] = c
	return c
}

func (b *board) forget(chain contract.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, chain)
}

// taken answers how long the jobs took since it was asked last, from the moment
// they were written to the moment their effect was kept.
func (b *board) taken() []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	took := b.took
	b.took = nil
	return took
}

// open connects; nothing is worked yet.
func open(ctx context.Context, at string) (*service, error) {
	var db *store.Database
	var driver queue.Driver
	var err error
	if strings.HasPrefix(at, "postgres:") {
		if db, err = postgres.Open(ctx, postgres.Config{URL: at}); err != nil {
			return nil, err
		}
		driver = queue.Postgres(db.Write)
	} else {
		if db, err = sqlite.Open(ctx, sqlite.Config{Path: at}); err != nil {
			return nil, err
		}
		driver = queue.SQLite(db.Write)
	}
	if err := queue.Migrate(ctx, driver); err != nil {
		return nil, err
	}
	inserter, err := queue.NewInserter(driver, nil)
	if err != nil {
		return nil, err
	}
	s := &service{db: db, board: &board{
		done: make(chan struct{}, 1<<16), first: make(chan time.Time, 1), since: map[string]time.Time{}, waiting: map[contract.ID]chan pipeline.JobKind{},
	}}
	s.store, err = store.New(ctx, db, store.Config{
		Origin: "plimsoll.bench/log",
		Enqueue: func(ctx context.Context, tx *sql.Tx, jobs []pipeline.Job) error {
			s.board.enqueued(jobs)
			return inserter.Enqueue(ctx, tx, jobs)
		},
	})
	if err != nil {
		return nil, err
	}
	conf := pipeline.DefaultConfig()
	s.asked = &asked{Store: s.store}
	conf.Store, conf.NewID, conf.Secret, conf.Repository = s.asked, newID, func() [32]byte { return [32]byte{1} }, "git@example.org:app"
	if s.Service, err = pipeline.New(conf); err != nil {
		return nil, err
	}
	kinds := []queue.Kind{{Name: noop, Work: s.attempt}}
	for _, k := range pipeline.JobKinds() {
		kinds = append(kinds, queue.Kind{Name: k, Work: s.attempt, Retry: pipeline.Retry()})
	}
	q, err := queue.New(driver, queue.Config{Node: newID("node"), Nodes: s.store, Kinds: kinds})
	if err != nil {
		return nil, err
	}
	s.queue, s.end = q, s.store.Close
	return s, nil
}

// begin works jobs until end is called.
func (s *service) begin(ctx context.Context) {
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.queue.Run(running) }()
	s.end = func() error {
		stop()
		return errors.Join(<-ended, s.store.Close())
	}
}

func (s *service) attempt(ctx context.Context, a pipeline.Attempt) error {
	if a.Kind != noop {
		if err := s.Work(ctx, a); err != nil {
			return err
		}
	}
	s.board.finished(a.Job)
	return nil
}

var ids atomic.Int64

// newID is an id nobody has, in this run or in one on the same database before.
func newID(prefix string) string {
	return fmt.Sprintf("%s-%x-%06d", prefix, time.Now().UnixMicro(), ids.Add(1))
}

// people makes those who take part.
func (s *service) people(ctx context.Context) error {
	return s.store.Update(ctx, func(tx pipeline.Tx) error {
		for _, a := range []pipeline.Actor{
			{ID: "ada", Type: contract.Human, Roles: contract.RolesOf(contract.Requester)},
			{ID: "lea", Type: contract.Human, Roles: contract.RolesOf(contract.ProjectLead)},
			{ID: "dev", Type: contract.Agent, Roles: contract.RolesOf(contract.Developer)},
			{ID: "cia", Type: contract.Agent, Roles: contract.RolesOf(contract.CIAgent)},
		} {
			a.Active, a.CreatedAt, a.UpdatedAt = true, tx.Now(), tx.Now()
			if err := tx.CreateActor(&a); err != nil {
				return err
			}
		}
		return nil
	})
}
