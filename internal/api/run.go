package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/risk"
)

func taskList(s *pipeline.Service) endpoint {
	type parameters struct {
		contractFilter
		Phase     []phase.Phase   `query:"phase" doc:"Of the chain."`
		Role      []contract.Role `query:"role" doc:"The ownerRole."`
		Claimable bool            `query:"claimable" doc:"Active, and nobody is at it."`
	}
	return list("task.list", func(ctx context.Context, _ pipeline.Caller, p *parameters, page pipeline.Page) ([]*pipeline.Shown, error) {
		f := p.filter()
		f.Phases, f.OwnerRoles, f.Claimable = phases(p.Phase), p.Role, p.Claimable
		return s.TaskList(ctx, f, page)
	}, viewContract, markContract)
}

// Run is one attempt of an executor.
type Run struct {
	ExecutionID string           `json:"executionId"`
	IntentID    contract.ID      `json:"intentId"`
	Correlation string           `json:"correlationId" doc:"Of the chain: the request that started it, else its intent."`
	TaskSeed    Reference        `json:"taskSeed"`
	Phase       pipeline.Phase   `json:"phase"`
	Role        contract.Role    `json:"role"`
	ActorID     contract.ActorID `json:"actorId"`
	Series      int64            `json:"series" doc:"Of the chain, from 1."`
	Attempt     int64            `json:"attempt" doc:"Of the series, from 1."`
	BaseCommit  string           `json:"baseCommit"`
	HeadCommit  string           `json:"headCommit,omitempty"`
	DiffHash    string           `json:"diffHash,omitempty"`
	StartedAt   string           `json:"startedAt" format:"date-time"`
	RunDeadline string           `json:"runDeadline,omitempty" format:"date-time" doc:"Absent where the phase sets none."`
	EndedAt     string           `json:"endedAt,omitempty" format:"date-time" doc:"Absent while it is alive."`
	Alive       bool             `json:"alive"`
	Outcome     string           `json:"outcome,omitempty" enum:"succeeded,failed,timed_out,blocked"`
	EvidenceID  contract.ID      `json:"evidenceId,omitempty"`
}

func viewRun(r *pipeline.Run) Run {
	return Run{
		ExecutionID: r.ExecutionID, IntentID: r.Chain, Correlation: r.Correlation, TaskSeed: Reference{r.TaskSeed.ID, r.TaskSeed.Version}, Phase: r.Phase,
		Role: r.Role, ActorID: r.Actor, Series: r.Series, Attempt: r.Attempt, BaseCommit: r.BaseCommit, HeadCommit: r.HeadCommit,
		DiffHash: r.DiffHash, StartedAt: stamp(r.StartedAt), RunDeadline: stamp(r.Deadline), EndedAt: stamp(r.EndedAt),
		Alive: r.Alive(), Outcome: r.Outcome, EvidenceID: r.Evidence,
	}
}

// Claim is a run that has begun, and what its executor has to know
// (docs/spec/contracts.md §20.3).
type Claim struct {
	ExecutionID      string                  `json:"executionId"`
	Correlation      string                  `json:"correlationId" doc:"Of the chain; it belongs into what the executor logs."`
	LockToken        int64                   `json:"lockToken" doc:"Sent as Plimsoll-Lock-Token with every later call."`
	LockedUntil      string                  `json:"lockedUntil" format:"date-time"`
	HeartbeatSeconds int64                   `json:"heartbeatSeconds"`
	RunDeadline      *string                 `json:"runDeadline" format:"date-time" nullable:"true" doc:"null where the phase sets none."`
	Phase            pipeline.Phase          `json:"phase"`
	Role             contract.Role           `json:"role"`
	BaseCommit       string                  `json:"baseCommit"`
	HeadCommit       string                  `json:"headCommit"`
	Stale            contract.Classification `json:"stale"`
	TaskSeed         Contract                `json:"taskSeed"`
	Artifacts        []pipeline.ArtifactKind `json:"artifacts" doc:"The kinds that will be asked for."`
}

func showClaim(c *pipeline.Claim) (Claim, string) {
	var deadline *string
	if at := stamp(c.Run.Deadline); at != "" {
		deadline = &at
	}
	return Claim{
		ExecutionID: c.Run.ExecutionID, Correlation: c.Run.Correlation, LockToken: c.Run.LockToken, LockedUntil: stamp(c.LockedUntil),
		HeartbeatSeconds: int64(c.Heartbeat.Seconds()), RunDeadline: deadline, Phase: c.Run.Phase, Role: c.Run.Role,
		BaseCommit: c.Run.BaseCommit, HeadCommit: c.HeadCommit, Stale: c.Stale, TaskSeed: viewContract(c.Task),
		Artifacts: append([]pipeline.ArtifactKind{}, c.Artifacts...),
	}, ""
}

