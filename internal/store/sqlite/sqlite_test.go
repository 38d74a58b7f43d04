package sqlite_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"plimsoll.dev/internal/fault"
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

func TestADirectoryThatIsNotThereIsSaid(t *testing.T) {
	_, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "no", "plimsoll.db")})
	if fault.KindOf(err) != fault.Unavailable || err == nil {
		t.Errorf("it answered %v", err)
	}
}
