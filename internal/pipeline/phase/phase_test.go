package phase_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/internal/pipeline/state"
	"plimsoll.dev/testdata/contracts"
)

// proof reads the names of the vectors: "build log" is the artifact build_log.
func proof(name string) phase.Proof {
	switch name {
	case "TaskSeed", "PublishGate", "Evidence":
		return phase.Proof(name)
	}
	return phase.Proof(strings.ReplaceAll(name, " ", "_"))
}

func TestSteps(t *testing.T) {
	type vector struct {
		Name     string
		From, To phase.Phase
		Context  struct {
			Evidence           []string
			ActorRole          contract.Role
			EmergencyOrDeputy  bool
			ManualIntervention bool
			Capabilities       capability.Set
			RiskLevel          contract.Level
			IntentState        contract.State
			UnitTestsPassed    bool
			FailedRuns         int
			AcceptanceStatus   contract.Status
			CodeChanged        bool
			BlockingIssues     int
			Reviews            []contract.Role
			FinalDecision      contract.FinalDecision
			Returns            int
			MaxReturns         *int
		}
		Expected struct {
			OK   bool
			Code refusal.Code
		}
	}
	pairs := map[[2]phase.Phase]bool{}
	for _, v := range contracts.Load[vector](t, "phases") {
		c := v.Context
		pairs[[2]phase.Phase{v.From, v.To}] = true
		r := phase.Request{
			From: v.From, To: v.To, Role: c.ActorRole, Deputy: c.EmergencyOrDeputy, Person: c.ManualIntervention,
			Capabilities: c.Capabilities, Level: c.RiskLevel, Intent: c.IntentState, UnitTestsPassed: c.UnitTestsPassed,
			FailedRuns: c.FailedRuns, Acceptance: c.AcceptanceStatus, DiffChanged: c.CodeChanged, Blocking: c.BlockingIssues,
			Reviewed: contract.RolesOf(c.Reviews...), Returns: c.Returns, MaxReturns: phase.DefaultMaxReturns,
			Gate: state.Answered(approval.Publishable(&contract.PublishGate{FinalDecision: c.FinalDecision})),
		}
		if c.MaxReturns != nil {
			r.MaxReturns = *c.MaxReturns
		}
		for _, name := range c.Evidence {
			r.Proofs = append(r.Proofs, proof(name))
		}
		if err := phase.Step(r); (err == nil) != v.Expected.OK || refusal.CodeOf(err) != v.Expected.Code {
			t.Errorf("%s: got %v", v.Name, err)
		}
	}
	if len(pairs) != 36 {
		t.Errorf("%d pairs", len(pairs))
	}
}

func TestCapabilityRequests(t *testing.T) {
	type vector struct {
		Name          string
		Role          contract.Role
		Capability    capability.Capability
		Snapshot      *[]string
		TaskSeedState contract.State
		Phase         phase.Phase
		Expected      struct {
			OK   bool
			Code refusal.Code
		}
	}
	for _, v := range contracts.Load[vector](t, "capabilities") {
		o := phase.Operation{Role: v.Role, Capability: v.Capability, Snapshot: capability.All, TaskSeed: contract.Active, Phase: v.Phase}
		if v.Snapshot != nil {
			set, err := capability.Parse(*v.Snapshot)
			if err != nil {
				t.Fatal(err)
			}
			o.Snapshot = set
		}
		if v.TaskSeedState != "" {
			o.TaskSeed = v.TaskSeedState
		}
		err := role.Exercise(o.Role, o.Capability, o.Snapshot)
		if v.Phase != "" || err == nil && o.TaskSeed != contract.Active {
			err = phase.Operate(o)
		}
		if (err == nil) != v.Expected.OK || refusal.CodeOf(err) != v.Expected.Code {
			t.Errorf("%s: got %v", v.Name, err)
		}
	}
}

func TestOwnersAndWhatTheyDoNotHold(t *testing.T) {
	type vector struct {
		Name         string
		Capabilities capability.Set
		Expected     struct {
			OwnerRole         contract.Role
			NotGrantedToOwner capability.Set
		}
	}
	for _, v := range contracts.Load[vector](t, "generation-policy") {
		owner := phase.Owner(v.Capabilities)
		if owner != v.Expected.OwnerRole || v.Capabilities.Minus(role.Grants(owner)) != v.Expected.NotGrantedToOwner {
			t.Errorf("%s: %s without %s", v.Name, owner, v.Capabilities.Minus(role.Grants(owner)))
		}
	}
}

