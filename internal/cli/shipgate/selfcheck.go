package shipgate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/rule"
)

const selfCheckLong = `self-check runs the bundled example changes through the gate, verifies the bundled
samples in a temporary folder, and runs every other command. It compares what
comes out with what must come out. It says whether this binary works; it replaces
no check on the change at hand.`

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
	// LegacyAgentResultV1 is null: the reader for older results is not built.
	LegacyAgentResultV1 *string `json:"legacy_agent_result_v1"`
	Ready               bool    `json:"ready"`
	Note                string  `json:"note"`
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
	fmt.Fprintf(&b, "ready: %t\n%s\n", s.Ready, s.Note)
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
	examples, err := plimsoll.AgentProtocol()
	if err != nil {
		return nil, err
	}
	diffs, err := fs.Glob(examples, "diffs/*.diff")
	if err != nil {
		return nil, err
	}
	report.FixturesAvailable = len(diffs) > 0
	for _, diff := range diffs {
		name := strings.TrimSuffix(path.Base(diff), ".diff")
		report.FixturesRun[name] = outcome(runExample(env, dir, examples, name))
	}
	files, names, err := samples()
	if err != nil {
		return nil, err
	}
	report.FixturesAvailable = report.FixturesAvailable && len(names) > 0
	for _, name := range names {
		report.FixturesRun[name] = outcome(runSample(env, filepath.Join(dir, name), files, name))
	}
	for name, args := range surface() {
		report.CLISurface[name] = outcome(runCommand(env, dir, args))
	}
	if err := aroundAReport(env, filepath.Join(dir, "commands"), files, report.CLISurface); err != nil {
		return nil, err
	}
	report.Ready = report.FixturesAvailable && allPassed(report.FixturesRun) && allPassed(report.CLISurface)
	return report, nil
}

// surface is one call of every command that prints JSON and needs neither a
// manifest nor a report, by command.
func surface() map[string][]string {
	return map[string][]string{
		"contract":    {"contract", "--json"},
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
