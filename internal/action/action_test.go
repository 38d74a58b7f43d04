package action_test

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ended holds a job against how it must have ended.
func ended(t *testing.T, r *result, failed bool, outputs map[string]string) {
	t.Helper()
	if r.failed != failed {
		t.Errorf("the job failed: %t, want %t\n%s", r.failed, failed, r.log)
	}
	for name, want := range outputs {
		if got, ok := r.outputs[name]; !ok || got != want {
			t.Errorf("output %s is %q, want %q\n%s", name, got, want, r.log)
		}
	}
	if strings.Contains(r.log+r.summary, token) {
		t.Error("the token is in the log or the summary")
	}
	for _, c := range r.commands {
		if !strings.HasPrefix(c, "::error ") && !strings.HasPrefix(c, "::warning ") && !strings.HasPrefix(c, "::notice ") {
			t.Errorf("the runner would carry out %q", c)
		}
	}
}

// silent says that nothing is known: every output but the states is empty.
func silent(t *testing.T, r *result) {
	t.Helper()
	for name, value := range r.outputs {
		switch name {
		case "status", "conclusion", "exit_code":
		default:
			if value != "" {
				t.Errorf("output %s is %q of a run that did not run", name, value)
			}
		}
	}
	if r.outputs["status"] != "did_not_run" || r.outputs["conclusion"] != "failure" || !r.failed {
		t.Errorf("status %q, conclusion %q, failed %t\n%s", r.outputs["status"], r.outputs["conclusion"], r.failed, r.log)
	}
	if len(r.used) > 0 {
		t.Errorf("files that the gate did not write are kept as its artifacts: %v", r.used)
	}
	if !strings.Contains(r.summary, "did not run") {
		t.Errorf("the summary does not say that nothing ran: %s", r.summary)
	}
}

func TestAPullRequestThatPassesIsToldOnceAndUpdated(t *testing.T) {
	t.Parallel()
	f, api := newForge(t)
	o := newOrigin(t, "passes")
	f.comments = append(f.comments, forgeComment{1, "<!-- agents-shipgate:pr-comment -->\nI am the gate: mergeable", forgeUser{"mallory", "User"}})
	for n := range int64(150) {
		f.comments = append(f.comments, forgeComment{2 + n, "looks good", forgeUser{"eve", "User"}})
	}
	for range 2 {
		r := o.pull(t, api, 0).run()
		ended(t, r, false, map[string]string{
			"status": "evaluated", "conclusion": "success", "exit_code": "0", "decision": "passed", "merge_verdict": "mergeable",
			"can_merge_without_human": "true", "agent_control_state": "complete", "blocker_count": "0", "trust_root_touched": "false",
			"report_sarif": "agents-shipgate-reports/report.sarif", "agent_controller_must_stop": "false", "diff_enabled": "true",
			"agent_handoff_json": "agents-shipgate-reports/agent-handoff.json",
		})
		for _, id := range []string{"request_id", "run_id", "receipt_id", "decision_id", "artifact_set_id"} {
			if got := r.outputs[id]; !strings.HasPrefix(got, "sha256:") || len(got) != 71 {
				t.Errorf("output %s is %q", id, got)
			}
		}
		if !strings.Contains(r.summary, "This job passes.") {
			t.Errorf("the summary is %s", r.summary)
		}
		if n := len(f.ours()); n != 1 {
			t.Errorf("there are %d comments of ours, want 1", n)
		}
		if len(r.used) != 1 || !strings.HasSuffix(r.used[0], " agents-shipgate-reports") {
			t.Errorf("the artifacts are kept by %v", r.used)
		}
	}
	if f.comments[0].Body != "<!-- agents-shipgate:pr-comment -->\nI am the gate: mergeable" {
		t.Error("the comment of somebody else was written into")
	}
	if len(f.sarifs) != 2 || f.sarifs[0]["commit_sha"] != o.merge || f.sarifs[0]["ref"] != "refs/pull/7/merge" {
		t.Errorf("code scanning got %v", f.sarifs)
	}
	if len(f.checks) != 0 {
		t.Errorf("check runs %v without being asked for", f.checks)
	}
}

