//go:build !windows

package execution_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

func TestABuildBecomesABranchEvidenceAndNothingElse(t *testing.T) {
	w := newWorld(t, phase.Build)
	before := w.untouched()
	w.conf.Model = execution.Model{Name: "sonnet", Version: "5"}
	res := w.run(`
		echo "working on $PLIMSOLL_TASK in $PLIMSOLL_PHASE"
		echo hi >> hello.txt && git commit -q -am "Say hi"
		echo new > new.txt; echo x > x.ignored; mkdir sub; printf 'a\000b' > "sub/a b.bin"; rm other.txt`)
	if res.Status != execution.Delivered || res.Outcome != phase.Succeeded || res.Err != nil || res.Reason != "" {
		t.Fatalf("%+v\n%s", res, w.notes.String())
	}
	if after := w.untouched(); after != before {
		t.Errorf("the place of work was touched:\n%s\nbefore:\n%s", after, before)
	}
	if got := w.folders(); len(got) != 0 || res.Worktree != "" {
		t.Errorf("%v is left", got)
	}
	if list := w.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("a worktree is left:\n%s", list)
	}

	// The branch holds what the command committed, and what it left.
	if head := w.git("rev-parse", res.Branch); head != res.HeadCommit {
		t.Errorf("the branch is at %s, the head is %s", head, res.HeadCommit)
	}
	if got := w.git("log", "--format=%s|%an", w.base+".."+res.HeadCommit); got != "Keep what TS-001 left uncommitted in Build|plimsoll run\nSay hi|Ada" {
		t.Errorf("commits:\n%s", got)
	}
	if got := w.git("diff", "--name-status", w.base, res.HeadCommit); got != "M\thello.txt\nA\tnew.txt\nD\tother.txt\nA\tsub/a b.bin" {
		t.Errorf("changes:\n%s", got)
	}

	// The Evidence is enough to recompute everything.
	r := w.service.only(t)
	if want := []artifact.File{{Change: "added", Path: "new.txt"}, {Change: "deleted", Path: "other.txt"}, {Change: "added", Path: "sub/a b.bin"}}; !slices.Equal(r.End.Files, want) {
		t.Errorf("files: %v, want %v", r.End.Files, want)
	}
	patch, err := exec.Command("git", "-C", w.repo, "diff", "--full-index", "--binary", "--no-color", w.base, res.HeadCommit).Output()
	if err != nil {
		t.Fatal(err)
	}
	e := evidence(t, r.End)
	environment := e["environment"].(map[string]any)
	for _, c := range []struct{ name, got, want string }{
		{"baseCommit", e["baseCommit"].(string), w.base},
		{"headCommit", e["headCommit"].(string), res.HeadCommit},
		{"diffHash", e["diffHash"].(string), contract.Hash(patch)},
		{"outputHash", e["outputHash"].(string), contract.Hash(r.Artifacts[phase.BuildLog])},
		{"lockfileHash", environment["lockfileHash"].(string), contract.Hash([]byte("sum\n"))},
		{"containerImageDigest", environment["containerImageDigest"].(string), "uncontainerized"},
		{"model", e["model"].(map[string]any)["name"].(string) + e["model"].(map[string]any)["version"].(string), "sonnet5"},
		{"log", string(r.Artifacts[phase.BuildLog]), "working on TS-001 in Build\n"},
		{"watched", w.out.String(), "working on TS-001 in Build\n"},
		{"control", res.Control, "complete"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.name, c.got, c.want)
		}
	}
	if got := e["tools"].([]any); len(got) != 1 || got[0] != "sh" {
		t.Errorf("tools: %v", got)
	}
	var boundary struct {
		ChangedFiles []string `json:"changed_files"`
		InputMode    string   `json:"input_mode"`
	}
	if err := json.Unmarshal(r.Artifacts[phase.BoundaryResult], &boundary); err != nil || boundary.InputMode != "git_range" || len(boundary.ChangedFiles) != 4 {
		t.Errorf("the gate judged %+v, %v", boundary, err)
	}
}

func TestARunWithoutAModelSaysSo(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.run("true")
	m := evidence(t, w.service.only(t).End)["model"].(map[string]any)
	if m["name"] != "none" || m["version"] != "none" || m["parametersHash"] != "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" {
		t.Errorf("%v", m)
	}
	e := evidence(t, w.service.only(t).End)
	if e["headCommit"] != w.base || e["diffHash"] != contract.Hash(nil) {
		t.Errorf("nothing was changed, and the Evidence says %v", e)
	}
}

