package shipgatemcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/mcp/gate"
)

// desk turns calls of tools into command lines.
type desk struct {
	env  shipgate.Env // its Dir is where relative paths start
	only bool         // its Dir is the only workspace
}

func (d *desk) asks() map[string]gate.Ask {
	return map[string]gate.Ask{
		gate.Check: d.check, gate.Preflight: d.preflight, gate.Explain: d.explain,
		gate.Capabilities: d.capabilities, gate.Handoff: d.handoff,
	}
}

// question is one command line and what it reads.
type question struct {
	args  []string
	stdin io.Reader
	given map[string][]byte
}

func ask(words ...string) *question { return &question{args: words, stdin: strings.NewReader("")} }

// with adds a flag. Its value is one word whatever it begins with.
func (q *question) with(name, value string) { q.args = append(q.args, "--"+name+"="+value) }

func (d *desk) check(ctx context.Context, a gate.Arguments) ([]byte, error) {
	q := ask("check", "--format=agent-boundary-json", "--diff=-")
	q.with("agent", a.Text("agent"))
	q.stdin = strings.NewReader(a.Text("diff_text"))
	if err := d.place(q, a, "policy"); err != nil {
		return nil, err
	}
	return d.run(ctx, q)
}

func (d *desk) preflight(ctx context.Context, a gate.Arguments) ([]byte, error) {
	q := ask("preflight", "--json")
	if err := d.place(q, a); err != nil {
		return nil, err
	}
	if plan := a.Document("plan"); plan != nil {
		q.stdin = bytes.NewReader(plan)
		q.with("plan", "-")
		return d.run(ctx, q)
	}
	q.given = map[string][]byte{}
	hand := func(flag, argument string, text []byte) {
		if a.Given(argument) {
			q.given[argument] = text
			q.with(flag, argument)
		}
	}
	hand("changed-files", "changed_files", []byte(strings.Join(a.List("changed_files"), "\n")))
	hand("diff", "diff_text", []byte(a.Text("diff_text")))
	hand("capability-request", "capability_request", a.Document("capability_request"))
	hand("base-preflight", "base_preflight", a.Document("base_preflight"))
	return d.run(ctx, q)
}

func (d *desk) explain(ctx context.Context, a gate.Arguments) ([]byte, error) {
	if a.Given("check_id") {
		return d.run(ctx, ask("explain", "--json", "--", a.Text("check_id")))
	}
	q := ask("explain-finding", "--json")
	if err := d.name(q, d.env.Dir, a, "report_path", "from"); err != nil {
		return nil, err
	}
	q.args = append(q.args, "--", a.Text("fingerprint"))
	return d.run(ctx, q)
}

func (d *desk) capabilities(ctx context.Context, a gate.Arguments) ([]byte, error) {
	if !a.Given("base_lock") {
		q := ask("capability", "export", "--json", "--out=-")
		if err := d.name(q, d.env.Dir, a, "config", "config"); err != nil {
			return nil, err
		}
		return d.run(ctx, q)
	}
	q := ask("capability", "diff", "--json")
	err := errors.Join(d.name(q, d.env.Dir, a, "base_lock", "base"), d.name(q, d.env.Dir, a, "head_lock", "head"))
	if err != nil {
		return nil, err
	}
	return d.run(ctx, q)
}

func (d *desk) handoff(ctx context.Context, a gate.Arguments) ([]byte, error) {
	q := ask("agent", "handoff", "--json")
	for _, p := range [][2]string{{"verifier_path", "from"}, {"report_path", "report"}, {"verify_run_path", "verify-run"}} {
		if err := d.name(q, d.env.Dir, a, p[0], p[1]); err != nil {
			return nil, err
		}
	}
	// What is read beside the verifier without being named must lie inside too.
	beside := filepath.Dir(d.abs(a.Text("verifier_path")))
	for _, name := range []string{"report.json", "verify-run.json"} {
		if err := inside(d.env.Dir, filepath.Join(beside, name)); err != nil {
			return nil, refused("verifier_path", a.Text("verifier_path"), fmt.Errorf("has beside it %s, which %w", name, err))
		}
	}
	return d.run(ctx, q)
}

// place adds the workspace, and the manifest and what else lies in it. The
// default manifest is left out like a person leaves it out: it need not be there.
func (d *desk) place(q *question, a gate.Arguments, others ...string) error {
	workspace := a.Text("workspace")
	at := d.abs(workspace)
	if d.only {
		if err := inside(d.env.Dir, at); err != nil {
			return refused("workspace", workspace, err)
		}
	}
	q.with("workspace", workspace)
	for _, name := range append([]string{"config"}, others...) {
		if err := d.name(q, at, a, name, name); err != nil {
			return err
		}
	}
	return nil
}

// name adds a flag that names a file of a folder, if the call names one.
func (d *desk) name(q *question, folder string, a gate.Arguments, argument, flag string) error {
	path := a.Text(argument)
	if path == "" || argument == "config" && path == "shipgate.yaml" {
		return nil
	}
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(folder, path)
	}
	if err := inside(folder, at); err != nil {
		return refused(argument, path, err)
	}
	q.with(flag, path)
	return nil
}

func (d *desk) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(d.env.Dir, path)
}

func refused(argument, path string, why error) error {
	return fmt.Errorf("input_parse_error: %s %.200q %w", argument, path, why)
}

var (
	errOutside = errors.New("lies outside the workspace")
	errLink    = errors.New("leads through a link out of the workspace or to nothing")
)

// inside says whether a path is in a folder, by its name and by where its links
// lead. What is not there yet is where its folder is.
func inside(folder, path string) error {
	if !below(folder, path) {
		return errOutside
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return errors.New("lies in a workspace that cannot be read")
	}
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		found, err := filepath.EvalSymlinks(at)
		if err == nil {
			if below(real, found) {
				return nil
			}
			return errLink
		}
		if _, there := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) || there == nil || at == filepath.Dir(at) {
			return errLink
		}
	}
}

func below(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// mode makes the program say why in a form that is read here. It changes no
// result: each question asks for its format.
const mode = "AGENTS_SHIPGATE_AGENT_MODE=1"

// run is the answer of one command: its stdout, or its failure as one line.
func (d *desk) run(ctx context.Context, q *question) ([]byte, error) {
	var out, errs bytes.Buffer
	env := d.env
	env.Stdin, env.Stdout, env.Stderr, env.Terminal = q.stdin, &out, &errs, false
	env.Environ = append(slices.Clone(env.Environ), mode)
	env.Given = q.given
	if code := shipgate.Run(ctx, q.args, env); code != exitOK {
		return nil, failure(errs.Bytes(), code)
	}
	return out.Bytes(), nil
}

// failure reads the line that a command in agent mode ends with.
func failure(errs []byte, code int) error {
	lines := bytes.Split(bytes.TrimSpace(errs), []byte("\n"))
	var said struct {
		Error      string
		Message    string
		Suggestion string
		NextAction string `json:"next_action"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &said); err != nil || said.Error == "" {
		return fmt.Errorf("internal_error: no result, exit code %d", code)
	}
	text := said.Error + ": " + said.Message
	if said.Suggestion != "" {
		text += "; did you mean " + said.Suggestion + "?"
	}
	if said.NextAction != "" {
		text += "; next: " + said.NextAction
	}
	return errors.New(text)
}

// number is the version of the program.
func number() string {
	var out bytes.Buffer
	if shipgate.Main([]string{"--version"}, shipgate.Env{Stdout: &out, Stderr: &out}) != exitOK {
		return ""
	}
	words := strings.Fields(out.String())
	return words[len(words)-1]
}
