package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/activation"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/state"
)

// draftData is the page of a contract that waits to become Active.
type draftData struct {
	ID       contract.ID
	Version  int64
	Kind     contract.Kind
	Standing standing
	Told     *told
	Seen     string

	Shown  *pipeline.Shown
	Chain  *pipeline.Chain
	Intent *contract.Intent
	Task   *contract.TaskSeed   // when it is one
	Result *contract.Acceptance // when it is one
	Caps   []string             // words of what it may do
	People people
	Digest string

	Votes   []contract.Vote // on this version
	Asked   []contract.Role // who is asked
	Anyone  bool            // any one of them is enough
	Agreed  []string
	YesWait []contract.Role
	Choice  choice
	Mine    *contract.Vote
}

func activationPath(id contract.ID) string {
	return "/decisions/activations/" + url.PathEscape(string(id))
}

// activationPage shows what a Draft asks.
func (c *Console) activationPage(v *visit) (page, error) { return c.activationAs(v, nil) }

func (c *Console) activationAs(v *visit, t *told) (page, error) {
	id := contract.ID(v.r.PathValue("id"))
	d, err := c.draft(v, id)
	if err != nil {
		return page{}, absent(err)
	}
	var changed bool
	d.Told = t
	if d.Seen, changed = v.seen(d.Digest); changed {
		d.Standing = isChanged
	}
	p := page{name: "activation", title: "activation.title", args: []any{id}, data: d}
	return questionPage(v, c.ofChain(v, p, id, d.Chain), activationPath(id), d.Digest, t, nil), nil
}

// drafted is the version of a contract whose activation is in question: a Draft if
// there is one, else the one the id stands for.
func (c *Console) drafted(ctx context.Context, id contract.ID) (*pipeline.Shown, error) {
	list, _, err := c.conf.Contracts.ContractVersions(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		if undecided(one.Contract) {
			return one, nil
		}
	}
	return c.conf.Contracts.ContractGet(ctx, id, 0)
}

// undecided says whether the activation of a contract can be decided on.
func undecided(c *pipeline.Contract) bool {
	s := c.Document.Head().State
	return s == contract.Draft || s == contract.Frozen && c.FrozenFrom == contract.Draft
}

// policyOf is who makes a contract Active.
func policyOf(d contract.Document) contract.GenerationPolicy {
	switch x := d.(type) {
	case *contract.TaskSeed:
		return x.GenerationPolicy
	case *contract.Acceptance:
		return x.GenerationPolicy
	}
	return contract.GenerationPolicy{}
}

// snapshotOf is a contract as the rules of activation look at it.
func snapshotOf(c *pipeline.Contract) state.Snapshot {
	h := c.Document.Head()
	return state.Snapshot{Kind: h.Kind, State: h.State, Version: h.Version, FrozenFrom: c.FrozenFrom, GenerationPolicy: policyOf(c.Document)}
}

// round is the votes on one version, and whether one of them is a no.
func round(ledger []pipeline.Vote, version int64) (votes []contract.Vote, recorded []contract.Approval, closed bool) {
	for _, e := range ledger {
		if e.Version != version {
			continue
		}
		votes, recorded = append(votes, e.Vote), append(recorded, e.Approval)
		closed = closed || e.Decision == contract.Rejected
	}
	return votes, recorded, closed
}