func taskClaim(s *pipeline.Service) endpoint {
	type body struct {
		Phase      pipeline.Phase `json:"phase" enum:"Build,Stabilize,Refactor,Publish"`
		BaseCommit string         `json:"baseCommit,omitempty"`
	}
	return act("task.claim", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Claim, error) {
		return s.TaskClaim(ctx, by, pipeline.ClaimArgs{Task: p.ID, Phase: b.Phase, BaseCommit: b.BaseCommit})
	}, showClaim)
}

func runList(s *pipeline.Service) endpoint {
	type parameters struct {
		TaskSeedID    []contract.ID      `query:"taskSeedId"`
		CorrelationID []string           `query:"correlationId"`
		Phase         []phase.Phase      `query:"phase"`
		ActorID       []contract.ActorID `query:"actorId"`
		Outcome       []phase.Outcome    `query:"outcome"`
		Alive         *bool              `query:"alive"`
	}
	return list("run.list", func(ctx context.Context, _ pipeline.Caller, p *parameters, page pipeline.Page) ([]*pipeline.Run, error) {
		f := pipeline.RunFilter{TaskSeeds: p.TaskSeedID, Correlations: p.CorrelationID, Phases: phases(p.Phase), Actors: p.ActorID, Alive: p.Alive}
		for _, o := range p.Outcome {
			f.Outcomes = append(f.Outcomes, string(o))
		}
		return s.RunList(ctx, f, page)
	}, viewRun, func(r *pipeline.Run) pipeline.Mark { return pipeline.Mark{At: r.StartedAt, ID: r.ExecutionID} })
}

type byExecution struct {
	ExecutionID string `path:"executionId"`
}

// fencedRun is a call on a run by its executor. The header is read before
// everything else, by the surface; it stands here for the document.
type fencedRun struct {
	byExecution
	LockToken int64 `header:"Plimsoll-Lock-Token" required:"true" doc:"The lockToken of the claim."`
}

func runGet(s *pipeline.Service) endpoint {
	return read("run.get", func(ctx context.Context, p *byExecution) (*pipeline.Run, error) {
		return s.RunGet(ctx, p.ExecutionID)
	}, func(r *pipeline.Run) (Run, string) { return viewRun(r), "" })
}

// Beat is the answer to a heartbeat.
type Beat struct {
	LockedUntil string `json:"lockedUntil" format:"date-time"`
	Stop        bool   `json:"stop" doc:"The run may only end."`
}

func runHeartbeat(s *pipeline.Service) endpoint {
	return act("run.heartbeat", noMedia, func(ctx context.Context, by pipeline.Caller, p *fencedRun, _ *none) (*pipeline.Beat, error) {
		return s.RunHeartbeat(ctx, by, p.ExecutionID)
	}, func(b *pipeline.Beat) (Beat, string) { return Beat{stamp(b.LockedUntil), b.Stop}, "" })
}

// Ended is a run that has ended: Completed at the end of the series, else a
// retry may follow.
type Ended struct {
	EvidenceID   contract.ID    `json:"evidenceId"`
	Completed    *Series        `json:"completed,omitempty"`
	RetryAllowed bool           `json:"retryAllowed,omitempty"`
	Warnings     []refusal.Code `json:"warnings,omitempty"`
}

// Series is how a series of runs ended.
type Series struct {
	Outcome phase.Outcome `json:"outcome"`
	Runs    int64         `json:"runs"`
}

func showEnded(e *pipeline.Ended) (Ended, string) {
	view := Ended{EvidenceID: e.Evidence, RetryAllowed: e.RetryAllowed, Warnings: e.Warnings}
	if e.Completed != nil {
		view.Completed = &Series{e.Completed.Outcome, e.Completed.Runs}
	}
	return view, ""
}

// Check is one criterion and whether it was met.
type Check struct {
	Criterion string `json:"criterion"`
	Passed    bool   `json:"passed"`
	Detail    string `json:"detail"`
}

// File is a file and how it has changed.
type File struct {
	Change string `json:"change" enum:"added,modified,deleted,renamed"`
	Path   string `json:"path"`
}

