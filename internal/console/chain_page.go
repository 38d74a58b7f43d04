package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// chainView is the page of one chain.
type chainView struct {
	*pipeline.Chain
	Asked    bool   // through the circle: the correlation id is a request's
	Title    string // the beginning of the text
	Text     string
	Priority contract.Priority
	State    contract.State
	Kind     string
	Cause    contract.Cause // it stands still
	Frozen   contract.ID    // what does
	Cards    []card
	Change   *changeView
	Timeline *timeline
	Evidence []evidenceRow
	Note     *artifact.Note
	Gate     contract.ID // of which a proof can be taken, once it approved
	Lapsed   *lapsed     // an agreement that holds no longer, nil for none
	Held     *heldBack   // by the boundary, nil for nothing
}

// evidenceRow is one Evidence of the chain.
type evidenceRow struct {
	ID      contract.ID
	Path    string
	Run     *pipeline.Run // nil for one that came from elsewhere
	By      string
	At      time.Time
	Verdict contract.PolicyVerdict
	Kind    string
}

// runsMost is how many runs of a chain its page knows.
const runsMost = 100

// chain is one path as one picture.
func (c *Console) chain(v *visit) (page, error) {
	ctx, id := v.r.Context(), contract.ID(v.r.PathValue("id"))
	s, err := c.story(ctx, v.lang, id)
	if err != nil {
		return page{}, err
	}
	request, err := c.requestCard(v, s)
	if err != nil {
		return page{}, err
	}
	h := s.intent.Document.Head()
	intent, _ := s.intent.Document.(*contract.Intent)
	out := &chainView{
		Chain: s.shown.Chain, Asked: s.shown.Chain.Correlation != string(id), State: h.State, Kind: stateKind(h.State),
		Title: beginning(intent.Intent), Text: intent.Intent, Priority: intent.Priority, Cards: s.cards(request),
	}
	for _, row := range []*pipeline.Shown{s.gate, s.accept, s.task, s.intent} {
		if row != nil && row.FreezeCause != "" {
			out.Cause, out.Frozen = row.FreezeCause, row.Ref().ID
		}
	}
	if g := current(s.shown.Contracts, contract.KindPublishGate); g != nil && (h.State == contract.Active || h.State == contract.Frozen) {
		if out.Lapsed, err = c.lapse(ctx, s.w, s.who, s.shown.Contracts, g); err != nil {
			return page{}, err
		}
	}
	if out.Held, err = c.heldBack(ctx, id, s.accept); err != nil {
		return page{}, err
	}
	if out.Change, err = c.change(ctx, s, "", 0, changeInline); err != nil {
		return page{}, err
	}
	if out.Timeline, err = c.timeline(ctx, s, v.r.URL.Query()); err != nil {
		return page{}, err
	}
	out.Evidence = s.evidence()
	if h.State == contract.Published && s.task != nil {
		note, err := c.conf.Contracts.NoteGet(ctx, s.task.Ref().ID)
		if err != nil && !errors.Is(absent(err), errNoPage) {
			return page{}, err
		}
		if err == nil {
			out.Note = note.Data
		}
	}
	if g := s.gate; g != nil && g.Document.(*contract.PublishGate).FinalDecision == contract.DecisionApproved {
		out.Gate = g.Ref().ID
	}
	return page{
		name: "chain", title: "chain.title", args: []any{string(id)}, data: out,
		trail: []crumb{{"/chains", s.w.say("chains.title")}}, topics: []string{topicOf(string(id)), topicOf(s.shown.Chain.Correlation)},
	}, nil
}

