package store

import (
	"database/sql"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// AuditHead implements pipeline.Reader.
func (r *reader) AuditHead() (event.Head, error) {
	var h event.Head
	var link []byte
	err := r.row("store.AuditHead", "read how far the audit log has come", `SELECT audit_count, audit_link FROM heads`)(&h.Count, &link)
	copy(h.Link[:], link)
	return h, err
}

// Audit implements pipeline.Reader.
func (r *reader) Audit(after int64, f pipeline.AuditFilter, limit int) ([]pipeline.AuditLine, error) {
	w := &where{}
	w.add("position > " + w.arg(after))
	return r.audit(w, f, ` ORDER BY position`, limit)
}

// AuditBack implements pipeline.Reader.
func (r *reader) AuditBack(before, floor int64, f pipeline.AuditFilter, limit int) ([]pipeline.AuditLine, error) {
	w := &where{}
	w.add("position < " + w.arg(before))
	w.add("position > " + w.arg(floor))
	return r.audit(w, f, ` ORDER BY position DESC`, limit)
}

func (r *reader) audit(w *where, f pipeline.AuditFilter, order string, limit int) ([]pipeline.AuditLine, error) {
	in(w, "contract", f.Contracts)
	in(w, "task_seed", f.TaskSeeds)
	in(w, "actor", f.Actors)
	in(w, "role", f.Roles)
	in(w, "action", f.Actions)
	in(w, "level", f.Levels)
	in(w, "final_decision", f.FinalDecisions)
	in(w, "correlation_id", f.Correlations)
	if f.Mentions != "" {
		w.add(strings.NewReplacer("$column", "line", "$bytes", w.arg([]byte(f.Mentions))).Replace(r.d.Holds))
	}
	w.within("at", f.Since, f.Before)
	return rows(r, "store.Audit", "list audit records", func(rows *sql.Rows) (pipeline.AuditLine, error) {
		var l pipeline.AuditLine
		var link []byte
		err := rows.Scan(&l.Position, &l.Text, &link)
		copy(l.Link[:], link)
		return l, err
	}, `SELECT position, line, link FROM audit`+w.String()+order+w.limit(limit), w.args...)
}

// Record implements pipeline.Tx.
func (t *tx) Record(r event.Record) error {
	if _, ok := contract.ParseTimestamp(r.Timestamp); !ok {
		return fault.E("store.Record", fault.Invalid, "record "+r.Action+": the timestamp "+r.Timestamp+" is none", nil)
	}
	t.records = append(t.records, r)
	return nil
}
