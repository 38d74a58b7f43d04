package phase

import (
	"slices"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/state"
)

// Request asks for one step. What the guard of the step does not read stays
// zero.
type Request struct {
	From, To     Phase
	Role         contract.Role
	Deputy       bool // an admin acts in an emergency or as a recorded deputy
	Proofs       []Proof
	Person       bool // a person has intervened
	Capabilities capability.Set
	Level        contract.Level

	Intent          contract.State
	UnitTestsPassed bool
	FailedRuns      int
	Acceptance      contract.Status
	DiffChanged     bool // the diff hash is not the one reviewed; another commit alone is no change (R14)
	Blocking        int  // issues that reviews hold against the change
	Reviewed        contract.RoleSet
	Gate            state.Answer

	Returns, MaxReturns int
}

// row is one step of the table of docs/spec/contracts.md §7.
type row struct {
	from, to Phase
	roles    contract.RoleSet
	proofs   []Proof
	person   bool
	guard    func(Request) error
	returns  bool
	reviews  bool
}

var table = []row{
	{
		from: Plan, to: Build,
		roles: contract.RolesOf(contract.Orchestrator), proofs: []Proof{TaskSeedProof},
		guard: func(r Request) error { return require(r.Intent == contract.Active, "the intent is "+string(r.Intent)) },
	},
	{
		from: Build, to: Stabilize,
		roles: contract.RolesOf(contract.Developer, contract.CIAgent), proofs: []Proof{BuildLog, UnitTestResult, EvidenceProof},
		guard: func(r Request) error { return require(r.UnitTestsPassed, "unit tests have not passed") },
	},
	{
		from: Build, to: Plan,
		roles: contract.RolesOf(contract.CIAgent), proofs: []Proof{ErrorLog, EvidenceProof}, person: true,
		guard: func(r Request) error { return require(r.FailedRuns > limits[Build].retries, "retries are left") },
	},
	{
		from: Stabilize, to: Refactor,
		roles: contract.RolesOf(contract.QA, contract.CIAgent), proofs: []Proof{IntegrationReport, EvidenceProof},
		guard: func(r Request) error {
			return require(r.Acceptance == contract.Passed, "acceptance criteria are not met")
		},
	},
	{
		from: Stabilize, to: Build,
		roles: contract.RolesOf(contract.QA, contract.CIAgent), proofs: []Proof{FailedTestLog, EvidenceProof}, returns: true,
		guard: func(r Request) error {
			return require(r.Acceptance == contract.Failed, "the Acceptance has not failed")
		},
	},
	{
		from: Refactor, to: Publish,
		roles: contract.RolesOf(contract.Developer, contract.ProjectLead), proofs: []Proof{ReviewResult, EvidenceProof}, reviews: true,
		guard: func(r Request) error { return require(r.Blocking == 0, "a review asks for changes") },
	},
	{
		from: Refactor, to: Build,
		roles: contract.RolesOf(contract.Developer, contract.ProjectLead), proofs: []Proof{ReviewResult, EvidenceProof}, returns: true,
		guard: func(r Request) error { return require(r.DiffChanged, "the diff is the one reviewed") },
	},
	{
		from: Publish, to: Published,
		roles: contract.RolesOf(contract.PolicyEngine, contract.ReleaseManager, contract.Admin), proofs: []Proof{PublishGateProof, ReleaseNote, EvidenceProof},
		guard: func(r Request) error { return r.Gate.Err() },
	},
}

func require(ok bool, otherwise string) error {
	if ok {
		return nil
	}
	return refusal.New(refusal.PhaseGuardFailed, "%s", otherwise)
}

// Step says whether the step may be taken, in the order of checks of
// docs/spec/contracts.md §7: pair, actor, proofs, person, guard, returns,
// review.
func Step(r Request) error {
	if r.From == r.To {
		return refusal.New(refusal.PhaseTransitionNoOp, "the chain is in %s", r.From)
	}
	s := find(r.From, r.To)
	if s == nil {
		return refusal.New(refusal.PhaseTransitionForbidden, "%s does not lead to %s", r.From, r.To)
	}
	if !s.takes(r) {
		return notNamed(r.Role, "take the step from "+string(r.From)+" to "+string(r.To))
	}
	for _, p := range s.proofs {
		if !slices.Contains(r.Proofs, p) {
			return refusal.New(refusal.PhaseEvidenceMissing, "%s is missing", p)
		}
	}
	if s.person && !r.Person {
		return refusal.New(refusal.PhaseManualRequired, "a person has to resume the work")
	}
	if err := s.guard(r); err != nil {
		return err
	}
	if s.returns {
		if _, err := Return(r.Returns, r.MaxReturns); err != nil {
			return err
		}
	}
	if missing := Reviewers(r.Level).Minus(r.Reviewed); s.reviews && !missing.Empty() {
		return refusal.New(refusal.PhaseReviewIncomplete, "%s has not reviewed", missing)
	}
	return nil
}

func find(from, to Phase) *row {
	for i := range table {
		if table[i].from == from && table[i].to == to {
			return &table[i]
		}
	}
	return nil
}

func (s *row) takes(r Request) bool {
	if s.from == Publish {
		return r.Role == publisher(r.Level) || r.Role == contract.Admin && r.Deputy
	}
	if s.from == Refactor && r.Role == contract.CIAgent {
		return builder(r.Capabilities) == contract.CIAgent
	}
	return s.roles.Has(r.Role)
}

func notNamed(r contract.Role, what string) error {
	return refusal.New(refusal.PhaseActorNotPermitted, "the phase does not name %s to %s", r, what)
}

// Needed is the proofs the steps out of p ask for, without repeats: what an
// executor is told to deliver.
func Needed(p Phase) []Proof {
	var list []Proof
	for _, s := range table {
		for _, proof := range s.proofs {
			if s.from == p && !slices.Contains(list, proof) {
				list = append(list, proof)
			}
		}
	}
	return list
}
