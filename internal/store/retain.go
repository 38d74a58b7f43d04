package store

import (
	"bytes"
	"database/sql"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// Events and records go from the oldest on, so that what is left is the end of
// the stream and of the log, without a gap.

// Seal implements pipeline.Reader.
func (r *reader) Seal() (head event.Head, note []byte, err error) {
	const op = "store.Seal"
	var link []byte
	err = r.row(op, "read the seal", `SELECT count, link, note FROM seal`)(&head.Count, &link, &note)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		var origin string
		if err := r.row(op, "read the origin of the audit log", `SELECT value FROM meta WHERE name = 'origin'`)(&origin); err != nil {
			return head, nil, err
		}
		return event.Genesis(origin), nil, nil
	}
	copy(head.Link[:], link)
	return head, note, err
}

// GiveUpRecords implements pipeline.Tx.
func (t *tx) GiveUpRecords(to event.Head, note []byte) error {
	const op, what = "store.GiveUpRecords", "give up audit records"
	// What the note vouches for must be what is here.
	var link []byte
	err := t.row(op, what, `SELECT link FROM audit WHERE position = $1`, to.Count)(&link)
	if fault.KindOf(err) == fault.NotFound && err != nil || err == nil && !bytes.Equal(link, to.Link[:]) {
		return fault.E(op, fault.Conflict, what+": the log does not go through the head that was sealed", nil)
	}
	if err != nil {
		return err
	}
	err = t.change(op, what, `INSERT INTO seal (one, count, link, note) VALUES (1, $1, $2, $3)
		ON CONFLICT (one) DO UPDATE SET count = excluded.count, link = excluded.link, note = excluded.note WHERE seal.count < excluded.count`,
		to.Count, to.Link[:], note)
	if err != nil {
		return err
	}
	_, err = t.exec(op, what, `DELETE FROM audit WHERE position <= $1`, to.Count)
	return err
}

// GiveUpEvents implements pipeline.Tx.
func (t *tx) GiveUpEvents(before time.Time, limit int) (int, error) {
	const op, what = "store.GiveUpEvents", "give up events"
	type oldest struct {
		position int64
		at       string
	}
	list, err := rows(&t.reader, op, what, func(rows *sql.Rows) (oldest, error) {
		var o oldest
		err := rows.Scan(&o.position, &o.at)
		return o, err
	}, `SELECT position, at FROM events WHERE position IS NOT NULL ORDER BY position LIMIT $1`, int64(limit))
	if err != nil {
		return 0, err
	}
	// Nothing that somebody has still to get.
	var owed int64
	err = t.row(op, what, `SELECT coalesce(min(p), 9223372036854775807) FROM (
		SELECT d.position - 1 AS p FROM deliveries d JOIN webhooks h ON h.id = d.webhook WHERE d.status = 'pending' AND h.enabled
		UNION ALL SELECT cursor FROM webhooks WHERE enabled) AS owed`)(&owed)
	if err != nil {
		return 0, err
	}
	n, cut := 0, int64(0)
	for _, o := range list {
		if at, ok := contract.ParseTimestamp(o.at); !ok || !at.Time().Before(before) || o.position > owed {
			break
		}
		n, cut = n+1, o.position
	}
	if n == 0 {
		return 0, nil
	}
	for _, query := range []string{
		`INSERT INTO given_up (chain, sequence) SELECT chain, max(sequence) FROM events WHERE position <= $1 GROUP BY chain
			ON CONFLICT (chain) DO UPDATE SET sequence = excluded.sequence`,
		// Of a webhook that is off; when it is on again it goes on with what there is.
		`DELETE FROM deliveries WHERE status = 'pending' AND position <= $1`,
		`DELETE FROM events WHERE position <= $1`,
	} {
		if _, err := t.exec(op, what, query, cut); err != nil {
			return 0, err
		}
	}
	return n, nil
}

var _ pipeline.Tx = (*tx)(nil)
