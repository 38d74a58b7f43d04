// Package check holds the checks of verification: one value per check, with
// what it looks for, what it says and who may close it
// (docs/spec/verification.md §§7 and 12).
//
// A check is a pure function of a Subject. It reports; it grades nothing beyond
// its own severity, and it never decides: package decision does.
package check

import (
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
)

// Tier says what part of the product a check belongs to.
type Tier string

// The tiers of §12.
const (
	Core      Tier = "core"
	Hygiene   Tier = "hygiene"
	Adapter   Tier = "adapter"
	Evidence  Tier = "evidence"
	Lifecycle Tier = "lifecycle"
)

// Check is one row of the catalogue and the function that evaluates it.
type Check struct {
	ID       string
	Category string
	Severity Severity // default
	Floor    Severity // "" for none
	Dynamic  bool     // severity is set by what is found; needs a floor
	Tier     Tier

	Title          string // what a finding of it is, in one line
	Description    string
	Rationale      string
	FiresWhen      string
	EvidenceFields []string
	Recommendation string

	Autofix       bool      // autofix_safe in the catalogue
	HumanReview   bool      // requires_human_review in the catalogue
	PatchKind     PatchKind // suggested_patch_kind
	HumanAlways   bool      // H: a person, even when a patch exists
	PublishAlways bool      // published even when its support is not policy-eligible

	// RuleID is the boundary rule behind a check of §12.8, "" for others.
	RuleID string

	// Run finds, in any order; nil for rows that another pass evaluates: the
	// verify category needs a change, the boundary categories come from check.
	Run func(*Subject) []Finding
}

// Page is the name of the check's page in docs/rules: a boundary check shares
// that of its rule.
func (c *Check) Page() string {
	if c.RuleID != "" {
		return c.RuleID
	}
	return c.ID
}

// Subject is what checks look at: one side, and what changed against the base.
type Subject struct {
	*effect.Surface
	Base  *effect.Surface // nil without base facts
	Diff  *delta.Actions  // never nil; Enabled is false without base facts
	Today string          // evaluation date, YYYY-MM-DD

	// Packs are the policy packs that could be read, in manifest order.
	Packs []*manifest.PackFile
}

// Catalogue is every check, in catalogue order: the order of §12.
func Catalogue() []*Check {
	var all []*Check
	for _, part := range [][]*Check{
		verifyChecks, actionSurface, mcpPermissions, authChecks, inventoryChecks,
		manifestChecks(), apiChecks, adkChecks, frameworkChecks, n8nChecks, codexPluginChecks, boundaryChecks(),
	} {
		all = append(all, part...)
	}
	return all
}

// ByID finds a check of the catalogue; nil when there is none.
func ByID(id string) *Check {
	for _, c := range Catalogue() {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Known is the default severity and the floor of a check, as the manifest's
// loader asks for them (§4.9).
func Known(id string) (severity, floor string, ok bool) {
	c := ByID(id)
	if c == nil {
		return "", "", false
	}
	return string(c.Severity), string(c.Floor), true
}

// IDs is the id of every check, in catalogue order.
func IDs() []string {
	var ids []string
	for _, c := range Catalogue() {
		ids = append(ids, c.ID)
	}
	return ids
}