func TestTheGateSeesExactlyTheRangeThatIsReported(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.write("CLAUDE.md", "dirty in the place of work and no part of the run\n")
	res := w.run(`mkdir .claude; echo '{"permissions":{"allow":["Bash(*)"]}}' > .claude/settings.json`)
	if res.Outcome != phase.Succeeded || res.Control == "complete" || res.Control == "" {
		t.Errorf("a grant came through: %+v", res)
	}
	text := string(w.service.only(t).Artifacts[phase.BoundaryResult])
	if !strings.Contains(text, ".claude/settings.json") || strings.Contains(text, "CLAUDE.md") {
		t.Error(text)
	}
}

func TestAFailureKeepsItsWorktreeUntilItIsDiscarded(t *testing.T) {
	w := newWorld(t, phase.Build)
	res := w.run("echo part > part.txt; echo oops >&2; exit 3")
	r := w.service.only(t)
	if res.Outcome != phase.Failed || res.ExitCode != 3 || res.Reason != "exit status 3" || r.End.Reason != res.Reason || string(r.Artifacts[phase.ErrorLog]) != "oops\n" {
		t.Fatalf("%+v", res)
	}
	if !exists(filepath.Join(res.Worktree, "part.txt")) || !res.Ended.RetryAllowed {
		t.Error("the worktree is gone")
	}
	if w.git("show", res.Branch+":part.txt") != "part" {
		t.Error("the part is not committed")
	}
	kept, err := w.runner().Kept()
	if err != nil || len(kept) != 1 || kept[0].Worktree != res.Worktree || kept[0].Reason != "exit status 3" || kept[0].Task != "TS-001" {
		t.Fatalf("%+v, %v", kept, err)
	}
	if again, err := w.runner().Recover(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("a run that is over was taken up again: %v, %v", again, err)
	}
	if err := w.runner().Discard(t.Context(), kept[0].Run); err != nil || len(w.folders()) != 0 || exists(res.Worktree) {
		t.Errorf("not discarded: %v", err)
	}
	if err := w.runner().Discard(t.Context(), kept[0].Run); err == nil {
		t.Error("discarded twice")
	}
	if strings.Contains(w.git("worktree", "list"), "runs") {
		t.Error("git still knows the worktree")
	}
}

