package operation

import "plimsoll.dev/internal/pipeline/contract"

func roles(list ...contract.Role) contract.RoleSet { return contract.RolesOf(list...) }

var (
	everyone  = roles(contract.Roles()...)
	approvers = roles(contract.ProjectLead, contract.SecurityReviewer, contract.ReleaseManager, contract.Admin)
)

// noRole stands where any active actor may ask, or where the actor itself is
// what counts: the one of a run, the holder of a lock, the owner of a token.
const noRole = contract.RoleSet(0)

// table is docs/spec/contracts.md §20.2, row by row.
var table = []Operation{
	// Contracts.
	{"contract.list", "GET", "/v1/contracts", Read, noRole, 200, false, Unread},
	{"contract.get", "GET", "/v1/contracts/{id}", Read, noRole, 200, false, Unread},
	{"contract.versions", "GET", "/v1/contracts/{id}/versions", Read, noRole, 200, false, Unread},
	{"contract.edit", "PATCH", "/v1/contracts/{id}", Write, roles(contract.Requester, contract.ProjectLead, contract.Admin), 200, true, Demanded},
	{"activation.list", "GET", "/v1/contracts/{id}/activations", Read, noRole, 200, false, Unread},
	{"activation.decide", "POST", "/v1/contracts/{id}/activations", Decide, approvers, 201, true, Optional},
	{"contract.freeze", "POST", "/v1/contracts/{id}/freeze", Decide, roles(contract.ProjectLead, contract.SecurityReviewer, contract.Admin), 200, true, Optional},
	{"contract.resume", "POST", "/v1/contracts/{id}/resume", Decide, roles(contract.ProjectLead, contract.SecurityReviewer, contract.Admin), 200, true, Optional},
	{"contract.revoke", "POST", "/v1/contracts/{id}/revoke", Decide, roles(contract.Requester, contract.ProjectLead, contract.SecurityReviewer, contract.Admin), 200, true, Optional},
	{"contract.archive", "POST", "/v1/contracts/{id}/archive", Administer, roles(contract.Admin), 200, true, Optional},
	{"merge.resolve", "POST", "/v1/contracts/{id}/resolve", Decide, roles(contract.ProjectLead, contract.Admin), 200, true, Optional},

	// Intents and chains.
	{"intent.create", "POST", "/v1/intents", Write, roles(contract.Requester, contract.Admin), 201, true, Unread},
	{"intent.revise", "POST", "/v1/intents/{id}/revise", Write, roles(contract.Requester, contract.Admin), 201, true, Optional},
	{"chain.list", "GET", "/v1/chains", Read, noRole, 200, false, Unread},
	{"chain.get", "GET", "/v1/chains/{intentId}", Read, noRole, 200, false, Unread},

	// Tasks and runs (executor protocol).
	{"task.list", "GET", "/v1/tasks", Read, noRole, 200, false, Unread},
	{"task.claim", "POST", "/v1/tasks/{id}/claim", Execute, roles(contract.Developer, contract.CIAgent, contract.QA, contract.ReleaseManager, contract.Admin), 201, true, Unread},
	{"run.list", "GET", "/v1/runs", Read, noRole, 200, false, Unread},
	{"run.get", "GET", "/v1/runs/{executionId}", Read, noRole, 200, false, Unread},
	{"run.heartbeat", "POST", "/v1/runs/{executionId}/heartbeat", Execute, noRole, 200, false, Unread},
	{"run.complete", "POST", "/v1/runs/{executionId}/complete", Execute, noRole, 200, true, Unread},
	{"run.fail", "POST", "/v1/runs/{executionId}/fail", Execute, noRole, 200, true, Unread},
	{"run.release", "POST", "/v1/runs/{executionId}/release", Execute, noRole, 200, true, Unread},
	{"artifact.put", "PUT", "/v1/runs/{executionId}/artifacts/{kind}", Execute, noRole, 201, true, Unread},
	{"artifact.list", "GET", "/v1/runs/{executionId}/artifacts", Read, noRole, 200, false, Unread},
	{"artifact.get", "GET", "/v1/runs/{executionId}/artifacts/{kind}", Read, noRole, 200, false, Unread},
	{"operation.request", "POST", "/v1/tasks/{id}/operations", Execute, everyone, 200, true, Unread},
	{"review.list", "GET", "/v1/tasks/{id}/reviews", Read, noRole, 200, false, Unread},
	{"review.record", "POST", "/v1/tasks/{id}/reviews", Decide, roles(contract.ProjectLead, contract.SecurityReviewer), 201, true, Unread},
	{"verify.record", "POST", "/v1/tasks/{id}/verifications", Execute, noRole, 201, true, Unread},
	{"note.get", "GET", "/v1/tasks/{id}/release-note", Read, noRole, 200, false, Unread},

	// Acceptances and gates.
	{"acceptance.reevaluate", "POST", "/v1/acceptances/{id}/reevaluate", Decide, roles(contract.ProjectLead, contract.SecurityReviewer, contract.QA, contract.Admin), 200, true, Optional},
	{"gate.list", "GET", "/v1/gates", Read, noRole, 200, false, Unread},
	{"gate.get", "GET", "/v1/gates/{id}", Read, noRole, 200, false, Unread},
	{"gate.status", "GET", "/v1/gates/status", Read, noRole, 200, false, Unread},
	{"gate.bundle", "GET", "/v1/gates/{id}/bundle", Audit, noRole, 200, false, Unread},
	{"gate.decide", "POST", "/v1/gates/{id}/decisions", Decide, approvers, 201, true, Optional},
	{"gate.hold", "POST", "/v1/gates/{id}/hold", Decide, approvers, 200, true, Optional},
	{"gate.release", "POST", "/v1/gates/{id}/release", Decide, roles(contract.ProjectLead, contract.Admin), 200, true, Optional},

	// Evidence, events, audit.
	{"evidence.list", "GET", "/v1/evidence", Read, noRole, 200, false, Unread},
	{"evidence.ingest", "POST", "/v1/evidence/ingest", Execute, roles(contract.Developer, contract.CIAgent, contract.QA, contract.Admin), 200, true, Unread},
	{"event.list", "GET", "/v1/events", Read, noRole, 200, false, Unread},
	{"audit.list", "GET", "/v1/audit", Audit, noRole, 200, false, Unread},
	{"audit.export", "GET", "/v1/audit/export", Audit, noRole, 200, false, Unread},
	{"audit.checkpoint", "GET", "/v1/audit/checkpoint", Audit, noRole, 200, false, Unread},

	// Locks, webhooks, actors, tokens, service.
	{"lock.list", "GET", "/v1/locks", Read, noRole, 200, false, Unread},
	{"lock.acquire", "POST", "/v1/locks", Execute, roles(contract.Developer, contract.CIAgent, contract.QA, contract.ReleaseManager, contract.Admin), 201, true, Unread},
	{"lock.heartbeat", "POST", "/v1/locks/{lockId}/heartbeat", Execute, noRole, 200, false, Unread},
	{"lock.release", "DELETE", "/v1/locks/{lockId}", Execute, noRole, 204, true, Unread},
	{"webhook.list", "GET", "/v1/webhooks", Administer, roles(contract.Admin), 200, false, Unread},
	{"webhook.create", "POST", "/v1/webhooks", Administer, roles(contract.Admin), 201, true, Unread},
	{"webhook.get", "GET", "/v1/webhooks/{id}", Administer, roles(contract.Admin), 200, false, Unread},
	{"webhook.edit", "PATCH", "/v1/webhooks/{id}", Administer, roles(contract.Admin), 200, true, Demanded},
	{"webhook.delete", "DELETE", "/v1/webhooks/{id}", Administer, roles(contract.Admin), 204, true, Demanded},
	{"webhook.rotate", "POST", "/v1/webhooks/{id}/rotate", Administer, roles(contract.Admin), 200, true, Unread},
	{"webhook.test", "POST", "/v1/webhooks/{id}/test", Administer, roles(contract.Admin), 202, true, Unread},
	{"webhook.replay", "POST", "/v1/webhooks/{id}/replay", Administer, roles(contract.Admin), 202, true, Unread},
	{"delivery.list", "GET", "/v1/webhooks/{id}/deliveries", Administer, roles(contract.Admin), 200, false, Unread},
	{"actor.list", "GET", "/v1/actors", Read, noRole, 200, false, Unread},
	{"actor.create", "POST", "/v1/actors", Administer, roles(contract.Admin), 201, true, Unread},
	{"actor.get", "GET", "/v1/actors/{actorId}", Read, noRole, 200, false, Unread},
	{"actor.edit", "PATCH", "/v1/actors/{actorId}", Administer, roles(contract.Admin), 200, true, Demanded},
	{"token.list", "GET", "/v1/tokens", Read, noRole, 200, false, Unread},
	{"token.create", "POST", "/v1/tokens", Write, noRole, 201, true, Unread},
	{"token.revoke", "DELETE", "/v1/tokens/{id}", Write, noRole, 204, true, Unread},
	{"me.get", "GET", "/v1/me", Read, noRole, 200, false, Unread},
	{"config.get", "GET", "/v1/config", Read, noRole, 200, false, Unread},
	{"openapi.get", "GET", "/openapi.json", "", noRole, 200, false, Unread},
	{"health.get", "GET", "/healthz", "", noRole, 200, false, Unread},
	{"ready.get", "GET", "/readyz", "", noRole, 200, false, Unread},
	{"metrics.get", "GET", "/metrics", Metrics, noRole, 200, false, Unread},
}
