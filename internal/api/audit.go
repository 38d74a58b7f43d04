package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/checkpoint"
	"plimsoll.dev/internal/pipeline/contract"
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
	Date          string                   `query:"date" doc:"A UTC day, as 2026-03-29."`
	After         int64                    `query:"after" doc:"The position to go on behind."`
}

func auditList(s *pipeline.Service) endpoint {
	e := positioned("audit.list", func(ctx context.Context, _ pipeline.Caller, p *auditFilter, after int64, limit int) ([]pipeline.AuditLine, error) {
		f := pipeline.AuditFilter{
			Contracts: p.ContractID, TaskSeeds: p.TaskSeedID, Actors: p.ActorID, Roles: p.Role, Actions: p.Action,
			Levels: p.RiskLevel, FinalDecisions: p.FinalDecision,
		}
		if p.Date != "" {
			day, err := time.Parse(time.DateOnly, p.Date)
			if err != nil {
				return nil, refuse(refusal.RequestMalformed, "date is no day like 2026-03-29")
			}
			f.Since, f.Before = day, day.AddDate(0, 0, 1)
		}
		return s.AuditList(ctx, max(after, p.After), f, limit)
	}, func(l pipeline.AuditLine) AuditRecord { return AuditRecord{l.Position, l.Link.String(), raw(l.Text)} },
		func(l pipeline.AuditLine) int64 { return l.Position })
	return e
}

// auditExport streams the records from a position on, each on one line in the
// form in which it is hashed: what a copy is checked with, offline.
func (a *API) auditExport(s *pipeline.Service) endpoint {
	type parameters struct {
		After int64 `query:"after"`
	}
	return actAs("audit.export", noMedia, func(ctx context.Context, _ pipeline.Caller, p *parameters, _ *none) (answer, error) {
		first, err := s.AuditList(ctx, p.After, pipeline.AuditFilter{}, batch)
		if err != nil {
			return answer{}, err
		}
		return served(func(w http.ResponseWriter, r *http.Request) { a.export(w, r, first) }), nil
	}, func(ans answer, _ bool) answer { return ans }, types{media: []string{linesMedia}})
}

func (a *API) export(w http.ResponseWriter, r *http.Request, lines []pipeline.AuditLine) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", linesMedia)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	for len(lines) > 0 {
		_ = control.SetWriteDeadline(time.Now().Add(bodyGrace))
		var after int64
		for _, l := range lines {
			if _, err := w.Write(append(l.Text[:len(l.Text):len(l.Text)], '\n')); err != nil {
				return
			}
			after = l.Position
		}
		var err error
		if lines, err = a.conf.Service.AuditList(r.Context(), after, pipeline.AuditFilter{}, batch); err != nil {
			// The status is sent; a copy that breaks off is found by its checkpoint.
			panic(http.ErrAbortHandler)
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
		return a.conf.Signer.Sign(checkpoint.Checkpoint{Origin: a.conf.Origin, Head: head}), nil
	}, func(note []byte, _ bool) answer {
		return answer{media: "text/plain; charset=utf-8", raw: note}
	}, types{media: []string{"text/plain"}})
}
