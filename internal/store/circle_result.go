package store

import (
	"database/sql"

	"plimsoll.dev/internal/request"
)

const resultColumns = `request, contract, version, state, final_decision, head_commit, note_run, note_sha256, at`

// Results implements request.RequestReader.
func (c circleReader) Results(id string) ([]request.Result, error) {
	const op = "store.Results"
	if err := c.hold(op, id); err != nil {
		return nil, err
	}
	return rows(c.r, op, "list the results of request "+id, func(rows *sql.Rows) (request.Result, error) {
		var v request.Result
		err := rows.Scan(&v.Request, &v.Contract, &v.Version, &v.State, &v.FinalDecision, &v.HeadCommit, &v.NoteRun, &v.NoteSHA256, instant{&v.At})
		return v, err
	}, `SELECT `+resultColumns+` FROM circle_results WHERE request = $1 ORDER BY at, contract, version, state`, id)
}

// AddResult implements request.RequestWriter.
func (c circleTx) AddResult(v request.Result) error {
	const op = "store.AddResult"
	if err := c.hold(op, v.Request); err != nil {
		return err
	}
	return c.t.create(op, "write a result back to request "+v.Request, `INSERT INTO circle_results (`+resultColumns+`) VALUES `+params(columns(resultColumns)),
		v.Request, string(v.Contract), v.Version, string(v.State), string(v.FinalDecision), v.HeadCommit, v.NoteRun, v.NoteSHA256, v.At.UnixMicro())
}
