package pipeline_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/postgres/pgtest"
	"plimsoll.dev/internal/store/sqlite"
)

// start is the instant the tests begin at.
var start = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)

// world is a service on an empty store, with a clock and a queue that a test
// moves by hand.
type world struct {
	*testing.T
	*pipeline.Service
	store *store.Store

	mu   sync.Mutex // guards now, ids, line and seen
	now  time.Time
	ids  map[string]int
	line []queued
	seen map[string]bool

	// twice runs every job a second time, as a queue may.
	twice bool

	tip     string
	fetches bool
	tokens  map[string]int64 // of runs, by executionId
}

// queued is a job in the line, with the attempts it has had.
type queued struct {
	pipeline.Job
	failed int
}

func newWorld(t *testing.T, change func(*pipeline.Config)) *world {
	t.Helper()
	t.Parallel()
	return newWorldAt(t, filepath.Join(t.TempDir(), "plimsoll.db"), change)
}

// newWorldAt is a world on this database: the URL of a PostgreSQL, or a file.
func newWorldAt(t *testing.T, at string, change func(*pipeline.Config)) *world {
	t.Helper()
	w := &world{T: t, now: start, ids: map[string]int{}, seen: map[string]bool{}, tip: "c0ffee0", fetches: true, tokens: map[string]int64{}}
	w.open(at, change)
	t.Cleanup(w.close)
	return w
}

// both runs a test on both databases.
func both(t *testing.T, test func(t *testing.T, at string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, filepath.Join(t.TempDir(), "plimsoll.db")) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, pgtest.New(t)) })
}

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func (w *world) close() {
	if err := w.store.Close(); err != nil {
		w.Error(err)
	}
}

// open begins a service on a database.
func (w *world) open(at string, change func(*pipeline.Config)) {
	w.Helper()
	db, err := database(w.Context(), at)
	if err != nil {
		w.Fatal(err)
	}
	w.store, err = store.New(w.Context(), db, store.Config{Enqueue: w.enqueue, Now: w.clock, Origin: "plimsoll.test/log"})
	if err != nil {
		w.Fatal(err)
	}
	conf := pipeline.DefaultConfig()
	conf.Store, conf.NewID, conf.Secret = w.store, w.id, func() [32]byte { return [32]byte{1} }
	conf.Reference, conf.Repository, conf.Orchestrator = w, "git@example.org:app", "orchestrator-001"
	if change != nil {
		change(&conf)
	}
	if w.Service, err = pipeline.New(conf); err != nil {
		w.Fatal(err)
	}
}

func database(ctx context.Context, at string) (*store.Database, error) {
	if strings.HasPrefix(at, "postgres:") {
		return postgres.Open(ctx, postgres.Config{URL: at})
	}
	return sqlite.Open(ctx, sqlite.Config{Path: at})
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) at(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

// id is exec-0001, exec-0002, ... and the like; the vectors name runs so.
func (w *world) id(prefix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids[prefix]++
	return fmt.Sprintf("%s-%04d", prefix, w.ids[prefix])
}

// unused gives an id back that no use case took.
func (w *world) unused(prefix string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids[prefix]--
}

// Tip implements pipeline.Reference.
func (w *world) Tip(context.Context, string) (string, error) { return w.tip, nil }

// Fetch implements pipeline.Reference.
func (w *world) Fetch(context.Context, string) (string, error) {
	if !w.fetches {
		return "", errors.New("the remote does not answer")
	}
	return w.tip, nil
}

func (w *world) enqueue(_ context.Context, _ *sql.Tx, jobs []pipeline.Job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		key := string(j.Kind) + " " + j.Key
		if j.Key != "" && w.seen[key] {
			continue
		}
		w.seen[key] = true
		w.line = append(w.line, queued{Job: j})
	}
	return nil
}

// due takes the first job out of the line that may start.
func (w *world) due() (queued, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.line, func(a, b queued) int { return a.At.Compare(b.At) })
	if len(w.line) == 0 || w.line[0].At.After(w.now) {
		return queued{}, false
	}
	j := w.line[0]
	w.line = w.line[1:]
	return j, true
}

func (w *world) back(j queued, after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.At = w.now.Add(after)
	w.line = append(w.line, j)
}

