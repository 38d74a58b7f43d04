package action_test

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plimsoll.dev/internal/action"
)

// golden says that files are to be rewritten rather than compared.
var golden = os.Getenv("PLIMSOLL_GOLDEN") == "1"

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ordered are the rows of a mapping of action.yml in its own order: name,
// description, default.
func ordered(t *testing.T, of string) [][3]string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(readFile(t, "action.yml")), &doc); err != nil {
		t.Fatal(err)
	}
	child := func(n *yaml.Node, key string) *yaml.Node {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
		return &yaml.Node{}
	}
	section := child(doc.Content[0], of)
	var rows [][3]string
	for i := 0; i+1 < len(section.Content); i += 2 {
		v := section.Content[i+1]
		rows = append(rows, [3]string{section.Content[i].Value, child(v, "description").Value, child(v, "default").Value})
	}
	return rows
}

// The tables of the page are those of action.yml.
func TestThePageShowsTheInputsAndOutputs(t *testing.T) {
	t.Parallel()
	var inputs, outputs strings.Builder
	inputs.WriteString("| input | default | |\n|---|---|---|\n")
	for _, r := range ordered(t, "inputs") {
		value := ""
		if r[2] != "" {
			value = "`" + r[2] + "`"
		}
		inputs.WriteString("| `" + r[0] + "` | " + value + " | " + r[1] + " |\n")
	}
	outputs.WriteString("| output | |\n|---|---|\n")
	for _, r := range ordered(t, "outputs") {
		outputs.WriteString("| `" + r[0] + "` | " + r[1] + " |\n")
	}
	page := readFile(t, "docs/action.md")
	want := page
	for name, table := range map[string]string{"inputs": inputs.String(), "outputs": outputs.String()} {
		begin := "<!-- " + name + " -->\n"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ok2 := strings.Cut(rest, "<!-- end -->")
		if !ok || !ok2 {
			t.Fatalf("the page has no place for the %s", name)
		}
		want = before + begin + table + "<!-- end -->" + after
	}
	if want == page {
		return
	}
	if !golden {
		t.Fatal("docs/action.md does not show what action.yml says; rewrite it with PLIMSOLL_GOLDEN=1")
	}
	if err := os.WriteFile(filepath.Join(root, "docs/action.md"), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The outputs of the Action are those that the gate makes, in its order.
func TestTheOutputsAreThoseOfTheGate(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, o := range action.Conclude(&action.Input{Stopped: "x", Policy: action.Advisory}).Outputs {
		want = append(want, o.Name)
	}
	m := readAction(t)
	for _, r := range ordered(t, "outputs") {
		if r[0] == "conclusion" { // the step's own
			continue
		}
		got = append(got, r[0])
		if v := m.Outputs[r[0]].Value; !strings.Contains(v, "steps.verify.outputs."+r[0]+" ") {
			t.Errorf("output %s is %s", r[0], v)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("action.yml has the outputs %v, the gate makes %v", got, want)
	}
}

var (
	pinned = regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	script = regexp.MustCompile(`^bash "\$GITHUB_ACTION_PATH/(action/\w+\.sh)"$`)
)

// What a job was given reaches the scripts through the environment alone: text
// that is put into a script would be run.
func TestNothingIsPutIntoAScript(t *testing.T) {
	t.Parallel()
	m := readAction(t)
	if m.Runs.Using != "composite" || m.Name == "" || m.Description == "" {
		t.Errorf("%q is %q", m.Name, m.Runs.Using)
	}
	read := map[string]bool{}
	for _, s := range m.Runs.Steps {
		for _, v := range s.Env {
			for _, in := range regexp.MustCompile(`inputs\.(\w+)`).FindAllStringSubmatch(v+s.If, -1) {
				read[in[1]] = true
			}
		}
		for _, in := range regexp.MustCompile(`inputs\.(\w+)`).FindAllStringSubmatch(s.If, -1) {
			read[in[1]] = true
		}
		if s.Uses != "" {
			if !pinned.MatchString(s.Uses) {
				t.Errorf("step %s uses %s, which is not pinned to a commit", s.Name, s.Uses)
			}
			continue
		}
		file := script.FindStringSubmatch(s.Run)
		if file == nil || s.Shell != "bash" {
			t.Errorf("step %s runs %q in %q", s.Name, s.Run, s.Shell)
			continue
		}
		text := readFile(t, file[1])
		if !strings.HasPrefix(text, "#!/usr/bin/env bash\n") || !strings.Contains(text, "\nset -euo pipefail\n") {
			t.Errorf("%s does not stop at an error", file[1])
		}
		for name := range s.Env {
			if !strings.Contains(text, "${"+name) && !strings.Contains(text, "$"+name) {
				t.Errorf("step %s is given %s and %s does not read it", s.Name, name, file[1])
			}
		}
	}
	if last := m.Runs.Steps[len(m.Runs.Steps)-1]; last.Name != "Conclude" || last.If != "${{ always() }}" || last.Continue {
		t.Errorf("the last step does not always conclude: %+v", last)
	}
	for name := range m.Inputs {
		if !read[name] {
			t.Errorf("nothing reads the input %s", name)
		}
		if !strings.Contains(readFile(t, "docs/spec/verification.md"), name) {
			t.Errorf("the specification does not name the input %s", name)
		}
	}
}

// The workflow of the page can be read, and gives the Action inputs that it has.
func TestTheWorkflowOfThePageFitsTheAction(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(readFile(t, "docs/action.md"), "```yaml\n")
	text, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the page has no workflow")
	}
	var w struct {
		Permissions map[string]string `yaml:"permissions"`
		Jobs        map[string]struct {
			Steps []struct {
				Uses string            `yaml:"uses"`
				With map[string]string `yaml:"with"`
				Run  string            `yaml:"run"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	for name, right := range map[string]string{"contents": "read", "pull-requests": "write", "security-events": "write"} {
		if w.Permissions[name] != right {
			t.Errorf("the permission %s is %q", name, w.Permissions[name])
		}
	}
	m, used := readAction(t), false
	for _, s := range w.Jobs["shipgate"].Steps {
		switch {
		case strings.HasPrefix(s.Uses, "OWNER/plimsoll@"):
			used = true
			for name := range s.With {
				if _, ok := m.Inputs[name]; !ok {
					t.Errorf("the workflow gives %s, which the Action does not know", name)
				}
			}
		case s.Uses != "" && !pinned.MatchString(s.Uses):
			t.Errorf("the workflow uses %s, which is not pinned to a commit", s.Uses)
		case strings.Contains(s.Run, "${{"):
			t.Errorf("the workflow puts something into a script: %s", s.Run)
		}
	}
	if !used {
		t.Error("the workflow does not use the Action")
	}
}

// hook is one entry of .pre-commit-hooks.yaml.
type hook struct {
	ID          string   `yaml:"id"`
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Entry       string   `yaml:"entry"`
	Language    string   `yaml:"language"`
	Minimum     string   `yaml:"minimum_pre_commit_version"`
	Stages      []string `yaml:"stages"`
	Names       bool     `yaml:"pass_filenames"`
	Serial      bool     `yaml:"require_serial"`
	Files       string   `yaml:"files"`
}

// The hooks run on what may change what agents can do, and on nothing else.
func TestHooksRunOnWhatDeclaresTools(t *testing.T) {
	t.Parallel()
	var hooks []hook
	dec := yaml.NewDecoder(bytes.NewReader([]byte(readFile(t, ".pre-commit-hooks.yaml"))))
	dec.KnownFields(true)
	if err := dec.Decode(&hooks); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ entry, stages string }{
		"agents-shipgate":          {"action/hook.sh verify --ci-mode advisory", "pre-commit pre-push"},
		"agents-shipgate-strict":   {"action/hook.sh verify --ci-mode strict --fail-on critical", "pre-push"},
		"agents-shipgate-validate": {"action/hook.sh doctor", "pre-commit"},
	}
	if len(hooks) != len(want) {
		t.Errorf("there are %d hooks", len(hooks))
	}
	surface := []string{
		"shipgate.yaml", "agents/shipgate.yaml", "tools.json", "a/my-tools-v2.json", ".mcp.json", "servers/mcp.json", ".codex-plugin/plugin.json",
		"a/.codex-plugin/x/y.md", ".agents/plugins/marketplace.json", ".app.json", "skills/x/SKILL.md", "api/openapi.yaml", "swagger.yml", "my-openapi-v3.json",
		".agents-shipgate/baseline.json", "prompts/system.md", "a/prompts/b/c", "policies/x.shipgate.yaml", ".github/workflows/agents-shipgate.yml",
	}
	elsewhere := []string{
		"main.py", "readme.md", "shipgate.yaml.bak", "my-shipgate.yaml", "tools.yaml", "mcp.py", "openapi.md", "agents-plugins/x", "myprompts/x", "SKILL.md.txt",
		".github/workflows/ci.yml", ".agents-shipgate/x/y.json", "x.app.json",
	}
	for _, h := range hooks {
		w := want[h.ID]
		if h.Entry != w.entry || strings.Join(h.Stages, " ") != w.stages || h.Names || !h.Serial || h.Language != "script" || h.Minimum != "3.2.0" || h.Name == "" || h.Description == "" {
			t.Errorf("hook %s: %+v", h.ID, h)
		}
		pattern := h.Files
		if extended, ok := strings.CutPrefix(pattern, "(?x)"); ok {
			pattern = strings.Join(strings.Fields(extended), "")
		}
		files, err := regexp.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range surface {
			if runs := files.MatchString(name); runs != (h.ID != "agents-shipgate-validate" || path.Base(name) == "shipgate.yaml") {
				t.Errorf("hook %s on %s: %t", h.ID, name, runs)
			}
		}
		for _, name := range elsewhere {
			if files.MatchString(name) {
				t.Errorf("hook %s runs on %s", h.ID, name)
			}
		}
	}
}

// The hook's program is built once, not from the repository that git names, and
// nothing runs where it could not be built.
func TestTheHookBuildsTheGateOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "source")
	tools := filepath.Join(t.TempDir(), "bin")
	for _, d := range []string{dir + "/action", tools} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(dir+"/action/hook.sh", readFile(t, "action/hook.sh"))
	work := t.TempDir()
	run := func(path string, args ...string) (string, bool) {
		t.Helper()
		return bash(t, work, []string{"PATH=" + path, "GIT_DIR=" + work, "GIT_INDEX_FILE=x"}, append([]string{dir + "/action/hook.sh"}, args...)...)
	}
	// A folder with what the script needs besides Go: the machine may have one.
	for _, name := range []string{"bash", "chmod", "dirname", "env", "mkdir", "mktemp", "mv", "rm"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	if out, ok := run(tools); ok || !strings.Contains(out, "there is no Go on PATH") {
		t.Errorf("without Go: %t, %s", ok, out)
	}
	write(tools+"/go", "#!/bin/sh\nexit 1\n")
	if out, ok := run(tools, "verify"); ok {
		t.Errorf("with a build that fails: %s", out)
	}
	write(tools+"/go", "#!/bin/bash\n[[ $PWD == "+dir+" && -z ${GIT_DIR:-} && $* == *' ./cmd/shipgate' ]] || exit 1\n"+
		"while [[ $1 != -o ]]; do shift; done\nprintf '#!/bin/bash\\necho ran \"$PWD\" \"$@\"\\n' >\"$2\"; chmod +x \"$2\"; echo built\n")
	if out, ok := run(tools, "verify", "a b"); !ok || out != "built\nran "+work+" verify a b\n" {
		t.Errorf("the first run: %t, %q", ok, out)
	}
	if out, ok := run(tools, "doctor"); !ok || out != "ran "+work+" doctor\n" {
		t.Errorf("the second run: %t, %q", ok, out)
	}
}
