package store

import (
	"database/sql"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
)

const runColumns = `execution_id, revision, chain, task_seed, task_version, phase, role, actor, series, attempt, lock_token,
	base_commit, head_commit, diff_hash, started_at, deadline, ended_at, outcome, evidence, details`

const keptRun = runColumns + `, correlation_id`

func scanRun(rows *sql.Rows) (*pipeline.Run, error) {
	r := &pipeline.Run{}
	err := rows.Scan(&r.ExecutionID, &r.Revision, &r.Chain, &r.TaskSeed.ID, &r.TaskSeed.Version, &r.Phase, &r.Role, &r.Actor,
		&r.Series, &r.Attempt, &r.LockToken, &r.BaseCommit, &r.HeadCommit, &r.DiffHash,
		instant{&r.StartedAt}, instant{&r.Deadline}, instant{&r.EndedAt}, &r.Outcome, &r.Evidence, &r.Details, &r.Correlation)
	return r, err
}

// Run implements pipeline.Reader.
func (r *reader) Run(executionID string) (*pipeline.Run, error) {
	const op = "store.Run"
	what := "read run " + executionID
	if r.writing {
		return r.heldRun(op, what, executionID)
	}
	return one(r, op, what, scanRun, oneRun, executionID)
}

const oneRun = `SELECT ` + keptRun + ` FROM runs WHERE execution_id = $1`

// Runs implements pipeline.Reader.
func (r *reader) Runs(f pipeline.RunFilter, p pipeline.Page) ([]*pipeline.Run, error) {
	w := &where{}
	in(w, "chain", f.Chains)
	if len(f.Correlations) > 0 {
		w.add(ofPath("chain", w, f.Correlations))
	}
	in(w, "task_seed", f.TaskSeeds)
	in(w, "phase", f.Phases)
	in(w, "actor", f.Actors)
	in(w, "outcome", f.Outcomes)
	in(w, "head_commit", f.HeadCommits)
	if f.Alive != nil {
		if *f.Alive {
			w.add("ended_at IS NULL")
		} else {
			w.add("ended_at IS NOT NULL")
		}
	}
	return rows(r, "store.Runs", "list runs", scanRun,
		`SELECT `+keptRun+` FROM runs`+w.page(p, "started_at", "execution_id"), w.args...)
}

// CreateRun implements pipeline.Tx.
func (t *tx) CreateRun(r *pipeline.Run) error {
	const op = "store.CreateRun"
	what := "create run " + r.ExecutionID
	if r.Revision != 0 {
		return fault.E(op, fault.Invalid, what+": a new row has no revision", nil)
	}
	of, err := t.holdChain(op, r.Chain)
	if err != nil {
		return err
	}
	row := append(runRow(r, 1), of.chain.Correlation)
	if err := t.later(op, what, there, `INSERT INTO runs (`+keptRun+`) VALUES `+params(len(row))+orNot, row...); err != nil {
		return err
	}
	r.Revision, r.Correlation = 1, of.chain.Correlation
	t.keepRun(r)
	return nil
}

// UpdateRun implements pipeline.Tx.
func (t *tx) UpdateRun(r *pipeline.Run) error {
	const op = "store.UpdateRun"
	if err := t.lockChain(op, r.Chain); err != nil {
		return err
	}
	row := runRow(r, r.Revision+1)
	err := t.later(op, "write run "+r.ExecutionID, gone, `UPDATE runs SET (`+runColumns+`) = `+params(len(row))+
		` WHERE execution_id = $1 AND revision = $2 - 1 AND chain = $3`, row...)
	if err == nil {
		r.Revision++
		t.keepRun(r)
	}
	return err
}

func runRow(r *pipeline.Run, revision int64) []any {
	return []any{
		r.ExecutionID, revision, string(r.Chain), string(r.TaskSeed.ID), r.TaskSeed.Version, string(r.Phase), string(r.Role), string(r.Actor),
		r.Series, r.Attempt, r.LockToken, r.BaseCommit, r.HeadCommit, r.DiffHash,
		r.StartedAt.UnixMicro(), micros(r.Deadline), micros(r.EndedAt), r.Outcome, string(r.Evidence), r.Details,
	}
}
