package gate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/gate/trigger"
)

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func TestFingerprintVectors(t *testing.T) {
	cases := []struct {
		want string
		row  gate.Violation
	}{
		{"fp_71c94cd92ba68747", gate.Violation{
			CheckID: "SHIP-CODEX-BOUNDARY-MCP-AUTO-APPROVE-WRITE", Path: ".codex/config.toml", Action: rule.Block, RiskLevel: rule.Critical,
			Evidence: rule.Evidence("mcp_default_auto_approve", rule.With("server", "mcp_servers.filesystem"),
				rule.With("risky_tools", []string{"write_file"}), rule.With("tool_names", []string{"write_file"})),
		}},
		{"fp_dfa43032b18bd8a6", gate.Violation{
			CheckID: "SHIP-CODEX-BOUNDARY-POLICY-WEAKENED", Path: "policies/codex-boundary.shipgate.yaml", Action: rule.Block, RiskLevel: rule.Critical,
			Evidence: rule.Evidence("codex_boundary_policy_weakened", rule.With("deleted", true),
				rule.With("weakened_action", false), rule.With("weakened_risk", false)),
		}},
		{"fp_c1ba5e7d33e07974", gate.Violation{
			CheckID: "C", Path: "café/AGENTS.md", Action: rule.RequireReview, RiskLevel: rule.Medium, Evidence: rule.Evidence("k"),
		}},
	}
	for _, c := range cases {
		if got := c.row.Fingerprint(); got != c.want {
			t.Errorf("%s at %s: %s, want %s", c.row.CheckID, c.row.Path, got, c.want)
		}
	}
}

