package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/request/problem"
)

// A decision page puts one question to a person: what it is about, what becomes
// of it on yes and on no, until when, and then the proof (docs/console.md). What a
// person agrees to is named by its digest, which they tick; a decision on other
// bytes than those on the screen is refused.
//
// A decision that is refused is told on the page it was taken on, with the state
// as it is now: whoever was second sees what the first did.

// told is what became of a decision that was not taken.
type told struct {
	Key     string   // of words/
	Further []string // what exactly was refused
	Reason  string   // what the person wrote, so that they need not write it again
	status  int
}

// tellable is err as what a decision page can tell; else err itself.
func (c *Console) tellable(v *visit, err error) (*told, error) {
	t := &told{Reason: v.form("reason"), Further: refusals(err)}
	code := ""
	switch {
	case refusal.CodeOf(err) != "":
		r := refusal.CodeOf(err)
		code, t.status = string(r), r.Entry().Status
	case problem.CodeOf(err) != "":
		p := problem.CodeOf(err)
		code, t.status = string(p), p.Status()
	}
	t.Key = "refusal." + code
	if !c.sheets[v.lang].words.has(t.Key) || t.status < http.StatusBadRequest {
		return nil, err
	}
	return t, nil
}

// untold is a decision the page itself does not take.
func untold(v *visit, key string) *told {
	return &told{Key: key, Reason: v.form("reason"), status: http.StatusUnprocessableEntity}
}

// seen is the digest that the page showed when it was opened, "" for now, and
// whether what it stands for is another by now.
func (v *visit) seen(digest string) (seen string, changed bool) {
	seen = v.query("seen")
	return seen, seen != "" && seen != digest
}

// questionPage is the page of a question at a path. It follows what happens with the
// digest its reader saw, so that it knows when the bytes are others; more goes
// into that query besides.
func questionPage(v *visit, p page, path, digest string, t *told, more url.Values) page {
	query := url.Values{"seen": {digest}}
	if seen := v.query("seen"); seen != "" {
		query.Set("seen", seen)
	}
	for name, values := range more {
		query[name] = values
	}
	v.here, p.follow = path, path+"?"+query.Encode()
	if t != nil {
		p.status = t.status
	}
	return p
}

// taken is the end of a form that decided: the page of what is there now, told
// what was refused where that can be told.
func (c *Console) taken(v *visit, err error, path string, show func(*told) (page, error)) (page, error) {
	c.counts.forget(v.me())
	if err == nil || again(err) {
		return page{}, goTo(path)
	}
	t, err := c.tellable(v, err)
	if err != nil {
		return page{}, absent(err)
	}
	return show(t)
}

// ofChain is the way to a question about a chain, and what its page hears of.
func (c *Console) ofChain(v *visit, p page, id contract.ID, chain *pipeline.Chain) page {
	p.trail = []crumb{{"/inbox", c.say(v, "nav.inbox")}, {"/chains/" + string(chain.ID), string(chain.ID)}}
	p.topics = []string{topicOf(string(id)), topicOf(chain.Correlation), topicOf(string(chain.ID))}
	return p
}

// absent turns the answer that nothing has an id into the page that says so.
func absent(err error) error {
	if refusal.CodeOf(err) == refusal.RefNotFound || refusal.CodeOf(err) == "" && fault.KindOf(err) == fault.NotFound {
		return errNoPage
	}
	return err
}

// people is the registry, for names and for who holds a role.
type people []*pipeline.Actor

// registryMost is how many actors a page asks for: names beyond are shown as ids.
const registryMost = 500

func (c *Console) people(ctx context.Context) (people, error) {
	list, err := c.conf.Contracts.ActorList(ctx, pipeline.Page{Limit: registryMost})
	return list, err
}

// Name is what somebody is called, their id where they have no name.
func (p people) Name(id contract.ActorID) string {
	for _, a := range p {
		if a.ID == id && a.Name != "" {
			return a.Name
		}
	}
	return string(id)
}

// holder is a role with the people who hold it.
type holder struct {
	Role contract.Role
	Who  []string
}

// holders is who may act under each of these roles, but for one: the most shown of
// a role is five.
func (p people) holders(roles []contract.Role, but contract.ActorID) []holder {
	list := make([]holder, 0, len(roles))
	for _, r := range roles {
		h := holder{Role: r}
		for _, a := range p {
			if a.Active && a.Type == contract.Human && a.Roles.Has(r) && a.ID != but && len(h.Who) < 5 {
				h.Who = append(h.Who, p.Name(a.ID))
			}
		}
		slices.Sort(h.Who)
		list = append(list, h)
	}
	return list
}

