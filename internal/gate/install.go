package gate

import (
	"fmt"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
)

// MissingInstall is the result that agent instructions write when no binary can
// be started (§12.1).
func MissingInstall() *Result {
	return install("The gate is not installed.", "pipx install agents-shipgate",
		"missing_install_pipx", "binary_missing", "shipgate_missing_install", "install_discovery")
}

// StaleInstall is the result for a binary that follows an older contract (§12.2).
func StaleInstall() *Result {
	return install(fmt.Sprintf("The installed gate is older than runtime contract %d.", ContractVersion),
		"pipx upgrade agents-shipgate", "stale_install_pipx", "binary_stale", "shipgate_stale_install", "version_preflight")
}

func install(reason, command, id, discovery, code, step string) *Result {
	r := bare(ActorCodex, Worktree, control.NeedsInstall(reason, command), noPolicy("unavailable", "unavailable", discovery))
	r.RiskLevel = rule.None
	r.AuditID = id
	r.Repair = control.RepairPlan{
		Actor: control.CodingAgent, Instructions: []string{},
		ForbiddenShortcuts: control.ForbiddenShortcuts("Do not go on without the gate."),
	}
	r.SuggestedFixes = []string{command}
	r.Diagnostics = []Diagnostic{{Level: levelError, Code: code, Message: reason}}
	r.Issues = []string{code}
	r.Trace = []Step{{step, "Written by the agent instructions because no usable binary could answer."}}
	return r
}