func codexRules() []string {
	var ids []string
	for _, r := range rule.Catalogue() {
		if r.Family == rule.CodexFamily {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func TestLegacyIDVectors(t *testing.T) {
	cases := []struct {
		name, want   string
		path, source string
		fingerprints []string
		resolved     bool
	}{
		{"repair-before", "codex_boundary_8b50e6dbb6219c191eb391ab", ".codex/config.toml", diff.SourceNewFile, []string{"fp_71c94cd92ba68747"}, true},
		{"repair-after", "codex_boundary_40e6127aa64d7d270dff675d", ".codex/config.toml", diff.SourceNewFile, nil, true},
		{"block-stop", "codex_boundary_2af3a603590c5b22704905cd", "policies/codex-boundary.shipgate.yaml", diff.UnresolvedMissing, []string{"fp_db9eb20807fcce76"}, false},
	}
	for _, c := range cases {
		records := diff.Parse(read(t, "agent-protocol/diffs/"+c.name+".diff"))
		f := gate.LegacyFacts{
			Mode: gate.Worktree, ChangedFiles: []string{c.path}, Records: records, Path: c.path, Source: c.source,
			RuleIDs: codexRules(), Fingerprints: c.fingerprints,
		}
		if both := diff.Reconstruct(&records[0], diff.WorkspaceFile{State: diff.FileMissing}); c.resolved {
			f.OldSHA, f.NewSHA = digest(both.Old), digest(both.New)
		} else if both.Source != c.source {
			t.Errorf("%s resolved as %s", c.name, both.Source)
		}
		if got := gate.LegacyID(f); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestTheCodexExamplesAreJudgedAsUpstreamDid runs the protocol's example diffs:
// same rows, same fingerprints. The result of policy-bypass is older than the
// rebuilding of deleted files, its fingerprint is not.
func TestTheCodexExamplesAreJudgedAsUpstreamDid(t *testing.T) {
	for name, want := range map[string][]string{
		"repair-before": {"fp_71c94cd92ba68747"},
		"repair-after":  {},
		"block-stop":    {"fp_db9eb20807fcce76"},
		"policy-bypass": {"fp_dfa43032b18bd8a6"},
	} {
		text := read(t, "agent-protocol/diffs/"+name+".diff")
		records := diff.Parse(text)
		rec := &records[0]
		both := diff.Reconstruct(rec, diff.WorkspaceFile{State: diff.FileMissing})
		c := surface.Change{
			Path: rec.Path(), Source: surface.Token(both.Source), Listed: true, Deleted: rec.Deleted,
			Old: surface.Side{Present: both.OldPresent, Bytes: both.Old}, New: surface.Side{Present: both.NewPresent, Bytes: both.New},
		}
		if both.Unresolved {
			c.Old.Unresolved, c.New.Unresolved = both.Source, both.Source
		}
		for _, h := range rec.Hunks {
			for _, l := range h.Lines {
				if l.Op != '+' {
					c.OldHunkLines = append(c.OldHunkLines, string(l.Text))
				}
				if l.Op != '-' {
					c.NewHunkLines = append(c.NewHunkLines, string(l.Text))
				}
			}
		}
		r, err := gate.Check(gate.Input{
			Actor: gate.ActorCodex, Mode: gate.ProvidedDiff, Workspace: "/repo", ConfigArg: "shipgate.yaml",
			Records: records, IndexFrom: len(records), Text: text, ChangedFiles: []string{rec.Path()}, Changes: []surface.Change{c},
		})
		if err != nil {
			t.Fatal(err)
		}
		sound(t, r)
		// The unresolved policy of block-stop is also content that was not
		// established, which is another row of ours.
		for _, fp := range want {
			if !slices.Contains(r.FindingFingerprints, fp) {
				t.Errorf("%s: %v lacks %s\n%v", name, r.FindingFingerprints, fp, rows(r))
			}
		}
		if len(want) == 0 && len(r.Violations) > 0 {
			t.Errorf("%s has rows %v", name, rows(r))
		}
	}
}

func TestAuditIDVectors(t *testing.T) {
	old := gate.AuditFacts{
		Actor: gate.ActorCodex, Mode: gate.ProvidedDiff, Replayable: true,
		ChangedFiles: []string{"x"}, Fingerprints: []string{"fp"}, PolicySet: "d",
	}
	claude := old
	claude.Actor = gate.ActorClaude
	reason := trigger.NoMatch
	cursor := gate.AuditFacts{
		Actor: gate.ActorCursor, Mode: gate.Worktree, Replayable: true,
		Trigger:  trigger.Result{SkipReason: &reason},
		Control:  control.Derive(control.Facts{Mode: control.Worktree, Covered: true}),
		Subject:  digest(nil),
		LegacyID: "codex_boundary_" + strings.Repeat("0", 24), PolicySet: "d",
	}
	for want, f := range map[string]gate.AuditFacts{
		"agent_boundary_b1cd6bfada3aaaaeb4fc8ceb": old,
		"agent_boundary_53a99c264e4e76d3d1d31f55": claude,
		"agent_boundary_97ac29599b3e24c0ae1c4c4b": cursor,
	} {
		if got := gate.AuditID(f); got != want {
			t.Errorf("%s/%s: %s, want %s", f.Actor, f.Mode, got, want)
		}
	}
}

// TestAnAuditIDBindsWhatItNamesAndNothingElse changes one fact at a time.
func TestAnAuditIDBindsWhatItNamesAndNothingElse(t *testing.T) {
	base := change{files: files{".claude/settings.json": added(`{"permissions":{"allow":["Bash(make lint)"]}}`), "docs/a.md": added("a\n")}}
	id := check(t, base).AuditID

	other := base
	other.actor = gate.ActorCursor
	bytes := base
	bytes.files = files{".claude/settings.json": base.files[".claude/settings.json"], "docs/a.md": added("b\n")}
	mode := base
	mode.mode = gate.GitRange
	route := base
	route.adopted = true
	raised := base
	raised.policies = map[string]string{"policies/agent-boundary.shipgate.yaml": "rules:\n  - {id: HOST-HOOK-CHANGED, action: block}\n"}
	index := base
	index.more = func(in *gate.Input) { in.IndexText = []byte{} }
	for name, c := range map[string]change{
		"actor": other, "subject bytes": bytes, "mode": mode, "route": route, "policy": raised, "an index text, even an empty one": index,
	} {
		if check(t, c).AuditID == id {
			t.Errorf("%s is not bound", name)
		}
	}

	elsewhere := base
	elsewhere.more = func(in *gate.Input) { in.Workspace = "/elsewhere" }
	if check(t, elsewhere).AuditID != id {
		t.Error("the workspace is bound")
	}
	newer, err := gate.Checker{Rules: rule.Catalogue(), Version: "9.9.9"}.Check(base.input())
	if err != nil || newer.AuditID != id || newer.Tool.Version != "9.9.9" {
		t.Errorf("the tool version is bound: %v", err)
	}
}

func TestErrorAuditIDsTellTheClassesApart(t *testing.T) {
	seen := map[string]gate.Failure{}
	classes := map[string]bool{}
	for _, f := range []gate.Failure{gate.DiffMissing, gate.DiffUnreadable, gate.DiffTooLarge, gate.RefMissing} {
		r := gate.ErrorResult(gate.ErrorInput{Actor: gate.ActorCodex, Mode: gate.ProvidedDiff, Failure: f, Base: "a", Head: "b"})
		classes[r.AuditID] = true
		seen[r.AuditID] = f
	}
	if len(classes) != 4 {
		t.Errorf("four error classes have %d ids: %v", len(classes), seen)
	}
}

func TestRowsAreOrderedByTheirCanonicalText(t *testing.T) {
	r := check(t, change{files: files{
		".claude/settings.json": added(`{"permissions":{"allow":["Bash(*)","Read(a)","Read(b)"],"defaultMode":"acceptEdits"}}`),
		".mcp.json":             added(`{"mcpServers":{"b":{"command":"x"},"a":{"command":"x"}}}`),
		"AGENTS.md":             added("Hello\n"),
	}})
	var keys []string
	for i := range r.Violations {
		keys = append(keys, canonical.Spaced.String(r.Violations[i].Canonical()))
	}
	if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
		t.Errorf("rows out of order or doubled:\n%s", strings.Join(keys, "\n"))
	}
	if r.Violations[0].Action != rule.Block {
		t.Error("a block does not come first")
	}
	// Two masked arguments are one row: nothing else tells them apart.
	n := 0
	for _, row := range rows(r) {
		if row == "HOST-PERMISSION-ALLOW-EXPANDED permission_allow_expanded .claude/settings.json" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d rows for two masked arguments: %v", n, rows(r))
	}
}
