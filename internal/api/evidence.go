package api

import (
	"context"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/ingest"
	"plimsoll.dev/internal/pipeline/refusal"
)

func evidenceList(s *pipeline.Service) endpoint {
	type parameters struct {
		contractFilter
		ExecutionID    []string                  `query:"executionId"`
		Actor          []contract.ActorID        `query:"actor"`
		PolicyVerdict  []contract.PolicyVerdict  `query:"policyVerdict"`
		Classification []contract.Classification `query:"classification"`
	}
	return list("evidence.list", func(ctx context.Context, _ pipeline.Caller, p *parameters, page pipeline.Page) ([]*pipeline.Shown, error) {
		f := p.filter()
		f.ExecutionIDs, f.Actors, f.Verdicts, f.Classifications = p.ExecutionID, p.Actor, p.PolicyVerdict, p.Classification
		return s.EvidenceList(ctx, f, page)
	}, viewContract, markContract)
}

// Ingestion is the report of a text that was taken in line by line.
type Ingestion struct {
	Lines   []IngestedLine `json:"lines"`
	Read    int            `json:"read" doc:"Bytes that are dealt with; an unfinished last line begins there."`
	Summary IngestSummary  `json:"summary"`
}

// IngestedLine is what became of one line.
type IngestedLine struct {
	Line       int              `json:"line"`
	Status     ingest.Status    `json:"status" enum:"accepted,duplicate,refused,deferred,skipped"`
	ID         contract.ID      `json:"id,omitempty"`
	Error      *refusal.Refusal `json:"error,omitempty"`
	Warnings   []refusal.Code   `json:"warnings,omitempty"`
	Normalised []string         `json:"normalised,omitempty" doc:"Pointers of members that were rewritten."`
}

// IngestSummary counts the report.
type IngestSummary struct {
	Accepted int                      `json:"accepted"`
	Refused  int                      `json:"refused"`
	Actors   []contract.ActorID       `json:"actors"`
	Verdicts []contract.PolicyVerdict `json:"verdicts"`
}

func evidenceIngest(s *pipeline.Service) endpoint {
	return actAs("evidence.ingest", linesMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *payload) (*pipeline.IngestResult, error) {
		return s.EvidenceIngest(ctx, by, *b)
	}, func(r *pipeline.IngestResult, _ bool) answer {
		view := Ingestion{Lines: []IngestedLine{}, Read: r.Report.Read, Summary: IngestSummary{
			Accepted: r.Summary.Accepted, Refused: r.Summary.Refused,
			Actors: append([]contract.ActorID{}, r.Summary.Actors...), Verdicts: append([]contract.PolicyVerdict{}, r.Summary.Verdicts...),
		}}
		for _, l := range r.Report.Lines {
			view.Lines = append(view.Lines, IngestedLine{l.Line, l.Status, l.ID, l.Fault, l.Warnings, l.Normalised})
		}
		return answer{body: view}
	}, typed[Ingestion]())
}
