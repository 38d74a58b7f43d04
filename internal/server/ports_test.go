package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/server"
)

func TestThePolicyIsWhatTheSettingsSay(t *testing.T) {
	reads := &contract.Intent{RequestedCapabilities: capability.Of(capability.ReadRepo)}
	installs := &contract.TaskSeed{CapabilitiesSnapshot: capability.Of(capability.ReadRepo, capability.InstallDeps)}
	for _, c := range []struct {
		name, file string
		work       pipeline.Work
		want       string
	}{
		{"no rules", "", pipeline.Work{Task: installs, Level: contract.Critical, Signals: risk.SignalsOf(risk.CustomerDataWrite)}, ""},
		{"a capability", "policy.forbid: [read_secrets, install_deps]\n", pipeline.Work{Intent: reads, Task: installs, Level: contract.High}, "policy.forbid:install_deps"},
		{"another capability", "policy.forbid: [read_secrets]\n", pipeline.Work{Intent: reads, Task: installs, Level: contract.High}, ""},
		{"before there is a task", "policy.forbid: [read_repo]\n", pipeline.Work{Intent: reads, Level: contract.Low}, "policy.forbid:read_repo"},
		{"a signal", "policy: {forbid: [customerDataWrite]}\n", pipeline.Work{Task: installs, Signals: risk.SignalsOf(risk.CustomerDataWrite), Level: contract.Critical}, "policy.forbid:customerDataWrite"},
		{"by its other name", "policy.forbid: [legalConcern]\n", pipeline.Work{Signals: risk.SignalsOf(risk.LegalOrContractConcern)}, "policy.forbid:legalConcern"},
		{"just as much risk", "policy.most: high\n", pipeline.Work{Task: installs, Level: contract.High}, ""},
		{"too much risk", "policy.most: medium\n", pipeline.Work{Task: installs, Level: contract.High}, "policy.most:medium"},
	} {
		conf := config(t, c.file)
		if got := conf.Violated(c.work); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, file := range []string{"policy.forbid: [read_everything]\n", "policy.most: huge\n"} {
		if _, err := server.Load(server.Source{Name: "f", File: []byte(file)}); fault.KindOf(err) != fault.Invalid || err == nil {
			t.Errorf("%q is taken: %v", file, err)
		}
	}
}

// program makes a shell script. No process is started meanwhile: it would hold
// the script open for writing, and what is open for writing is not run.
func program(t *testing.T, text string) string {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPlannerIsGivenTheIntentAndNothingOfTheService(t *testing.T) {
	t.Setenv("PLIMSOLL_DB", "postgres://somebody:p4ssw0rd@db/x")
	conf := server.Config{Planner: program(t, `read -r intent; env >&2
		case "$intent" in *'"intent":"Greet"'*) ;; *) exit 9;; esac
		env | grep -q p4ssw0rd && exit 8
		echo '{"description":"Greet kindly","steps":["Write it","Test it"]}'`)}
	intent := &contract.Intent{Intent: "Greet"}
	description, steps, err := conf.PlannerOf().Plan(t.Context(), intent)
	if err != nil || description != "Greet kindly" || !slices.Equal(steps, []string{"Write it", "Test it"}) {
		t.Errorf("%q, %q, %v", description, steps, err)
	}
	for name, text := range map[string]string{
		"fails": "exit 3", "says nothing": "true", "says too much": "head -c 2000000 /dev/zero | tr '\\0' 'x'", "is not there": "",
	} {
		conf.Planner = program(t, text)
		if text == "" {
			conf.Planner = filepath.Join(t.TempDir(), "nowhere")
		}
		// What is unavailable would be asked for ever; these are failed attempts.
		if _, _, err := conf.PlannerOf().Plan(t.Context(), intent); err == nil || fault.KindOf(err) == fault.Unavailable {
			t.Errorf("one that %s: %v", name, err)
		}
	}
}

func FuzzReadPlan(f *testing.F) {
	for _, seed := range []string{`{}`, `{"description":"d","steps":["a"]}`, `{"steps":[" "]}`, `{"steps":["a"],"steps":["b"]}`, `{"step":[]}`, `{} {}`, `[]`, `{"steps":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, steps, err := server.ReadPlan(text)
		if err != nil {
			return
		}
		for _, s := range steps {
			if strings.TrimSpace(s) == "" {
				t.Errorf("%q has an empty step", text)
			}
		}
	})
}

func TestAPlanIsReadStrictly(t *testing.T) {
	for _, text := range []string{``, `[]`, `{"step":["a"]}`, `{"steps":["a"],"steps":["b"]}`, `{"steps":[""]}`, `{"steps":[1]}`, `{} {}`} {
		if _, _, err := server.ReadPlan([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestTheReferenceIsTheTipOfItsBranch(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "trunk")
	git("commit", "-q", "--allow-empty", "-m", "Begin")
	conf := config(t, "reference: {dir: "+dir+", branch: trunk}\n")
	for range 2 {
		if tip, err := conf.Tip(t.Context()); err != nil || tip != git("rev-parse", "HEAD") {
			t.Errorf("%s, %v", tip, err)
		}
		git("commit", "-q", "--allow-empty", "-m", "Go on")
	}
	git("tag", "released")
	for _, branch := range []string{"main", "released", "trunk^{tree}", "--all", ""} {
		conf.ReferenceBranch = branch
		if tip, err := conf.Tip(t.Context()); fault.KindOf(err) != fault.Unavailable || err == nil {
			t.Errorf("%q gives %s, %v", branch, tip, err)
		}
	}
}
