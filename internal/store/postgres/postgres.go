// Package postgres opens the database that several nodes share.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/store"
)

//go:embed migration/*.sql
var files embed.FS

// Config says which database and with how many connections.
type Config struct {
	URL     string
	Writers int // connections that write, those of the queue included; 16 when it is 0
	Readers int // connections that read; 8 when it is 0
}

// migrating is the advisory lock under which nodes that start at the same time
// migrate one after the other. The number means nothing.
const migrating = 7_305_809_110

// Open connects and brings the schema up to date.
func Open(ctx context.Context, conf Config) (*store.Database, error) {
	const op = "postgres.Open"
	write, err := pool(conf.URL, conf.Writers, 16)
	if err != nil {
		return nil, err
	}
	read, err := pool(conf.URL, conf.Readers, 8)
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	// One gives places, one beats. What has no place is a few rows at the end of
	// a table that grows: a plan that was made when it was small would read it
	// all. A bitmap would read what had no place once, since the last vacuum; a
	// scan of the index removes those from it.
	upkeep, err := pool(conf.URL, 2, 2, "plan_cache_mode", "force_custom_plan", "enable_bitmapscan", "off")
	if err != nil {
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	closeAll := func() error { return errors.Join(upkeep.Close(), read.Close(), write.Close()) }
	migrations, err := fs.Sub(files, "migration")
	if err != nil {
		return nil, errors.Join(fault.E(op, fault.Internal, "read the migrations", err), closeAll())
	}
	db := &store.Database{Write: write, Read: read, Upkeep: upkeep, Dialect: dialect(migrations), Close: closeAll}
	if err := store.Migrate(ctx, db); err != nil {
		return nil, errors.Join(err, closeAll())
	}
	return db, nil
}

func pool(url string, size, usual int, settings ...string) (*sql.DB, error) {
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, invalid("postgres.Open", err)
	}
	if size == 0 {
		size = usual
	}
	set := func(name, value string) {
		if _, chosen := conf.RuntimeParams[name]; !chosen {
			conf.RuntimeParams[name] = value
		}
	}
	set("application_name", "plimsoll")
	set("timezone", "UTC")
	set("jit", "off") // nothing here runs long enough to be worth a compiler
	// What a node holds that was frozen is free after these, whatever became of
	// the node: its transactions, and the wait for its locks.
	set("idle_in_transaction_session_timeout", "10s")
	set("lock_timeout", "10s")
	set("statement_timeout", "60s")
	for i := 0; i+1 < len(settings); i += 2 {
		set(settings[i], settings[i+1])
	}
	db := stdlib.OpenDB(*conf)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// invalid hides the text of err: it may quote the URL with its password.
func invalid(op string, _ error) error {
	return fault.E(op, fault.Invalid, "the URL of the database does not parse", nil).
		WithHint("write it as postgres://user:password@host:5432/database")
}

func dialect(migrations fs.FS) store.Dialect {
	return store.Dialect{
		Name:      "postgres",
		ForUpdate: " FOR UPDATE",
		TryKey:    `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`,
		Clock:     `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`,
		Number: `WITH next AS (SELECT nextval(('number_' || lower($1))::regclass) AS n)
			SELECT n, EXISTS (SELECT 1 FROM contracts WHERE id = $2 || '-' || CASE WHEN n < 1000 THEN lpad(n::text, 3, '0') ELSE n::text END) FROM next`,
		Size:     `SELECT pg_database_size(current_database())`,
		Together: together,
		Bytes:    "BYTEA",
		Holds:    `position($bytes IN $column) > 0`,
		FullText: store.FullText{
			Terms: "to_tsvector('simple', $1)", Match: "terms @@ to_tsquery('simple', $1)",
			Best: "ts_rank(terms, to_tsquery('simple', $1)) DESC", Begin: ":*", Either: " | ",
		},
		// Rows that an invariant needs are locked, each statement then reads
		// what is committed; stricter levels would refuse every second update,
		// because they share counters.
		Write: sql.TxOptions{Isolation: sql.LevelReadCommitted},
		Read:  sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		Again: func(err error) bool {
			switch state(err) {
			case "40001", "40P01": // serialization failure, deadlock
				return true
			}
			return false
		},
		Taken:      func(err error) bool { return state(err) == "23505" },
		Missing:    func(err error) bool { return state(err) == "23503" },
		Away:       away,
		Exclusive:  exclusive,
		Migrations: migrations,
	}
}

// together is a batch of the driver: the connection is the one the transaction
// was begun on.
func together(ctx context.Context, conn *sql.Conn, list []store.Statement) ([]int64, error) {
	changed := make([]int64, 0, len(list))
	err := conn.Raw(func(raw any) error {
		batch := &pgx.Batch{}
		for _, s := range list {
			batch.Queue(s.Query, s.Args...)
		}
		results := raw.(*stdlib.Conn).Conn().SendBatch(ctx, batch)
		for range list {
			done, err := results.Exec()
			if err != nil {
				_ = results.Close() // it repeats the error
				return err
			}
			changed = append(changed, done.RowsAffected())
		}
		return results.Close()
	})
	return changed, err
}

func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// away says whether the server, or the way to it, is what failed.
func away(err error) bool {
	if code := state(err); code != "" {
		// connection, resources, operator, system; a transaction that the server
		// ended because it was idle; a lock that did not come free in its time
		for _, class := range []string{"08", "53", "57", "58", "25P03", "55P03"} {
			if strings.HasPrefix(code, class) {
				return true
			}
		}
		return false
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, known := range []error{
		context.Canceled, context.DeadlineExceeded, sql.ErrConnDone, driver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return pgconn.SafeToRetry(err)
}

func exclusive(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error {
	const op = "postgres.Open"
	conn, err := db.Conn(ctx)
	if err != nil {
		return fault.E(op, fault.Unavailable, "connect", err)
	}
	defer func() { _ = conn.Close() }()
	// Another node may migrate for minutes; that is no reason to give up.
	if _, err := conn.ExecContext(ctx, `SET lock_timeout = 0; SET statement_timeout = 0`); err != nil {
		return fault.E(op, fault.Unavailable, "wait for the migrations of other nodes", err)
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrating)); err != nil {
		return fault.E(op, fault.Unavailable, "wait for the migrations of other nodes", err)
	}
	err = fn(conn)
	// The connection goes back to the pool as it came.
	release := context.WithoutCancel(ctx)
	_, unlock := conn.ExecContext(release, `SELECT pg_advisory_unlock($1)`, int64(migrating))
	_, reset := conn.ExecContext(release, `RESET lock_timeout; RESET statement_timeout`)
	return errors.Join(err, unlock, reset)
}
