// Package sqlite opens the database of a service that runs on one node.
//
// One process owns the file, one connection writes, and a pool of others
// reads. A commit is on the disk before anybody hears of it: the log is
// written ahead and synchronised in full.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/store"
)

//go:embed migration/*.sql
var files embed.FS

// Config says which file and how it is read.
type Config struct {
	Path    string
	Readers int // connections that read; 4 when it is 0
}

// Open opens the file, makes it when it is not there, and brings its schema up
// to date. A file that another process serves is Conflict.
func Open(ctx context.Context, conf Config) (*store.Database, error) {
	const op = "sqlite.Open"
	path, err := filepath.Abs(conf.Path)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "find "+conf.Path, err)
	}
	if err := keepPrivate(path, "-owner"); err != nil {
		return nil, err
	}
	owner, err := own(ctx, path+"-owner")
	if err != nil {
		return nil, err
	}
	closers := []func() error{owner.Close}
	closeAll := func() error {
		errs := make([]error, 0, len(closers))
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i]())
		}
		return errors.Join(errs...)
	}
	fail := func(err error) (*store.Database, error) { return nil, errors.Join(err, closeAll()) }

	if err := keepPrivate(path, "", "-wal", "-shm"); err != nil {
		return fail(err)
	}
	write, err := sql.Open("sqlite", dsn(path, "_txlock=immediate"))
	if err != nil {
		return fail(fault.E(op, fault.Unavailable, "open "+path, err))
	}
	closers = append(closers, write.Close)
	write.SetMaxOpenConns(1)
	write.SetMaxIdleConns(1)
	if err := write.PingContext(ctx); err != nil {
		return fail(fault.E(op, fault.Unavailable, "open "+path, err))
	}

	read, err := sql.Open("sqlite", dsn(path, "_query_only=1"))
	if err != nil {
		return fail(fault.E(op, fault.Unavailable, "open "+path, err))
	}
	closers = append(closers, read.Close)
	readers := conf.Readers
	if readers == 0 {
		readers = 4
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)

	migrations, err := fs.Sub(files, "migration")
	if err != nil {
		return fail(fault.E(op, fault.Internal, "read the migrations", err))
	}
	db := &store.Database{Write: write, Read: read, Upkeep: write, Dialect: dialect(migrations), Close: closeAll}
	if err := store.Migrate(ctx, db); err != nil {
		return fail(err)
	}
	return db, nil
}

// keepPrivate sees to it that nobody else reads the database: it holds documents,
// hashes of tokens and the secrets of webhooks. The first of the files is made
// when it is not there; what SQLite makes beside it gets its mode. Whatever an
// earlier program left open to others is closed to them.
func keepPrivate(path string, suffixes ...string) error {
	const op = "sqlite.Open"
	for i, suffix := range suffixes {
		name := path + suffix
		if i == 0 {
			file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, private)
			if err != nil {
				return fault.E(op, fault.Unavailable, "open "+name, err)
			}
			if err := file.Close(); err != nil {
				return fault.E(op, fault.Unavailable, "open "+name, err)
			}
		}
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Mode().Perm()&^private != 0 {
			err = os.Chmod(name, private)
		}
		if err != nil {
			return fault.E(op, fault.Unavailable, "close "+name+" to everybody else", err).
				WithHint("let the service own its database, on a file system that keeps modes")
		}
	}
	return nil
}

const private fs.FileMode = 0o600

// dsn names the file with what every connection is set to. The time-out covers
// a checkpoint of the write-ahead log, nothing else waits for a lock. What a
// savepoint needs to be undone is kept in memory: it is of no use after a crash.
func dsn(path, mode string) string {
	u := url.URL{Scheme: "file", Path: path}
	return u.String() + "?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=1&_busy_timeout=5000&_dqs=0&_defensive=1&_pragma=temp_store(2)&" + mode
}

// own takes the lock that says which process serves a database. It is a lock of
// SQLite on a file of its own: the system drops it with the process, however
// that ends, and it works where SQLite does.
func own(ctx context.Context, path string) (*sql.DB, error) {
	const op = "sqlite.Open"
	u := url.URL{Scheme: "file", Path: path}
	db, err := sql.Open("sqlite", u.String()+"?_busy_timeout=0")
	if err != nil {
		return nil, fault.E(op, fault.Unavailable, "open "+path, err)
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if _, err := db.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil {
		err = errors.Join(err, db.Close())
		if primary(err) == sqlite3.SQLITE_BUSY {
			return nil, fault.E(op, fault.Conflict, "another process serves "+path, err).
				WithHint("stop it, or use PostgreSQL to serve from several nodes")
		}
		return nil, fault.E(op, fault.Unavailable, "open "+path, err)
	}
	return db, nil
}

func dialect(migrations fs.FS) store.Dialect {
	return store.Dialect{
		Name: "sqlite",
		Number: `UPDATE counters SET value = value + 1 WHERE name = $1
			RETURNING value, EXISTS (SELECT 1 FROM contracts WHERE id = $2 || '-' || printf('%03d', value))`,
		Size:  `SELECT c.page_count * s.page_size FROM pragma_page_count() AS c, pragma_page_size() AS s`,
		Bytes: "BLOB",
		Holds: `instr($column, $bytes) > 0`,
		FullText: store.FullText{
			Terms: "$1", Match: "circle_search MATCH $1", Best: "bm25(circle_search)", Begin: "*", Either: " OR ",
		},
		Read:    sql.TxOptions{ReadOnly: true},
		Grouped: true,
		Again: func(err error) bool {
			return primary(err) == sqlite3.SQLITE_BUSY || primary(err) == sqlite3.SQLITE_LOCKED
		},
		Taken: func(err error) bool {
			c := code(err)
			return c == sqlite3.SQLITE_CONSTRAINT_UNIQUE || c == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
		},
		Missing: func(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY },
		Away: func(err error) bool {
			switch primary(err) {
			case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM:
				return true
			}
			return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrConnDone)
		},
		// Whoever has the file open owns it.
		Exclusive: func(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error {
			conn, err := db.Conn(ctx)
			if err != nil {
				return fault.E("sqlite.Open", fault.Unavailable, "connect", err)
			}
			defer func() { _ = conn.Close() }()
			return fn(conn)
		},
		Migrations: migrations,
	}
}

// code is the extended result code of err, 0 when SQLite did not give one.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

func primary(err error) int { return code(err) & 0xff }
