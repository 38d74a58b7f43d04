package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/postgres"
	"plimsoll.dev/internal/store/postgres/pgtest"
	"plimsoll.dev/internal/store/storetest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func open(t *testing.T, conf store.Config) (*store.Store, *store.Database) {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.New(t.Context(), db, conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, db
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, conf store.Config) *store.Store {
		t.Helper()
		s, _ := open(t, conf)
		return s
	})
}

func TestWhatIsOldGetsItsCorrelationID(t *testing.T) {
	db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	storetest.Upgrade(t, db)
}

// quiet is a store that nothing is enqueued in.
var quiet = store.Config{
	Origin: "plimsoll.test/log", Enqueue: func(context.Context, *sql.Tx, []pipeline.Job) error { return nil },
}

func TestNodesThatStartTogetherMigrateOnce(t *testing.T) {
	url := pgtest.New(t)
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() {
			db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			if err == nil {
				err = db.Close()
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

func TestTheClockIsThatOfTheDatabase(t *testing.T) {
	s, db := open(t, quiet)
	at := func() (now time.Time) {
		if err := db.Read.QueryRowContext(t.Context(), `SELECT clock_timestamp()`).Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now.Truncate(time.Millisecond)
	}
	before := at()
	err := s.Update(t.Context(), func(tx pipeline.Tx) error {
		now := tx.Now()
		if after := at(); now.Before(before) || now.After(after) || now != now.Truncate(time.Millisecond) || now.Location() != time.UTC {
			t.Errorf("it is %v, the database says between %v and %v", now, before, after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestALostConnectionIsUnavailableAndTheNextOneWorks(t *testing.T) {
	s, db := open(t, quiet)
	err := s.Update(t.Context(), func(tx pipeline.Tx) error {
		if _, err := db.Read.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()`); err != nil {
			return err
		}
		_, err := tx.NextID(contract.KindIntent)
		return err
	})
	if fault.KindOf(err) != fault.Unavailable || err == nil {
		t.Errorf("the update ended with %v", err)
	}
	err = s.Update(t.Context(), func(tx pipeline.Tx) error { _, err := tx.NextID(contract.KindIntent); return err })
	if err != nil {
		t.Errorf("the next one ended with %v", err)
	}
}

// Places are given right after the commit. What a process left without, the
// next one finds.
func TestWhatADeadProcessWroteGetsItsPlace(t *testing.T) {
	s, db := open(t, quiet)
	for _, statement := range []string{
		`INSERT INTO chains (id, revision, version, phase, repository, base_commit, head_commit, diff_hash, failed_runs, returns, created_at, updated_at)
			VALUES ('IC-001', 1, 1, '', '', '', '', '', 0, 0, 0, 0)`,
		`INSERT INTO events (id, type, kind, subject, version, chain, sequence, cause, at, data_schema, data)
			VALUES ('intent.created.v1/IC-001/1', 'intent.created.v1', 'IntentContract', 'IC-001', 1, 'IC-001', 1, '', '', '', '{}')`,
		`INSERT INTO audit (line, at, contract, task_seed, actor, role, action, level, final_decision) VALUES ('{}', 0, '', '', '', '', '', '', '')`,
	} {
		if _, err := db.Write.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	placed := func() (places string) {
		err := s.View(t.Context(), func(r pipeline.Reader) error {
			e, err := r.Event("intent.created.v1/IC-001/1")
			if err != nil {
				return err
			}
			head, err := r.AuditHead()
			places = fmt.Sprint(e.Position, head.Count, head == event.Genesis("plimsoll.test/log").Append([]byte("{}")))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return places
	}
	if got := placed(); got != "0 0 false" {
		t.Fatalf("before: %s", got)
	}
	if err := s.Beat(t.Context(), "another", true); err != nil {
		t.Fatal(err)
	}
	if got := placed(); got != "1 1 true" {
		t.Errorf("after: %s", got)
	}
}

func TestAURLThatDoesNotParseIsNotRepeated(t *testing.T) {
	_, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://ada:hunter2@[::1"})
	if fault.KindOf(err) != fault.Invalid || err == nil || strings.Contains(fmt.Sprintf("%+v", err), "hunter2") {
		t.Errorf("it answered %v", err)
	}
}
