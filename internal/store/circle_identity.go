package store

import (
	"database/sql"

	"plimsoll.dev/internal/request"
)

const (
	factorColumns    = `id, revision, actor, kind, name, material, counter, created_at, confirmed_at, revoked_at`
	challengeColumns = `id, revision, actor, circle, request, action, kind, material, attempts, created_at, expires_at, answered_at, factor`
)

func scanFactor(rows *sql.Rows) (*request.Factor, error) {
	f := &request.Factor{}
	err := rows.Scan(&f.ID, &f.Revision, &f.Actor, &f.Kind, &f.Name, &f.Material, &f.Counter, instant{&f.CreatedAt}, instant{&f.ConfirmedAt}, instant{&f.RevokedAt})
	return f, err
}

// Factor implements request.IdentityReader.
func (c circleReader) Factor(id string) (*request.Factor, error) {
	return one(c.r, "store.Factor", "read factor "+id, scanFactor, `SELECT `+factorColumns+` FROM identity_factors WHERE id = $1`+c.forUpdate(), id)
}

// Factors implements request.IdentityReader.
func (c circleReader) Factors(actor string) ([]*request.Factor, error) {
	return rows(c.r, "store.Factors", "list the factors of "+actor, scanFactor,
		`SELECT `+factorColumns+` FROM identity_factors WHERE actor = $1 ORDER BY created_at, id`, actor)
}

// CreateFactor implements request.IdentityWriter.
func (c circleTx) CreateFactor(f *request.Factor) error {
	const op = "store.CreateFactor"
	what := "create factor " + f.ID
	if err := fresh(op, what, f.Revision); err != nil {
		return err
	}
	err := c.t.create(op, what, `INSERT INTO identity_factors (`+factorColumns+`) VALUES `+params(columns(factorColumns)),
		f.ID, int64(1), f.Actor, string(f.Kind), f.Name, f.Material, f.Counter, f.CreatedAt.UnixMicro(), micros(f.ConfirmedAt), micros(f.RevokedAt))
	if err == nil {
		f.Revision = 1
	}
	return err
}

// UpdateFactor implements request.IdentityWriter.
func (c circleTx) UpdateFactor(f *request.Factor) error {
	err := c.t.change("store.UpdateFactor", "write factor "+f.ID, `UPDATE identity_factors SET (revision, name, material, counter, confirmed_at, revoked_at) =
		($2 + 1, $3, $4, $5, $6, $7) WHERE id = $1 AND revision = $2 AND counter <= $5`,
		f.ID, f.Revision, f.Name, f.Material, f.Counter, micros(f.ConfirmedAt), micros(f.RevokedAt))
	if err == nil {
		f.Revision++
	}
	return err
}

func scanChallenge(rows *sql.Rows) (*request.Challenge, error) {
	n := &request.Challenge{}
	err := rows.Scan(&n.ID, &n.Revision, &n.Actor, &n.Circle, &n.Request, &n.Action, &n.Kind, &n.Material, &n.Attempts,
		instant{&n.CreatedAt}, instant{&n.ExpiresAt}, instant{&n.AnsweredAt}, &n.Factor)
	return n, err
}

// Challenge implements request.IdentityReader.
func (c circleReader) Challenge(id string) (*request.Challenge, error) {
	return one(c.r, "store.Challenge", "read challenge "+id, scanChallenge,
		`SELECT `+challengeColumns+` FROM identity_challenges WHERE id = $1`+c.forUpdate(), id)
}

// CreateChallenge implements request.IdentityWriter.
func (c circleTx) CreateChallenge(n *request.Challenge) error {
	const op = "store.CreateChallenge"
	what := "create challenge " + n.ID
	if err := fresh(op, what, n.Revision); err != nil {
		return err
	}
	err := c.t.create(op, what, `INSERT INTO identity_challenges (`+challengeColumns+`) VALUES `+params(columns(challengeColumns)),
		n.ID, int64(1), n.Actor, n.Circle, n.Request, string(n.Action), string(n.Kind), n.Material, n.Attempts,
		n.CreatedAt.UnixMicro(), n.ExpiresAt.UnixMicro(), micros(n.AnsweredAt), n.Factor)
	if err == nil {
		n.Revision = 1
	}
	return err
}

// UpdateChallenge implements request.IdentityWriter.
func (c circleTx) UpdateChallenge(n *request.Challenge) error {
	err := c.t.change("store.UpdateChallenge", "write challenge "+n.ID, `UPDATE identity_challenges SET (revision, attempts, answered_at, factor) =
		($2 + 1, $3, $4, $5) WHERE id = $1 AND revision = $2 AND attempts <= $3 AND answered_at IS NULL`,
		n.ID, n.Revision, n.Attempts, micros(n.AnsweredAt), n.Factor)
	if err == nil {
		n.Revision++
	}
	return err
}
