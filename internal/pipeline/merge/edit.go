package merge

import (
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
)

// Change is what a write would change.
type Change string

// The changes. Any other value is the name of one member that no write may
// touch: id, kind, createdAt, schemaVersion, and the members of a gate.
const (
	Content          Change = "content"           // fields of an intent or TaskSeed
	AcceptanceResult Change = "acceptance.result" // status, details, criteria
)

// Write is one write of a document in place.
type Write struct {
	Kind    contract.Kind
	State   contract.State
	Change  Change
	Role    contract.Role
	Stored  int64
	Written int64

	// Of the newest gate of an Acceptance: what it came to, and whether the
	// approval digest computed now differs from the gate's (R14).
	Gate          contract.FinalDecision
	DigestChanged bool
}

// Edit says whether a write is allowed, in the order of checks of
// docs/spec/contracts.md §1.8: Archived, Evidence, the table, role, version.
func Edit(w Write) error {
	if w.State == contract.Archived {
		return refusal.New(refusal.ContractArchivedImmutable, "an Archived contract does not change")
	}
	if w.Kind == contract.KindEvidence {
		return immutable("", "Evidence does not change")
	}
	may := editors(w)
	if may.Empty() {
		return refusal.New(refusal.ContractNotEditable, "%s of a %s %s is not edited", w.Change, w.State, w.Kind)
	}
	if err := role.Permit(w.Role, may, "edit a "+string(w.Kind)); err != nil {
		return err
	}
	return Version(w.Stored, w.Written)
}

// editors is the table: who may make this change in this state, nobody where it
// has no row. The Validator and a planner act as orchestrator.
func editors(w Write) contract.RoleSet {
	switch {
	case w.Kind == contract.KindIntent && w.Change == Content && w.State == contract.Draft:
		return contract.RolesOf(contract.Requester, contract.Admin)
	case w.Kind == contract.KindTaskSeed && w.Change == Content && w.State == contract.Draft:
		return contract.RolesOf(contract.ProjectLead, contract.Admin, contract.Orchestrator)
	case w.Kind == contract.KindAcceptance && w.Change == AcceptanceResult &&
		(w.State == contract.Draft || w.State == contract.Active) &&
		(w.Gate != contract.DecisionApproved || w.DigestChanged):
		return contract.RolesOf(contract.Orchestrator)
	}
	return 0
}

// Revise says whether a new row of an intent may be made beside the versions
// there are: not while one of them is still a Draft, which is edited instead.
func Revise(versions []contract.State) error {
	for _, s := range versions {
		if s == contract.Draft {
			return refusal.New(refusal.ContractNotEditable, "a version is still a Draft: edit it")
		}
	}
	return nil
}