func TestACommandThatCannotStartIsAFailedRun(t *testing.T) {
	w := newWorld(t, phase.Build)
	res, err := w.runner().Run(t.Context(), execution.Order{Task: "TS-001", Phase: phase.Build, Command: []string{"no-such-program"}})
	if err != nil || res.Outcome != phase.Failed || !strings.Contains(res.Reason, "no-such-program") || res.ExitCode != -1 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestACommitThatIsNotHereIsAFailedRun(t *testing.T) {
	w := newWorld(t, phase.Stabilize)
	w.service.head = strings.Repeat("ab", 20)
	res := w.run("true")
	if res.Outcome != phase.Failed || !strings.Contains(res.Reason, "fetch it") || res.HeadCommit != w.base {
		t.Errorf("%+v", res)
	}
}

func TestTheCommandGetsTheListedVariablesOnly(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.conf.Environ = append(slices.Clone(w.conf.Environ), "PLIMSOLL_TOKEN=tok_secret", "AWS_SECRET_ACCESS_KEY=aws", "GIT_DIR=/elsewhere", "API_KEY=k3y-k3y-k3y", "OTHER=1", "LC_TIME=C")
	w.conf.Pass = []string{"API_KEY"}
	w.run(`env | sort; echo "the key is $API_KEY"; echo "Authorization: Bearer abcdefghijkl"`)
	log := string(w.service.only(t).Artifacts[phase.BuildLog])
	for _, absent := range []string{"tok_secret", "AWS_", "GIT_DIR", "OTHER=", "k3y-k3y-k3y", "abcdefghijkl"} {
		if strings.Contains(log, absent) {
			t.Errorf("%s is in the log:\n%s", absent, log)
		}
	}
	for _, there := range []string{"\nHOME=", "\nPATH=", "\nLC_TIME=C", "\nPLIMSOLL_EXECUTION=exec-1\n", "\nPLIMSOLL_BASE_COMMIT=" + w.base, "\nPLIMSOLL_OUT="} {
		if !strings.Contains("\n"+log, there) {
			t.Errorf("%q is not in the log:\n%s", there, log)
		}
	}
	if w.out.String() != log {
		t.Errorf("who watches sees another text than the log has:\n%s", w.out.String())
	}
	for _, name := range []string{"PLIMSOLL_TOKEN", "GIT_DIR", "A=B", ""} {
		c := w.conf
		c.Server, c.Pass = w.service, []string{name}
		if _, err := execution.New(c); err == nil {
			t.Errorf("%q is passed on", name)
		}
	}
}

// A secret that comes in pieces is whole before anybody sees it, and one of
// several lines is masked on each.
func TestWhoWatchesSeesNoSecretEither(t *testing.T) {
	w := newWorld(t, phase.Build)
	first, second := "c2VjcmV0LWZpcnN0LWxpbmU", "c2VjcmV0LXNlY29uZC1saW5l"
	begin, end := "-----BEGIN EC PRIVATE "+"KEY-----", "-----END EC PRIVATE "+"KEY-----"
	w.conf.Environ = append(slices.Clone(w.conf.Environ), "SIGNING_KEY="+first+"\n"+second, "API_TOKEN=t0ken-t0ken")
	w.conf.Pass = []string{"SIGNING_KEY", "API_TOKEN"}
	w.run(`printf 'half: t0ken'; sleep 0.2; printf -- '-t0ken\nready\n'; echo "$SIGNING_KEY"
		echo '` + begin + `'; echo MHcCAQEEIIGh; echo '` + end + `'; echo MHcCAQEEIIGh; printf 'no line end'`)
	want := "half: <redacted>\nready\n<redacted>\n<redacted>\n" + begin + "\n<redacted>\n" + end + "\nMHcCAQEEIIGh\nno line end"
	if got := w.out.String(); got != want {
		t.Errorf("who watches sees\n%s\nwant\n%s", got, want)
	}
	if got := string(w.service.only(t).Artifacts[phase.BuildLog]); got != want {
		t.Errorf("the log is\n%s\nwant\n%s", got, want)
	}
}

func TestLimitsEndTheCommandAndAllItStarted(t *testing.T) {
	for _, c := range []struct {
		name, script, reason string
		set                  func(*world)
	}{
		{"time", "sleep 600", "it took longer than 300ms", func(w *world) { w.conf.Limit = 300 * time.Millisecond }},
		{"time by the service's clock", "sleep 600", "it took longer than ", func(w *world) { w.service.limit = 2 * time.Second }},
		{"output", "yes", "it printed more than a run may", func(w *world) { w.conf.MaxOutput = 100_000 }},
		{"a command that does not listen", "trap '' INT; while :; do sleep 0.05; done", "it took longer than 300ms", func(w *world) {
			w.conf.Limit, w.conf.Grace = 300*time.Millisecond, 200*time.Millisecond
		}},
		{"what it left in the background", "trap 'exit 0' INT; (trap '' INT; exec setsid sh -c 'echo $$ > $PLIMSOLL_OUT/pid; exec sleep 600') & sleep 600", "it took longer than 500ms", func(w *world) {
			w.conf.Limit = 500 * time.Millisecond
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, phase.Build)
			c.set(w)
			began := time.Now()
			res := w.run(c.script)
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
			if res.Outcome != phase.Failed || !strings.HasPrefix(res.Reason, c.reason) || res.ExitCode != -1 {
				t.Errorf("%+v", res)
			}
			if log := w.service.only(t).Artifacts[phase.ErrorLog]; c.name == "output" && len(log) != 100_000 {
				t.Errorf("%d bytes are in the log", len(log))
			}
			if pid, err := os.ReadFile(filepath.Join(filepath.Dir(res.Worktree), "out", "pid")); err == nil {
				if exists("/proc/" + strings.TrimSpace(string(pid)) + "/exe") {
					t.Error("something goes on in the background")
				}
			} else if strings.Contains(c.script, "pid") {
				t.Error(err)
			}
		})
	}
}

func TestAnInterruptLetsTheCommandFinishAndKeepsItsWork(t *testing.T) {
	w := newWorld(t, phase.Build)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		until(t, "the command", func() bool { return strings.Contains(w.out.String(), "ready") })
		interrupt()
	}()
	res, err := w.runner().Run(ctx, w.order(`trap 'echo saved > saved.txt; exit 0' INT; echo ready; while :; do sleep 0.02; done`))
	if err != nil || res.Status != execution.Delivered || res.Outcome != phase.Failed || res.Reason != "interrupted" {
		t.Fatalf("%+v, %v", res, err)
	}
	if w.git("show", res.Branch+":saved.txt") != "saved" {
		t.Error("what it saved is lost")
	}
}

