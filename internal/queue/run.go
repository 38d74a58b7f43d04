package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

// Nodes is the leases of the processes that share a queue. The store has them.
type Nodes interface {
	// Beat renews a lease; the first beat takes it. The error is in the chain
	// of pipeline.ErrLeaseLost when others have declared the node dead.
	Beat(ctx context.Context, node string, first bool) error
	// Bury removes the nodes that have been silent for so long and calls fn for
	// each in the same transaction.
	Bury(ctx context.Context, silence time.Duration, fn func(ctx context.Context, tx *sql.Tx, node string) error) ([]string, error)
	// Leave gives a lease back.
	Leave(ctx context.Context, node string) error
}

// Config is what a Queue needs beside a database.
type Config struct {
	Node    string // names this process, differently at each start
	Kinds   []Kind
	Nodes   Nodes         // not asked where one process works alone
	Workers int           // jobs that run at the same time; 16 when it is 0
	Grace   time.Duration // how long a stop waits before it cancels what runs; 20 s when it is 0
	Logger  *slog.Logger  // nil is silence

	// Now is the clock that waits are counted on; nil is the process's own.
	Now func() time.Time

	// Beat and Silence are how often a node beats and how long it may be
	// silent; 3 s and 9 s when they are 0, so that a dead node's jobs run
	// elsewhere within 15 s.
	Beat, Silence time.Duration

	// Quick starts the upkeep of the queue without the delay that keeps nodes
	// apart which start together.
	Quick bool
}

// Queue works jobs.
type Queue struct {
	driver Driver
	conf   Config
	kinds  map[pipeline.JobKind]Kind
	client *river.Client[*sql.Tx]

	starting sync.Mutex // held while River starts: Abort must not come in between
}

// New is a Queue whose schema is there (see Migrate).
func New(d Driver, conf Config) (*Queue, error) {
	table, err := kinds(conf.Kinds)
	if err != nil {
		return nil, err
	}
	if conf.Node == "" || conf.Nodes == nil && !d.alone {
		return nil, errors.New("queue: a queue needs the name of its node and the leases of all")
	}
	setDefault(&conf.Workers, 16)
	setDefault(&conf.Grace, 20*time.Second)
	setDefault(&conf.Beat, 3*time.Second)
	setDefault(&conf.Silence, 3*conf.Beat)
	if conf.Logger == nil {
		conf.Logger = slog.New(slog.DiscardHandler)
	}
	q := &Queue{driver: d, conf: conf, kinds: table}

	workers := river.NewWorkers()
	for _, k := range conf.Kinds {
		river.AddWorkerArgs(workers, message{kind: k.Name}, &worker{kind: k, log: conf.Logger})
	}
	longest := time.Duration(0)
	for _, k := range conf.Kinds {
		longest = max(longest, k.timeout())
	}
	q.client, err = river.NewClient(d.river, &river.Config{
		ID:                conf.Node,
		Queues:            map[string]river.QueueConfig{line: {MaxWorkers: conf.Workers}},
		Workers:           workers,
		FetchCooldown:     cooldown,
		FetchPollInterval: d.poll,
		PollOnly:          true,
		MaxAttempts:       manyAttempts,
		// A kind of a newer program waits for a node that knows it.
		FetchOnlyKnownKinds: true,
		JobTimeout:          -1, // each kind has its own
		SoftStopTimeout:     conf.Grace,
		RetryPolicy:         policy{q},
		Logger:              conf.Logger,
		TestOnly:            conf.Quick,
		Test:                river.TestConfig{Time: clock(conf.Now)},
		// A job without a living node is given back by its lease; River's own
		// rescue would count an attempt, so it comes last of all.
		RescueStuckJobsAfter:        24*time.Hour + longest,
		CompletedJobRetentionPeriod: 3 * 24 * time.Hour,
		CancelledJobRetentionPeriod: 30 * 24 * time.Hour,
		DiscardedJobRetentionPeriod: 30 * 24 * time.Hour,
	})
	if err != nil {
		return nil, fmt.Errorf("set up the queue: %w", err)
	}
	return q, nil
}

func setDefault[T comparable](v *T, usual T) {
	var none T
	if *v == none {
		*v = usual
	}
}