// choice is what somebody may answer to a question that asks for roles.
type choice struct {
	Approve []contract.Role // of theirs, under which they may agree
	Reject  []contract.Role // and say no
	Hold    []contract.Role
	Release []contract.Role
	Roles   []contract.Role // all of these, each once
	Why     string          // why they may not agree; a key of words/
	Can     []holder        // who can
}

// Any says whether there is any answer that they may give.
func (ch *choice) Any() bool { return len(ch.Roles) > 0 }

// within leaves what the token of the reader allows, and sums it up.
func (ch *choice) within(v *visit) {
	if !v.may(operation.Decide) && ch.Why != "decide.why.human" {
		*ch = choice{Why: "decide.why.scope"}
		return
	}
	for _, list := range [][]contract.Role{ch.Approve, ch.Reject, ch.Hold, ch.Release} {
		for _, r := range list {
			if !slices.Contains(ch.Roles, r) {
				ch.Roles = append(ch.Roles, r)
			}
		}
	}
}

// ballot is what an agreement is measured by.
type ballot struct {
	outstanding contract.RoleSet
	recorded    []contract.Approval // for the same version
	creator     contract.ActorID
	options     approval.Options
}

// agree is the roles under which somebody may agree, and why there is none: they
// said so already, four eyes forbid it, or they hold no role that is asked for.
func (b ballot) agree(a *pipeline.Actor) (roles []contract.Role, why string) {
	why = "decide.why.role"
	if a.Type != contract.Human {
		return nil, "decide.why.human"
	}
	for _, e := range b.recorded {
		if e.ActorID == a.ID && e.Decision == contract.Approved {
			why = "decide.why.done"
		}
	}
	for _, r := range b.outstanding.List() {
		if !a.Roles.Has(r) {
			continue
		}
		voter := approval.Voter{Actor: contract.Actor{ID: a.ID, Role: r, Type: a.Type}, HoldsRole: true}
		switch _, err := b.options.Check(voter, contract.Approved, b.creator, b.recorded); refusal.CodeOf(err) {
		case "":
			roles = append(roles, r)
		case refusal.ApprovalSelfApproval:
			why = "decide.why.own"
		default:
			why = "decide.why.done"
		}
	}
	if len(roles) > 0 {
		why = ""
	}
	return roles, why
}

// held is those of the roles that somebody holds, if they are a person.
func held(a *pipeline.Actor, roles contract.RoleSet) []contract.Role {
	list := []contract.Role{}
	if a.Type != contract.Human {
		return list
	}
	for _, r := range roles.List() {
		if a.Roles.Has(r) {
			list = append(list, r)
		}
	}
	return list
}

// roleIn is the role that a form chose.
func roleIn(v *visit) contract.Role { return contract.Role(v.form("role")) }

// reasonIn is the reason that a form gives, nil for none.
func reasonIn(v *visit) *string {
	text := strings.TrimSpace(v.form("reason"))
	if text == "" {
		return nil
	}
	return &text
}

// again is what a use case answered to a form that was sent before: nothing is to
// be told then but what is there.
func again(err error) bool {
	r, ok := errors.AsType[*pipeline.Replayed](err)
	return ok && r.Request.Status < http.StatusBadRequest
}

// of is the row of a chain that a reference names, nil for none. A version that
// was replaced in place is found as what it is by now.
func of(rows []*pipeline.Shown, ref pipeline.Ref) *pipeline.Shown {
	var found *pipeline.Shown
	for _, r := range rows {
		switch {
		case r.Ref() == ref:
			return r
		case r.Ref().ID == ref.ID && (found == nil || r.Ref().Version > found.Ref().Version):
			found = r
		}
	}
	return found
}

// rootOf is the intent a contract was made from.
func rootOf(rows []*pipeline.Shown, c *pipeline.Shown) *contract.Intent {
	for c != nil {
		if i, ok := c.Document.(*contract.Intent); ok {
			return i
		}
		c = of(rows, c.Source)
	}
	return nil
}

// current is the contract of a kind that a chain goes by: the version that is under
// way, else the newest.
func current(rows []*pipeline.Shown, k contract.Kind) *pipeline.Shown {
	var found *pipeline.Shown
	for _, r := range rows {
		h := r.Document.Head()
		if h.Kind != k {
			continue
		}
		if found == nil || h.State.Live() || !found.Document.Head().State.Live() && h.Version > found.Document.Head().Version {
			found = r
		}
	}
	return found
}

// stops is the contracts of a chain that a no freezes.
func stops(rows []*pipeline.Shown) []contract.ID {
	list := []contract.ID{}
	for _, k := range []contract.Kind{contract.KindIntent, contract.KindTaskSeed, contract.KindAcceptance} {
		if r := current(rows, k); r != nil && r.Document.Head().State == contract.Active {
			list = append(list, r.Ref().ID)
		}
	}
	return list
}
