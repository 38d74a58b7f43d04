//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The acceptance criteria of docs/spec/contracts.md §18, told with the program
// alone: people and agents type commands, agents edit a real repository, and
// every chain comes to one of its ends.

// project makes a repository for agents to work in.
func project(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Ada"},
		{"config", "user.email", "ada@example.invalid"},
		{"commit", "--quiet", "--allow-empty", "-m", "Begin"},
	} {
		git(t, dir, args...)
	}
	if err := os.WriteFile(filepath.Join(dir, "greeting.txt"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "greeting.txt")
	git(t, dir, "commit", "--quiet", "-m", "Greet")
	return dir
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// What the agents of these tests are told to run. The task is in the message:
// two chains that make the same change in the same second would have one commit.
const (
	edits   = `echo world >>greeting.txt && git commit --quiet -am "Greet the world ($PLIMSOLL_TASK)"`
	reads   = `grep -q hello greeting.txt`
	tests   = `grep -q world greeting.txt`
	breaks  = `echo "cannot do it" >&2; exit 1`
	watches = edits + ` && echo '{"riskSignals":{"productionDataChange":true}}' >"$PLIMSOLL_OUT/report.json"`
)

// journey is a chain on its way, driven by commands.
type journey struct {
	*site
	repo, intent, task, acceptance, gate string
}

// ask has an intent said and let begin, and waits for its task.
func (s *site) ask(repo, text string, capabilities ...string) *journey {
	s.Helper()
	args := []string{"--json", "intent", "create", text}
	for _, c := range capabilities {
		args = append(args, "--capability", c)
	}
	var made shown
	if err := json.Unmarshal([]byte(s.must(s.command("ada", args...))), &made); err != nil {
		s.Fatal(err)
	}
	j := &journey{site: s, repo: repo, intent: made.Contract.ID}
	s.must(s.command("lea", "intent", "approve", j.intent))
	j.task = j.wait("TaskSeed", func(d document) bool { return true }).Contract.ID
	return j
}

// wait waits until the newest contract of a kind in the chain is as it should.
func (j *journey) wait(kind string, ok func(document) bool) shown {
	j.Helper()
	var one shown
	until(j, j.intent+": "+kind, func() bool {
		c := j.chain(j.intent)
		var there bool
		one, there = c.of(kind)
		return there && ok(one.Contract)
	})
	return one
}

func (j *journey) phase(want string) {
	j.Helper()
	until(j, j.intent+" in "+want, func() bool { c := j.chain(j.intent); return c.Phase == want })
}

// work has an agent run a script on the task, in a worktree of its own.
func (j *journey) work(script string) output {
	j.Helper()
	return j.command("bot", "run", j.task, "--repo", j.repo, "--", "sh", "-c", script)
}

// approve has people let a Draft begin, each under their one role.
func (j *journey) approve(noun, id string, people ...string) {
	j.Helper()
	for _, who := range people {
		j.must(j.command(who, noun, "approve", id))
	}
}

// judged brings the chain to its gate.
func (j *journey) judged(build string, approvers ...string) shown {
	j.Helper()
	j.must(j.work(build))
	j.phase("Stabilize")
	verify := tests
	if build == reads {
		verify = reads
	}
	j.must(j.work(verify))
	a := j.wait("Acceptance", func(d document) bool { return d.Status == "passed" })
	j.acceptance = a.Contract.ID
	if len(approvers) > 0 {
		if a.Contract.State != "Draft" {
			j.Errorf("%s is %s without the approvals of %v", j.acceptance, a.Contract.State, approvers)
		}
		j.approve("acceptance", j.acceptance, approvers...)
	}
	j.wait("Acceptance", func(d document) bool { return d.State == "Active" })
	g := j.wait("PublishGate", func(document) bool { return true })
	j.gate = g.Contract.ID
	return g
}

// reviewed has the work looked at once more and found good.
func (j *journey) reviewed(people ...string) {
	j.Helper()
	j.phase("Refactor")
	j.must(j.work("true"))
	for _, who := range people {
		j.must(j.command(who, "task", "review", j.task))
	}
	until(j, j.intent+" reviewed", func() bool { c := j.chain(j.intent); return c.Phase == "Publish" || c.Phase == "Published" })
}

// published holds that the whole chain is released, with a note that says so.
func (j *journey) published() {
	j.Helper()
	j.phase("Published")
	for _, kind := range []string{"IntentContract", "TaskSeed", "Acceptance", "PublishGate"} {
		j.wait(kind, func(d document) bool { return d.State == "Published" })
	}
	note := j.must(j.command("ada", "task", "note", j.task))
	for _, part := range []string{"# Release note: " + j.intent + " version 1", j.task, j.acceptance, j.gate} {
		if !strings.Contains(note, part) {
			j.Errorf("the release note of %s does not name %s:\n%s", j.intent, part, note)
		}
	}
}

// The exit codes by which a pipeline is told (plimsoll gate status --help).
const passed, waiting, refused, late = 0, 10, 11, 12

// status is what a pipeline is told about the head of the chain.
func (j *journey) status() int {
	j.Helper()
	c := j.chain(j.intent)
	o := j.command("bot", "gate", "status", "--repository", "app", "--head", c.HeadCommit)
	if !slices.Contains([]int{passed, waiting, refused, late}, o.code) {
		j.Errorf("%s: exit %d\n%s", o.line, o.code, o.notes)
	}
	return o.code
}

func TestAChainOfEveryRiskIsReleasedByTheRightPeopleAndEveryOtherEndIsNoRelease(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		s := found(t, db)
		p := s.serve()
		repo := project(t)
		mine := git(t, repo, "rev-parse", "HEAD")
		t.Run("chains", func(t *testing.T) {
			for name, end := range map[string]func(*site, string){
				"low risk":      lowRisk,
				"medium risk":   mediumRisk,
				"high risk":     highRisk,
				"critical risk": criticalRisk,
				"rejected":      rejected,
				"exhausted":     exhausted,
				"lost run":      lostRun,
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					inner := &site{TB: t, dir: t.TempDir(), db: db, tokens: s.tokens, live: p}
					end(inner, repo)
				})
			}
		})
		s.prove()
		if now := git(t, repo, "rev-parse", "HEAD"); now != mine {
			t.Errorf("the branch people work on moved from %s to %s", mine, now)
		}
		p.stop()
	})
}

