package pipeline

import (
	"context"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// Proof is what an approved gate rests on, all of it read from one state of the
// store (docs/spec/contracts.md §20.7). Records is the positions of the audit
// records about the contracts of the chain that are kept, ascending; Head is how
// far the log had come.
type Proof struct {
	Gate      *Contract
	Released  string      // the commit that has the diff people agreed to; the gate's own after the chain went on
	Contracts []*Contract // every version of every contract of the chain, in chain order
	Replaced  []Replaced  // contents that were replaced in place
	Consents  []Consent   // on this version of the gate
	Records   []int64
	Head      event.Head
}

// proofBatch is how many audit records are read at a time.
const proofBatch = 1000

// GateBundle is the proof of a gate that people, or the Policy Engine, approved.
// One that nobody approved proves nothing and is refused with the code a
// publication would be.
func (s *Service) GateBundle(ctx context.Context, id contract.ID) (*Proof, error) {
	return view(ctx, s, func(r Reader) (*Proof, error) {
		c, err := r.Contract(id)
		if c, err = found(c, err, "%s is unknown", id); err != nil {
			return nil, err
		}
		g, ok := c.Document.(*contract.PublishGate)
		if !ok {
			return nil, missing("%s is no gate", id)
		}
		if err := approval.Settled(g); err != nil {
			return nil, err
		}
		p := &Proof{Gate: c, Released: c.HeadCommit}
		chain, err := r.Chain(c.Chain)
		if err != nil {
			return nil, err
		}
		if err := p.commit(chain); err != nil {
			return nil, err
		}
		if p.Contracts, err = r.OfChain(c.Chain); err != nil {
			return nil, err
		}
		if err := p.rest(r); err != nil {
			return nil, err
		}
		p.Head, err = r.AuditHead()
		return p, err
	})
}

// commit takes the commit the chain is at, as long as its diff is the one that
// was agreed to: a rebase keeps an approval (R14).
func (p *Proof) commit(chain *Chain) error {
	v, err := contract.Parse(p.Gate.Covers)
	if err != nil {
		return fault.E("pipeline.GateBundle", fault.Internal, "read what the gate covers", err)
	}
	covers, _ := v.(map[string]any)
	if diff, _ := covers["diffHash"].(string); diff == chain.DiffHash && chain.HeadCommit != "" {
		p.Released = chain.HeadCommit
	}
	return nil
}

// rest reads what is kept beside the contracts.
func (p *Proof) rest(r Reader) error {
	ids := []contract.ID{}
	seen := map[contract.ID]bool{}
	for _, c := range p.Contracts {
		id := c.Ref().ID
		if seen[id] {
			continue
		}
		seen[id] = true
		ids = append(ids, id)
		old, err := r.History(id)
		if err != nil {
			return err
		}
		p.Replaced = append(p.Replaced, old...)
	}
	consents, err := r.Consents(p.Gate.Ref().ID)
	if err != nil {
		return err
	}
	for _, c := range consents {
		if c.GateVersion == p.Gate.Ref().Version {
			p.Consents = append(p.Consents, c)
		}
	}
	for after := int64(0); ; {
		lines, err := r.Audit(after, AuditFilter{Contracts: ids}, proofBatch)
		if err != nil {
			return err
		}
		for _, l := range lines {
			after = l.Position
			p.Records = append(p.Records, l.Position)
		}
		if len(lines) < proofBatch {
			return nil
		}
	}
}
