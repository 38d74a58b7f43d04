package pipeline

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// pathOf adds the path a note is about: who asked, what makes the risk, and every
// run that has ended. own is the publication the note is written in, which is none
// of them.
func pathOf(r Reader, w *work, n *artifact.Note, gate *Contract, f finding, own *Run) error {
	if a := w.d.Asked; a != nil {
		n.Request = &artifact.NoteRequest{ID: a.Request, CircleID: a.Circle, MemberID: a.Member, ArtifactID: a.Artifact, SHA256: a.SHA256}
	}
	signals := map[string]string{}
	if len(gate.Signals) > 0 {
		if err := json.Unmarshal(gate.Signals, &signals); err != nil {
			return fault.E("pipeline.Note", fault.Internal, "the signals of "+string(gate.Ref().ID)+" do not read", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(signals)) {
		n.Risk.Signals = append(n.Risk.Signals, artifact.NoteSignal{Signal: name, Status: signals[name]})
	}
	n.Boundary = f.note()
	runs, err := r.Runs(RunFilter{Chains: []contract.ID{w.chain.ID}}, Page{})
	if err != nil {
		return err
	}
	n.Runs = []artifact.NoteRun{}
	for _, run := range slices.Backward(runs) { // the oldest first
		if run.Alive() || run.TaskSeed != w.taskRow().Ref() || own != nil && run.ExecutionID == own.ExecutionID {
			continue
		}
		told, err := noteRun(r, w, run, f.stored)
		if err != nil {
			return err
		}
		n.Runs = append(n.Runs, told)
	}
	return nil
}

// note is what the gate said of the change, nil where nothing was delivered.
func (f finding) note() *artifact.NoteBoundary {
	if f.result == nil {
		return nil
	}
	out := &artifact.NoteBoundary{AuditID: f.auditID, State: f.result.ControlState, Rows: []artifact.NoteRow{}}
	for _, row := range f.result.Rows {
		out.Rows = append(out.Rows, artifact.NoteRow{RuleID: row.RuleID, Decision: row.Decision, Level: string(row.Level)})
	}
	if f.verifyID != "" && f.result.Verify != "" {
		out.Verify = &artifact.NoteVerify{DecisionID: f.verifyID, Decision: f.result.Verify}
	}
	return out
}

// noteRun is a run with what it delivered.
func noteRun(r Reader, w *work, run *Run, stored []Artifact) (artifact.NoteRun, error) {
	out := artifact.NoteRun{
		ExecutionID: run.ExecutionID, Phase: string(run.Phase), Role: run.Role, ActorID: run.Actor, Outcome: run.Outcome,
		StartedAt: contract.At(run.StartedAt).String(), EndedAt: contract.At(run.EndedAt).String(),
		BaseCommit: run.BaseCommit, HeadCommit: run.HeadCommit, Tools: []string{}, EvidenceID: run.Evidence,
	}
	for _, c := range w.rows {
		if e, ok := c.Document.(*contract.Evidence); ok && c.ExecutionID == run.ExecutionID && e.ID == run.Evidence {
			out.Tools = slices.Clone(e.Tools)
		}
	}
	for _, a := range stored {
		kind := phase.Proof(a.Kind)
		report := kind == artifact.TestReport(phase.Phase(run.Phase))
		if a.ExecutionID != run.ExecutionID || !report && kind != phase.BoundaryResult && kind != phase.VerifyResult {
			continue
		}
		full, err := r.Artifact(a.ExecutionID, a.Kind)
		if err != nil {
			return out, err
		}
		switch {
		case report:
			out.ExitCode = artifact.ExitCode(full.Bytes)
		case kind == phase.BoundaryResult:
			out.BoundaryID = findings(full.Bytes, nil).auditID
		default:
			out.VerifyID = findings(nil, full.Bytes).verifyID
		}
	}
	return out, nil
}

// NoteGet is the release note of a task: the one that was stored with the
// publication, or what it would say now.
func (s *Service) NoteGet(ctx context.Context, task contract.ID) (*NoteShown, error) {
	return view(ctx, s, func(r Reader) (*NoteShown, error) {
		c, err := r.Contract(task)
		if c, err = found(c, err, "%s is unknown", task); err != nil {
			return nil, err
		}
		w, err := load(r, &s.conf, c.Chain)
		if err != nil {
			return nil, err
		}
		if t := w.taskRow(); t == nil || t.Ref().ID != task {
			return nil, missing("%s is not under way", task)
		}
		run, err := publicationRun(r, w)
		if err != nil {
			return nil, err
		}
		n, err := releaseNote(r, w, run)
		if err != nil {
			return nil, err
		}
		shown := &NoteShown{Data: n, Markdown: n.Markdown()}
		if run == nil || run.Alive() {
			return shown, nil
		}
		stored, err := r.Artifact(run.ExecutionID, ArtifactKind(phase.ReleaseNote))
		if err != nil {
			return nil, err
		}
		shown.Markdown = stored.Bytes // as it was published, whatever it would say now
		return shown, nil
	})
}

// publicationRun is the newest run of phase Publish of the task, nil for none.
func publicationRun(r Reader, w *work) (*Run, error) {
	runs, err := r.Runs(RunFilter{Chains: []contract.ID{w.chain.ID}, Phases: []Phase{Phase(phase.Publish)}}, Page{})
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		if run.TaskSeed == w.taskRow().Ref() && (run.Alive() || phase.Outcome(run.Outcome) == phase.Succeeded) {
			return run, nil
		}
	}
	return nil, nil
}
