package verify

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// EffectivePolicy is how strict one side's own files make the gate
// (docs/spec/verification.md §9.7). Flags do not count: what a pull request
// merges is the file.
type EffectivePolicy struct {
	CIMode                string            `json:"ci_mode"`
	FailOn                []check.Severity  `json:"fail_on"`
	SuppressedCheckIDs    []string          `json:"suppressed_check_ids"`
	WaiverScopes          []string          `json:"waiver_scopes"`
	SeverityOverrides     map[string]string `json:"severity_overrides"` // what each overridden check weighs
	BaselineIntegrityMode string            `json:"baseline_integrity_mode"`
	BaselineFingerprints  []string          `json:"baseline_fingerprints"`
	CIGatePresent         bool              `json:"ci_gate_present"`
}

// policyOf is the effective policy of a manifest. baseline is the side's own
// baseline file, nil when there is none.
func policyOf(m *manifest.Manifest, baseline []byte, gate bool) *EffectivePolicy {
	p := &EffectivePolicy{
		CIMode: m.CI.Mode, FailOn: []check.Severity{}, SuppressedCheckIDs: []string{}, WaiverScopes: []string{},
		SeverityOverrides: map[string]string{}, BaselineIntegrityMode: m.Baseline.IntegrityMode,
		BaselineFingerprints: fingerprints(baseline), CIGatePresent: gate,
	}
	fail := severities(m.CI.FailOn)
	switch {
	case m.CI.FailOn == nil && m.CI.Mode == "strict":
		fail = []check.Severity{check.Critical} // the default of a strict run (§8.4)
	case m.CI.FailOn == nil:
		fail = nil
	}
	p.FailOn = append(p.FailOn, fail...)
	for _, i := range m.Checks.Ignore {
		scope := i.Tool
		if scope == "" {
			scope = "*"
			p.SuppressedCheckIDs = append(p.SuppressedCheckIDs, i.CheckID)
		}
		p.WaiverScopes = append(p.WaiverScopes, i.CheckID+":"+scope)
	}
	p.SuppressedCheckIDs, p.WaiverScopes = set(p.SuppressedCheckIDs), set(p.WaiverScopes)
	for _, o := range m.Checks.Overrides {
		p.SeverityOverrides[o.CheckID] = o.Severity
	}
	return p
}

// BaselinePath is where a repository keeps what it accepts, unless it says
// otherwise; relative to the manifest's folder.
const BaselinePath = ".agents-shipgate/baseline.json"

// baselineOf is a side's own baseline file; nil when there is none.
func baselineOf(tree fs.FS) []byte {
	text, failed := tool.ReadFile(tree, BaselinePath)
	if failed != nil {
		return nil
	}
	return text
}

// integrity is how the baseline of the run stands to the audit log that the
// manifest names (§7.5); nil when it names none. The log is the head's own file
// and an input like every other. One that is there and cannot be read vouches
// for nothing.
func (r *Run) integrity() *check.Integrity {
	name := r.HeadSide.Surface.Manifest.Baseline.AuditLog
	if name == "" {
		return nil
	}
	o := &r.Input.Options
	log, failed := tool.ReadFile(r.Input.Head, name)
	if failed != nil && failed.Problem != tool.NotThere {
		return &check.Integrity{Actual: check.HashOf(o.Baseline), Why: "the audit log cannot be read: " + failed.Error()}
	}
	if failed == nil {
		r.HeadSide.read(File{Path: path.Clean(name), SHA256: digest(log), Size: int64(len(log))})
	}
	at := check.VerifyIntegrity(o.Baseline, log, o.BaselinePath)
	return &at
}

func severities(list []string) []check.Severity {
	var out []check.Severity
	for _, s := range list {
		out = append(out, check.Severity(s))
	}
	slices.SortFunc(out, func(a, b check.Severity) int { return b.Rank() - a.Rank() })
	return slices.Compact(out)
}

// set is the sorted, unique list; never nil.
func set(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return slices.Compact(out)
}

// fingerprints are those of a baseline file. A file that cannot be read has
// none: that it cannot be read is a finding of its own.
func fingerprints(text []byte) []string {
	var file struct {
		Findings []struct {
			Fingerprint string `json:"fingerprint"`
		} `json:"findings"`
	}
	var out []string
	if json.Unmarshal(text, &file) == nil {
		for _, f := range file.Findings {
			out = append(out, f.Fingerprint)
		}
	}
	return set(out)
}

// weight is what a check weighs under a policy.
func (p *EffectivePolicy) weight(id string) check.Severity {
	if s, ok := p.SeverityOverrides[id]; ok {
		return check.Severity(s)
	}
	if c := check.ByID(id); c != nil {
		return c.Severity
	}
	return ""
}

// weakened is every way in which head is weaker than base: the evidence of
// SHIP-VERIFY-POLICY-WEAKENED, in a fixed order.
func weakened(base, head *EffectivePolicy) []map[string]any {
	var found []map[string]any
	add := func(kind string, from, to any, id string) {
		e := map[string]any{"kind": kind, "base": from, "head": to}
		if id != "" {
			e["check_id"] = id
		}
		found = append(found, e)
	}
	if base.CIMode == "strict" && head.CIMode != "strict" {
		add("ci_mode_weakened", base.CIMode, head.CIMode, "")
	}
	for _, s := range base.FailOn {
		if !slices.Contains(head.FailOn, s) {
			add("fail_on_loosened", words(base.FailOn), words(head.FailOn), "")
			break
		}
	}
	ids := map[string]bool{}
	for id := range base.SeverityOverrides {
		ids[id] = true
	}
	for id := range head.SeverityOverrides {
		ids[id] = true
	}
	for _, id := range sortedKeys(ids) {
		if was, is := base.weight(id), head.weight(id); is.Rank() < was.Rank() {
			add("severity_override_lowered", string(was), string(is), id)
		}
	}
	strictness := []string{"off", "warn", "strict"}
	if slices.Index(strictness, head.BaselineIntegrityMode) < slices.Index(strictness, base.BaselineIntegrityMode) {
		add("baseline_integrity_weakened", base.BaselineIntegrityMode, head.BaselineIntegrityMode, "")
	}
	return found
}

func words(list []check.Severity) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// grown is what is new in b.
func grown(a, b []string) []string {
	var out []string
	for _, x := range b {
		if !slices.Contains(a, x) {
			out = append(out, x)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
