package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"plimsoll.dev/internal/pipeline"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

// Envelope is a request to the circle as it is sent: the eight fields of
// docs/spec/circle.md §4. It is written by clients and described in the document;
// the service reads the bytes themselves, more strictly than any decoder into a
// type.
type Envelope struct {
	RequestID       string                  `json:"request_id" doc:"Your key: the same envelope again gets the same request."`
	Context         Context                 `json:"circle_context"`
	Target          envelope.Level          `json:"visibility_level_target" enum:"private,circle,clan,public"`
	Flags           []envelope.Flag         `json:"sensitivity_flags"`
	Consent         envelope.ConsentStatus  `json:"consent_status" enum:"not_required,missing,requested,granted,refused,revoked"`
	AllowedActions  []envelope.Action       `json:"allowed_actions" minItems:"1"`
	ExpectedOutputs []envelope.ArtifactType `json:"expected_output" doc:"A single name may stand for a list of one."`
	InputText       string                  `json:"input_text" maxLength:"65536"`
}

// Context is circle_context.
type Context struct {
	CircleID     string       `json:"circle_id"`
	MemberID     string       `json:"member_id" doc:"Whose token it is, unless a channel adapter asks."`
	Channel      Channelled   `json:"channel"`
	Locale       string       `json:"locale,omitempty" doc:"BCP 47."`
	Participants []string     `json:"participants"`
	References   []ReferredTo `json:"references"`
}

// Channelled is the way a request comes in.
type Channelled struct {
	Kind envelope.Origin `json:"kind" enum:"internal,external"`
	ID   string          `json:"id"`
}

// ReferredTo is something a request is about.
type ReferredTo struct {
	Kind   envelope.ReferenceKind `json:"kind" enum:"artifact,contract,diff,document,url"`
	ID     string                 `json:"id"`
	SHA256 string                 `json:"sha256,omitempty"`
}

func showPackage(p *clan.Package, _ bool) answer {
	status := http.StatusOK
	if p != nil && p.State == clan.Running {
		status = http.StatusAccepted
	}
	return answer{status: status, body: p, etag: quoted(p.Tag())}
}

func (a *API) requestAsk() endpoint {
	e := actAs("request.ask", anyMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *payload) (*clan.Package, error) {
		return a.conf.Circle.Ask(ctx, by, *b)
	}, showPackage, typed[clan.Package]())
	e.media, e.types.body = jsonMedia, typeOf[Envelope]()
	return e
}

func (a *API) requestGet() endpoint {
	return actAs("request.get", noMedia, func(ctx context.Context, by pipeline.Caller, p *byName, _ *none) (*clan.Package, error) {
		return a.conf.Circle.RequestGet(ctx, by, p.ID)
	}, func(p *clan.Package, _ bool) answer { return answer{body: p, etag: quoted(p.Tag())} }, typed[clan.Package]())
}

// sparse is a list by time of which some items are not for who asks: a page may be
// short and not be the last. do answers where the next one begins.
func sparse[P, I, V any](
	id string, do func(context.Context, pipeline.Caller, *P, pipeline.Page) ([]I, pipeline.Mark, error), view func(I) V,
) endpoint {
	return windowed(id, func(ctx context.Context, by pipeline.Caller, p *P, w window) (Page[V], error) {
		items, behind, err := do(ctx, by, p, w.cursor.page(w.limit))
		page := Page[V]{Items: make([]V, 0, len(items))}
		for _, item := range items {
			page.Items = append(page.Items, view(item))
		}
		if behind != (pipeline.Mark{}) {
			page.Next = w.cursor.behind(behind)
		}
		return page, err
	})
}

