package store

import (
	"context"
	"database/sql"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/circle"
)

// Circles is the store as the circle sees it. It implements request.Store in the
// transactions of the store it belongs to.
//
// What belongs to a request is held by the row of the request, as what belongs to
// a chain is by the chain's; circles and their members are held by nothing, and a
// change of either is refused when another was sooner.
type Circles struct{ s *Store }

var _ request.Store = (*Circles)(nil)

// Circles is the store as the circle sees it.
func (s *Store) Circles() *Circles { return &Circles{s} }

// Update implements request.Store.
func (c *Circles) Update(ctx context.Context, fn func(request.Tx) error) error {
	return c.s.Update(ctx, func(open pipeline.Tx) error {
		t, ok := open.(*tx)
		if !ok {
			return fault.E("store.Update", fault.Internal, "the transaction is of another store", nil)
		}
		return fn(circleTx{circleReader{&t.reader, map[string]bool{}}, t})
	})
}

// View implements request.Store.
func (c *Circles) View(ctx context.Context, fn func(request.Reader) error) error {
	return c.s.View(ctx, func(open pipeline.Reader) error {
		r, ok := open.(*reader)
		if !ok {
			return fault.E("store.View", fault.Internal, "the transaction is of another store", nil)
		}
		return fn(circleReader{r, nil})
	})
}

// circleReader implements request.Reader. Inside Update it knows which requests
// the transaction holds.
type circleReader struct {
	r    *reader
	held map[string]bool
}

// circleTx implements request.Tx.
type circleTx struct {
	circleReader
	t *tx
}

// Now implements request.Reader.
func (c circleReader) Now() time.Time { return c.r.Now() }

// Contracts implements request.Reader.
func (c circleReader) Contracts() pipeline.Reader { return c.r }

// Contracts implements request.Tx.
func (c circleTx) Contracts() pipeline.Tx { return c.t }

// Record implements request.Tx.
func (c circleTx) Record(r event.Record) error { return c.t.Record(r) }

// Enqueue implements request.Tx.
func (c circleTx) Enqueue(j pipeline.Job) error { return c.t.Enqueue(j) }

// forUpdate ends a query whose row the transaction is going to change.
func (c circleReader) forUpdate() string {
	if c.r.writing {
		return c.r.d.ForUpdate
	}
	return ""
}

// fresh refuses a new row that was stored before.
func fresh(op, what string, revision int64) error {
	if revision != 0 {
		return fault.E(op, fault.Invalid, what+": a new row has no revision", nil)
	}
	return nil
}

const (
	circleColumns = `id, revision, name, clan, quorum_numerator, quorum_denominator, created_at, updated_at`
	memberColumns = `circle, actor, spell, roles, since, until, admitted_by`
)

func scanCircle(rows *sql.Rows) (*circle.Circle, error) {
	c := &circle.Circle{}
	var numerator, denominator sql.NullInt64
	err := rows.Scan(&c.ID, &c.Revision, &c.Name, &c.Clan, &numerator, &denominator, instant{&c.Created}, instant{&c.Updated})
	if numerator.Valid {
		c.Quorum = &circle.Fraction{Numerator: int(numerator.Int64), Denominator: int(denominator.Int64)}
	}
	return c, err
}

// Circle implements request.CircleReader.
func (c circleReader) Circle(id string) (*circle.Circle, error) {
	return one(c.r, "store.Circle", "read circle "+id, scanCircle, `SELECT `+circleColumns+` FROM circles WHERE id = $1`, id)
}

// Circles implements request.CircleReader.
func (c circleReader) Circles(f request.CircleFilter, p pipeline.Page) ([]*circle.Circle, error) {
	w := &where{}
	if f.Member != "" {
		w.add(`id IN (SELECT circle FROM circle_members WHERE until IS NULL AND actor = ` + w.arg(f.Member) + `)`)
	}
	if f.Clan != "" {
		w.add("clan = " + w.arg(f.Clan) + " AND clan <> ''")
	}
	return rows(c.r, "store.Circles", "list circles", scanCircle, `SELECT `+circleColumns+` FROM circles`+w.page(p, "updated_at", "id"), w.args...)
}

