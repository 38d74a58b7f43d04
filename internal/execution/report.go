package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/risk"
)

// Report is what the command may say about its work, in report.json of the
// folder PLIMSOLL_OUT names. Everything is optional. What is malformed fails the
// run: a fact that cannot be read could have raised the risk.
type Report struct {
	// Blocked says that the work could not be done, and why.
	Blocked string `json:"blocked,omitempty"`
	// Tests is a test report (docs/contracts/test-report.schema.json): the unit
	// tests in Build, the integration tests in Stabilize. Without it the exit
	// status of the command is the one test there is.
	Tests   json.RawMessage `json:"tests,omitempty"`
	Checks  []Check         `json:"checks,omitempty"`
	Signals map[string]bool `json:"riskSignals,omitempty"`
	Facts   []risk.Fact     `json:"facts,omitempty"`
	Tools   []string        `json:"tools,omitempty"` // that the command used, beside itself
}

// Names of the files in PLIMSOLL_OUT.
const (
	reportFile = "report.json"
	noteFile   = "release_note.md"
)

// reportBound is the largest report.json.
const reportBound = 4 << 20

// readBounded is a regular file of at most bound bytes; nil when there is none.
func readBounded(name string, bound int64) ([]byte, error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > bound {
		return nil, errors.New("it is no plain file, or a very large one")
	}
	return os.ReadFile(name)
}

func readReport(name string) (Report, error) {
	text, err := readBounded(name, reportBound)
	if err != nil || text == nil {
		return Report{}, err
	}
	return ParseReport(text)
}

// ParseReport reads report.json.
func ParseReport(text []byte) (Report, error) {
	var r Report
	if _, err := contract.Parse(text); err != nil {
		return r, err // duplicate members, which the decoder below would not see
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("something follows the object")
	}
	if string(r.Tests) == "null" {
		r.Tests = nil
	}
	return r, r.check()
}

func (r *Report) check() error {
	for i, f := range r.Facts {
		if err := f.Check(); err != nil {
			return fmt.Errorf("facts[%d]: %w", i, err)
		}
	}
	if _, err := risk.ParseSignals(r.Signals); err != nil {
		return err
	}
	for i, c := range r.Checks {
		if c.Criterion == "" {
			return fmt.Errorf("checks[%d] names no criterion", i)
		}
	}
	if r.Tests == nil {
		return nil
	}
	_, err := artifact.TestsPassed(r.Tests)
	return err
}

// testReport is the report of the command, or one that says how it ended.
func (r *Report) testReport(args []string, e ending, from, to time.Time) []byte {
	if r.Tests != nil {
		return r.Tests
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = redact.Text(a)
	}
	passed, failed := 1, 0
	if !e.succeeded() {
		passed, failed = 0, 1
	}
	return canonical.UTF8.Append(nil, canonical.Object{
		{Key: "tool", Value: toolName(args[0])},
		{Key: "command", Value: words},
		{Key: "exitCode", Value: e.exit},
		{Key: "passed", Value: passed},
		{Key: "failed", Value: failed},
		{Key: "skipped", Value: 0},
		{Key: "startedAt", Value: contract.At(from).String()},
		{Key: "endedAt", Value: contract.At(to).String()},
	})
}

// checks is what is known of the criteria. In Stabilize a criterion of the plan
// that the command says nothing about stands or falls with its exit status: the
// command that was named for the phase is the test of the plan.
func (r *Report) checks(p phase.Phase, plan, args []string, e ending) []Check {
	list := r.Checks
	if p != phase.Stabilize {
		return list
	}
	said := map[string]bool{}
	for _, c := range list {
		said[c.Criterion] = true
	}
	how := "exit status 0"
	if e.reason != "" {
		how = e.reason
	}
	for _, criterion := range plan {
		if !said[criterion] {
			list = append(list, Check{Criterion: criterion, Passed: e.succeeded(), Detail: redact.Text(commandLine(args)) + ": " + how})
		}
	}
	return list
}

func failing(checks []Check) bool {
	for _, c := range checks {
		if !c.Passed {
			return true
		}
	}
	return false
}
