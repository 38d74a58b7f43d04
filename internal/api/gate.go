package api

import (
	"context"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

func acceptanceReevaluate(s *pipeline.Service) endpoint {
	type body struct {
		Reason string `json:"reason,omitempty"`
	}
	return act("acceptance.reevaluate", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.AcceptanceReevaluate(ctx, by, pipeline.ReevaluateArgs{ID: p.ID, Reason: b.Reason})
	}, showContract)
}

func gateList(s *pipeline.Service) endpoint {
	type parameters struct {
		contractFilter
		WaitingFor []contract.Role `query:"waitingFor" doc:"Pending gates that this role has not decided."`
		DueBefore  time.Time       `query:"dueBefore" doc:"Pending gates whose deadline is before."`
	}
	return list("gate.list", func(ctx context.Context, _ pipeline.Caller, p *parameters, page pipeline.Page) ([]*pipeline.Shown, error) {
		f := p.filter()
		f.WaitingFor, f.DueBefore = p.WaitingFor, p.DueBefore
		return s.GateList(ctx, f, page)
	}, viewContract, markContract)
}

func gateGet(s *pipeline.Service) endpoint {
	return read("gate.get", func(ctx context.Context, p *byID) (*pipeline.Shown, error) { return s.GateGet(ctx, p.ID) }, showContract)
}

// GateStatus is what a pipeline asks for before it releases.
type GateStatus struct {
	Standing       pipeline.Standing      `json:"standing" enum:"passed,waiting,rejected,expired,stale" doc:"Only passed lets anything go."`
	ID             contract.ID            `json:"id"`
	Version        int64                  `json:"version"`
	Correlation    string                 `json:"correlationId" doc:"Of the chain: the request that started it, else its intent."`
	FinalDecision  contract.FinalDecision `json:"finalDecision"`
	Action         contract.Action        `json:"action"`
	ApprovalDigest string                 `json:"approvalDigest"`
	DigestCurrent  bool                   `json:"digestCurrent" doc:"Computed now, it is still that of the gate."`
	Publishable    bool                   `json:"publishable"`
}

func gateStatus(s *pipeline.Service) endpoint {
	type parameters struct {
		Repository string `query:"repository" required:"true" empty:"true" doc:"As the service calls it; empty where it has no name."`
		HeadCommit string `query:"headCommit" doc:"This or diffHash."`
		DiffHash   string `query:"diffHash"`
	}
	e := read("gate.status", func(ctx context.Context, p *parameters) (*pipeline.GateStatus, error) {
		return s.GateStatus(ctx, pipeline.GateStatusArgs(*p))
	}, func(g *pipeline.GateStatus) (GateStatus, string) { return GateStatus(*g), "" })
	prepare := e.prepare
	e.prepare = func(q *request) (call, error) {
		query := q.http.URL.Query()
		if query.Has("headCommit") == query.Has("diffHash") {
			return nil, refuse(refusal.RequestMalformed, "either headCommit or diffHash is needed")
		}
		return prepare(q)
	}
	return e
}

// GateResult is what became of a gate.
type GateResult struct {
	FinalDecision contract.FinalDecision `json:"finalDecision"`
	State         contract.State         `json:"state"`
	Outstanding   []contract.Role        `json:"outstandingRoles"`
	Duplicate     bool                   `json:"duplicate"`
}

func gateDecide(s *pipeline.Service) endpoint {
	type body struct {
		Version  int64             `json:"version"`
		Decision contract.Decision `json:"decision" enum:"approved,rejected"`
		Digest   string            `json:"digest" doc:"The approvalDigest you saw."`
		Reason   *string           `json:"reason,omitempty"`
	}
	return actAs("gate.decide", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.GateResult, error) {
		return s.GateDecide(ctx, by, pipeline.GateArgs{ID: p.ID, Version: b.Version, Decision: b.Decision, Digest: b.Digest, Reason: b.Reason})
	}, func(r *pipeline.GateResult, _ bool) answer {
		return answer{status: repeated(r.Duplicate), body: GateResult{
			r.FinalDecision, r.State, append([]contract.Role{}, r.Outstanding...), r.Duplicate,
		}}
	}, typed[GateResult]())
}

func gateHold(s *pipeline.Service) endpoint {
	type body struct {
		Version int64  `json:"version"`
		Reason  string `json:"reason,omitempty"`
	}
	return act("gate.hold", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.GateHold(ctx, by, pipeline.HoldArgs{ID: p.ID, Version: b.Version, Reason: b.Reason})
	}, showContract)
}

func gateRelease(s *pipeline.Service) endpoint {
	type body struct {
		Version int64 `json:"version"`
	}
	return act("gate.release", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.GateRelease(ctx, by, pipeline.HoldArgs{ID: p.ID, Version: b.Version})
	}, showContract)
}
