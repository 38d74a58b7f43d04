package store

import (
	"context"
	"strconv"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// flushLogs writes the events and records of the transaction. Their places in
// the stream and in the log come later (see place.go); its place in its own
// chain an event gets here, because the chain is locked.
func (t *tx) flushLogs() error {
	const op = "store.Update"
	if len(t.events) > 0 {
		w := &where{}
		values := make([]string, len(t.events))
		before := map[string]int64{} // how many events of a chain come before, in this transaction
		for i, e := range t.events {
			chain := e.Origin.Chain
			if err := t.lockChain(op, contract.ID(chain)); err != nil {
				return err
			}
			before[chain]++
			row := w.values(e.ID, string(e.Type), e.Subject.Kind, e.Subject.ID, e.Subject.Version, chain,
				e.Origin.Cause, e.Origin.At, e.DataSchema, e.Data)
			values[i] = strings.TrimSuffix(row, ")") + ", (SELECT coalesce(max(sequence), 0) FROM events WHERE chain = " + w.arg(chain) + ") + " +
				strconv.FormatInt(before[chain], 10) + ")"
		}
		err := t.laterMany(op, "emit "+t.events[0].ID, len(values), emitted, `INSERT INTO events (id, type, kind, subject, version, chain, cause, at, data_schema, data, sequence)
			VALUES `+strings.Join(values, ", ")+orNot, w.args...)
		if err != nil {
			return err
		}
	}
	if len(t.records) > 0 {
		w := &where{}
		values := make([]string, len(t.records))
		for i, r := range t.records {
			at, _ := contract.ParseTimestamp(r.Timestamp)
			values[i] = w.values(r.Text(), at.Time().UnixMicro(), r.ID, r.TaskSeedID, r.ActorID, r.Role, r.Action, r.RiskLevel, r.FinalDecision)
		}
		return t.later(op, "record "+t.records[0].Action, nil, `INSERT INTO audit (line, at, contract, task_seed, actor, role, action, level, final_decision)
			VALUES `+strings.Join(values, ", "), w.args...)
	}
	return nil
}

func emitted(op, what string) error {
	return fault.E(op, fault.Conflict, what+": an event of this transaction was emitted before", nil)
}

// begin writes the rows a new database starts with. Of two nodes that begin at
// once the second finds what the first wrote.
func (s *Store) begin(ctx context.Context) error {
	const op = "store.New"
	if s.conf.Origin == "" {
		return fault.E(op, fault.Invalid, "a new database needs the origin of its audit log", nil)
	}
	genesis := event.Genesis(s.conf.Origin)
	sqlTx, err := s.db.Write.BeginTx(ctx, nil)
	if err != nil {
		return s.db.Dialect.fail(op, "begin a transaction", err)
	}
	defer func() { _ = sqlTx.Rollback() }()
	write := func(query string, args ...any) {
		if err == nil {
			_, err = sqlTx.ExecContext(ctx, query+` ON CONFLICT DO NOTHING`, args...)
		}
	}
	write(`INSERT INTO meta (name, value) VALUES ('origin', $1)`, s.conf.Origin)
	write(`INSERT INTO heads (one, event_last, audit_count, audit_link) VALUES (1, 0, 0, $1)`, genesis.Link[:])
	for _, kind := range contract.Kinds() {
		write(`INSERT INTO counters (name, value) VALUES ($1, 0)`, string(kind))
	}
	if err != nil {
		return s.db.Dialect.fail(op, "write the first rows", err)
	}
	var origin string
	if err := sqlTx.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'origin'`).Scan(&origin); err != nil {
		return s.db.Dialect.fail(op, "read the origin of the audit log", err)
	}
	if origin != s.conf.Origin {
		return fault.E(op, fault.Conflict, "another process began the audit log as "+origin, nil)
	}
	if err := sqlTx.Commit(); err != nil {
		return s.db.Dialect.fail(op, "commit", err)
	}
	return nil
}
