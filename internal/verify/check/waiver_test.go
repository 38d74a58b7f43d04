package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/check/checktest"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// mixed is a subject that has findings of many kinds, with those of other
// passes beside them.
func mixed(m *manifest.Manifest) (*check.Subject, check.Options) {
	s := checktest.Subject(checktest.Surface(m,
		checktest.Tool("reorder", checktest.Writes(), checktest.Hint("financial_action", tool.High), checktest.Scopes("*")),
		checktest.Tool("wipe", checktest.Hint("destructive", tool.High), checktest.Described("")),
		checktest.Tool("look", checktest.ReadOnly(), checktest.Output(map[string]any{"type": "string"})),
	))
	return s, check.Options{Extra: []check.Finding{
		{CheckID: "SHIP-VERIFY-TRUST-ROOT-TOUCHED", Evidence: map[string]any{"changed_file": "shipgate.yaml"}},
		{CheckID: "SHIP-ACTION-WILDCARD-SCOPE", Evidence: map[string]any{"action_id": "a"}, BlocksRelease: true},
		{CheckID: "SHIP-HOST-BOUNDARY-HOOK-CHANGED", Evidence: map[string]any{"path": ".claude/settings.json"}},
	}}
}

// No set of waivers takes a finding away, changes its name, or reaches what is
// beyond waivers; one waiver more suppresses no less.
func TestWaiversOnlySuppress(t *testing.T) {
	s, opt := mixed(plain())
	open := evaluate(t, s, opt).Findings
	var ids []string
	for _, f := range open {
		ids = append(ids, f.CheckID)
	}
	waiver := rapid.Custom(func(t *rapid.T) manifest.Ignore {
		return manifest.Ignore{
			CheckID: rapid.SampledFrom(append(ids, check.OperationalReadiness, "SHIP-NO-SUCH-CHECK")).Draw(t, "check"),
			Tool:    rapid.SampledFrom([]string{"", "", "reorder", "wipe", "gone"}).Draw(t, "tool"),
			Reason:  "r",
			Expires: rapid.SampledFrom([]string{"", "2026-06-15", "2026-06-14"}).Draw(t, "expires"),
		}
	})
	suppressed := func(waivers []manifest.Ignore) map[string]bool {
		s, opt := mixed(plain(func(m *manifest.Manifest) { m.Checks.Ignore = waivers }))
		hushed := map[string]bool{}
		names := map[string]bool{}
		for _, f := range evaluate(t, s, opt).Findings {
			names[f.ID] = true
			if f.Suppressed {
				hushed[f.ID] = true
				if f.Category == "verify" || f.Category == "host_boundary" || check.Mandatory(&f) {
					t.Fatalf("%s is suppressed", f.CheckID)
				}
			}
		}
		for _, f := range open {
			if !names[f.ID] {
				t.Fatalf("%s is gone", f.CheckID)
			}
		}
		return hushed
	}
	rapid.Check(t, func(rt *rapid.T) {
		waivers := rapid.SliceOfN(waiver, 0, 4).Draw(rt, "waivers")
		fewer := suppressed(waivers)
		more := suppressed(append(waivers, waiver.Draw(rt, "one more")))
		for id := range fewer {
			if !more[id] {
				rt.Fatalf("%s is no longer suppressed with one waiver more", id)
			}
		}
	})
}

// What one check says does not depend on what the others are overridden to.
func TestOverridesReachTheirOwnCheckOnly(t *testing.T) {
	s, opt := mixed(plain())
	before := evaluate(t, s, opt).Findings
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.SampledFrom(check.IDs()).Draw(rt, "check")
		to := rapid.SampledFrom([]string{"critical", "high", "medium", "low", "info"}).Draw(rt, "severity")
		s, opt := mixed(plain(func(m *manifest.Manifest) {
			m.Checks.Overrides = []manifest.SeverityOverride{{CheckID: id, Severity: to}}
		}))
		after := map[string]check.Finding{}
		for _, f := range evaluate(rt, s, opt).Findings {
			after[f.ID] = f
			if c := check.ByID(f.CheckID); c.Floor != "" && f.Severity.Rank() < c.Floor.Rank() {
				rt.Fatalf("%s is %s, below its floor %s", f.CheckID, f.Severity, c.Floor)
			}
		}
		for _, f := range before {
			if check.Names(id, f.CheckID) {
				continue
			}
			if d := cmp.Diff(f, after[f.ID]); d != "" {
				rt.Fatalf("%s changes %s (-before +after):\n%s", id, f.CheckID, d)
			}
		}
	})
}
