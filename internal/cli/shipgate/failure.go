package shipgate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/redact"
)

// Exit codes of the gate (docs/spec/verification.md §1.1). A check that has a
// result is exitOK whatever its state.
const (
	exitOK        = 0
	exitUsage     = 2
	exitInput     = 3
	exitInternal  = 4
	exitOutside   = 5 // a patch leaves the manifest directory
	exitIntegrity = 6
	exitGate      = 20
)

// The kinds of failure a program can tell apart (docs/spec/verification.md §1.2).
const (
	configError        = "config_error"
	configExists       = "config_already_exists"
	unknownCheckID     = "unknown_check_id"
	unknownFingerprint = "unknown_fingerprint"
	inputParseError    = "input_parse_error"
	malformedPatch     = "malformed_patch"
	otherError         = "other_error"
	internalError      = "internal_error"
)

// failure is why a command printed no result. It goes to stderr, as a sentence
// and in agent mode also as one line of JSON; stdout stays empty.
type failure struct {
	kind string
	code int
	msg  string
	next []nextAction
	// suggestion is the nearest known id, for unknownCheckID and
	// unknownFingerprint only.
	suggestion string
	// What an unknown id was, the report it was looked for in, and the file that
	// could not be used; "" where they say nothing.
	checkID, fingerprint, sourceReport, path string
	err                                      error
}

// nextAction is one way on, best first.
type nextAction struct {
	Kind    string  `json:"kind"` // command, edit, review or stop
	Command *string `json:"command"`
	Path    *string `json:"path"`
	Why     string  `json:"why"`
	Expects *string `json:"expects"`
}

func (f *failure) Error() string {
	if f.err != nil {
		return f.msg + ": " + f.err.Error()
	}
	return f.msg
}

func (f *failure) Unwrap() error { return f.err }

// ended is the exit code of a command that printed its result: the result says
// why.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usage is a command line that cannot be: nothing was evaluated.
func usage(format string, args ...any) *failure {
	return &failure{kind: configError, code: exitUsage, msg: fmt.Sprintf(format, args...)}
}

// unread is an input file that could not be used.
func unread(path, msg string, err error) *failure {
	return &failure{kind: inputParseError, code: exitInput, msg: path + ": " + msg, path: path, err: err}
}

// internal is a failure of the program itself.
func internal(err error) *failure {
	return &failure{kind: internalError, code: exitInternal, msg: "internal failure, no result", err: err}
}

// offering adds the corrected command line.
func (f *failure) offering(command, why string) *failure {
	f.next = append(f.next, nextAction{Kind: "command", Command: &command, Why: why})
	return f
}

// choosing adds what only the caller can decide.
func (f *failure) choosing(why string) *failure {
	f.next = append(f.next, nextAction{Kind: "edit", Why: why})
	return f
}

// stopping adds that there is no way on for an agent.
func (f *failure) stopping(why string) *failure {
	f.next = append(f.next, nextAction{Kind: "stop", Why: why})
	return f
}

// String is the action as a person would be told it.
func (n nextAction) String() string {
	if n.Command != nil {
		return *n.Command
	}
	return n.Why
}

// masked is the failure as it may be shown: what was given may be a secret in the
// wrong place.
func (f *failure) masked() *failure {
	m := *f
	m.msg, m.err = redact.Text(f.Error()), nil
	m.next = slices.Clone(f.next)
	for i := range m.next {
		n := &m.next[i]
		n.Why = redact.Text(n.Why)
		for _, text := range []**string{&n.Command, &n.Path, &n.Expects} {
			if *text != nil {
				*text = new(redact.Text(**text))
			}
		}
	}
	for _, text := range []*string{&m.suggestion, &m.checkID, &m.fingerprint, &m.sourceReport, &m.path} {
		*text = redact.Text(*text)
	}
	return &m
}

// report writes f about the named command and returns the exit code.
func (f *failure) report(w io.Writer, command string, agentMode bool) int {
	f = f.masked()
	fmt.Fprintf(w, "%s: %s\n", strings.TrimSpace(program+" "+command), f.Error())
	for _, n := range f.next {
		if n.Command != nil {
			fmt.Fprintf(w, "try: %s\n", *n.Command)
		} else {
			fmt.Fprintf(w, "%s\n", n.Why)
		}
	}
	if !agentMode {
		return f.code
	}
	line := struct {
		Error       string       `json:"error"`
		Message     string       `json:"message"`
		ExitCode    int          `json:"exit_code"`
		Command     string       `json:"command"`
		NextAction  *string      `json:"next_action"`
		NextActions []nextAction `json:"next_actions"`
		CheckID     string       `json:"check_id,omitempty"`
		Fingerprint string       `json:"fingerprint,omitempty"`
		Suggestion  string       `json:"suggestion,omitempty"`
		Report      string       `json:"source_report,omitempty"`
		Path        string       `json:"path,omitempty"`
	}{
		Error: f.kind, Message: f.Error(), ExitCode: f.code, Command: command, NextActions: f.next,
		CheckID: f.checkID, Fingerprint: f.fingerprint, Suggestion: f.suggestion, Report: f.sourceReport, Path: f.path,
	}
	if len(f.next) > 0 {
		first := f.next[0].String()
		line.NextAction = &first
	} else {
		line.NextActions = []nextAction{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// An unwritable stderr leaves nobody to tell; the exit code still speaks.
	if err := enc.Encode(line); err != nil {
		return f.code
	}
	return f.code
}
