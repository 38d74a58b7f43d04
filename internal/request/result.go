package request

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/request/artifact"
)

// What became of a request: the contracts that were made for it, as they stand,
// and how each of them ended (docs/spec/circle.md §9). How they stand is read from
// the contracts whenever somebody looks; only an end is written down, once.

// ContractShown is a contract that a decision of the request became, as it stands.
type ContractShown struct {
	ContractID  contract.ID    `json:"contract_id"`
	ArtifactID  string         `json:"artifact_id"`
	Version     int64          `json:"version"`
	State       contract.State `json:"state"`
	FreezeCause contract.Cause `json:"freeze_cause,omitempty"`
	Phase       pipeline.Phase `json:"phase,omitempty"`
	TaskID      contract.ID    `json:"task_id,omitempty"`
	Gate        *GateShown     `json:"gate,omitempty"`
	HeadCommit  string         `json:"head_commit,omitempty"`
	ReleaseNote *NoteShown     `json:"release_note,omitempty"`
	PublishedAt *time.Time     `json:"published_at,omitempty"`
	Results     []ResultShown  `json:"results"` // how versions of it ended, oldest first
}

// GateShown is the gate of a contract.
type GateShown struct {
	GateID         contract.ID            `json:"gate_id"`
	Version        int64                  `json:"version"`
	RiskLevel      contract.Level         `json:"risk_level"`
	FinalDecision  contract.FinalDecision `json:"final_decision"`
	ApprovalDigest string                 `json:"approval_digest"`
}

// NoteShown says where the release note of a contract is, and what its bytes are.
type NoteShown struct {
	ExecutionID string `json:"execution_id"`
	Kind        string `json:"kind"`
	SHA256      string `json:"sha256"`
}

// ResultShown is an end that was written back.
type ResultShown struct {
	Version       int64                  `json:"version"`
	State         contract.State         `json:"state"`
	FinalDecision contract.FinalDecision `json:"final_decision,omitempty"`
	HeadCommit    string                 `json:"head_commit,omitempty"`
	ReleaseNote   *NoteShown             `json:"release_note,omitempty"`
	At            time.Time              `json:"at"`
}

// noteShown is nil where there is no note.
func noteShown(run, sha256 string) *NoteShown {
	if run == "" {
		return nil
	}
	return &NoteShown{ExecutionID: run, Kind: string(phase.ReleaseNote), SHA256: sha256}
}

