package action_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

const root = "../.."

// metadata is action.yml.
type metadata struct {
	Name    string                 `yaml:"name"`
	Inputs  map[string]actionInput `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
		Value       string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string       `yaml:"using"`
		Steps []actionStep `yaml:"steps"`
	} `yaml:"runs"`
	Description string            `yaml:"description"`
	Author      string            `yaml:"author"`
	Branding    map[string]string `yaml:"branding"`
}

type actionInput struct {
	Description string `yaml:"description"`
	Default     string `yaml:"default"`
}

type actionStep struct {
	Name     string            `yaml:"name"`
	ID       string            `yaml:"id"`
	If       string            `yaml:"if"`
	Shell    string            `yaml:"shell"`
	Run      string            `yaml:"run"`
	Env      map[string]string `yaml:"env"`
	Continue bool              `yaml:"continue-on-error"`
	Uses     string            `yaml:"uses"`
	With     map[string]string `yaml:"with"`
}

func readAction(t *testing.T) *metadata {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var m metadata
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true) // a key that the runner does not know is a mistake
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return &m
}

// job is one job that uses the action, on a machine of its own.
type job struct {
	t         *testing.T
	temp      string // RUNNER_TEMP
	workspace string
	event     string // the event's name
	payload   map[string]any
	sha, ref  string
	inputs    map[string]string
	api       string
	server    string // where the forge is; one that is nowhere when empty
	owner     string // the repository of the action; "" for a local action
	path      string // what is put before PATH
}

// result is what a job left behind.
type result struct {
	outputs  map[string]string
	summary  string
	log      string
	commands []string // workflow commands that the runner would have carried out
	used     []string // actions of others, with their inputs
	failed   bool
}

// run runs the steps of action.yml as a runner does.
func (j *job) run() *result {
	j.t.Helper()
	m := readAction(j.t)
	at, err := filepath.Abs(root)
	if err != nil {
		j.t.Fatal(err)
	}
	payload, err := json.Marshal(j.payload)
	if err != nil {
		j.t.Fatal(err)
	}
	event := j.file("event.json", payload)
	github := map[string]any{"token": token, "action_repository": j.owner, "event": j.payload, "event_name": j.event}
	server := j.server
	if server == "" {
		server = "https://forge.invalid"
	}
	inputs := map[string]any{}
	for name, in := range m.Inputs {
		value, given := j.inputs[name]
		if !given {
			if value, err = fill(in.Default, map[string]any{"github": github}, false); err != nil {
				j.t.Fatal(err)
			}
		}
		inputs[name] = value
	}
	for name := range j.inputs {
		if _, ok := m.Inputs[name]; !ok {
			j.t.Fatalf("action.yml has no input %s", name)
		}
	}
	steps := map[string]any{}
	context := map[string]any{"github": github, "inputs": inputs, "steps": steps}
	r := &result{outputs: map[string]string{}}
	for i, s := range m.Runs.Steps {
		condition := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s.If), "${{"), "}}")
		if condition == "" {
			condition = "success()"
		}
		value, asked, err := evaluate(condition, context, r.failed)
		if err != nil {
			j.t.Fatalf("step %s: %v", s.Name, err)
		}
		if !truthy(value) || !asked && r.failed {
			continue
		}
		if s.Uses != "" {
			path, err := fill(s.With["path"], context, r.failed)
			if err != nil {
				j.t.Fatalf("step %s: %v", s.Name, err)
			}
			r.used = append(r.used, s.Uses+" "+path)
			continue
		}
		output := j.file(fmt.Sprintf("output-%d", i), nil)
		summary := j.file(fmt.Sprintf("summary-%d", i), nil)
		env := j.machine()
		for k, v := range map[string]string{
			"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_ACTION_PATH": at, "GITHUB_API_URL": j.api, "GITHUB_EVENT_NAME": j.event,
			"GITHUB_EVENT_PATH": event, "GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": summary, "GITHUB_REPOSITORY": repository,
			"GITHUB_SERVER_URL": server, "GITHUB_SHA": j.sha, "GITHUB_REF": j.ref, "GITHUB_WORKSPACE": j.workspace,
			"RUNNER_TEMP": j.temp, "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
		} {
			env = append(env, k+"="+v)
		}
		for k, v := range s.Env {
			filled, err := fill(v, context, r.failed)
			if err != nil {
				j.t.Fatalf("step %s: %s: %v", s.Name, k, err)
			}
			env = append(env, k+"="+filled)
		}
		script := j.file(fmt.Sprintf("step-%d.sh", i), []byte(s.Run))
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		cmd.Dir, cmd.Env = j.workspace, env
		log, err := cmd.CombinedOutput()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
			j.t.Fatal(err)
		}
		r.log += fmt.Sprintf("--- %s\n%s", s.Name, log)
		r.commands = append(r.commands, carriedOut(string(log))...)
		outputs := parseOutputs(j.t, j.read(output))
		if s.ID != "" {
			steps[s.ID] = map[string]any{"outputs": outputs}
		}
		r.summary += j.read(summary)
		if err != nil && !s.Continue {
			r.failed = true
		}
	}
	for name, out := range m.Outputs {
		if r.outputs[name], err = fill(out.Value, context, r.failed); err != nil {
			j.t.Fatalf("output %s: %v", name, err)
		}
	}
	return r
}

// machine is the environment of a fresh runner: nothing of whoever runs the test,
// but for where Go keeps what it built.
func (j *job) machine() []string {
	env := append([]string{
		"HOME=" + filepath.Join(j.temp, "home"), "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + strings.Join([]string{j.path, goroot(), "/usr/local/bin", "/usr/bin", "/bin"}, ":"),
	}, goCaches()...)
	return env
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

var goroot = sync.OnceValue(func() string { return filepath.Join(goEnv("GOROOT"), "bin") })

var goCaches = sync.OnceValue(func() []string {
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN"} {
		env = append(env, name+"="+goEnv(name))
	}
	return env
})

func (j *job) file(name string, text []byte) string {
	j.t.Helper()
	dir := filepath.Join(filepath.Dir(j.temp), "_runner")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(j.temp, 0o755), os.WriteFile(filepath.Join(dir, name), text, 0o600)); err != nil {
		j.t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func (j *job) read(name string) string {
	j.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		j.t.Fatal(err)
	}
	return string(text)
}

// parseOutputs reads the file that GITHUB_OUTPUT names, as the runner does: a
// line is name=value, or name<<WORD and then lines up to WORD.
func parseOutputs(t *testing.T, text string) map[string]any {
	t.Helper()
	outputs := map[string]any{}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		if equals < 0 && heredoc < 0 {
			t.Fatalf("the runner cannot read the output line %q", line)
		}
		if equals >= 0 && (heredoc < 0 || equals < heredoc) {
			outputs[line[:equals]] = line[equals+1:]
			continue
		}
		end, value := line[heredoc+2:], []string{}
		for i++; i < len(lines) && lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		outputs[line[:heredoc]] = strings.Join(value, "\n")
	}
	return outputs
}

// carriedOut are the workflow commands of a log: a line that begins with ::, or
// holds ##[, unless commands are stopped.
func carriedOut(log string) []string {
	var list []string
	stopped := ""
	for line := range strings.SplitSeq(log, "\n") {
		line = strings.TrimLeft(line, " \t")
		if stopped != "" {
			if strings.TrimSpace(line) == "::"+stopped+"::" {
				stopped = ""
			}
			continue
		}
		if w, ok := strings.CutPrefix(line, "::stop-commands::"); ok {
			stopped = strings.TrimSpace(w)
			continue
		}
		if strings.HasPrefix(line, "::") || strings.Contains(line, "##[") {
			list = append(list, line)
		}
	}
	return list
}

// with is a copy of inputs with others.
func with(inputs map[string]string, more ...string) map[string]string {
	all := maps.Clone(inputs)
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// bash runs a script and returns all that it printed, and whether it ended well.
func bash(t *testing.T, dir string, env []string, args ...string) (string, bool) {
	t.Helper()
	cmd := exec.Command("bash", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return string(out), err == nil
}
