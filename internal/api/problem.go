package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/refusal"
)

// errorBase is what the type of a problem document begins with; the code follows
// (docs/spec/contracts.md §20.1).
const errorBase = "https://agent-protocols/errors/"

// Problem is the answer to a request that was refused: RFC 9457 with the members
// of docs/spec/contracts.md §16. A body with several faults lists them all in
// Errors; the members beside it are those of the first.
type Problem struct {
	Type       string             `json:"type" format:"uri" doc:"The code as a URI."`
	Title      string             `json:"title" doc:"When the code arises; the same for every occurrence."`
	Status     int                `json:"status"`
	Detail     string             `json:"detail"`
	Instance   string             `json:"instance" doc:"This occurrence. Of a fault of the service it is all there is: the log has the rest."`
	Code       refusal.Code       `json:"code" doc:"Stable. Programs switch on it."`
	Message    string             `json:"message"`
	Path       *string            `json:"path,omitempty" doc:"JSON pointer into the body."`
	Keyword    string             `json:"keyword,omitempty" doc:"The keyword of the JSON Schema that failed."`
	Kind       string             `json:"kind,omitempty"`
	ID         string             `json:"id,omitempty"`
	Version    int64              `json:"version,omitempty"`
	Retryable  bool               `json:"retryable" doc:"The same request may succeed later."`
	EvidenceID string             `json:"evidenceId,omitempty" doc:"The Evidence of a result that came too late, which was kept (docs/spec/contracts.md §20.3)."`
	Errors     []*refusal.Refusal `json:"errors,omitempty"`
}

// refused is a refusal of the surface with what the answer says beside it.
type refused struct {
	*refusal.Refusal
	header http.Header
	errors refusal.List
}

func (r *refused) Unwrap() error { return r.Refusal }

func refuse(code refusal.Code, format string, args ...any) *refused {
	return &refused{Refusal: refusal.New(code, format, args...)}
}

// with adds a header to the answer.
func (r *refused) with(name, value string) *refused {
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(name, value)
	return r
}

// problem is err as the caller gets to see it. Everything that is no refusal is
// a fault of the service: internal says so, and its text stays here.
func problem(err error, instance string) (p *Problem, header http.Header, internal bool) {
	if p, ok := circleProblem(err, instance); ok {
		return p, nil, false
	}
	var first *refusal.Refusal
	var all refusal.List
	if r, ok := errors.AsType[*refused](err); ok {
		first, all, header = r.Refusal, r.errors, r.header
	} else if l, ok := errors.AsType[refusal.List](err); ok && len(l) > 0 {
		first, all = l[0], l
	} else if r, ok := errors.AsType[*refusal.Refusal](err); ok {
		first = r
	} else if fault.KindOf(err) == fault.Unavailable {
		first = refusal.New(refusal.StoreUnavailable, "the store does not answer")
		internal = true
	} else {
		first, internal = refusal.New(refusal.RequestInternal, "fault of the service"), true
	}
	entry := first.Code.Entry()
	status := entry.Status
	if status < 400 { // a code that is never an answer
		status = http.StatusConflict
	}
	p = &Problem{
		Type: errorBase + string(first.Code), Title: entry.When, Status: status, Detail: first.Message, Instance: instance,
		Code: first.Code, Message: first.Message, Keyword: first.Keyword, Kind: first.Kind, ID: first.ID, Version: first.Version,
		Retryable: entry.Retryable,
	}
	if first.Pointed {
		p.Path = &first.Path
	}
	if len(all) > 1 {
		p.Errors = all
	}
	return p, header, internal
}

// fail answers with a problem document and logs what is the service's own fault.
func (a *API) fail(w http.ResponseWriter, r *http.Request, q *request, err error) *Problem {
	p, header, internal := problem(err, "urn:uuid:"+q.id)
	if internal && r.Context().Err() == nil {
		a.conf.Log.LogAttrs(r.Context(), slog.LevelError, "request failed",
			slog.String("request_id", q.id), slog.String("operation", q.operation), slog.String("error", err.Error()))
	}
	if late, ok := errors.AsType[*pipeline.Late](err); ok {
		p.EvidenceID = string(late.Evidence)
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	if p.Retryable && w.Header().Get("Retry-After") == "" && p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	text, err := encode(p)
	if err != nil {
		text = []byte(`{}`)
	}
	write(w, p.Status, "application/problem+json", text)
	return p
}

// encode writes JSON as a person would: nothing is escaped that need not be.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// write sends one answer in one piece.
func write(w http.ResponseWriter, status int, media string, body []byte) {
	h := w.Header()
	if media != "" && len(body) > 0 {
		h.Set("Content-Type", media)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away has nothing more to hear
}

// seconds is d for Retry-After: whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int((d+time.Second-1)/time.Second)))
}

type requestKey struct{}

// RequestID is the id of the request that ctx belongs to, for logs.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
