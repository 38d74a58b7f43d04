package approval

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

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

// parts are the members of a Subject that can change under a gate, and what is
// said to people when one has.
var parts = []struct{ member, words string }{
	{"diffHash", "the change is another one"},
	{"boundaryAuditId", "the boundary result is another one"},
	{"verifyDecisionId", "the verification is another one"},
	{"policySetDigest", "the set of policies is another one"},
	{"acceptanceId", "the work is judged by another Acceptance"},
	{"acceptanceVersion", "the work was judged again"},
}

// Since says in words what of a Subject is no longer as in the canonical text of
// an earlier one; "" for nothing.
func (s Subject) Since(earlier []byte) string {
	now := s.Canonical()
	if bytes.Equal(earlier, now) {
		return ""
	}
	members, err := Changed(earlier, now)
	if err != nil {
		return "what was agreed to cannot be read"
	}
	if members == nil {
		return "the gate is another one"
	}
	var list []string
	for _, p := range parts {
		if slices.Contains(members, p.member) {
			list = append(list, p.words)
		}
	}
	return strings.Join(list, "; ")
}

// Changed is the members of a Subject, other than the gate itself, that differ
// between two canonical texts, in the order people are told of them.
func Changed(earlier, now []byte) ([]string, error) {
	var was, is map[string]json.RawMessage
	if err := json.Unmarshal(earlier, &was); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(now, &is); err != nil {
		return nil, err
	}
	var list []string
	for _, p := range parts {
		if !bytes.Equal(was[p.member], is[p.member]) {
			list = append(list, p.member)
		}
	}
	return list, nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
