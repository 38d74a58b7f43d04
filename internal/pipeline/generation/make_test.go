package generation_test

import (
	"slices"
	"testing"
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/document"
	"plimsoll.dev/internal/pipeline/generation"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/testdata/contracts"
)

var now = time.Date(2026, 3, 29, 10, 0, 0, 0, time.UTC)

func intent(c capability.Set) *contract.Intent {
	at := contract.At(now)
	return &contract.Intent{
		Base:   contract.Base{ID: "IC-001", Kind: contract.KindIntent, State: contract.Active, Version: 1, CreatedAt: at, UpdatedAt: at},
		Intent: "Add a login page", Creator: "user-001", Priority: contract.PriorityLow, RequestedCapabilities: c,
	}
}

// What the generators make of any intent, the schema and the application layer
// take.
func TestGeneratedContractsAreSound(t *testing.T) {
	type vector struct {
		Name         string
		Capabilities capability.Set
		Expected     struct {
			TaskSeedInitialState contract.State
			OwnerRole            contract.Role
		}
	}
	for _, v := range contracts.Load[vector](t, "generation-policy") {
		in := intent(v.Capabilities)
		task := generation.Seed(in, "TS-001", 1, "", nil, now)
		if task.State != v.Expected.TaskSeedInitialState || task.OwnerRole != v.Expected.OwnerRole {
			t.Errorf("%s: %s for %s", v.Name, task.State, task.OwnerRole)
		}
		faults := append(document.Alone(task), document.TaskSeed(task, in)...)
		for _, level := range contract.Levels() {
			a := generation.Accept(task, "AC-001", 1, generation.Verdict{Status: contract.Passed, Level: level}, now)
			faults = append(append(faults, document.Alone(a)...), document.Acceptance(a, task, level)...)
			if level.Human() && a.State != contract.Draft {
				t.Errorf("%s: an Acceptance of a %s execution begins as %s", v.Name, level, a.State)
			}
			sound(t, a)
		}
		sound(t, task)
		if len(faults) > 0 {
			t.Errorf("%s: %v", v.Name, faults)
		}
	}
}

func sound(t *testing.T, d contract.Document) {
	t.Helper()
	if _, err := contract.Decode(contract.Encode(d)); err != nil {
		t.Errorf("%s: %v", contract.Encode(d), err)
	}
}

func TestARevisionKeepsTheStateAndTheCriteriaOfThePlan(t *testing.T) {
	task := generation.Seed(intent(capability.Of(capability.ReadRepo)), "TS-001", 1, "", []string{"build", "test"}, now)
	first := generation.Accept(task, "AC-001", 1, generation.Verdict{Status: contract.Pending, Level: contract.Low}, now)
	later := now.Add(time.Minute)
	checks := []phase.Check{{Criterion: "lint", Passed: true}}
	next := generation.Revise(first, task, generation.Verdict{Status: contract.Passed, Details: "all met", Checks: checks, Level: contract.High}, later)
	if next.Version != 2 || next.State != contract.Active || next.Status != contract.Passed || next.CreatedAt != first.CreatedAt || !next.UpdatedAt.Time().Equal(later) {
		t.Errorf("got %+v", next)
	}
	if !slices.Equal(next.Criteria, []string{"build", "test", "lint"}) || first.Version != 1 || len(first.Criteria) != 2 {
		t.Errorf("criteria %q", next.Criteria)
	}
	third := generation.Revise(next, task, generation.Verdict{Status: contract.Failed, Level: contract.Low}, later)
	if !slices.Equal(third.Criteria, next.Criteria) {
		t.Errorf("a later result dropped a criterion: %q", third.Criteria)
	}
	if next.GenerationPolicy != first.GenerationPolicy {
		t.Error("the policy of an Active Acceptance changed")
	}
	draft := *first
	draft.State = contract.Draft
	if got := generation.Revise(&draft, task, generation.Verdict{Status: contract.Passed, Level: contract.High}, later); got.GenerationPolicy.Approvals != approval.Required(contract.High) {
		t.Errorf("a Draft is asked for by %s", got.GenerationPolicy.Approvals)
	}
}

func TestEvidenceOfALostRunClaimsNothing(t *testing.T) {
	e := generation.LostRun{
		ID: "EV-001", TaskSeed: "TS-001", Actor: "dev-001", BaseCommit: "c0ffee0", Start: now, End: now.Add(time.Minute), Reason: "lock.lost",
		Stale:       contract.StaleStatus{Classification: contract.Fresh, EvaluatedAt: contract.At(now)},
		Environment: contract.Environment{OS: "unknown", Runtime: "unknown", ContainerImageDigest: contract.Uncontainerized, LockfileHash: contract.EmptyObjectHash},
		InputHash:   contract.EmptyObjectHash,
	}.Evidence(now.Add(time.Minute))
	sound(t, e)
	if faults, warnings := document.Evidence(e, document.Around{Own: true, GateAsked: true, Level: contract.High, Persisted: now.Add(time.Minute)}); len(faults) > 0 || len(warnings) > 0 {
		t.Errorf("got %v, %v", faults, warnings)
	}
}
