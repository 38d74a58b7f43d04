package store

import (
	"database/sql"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
)

const ledgerColumns = `id, revision, circle, member, request, artifact, content_sha256, action, visibility, recipients, decision, decided_at, expires_at,
	revoked_at, step_up`

func scanLedger(rows *sql.Rows) (*artifact.Consent, error) {
	k := &artifact.Consent{}
	err := rows.Scan(&k.ID, &k.Revision, &k.Circle, &k.Member, &k.RequestID, &k.ArtifactID, &k.ContentSHA256, &k.Scope.Action, &k.Scope.Visibility,
		document{&k.Scope.Recipients}, &k.Decision, instant{&k.DecidedAt}, instant{&k.ExpiresAt}, instant{&k.RevokedAt}, &k.StepUp)
	return k, err
}

// Ledger implements request.ArtifactReader.
func (c circleReader) Ledger(artifacts ...string) ([]artifact.Consent, error) {
	const op, what = "store.Ledger", "read the consents to artifacts"
	if len(artifacts) == 0 {
		return []artifact.Consent{}, nil
	}
	for _, id := range artifacts {
		if err := c.holdArtifact(op, what, id); err != nil {
			return nil, err
		}
	}
	w := &where{}
	in(w, "artifact", artifacts)
	return rows(c.r, op, what, func(rows *sql.Rows) (artifact.Consent, error) {
		k, err := scanLedger(rows)
		return *k, err
	}, `SELECT `+ledgerColumns+` FROM circle_consents`+w.String()+` ORDER BY artifact, seq`, w.args...)
}

// Consent implements request.ArtifactReader.
func (c circleReader) Consent(id string) (*artifact.Consent, error) {
	const op = "store.Consent"
	what := "read consent " + id
	if err := c.holdOf(op, what, `SELECT request FROM circle_consents WHERE id = $1`, id); err != nil {
		return nil, err
	}
	return one(c.r, op, what, scanLedger, `SELECT `+ledgerColumns+` FROM circle_consents WHERE id = $1`, id)
}

// Consents implements request.ArtifactReader.
func (c circleReader) Consents(f request.ConsentFilter, p pipeline.Page) ([]*artifact.Consent, error) {
	w := &where{}
	in(w, "circle", f.Circles)
	in(w, "member", f.Members)
	in(w, "artifact", f.Artifacts)
	in(w, "decision", f.Decisions)
	return rows(c.r, "store.Consents", "list consents", scanLedger,
		`SELECT `+ledgerColumns+` FROM circle_consents`+w.page(p, "decided_at", "id"), w.args...)
}

// AddConsent implements request.ArtifactWriter.
func (c circleTx) AddConsent(k *artifact.Consent) error {
	const op = "store.AddConsent"
	what := "record consent " + k.ID
	if err := fresh(op, what, k.Revision); err != nil {
		return err
	}
	if err := c.holdArtifact(op, what, k.ArtifactID); err != nil {
		return err
	}
	row := []any{
		k.ID, int64(1), k.Circle, k.Member, k.RequestID, k.ArtifactID, k.ContentSHA256, string(k.Scope.Action), string(k.Scope.Visibility),
		written(k.Scope.Recipients), string(k.Decision), k.DecidedAt.UnixMicro(), micros(k.ExpiresAt), micros(k.RevokedAt), k.StepUp,
	}
	err := c.t.create(op, what, `INSERT INTO circle_consents (`+ledgerColumns+`, seq)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, (SELECT coalesce(max(seq), 0) + 1 FROM circle_consents WHERE artifact = $6))`, row...)
	if err == nil {
		k.Revision = 1
	}
	return err
}

// RevokeConsent implements request.ArtifactWriter.
func (c circleTx) RevokeConsent(k *artifact.Consent) error {
	const op = "store.RevokeConsent"
	what := "revoke consent " + k.ID
	if err := c.holdArtifact(op, what, k.ArtifactID); err != nil {
		return err
	}
	err := c.t.change(op, what, `UPDATE circle_consents SET (revision, decision, revoked_at) = ($2 + 1, 'revoked', $3)
		WHERE id = $1 AND revision = $2 AND decision = 'granted'`, k.ID, k.Revision, k.RevokedAt.UnixMicro())
	if err == nil {
		k.Revision++
		k.Decision = artifact.Revoked
	}
	return err
}