func TestRetriesLimitsAndReturns(t *testing.T) {
	type vector struct {
		Name, Scope          string
		Phase                phase.Phase
		FailedRuns           int
		TimeoutSecondsPerRun *float64
		ElapsedSeconds       *float64
		ReturnsSoFar         int
		MaxReturns           *int
		Resumed              bool
		Expected             struct {
			RetryAllowed, Exhausted, TimedOut, Made bool
			Code                                    refusal.Code
			Returns                                 int
		}
	}
	run := 0
	for _, v := range contracts.Load[vector](t, "retry") {
		want := v.Expected
		switch {
		case v.Scope == "phase" && v.ElapsedSeconds != nil:
			err := phase.Overrun(v.Phase, time.Duration(*v.ElapsedSeconds*float64(time.Second)))
			if (err != nil) != want.TimedOut || refusal.CodeOf(err) != want.Code || err != nil && !phase.TimedOut.Failure() {
				t.Errorf("%s: got %v", v.Name, err)
			}
		case v.Scope == "phase":
			again, err := phase.Retry(v.Phase, v.FailedRuns)
			if again != want.RetryAllowed || (err != nil) != want.Exhausted || refusal.CodeOf(err) != want.Code {
				t.Errorf("%s: got %v, %v", v.Name, again, err)
			}
			limit, ok := v.Phase.Limit()
			if ok != (v.TimeoutSecondsPerRun != nil) || ok && limit.Seconds() != *v.TimeoutSecondsPerRun {
				t.Errorf("%s: limit %v", v.Name, limit)
			}
		case v.Scope == "returns":
			bound := phase.DefaultMaxReturns
			if v.MaxReturns != nil {
				bound = *v.MaxReturns
			}
			soFar := v.ReturnsSoFar
			if v.Resumed {
				// Resuming makes the owed return and sets the count to 0: the
				// return itself is not counted against the new bound.
				if _, err := phase.Return(soFar, bound); err == nil || want.Returns != 0 {
					t.Errorf("%s: nothing was owed", v.Name)
				}
				run++
				continue
			}
			n, err := phase.Return(soFar, bound)
			if (err == nil) != want.Made || refusal.CodeOf(err) != want.Code || err == nil && n != want.Returns {
				t.Errorf("%s: got %d, %v", v.Name, n, err)
			}
			c := phase.Judge(phase.Result{Phase: phase.Stabilize, Outcome: phase.Failed, Returns: soFar, MaxReturns: bound})
			if c.Owed == want.Made || c.Owed != (c.Freeze == contract.PhaseExhausted) || c.Acceptance != contract.Failed {
				t.Errorf("%s: judged %+v", v.Name, c)
			}
		default: // generation, budget, idempotency: package generation
			continue
		}
		run++
	}
	if run != 33 {
		t.Errorf("%d of the suite", run)
	}
}

