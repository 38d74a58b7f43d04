//go:build unix

package shipgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
)

const casesDir = "../../../testdata/cases/boundary"

// boundaryCase is one case.json of testdata/cases/boundary; its README says
// what each member means. How the repository is made stands in
// caserepo_test.go.
type boundaryCase struct {
	About, Origin, Mode, Severity string
	Agents, Args                  []string
	Workspace, Changes            string
	Repeat                        bool
	Expect                        expectation

	History                      string
	Delete, Untrack              []string
	Rename                       [][2]string
	Links, Text, Bytes, Gitlinks map[string]map[string]string
	Modes                        map[string]map[string]string
	Fill                         map[string]map[string]filling
	IntentToAdd                  []string             `json:"intent_to_add"`
	WorktreeDelete               []string             `json:"worktree_delete"`
	IndexFlags                   map[string][]string  `json:"index_flags"`
	FlagsAfter                   map[string][]string  `json:"flags_after"`
	GitConfig                    map[string]oneOrMore `json:"git_config"`
	WorktreeConfig               map[string]string    `json:"worktree_config"`
	GitFiles                     map[string]string    `json:"git_files"`
	CheckedOut                   map[string]string    `json:"checked_out"`
	StagedOut                    map[string]string    `json:"staged_out"`
	Hooks, Forge                 map[string]string
	Restat, Sparse, Init         []string
	SparseIndex                  bool `json:"sparse_index"`
	Replace                      bool
	Diff                         suppliedDiff

	dir string
}

type filling struct {
	Prefix, Repeat, Suffix string
	Count                  int
}

type suppliedDiff struct {
	Text, B64      *string
	Options        []string
	CRLF           bool
	Cut            int
	Stdin, Missing bool
	Checkout       string
}

type expectation struct {
	State, Decision   oneOrMore
	InputCoverage     oneOrMore `json:"input_coverage"`
	NextActionKind    oneOrMore `json:"next_action_kind"`
	CompletionAllowed *bool     `json:"completion_allowed"`
	MustStop          *bool     `json:"must_stop"`
	VerifyRequired    *bool     `json:"verify_required"`
	Rules, Absent     []wantedRow
	AnyRules          []wantedRow `json:"any_rules"`
	Coverage          map[string]oneOrMore
	AffectedHosts     []string `json:"affected_hosts"`
	Diagnostics       []string
	AbsentDiagnostics []string `json:"absent_diagnostics"`
	PendingReview     string   `json:"pending_review"`
	NeverInOutput     []string `json:"never_in_output"`
	Exit              int
}

// oneOrMore is a value or a list of allowed values.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// wantedRow is an id of a rule or a check, for one path or for any.
type wantedRow struct{ ID, Path string }

func (w *wantedRow) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &w.ID) == nil {
		return nil
	}
	type plain wantedRow
	return json.Unmarshal(text, (*plain)(w))
}

func (w wantedRow) String() string { return strings.TrimSuffix(w.ID+"@"+w.Path, "@") }

func loadCases(t *testing.T) map[string]boundaryCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(casesDir, "*", "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]boundaryCase{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := boundaryCase{dir: filepath.Dir(file), Agents: []string{"codex"}, History: "linear", Changes: "some"}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields() // a member that nobody acts on would be a case that tests nothing
		if err := dec.Decode(&c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases[filepath.Base(c.dir)] = c
	}
	if len(cases) < 200 {
		t.Fatalf("only %d cases in %s", len(cases), casesDir)
	}
	return cases
}

// TestCases runs every boundary case in process and holds each result against
// the case's expectations and against what the protocol promises of all.
func TestCases(t *testing.T) {
	for name, c := range loadCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := buildCase(t, &c)
			if errors.Is(err, errCannotBuild) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("the case itself is broken: %v", err)
			}
			before, err := digest(s.top)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, agent := range c.Agents {
				stdout, found := s.judge(&c, agent)
				if agent == c.Agents[0] {
					printed.Store(name, stdout)
				}
				if c.Repeat {
					if again, _ := s.judge(&c, agent); !bytes.Equal(again, stdout) {
						found = append(found, "a second run printed something else")
					}
				}
				for _, p := range found {
					problems = append(problems, agent+": "+p)
				}
			}
			for _, p := range append(problems, s.untouched(before)...) {
				if c.Severity == "must" {
					t.Error(p)
				} else {
					t.Log("not certain, see the case: " + p)
				}
			}
			if t.Failed() {
				t.Log(c.About)
			}
		})
	}
}

// printed is what the check said of each case, by name: TestVariations need not
// ask again.
var printed sync.Map

