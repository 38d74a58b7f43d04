package queue_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/queue"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/postgres/pgtest"
	"plimsoll.dev/internal/store/sqlite"
)

func TestMain(m *testing.M) {
	if child := os.Getenv("PLIMSOLL_TEST_CHILD"); child != "" {
		children[child]()
		return
	}
	code := pgtest.Main(m)
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// address names a database: a file, or the URL of a server.
type address string

// databases is where every test runs.
var databases = []struct {
	name string
	make func(testing.TB) address
}{
	{"sqlite", func(t testing.TB) address { t.Helper(); return address(filepath.Join(t.TempDir(), "plimsoll.db")) }},
	{"postgres", func(t testing.TB) address { t.Helper(); return address(pgtest.New(t)) }},
}

// node is a process's store and queue.
type node struct {
	*queue.Queue
	store *store.Store
	close func() error
}

// open connects as a process does when it starts.
func open(ctx context.Context, at address, conf queue.Config) (*node, error) {
	var db *store.Database
	var driver queue.Driver
	var err error
	if strings.HasPrefix(string(at), "postgres:") {
		if db, err = postgres.Open(ctx, postgres.Config{URL: string(at)}); err != nil {
			return nil, err
		}
		driver = queue.Postgres(db.Write)
	} else {
		if db, err = sqlite.Open(ctx, sqlite.Config{Path: string(at)}); err != nil {
			return nil, err
		}
		driver = queue.SQLite(db.Write)
	}
	if err := queue.Migrate(ctx, driver); err != nil {
		return nil, err
	}
	inserter, err := queue.NewInserter(driver, conf.Now)
	if err != nil {
		return nil, err
	}
	s, err := store.New(ctx, db, store.Config{Enqueue: inserter.Enqueue, Now: conf.Now, Origin: "plimsoll.test/log"})
	if err != nil {
		return nil, err
	}
	if conf.Node == "" {
		conf.Node = "node"
	}
	conf.Nodes, conf.Quick = s, true
	q, err := queue.New(driver, conf)
	if err != nil {
		return nil, err
	}
	return &node{Queue: q, store: s, close: s.Close}, nil
}

func start(t *testing.T, at address, conf queue.Config) *node {
	t.Helper()
	n, err := open(t.Context(), at, conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func (n *node) enqueue(t *testing.T, jobs ...pipeline.Job) {
	t.Helper()
	if err := n.try(t, jobs...); err != nil {
		t.Fatal(err)
	}
}

func (n *node) try(t *testing.T, jobs ...pipeline.Job) error {
	t.Helper()
	return n.store.Update(t.Context(), func(tx pipeline.Tx) error {
		for _, j := range jobs {
			if err := tx.Enqueue(j); err != nil {
				return err
			}
		}
		return nil
	})
}

// diary is a use case that writes down when it was called.
type diary struct {
	mu      sync.Mutex
	now     time.Time
	entries []string
	answers []error // what it answers, in turn; then nil
}

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

func (d *diary) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *diary) at(since time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = noon.Add(since)
}

func (d *diary) work(_ context.Context, a pipeline.Attempt) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	entry := fmt.Sprintf("%v %s#%d", d.now.Sub(noon), a.Key, a.Number)
	if a.Last {
		entry += "!"
	}
	d.entries = append(d.entries, entry)
	if len(d.answers) == 0 {
		return nil
	}
	answer := d.answers[0]
	d.answers = d.answers[1:]
	return answer
}

// read is the entries since it was last read.
func (d *diary) read() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := strings.Join(d.entries, ", ")
	d.entries = nil
	return text
}

// generation is the schedule of docs/spec/contracts.md §4.4.
var generation = []time.Duration{30 * time.Second, 60 * time.Second, 120 * time.Second}

func drain(t *testing.T, n *node) {
	t.Helper()
	if _, err := n.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestARetryStartsExactlyWhenItIsDue(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "generate", Work: d.work, Retry: generation}}})
			bad := errors.New("the output has no plan")
			d.answers = []error{bad, bad, bad, bad}
			n.enqueue(t, pipeline.Job{Kind: "generate", Key: "IC-001:1:TaskSeed"})
			for _, step := range []struct {
				at   time.Duration
				want string
			}{
				{0, "0s IC-001:1:TaskSeed#1"},
				{30*time.Second - time.Millisecond, ""},
				{30 * time.Second, "30s IC-001:1:TaskSeed#2"},
				{90*time.Second - time.Millisecond, ""},
				{90 * time.Second, "1m30s IC-001:1:TaskSeed#3"},
				{210*time.Second - time.Millisecond, ""},
				{210 * time.Second, "3m30s IC-001:1:TaskSeed#4!"},
				{24 * time.Hour, ""},
			} {
				d.at(step.at)
				drain(t, n)
				if got := d.read(); got != step.want {
					t.Errorf("after %v: %q, want %q", step.at, got, step.want)
				}
			}
		})
	}
}

