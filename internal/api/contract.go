package api

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Contract is a contract in an answer: the document exactly as it is stored, and
// what is kept beside it (docs/spec/contracts.md §20.1).
type Contract struct {
	Contract json.RawMessage `json:"contract" doc:"The document, by the schema of its kind."`
	Meta     Meta            `json:"meta"`
}

// Meta is what the schemas have no member for.
type Meta struct {
	Revision    int64            `json:"revision"`
	Source      *Reference       `json:"source,omitempty" doc:"The version it was made from."`
	FrozenFrom  contract.State   `json:"frozenFrom,omitempty"`
	FreezeCause contract.Cause   `json:"freezeCause,omitempty"`
	Phase       pipeline.Phase   `json:"phase,omitempty" doc:"Of the chain."`
	IntentID    contract.ID      `json:"intentId,omitempty" doc:"Of the chain."`
	Correlation string           `json:"correlationId,omitempty" doc:"Of the chain: the request that started it, else its intent."`
	ExecutionID string           `json:"executionId,omitempty" doc:"Of an Evidence: the run it is of."`
	Digest      string           `json:"approvalDigest,omitempty" doc:"Of a gate: what people agree to."`
	Covers      json.RawMessage  `json:"covers,omitempty" doc:"Of a gate: everything the digest binds."`
	Outstanding *[]contract.Role `json:"outstandingRoles,omitempty" doc:"Of a gate: required roles without an approval."`
	Commits     *Commits         `json:"commits,omitempty" doc:"Of a gate: recorded beside the digest and no part of it."`
	Signals     json.RawMessage  `json:"signals,omitempty" doc:"Of a gate: each critical signal as declared, observed or undeclared."`
	Conflict    []Conflict       `json:"conflict,omitempty" doc:"Updates of which a person must choose one."`
}

// Reference names a version of a contract.
type Reference struct {
	ID      contract.ID `json:"id"`
	Version int64       `json:"version"`
}

// Commits is a range.
type Commits struct {
	Base string `json:"base"`
	Head string `json:"head"`
}

// Conflict is one of several contents of a contract under one version.
type Conflict struct {
	Digest   string          `json:"digest"`
	Contract json.RawMessage `json:"contract"`
}

// showContract is a contract with its entity tag.
func showContract(s *pipeline.Shown) (Contract, string) {
	c := s.Contract
	m := Meta{
		Revision: c.Revision, FrozenFrom: c.FrozenFrom, FreezeCause: c.FreezeCause, Phase: s.Phase, IntentID: c.Chain,
		Correlation: c.Correlation, ExecutionID: c.ExecutionID,
	}
	if c.Source != (pipeline.Ref{}) {
		m.Source = &Reference{ID: c.Source.ID, Version: c.Source.Version}
	}
	if c.Document.Head().Kind == contract.KindPublishGate {
		outstanding := append([]contract.Role{}, s.Outstanding...)
		m.Digest, m.Covers, m.Signals, m.Outstanding = c.ApprovalDigest, raw(c.Covers), raw(c.Signals), &outstanding
		m.Commits = &Commits{Base: c.BaseCommit, Head: c.HeadCommit}
	}
	for _, other := range s.Conflict {
		m.Conflict = append(m.Conflict, Conflict{Digest: other.Digest, Contract: raw(other.Text)})
	}
	return Contract{Contract: raw(c.Text), Meta: m}, quoted(c.Tag())
}

// quoted is a tag as the header has it.
func quoted(tag string) string { return `"` + tag + `"` }

func viewContract(s *pipeline.Shown) Contract {
	c, _ := showContract(s)
	return c
}

// markContract is the place of a contract in a list by time.
func markContract(s *pipeline.Shown) pipeline.Mark {
	h := s.Document.Head()
	return pipeline.Mark{At: h.UpdatedAt.Time(), ID: string(h.ID)}
}

// raw is JSON text as it is, nothing when there is none.
func raw(text []byte) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	return slices.Clone(text)
}

// stamp is an instant as the contracts write it, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return contract.At(t).String()
}

// contractFilter is what every list of contracts can be filtered by.
type contractFilter struct {
	Kind          []contract.Kind          `query:"kind"`
	ID            []contract.ID            `query:"id"`
	State         []contract.State         `query:"state"`
	IntentID      []contract.ID            `query:"intentId"`
	CorrelationID []string                 `query:"correlationId"`
	TaskSeedID    []contract.ID            `query:"taskSeedId"`
	Status        []contract.Status        `query:"status"`
	RiskLevel     []contract.Level         `query:"riskLevel"`
	FinalDecision []contract.FinalDecision `query:"finalDecision"`
	FreezeCause   []contract.Cause         `query:"freezeCause"`
	Creator       []contract.ActorID       `query:"creator"`
	UpdatedSince  time.Time                `query:"updatedSince"`
	UpdatedBefore time.Time                `query:"updatedBefore"`
}