// judge runs the check for one agent and lists what is wrong with the answer.
func (s *scene) judge(c *boundaryCase, agent string) (stdout []byte, problems []string) {
	code, stdout, stderr := s.ask(agent)
	if code != c.Expect.Exit {
		return stdout, []string{fmt.Sprintf("exit code %d, want %d (%s)", code, c.Expect.Exit, bytes.TrimSpace(stderr))}
	}
	if code != 0 {
		if len(stdout) > 0 {
			problems = append(problems, "a failed command printed a result")
		}
		return stdout, problems
	}
	r, problems := readResult(stdout, agent, c.Mode)
	if r != nil {
		problems = append(problems, c.Expect.compare(r, string(stdout))...)
	}
	return stdout, problems
}

// ask runs the check once for an agent.
func (s *scene) ask(agent string) (code int, stdout, stderr []byte) {
	args, environ := s.request(agent)
	return call(shipgate.Env{Dir: s.cwd, Environ: environ}, string(s.stdin), args)
}

// request is the command line and the environment of a check.
func (s *scene) request(agent string) (args, environ []string) {
	args = append([]string{
		"check", "--agent", agent, "--workspace", s.workspace, "--format", "agent-boundary-json",
	}, s.args...)
	return args, slices.DeleteFunc(s.environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_AUTHOR") || strings.HasPrefix(kv, "GIT_COMMITTER")
	})
}

// readResult reads what a check printed and lists the promises it breaks.
func readResult(stdout []byte, agent, mode string) (*boundaryResult, []string) {
	if err := valid(stdout); err != nil {
		return nil, []string{err.Error()}
	}
	var r boundaryResult
	if err := json.Unmarshal(stdout, &r); err != nil {
		return nil, []string{err.Error()}
	}
	r.text = stdout
	return &r, r.promises(agent, mode)
}

// untouched lists what a check left behind: a program of the repository that
// ran, or anything on disk that is not what it was.
func (s *scene) untouched(before string) []string {
	if started, err := filepath.Glob(s.sentinel + "*"); err != nil || len(started) > 0 {
		return []string{fmt.Sprintf("a program of the repository ran: %v (%v)", started, err)}
	}
	if after, err := digest(s.top); err != nil || after != before {
		return []string{fmt.Sprintf("something on disk has changed (%v)", err)}
	}
	return nil
}

// boundaryResult is what the expectations look at.
type boundaryResult struct {
	Actor         string
	InputMode     string `json:"input_mode"`
	InputCoverage string `json:"input_coverage"`
	Decision      string
	Control       struct {
		State               string
		Reason              string
		CompletionAllowed   bool `json:"completion_allowed"`
		MustStop            bool `json:"must_stop"`
		VerifyRequired      bool `json:"verify_required"`
		Permissions         map[string]bool
		AllowedNextCommands []string `json:"allowed_next_commands"`
		HumanReview         struct {
			RequiredReviewers []string `json:"required_reviewers"`
		} `json:"human_review"`
		NextAction struct {
			Actor, Kind, Command, Expects, Why string
		} `json:"next_action"`
	}
	Violations    []resultRow
	ViolatedRules []resultRow `json:"violated_rules"`
	Diagnostics   []diagnostic
	Issues        []string
	ChangedFiles  []string `json:"changed_files"`
	Policies      []struct{ ID, Source string }
	PendingReview []struct{ Path string }            `json:"pending_review"`
	HostCoverage  []struct{ Adapter, Status string } `json:"host_coverage"`
	AffectedHosts []string                           `json:"affected_hosts"`

	text []byte // as it was printed
}

type diagnostic struct{ Level, Code, Path string }

type resultRow struct {
	ID, Path string
	CheckID  string `json:"check_id"`
	Evidence evidence
}

// evidence is an object as compact text with sorted keys, so that two can be
// compared.
type evidence string

func (e *evidence) UnmarshalJSON(text []byte) error {
	var object any
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(object)
	*e = evidence(strings.TrimSuffix(b.String(), "\n"))
	return err
}

// kind is the member that every evidence has.
func (e evidence) kind() string {
	var object struct{ Kind string }
	if json.Unmarshal([]byte(e), &object) != nil {
		return ""
	}
	return object.Kind
}

func (r resultRow) String() string { return r.ID + " " + r.Path + " " + string(r.Evidence) }

var inputModes = map[string]string{
	"worktree": "worktree", "staged": "worktree", "committed": "git_range", "diff": "provided_diff",
}