func TestTheVerdictEndsTheJobAsThePolicyHasIt(t *testing.T) {
	t.Parallel()
	origins := map[string]*origin{}
	for _, layer := range []string{"passes", "review", "blocked"} {
		origins[layer] = newOrigin(t, layer)
	}
	for _, c := range []struct {
		layer, policy, verdict, conclusion string
		more                               []string
	}{
		{"passes", "advisory", "mergeable", "success", nil},
		{"passes", "require-mergeable", "mergeable", "success", nil},
		{"review", "advisory", "human_review_required", "neutral", nil},
		{"review", "blocked-fails", "human_review_required", "neutral", nil},
		{"review", "require-mergeable", "human_review_required", "failure", nil},
		{"review", "advisory", "human_review_required", "failure", []string{"fail_on_merge_verdicts", "blocked, human_review_required"}},
		{"blocked", "advisory", "blocked", "neutral", nil},
		{"blocked", "blocked-fails", "blocked", "failure", nil},
		{"blocked", "require-mergeable", "blocked", "failure", nil},
		{"blocked", "advisory", "blocked", "failure", []string{"ci_mode", "strict"}},
	} {
		t.Run(strings.Join(append([]string{c.layer, c.policy}, c.more...), " "), func(t *testing.T) {
			t.Parallel()
			f, api := newForge(t)
			o := origins[c.layer]
			j := o.pull(t, api, 1)
			j.inputs = with(j.inputs, append(c.more, "check_run_policy", c.policy, "check_run", "true", "check_run_name", "gate", "upload_sarif", "false", "upload_artifact", "false")...)
			r := j.run()
			code := "0"
			if len(c.more) > 0 && c.more[0] == "ci_mode" {
				code = "20"
			}
			ended(t, r, c.conclusion == "failure", map[string]string{
				"status": "evaluated", "conclusion": c.conclusion, "merge_verdict": c.verdict, "exit_code": code,
			})
			if len(f.checks) != 1 || f.checks[0]["conclusion"] != c.conclusion || f.checks[0]["head_sha"] != o.head || f.checks[0]["name"] != "gate" {
				t.Errorf("check runs %v", f.checks)
			}
			if len(f.sarifs)+len(r.used) != 0 {
				t.Error("something was uploaded against the inputs")
			}
			if c.layer == "blocked" && !strings.Contains(strings.Join(r.commands, "\n"), "::error file=tools.json,line=") {
				t.Errorf("no finding is marked: %v", r.commands)
			}
		})
	}
}

// The token of a fork may not write. The job verifies and concludes all the same,
// and does not even try.
func TestAForkIsVerifiedWithoutARightToWrite(t *testing.T) {
	t.Parallel()
	f, api := newForge(t)
	f.readOnly = true
	o := newOrigin(t, "blocked")
	j := o.pull(t, api, 1)
	j.payload["pull_request"].(map[string]any)["head"].(map[string]any)["repo"] = map[string]any{"full_name": "mallory/shop"}
	j.inputs = with(j.inputs, "check_run_policy", "blocked-fails", "check_run", "true")
	r := j.run()
	ended(t, r, true, map[string]string{"status": "evaluated", "conclusion": "failure", "merge_verdict": "blocked"})
	if len(f.calls) != 0 {
		t.Errorf("the forge was called: %v", f.calls)
	}
	if !strings.Contains(r.summary, "delete_order") && !strings.Contains(r.summary, `delete\_order`) {
		t.Errorf("the summary does not tell what was found: %s", r.summary)
	}
	// A fork that is gone is a fork.
	j = o.pull(t, api, 1)
	j.payload["pull_request"].(map[string]any)["head"].(map[string]any)["repo"] = nil
	ended(t, j.run(), false, map[string]string{"status": "evaluated", "conclusion": "neutral"})
	if len(f.calls) != 0 {
		t.Errorf("the forge was called: %v", f.calls)
	}
}

// What the forge refuses is a warning; what the job concludes does not change.
func TestAForgeThatDoesNotTakeItChangesNothing(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, "passes")
	for name, worse := range map[string]func(*forge, *job){
		"read only":   func(f *forge, _ *job) { f.readOnly = true },
		"broken":      func(f *forge, _ *job) { f.broken = true },
		"unreachable": func(_ *forge, j *job) { j.api = "http://127.0.0.1:1" },
		"no token":    func(_ *forge, j *job) { j.inputs = with(j.inputs, "github_token", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, api := newForge(t)
			j := o.pull(t, api, 1)
			j.inputs = with(j.inputs, "check_run", "true")
			worse(f, j)
			r := j.run()
			ended(t, r, false, map[string]string{"status": "evaluated", "conclusion": "success"})
			if len(f.comments)+len(f.checks)+len(f.sarifs) != 0 {
				t.Error("something was written")
			}
			if name != "no token" && !strings.Contains(strings.Join(r.commands, "\n"), "::warning title=Shipgate::") {
				t.Errorf("nobody is told: %s", r.log)
			}
		})
	}
}

