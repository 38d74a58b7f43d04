package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// heads is how far the stream and the log have come.
type heads struct {
	last int64
	log  event.Head
}

// flushLogs writes the events and records of the transaction. Where updates
// share a commit they get their places in the stream and in the log here, else
// later (see place.go). Its place in its own chain an event always gets here,
// because the chain is locked.
func (t *tx) flushLogs() error {
	const op = "store.Update"
	if !t.logs() {
		return nil
	}
	if t.d.Grouped && t.heads == nil {
		h := &heads{}
		var link []byte
		if err := t.row(op, "read the heads", `SELECT event_last, audit_count, audit_link FROM heads`)(&h.last, &h.log.Count, &link); err != nil {
			return err
		}
		copy(h.log.Link[:], link)
		t.heads = h
	}
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
			var position any
			if t.heads != nil {
				t.heads.last++
				position = t.heads.last
			}
			row := w.values(position, e.ID, string(e.Type), e.Subject.Kind, e.Subject.ID, e.Subject.Version, chain,
				e.Origin.Cause, e.Origin.At, e.DataSchema, e.Data)
			values[i] = strings.TrimSuffix(row, ")") + ", coalesce((SELECT max(sequence) FROM events WHERE chain = " + w.arg(chain) + "), (SELECT sequence FROM given_up WHERE chain = " + w.arg(chain) + "), 0) + " +
				strconv.FormatInt(before[chain], 10) + ", coalesce((SELECT correlation_id FROM chains WHERE id = " + w.arg(chain) + "), ''))"
		}
		err := t.laterMany(op, "emit "+t.events[0].ID, len(values), emitted, `INSERT INTO events (position, id, type, kind, subject, version, chain, cause, at, data_schema, data, sequence, correlation_id)
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
			line := r.Text()
			var position, link any
			if t.heads != nil {
				t.heads.log = t.heads.log.Append(line)
				position, link = t.heads.log.Count, slices.Clone(t.heads.log.Link[:])
			}
			values[i] = w.values(position, link, line, at.Time().UnixMicro(), r.ID, r.TaskSeedID, r.ActorID, r.Role, r.Action, r.RiskLevel, r.FinalDecision, r.CorrelationID)
		}
		return t.later(op, "record "+t.records[0].Action, nil, `INSERT INTO audit (position, link, line, at, contract, task_seed, actor, role, action, level, final_decision, correlation_id)
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