func TestOnlyItsOwnFailuresCount(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{
				{Name: "generate", Work: d.work, Retry: generation},
				{Name: "panic", Work: func(ctx context.Context, a pipeline.Attempt) error { _ = d.work(ctx, a); panic("a broken invariant") }, Retry: generation[:1]},
				{Name: "slow", Work: func(ctx context.Context, a pipeline.Attempt) error {
					_ = d.work(ctx, a)
					<-ctx.Done()
					return fault.E("test", fault.Unavailable, "it took too long", ctx.Err())
				}, Retry: generation[:1], Timeout: time.Millisecond},
			}})
			steps := func(job pipeline.Job, want ...string) {
				t.Helper()
				n.enqueue(t, job)
				for i, at := range []time.Duration{0, time.Second, 31 * time.Second, 32 * time.Second, 200 * time.Second} {
					d.at(at)
					drain(t, n)
					if got := d.read(); got != want[i] {
						t.Errorf("%s after %v: %q, want %q", job.Key, at, got, want[i])
					}
				}
				d.at(0)
			}
			d.answers = []error{
				fault.E("test", fault.Unavailable, "the database is away", nil),
				errors.New("no plan"),
				&pipeline.Again{After: time.Second, Err: errors.New("the lock is held")},
				errors.New("no plan"),
			}
			steps(pipeline.Job{Kind: "generate", Key: "a"}, "0s a#1", "1s a#1", "31s a#2", "32s a#2", "3m20s a#3")
			steps(pipeline.Job{Kind: "panic", Key: "b"}, "0s b#1", "", "31s b#2!", "", "")
			steps(pipeline.Job{Kind: "slow", Key: "c"}, "0s c#1", "", "31s c#2!", "", "")
		})
	}
}

func TestAJobIsCarriedWholeAndStartsNoSoonerThanItMay(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			var got []pipeline.Attempt
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "expire_gate", Work: func(_ context.Context, a pipeline.Attempt) error {
				got = append(got, a)
				return nil
			}}}})
			due := noon.Add(24*time.Hour + time.Millisecond)
			n.enqueue(t, pipeline.Job{Kind: "expire_gate", Key: "PG-001", Chain: "IC-001", Args: []byte(`{"id": "PG-001", "text": "ä<&>"}`), At: due})
			d.at(24 * time.Hour)
			drain(t, n)
			if len(got) != 0 {
				t.Errorf("it started at %v, due is %v", d.clock(), due)
			}
			d.at(24*time.Hour + time.Millisecond)
			drain(t, n)
			if len(got) != 1 || got[0].Kind != "expire_gate" || got[0].Key != "PG-001" || got[0].Chain != "IC-001" || !got[0].At.Equal(due) || got[0].Number != 1 || !got[0].Last {
				t.Errorf("it was called with %+v", got)
			}
			if len(got) == 1 && !sameJSON(got[0].Args, []byte(`{"id": "PG-001", "text": "ä<&>"}`)) {
				t.Errorf("its arguments are %s", got[0].Args)
			}
			for _, args := range []string{`{`, `{"text":"\u0000"}`} {
				if err := n.try(t, pipeline.Job{Kind: "expire_gate", Args: []byte(args)}); err == nil {
					t.Errorf("the arguments %s were taken", args)
				}
			}
		})
	}
}

func TestAKeyIsUsedOnce(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}, {Name: "gate", Work: d.work, Retry: generation}}})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}, pipeline.Job{Kind: "judge", Key: "a", Args: []byte(`{"other":1}`)})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}, pipeline.Job{Kind: "judge", Key: "b"}, pipeline.Job{Kind: "gate", Key: "a"})
			drain(t, n)
			if got := d.read(); got != "0s a#1, 0s b#1, 0s a#1" {
				t.Errorf("it was called %q", got)
			}
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}) // it is done, not forgotten
			n.enqueue(t, pipeline.Job{Kind: "judge"}, pipeline.Job{Kind: "judge"})
			drain(t, n)
			if got := d.read(); got != "0s #1, 0s #1" {
				t.Errorf("then it was called %q", got)
			}
		})
	}
}

func TestAJobExistsWithItsTransactionOnly(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			n := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			undo := errors.New("undo")
			err := n.store.Update(t.Context(), func(tx pipeline.Tx) error {
				if err := tx.Enqueue(pipeline.Job{Kind: "judge", Key: "a"}); err != nil {
					return err
				}
				return undo
			})
			if !errors.Is(err, undo) {
				t.Fatal(err)
			}
			drain(t, n)
			if got := d.read(); got != "" {
				t.Errorf("a job that was undone was called: %s", got)
			}
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}) // its key is free
			drain(t, n)
			if got := d.read(); got != "0s a#1" {
				t.Errorf("it was called %q", got)
			}
		})
	}
}

