package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
)

// migration is one file NNNN_name.sql. Migrations only go forward, and one
// that has run never changes: its digest is kept and compared.
type migration struct {
	number int64
	name   string
	text   string
	digest string
}

// Migrate brings the schema of a database to what this program knows. A schema
// that is ahead of it is Conflict: an old program must not write what a newer
// one reads.
func Migrate(ctx context.Context, db *Database) error {
	const op = "store.Migrate"
	list, err := migrations(db.Dialect.Migrations)
	if err != nil {
		return fault.E(op, fault.Internal, "read the migrations", err)
	}
	return db.Dialect.Exclusive(ctx, db.Write, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (
			number BIGINT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, applied_at BIGINT NOT NULL)`)
		if err != nil {
			return db.Dialect.fail(op, "make the table of migrations", err)
		}
		applied, err := appliedMigrations(ctx, conn)
		if err != nil {
			return db.Dialect.fail(op, "read the table of migrations", err)
		}
		for _, m := range list {
			digest, done := applied[m.number]
			delete(applied, m.number)
			switch {
			case done && digest != m.digest:
				return fault.E(op, fault.Conflict, fmt.Sprintf("migration %04d_%s is not the one that was applied", m.number, m.name), nil)
			case done:
			default:
				if err := m.apply(ctx, conn); err != nil {
					return db.Dialect.fail(op, fmt.Sprintf("apply migration %04d_%s", m.number, m.name), err)
				}
			}
		}
		for number := range applied {
			return fault.E(op, fault.Conflict, fmt.Sprintf("the database has migration %04d, which this program does not know", number), nil).
				WithHint("start the newer version of the program")
		}
		return nil
	})
}

func appliedMigrations(ctx context.Context, conn *sql.Conn) (map[int64]string, error) {
	found, err := conn.QueryContext(ctx, `SELECT number, digest FROM migrations`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	applied := map[int64]string{}
	for found.Next() {
		var number int64
		var digest string
		if err := found.Scan(&number, &digest); err != nil {
			return nil, err
		}
		applied[number] = digest
	}
	return applied, found.Err()
}

func (m migration) apply(ctx context.Context, conn *sql.Conn) error {
	sqlTx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = sqlTx.Rollback() }()
	if _, err := sqlTx.ExecContext(ctx, m.text); err != nil {
		return err
	}
	_, err = sqlTx.ExecContext(ctx, `INSERT INTO migrations (number, name, digest, applied_at) VALUES ($1, $2, $3, $4)`,
		m.number, m.name, m.digest, time.Now().UnixMicro())
	if err != nil {
		return err
	}
	return sqlTx.Commit()
}

func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	list := make([]migration, 0, len(names))
	for _, file := range names {
		number, name, ok := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || len(number) != 4 {
			return nil, fmt.Errorf("%s is not named NNNN_name.sql", file)
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		list = append(list, migration{number: n, name: name, text: string(text), digest: hex.EncodeToString(sum[:])})
	}
	slices.SortFunc(list, func(a, b migration) int { return cmp.Compare(a.number, b.number) })
	for i, m := range list {
		if m.number != int64(i+1) {
			return nil, fmt.Errorf("migration %04d_%s stands where %04d belongs", m.number, m.name, i+1)
		}
	}
	return list, nil
}
