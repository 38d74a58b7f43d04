package bundle

import (
	"errors"

	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
)

// readCovers reads what an approval digest is of, in its canonical spelling
// only: what is read is then exactly what was hashed.
func readCovers(text []byte) (approval.Subject, error) {
	var c struct {
		AcceptanceID      contract.ID `json:"acceptanceId"`
		AcceptanceVersion int64       `json:"acceptanceVersion"`
		BoundaryAuditID   *string     `json:"boundaryAuditId"`
		DiffHash          *string     `json:"diffHash"`
		GateID            contract.ID `json:"gateId"`
		GateVersion       int64       `json:"gateVersion"`
		PolicySetDigest   *string     `json:"policySetDigest"`
		VerifyDecisionID  *string     `json:"verifyDecisionId"`
	}
	if err := strict(text, &c); err != nil {
		return approval.Subject{}, err
	}
	s := approval.Subject{
		GateID: c.GateID, GateVersion: c.GateVersion, AcceptanceID: c.AcceptanceID, AcceptanceVersion: c.AcceptanceVersion,
		DiffHash: text0(c.DiffHash), BoundaryAuditID: text0(c.BoundaryAuditID), VerifyDecisionID: text0(c.VerifyDecisionID),
		PolicySetDigest: text0(c.PolicySetDigest),
	}
	if string(s.Canonical()) != string(text) {
		return approval.Subject{}, errors.New("it is not in its canonical spelling")
	}
	return s, nil
}

func text0(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