func TestAHardInterruptDoesNotWait(t *testing.T) {
	w := newWorld(t, phase.Build)
	hard := make(chan struct{})
	w.conf.Hard, w.conf.Grace = hard, time.Minute
	go func() {
		until(t, "the command", func() bool { return strings.Contains(w.out.String(), "ready") })
		close(hard)
	}()
	res := w.run(`trap '' INT; echo ready; while :; do sleep 0.02; done`)
	if res.Outcome != phase.Failed || res.Reason != "interrupted" {
		t.Errorf("%+v", res)
	}
}

func TestTheServiceCanStopARun(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.service.beat, w.service.stop = 20*time.Millisecond, true
	if res := w.run("sleep 600"); res.Status != execution.Delivered || res.Outcome != phase.Failed || res.Reason != "the service asked the run to end" {
		t.Errorf("%+v", res)
	}
}

func TestALostRunStopsAndItsEvidenceIsKept(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.service.beat = 20 * time.Millisecond
	w.service.afterBeat = func() { // somebody takes the lock over
		w.service.runs["exec-1"].over = strings.Contains(w.out.String(), "ready")
	}
	res := w.run("echo work > work.txt; echo ready; sleep 600")
	r := w.service.only(t)
	if res.Status != execution.Lost || res.Outcome != phase.Failed || res.Evidence != "EV-099" || refusal.CodeOf(res.Err) != refusal.LockLost {
		t.Fatalf("%+v", res)
	}
	if len(r.Late) != 1 || r.Late[0].Outcome != phase.Failed || r.Late[0].HeadCommit != res.HeadCommit || len(r.Artifacts) != 0 {
		t.Errorf("%+v", r)
	}
	if !exists(filepath.Join(res.Worktree, "work.txt")) || w.git("show", res.Branch+":work.txt") != "work" {
		t.Error("the work is lost")
	}
}

func TestARunWhoseHeartbeatsFindNobodyEndsWithItsLock(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.service.beat = 40 * time.Millisecond
	go func() {
		until(t, "the command", func() bool { return strings.Contains(w.out.String(), "ready") })
		w.service.set(func() { w.service.down = true })
	}()
	res := w.run("echo ready; sleep 600")
	if res.Status != execution.Spooled || !strings.Contains(res.Reason, "no heartbeat arrived for 200ms") {
		t.Errorf("%+v", res)
	}
}

func TestWhatTheCommandReportsIsPassedOn(t *testing.T) {
	w := newWorld(t, phase.Build)
	res := w.run(`cat > $PLIMSOLL_OUT/report.json <<'END'
{"tests":{"tool":"go test","command":["go","test"],"exitCode":0,"passed":7,"failed":0,"skipped":1,"startedAt":"2026-01-01T00:00:00Z","endedAt":"2026-01-01T00:00:01Z"},
 "checks":[{"criterion":"it is fast","passed":true,"detail":"3 ms"}],"riskSignals":{"legalOrContractConcern":true},
 "facts":[{"action":"write","environment":"production"}],"tools":["go","sh"]}
END`)
	r := w.service.only(t)
	if res.Outcome != phase.Succeeded || len(r.End.Checks) != 1 || r.End.Checks[0].Criterion != "it is fast" || !r.End.Signals["legalOrContractConcern"] || r.End.Facts[0].Environment != "production" {
		t.Errorf("%+v\n%+v", res, r.End)
	}
	if !strings.Contains(string(r.Artifacts[phase.UnitTestResult]), `"passed":7`) {
		t.Errorf("%s", r.Artifacts[phase.UnitTestResult])
	}
	if got := evidence(t, r.End)["tools"].([]any); len(got) != 2 || got[1] != "go" {
		t.Errorf("tools: %v", got)
	}
}

