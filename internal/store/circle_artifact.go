package store

import (
	"database/sql"
	"encoding/json"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

const returnedColumns = `id, version, revision, circle, request, owner, type, visibility, status, reason, content, content_sha256, origin, provenance,
	flags, concerns, scope, consent_by, waits_for, blocks, confirmed_by, confirmed_at, contract, created_at, updated_at`

func scanReturned(rows *sql.Rows) (*artifact.Artifact, error) {
	a := &artifact.Artifact{}
	var asked, flags, blocks string
	var origin envelope.Origin
	err := rows.Scan(&a.ID, &a.Version, &a.Revision, &a.Circle, &asked, &a.Owner, &a.Type, &a.Visibility, &a.Status, &a.Reason, &a.Content,
		&a.ContentSHA256, &origin, document{&a.Provenance}, &flags, document{&a.Concerns}, document{&a.Scope}, instant{&a.ConsentBy}, &a.WaitsFor,
		&blocks, &a.ConfirmedBy, instant{&a.ConfirmedAt}, &a.ContractID, instant{&a.CreatedAt}, instant{&a.UpdatedAt})
	a.Provenance.RequestID = asked
	// The column is what counts: a mark that is on either is never washed off.
	a.Provenance.Origin = origin.Join(a.Provenance.Origin)
	a.Flags, a.Blocks = split[envelope.Flag](flags), split[envelope.Condition](blocks)
	return a, err
}

// document reads what is kept as JSON.
type document struct{ to any }

// Scan implements sql.Scanner.
func (d document) Scan(v any) error {
	text, ok := v.([]byte)
	if !ok {
		return fault.E("store.Scan", fault.Internal, "a document is not stored as bytes", nil)
	}
	return json.Unmarshal(text, d.to)
}

// written is v as it is kept. None of ours can fail: they hold texts and numbers.
func written(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return text
}

// Artifact implements request.ArtifactReader.
func (c circleReader) Artifact(id string) (*artifact.Artifact, error) {
	const op = "store.Artifact"
	what := "read artifact " + id
	if err := c.holdArtifact(op, what, id); err != nil {
		return nil, err
	}
	return one(c.r, op, what, scanReturned, `SELECT `+returnedColumns+` FROM circle_artifacts WHERE id = $1 AND head`, id)
}

// ArtifactAt implements request.ArtifactReader.
func (c circleReader) ArtifactAt(id string, version int64) (*artifact.Artifact, error) {
	const op = "store.ArtifactAt"
	what := "read artifact " + id
	if err := c.holdArtifact(op, what, id); err != nil {
		return nil, err
	}
	return one(c.r, op, what, scanReturned, `SELECT `+returnedColumns+` FROM circle_artifacts WHERE id = $1 AND version = $2`, id, version)
}

func (c circleReader) holdArtifact(op, what, id string) error {
	return c.holdOf(op, what, `SELECT request FROM circle_artifacts WHERE id = $1 AND version = 1`, id)
}

// Artifacts implements request.ArtifactReader.
func (c circleReader) Artifacts(f request.ArtifactFilter, p pipeline.Page) ([]*artifact.Artifact, error) {
	w := &where{}
	w.add("head")
	in(w, "circle", f.Circles)
	in(w, "request", f.Requests)
	in(w, "owner", f.Owners)
	in(w, "type", f.Types)
	in(w, "status", f.Statuses)
	return rows(c.r, "store.Artifacts", "list artifacts", scanReturned,
		`SELECT `+returnedColumns+` FROM circle_artifacts`+w.page(p, "updated_at", "id"), w.args...)
}

// ArtifactsOf implements request.ArtifactReader.
func (c circleReader) ArtifactsOf(id string) ([]*artifact.Artifact, error) {
	const op = "store.ArtifactsOf"
	if err := c.hold(op, id); err != nil {
		return nil, err
	}
	return rows(c.r, op, "list the artifacts of request "+id, scanReturned,
		`SELECT `+returnedColumns+` FROM circle_artifacts WHERE request = $1 AND head ORDER BY created_at, id`, id)
}

// Overdue implements request.ArtifactReader.
func (c circleReader) Overdue(limit int) ([]string, error) {
	w := &where{}
	w.add("status = 'waiting_for_consent'")
	w.add("head")
	w.add("consent_by <= " + w.arg(c.Now().UnixMicro()))
	return rows(c.r, "store.Overdue", "list artifacts whose consents are overdue", func(rows *sql.Rows) (string, error) {
		var id string
		err := rows.Scan(&id)
		return id, err
	}, `SELECT id FROM circle_artifacts`+w.String()+` ORDER BY consent_by, id`+w.limit(limit), w.args...)
}

// CreateArtifact implements request.ArtifactWriter.
func (c circleTx) CreateArtifact(a *artifact.Artifact) error {
	const op = "store.CreateArtifact"
	what := "create artifact " + a.ID
	if err := fresh(op, what, a.Revision); err != nil {
		return err
	}
	if err := c.hold(op, a.Provenance.RequestID); err != nil {
		return err
	}
	if a.Version > 1 {
		// A later version may come of another request; what it is a version of is
		// held by the first.
		if err := c.holdArtifact(op, what, a.ID); err != nil {
			return err
		}
		err := c.t.change(op, what, `UPDATE circle_artifacts SET head = $4 WHERE id = $1 AND version = $2 - 1 AND circle = $3 AND head`,
			a.ID, a.Version, a.Circle, false)
		if err != nil {
			return err
		}
	}
	row := returnedRow(a)
	row = append(row, true)
	err := c.t.create(op, what, `INSERT INTO circle_artifacts (`+returnedColumns+`, head) VALUES `+params(len(row)), row...)
	if err == nil {
		a.Revision = 1
	}
	return err
}

func returnedRow(a *artifact.Artifact) []any {
	return []any{
		a.ID, a.Version, int64(1), a.Circle, a.Provenance.RequestID, a.Owner, string(a.Type), string(a.Visibility), string(a.Status), string(a.Reason),
		a.Content, a.ContentSHA256, string(a.Provenance.Origin), written(a.Provenance), joined(a.Flags), written(a.Concerns), written(a.Scope),
		micros(a.ConsentBy), a.WaitsFor, joined(a.Blocks), a.ConfirmedBy, micros(a.ConfirmedAt), a.ContractID,
		a.CreatedAt.UnixMicro(), a.UpdatedAt.UnixMicro(),
	}
}

// UpdateArtifact implements request.ArtifactWriter.
func (c circleTx) UpdateArtifact(a *artifact.Artifact) error {
	const op = "store.UpdateArtifact"
	what := "write artifact " + a.ID
	if err := c.holdArtifact(op, what, a.ID); err != nil {
		return err
	}
	err := c.t.change(op, what, `UPDATE circle_artifacts SET (revision, status, reason, flags, concerns, scope, consent_by, waits_for, blocks,
		confirmed_by, confirmed_at, contract, updated_at) = ($3 + 1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		WHERE id = $1 AND version = $2 AND revision = $3 AND head`,
		a.ID, a.Version, a.Revision, string(a.Status), string(a.Reason), joined(a.Flags), written(a.Concerns), written(a.Scope), micros(a.ConsentBy),
		a.WaitsFor, joined(a.Blocks), a.ConfirmedBy, micros(a.ConfirmedAt), a.ContractID, a.UpdatedAt.UnixMicro())
	if err == nil {
		a.Revision++
	}
	return err
}

// DropArtifacts implements request.ArtifactWriter.
func (c circleTx) DropArtifacts(id string) error {
	const op = "store.DropArtifacts"
	if err := c.hold(op, id); err != nil {
		return err
	}
	_, err := c.t.exec(op, "drop the artifacts of request "+id, `DELETE FROM circle_artifacts WHERE request = $1 AND id NOT IN
		(SELECT id FROM circle_artifacts WHERE request = $1 AND status = 'confirmed')`, id)
	return err
}
