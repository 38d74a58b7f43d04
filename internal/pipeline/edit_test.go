package pipeline_test

import (
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

func (o office) draft() {
	o.Helper()
	shown, err := o.IntentCreate(o.Context(), asker, pipeline.IntentArgs{
		Intent: "Add a login page", Priority: "low", RequestedCapabilities: []string{"read_repo"},
	})
	must(o, shown, err)
}

func (o office) edit(who pipeline.Caller, id contract.ID, version int64, patch map[string]any) (*pipeline.Shown, error) {
	return o.ContractEdit(o.Context(), who, pipeline.EditArgs{ID: id, Version: version, Patch: patch})
}

func TestAnEditOpensANewRoundAndKeepsWhatWasThere(t *testing.T) {
	o := newOffice(t, nil)
	o.draft()
	_, err := o.ActivationDecide(o.Context(), lead, pipeline.ActivationArgs{ID: "IC-001", Version: 1, Decision: contract.Rejected})
	must(o, 0, err)
	shown, err := o.edit(asker, "IC-001", 2, map[string]any{"intent": "Add a login page with a test"})
	must(o, shown, err)
	rows, history, err := o.ContractVersions(o.Context(), "IC-001")
	if err != nil || len(rows) != 1 || len(history) != 1 || history[0].Ref.Version != 1 {
		t.Fatalf("%d rows, history %+v, %v", len(rows), history, err)
	}
	_, err = o.ActivationDecide(o.Context(), lead, pipeline.ActivationArgs{ID: "IC-001", Version: 1, Decision: contract.Approved})
	o.refuses(refusal.ContractVersionStale, err)
	o.vote(lead, "IC-001", 2)
	o.expect(map[contract.ID]string{"IC-001": "Active", "TS-001": "Active"})
	if d := o.newest("TS-001").Document.(*contract.TaskSeed).Description; d != "Add a login page with a test" {
		t.Errorf("the TaskSeed says %q", d)
	}
}

func TestWhoSeesSomethingElseDoesNotDecide(t *testing.T) {
	o := newOffice(t, nil)
	o.draft()
	_, err := o.ActivationDecide(o.Context(), lead, pipeline.ActivationArgs{
		ID: "IC-001", Version: 1, Decision: contract.Approved, ContentDigest: contract.EmptyObjectHash,
	})
	o.refuses(refusal.ContractVersionConflict, err)
	digest := contract.ContentDigest(o.newest("IC-001").Document)
	_, err = o.ActivationDecide(o.Context(), lead, pipeline.ActivationArgs{ID: "IC-001", Version: 1, Decision: contract.Approved, ContentDigest: digest})
	must(o, 0, err)
}

func TestOnlyAuthorsEditAndOnlyDrafts(t *testing.T) {
	o := newOffice(t, nil)
	o.draft()
	o.people(pipeline.Actor{ID: "user-009", Type: contract.Human, Roles: contract.RolesOf(contract.Requester)})
	change := map[string]any{"priority": "high"}
	_, err := o.edit(lead, "IC-001", 2, change)
	o.refuses(refusal.RoleNotPermitted, err)
	_, err = o.edit(by("user-009", contract.Requester), "IC-001", 2, change)
	o.refuses(refusal.RoleNotPermitted, err)
	_, err = o.edit(asker, "IC-001", 2, map[string]any{"creator": "user-009"})
	o.refuses(refusal.ContractNotEditable, err)
	_, err = o.edit(asker, "IC-001", 2, map[string]any{"priority": "urgent"})
	o.refuses(refusal.ContractSchemaInvalid, err)
	_, err = o.edit(asker, "IC-001", 0, change)
	o.refuses(refusal.ContractSchemaInvalid, err)
	stale := asker
	stale.Match = "IC-001.1.99"
	_, err = o.edit(stale, "IC-001", 2, change)
	o.refuses(refusal.RequestPreconditionFailed, err)
	o.vote(lead, "IC-001", 1)
	_, err = o.edit(asker, "IC-001", 2, change)
	o.refuses(refusal.ContractNotEditable, err)
}

func TestTwoUpdatesUnderOneVersionWaitForAPersonToChoose(t *testing.T) {
	o := newOffice(t, nil)
	o.draft()
	_, err := o.edit(asker, "IC-001", 1, map[string]any{"intent": "Add a logout page"})
	o.refuses(refusal.ContractVersionConflict, err)
	shown, err := o.ContractGet(o.Context(), "IC-001", 0)
	c := must(o, shown, err)
	if len(c.Conflict) != 2 {
		t.Fatalf("the conflict is %+v", c.Conflict)
	}
	_, err = o.MergeResolve(o.Context(), asker, pipeline.ResolveArgs{ID: "IC-001", Version: 1, Chosen: c.Conflict[1].Digest})
	o.refuses(refusal.RoleNotPermitted, err)
	_, err = o.MergeResolve(o.Context(), lead, pipeline.ResolveArgs{ID: "IC-001", Version: 1, Chosen: "sha256:00"})
	o.refuses(refusal.RefNotFound, err)
	shown, err = o.MergeResolve(o.Context(), lead, pipeline.ResolveArgs{ID: "IC-001", Version: 1, Chosen: c.Conflict[1].Digest})
	c = must(o, shown, err)
	if d := c.Document.(*contract.Intent); d.Intent != "Add a logout page" || d.Version != 2 || len(c.Conflict) != 0 {
		t.Errorf("after the choice it is %+v with %+v", d, c.Conflict)
	}
}

func TestThePolicyEngineVotesWhereAHandWrittenListNamesIt(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo", "install_deps")
	o.expect(map[contract.ID]string{"TS-001": "Draft"})
	policy := func(approvers ...any) map[string]any {
		return map[string]any{"generationPolicy": map[string]any{"auto_activate": false, "requiredActivationApprovals": approvers}}
	}
	_, err := o.edit(lead, "TS-001", 2, policy("project_lead"))
	o.refuses(refusal.GenerationPolicyTooWeak, err)
	shown, err := o.edit(lead, "TS-001", 2, policy("project_lead", "security_reviewer", "policy_engine"))
	must(o, shown, err)
	votes, err := o.ActivationList(o.Context(), "TS-001")
	if list := must(o, votes, err); len(list) != 1 || list[0].ActorID != contract.PolicyEngineActor || list[0].Decision != contract.Approved {
		t.Fatalf("the ledger says %+v", list)
	}
	o.vote(lead, "TS-001", 2)
	o.vote(security, "TS-001", 2)
	o.expect(map[contract.ID]string{"TS-001": "Active"})
}

func TestASecondVersionIsEditedAndNotRaisedTwice(t *testing.T) {
	o := newOffice(t, nil)
	o.intent("read_repo")
	args := pipeline.IntentArgs{Intent: "And a logout page", Priority: "low", RequestedCapabilities: []string{"read_repo"}}
	shown, err := o.IntentRevise(o.Context(), asker, "IC-001", args)
	must(o, shown, err)
	_, err = o.IntentRevise(o.Context(), asker, "IC-001", args)
	o.refuses(refusal.ContractNotEditable, err)
	shown, err = o.edit(asker, "IC-001", 3, map[string]any{"priority": "high"})
	if c := must(o, shown, err); c.Ref().Version != 3 {
		t.Errorf("the Draft is version %d", c.Ref().Version)
	}
	o.expect(map[contract.ID]string{"TS-001": "Active"})
	if list, err := o.ContractGet(o.Context(), "IC-001", 1); err != nil || list.Document.Head().State != contract.Active {
		t.Errorf("the version under way is %v, %v", list, err)
	}
}