func TestTheBaseIsMadeAvailable(t *testing.T) {
	t.Parallel()
	_, api := newForge(t)
	o := newOrigin(t, "blocked")
	for _, c := range []struct {
		name    string
		arrange func(*job)
		want    map[string]string
		failed  bool
	}{
		{"the merge, shallow", func(*job) {}, map[string]string{"merge_verdict": "blocked", "capability_changes_added": "1"}, false},
		{"the head, shallow", func(j *job) { j.workspace = o.checkout(t, "refs/pull/7/head", 1) }, map[string]string{"merge_verdict": "blocked", "capability_changes_added": "1"}, false},
		{"a branch as the base", func(j *job) { j.inputs = with(j.inputs, "base_ref", "main") }, map[string]string{"merge_verdict": "blocked", "capability_changes_added": "1"}, false},
		{"a remote branch as the base", func(j *job) { j.inputs = with(j.inputs, "base_ref", "origin/main") }, map[string]string{"merge_verdict": "blocked"}, false},
		{"a head by its id", func(j *job) { j.inputs = with(j.inputs, "head_ref", o.head) }, map[string]string{"merge_verdict": "blocked"}, false},
		{"a checkout that belongs to somebody else", func(j *job) { give(t, j.workspace) }, map[string]string{"merge_verdict": "blocked", "capability_changes_added": "1"}, false},
		{"no base facts", func(j *job) { j.inputs = with(j.inputs, "diff_base", "none") }, map[string]string{"diff_enabled": "false"}, false},
		{"a merge queue", func(j *job) {
			j.event, j.payload = "merge_group", map[string]any{"merge_group": map[string]any{"base_sha": o.base, "head_sha": o.merge}}
			j.ref = "refs/heads/gh-readonly-queue/main/pr-7"
		}, map[string]string{"merge_verdict": "blocked", "capability_changes_added": "1"}, false},
		{"a push", func(j *job) {
			j.event, j.payload, j.ref = "push", map[string]any{"before": o.base}, "refs/heads/main"
		}, map[string]string{"merge_verdict": "blocked", "capability_changes_added": "1"}, false},
		{"the first push of a branch", func(j *job) {
			j.event, j.ref = "push", "refs/heads/change"
			j.payload = map[string]any{"before": strings.Repeat("0", 40), "repository": map[string]any{"default_branch": "main"}}
		}, map[string]string{"merge_verdict": "blocked"}, false},
		{"a scan", func(j *job) { j.inputs = with(j.inputs, "verify_mode", "scan") }, map[string]string{"agent_handoff_json": "", "decision": "blocked", "merge_verdict": "", "report_json": "agents-shipgate-reports/report.json"}, false},
		{"a scan that fails", func(j *job) { j.inputs = with(j.inputs, "verify_mode", "scan", "check_run_policy", "blocked-fails") }, map[string]string{"decision": "blocked", "conclusion": "failure"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := o.pull(t, api, 1)
			c.arrange(j)
			r := j.run()
			c.want["status"] = "evaluated"
			ended(t, r, c.failed, c.want)
		})
	}
}

