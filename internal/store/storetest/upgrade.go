package storetest

import (
	"io/fs"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/store"
)

// Upgrade writes rows into a database, which is empty, as they were before there
// were correlation ids, and lets the migration give them theirs.
func Upgrade(t *testing.T, db *store.Database) {
	t.Helper()
	text, err := fs.ReadFile(db.Dialect.Migrations, "0006_correlation.sql")
	if err != nil {
		t.Fatal(err)
	}
	line := func(correlation string) []byte {
		return event.Record{Action: "test", Success: true, Cause: `said "correlationId":"forged"`, CorrelationID: correlation}.Text()
	}
	for _, row := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO chains (id, revision, version, phase, repository, base_commit, head_commit, diff_hash, failed_runs, returns, created_at, updated_at)
			VALUES ('IC-001', 1, 1, '', '', '', '', '', 0, 0, 0, 0)`, nil},
		{
			`INSERT INTO contracts (id, version, kind, state, revision, head, chain, source_id, source_version, frozen_from, freeze_cause, execution_id,
			approval_digest, base_commit, head_commit, task_seed, status, level, final_decision, creator, owner_role, actor, verdict, classification,
			waiting_for, document, created_at, updated_at)
			VALUES ('TS-001', 1, 'TaskSeed', 'Draft', 1, $1, 'IC-001', '', 0, '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', $2, 0, 0)`,
			[]any{true, []byte("{}")},
		},
		{`INSERT INTO runs (execution_id, revision, chain, task_seed, task_version, phase, role, actor, series, attempt, lock_token, base_commit,
			head_commit, diff_hash, started_at, outcome, evidence) VALUES ('run', 1, 'IC-001', 'TS-001', 1, '', '', '', 1, 1, 1, '', '', '', 0, '', '')`, nil},
		{`INSERT INTO phase_artifacts (execution_id, kind, chain, task_seed, task_version, phase, sha256, size, media_type, at, bytes)
			VALUES ('run', '', 'IC-001', 'TS-001', 1, '', '', 0, '', 0, $1)`, []any{[]byte{}}},
		{`INSERT INTO reviews (chain, seq, task_seed, task_version, reviewer, role, verdict, head_commit, diff_hash, document, at)
			VALUES ('IC-001', 1, 'TS-001', 1, '', '', '', '', '', $1, 0)`, []any{[]byte("{}")}},
		{`INSERT INTO votes (contract, seq, version, role, actor, decision, decided_at, self_approved)
			VALUES ('TS-001', 1, 1, '', '', 'approved', '', $1)`, []any{false}},
		{`INSERT INTO consents (gate, seq, version, role, actor, decision, decided_at, digest, base_commit, head_commit, self_approved)
			VALUES ('TS-001', 1, 1, '', '', 'approved', '', '', '', '', $1)`, []any{false}},
		{`INSERT INTO events (id, type, kind, subject, version, chain, sequence, cause, at, data_schema, data)
			VALUES ('e', '', '', '', 1, 'IC-001', 1, '', '', '', $1)`, []any{[]byte("{}")}},
		{auditRow, []any{line("IC-001"), int64(1)}},
		{auditRow, []any{line("req-1"), int64(2)}},
		{auditRow, []any{line(""), int64(3)}},
	} {
		if _, err := db.Write.ExecContext(t.Context(), row.query, row.args...); err != nil {
			t.Fatalf("%v: %s", err, row.query)
		}
	}
	for statement := range strings.SplitSeq(string(text), ";") {
		if at := strings.Index(statement, "UPDATE "); at >= 0 {
			if _, err := db.Write.ExecContext(t.Context(), statement[at:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for table, want := range map[string]string{
		"chains": "IC-001", "contracts": "IC-001", "runs": "IC-001", "phase_artifacts": "IC-001", "reviews": "IC-001", "votes": "IC-001",
		"consents": "IC-001", "events": "IC-001", "audit": "IC-001 req-1 ",
	} {
		order := ""
		if table == "audit" {
			order = " ORDER BY position"
		}
		found, err := db.Write.QueryContext(t.Context(), `SELECT correlation_id FROM `+table+order)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for found.Next() {
			var id string
			if err := found.Scan(&id); err != nil {
				t.Error(err)
			}
			got = append(got, id)
		}
		if err := found.Err(); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s are of %q, want %q (%v)", table, strings.Join(got, " "), want, err)
		}
		_ = found.Close()
	}
}

const auditRow = `INSERT INTO audit (line, position, at, contract, task_seed, actor, role, action, level, final_decision)
	VALUES ($1, $2, 0, '', '', '', '', '', '', '')`
