package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/request"
)

// Who acts here, under which roles, and with which tokens. Everybody who may read
// sees the registry; the tokens of an actor are theirs and an admin's to see.

const (
	actorsPath = "/actors"
	ownPath    = "/actors/me"

	recentShown = 20 // records of an actor
	waitingMost = 10 // gates that wait for an actor
)

// actorPath is the page of an actor. Ids that a path cannot hold, or that are
// another page's, go into the query.
func actorPath(id contract.ActorID) string {
	if slices.Contains([]contract.ActorID{"", ".", "..", "me"}, id) {
		return actorsPath + "?id=" + url.QueryEscape(string(id))
	}
	return actorsPath + "/" + url.PathEscape(string(id))
}

// actorRow is an actor of the list.
type actorRow struct {
	*pipeline.Actor
	Path string
}

// actorsData is the page of the registry.
type actorsData struct {
	Rows  []actorRow
	Older string          // the next page, "" for none
	Roles []contract.Role // that can be given, for the form of an admin
	Admin bool
}

func (c *Console) actors(v *visit) (page, error) {
	if v.r.URL.Query().Has("id") {
		return c.actorPage(v, contract.ActorID(v.query("id")))
	}
	list, err := c.conf.Contracts.ActorList(v.r.Context(), pipeline.Page{Behind: readMark(v.query("behind")), Limit: perPage + 1})
	if err != nil {
		return page{}, err
	}
	d := actorsData{Admin: v.administers(), Roles: contract.Roles()}
	if len(list) > perPage {
		list = list[:perPage]
		last := list[perPage-1]
		d.Older = actorsPath + "?behind=" + url.QueryEscape(mark(pipeline.Mark{At: last.UpdatedAt, ID: string(last.ID)}))
	}
	for _, a := range list {
		d.Rows = append(d.Rows, actorRow{a, actorPath(a.ID)})
	}
	return page{name: "actors", title: "actors.title", data: d}, nil
}

// actorData is the page of one actor.
type actorData struct {
	*pipeline.Actor
	Path  string
	Me    bool // the reader's own
	Admin bool // the reader may change it

	Waiting []gateRow // that wait for a role of theirs
	Tokens  []tokenRow
	Older   string // older tokens
	Sees    bool   // the reader may see the tokens
	Grants  bool   // and make one
	Scopes  []string
	Days    []int

	Records   []actorRecord
	Searching string // the whole of their records in the log; "" for who may not see it

	Given   []contract.Role // that can be
	Factors []*request.Factor
	Circle  bool // there can be second factors
	Keys    bool // they have one that needs another program than a browser without a script
}

// gateRow is a gate that waits for somebody.
type gateRow struct {
	ID    contract.ID
	Level contract.Level
	Due   time.Time
}

// actorRecord is something an actor did.
type actorRecord struct {
	Position              int64
	At                    time.Time
	Action, ID, ErrorCode string
	Success               bool
}

func (c *Console) actor(v *visit) (page, error) {
	return c.actorPage(v, contract.ActorID(v.r.PathValue("id")))
}

func (c *Console) ownActor(v *visit) (page, error) {
	p, err := c.actorPage(v, v.me())
	if err != nil {
		return p, err
	}
	d := p.data.(*actorData)
	d.Path = ownPath
	if c.conf.Circle != nil && d.Type == contract.Human {
		d.Circle = true
		if d.Factors, err = c.conf.Circle.FactorList(v.r.Context(), v.caller("")); err != nil {
			return p, err
		}
		d.Keys = request.Strongest(d.Factors) == request.WebAuthn
	}
	p.title, p.args = "actor.me", nil
	return p, nil
}

func (c *Console) actorPage(v *visit, id contract.ActorID) (page, error) {
	a, err := c.findActor(v, id)
	if err != nil {
		return page{}, err
	}
	d := &actorData{
		Actor: a, Path: actorPath(a.ID), Me: a.ID == v.me(), Admin: v.administers(), Given: contract.Roles(), Days: tokenDays,
	}
	if d.Waiting, err = c.waitingFor(v, a); err != nil {
		return page{}, err
	}
	d.Sees = d.Me || v.who.Actor.Roles.Has(contract.Admin)
	d.Grants = d.Sees && v.may(operation.Write)
	if d.Sees {
		if err := c.tokensOf(v, d); err != nil {
			return page{}, err
		}
	}
	if v.may(operation.Audit) {
		d.Searching = "/audit?actorId=" + url.QueryEscape(string(a.ID))
		if d.Records, err = c.recentOf(v, a.ID); err != nil {
			return page{}, err
		}
	}
	name := a.Name
	if name == "" {
		name = string(a.ID)
	}
	return page{
		name: "actor", title: "actor.title", args: []any{name}, data: d, trail: []crumb{{actorsPath, c.sheets[v.lang].words.say("nav.actors")}},
		topics: []string{topicOf(string(a.ID))},
	}, nil
}

// findActor is an actor of the registry, or the page that there is none.
func (c *Console) findActor(v *visit, id contract.ActorID) (*pipeline.Actor, error) {
	a, err := c.conf.Contracts.ActorGet(v.r.Context(), id)
	if refusal.CodeOf(err) == refusal.RefNotFound || err != nil && fault.KindOf(err) == fault.NotFound {
		return nil, errNoPage
	}
	return a, err
}

// waitingFor is the pending gates that ask for a role of theirs, the one that is
// due first at the top. Only people decide there.
func (c *Console) waitingFor(v *visit, a *pipeline.Actor) ([]gateRow, error) {
	if a.Type != contract.Human || !a.Active || a.Roles.Empty() {
		return nil, nil
	}
	list, err := c.conf.Contracts.GateList(v.r.Context(), pipeline.ContractFilter{
		WaitingFor: a.Roles.List(), FinalDecisions: []contract.FinalDecision{contract.DecisionPending},
	}, pipeline.Page{Limit: waitingMost})
	if err != nil {
		return nil, err
	}
	rows := []gateRow{}
	for _, s := range list {
		if g, ok := s.Document.(*contract.PublishGate); ok {
			rows = append(rows, gateRow{g.ID, g.RiskLevel, g.ApprovalDeadline.Time()})
		}
	}
	slices.SortStableFunc(rows, func(a, b gateRow) int { return a.Due.Compare(b.Due) })
	return rows, nil
}

// recentOf is what an actor did lately, the last first.
func (c *Console) recentOf(v *visit, id contract.ActorID) ([]actorRecord, error) {
	head, err := c.conf.Contracts.AuditHead(v.r.Context())
	if err != nil {
		return nil, err
	}
	lines, err := c.conf.Contracts.AuditBack(v.r.Context(), head.Count+1, 0, pipeline.AuditFilter{Actors: []contract.ActorID{id}}, recentShown)
	if err != nil {
		return nil, err
	}
	list := []actorRecord{}
	for _, l := range lines {
		var r struct {
			Timestamp             time.Time
			Action, ID, ErrorCode string
			Success               bool
		}
		if err := json.Unmarshal(l.Text, &r); err != nil {
			continue // the page of the log says what is wrong with it
		}
		list = append(list, actorRecord{l.Position, r.Timestamp, r.Action, r.ID, r.ErrorCode, r.Success})
	}
	return list, nil
}