func (a *API) requestList() endpoint {
	type parameters struct {
		CircleID  []string            `query:"circle_id"`
		MemberID  []string            `query:"member_id"`
		ChannelID []string            `query:"channel_id"`
		State     []clan.RequestState `query:"state" doc:"running or ended."`
	}
	return sparse("request.list", func(ctx context.Context, by pipeline.Caller, p *parameters, page pipeline.Page) ([]*clan.Package, pipeline.Mark, error) {
		f := clan.Filter{Circles: p.CircleID, Members: p.MemberID, Channels: p.ChannelID, States: p.State}
		return a.conf.Circle.RequestList(ctx, by, f, page)
	}, func(p *clan.Package) *clan.Package { return p })
}

// requestEvents tells what happens to a request until it has its answer, which is
// the last event.
func (a *API) requestEvents() endpoint {
	e := endpoint{op: operationOf("request.events"), types: types{parameters: reflect.TypeFor[byName](), media: []string{streamMedia}}}
	e.prepare = func(q *request) (call, error) {
		p := new(byName)
		if err := decodeParameters(q.http, q.http.URL.Query(), p); err != nil {
			return nil, err
		}
		last := q.http.Header.Get("Last-Event-ID")
		return func(ctx context.Context, by pipeline.Caller) (answer, error) {
			// The first read finds a request that is not there, while there can still
			// be an answer that says so.
			list, pack, err := a.conf.Circle.RequestEvents(ctx, by, p.ID)
			if err != nil {
				return answer{}, circleError(err)
			}
			return served(func(w http.ResponseWriter, r *http.Request) {
				s := progress{a: a, w: w, r: r, by: by, id: p.ID, told: map[string]bool{}}
				s.after(last, list)
				s.run(list, pack)
			}), nil
		}, nil
	}
	return e
}

// progress is the stream of one request to one client.
type progress struct {
	a    *API
	w    http.ResponseWriter
	r    *http.Request
	by   pipeline.Caller
	id   string
	told map[string]bool // the keys of what this client knows
}

// after takes what came up to a key as told already: of a client that comes back.
func (s *progress) after(key string, list []clan.Progress) {
	at := slices.IndexFunc(list, func(p clan.Progress) bool { return p.Key == key })
	for _, p := range list[:at+1] {
		s.told[p.Key] = true
	}
}

// The time between two looks at a request that goes on: short at first, for a
// person waits.
const (
	soon = 100 * time.Millisecond
	late = time.Second
)

func (s *progress) run(list []clan.Progress, pack *clan.Package) {
	control := http.NewResponseController(s.w)
	_ = control.SetReadDeadline(time.Time{})
	h := s.w.Header()
	h.Set("Content-Type", streamMedia)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	if s.r.Method == http.MethodHead {
		return
	}
	said := time.Now()
	for wait := soon; ; wait = min(late, wait*3/2) {
		text, ended := s.news(list, pack)
		if len(text) == 0 && time.Since(said) > s.a.stream.comment {
			text = []byte(":\n\n")
		}
		if len(text) > 0 {
			said = time.Now()
			_ = control.SetWriteDeadline(said.Add(bodyGrace))
			if _, err := s.w.Write(text); err != nil || control.Flush() != nil {
				return
			}
		}
		if ended {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-s.r.Context().Done():
			timer.Stop()
			return
		case <-s.a.closing:
			timer.Stop()
			return
		case <-timer.C:
		}
		var err error
		if list, pack, err = s.a.conf.Circle.RequestEvents(s.r.Context(), s.by, s.id); err != nil {
			return // the client comes back and hears why
		}
	}
}

// news is what has not been told yet, with the package once there is an end.
func (s *progress) news(list []clan.Progress, pack *clan.Package) (text []byte, ended bool) {
	var b bytes.Buffer
	for _, p := range list {
		if s.told[p.Key] {
			continue
		}
		s.told[p.Key] = true
		s.write(&b, p.Key, p.What, p)
	}
	if pack.State != clan.Ended {
		return b.Bytes(), false
	}
	s.write(&b, "package", "package", pack)
	return b.Bytes(), true
}

func (s *progress) write(b *bytes.Buffer, id, kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return // what is shown was made by us
	}
	fmt.Fprintf(b, "id: %s\nevent: %s\ndata: %s\n\n", id, kind, oneLine(text))
}