func runComplete(s *pipeline.Service) endpoint {
	type body struct {
		Outcome     phase.Outcome   `json:"outcome" enum:"succeeded,blocked"`
		HeadCommit  string          `json:"headCommit"`
		Evidence    map[string]any  `json:"evidence" doc:"The members of an Evidence that the executor knows."`
		Checks      []Check         `json:"checks,omitempty"`
		RiskSignals map[string]bool `json:"riskSignals,omitempty"`
		Facts       []risk.Fact     `json:"facts,omitempty"`
		Files       []File          `json:"files,omitempty" doc:"What was not merely modified between the base and the head."`
	}
	return act("run.complete", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *fencedRun, b *body) (*pipeline.Ended, error) {
		args := pipeline.CompleteArgs{
			Execution: p.ExecutionID, Outcome: b.Outcome, HeadCommit: b.HeadCommit, Evidence: b.Evidence, Signals: b.RiskSignals, Facts: b.Facts,
		}
		for _, c := range b.Checks {
			args.Checks = append(args.Checks, event.Check(c))
		}
		for _, f := range b.Files {
			args.Files = append(args.Files, artifact.File(f))
		}
		return s.RunComplete(ctx, by, args)
	}, showEnded)
}

func runFail(s *pipeline.Service) endpoint {
	type body struct {
		Reason     string         `json:"reason"`
		HeadCommit string         `json:"headCommit,omitempty"`
		Evidence   map[string]any `json:"evidence" doc:"The members of an Evidence that the executor knows."`
	}
	return act("run.fail", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *fencedRun, b *body) (*pipeline.Ended, error) {
		return s.RunFail(ctx, by, pipeline.FailArgs{Execution: p.ExecutionID, Reason: b.Reason, HeadCommit: b.HeadCommit, Evidence: b.Evidence})
	}, showEnded)
}

func runRelease(s *pipeline.Service) endpoint {
	type parameters struct {
		byExecution
		LockToken int64 `header:"Plimsoll-Lock-Token" doc:"The lockToken of the claim; not needed by an admin."`
	}
	type body struct {
		Reason string `json:"reason"`
	}
	return act("run.release", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *parameters, b *body) (*pipeline.Ended, error) {
		return s.RunRelease(ctx, by, pipeline.ReleaseArgs{Execution: p.ExecutionID, Reason: b.Reason})
	}, showEnded)
}

// Artifact is the record of a phase artifact (docs/spec/contracts.md §7.1).
type Artifact struct {
	Kind            pipeline.ArtifactKind `json:"kind"`
	ContractID      contract.ID           `json:"contractId"`
	ContractVersion int64                 `json:"contractVersion"`
	Phase           pipeline.Phase        `json:"phase"`
	ExecutionID     *string               `json:"executionId" nullable:"true"`
	SHA256          string                `json:"sha256"`
	Size            int64                 `json:"size"`
	MediaType       string                `json:"mediaType"`
}

func viewArtifact(a pipeline.Artifact) Artifact {
	view := Artifact{
		Kind: a.Kind, ContractID: a.Task.ID, ContractVersion: a.Task.Version, Phase: a.Phase, SHA256: a.SHA256, Size: a.Size, MediaType: a.MediaType,
	}
	if a.ExecutionID != "" {
		view.ExecutionID = &a.ExecutionID
	}
	return view
}

func showArtifact(a *pipeline.ArtifactPut, _ bool) answer {
	return answer{status: repeated(a.Duplicate), body: viewArtifact(a.Artifact)}
}

func artifactPut(s *pipeline.Service) endpoint {
	type parameters struct {
		fencedRun
		Kind pipeline.ArtifactKind `path:"kind"`
	}
	e := actAs("artifact.put", anyMedia, func(ctx context.Context, by pipeline.Caller, p *parameters, b *payload) (*pipeline.ArtifactPut, error) {
		return s.ArtifactPut(ctx, by, pipeline.ArtifactArgs{Execution: p.ExecutionID, Kind: p.Kind, Bytes: *b})
	}, showArtifact, typed[Artifact]())
	prepare := e.prepare
	e.prepare = func(q *request) (call, error) {
		if err := artifactMedia(q.http); err != nil {
			return nil, err
		}
		return prepare(q)
	}
	return e
}

// artifactMedia refuses an artifact under another media type than that of its
// kind. A kind nobody knows is found by the use case.
func artifactMedia(r *http.Request) error {
	want := artifact.MediaType(phase.Proof(r.PathValue("kind")))
	if want == "" {
		return nil
	}
	media, _, _ := bytes.Cut([]byte(want), []byte(";"))
	return mediaType(r, string(media))
}

func artifactList(s *pipeline.Service) endpoint {
	return whole("artifact.list", func(ctx context.Context, p *byExecution) ([]pipeline.Artifact, error) {
		return s.ArtifactList(ctx, p.ExecutionID)
	}, viewArtifact)
}