func TestResultsAreJudgedByTheTable(t *testing.T) {
	for name, c := range map[string]struct {
		in   phase.Result
		want phase.Consequence
	}{
		"build succeeded":    {phase.Result{Phase: phase.Build, Outcome: phase.Succeeded}, phase.Consequence{Acceptance: contract.Pending, To: phase.Stabilize}},
		"build failed":       {phase.Result{Phase: phase.Build, Outcome: phase.Failed}, phase.Consequence{Acceptance: contract.Failed, Freeze: contract.PhaseExhausted}},
		"tests succeeded":    {phase.Result{Phase: phase.Stabilize, Outcome: phase.Succeeded, CriteriaMet: true, Admits: contract.Passed}, phase.Consequence{Acceptance: contract.Passed, To: phase.Refactor}},
		"a criterion failed": {phase.Result{Phase: phase.Stabilize, Outcome: phase.Succeeded, Admits: contract.Passed}, phase.Consequence{Acceptance: contract.Failed, To: phase.Build}},
		"the agent must repair": {
			phase.Result{Phase: phase.Stabilize, Outcome: phase.Succeeded, CriteriaMet: true, Admits: contract.Failed},
			phase.Consequence{Acceptance: contract.Failed, To: phase.Build},
		},
		"verification owed": {
			phase.Result{Phase: phase.Stabilize, Outcome: phase.Succeeded, CriteriaMet: true, Admits: contract.Blocked},
			phase.Consequence{Acceptance: contract.Blocked},
		},
		"tests timed out": {phase.Result{Phase: phase.Stabilize, Outcome: phase.TimedOut}, phase.Consequence{Acceptance: contract.Failed, To: phase.Build}},
		"refactored":      {phase.Result{Phase: phase.Refactor, Outcome: phase.Succeeded}, phase.Consequence{}},
		"refactored into another diff": {
			phase.Result{Phase: phase.Refactor, Outcome: phase.Succeeded, DiffChanged: true},
			phase.Consequence{Acceptance: contract.Pending, To: phase.Build},
		},
		"refactoring failed":  {phase.Result{Phase: phase.Refactor, Outcome: phase.Failed}, phase.Consequence{Freeze: contract.PhaseExhausted}},
		"published":           {phase.Result{Phase: phase.Publish, Outcome: phase.Succeeded}, phase.Consequence{}},
		"publication failed":  {phase.Result{Phase: phase.Publish, Outcome: phase.Failed}, phase.Consequence{Freeze: contract.PhaseExhausted}},
		"blocked in Build":    {phase.Result{Phase: phase.Build, Outcome: phase.Blocked, BlockedFor: contract.HardStale}, phase.Consequence{Acceptance: contract.Blocked, Freeze: contract.HardStale}},
		"blocked in Refactor": {phase.Result{Phase: phase.Refactor, Outcome: phase.Blocked, BlockedFor: contract.ManualCheck}, phase.Consequence{Freeze: contract.ManualCheck}},
	} {
		if c.in.MaxReturns == 0 {
			c.in.MaxReturns = phase.DefaultMaxReturns
		}
		if got := phase.Judge(c.in); got != c.want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// Nobody chooses what the own work is measured by.
func TestAResultCannotDropACriterion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		plan := rapid.SliceOfN(text, 1, 4).Draw(t, "plan")
		checks := rapid.SliceOf(rapid.Custom(func(t *rapid.T) phase.Check {
			return phase.Check{Criterion: text.Draw(t, "criterion"), Passed: rapid.Bool().Draw(t, "passed")}
		})).Draw(t, "checks")
		criteria := phase.Criteria(plan, checks)
		if !slices.Equal(criteria[:len(plan)], plan) {
			t.Fatalf("%q begins not with %q", criteria, plan)
		}
		if phase.Met(criteria, checks) {
			for _, step := range plan {
				if !slices.Contains(checks, phase.Check{Criterion: step, Passed: true}) || slices.Contains(checks, phase.Check{Criterion: step}) {
					t.Fatalf("%q is met with %v", step, checks)
				}
			}
		}
	})
}

