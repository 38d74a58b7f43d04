package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
)

// standing is how a question stands for whoever looks at it.
type standing string

const (
	isOpen      standing = "open"
	isHeld      standing = "held" // it is on hold
	isApproved  standing = "approved"
	isRejected  standing = "rejected"
	isExpired   standing = "expired"
	isWithdrawn standing = "withdrawn" // nothing waits for it any more
	isStopped   standing = "stopped"   // it is frozen
	isMoved     standing = "moved"     // it asks about what is no longer there
	isChanged   standing = "changed"   // it is not what the page showed
)

// gateData is the page of a gate.
type gateData struct {
	ID       contract.ID
	Version  int64
	Gate     *contract.PublishGate
	Standing standing
	Told     *told
	Seen     string // the digest the page showed before

	Chain  *pipeline.Chain
	Intent *contract.Intent
	Maker  string // whose change it is
	Adds   string // what it adds, in one sentence; "" when nobody said
	Needed int
	Agreed []string // who did already

	YesWait []contract.Role // who is still asked after a yes of the reader; empty: theirs is the last
	Pass    []contract.ID   // becomes Published with the release
	Stops   []contract.ID   // is frozen by a no

	Files    []artifact.File
	Checked  *checked
	Signals  []risk.SignalStatus
	Reasons  []string
	Verify   string
	People   people
	Shown    *pipeline.Shown
	Digest   string
	Covers   []covered
	Choice   choice
	Mine     *contract.Approval // the reader's own decision
	Last     *contract.Approval // the one that ended it
	Released bool               // the chain is published
	Silent   []contract.Role    // who had not decided when the time was over
	Lapsed   *lapsed            // an agreement that holds no longer, nil for none
	Change   *changeView        // exactly what the digest covers, nil when it is not to be had
}

// Deadline is until when people may decide.
func (d *gateData) Deadline() contract.Timestamp { return d.Gate.ApprovalDeadline }

// Unsaid is the signals that nobody declared or observed.
func (d *gateData) Unsaid() []risk.Signal {
	list := []risk.Signal{}
	for _, s := range d.Signals {
		if s.Status == risk.Undeclared {
			list = append(list, s.Signal)
		}
	}
	return list
}

// filesFirst is how many files the first screen names where the change itself,
// with all of its files, stands below.
const filesFirst = 20

// Listed is the files that the page names.
func (d *gateData) Listed() []artifact.File {
	most := filesMost
	if d.Change != nil && d.Change.Delivered {
		most = filesFirst
	}
	return d.Files[:min(len(d.Files), most)]
}

// Unlisted is how many it does not.
func (d *gateData) Unlisted() int { return len(d.Files) - len(d.Listed()) }

// Commit is where the change is.
func (d *gateData) Commit() string { return d.Shown.HeadCommit }

// covered is one member of what an approval digest is taken over.
type covered struct {
	Key   string // of words/
	Value string
}

var coverKeys = []string{"gateId", "gateVersion", "acceptanceId", "acceptanceVersion", "diffHash", "boundaryAuditId", "verifyDecisionId", "policySetDigest"}

func readCovers(text []byte) (map[string]string, []covered) {
	var all map[string]any
	_ = json.Unmarshal(text, &all)
	by, list := map[string]string{}, make([]covered, 0, len(coverKeys))
	for _, k := range coverKeys {
		switch v := all[k].(type) {
		case string:
			by[k] = v
		case float64:
			by[k] = strconv.FormatInt(int64(v), 10)
		}
		list = append(list, covered{"covers." + k, by[k]})
	}
	return by, list
}

func gatePath(id contract.ID) string { return "/decisions/gates/" + url.PathEscape(string(id)) }

// gatePage shows what a gate asks.
func (c *Console) gatePage(v *visit) (page, error) { return c.gateAs(v, nil) }

func (c *Console) gateAs(v *visit, t *told) (page, error) {
	id := contract.ID(v.r.PathValue("id"))
	d, err := c.gate(v, id)
	if err != nil {
		return page{}, absent(err)
	}
	var changed bool
	d.Told = t
	if d.Seen, changed = v.seen(d.Digest); changed {
		d.Standing = isChanged
	}
	p := page{name: "gate", title: "gate.title", args: []any{id}, data: d}
	return questionPage(v, c.ofChain(v, p, id, d.Chain), gatePath(id), d.Digest, t, nil), nil
}

// gateRows is how many rows of the change the page of a gate shows.
const gateRows = 300

// agreed is the change of a digest, the one that is decided on; nil when it is not
// to be had. A chain that has gone on to other bytes shows those on its own page.
func (c *Console) agreed(ctx context.Context, s *story, digest string) (*changeView, error) {
	change, err := c.change(ctx, s, "", 0, gateRows)
	if err != nil || change == nil || change.Digest != digest {
		return nil, err
	}
	return change, nil
}