func lowRisk(s *site, repo string) {
	j := s.ask(repo, "Say what the greeting is", "read_repo")
	g := j.judged(reads)
	if g.Contract.Risk != "low" || g.Contract.State != "Published" {
		s.Errorf("the gate of reading is %s risk and %s", g.Contract.Risk, g.Contract.State)
	}
	j.reviewed("lea")
	j.published()
}

func mediumRisk(s *site, repo string) {
	j := s.ask(repo, "Greet the world", "read_repo", "write_repo")
	g := j.judged(edits)
	if g.Contract.Risk != "medium" || g.Contract.State != "Published" {
		s.Errorf("the gate of writing is %s risk and %s", g.Contract.Risk, g.Contract.State)
	}
	j.reviewed("lea")
	j.published()
	if j.status() != passed {
		s.Error("a pipeline is not told that the head may be released")
	}
	head := j.chain(j.intent).HeadCommit
	if text := git(s, repo, "show", head+":greeting.txt"); text != "hello\nworld" {
		s.Errorf("the released commit holds %q", text)
	}
}

func highRisk(s *site, repo string) {
	j := s.ask(repo, "Greet the world from the net", "read_repo", "write_repo", "network_access")
	s.refused(j.work(edits), "taskseed.not_active")
	j.approve("task", j.task, "lea")
	s.refused(j.work(edits), "taskseed.not_active") // one of two is not enough
	// Two roles of one person are one pair of eyes.
	s.must(s.command("dora", "--as", "project_lead", "task", "approve", j.task))
	s.refused(s.command("dora", "--as", "security_reviewer", "task", "approve", j.task), "approval.actor_not_distinct")
	j.approve("task", j.task, "sam")
	g := j.judged(edits, "lea", "sam")
	if g.Contract.Risk != "high" || g.Contract.State != "Active" || g.Contract.FinalDecision != "pending" {
		s.Errorf("the gate is %s risk, %s and %s", g.Contract.Risk, g.Contract.State, g.Contract.FinalDecision)
	}
	j.reviewed("lea", "sam")
	publish := []string{"run", j.task, "--repo", repo, "--phase", "Publish"}
	s.refused(s.command("rex", publish...), "gate.not_approved")
	if j.status() != waiting {
		s.Error("a pipeline is told that an undecided head may be released")
	}
	s.must(s.command("lea", "gate", "approve", j.gate))
	s.refused(s.command("rex", publish...), "gate.not_approved")
	s.refused(s.command("rex", "gate", "approve", j.gate, "--digest", g.Meta.Digest), "gate.role_not_required")
	s.refused(s.command("sam", "gate", "approve", j.gate, "--digest", "sha256:"+strings.Repeat("0", 64)), "gate.digest_mismatch")
	s.must(s.command("sam", "gate", "approve", j.gate))
	s.must(s.command("rex", publish...))
	j.published()
	if j.status() != passed {
		s.Error("a pipeline is not told that the head may be released")
	}
}

func criticalRisk(s *site, repo string) {
	j := s.ask(repo, "Greet the customers", "read_repo", "write_repo")
	g := j.judged(watches, "lea", "sam", "rex") // what the run said raised the risk
	if g.Contract.Risk != "critical" {
		s.Errorf("the gate of a change of production data is %s risk", g.Contract.Risk)
	}
	j.reviewed("lea", "sam")
	for _, who := range []string{"lea", "sam", "rex"} {
		if j.status() != waiting {
			s.Errorf("the head may be released before %s agreed", who)
		}
		s.must(s.command(who, "gate", "approve", j.gate))
	}
	s.must(s.command("rex", "run", j.task, "--repo", repo))
	j.published()
}