// runResult writes the end of a contract back to the request it was made for. A
// path that no request started has nobody to tell.
func (s *Service) runResult(ctx context.Context, a pipeline.Attempt) error {
	args, err := arguments[pipeline.ResultArgs](a)
	if err != nil {
		return err
	}
	pipeline.Traced(ctx, args.Request)
	return s.own(ctx, "request.result", func(x *session) error {
		kept, err := x.Request(args.Request)
		if err != nil {
			return ignoreMissing(err)
		}
		known, err := x.Results(kept.ID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(known, func(r Result) bool {
			return r.Contract == args.Chain && r.Version == args.Version && r.State == args.State
		}) {
			return nil
		}
		o, err := pipeline.OutcomeOf(x.Contracts(), pipeline.Ref{ID: args.Chain, Version: args.Version})
		if err != nil {
			return err
		}
		r := Result{
			Request: kept.ID, Contract: args.Chain, Version: args.Version, State: args.State, FinalDecision: o.FinalDecision(),
			HeadCommit: o.HeadCommit, At: x.Now(),
		}
		if o.Note != nil {
			r.NoteRun, r.NoteSHA256 = o.Note.ExecutionID, o.Note.SHA256
		}
		if err := x.AddResult(r); err != nil {
			return err
		}
		kept.UpdatedAt = x.Now() // who lists requests sees it first
		if err := x.UpdateRequest(kept); err != nil {
			return err
		}
		x.quiet = false
		x.about(ofRequest, kept.ID, kept.ID)
		x.rec.IntentID, x.rec.To, x.rec.Cause = string(args.Chain), string(args.State), fmt.Sprintf("%s version %d", args.Chain, args.Version)
		x.rec.FinalDecision, x.rec.HeadCommit, x.rec.TaskSeedID = string(r.FinalDecision), r.HeadCommit, string(o.Task.ID)
		if o.Gate != nil {
			x.rec.Digest = o.Gate.ApprovalDigest
		}
		return nil
	})
}

// came is the contracts that the decisions among the artifacts became, as far as
// the reader may see the decision.
func (p *Package) came(r reader, contracts pipeline.Reader, f *flow, seen func(*artifact.Artifact) bool) error {
	var results []Result
	for _, a := range f.artifacts {
		if a.ContractID == "" || !seen(a) {
			continue
		}
		o, err := pipeline.OutcomeOf(contracts, pipeline.Ref{ID: contract.ID(a.ContractID)})
		if err != nil {
			return err
		}
		if results == nil {
			if results, err = r.Results(f.r.ID); err != nil {
				return err
			}
		}
		p.Contracts = append(p.Contracts, contractShown(a.ID, o, results))
	}
	return nil
}

func contractShown(of string, o *pipeline.Outcome, results []Result) ContractShown {
	c := ContractShown{
		ContractID: o.ID, ArtifactID: of, Version: o.Version, State: o.State, FreezeCause: o.FreezeCause, Phase: o.Phase, TaskID: o.Task.ID,
		HeadCommit: o.HeadCommit, Results: []ResultShown{},
	}
	if o.Gate != nil {
		g, _ := o.Gate.Document.(*contract.PublishGate)
		c.Gate = &GateShown{
			GateID: g.ID, Version: g.Version, RiskLevel: g.RiskLevel, FinalDecision: g.FinalDecision, ApprovalDigest: o.Gate.ApprovalDigest,
		}
	}
	if o.Note != nil {
		c.ReleaseNote = noteShown(o.Note.ExecutionID, o.Note.SHA256)
	}
	if o.State == contract.Published {
		c.PublishedAt = instant(o.UpdatedAt)
	}
	for _, r := range results {
		if r.Contract != o.ID {
			continue
		}
		c.Results = append(c.Results, ResultShown{
			Version: r.Version, State: r.State, FinalDecision: r.FinalDecision, HeadCommit: r.HeadCommit,
			ReleaseNote: noteShown(r.NoteRun, r.NoteSHA256), At: r.At,
		})
		if c.PublishedAt == nil && r.State == contract.Published && r.Version == o.Version {
			c.PublishedAt = instant(r.At) // it was, and has ended since
		}
	}
	return c
}

// since is what has happened to the contracts of a package, oldest first: the
// phases they went through and how they ended.
func (p *Package) since(r pipeline.Reader) ([]Progress, error) {
	list := []Progress{}
	if len(p.Contracts) == 0 {
		return list, nil
	}
	lines, err := r.Audit(0, pipeline.AuditFilter{Correlations: []string{p.RequestID}, Actions: []string{"phase.step"}}, 0)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		var rec struct {
			Timestamp string
			IntentID  contract.ID
			From, To  string
			Success   bool
		}
		if err := json.Unmarshal(l.Text, &rec); err != nil {
			return nil, fault.E("request.since", fault.Internal, "an audit record does not read", err)
		}
		at, ok := contract.ParseTimestamp(rec.Timestamp)
		if !ok || !rec.Success || !slices.ContainsFunc(p.Contracts, func(c ContractShown) bool { return c.ContractID == rec.IntentID }) {
			continue
		}
		list = append(list, Progress{
			Key: "phase:" + strconv.FormatInt(l.Position, 10), What: "phase", Contract: string(rec.IntentID), From: rec.From, To: rec.To, At: at.Time(),
		})
	}
	for _, c := range p.Contracts {
		for _, r := range c.Results {
			list = append(list, Progress{
				Key: fmt.Sprintf("result:%s:%d:%s", c.ContractID, r.Version, r.State), What: "result", Contract: string(c.ContractID),
				To: string(r.State), At: r.At,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b Progress) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.What, b.What)) })
	return list, nil
}
