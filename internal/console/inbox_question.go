package console

import (
	"context"
	"net/url"
	"slices"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/activation"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// Each source of questions asks the store for a bounded number of rows and then
// leaves out what the reader has no say in. What they ask is as a page of its own
// would show it; nobody is let through because a row is here.

// farOff is after every deadline.
var farOff = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// intentsOf is the intents of chains, by chain.
func (c *Console) intentsOf(ctx context.Context, list []*pipeline.Shown) (map[contract.ID]*contract.Intent, error) {
	ids := []contract.ID{}
	for _, one := range list {
		if !slices.Contains(ids, one.Chain) {
			ids = append(ids, one.Chain)
		}
	}
	out := map[contract.ID]*contract.Intent{}
	if len(ids) == 0 {
		return out, nil
	}
	intents, err := c.conf.Contracts.ContractList(ctx, pipeline.ContractFilter{Kinds: []contract.Kind{contract.KindIntent}, IDs: ids}, pipeline.Page{})
	for _, i := range intents {
		out[i.Chain], _ = i.Document.(*contract.Intent)
	}
	return out, err
}

// onChain is a row about a chain.
func onChain(kind string, s *pipeline.Shown, i *contract.Intent, path string, args ...any) question {
	q := question{
		Kind: kind, Key: "inbox.q." + kind, Args: args, Path: path, Of: string(s.Chain), OfURL: "/chains/" + url.PathEscape(string(s.Chain)),
		Since: s.Document.Head().UpdatedAt.Time(),
	}
	if s.Correlation != q.Of {
		q.Trace = s.Correlation
	}
	if i != nil {
		q.About, q.Who = cut(i.Intent), string(i.Creator)
	}
	return q
}

// cut is a text as a row has it.
func cut(text string) string {
	const most = 140
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most]) + "…"
}

// gatesAsked is the gates that wait for a role of the reader's.
func (c *Console) gatesAsked(ctx context.Context, v *visit) ([]question, bool, error) {
	me := v.who.Actor
	f := pipeline.ContractFilter{
		States: []contract.State{contract.Active}, FinalDecisions: []contract.FinalDecision{contract.DecisionPending},
		WaitingFor: me.Roles.List(), DueBefore: farOff,
	}
	if len(f.WaitingFor) == 0 {
		return nil, false, nil
	}
	list, err := c.conf.Contracts.GateList(ctx, f, pipeline.Page{Limit: inboxMost})
	if err != nil {
		return nil, false, err
	}
	intents, err := c.intentsOf(ctx, list)
	if err != nil {
		return nil, false, err
	}
	options := c.conf.Contracts.Settings().Options
	out := []question{}
	for _, one := range list {
		g, i := one.Document.(*contract.PublishGate), intents[one.Chain]
		if i == nil {
			continue
		}
		b := ballot{outstanding: contract.RolesOf(one.Outstanding...), recorded: g.Approvals, creator: i.Creator, options: options}
		roles, _ := b.agree(me)
		kind := "gate"
		if g.Action == contract.Hold {
			kind, roles = "held", held(me, admits("gate.release"))
		}
		if len(roles) == 0 {
			continue
		}
		q := onChain(kind, one, i, gatePath(one.Ref().ID), one.Chain)
		q.Risk, q.Due = g.RiskLevel, g.ApprovalDeadline.Time()
		out = append(out, q)
	}
	return out, len(list) == inboxMost, nil
}

