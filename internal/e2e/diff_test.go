//go:build unix

package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
)

// What people are asked to agree to is on the page of its chain, with what was
// found at its line, and the page says whether these are the bytes of the digest.
func TestTheDiffOfARunIsShownToWhoDecides(t *testing.T) {
	s := found(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	s.serve()
	dir := adopted(t, "", "")
	s.must(s.command("ada", "intent", "create", "Let the agent pay", "-c", "read_repo", "-c", "write_repo"))
	s.must(s.command("lea", "intent", "approve", "IC-001"))
	until(t, "TS-001 is Active", func() bool {
		now := s.chain("IC-001")
		d, ok := now.of("TaskSeed")
		return ok && d.Contract.State == "Active"
	})
	out := s.must(s.command("bot", "run", "TS-001", "--repo", dir, "--as", "developer", "--json", "--", "sh", "-ec",
		`printf '{\n  "mcpServers": {\n    "pay": {"url": "https://pay.example/mcp"}\n  }\n}\n' > .mcp.json`))
	var run struct{ ExecutionID, DiffHash string }
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(err)
	}
	diff := s.must(s.command("lea", "run", "artifact", run.ExecutionID, "change_diff"))
	if contract.Hash([]byte(diff)) != run.DiffHash || !strings.Contains(diff, "+++ b/.mcp.json") {
		t.Errorf("the diff of %s is\n%s", run.DiffHash, diff)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.address()+"/chains/IC-001", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: s.tokens["lea"]})
	answer, err := (&http.Client{Timeout: time.Minute}).Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(string(text), `id="f1-3"`)
	line, _, _ := strings.Cut(at, `id="f1-4"`)
	if !strings.Contains(string(text), "These are the bytes") || !strings.Contains(line, "https://pay.example/mcp") || !strings.Contains(line, "SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED") {
		t.Errorf("%s: %s", answer.Status, text)
	}
	s.process().stop()
}
