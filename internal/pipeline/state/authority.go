package state

import (
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/role"
)

// authority is whose decision an edge carries out. The Orchestrator writes all
// states; the actor of an event is the one for whom it does.
type authority struct {
	words string
	check func(Snapshot, Event) error
}

func oneOf(what string, list ...contract.Role) authority {
	may := contract.RolesOf(list...)
	return authority{
		words: may.String(),
		check: func(_ Snapshot, e Event) error { return role.Permit(e.Actor.Role, may, what) },
	}
}

var (
	raises       = oneOf("raise an intent", contract.Requester, contract.Admin)
	orchestrator = oneOf("change this state itself", contract.Orchestrator)
	policyEngine = oneOf("make a gate", contract.PolicyEngine)
	freezes      = oneOf("freeze a contract", contract.Orchestrator, contract.ProjectLead, contract.SecurityReviewer, contract.Admin)
	audits       = oneOf("revoke Evidence", contract.SecurityReviewer, contract.Admin)
	archives     = oneOf("archive a contract", contract.Orchestrator, contract.Admin)

	// Who made a contract is asked by what makes it: a generator, an executor.
	anybody = authority{words: "its generator", check: func(Snapshot, Event) error { return nil }}

	resumes = authority{
		words: "project_lead, admin; cause policy_violation: security_reviewer, admin",
		check: func(s Snapshot, e Event) error {
			may := contract.RolesOf(contract.ProjectLead, contract.Admin)
			if s.Cause == contract.PolicyViolation {
				may = contract.RolesOf(contract.SecurityReviewer, contract.Admin)
			}
			return role.Permit(e.Actor.Role, may, "resume a contract frozen for "+string(s.Cause))
		},
	}

	revokes = authority{
		words: "admin; security_reviewer (audit); project_lead (manual_stop); requester for an own Draft intent (manual_stop); " +
			"orchestrator for a rejected gate or a regeneration",
		check: revocation,
	}
)

// revocation leaves a missing ground to the guard: a role that may revoke on
// some ground is told that the ground is missing, not that it may not.
func revocation(s Snapshot, e Event) error {
	may := false
	switch e.Actor.Role {
	case contract.Admin:
		may = true
	case contract.SecurityReviewer:
		may = e.Ground != contract.ManualStop
	case contract.ProjectLead:
		may = e.Ground != contract.Audit
	case contract.Requester:
		may = s.Kind == contract.KindIntent && s.State == contract.Draft &&
			s.Creator == e.Actor.ID && e.Ground != contract.Audit
	case contract.Orchestrator:
		may = s.Kind == contract.KindPublishGate && s.FinalDecision == contract.DecisionRejected ||
			e.Ground == contract.ManualStop && e.Reason == Regenerated
	case contract.PolicyEngine, contract.Developer, contract.CIAgent, contract.QA, contract.ReleaseManager, contract.ChannelAdapter:
	}
	if !may {
		return role.Refuse(e.Actor.Role, "revoke this contract on this ground")
	}
	return nil
}
