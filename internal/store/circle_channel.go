package store

import (
	"database/sql"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/circle"
)

const channelColumns = `id, revision, circle, kind, name, member, adapter, suspended_at, lifted_at, lifted_by, created_at, updated_at`

func scanChannel(rows *sql.Rows) (*circle.Channel, error) {
	c := &circle.Channel{}
	err := rows.Scan(&c.ID, &c.Revision, &c.Circle, &c.Kind, &c.Name, &c.Member, &c.Adapter,
		instant{&c.Suspended}, instant{&c.Lifted}, &c.LiftedBy, instant{&c.Created}, instant{&c.Updated})
	return c, err
}

// Channel implements request.CircleReader.
func (c circleReader) Channel(id string) (*circle.Channel, error) {
	return one(c.r, "store.Channel", "read channel "+id, scanChannel,
		`SELECT `+channelColumns+` FROM circle_channels WHERE id = $1`+c.forUpdate(), id)
}

// Channels implements request.CircleReader.
func (c circleReader) Channels(f request.ChannelFilter, p pipeline.Page) ([]*circle.Channel, error) {
	w := &where{}
	in(w, "circle", f.Circles)
	if f.Suspended != nil {
		if *f.Suspended {
			w.add("suspended_at IS NOT NULL")
		} else {
			w.add("suspended_at IS NULL")
		}
	}
	return rows(c.r, "store.Channels", "list channels", scanChannel,
		`SELECT `+channelColumns+` FROM circle_channels`+w.page(p, "updated_at", "id"), w.args...)
}

// CreateChannel implements request.CircleWriter.
func (c circleTx) CreateChannel(n *circle.Channel) error {
	const op = "store.CreateChannel"
	what := "create channel " + n.ID
	if err := fresh(op, what, n.Revision); err != nil {
		return err
	}
	err := c.t.create(op, what, `INSERT INTO circle_channels (`+channelColumns+`) VALUES `+params(columns(channelColumns)), channelRow(n, 1)...)
	switch {
	case err == nil:
		n.Revision = 1
	case fault.KindOf(err) == fault.Conflict:
		return sooner(op, what)
	}
	return err
}

// UpdateChannel implements request.CircleWriter.
func (c circleTx) UpdateChannel(n *circle.Channel) error {
	row := channelRow(n, n.Revision+1)
	err := c.t.change("store.UpdateChannel", "write channel "+n.ID, `UPDATE circle_channels SET (`+channelColumns+`) = `+params(len(row))+
		` WHERE id = $1 AND revision = $2 - 1`, row...)
	if err == nil {
		n.Revision++
	}
	return err
}

func channelRow(n *circle.Channel, revision int64) []any {
	return []any{
		n.ID, revision, n.Circle, string(n.Kind), n.Name, n.Member, n.Adapter, micros(n.Suspended), micros(n.Lifted), n.LiftedBy,
		n.Created.UnixMicro(), n.Updated.UnixMicro(),
	}
}

// Breaches implements request.CircleReader.
func (c circleReader) Breaches(channel string, after time.Time) ([]circle.Breach, error) {
	return rows(c.r, "store.Breaches", "list the breaches over channel "+channel, func(rows *sql.Rows) (circle.Breach, error) {
		var b circle.Breach
		err := rows.Scan(&b.Channel, &b.Request, &b.Member, instant{&b.At})
		return b, err
	}, `SELECT channel, request, member, at FROM circle_breaches WHERE channel = $1 AND at > $2 ORDER BY at, request`, channel, after.UnixMicro())
}

// AddBreach implements request.CircleWriter.
func (c circleTx) AddBreach(b circle.Breach) error {
	_, err := c.t.exec("store.AddBreach", "record a breach over channel "+b.Channel,
		`INSERT INTO circle_breaches (channel, request, member, at) VALUES ($1, $2, $3, $4)`+orNot, b.Channel, b.Request, b.Member, b.At.UnixMicro())
	return err
}