// promises is what the protocol says of every result, whatever the input, and
// no schema can.
func (r *boundaryResult) promises(agent, mode string) (broken []string) {
	need := func(ok bool, sentence string, args ...any) {
		if !ok {
			broken = append(broken, "promise: "+fmt.Sprintf(sentence, args...))
		}
	}
	c, action := &r.Control, &r.Control.NextAction
	need(r.Actor == agent, "actor is %s", r.Actor)
	need(r.InputMode == inputModes[mode], "input_mode is %s", r.InputMode)
	need(c.CompletionAllowed == (c.State == "complete"), "completion_allowed does not follow from %s", c.State)
	need(c.MustStop == (c.State == "human_review_required"), "must_stop does not follow from %s", c.State)
	need(slices.Equal(r.Violations, r.ViolatedRules), "violations and violated_rules differ")
	need(len(c.Permissions) == 6, "there are %d permissions", len(c.Permissions))
	need(c.Permissions["merge"] == c.CompletionAllowed && c.Permissions["report_complete"] == c.CompletionAllowed,
		"merge and report_complete differ from completion_allowed")
	if c.MustStop || action.Kind == "fetch_base" || action.Kind == "install" {
		for name, granted := range c.Permissions {
			need(!granted, "%s is permitted although nothing is", name)
		}
	}
	switch c.State {
	case "complete":
		need(r.Decision == "allow" || r.Decision == "warn", "complete with decision %s", r.Decision)
		for _, h := range r.HostCoverage {
			need(h.Status == "complete" || h.Status == "not_applicable", "complete although %s is %s", h.Adapter, h.Status)
		}
	case "agent_action_required":
		need(action.Actor == "coding_agent", "the action is for %s", action.Actor)
		need(action.Command == "" || len(c.AllowedNextCommands) > 0 && c.AllowedNextCommands[0] == action.Command,
			"the action's command is not the first allowed one")
	case "review_publishable":
		need(c.Permissions["commit"] && c.Permissions["push"] && c.Permissions["update_pr"], "nothing may be published")
		need(action.Actor == "human", "the action is for %s", action.Actor)
	case "human_review_required":
		need(action.Actor == "human", "the action is for %s", action.Actor)
		need(len(c.AllowedNextCommands) == 0, "a stop names commands")
	default:
		need(false, "unknown state %q", c.State)
	}
	need(action.Kind != "verify" || c.VerifyRequired, "a verify action without verify_required")
	need(action.Kind != "fetch_base" || action.Command == "" && action.Expects != "", "fetch_base needs expects and no command")
	need(len(r.PendingReview) == 0 || c.State == "agent_action_required", "pending_review beside %s", c.State)
	need(r.Decision != "block" || c.State != "complete" && c.State != "review_publishable", "block with %s", c.State)
	if mode == "diff" {
		need(c.State != "review_publishable" && action.Kind != "verify" && action.Kind != "rerun", "a bare diff is published")
	}
	return broken
}

// compare lists where r is not what the case expects.
func (e *expectation) compare(r *boundaryResult, text string) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	oneOf := func(label string, want oneOrMore, got string) {
		if len(want) > 0 && !slices.Contains(want, got) {
			say("%s is %s, want %s", label, got, strings.Join(want, " or "))
		}
	}
	same := func(label string, want *bool, got bool) {
		if want != nil && *want != got {
			say("%s is %t", label, got)
		}
	}
	oneOf("state", e.State, r.Control.State)
	oneOf("decision", e.Decision, r.Decision)
	oneOf("input_coverage", e.InputCoverage, r.InputCoverage)
	oneOf("next action", e.NextActionKind, r.Control.NextAction.Kind)
	same("completion_allowed", e.CompletionAllowed, r.Control.CompletionAllowed)
	same("must_stop", e.MustStop, r.Control.MustStop)
	same("verify_required", e.VerifyRequired, r.Control.VerifyRequired)

	var rows []string
	has := func(w wantedRow) bool {
		for _, v := range r.Violations {
			if (w.ID == v.ID || w.ID == v.CheckID) && (w.Path == "" || w.Path == v.Path) {
				return true
			}
		}
		return false
	}
	for _, v := range r.Violations {
		rows = append(rows, v.ID+"@"+v.Path)
	}
	for _, w := range e.Rules {
		if !has(w) {
			say("no row %s among %v", w, rows)
		}
	}
	if len(e.AnyRules) > 0 && !slices.ContainsFunc(e.AnyRules, has) {
		say("none of %v among %v", e.AnyRules, rows)
	}
	for _, w := range e.Absent {
		if has(w) {
			say("a row %s that must not be", w)
		}
	}
	var codes []string
	for _, d := range r.Diagnostics {
		codes = append(codes, d.Code)
	}
	for _, code := range e.Diagnostics {
		if !slices.Contains(codes, code) {
			say("no diagnostic %s among %v", code, codes)
		}
	}
	for _, code := range e.AbsentDiagnostics {
		if slices.Contains(codes, code) {
			say("a diagnostic %s that must not be", code)
		}
	}
	if pending := len(r.PendingReview) > 0; e.PendingReview != "" && pending != (e.PendingReview == "some") {
		say("pending_review has %d entries, want %s", len(r.PendingReview), e.PendingReview)
	}
	for adapter, want := range e.Coverage {
		got := "missing"
		for _, h := range r.HostCoverage {
			if h.Adapter == adapter {
				got = h.Status
			}
		}
		oneOf("coverage of "+adapter, want, got)
	}
	for _, host := range e.AffectedHosts {
		if !slices.Contains(r.AffectedHosts, host) {
			say("%s is not among the affected hosts %v", host, r.AffectedHosts)
		}
	}
	for _, secret := range e.NeverInOutput {
		if strings.Contains(text, secret) {
			say("the output holds %q", secret)
		}
	}
	return problems
}