// story reads a chain with everything its picture needs.
func (c *Console) story(ctx context.Context, lang string, id contract.ID) (*story, error) {
	if id.Kind() != contract.KindIntent {
		return nil, errNoPage
	}
	s := &story{w: c.sheets[lang].words, id: id, votes: map[contract.ID][]pipeline.Vote{}}
	var err error
	if s.shown, err = c.conf.Contracts.ChainGet(ctx, id); err != nil {
		return nil, absent(err)
	}
	if s.runs, err = c.conf.Contracts.RunList(ctx, pipeline.RunFilter{Chains: []contract.ID{id}}, pipeline.Page{Limit: runsMost}); err != nil {
		return nil, err
	}
	if s.who, err = c.people(ctx); err != nil {
		return nil, err
	}
	s.follow()
	for _, row := range []*pipeline.Shown{s.intent, s.task, s.accept} {
		if row == nil {
			continue
		}
		if s.votes[row.Ref().ID], err = c.conf.Contracts.ActivationList(ctx, row.Ref().ID); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// requestCard is the card of what the path began with. Whoever may not see the
// request sees that there is one.
func (c *Console) requestCard(v *visit, s *story) (card, error) {
	id := s.shown.Chain.Correlation
	out := card{Step: "request", Kind: "quiet", State: s.w.say("chain.unasked"), At: s.shown.Chain.CreatedAt}
	if id == string(s.id) {
		return out, nil
	}
	out.ID, out.Path, out.Kind, out.State, out.At = id, "/requests/"+url.PathEscape(id), "pass", s.w.say("chain.asked"), time.Time{}
	if c.conf.Circle == nil {
		return out, nil
	}
	p, err := c.conf.Circle.RequestGet(v.r.Context(), v.caller(""), id)
	if err != nil {
		if v.r.Context().Err() != nil {
			return out, err
		}
		return out, nil
	}
	s.asked = p
	out.By, out.At = s.who.Name(contract.ActorID(p.MemberID)), p.CreatedAt
	if p.EndedAt != nil {
		out.Ended = *p.EndedAt
	}
	return out, nil
}

// evidence is the Evidence of the chain, the newest first.
func (s *story) evidence() []evidenceRow {
	list := []evidenceRow{}
	for _, c := range slices.Backward(s.shown.Contracts) {
		e, ok := c.Document.(*contract.Evidence)
		if !ok {
			continue
		}
		if len(list) == perPage {
			break
		}
		row := evidenceRow{ID: e.ID, Path: evidencePath(s.id, e.ID), By: s.who.Name(e.Actor), At: e.CreatedAt.Time(), Verdict: e.PolicyVerdict, Kind: verdictKind(e.PolicyVerdict)}
		for _, r := range s.runs {
			if r.ExecutionID == c.ExecutionID {
				row.Run = r
			}
		}
		list = append(list, row)
	}
	return list
}

func evidencePath(chain, id contract.ID) string {
	return "/chains/" + string(chain) + "/evidence/" + string(id)
}

func verdictKind(p contract.PolicyVerdict) string {
	switch p {
	case contract.VerdictApproved:
		return "pass"
	case contract.VerdictRejected:
		return "stop"
	case contract.VerdictManual:
	}
	return "wait"
}

// contractView is one version of a contract as it is kept.
type contractView struct {
	Chain    contract.ID
	Head     contract.Base
	Kind     string
	Cause    contract.Cause
	Text     string
	Source   pipeline.Ref
	From     string // the page of the source
	Versions []versionRow
	Replaced []pipeline.Replaced
	Digest   string // of the text
	Evidence string // its page, when it is one
	Path     string // the correlation id
}

type versionRow struct {
	Ref   pipeline.Ref
	Path  string
	State contract.State
	Kind  string
	Now   bool
}

// contract is one version of a contract of a chain, with the others.
func (c *Console) contract(v *visit) (page, error) {
	ctx, chain, id := v.r.Context(), contract.ID(v.r.PathValue("id")), contract.ID(v.r.PathValue("contract"))
	if !id.Valid() {
		return page{}, errNoPage
	}
	all, replaced, err := c.conf.Contracts.ContractVersions(ctx, id)
	if err != nil {
		return page{}, absent(err)
	}
	asked, _ := strconv.ParseInt(v.query("version"), 10, 64) // 0 for none
	var row *pipeline.Shown
	out := &contractView{Chain: chain, Replaced: replaced}
	for _, one := range all {
		if one.Chain != chain {
			return page{}, errNoPage
		}
		if row == nil && (asked == 0 || one.Ref().Version == asked) {
			row = one
		}
	}
	if row == nil {
		return page{}, errNoPage
	}
	for _, one := range all {
		h := one.Document.Head()
		out.Versions = append(out.Versions, versionRow{one.Ref(), contractPath(chain, one.Ref()), h.State, stateKind(h.State), one == row})
	}
	out.Head, out.Kind, out.Cause, out.Source, out.Digest = row.Document.Head(), stateKind(row.Document.Head().State), row.FreezeCause, row.Source, contract.Hash(row.Text)
	out.Path = row.Correlation
	if row.Source.ID != "" {
		out.From = contractPath(chain, row.Source)
	}
	if out.Head.Kind == contract.KindEvidence {
		out.Evidence = evidencePath(chain, id)
	}
	var text bytes.Buffer
	if json.Indent(&text, row.Text, "", "  ") != nil {
		text.Reset()
		text.Write(row.Text)
	}
	out.Text = text.String()
	return page{
		name: "contract", title: "contract.title", args: []any{string(id), out.Head.Version}, data: out,
		trail: c.chainTrail(v, chain), topics: []string{topicOf(string(id)), topicOf(string(chain)), topicOf(row.Correlation)},
	}, nil
}

func (c *Console) chainTrail(v *visit, chain contract.ID) []crumb {
	return []crumb{{"/chains", c.sheets[v.lang].words.say("chains.title")}, {chainPath(chain, nil), string(chain)}}
}

// evidenceView is one Evidence, and its checks once somebody asked for them.
type evidenceView struct {
	Chain  contract.ID
	E      *contract.Evidence
	By     string
	Run    *pipeline.Run
	Kind   string
	Whole  string // the page of the document
	Proven *verification
	Here   string
	Path   string // the correlation id
}

// evidence is one Evidence. With ?verify it is checked while the page is made.
func (c *Console) evidence(v *visit) (page, error) {
	ctx, chain, id := v.r.Context(), contract.ID(v.r.PathValue("id")), contract.ID(v.r.PathValue("evidence"))
	if chain.Kind() != contract.KindIntent || id.Kind() != contract.KindEvidence {
		return page{}, errNoPage
	}
	whole, err := c.conf.Contracts.ChainGet(ctx, chain)
	if err != nil {
		return page{}, absent(err)
	}
	at := slices.IndexFunc(whole.Contracts, func(s *pipeline.Shown) bool { return s.Document.Head().ID == id })
	if at < 0 {
		return page{}, errNoPage
	}
	row := whole.Contracts[at]
	e, _ := row.Document.(*contract.Evidence)
	who, err := c.people(ctx)
	if err != nil {
		return page{}, err
	}
	out := &evidenceView{Chain: chain, E: e, By: who.Name(e.Actor), Kind: verdictKind(e.PolicyVerdict), Whole: contractPath(chain, row.Ref()), Here: evidencePath(chain, id), Path: row.Correlation}
	if row.ExecutionID != "" {
		if out.Run, err = c.conf.Contracts.RunGet(ctx, row.ExecutionID); err != nil && !errors.Is(absent(err), errNoPage) {
			return page{}, err
		}
	}
	if v.r.URL.Query().Has("verify") {
		if out.Proven, err = c.prove(ctx, whole, row); err != nil {
			return page{}, err
		}
	}
	return page{name: "evidence", title: "evidence.title", args: []any{string(id)}, data: out, trail: c.chainTrail(v, chain)}, nil
}

// phases of which runs have a change, for links.
var changing = []pipeline.Phase{pipeline.Phase(phase.Build), pipeline.Phase(phase.Stabilize), pipeline.Phase(phase.Refactor)}
