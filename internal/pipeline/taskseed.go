package pipeline

import (
	"context"
	"fmt"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/state"
)

// generateFrom asks for the TaskSeed of an Active intent. again tells a second
// asking, after a failure a person has looked at, from the first.
func (x *session) generateFrom(intent *Contract, again string) error {
	ref := intent.Ref()
	key := fmt.Sprintf("%s/%s", event.Created(event.Subject{Kind: string(contract.KindIntent), ID: string(ref.ID), Version: ref.Version}, event.Origin{}, nil).ID, contract.KindTaskSeed)
	if again != "" {
		key += "/" + again
	}
	return x.enqueue(JobGenerate, key, intent.Chain, targetArgs{Chain: intent.Chain, ID: ref.ID, Version: ref.Version}, time.Time{})
}

// RunGenerate is the TaskSeed Generator: one TaskSeed from each version of an
// intent, whatever is redelivered (§4.1, §18).
func (s *Service) RunGenerate(ctx context.Context, a Attempt) error {
	args, err := arguments[targetArgs](a)
	if err != nil {
		return err
	}
	g := generator{attempt: a, args: args, target: contract.KindTaskSeed, actor: s.orchestrator()}
	return s.generate(ctx, g, func() error {
		plan, err := s.plan(ctx, args)
		if err != nil {
			return err
		}
		l, err := s.look(ctx, args.Chain, false)
		if err != nil {
			return err
		}
		return s.step(ctx, g.actor, "contract.create", args.Chain, func(x *session) error {
			return x.generateTask(args.ref(), plan, l)
		})
	})
}

// draft is what a planner made of an intent, and when it was asked.
type draft struct {
	description string
	steps       []string
	received    time.Time
}

// plan asks the planner, outside of any transaction. Without one the plan is the
// intent's own text (§4.1).
func (s *Service) plan(ctx context.Context, a targetArgs) (draft, error) {
	d := draft{}
	intent, err := view(ctx, s, func(r Reader) (*contract.Intent, error) {
		d.received = r.Now()
		// A planner is not asked for what is there already.
		if _, done, err := r.Effect(seedKey(a.ref())); err != nil || done {
			return nil, err
		}
		c, err := r.ContractAt(a.ref())
		if c, err = found(c, err, "%s version %d is unknown", a.ID, a.Version); err != nil {
			return nil, err
		}
		return c.Document.(*contract.Intent), nil
	})
	if err != nil || intent == nil || s.conf.Planner == nil || intent.State != contract.Active {
		return d, err
	}
	d.description, d.steps, err = s.conf.Planner.Plan(ctx, intent)
	return d, err
}

func (x *session) generateTask(source Ref, plan draft, l look) error {
	w := x.w
	intent := w.row(source)
	if intent == nil {
		return missing("%s version %d is unknown", source.ID, source.Version)
	}
	key := seedKey(source)
	if _, done, err := x.Effect(key); err != nil || done {
		return err
	}
	if source.Version != w.chain.Version {
		return nil // another version is under way by now
	}
	// An old copy stops the generation, and the intent waits for a person when no
	// refetch succeeds (§11).
	if stateOf(intent) == contract.Active {
		if _, cause, err := x.copies(l, nil, contract.Active); err != nil {
			return x.freeze(intent, cause)
		}
	}
	if err := generation.InTime(contract.KindTaskSeed, x.Now().Sub(plan.received)); err != nil {
		return err
	}
	c, err := x.newTask(intent, plan)
	if err != nil {
		return err
	}
	if err := x.replaceLive(c); err != nil {
		return err
	}
	err = x.create(x.orchestrator(), c, state.Event{SystemGenerated: true, Source: stateOf(intent)},
		state.Snapshot{GenerationPolicy: c.Document.(*contract.TaskSeed).GenerationPolicy}, nil)
	if err != nil {
		return err
	}
	x.note(x.orchestrator(), "contract.create", c, event.Record{To: string(stateOf(c)), IdempotencyKey: key})
	if err := x.AddEffect(Effect{Key: key, Result: c.Ref(), At: x.Now()}); err != nil {
		return err
	}
	// The step is not repeated and needs the TaskSeed, not its activation.
	err = x.stepTo(c, phase.Build, x.orchestrator(), phase.Request{
		Role: contract.Orchestrator, Proofs: []phase.Proof{phase.TaskSeedProof}, Intent: stateOf(intent),
	})
	if err != nil {
		return err
	}
	return x.policyVote(c)
}

// seedKey is the idempotency key of the TaskSeed of an intent version.
func seedKey(intent Ref) string {
	return generation.Key{Source: intent.ID, Version: intent.Version, Target: contract.KindTaskSeed}.String()
}

// next is what a generator calls its target: a new id for the first of a chain,
// the next version of the same id afterwards (§1.8).
func (x *session) next(kind contract.Kind) (Ref, error) {
	if old := x.w.highest(kind); old != nil {
		return Ref{ID: old.Ref().ID, Version: old.Ref().Version + 1}, nil
	}
	id, err := x.NextID(kind)
	return Ref{ID: id, Version: 1}, err
}

// newTask is the TaskSeed of an intent.
func (x *session) newTask(intent *Contract, plan draft) (*Contract, error) {
	i := intent.Document.(*contract.Intent)
	ref, err := x.next(contract.KindTaskSeed)
	if err != nil {
		return nil, err
	}
	t := generation.Seed(i, ref.ID, ref.Version, plan.description, plan.steps, x.Now())
	faults := append(document.Alone(t), document.TaskSeed(t, i)...)
	return &Contract{Document: t, Chain: intent.Chain, Source: intent.Ref()}, faults.Err()
}

// replaceLive revokes what is live of the round before: the predecessor of a
// target that is made anew, and with a TaskSeed the Acceptance and the gate made
// from it, so that no gate of the old round can still be approved (§1.8).
func (x *session) replaceLive(c *Contract) error {
	kinds := []contract.Kind{c.Document.Head().Kind}
	if kinds[0] == contract.KindTaskSeed {
		kinds = []contract.Kind{contract.KindPublishGate, contract.KindAcceptance, contract.KindTaskSeed}
	}
	for _, kind := range kinds {
		for _, old := range x.w.rows {
			if old.Document.Head().Kind == kind && stateOf(old).Live() || old.Document.Head().Kind == kind && stateOf(old) == contract.Draft {
				if err := x.regenerated(old); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// regenerated revokes a contract that something newer takes the place of.
func (x *session) regenerated(old *Contract) error {
	return x.moved(old, state.Event{
		To: contract.Revoked, Actor: x.orchestrator(), Ground: contract.ManualStop, Reason: state.Regenerated,
	})
}

// TaskList is a page of TaskSeeds.
func (s *Service) TaskList(ctx context.Context, f ContractFilter, p Page) ([]*Shown, error) {
	f.Kinds = []contract.Kind{contract.KindTaskSeed}
	return s.ContractList(ctx, f, p)
}
