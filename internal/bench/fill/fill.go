// Package fill multiplies the chains of a database, for measurements of a store
// that is not empty.
package fill

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// table is how a table is copied to another chain: which columns hold ids, and
// which the place of a row among all others. What else there is, documents and
// audit lines too, is copied as it is: nobody reads the documents of the copies.
type table struct {
	name   string
	ids    []string
	place  string
	unlike []string // columns the database fills in
}

// The tables a chain has rows in, parents first. The queue is left out: it
// forgets what is done after some days, a store never.
var tables = []table{
	{name: "chains", ids: []string{"id", "correlation_id"}},
	{name: "contracts", ids: []string{"id", "chain", "source_id", "execution_id", "task_seed", "correlation_id"}},
	{name: "contract_versions", ids: []string{"id"}},
	{name: "votes", ids: []string{"contract", "correlation_id"}},
	{name: "runs", ids: []string{"execution_id", "chain", "task_seed", "evidence", "correlation_id"}},
	{name: "phase_artifacts", ids: []string{"execution_id", "chain", "task_seed", "correlation_id"}},
	{name: "reviews", ids: []string{"chain", "task_seed", "correlation_id"}},
	{name: "locks", ids: []string{"key", "holder"}},
	{name: "lock_holds", ids: []string{"holder", "key"}},
	{name: "effects", ids: []string{"key", "result_id"}},
	{name: "events", ids: []string{"id", "subject", "chain", "cause", "correlation_id"}, place: "position", unlike: []string{"seq"}},
	{name: "audit", ids: []string{"contract", "task_seed", "correlation_id"}, place: "position", unlike: []string{"seq"}},
}

// Contracts loads at least n contracts: copies of what the database holds, with
// all it left behind. Every id gets a number of its own behind the prefix, so
// IC-001 becomes IC-1000001001, exec-5f-01 becomes exec-10000015f-01. They are
// written by the database itself, in few statements: how they came there is not
// measured.
func Contracts(ctx context.Context, db *sql.DB, n int, postgres bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if postgres {
		if _, err := conn.ExecContext(ctx, `SET statement_timeout = 0`); err != nil {
			return err
		}
	}
	var each int
	if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM contracts`).Scan(&each); err != nil {
		return err
	}
	copies := (n + each - 1) / each
	for _, t := range tables {
		if err := t.fill(ctx, conn, copies, postgres); err != nil {
			return fmt.Errorf("fill %s: %w", t.name, err)
		}
	}
	_, err = conn.ExecContext(ctx, `UPDATE heads SET event_last = (SELECT max(position) FROM events), audit_count = (SELECT max(position) FROM audit)`)
	if err != nil {
		return err
	}
	if !postgres {
		_, err = conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		return err
	}
	// What its own upkeep does in time.
	if _, err = conn.ExecContext(ctx, `RESET statement_timeout`); err == nil {
		_, err = conn.ExecContext(ctx, `VACUUM ANALYZE`)
	}
	return err
}

// copiesTogether is how many copies one statement writes.
const copiesTogether = 5000

func (t table) fill(ctx context.Context, conn *sql.Conn, copies int, postgres bool) error {
	original := "original_" + t.name
	if _, err := conn.ExecContext(ctx, `CREATE TEMPORARY TABLE `+original+` AS SELECT * FROM `+t.name); err != nil {
		return err
	}
	columns, values, err := t.columns(ctx, conn, original)
	if err != nil {
		return err
	}
	series := `generate_series($1::bigint, $2::bigint)`
	if !postgres {
		series = `(WITH RECURSIVE s (n) AS (SELECT $1 UNION ALL SELECT n + 1 FROM s WHERE n < $2) SELECT n FROM s)`
	}
	query := `INSERT INTO ` + t.name + ` (` + columns + `) SELECT ` + values + ` FROM ` + original + ` o, ` + series + ` AS s (n)`
	if !postgres {
		query = strings.Replace(query, ` AS s (n)`, ` AS s`, 1)
	}
	for from := 1; from <= copies; from += copiesTogether {
		if _, err := conn.ExecContext(ctx, query, from, min(copies, from+copiesTogether-1)); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, `DROP TABLE `+original)
	return err
}

// columns is the columns of a table and what a copy has in them.
func (t table) columns(ctx context.Context, conn *sql.Conn, original string) (columns, values string, err error) {
	rows, err := conn.QueryContext(ctx, `SELECT * FROM `+original+` LIMIT 0`)
	if err != nil {
		return "", "", err
	}
	names, err := rows.Columns()
	if err != nil {
		return "", "", err
	}
	if err := rows.Close(); err != nil {
		return "", "", err
	}
	in := func(list []string, name string) bool {
		return strings.Contains(" "+strings.Join(list, " ")+" ", " "+name+" ")
	}
	var to, from []string
	for _, name := range names {
		value := "o." + name
		switch {
		case in(t.unlike, name):
			continue
		case in(t.ids, name):
			number := "CAST(1000000 + s.n AS text)"
			for _, prefix := range []string{"IC-", "TS-", "AC-", "PG-", "EV-", "exec-"} {
				value = "replace(" + value + ", '" + prefix + "', '" + prefix + "' || " + number + ")"
			}
		case name == t.place:
			value += " + s.n * (SELECT max(" + name + ") FROM " + original + ")"
		}
		to, from = append(to, name), append(from, value)
	}
	return strings.Join(to, ", "), strings.Join(from, ", "), nil
}
