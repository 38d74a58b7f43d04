// Package phase holds the way of a chain from Plan to Published: which step
// follows which, who takes it, what must be there, how often a run is repeated
// and how long it may take (docs/spec/contracts.md §4.3, §4.5, §7).
//
//	     (retries used up, by a person)
//	  ┌──────────────┐
//	  ▼              │
//	Plan ─────────► Build ──► Stabilize ──► Refactor ──► Publish ──► Published
//	                 ▲            │             │
//	                 └────────────┴─────────────┘   returns, bounded
//
// The phase belongs to the chain and is kept by the Orchestrator; no document
// has it.
package phase

import (
	"slices"
	"time"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
)

// Phase is where a chain is.
type Phase string

// The phases, and the end.
const (
	Plan      Phase = "Plan"
	Build     Phase = "Build"
	Stabilize Phase = "Stabilize"
	Refactor  Phase = "Refactor"
	Publish   Phase = "Publish"
	Published Phase = "Published"
)

// Phases is the five phases and the end, in order.
func Phases() []Phase { return []Phase{Plan, Build, Stabilize, Refactor, Publish, Published} }

// Valid says whether p is one of them.
func (p Phase) Valid() bool { return slices.Contains(Phases(), p) }

// Proof is something a step needs to find stored: a contract by its kind, or a
// phase artifact (docs/spec/contracts.md §7.1).
type Proof string

// The proofs. The lower-case ones are the kinds of artifacts.
const (
	TaskSeedProof     Proof = "TaskSeed"
	PublishGateProof  Proof = "PublishGate"
	EvidenceProof     Proof = "Evidence"
	BuildLog          Proof = "build_log"
	UnitTestResult    Proof = "unit_test_result"
	ErrorLog          Proof = "error_log"
	IntegrationReport Proof = "integration_report"
	FailedTestLog     Proof = "failed_test_log"
	ReviewResult      Proof = "review_result"
	ReleaseNote       Proof = "release_note"
	BoundaryResult    Proof = "boundary_result"
	VerifyResult      Proof = "verify_result"
	ChangeDiff        Proof = "change_diff"
)

// DefaultMaxReturns bounds the returns to Build that happen unattended.
const DefaultMaxReturns = 5

// limits is how often a failed run of a phase is repeated and how long one may
// take; no limit for Publish, whose wait is the gate's deadline.
var limits = map[Phase]struct {
	retries int
	run     time.Duration
}{
	Plan:      {0, 30 * time.Second},
	Build:     {3, 20 * time.Minute},
	Stabilize: {2, 30 * time.Minute},
	Refactor:  {1, 10 * time.Minute},
	Publish:   {0, 0},
}

// Limit is how long one run of p may take; ok is false where it has no limit.
func (p Phase) Limit() (limit time.Duration, ok bool) {
	l := limits[p].run
	return l, l > 0
}

// builder is the actor of Build and Refactor, and the owner of the TaskSeed.
func builder(c capability.Set) contract.Role {
	if c.Meets(capability.Of(capability.InstallDeps, capability.NetworkAccess)) {
		return contract.CIAgent
	}
	return contract.Developer
}

// Owner is the ownerRole of a TaskSeed with capabilities c. It need not hold all
// of them: single steps are taken by a role that does.
func Owner(c capability.Set) contract.Role { return builder(c) }

// Chosen is the one role that runs p: §4.3. automatic says that all tests are;
// level is the risk of the chain. Nobody runs Plan.
func Chosen(p Phase, c capability.Set, level contract.Level, automatic bool) contract.Role {
	switch p {
	case Build, Refactor:
		return builder(c)
	case Stabilize:
		if automatic {
			return contract.CIAgent
		}
		return contract.QA
	case Publish:
		return publisher(level)
	case Plan, Published:
	}
	return ""
}

func publisher(level contract.Level) contract.Role {
	if level.Human() {
		return contract.ReleaseManager
	}
	return contract.PolicyEngine
}

// Reviewers is the roles whose review opens the step to Publish. It is apart
// from the gate and never counts there.
func Reviewers(level contract.Level) contract.RoleSet {
	if level.Human() {
		return contract.RolesOf(contract.ProjectLead, contract.SecurityReviewer)
	}
	return contract.RolesOf(contract.ProjectLead)
}
