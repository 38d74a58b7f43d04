package store

import (
	"database/sql"
	"fmt"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

const (
	actorColumns = `id, revision, type, roles, name, active, created_at, updated_at`
	tokenColumns = `id, actor, hash, scopes, name, created_at, expires_at, revoked_at`
)

func scanActor(rows *sql.Rows) (*pipeline.Actor, error) {
	a := &pipeline.Actor{}
	var roles string
	err := rows.Scan(&a.ID, &a.Revision, &a.Type, &roles, &a.Name, &a.Active, instant{&a.CreatedAt}, instant{&a.UpdatedAt})
	if err == nil {
		a.Roles, err = contract.ParseRoles(split[string](roles))
	}
	return a, err
}

// Actor implements pipeline.Reader.
func (r *reader) Actor(id contract.ActorID) (*pipeline.Actor, error) {
	return one(r, "store.Actor", "read actor "+string(id), scanActor, `SELECT `+actorColumns+` FROM actors WHERE id = $1`, string(id))
}

// Actors implements pipeline.Reader.
func (r *reader) Actors(p pipeline.Page) ([]*pipeline.Actor, error) {
	w := &where{}
	return rows(r, "store.Actors", "list actors", scanActor, `SELECT `+actorColumns+` FROM actors`+w.page(p, "updated_at", "id"), w.args...)
}

// Admins implements pipeline.Reader.
func (r *reader) Admins() ([]contract.ActorID, error) {
	forUpdate := ""
	if r.writing {
		forUpdate = r.d.ForUpdate
	}
	return rows(r, "store.Admins", "list the admins", func(rows *sql.Rows) (contract.ActorID, error) {
		var id contract.ActorID
		err := rows.Scan(&id)
		return id, err
	}, `SELECT id FROM actors WHERE active AND type = 'human' AND roles LIKE '%,admin,%' ORDER BY id`+forUpdate)
}

// CreateActor implements pipeline.Tx.
func (t *tx) CreateActor(a *pipeline.Actor) error {
	const op = "store.CreateActor"
	what := "create actor " + string(a.ID)
	if a.Revision != 0 {
		return fault.E(op, fault.Invalid, what+": a new row has no revision", nil)
	}
	if err := t.create(op, what, `INSERT INTO actors (`+actorColumns+`) VALUES `+params(columns(actorColumns)), actorRow(a, 1)...); err != nil {
		return err
	}
	a.Revision = 1
	return nil
}

// UpdateActor implements pipeline.Tx.
func (t *tx) UpdateActor(a *pipeline.Actor) error {
	row := actorRow(a, a.Revision+1)
	err := t.change("store.UpdateActor", "write actor "+string(a.ID), `UPDATE actors SET (`+actorColumns+`) = `+params(len(row))+
		` WHERE id = $1 AND revision = $2 - 1`, row...)
	if err == nil {
		a.Revision++
	}
	return err
}

func actorRow(a *pipeline.Actor, revision int64) []any {
	return []any{
		string(a.ID), revision, string(a.Type), joined(a.Roles.List()), a.Name, a.Active, a.CreatedAt.UnixMicro(), a.UpdatedAt.UnixMicro(),
	}
}

func scanToken(rows *sql.Rows) (*pipeline.Token, error) {
	k := &pipeline.Token{}
	var hash []byte
	var scopes string
	err := rows.Scan(&k.ID, &k.Actor, &hash, &scopes, &k.Name, instant{&k.CreatedAt}, instant{&k.ExpiresAt}, instant{&k.RevokedAt})
	if err == nil && copy(k.Hash[:], hash) != len(k.Hash) {
		err = fmt.Errorf("the digest of token %s has %d bytes", k.ID, len(hash))
	}
	k.Scopes = split[string](scopes)
	return k, err
}

// TokenByHash implements pipeline.Reader.
func (r *reader) TokenByHash(hash [32]byte) (*pipeline.Token, error) {
	return one(r, "store.TokenByHash", "read a token", scanToken, `SELECT `+tokenColumns+` FROM tokens WHERE hash = $1`, hash[:])
}

// Token implements pipeline.Reader.
func (r *reader) Token(id string) (*pipeline.Token, error) {
	return one(r, "store.Token", "read token "+id, scanToken, `SELECT `+tokenColumns+` FROM tokens WHERE id = $1`, id)
}

// Tokens implements pipeline.Reader.
func (r *reader) Tokens(actor contract.ActorID, p pipeline.Page) ([]*pipeline.Token, error) {
	w := &where{}
	if actor != "" {
		w.add("actor = " + w.arg(string(actor)))
	}
	return rows(r, "store.Tokens", "list tokens", scanToken, `SELECT `+tokenColumns+` FROM tokens`+w.page(p, "created_at", "id"), w.args...)
}

// CreateToken implements pipeline.Tx.
func (t *tx) CreateToken(k pipeline.Token) error {
	return t.create("store.CreateToken", "create token "+k.ID, `INSERT INTO tokens (`+tokenColumns+`) VALUES `+params(columns(tokenColumns)),
		k.ID, string(k.Actor), k.Hash[:], joined(k.Scopes), k.Name, k.CreatedAt.UnixMicro(), k.ExpiresAt.UnixMicro(), micros(k.RevokedAt))
}

// RevokeToken implements pipeline.Tx.
func (t *tx) RevokeToken(id string) error {
	const op = "store.RevokeToken"
	n, err := t.exec(op, "revoke token "+id, `UPDATE tokens SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1`, id, t.now.UnixMicro())
	if err == nil && n == 0 {
		return fault.E(op, fault.NotFound, "revoke token "+id+": there is none", nil)
	}
	return err
}
