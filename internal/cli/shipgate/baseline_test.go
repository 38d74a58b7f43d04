package shipgate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

const (
	loggedManifest = `version: "0.1"
project: {name: stock}
agent: {name: clerk, declared_purpose: [reorder stock]}
environment: {target: staging}
tool_sources: [{id: a, type: mcp, path: a.json}]
baseline: {integrity_mode: strict, audit_log: gate/audit.jsonl}
`
	twoFindings = `{"report_schema_version": "0.34", "run_id": "r1", "project": {"name": "stock"}, "findings": [
  {"fingerprint": "fp_000000000000000a", "check_id": "SHIP-AUTH-MISSING-SCOPE", "title": "no scope", "severity": "high", "tool_name": "reorder", "category": "auth",
   "support": {"support_hash": "sha256:aa", "policy_eligible": true}},
  {"fingerprint": "fp_000000000000000e", "check_id": "SHIP-DOC-MISSING-DESCRIPTION", "title": "hushed", "severity": "medium", "suppressed": true},
  {"fingerprint": "fp_000000000000000f", "check_id": "SHIP-VERIFY-TRUST-ROOT-TOUCHED", "title": "root", "severity": "medium", "category": "verify"},
  {"fingerprint": "fp_0000000000000010", "check_id": "SHIP-ACTION-WILDCARD-SCOPE", "title": "all", "severity": "critical", "category": "action_surface"}
]}`
)

// accepted is a workspace whose findings were saved once, and its commands.
func accepted(t *testing.T, manifest string) (dir string, run func(want int, args ...string) []byte) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"shipgate.yaml": manifest, "report.json": twoFindings} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run = func(want int, args ...string) []byte {
		t.Helper()
		code, stdout, stderr := call(shipgate.Env{Dir: dir}, "", append([]string{"baseline"}, args...))
		if code != want {
			t.Fatalf("baseline %v exits %d, want %d: %s%s", args, code, want, stdout, stderr)
		}
		return stdout
	}
	run(0, "save", "--from", "report.json", "--reason", "agreed", "--expires", "2099-01-01")
	return dir, run
}

func saved(t *testing.T, dir string) (b struct {
	Version   string `json:"schema_version"`
	CreatedAt string `json:"created_at"`
	Findings  []struct {
		Fingerprint string            `json:"fingerprint"`
		SupportHash string            `json:"support_hash"`
		Provenance  map[string]string `json:"provenance"`
	} `json:"findings"`
},
) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ".agents-shipgate", "baseline.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// What is active is accepted, with the word given; what no baseline covers is
// left out and counted.
func TestSavingABaseline(t *testing.T) {
	dir, run := accepted(t, loggedManifest)
	b := saved(t, dir)
	if b.Version != "0.5" || len(b.Findings) != 1 || b.Findings[0].Fingerprint != "fp_000000000000000a" || b.Findings[0].SupportHash != "sha256:aa" {
		t.Fatalf("%+v", b)
	}
	if p := b.Findings[0].Provenance; p["reason"] != "agreed" || p["expires"] != "2099-01-01" || p["run_id"] != "r1" {
		t.Errorf("provenance %v", p)
	}
	var result struct {
		Entries, Left int
		Changed       bool
		NotCoverable  int `json:"not_coverable"`
	}
	if err := json.Unmarshal(run(0, "save", "--from", "report.json", "--json"), &result); err != nil {
		t.Fatal(err)
	}
	if result.Entries != 1 || result.NotCoverable != 2 || result.Changed {
		t.Errorf("%+v", result)
	}
	if again := saved(t, dir); again.CreatedAt != b.CreatedAt || again.Findings[0].Provenance["reason"] != "agreed" {
		t.Errorf("saved again: %+v", again)
	}
	run(0, "verify")
}

// An edit by hand, a log without a line and a log that was rewritten all show.
func TestAnEditedBaselineIsFound(t *testing.T) {
	edit := func(t *testing.T, path string, change func(string) string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(change(string(text))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, dir string){
		"the file": func(t *testing.T, dir string) {
			t.Helper()
			edit(t, filepath.Join(dir, ".agents-shipgate", "baseline.json"), func(s string) string {
				return strings.Replace(s, "2099", "2199", 1)
			})
		},
		"the log": func(t *testing.T, dir string) {
			t.Helper()
			edit(t, filepath.Join(dir, "gate", "audit.jsonl"), func(s string) string { return strings.Replace(s, `"save"`, `"keep"`, 1) })
		},
		"no log": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "gate", "audit.jsonl")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, run := accepted(t, loggedManifest)
			run(0, "verify")
			change(t, dir)
			var result struct {
				OK               bool
				Expected, Actual string
				Why              string
			}
			if err := json.Unmarshal(run(6, "verify", "--json"), &result); err != nil {
				t.Fatal(err)
			}
			if result.OK || result.Why == "" || len(result.Actual) != 64 {
				t.Errorf("%+v", result)
			}
			if text := string(run(6, "verify")); !strings.Contains(text, result.Why) {
				t.Errorf("%q", text)
			}
		})
	}
}

// Saving goes on only from a log that holds together; without a log there is
// none to write.
func TestTheAuditLogIsContinued(t *testing.T) {
	dir, run := accepted(t, loggedManifest)
	log := filepath.Join(dir, "gate", "audit.jsonl")
	run(0, "save", "--from", "report.json")
	text, err := os.ReadFile(log)
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("%q, %v", text, err)
	}
	if err := os.WriteFile(log, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(3, "save", "--from", "report.json")

	dir, run = accepted(t, strings.Replace(loggedManifest, ", audit_log: gate/audit.jsonl", "", 1))
	if _, err := os.Stat(filepath.Join(dir, "gate")); err == nil {
		t.Error("a log that nobody named was written")
	}
	run(2, "verify")
}

// A baseline and a log outside of the workspace, or behind a link, are refused.
func TestABaselineStaysInItsWorkspace(t *testing.T) {
	dir, run := accepted(t, loggedManifest)
	run(2, "save", "--from", "report.json", "--baseline", "../elsewhere.json")
	run(2, "save", "--from", "report.json", "--baseline", filepath.Join(dir, "absolute.json"))
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(filepath.Join(t.TempDir(), "target.json"), link); err != nil {
		t.Skip("no links here")
	}
	run(3, "save", "--from", "report.json", "--baseline", "link.json")
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "folder")); err != nil {
		t.Fatal(err)
	}
	run(3, "save", "--from", "report.json", "--baseline", "folder/b.json")
	outside := strings.Replace(loggedManifest, "gate/audit.jsonl", "../audit.jsonl", 1)
	if err := os.WriteFile(filepath.Join(dir, "shipgate.yaml"), []byte(outside), 0o644); err != nil {
		t.Fatal(err)
	}
	run(2, "save", "--from", "report.json")
}
