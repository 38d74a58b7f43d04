package approval

import (
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/contract"
)

// Subject is exactly what an approver agrees to (rulings R14). Empty texts are
// what the chain does not have. The commits are recorded beside it and are no
// part of it: a rebase that leaves the diff byte-identical keeps the digest.
type Subject struct {
	GateID            contract.ID
	GateVersion       int64
	AcceptanceID      contract.ID
	AcceptanceVersion int64
	DiffHash          string
	BoundaryAuditID   string
	VerifyDecisionID  string
	PolicySetDigest   string
}

// Canonical is the text the digest is taken over.
func (s Subject) Canonical() []byte {
	return canonical.UTF8.Append(nil, canonical.Object{
		{Key: "acceptanceId", Value: string(s.AcceptanceID)},
		{Key: "acceptanceVersion", Value: s.AcceptanceVersion},
		{Key: "boundaryAuditId", Value: orNull(s.BoundaryAuditID)},
		{Key: "diffHash", Value: orNull(s.DiffHash)},
		{Key: "gateId", Value: string(s.GateID)},
		{Key: "gateVersion", Value: s.GateVersion},
		{Key: "policySetDigest", Value: orNull(s.PolicySetDigest)},
		{Key: "verifyDecisionId", Value: orNull(s.VerifyDecisionID)},
	})
}

// Digest is the approval digest: fixed when the gate version is made, shown
// with it, and computed again immediately before the publication run.
func (s Subject) Digest() string { return contract.Hash(s.Canonical()) }

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
