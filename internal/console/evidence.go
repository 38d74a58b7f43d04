package console

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// An Evidence is checked against everything else that is kept: nothing of what it
// says is taken on trust, and each check says by itself how it ended.

// The ends of a check. One that cannot be made says why, and is no failure.
const (
	checkPassed = "pass"
	checkFailed = "stop"
	checkOpen   = "quiet"
)

// proven is one check of an Evidence.
type proven struct {
	Name   string // of words/: evidence.check.<Name>
	Result string
	Why    string   // of words/, "" where there is nothing to add
	Args   []any    // of Why
	Faults []string // what exactly is wrong
}

// verification is every check of one Evidence.
type verification struct {
	Checks []proven
	Passed int
	Failed int
	Open   int
}

func (p *verification) add(c proven) {
	switch c.Result {
	case checkPassed:
		p.Passed++
	case checkFailed:
		p.Failed++
	default:
		p.Open++
	}
	p.Checks = append(p.Checks, c)
}

// is adds a check that went one way or the other.
func (p *verification) is(name string, ok bool, why string, args ...any) {
	c := proven{Name: name, Result: checkPassed}
	if !ok {
		c.Result, c.Why, c.Args = checkFailed, why, args
	}
	p.add(c)
}

// prover checks one Evidence.
type prover struct {
	c     *Console
	ctx   context.Context
	chain *pipeline.ChainShown
	row   *pipeline.Shown
	e     *contract.Evidence
	run   *pipeline.Run // nil when there is none
	kept  []pipeline.Artifact
	out   verification
}

// prove makes every check.
func (c *Console) prove(ctx context.Context, chain *pipeline.ChainShown, row *pipeline.Shown) (*verification, error) {
	e, ok := row.Document.(*contract.Evidence)
	if !ok {
		return nil, errNoPage
	}
	p := &prover{c: c, ctx: ctx, chain: chain, row: row, e: e}
	p.document()
	for _, check := range []func() error{p.ran, p.artifacts, p.output, p.diff, p.references, p.recorded} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	p.gate()
	return &p.out, nil
}

// document: the stored text is this document in its canonical form, and the hashes
// it states are consistent with each other.
func (p *prover) document() {
	again, err := contract.Decode(p.row.Text)
	p.out.is("document", err == nil && string(contract.Encode(again)) == string(contract.Encode(p.e)), "evidence.why.document")
	faults, _ := document.Evidence(p.e, document.Around{Own: p.row.ExecutionID != ""})
	check := proven{Name: "consistent", Result: checkPassed}
	for _, f := range faults {
		check.Result, check.Faults = checkFailed, append(check.Faults, f.Message)
	}
	p.out.add(check)
}

// ran: the run is there, and says the same.
func (p *prover) ran() error {
	if p.row.ExecutionID == "" {
		p.out.add(proven{Name: "run", Result: checkOpen, Why: "evidence.why.ingested"})
		return nil
	}
	run, err := p.c.conf.Contracts.RunGet(p.ctx, p.row.ExecutionID)
	if errors.Is(absent(err), errNoPage) {
		p.out.is("run", false, "evidence.why.no_run", p.row.ExecutionID)
		return nil
	}
	if err != nil {
		return err
	}
	p.run = run
	check := proven{Name: "run", Result: checkPassed, Why: "evidence.why.run", Args: []any{run.ExecutionID}}
	for _, m := range []struct{ name, ours, theirs string }{
		{"evidence", string(p.e.ID), string(run.Evidence)},
		{"actor", string(p.e.Actor), string(run.Actor)},
		{"taskSeedId", string(p.e.TaskSeedID), string(run.TaskSeed.ID)},
		{"headCommit", p.e.HeadCommit, run.HeadCommit},
		{"diffHash", p.e.DiffHash, run.DiffHash},
		{"baseCommit", p.e.BaseCommit, run.BaseCommit},
	} {
		if m.ours != m.theirs && (m.theirs != "" || m.name == "evidence" || m.name == "actor") {
			check.Result, check.Why, check.Faults = checkFailed, "", append(check.Faults, m.name+": "+m.ours+" ≠ "+m.theirs)
		}
	}
	p.out.add(check)
	p.kept, err = p.c.conf.Contracts.ArtifactList(p.ctx, run.ExecutionID)
	return err
}

// artifacts: the bytes of everything the run delivered have the digests that were
// recorded.
func (p *prover) artifacts() error {
	if p.run == nil {
		return nil
	}
	check := proven{Name: "artifacts", Result: checkPassed, Why: "evidence.why.artifacts", Args: []any{len(p.kept)}}
	for _, a := range p.kept {
		full, err := p.c.conf.Contracts.ArtifactGet(p.ctx, a.ExecutionID, a.Kind)
		if err != nil {
			return err
		}
		if !(artifact.Record{SHA256: a.SHA256, Size: a.Size}).Intact(full.Bytes) {
			check.Result, check.Why, check.Faults = checkFailed, "", append(check.Faults, string(a.Kind)+": "+contract.Hash(full.Bytes)+" ≠ "+a.SHA256)
		}
	}
	p.out.add(check)
	return nil
}

// has is a delivered artifact of one of these kinds.
func (p *prover) has(kinds ...phase.Proof) *pipeline.Artifact {
	for i, a := range p.kept {
		if slices.Contains(kinds, phase.Proof(a.Kind)) {
			return &p.kept[i]
		}
	}
	return nil
}