func (f *contractFilter) filter() pipeline.ContractFilter {
	return pipeline.ContractFilter{
		Kinds: f.Kind, IDs: f.ID, States: f.State, Chains: f.IntentID, Correlations: f.CorrelationID, TaskSeeds: f.TaskSeedID, Statuses: f.Status,
		Levels: f.RiskLevel, FinalDecisions: f.FinalDecision, FreezeCauses: f.FreezeCause, Creators: f.Creator,
		UpdatedSince: f.UpdatedSince, UpdatedBefore: f.UpdatedBefore,
	}
}

func phases(list []phase.Phase) []pipeline.Phase {
	var out []pipeline.Phase
	for _, p := range list {
		out = append(out, pipeline.Phase(p))
	}
	return out
}

// byID is the parameter of everything that acts on one contract.
type byID struct {
	ID contract.ID `path:"id" doc:"The id of a contract."`
}

func contractList(s *pipeline.Service) endpoint {
	return list("contract.list", func(ctx context.Context, _ pipeline.Caller, p *contractFilter, page pipeline.Page) ([]*pipeline.Shown, error) {
		return s.ContractList(ctx, p.filter(), page)
	}, viewContract, markContract)
}

func contractGet(s *pipeline.Service) endpoint {
	type parameters struct {
		byID
		Version int64 `query:"version" doc:"This version; the current one when it is not given."`
	}
	return read("contract.get", func(ctx context.Context, p *parameters) (*pipeline.Shown, error) {
		return s.ContractGet(ctx, p.ID, p.Version)
	}, showContract)
}

// Version is one version of a contract: a row, or a content that was replaced in
// place and is no contract any more.
type Version struct {
	Contract   json.RawMessage `json:"contract"`
	Meta       *Meta           `json:"meta,omitempty"`
	ReplacedAt string          `json:"replacedAt,omitempty" doc:"Of a content that was replaced in place: when."`
}

func contractVersions(s *pipeline.Service) endpoint {
	return whole("contract.versions", func(ctx context.Context, p *byID) ([]Version, error) {
		rows, replaced, err := s.ContractVersions(ctx, p.ID)
		versions := make([]Version, 0, len(rows)+len(replaced))
		for _, row := range rows {
			c := viewContract(row)
			versions = append(versions, Version{Contract: c.Contract, Meta: &c.Meta})
		}
		for _, old := range replaced {
			versions = append(versions, Version{Contract: raw(old.Text), ReplacedAt: stamp(old.At)})
		}
		return versions, err
	}, func(v Version) Version { return v })
}

func contractEdit(s *pipeline.Service) endpoint {
	return act("contract.edit", mergeMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *editBody) (*pipeline.Shown, error) {
		return s.ContractEdit(ctx, by, pipeline.EditArgs{ID: p.ID, Version: b.Version, Patch: b.Patch})
	}, showContract)
}

// editBody is a merge patch: the version it is for, and whatever members it
// changes. Which of them may be changed is the use case's business.
type editBody struct {
	Version int64
	Patch   map[string]any
}

func activationList(s *pipeline.Service) endpoint {
	return whole("activation.list", func(ctx context.Context, p *byID) ([]pipeline.Vote, error) {
		return s.ActivationList(ctx, p.ID)
	}, viewVote)
}

// Vote is an entry of the activation ledger.
type Vote struct {
	Version int64 `json:"version"`
	Approval
	SelfApproved bool `json:"selfApproved,omitempty" doc:"Taken only because the four-eyes options are off."`
}

// Approval is a decision of somebody.
type Approval struct {
	Role      contract.Role     `json:"role"`
	ActorID   contract.ActorID  `json:"actorId"`
	Decision  contract.Decision `json:"decision"`
	DecidedAt string            `json:"decidedAt" format:"date-time"`
	Reason    *string           `json:"reason,omitempty"`
}

func viewVote(v pipeline.Vote) Vote {
	return Vote{Version: v.Version, Approval: Approval{
		Role: v.Role, ActorID: v.ActorID, Decision: v.Decision, DecidedAt: v.DecidedAt.String(), Reason: v.Reason,
	}, SelfApproved: v.SelfApproved}
}