// drain runs every job that is due until none is left.
func (w *world) drain() {
	w.Helper()
	retry := pipeline.Retry()
	for range 10_000 {
		j, ok := w.due()
		if !ok {
			return
		}
		attempt := pipeline.Attempt{Job: j.Job, Number: j.failed + 1, Last: j.failed == len(retry)}
		err := w.Work(w.Context(), attempt)
		if w.twice && err == nil {
			err = w.Work(w.Context(), attempt)
		}
		again, repeated := errors.AsType[*pipeline.Again](err)
		switch {
		case err == nil:
		case repeated:
			w.back(j, max(again.After, time.Second))
		case j.failed < len(retry):
			w.back(j, retry[j.failed])
			w.line[len(w.line)-1].failed++
		default:
			w.Fatalf("job %s %s was given up: %v", j.Kind, j.Key, err)
		}
	}
	w.Fatal("the jobs do not come to an end")
}

// people registers actors, past the use case: the registry has its own tests.
func (w *world) people(list ...pipeline.Actor) {
	w.Helper()
	err := w.store.Update(w.Context(), func(tx pipeline.Tx) error {
		for _, a := range list {
			a.Active, a.CreatedAt, a.UpdatedAt = true, tx.Now(), tx.Now()
			if err := tx.CreateActor(&a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

func by(id contract.ActorID, r contract.Role) pipeline.Caller {
	return pipeline.Caller{Actor: id, Role: r}
}

// read runs a view that must succeed.
func read[T any](w *world, fn func(pipeline.Reader) (T, error)) T {
	w.Helper()
	var v T
	err := w.store.View(w.Context(), func(r pipeline.Reader) (err error) {
		v, err = fn(r)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return v
}

// executor is what an executor's program does around a run: it claims it, has
// artifacts, and says what it knows.
func (w *world) claim(who pipeline.Caller, task contract.ID, p string) (*pipeline.Claim, error) {
	c, err := w.TaskClaim(w.Context(), who, pipeline.ClaimArgs{Task: task, Phase: pipeline.Phase(p)})
	if err != nil {
		w.unused("exec")
		return nil, err
	}
	w.tokens[c.Run.ExecutionID] = c.Run.LockToken
	return c, nil
}

// put delivers artifacts of a run.
func (w *world) put(who pipeline.Caller, execution string, kinds ...phase.Proof) {
	w.Helper()
	who.LockToken = w.tokens[execution]
	for _, kind := range kinds {
		b := []byte("ok\n")
		switch kind {
		case phase.UnitTestResult, phase.IntegrationReport:
			b = []byte(`{"tool":"go","command":["go","test"],"exitCode":0,"passed":12,"failed":0,"skipped":0,"startedAt":"2026-03-29T10:00:00Z","endedAt":"2026-03-29T10:00:01Z"}`)
		case phase.ReleaseNote:
			task := read(w, func(r pipeline.Reader) (contract.ID, error) {
				run, err := r.Run(execution)
				return run.TaskSeed.ID, err
			})
			note, err := w.NoteGet(w.Context(), task)
			if err != nil {
				w.Fatal(err)
			}
			b = note.Markdown
		}
		if _, err := w.ArtifactPut(w.Context(), who, pipeline.ArtifactArgs{Execution: execution, Kind: pipeline.ArtifactKind(kind), Bytes: b}); err != nil {
			w.Fatalf("deliver %s: %v", kind, err)
		}
	}
}

// evidence is what an executor knows of its run. The diff hash differs whenever
// the commit does.
func evidence(base, head, diff, output string, from, to time.Time) map[string]any {
	if diff == "" {
		diff = contract.Hash([]byte(head))
	}
	if base == head {
		diff = contract.EmptyDiffHash
	}
	if output == "" {
		output = contract.EmptyObjectHash
	}
	return map[string]any{
		"baseCommit": base, "headCommit": head, "inputHash": contract.EmptyObjectHash, "outputHash": output, "diffHash": diff,
		"model": map[string]any{"name": "none", "version": "none", "parametersHash": contract.EmptyObjectHash},
		"tools": []any{"go"},
		"environment": map[string]any{
			"os": "linux", "runtime": "go1.26", "containerImageDigest": contract.Uncontainerized, "lockfileHash": contract.EmptyObjectHash,
		},
		"startTime": contract.At(from).String(), "endTime": contract.At(to).String(),
	}
}
