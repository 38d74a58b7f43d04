package shipgatemcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/cli/shipgatemcp"
)

type arguments = map[string]any

// twin is the same question in both forms.
type twin struct {
	tool  string
	asked arguments
	words []string // of shipgate
	stdin string
}

// twins are the questions about a repository.
func twins(t testing.TB, dir string) []twin {
	t.Helper()
	diff := diffOf(t, dir)
	put(t, dir, "sub/more.txt", "x\n")
	var report struct {
		Findings []struct{ Fingerprint, ID string }
	}
	text, err := os.ReadFile(filepath.Join(dir, "agents-shipgate-reports", "report.json"))
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		t.Fatal(err)
	}
	request := arguments{
		"tool_name": "refund", "provider": "shop", "operation": "create", "effect": "financial_write", "scopes": []string{"*"},
	}
	plan := arguments{"changed_files": []string{"CLAUDE.md", "src/a.py"}, "diff_text": diff, "capability_requests": []any{request}, "context": arguments{"agent": "codex"}}
	document := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	outside := t.TempDir()
	put(t, outside, "request.json", document(request))
	before := must(t, dir, "", program("shipgate"), "preflight", "--json")
	put(t, outside, "before.json", before)
	const (
		result, lock = "--format=agent-boundary-json", "agents-shipgate-reports/base.lock.json"
		reports      = "agents-shipgate-reports/"
	)
	all := []twin{
		{"shipgate.check", nil, []string{"check", result, "--agent=codex", "--diff=-"}, ""},
		{"shipgate.check", arguments{"diff_text": diff}, []string{"check", result, "--agent=codex", "--diff=-"}, diff},
		{
			"shipgate.check",
			arguments{"diff_text": diff, "agent": "claude-code", "workspace": "sub", "config": "shipgate.yaml", "policy": nil},
			[]string{"check", result, "--agent=claude-code", "--workspace=sub", "--diff=-"},
			diff,
		},
		{"shipgate.check", arguments{"diff_text": "no diff \x00"}, []string{"check", result, "--agent=codex", "--diff=-"}, "no diff \x00"},
		{"shipgate.check", arguments{"workspace": dir, "agent": "cursor"}, []string{"check", result, "--agent=cursor", "--workspace=" + dir, "--diff=-"}, ""},
		{"shipgate.explain", arguments{"check_id": "HOST-MCP-SERVER-ADDED"}, []string{"explain", "--json", "HOST-MCP-SERVER-ADDED"}, ""},
		{"shipgate.explain", arguments{"check_id": "SHIP-POLICY-APPROVAL-MISSING", "no_plugins": true}, []string{"explain", "--json", "SHIP-POLICY-APPROVAL-MISSING"}, ""},
		{"shipgate.capabilities", nil, []string{"capability", "export", "--json", "--out=-"}, ""},
		{"shipgate.capabilities", arguments{"config": "./shipgate.yaml", "no_plugins": true}, []string{"capability", "export", "--json", "--out=-", "--config=./shipgate.yaml"}, ""},
		{"shipgate.capabilities", arguments{"base_lock": lock, "head_lock": lock}, []string{"capability", "diff", "--json", "--base=" + lock, "--head=" + lock}, ""},
		{"shipgate.handoff", nil, []string{"agent", "handoff", "--json"}, ""},
		{
			"shipgate.handoff",
			arguments{"verifier_path": reports + "verifier.json", "report_path": reports + "report.json", "verify_run_path": reports + "verify-run.json"},
			[]string{"agent", "handoff", "--json", "--from=" + reports + "verifier.json", "--report=" + reports + "report.json", "--verify-run=" + reports + "verify-run.json"},
			"",
		},
		{"shipgate.preflight", nil, []string{"preflight", "--json"}, ""},
		{"shipgate.preflight", arguments{"plan": plan}, []string{"preflight", "--json", "--plan=-"}, document(plan)},
		{"shipgate.preflight", arguments{"plan": plan, "workspace": "sub"}, []string{"preflight", "--json", "--plan=-", "--workspace=sub"}, document(plan)},
		{"shipgate.preflight", arguments{"changed_files": []string{"CLAUDE.md", "a,b"}}, []string{"preflight", "--json", "--changed-files=-"}, "CLAUDE.md\na,b\n"},
		{"shipgate.preflight", arguments{"diff_text": diff}, []string{"preflight", "--json", "--diff=-"}, diff},
		{"shipgate.preflight", arguments{"capability_request": request}, []string{"preflight", "--json", "--capability-request=" + filepath.Join(outside, "request.json")}, ""},
		{
			"shipgate.preflight",
			arguments{"changed_files": []string{"a"}, "base_preflight": json.RawMessage(before)},
			[]string{"preflight", "--json", "--changed-files=a", "--base-preflight=" + filepath.Join(outside, "before.json")},
			"",
		},
	}
	for _, f := range report.Findings[:min(3, len(report.Findings))] {
		all = append(all, twin{"shipgate.explain", arguments{"fingerprint": f.ID, "report_path": reports + "report.json"}, []string{"explain-finding", "--json", "--from=" + reports + "report.json", f.ID}, ""})
	}
	return all
}

