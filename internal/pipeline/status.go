package pipeline

import (
	"context"
	"time"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
)

// GateStatus answers a pipeline whether exactly these bytes may be released. It
// changes nothing; an overdue gate is shown as expired (§20.2).
func (s *Service) GateStatus(ctx context.Context, a GateStatusArgs) (*GateStatus, error) {
	return view(ctx, s, func(r Reader) (*GateStatus, error) {
		if a.HeadCommit == "" && a.DiffHash == "" {
			return nil, malformed("", "name the commit or the diff")
		}
		f := ChainFilter{}
		if a.Repository != "" {
			f.Repositories = []string{a.Repository}
		}
		if a.HeadCommit != "" {
			f.HeadCommits = []string{a.HeadCommit}
		}
		if a.DiffHash != "" {
			f.DiffHashes = []string{a.DiffHash}
		}
		chains, err := r.Chains(f, Page{})
		if err != nil {
			return nil, err
		}
		var newest *GateStatus
		var at time.Time
		for _, chain := range chains {
			status, made, err := gateStatus(r, &s.conf, chain.ID)
			if err != nil {
				return nil, err
			}
			if status != nil && (newest == nil || made.After(at)) {
				newest, at = status, made
			}
		}
		if newest == nil && a.HeadCommit != "" {
			newest, err = formerly(r, &s.conf, a)
			if err != nil {
				return nil, err
			}
		}
		if newest == nil {
			return nil, missing("no gate was made for this commit or diff")
		}
		return newest, nil
	})
}

func gateStatus(r Reader, conf *Config, chain contract.ID) (*GateStatus, time.Time, error) {
	w, err := load(r, conf, chain)
	if err != nil {
		return nil, time.Time{}, err
	}
	c := w.lastGateRow()
	if c == nil {
		return nil, time.Time{}, nil
	}
	f, err := readBoundary(r, w)
	if err != nil {
		return nil, time.Time{}, err
	}
	g := c.Document.(*contract.PublishGate)
	out := &GateStatus{
		ID: g.ID, Version: g.Version, Correlation: w.chain.Correlation, FinalDecision: g.FinalDecision, Action: g.Action, ApprovalDigest: c.ApprovalDigest,
		DigestCurrent: w.subject(c, f).Digest() == c.ApprovalDigest,
	}
	if approval.Overdue(g, r.Now()) {
		out.FinalDecision = contract.DecisionExpired
	}
	out.Publishable = out.FinalDecision == contract.DecisionApproved && g.State == contract.Published && out.DigestCurrent
	out.Standing = standing(out)
	return out, g.CreatedAt.Time(), nil
}

func standing(g *GateStatus) Standing {
	switch {
	case !g.DigestCurrent:
		return StandingStale
	case g.FinalDecision == contract.DecisionRejected:
		return StandingRejected
	case g.FinalDecision == contract.DecisionExpired:
		return StandingExpired
	case g.Publishable:
		return StandingPassed
	}
	return StandingWaiting // undecided, or decided and kept back
}

// formerly is the newest gate that was about a commit which its chain has left
// behind: whatever was decided on it holds no longer.
func formerly(r Reader, conf *Config, a GateStatusArgs) (*GateStatus, error) {
	gates, err := r.Contracts(ContractFilter{Kinds: []contract.Kind{contract.KindPublishGate}, HeadCommits: []string{a.HeadCommit}}, Page{})
	if err != nil {
		return nil, err
	}
	var newest *GateStatus
	var at time.Time
	for _, c := range gates {
		if a.Repository != "" {
			chains, err := r.Chains(ChainFilter{IDs: []contract.ID{c.Chain}, Repositories: []string{a.Repository}}, Page{})
			if err != nil {
				return nil, err
			}
			if len(chains) == 0 {
				continue
			}
		}
		status, made, err := gateStatus(r, conf, c.Chain)
		if err != nil {
			return nil, err
		}
		if status != nil && (newest == nil || made.After(at)) {
			newest, at = status, made
		}
	}
	if newest != nil {
		newest.DigestCurrent, newest.Publishable, newest.Standing = false, false, StandingStale
	}
	return newest, nil
}
