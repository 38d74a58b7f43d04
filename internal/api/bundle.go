package api

import (
	"context"

	"plimsoll.dev/internal/bundle"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// Bundle is the signed files of a bundle, the manifest first. With a copy of the
// audit log that was exported later they are a proof (docs/spec/contracts.md §20.7).
type Bundle struct {
	Files []BundleFile `json:"files"`
}

// BundleFile is a file as it is to be written.
type BundleFile struct {
	Path string `json:"path"`
	Text string `json:"text" doc:"A DSSE envelope; its digest is of exactly these bytes."`
}

// gateBundle signs what an approved gate rests on, with the key of the audit log.
func (a *API) gateBundle(s *pipeline.Service) endpoint {
	return read("gate.bundle", func(ctx context.Context, p *byID) ([]bundle.File, error) {
		proof, err := s.GateBundle(ctx, p.ID)
		if err != nil {
			return nil, err
		}
		return bundle.Make(a.source(proof), a.conf.Signer)
	}, func(files []bundle.File) (Bundle, string) {
		b := Bundle{Files: make([]BundleFile, len(files))}
		for i, f := range files {
			b.Files[i] = BundleFile{f.Path, string(f.Text)}
		}
		return b, ""
	})
}

func (a *API) source(p *pipeline.Proof) bundle.Source {
	g := p.Gate
	src := bundle.Source{
		At: a.conf.Now(), Intent: g.Chain, Gate: bundle.Reference(g.Ref()), Digest: g.ApprovalDigest, Covers: g.Covers, Released: p.Released,
		Commits: bundle.Commits{Base: g.BaseCommit, Head: g.HeadCommit}, Records: p.Records, Head: p.Head,
	}
	for _, c := range p.Contracts {
		src.Contracts = append(src.Contracts, bundle.Contract{
			Document: c.Document, Text: c.Text, Source: bundle.Reference(c.Source), ExecutionID: c.ExecutionID,
		})
	}
	for _, c := range p.Consents {
		src.Decisions = append(src.Decisions, bundle.Decision{
			Role: c.Role, ActorID: c.ActorID, Decision: c.Decision, DecidedAt: c.DecidedAt.String(), Reason: c.Reason,
			Digest: c.Digest, SelfApproved: c.SelfApproved,
		})
	}
	for _, r := range p.Replaced {
		src.Replaced = append(src.Replaced, bundle.Replaced{Contract: bundle.Reference(r.Ref), Digest: contract.Hash(r.Text), At: stamp(r.At)})
	}
	return src
}
