package queue_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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
	read  *sql.DB
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
	return &node{Queue: q, store: s, read: db.Read, close: s.Close}, nil
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