// Roll implements request.CircleReader.
func (c circleReader) Roll(id string) (circle.Roll, error) {
	return rows(c.r, "store.Roll", "read the members of circle "+id, func(rows *sql.Rows) (circle.Member, error) {
		var m circle.Member
		var roles string
		err := rows.Scan(&m.Circle, &m.Actor, &m.Spell, &roles, instant{&m.Since}, instant{&m.Until}, &m.By)
		m.Roles = split[circle.Role](roles)
		return m, err
	}, `SELECT `+memberColumns+` FROM circle_members WHERE circle = $1 ORDER BY actor, spell`, id)
}

// CreateCircle implements request.CircleWriter.
func (c circleTx) CreateCircle(n *circle.Circle, first circle.Member) error {
	const op = "store.CreateCircle"
	what := "create circle " + n.ID
	if err := fresh(op, what, n.Revision); err != nil {
		return err
	}
	if err := c.t.create(op, what, `INSERT INTO circles (`+circleColumns+`) VALUES `+params(columns(circleColumns)), circleRow(n, 1)...); err != nil {
		return err
	}
	if err := c.begin(op, what, first); err != nil {
		return err
	}
	n.Revision = 1
	return nil
}

// UpdateCircle implements request.CircleWriter.
func (c circleTx) UpdateCircle(n *circle.Circle) error {
	row := circleRow(n, n.Revision+1)
	err := c.t.change("store.UpdateCircle", "write circle "+n.ID, `UPDATE circles SET (`+circleColumns+`) = `+params(len(row))+
		` WHERE id = $1 AND revision = $2 - 1`, row...)
	if err == nil {
		n.Revision++
	}
	return err
}

// ChangeMembers implements request.CircleWriter.
func (c circleTx) ChangeMembers(n *circle.Circle, change circle.Change) error {
	const op = "store.ChangeMembers"
	what := "change the members of circle " + n.ID
	before := n.Updated
	n.Updated = c.Now()
	if err := c.UpdateCircle(n); err != nil {
		n.Updated = before
		return err
	}
	if m := change.Ended; m != nil {
		err := c.t.change(op, what, `UPDATE circle_members SET until = $4 WHERE circle = $1 AND actor = $2 AND spell = $3 AND until IS NULL`,
			m.Circle, m.Actor, m.Spell, m.Until.UnixMicro())
		if err != nil {
			return err
		}
	}
	if change.Begun != nil {
		return c.begin(op, what, *change.Begun)
	}
	return nil
}

// begin adds a membership. Only a human of the registry has one; the caller knew
// that of the actor as it was read, the database knows it of the actor as it is.
func (c circleTx) begin(op, what string, m circle.Member) error {
	a, err := c.t.Actor(contract.ActorID(m.Actor))
	if err == nil && (a.Type != contract.Human || !a.Active) {
		err = fault.E(op, fault.NotFound, what+": no person of the registry has the id", nil)
	}
	if err != nil {
		return err
	}
	return c.t.create(op, what, `INSERT INTO circle_members (`+memberColumns+`) VALUES `+params(columns(memberColumns)),
		m.Circle, m.Actor, m.Spell, joined(m.Roles), m.Since.UnixMicro(), micros(m.Until), m.By)
}

func circleRow(n *circle.Circle, revision int64) []any {
	var numerator, denominator any
	if n.Quorum != nil {
		numerator, denominator = int64(n.Quorum.Numerator), int64(n.Quorum.Denominator)
	}
	return []any{n.ID, revision, n.Name, n.Clan, numerator, denominator, n.Created.UnixMicro(), n.Updated.UnixMicro()}
}
