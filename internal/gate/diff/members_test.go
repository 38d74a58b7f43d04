package diff_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/diff"
)

const boundaryData = "../../../testdata/boundary"

func readData(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(boundaryData, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// codexRules are the ids of the Codex family in the authored rule copy.
func codexRules(t *testing.T) []string {
	t.Helper()
	var data struct {
		Rules []struct{ ID, Family string }
	}
	if err := json.Unmarshal(readData(t, "authored/rules.json"), &data); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range data.Rules {
		if r.Family == "codex" {
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// digest of a side: an absent one is known to be empty, an unresolved one has
// none.
func digest(text []byte, unresolved bool) any {
	if unresolved {
		return nil
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// The Codex-family vectors of docs/spec/boundary.md §9.5, made from the diffs
// themselves and a workspace that holds none of their files.
func TestTheCodexIDIsMadeOfTheMembersOfItsRecords(t *testing.T) {
	for _, c := range []struct {
		diff         string
		source       string
		fingerprints []string
		want         string
	}{
		{"repair-before", "diff_new_file", []string{"fp_71c94cd92ba68747"}, "8b50e6dbb6219c191eb391ab"},
		{"repair-after", "diff_new_file", nil, "40e6127aa64d7d270dff675d"},
		{"block-stop", "workspace_file_missing", []string{"fp_db9eb20807fcce76"}, "2af3a603590c5b22704905cd"},
	} {
		t.Run(c.diff, func(t *testing.T) {
			records := diff.Parse(readData(t, "agent-protocol/diffs/"+c.diff+".diff"))
			if len(records) != 1 {
				t.Fatalf("got %d records, want 1", len(records))
			}
			r := &records[0]
			sides := diff.Reconstruct(r, diff.WorkspaceFile{State: diff.FileMissing})
			if sides.Source != c.source {
				t.Fatalf("source %q, want %q", sides.Source, c.source)
			}
			got := canonical.Compact.SHA256(canonical.Object{
				{Key: "schema_version", Value: "shipgate.codex_boundary_result/v2"},
				{Key: "agent", Value: "codex"},
				{Key: "changed_files", Value: []string{r.Path()}},
				{Key: "diff", Value: diff.HashMembers(records)},
				{Key: "evaluated_files", Value: []canonical.Object{{
					{Key: "path", Value: r.Path()},
					{Key: "source", Value: sides.Source},
					{Key: "old_sha256", Value: digest(sides.Old, sides.Unresolved)},
					{Key: "new_sha256", Value: digest(sides.New, sides.Unresolved)},
				}}},
				{Key: "policy_version", Value: "1"},
				{Key: "rule_ids", Value: codexRules(t)},
				{Key: "finding_fingerprints", Value: c.fingerprints},
			})[:24]
			if got != c.want {
				t.Errorf("codex_boundary_%s, want codex_boundary_%s", got, c.want)
			}
		})
	}
}

func TestADeletedFileHasNoNewNameInTheDigest(t *testing.T) {
	records := diff.Parse(readData(t, "agent-protocol/diffs/policy-bypass.diff"))
	members := diff.HashMembers(records)
	if len(members) != 1 {
		t.Fatalf("got %d members, want 1", len(members))
	}
	m := members[0]
	if m.Get("old_path") != "policies/codex-boundary.shipgate.yaml" || m.Get("new_path") != nil {
		t.Errorf("names %v and %v", m.Get("old_path"), m.Get("new_path"))
	}
	if m.Get("is_deleted") != true || m.Get("is_new") != false {
		t.Errorf("flags %v and %v", m.Get("is_deleted"), m.Get("is_new"))
	}
	if removed, _ := m.Get("removed_lines").([]string); len(removed) != 7 || removed[0] != "id: codex-boundary" {
		t.Errorf("removed lines %q", removed)
	}
	if added, _ := m.Get("added_lines").([]string); len(added) != 0 {
		t.Errorf("added lines %q", added)
	}
}
