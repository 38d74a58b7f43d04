package worker

import (
	"plimsoll.dev/internal/request/constitution"
)

// Engines is the built-in engine of every worker: the one list of them
// (docs/spec/circle.md §1). Nothing else is a worker.
func Engines() map[constitution.AgentID]Engine {
	return map[constitution.AgentID]Engine{
		constitution.PrivacySentinel: Func(privacySentinel),
		constitution.GatePolicy:      Func(gatePolicy),
		constitution.Process:         Func(process),
		constitution.CoreGuardian:    Func(coreGuardian),
		constitution.Identity:        Func(identity),
		constitution.Bridge:          Func(bridge),
		constitution.Gifts:           Func(gifts),
		constitution.Sync:            Func(syncRecords),
		constitution.AuditLog:        Func(auditLog),
		constitution.InfraHealth:     Func(infraHealth),
		constitution.ResearchScout:   Func(researchScout),
		constitution.RitualField:     Func(ritualField),
		constitution.Memory:          Func(remember),
	}
}
