//go:build !windows

package execution_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// runnerProcess is this test binary as a runner that can be killed.
func runnerProcess() int {
	moment := os.Getenv("EXECUTION_TEST_DIE")
	die := func(now string) {
		if now == moment {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	r, err := execution.New(execution.Config{
		Server: remote{os.Getenv("EXECUTION_TEST_RUNNER"), die}, Judge: judge, Repo: os.Getenv("EXECUTION_TEST_REPO"), State: os.Getenv("EXECUTION_TEST_STATE"),
		NewID: func() string { return fmt.Sprintf("run-%d", os.Getpid()) }, Environ: os.Environ(), Output: os.Stdout, Notes: os.Stderr,
		Patience: time.Millisecond,
	})
	if err != nil {
		panic(err)
	}
	_, err = r.Run(context.Background(), execution.Order{
		Task: "TS-001", Phase: phase.Phase(os.Getenv("EXECUTION_TEST_PHASE")), Command: []string{"sh", "-c", os.Getenv("EXECUTION_TEST_SCRIPT")},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// other starts a runner in a process of its own.
func (w *world) other(script, moment string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EXECUTION_TEST_RUNNER="+w.service.listen(w.t), "EXECUTION_TEST_REPO="+w.repo, "EXECUTION_TEST_STATE="+w.state,
		"EXECUTION_TEST_SCRIPT="+ownGit+script, "EXECUTION_TEST_PHASE="+string(w.service.phase), "EXECUTION_TEST_DIE="+moment)
	cmd.Stdout, cmd.Stderr = &w.out, &w.notes
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd
}

func TestAKilledRunnerIsAccountedForByTheNext(t *testing.T) {
	w := newWorld(t, phase.Build)
	before := w.untouched()
	cmd := w.other(`echo a > a.txt; git add a.txt; git commit -qm a; echo b > b.txt; echo "pid $$"; while :; do echo tick >> ticks.ignored; sleep 0.02; done`, "")
	until(t, "the command", func() bool { return strings.Contains(w.out.String(), "pid ") })
	// While it lives, nobody takes its run away.
	if list, err := w.runner().Recover(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	list, err := w.runner().Recover(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v\n%s", list, err, w.notes.String())
	}
	res, r := list[0], w.service.only(t)
	if res.Status != execution.Delivered || res.Outcome != phase.Failed || res.Reason != "the runner ended without an account" || r.Ends != 1 {
		t.Errorf("%+v", res)
	}
	if w.git("show", res.Branch+":b.txt") != "b" || w.git("show", res.HeadCommit+":a.txt") != "a" {
		t.Error("the work is lost")
	}
	if log := string(r.Artifacts[phase.ErrorLog]); !strings.HasPrefix(log, "pid ") {
		t.Errorf("the log is %q", log)
	}
	_, pid, _ := strings.Cut(strings.TrimSpace(w.out.String()), "pid ")
	if exists("/proc/" + pid + "/exe") {
		t.Error("the command goes on without a runner")
	}
	if w.untouched() != before {
		t.Error("the place of work was touched")
	}
	if list, err := w.runner().Recover(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("it is accounted for twice: %+v, %v", list, err)
	}
}

// The runner dies at every moment around a call; then the next start makes the
// account, once.
func TestARunnerMayDieAtAnyMoment(t *testing.T) {
	for _, c := range []struct {
		moment  string
		ends    int
		outcome phase.Outcome
	}{
		{"before claim", 1, phase.Succeeded}, // nothing had happened: the next start runs it
		{"after claim", 1, phase.Succeeded},  // under the same key the run is the same
		{"before put build_log", 1, phase.Succeeded},
		{"after put build_log", 1, phase.Succeeded},
		{"after put boundary_result", 1, phase.Succeeded},
		{"before end", 1, phase.Succeeded},
		{"after end", 1, phase.Succeeded},
	} {
		t.Run(c.moment, func(t *testing.T) {
			w := newWorld(t, phase.Build)
			cmd := w.other("echo a > a.txt", c.moment)
			if err := cmd.Wait(); err == nil {
				t.Fatalf("it lived\n%s", w.notes.String())
			}
			list, err := w.runner().Recover(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var res *execution.Result
			if strings.HasSuffix(c.moment, "claim") {
				if len(list) != 0 {
					t.Fatalf("%+v", list[0])
				}
				res = w.run("echo a > a.txt")
			} else if len(list) == 1 {
				res = list[0]
			} else {
				t.Fatalf("%d accounts", len(list))
			}
			r := w.service.only(t)
			if res.Status != execution.Delivered || res.Outcome != c.outcome || r.Ends != c.ends || w.git("show", r.End.HeadCommit+":a.txt") != "a" {
				t.Errorf("%+v\n%+v", res, r)
			}
			if left := w.folders(); len(left) != 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// deaf is a service whose answers to claims do not arrive.
type deaf struct{ *service }

func (d deaf) Claim(ctx context.Context, key string, c execution.ClaimRequest) (*execution.Claim, error) {
	if _, err := d.service.Claim(ctx, key, c); err != nil {
		return nil, err
	}
	return nil, errAway
}

// The claim that began a chain named its base, which the chain has from then on:
// the next start need not name it, and takes up that very claim.
func TestAClaimWhoseAnswerNeverCameIsTakenUp(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.conf.Server = deaf{w.service}
	begins := w.order("true")
	begins.Base = w.base
	if _, err := w.runner().Run(t.Context(), begins); !errors.Is(err, errAway) {
		t.Fatalf("got %v", err)
	}
	w.conf.Server = w.service
	res := w.run("echo a > a.txt")
	if r := w.service.only(t); res.Status != execution.Delivered || res.Outcome != phase.Succeeded || r.asked.BaseCommit != w.base {
		t.Errorf("%+v\n%+v", res, r)
	}
	if left := w.folders(); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestAServiceThatIsAwayGetsTheAccountAtTheNextStart(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.service.beat = time.Hour
	go func() {
		until(t, "the command", func() bool { return strings.Contains(w.out.String(), "ready") })
		w.service.set(func() { w.service.down = true })
	}()
	res := w.run(`echo ready; sleep 0.5; echo a > a.txt`)
	if res.Status != execution.Spooled || res.Outcome != phase.Succeeded || res.Worktree == "" || !errors.Is(res.Err, errAway) {
		t.Fatalf("%+v", res)
	}
	if again, err := w.runner().Recover(t.Context()); err != nil || len(again) != 1 || again[0].Status != execution.Spooled {
		t.Errorf("%+v, %v", again, err)
	}
	w.service.set(func() { w.service.down = false })
	list, err := w.runner().Recover(t.Context())
	if err != nil || len(list) != 1 || list[0].Status != execution.Delivered || list[0].Outcome != phase.Succeeded {
		t.Fatalf("%+v, %v", list, err)
	}
	if r := w.service.only(t); r.Ends != 1 || r.End.HeadCommit != res.HeadCommit || len(w.folders()) != 0 {
		t.Errorf("%+v, %v", r, w.folders())
	}
}

func TestAnAccountThatComesTooLateKeepsItsEvidence(t *testing.T) {
	w := newWorld(t, phase.Build)
	cmd := w.other("echo a > a.txt", "before end")
	if err := cmd.Wait(); err == nil {
		t.Fatal("it lived")
	}
	w.service.set(func() { w.service.runs["exec-1"].over = true })
	list, err := w.runner().Recover(t.Context())
	if err != nil || len(list) != 1 || list[0].Status != execution.Lost || list[0].Evidence != "EV-099" || refusal.CodeOf(list[0].Err) != refusal.LockLost {
		t.Fatalf("%+v, %v", list, err)
	}
	if r := w.service.only(t); len(r.Late) != 1 || !exists(list[0].Worktree) {
		t.Errorf("%+v", r)
	}
}

func TestARunOfARepositoryThatIsGoneIsReportedAllTheSame(t *testing.T) {
	w := newWorld(t, phase.Build)
	cmd := w.other("echo ready; sleep 600", "")
	until(t, "the command", func() bool { return strings.Contains(w.out.String(), "ready") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := os.Rename(w.repo, w.repo+"-moved"); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(w.repo + "-moved") // a temporary folder
	list, err := w.runner().Recover(t.Context())
	if err != nil || len(list) != 1 || list[0].Status != execution.Delivered || list[0].HeadCommit != w.base {
		t.Fatalf("%+v, %v\n%s", list, err, w.notes.String())
	}
}

func TestAJournalThatCannotBeReadIsLeftAlone(t *testing.T) {
	w := newWorld(t, phase.Build)
	dir := filepath.Join(w.state, "run-x")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", `{"schema":"plimsoll.run/v9"}`, `{"schema":"plimsoll.run/v1","surprise":1}`} {
		if err := os.WriteFile(filepath.Join(dir, "journal.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := w.runner().Recover(t.Context()); err != nil || len(list) != 0 || !exists(dir) {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
	if !strings.Contains(w.notes.String(), "run run-x is left as it is") {
		t.Error(w.notes.String())
	}
	if res := w.run("true"); res.Outcome != phase.Succeeded {
		t.Error("it keeps others from running")
	}
}

func TestAWorktreeTheJournalHasNoWordOfIsFound(t *testing.T) {
	w := newWorld(t, phase.Build)
	cmd := w.other("echo a > a.txt; echo ready; sleep 600", "")
	until(t, "the command", func() bool { return strings.Contains(w.out.String(), "ready") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	name := filepath.Join(w.state, w.folders()[0], "journal.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var j map[string]any
	if err := json.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	delete(j, "tree") // as it was before the worktree was made
	if text, err = json.Marshal(j); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := w.runner().Recover(t.Context())
	if err != nil || len(list) != 1 || list[0].Status != execution.Delivered || w.git("show", list[0].HeadCommit+":a.txt") != "a" {
		t.Errorf("%+v, %v", list, err)
	}
}

// A claim nobody heard the answer of is forgotten when its lock has run out: the
// service has given the run up by itself.
func TestAnOldClaimIsForgotten(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.service.down = true
	if _, err := w.runner().Run(t.Context(), w.order("true")); !errors.Is(err, errAway) {
		t.Fatalf("got %v", err)
	}
	for _, c := range []struct {
		later time.Duration
		left  int
	}{{299 * time.Second, 1}, {301 * time.Second, 0}} {
		w.conf.Now = func() time.Time { return time.Now().Add(c.later) }
		if list, err := w.runner().Recover(t.Context()); err != nil || len(list) != 0 || len(w.folders()) != c.left {
			t.Errorf("after %s: %v, %v, %v", c.later, list, err, w.folders())
		}
	}
}
