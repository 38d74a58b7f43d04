package operation_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/testdata/contracts"
)

func TestTheTableIsTheSurface(t *testing.T) {
	type vector struct {
		Name, Mode, OperationID string
		Expected                struct {
			Method, Path   string
			Scope          *operation.Scope
			IdempotencyKey bool
			IfMatch        *operation.Match
			StoryCommand   *string
		}
	}
	stories := map[string]string{"task.claim": "run.start", "run.complete": "run.finish", "run.fail": "run.finish"}
	seen := 0
	for _, v := range contracts.Load[vector](t, "surface") {
		if v.Mode != "operation" {
			continue
		}
		seen++
		o, ok := operation.Find(v.OperationID)
		want := v.Expected
		scope, match := operation.Scope(""), operation.Unread
		if want.Scope != nil {
			scope = *want.Scope
		}
		if want.IfMatch != nil {
			match = *want.IfMatch
		}
		if !ok || o.Method != want.Method || o.Path != want.Path || o.Scope != scope || o.Key != want.IdempotencyKey || o.Match != match {
			t.Errorf("%s: got %+v", v.Name, o)
		}
		if command := want.StoryCommand; command != nil && *command != v.OperationID && *command != stories[v.OperationID] {
			t.Errorf("%s: is %s", v.Name, *command)
		}
	}
	// The vectors are older than the bundle.
	if _, ok := operation.Find("gate.bundle"); !ok || seen != 70 || len(operation.All()) != seen+1 {
		t.Errorf("%d vectors for %d operations", seen, len(operation.All()))
	}
}

// What writes needs a key, what reads does not, and no two share a route.
func TestTheTableIsConsistent(t *testing.T) {
	routes := map[string]string{}
	for _, o := range operation.Every() {
		if other, taken := routes[o.Method+" "+o.Path]; taken {
			t.Errorf("%s and %s share a route", o.ID, other)
		}
		routes[o.Method+" "+o.Path] = o.ID
		reads := o.Method == "GET"
		if reads && (o.Key || o.Match != operation.Unread) || !reads && !o.Key && !strings.HasSuffix(o.ID, ".heartbeat") {
			t.Errorf("%s: key %v, match %q", o.ID, o.Key, o.Match)
		}
		if o.Scope != "" && !o.Scope.Valid() || o.Scope == "" && !reads {
			t.Errorf("%s: scope %q", o.ID, o.Scope)
		}
		if o.Success < 200 || o.Success > 204 {
			t.Errorf("%s: success %d", o.ID, o.Success)
		}
	}
	if _, ok := operation.Find("gate.delete"); ok {
		t.Error("an operation that is not there was found")
	}
}

func TestTheActingRole(t *testing.T) {
	o, _ := operation.Find("gate.decide")
	for _, c := range []struct {
		held    contract.RoleSet
		role    contract.Role
		several bool
	}{
		{contract.RolesOf(contract.Developer, contract.ProjectLead), contract.ProjectLead, false},
		{contract.RolesOf(contract.SecurityReviewer, contract.ProjectLead), "", true},
		{contract.RolesOf(contract.Developer), contract.Developer, false},
		{0, "", false},
	} {
		if r, several := o.Acting(c.held); r != c.role || several != c.several {
			t.Errorf("%s: got %q, %v", c.held, r, several)
		}
	}
}

func TestNobodyNamesARoleToRead(t *testing.T) {
	for _, o := range operation.Every() {
		if o.Scope == operation.Read || o.Scope == operation.Audit {
			if r, several := o.Acting(contract.RolesOf(contract.Roles()...)); r != "" || several {
				t.Errorf("%s: %q, %v", o.ID, r, several)
			}
		}
	}
}

func TestAuditActions(t *testing.T) {
	for id, want := range map[string]string{
		"intent.revise": "contract.create", "contract.revoke": "contract.transition", "task.claim": "run.start",
		"run.fail": "run.end", "outcome.adopt": "artifact.adopt", "member.remove": "circle.member.remove", "clan.reload": "config.reload",
		"gate.decide": "gate.decide", "contract.resume": "contract.resume",
	} {
		if got := operation.AuditAction(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
