package verify_test

import (
	"slices"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/verify"
)

// hostChange is a change of Claude's settings as check reads it.
func hostChange(before, after string) *gate.Input {
	const path = ".claude/settings.json"
	record := diff.Replace(path, "100644", "100644", []byte(before), []byte(after))
	added, removed := surface.ChangedLines([]byte(before), []byte(after))
	return &gate.Input{
		Actor: gate.ActorClaude, Mode: gate.Worktree, Workspace: "/repo", ConfigArg: "shipgate.yaml",
		Records: []diff.Record{record}, IndexFrom: 1, Text: diff.Render(&record), ChangedFiles: []string{path},
		Changes: []surface.Change{{
			Path: path, Source: surface.GitWorktree, Listed: true, Added: added, Removed: removed,
			Old: surface.Side{Present: true, Bytes: []byte(before)}, New: surface.Side{Present: true, Bytes: []byte(after)},
		}},
		Manifest: gate.Manifest{Path: "shipgate.yaml", Present: true},
	}
}

// Whatever the manifest waives: what check leaves to a person, or blocks, verify
// does too.
func TestWhatCheckAsksVerifyAsks(t *testing.T) {
	waived := readOnly + `checks:
  ignore:
    - {check_id: SHIP-HOST-BOUNDARY-PERMISSION-ALLOW-EXPANDED, reason: no}
    - {check_id: SHIP-HOST-BOUNDARY-PERMISSION-WILDCARD-ALLOW, reason: no}
    - {check_id: SHIP-AGENT-BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED, reason: no}
`
	files := map[string]string{"shipgate.yaml": waived, "tools.json": getOrder}
	for _, c := range []struct {
		name, after, check string
		verdict            verify.MergeVerdict
	}{
		{"one more permission", `{"permissions": {"allow": ["Bash(npm test)", "Bash(git push)"]}}`, "SHIP-HOST-BOUNDARY-PERMISSION-ALLOW-EXPANDED", verify.NeedsHuman},
		{"every command", `{"permissions": {"allow": ["Bash(*)"]}}`, "SHIP-HOST-BOUNDARY-PERMISSION-WILDCARD-ALLOW", verify.BlockedFromMerge},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, files, files, func(in *verify.Input) {
				in.Changes = []*gate.Input{hostChange(`{"permissions": {"allow": ["Bash(npm test)"]}}`, c.after)}
				in.ChangedFiles = in.Changes[0].ChangedFiles
			})
			if !slices.Contains(checks(r), c.check) || r.Verdict != c.verdict || r.Control.State() == control.Complete {
				t.Errorf("%s by %v\n%s", r.Verdict, checks(r), r.Text(false))
			}
		})
	}
}
