//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// adopted lays the sample repository with a manifest, and what else a case needs,
// and commits it.
func adopted(t *testing.T, sample, more string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if sample != "" {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "verification", sample))); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, dir, `git init -q -b main && echo one > app.txt && `+more+` git add -A && git -c user.name=P -c user.email=p@example.org commit -qm Begin`)
	return dir
}

func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// Rulings R10: each control state of a check, and each decision of the
// verification that it owes, leads a run to its own end. Nobody delivers an
// artifact by hand here.
func TestEveryAnswerOfTheGateLeadsARunToItsEnd(t *testing.T) {
	s := found(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	s.serve()
	const service = "openapi-service"
	for i, c := range []struct {
		name, sample, more, change     string
		control, verified, owed        string // what the Stabilize run prints
		acceptance, says, phase, level string // level "" is no gate
		en, uk                         string // why the page of the chain says that it does not go on
	}{
		{
			name: "complete", change: `echo two > app.txt`,
			control: "complete", acceptance: "passed", phase: "Refactor", level: "medium",
		},
		{
			name: "review_publishable", change: `echo '{"mcpServers":{"x":{"command":"npx","args":["x"]}}}' > .mcp.json`,
			control: "review_publishable", acceptance: "passed", phase: "Refactor", level: "high",
		},
		{
			name: "human_review_required", change: `mkdir -p .claude; echo '{"permissions":{"allow":["Bash(*)"]}}' > .claude/settings.json`,
			control: "human_review_required", acceptance: "blocked", says: "asks for a person", phase: "Stabilize",
			en: "The check asks for a person.", uk: "Перевірка потребує людини.",
		},
		{
			name: "another route", change: `printf 'from agents import Agent, function_tool\n@function_tool\ndef pay(x: int) -> str:\n    return 1\na = Agent(name="a", tools=[pay])\n' > agent.py`,
			control: "agent_action_required", acceptance: "failed", says: "asks the agent to configure", phase: "Build",
			en: "The check asks the agent for: <code>configure</code>", uk: "Перевірка просить агента: <code>configure</code>",
		},
		{
			name: "verify passed", sample: service, change: `echo '# a word' >> api/parcels.yaml`,
			control: "agent_action_required", verified: "passed", acceptance: "passed", phase: "Refactor", level: "medium",
		},
		{
			name: "verify review_required", sample: service, change: `mkdir -p .claude/commands; echo hello > .claude/commands/hello.md`,
			control: "agent_action_required", verified: "review_required", acceptance: "passed", phase: "Refactor", level: "high",
		},
		{
			name: "verify insufficient_evidence", sample: service, change: `sed 's/operationId: list_events/operationId: list_all/' api/parcels.yaml > new && mv new api/parcels.yaml`,
			control: "agent_action_required", verified: "insufficient_evidence", acceptance: "blocked", says: "verification came to insufficient_evidence", phase: "Stabilize",
			en: "The verification came to: too little evidence", uk: "Верифікація дійшла: замало доказів",
		},
		{
			name: "verify blocked", sample: service, more: `printf 'ci: {mode: strict, fail_on: [critical, high, medium]}\n' >> shipgate.yaml &&`,
			change:  `mkdir -p .claude/commands; echo hello > .claude/commands/hello.md`,
			control: "agent_action_required", verified: "blocked", acceptance: "blocked", says: "verification came to blocked", phase: "Stabilize",
			en: "The verification came to: blocked", uk: "Верифікація дійшла: заблоковано",
		},
		{
			name: "verify comes to no decision", sample: service, change: `echo '{' > api/parcels.yaml`,
			control: "agent_action_required", owed: "no decision", acceptance: "blocked", says: "verification owed", phase: "Stabilize",
			en: "A verification is owed", uk: "Потрібна верифікація",
		},
	} {
		intent, task := fmt.Sprintf("IC-%03d", i+1), fmt.Sprintf("TS-%03d", i+1)
		dir := adopted(t, c.sample, c.more)
		s.must(s.command("ada", "intent", "create", c.name, "-c", "read_repo", "-c", "write_repo"))
		s.must(s.command("lea", "intent", "approve", intent))
		in := func(kind string) (shown, bool) { now := s.chain(intent); return now.of(kind) }
		until(t, task+" is Active", func() bool { d, ok := in("TaskSeed"); return ok && d.Contract.State == "Active" })
		build := s.run(task, dir, "developer", c.change)
		if want := c.verified+c.owed != ""; (build.Owed != "") != want || build.Verified != "" {
			t.Errorf("%s: the Build run says %+v", c.name, build)
		}
		until(t, intent+" is in Stabilize", func() bool { return s.chain(intent).Phase == "Stabilize" })
		got := s.run(task, dir, "ci_agent", "true")
		if got.Control != c.control || got.Verified != c.verified || !strings.Contains(got.Owed, c.owed) || (got.Owed == "") != (c.owed == "") {
			t.Errorf("%s: the run says %+v", c.name, got)
		}
		until(t, c.name+": the Acceptance is "+c.acceptance, func() bool {
			d, ok := in("Acceptance")
			return ok && d.Contract.Status == c.acceptance && strings.Contains(d.Contract.Details, c.says)
		})
		until(t, c.name+": the chain is in "+c.phase, func() bool { return s.chain(intent).Phase == c.phase })
		s.tellsItsEnd(intent, c.acceptance, c.en, c.uk)
		if c.level == "" {
			if g, ok := in("PublishGate"); ok {
				t.Errorf("%s: there is a gate: %+v", c.name, g)
			}
			continue
		}
		if d, _ := in("Acceptance"); d.Contract.State == "Draft" { // born at a level that people activate
			s.must(s.command("lea", "acceptance", "approve", d.Contract.ID))
			s.must(s.command("sam", "acceptance", "approve", d.Contract.ID))
		}
		until(t, c.name+": the gate is made", func() bool { _, ok := in("PublishGate"); return ok })
		g, _ := in("PublishGate")
		if want := map[string]string{"medium": "approved", "high": "pending"}[c.level]; g.Contract.Risk != c.level || g.Contract.FinalDecision != want {
			t.Errorf("%s: the gate is %s and %s, want %s and %s", c.name, g.Contract.Risk, g.Contract.FinalDecision, c.level, want)
		}
	}
	s.process().stop()
}

// ran is what plimsoll run prints of one.
type ran struct {
	Status, Outcome, Control, Route, Verified string
	Owed                                      string `json:"verificationOwed"`
}

// run does the work of a task with a shell script, which must succeed.
func (s *site) run(task, dir, role, script string) ran {
	s.Helper()
	out := s.must(s.command("bot", "run", task, "--repo", dir, "--as", role, "--json", "--", "sh", "-ec", script))
	var r ran
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	return r
}

// tellsItsEnd holds what the page of a chain says at the end of its run, in both
// languages: the state, and where it does not go on why, and what to do.
func (s *site) tellsItsEnd(intent, acceptance, en, uk string) {
	s.Helper()
	for _, l := range []struct {
		lang, why, state, next string
	}{
		{"en", en, map[string]string{"passed": "passed", "failed": "failed", "blocked": "could not be judged"}[acceptance], "What to do: "},
		{"uk", uk, map[string]string{"passed": "пройдено", "failed": "не пройдено", "blocked": "не вдалося оцінити"}[acceptance], "Що зробити: "},
	} {
		body := s.process().visits("ada", "/chains/"+intent, l.lang)
		for _, want := range []string{">" + l.state + "<", l.why} {
			if !strings.Contains(body, want) {
				s.Errorf("%s in %s does not say %q\n%s", intent, l.lang, want, body)
			}
		}
		if held := strings.Contains(body, `id="held-back"`); held != (l.why != "") || held != strings.Contains(body, l.next) {
			s.Errorf("%s in %s: that it is held back and what to do is said: %t\n%s", intent, l.lang, held, body)
		}
	}
}