// The tools answer what the program prints, byte for byte, over a real client at
// every revision of the protocol.
func TestTheBytesAreThoseOfTheProgram(t *testing.T) {
	samples, err := os.ReadDir("../../../examples/verification")
	if err != nil {
		t.Fatal(err)
	}
	first := true
	for _, sample := range samples {
		if !sample.IsDir() {
			continue
		}
		revisions := mcp.SupportedProtocolVersions()
		if !first {
			revisions = []string{revisions[0], revisions[len(revisions)-1]}
		}
		first = false
		t.Run(sample.Name(), func(t *testing.T) {
			dir := repository(t, sample.Name())
			questions := twins(t, dir)
			var want []string
			for _, q := range questions {
				want = append(want, must(t, dir, q.stdin, slices.Concat([]string{program("shipgate")}, q.words)...))
			}
			was := tree(t, dir)
			for _, revision := range revisions {
				s := client(t, dir, revision, nil)
				if got := s.InitializeResult().ProtocolVersion; got != revision {
					t.Fatalf("agreed on %s, not %s", got, revision)
				}
				for i, q := range questions {
					if text, failed := called(t, s, q.tool, q.asked); failed || text != want[i] {
						t.Errorf("%s %s %.300v:\n%.600s\nwant\n%.600s", revision, q.tool, q.asked, text, want[i])
					}
				}
			}
			if is := tree(t, dir); is != was {
				t.Errorf("something was written:\n%s\n---\n%s", was, is)
			}
		})
	}
}

// Calls at once do not meet: each is answered as if it were alone. The server runs
// in this process, so that the race detector sees it.
func TestCallsAtOnceDoNotMeet(t *testing.T) {
	dir := repository(t, "typescript-mcp")
	questions := twins(t, dir)
	theirs, out := io.Pipe()
	in, ours := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- shipgatemcp.Main([]string{"--workspace", dir}, shipgate.Env{Dir: t.TempDir(), Stdin: in, Stdout: out, Stderr: io.Discard, Environ: environ()})
	}()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, len(questions))
	for i, q := range questions {
		want[i], _ = called(t, s, q.tool, q.asked)
	}
	var all sync.WaitGroup
	for range 2 {
		for i, q := range questions {
			all.Go(func() {
				r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: q.tool, Arguments: q.asked})
				if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != want[i] {
					t.Errorf("%s %.200v: %+v, %v", q.tool, q.asked, r, err)
				}
			})
		}
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
}

