package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// traceFlips are the checks that a coding agent could silence by editing what
// was recorded. Their patches are words for ever (§19).
var traceFlips = []string{
	"SHIP-API-TRACE-APPROVAL-MISSING", "SHIP-API-TRACE-CONFIRMATION-MISSING", "SHIP-EVIDENCE-APPROVAL-TRACE-MISSING",
}

// suggest gives an active finding its patches (§7.4, §19): the repair that its
// check knows, aimed at the manifest as it was read, or else words.
func suggest(f *Finding, m *manifest.Manifest, dir string) {
	if f.Suppressed {
		return
	}
	manual := Patch{Kind: Manual, Instructions: instructions(f)}
	if slices.Contains(traceFlips, f.CheckID) {
		f.Patches = []Patch{manual}
		return
	}
	if f.Repair == nil || m == nil || f.Repair.Kind == Manual || f.Repair.Kind == NoPatch {
		f.Patches = []Patch{manual}
		return
	}
	p := *f.Repair
	sum := sha256.Sum256(m.Text)
	p.TargetFile, p.Format, p.TargetSHA256 = path.Join(dir, m.Name), format(m), hex.EncodeToString(sum[:])
	f.Patches = []Patch{p}
}

// format is json when the manifest is one (§1).
func format(m *manifest.Manifest) string {
	first := bytes.TrimLeft(bytes.TrimPrefix(m.Text, []byte("\xef\xbb\xbf")), " \t\r\n")
	if strings.HasSuffix(m.Name, ".json") || len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		return "json"
	}
	return "yaml"
}

func instructions(f *Finding) string {
	switch {
	case slices.Contains(traceFlips, f.CheckID):
		return f.Recommendation + " Do not edit the recording: it says what happened."
	case f.HumanReview:
		return f.Recommendation + " A person decides this; an agent prepares the question and stops."
	}
	return f.Recommendation
}

// remedy fills what may be done about a finding, and by whom (§7.4). c is nil
// for a check outside of the catalogue.
func remedy(c *Check, f *Finding) {
	switch {
	case f.Patches == nil && c == nil:
		f.AutofixSafe, f.HumanReview, f.PatchKind = false, true, Manual
	case f.Patches == nil:
		f.AutofixSafe, f.HumanReview, f.PatchKind = c.Autofix, c.HumanReview, c.PatchKind
	case len(f.Patches) == 0:
		f.AutofixSafe, f.HumanReview, f.PatchKind = false, true, NoPatch
	default:
		f.AutofixSafe = !slices.ContainsFunc(f.Patches, func(p Patch) bool {
			return !mechanical(p) || p.Confidence != tool.High
		})
		f.HumanReview, f.PatchKind = !f.AutofixSafe, Manual
		if first := firstMechanical(f.Patches); first != nil {
			f.PatchKind = first.Kind
		}
	}
	if c != nil && c.HumanAlways {
		f.HumanReview = true
	}
	f.AgentAction = action(f, c != nil && c.HumanAlways)
}

// action says what the agent may do. Where a person is owed regardless of the
// patch, the patch is a proposal.
func action(f *Finding, human bool) AgentAction {
	first := firstMechanical(f.Patches)
	switch {
	case f.Suppressed:
		return Informational
	case len(f.Patches) == 0 && f.HumanReview:
		return Escalate
	case len(f.Patches) == 0:
		return Informational
	case first == nil:
		return Escalate
	case first.Confidence == tool.High && f.AutofixSafe && !human:
		return AutoApply
	}
	return Propose
}

func mechanical(p Patch) bool { return p.Kind != Manual && p.Kind != NoPatch }

func firstMechanical(patches []Patch) *Patch {
	for i := range patches {
		if mechanical(patches[i]) {
			return &patches[i]
		}
	}
	return nil
}
