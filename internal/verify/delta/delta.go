// Package delta compares what agents could do with what they can do now: the
// capability lock and its difference, and the difference of the action surface
// (docs/spec/verification.md §11).
package delta

import "plimsoll.dev/internal/verify/effect"

// ActionChange is the type of a row of the action surface difference (§11.4).
type ActionChange string

// The types.
const (
	ActionAdded         ActionChange = "ACTION_ADDED"
	ActionRemoved       ActionChange = "ACTION_REMOVED"
	ScopeExpanded       ActionChange = "SCOPE_EXPANDED"
	EffectEscalated     ActionChange = "EFFECT_ESCALATED"
	RiskTagAdded        ActionChange = "RISK_TAG_ADDED"
	ApprovalRemoved     ActionChange = "APPROVAL_REMOVED"
	SafeguardRemoved    ActionChange = "SAFEGUARD_REMOVED"
	InputSchemaExpanded ActionChange = "INPUT_SCHEMA_EXPANDED"
	ActionModified      ActionChange = "ACTION_MODIFIED"
)

// ActionRow is one change of one action. Head is nil for a removed action, Base
// for an added one.
type ActionRow struct {
	Type           ActionChange
	ActionID       string
	ToolID         string
	AgentID        string
	ToolName       string
	Operation      string
	Severity       string
	Reason         string
	Before, After  any // JSON values
	Added, Removed []string
	Safeguard      string // SAFEGUARD_REMOVED: its name
	SourcePath     string
	SourceLine     int
	Base, Head     *effect.Action
}

// Actions is the difference of two action surfaces. Without base facts it is
// not enabled and Note says why.
type Actions struct {
	Enabled bool
	Note    string
	Rows    []ActionRow
}
