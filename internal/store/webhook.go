package store

import (
	"database/sql"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

const (
	webhookColumns  = `id, revision, url, secret, old_secret, old_secret_until, types, subjects, enabled, cursor, created_at, updated_at`
	deliveryColumns = `webhook, position, event_id, chain, status, attempts, next_at, last_status, last_error, delivered_at`
)

func scanWebhook(rows *sql.Rows) (*pipeline.Webhook, error) {
	h := &pipeline.Webhook{}
	var types, subjects string
	err := rows.Scan(&h.ID, &h.Revision, &h.URL, &h.Secret, &h.OldSecret, instant{&h.OldSecretUntil}, &types, &subjects,
		&h.Enabled, &h.Cursor, instant{&h.CreatedAt}, instant{&h.UpdatedAt})
	h.Types = split[event.Type](types)
	h.Subjects = split[contract.ID](subjects)
	return h, err
}

// Webhook implements pipeline.Reader.
func (r *reader) Webhook(id string) (*pipeline.Webhook, error) {
	return one(r, "store.Webhook", "read webhook "+id, scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE id = $1`, id)
}

// Webhooks implements pipeline.Reader.
func (r *reader) Webhooks(p pipeline.Page) ([]*pipeline.Webhook, error) {
	w := &where{}
	return rows(r, "store.Webhooks", "list webhooks", scanWebhook, `SELECT `+webhookColumns+` FROM webhooks`+w.page(p, "updated_at", "id"), w.args...)
}

// CreateWebhook implements pipeline.Tx.
func (t *tx) CreateWebhook(h *pipeline.Webhook) error {
	const op = "store.CreateWebhook"
	what := "create webhook " + h.ID
	if h.Revision != 0 {
		return fault.E(op, fault.Invalid, what+": a new row has no revision", nil)
	}
	if err := t.create(op, what, `INSERT INTO webhooks (`+webhookColumns+`) VALUES `+params(columns(webhookColumns)), webhookRow(h, 1)...); err != nil {
		return err
	}
	h.Revision = 1
	return nil
}

// UpdateWebhook implements pipeline.Tx.
func (t *tx) UpdateWebhook(h *pipeline.Webhook) error {
	row := webhookRow(h, h.Revision+1)
	err := t.change("store.UpdateWebhook", "write webhook "+h.ID, `UPDATE webhooks SET (`+webhookColumns+`) = `+params(len(row))+
		` WHERE id = $1 AND revision = $2 - 1`, row...)
	if err == nil {
		h.Revision++
	}
	return err
}

// DeleteWebhook implements pipeline.Tx.
func (t *tx) DeleteWebhook(id string, revision int64) error {
	return t.change("store.DeleteWebhook", "delete webhook "+id, `DELETE FROM webhooks WHERE id = $1 AND revision = $2`, id, revision)
}

func webhookRow(h *pipeline.Webhook, revision int64) []any {
	return []any{
		h.ID, revision, h.URL, h.Secret, h.OldSecret, micros(h.OldSecretUntil), joined(h.Types), joined(h.Subjects), h.Enabled, h.Cursor,
		h.CreatedAt.UnixMicro(), h.UpdatedAt.UnixMicro(),
	}
}

func scanDelivery(rows *sql.Rows) (pipeline.Delivery, error) {
	var d pipeline.Delivery
	err := rows.Scan(&d.Webhook, &d.Position, &d.EventID, &d.Chain, &d.Status, &d.Attempts, instant{&d.NextAt}, &d.LastStatus, &d.LastError, instant{&d.DeliveredAt})
	return d, err
}

// Deliveries implements pipeline.Reader.
func (r *reader) Deliveries(f pipeline.DeliveryFilter, behind int64, limit int) ([]pipeline.Delivery, error) {
	w := &where{}
	w.add("webhook = " + w.arg(f.Webhook))
	in(w, "status", f.Statuses)
	if behind > 0 {
		w.add("position < " + w.arg(behind))
	}
	return rows(r, "store.Deliveries", "list deliveries", scanDelivery,
		`SELECT `+deliveryColumns+` FROM deliveries`+w.String()+` ORDER BY position DESC`+w.limit(limit), w.args...)
}

// Due implements pipeline.Reader.
func (r *reader) Due(webhook string, limit int) ([]pipeline.Delivery, error) {
	w := &where{}
	w.add("d.webhook = " + w.arg(webhook))
	w.add("d.status = 'pending'")
	w.add("d.next_at <= " + w.arg(r.Now().UnixMicro()))
	w.add(`NOT EXISTS (SELECT 1 FROM deliveries e
		WHERE e.webhook = d.webhook AND e.chain = d.chain AND e.status = 'pending' AND e.position < d.position)`)
	return rows(r, "store.Due", "list what is due to webhook "+webhook, scanDelivery,
		`SELECT `+deliveryColumns+` FROM deliveries d`+w.String()+` ORDER BY d.position`+w.limit(limit), w.args...)
}

// Plan implements pipeline.Tx.
func (t *tx) Plan(webhook string, limit int) (int, error) {
	const op = "store.Plan"
	what := "plan deliveries to webhook " + webhook
	h, err := one(&t.reader, op, what, scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE id = $1`+t.d.ForUpdate, webhook)
	if err != nil {
		return 0, err
	}
	var last int64
	if err := t.row(op, what, `SELECT coalesce(max(position), $1) FROM
		(SELECT position FROM events WHERE position > $1 ORDER BY position LIMIT $2) AS behind`, h.Cursor, int64(limit))(&last); err != nil {
		return 0, err
	}
	if last == h.Cursor {
		return 0, nil
	}
	w := &where{}
	hook, at := w.arg(webhook), w.arg(t.now.UnixMicro())
	w.add("position > " + w.arg(h.Cursor))
	w.add("position <= " + w.arg(last))
	in(w, "type", h.Types)
	in(w, "subject", h.Subjects)
	_, err = t.exec(op, what, `INSERT INTO deliveries (`+deliveryColumns+`)
		SELECT `+hook+`, position, id, chain, 'pending', 0, CAST(`+at+` AS BIGINT), 0, '', NULL FROM events`+w.String()+` ON CONFLICT DO NOTHING`, w.args...)
	if err != nil {
		return 0, err
	}
	// The cursor is no setting: moving it leaves the revision that people edit.
	_, err = t.exec(op, what, `UPDATE webhooks SET cursor = $2 WHERE id = $1`, webhook, last)
	return int(last - h.Cursor), err
}

// Rewind implements pipeline.Tx.
func (t *tx) Rewind(webhook string, after int64) error {
	const op = "store.Rewind"
	what := "replay events to webhook " + webhook
	_, err := t.exec(op, what, `DELETE FROM deliveries WHERE webhook = $1 AND position > $2`, webhook, after)
	if err != nil {
		return err
	}
	return t.change(op, what, `UPDATE webhooks SET cursor = $2 WHERE id = $1`, webhook, after)
}

// UpdateDelivery implements pipeline.Tx.
func (t *tx) UpdateDelivery(d pipeline.Delivery) error {
	return t.change("store.UpdateDelivery", "record an attempt to deliver "+d.EventID,
		`UPDATE deliveries SET status = $3, attempts = $4, next_at = $5, last_status = $6, last_error = $7, delivered_at = $8 WHERE webhook = $1 AND position = $2`,
		d.Webhook, d.Position, string(d.Status), d.Attempts, micros(d.NextAt), d.LastStatus, d.LastError, micros(d.DeliveredAt))
}

// Prune implements pipeline.Tx.
func (t *tx) Prune(before time.Time, limit int) (int, error) {
	const op = "store.Prune"
	at := before.UnixMicro()
	total := 0
	for _, query := range []string{
		`DELETE FROM requests WHERE (actor, key) IN (SELECT actor, key FROM requests WHERE at < $1 ORDER BY at LIMIT $2)`,
		`DELETE FROM deliveries WHERE (webhook, position) IN
			(SELECT webhook, position FROM deliveries WHERE status = 'delivered' AND delivered_at < $1 ORDER BY position LIMIT $2)`,
		`DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE expires_at < $1 OR revoked_at < $1 ORDER BY id LIMIT $2)`,
	} {
		n, err := t.exec(op, "prune", query, at, int64(limit-total))
		if err != nil {
			return total, err
		}
		if total += int(n); total >= limit {
			break
		}
	}
	return total, nil
}
