package shipgate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
)

const selfCheckLong = `self-check runs the bundled example changes through the gate, verifies the bundled
samples in a temporary folder, and runs the other commands that need no host, CI
job or client. It compares what comes out with what must come out. It says
whether this binary works; it replaces no check on the change at hand.`

// selfCheck is the report of docs/spec/verification.md §17. Every value is the
// outcome of a run.
type selfCheck struct {
	Version           string            `json:"version"`
	Runtime           string            `json:"runtime"`
	Platform          string            `json:"platform"`
	FixturesAvailable bool              `json:"fixtures_available"`
	FixturesRoot      string            `json:"fixtures_root"`
	FixturesRun       map[string]string `json:"fixtures_run"`
	CLISurface        map[string]string `json:"cli_surface"`
	// LegacyAgentResultV1 is what came of reading results older than permissions.
	LegacyAgentResultV1 string `json:"legacy_agent_result_v1"`
	Ready               bool   `json:"ready"`
	Note                string `json:"note"`
}

const passed = "ok"

func selfCheckCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "self-check",
		Short:   "Run the bundled examples through this binary and report",
		Long:    selfCheckLong,
		Example: "  shipgate self-check --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			report, err := runSelfCheck(env)
			if err != nil {
				return internal(err)
			}
			if asJSON || env.agentMode() {
				err = env.printJSON(report)
			} else {
				err = env.print([]byte(report.text()))
			}
			if err == nil && !report.Ready {
				err = &failure{kind: otherError, code: exitInternal, msg: "not ready: this binary does not do what it must"}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON (the default in agent mode)")
	return cmd
}

func (s *selfCheck) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s on %s\n", versionLine(), s.Runtime, s.Platform)
	for _, part := range []struct {
		title   string
		results map[string]string
	}{{"example", s.FixturesRun}, {"command", s.CLISurface}} {
		names := make([]string, 0, len(part.results))
		for name := range part.results {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(&b, "%s %-28s %s\n", part.title, name, part.results[name])
		}
	}
	fmt.Fprintf(&b, "older results %s\nready: %t\n%s\n", s.LegacyAgentResultV1, s.Ready, s.Note)
	return b.String()
}

func runSelfCheck(env Env) (report *selfCheck, err error) {
	dir, remove, err := scratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()

	report = &selfCheck{
		Version: gate.ToolVersion, Runtime: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		FixturesRoot: "embedded:examples/agent-protocol,examples/self-check",
		FixturesRun:  map[string]string{}, CLISurface: map[string]string{},
		Note: "Diagnostic only: it replaces no check on the change at hand.",
	}
	examples, files, err := env.bundled()
	if err != nil {
		return nil, err
	}
	diffs, err := stems(examples, "diffs/*.diff", requiredExamples)
	if err != nil {
		return nil, err
	}
	for _, name := range diffs {
		report.FixturesRun[name] = outcome(runExample(env, dir, examples, name))
	}
	names, err := stems(files, "*/shipgate.yaml", requiredSamples)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		report.FixturesRun[name] = outcome(runSample(env, filepath.Join(dir, name), files, name))
	}
	report.FixturesAvailable = available(examples, "diffs/%s.diff", requiredExamples) && available(files, "%s/shipgate.yaml", requiredSamples)
	report.LegacyAgentResultV1 = outcome(readOlder(examples))
	for name, args := range surface() {
		report.CLISurface[name] = outcome(runCommand(env, dir, args))
	}
	if err := aroundAReport(env, filepath.Join(dir, "commands"), files, report.CLISurface); err != nil {
		return nil, err
	}
	report.Ready = report.FixturesAvailable && allPassed(report.FixturesRun) && allPassed(report.CLISurface) &&
		report.LegacyAgentResultV1 == passed
	return report, nil
}

// What every installation carries: a binary that lost one of them is broken.
var (
	requiredExamples = []string{"agent-action-required", "complete", "human-review-required", "review-publishable"}
	requiredSamples  = []string{"clean_read_only_agent", "google_adk_agent", "simple_crewai_agent", "simple_langchain_agent", "support_refund_agent"}
)

// bundled are the examples and the samples: those that the binary carries,
// unless the caller brings its own.
func (e Env) bundled() (examples, files fs.FS, err error) {
	if e.Examples != nil && e.Samples != nil {
		return e.Examples, e.Samples, nil
	}
	if examples, err = plimsoll.AgentProtocol(); err != nil {
		return nil, nil, err
	}
	files, err = plimsoll.SelfCheckSamples()
	return examples, files, err
}

