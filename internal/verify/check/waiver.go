package check

import (
	"fmt"
	"slices"
	"time"

	"plimsoll.dev/internal/verify/manifest"
)

// OperationalReadiness is an old name for several checks. It is never reported;
// in suppressions, severity overrides and baselines it stands for them (§12.7).
const OperationalReadiness = "SHIP-API-OPERATIONAL-READINESS"

var readiness = []string{
	"SHIP-API-RETRY-POLICY-MISSING", "SHIP-API-TIMEOUT-MISSING", "SHIP-API-TEST-CASES-MISSING",
	"SHIP-API-TOOL-OUTPUT-SCHEMA-MISSING", "SHIP-API-RETRY-WITHOUT-IDEMPOTENCY",
	"SHIP-API-TRACE-APPROVAL-MISSING", "SHIP-API-TRACE-CONFIRMATION-MISSING",
}

// Names says whether a check id of a manifest or a baseline means the check of
// a finding.
func Names(written, id string) bool {
	return written == id || written == OperationalReadiness && slices.Contains(readiness, id)
}

// mandatory are the controls that nobody can waive (§8.1 rule 1a).
var mandatory = []string{
	"SHIP-ACTION-WILDCARD-SCOPE", "SHIP-ACTION-FINANCIAL-WRITE-CONTROL-MISSING",
	"SHIP-ACTION-EXTERNAL-COMMUNICATION-AUDIT-MISSING", "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING",
}

// BuiltinApproval is the policy that asks approval for high impact (§12.2).
const BuiltinApproval = "builtin-high-impact-approval"

// Mandatory says whether a finding stands for a control that no suppression and
// no baseline takes away (§§4.9, 7.5, 8.1).
func Mandatory(f *Finding) bool {
	return slices.Contains(mandatory, f.CheckID) ||
		f.CheckID == "SHIP-ACTION-POLICY-VIOLATION" && f.Evidence["policy_id"] == BuiltinApproval
}

// immune says whether a finding is beyond waivers. The verify category compares
// with the base, whose own policy must not be outvoted by the head's. What
// check asks a person about is for that person to say: no waiver of the manifest
// reaches check, and verify never answers less than check does (§3.1).
func immune(f *Finding) bool {
	switch f.Category {
	case "verify", "host_boundary", "codex_boundary":
		return true
	}
	return Mandatory(f)
}

// Refused is a waiver of the manifest that does not count, and why.
type Refused struct {
	Index   int // in checks.ignore
	CheckID string
	Tool    string
	Why     string
}

// waivers is checks.ignore, split into what counts today and what does not.
func waivers(m *manifest.Manifest, today string) (valid []manifest.Ignore, refused []Refused) {
	for _, w := range m.Checks.Ignore {
		if why := refusal(m, w, today); why != "" {
			refused = append(refused, Refused{Index: w.Index, CheckID: w.CheckID, Tool: w.Tool, Why: why})
		} else {
			valid = append(valid, w)
		}
	}
	return valid, refused
}

// refusal is why a waiver does not count, "" when it does. A date counts to its
// end.
func refusal(m *manifest.Manifest, w manifest.Ignore, today string) string {
	if expired(w.Expires, today) {
		return "it expired on " + w.Expires
	}
	if m.Organization == nil || m.Organization.Exceptions == nil {
		return ""
	}
	policy := m.Organization.Exceptions
	switch {
	case policy.RequireOwner && w.Owner == "":
		return "organization.exception_policy asks for an owner"
	case policy.RequireReason && w.Reason == "":
		return "organization.exception_policy asks for a reason"
	case (policy.RequireExpiry || policy.MaxAgeDays > 0) && w.Expires == "":
		return "organization.exception_policy asks for an expiry"
	case policy.MaxAgeDays > 0 && daysUntil(w.Expires, today) > policy.MaxAgeDays:
		return fmt.Sprintf("organization.exception_policy allows %d days, and it expires on %s", policy.MaxAgeDays, w.Expires)
	}
	return ""
}

// expired says whether a date, YYYY-MM-DD, lies before today. No date never
// expires; a text that is no date has.
func expired(date, today string) bool {
	if date == "" {
		return false
	}
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return true
	}
	return date < today
}

// daysUntil is how many days from today to a date; a date that cannot be read
// is as far away as can be.
func daysUntil(date, today string) int {
	to, err := time.Parse(time.DateOnly, date)
	from, fromErr := time.Parse(time.DateOnly, today)
	if err != nil || fromErr != nil {
		return 1 << 30
	}
	return int(to.Sub(from) / (24 * time.Hour))
}

// suppress marks a finding that a waiver names.
func suppress(f *Finding, valid []manifest.Ignore) {
	if immune(f) {
		return
	}
	for _, w := range valid {
		if Names(w.CheckID, f.CheckID) && (w.Tool == "" || w.Tool == f.ToolName) {
			f.Suppressed, f.SuppressionReason = true, w.Reason
			return
		}
	}
}

// EffectiveSeverity is the default severity of a check under a manifest's
// overrides. It is what the base and the head of a change are compared by.
func EffectiveSeverity(c *Check, m *manifest.Manifest) Severity {
	return overridden(c, c.ID, c.Severity, m)
}

// overridden moves a severity as the manifest says, never below the floor. The
// check's own id wins over the alias. c is nil for a rule of a policy pack.
func overridden(c *Check, id string, severity Severity, m *manifest.Manifest) Severity {
	var alias *manifest.SeverityOverride
	for i := range m.Checks.Overrides {
		o := &m.Checks.Overrides[i]
		if o.CheckID == id {
			return atLeast(c, Severity(o.Severity))
		}
		if Names(o.CheckID, id) {
			alias = o
		}
	}
	if alias != nil {
		return atLeast(c, Severity(alias.Severity))
	}
	return atLeast(c, severity)
}

func atLeast(c *Check, s Severity) Severity {
	if c != nil && c.Floor != "" && s.Rank() < c.Floor.Rank() {
		return c.Floor
	}
	return s
}