// say is a sentence in the language of a visit.
func (c *Console) say(v *visit, key string) string {
	return c.sheets[v.lang].words.say(key)
}

// gate reads everything the page of a gate shows.
func (c *Console) gate(v *visit, id contract.ID) (*gateData, error) {
	ctx := v.r.Context()
	s := c.conf.Contracts
	shown, err := s.GateGet(ctx, id)
	if err != nil {
		return nil, err
	}
	chain, err := s.ChainGet(ctx, shown.Chain)
	if err != nil {
		return nil, err
	}
	g := shown.Document.(*contract.PublishGate)
	d := &gateData{
		ID: id, Version: g.Version, Gate: g, Shown: shown, Chain: chain.Chain, Digest: shown.ApprovalDigest, Needed: g.RequiredApprovals.Len(),
		Stops: stops(chain.Contracts), Pass: []contract.ID{},
	}
	if d.Intent = rootOf(chain.Contracts, shown); d.Intent == nil {
		return nil, fault.E("console.gate", fault.Internal, string(id)+" has no intent", nil)
	}
	d.Released = chain.Intent.Document.Head().State == contract.Published
	if d.People, err = c.people(ctx); err != nil {
		return nil, err
	}
	runs, err := s.RunList(ctx, pipeline.RunFilter{Chains: []contract.ID{shown.Chain}}, pipeline.Page{Limit: runsMost})
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if r.HeadCommit == shown.HeadCommit && (d.Maker == "" || r.Phase == pipeline.Phase(phase.Build)) {
			d.Maker = d.People.Name(r.Actor)
		}
	}
	by, list := readCovers(shown.Covers)
	d.Covers = list
	if d.Checked, err = c.checkedAs(ctx, runs, by["boundaryAuditId"]); err != nil {
		return nil, err
	}
	if d.Change, err = c.agreed(ctx, &story{id: d.Chain.ID, shown: chain, runs: runs}, by["diffHash"]); err != nil {
		return nil, err
	}
	if err := c.told(v, d, chain); err != nil {
		return nil, err
	}
	d.Standing = standingOf(shown, by, chain, v)
	d.decided(v)
	switch d.Standing {
	case isOpen, isHeld, isMoved, isApproved:
		if d.Released {
			break
		}
		if d.Lapsed, err = c.lapse(ctx, c.sheets[v.lang].words, d.People, chain.Contracts, shown); err != nil {
			return nil, err
		}
	case isRejected, isExpired, isWithdrawn, isStopped, isChanged:
	}
	c.choose(v, d)
	return d, nil
}

// told reads what the note of the release would say of the change, which is how
// each file changed, what makes the risk, and the verification.
func (c *Console) told(v *visit, d *gateData, chain *pipeline.ChainShown) error {
	if d.Checked != nil {
		w := c.sheets[v.lang].words
		if g := d.Checked.gains(); len(g) > 0 {
			d.Adds = w.sentence(g)
		} else {
			d.Adds = w.say("adds.nothing")
		}
		for _, f := range d.Checked.Files {
			d.Files = append(d.Files, artifact.File{Change: artifact.Modified, Path: f})
		}
	}
	for _, k := range []contract.Kind{contract.KindIntent, contract.KindTaskSeed, contract.KindAcceptance} {
		if r := current(chain.Contracts, k); r != nil {
			d.Pass = append(d.Pass, r.Ref().ID)
		}
	}
	var signals map[risk.Signal]risk.Status
	if len(d.Shown.Signals) > 0 && json.Unmarshal(d.Shown.Signals, &signals) != nil {
		return fault.E("console.told", fault.Internal, "the signals of "+string(d.ID)+" do not read", nil)
	}
	for _, s := range risk.Statuses(0, 0) {
		if st, ok := signals[s.Signal]; ok {
			d.Signals = append(d.Signals, risk.SignalStatus{Signal: s.Signal, Status: st})
		}
	}
	task := current(chain.Contracts, contract.KindTaskSeed)
	if task == nil {
		return nil
	}
	note, err := c.conf.Contracts.NoteGet(v.r.Context(), task.Ref().ID)
	if refusal.CodeOf(err) != "" {
		return nil // the task is not under way: there is nothing more to tell
	}
	if err != nil {
		return err
	}
	if note.Data.Gate.ID == d.ID && note.Data.Gate.Version == d.Version {
		d.Reasons = note.Data.Risk.Reasons
		if len(note.Data.Files) > 0 {
			d.Files = note.Data.Files
		}
		if b := note.Data.Boundary; b != nil && b.Verify != nil {
			d.Verify = b.Verify.Decision
		}
	}
	return nil
}