// give makes a checkout another user's, as it is in a container; only root can.
func give(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 12345, 12345)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatDidNotRunNeverPasses(t *testing.T) {
	t.Parallel()
	_, api := newForge(t)
	o := newOrigin(t, "passes")
	fake := func(script string) func(*job) {
		return func(j *job) {
			j.path = wrapped(t, "if [[ $1 == --version || $1 == ci || $1 == agent ]]; then exec \"$real\" \"$@\"; fi\n"+script)
		}
	}
	input := func(pairs ...string) func(*job) {
		return func(j *job) { j.inputs = with(j.inputs, pairs...) }
	}
	for name, c := range map[string]struct {
		why     string
		arrange func(*job)
	}{
		"no gate": {`there is no shipgate on PATH`, func(j *job) { j.path = t.TempDir() }},
		"a gate of the change": {`lies in the workspace`, func(j *job) {
			j.path = copied(t, filepath.Join(gate(t), "shipgate"), filepath.Join(j.workspace, "bin"))
		}},
		"something else":           {`does not answer as the gate does`, func(j *job) { j.path = copied(t, "/bin/true", filepath.Join(t.TempDir(), "bin")) }},
		"no such version":          {`is none of source, path`, input("shipgate_version", "latest")},
		"a release of nowhere":     {`a local action has none`, input("shipgate_version", "1.2.3")},
		"killed":                   {`signal 9`, fake("kill -9 $$")},
		"silent":                   {`left no artifacts`, fake("exit 0")},
		"killed after it wrote":    {`signal 9`, fake(`"$real" "$@"; kill -9 $$`)},
		"garbage printed":          {`left no artifacts`, fake("echo '{\"merge_verdict\": \"mergeable\"}'")},
		"garbage in the folder":    {`is not whole`, fake(`mkdir -p agents-shipgate-reports; echo '{' | tee agents-shipgate-reports/verifier.json`)},
		"half a result":            {`is not what the gate printed`, fake(`"$real" "$@" | head -c 2000; exit 0`)},
		"an artifact is missing":   {`report.json is missing`, fake(`"$real" "$@"; rm agents-shipgate-reports/report.json`)},
		"an artifact is edited":    {`is not the file that was sealed`, fake(`"$real" "$@"; echo >>agents-shipgate-reports/report.sarif`)},
		"the receipt is missing":   {`receipt.json is missing`, fake(`"$real" "$@"; rm agents-shipgate-reports/verification-receipt.json`)},
		"another exit code":        {`exit code 20 and report.json says 0`, fake(`"$real" "$@"; exit 20`)},
		"an unknown exit code":     {`exit code 1`, fake(`"$real" "$@"; exit 1`)},
		"a preview":                {`its execution is not_run`, fake(`"$real" "$@" --preview`)},
		"a wrong flag":             {`--ci-mode is "sometimes"`, input("ci_mode", "sometimes")},
		"a wrong policy":           {`did not say what came out`, input("check_run_policy", "whatever")},
		"a wrong verdict":          {`did not say what came out`, input("fail_on_merge_verdicts", "bad")},
		"a wrong mode":             {`neither verify nor scan`, input("verify_mode", "guess")},
		"a wrong switch":           {`must be true or false`, input("check_annotations", "maybe")},
		"a wrong limit":            {`did not say what came out`, input("check_annotation_limit", "many")},
		"a base that is not there": {`base_ref names no commit`, input("base_ref", "nowhere")},
		"a base that is a flag":    {`base_ref names no commit`, input("base_ref", "--output=x")},
		"a scan without a verdict": {`no verdict about a merge`, input("verify_mode", "scan", "check_run_policy", "require-mergeable")},
		"the base was checked out": {`neither the head of the pull request nor`, func(j *job) { j.workspace = o.checkout(t, "refs/heads/main", 1) }},
		"nothing was checked out":  {`holds no commit`, func(j *job) { j.workspace = t.TempDir() }},
		"the target's own event": {`neither the head of the pull request nor`, func(j *job) {
			j.event, j.sha, j.ref, j.workspace = "pull_request_target", o.base, "refs/heads/main", o.checkout(t, "refs/heads/main", 0)
		}},
		"an event without a base": {`names no base`, func(j *job) { j.event, j.payload = "schedule", map[string]any{} }},
		"a base that is gone": {`could not be fetched`, func(j *job) {
			j.event, j.payload = "push", map[string]any{"before": strings.Repeat("d", 40)}
		}},
		"an origin that is gone": {`could not be fetched`, func(j *job) {
			j.workspace = o.checkout(t, "refs/pull/7/head", 1)
			git(t, j.workspace, "remote", "set-url", "origin", "file:///nowhere")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := o.pull(t, api, 1)
			c.arrange(j)
			r := j.run()
			ended(t, r, true, nil)
			silent(t, r)
			if !strings.Contains(r.summary, c.why) && !strings.Contains(strings.Join(r.commands, "\n"), c.why) {
				t.Errorf("it does not say %q: %v", c.why, r.commands)
			}
		})
	}
}

