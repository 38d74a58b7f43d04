package contract

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
)

// Role is the hat under which an actor acts. An actor may hold several and
// takes each action under exactly one.
type Role string

// The ten roles.
const (
	Requester        Role = "requester"
	Orchestrator     Role = "orchestrator"
	PolicyEngine     Role = "policy_engine"
	Developer        Role = "developer"
	CIAgent          Role = "ci_agent"
	QA               Role = "qa"
	ProjectLead      Role = "project_lead"
	ReleaseManager   Role = "release_manager"
	SecurityReviewer Role = "security_reviewer"
	Admin            Role = "admin"
)

// ChannelAdapter is the role under which an agent or a service brings requests
// to a circle (docs/spec/circle.md §7). It is none of the ten: it takes no part in
// a contract, and no operation of the contracts permits it.
const ChannelAdapter Role = "channel_adapter"

// The approving roles come first, in the canonical order of
// docs/spec/contracts.md §0; the others follow as §8 lists them.
var roleOrder = [...]Role{
	ProjectLead, SecurityReviewer, ReleaseManager, Admin, PolicyEngine,
	Requester, Orchestrator, Developer, CIAgent, QA, ChannelAdapter,
}

// ten is how many of them are the contracts' own; they come first.
const ten = 10

// Roles is the ten roles in canonical order.
func Roles() []Role { return append([]Role(nil), roleOrder[:ten]...) }

// Valid says whether r is one of the ten, or ChannelAdapter.
func (r Role) Valid() bool { return r.bit() != 0 }

func (r Role) bit() RoleSet {
	for i, known := range roleOrder {
		if r == known {
			return 1 << i
		}
	}
	return 0
}

// RoleSet is a set of roles. The zero value is the empty set. Lists of roles
// compare as sets; one that is written is written in canonical order.
type RoleSet uint16

// RolesOf is the set of the given roles. It panics on an unknown one: a name
// from outside goes through ParseRoles.
func RolesOf(list ...Role) RoleSet {
	var s RoleSet
	for _, r := range list {
		if !r.Valid() {
			panic("contract: unknown role " + string(r))
		}
		s |= r.bit()
	}
	return s
}

// ParseRoles is the set of the given names, or an error that names the first
// unknown one.
func ParseRoles(names []string) (RoleSet, error) {
	var s RoleSet
	for _, name := range names {
		r := Role(name)
		if !r.Valid() {
			return 0, fmt.Errorf("unknown role %q", name)
		}
		s |= r.bit()
	}
	return s, nil
}

// Has says whether r is in s.
func (s RoleSet) Has(r Role) bool { return r.Valid() && s&r.bit() != 0 }

// Contains says whether every member of t is in s.
func (s RoleSet) Contains(t RoleSet) bool { return s&t == t }

// Meets says whether s and t have a member in common.
func (s RoleSet) Meets(t RoleSet) bool { return s&t != 0 }

// Union is the set of what is in s or in t.
func (s RoleSet) Union(t RoleSet) RoleSet { return s | t }

// Minus is the set of what is in s and not in t.
func (s RoleSet) Minus(t RoleSet) RoleSet { return s &^ t }

// Empty says whether s has no member.
func (s RoleSet) Empty() bool { return s == 0 }

// Len is the number of members.
func (s RoleSet) Len() int { return bits.OnesCount16(uint16(s)) }

// List is the members in canonical order, never nil.
func (s RoleSet) List() []Role {
	list := make([]Role, 0, s.Len())
	for i, r := range roleOrder {
		if s&(1<<i) != 0 {
			list = append(list, r)
		}
	}
	return list
}

// String is the members in canonical order, separated by commas.
func (s RoleSet) String() string {
	names := make([]string, 0, s.Len())
	for _, r := range s.List() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// MarshalJSON writes the members as a list in canonical order.
func (s RoleSet) MarshalJSON() ([]byte, error) { return json.Marshal(s.List()) }

// UnmarshalJSON reads a list of names and refuses an unknown one.
func (s *RoleSet) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	read, err := ParseRoles(names)
	if err != nil {
		return err
	}
	*s = read
	return nil
}

// ActorID names one actor of the registry.
type ActorID string

// PolicyEngineActor is the actor under which the service itself decides and
// publishes (docs/spec/contracts.md §6.3, §6.7).
const PolicyEngineActor ActorID = "policy-engine"

// ActorType says what an actor is. From high risk on, people decide.
type ActorType string

// The actor types.
const (
	Human  ActorType = "human"
	Agent  ActorType = "agent"
	System ActorType = "system"
)

// Valid says whether t is one of the three.
func (t ActorType) Valid() bool { return t == Human || t == Agent || t == System }

// Actor is who acts, and under which of its roles.
type Actor struct {
	ID   ActorID
	Role Role
	Type ActorType
}

// Decision is what somebody said when asked.
type Decision string

// The decisions.
const (
	Approved Decision = "approved"
	Rejected Decision = "rejected"
)

// Valid says whether d is one of the two.
func (d Decision) Valid() bool { return d == Approved || d == Rejected }

// Approval is one recorded decision. Reason is nil when none was given; an
// empty reason is a reason that says nothing, and another document.
type Approval struct {
	Role      Role
	ActorID   ActorID
	Decision  Decision
	DecidedAt Timestamp
	Reason    *string
}

// Vote is an activation decision in the ledger, bound to the version it was
// made for (docs/spec/contracts.md §5).
type Vote struct {
	Version int64
	Approval
}

// Ground is on what a contract is revoked.
type Ground string

// The grounds.
const (
	Audit      Ground = "audit"
	ManualStop Ground = "manual_stop"
)

// Valid says whether g is one of the two.
func (g Ground) Valid() bool { return g == Audit || g == ManualStop }

// Cause is why a contract is Frozen.
type Cause string

// The causes (docs/spec/contracts.md §2.4).
const (
	GenerationFailed   Cause = "generation_failed"
	LockExhausted      Cause = "lock_exhausted"
	HardStale          Cause = "hard_stale"
	ExternalDependency Cause = "external_dependency"
	PolicyViolation    Cause = "policy_violation"
	ManualCheck        Cause = "manual_check"
	GateRejected       Cause = "gate_rejected"
	GateExpired        Cause = "gate_expired"
	PhaseExhausted     Cause = "phase_exhausted"
)

// Causes is the nine causes.
func Causes() []Cause {
	return []Cause{
		GenerationFailed, LockExhausted, HardStale, ExternalDependency, PolicyViolation,
		ManualCheck, GateRejected, GateExpired, PhaseExhausted,
	}
}

// Valid says whether c is one of the nine.
func (c Cause) Valid() bool {
	for _, known := range Causes() {
		if c == known {
			return true
		}
	}
	return false
}
