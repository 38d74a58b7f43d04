package console

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
)

// The inbox is what waits for whoever looks at it: what their roles and
// memberships let them decide, and they have not decided yet.

// question is one row.
type question struct {
	Kind  string         // gate, held, activation, review, frozen, conflict, consent, confirm, adopt
	Risk  contract.Level // "" where nobody has said
	Key   string         // of the sentence, with its arguments
	Args  []any
	About string // what it is about, in the words of whoever asked for it
	Path  string // where it is answered
	Of    string // the chain or request
	OfURL string
	Trace string // the correlation id, "" where Of is it
	Who   string // who waits
	Since time.Time
	Due   time.Time // zero for none
}

// inboxData is the page of the inbox.
type inboxData struct {
	Rows    []question
	Total   int
	More    bool // there are more than were looked for
	From    int
	Older   string // where the next rows are, "" for none
	Newer   string
	Machine bool // whoever looks is no person, and decides nothing
	Locked  bool // their token does not allow deciding
}

const (
	inboxRows = 50  // rows of a page
	inboxMost = 100 // what is looked for of each kind
)

// inboxPage shows what waits.
func (c *Console) inboxPage(v *visit) (page, error) {
	list, more, err := c.questions(v)
	if err != nil {
		return page{}, err
	}
	c.counts.put(v.me(), v.now, len(list))
	from, _ := strconv.Atoi(v.query("from"))
	from = max(0, min(from, len(list)))
	d := inboxData{
		Total: len(list), More: more, From: from, Machine: v.who.Actor.Type != contract.Human, Locked: !v.may(operation.Decide),
		Rows: list[from:min(from+inboxRows, len(list))],
	}
	if from+inboxRows < len(list) {
		d.Older = "/inbox?from=" + strconv.Itoa(from+inboxRows)
	}
	if from > 0 {
		d.Newer = "/inbox?from=" + strconv.Itoa(max(0, from-inboxRows))
	}
	// An inbox that was opened empty fills by itself, and goes on doing so; one that
	// had rows moves nothing of what is being read, and says that there is news.
	fills := len(list) == 0 || v.query("fills") != ""
	p := page{name: "inbox", title: "inbox.title", data: d, topics: []string{topicAll}, announce: !fills}
	if fills {
		p.follow = "/inbox?fills=1"
	}
	return p, nil
}

// questions is everything that waits for whoever asks, the most urgent first: by
// deadline, then by risk, then by how long it has waited. more says that there may
// be further ones.
func (c *Console) questions(v *visit) (list []question, more bool, err error) {
	if v.who.Actor.Type != contract.Human {
		return nil, false, nil
	}
	ctx := v.r.Context()
	for _, source := range []func(context.Context, *visit) ([]question, bool, error){c.gatesAsked, c.contractsAsked, c.reviewsAsked, c.artifactsAsked} {
		some, full, err := source(ctx, v)
		if err != nil {
			return nil, false, err
		}
		list, more = append(list, some...), more || full
	}
	levels := contract.Levels()
	slices.SortStableFunc(list, func(a, b question) int {
		if a.Due.IsZero() != b.Due.IsZero() {
			if a.Due.IsZero() {
				return 1
			}
			return -1
		}
		return cmp.Or(a.Due.Compare(b.Due), slices.Index(levels, b.Risk)-slices.Index(levels, a.Risk), a.Since.Compare(b.Since))
	})
	return list, more, nil
}

// waiting is how many questions wait for whoever asks; -1 is not known. Every page
// shows it, so that it is looked up once in a while only.
func (c *Console) waiting(v *visit) int {
	if n, ok := c.counts.get(v.me(), v.now); ok {
		return n
	}
	list, _, err := c.questions(v)
	if err != nil {
		if v.r.Context().Err() == nil {
			c.conf.Log.WarnContext(v.r.Context(), "count what waits", slog.String("error", err.Error()))
		}
		return -1
	}
	c.counts.put(v.me(), v.now, len(list))
	return len(list)
}

// counts is how many questions wait, by who they wait for. The zero value is
// empty.
type counts struct {
	mu sync.Mutex // guards of
	of map[contract.ActorID]tally
}

type tally struct {
	n  int
	at time.Time
}

const (
	countTime = 2 * time.Second
	countMost = 10_000
)

func (c *counts) get(who contract.ActorID, now time.Time) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.of[who]
	if age := now.Sub(k.at); !ok || age < 0 || age > countTime {
		return 0, false
	}
	return k.n, true
}

func (c *counts) put(who contract.ActorID, now time.Time, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= countMost {
		c.of = map[contract.ActorID]tally{}
	}
	c.of[who] = tally{n, now}
}

// forget has the next page look anew: whoever decides wants to see that it counts.
func (c *counts) forget(who contract.ActorID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, who)
}
