package store

import (
	"context"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// flushLogs gives events and records their places. Nothing comes after it but
// the commit: the row of heads is locked from here on.
func (t *tx) flushLogs() error {
	const op = "store.Update"
	if len(t.events)+len(t.records) == 0 {
		return nil
	}
	var position int64
	var head event.Head
	var link []byte
	if err := t.row(op, "lock the heads", `SELECT event_last, audit_count, audit_link FROM heads`+t.d.ForUpdate)(&position, &head.Count, &link); err != nil {
		return err
	}
	copy(head.Link[:], link)

	sequences := map[string]int64{}
	for _, e := range t.events {
		chain := e.Origin.Chain
		if _, known := sequences[chain]; !known {
			var last int64
			if err := t.row(op, "count the events of "+chain, `SELECT coalesce(max(sequence), 0) FROM events WHERE chain = $1`, chain)(&last); err != nil {
				return err
			}
			sequences[chain] = last
		}
		sequences[chain]++
		position++
		err := t.create(op, "emit "+e.ID, `INSERT INTO events (`+eventColumns+`) VALUES `+params(columns(eventColumns)),
			position, e.ID, string(e.Type), e.Subject.Kind, e.Subject.ID, e.Subject.Version, chain, sequences[chain],
			e.Origin.Cause, e.Origin.At, e.DataSchema, e.Data)
		if err != nil {
			return err
		}
	}
	for _, r := range t.records {
		at, _ := contract.ParseTimestamp(r.Timestamp)
		line := r.Text()
		head = head.Append(line)
		_, err := t.exec(op, "record "+r.Action,
			`INSERT INTO audit (position, line, link, at, contract, task_seed, actor, role, action, level, final_decision) VALUES `+params(11),
			head.Count, line, head.Link[:], at.Time().UnixMicro(), r.ID, r.TaskSeedID, r.ActorID, r.Role, r.Action, r.RiskLevel, r.FinalDecision)
		if err != nil {
			return err
		}
	}
	return t.change(op, "move the heads", `UPDATE heads SET event_last = $1, audit_count = $2, audit_link = $3`,
		position, head.Count, head.Link[:])
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