// output: the hash of what came out is that of the log, or of the release note.
func (p *prover) output() error {
	if p.run == nil {
		return nil
	}
	kinds := []phase.Proof{phase.BuildLog, phase.ErrorLog, phase.FailedTestLog}
	if p.run.Phase == pipeline.Phase(phase.Publish) {
		kinds = []phase.Proof{phase.ReleaseNote}
	}
	a := p.has(kinds...)
	switch {
	case a == nil:
		p.out.add(proven{Name: "output", Result: checkOpen, Why: "evidence.why.no_output"})
	case a.SHA256 != p.e.OutputHash && a.Kind != pipeline.ArtifactKind(phase.ReleaseNote):
		// An executor of others may hash something else; only the note is the service's to judge.
		p.out.add(proven{Name: "output", Result: checkOpen, Why: "evidence.why.other_output", Args: []any{string(a.Kind)}})
	default:
		p.out.is("output", a.SHA256 == p.e.OutputHash, "evidence.why.output", string(a.Kind))
	}
	return nil
}

// diff: the bytes of the change have the diff hash.
func (p *prover) diff() error {
	if p.run == nil || p.e.DiffHash == contract.EmptyDiffHash {
		return nil
	}
	a := p.has(phase.ChangeDiff)
	if a == nil {
		p.out.add(proven{Name: "diff", Result: checkOpen, Why: "evidence.why.no_diff"})
		return nil
	}
	if a.SHA256 == p.e.DiffHash {
		p.out.is("diff", true, "")
		return nil
	}
	full, err := p.c.conf.Contracts.ArtifactGet(p.ctx, a.ExecutionID, a.Kind)
	if err != nil {
		return err
	}
	if d := readDiff(string(full.Bytes)); d.Withheld > 0 || d.Omitted.Lines > 0 {
		p.out.add(proven{Name: "diff", Result: checkOpen, Why: "evidence.why.withheld", Args: []any{d.Withheld + int(d.Omitted.Lines)}})
		return nil
	}
	p.out.is("diff", false, "evidence.why.diff")
	return nil
}

// references: the task is there, and who acted is somebody.
func (p *prover) references() error {
	known := slices.ContainsFunc(p.chain.Contracts, func(c *pipeline.Shown) bool { return c.Document.Head().ID == p.e.TaskSeedID })
	p.out.is("task", known, "evidence.why.no_task", string(p.e.TaskSeedID))
	_, err := p.c.conf.Contracts.ActorGet(p.ctx, p.e.Actor)
	if err != nil && !errors.Is(absent(err), errNoPage) && refusal.CodeOf(err) == "" {
		return err
	}
	p.out.is("actor", err == nil, "evidence.why.no_actor", string(p.e.Actor))
	return nil
}

// gate: the approvals it states, and the verdict, are what its gate had by then.
func (p *prover) gate() {
	// Nil stands for no gate, which is right where there was none yet.
	var gates []*contract.PublishGate
	for _, c := range p.chain.Contracts {
		if g, ok := c.Document.(*contract.PublishGate); ok && !g.CreatedAt.After(p.e.CreatedAt) {
			gates = append(gates, g)
		}
	}
	if len(gates) == 0 {
		gates = append(gates, nil)
	}
	wrong := map[string][]string{} // by member, of the gate that fits best
	fits := false
	for _, g := range slices.Backward(gates) {
		faults, _ := document.Evidence(p.e, document.Around{Gate: g, GateAsked: true})
		found := map[string][]string{}
		for _, f := range faults {
			if f.Path == "/approvalsSnapshot" || f.Path == "/policyVerdict" {
				found[f.Path] = append(found[f.Path], f.Message)
			}
		}
		if fits = len(found) == 0; fits || len(wrong) == 0 {
			wrong = found
		}
		if fits {
			break
		}
	}
	for _, m := range []struct{ name, path string }{{"snapshot", "/approvalsSnapshot"}, {"verdict", "/policyVerdict"}} {
		check := proven{Name: m.name, Result: checkPassed}
		if m.name == "snapshot" && len(p.e.ApprovalsSnapshot) > 0 {
			check.Why, check.Args = "evidence.why.snapshot", []any{len(p.e.ApprovalsSnapshot)}
		}
		if faults := wrong[m.path]; len(faults) > 0 {
			check = proven{Name: m.name, Result: checkFailed, Faults: faults}
		}
		p.out.add(check)
	}
}

// recorded: the audit log says when it was kept, and that record is chained to the
// one before it.
func (p *prover) recorded() error {
	lines, err := p.c.conf.Contracts.AuditList(p.ctx, 0, pipeline.AuditFilter{Contracts: []contract.ID{p.e.ID}, Actions: []string{"contract.create"}}, 1)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		p.out.is("recorded", false, "evidence.why.no_record")
		return nil
	}
	line := lines[0]
	p.out.add(proven{Name: "recorded", Result: checkPassed, Why: "evidence.why.record", Args: []any{strconv.FormatInt(line.Position, 10)}})
	before, err := p.c.linkBefore(p.ctx, line.Position)
	if err != nil {
		return err
	}
	if before == nil {
		p.out.add(proven{Name: "chained", Result: checkOpen, Why: "evidence.why.no_before"})
	} else {
		p.out.is("chained", before.Append(line.Text).Link == line.Link, "evidence.why.chained", strconv.FormatInt(line.Position, 10))
	}
	return nil
}

// linkBefore is how far the log had come before a position, nil when what was
// before is not kept.
func (c *Console) linkBefore(ctx context.Context, position int64) (*event.Head, error) {
	if position > 1 {
		lines, err := c.conf.Contracts.AuditList(ctx, position-2, pipeline.AuditFilter{}, 1)
		if err != nil {
			return nil, err
		}
		if len(lines) == 1 && lines[0].Position == position-1 {
			return &event.Head{Count: position - 1, Link: lines[0].Link}, nil
		}
	}
	seal, _, err := c.conf.Contracts.AuditSeal(ctx)
	if err != nil || seal.Count != position-1 {
		return nil, err
	}
	return &seal, nil
}
