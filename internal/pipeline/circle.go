package pipeline

import (
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/risk"
)

// What the circle asks of the contracts (docs/spec/circle.md §9).

// The artifacts of a run that say what a change may do.
const (
	BoundaryArtifact = ArtifactKind(phase.BoundaryResult)
	VerifyArtifact   = ArtifactKind(phase.VerifyResult)
)

// ReadBoundary is a boundary result as the Policy Engine reads it, with its audit
// id; nil for a text that is none. Verify is the verify artifact of the same
// commits, nil while there is none.
func ReadBoundary(check, verify []byte) (result *risk.Boundary, auditID string) {
	f := findings(check, verify)
	if f.result == nil || f.result.ControlState == "" {
		return nil, ""
	}
	return f.result, f.auditID
}

// IntentCreateWithin is IntentCreate in a transaction that is open already, so
// that a decision and the contract it leads to are kept together or not at all.
// The refusal is the caller's to audit.
func (s *Service) IntentCreateWithin(tx Tx, by Caller, a IntentArgs) (*Shown, error) {
	x := s.begin(tx, by, "contract.create")
	if err := x.who(); err != nil {
		return nil, err
	}
	made, err := x.newIntent(a, a.Asked)
	if err != nil {
		return nil, err
	}
	if err := x.settle(); err != nil {
		return nil, err
	}
	return made, x.close(nil)
}