func TestAReportCanFailOrBlockARun(t *testing.T) {
	for _, c := range []struct {
		name, report, reason string
		outcome              phase.Outcome
	}{
		{"blocked", `{"blocked":"the staging database is away"}`, "the staging database is away", phase.Blocked},
		{"failing tests", `{"tests":{"tool":"t","command":["t"],"exitCode":0,"passed":7,"failed":1,"skipped":0,"startedAt":"2026-01-01T00:00:00Z","endedAt":"2026-01-01T00:00:01Z"}}`, "its tests did not pass", phase.Failed},
		{"an unknown member", `{"riskSignal":{}}`, "its report cannot be read", phase.Failed},
		{"an unknown signal", `{"riskSignals":{"productionDataChnge":false}}`, "its report cannot be read", phase.Failed},
		{"an unknown fact", `{"facts":[{"action":"alter"}]}`, "its report cannot be read", phase.Failed},
		{"a member twice", `{"facts":[{"action":"delete","environment":"production"}],"facts":[]}`, "its report cannot be read", phase.Failed},
		{"a test report of another form", `{"tests":{}}`, "its report cannot be read", phase.Failed},
		{"no JSON", `tests passed`, "its report cannot be read", phase.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, phase.Build)
			res := w.run("echo work > work.txt; echo '" + c.report + "' > $PLIMSOLL_OUT/report.json")
			if res.Status != execution.Delivered || res.Outcome != c.outcome || !strings.HasPrefix(res.Reason, c.reason) || res.Worktree == "" {
				t.Errorf("%+v", res)
			}
		})
	}
}

func TestStabilizeTestsTheHeadAndChangesNothing(t *testing.T) {
	w := newWorld(t, phase.Stabilize)
	w.git("stash", "--quiet", "--include-untracked")
	w.write("built.txt", "built\n")
	w.git("add", "built.txt")
	w.git("commit", "--quiet", "-m", "Build")
	w.service.head = w.git("rev-parse", "HEAD")
	res := w.run("test -f built.txt && touch coverage.out")
	r := w.service.only(t)
	if res.Outcome != phase.Succeeded || res.HeadCommit != w.service.head || res.Worktree != "" {
		t.Errorf("%+v", res)
	}
	want := []execution.Check{{Criterion: "write it", Passed: true}, {Criterion: "test it", Passed: true}}
	for i := range r.End.Checks {
		r.End.Checks[i].Detail = ""
	}
	if !slices.Equal(r.End.Checks, want) {
		t.Errorf("%+v", r.End.Checks)
	}
	if evidence(t, r.End)["diffHash"] == contract.Hash(nil) {
		t.Error("the diff is not that of the chain")
	}
}

func TestStabilizeKeepsAWorktreeWithChangesThatCountForNothing(t *testing.T) {
	w := newWorld(t, phase.Stabilize)
	res := w.run("echo mended >> hello.txt")
	if res.Outcome != phase.Succeeded || res.HeadCommit != w.base || !exists(filepath.Join(res.Worktree, "hello.txt")) {
		t.Errorf("%+v", res)
	}
}

func TestAFailedCriterionInStabilizeBringsTheLog(t *testing.T) {
	w := newWorld(t, phase.Stabilize)
	res := w.run(`echo tested; echo '{"checks":[{"criterion":"test it","passed":false,"detail":"no"}]}' > $PLIMSOLL_OUT/report.json`)
	r := w.service.only(t)
	if res.Outcome != phase.Succeeded || len(r.End.Checks) != 2 || string(r.Artifacts[phase.FailedTestLog]) != "tested\n" {
		t.Errorf("%+v\n%+v", res, r)
	}
	w = newWorld(t, phase.Stabilize)
	if res := w.run("exit 1"); res.Outcome != phase.Failed || w.service.only(t).End.Outcome != phase.Failed {
		t.Errorf("%+v", res)
	}
}

func TestPublishDeliversTheNoteAsTheCommandLeftIt(t *testing.T) {
	w := newWorld(t, phase.Publish)
	res := w.run(`printf '\n## Notes\n\nThanks.\n' >> "$PLIMSOLL_OUT/release_note.md"`)
	r := w.service.only(t)
	want := w.service.note + "\n## Notes\n\nThanks.\n"
	if res.Outcome != phase.Succeeded || string(r.Artifacts[phase.ReleaseNote]) != want || evidence(t, r.End)["outputHash"] != contract.Hash([]byte(want)) {
		t.Errorf("%+v\n%s", res, r.Artifacts[phase.ReleaseNote])
	}
	if _, there := r.Artifacts[phase.BoundaryResult]; there {
		t.Error("a publication is not judged by the gate")
	}
	w = newWorld(t, phase.Publish)
	w.service.refuse["note"] = refusal.GateMissing
	if res := w.run("touch ran"); res.Outcome != phase.Failed || !strings.Contains(res.Reason, "release note") || exists(filepath.Join(res.Worktree, "ran")) {
		t.Errorf("%+v", res)
	}
}

