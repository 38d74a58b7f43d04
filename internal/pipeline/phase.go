package pipeline

import (
	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/pipeline/state"
)

// stepTo moves the chain to another phase, in the name of a. c is the contract
// the record is about.
func (x *session) stepTo(c *Contract, to phase.Phase, a contract.Actor, r phase.Request) error {
	w := x.w
	r.From, r.To = w.phase(), to
	r.MaxReturns, r.Returns = x.s.conf.MaxReturns, int(w.chain.Returns)
	if t := w.task(); t != nil {
		r.Capabilities = t.CapabilitiesSnapshot
	}
	if err := phase.Step(r); err != nil {
		return err
	}
	if to == phase.Build && r.From != phase.Plan {
		w.chain.Returns++
	}
	w.chain.Phase = Phase(to)
	w.chain.FailedRuns = 0
	x.note(a, "phase.step", c, event.Record{From: string(r.From), To: string(to)})
	return nil
}

// advance takes the step to Publish when the Refactor run and the reviews are
// both in: whichever comes last takes it (§7).
func (x *session) advance() error {
	w := x.w
	task := w.taskRow()
	if w.phase() != phase.Refactor || w.d.Refactored == "" || stateOf(task) != contract.Active {
		return nil
	}
	if run, err := x.alive(); err != nil || run != nil {
		return err // its end looks again: it may change what was reviewed
	}
	reviews, err := x.Reviews(task.Ref())
	if err != nil {
		return err
	}
	boundary, err := x.boundary()
	if err != nil {
		return err
	}
	reviewed, blocking := phase.CountReviews(counted(reviews), w.chain.DiffHash)
	r := phase.Request{
		Role: w.d.Refactored, Level: w.gateLevel(boundary.result), Blocking: blocking, Reviewed: reviewed,
		Proofs: []phase.Proof{phase.ReviewResult, phase.EvidenceProof},
	}
	err = x.stepTo(task, phase.Publish, contract.Actor{ID: x.s.conf.Orchestrator, Role: w.d.Refactored}, r)
	if code := refusal.CodeOf(err); code == refusal.PhaseReviewIncomplete || code == refusal.PhaseGuardFailed {
		return nil // not yet; nobody asked for it
	}
	return err
}

func counted(reviews []Review) []phase.Review {
	list := make([]phase.Review, len(reviews))
	for i, r := range reviews {
		list[i] = phase.Review{Reviewer: r.Reviewer, Role: r.Role, DiffHash: r.DiffHash, Requested: r.Verdict != "approved"}
	}
	return list
}

// gateLevel is the level people act by: that of the gate, and never below what
// is known now.
func (w *work) gateLevel(b *risk.Boundary) contract.Level {
	level := w.level(b).Level
	if g := w.gate(); g != nil {
		level = level.Max(g.RiskLevel)
	}
	return level
}

// examine looks at the chain and dispatches what is due: a missing target, the
// step to Publish, a publication by the service itself (§2.4, §3.4). It asks;
// every job looks again for itself.
func (x *session) examine() error {
	w := x.w
	intent := w.intentRow()
	if stateOf(intent) != contract.Active {
		return nil
	}
	task := w.taskRow()
	if task == nil {
		if w.phase() != phase.Plan {
			return nil
		}
		return x.generateFrom(intent, w.stamp())
	}
	if stateOf(task) != contract.Active {
		return nil
	}
	if err := x.advance(); err != nil {
		return err
	}
	if w.resumed {
		for _, d := range w.d.Due {
			if err := x.judgeLater(d.Execution, w.stamp()); err != nil {
				return err
			}
		}
	}
	acceptance := w.acceptanceRow()
	if acceptance == nil || len(w.d.Due) > 0 {
		return nil
	}
	if w.acceptance().Status == contract.Passed && stateOf(acceptance) == contract.Active && w.gateRow() == nil {
		return x.gateLater(acceptance)
	}
	if w.phase() == phase.Publish && approval.Publishable(w.gate()) == nil && !w.gate().RiskLevel.Human() {
		return x.publishLater(w.gateRow())
	}
	return nil
}

// publication is the answer of the Policy Engine for the chain.
func (w *work) publication() state.Answer { return state.Answered(approval.Publishable(w.gate())) }

// operate is whether a role may use a capability on a task (§8).
func operate(w *work, t *contract.TaskSeed, r contract.Role, name string) error {
	return phase.Operate(phase.Operation{
		Role: r, Capability: capability.Capability(name), Snapshot: t.CapabilitiesSnapshot, TaskSeed: t.State, Phase: w.phase(),
	})
}

// running refuses work for a TaskSeed that is not Active.
func running(c *Contract) error { return state.Running(contract.KindTaskSeed, stateOf(c)) }

func refuseRole(r contract.Role, what string) error { return role.Refuse(r, what) }