func rejected(s *site, repo string) {
	j := s.ask(repo, "Greet from a place nobody knows", "read_repo", "write_repo", "install_deps")
	j.approve("task", j.task, "lea", "sam")
	j.judged(edits, "lea", "sam")
	s.must(s.command("lea", "gate", "approve", j.gate))
	s.must(s.command("sam", "gate", "reject", j.gate, "--reason", "that place is not ours"))
	j.ended("gate_rejected", "Revoked", "rejected")
	s.refused(s.command("sam", "gate", "approve", j.gate), "gate.already_final")
}

// ended holds that the chain stopped with its gate, and releases nothing.
func (j *journey) ended(cause, state, decision string) {
	j.Helper()
	j.wait("PublishGate", func(d document) bool { return d.State == state && d.FinalDecision == decision })
	c := j.chain(j.intent)
	for _, kind := range []string{"IntentContract", "TaskSeed", "Acceptance"} {
		if one, _ := c.of(kind); one.Contract.State != "Frozen" || one.Meta.FreezeCause != cause {
			j.Errorf("%s is %s for %q, want Frozen for %s", one.Contract.ID, one.Contract.State, one.Meta.FreezeCause, cause)
		}
	}
	told := map[string]int{"rejected": refused, "expired": late}[decision]
	if c.HeadCommit != "" && (told == passed || j.status() != told) {
		j.Error("a pipeline is told that the head may be released")
	}
	j.refused(j.work("true"), "taskseed.not_active")
}

func exhausted(s *site, repo string) {
	j := s.ask(repo, "Greet nobody", "read_repo", "write_repo")
	for n := range 4 { // the first and three more (docs/spec/contracts.md §7)
		if o := j.work(breaks); o.code != 1 || !strings.Contains(o.text, "failed") {
			s.Errorf("run %d: exit %d\n%s%s", n+1, o.code, o.text, o.notes)
		}
	}
	task := j.wait("TaskSeed", func(d document) bool { return d.State == "Frozen" })
	if task.Meta.FreezeCause != "phase_exhausted" || task.Meta.Phase != "Build" {
		s.Errorf("%s is frozen for %s in %s", j.task, task.Meta.FreezeCause, task.Meta.Phase)
	}
	if a := j.wait("Acceptance", func(document) bool { return true }); a.Contract.Status != "failed" {
		s.Errorf("the Acceptance of exhausted work is %s", a.Contract.Status)
	}
	if c := j.chain(j.intent); slices.ContainsFunc(c.Contracts, func(one shown) bool { return one.Contract.Kind == "PublishGate" }) {
		s.Error("work that failed has a gate")
	}
	s.refused(j.work(edits), "taskseed.not_active")

	// A person lets it go on, and it may be released after all.
	s.must(s.command("lea", "contract", "resume", j.task, "--resolution", "the agent has learned to greet"))
	j.judged(edits)
	j.reviewed("lea")
	j.published()
}

// lostRun tells of an executor whose run was taken from it while it worked: what
// it brings afterwards is fenced off, but its Evidence is kept.
func lostRun(s *site, repo string) {
	j := s.ask(repo, "Greet twice", "read_repo", "write_repo")
	started := filepath.Join(s.TempDir(), "started")
	goOn := filepath.Join(s.TempDir(), "go-on")
	done := make(chan output)
	go func() {
		done <- j.work("touch " + started + "; until test -e " + goOn + "; do sleep 0.05; done; " + edits)
	}()
	until(s, "the agent at work", func() bool { _, err := os.Stat(started); return err == nil })
	alive := all[run](s, s.user("root"), "/v1/runs", map[string][]string{"taskSeedId": {j.task}, "alive": {"true"}})
	if len(alive) != 1 {
		s.Fatalf("%d runs are alive", len(alive))
	}
	s.refused(j.work(edits), "lock.held")
	s.must(s.command("root", "run", "release", alive[0].ExecutionID))
	if err := os.WriteFile(goOn, nil, 0o644); err != nil {
		s.Fatal(err)
	}
	if o := <-done; o.code != 1 || !strings.Contains(o.text+o.notes, "lock.lost") {
		s.Errorf("the run that was taken away: exit %d\n%s%s", o.code, o.text, o.notes)
	}
	j.judged(edits)
	j.reviewed("lea")
	j.published()
}

func TestAGateThatNobodyDecidesExpiresAndReleasesNothing(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		s := found(t, db)
		p := s.serve("--deadline.high", "1s")
		j := s.ask(project(t), "Greet the world from the net", "read_repo", "write_repo", "network_access")
		j.approve("task", j.task, "lea", "sam")
		j.judged(edits, "lea", "sam")
		j.ended("gate_expired", "Frozen", "expired")
		s.refused(s.command("lea", "gate", "approve", j.gate), "gate.expired")
		s.refused(s.command("lea", "contract", "resume", j.gate, "--resolution", "we want it all the same"), "gate.expired")
		s.prove()
		p.stop()
	})
}
