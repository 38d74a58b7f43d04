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
	tail   []string // ids that a number is put behind
	only   string   // which rows are copied, "" for all
	last   bool     // the copies follow everything there is, one place each
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
		if err := t.fill(ctx, conn, 1, copies, postgres); err != nil {
			return err
		}
	}
	if err := headed(ctx, conn); err != nil {
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

// Requests loads n copies of the requests to circles, each with what was made of
// it.
func Requests(ctx context.Context, db *sql.DB, n int, postgres bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, t := range []table{
		{name: "circle_requests", tail: []string{"id"}},
		{name: "circle_runs", tail: []string{"id", "request"}},
		{name: "circle_artifacts", tail: []string{"id", "request"}},
	} {
		if err := t.fill(ctx, conn, 1, n, postgres); err != nil {
			return err
		}
	}
	return nil
}

// workFrom numbers the runs of Work, behind those of Contracts.
const workFrom = 5_000_000

// Work gives a chain more runs and audit records, copies of the ones it has last.
func Work(ctx context.Context, db *sql.DB, chain string, runs, records int, postgres bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	last := func(t, column, of string) string {
		return column + ` = (SELECT max(` + column + `) FROM ` + t + ` WHERE ` + of + ` = '` + chain + `')`
	}
	done := table{name: "runs", ids: []string{"execution_id"}, only: last("runs", "execution_id", "chain")}
	if err := done.fill(ctx, conn, workFrom, workFrom+runs-1, postgres); err != nil {
		return err
	}
	said := table{name: "audit", place: "position", unlike: []string{"seq"}, last: true, only: last("audit", "position", "contract")}
	if err := said.fill(ctx, conn, 1, records, postgres); err != nil {
		return err
	}
	return headed(ctx, conn)
}

// headed says how far the events and the log have come.
func headed(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `UPDATE heads SET event_last = (SELECT max(position) FROM events), audit_count = (SELECT max(position) FROM audit)`)
	return err
}

// copiesTogether is how many copies one statement writes.
const copiesTogether = 5000

// fill copies the rows under the numbers from first to last.
func (t table) fill(ctx context.Context, conn *sql.Conn, first, last int, postgres bool) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("fill %s: %w", t.name, err)
		}
	}()
	original, which := "original_"+t.name, ""
	if t.only != "" {
		which = ` WHERE ` + t.only
	}
	if _, err := conn.ExecContext(ctx, `CREATE TEMPORARY TABLE `+original+` AS SELECT * FROM `+t.name+which); err != nil {
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
	for from := first; from <= last; from += copiesTogether {
		if _, err := conn.ExecContext(ctx, query, from, min(last, from+copiesTogether-1)); err != nil {
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
		case in(t.tail, name):
			value += " || '-' || CAST(s.n AS text)"
		case name == t.place && t.last:
			value = "(SELECT max(" + name + ") FROM " + t.name + ") + s.n"
		case name == t.place:
			value += " + s.n * (SELECT max(" + name + ") FROM " + original + ")"
		}
		to, from = append(to, name), append(from, value)
	}
	return strings.Join(to, ", "), strings.Join(from, ", "), nil
}
