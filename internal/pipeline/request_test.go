package pipeline_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
)

func keyed(who pipeline.Caller, key, digest string) pipeline.Caller {
	who.Once = pipeline.Once{
		Key: key, Method: "POST", Path: "/v1/intents", BodyDigest: digest,
		Render: func(result any) (pipeline.Answer, error) {
			return pipeline.Answer{Status: 201, MediaType: "application/json", Body: []byte(result.(*pipeline.Shown).Ref().ID)}, nil
		},
	}
	return who
}

func TestARequestIsAnsweredOnceAndReplayedAfterwards(t *testing.T) {
	o := newOffice(t, nil)
	o.people(pipeline.Actor{ID: "two", Type: contract.Human, Roles: contract.RolesOf(contract.Requester, contract.Admin)})
	args := pipeline.IntentArgs{Intent: "Add a login page", Priority: "low", RequestedCapabilities: []string{"read_repo"}}
	bad := args
	bad.Priority = "urgent"
	create := func(who pipeline.Caller, a pipeline.IntentArgs) error {
		_, err := o.IntentCreate(o.Context(), who, a)
		return err
	}
	one := by("two", contract.Requester)
	o.refuses(refusal.ContractSchemaInvalid, create(keyed(one, "k-1", "a"), bad)) // a refusal leaves no record
	o.refuses("", create(keyed(one, "k-1", "a"), args))
	before := o.actions()
	replayed, ok := errors.AsType[*pipeline.Replayed](create(keyed(one, "k-1", "a"), args))
	if !ok || string(replayed.Request.Answer) != "IC-001" || replayed.Request.Status != 201 {
		t.Fatalf("the repetition was answered %+v", replayed)
	}
	if after := o.actions(); after["contract.create"] != before["contract.create"] {
		t.Error("the repetition was audited as an action of its own")
	}
	o.refuses(refusal.RequestIDConflict, create(keyed(one, "k-1", "b"), args))
	o.refuses(refusal.RequestIDConflict, create(keyed(by("two", contract.Admin), "k-1", "a"), args))
	o.refuses("", create(keyed(asker, "k-1", "a"), args))
	known, err := o.Known(o.Context(), keyed(one, "k-1", "a"))
	if err != nil || known == nil || string(known.Answer) != "IC-001" {
		t.Errorf("a surface that asks is told %+v, %v", known, err)
	}
	if known, err := o.Known(o.Context(), keyed(one, "k-2", "a")); err != nil || known != nil {
		t.Errorf("an unknown key is known as %+v, %v", known, err)
	}
	if list, err := o.ChainList(o.Context(), pipeline.ChainFilter{}, pipeline.Page{}); err != nil || len(list) != 2 {
		t.Errorf("%d chains, %v", len(list), err)
	}
}

// Whoever is not in the registry, is inactive, or names a role they do not hold
// is refused whatever the operation, and it is audited.
func TestTheRegistryHasTheLastWordOnARole(t *testing.T) {
	o := newOffice(t, nil)
	off := false
	args := pipeline.IntentArgs{Intent: "Add a login page", Priority: "low", RequestedCapabilities: []string{"read_repo"}}
	for _, who := range []pipeline.Caller{by("nobody", contract.Requester), by(lead.Actor, contract.Requester), by(developer.Actor, contract.Developer)} {
		_, err := o.IntentCreate(o.Context(), who, args)
		o.refuses(refusal.RoleNotPermitted, err)
	}
	_, err := o.ActorEdit(o.Context(), admin, pipeline.ActorEdit{ID: asker.Actor, Active: &off})
	must(o, 0, err)
	_, err = o.IntentCreate(o.Context(), asker, args)
	o.refuses(refusal.RoleNotPermitted, err)
	if got := o.actions()["contract.create refused"]; got != 4 {
		t.Errorf("%d refusals were audited, want 4", got)
	}
	// A role given a moment ago counts: nobody asks an old token.
	roles := []string{"requester"}
	on := true
	_, err = o.ActorEdit(o.Context(), admin, pipeline.ActorEdit{ID: asker.Actor, Active: &on})
	must(o, 0, err)
	_, err = o.ActorEdit(o.Context(), admin, pipeline.ActorEdit{ID: lead.Actor, Roles: &roles})
	must(o, 0, err)
	_, err = o.IntentCreate(o.Context(), by(lead.Actor, contract.Requester), args)
	must(o, 0, err)
}

// Every operation of the surface is one method here, but for those that only a
// process can answer.
func TestEveryOperationIsAUseCase(t *testing.T) {
	elsewhere := map[string]string{
		"openapi.get": "the surface", "health.get": "the process", "ready.get": "the process", "metrics.get": "the process",
		"me.get": "Authenticate", "config.get": "Settings", "audit.export": "AuditList", "audit.checkpoint": "AuditHead",
	}
	service := reflect.TypeFor[*pipeline.Service]()
	for _, op := range operation.All() {
		if name, ok := elsewhere[op.ID]; ok {
			if _, there := service.MethodByName(name); !there && !strings.HasPrefix(name, "the ") {
				t.Errorf("%s is answered by %s, which is not there", op.ID, name)
			}
			continue
		}
		noun, verb, _ := strings.Cut(op.ID, ".")
		if _, there := service.MethodByName(title(noun) + title(verb)); !there {
			t.Errorf("%s has no use case", op.ID)
		}
	}
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
