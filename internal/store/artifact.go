package store

import (
	"database/sql"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

const (
	artifactColumns = `execution_id, kind, chain, task_seed, task_version, phase, sha256, size, media_type, at`
	keptArtifact    = artifactColumns + `, correlation_id`
	reviewColumns   = `chain, task_seed, task_version, reviewer, role, verdict, head_commit, diff_hash, document, at`
)

func artifactFields(a *pipeline.Artifact) []any {
	return []any{
		&a.ExecutionID, &a.Kind, &a.Chain, &a.Task.ID, &a.Task.Version, &a.Phase, &a.SHA256, &a.Size, &a.MediaType,
		instant{&a.At},
		&a.Correlation,
	}
}

// Artifact implements pipeline.Reader.
func (r *reader) Artifact(executionID string, kind pipeline.ArtifactKind) (*pipeline.Artifact, error) {
	return one(r, "store.Artifact", "read the "+string(kind)+" of "+executionID, func(rows *sql.Rows) (*pipeline.Artifact, error) {
		a := &pipeline.Artifact{}
		err := rows.Scan(append(artifactFields(a), &a.Bytes)...)
		return a, err
	}, `SELECT `+keptArtifact+`, bytes FROM phase_artifacts WHERE execution_id = $1 AND kind = $2`, executionID, string(kind))
}

// Artifacts implements pipeline.Reader.
func (r *reader) Artifacts(chain contract.ID) ([]pipeline.Artifact, error) {
	const op = "store.Artifacts"
	if err := r.lockChain(op, chain); err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	return rows(r, op, "list the artifacts of "+string(chain), func(rows *sql.Rows) (pipeline.Artifact, error) {
		var a pipeline.Artifact
		err := rows.Scan(artifactFields(&a)...)
		return a, err
	}, `SELECT `+keptArtifact+` FROM phase_artifacts WHERE chain = $1 ORDER BY at, execution_id, kind`, string(chain))
}

// AddArtifact implements pipeline.Tx.
func (t *tx) AddArtifact(a pipeline.Artifact) error {
	const op = "store.AddArtifact"
	what := "keep the " + string(a.Kind) + " of " + a.ExecutionID
	if a.ExecutionID == "" || a.Size != int64(len(a.Bytes)) || a.SHA256 != contract.Hash(a.Bytes) {
		return fault.E(op, fault.Invalid, what+": run, size and digest must be those of the bytes", nil)
	}
	if err := t.lockChain(op, a.Chain); err != nil {
		return err
	}
	return t.later(op, what, there, `INSERT INTO phase_artifacts (`+artifactColumns+`, bytes, correlation_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce((SELECT correlation_id FROM chains WHERE id = $3), ''))`+orNot,
		a.ExecutionID, string(a.Kind), string(a.Chain), string(a.Task.ID), a.Task.Version, string(a.Phase), a.SHA256, a.Size, a.MediaType,
		a.At.UnixMicro(), append([]byte{}, a.Bytes...))
}

// Reviews implements pipeline.Reader.
func (r *reader) Reviews(tasks ...pipeline.Ref) ([]pipeline.Review, error) {
	const op, what = "store.Reviews", "list the reviews of tasks"
	if len(tasks) == 0 {
		return []pipeline.Review{}, nil
	}
	ids := make([]contract.ID, len(tasks))
	for i, task := range tasks {
		ids[i] = task.ID
		if err := r.lockContract(op, what, task.ID); err != nil {
			return nil, err
		}
	}
	w := &where{}
	in(w, "task_seed", ids)
	list, err := rows(r, op, what, func(rows *sql.Rows) (pipeline.Review, error) {
		var v pipeline.Review
		err := rows.Scan(&v.Chain, &v.Task.ID, &v.Task.Version, &v.Reviewer, &v.Role, &v.Verdict, &v.HeadCommit, &v.DiffHash, &v.Text, instant{&v.At})
		return v, err
	}, `SELECT `+reviewColumns+` FROM reviews`+w.String()+` ORDER BY chain, seq`, w.args...)
	return slices.DeleteFunc(list, func(v pipeline.Review) bool { return !slices.Contains(tasks, v.Task) }), err
}

// AddReview implements pipeline.Tx.
func (t *tx) AddReview(v pipeline.Review) error {
	const op = "store.AddReview"
	if err := t.lockChain(op, v.Chain); err != nil {
		return err
	}
	return t.later(op, "keep a review of "+string(v.Task.ID), there, `INSERT INTO reviews (seq, `+reviewColumns+`, correlation_id)
		VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM reviews WHERE chain = $1), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
		coalesce((SELECT correlation_id FROM chains WHERE id = $1), ''))`+orNot,
		string(v.Chain), string(v.Task.ID), v.Task.Version, string(v.Reviewer), string(v.Role), v.Verdict, v.HeadCommit, v.DiffHash, v.Text, v.At.UnixMicro())
}