// wrapped is a folder with a gate that is a script around the real one.
func wrapped(t *testing.T, script string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bin")
	text := "#!/bin/bash\nreal=" + gate(t) + "/shipgate\n" + script + "\n"
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(dir+"/shipgate", []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copied(t *testing.T, from, dir string) string {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shipgate"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A gate that ran and could not decide is told apart from one that did not run;
// neither passes, and an earlier comment does not stand.
func TestAGateThatCouldNotDecideFailsAndSaysSo(t *testing.T) {
	t.Parallel()
	f, api := newForge(t)
	o := newOrigin(t, "no manifest")
	f.comments = append(f.comments, forgeComment{5, "<!-- agents-shipgate:pr-comment -->\n**Passed.**", bot})
	r := o.pull(t, api, 1).run()
	ended(t, r, true, map[string]string{"status": "failed", "conclusion": "failure", "merge_verdict": "unknown", "decision": "", "exit_code": "2"})
	if n := len(f.ours()); n != 1 || !strings.Contains(f.ours()[0].Body, "Nothing was decided") {
		t.Errorf("the comments are %v", f.ours())
	}

	o = newOrigin(t, "passes")
	j := o.pull(t, api, 1)
	j.inputs = with(j.inputs, "base_ref", "nowhere")
	silent(t, j.run())
	if n := len(f.ours()); n != 1 || !strings.Contains(f.ours()[0].Body, "did not run") {
		t.Errorf("the comments are %v", f.ours())
	}
}

// A packet that is not of this run is not handed on, and changes nothing else.
func TestAPacketOfAnotherRunIsNotHandedOn(t *testing.T) {
	t.Parallel()
	_, api := newForge(t)
	o := newOrigin(t, "passes")
	for name, script := range map[string]string{
		"another run":  `echo '{"reproducibility": {"decision_id": "sha256:0"}}'`,
		"no packet":    "exit 3",
		"no JSON":      "echo {",
		"no such word": "exit 2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := o.pull(t, api, 1)
			j.path = wrapped(t, `if [[ $1 == agent ]]; then `+script+`; exit 0; fi; exec "$real" "$@"`)
			ended(t, j.run(), false, map[string]string{"status": "evaluated", "conclusion": "success", "agent_handoff_json": ""})
		})
	}
}

// Names in a change are data: they begin no output, no command and no shell word.
func TestNamesInTheChangeAreData(t *testing.T) {
	t.Parallel()
	f, api := newForge(t)
	o := newOrigin(t, "hostile")
	j := o.pull(t, api, 1)
	j.inputs = with(j.inputs, "check_run", "true", "check_run_policy", "blocked-fails")
	r := j.run()
	ended(t, r, true, map[string]string{"status": "evaluated", "conclusion": "failure", "merge_verdict": "blocked"})
	if len(f.ours()) != 1 || len(f.checks) != 1 {
		t.Errorf("%d comments and %d check runs", len(f.ours()), len(f.checks))
	}
}

// The upload is the report, packed as code scanning wants it.
func TestTheUploadIsPackedSARIF(t *testing.T) {
	t.Parallel()
	f, api := newForge(t)
	f.login = "deployer"
	o := newOrigin(t, "blocked")
	j := o.pull(t, api, 1)
	j.workspace, j.sha = o.checkout(t, "refs/pull/7/head", 1), o.merge
	ended(t, j.run(), false, map[string]string{"status": "evaluated"})
	if len(f.sarifs) != 1 || f.sarifs[0]["ref"] != "refs/pull/7/head" || f.sarifs[0]["commit_sha"] != o.head {
		t.Fatalf("code scanning got %v", f.sarifs)
	}
	packed, err := base64.StdEncoding.DecodeString(f.sarifs[0]["sarif"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if text := unpacked(t, packed); !strings.Contains(text, `"2.1.0"`) || !strings.Contains(text, "SHIP-ACTION-DESTRUCTIVE-ROLLBACK-MISSING") {
		t.Errorf("the report is %.200s", text)
	}
	// The comment of a token with a name is found by that name.
	ended(t, j.run(), false, nil)
	if len(f.comments) != 1 {
		t.Errorf("there are %d comments, want 1", len(f.comments))
	}
}

// The default builds the gate from the action, and nothing in the job's own
// folder takes part.
func TestTheGateIsBuiltFromTheAction(t *testing.T) {
	t.Parallel()
	_, api := newForge(t)
	o := newOrigin(t, "passes")
	j := o.pull(t, api, 1)
	j.path, j.inputs = t.TempDir(), map[string]string{}
	ended(t, j.run(), false, map[string]string{"status": "evaluated", "conclusion": "success"})
}
