// Package operation is the surface of the service as data: the 71 operations
// of the contracts and those of the circle, with their routes and what each
// demands of a request before its use case runs (docs/spec/contracts.md §20.2,
// docs/spec/circle.md §10).
//
// The HTTP service, its OpenAPI document and the client read this one table. It
// knows no HTTP: a method is a word, a path a pattern.
package operation

import (
	"slices"

	"plimsoll.dev/internal/pipeline/contract"
)

// Scope is what a token must allow. A scope never replaces a role.
type Scope string

// The scopes.
const (
	Read       Scope = "read"
	Write      Scope = "write"
	Decide     Scope = "decide"
	Execute    Scope = "execute"
	Audit      Scope = "audit"
	Administer Scope = "admin"
	Metrics    Scope = "metrics"
)

// Valid says whether s is one of the seven.
func (s Scope) Valid() bool {
	switch s {
	case Read, Write, Decide, Execute, Audit, Administer, Metrics:
		return true
	}
	return false
}

// Match is what an operation makes of If-Match.
type Match string

// The matches. The zero value takes no notice of the header.
const (
	Unread   Match = ""
	Optional Match = "optional" // checked when given
	Demanded Match = "required"
)

// Operation is one row. Scope is "" where nobody is asked who they are. Roles is
// the roles under which an actor may act there at all: what the acting role is
// taken from when none is named; empty where no role is asked for. The use case
// decides further, and has the last word.
type Operation struct {
	ID      string
	Method  string
	Path    string
	Scope   Scope
	Roles   contract.RoleSet
	Success int  // the status of the first answer
	Key     bool // an Idempotency-Key is demanded
	Match   Match
}

// All is the 71 operations of the contracts, in the order of their
// specification.
func All() []Operation { return slices.Clone(table) }

// Find is the operation of an id.
func Find(id string) (Operation, bool) {
	for _, rows := range [][]Operation{table, circle} {
		if i := slices.IndexFunc(rows, func(o Operation) bool { return o.ID == id }); i >= 0 {
			return rows[i], true
		}
	}
	return Operation{}, false
}

// AuditAction is the action under which an operation is audited: its id, but for
// those that are one act with another (§20).
func AuditAction(id string) string {
	switch id {
	case "intent.create", "intent.revise":
		return "contract.create"
	case "contract.freeze", "contract.revoke", "contract.archive":
		return "contract.transition"
	case "task.claim":
		return "run.start"
	case "run.complete", "run.fail", "run.release":
		return "run.end"
	case "outcome.confirm":
		return "artifact.confirm"
	case "outcome.decline":
		return "artifact.decline"
	case "outcome.adopt":
		return "artifact.adopt"
	case "member.set", "member.remove":
		return "circle." + id
	case "clan.reload":
		return "config.reload"
	}
	return id
}

// Acting is the role under which an actor acts who names none: the one of theirs
// that the operation admits. several says that there is more than one, and the
// caller must name it; with none, the use case answers, under any role the actor
// has. Where no role is asked for there is none.
func (o Operation) Acting(held contract.RoleSet) (r contract.Role, several bool) {
	if o.Roles.Empty() {
		return "", false
	}
	admitted := held.Minus(held.Minus(o.Roles)).List()
	switch len(admitted) {
	case 0:
		if list := held.List(); len(list) > 0 {
			return list[0], false
		}
		return "", false
	case 1:
		return admitted[0], false
	}
	return "", true
}
