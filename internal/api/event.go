package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
)

const streamMedia = "text/event-stream"

// Event is an event with its place in the stream.
type Event struct {
	Position int64           `json:"position" doc:"Over all chains, without gaps, in the order of the commits."`
	Sequence int64           `json:"sequence" doc:"Within the chain."`
	Event    json.RawMessage `json:"event" doc:"The CloudEvent."`
}

type eventFilter struct {
	Type          []event.Type  `query:"type"`
	Subject       []contract.ID `query:"subject"`
	CorrelationID []string      `query:"correlationid"`
	PartitionKey  []contract.ID `query:"partitionkey" doc:"The chain, by its intent."`
	After         int64         `query:"after" doc:"The position to go on behind."`
}

func (f *eventFilter) filter() pipeline.EventFilter {
	return pipeline.EventFilter{Types: f.Type, Subjects: f.Subject, Chains: f.PartitionKey, Correlations: f.CorrelationID}
}

// eventList answers a page, or a stream when the caller accepts one.
func (a *API) eventList(s *pipeline.Service) endpoint {
	paged := positioned("event.list", func(ctx context.Context, _ pipeline.Caller, p *eventFilter, after int64, limit int) ([]pipeline.Event, error) {
		return s.EventList(ctx, max(after, p.After), p.filter(), limit)
	}, viewEvent, func(e pipeline.Event) int64 { return e.Position })
	page := paged.prepare
	paged.types.media = []string{jsonMedia, streamMedia}
	paged.prepare = func(q *request) (call, error) {
		if !slices.Contains(accepted(q.http.Header.Get("Accept")), streamMedia) {
			return page(q)
		}
		p := new(eventFilter)
		if err := decodeParameters(q.http, q.http.URL.Query(), p); err != nil {
			return nil, err
		}
		// A client that comes back knows better than its first request.
		if last := q.http.Header.Get("Last-Event-ID"); last != "" {
			n, err := strconv.ParseInt(last, 10, 64)
			if err != nil || n < 0 {
				return nil, refuse(refusal.RequestMalformed, "Last-Event-ID is no position")
			}
			p.After = n
		}
		return func(ctx context.Context, _ pipeline.Caller) (answer, error) {
			// The first read finds a position that is gone, while there can still be
			// an answer that says so.
			first, err := s.EventList(ctx, p.After, p.filter(), batch)
			if err != nil {
				return answer{}, err
			}
			return served(func(w http.ResponseWriter, r *http.Request) { a.send(w, r, p, first) }), nil
		}, nil
	}
	return paged
}

func viewEvent(e pipeline.Event) Event {
	text, err := e.MarshalJSON()
	if err != nil {
		text = nil // what is stored was written by us
	}
	return Event{Position: e.Position, Sequence: e.Sequence, Event: text}
}

// batch is how many events are read at once.
const batch = 256

// send writes the stream until the client leaves or the service stops.
func (a *API) send(w http.ResponseWriter, r *http.Request, p *eventFilter, events []pipeline.Event) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", streamMedia)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	// flush gives a client that reads nothing a bounded time.
	flush := func(text []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(bodyGrace))
		if _, err := w.Write(text); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	if !flush([]byte(": plimsoll\n\n")) {
		return
	}
	after := p.After
	silent := time.NewTicker(a.stream.comment)
	defer silent.Stop()
	for {
		woken := a.stream.wait(after)
		for len(events) > 0 {
			var text bytes.Buffer
			for _, e := range events {
				writeEvent(&text, e)
				after = e.Position
			}
			if !flush(text.Bytes()) {
				return
			}
			if len(events) < batch {
				break
			}
			var err error
			if events, err = a.conf.Service.EventList(ctx, after, p.filter(), batch); err != nil {
				return // the client comes back and hears why
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-a.closing:
			return
		case <-silent.C:
			if !flush([]byte(":\n\n")) {
				return
			}
			events = nil
			continue
		case seen := <-woken:
			var err error
			if events, err = a.conf.Service.EventList(ctx, after, p.filter(), batch); err != nil {
				return
			}
			if len(events) == 0 {
				after = max(after, seen) // nothing for this filter up to there
			}
		}
	}
}

func writeEvent(w io.Writer, e pipeline.Event) {
	text, err := e.MarshalJSON()
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", e.Position, e.Type, oneLine(text))
}

// oneLine takes the line ends out of JSON: between tokens they say nothing, and
// within a string they are escaped.
func oneLine(text []byte) []byte {
	if !bytes.ContainsAny(text, "\r\n") {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, text)
}

// stream tells all open streams when there is something new, so that the store
// is asked once for all of them, and not at all when there are none.
type stream struct {
	pulse, comment time.Duration

	mu      sync.Mutex // guards last and waiting
	last    int64
	waiting []waiter
}

type waiter struct {
	after int64
	woken chan int64
}

func newStream(conf Config) *stream {
	s := &stream{pulse: conf.Pulse, comment: conf.Comment}
	if s.pulse == 0 {
		s.pulse = 100 * time.Millisecond
	}
	if s.comment == 0 {
		s.comment = 15 * time.Second
	}
	return s
}

// wait is a channel on which the last position comes once it is behind after.
func (s *stream) wait(after int64) <-chan int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	woken := make(chan int64, 1)
	if s.last > after {
		woken <- s.last
		return woken
	}
	s.waiting = append(s.waiting, waiter{after, woken})
	return woken
}

func (s *stream) run(ctx context.Context, store pipeline.Store) error {
	tick := time.NewTicker(s.pulse)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		s.mu.Lock()
		idle := len(s.waiting) == 0
		s.mu.Unlock()
		if idle {
			continue
		}
		var last int64
		if err := store.View(ctx, func(r pipeline.Reader) (err error) {
			_, last, err = r.EventRange()
			return err
		}); err != nil {
			continue // the next pulse asks again; the streams stay silent meanwhile
		}
		s.announce(last)
	}
}

func (s *stream) announce(last int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, last)
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool {
		if s.last <= w.after {
			return false
		}
		w.woken <- s.last
		return true
	})
}

// accepted is the media types of an Accept header, without their parameters.
// What is refused with q=0 is not among them.
func accepted(header string) []string {
	list := []string{}
	for item := range strings.SplitSeq(header, ",") {
		media, params, _ := strings.Cut(item, ";")
		if weight := strings.ReplaceAll(params, " ", ""); strings.Contains(weight, "q=0") && !strings.Contains(weight, "q=0.") {
			continue
		}
		list = append(list, strings.ToLower(strings.TrimSpace(media)))
	}
	return list
}
