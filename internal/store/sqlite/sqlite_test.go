package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/store"
	"plimsoll.dev/internal/store/sqlite"
	"plimsoll.dev/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, conf store.Config) *store.Store {
		t.Helper()
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "plimsoll.db")})
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
		return s
	})
}

func TestWhatIsOldGetsItsCorrelationID(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "plimsoll.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	storetest.Upgrade(t, db)
}

func TestOneProcessServesADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plimsoll.db")
	first, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); fault.KindOf(err) != fault.Conflict || err == nil {
		t.Errorf("a second one opened it: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestConnectionsAreSetUpForDurability(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "a b?#%.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000", "query_only": "0"} {
		var got string
		if err := db.Write.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, want %s (%v)", pragma, got, want, err)
		}
	}
	if _, err := db.Read.ExecContext(t.Context(), `INSERT INTO meta (name, value) VALUES ('a', 'b')`); err == nil {
		t.Error("the pool of readers writes")
	}
}

func TestNobodyElseReadsTheDatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plimsoll.db")
	modes := func() map[string]fs.FileMode {
		t.Helper()
		found := map[string]fs.FileMode{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			found[e.Name()] = info.Mode()
		}
		return found
	}
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	open := modes()
	for _, name := range []string{"plimsoll.db", "plimsoll.db-wal", "plimsoll.db-shm", "plimsoll.db-owner"} {
		if open[name] != 0o600 {
			t.Errorf("%s has mode %v", name, open[name])
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// One that was made by an earlier program, whose log outlived it.
	for _, name := range []string{path, path + "-wal", path + "-owner"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if db, err = sqlite.Open(t.Context(), sqlite.Config{Path: path}); err != nil {
		t.Fatal(err)
	}
	for name, mode := range modes() {
		if mode != 0o600 {
			t.Errorf("%s keeps mode %v", name, mode)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADirectoryThatIsNotThereIsSaid(t *testing.T) {
	_, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "no", "plimsoll.db")})
	if fault.KindOf(err) != fault.Unavailable || err == nil {
		t.Errorf("it answered %v", err)
	}
}

func TestMigrationsGoForwardOnly(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "plimsoll.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ours, known := db.Dialect.Migrations, fstest.MapFS{}
	names, err := fs.Glob(ours, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(ours, name)
		if err != nil {
			t.Fatal(err)
		}
		known[name] = &fstest.MapFile{Data: text}
	}
	file := func(after int, name string) string { return fmt.Sprintf("%04d_%s", len(names)+after, name) }
	with := func(names ...string) error {
		files := maps.Clone(known)
		for _, name := range names {
			name, text, _ := strings.Cut(name, "=")
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		db.Dialect.Migrations = files
		return store.Migrate(t.Context(), db)
	}
	second, third := file(1, "add.sql=CREATE TABLE added (a INTEGER) STRICT"), file(2, "more.sql=CREATE TABLE more (a INTEGER) STRICT")
	if err := with(); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := with(second, file(2, "bad.sql=CREATE TABLE more (a INTEGER) STRICT; SELECT * FROM nowhere")); err == nil {
		t.Error("a migration that fails was passed over")
	}
	if err := with(second, third); err != nil { // what failed left nothing behind
		t.Errorf("two more: %v", err)
	}
	for name, err := range map[string]error{
		"an older program":      with(second),
		"a migration rewritten": with(second, file(2, "more.sql=SELECT 1")),
	} {
		if fault.KindOf(err) != fault.Conflict || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"a hole":     with(file(2, "more.sql=SELECT 1")),
		"a bad name": with("2_add.sql=SELECT 1"),
	} {
		if fault.KindOf(err) != fault.Internal || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheOriginOfTheLogIsFixed(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "plimsoll.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	conf := func(origin string) store.Config {
		return store.Config{Origin: origin, Enqueue: func(context.Context, *sql.Tx, []pipeline.Job) error { return nil }}
	}
	if _, err := store.New(t.Context(), db, conf("")); fault.KindOf(err) != fault.Invalid || err == nil {
		t.Errorf("a new log without an origin: %v", err)
	}
	for _, origin := range []string{"a.test", "a.test", ""} {
		if _, err := store.New(t.Context(), db, conf(origin)); err != nil {
			t.Errorf("the origin %q: %v", origin, err)
		}
	}
	if _, err := store.New(t.Context(), db, conf("b.test")); fault.KindOf(err) != fault.Conflict || err == nil {
		t.Errorf("another origin: %v", err)
	}
	if _, err := store.New(t.Context(), db, store.Config{}); err == nil {
		t.Error("a store without a queue was made")
	}
}