// standingOf is how a gate stands now.
func standingOf(shown *pipeline.Shown, covers map[string]string, chain *pipeline.ChainShown, v *visit) standing {
	g := shown.Document.(*contract.PublishGate)
	switch {
	case g.FinalDecision == contract.DecisionApproved:
		return isApproved
	case g.FinalDecision == contract.DecisionRejected:
		return isRejected
	case g.FinalDecision == contract.DecisionExpired, approval.Overdue(g, v.now):
		return isExpired
	case g.State == contract.Revoked, g.State == contract.Archived, g.State == contract.Superseded:
		return isWithdrawn
	case g.State == contract.Frozen:
		return isStopped
	case covers["diffHash"] != chain.Chain.DiffHash:
		return isMoved
	}
	if a := current(chain.Contracts, contract.KindAcceptance); a != nil && shown.Source != a.Ref() {
		return isMoved
	}
	if g.Action == contract.Hold {
		return isHeld
	}
	return isOpen
}

// decided reads who said what.
func (d *gateData) decided(v *visit) {
	for i, e := range d.Gate.Approvals {
		if e.ActorID == v.me() {
			d.Mine = &d.Gate.Approvals[i]
		}
		if e.Decision == contract.Approved {
			d.Agreed = append(d.Agreed, d.People.Name(e.ActorID))
		}
		d.Last = &d.Gate.Approvals[i]
	}
	if d.Standing == isExpired {
		d.Silent = approval.Outstanding(d.Gate).List()
	}
}

// choose is what the reader may answer.
func (c *Console) choose(v *visit, d *gateData) {
	out := approval.Outstanding(d.Gate)
	options := c.conf.Contracts.Settings().Options
	b := ballot{outstanding: out, recorded: d.Gate.Approvals, creator: d.Intent.Creator, options: options}
	ch := &d.Choice
	ch.Approve, ch.Why = b.agree(v.who.Actor)
	d.YesWait = out.List()
	if len(ch.Approve) > 0 {
		d.YesWait = out.Minus(contract.RolesOf(ch.Approve[0])).List()
	}
	required := d.Gate.RequiredApprovals
	switch d.Standing {
	case isOpen:
		ch.Reject = held(v.who.Actor, required.Union(contract.RolesOf(contract.Admin)))
		ch.Hold = ch.Reject
	case isHeld:
		ch.Approve = nil
		ch.Why = "decide.why.held"
		ch.Reject = held(v.who.Actor, required.Union(contract.RolesOf(contract.Admin)))
		ch.Release = held(v.who.Actor, contract.RolesOf(contract.ProjectLead, contract.Admin))
	default:
		*ch = choice{}
		return
	}
	ch.Can = d.People.holders(out.List(), d.Intent.Creator)
	ch.within(v)
}

// gateDecide takes what a person says at a gate.
func (c *Console) gateDecide(v *visit) (page, error) {
	id := contract.ID(v.r.PathValue("id"))
	version, err := strconv.ParseInt(v.form("version"), 10, 64)
	if err != nil {
		return page{}, errNoPage
	}
	ctx, s, do, reason := v.r.Context(), c.conf.Contracts, v.form("do"), reasonIn(v)
	switch do {
	case "approve", "reject":
		if v.form("digest") == "" {
			return c.gateAs(v, untold(v, "decide.untold.tick"))
		}
		if do == "reject" && reason == nil {
			return c.gateAs(v, untold(v, "decide.untold.reason"))
		}
		by, e := v.writer(roleIn(v), "gate.decide")
		if err = e; err == nil {
			a := pipeline.GateArgs{ID: id, Version: version, Decision: contract.Approved, Digest: v.form("digest"), Reason: reason}
			if do == "reject" {
				a.Decision = contract.Rejected
			}
			_, err = s.GateDecide(ctx, by, a)
		}
	case "hold":
		by, e := v.writer(roleIn(v), "gate.hold")
		if err = e; err == nil {
			_, err = s.GateHold(ctx, by, pipeline.HoldArgs{ID: id, Version: version, Reason: v.form("reason")})
		}
	case "release":
		by, e := v.writer(roleIn(v), "gate.release")
		if err = e; err == nil {
			_, err = s.GateRelease(ctx, by, pipeline.HoldArgs{ID: id, Version: version, Reason: v.form("reason")})
		}
	default:
		return page{}, &notice{status: http.StatusBadRequest, title: "problem.form", words: "problem.form_how"}
	}
	return c.taken(v, err, gatePath(id), func(t *told) (page, error) { return c.gateAs(v, t) })
}