// Activation is the answer to a decision on a Draft.
type Activation struct {
	Entry     Vote           `json:"entry"`
	State     contract.State `json:"state"`
	Duplicate bool           `json:"duplicate"`
}

func activationDecide(s *pipeline.Service) endpoint {
	type body struct {
		Version       int64             `json:"version"`
		Decision      contract.Decision `json:"decision" enum:"approved,rejected"`
		Reason        *string           `json:"reason,omitempty"`
		ContentDigest string            `json:"contentDigest,omitempty" doc:"Of the document you saw, without state and updatedAt."`
	}
	return actAs("activation.decide", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.ActivationResult, error) {
		return s.ActivationDecide(ctx, by, pipeline.ActivationArgs{
			ID: p.ID, Version: b.Version, Decision: b.Decision, Reason: b.Reason, ContentDigest: b.ContentDigest,
		})
	}, func(r *pipeline.ActivationResult, _ bool) answer {
		return answer{status: repeated(r.Duplicate), body: Activation{viewVote(r.Entry), r.State, r.Duplicate}}
	}, typed[Activation]())
}

// repeated is the status of an answer that made something, 200 when it was there
// before; 0 leaves it to the table.
func repeated(before bool) int {
	if before {
		return 200
	}
	return 0
}

func contractFreeze(s *pipeline.Service) endpoint {
	type body struct {
		Version int64          `json:"version"`
		Cause   contract.Cause `json:"cause"`
		Reason  string         `json:"reason"`
	}
	return act("contract.freeze", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.ContractFreeze(ctx, by, pipeline.FreezeArgs{ID: p.ID, Version: b.Version, Cause: b.Cause, Reason: b.Reason})
	}, showContract)
}

func contractResume(s *pipeline.Service) endpoint {
	type body struct {
		Version    int64  `json:"version"`
		Resolution string `json:"resolution"`
	}
	return act("contract.resume", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.ContractResume(ctx, by, pipeline.ResumeArgs{ID: p.ID, Version: b.Version, Resolution: b.Resolution})
	}, showContract)
}

func contractRevoke(s *pipeline.Service) endpoint {
	type body struct {
		Version int64           `json:"version"`
		Ground  contract.Ground `json:"ground"`
		Reason  string          `json:"reason"`
	}
	return act("contract.revoke", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.ContractRevoke(ctx, by, pipeline.RevokeArgs{ID: p.ID, Version: b.Version, Ground: b.Ground, Reason: b.Reason})
	}, showContract)
}

func contractArchive(s *pipeline.Service) endpoint {
	type body struct {
		Version int64  `json:"version"`
		Rule    string `json:"rule,omitempty" doc:"The recorded operating rule, when retention is not reached."`
	}
	return act("contract.archive", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.ContractArchive(ctx, by, pipeline.ArchiveArgs{ID: p.ID, Version: b.Version, Rule: b.Rule})
	}, showContract)
}

func mergeResolve(s *pipeline.Service) endpoint {
	type body struct {
		Version int64  `json:"version"`
		Chosen  string `json:"chosen" doc:"The digest of the update that is to stay."`
	}
	return act("merge.resolve", jsonMedia, func(ctx context.Context, by pipeline.Caller, p *byID, b *body) (*pipeline.Shown, error) {
		return s.MergeResolve(ctx, by, pipeline.ResolveArgs{ID: p.ID, Version: b.Version, Chosen: b.Chosen})
	}, showContract)
}

// decode reads the version out of a merge patch and leaves the rest.
func (b *editBody) decode(v any, path string) refusal.List {
	object, ok := v.(map[string]any)
	if !ok {
		return refusal.List{refusal.At(refusal.RequestMalformed, path, "an object is expected, not %s", name(v))}
	}
	version, there := object["version"]
	if !there {
		return refusal.List{refusal.At(refusal.RequestMalformed, path+"/version", "the member is missing")}
	}
	n, ok := integer(version)
	if !ok {
		return refusal.List{refusal.At(refusal.RequestMalformed, path+"/version", "an integer is expected, not %s", name(version))}
	}
	delete(object, "version")
	b.Version, b.Patch = n, object
	return nil
}

// Schema is what the document says of it.
func (*editBody) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"version"}, AdditionalProperties: true,
		Properties: map[string]*huma.Schema{"version": {
			Type: huma.TypeInteger, Description: "Of the contract after the change: one above the stored one.",
		}},
	}
}
