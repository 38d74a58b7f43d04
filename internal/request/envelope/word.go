package envelope

import "slices"

// Level says who may see something. The four levels are a chain:
// private < circle < clan < public (docs/spec/circle.md §4).
type Level string

// The levels, narrowest first.
const (
	Private Level = "private" // the member alone
	Circle  Level = "circle"
	Clan    Level = "clan" // the union of circles
	Public  Level = "public"
)

var levels = []Level{Private, Circle, Clan, Public}

// Levels is every level, narrowest first.
func Levels() []Level { return slices.Clone(levels) }

// Valid says whether l is one of the four.
func (l Level) Valid() bool { return slices.Contains(levels, l) }

// Compare is negative when l is seen by fewer than m, 0 when they are the same.
// A level that is none counts as the narrowest: what cannot be read is not shown.
func (l Level) Compare(m Level) int { return slices.Index(levels, l) - slices.Index(levels, m) }

// Wider says whether more may see l than m.
func (l Level) Wider(m Level) bool { return l.Compare(m) > 0 }

// Min is the narrower of two levels.
func (l Level) Min(m Level) Level {
	if l.Wider(m) {
		return m
	}
	return l
}

// Origin says where something came from: from inside, or from a channel, a model
// or a service outside. The mark external is never washed off
// (docs/spec/circle.md §5).
type Origin string

// The origins.
const (
	Internal Origin = "internal"
	External Origin = "external"
)

// Valid says whether o is one of the two.
func (o Origin) Valid() bool { return o == Internal || o == External }

// Join is the origin of what was made from both: external as soon as one is, or
// is unknown.
func (o Origin) Join(p Origin) Origin {
	if o == Internal && p == Internal {
		return Internal
	}
	return External
}

// Flag says why a request is delicate. Triage may add flags, never remove any.
type Flag string

// The flags.
const (
	Secrets        Flag = "secrets"
	PersonalData   Flag = "personal_data"
	Health         Flag = "health"
	Finance        Flag = "finance"
	Legal          Flag = "legal"
	Minors         Flag = "minors"
	Location       Flag = "location"
	CoreChange     Flag = "core_change"
	ExternalAction Flag = "external_action"
	Critical       Flag = "critical"
)

var flags = []Flag{Secrets, PersonalData, Health, Finance, Legal, Minors, Location, CoreChange, ExternalAction, Critical}

// Flags is every flag, in the order of docs/spec/circle.md §4.
func Flags() []Flag { return slices.Clone(flags) }

// Valid says whether f is one of the ten.
func (f Flag) Valid() bool { return slices.Contains(flags, f) }

// ConsentStatus is what a request says about consent. Granted counts only with a
// matching record in the ledger (docs/spec/circle.md §7); else it is Missing.
type ConsentStatus string

// The consent statuses.
const (
	ConsentNotRequired ConsentStatus = "not_required"
	ConsentMissing     ConsentStatus = "missing"
	ConsentRequested   ConsentStatus = "requested"
	ConsentGranted     ConsentStatus = "granted"
	ConsentRefused     ConsentStatus = "refused"
	ConsentRevoked     ConsentStatus = "revoked"
)

var consentStatuses = []ConsentStatus{
	ConsentNotRequired, ConsentMissing, ConsentRequested, ConsentGranted, ConsentRefused, ConsentRevoked,
}

// Valid says whether s is one of the six.
func (s ConsentStatus) Valid() bool { return slices.Contains(consentStatuses, s) }

// Action is what a request allows to be done for it. There is no execute.
type Action string

// The actions.
const (
	Read            Action = "read"
	Draft           Action = "draft"
	Research        Action = "research"
	Remember        Action = "remember"
	ProposeDecision Action = "propose_decision"
	RequestConsent  Action = "request_consent"
	ExportDraft     Action = "export_draft"
	MergeDraft      Action = "merge_draft"
	CoreChangeDraft Action = "core_change_draft"
	GiftDraft       Action = "gift_draft"
	StepUp          Action = "step_up"
)

var actions = []Action{
	Read, Draft, Research, Remember, ProposeDecision, RequestConsent, ExportDraft, MergeDraft, CoreChangeDraft, GiftDraft, StepUp,
}

// Actions is every action, in the order of docs/spec/circle.md §4.
func Actions() []Action { return slices.Clone(actions) }

// Valid says whether a is one of the eleven.
func (a Action) Valid() bool { return slices.Contains(actions, a) }