func TestAKindNobodyKnowsWaits(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			d := &diary{now: noon}
			old := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			old.enqueue(t, pipeline.Job{Kind: "from_the_future", Key: "a"}, pipeline.Job{Kind: "judge", Key: "b"})
			drain(t, old)
			if got := d.read(); got != "0s b#1" {
				t.Errorf("it was called %q", got)
			}
		})
	}
}

func TestTheTableOfKindsIsChecked(t *testing.T) {
	work := func(context.Context, pipeline.Attempt) error { return nil }
	for name, kinds := range map[string][]queue.Kind{
		"twice": {{Name: "a", Work: work}, {Name: "a", Work: work}}, "nameless": {{Work: work}}, "idle": {{Name: "a"}},
	} {
		if _, err := queue.New(queue.Driver{}, queue.Config{Node: "n", Kinds: kinds}); err == nil {
			t.Errorf("a kind that is %s was taken", name)
		}
	}
}

// running starts a queue and answers how to stop it and what it ended with.
func running(t *testing.T, n *node) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// soon waits for a signal that must come.
func soon[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

func TestARunningQueueWorksWhatIsCommitted(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			done := make(chan string, 10)
			n := start(t, at, queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: func(_ context.Context, a pipeline.Attempt) error {
				done <- a.Key
				return nil
			}}}})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "before"})
			stop := running(t, n)
			if got := soon(t, done, "the job from before the start"); got != "before" {
				t.Errorf("it worked %s", got)
			}
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "after"})
			soon(t, done, "the job from after the start")
			due := time.Now().Add(300 * time.Millisecond)
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "later", At: due})
			soon(t, done, "the job that was scheduled")
			if late := time.Since(due); late < 0 || late > 3*time.Second {
				t.Errorf("it started %v after it was due", late)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAStopWaitsForWhatRunsAndTakesNothingMore(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			started, release := make(chan string, 10), make(chan struct{})
			kinds := []queue.Kind{{Name: "judge", Work: func(_ context.Context, a pipeline.Attempt) error {
				started <- fmt.Sprintf("%s#%d", a.Key, a.Number)
				<-release
				return nil
			}}}
			n := start(t, at, queue.Config{Kinds: kinds, Workers: 1})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"}, pipeline.Job{Kind: "judge", Key: "b"})
			stop := running(t, n)
			soon(t, started, "the first job")
			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			select {
			case err := <-stopped:
				t.Fatalf("it stopped while a job ran: %v", err)
			case <-time.After(100 * time.Millisecond):
			}
			close(release)
			if err := soon(t, stopped, "the stop"); err != nil {
				t.Error(err)
			}
			if len(started) > 0 {
				t.Errorf("it took %s after it was asked to stop", <-started)
			}

			d := &diary{now: time.Now().Add(time.Minute)}
			if err := n.close(); err != nil {
				t.Fatal(err)
			}
			n.close = func() error { return nil }
			next := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			drain(t, next)
			if got := d.read(); !strings.HasSuffix(got, " b#1") || strings.Contains(got, "a#") {
				t.Errorf("what was left over is %q, want b alone", got)
			}
		})
	}
}

func TestASecondSignalGivesWhatRunsBackUncounted(t *testing.T) {
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			at := db.make(t)
			started := make(chan struct{}, 1)
			n := start(t, at, queue.Config{Kinds: []queue.Kind{{Name: "judge", Work: func(ctx context.Context, _ pipeline.Attempt) error {
				started <- struct{}{}
				<-ctx.Done()
				return fault.E("test", fault.Unavailable, "cancelled", ctx.Err())
			}, Retry: generation}}})
			n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"})
			stop := running(t, n)
			soon(t, started, "the job")
			stopped := make(chan error, 1)
			go func() { stopped <- stop() }()
			if err := n.Abort(t.Context()); err != nil {
				t.Error(err)
			}
			if err := soon(t, stopped, "the stop"); err != nil {
				t.Error(err)
			}
			if err := n.close(); err != nil {
				t.Fatal(err)
			}
			n.close = func() error { return nil }
			d := &diary{now: time.Now().Add(time.Minute)}
			next := start(t, at, queue.Config{Now: d.clock, Kinds: []queue.Kind{{Name: "judge", Work: d.work, Retry: generation}}})
			drain(t, next)
			if got := d.read(); !strings.HasSuffix(got, " a#1") {
				t.Errorf("it was called %q, want its first attempt again", got)
			}
		})
	}
}

