// Package queue runs the jobs of the contracts on River, on both databases.
//
// A job is transport: it is decoded, one use case is called, and the error's
// kind says what becomes of it. Which kinds there are and how each is repeated
// is data that the server hands over.
//
// A job is written in the transaction of the change that asks for it
// (Inserter), so it exists if and only if the change does (rulings R11). It
// runs at least once. An attempt counts only when it ends with a failure of
// its own: a killed process, a stopped node or a database that went away give
// the job back as it was (docs/spec/contracts.md §3.5).
package queue

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// Driver is a database as the queue uses it.
type Driver struct {
	river riverdriver.Driver[*sql.Tx]
	db    *sql.DB
	alone bool          // one process works on the database
	poll  time.Duration // between two looks for jobs
}

// SQLite is the queue in the one file of a node. db is the connection that
// writes.
func SQLite(db *sql.DB) Driver {
	return Driver{river: riversqlite.New(db), db: db, alone: true, poll: 20 * time.Millisecond}
}

// Postgres is the queue that several nodes share.
func Postgres(db *sql.DB) Driver {
	// Looking is cheap here as well, and announcing is not: NOTIFY makes the
	// commits of a server wait for one another. Without it two to three times as
	// many updates were committed per second.
	return Driver{river: riverdatabasesql.New(db), db: db, poll: 20 * time.Millisecond}
}

const (
	// line is the one queue. Kinds that must not hold each other up are limited
	// by their use cases, not by queues that a node may forget to serve.
	line = river.QueueDefault

	// cooldown is the shortest time between two looks for jobs.
	cooldown = 2 * time.Millisecond

	// upkeep is more than the time between two looks for jobs whose start has
	// come near. A job that is due sooner is lined up when it is added: it
	// starts at its time all the same, and need not wait for the look.
	upkeep = 10 * time.Second

	// manyAttempts is what River is told. How often a kind is repeated is known
	// when it runs, so that a changed schedule holds for jobs that wait.
	manyAttempts = 30_000
)

// message is how a job lies in the queue.
type message struct {
	kind  pipeline.JobKind
	Key   string          `json:"key,omitempty" river:"unique"`
	Chain string          `json:"chain,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"`
}

// Kind implements river.JobArgs.
func (m message) Kind() string { return string(m.kind) }

// Inserter puts jobs into the queue and works none. A process has one beside
// its Queue, because the use cases that the Queue calls need it first.
type Inserter struct {
	client *river.Client[*sql.Tx]
	now    func() time.Time
}

// NewInserter is an Inserter; now is nil where the database's clock counts.
func NewInserter(d Driver, now func() time.Time) (*Inserter, error) {
	conf := &river.Config{
		Logger: slog.New(slog.DiscardHandler), MaxAttempts: manyAttempts, Test: river.TestConfig{Time: clock(now)},
		// How often new jobs are announced: nobody listens, each node looks.
		FetchCooldown: time.Hour, FetchPollInterval: time.Hour,
	}
	client, err := river.NewClient(d.river, conf)
	if err != nil {
		return nil, fmt.Errorf("set up the queue: %w", err)
	}
	if now == nil {
		now = time.Now
	}
	return &Inserter{client: client, now: now}, nil
}

// Enqueue adds jobs in a transaction. A key that is in the queue already, in
// whatever state, adds nothing.
func (i *Inserter) Enqueue(ctx context.Context, tx *sql.Tx, jobs []pipeline.Job) error {
	many := make([]river.InsertManyParams, 0, len(jobs))
	type unique struct {
		kind pipeline.JobKind
		key  string
	}
	now := i.now()
	here := map[unique]bool{} // River refuses a batch that repeats a key
	for _, j := range jobs {
		if u := (unique{j.Kind, j.Key}); j.Key != "" {
			if here[u] {
				continue
			}
			here[u] = true
		}
		// PostgreSQL keeps arguments as jsonb, which has no U+0000.
		if bytes.Contains(j.Args, []byte(`\u0000`)) || len(j.Args) > 0 && !json.Valid(j.Args) {
			return fault.E("queue.Enqueue", fault.Invalid, "the arguments of job "+string(j.Kind)+" are no JSON that can be kept", nil)
		}
		opts := &river.InsertOpts{Queue: line, MaxAttempts: manyAttempts}
		if j.At.After(now) {
			opts.ScheduledAt = j.At
		}
		if j.Key != "" {
			opts.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()}
		}
		many = append(many, river.InsertManyParams{
			Args:       message{kind: j.Kind, Key: j.Key, Chain: string(j.Chain), Args: j.Args},
			InsertOpts: opts,
		})
	}
	added, err := i.client.InsertManyTx(ctx, tx, many)
	if err != nil {
		return err
	}
	for _, a := range added {
		if a.Job.State != rivertype.JobStateScheduled || a.Job.ScheduledAt.Sub(now) > upkeep {
			continue
		}
		if _, err := tx.ExecContext(ctx, lineUp, a.Job.ID); err != nil {
			return err
		}
	}
	return nil
}

// job is what lies in a row of the queue.
func job(row *rivertype.JobRow) (pipeline.Job, error) {
	var m message
	if err := json.Unmarshal(row.EncodedArgs, &m); err != nil {
		return pipeline.Job{}, fmt.Errorf("decode job %s: %w", row.Kind, err)
	}
	return pipeline.Job{
		Kind: pipeline.JobKind(row.Kind), Key: m.Key, Chain: contract.ID(m.Chain), Args: m.Args, At: row.ScheduledAt.UTC(),
	}, nil
}

// stubbed is an injected clock as River takes one.
type stubbed func() time.Time

func (s stubbed) Now() time.Time { return s() }

func (s stubbed) NowOrNil() *time.Time {
	now := s().UTC()
	return &now
}

func clock(now func() time.Time) rivertype.TimeGenerator {
	if now == nil {
		return nil
	}
	return stubbed(now)
}
