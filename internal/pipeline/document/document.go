// Package document is the application layer: what a document says as a whole
// and beside the others, beyond the form its schema fixes and short of what may
// be done with it (docs/spec/contracts.md §0.1).
//
// Every function is pure and answers with all faults it finds, in the order in
// which the specification lists the rules; a caller that needs one code takes
// the first.
package document

import (
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Alone is what a document says wrong by itself. The rules of Evidence and of
// gates have their own functions.
func Alone(d contract.Document) refusal.List {
	var faults refusal.List
	if b := d.Head(); b.UpdatedAt.Before(b.CreatedAt) {
		faults = append(faults, refusal.At(refusal.ContractUpdatedBeforeCreated, "/updatedAt", "%s is before %s", b.UpdatedAt, b.CreatedAt))
	}
	switch d := d.(type) {
	case *contract.TaskSeed:
		faults = append(faults, form(d.GenerationPolicy)...)
	case *contract.Acceptance:
		faults = append(faults, form(d.GenerationPolicy)...)
	}
	return faults
}

// Reference is the fault of a document whose source nobody knows.
func Reference(d contract.Document, known func(contract.ID) bool) refusal.List {
	source := d.Source()
	if source == "" || known(source) {
		return nil
	}
	return refusal.List{refusal.At(refusal.RefNotFound, sourceMember(d), "%s is unknown", source)}
}

func sourceMember(d contract.Document) string {
	switch d.(type) {
	case *contract.TaskSeed:
		return "/intentId"
	case *contract.PublishGate:
		return "/entityId"
	}
	return "/taskSeedId"
}

// TaskSeed is what a TaskSeed says wrong of its capabilities and its policy.
// intent is nil when only the TaskSeed is at hand.
func TaskSeed(t *contract.TaskSeed, intent *contract.Intent) refusal.List {
	var faults refusal.List
	if intent != nil && intent.RequestedCapabilities != t.CapabilitiesSnapshot {
		faults = append(faults, refusal.At(refusal.TaskseedCapabilitiesMismatch, "/requestedCapabilitiesSnapshot",
			"%s, and the intent asks for %s", t.CapabilitiesSnapshot, intent.RequestedCapabilities))
	}
	return append(faults, strength(t.GenerationPolicy, approval.TaskSeedPolicy(t.CapabilitiesSnapshot))...)
}

// Acceptance is what an Acceptance says wrong of the policy it inherits from
// its TaskSeed, given the risk its execution turned out to have.
func Acceptance(a *contract.Acceptance, t *contract.TaskSeed, execution contract.Level) refusal.List {
	return strength(a.GenerationPolicy, approval.AcceptancePolicy(t.GenerationPolicy, t.CapabilitiesSnapshot, execution))
}

const (
	policyPath    = "/generationPolicy"
	approversPath = "/generationPolicy/requiredActivationApprovals"
)

// form is what a policy says wrong whatever it is for.
func form(p contract.GenerationPolicy) refusal.List {
	switch {
	case !p.AutoActivate && p.Approvals.Empty():
		return refusal.List{refusal.At(refusal.GenerationPolicyApprovalsEmpty, approversPath, "nobody could ever activate it")}
	case p.AutoActivate && !p.Approvals.Empty():
		return refusal.List{refusal.At(refusal.GenerationPolicyContradictory, policyPath, "%s would never be asked", p.Approvals)}
	}
	return nil
}

// strength refuses a policy that is weaker than the derived one. Stricter is
// anyone's right.
func strength(p, derived contract.GenerationPolicy) refusal.List {
	if derived.AutoActivate {
		return nil
	}
	if p.AutoActivate || !p.Approvals.Contains(derived.Approvals) {
		return refusal.List{refusal.At(refusal.GenerationPolicyTooWeak, policyPath, "at least %s must approve", derived.Approvals)}
	}
	return nil
}
