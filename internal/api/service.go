package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Me is who the token in use belongs to.
type Me struct {
	Actor Actor `json:"actor"`
	Token Token `json:"token"`
}

func meGet(*pipeline.Service) endpoint {
	e := endpoint{op: operationOf("me.get"), types: types{parameters: typeOf[none](), answer: typeOf[Me]()}}
	e.prepare = func(q *request) (call, error) {
		if err := decodeParameters(q.http, q.http.URL.Query(), new(none)); err != nil {
			return nil, err
		}
		return func(context.Context, pipeline.Caller) (answer, error) {
			return answer{body: Me{viewActor(q.actor), viewToken(q.token)}}, nil
		}, nil
	}
	return e
}

// Settings is the effective configuration of the contracts, without secrets.
type Settings struct {
	Profile            string   `json:"profile" enum:"default,strict"`
	DistinctActors     bool     `json:"distinctActors"`
	ForbidSelfApproval bool     `json:"forbidSelfApproval"`
	Solo               bool     `json:"solo" doc:"Four eyes are off: one person works alone."`
	Deadlines          Deadline `json:"deadlines"`
	MaxReturns         int      `json:"maxReturns"`
	AutomaticTests     bool     `json:"allTestsAutomatic"`
	Retention          Keep     `json:"retention"`
}

// Deadline is how long people have to decide, in seconds.
type Deadline struct {
	High     int64 `json:"highSeconds"`
	Critical int64 `json:"criticalSeconds"`
}

// Keep is how long the audit log is kept beyond the calendar year that is the
// least, and how far the event stream goes back; 0 is for ever.
type Keep struct {
	AuditExtra int64 `json:"auditExtraSeconds"`
	Events     int64 `json:"eventSeconds"`
}

func configGet(s *pipeline.Service) endpoint {
	return read("config.get", func(context.Context, *none) (pipeline.Settings, error) { return s.Settings(), nil },
		func(c pipeline.Settings) (Settings, string) {
			return Settings{
				Profile: string(c.Profile), DistinctActors: c.Options.DistinctActors, ForbidSelfApproval: c.Options.ForbidSelfApproval,
				Solo: c.Solo, Deadlines: Deadline{int64(c.Deadlines.High.Seconds()), int64(c.Deadlines.Critical.Seconds())},
				MaxReturns: c.MaxReturns, AutomaticTests: c.AutomaticTests, Retention: Keep{int64(c.AuditRetention.Seconds()), int64(c.EventRetention.Seconds())},
			}, ""
		})
}

// fixed is an endpoint that reads nothing of the request.
func fixed(id string, t types, do func(ctx context.Context) (answer, error)) endpoint {
	t.parameters = typeOf[none]()
	return endpoint{op: operationOf(id), types: t, prepare: func(*request) (call, error) {
		return func(ctx context.Context, _ pipeline.Caller) (answer, error) { return do(ctx) }, nil
	}}
}

func (a *API) openapiGet() endpoint {
	return fixed("openapi.get", types{media: []string{jsonMedia}}, func(context.Context) (answer, error) {
		return answer{media: jsonMedia, raw: a.openapi}, nil
	})
}

// Health is whether the process lives, and what keeps it from serving.
type Health struct {
	Status string `json:"status" enum:"ok,unavailable"`
	Detail string `json:"detail,omitempty"`
}

func (a *API) healthGet() endpoint {
	return fixed("health.get", typed[Health](), func(context.Context) (answer, error) { return answer{body: Health{Status: "ok"}}, nil })
}

// readyGet answers 503 while the store is away or the service stops. What it
// says is for everybody, so it names the part and no more.
func (a *API) readyGet() endpoint {
	return fixed("ready.get", typed[Health](), func(ctx context.Context) (answer, error) {
		select {
		case <-a.closing:
			return answer{status: http.StatusServiceUnavailable, body: Health{"unavailable", "stopping"}}, nil
		default:
		}
		if a.conf.Ready != nil {
			if err := a.conf.Ready(ctx); err != nil {
				return answer{status: http.StatusServiceUnavailable, body: Health{"unavailable", err.Error()}}, nil
			}
		}
		return answer{body: Health{Status: "ok"}}, nil
	})
}

func (a *API) metricsGet() endpoint {
	return fixed("metrics.get", types{media: []string{"text/plain"}}, func(context.Context) (answer, error) {
		return served(func(w http.ResponseWriter, r *http.Request) {
			if a.conf.Metrics != nil {
				a.conf.Metrics.ServeHTTP(w, r)
			}
		}), nil
	})
}

// contractTime is an instant in a body, in the form of the contracts.
type contractTime time.Time

func (t *contractTime) decode(v any, path string) refusal.List {
	text, ok := v.(string)
	stamp, read := contract.ParseTimestamp(text)
	if !ok || !read {
		return refusal.List{refusal.At(refusal.RequestMalformed, path, "a time like 2026-03-29T10:00:00Z is expected, not %s", name(v))}
	}
	*t = contractTime(stamp.Time())
	return nil
}

// Schema is what the document says of it.
func (contractTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}
