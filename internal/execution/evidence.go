package execution

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/ingest"
)

const noModel = "none" // docs/spec/contracts.md §9.1

// check refuses a model that is half named.
func (m Model) check() error {
	if m.Name == "" && (m.Version != "" || m.Parameters != nil) {
		return errors.New("the model has no name; one that cannot be named is \"unknown\"")
	}
	if m.Parameters != nil {
		if _, err := contract.HashJSON(m.Parameters); err != nil {
			return errors.New("the parameters of the model are no JSON: " + err.Error())
		}
	}
	return nil
}

// setting is what Evidence says of the runner it was written under.
func (c *Config) setting() setting {
	s := setting{OS: strings.TrimSpace(systemName() + " " + systemRelease()), Runtime: c.Runtime, Container: c.Container, Model: c.Model.Name, Version: c.Model.Version}
	if s.Runtime == "" {
		s.Runtime = runtime.Version()
	}
	parameters := c.Model.Parameters
	switch {
	case s.Model == "":
		s.Model, s.Version = noModel, noModel
	case s.Version == "":
		s.Version = "unknown"
	}
	if parameters == nil {
		parameters = []byte("{}")
	}
	s.Parameters, _ = contract.HashJSON(parameters) // New has checked it
	return s
}

// systemName is the name of the operating system as it calls itself.
func systemName() string {
	switch runtime.GOOS {
	case "linux":
		return "Linux"
	case "darwin":
		return "Darwin"
	case "windows":
		return "Windows"
	}
	return runtime.GOOS
}

// toolName is the last segment of a program's path.
func toolName(program string) string {
	return filepath.Base(strings.ReplaceAll(program, `\`, "/"))
}

func commandLine(args []string) string { return strings.Join(args, " ") }

// inputHash is the canonical hash of what the run was given: the command and
// the task as it was claimed.
func inputHash(task *contract.TaskSeed, args []string) string {
	input := canonical.Object{{Key: "command", Value: args}}
	if task != nil {
		input = append(input, canonical.Member{Key: "taskSeed", Value: canonical.Object{
			{Key: "id", Value: string(task.ID)},
			{Key: "version", Value: task.Version},
			{Key: "description", Value: task.Description},
			{Key: "executionPlan", Value: task.ExecutionPlan},
		}})
	}
	return contract.Hash(canonical.UTF8.Append(nil, input))
}

// evidence is the members of docs/spec/contracts.md §1.7 that an executor
// knows; the others are the service's (§20.3).
func (f *folder) evidence(head, diffHash, outputHash, lockfileHash string, tools []string, end time.Time) []byte {
	list := []string{toolName(f.Command[0])}
	for _, t := range tools {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	if end.Before(f.Started) {
		end = f.Started // a clock that was set back
	}
	return canonical.UTF8.Append(nil, canonical.Object{
		{Key: "baseCommit", Value: f.Base},
		{Key: "headCommit", Value: head},
		{Key: "inputHash", Value: f.InputHash},
		{Key: "outputHash", Value: outputHash},
		{Key: "diffHash", Value: diffHash},
		{Key: "model", Value: canonical.Object{
			{Key: "name", Value: f.Setting.Model}, {Key: "version", Value: f.Setting.Version}, {Key: "parametersHash", Value: f.Setting.Parameters},
		}},
		{Key: "tools", Value: list},
		{Key: "environment", Value: canonical.Object{
			{Key: "os", Value: f.Setting.OS},
			{Key: "runtime", Value: f.Setting.Runtime},
			{Key: "containerImageDigest", Value: f.Setting.Container},
			{Key: "lockfileHash", Value: lockfileHash},
		}},
		{Key: "startTime", Value: contract.At(f.Started).String()},
		{Key: "endTime", Value: contract.At(end).String()},
	})
}

// lockfileHash is the hash of the first lockfile at a commit (§10.1).
func (r *repository) lockfileHash(ctx context.Context, commit string) string {
	list, err := r.output(ctx, append([]string{"ls-tree", "-z", "--name-only", "--full-tree", commit, "--"}, ingest.Lockfiles()...)...)
	if err != nil {
		return ingest.LockfileHash(nil)
	}
	there := strings.Split(string(list), "\x00")
	for _, name := range ingest.Lockfiles() {
		if slices.Contains(there, name) {
			return ingest.LockfileHash(r.file(ctx, commit, name))
		}
	}
	return ingest.LockfileHash(nil)
}
