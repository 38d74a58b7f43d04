package store

import (
	"database/sql"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/event"
)

const eventColumns = `coalesce(position, 0), id, type, kind, subject, version, chain, sequence, cause, at, data_schema, data, correlation_id`

func scanEvent(rows *sql.Rows) (*pipeline.Event, error) {
	e := &pipeline.Event{}
	err := rows.Scan(&e.Position, &e.ID, &e.Type, &e.Subject.Kind, &e.Subject.ID, &e.Subject.Version,
		&e.Origin.Chain, &e.Sequence, &e.Origin.Cause, &e.Origin.At, &e.DataSchema, &e.Data, &e.Origin.Correlation)
	return e, err
}

// Event implements pipeline.Reader.
func (r *reader) Event(id string) (*pipeline.Event, error) {
	return one(r, "store.Event", "read event "+id, scanEvent, `SELECT `+eventColumns+` FROM events WHERE id = $1`, id)
}

// Events implements pipeline.Reader.
func (r *reader) Events(after int64, f pipeline.EventFilter, limit int) ([]pipeline.Event, error) {
	w := &where{}
	w.add("position > " + w.arg(after))
	in(w, "type", f.Types)
	in(w, "subject", f.Subjects)
	in(w, "chain", f.Chains)
	in(w, "correlation_id", f.Correlations)
	return rows(r, "store.Events", "list events", func(rows *sql.Rows) (pipeline.Event, error) {
		e, err := scanEvent(rows)
		return *e, err
	}, `SELECT `+eventColumns+` FROM events`+w.String()+` ORDER BY position`+w.limit(limit), w.args...)
}

// EventRange implements pipeline.Reader.
func (r *reader) EventRange() (first, last int64, err error) {
	err = r.row("store.EventRange", "read how far the events have come",
		`SELECT coalesce((SELECT min(position) FROM events), event_last + 1), event_last FROM heads`)(&first, &last)
	return first, last, err
}

// Emit implements pipeline.Tx.
func (t *tx) Emit(e event.Envelope) error {
	if err := e.Check(); err != nil {
		return fault.E("store.Emit", fault.Invalid, "emit", err)
	}
	t.events = append(t.events, e)
	return nil
}