func (q *Queue) now() time.Time {
	if q.conf.Now != nil {
		return q.conf.Now()
	}
	return time.Now()
}

// worker calls the use case of a kind.
type worker struct {
	river.WorkerDefaults[message]
	kind Kind
	log  *slog.Logger
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, j *river.Job[message]) error {
	ctx = pipeline.WithTrace(ctx)
	what, wait, err := w.kind.work(ctx, j.JobRow)
	// A stop that cancelled the job gives it back; River knows by the cause.
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	switch what {
	case completed:
		return nil
	case repeated:
		return river.JobSnooze(wait)
	case givenUp:
		w.log.ErrorContext(ctx, "job given up", slog.String("kind", string(w.kind.Name)), slog.String("key", j.Args.Key),
			slog.String("chain", j.Args.Chain), slog.Int("attempt", j.Attempt), slog.Any("error", err))
		return river.JobCancel(err)
	case failed:
	}
	return err
}

// policy counts the wait from the end of the failed attempt, exactly.
type policy struct{ q *Queue }

// NextRetry implements river.ClientRetryPolicy.
func (p policy) NextRetry(row *rivertype.JobRow) time.Time {
	now := p.q.now()
	k, known := p.q.kinds[pipeline.JobKind(row.Kind)]
	if !known || row.Attempt < 1 || row.Attempt > len(k.Retry) {
		return now.Add(away)
	}
	return now.Add(k.Retry[row.Attempt-1])
}

// Run works jobs until ctx is done, then stops in order: no new jobs, those
// under way end, the lease is given back. It answers an error when it could not
// start, or when the node was declared dead: its jobs run elsewhere then, and
// the process must end.
func (q *Queue) Run(ctx context.Context) error {
	// The stop is ours to order: nothing below ends just because ctx does.
	work := context.WithoutCancel(ctx)
	if err := q.enter(ctx); err != nil {
		return err
	}
	q.starting.Lock()
	err := q.client.Start(work)
	q.starting.Unlock()
	if err != nil {
		return errors.Join(fmt.Errorf("start the queue: %w", err), q.leave(work))
	}
	lost := q.beat(ctx)

	// Who hangs beyond its cancellation is not waited for; then the lease stays
	// as well, and ends when the process has.
	stop, cancel := context.WithTimeout(work, q.conf.Grace+10*time.Second)
	defer cancel()
	if lost != nil {
		return errors.Join(lost, q.client.StopAndCancel(stop)) // others have our jobs
	}
	if err := q.client.Stop(stop); err != nil {
		return fmt.Errorf("stop the queue: %w", err)
	}
	return q.leave(work)
}

// Abort cancels what runs, for a second signal, and waits until it has ended.
func (q *Queue) Abort(ctx context.Context) error {
	q.starting.Lock()
	q.starting.Unlock() //nolint:staticcheck // the lock orders the two calls, it guards nothing
	return q.client.StopAndCancel(ctx)
}

// enter takes the lease and gives back what dead processes were running.
func (q *Queue) enter(ctx context.Context) error {
	if q.driver.alone {
		return q.recoverAll(ctx)
	}
	if err := q.conf.Nodes.Beat(ctx, q.conf.Node, true); err != nil {
		return err
	}
	return q.recover(ctx)
}

func (q *Queue) leave(ctx context.Context) error {
	if q.driver.alone {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return q.conf.Nodes.Leave(ctx, q.conf.Node)
}

// beat keeps the lease and gives the jobs of dead nodes back. nil: ctx is done.
func (q *Queue) beat(ctx context.Context) error {
	if q.driver.alone {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(q.conf.Beat)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := q.conf.Nodes.Beat(ctx, q.conf.Node, false)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, pipeline.ErrLeaseLost):
			return err
		case err == nil:
			last = time.Now()
			err = q.recover(ctx)
		case time.Since(last) > q.conf.Silence:
			// By now others may have buried us; they cannot be asked.
			return fault.E("queue.Run", fault.Unavailable, "the lease could not be renewed", errors.Join(pipeline.ErrLeaseLost, err))
		}
		if err != nil && ctx.Err() == nil {
			q.conf.Logger.WarnContext(ctx, "lease", slog.String("node", q.conf.Node), slog.Any("error", err))
		}
	}
}
