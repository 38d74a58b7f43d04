package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// stopped is a frozen contract of a chain.
type stopped struct {
	ID      contract.ID
	Version int64
	Kind    contract.Kind
	Cause   contract.Cause
	Since   contract.Timestamp
	Roles   []contract.Role // who may resume it
	Mine    []contract.Role // of the reader's
	Final   bool            // a gate that is decided: it stays as it is
}

// Ref is what a form names it by.
func (s stopped) Ref() string { return string(s.ID) + "." + strconv.FormatInt(s.Version, 10) }

// owedReview is a review of the work in Refactor.
type owedReview struct {
	Task     contract.ID
	Commit   string
	Missing  []contract.Role // who has not agreed
	Mine     []contract.Role // under which the reader may review
	Blocking int             // how many ask for changes
	Reviews  []pipeline.Review
}

// chainData is the page of what a person may do about a chain.
type chainData struct {
	Chain    *pipeline.Chain
	Intent   *contract.Intent
	State    contract.State
	Told     *told
	People   people
	Stopped  []stopped
	Resume   []contract.Role // of the reader's, under which something can be resumed
	Judge    bool            // the work is to be judged again besides
	Gate     *contract.PublishGate
	Can      []holder
	Review   *owedReview
	Conflict []conflict
	Settle   []contract.Role // under which the reader may settle a conflict
	Settlers []holder        // who may
	Again    *contract.Acceptance
	AgainAs  []contract.Role
	Live     []*pipeline.Shown // what can be frozen or revoked
	FreezeAs []contract.Role
	RevokeAs []contract.Role
	Causes   []contract.Cause
	Locked   bool // the token of the reader does not allow deciding
}

// Quiet says that nothing waits.
func (d *chainData) Quiet() bool {
	return len(d.Stopped) == 0 && d.Review == nil && len(d.Conflict) == 0 && d.Again == nil
}

func chainDecisionPath(id contract.ID) string {
	return "/decisions/chains/" + url.PathEscape(string(id))
}

// resumers is who may resume what is frozen for a cause (docs/spec/contracts.md §2.4).
func resumers(cause contract.Cause) contract.RoleSet {
	if cause == contract.PolicyViolation {
		return contract.RolesOf(contract.SecurityReviewer, contract.Admin)
	}
	return contract.RolesOf(contract.ProjectLead, contract.Admin)
}

// admits is the roles an operation is open to.
func admits(op string) contract.RoleSet {
	o, ok := operation.Find(op)
	if !ok {
		panic("console: there is no operation " + op)
	}
	return o.Roles
}

// chainDecisions shows what waits in a chain, and what may be done about it.
func (c *Console) chainDecisions(v *visit) (page, error) { return c.chainAs(v, nil) }

func (c *Console) chainAs(v *visit, t *told) (page, error) {
	id := contract.ID(v.r.PathValue("id"))
	d, err := c.chainQuestions(v, id)
	if err != nil {
		return page{}, absent(err)
	}
	d.Told = t
	v.here = chainDecisionPath(id)
	p := page{
		name: "stopped", title: "stopped.title", args: []any{id}, data: d,
		trail:  []crumb{{"/inbox", c.say(v, "nav.inbox")}, {"/chains/" + string(id), string(id)}},
		topics: []string{topicOf(string(id)), topicOf(d.Chain.Correlation)},
		follow: chainDecisionPath(id),
	}
	if t != nil {
		p.status = t.status
	}
	return p, nil
}

