package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline"
)

// An open page hears of what happens over one stream of server-sent events. What
// it hears is only that something changed: it then asks for itself again, as the
// person it is open for, so the stream needs no rights of its own beyond being
// signed in.
//
// News is what the audit log grows by, because everything that anybody does
// leaves a record there, whichever node did it.

const (
	livePath   = "/live"
	liveEvent  = "changed"
	endedEvent = "ended" // the session counts no longer
	keepAlive  = 15 * time.Second
	writeGrace = 10 * time.Second
	// recheck is how often a stream asks whether its session still counts; it asks
	// at once when the log says that a token or an actor was changed.
	recheck = time.Minute
	// The most streams of one token and of all.
	ownStreams, allStreams = 40, 4000
)

// Topics. A page says which it wants: everything, or what is about one path or
// one request.
const topicAll = "all"

// topicMost is how long a topic may be: streams keep theirs.
const topicMost = 256

// topicOf is the topic of what carries a correlation id, or is about an id.
func topicOf(id string) string { return "of:" + id }

func topicQuery(topics []string) string {
	if len(topics) == 0 {
		return ""
	}
	return url.Values{"t": topics}.Encode()
}

// hub tells open pages what happens. It asks the log once for all of them, and
// not at all while there are none.
type hub struct {
	service *pipeline.Service
	log     *slog.Logger
	pulse   time.Duration

	mu      sync.Mutex // guards what follows
	open    map[*listener]struct{}
	tokens  map[string]int
	woken   chan struct{} // has room for one: somebody began to listen
	closing chan struct{}
	closed  bool
}

// listener is one open page.
type listener struct {
	topics []string
	token  string
	news   chan struct{} // has room for one: something changed since it was read
	fresh  bool          // it has not been told anything yet
	doubt  chan struct{} // has room for one: somebody's session may have ended
}

func newHub(s *pipeline.Service, log *slog.Logger, pulse time.Duration) *hub {
	return &hub{
		service: s, log: log, pulse: pulse, open: map[*listener]struct{}{}, tokens: map[string]int{},
		woken: make(chan struct{}, 1), closing: make(chan struct{}),
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
}

// listen adds an open page, unless there are too many.
func (h *hub) listen(l *listener) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= allStreams || h.tokens[l.token] >= ownStreams {
		return false
	}
	h.open[l] = struct{}{}
	h.tokens[l.token]++
	select {
	case h.woken <- struct{}{}:
	default:
	}
	return true
}

func (h *hub) leave(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, l)
	if h.tokens[l.token]--; h.tokens[l.token] <= 0 {
		delete(h.tokens, l.token)
	}
}

func (h *hub) listening() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open) > 0
}

// run looks for news until ctx ends.
func (h *hub) run(ctx context.Context) error {
	tick := time.NewTicker(h.pulse)
	defer tick.Stop()
	seen := int64(-1) // not known: what comes first is no news
	for {
		if !h.listening() {
			seen = -1
			select {
			case <-ctx.Done():
				return nil
			case <-h.woken:
			}
		}
		if next, err := h.look(ctx, seen); err == nil {
			seen = next
		} else if ctx.Err() == nil {
			h.log.WarnContext(ctx, "look for news", slog.String("error", err.Error()))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// newsBatch is how many records are read at once; what is more than that is news
// for everybody.
const newsBatch = 200

func (h *hub) look(ctx context.Context, seen int64) (int64, error) {
	head, err := h.service.AuditHead(ctx)
	if err != nil {
		return seen, err
	}
	// Whoever began to listen may have missed what came since their page: the first
	// they hear is that they can.
	h.welcome()
	if head.Count == seen {
		return seen, nil
	}
	if seen < 0 {
		h.suspect()
		return head.Count, nil
	}
	lines, err := h.service.AuditList(ctx, seen, pipeline.AuditFilter{}, newsBatch)
	if err != nil {
		return seen, err
	}
	topics := []string{topicAll}
	for _, l := range lines {
		seen = max(seen, l.Position)
		var about struct{ ID, CorrelationID, Action string }
		if json.Unmarshal(l.Text, &about) != nil {
			continue
		}
		if about.Action == "token.revoke" || about.Action == "actor.edit" {
			h.suspect()
		}
		for _, id := range []string{about.ID, about.CorrelationID} {
			if t := topicOf(id); id != "" && !slices.Contains(topics, t) {
				topics = append(topics, t)
			}
		}
	}
	if len(lines) == newsBatch {
		h.tell(nil, true)
		h.suspect()
		return head.Count, nil
	}
	h.tell(topics, false)
	return seen, nil
}

// suspect has every stream ask whether its session still counts.
func (h *hub) suspect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.open {
		select {
		case l.doubt <- struct{}{}:
		default:
		}
	}
}

// welcome wakes the pages that began to listen since the last look, once each.
func (h *hub) welcome() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.open {
		if l.fresh {
			l.fresh = false
			l.news <- struct{}{} // it is empty: nobody was told anything yet
			select {
			case l.doubt <- struct{}{}: // nor of a revocation
			default:
			}
		}
	}
}

// tell wakes the pages that wait for one of these topics.
func (h *hub) tell(topics []string, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.open {
		if l.fresh {
			continue // the first they hear covers it
		}
		if all || slices.ContainsFunc(l.topics, func(t string) bool { return slices.Contains(topics, t) }) {
			select {
			case l.news <- struct{}{}:
			default:
			}
		}
	}
}

// live is the stream of one page.
func (c *Console) live(w http.ResponseWriter, r *http.Request) {
	v := c.visit(w, r)
	err := c.identify(v)
	if _, out := errors.AsType[*moved](err); err != nil && !out {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if err != nil { // the page is told, and does not come back
		c.stream(w)("retry: 60000\nevent: " + endedEvent + "\ndata: 0\n\n")
		return
	}
	topics := r.URL.Query()["t"]
	long := slices.ContainsFunc(topics, func(t string) bool { return len(t) > topicMost })
	if len(topics) == 0 || len(topics) > 8 || long || r.Method == http.MethodHead {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	l := &listener{topics: topics, token: v.who.Token.ID, news: make(chan struct{}, 1), fresh: true, doubt: make(chan struct{}, 1)}
	if !c.hub.listen(l) {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer c.hub.leave(l)
	send := c.stream(w)
	if !send("retry: 1000\n: plimsoll\n\n") {
		return
	}
	silent, check := time.NewTicker(keepAlive), time.NewTicker(recheck)
	defer silent.Stop()
	defer check.Stop()
	over := time.NewTimer(time.Until(v.who.Token.ExpiresAt))
	defer over.Stop()
	// still says whether the session counts; a store that is away ends none.
	still := func() bool {
		err := c.identify(v)
		if _, out := errors.AsType[*moved](err); !out {
			return true
		}
		send("event: " + endedEvent + "\ndata: 0\n\n")
		return false
	}
	for n := 1; ; {
		select {
		case <-r.Context().Done():
			return
		case <-c.hub.closing:
			return
		case <-silent.C:
			if !send(":\n\n") {
				return
			}
		case <-check.C:
			if !still() {
				return
			}
		case <-over.C:
			if !still() {
				return
			}
			over.Reset(time.Second) // the clock that counts is behind ours
		case <-l.doubt:
			if !still() {
				return
			}
		case <-l.news:
			if !send(fmt.Sprintf("id: %d\nevent: %s\ndata: %d\n\n", n, liveEvent, n)) {
				return
			}
			n++
		}
	}
}

// stream begins a stream of events, and answers what sends one.
func (c *Console) stream(w http.ResponseWriter) func(text string) bool {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeGrace))
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return control.Flush() == nil
	}
}