// contractsAsked is the Drafts that wait for a vote of the reader's, the chains
// that they may resume, and the conflicts that they may settle.
func (c *Console) contractsAsked(ctx context.Context, v *visit) ([]question, bool, error) {
	if v.who.Actor.Roles.Empty() {
		return nil, false, nil
	}
	f := pipeline.ContractFilter{Asking: true}
	list, err := c.conf.Contracts.ContractList(ctx, f, pipeline.Page{Limit: inboxMost})
	if err != nil {
		return nil, false, err
	}
	intents, err := c.intentsOf(ctx, list)
	if err != nil {
		return nil, false, err
	}
	var drafts []contract.ID
	for _, one := range list {
		if one.Document.Head().State == contract.Draft {
			drafts = append(drafts, one.Ref().ID)
		}
	}
	ledgers, err := c.conf.Contracts.ActivationLedgers(ctx, drafts)
	if err != nil {
		return nil, false, err
	}
	out, stoppedChains := []question{}, map[contract.ID]bool{}
	for _, one := range list {
		i := intents[one.Chain]
		if i == nil {
			continue
		}
		if len(one.Conflict) > 0 && len(held(v.who.Actor, admits("merge.resolve"))) > 0 {
			out = append(out, onChain("conflict", one, i, chainDecisionPath(one.Chain), one.Ref().ID))
		}
		switch {
		case one.Document.Head().State == contract.Draft:
			if q, asked := c.draftAsked(v, one, i, ledgers[one.Ref().ID]); asked {
				out = append(out, q)
			}
		case !stoppedChains[one.Chain] && resumable(one) && len(held(v.who.Actor, resumers(one.FreezeCause))) > 0:
			stoppedChains[one.Chain] = true
			q := onChain("frozen", one, i, chainDecisionPath(one.Chain), one.Chain, c.say(v, "cause."+string(one.FreezeCause)))
			out = append(out, q)
		}
	}
	return out, len(list) == inboxMost, nil
}

// resumable says whether a frozen contract can be resumed at all: a gate that is
// decided stays as it is.
func resumable(s *pipeline.Shown) bool {
	g, ok := s.Document.(*contract.PublishGate)
	return !ok || g.FinalDecision == contract.DecisionPending
}

func (c *Console) draftAsked(v *visit, one *pipeline.Shown, i *contract.Intent, ledger []pipeline.Vote) (question, bool) {
	snap := snapshotOf(one.Contract)
	if !v.who.Actor.Roles.Meets(activation.Approvers(snap)) {
		return question{}, false
	}
	votes, recorded, closed := round(ledger, snap.Version)
	b := ballot{
		outstanding: activation.Outstanding(snap, votes), recorded: recorded, creator: i.Creator, options: c.conf.Contracts.Settings().Options,
	}
	if own, ok := one.Document.(*contract.Intent); ok {
		b.creator, i = own.Creator, own
	}
	if roles, _ := b.agree(v.who.Actor); closed || len(roles) == 0 {
		return question{}, false
	}
	q := onChain("activation", one, i, activationPath(one.Ref().ID), one.Ref().ID)
	q.Key += "." + string(snap.Kind)
	return q, true
}

// reviewsAsked is the work in Refactor that the reader has still to review.
func (c *Console) reviewsAsked(ctx context.Context, v *visit) ([]question, bool, error) {
	roles := admits("review.record")
	if !v.who.Actor.Roles.Meets(roles) {
		return nil, false, nil
	}
	s := c.conf.Contracts
	refactor := []pipeline.Phase{pipeline.Phase(phase.Refactor)}
	list, err := s.TaskList(ctx, pipeline.ContractFilter{Phases: refactor, States: []contract.State{contract.Active}}, pipeline.Page{Limit: inboxMost})
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	ids, tasks := make([]contract.ID, len(list)), make([]pipeline.Ref, len(list))
	for i, one := range list {
		ids[i], tasks[i] = one.Chain, one.Ref()
	}
	reviewed, err := s.ReviewsOf(ctx, tasks)
	if err != nil {
		return nil, false, err
	}
	intents, err := c.intentsOf(ctx, list)
	if err != nil {
		return nil, false, err
	}
	chains, err := s.ChainList(ctx, pipeline.ChainFilter{IDs: ids}, pipeline.Page{})
	if err != nil {
		return nil, false, err
	}
	runs, err := s.RunList(ctx, pipeline.RunFilter{Chains: ids, Phases: refactor}, pipeline.Page{Limit: 5 * inboxMost})
	if err != nil {
		return nil, false, err
	}
	gates, err := s.GateList(ctx, pipeline.ContractFilter{Chains: ids}, pipeline.Page{})
	if err != nil {
		return nil, false, err
	}
	out := []question{}
	for _, one := range list {
		run := slices.IndexFunc(runs, func(r *pipeline.Run) bool { return r.Chain == one.Chain }) // the newest
		at := slices.IndexFunc(chains, func(k *pipeline.Chain) bool { return k.ID == one.Chain })
		if run < 0 || at < 0 || runs[run].Alive() || phase.Outcome(runs[run].Outcome) != phase.Succeeded {
			continue
		}
		level := contract.Low
		if g := slices.IndexFunc(gates, func(g *pipeline.Shown) bool { return g.Chain == one.Chain }); g >= 0 {
			level = gates[g].Document.(*contract.PublishGate).RiskLevel
		}
		reviews := reviewed[one.Ref()]
		approved, _ := counted(reviews, chains[at].DiffHash)
		if len(held(v.who.Actor, phase.Reviewers(level).Minus(approved))) == 0 || reviewedBy(reviews, v.me(), chains[at].DiffHash) {
			continue
		}
		q := onChain("review", one, intents[one.Chain], chainDecisionPath(one.Chain), one.Chain)
		q.Risk, q.Since = level, runs[run].EndedAt
		out = append(out, q)
	}
	return out, len(list) == inboxMost, nil
}