func (c *Console) draft(v *visit, id contract.ID) (*draftData, error) {
	ctx, s := v.r.Context(), c.conf.Contracts
	shown, err := c.drafted(ctx, id)
	if err != nil {
		return nil, err
	}
	chain, err := s.ChainGet(ctx, shown.Chain)
	if err != nil {
		return nil, err
	}
	h := shown.Document.Head()
	if h.Kind == contract.KindPublishGate || h.Kind == contract.KindEvidence {
		return nil, errNoPage
	}
	d := &draftData{
		ID: id, Version: h.Version, Kind: h.Kind, Shown: shown, Chain: chain.Chain, Digest: contract.ContentDigest(shown.Document),
		Intent: rootOf(chain.Contracts, shown),
	}
	if d.Intent == nil {
		return nil, fault.E("console.draft", fault.Internal, string(id)+" has no intent", nil)
	}
	caps := d.Intent.RequestedCapabilities
	switch x := shown.Document.(type) {
	case *contract.TaskSeed:
		d.Task, caps = x, x.CapabilitiesSnapshot
	case *contract.Acceptance:
		d.Result = x
		if src := of(chain.Contracts, shown.Source); src != nil {
			if t, ok := src.Document.(*contract.TaskSeed); ok {
				caps = t.CapabilitiesSnapshot
			}
		}
	}
	for _, one := range caps.List() {
		d.Caps = append(d.Caps, c.say(v, "capability."+string(one)))
	}
	if d.People, err = c.people(ctx); err != nil {
		return nil, err
	}
	ledger, err := s.ActivationList(ctx, id)
	if err != nil {
		return nil, err
	}
	c.voting(v, d, ledger)
	return d, nil
}

// voting is how the vote stands, and what the reader may add to it.
func (c *Console) voting(v *visit, d *draftData, ledger []pipeline.Vote) {
	votes, recorded, closed := round(ledger, d.Version)
	d.Votes = votes
	for i, e := range votes {
		if e.ActorID == v.me() {
			d.Mine = &d.Votes[i]
		}
		if e.Decision == contract.Approved {
			d.Agreed = append(d.Agreed, d.People.Name(e.ActorID))
		}
	}
	snap := snapshotOf(d.Shown.Contract)
	asked, out := activation.Approvers(snap), activation.Outstanding(snap, votes)
	d.Asked, d.Anyone = asked.List(), snap.Kind == contract.KindIntent || snap.GenerationPolicy.Approvals.Empty()
	d.YesWait = out.List()
	switch {
	case closed:
		d.Standing = isRejected
	case !undecided(d.Shown.Contract):
		d.Standing = isApproved
		if s := d.Shown.Document.Head().State; s == contract.Revoked || s == contract.Archived {
			d.Standing = isWithdrawn
		}
	default:
		d.Standing = isOpen
	}
	if d.Standing != isOpen {
		return
	}
	b := ballot{outstanding: out, recorded: recorded, creator: d.Intent.Creator, options: c.conf.Contracts.Settings().Options}
	d.Choice.Approve, d.Choice.Why = b.agree(v.who.Actor)
	d.Choice.Reject = held(v.who.Actor, asked)
	d.Choice.Can = d.People.holders(out.List(), d.Intent.Creator)
	d.Choice.within(v)
	if len(d.Choice.Approve) > 0 {
		d.YesWait = nil
		if !d.Anyone {
			d.YesWait = out.Minus(contract.RolesOf(d.Choice.Approve[0])).List()
		}
	}
}

// activationDecide takes what a person says of a Draft.
func (c *Console) activationDecide(v *visit) (page, error) {
	id := contract.ID(v.r.PathValue("id"))
	version, err := strconv.ParseInt(v.form("version"), 10, 64)
	if err != nil {
		return page{}, errNoPage
	}
	a := pipeline.ActivationArgs{ID: id, Version: version, Decision: contract.Approved, Reason: reasonIn(v), ContentDigest: v.form("digest")}
	switch v.form("do") {
	case "approve":
	case "reject":
		a.Decision = contract.Rejected
	default:
		return page{}, &notice{status: http.StatusBadRequest, title: "problem.form", words: "problem.form_how"}
	}
	if a.ContentDigest == "" {
		return c.activationAs(v, untold(v, "decide.untold.tick"))
	}
	if a.Decision == contract.Rejected && a.Reason == nil {
		return c.activationAs(v, untold(v, "decide.untold.reason"))
	}
	by, err := v.writer(roleIn(v), "activation.decide")
	if err == nil {
		_, err = c.conf.Contracts.ActivationDecide(v.r.Context(), by, a)
	}
	return c.taken(v, err, activationPath(id), func(t *told) (page, error) { return c.activationAs(v, t) })
}