// stems are the names that match a pattern, each without what surrounds it, and
// those that must be there: an absent one fails when it is run.
func stems(files fs.FS, pattern string, required []string) ([]string, error) {
	found, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	before, after, _ := strings.Cut(pattern, "*")
	names := slices.Clone(required)
	for _, f := range found {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, before), after))
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func available(files fs.FS, form string, names []string) bool {
	for _, name := range names {
		if _, err := fs.Stat(files, fmt.Sprintf(form, name)); err != nil {
			return false
		}
	}
	return true
}

// refused is what expected.json says of an older result that must not be read.
const refused = "refused"

// readOlder reads the bundled results that are older than permissions. Each must
// come to its state, with the permissions of that state, or be refused.
func readOlder(examples fs.FS) error {
	text, err := fs.ReadFile(examples, "legacy/expected.json")
	if err != nil {
		return err
	}
	var want map[string]string
	if err := json.Unmarshal(text, &want); err != nil {
		return err
	}
	states := map[string]bool{}
	for name, state := range want {
		text, err := fs.ReadFile(examples, "legacy/"+name+".json")
		if err != nil {
			return err
		}
		got := refused
		if result, err := gate.DecodeLegacy(text); err == nil {
			got = string(result.Control.State())
			all := result.Control.State() == control.Complete
			if result.Control.Permissions() != (control.Permissions{Edit: all, Commit: all, Push: all, UpdatePR: all, Merge: all, ReportComplete: all}) {
				return fmt.Errorf("%s: its permissions are not those of its state", name)
			}
		}
		if got != state {
			return fmt.Errorf("%s: read as %s, want %s", name, got, state)
		}
		states[state] = true
	}
	for _, state := range []string{string(control.Complete), string(control.AgentActionRequired), string(control.HumanReviewRequired), refused} {
		if !states[state] {
			return fmt.Errorf("no older result is %s", state)
		}
	}
	return nil
}

// surface is one call of every command that prints JSON and needs neither a
// manifest nor a report, by command.
func surface() map[string][]string {
	return map[string][]string{
		"contract":    {"contract", "--json"},
		"detect":      {"detect", "--json"},
		"init":        {"init", "--json"},
		"preflight":   {"preflight", "--changed-files", "AGENTS.md", "--json"},
		"trigger":     {"trigger", "--json", "README.md"},
		"explain":     {"explain", rule.Catalogue()[0].ID, "--json"},
		"fixture":     {"fixture", "missing-install"},
		"list-checks": {"list-checks", "--json"},
		"schema":      {"schema", "result"},
	}
}

func outcome(err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return passed
}

func allPassed(results map[string]string) bool {
	for _, r := range results {
		if r != passed {
			return false
		}
	}
	return true
}

// capture runs one command of this program in process.
func capture(env Env, dir, stdin string, args []string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(stdin), &stdout, &stderr
	env.Dir, env.Terminal = dir, false
	if code := Main(args, env); code != exitOK {
		return nil, fmt.Errorf("exit code %d: %s", code, strings.TrimSpace(stderr.String()))
	}
	if stderr.Len() > 0 {
		return nil, fmt.Errorf("stderr is not empty: %s", strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

func runCommand(env Env, dir string, args []string) error {
	out, err := capture(env, dir, "", args)
	if err == nil && !json.Valid(out) {
		err = errors.New("stdout is not JSON")
	}
	return err
}

// runExample judges a bundled diff as a detached change and compares what does
// not depend on how the change was given: the decision and the findings.
func runExample(env Env, dir string, examples fs.FS, name string) error {
	diff, err := fs.ReadFile(examples, "diffs/"+name+".diff")
	if err != nil {
		return err
	}
	text, err := fs.ReadFile(examples, "expected/"+name+".json")
	if err != nil {
		return err
	}
	got, err := capture(env, dir, string(diff), []string{"check", "--agent", "codex", "--workspace", dir, "--diff", "-"})
	if err != nil {
		return err
	}
	type judgement struct {
		SchemaVersion       string   `json:"schema_version"`
		Decision            string   `json:"decision"`
		FindingFingerprints []string `json:"finding_fingerprints"`
	}
	var want, have judgement
	if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(got, &have)); err != nil {
		return err
	}
	if want.SchemaVersion != have.SchemaVersion || want.Decision != have.Decision ||
		!slices.Equal(want.FindingFingerprints, have.FindingFingerprints) {
		return fmt.Errorf("decided %s with %d findings, want %s with %d",
			have.Decision, len(have.FindingFingerprints), want.Decision, len(want.FindingFingerprints))
	}
	return nil
}
