package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/refusal"
)

// AuditRecord is a record of the log with its place and its link.
type AuditRecord struct {
	Position int64           `json:"position"`
	Link     string          `json:"link" doc:"The hash that chains it to all before it, in hex."`
	Record   json.RawMessage `json:"record" doc:"As it was hashed."`
}

type auditFilter struct {
	ContractID    []contract.ID            `query:"contractId"`
	TaskSeedID    []contract.ID            `query:"taskSeedId"`
	ActorID       []contract.ActorID       `query:"actorId"`
	Role          []contract.Role          `query:"role"`
	Action        []string                 `query:"action"`
	RiskLevel     []contract.Level         `query:"riskLevel"`
	FinalDecision []contract.FinalDecision `query:"finalDecision"`
	CorrelationID []string                 `query:"correlationId"`
	Date          day                      `query:"date" doc:"A UTC day, as 2026-03-29."`
	After         int64                    `query:"after" doc:"The position to go on behind."`
}

// day is a UTC day as a parameter.
type day time.Time

func (d *day) parameter(text string) (wrong string) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return "is no day like 2026-03-29"
	}
	*d = day(at)
	return ""
}

// Schema is what the document says of it.
func (day) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date"}
}

func auditList(s *pipeline.Service) endpoint {
	return positioned("audit.list", func(ctx context.Context, _ pipeline.Caller, p *auditFilter, after int64, limit int) ([]pipeline.AuditLine, error) {
		f := pipeline.AuditFilter{
			Contracts: p.ContractID, TaskSeeds: p.TaskSeedID, Actors: p.ActorID, Roles: p.Role, Actions: p.Action,
			Levels: p.RiskLevel, FinalDecisions: p.FinalDecision, Correlations: p.CorrelationID,
		}
		if day := time.Time(p.Date); !day.IsZero() {
			f.Since, f.Before = day, day.AddDate(0, 0, 1)
		}
		return s.AuditList(ctx, max(after, p.After), f, limit)
	}, func(l pipeline.AuditLine) AuditRecord { return AuditRecord{l.Position, l.Link.String(), raw(l.Text)} },
		func(l pipeline.AuditLine) int64 { return l.Position })
}

// auditExport streams the records behind a position, sealed by checkpoints:
// what a copy is checked with, offline.
func (a *API) auditExport(s *pipeline.Service) endpoint {
	type parameters struct {
		After int64 `query:"after"`
	}
	return actAs("audit.export", noMedia, func(ctx context.Context, _ pipeline.Caller, p *parameters, _ *none) (answer, error) {
		from, seal, err := s.AuditSeal(ctx)
		if err != nil {
			return answer{}, err
		}
		if p.After > 0 && p.After != from.Count {
			last, err := s.AuditList(ctx, p.After-1, pipeline.AuditFilter{}, 1)
			if err != nil {
				return answer{}, err
			}
			if len(last) == 0 || last[0].Position != p.After {
				return answer{}, refuse(refusal.EventSequenceGone, "there is no record %d", p.After)
			}
			from, seal = event.Head{Count: p.After, Link: last[0].Link}, nil
		}
		return served(func(w http.ResponseWriter, r *http.Request) { a.export(w, r, from, seal) }), nil
	}, func(ans answer, _ bool) answer { return ans }, types{media: []string{linesMedia}})
}

func (a *API) export(w http.ResponseWriter, r *http.Request, from event.Head, seal []byte) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", linesMedia)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if err := a.writeExport(w, r, from, seal, control); err != nil && r.Context().Err() == nil {
		// The status is sent. A copy that breaks off has no closing checkpoint, and
		// whoever checks it is told.
		a.conf.Log.ErrorContext(r.Context(), "audit export", slog.String("error", err.Error()))
	}
}

func (a *API) writeExport(w http.ResponseWriter, r *http.Request, from event.Head, seal []byte, control *http.ResponseController) error {
	out, err := auditlog.NewWriter(w, a.conf.Signer, auditlog.Options{From: from, At: a.conf.Now(), Seal: seal})
	if err != nil {
		return err
	}
	for {
		_ = control.SetWriteDeadline(time.Now().Add(bodyGrace))
		lines, err := a.conf.Service.AuditList(r.Context(), out.Head().Count, pipeline.AuditFilter{}, batch)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := out.Add(l.Chained); err != nil {
				return err
			}
		}
		if len(lines) < batch {
			return out.Close(a.conf.Now())
		}
	}
}

// auditCheckpoint is the signed note of how far the log has come.
func (a *API) auditCheckpoint(s *pipeline.Service) endpoint {
	return actAs("audit.checkpoint", noMedia, func(ctx context.Context, _ pipeline.Caller, _ *none, _ *none) ([]byte, error) {
		head, err := s.AuditHead(ctx)
		if err != nil {
			return nil, err
		}
		return a.conf.Signer.Sign(head, a.conf.Now(), auditlog.Stands)
	}, func(note []byte, _ bool) answer {
		return answer{media: "text/plain; charset=utf-8", raw: note}
	}, types{media: []string{"text/plain"}})
}