func TestARefusedResultIsReportedAsAFailure(t *testing.T) {
	for _, what := range []string{"complete", "put unit_test_result"} {
		w := newWorld(t, phase.Build)
		w.service.refuse[what] = refusal.ContractSchemaInvalid
		res := w.run("true")
		r := w.service.only(t)
		if res.Status != execution.Delivered || res.Outcome != phase.Failed || r.End.Outcome != phase.Failed || !strings.Contains(res.Reason, "the service refuses") || res.Worktree == "" {
			t.Errorf("%s: %+v", what, res)
		}
	}
	w := newWorld(t, phase.Build)
	w.service.refuse["complete"], w.service.refuse["fail"] = refusal.ContractSchemaInvalid, refusal.ContractSchemaInvalid
	res := w.run("true")
	if res.Status != execution.Refused || refusal.CodeOf(res.Err) != refusal.ContractSchemaInvalid {
		t.Errorf("%+v", res)
	}
	if again, err := w.runner().Recover(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("what is refused is tried for ever: %v, %v", again, err)
	}
}

func TestOrdersThatCannotBeginClaimNothing(t *testing.T) {
	w := newWorld(t, phase.Build)
	bare := t.TempDir()
	for _, c := range []struct {
		name string
		set  func(*execution.Config, *execution.Order)
	}{
		{"no command", func(_ *execution.Config, o *execution.Order) { o.Command = nil }},
		{"no task", func(_ *execution.Config, o *execution.Order) { o.Task = "IC-001" }},
		{"no repository", func(c *execution.Config, _ *execution.Order) { c.Repo = bare }},
		{"an unknown base", func(_ *execution.Config, o *execution.Order) { o.Base = "nowhere" }},
		{"a base that is an option", func(_ *execution.Config, o *execution.Order) { o.Base = "--all" }},
		{"a folder for runs in the working tree", func(c *execution.Config, _ *execution.Order) { c.State = filepath.Join(w.repo, "runs") }},
	} {
		conf, order := w.conf, w.order("true")
		conf.Server = w.service
		c.set(&conf, &order)
		r, err := execution.New(conf)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), order); err == nil {
			t.Errorf("%s: it ran", c.name)
		}
	}
	w.service.refuse["claim"] = refusal.PhaseActorNotPermitted
	if _, err := w.runner().Run(t.Context(), w.order("true")); refusal.CodeOf(err) != refusal.PhaseActorNotPermitted {
		t.Errorf("got %v", err)
	}
	if len(w.service.runs) != 0 || len(w.folders()) != 0 {
		t.Errorf("%d runs, %v", len(w.service.runs), w.folders())
	}
}

// What a command does to its worktree and to git in it.
func TestWhateverACommandDoesToItsWorktreeIsAccountedFor(t *testing.T) {
	for _, c := range []struct {
		name, script string
		outcome      phase.Outcome
		files        string // of the head, beside those of the base
		left         bool
	}{
		{"it goes to another branch", "git checkout -q -b mine; echo a > a.txt; git add a.txt; git commit -qm a; echo b > b.txt", phase.Succeeded, "a.txt b.txt", false},
		{"it detaches its head", "git checkout -q --detach; echo a > a.txt; git add a.txt; git commit -qm a", phase.Succeeded, "a.txt", false},
		{"it leaves a lock", `echo a > a.txt; touch "$(git rev-parse --git-dir)/index.lock"`, phase.Succeeded, "a.txt", false},
		{"it removes the way to git", "rm .git; echo a > a.txt", phase.Succeeded, "a.txt", false},
		{"it leads git elsewhere", "echo 'gitdir: /nowhere' > .git; echo a > a.txt", phase.Succeeded, "a.txt", false},
		{"it makes a repository inside", "git init -q inner; echo a > a.txt", phase.Succeeded, "a.txt", true},
		{"it stops in a conflict", "git checkout -q -b x; echo x > hello.txt; git commit -qam x; git checkout -q -b y HEAD~1; echo y > hello.txt; git commit -qam y; git merge x || true", phase.Succeeded, "", false},
		{"it leaves what a filter would change", "git config filter.f.clean 'touch filter-ran; cat'; echo '*.f filter=f' > .gitattributes; echo a > a.f; echo b > b.txt", phase.Succeeded, ".gitattributes b.txt", true},
		{"it makes folders nobody may write to", "mkdir -p cache/mod; echo a > cache/mod/a.ignored; chmod -R a-w cache", phase.Succeeded, "", false},
		{"it removes its worktree", `cd ..; rm -rf "$OLDPWD"`, phase.Failed, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, phase.Build)
			before := w.untouched()
			res := w.run(c.script)
			if res.Status != execution.Delivered || res.Outcome != c.outcome {
				t.Fatalf("%+v\n%s", res, w.notes.String())
			}
			if got := strings.Join(strings.Fields(w.git("diff", "--diff-filter=A", "--name-only", w.base, res.HeadCommit)), " "); got != c.files {
				t.Errorf("%q is in the head", got)
			}
			if head := w.git("rev-parse", res.Branch); c.outcome == phase.Succeeded && head != res.HeadCommit {
				t.Error("the branch is not at the head")
			}
			if (res.Worktree != "") != (c.left || c.outcome != phase.Succeeded) {
				t.Errorf("the worktree: %q", res.Worktree)
			}
			if exists(filepath.Join(res.Worktree, "filter-ran")) && res.Worktree != "" {
				t.Error("a filter ran")
			}
			if after := w.untouched(); after != before && !strings.Contains(c.script, "git config") {
				t.Errorf("the place of work was touched:\n%s", after)
			}
		})
	}
}