func (c *Console) chainQuestions(v *visit, id contract.ID) (*chainData, error) {
	ctx, s := v.r.Context(), c.conf.Contracts
	chain, err := s.ChainGet(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &chainData{Chain: chain.Chain, State: chain.Intent.Document.Head().State, Causes: contract.Causes()}
	d.Intent, _ = chain.Intent.Document.(*contract.Intent)
	if d.People, err = c.people(ctx); err != nil {
		return nil, err
	}
	me := v.who.Actor
	var resumable contract.RoleSet
	for _, k := range []contract.Kind{contract.KindIntent, contract.KindTaskSeed, contract.KindAcceptance, contract.KindPublishGate} {
		r := current(chain.Contracts, k)
		if r == nil {
			continue
		}
		h := r.Document.Head()
		if g, ok := r.Document.(*contract.PublishGate); ok {
			d.Gate = g
		}
		if h.State == contract.Draft || h.State.Live() || h.State == contract.Published {
			d.Live = append(d.Live, r)
		}
		if h.State != contract.Frozen {
			continue
		}
		one := stopped{ID: h.ID, Version: h.Version, Kind: k, Cause: r.FreezeCause, Since: h.UpdatedAt, Roles: resumers(r.FreezeCause).List()}
		one.Final = d.Gate != nil && k == contract.KindPublishGate && d.Gate.FinalDecision != contract.DecisionPending
		if !one.Final {
			one.Mine = held(me, resumers(r.FreezeCause))
			resumable = resumable.Union(resumers(r.FreezeCause))
			for _, role := range one.Mine {
				if !slices.Contains(d.Resume, role) {
					d.Resume = append(d.Resume, role)
				}
			}
		}
		d.Stopped = append(d.Stopped, one)
	}
	d.Can = d.People.holders(resumable.List(), "")
	if d.Conflict, err = conflictsOf(chain.Contracts); err != nil {
		return nil, err
	}
	d.Settle = held(me, admits("merge.resolve"))
	d.Settlers = d.People.holders(admits("merge.resolve").List(), "")
	ended := d.Gate != nil && (d.Gate.FinalDecision == contract.DecisionRejected || d.Gate.FinalDecision == contract.DecisionExpired)
	a := current(chain.Contracts, contract.KindAcceptance)
	if task := current(chain.Contracts, contract.KindTaskSeed); ended && a != nil && task != nil {
		d.Judge = a.Document.Head().State == contract.Frozen
		if a.Document.Head().State == contract.Active && task.Document.Head().State == contract.Active {
			d.Again, d.AgainAs = a.Document.(*contract.Acceptance), held(me, admits("acceptance.reevaluate"))
		}
	}
	d.FreezeAs, d.RevokeAs = held(me, admits("contract.freeze")), held(me, admits("contract.revoke"))
	if !slices.ContainsFunc(d.Live, func(r *pipeline.Shown) bool { return r.Document.Head().State.Live() }) {
		d.FreezeAs = nil
	}
	if d.Review, err = c.review(ctx, chain, me); err != nil {
		return nil, err
	}
	if d.Locked = !v.may(operation.Decide); d.Locked {
		d.Resume, d.Settle, d.AgainAs, d.FreezeAs, d.RevokeAs = nil, nil, nil, nil, nil
		if d.Review != nil {
			d.Review.Mine = nil
		}
	}
	return d, nil
}

// review is what is owed of reviews in a chain, nil where none are or the work is
// not done.
func (c *Console) review(ctx context.Context, chain *pipeline.ChainShown, me *pipeline.Actor) (*owedReview, error) {
	task := current(chain.Contracts, contract.KindTaskSeed)
	if chain.Chain.Phase != pipeline.Phase(phase.Refactor) || task == nil || task.Document.Head().State != contract.Active {
		return nil, nil
	}
	level := contract.Low
	if g := current(chain.Contracts, contract.KindPublishGate); g != nil {
		level = g.Document.(*contract.PublishGate).RiskLevel
	}
	runs, err := c.conf.Contracts.RunList(ctx, pipeline.RunFilter{Chains: []contract.ID{chain.Chain.ID}, Phases: []pipeline.Phase{pipeline.Phase(phase.Refactor)}}, pipeline.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	list, err := c.conf.Contracts.ReviewList(ctx, task.Ref().ID)
	if err != nil {
		return nil, err
	}
	r := &owedReview{Task: task.Ref().ID, Commit: chain.Chain.HeadCommit, Reviews: list}
	approved, blocking := counted(list, chain.Chain.DiffHash)
	missing := phase.Reviewers(level).Minus(approved)
	r.Missing, r.Blocking = missing.List(), blocking
	r.Mine = held(me, admits("review.record").Minus(approved))
	ready := len(runs) == 1 && !runs[0].Alive() && phase.Outcome(runs[0].Outcome) == phase.Succeeded
	if missing.Empty() && blocking == 0 || !ready {
		return nil, nil
	}
	return r, nil
}

func counted(list []pipeline.Review, diff string) (contract.RoleSet, int) {
	all := make([]phase.Review, len(list))
	for i, r := range list {
		all[i] = phase.Review{Reviewer: r.Reviewer, Role: r.Role, DiffHash: r.DiffHash, Requested: r.Verdict != string(contract.Approved)}
	}
	return phase.CountReviews(all, diff)
}

// refIn is a version of a contract as a form names it.
func refIn(text string) (ref pipeline.Ref, ok bool) {
	id, version, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(version, 10, 64)
	return pipeline.Ref{ID: contract.ID(id), Version: n}, err == nil && contract.ID(id).Valid()
}

// chainDecide takes what a person says about a chain.
func (c *Console) chainDecide(v *visit) (page, error) {
	id := contract.ID(v.r.PathValue("id"))
	var t *told
	var err error
	switch v.r.PathValue("do") {
	case "resume":
		t, err = c.resume(v, id)
	case "revoke", "freeze":
		t, err = c.end(v)
	case "review":
		t, err = c.recordReview(v)
	case "judge":
		err = c.judge(v, contract.ID(v.form("acceptance")), "")
	case "settle":
		ref, ok := refIn(v.form("ref"))
		if !ok || v.form("digest") == "" {
			t = untold(v, "decide.untold.choice")
			break
		}
		by, e := v.writer(roleIn(v), "merge.resolve")
		if err = e; err == nil {
			_, err = c.conf.Contracts.MergeResolve(v.r.Context(), by, pipeline.ResolveArgs{ID: ref.ID, Version: ref.Version, Chosen: v.form("digest")})
		}
	default:
		return page{}, errNoPage
	}
	if t != nil {
		return c.chainAs(v, t)
	}
	return c.taken(v, err, chainDecisionPath(id), func(t *told) (page, error) { return c.chainAs(v, t) })
}

// resume resumes what the form names, what it was made from first, and has the
// work judged again where that is asked for. Each is a command of its own; a
// refusal ends the row, and what went before stays.
func (c *Console) resume(v *visit, chain contract.ID) (*told, error) {
	text := strings.TrimSpace(v.form("reason"))
	if text == "" {
		return untold(v, "decide.untold.resolution"), nil
	}
	refs := []pipeline.Ref{}
	for _, one := range v.r.PostForm["ref"] {
		ref, ok := refIn(one)
		if !ok || len(refs) > 8 {
			return nil, errNoPage
		}
		refs = append(refs, ref)
	}
	if len(refs) == 0 {
		return untold(v, "decide.untold.choice"), nil
	}
	order := contract.Kinds()
	slices.SortStableFunc(refs, func(a, b pipeline.Ref) int {
		return slices.Index(order, a.ID.Kind()) - slices.Index(order, b.ID.Kind())
	})
	by, err := v.writer(roleIn(v), "contract.resume")
	if err != nil {
		return nil, err
	}
	key := by.Once.Key
	for _, ref := range refs {
		by.Once.Key = key + "-" + string(ref.ID)
		_, err := c.conf.Contracts.ContractResume(v.r.Context(), by, pipeline.ResumeArgs{ID: ref.ID, Version: ref.Version, Resolution: text})
		if err != nil && !again(err) {
			return nil, err
		}
	}
	if v.form("judge") == "" {
		return nil, nil
	}
	shown, err := c.conf.Contracts.ChainGet(v.r.Context(), chain)
	if err != nil {
		return nil, err
	}
	if a := current(shown.Contracts, contract.KindAcceptance); a != nil {
		return nil, c.judge(v, a.Ref().ID, "-judge")
	}
	return nil, nil
}

// judge has an Acceptance judged again, after which a gate is made anew.
func (c *Console) judge(v *visit, acceptance contract.ID, key string) error {
	by, err := v.writer(roleIn(v), "acceptance.reevaluate")
	if err != nil {
		return err
	}
	by.Once.Key += key
	_, err = c.conf.Contracts.AcceptanceReevaluate(v.r.Context(), by, pipeline.ReevaluateArgs{ID: acceptance, Reason: strings.TrimSpace(v.form("reason"))})
	if again(err) {
		return nil
	}
	return err
}

// end freezes or revokes a contract.
func (c *Console) end(v *visit) (*told, error) {
	ref, ok := refIn(v.form("ref"))
	if !ok {
		return untold(v, "decide.untold.choice"), nil
	}
	reason := reasonIn(v)
	if reason == nil {
		return untold(v, "decide.untold.reason"), nil
	}
	if v.r.PathValue("do") == "freeze" {
		by, err := v.writer(roleIn(v), "contract.freeze")
		if err == nil {
			_, err = c.conf.Contracts.ContractFreeze(v.r.Context(), by, pipeline.FreezeArgs{ID: ref.ID, Version: ref.Version, Cause: contract.Cause(v.form("cause")), Reason: *reason})
		}
		return nil, err
	}
	if v.form("sure") == "" {
		return untold(v, "decide.untold.sure"), nil
	}
	by, err := v.writer(roleIn(v), "contract.revoke")
	if err == nil {
		_, err = c.conf.Contracts.ContractRevoke(v.r.Context(), by, pipeline.RevokeArgs{ID: ref.ID, Version: ref.Version, Ground: contract.Ground(v.form("ground")), Reason: *reason})
	}
	return nil, err
}

// recordReview takes a verdict on the work in Refactor.
func (c *Console) recordReview(v *visit) (*told, error) {
	a := pipeline.ReviewArgs{Task: contract.ID(v.form("task")), Verdict: v.form("do"), HeadCommit: v.form("digest")}
	if a.HeadCommit == "" {
		return untold(v, "decide.untold.tick"), nil
	}
	text := strings.TrimSpace(v.form("reason"))
	switch a.Verdict {
	case "approved":
		if text != "" {
			return untold(v, "decide.untold.no_changes"), nil
		}
	case "changes_requested":
		if text == "" {
			return untold(v, "decide.untold.changes"), nil
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				a.Blocking = append(a.Blocking, pipeline.Blocking{Text: line})
			}
		}
	default:
		return nil, &notice{status: http.StatusBadRequest, title: "problem.form", words: "problem.form_how"}
	}
	by, err := v.writer(roleIn(v), "review.record")
	if err == nil {
		_, err = c.conf.Contracts.ReviewRecord(v.r.Context(), by, a)
	}
	if refusal.CodeOf(err) == refusal.PhaseGuardFailed {
		return &told{Key: "decide.untold.other_commit", status: http.StatusConflict, Reason: text}, nil
	}
	return nil, err
}