// What the program refuses the tools refuse, in one line and with no result.
func TestRefusals(t *testing.T) {
	dir := repository(t, "python-agent")
	outside := t.TempDir()
	put(t, outside, "secret.json", "{}")
	put(t, outside, "report.json", "{}")
	put(t, dir, "plain/verifier.json", "{}")
	for _, l := range [][2]string{{outside, "out"}, {filepath.Join(outside, "secret.json"), "secret.json"}, {"nowhere", "dangling.json"}, {"agents-shipgate-reports", "in"}, {filepath.Join(outside, "report.json"), "plain/report.json"}} {
		if err := os.Symlink(l[0], filepath.Join(dir, l[1])); err != nil {
			t.Skip(err)
		}
	}
	before := tree(t, dir)
	s := client(t, dir, "", nil)
	abs := filepath.Join(outside, "secret.json")
	for _, c := range []struct {
		tool  string
		asked arguments
		want  string
	}{
		{"shipgate.check", arguments{"agent": "nobody"}, `agent is "nobody"`},
		{"shipgate.check", arguments{"diff_text": strings.Repeat("x", 32<<20+1)}, "diff_text is over 32 MiB"},
		{"shipgate.check", arguments{"config": abs}, "lies outside the workspace"},
		{"shipgate.check", arguments{"config": "../x"}, "lies outside the workspace"},
		{"shipgate.check", arguments{"policy": abs}, "lies outside the workspace"},
		{"shipgate.check", arguments{"policy": "secret.json"}, "leads through a link"},
		{"shipgate.check", arguments{"policy": "out/new/secret.json"}, "leads through a link"},
		{"shipgate.check", arguments{"workspace": "tools/..", "policy": "dangling.json"}, "leads through a link"},
		{"shipgate.check", arguments{"config": "no\x00thing"}, ""},
		{"shipgate.preflight", arguments{"plan": arguments{"unknown": 1}}, "unknown"},
		{"shipgate.preflight", arguments{"plan": arguments{"diff_text": strings.Repeat("x", 32<<20+1)}}, "33554432"},
		{"shipgate.preflight", arguments{"plan": arguments{}, "changed_files": []string{"a"}}, "plan cannot be combined with changed_files"},
		{"shipgate.preflight", arguments{"capability_request": arguments{"tool_name": ""}}, ""},
		{"shipgate.preflight", arguments{"base_preflight": arguments{"a": 1}}, ""},
		{"shipgate.preflight", arguments{"workspace": "nowhere"}, "no directory"},
		{"shipgate.preflight", arguments{"config": abs}, "lies outside the workspace"},
		{"shipgate.explain", arguments{"check_id": "HOST-MCP-SERVER-ADDE"}, "did you mean HOST-MCP-SERVER-ADDED?"},
		{"shipgate.explain", arguments{"check_id": "--help"}, "unknown_check_id"},
		{"shipgate.explain", arguments{"fingerprint": "fp_0", "report_path": "agents-shipgate-reports/report.json"}, "did you mean"},
		{"shipgate.explain", arguments{"fingerprint": "fp_0", "report_path": "nothing.json"}, "input_parse_error: nothing.json"},
		{"shipgate.explain", arguments{"fingerprint": "fp_0", "report_path": abs}, "lies outside the workspace"},
		{"shipgate.explain", arguments{"fingerprint": "fp_0", "report_path": "../" + filepath.Base(dir) + "x"}, "lies outside the workspace"},
		{"shipgate.explain", arguments{"fingerprint": "fp_0", "report_path": "secret.json"}, "leads through a link"},
		{"shipgate.explain", arguments{"fingerprint": "fp_0", "report_path": "out/secret.json"}, "leads through a link"},
		{"shipgate.explain", arguments{"fingerprint": "fp_0", "report_path": "in/report.json"}, "did you mean"},
		{"shipgate.capabilities", arguments{"config": "nothing.yaml"}, "config_error: there is no manifest"},
		{"shipgate.capabilities", arguments{"config": "../shipgate.yaml"}, "lies outside the workspace"},
		{"shipgate.capabilities", arguments{"base_lock": "a", "head_lock": "b"}, "--base a"},
		{"shipgate.capabilities", arguments{"base_lock": abs, "head_lock": abs}, "lies outside the workspace"},
		{"shipgate.capabilities", arguments{"base_lock": "secret.json", "head_lock": "secret.json"}, "leads through a link"},
		{"shipgate.handoff", arguments{"verifier_path": "nothing.json"}, "nothing.json"},
		{"shipgate.handoff", arguments{"verifier_path": abs}, "lies outside the workspace"},
		{"shipgate.handoff", arguments{"verifier_path": "plain/verifier.json"}, "has beside it report.json, which leads through a link"},
		{"shipgate.handoff", arguments{"verifier_path": "agents-shipgate-reports/report.json"}, ""},
		{"shipgate.handoff", arguments{"report_path": "secret.json"}, "leads through a link"},
	} {
		text, failed := called(t, s, c.tool, c.asked)
		if !failed || !strings.Contains(text, c.want) || strings.Contains(text, "\n") || len(text) > 2100 || strings.Contains(text, "--help\n") {
			t.Errorf("%s %.120s: %.300q, want %q", c.tool, fmt.Sprint(c.asked), text, c.want)
		}
	}
	if tree(t, dir) != before {
		t.Error("something was written")
	}
}

// A server for one workspace answers about no other.
func TestAServerOfOneWorkspace(t *testing.T) {
	dir, other := repository(t, "n8n-flow"), repository(t, "go-mcp")
	if err := os.Symlink(other, filepath.Join(dir, "other")); err != nil {
		t.Skip(err)
	}
	s := client(t, other, "", server("--workspace="+dir))
	for workspace, fails := range map[string]bool{".": false, dir: false, other: true, "other": true, "..": true, "/": true} {
		for _, tool := range []string{"shipgate.check", "shipgate.preflight"} {
			if text, failed := called(t, s, tool, arguments{"workspace": workspace}); failed != fails || failed && !strings.Contains(text, "workspace") {
				t.Errorf("%s of %s: %.200s", tool, workspace, text)
			}
		}
	}
	text, _ := called(t, s, "shipgate.capabilities", nil)
	if want := must(t, dir, "", program("shipgate"), "capability", "export", "--out=-"); text != want {
		t.Errorf("%.300s", text)
	}
}