func artifactGet(s *pipeline.Service) endpoint {
	type parameters struct {
		byExecution
		Kind pipeline.ArtifactKind `path:"kind"`
	}
	return actAs("artifact.get", noMedia, func(ctx context.Context, _ pipeline.Caller, p *parameters, _ *none) (*pipeline.Artifact, error) {
		return s.ArtifactGet(ctx, p.ExecutionID, p.Kind)
	}, func(a *pipeline.Artifact, _ bool) answer {
		return answer{media: a.MediaType, raw: a.Bytes}
	}, types{media: []string{"text/plain", jsonMedia, markdownMedia}})
}

const markdownMedia = "text/markdown"

// Grant is the consent to use a capability on a task.
type Grant struct {
	Capability string `json:"capability"`
	Granted    bool   `json:"granted"`
}

func operationRequest(s *pipeline.Service) endpoint {
	type body struct {
		Capability string `json:"capability"`
		Detail     string `json:"detail,omitempty"`
	}
	e := act("operation.request", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (Grant, error) {
		err := s.OperationRequest(ctx, by, pipeline.OperationArgs{Task: p.ID, Capability: b.Capability, Detail: b.Detail})
		return Grant{b.Capability, true}, err
	}, func(g Grant) (Grant, string) { return g, "" })
	prepare := e.prepare
	e.prepare = func(q *request) (call, error) {
		made, err := prepare(q)
		// The use case answers by its consent alone; what it consented to is what
		// was asked, and prepare has read it.
		var asked Grant
		_ = json.Unmarshal(q.body, &asked)
		q.render = func(any) (answer, error) { return answer{body: Grant{asked.Capability, true}}, nil }
		return made, err
	}
	return e
}

// Review is a verdict of a person on the work.
type Review struct {
	TaskSeed Reference       `json:"taskSeed"`
	Result   json.RawMessage `json:"result" doc:"The stored review result."`
}

func viewReview(r pipeline.Review) Review {
	return Review{TaskSeed: Reference{r.Task.ID, r.Task.Version}, Result: raw(r.Text)}
}

func reviewList(s *pipeline.Service) endpoint {
	return whole("review.list", func(ctx context.Context, p *byID) ([]pipeline.Review, error) {
		return s.ReviewList(ctx, p.ID)
	}, viewReview)
}

func reviewRecord(s *pipeline.Service) endpoint {
	type blocking struct {
		Text string `json:"text"`
		Path string `json:"path,omitempty"`
		Line int64  `json:"line,omitempty"`
	}
	type body struct {
		Verdict    string     `json:"verdict" enum:"approved,changes_requested"`
		Blocking   []blocking `json:"blocking" doc:"Empty exactly when the verdict is approved."`
		HeadCommit string     `json:"headCommit"`
	}
	return act("review.record", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Review, error) {
		args := pipeline.ReviewArgs{Task: p.ID, Verdict: b.Verdict, HeadCommit: b.HeadCommit}
		for _, item := range b.Blocking {
			args.Blocking = append(args.Blocking, pipeline.Blocking(item))
		}
		return s.ReviewRecord(ctx, by, args)
	}, func(r *pipeline.Review) (Review, string) { return viewReview(*r), "" })
}

func verifyRecord(s *pipeline.Service) endpoint {
	type body struct {
		BaseCommit string          `json:"baseCommit"`
		HeadCommit string          `json:"headCommit"`
		Artifact   json.RawMessage `json:"artifact" doc:"The verify artifact, unchanged."`
	}
	return actAs("verify.record", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.ArtifactPut, error) {
		return s.VerifyRecord(ctx, by, pipeline.VerifyArgs{Task: p.ID, BaseCommit: b.BaseCommit, HeadCommit: b.HeadCommit, Artifact: b.Artifact})
	}, showArtifact, typed[Artifact]())
}

func noteGet(s *pipeline.Service) endpoint {
	type parameters struct {
		byID
		Accept string `header:"Accept" doc:"text/markdown for the rendered note."`
	}
	type asked struct {
		note     *pipeline.NoteShown
		markdown bool
	}
	return actAs("note.get", noMedia, func(ctx context.Context, _ pipeline.Caller, p *parameters, _ *none) (asked, error) {
		note, err := s.NoteGet(ctx, p.ID)
		return asked{note, slices.Contains(accepted(p.Accept), markdownMedia)}, err
	}, func(a asked, _ bool) answer {
		if a.markdown {
			return answer{media: markdownMedia + "; charset=utf-8", raw: a.note.Markdown}
		}
		return answer{body: a.note.Data}
	}, types{answer: typeOf[artifact.Note](), media: []string{jsonMedia, markdownMedia}})
}
