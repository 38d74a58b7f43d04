package api

import (
	"context"
	"time"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// intentBody is what an intent asks for. Its values are judged by the schema of
// the contract, not here.
type intentBody struct {
	Intent       string   `json:"intent"`
	Priority     string   `json:"priority" enum:"low,medium,high,critical"`
	Capabilities []string `json:"requestedCapabilities" enum:"read_repo,write_repo,install_deps,network_access,read_secrets,publish_release"`
}

func (b *intentBody) args() pipeline.IntentArgs {
	return pipeline.IntentArgs{Intent: b.Intent, Priority: b.Priority, RequestedCapabilities: b.Capabilities}
}

func intentCreate(s *pipeline.Service) endpoint {
	return act("intent.create", jsonMedia, func(ctx context.Context, by pipeline.Caller, _ *none, b *intentBody) (*pipeline.Shown, error) {
		return s.IntentCreate(ctx, by, b.args())
	}, showContract)
}

func intentRevise(s *pipeline.Service) endpoint {
	return act("intent.revise", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *intentBody) (*pipeline.Shown, error) {
		return s.IntentRevise(ctx, by, p.ID, b.args())
	}, showContract)
}

// Chain is one intent with where it stands.
type Chain struct {
	IntentID    contract.ID    `json:"intentId"`
	Correlation string         `json:"correlationId" doc:"The request that started it, else the intent."`
	Version     int64          `json:"version" doc:"Of the intent that is under way."`
	Phase       pipeline.Phase `json:"phase,omitempty" doc:"Absent until the intent is Active."`
	Repository  string         `json:"repository,omitempty"`
	BaseCommit  string         `json:"baseCommit,omitempty"`
	HeadCommit  string         `json:"headCommit,omitempty"`
	DiffHash    string         `json:"diffHash,omitempty"`
	FailedRuns  int64          `json:"failedRuns" doc:"Of the series under way."`
	Returns     int64          `json:"returns" doc:"To Build, since a person last looked."`
	FetchedAt   string         `json:"fetchedAt,omitempty" format:"date-time"`
	CreatedAt   string         `json:"createdAt" format:"date-time"`
	UpdatedAt   string         `json:"updatedAt" format:"date-time"`
	Contracts   []Contract     `json:"contracts,omitempty" doc:"Every version of every contract of the chain."`
}

func viewChain(c *pipeline.Chain) Chain {
	return Chain{
		IntentID: c.ID, Correlation: c.Correlation, Version: c.Version, Phase: c.Phase, Repository: c.Repository, BaseCommit: c.BaseCommit, HeadCommit: c.HeadCommit,
		DiffHash: c.DiffHash, FailedRuns: c.FailedRuns, Returns: c.Returns, FetchedAt: stamp(c.FetchedAt),
		CreatedAt: stamp(c.CreatedAt), UpdatedAt: stamp(c.UpdatedAt),
	}
}

func chainList(s *pipeline.Service) endpoint {
	type parameters struct {
		ID            []contract.ID      `query:"id"`
		IntentID      []contract.ID      `query:"intentId"`
		CorrelationID []string           `query:"correlationId"`
		State         []contract.State   `query:"state" doc:"Of the intent."`
		Phase         []phase.Phase      `query:"phase"`
		Creator       []contract.ActorID `query:"creator"`
		UpdatedSince  time.Time          `query:"updatedSince"`
		UpdatedBefore time.Time          `query:"updatedBefore"`
	}
	return list("chain.list", func(ctx context.Context, _ pipeline.Caller, p *parameters, page pipeline.Page) ([]*pipeline.Chain, error) {
		return s.ChainList(ctx, pipeline.ChainFilter{
			IDs: append(p.ID, p.IntentID...), Correlations: p.CorrelationID, States: p.State, Phases: phases(p.Phase), Creators: p.Creator,
			UpdatedSince: p.UpdatedSince, UpdatedBefore: p.UpdatedBefore,
		}, page)
	}, viewChain, func(c *pipeline.Chain) pipeline.Mark { return pipeline.Mark{At: c.UpdatedAt, ID: string(c.ID)} })
}

func chainGet(s *pipeline.Service) endpoint {
	type parameters struct {
		ID contract.ID `path:"intentId"`
	}
	return read("chain.get", func(ctx context.Context, p *parameters) (*pipeline.ChainShown, error) {
		return s.ChainGet(ctx, p.ID)
	}, func(c *pipeline.ChainShown) (Chain, string) {
		view := viewChain(c.Chain)
		view.Contracts = []Contract{}
		for _, shown := range c.Contracts {
			view.Contracts = append(view.Contracts, viewContract(shown))
		}
		return view, ""
	})
}
