package store

import (
	"database/sql"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

const (
	askedColumns = `id, revision, circle, member, channel, origin, target, sha256, envelope, config, triage, plan, state, status, stops, package,
	created_at, updated_at, ended_at`
	turnColumns = `id, revision, request, step, attempt, worker, engine, model, constitution_version, subagent_prompt_version, prompt_sha256, origin,
	state, fault, artifacts, started_at, deadline, ended_at`
)

// hold keeps others out of a request until the transaction ends. A request that
// is not there has nothing to hold.
func (c circleReader) hold(op, id string) error {
	if c.forUpdate() == "" || c.held[id] {
		return nil
	}
	var one int
	err := c.r.row(op, "hold request "+id, `SELECT 1 FROM circle_requests WHERE id = $1`+c.r.d.ForUpdate, id)(&one)
	if err == nil {
		c.held[id] = true
	} else if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// holdOf holds the request that a row belongs to, before the row is read. The
// request of a row never changes, so it can be asked for without holding it.
func (c circleReader) holdOf(op, what, query string, args ...any) error {
	if c.forUpdate() == "" {
		return nil
	}
	var id string
	if err := c.r.row(op, what, query, args...)(&id); err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		return err
	}
	return c.hold(op, id)
}

func scanAsked(rows *sql.Rows) (*request.Request, error) {
	q := &request.Request{}
	var stops string
	err := rows.Scan(&q.ID, &q.Revision, &q.Circle, &q.Member, &q.Channel, &q.Origin, &q.Target, &q.SHA256, &q.Envelope, &q.Config, &q.Triage, &q.Plan,
		&q.State, &q.Status, &stops, &q.Package, instant{&q.CreatedAt}, instant{&q.UpdatedAt}, instant{&q.EndedAt})
	q.Stops = split[envelope.Condition](stops)
	return q, err
}

// Request implements request.RequestReader.
func (c circleReader) Request(id string) (*request.Request, error) {
	const op = "store.Request"
	if err := c.hold(op, id); err != nil {
		return nil, err
	}
	return one(c.r, op, "read request "+id, scanAsked, `SELECT `+askedColumns+` FROM circle_requests WHERE id = $1`, id)
}

// Requests implements request.RequestReader.
func (c circleReader) Requests(f request.Filter, p pipeline.Page) ([]*request.Request, error) {
	w := &where{}
	in(w, "circle", f.Circles)
	in(w, "member", f.Members)
	in(w, "channel", f.Channels)
	in(w, "state", f.States)
	if len(f.Made) > 0 {
		w.add("EXISTS (SELECT 1 FROM circle_artifacts a WHERE a.request = circle_requests.id AND a.head AND a.status IN " + among(w, f.Made) + ")")
	}
	return rows(c.r, "store.Requests", "list requests", scanAsked,
		`SELECT `+askedColumns+` FROM circle_requests`+w.page(p, "updated_at", "id"), w.args...)
}

// CreateRequest implements request.RequestWriter.
func (c circleTx) CreateRequest(q *request.Request) error {
	const op = "store.CreateRequest"
	what := "create request " + q.ID
	if err := fresh(op, what, q.Revision); err != nil {
		return err
	}
	row := []any{
		q.ID, int64(1), q.Circle, q.Member, q.Channel, string(q.Origin), string(q.Target), q.SHA256, q.Envelope, q.Config, q.Triage, q.Plan,
		string(q.State), string(q.Status), joined(q.Stops), q.Package, q.CreatedAt.UnixMicro(), q.UpdatedAt.UnixMicro(), micros(q.EndedAt),
	}
	if err := c.t.create(op, what, `INSERT INTO circle_requests (`+askedColumns+`) VALUES `+params(columns(askedColumns)), row...); err != nil {
		return err
	}
	q.Revision = 1
	c.held[q.ID] = true
	return nil
}

// UpdateRequest implements request.RequestWriter.
func (c circleTx) UpdateRequest(q *request.Request) error {
	const op = "store.UpdateRequest"
	if err := c.hold(op, q.ID); err != nil {
		return err
	}
	err := c.t.change(op, "write request "+q.ID, `UPDATE circle_requests SET (revision, triage, plan, state, status, stops, package, updated_at, ended_at) =
		($2 + 1, $3, $4, $5, $6, $7, $8, $9, $10) WHERE id = $1 AND revision = $2`,
		q.ID, q.Revision, q.Triage, q.Plan, string(q.State), string(q.Status), joined(q.Stops), q.Package, q.UpdatedAt.UnixMicro(), micros(q.EndedAt))
	if err == nil {
		q.Revision++
	}
	return err
}

func scanTurn(rows *sql.Rows) (*request.Run, error) {
	n := &request.Run{}
	var artifacts string
	err := rows.Scan(&n.ID, &n.Revision, &n.Request, &n.Step, &n.Attempt, &n.Worker, &n.Engine, &n.Model, &n.ConstitutionVersion,
		&n.SubagentPromptVersion, &n.PromptSHA256, &n.Origin, &n.State, &n.Fault, &artifacts,
		instant{&n.StartedAt}, instant{&n.Deadline}, instant{&n.EndedAt})
	n.Artifacts = split[string](artifacts)
	return n, err
}

// Run implements request.RequestReader.
func (c circleReader) Run(id string) (*request.Run, error) {
	const op = "store.Run"
	what := "read run " + id
	if err := c.holdOf(op, what, `SELECT request FROM circle_runs WHERE id = $1`, id); err != nil {
		return nil, err
	}
	return one(c.r, op, what, scanTurn, `SELECT `+turnColumns+` FROM circle_runs WHERE id = $1`, id)
}

// Runs implements request.RequestReader.
func (c circleReader) Runs(id string) ([]*request.Run, error) {
	const op = "store.Runs"
	if err := c.hold(op, id); err != nil {
		return nil, err
	}
	return rows(c.r, op, "list the runs of request "+id, scanTurn, `SELECT `+turnColumns+` FROM circle_runs WHERE request = $1 ORDER BY step, attempt`, id)
}

// CreateRun implements request.RequestWriter.
func (c circleTx) CreateRun(n *request.Run) error {
	const op = "store.CreateRun"
	what := "create run " + n.ID
	if err := fresh(op, what, n.Revision); err != nil {
		return err
	}
	if err := c.hold(op, n.Request); err != nil {
		return err
	}
	err := c.t.create(op, what, `INSERT INTO circle_runs (`+turnColumns+`) VALUES `+params(columns(turnColumns)),
		n.ID, int64(1), n.Request, n.Step, n.Attempt, string(n.Worker), string(n.Engine), n.Model, n.ConstitutionVersion, n.SubagentPromptVersion,
		n.PromptSHA256, string(n.Origin), string(n.State), n.Fault, joined(n.Artifacts), n.StartedAt.UnixMicro(), n.Deadline.UnixMicro(), micros(n.EndedAt))
	if err == nil {
		n.Revision = 1
	}
	return err
}

// UpdateRun implements request.RequestWriter.
func (c circleTx) UpdateRun(n *request.Run) error {
	const op = "store.UpdateRun"
	if err := c.hold(op, n.Request); err != nil {
		return err
	}
	err := c.t.change(op, "write run "+n.ID, `UPDATE circle_runs SET (revision, engine, model, origin, state, fault, artifacts, deadline, ended_at) =
		($2 + 1, $3, $4, $5, $6, $7, $8, $9, $10) WHERE id = $1 AND revision = $2`,
		n.ID, n.Revision, string(n.Engine), n.Model, string(n.Origin), string(n.State), n.Fault, joined(n.Artifacts), n.Deadline.UnixMicro(), micros(n.EndedAt))
	if err == nil {
		n.Revision++
	}
	return err
}