func TestASeriesEnds(t *testing.T) {
	for _, c := range []struct {
		phase  phase.Phase
		out    phase.Outcome
		failed int
		want   bool
	}{
		{phase.Build, phase.Succeeded, 2, true},
		{phase.Build, phase.Blocked, 0, true},
		{phase.Build, phase.Failed, 3, false},
		{phase.Build, phase.TimedOut, 4, true},
		{phase.Publish, phase.Failed, 1, true},
	} {
		if got := phase.Ended(c.phase, c.out, c.failed); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestWhoMayStartARun(t *testing.T) {
	good := phase.Claim{
		Phase: phase.Build, Chain: phase.Build, TaskSeed: contract.Active, Intent: contract.Active,
		Role: contract.Developer, Capabilities: capability.Of(capability.ReadRepo), Level: contract.Low, Automatic: true,
	}
	held := refusal.New(refusal.LockHeld, "x")
	hard := refusal.New(refusal.StaleHard, "x")
	for name, c := range map[string]struct {
		change func(*phase.Claim)
		code   refusal.Code
	}{
		"the chosen role":           {func(*phase.Claim) {}, ""},
		"a Draft TaskSeed":          {func(c *phase.Claim) { c.TaskSeed = contract.Draft }, refusal.TaskseedNotActive},
		"a revoked intent":          {func(c *phase.Claim) { c.Intent = contract.Revoked }, refusal.TaskseedNotActive},
		"another phase":             {func(c *phase.Claim) { c.Phase = phase.Stabilize }, refusal.PhaseGuardFailed},
		"Plan":                      {func(c *phase.Claim) { c.Phase, c.Chain = phase.Plan, phase.Plan }, refusal.PhaseGuardFailed},
		"a role that is not chosen": {func(c *phase.Claim) { c.Role = contract.CIAgent }, refusal.PhaseActorNotPermitted},
		"ci_agent for the network":  {func(c *phase.Claim) { c.Role, c.Capabilities = contract.CIAgent, capability.All }, ""},
		"developer for the network": {func(c *phase.Claim) { c.Capabilities = capability.All }, refusal.PhaseActorNotPermitted},
		"qa where a check is manual": {func(c *phase.Claim) {
			c.Phase, c.Chain, c.Role, c.Automatic = phase.Stabilize, phase.Stabilize, contract.QA, false
		}, ""},
		"stale before the lock":       {func(c *phase.Claim) { c.Stale, c.Lock = hard, held }, refusal.StaleHard},
		"a second dispatch":           {func(c *phase.Claim) { c.Lock = held }, refusal.LockHeld},
		"publishing without a gate":   {func(c *phase.Claim) { publish(c, contract.PolicyEngine, approval.Publishable(nil)) }, refusal.GateMissing},
		"publishing by the service":   {func(c *phase.Claim) { publish(c, contract.PolicyEngine, nil) }, ""},
		"publishing high by a person": {func(c *phase.Claim) { publish(c, contract.ReleaseManager, nil); c.Level = contract.High }, ""},
		"publishing high by itself":   {func(c *phase.Claim) { publish(c, contract.PolicyEngine, nil); c.Level = contract.High }, refusal.PhaseActorNotPermitted},
		"an admin as deputy":          {func(c *phase.Claim) { publish(c, contract.Admin, nil); c.Deputy = true }, ""},
		"an admin without a ground":   {func(c *phase.Claim) { publish(c, contract.Admin, nil) }, refusal.PhaseActorNotPermitted},
	} {
		claim := good
		c.change(&claim)
		if err := phase.Start(claim); refusal.CodeOf(err) != c.code || (err == nil) != (c.code == "") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	claim := good
	claim.Phase, claim.Chain, claim.Role = phase.Publish, phase.Publish, contract.PolicyEngine
	if err := phase.Start(claim); err == nil || refusal.CodeOf(err) != "" {
		t.Errorf("a publication nobody asked the Policy Engine about: %v", err)
	}
}

func publish(c *phase.Claim, r contract.Role, answer error) {
	c.Phase, c.Chain, c.Role, c.Gate = phase.Publish, phase.Publish, r, state.Answered(answer)
}

func TestReviewsAreBoundToTheDiff(t *testing.T) {
	lead := func(diff string, requested bool) phase.Review {
		return phase.Review{Reviewer: "lead-001", Role: contract.ProjectLead, DiffHash: diff, Requested: requested}
	}
	sec := phase.Review{Reviewer: "sec-001", Role: contract.SecurityReviewer, DiffHash: "d1", Requested: true}
	for name, c := range map[string]struct {
		reviews  []phase.Review
		approved contract.RoleSet
		blocking int
	}{
		"none":                          {nil, 0, 0},
		"approved":                      {[]phase.Review{lead("d1", false)}, contract.RolesOf(contract.ProjectLead), 0},
		"another diff is void":          {[]phase.Review{lead("d0", false)}, 0, 0},
		"the newest counts":             {[]phase.Review{lead("d1", true), lead("d1", false)}, contract.RolesOf(contract.ProjectLead), 0},
		"the newest counts either way":  {[]phase.Review{lead("d1", false), lead("d1", true)}, 0, 1},
		"one request blocks beside one": {[]phase.Review{lead("d1", false), sec}, contract.RolesOf(contract.ProjectLead), 1},
	} {
		approved, blocking := phase.CountReviews(c.reviews, "d1")
		if approved != c.approved || blocking != c.blocking {
			t.Errorf("%s: got %s, %d", name, approved, blocking)
		}
	}
	for _, c := range []struct {
		role  contract.Role
		chain phase.Phase
		head  string
		code  refusal.Code
	}{
		{contract.ProjectLead, phase.Refactor, "b", ""},
		{contract.Developer, phase.Refactor, "b", refusal.PhaseActorNotPermitted},
		{contract.SecurityReviewer, phase.Build, "b", refusal.PhaseGuardFailed},
		{contract.SecurityReviewer, phase.Refactor, "a", refusal.PhaseGuardFailed},
	} {
		if err := phase.RecordReview(c.role, c.chain, "b", c.head); refusal.CodeOf(err) != c.code {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func TestWhatAnExecutorIsToldToDeliver(t *testing.T) {
	want := []phase.Proof{phase.BuildLog, phase.UnitTestResult, phase.EvidenceProof, phase.ErrorLog}
	if got := phase.Needed(phase.Build); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
