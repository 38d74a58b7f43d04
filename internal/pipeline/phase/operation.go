package phase

import (
	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/pipeline/state"
)

// Operation is a request to use one capability on a task.
type Operation struct {
	Role       contract.Role
	Capability capability.Capability
	Snapshot   capability.Set // of the TaskSeed
	TaskSeed   contract.State
	Phase      Phase
}

// Operate says whether the operation is allowed, in the order of checks of
// docs/spec/contracts.md §8: role, capability, grant, snapshot, state, phase.
func Operate(o Operation) error {
	if err := role.Exercise(o.Role, o.Capability, o.Snapshot); err != nil {
		return err
	}
	if err := state.Running(contract.KindTaskSeed, o.TaskSeed); err != nil {
		return err
	}
	if !named(o.Phase, o.Role, o.Snapshot) && !stepsIn(o.Phase, o.Role, o.Capability) {
		return notNamed(o.Role, "touch the repository in "+string(o.Phase))
	}
	return nil
}

// named says whether p names r: the roles of its rows and the chosen actor.
// Plan names nobody who touches the repository.
func named(p Phase, r contract.Role, c capability.Set) bool {
	if p == Refactor && r == builder(c) {
		return true
	}
	for _, s := range table {
		if s.from == p && s.roles.Has(r) {
			return true
		}
	}
	return false
}

// stepsIn says whether r counts as named because the owner of the task holds
// neither of two capabilities and r does (§4.3).
func stepsIn(p Phase, r contract.Role, c capability.Capability) bool {
	if p == Plan {
		return false
	}
	switch c {
	case capability.ReadSecrets:
		return r == contract.SecurityReviewer || r == contract.Admin
	case capability.PublishRelease:
		return r == contract.ReleaseManager || r == contract.Admin
	case capability.ReadRepo, capability.WriteRepo, capability.InstallDeps, capability.NetworkAccess:
	}
	return false
}
