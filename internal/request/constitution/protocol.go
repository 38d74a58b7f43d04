package constitution

import (
	"slices"

	"plimsoll.dev/internal/request/envelope"
)

// worker rules are what the protocol fixes about a worker and no configuration
// may change (docs/spec/circle.md §1).
type workerRule struct {
	id       AgentID
	priority int
	class    Class
}

var workers = []workerRule{
	{PrivacySentinel, 1, Supporting},
	{GatePolicy, 2, Heavy},
	{Process, 3, Heavy},
	{CoreGuardian, 4, Heavy},
	{Identity, 5, Heavy},
	{Bridge, 6, Heavy},
	{Gifts, 7, Heavy},
	{Sync, 8, Heavy},
	{AuditLog, 9, Supporting},
	{InfraHealth, 10, Supporting},
	{ResearchScout, 11, Supporting},
	{RitualField, 12, Supporting},
	{Memory, 13, Supporting},
}

// Workers is the thirteen workers in the order of their priority.
func Workers() []AgentID { return agents()[2:] }

// agents is every agent: the constitution, the orchestrator, the workers.
func agents() []AgentID {
	list := []AgentID{Base, Orchestrator}
	for _, w := range workers {
		list = append(list, w.id)
	}
	return list
}

func protocol(id AgentID) (workerRule, bool) {
	i := slices.IndexFunc(workers, func(w workerRule) bool { return w.id == id })
	if i < 0 {
		return workerRule{}, false
	}
	return workers[i], true
}

// The files of a configuration (docs/spec/circle.md §2).
const (
	RegistryPath = "agents_registry.yaml"
	LockPath     = "prompts.lock"

	basePath     = "JOS_BASE.md"
	managerPath  = "orchestrator.md"
	workerFolder = "workers"
)

// promptPaths is the only place each prompt can be at.
func promptPaths() map[AgentID]string {
	paths := map[AgentID]string{Base: basePath, Orchestrator: managerPath}
	for _, w := range workers {
		paths[w.id] = workerFolder + "/" + string(w.id) + ".md"
	}
	return paths
}

// chainSteps is the workers of each chain in the order the protocol gives them
// (docs/spec/circle.md §6, Chains). Conditions and outputs are the registry's.
func chainSteps() map[Intent][]AgentID {
	return map[Intent][]AgentID{
		CircleDecision: {Process, PrivacySentinel, GatePolicy, Process, AuditLog},
		ExternalAction: {PrivacySentinel, GatePolicy, Identity, Bridge, Process},
		GiftExchange:   {Gifts, Process, Bridge, AuditLog},
		OfflineMerge:   {Sync, Process, AuditLog},
		CoreChange:     {CoreGuardian, Process, GatePolicy, AuditLog},
	}
}

// widestCeilings is the widest a ceiling may be (docs/spec/circle.md §7): a
// consent lifts a ceiling to the level it names, where a level is left to name.
func widestCeilings() map[envelope.Flag]Ceiling {
	return map[envelope.Flag]Ceiling{
		envelope.Secrets:      {},
		envelope.Health:       {Without: envelope.Private, WithConsent: envelope.Circle},
		envelope.Minors:       {Without: envelope.Private, WithConsent: envelope.Circle},
		envelope.PersonalData: {Without: envelope.Circle, WithConsent: envelope.Public},
		envelope.Location:     {Without: envelope.Circle, WithConsent: envelope.Public},
		envelope.Finance:      {Without: envelope.Clan, WithConsent: envelope.Public},
		envelope.Legal:        {Without: envelope.Clan, WithConsent: envelope.Public},
	}
}
