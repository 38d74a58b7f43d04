package console

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// perPage is how many rows a list shows.
const perPage = 50

// mark is the place in a list that a page begins behind, as a query has it.
func mark(m pipeline.Mark) string { return strconv.FormatInt(m.At.UnixMicro(), 36) + "." + m.ID }

// readMark is such a place; the start for what is none.
func readMark(text string) (m pipeline.Mark) {
	at, id, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(at, 36, 64)
	if !ok || err != nil || id == "" {
		return m
	}
	return pipeline.Mark{At: time.UnixMicro(n).UTC(), ID: id}
}

// chainRow is a chain in the list.
type chainRow struct {
	ID          contract.ID
	Text        string
	By          contract.ActorID
	Correlation string // "" where it is the chain's own
	Phase       pipeline.Phase
	State       contract.State
	Kind        string // of the state's shape
	Cause       contract.Cause
	Level       contract.Level // "" before there is a gate
	Since       time.Time
	Deadline    time.Time // of a gate that waits
}

// chainList is the page of the chains.
type chainList struct {
	Phases       []phase.Phase
	States       []contract.State
	Levels       []contract.Level
	Phase, State string
	Level, ID    string
	Repository   string
	Filtered     bool
	Rows         []chainRow
	Older        string
}

var (
	chainStates = []contract.State{contract.Draft, contract.Active, contract.Frozen, contract.Published, contract.Revoked, contract.Archived}
	levels      = []contract.Level{contract.Low, contract.Medium, contract.High, contract.Critical}
)

// stateKind is how a state looks: pass, wait, stop or quiet.
func stateKind(s contract.State) string {
	switch s {
	case contract.Draft:
		return "wait"
	case contract.Active, contract.Published:
		return "pass"
	case contract.Frozen, contract.Revoked:
		return "stop"
	case contract.Superseded, contract.Archived:
	}
	return "quiet"
}

// chains is the list of chains, the newest change first.
func (c *Console) chains(v *visit) (page, error) {
	q := chainList{
		Phases: phase.Phases(), States: chainStates, Levels: levels,
		Phase: v.query("phase"), State: v.query("state"), Level: v.query("risk"), Repository: strings.TrimSpace(v.query("repository")), ID: strings.TrimSpace(v.query("id")),
	}
	var f pipeline.ChainFilter
	if p := phase.Phase(q.Phase); p.Valid() {
		f.Phases = []pipeline.Phase{pipeline.Phase(p)}
	}
	if s := contract.State(q.State); slices.Contains(chainStates, s) {
		f.States = []contract.State{s}
	}
	if l := contract.Level(q.Level); slices.Contains(levels, l) {
		f.Levels = []contract.Level{l}
	}
	if q.Repository != "" {
		f.Repositories = []string{q.Repository}
	}
	found := true
	if q.ID != "" {
		var err error
		if f, found, err = c.named(v.r.Context(), f, q.ID); err != nil {
			return page{}, err
		}
	}
	q.Filtered = q.Phase+q.State+q.Level+q.Repository+q.ID != ""
	if found {
		list, err := c.conf.Contracts.ChainList(v.r.Context(), f, pipeline.Page{Behind: readMark(v.query("behind")), Limit: perPage + 1})
		if err != nil {
			return page{}, err
		}
		if len(list) > perPage {
			list = list[:perPage]
			last := list[perPage-1]
			next := v.r.URL.Query()
			next.Set("behind", mark(pipeline.Mark{At: last.UpdatedAt, ID: string(last.ID)}))
			q.Older = "/chains?" + next.Encode()
		}
		if q.Rows, err = c.chainRows(v.r.Context(), list); err != nil {
			return page{}, err
		}
	}
	return page{name: "chains", title: "chains.title", data: q, topics: []string{topicAll}, announce: true}, nil
}

// named narrows a filter to the chain, or the path, that has an id; found is
// false when nothing has it.
func (c *Console) named(ctx context.Context, f pipeline.ChainFilter, id string) (_ pipeline.ChainFilter, found bool, err error) {
	upper := contract.ID(strings.ToUpper(id))
	if !upper.Valid() {
		f.Correlations = []string{id}
		return f, true, nil
	}
	shown, err := c.conf.Contracts.ContractGet(ctx, upper, 0)
	if errors.Is(absent(err), errNoPage) {
		return f, false, nil
	}
	if err == nil {
		f.IDs = []contract.ID{shown.Chain}
	}
	return f, err == nil, err
}

// chainRows is chains with what their contracts say, all of them asked at once.
func (c *Console) chainRows(ctx context.Context, list []*pipeline.Chain) ([]chainRow, error) {
	if len(list) == 0 {
		return nil, nil
	}
	rows, at, ids := make([]chainRow, len(list)), map[contract.ID]*chainRow{}, make([]contract.ID, len(list))
	for i, ch := range list {
		rows[i] = chainRow{ID: ch.ID, Phase: ch.Phase, Since: ch.UpdatedAt}
		if ch.Correlation != string(ch.ID) {
			rows[i].Correlation = ch.Correlation
		}
		at[ch.ID], ids[i] = &rows[i], ch.ID
	}
	of, err := c.conf.Contracts.ContractList(ctx, pipeline.ContractFilter{
		Chains: ids, Kinds: []contract.Kind{contract.KindIntent, contract.KindPublishGate},
	}, pipeline.Page{})
	if err != nil {
		return nil, err
	}
	for _, s := range of {
		row := at[s.Chain]
		switch d := s.Document.(type) {
		case *contract.Intent:
			row.Text, row.By, row.State, row.Kind, row.Cause = beginning(d.Intent), d.Creator, d.State, stateKind(d.State), s.FreezeCause
		case *contract.PublishGate:
			if row.Level != "" { // the newest comes first
				continue
			}
			row.Level = d.RiskLevel
			if d.FinalDecision == contract.DecisionPending && d.State == contract.Active {
				row.Deadline = d.ApprovalDeadline.Time()
			}
		}
	}
	return rows, nil
}

// beginningMost is the most characters of a text that stand for it.
const beginningMost = 160

// beginning is the first line of a text, and not too much of it.
func beginning(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > beginningMost {
		runes, rest = runes[:beginningMost-1], "more"
	}
	if rest == "" {
		return string(runes)
	}
	return strings.TrimRight(string(runes), " .") + "…"
}

// chainPath is the page of a chain with a query.
func chainPath(id contract.ID, query url.Values) string {
	to := "/chains/" + string(id)
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	return to
}