// reviewedBy says whether somebody has reviewed a diff.
func reviewedBy(reviews []pipeline.Review, who contract.ActorID, diff string) bool {
	return slices.ContainsFunc(reviews, func(r pipeline.Review) bool { return r.Reviewer == who && r.DiffHash == diff })
}

// adoptable is the drafts that would do something if they took effect.
var adoptable = []envelope.ArtifactType{envelope.DecisionDraft, envelope.BridgeDraft, envelope.MemoryNote}

// artifactsAsked is what of the circles waits for the reader: consents they owe,
// artifacts of their requests to be confirmed, and drafts of theirs that nobody has
// asked to take effect.
func (c *Console) artifactsAsked(ctx context.Context, v *visit) ([]question, bool, error) {
	if c.conf.Circle == nil {
		return nil, false, nil
	}
	me := string(v.me())
	by := v.caller("")
	waiting, _, err := c.conf.Circle.ArtifactList(ctx, by, request.ArtifactFilter{
		Statuses: []artifact.Status{artifact.WaitingForConsent, artifact.NeedsConfirmation},
	}, pipeline.Page{Limit: inboxMost})
	if err != nil {
		return nil, false, err
	}
	drafts, _, err := c.conf.Circle.ArtifactList(ctx, by, request.ArtifactFilter{
		Owners: []string{me}, Types: adoptable, Statuses: []artifact.Status{artifact.Draft},
	}, pipeline.Page{Limit: inboxMost})
	if err != nil {
		return nil, false, err
	}
	out := []question{}
	for _, a := range append(waiting, drafts...) {
		kind := askOf(a, v.me())
		switch {
		case kind == "", kind != "consent" && a.Owner != me:
			continue
		case kind == "adopt" && (a.Reason != "" || blocked(a)):
			continue
		}
		what := subject(a.Content)
		if what == "" {
			what = c.say(v, "consent.type."+string(a.Type))
		}
		q := question{
			Kind: kind, Key: "inbox.q." + kind, Args: []any{what}, Path: consentPath(a.ID),
			Of: a.Provenance.RequestID, OfURL: "/requests/" + url.PathEscape(a.Provenance.RequestID), Who: a.Owner, Since: a.UpdatedAt,
		}
		if kind == "consent" {
			q.Due = a.ConsentBy
		}
		if text := changeOf(a.Content); text != "" {
			q.About = cut(text)
		}
		out = append(out, q)
	}
	return out, len(waiting) == inboxMost || len(drafts) == inboxMost, nil
}

// blocked says whether something keeps an artifact from having an effect that no
// consent takes away.
func blocked(a *request.ArtifactShown) bool {
	return slices.ContainsFunc(a.Blocks, func(c envelope.Condition) bool { return c != envelope.ConsentOwed })
}
