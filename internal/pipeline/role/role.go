// Package role says which role may do what to a repository, and is the one
// place that refuses a role an action (docs/spec/contracts.md §8).
//
// A grant is not enough by itself: the task must have asked for the capability
// and the phase must name the role, which package phase adds. Approving is no
// capability; it is the business of gates.
package role

import (
	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Grants is the capabilities a role holds. The Orchestrator and the Policy
// Engine never touch a repository.
func Grants(r contract.Role) capability.Set {
	readWrite := capability.Of(capability.ReadRepo, capability.WriteRepo)
	switch r {
	case contract.Requester:
		return capability.Of(capability.ReadRepo)
	case contract.Developer, contract.QA, contract.ProjectLead:
		return readWrite
	case contract.CIAgent:
		return readWrite.Union(capability.Of(capability.InstallDeps, capability.NetworkAccess))
	case contract.ReleaseManager:
		return readWrite.Union(capability.Of(capability.PublishRelease))
	case contract.SecurityReviewer:
		return capability.Of(capability.ReadRepo, capability.ReadSecrets)
	case contract.Admin:
		return capability.All
	case contract.Orchestrator, contract.PolicyEngine, contract.ChannelAdapter:
	}
	return 0
}

// Permit refuses a role that is not among those that may. what completes the
// sentence "may not ...".
func Permit(r contract.Role, may contract.RoleSet, what string) error {
	if may.Has(r) {
		return nil
	}
	return Refuse(r, what)
}

// Refuse is the refusal of a role for a reason a set of roles cannot tell.
func Refuse(r contract.Role, what string) error {
	who := "the role " + string(r)
	if r == "" {
		who = "this actor" // where no role is asked for
	}
	return refusal.New(refusal.RoleNotPermitted, "%s may not %s", who, what)
}

// Exercise says whether a role may use a capability that a task asked for: the
// first three checks of an operation request.
func Exercise(r contract.Role, c capability.Capability, requested capability.Set) error {
	switch {
	case !r.Valid():
		return refusal.New(refusal.RoleUnknown, "%q is no role", r)
	case !c.Valid():
		return refusal.New(refusal.CapabilityUnknown, "%q is no capability", c)
	case !Grants(r).Has(c):
		return refusal.New(refusal.CapabilityNotGranted, "the role %s does not hold %s", r, c)
	case !requested.Has(c):
		return refusal.New(refusal.CapabilityNotRequested, "the task did not ask for %s", c)
	}
	return nil
}