func TestANodeThatWasDeclaredDeadStops(t *testing.T) {
	at := address(pgtest.New(t))
	cancelled := make(chan struct{}, 1)
	started := make(chan struct{}, 1)
	n := start(t, at, queue.Config{Node: "frozen", Beat: 50 * time.Millisecond, Silence: time.Hour, Kinds: []queue.Kind{{Name: "judge", Work: func(ctx context.Context, _ pipeline.Attempt) error {
		started <- struct{}{}
		<-ctx.Done()
		cancelled <- struct{}{}
		return ctx.Err()
	}}}})
	n.enqueue(t, pipeline.Job{Kind: "judge", Key: "a"})
	ended := make(chan error, 1)
	go func() { ended <- n.Run(t.Context()) }()
	soon(t, started, "the job")
	if err := n.store.Leave(t.Context(), "frozen"); err != nil { // what a burial does
		t.Fatal(err)
	}
	soon(t, cancelled, "the end of the job")
	if err := soon(t, ended, "the end of the node"); !errors.Is(err, pipeline.ErrLeaseLost) {
		t.Errorf("it ended with %v", err)
	}
}

func TestAnUpdateOfADeadNodeIsRefused(t *testing.T) {
	db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.New(t.Context(), db, store.Config{
		Enqueue: (&queue.Inserter{}).Enqueue, Origin: "plimsoll.test/log", Node: "a",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	update := func() error { return s.Update(t.Context(), func(pipeline.Tx) error { return nil }) }
	allowed := func(when string) {
		t.Helper()
		if err := update(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	allowed("before its first beat")
	if err := s.Beat(t.Context(), "a", true); err != nil {
		t.Fatal(err)
	}
	allowed("while it lives")
	if _, err := s.Bury(t.Context(), -time.Minute, func(context.Context, *sql.Tx, string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := update(); !errors.Is(err, pipeline.ErrLeaseLost) {
		t.Errorf("when it is dead: %v", err)
	}
	if err := s.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	allowed("when it has left")
}

// made is the numbers of the intents that are there.
func made(t *testing.T, n *node) []string {
	t.Helper()
	list := []string{}
	err := n.store.View(t.Context(), func(r pipeline.Reader) error {
		chains, err := r.Chains(pipeline.ChainFilter{}, pipeline.Page{})
		for _, c := range chains {
			list = append(list, string(c.ID))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// makeChain creates a chain, announces and records it, and asks for the job
// that follows from it.
func makeChain(ctx context.Context, s *store.Store, n int64) error {
	id := contract.NewID(contract.KindIntent, n)
	return s.Update(ctx, func(tx pipeline.Tx) error {
		if err := tx.CreateChain(&pipeline.Chain{ID: id, Version: 1, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}); err != nil {
			return err
		}
		at := contract.At(tx.Now()).String()
		subject := event.Subject{Kind: string(contract.KindIntent), ID: string(id), Version: 1}
		if err := tx.Emit(event.Created(subject, event.Origin{Chain: string(id), At: at}, []byte(`{}`))); err != nil {
			return err
		}
		if err := tx.Record(event.Record{Timestamp: at, ID: string(id), Version: 1, Action: "contract.create", Success: true}); err != nil {
			return err
		}
		return tx.Enqueue(pipeline.Job{Kind: "judge", Key: string(id), Chain: id})
	})
}

// logged is the ids the event stream and the audit log tell of. Both must be
// without gaps, and the log must be the chain it says it is.
func logged(t *testing.T, n *node) (events, records []string) {
	t.Helper()
	err := n.store.View(t.Context(), func(r pipeline.Reader) error {
		list, err := r.Events(0, pipeline.EventFilter{}, 0)
		if err != nil {
			return err
		}
		for i, e := range list {
			if e.Position != int64(i+1) {
				t.Errorf("event %d is at %d", i+1, e.Position)
			}
			events = append(events, e.Subject.ID)
		}
		lines, err := r.Audit(0, pipeline.AuditFilter{}, 0)
		if err != nil {
			return err
		}
		chained := make([]event.Chained, len(lines))
		for i, l := range lines {
			var record struct{ ID string }
			if err := json.Unmarshal(l.Text, &record); err != nil {
				return err
			}
			chained[i], records = l.Chained, append(records, record.ID)
		}
		head, err := r.AuditHead()
		if err != nil {
			return err
		}
		if led, err := event.Verify(event.Genesis("plimsoll.test/log"), slices.Values(chained)); err != nil || led != head {
			t.Errorf("the log leads to %v, its head is %v (%v)", led, head, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(events)
	slices.Sort(records)
	return events, records
}

func TestNodesThatStartTogetherMigrateOnce(t *testing.T) {
	at := address(pgtest.New(t))
	errs := make(chan error, 4)
	for i := range cap(errs) {
		go func() {
			n, err := open(t.Context(), at, queue.Config{Node: fmt.Sprint(i)})
			if err == nil {
				err = n.close()
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
