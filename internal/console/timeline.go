package console

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// The timeline of a path is its audit records and its events as one list, the
// newest first.

// moment is one entry.
type moment struct {
	At       time.Time
	Kind     string // decision, work, contract, refused or event
	Action   string // the code; "" for an event
	Type     string // of an event
	Position int64
	ID       string
	By       string
	Role     string
	From, To string
	Cause    string
	Code     string // of what was refused
	Digest   string
	order    int
}

// Key is the sentence of the entry, in words/.
func (m moment) Key() string {
	if m.Type != "" {
		return "timeline.event." + m.Type
	}
	return "action." + m.Action
}

// timeline is a page of the list.
type timeline struct {
	Kinds   []string
	Kind    string // "" is all
	Entries []moment
	Older   string
	All     string // the path without a filter
	Base    string // to which a kind is added
	Cut     bool   // the path has more than is read
}

var momentKinds = []string{"decision", "work", "contract", "refused", "event"}

// Of a path, the newest this many records and events are read.
const (
	momentMost  = 3000
	momentBatch = 500
	momentPage  = 25
)

// timeline reads the list of a chain. The records of the path are found by its
// correlation id; those of another chain of the same request are left out, and of
// the circle's those about what the reader may not see there.
func (c *Console) timeline(ctx context.Context, s *story, query url.Values) (*timeline, error) {
	t, ch := &timeline{Kinds: momentKinds}, s.shown.Chain
	sees, err := s.sees()
	if err != nil {
		return nil, err
	}
	if k := query.Get("kind"); slices.Contains(momentKinds, k) {
		t.Kind = k
	}
	bare := url.Values{}
	t.All, t.Base = chainPath(ch.ID, bare)+"#timeline", chainPath(ch.ID, bare)+"?kind="
	var all []moment
	keep := func(m moment) {
		if t.Kind == "" || t.Kind == m.Kind {
			m.order = len(all)
			if all = append(all, m); len(all) > 2*momentMost {
				all, t.Cut = slices.Delete(all, 0, len(all)-momentMost), true
			}
		}
	}
	if t.Kind != "event" {
		for after := int64(0); ; {
			lines, err := c.conf.Contracts.AuditList(ctx, after, pipeline.AuditFilter{Correlations: []string{ch.Correlation}}, momentBatch)
			if err != nil {
				return nil, err
			}
			for _, l := range lines {
				after = l.Position
				if m, ok := momentOf(l, s, sees); ok {
					keep(m)
				}
			}
			if len(lines) < momentBatch {
				break
			}
		}
	}
	if t.Kind == "" || t.Kind == "event" {
		for after := int64(0); ; {
			list, err := c.conf.Contracts.EventList(ctx, after, pipeline.EventFilter{Chains: []contract.ID{ch.ID}}, momentBatch)
			if err != nil {
				return nil, err
			}
			for _, e := range list {
				after = e.Position
				at, _ := contract.ParseTimestamp(e.Origin.At)
				keep(moment{At: at.Time(), Kind: "event", Type: string(e.Type), ID: e.Subject.ID, Position: e.Position})
			}
			if len(list) < momentBatch {
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		if n := b.At.Compare(a.At); n != 0 {
			return n
		}
		return b.order - a.order
	})
	from, _ := strconv.Atoi(query.Get("from"))
	from = min(max(from, 0), len(all))
	t.Entries = all[from:min(from+momentPage, len(all))]
	if next := from + momentPage; next < len(all) {
		q := url.Values{"from": {strconv.Itoa(next)}}
		if t.Kind != "" {
			q.Set("kind", t.Kind)
		}
		t.Older = chainPath(ch.ID, q) + "#timeline"
	}
	return t, nil
}

// sees is what the reader sees of the request that a chain came of, by id: nil
// where they see nothing of it. Who is no member of its circle learns nothing of
// who did what there; a member nothing of an artifact that is not shown to them.
func (s *story) sees() (map[string]bool, error) {
	if s.asked == nil {
		return nil, nil
	}
	ids := map[string]bool{}
	for _, raw := range s.asked.Artifacts {
		var a struct {
			ID string `json:"artifact_id"`
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, fault.E("console.sees", fault.Internal, "an artifact of "+s.asked.RequestID+" does not read", err)
		}
		ids[a.ID] = true
	}
	return ids, nil
}

// momentOf is a record of the path, unless it is of another chain or of what the
// reader does not see.
func momentOf(l pipeline.AuditLine, s *story, sees map[string]bool) (moment, bool) {
	var r struct {
		Timestamp, Kind, ID, ActorID, Role string
		Action                             string
		From, To, Cause, IntentID          string
		ApprovalDigest                     string
		Success                            bool
		Error                              struct{ Code string }
	}
	if json.Unmarshal(l.Text, &r) != nil || r.IntentID != "" && r.IntentID != string(s.id) {
		return moment{}, false
	}
	if ofCircle := s.shown.Chain.Correlation != string(s.id) && !contract.ID(r.ID).Valid(); ofCircle && (sees == nil || r.Kind == "artifact" && !sees[r.ID]) {
		return moment{}, false
	}
	at, _ := contract.ParseTimestamp(r.Timestamp)
	m := moment{
		At: at.Time(), Kind: momentKind(r.Action), Action: r.Action, Position: l.Position, ID: r.ID, By: s.who.Name(contract.ActorID(r.ActorID)), Role: r.Role,
		From: r.From, To: r.To, Digest: r.ApprovalDigest,
	}
	m.Cause, _ = shown(r.Cause)
	if !r.Success {
		m.Kind, m.Code = "refused", r.Error.Code
	}
	return m, true
}

// momentKind is what an action is about: what people decide, what executors do,
// and everything else, which is what becomes of contracts.
func momentKind(action string) string {
	first, last, _ := strings.Cut(action, ".")
	switch {
	case first == "activation", first == "gate" && last != "create", first == "review", action == "contract.freeze", action == "contract.resume",
		action == "merge.resolve", first == "consent", action == "artifact.confirm", action == "artifact.decline", action == "artifact.adopt":
		return "decision"
	case first == "task", first == "run", first == "artifact", first == "verify", first == "lock", first == "operation":
		return "work"
	}
	return "contract"
}