// ArtifactType is the type of an artifact (docs/spec/circle.md §1, allowed outputs).
type ArtifactType string

// The artifact types.
const (
	PrivacyReport      ArtifactType = "privacy_report"
	GateVerdict        ArtifactType = "gate_verdict"
	DecisionDraft      ArtifactType = "decision_draft"
	ConsentRequest     ArtifactType = "consent_request"
	TestimonyDraft     ArtifactType = "testimony_draft"
	CoreChangeProposal ArtifactType = "core_change_proposal"
	IdentityChallenge  ArtifactType = "identity_challenge"
	IdentityAssertion  ArtifactType = "identity_assertion"
	BridgeDraft        ArtifactType = "bridge_draft"
	GiftProposal       ArtifactType = "gift_draft"
	MergeProposal      ArtifactType = "merge_proposal"
	AuditEntry         ArtifactType = "audit_entry"
	BreachReport       ArtifactType = "breach_report"
	HealthReport       ArtifactType = "health_report"
	ResearchNote       ArtifactType = "research_note"
	RitualPlan         ArtifactType = "ritual_plan"
	MemoryNote         ArtifactType = "memory_note"
)

// needs is the action a request must allow for each type of artifact
// (docs/spec/circle.md §4, expected_output). Reports change nothing and need no
// more than to read.
var needs = []struct {
	output ArtifactType
	action Action
}{
	{PrivacyReport, Read},
	{GateVerdict, Read},
	{DecisionDraft, ProposeDecision},
	{ConsentRequest, RequestConsent},
	{TestimonyDraft, ProposeDecision},
	{CoreChangeProposal, CoreChangeDraft},
	{IdentityChallenge, StepUp},
	{IdentityAssertion, StepUp},
	{BridgeDraft, ExportDraft},
	{GiftProposal, GiftDraft},
	{MergeProposal, MergeDraft},
	{AuditEntry, Read},
	{BreachReport, Read},
	{HealthReport, Read},
	{ResearchNote, Research},
	{RitualPlan, Draft},
	{MemoryNote, Remember},
}

// ArtifactTypes is every type, in the order of the workers of docs/spec/circle.md §1.
func ArtifactTypes() []ArtifactType {
	list := make([]ArtifactType, len(needs))
	for i, n := range needs {
		list[i] = n.output
	}
	return list
}

// Valid says whether t is one of the seventeen.
func (t ArtifactType) Valid() bool { return t.Needs() != "" }

// Needs is the action a request must allow to expect an artifact of this type;
// "" for a type that is none.
func (t ArtifactType) Needs() Action {
	for _, n := range needs {
		if n.output == t {
			return n.action
		}
	}
	return ""
}

// ReferenceKind says what a reference names.
type ReferenceKind string

// The kinds of reference.
const (
	RefArtifact ReferenceKind = "artifact"
	RefContract ReferenceKind = "contract"
	RefDiff     ReferenceKind = "diff"
	RefDocument ReferenceKind = "document"
	RefURL      ReferenceKind = "url"
)

var referenceKinds = []ReferenceKind{RefArtifact, RefContract, RefDiff, RefDocument, RefURL}

// Valid says whether k is one of the five.
func (k ReferenceKind) Valid() bool { return slices.Contains(referenceKinds, k) }

// Condition is a reason why a request is stopped or blocked
// (docs/spec/circle.md §8).
type Condition string

// The five stop conditions and the breach, in the order in which several at once
// act.
const (
	SecretsDetected  Condition = "secrets_detected"
	BreachDetected   Condition = "policy_breach_detected"
	VisibilityClash  Condition = "visibility_conflict"
	ExportNotPublic  Condition = "export_payload_not_public"
	ConsentOwed      Condition = "consent_missing_for_critical"
	OutputNotAllowed Condition = "agent_output_not_in_allowed_outputs"
)

var conditions = []Condition{SecretsDetected, BreachDetected, VisibilityClash, ExportNotPublic, ConsentOwed, OutputNotAllowed}

// Conditions is every condition, in the order in which several at once act.
func Conditions() []Condition { return slices.Clone(conditions) }

// Valid says whether c is one of the six.
func (c Condition) Valid() bool { return slices.Contains(conditions, c) }

// Stops says whether nothing more may run and no draft is kept; the others block
// what was asked for until the cause is gone.
func (c Condition) Stops() bool { return c == SecretsDetected || c == BreachDetected }