func TestABareRepositoryWillDo(t *testing.T) {
	w := newWorld(t, phase.Build)
	bare := filepath.Join(t.TempDir(), "bare.git")
	w.git("clone", "--quiet", "--bare", w.repo, bare)
	w.conf.Repo = bare
	res := w.run("echo a > a.txt")
	if res.Outcome != phase.Succeeded || gitIn(t, bare, "show", res.Branch+":a.txt") != "a" {
		t.Errorf("%+v", res)
	}
}

func TestATokenThatHasRunOutLosesNoWork(t *testing.T) {
	w := newWorld(t, phase.Build)
	for _, name := range []string{"beat", "put build_log", "complete"} {
		w.service.refuse[name] = refusal.AuthRequired
	}
	res := w.run("true")
	if res.Status != execution.Spooled || res.Outcome != phase.Succeeded || refusal.CodeOf(res.Err) != refusal.AuthRequired {
		t.Fatalf("%+v", res)
	}
	clear(w.service.refuse)
	if list, err := w.runner().Recover(t.Context()); err != nil || len(list) != 1 || list[0].Status != execution.Delivered || list[0].Outcome != phase.Succeeded {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestASecondRunnerIsRefusedAndLeavesNothing(t *testing.T) {
	w := newWorld(t, phase.Build)
	second := make(chan error, 1)
	go func() {
		until(t, "the command", func() bool { return strings.Contains(w.out.String(), "ready") })
		_, err := w.runner().Run(context.Background(), w.order("touch second"))
		second <- err
	}()
	res := w.run(`echo ready; n=0; while test $n -lt 100 && test "$(ls "$PLIMSOLL_OUT/../.." | wc -l)" -lt 2; do n=$((n+1)); sleep 0.02; done; sleep 0.3`)
	if err := <-second; refusal.CodeOf(err) != refusal.LockHeld {
		t.Errorf("got %v", err)
	}
	if res.Outcome != phase.Succeeded || len(w.folders()) != 0 {
		t.Errorf("%+v, %v", res, w.folders())
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add([]byte(`{"blocked":"x","checks":[{"criterion":"c","passed":true,"detail":""}],"riskSignals":{"legalConcern":true}}`))
	f.Add([]byte(`{"facts":[{"action":"finding","certainty":"possible"}],"tools":[" "]}`))
	f.Add([]byte(`{"tests":{"tool":"t","command":["t"],"exitCode":1.0,"passed":0,"failed":0,"skipped":0,"startedAt":"2026-01-01T00:00:00Z","endedAt":"2026-01-01T00:00:01Z"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := execution.ParseReport(b)
		if err != nil {
			return
		}
		for _, fact := range r.Facts {
			if fact.Check() != nil {
				t.Errorf("a fact that says nothing was taken: %+v", fact)
			}
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := execution.ParseReport(again); err != nil {
			t.Errorf("%s: what was read does not read again: %v", again, err)
		}
	})
}
