package store

import (
	"database/sql"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

const chainColumns = `id, revision, version, phase, repository, base_commit, head_commit, diff_hash, failed_runs, returns,
	fetched_at, details, created_at, updated_at`

// keptChain is what is read: the columns that change, and the one that never does.
const keptChain = chainColumns + `, correlation_id`

func scanChain(rows *sql.Rows) (*pipeline.Chain, error) {
	c := &pipeline.Chain{}
	err := rows.Scan(&c.ID, &c.Revision, &c.Version, &c.Phase, &c.Repository, &c.BaseCommit, &c.HeadCommit, &c.DiffHash,
		&c.FailedRuns, &c.Returns, instant{&c.FetchedAt}, &c.Details, instant{&c.CreatedAt}, instant{&c.UpdatedAt},
		&c.Correlation)
	return c, err
}

// Chain implements pipeline.Reader.
func (r *reader) Chain(id contract.ID) (*pipeline.Chain, error) {
	const op = "store.Chain"
	what := "read chain " + string(id)
	if r.writing {
		k, err := r.holdChain(op, id)
		if err != nil {
			return nil, err
		}
		return copyOf(k.chain), nil
	}
	return one(r, op, what, scanChain, `SELECT `+keptChain+` FROM chains WHERE id = $1`, string(id))
}

// Chains implements pipeline.Reader.
func (r *reader) Chains(f pipeline.ChainFilter, p pipeline.Page) ([]*pipeline.Chain, error) {
	w := &where{}
	in(w, "id", f.IDs)
	in(w, "phase", f.Phases)
	in(w, "repository", f.Repositories)
	in(w, "head_commit", f.HeadCommits)
	in(w, "diff_hash", f.DiffHashes)
	in(w, "correlation_id", f.Correlations)
	if len(f.States) > 0 || len(f.Creators) > 0 {
		intent := &where{args: w.args}
		intent.add("i.id = chains.id AND i.head")
		in(intent, "i.state", f.States)
		in(intent, "i.creator", f.Creators)
		w.args = intent.args
		w.add("EXISTS (SELECT 1 FROM contracts i" + intent.String() + ")")
	}
	if len(f.Levels) > 0 {
		// Asked once, from an index of its own: asked of each chain, SQLite went
		// through all gates for each (0.5 s at 1,000 chains).
		w.add("id IN (SELECT g.chain FROM contracts g WHERE g.head AND g.kind = 'PublishGate' AND g.level IN " + among(w, f.Levels) + ")")
	}
	w.within("updated_at", f.UpdatedSince, f.UpdatedBefore)
	return rows(r, "store.Chains", "list chains", scanChain,
		`SELECT `+keptChain+` FROM chains`+w.page(p, "updated_at", "id"), w.args...)
}

// CreateChain implements pipeline.Tx.
func (t *tx) CreateChain(c *pipeline.Chain) error {
	const op = "store.CreateChain"
	what := "create chain " + string(c.ID)
	if c.Revision != 0 {
		return fault.E(op, fault.Invalid, what+": a new row has no revision", nil)
	}
	correlation := c.Correlation
	if correlation == "" {
		correlation = string(c.ID)
	}
	err := t.create(op, what, `INSERT INTO chains (`+keptChain+`) VALUES `+params(columns(keptChain)), append(chainRow(c, 1), correlation)...)
	if err != nil {
		return err
	}
	c.Revision, c.Correlation = 1, correlation
	k := t.of(c.ID)
	k.chain, k.rows = copyOf(c), []*knownRow{} // what is new is empty
	return nil
}

// UpdateChain implements pipeline.Tx.
func (t *tx) UpdateChain(c *pipeline.Chain) error {
	const op = "store.UpdateChain"
	if err := t.lockChain(op, c.ID); err != nil {
		return err
	}
	row := chainRow(c, c.Revision+1)
	err := t.later(op, "write chain "+string(c.ID), gone, `UPDATE chains SET (`+chainColumns+`) = `+params(len(row))+
		` WHERE id = $1 AND revision = $2 - 1`, row...)
	if err == nil {
		c.Revision++
		t.of(c.ID).chain = copyOf(c)
	}
	return err
}

func chainRow(c *pipeline.Chain, revision int64) []any {
	return []any{
		string(c.ID), revision, c.Version, string(c.Phase), c.Repository, c.BaseCommit, c.HeadCommit, c.DiffHash,
		c.FailedRuns, c.Returns, micros(c.FetchedAt), c.Details, c.CreatedAt.UnixMicro(), c.UpdatedAt.UnixMicro(),
	}
}
