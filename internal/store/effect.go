package store

import (
	"database/sql"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

const requestColumns = `actor, key, method, path, role, body_digest, status, media_type, headers, answer, at`

// Effect implements pipeline.Reader.
func (r *reader) Effect(key string) (pipeline.Effect, bool, error) {
	return maybe(one(r, "store.Effect", "read what came of "+key, func(rows *sql.Rows) (pipeline.Effect, error) {
		e := pipeline.Effect{Key: key}
		err := rows.Scan(&e.Result.ID, &e.Result.Version, &e.Detail, instant{&e.At})
		return e, err
	}, `SELECT result_id, result_version, detail, at FROM effects WHERE key = $1`, key))
}

// maybe makes an absence an answer.
func maybe[T any](found T, err error) (T, bool, error) {
	if fault.KindOf(err) == fault.NotFound {
		return found, false, nil
	}
	return found, err == nil, err
}

// AddEffect implements pipeline.Tx.
func (t *tx) AddEffect(e pipeline.Effect) error {
	const op = "store.AddEffect"
	what := "record what came of " + e.Key
	return t.later(op, what, sooner, `INSERT INTO effects (key, result_id, result_version, detail, at) VALUES ($1, $2, $3, $4, $5)`+orNot,
		e.Key, string(e.Result.ID), e.Result.Version, e.Detail, e.At.UnixMicro())
}

// sooner turns a key that somebody else wrote in the meantime into another run
// of the update, which then finds the key.
func sooner(op, what string) error {
	return &againError{fault.E(op, fault.Conflict, what+": another was sooner", nil)}
}

// Request implements pipeline.Reader.
func (r *reader) Request(actor contract.ActorID, key string) (pipeline.Request, bool, error) {
	const op = "store.Request"
	what := "read the request " + key + " of " + string(actor)
	if r.writing && r.d.TryKey != "" {
		var got bool
		if err := r.row(op, what, r.d.TryKey, "request "+string(actor)+" "+key)(&got); err != nil {
			return pipeline.Request{}, false, err
		}
		if !got {
			return pipeline.Request{}, false, fault.E(op, fault.Conflict, what+": the first one is under way", nil)
		}
	}
	return maybe(one(r, op, what, func(rows *sql.Rows) (pipeline.Request, error) {
		var q pipeline.Request
		err := rows.Scan(&q.Actor, &q.Key, &q.Method, &q.Path, &q.Role, &q.BodyDigest, &q.Status, &q.MediaType, &q.Headers, &q.Answer, instant{&q.At})
		return q, err
	}, `SELECT `+requestColumns+` FROM requests WHERE actor = $1 AND key = $2`, string(actor), key))
}

// AddRequest implements pipeline.Tx.
func (t *tx) AddRequest(q pipeline.Request) error {
	const op = "store.AddRequest"
	what := "record the request " + q.Key + " of " + string(q.Actor)
	return t.later(op, what, sooner, `INSERT INTO requests (`+requestColumns+`) VALUES `+params(columns(requestColumns))+orNot,
		string(q.Actor), q.Key, q.Method, q.Path, string(q.Role), q.BodyDigest, q.Status, q.MediaType, q.Headers, q.Answer, q.At.UnixMicro())
}

// Enqueue implements pipeline.Tx.
func (t *tx) Enqueue(j pipeline.Job) error {
	if j.Kind == "" {
		return fault.E("store.Enqueue", fault.Invalid, "a job has a kind", nil)
	}
	t.jobs = append(t.jobs, j)
	return nil
}
