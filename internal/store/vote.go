package store

import (
	"database/sql"
	"fmt"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

const (
	voteColumns    = `version, role, actor, decision, decided_at, reason, self_approved`
	consentColumns = voteColumns + `, digest, base_commit, head_commit`
)

// entry reads the columns votes and consents share.
func entry(version *int64, a *contract.Approval, self *bool) []any {
	return []any{version, &a.Role, &a.ActorID, &a.Decision, timestamp{&a.DecidedAt}, optional{&a.Reason}, self}
}

// timestamp reads an instant that is kept as the text it was written as.
type timestamp struct{ to *contract.Timestamp }

// Scan implements sql.Scanner.
func (t timestamp) Scan(v any) error {
	text, ok := v.(string)
	if ok {
		*t.to, ok = contract.ParseTimestamp(text)
	}
	if !ok {
		return fmt.Errorf("a stored timestamp is %v", v)
	}
	return nil
}

// optional reads a text that may be absent. It is kept as bytes: a reason is
// whatever somebody typed, and not every text is one to a database.
type optional struct{ to **string }

// Scan implements sql.Scanner.
func (o optional) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*o.to = nil
	case []byte:
		text := string(v)
		*o.to = &text
	default:
		return fmt.Errorf("a text is stored as %T", v)
	}
	return nil
}

func bytesOf(text *string) any {
	if text == nil {
		return nil
	}
	return []byte(*text)
}

// Votes implements pipeline.Reader.
func (r *reader) Votes(id contract.ID) ([]pipeline.Vote, error) {
	const op = "store.Votes"
	what := "read the votes on " + string(id)
	if err := r.lockContract(op, what, id); err != nil {
		return nil, err
	}
	return rows(r, op, what, func(rows *sql.Rows) (pipeline.Vote, error) {
		var v pipeline.Vote
		err := rows.Scan(entry(&v.Version, &v.Approval, &v.SelfApproved)...)
		return v, err
	}, `SELECT `+voteColumns+` FROM votes WHERE contract = $1 ORDER BY seq`, string(id))
}

// Ledgers implements pipeline.Reader.
func (r *reader) Ledgers(ids ...contract.ID) (map[contract.ID][]pipeline.Vote, error) {
	const op, what = "store.Ledgers", "read the votes on several contracts"
	of := map[contract.ID][]pipeline.Vote{}
	if len(ids) == 0 {
		return of, nil
	}
	for _, id := range ids {
		if err := r.lockContract(op, what, id); err != nil {
			return nil, err
		}
	}
	w := &where{}
	in(w, "contract", ids)
	_, err := rows(r, op, what, func(rows *sql.Rows) (pipeline.Vote, error) {
		var v pipeline.Vote
		var id contract.ID
		err := rows.Scan(append([]any{&id}, entry(&v.Version, &v.Approval, &v.SelfApproved)...)...)
		of[id] = append(of[id], v)
		return v, err
	}, `SELECT contract, `+voteColumns+` FROM votes`+w.String()+` ORDER BY contract, seq`, w.args...)
	return of, err
}

// AddVote implements pipeline.Tx.
func (t *tx) AddVote(id contract.ID, v pipeline.Vote) error {
	const op = "store.AddVote"
	what := "record a vote on " + string(id)
	if err := t.existing(op, what, id); err != nil {
		return err
	}
	return t.later(op, what, there, `INSERT INTO votes (contract, seq, `+voteColumns+`, correlation_id)
		VALUES ($1, (SELECT coalesce(max(seq), 0) + 1 FROM votes WHERE contract = $1), $2, $3, $4, $5, $6, $7, $8,
		(SELECT correlation_id FROM contracts WHERE id = $1 LIMIT 1))`+orNot,
		string(id), v.Version, string(v.Role), string(v.ActorID), string(v.Decision), v.DecidedAt.String(), bytesOf(v.Reason), v.SelfApproved)
}

// Consents implements pipeline.Reader.
func (r *reader) Consents(gate contract.ID) ([]pipeline.Consent, error) {
	const op = "store.Consents"
	what := "read the decisions on " + string(gate)
	if err := r.lockContract(op, what, gate); err != nil {
		return nil, err
	}
	return rows(r, op, what, func(rows *sql.Rows) (pipeline.Consent, error) {
		var c pipeline.Consent
		err := rows.Scan(append(entry(&c.GateVersion, &c.Approval, &c.SelfApproved), &c.Digest, &c.BaseCommit, &c.HeadCommit)...)
		return c, err
	}, `SELECT `+consentColumns+` FROM consents WHERE gate = $1 ORDER BY seq`, string(gate))
}

// AddConsent implements pipeline.Tx.
func (t *tx) AddConsent(gate contract.ID, c pipeline.Consent) error {
	const op = "store.AddConsent"
	what := "record a decision on " + string(gate)
	if err := t.existing(op, what, gate); err != nil {
		return err
	}
	return t.later(op, what, there, `INSERT INTO consents (gate, seq, `+consentColumns+`, correlation_id)
		VALUES ($1, (SELECT coalesce(max(seq), 0) + 1 FROM consents WHERE gate = $1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
		(SELECT correlation_id FROM contracts WHERE id = $1 LIMIT 1))`+orNot,
		string(gate), c.GateVersion, string(c.Role), string(c.ActorID), string(c.Decision), c.DecidedAt.String(), bytesOf(c.Reason), c.SelfApproved,
		c.Digest, c.BaseCommit, c.HeadCommit)
}
