// Package pgtest starts a PostgreSQL for tests: the binaries of the system, in
// a folder of its own, as their own user, reached through a socket in that
// folder. It writes to the disk as a production server does, so that a test
// which kills something proves something.
//
// A test binary that uses it calls Main from its TestMain. Where PostgreSQL is
// not installed a test is skipped and says so; with CI=true it fails.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is the one PostgreSQL of this test binary.
type server struct {
	dir  string
	stop func() error
}

var (
	shared = sync.OnceValues(start)
	begun  atomic.Bool // whether shared was called
	count  atomic.Int64
)

// Main runs the tests and stops the server if one of them started it. It
// answers the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	if !begun.Load() {
		return code
	}
	if s, err := shared(); err == nil {
		if err := s.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest: stop PostgreSQL:", err)
			return 1
		}
	}
	return code
}

// New makes an empty schema and answers the URL of a database that shows
// nothing else. A schema is made at once; a database of its own would copy, and
// write to the disk, some three hundred files.
func New(t testing.TB) string {
	t.Helper()
	begun.Store(true)
	s, err := shared()
	if missing, ok := errors.AsType[*missingError](err); ok {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s needs PostgreSQL, and CI must have it: %v", t.Name(), missing)
		}
		t.Skipf("SKIPPED: %s needs PostgreSQL: %v", t.Name(), missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d", count.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return s.url(name)
}

func (s *server) url(schema string) string {
	url := "postgres://plimsoll@/postgres?host=" + s.dir + "&sslmode=disable"
	if schema != "" {
		url += "&search_path=" + schema
	}
	return url
}

// missingError says what is not installed.
type missingError struct{ text string }

func (m *missingError) Error() string { return m.text }

// bin is the folder with the newest PostgreSQL that is installed.
func bin() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian keeps every version
	if err != nil || len(found) == 0 {
		return "", &missingError{"no initdb on the PATH or below /usr/lib/postgresql (apt-get install postgresql)"}
	}
	slices.SortFunc(found, func(a, b string) int {
		if len(a) != len(b) { // 9 is older than 15
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return filepath.Dir(found[len(found)-1]), nil
}

func start() (*server, error) {
	programs, err := bin()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	as, err := unprivileged(dir)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", "plimsoll", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	as(initdb)
	if out, err := initdb.CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	postgres := exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "max_connections=200")
	as(postgres)
	postgres.Stdout, postgres.Stderr = log, log
	exited, err := keep(postgres)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	s := &server{dir: dir, stop: func() error {
		// An interrupt is a fast shutdown: it does not wait for clients.
		_ = postgres.Process.Signal(os.Interrupt) // it may have ended by itself
		return errors.Join(<-exited, log.Close(), os.RemoveAll(dir))
	}}
	if err := s.wait(exited); err != nil {
		text, _ := os.ReadFile(log.Name())
		_ = s.stop()
		return nil, fmt.Errorf("postgres did not come up: %w\n%s", err, text)
	}
	return s, nil
}

// wait tries until the server answers.
func (s *server) wait(exited <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.url(""))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case why := <-exited:
			return fmt.Errorf("it ended: %w", why)
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// account is who runs the server when we are root, which PostgreSQL refuses.
func account() (*user.User, error) {
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return u, nil
		}
	}
	return nil, &missingError{"root cannot run it, and there is no user postgres or nobody"}
}
