package shipgate

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Env is everything the commands know of the world outside: the whole program
// runs in process under another Env, which is how it is tested.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Environ is the environment as "NAME=value" entries; git is started with
	// what is left of it after docs/spec/boundary.md §2.1.
	Environ []string
	// Dir is the absolute working directory.
	Dir string
	// Given are inputs that a caller in the same process hands over instead of
	// files, by the name that a flag has for them; nil for the program itself.
	Given map[string][]byte
	// Examples and Samples are what self-check runs; nil for those that the
	// program carries (plimsoll.AgentProtocol, plimsoll.SelfCheckSamples).
	Examples, Samples fs.FS
	// Terminal says whether Stdout is one: only a person gets colour.
	Terminal bool
}

// OS is the process's own environment.
func OS() Env {
	env := Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}
	// Without a working directory relative paths stay relative and are refused
	// where they are used.
	if dir, err := os.Getwd(); err == nil {
		env.Dir = dir
	}
	if info, err := os.Stdout.Stat(); err == nil {
		env.Terminal = info.Mode()&os.ModeCharDevice != 0
	}
	return env
}

// lookup is the value of an environment variable, "" when it is not set. The
// last entry wins, as it does for a started process.
func (e Env) lookup(name string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(e.Environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}

// abs makes a path absolute against the working directory, without resolving
// links (docs/spec/boundary.md §1).
func (e Env) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

// colour says whether text for a person may be coloured.
func (e Env) colour() bool { return e.Terminal && e.lookup("NO_COLOR") == "" }

// The variables by which an agent's harness makes itself known.
const (
	claudeVariable = "CLAUDECODE"
	cursorVariable = "CURSOR_TRACE_ID"
	modeVariable   = "AGENTS_SHIPGATE_AGENT_MODE"
)

// agentMode says whether a program reads the streams rather than a person: it
// gets a JSON line for every failure, and JSON where text is the default.
func (e Env) agentMode() bool {
	switch strings.ToLower(e.lookup(modeVariable)) {
	case "1", "true", "yes", "on":
		return true
	case "0", "false", "no", "off":
		return false
	}
	return e.lookup(claudeVariable) != "" || e.lookup(cursorVariable) != ""
}

// scratch is an empty workspace in a new temporary folder, and what removes it
// again. Only self-check needs one.
func scratch() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "shipgate-self-check-")
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, ".git"), 0o700) // makes it an evaluation root; git itself is not started for a diff
	}
	return dir, func() error { return os.RemoveAll(dir) }, err
}
