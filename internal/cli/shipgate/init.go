package shipgate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev"
	"plimsoll.dev/internal/adopt"
	"plimsoll.dev/internal/adopt/detect"
	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/adopt/starter"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/manifest"
)

const initLong = `init prepares a repository for the gate: a first manifest with what detection
proves, the contract that agents read, a line of .gitignore, and the instructions
that make agents use the gate. Without --write it only shows what it would write,
as diffs. A second run changes nothing.

The manifest says nothing that only a person can know; what is open is listed as
questions, each with a patch. Where there is a manifest it stays as it is, and
only parts that are named with a flag are written; with instructions come the
contract and the line of .gitignore.

What init writes is part of the boundary that the gate guards: check shows it to
a person, once.

--remove takes back what init wrote and nobody edited since, to the byte; what
was edited is named and stays. It, too, only shows what it would do without
--write.`

const initExamples = `  # what would be written?
  shipgate init

  # write it, with instructions for Codex and Claude Code, and the workflow
  shipgate init --write --agent-instructions=agents-md,claude-md --ci

  # stop Claude Code from finishing unchecked; the manifest stays as it is
  shipgate init --write --hooks=claude-code

  # take everything back
  shipgate init --remove --write`

// initFlags is the command line of init.
type initFlags struct {
	workspace, instructions              string
	hooks                                []string
	write, json, minimal, auto, ci       bool
	preCommit, remove                    bool
	instructionsGiven, hooksGiven, parts bool
}

func initCommand(env Env) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use: "init", Short: "Prepare a repository for the gate, or take that back",
		Long: initLong, Example: initExamples, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.instructionsGiven, f.hooksGiven = c.Flags().Changed("agent-instructions"), c.Flags().Changed("hooks")
			return initialize(c.Context(), env, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.workspace, "workspace", ".", "the folder to prepare")
	flags.BoolVar(&f.write, "write", false, "write the files; without it nothing is written")
	flags.BoolVar(&f.json, "json", false, "print one JSON object (the default in agent mode)")
	flags.BoolVar(&f.minimal, "minimal", false, "the shortest manifest, and no contract or instructions unless they are named")
	flags.BoolVar(&f.auto, "auto", false, "accepted; init never asks")
	flags.StringVar(&f.instructions, "agent-instructions", "default",
		"all, none, default, or some of agents-md, claude-md, cursor, codex-skill, pr-template, separated by commas")
	flags.BoolVar(&f.ci, "ci", false, "a workflow that verifies every pull request")
	flags.BoolVar(&f.preCommit, "pre-commit", false, "an entry in .pre-commit-config.yaml")
	flags.StringSliceVar(&f.hooks, "hooks", nil, "hosts whose agents are checked when they want to stop: codex, claude-code, cursor, separated by commas")
	flags.BoolVar(&f.remove, "remove", false, "take back what init wrote and nobody edited since")
	return cmd
}

// initResult is what init prints as JSON (docs/spec/verification.md §18.2).
type initResult struct {
	Mode      string `json:"mode"` // init or remove
	Workspace string `json:"workspace"`
	Written   bool   `json:"written"`
	// Complete: no target was left alone.
	Complete    bool               `json:"complete"`
	Files       []initFile         `json:"files"`
	Questions   []starter.Question `json:"questions"`
	NextAction  string             `json:"next_action"`
	NextActions []nextAction       `json:"next_actions"`

	owed []nextAction // what the manifest cannot be used without
}

// initFile is one file of the result.
type initFile struct {
	Target  adopt.Target  `json:"target"`
	Path    string        `json:"path"`
	Outcome adopt.Outcome `json:"outcome"`
	Note    *string       `json:"note"`
	Diff    string        `json:"diff"` // secrets of a file that was there are masked
}

func initialize(ctx context.Context, env Env, f *initFlags) error {
	opt, err := f.shape()
	if err != nil {
		return err
	}
	dir := env.abs(f.workspace)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return usage("--workspace %s is no folder that can be opened", f.workspace).choosing("Name with --workspace a folder that is there.")
	}
	defer root.Close()
	agreed, err := jsonText(contract())
	if err != nil {
		return internal(err)
	}
	result := &initResult{Mode: "init", Workspace: f.workspace, Questions: []starter.Question{}}
	var plan *adopt.Plan
	if f.remove {
		result.Mode = "remove"
		plan = adopt.Remove(root.FS(), agreed, plimsoll.Version)
	} else if plan, err = f.plan(ctx, env, root, opt, agreed, result); err != nil {
		return err
	}
	if f.write {
		if err := carryOut(root, plan); err != nil {
			return err
		}
	}
	result.tell(f, plan)
	if f.json || env.agentMode() {
		return env.printJSON(result)
	}
	return env.print(result.text(f, env.colour()))
}

// plan is what init writes. A part that was asked for by name and cannot be
// written ends the command before anything is.
func (f *initFlags) plan(ctx context.Context, env Env, root *os.Root, opt adopt.Options, agreed []byte, result *initResult) (*adopt.Plan, error) {
	if err := f.topOnly(root.Name()); err != nil {
		return nil, err
	}
	_, err := root.Lstat(manifest.DefaultName)
	adopted := err == nil
	if adopted && !f.parts {
		return nil, f.adopted()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable("--workspace", f.workspace, err)
	}
	named := slices.Concat(opt.Instructions, opt.Hooks)
	switch {
	case f.instructions == "default" && (f.instructionsGiven || !f.minimal && !adopted):
		opt.Instructions, named = adopt.Usual(root.FS()), opt.Hooks
	case f.instructions == "all":
		named = opt.Hooks
	}
	if f.ci {
		named = append(named, adopt.Workflow)
	}
	if f.preCommit {
		named = append(named, adopt.PreCommit)
	}
	var none string
	if !adopted {
		if opt.Manifest, none, err = f.draft(ctx, env, result); err != nil {
			return nil, err
		}
	}
	// Instructions speak of the contract and of the reports folder.
	opt.Ignore = !adopted || len(opt.Instructions) > 0
	if opt.Ignore && !f.minimal {
		opt.Contract = agreed
	}
	plan := adopt.Install(root.FS(), opt)
	for i := range plan.Edits {
		if e := &plan.Edits[i]; e.Outcome == adopt.Skipped && slices.Contains(named, e.Target) {
			return nil, unread(e.Path, "nothing was written: "+e.Note, nil).
				choosing("Put an ordinary file at " + e.Path + ", or leave " + string(e.Target) + " out.")
		}
	}
	if none != "" {
		plan.Edits = slices.Insert(plan.Edits, 0, adopt.Edit{Target: adopt.Manifest, Path: manifest.DefaultName, Outcome: adopt.Skipped, Note: none})
	}
	return plan, nil
}

// draft is the text of the first manifest with its questions; none says why
// there can be no manifest yet.
func (f *initFlags) draft(ctx context.Context, env Env, result *initResult) (text []byte, none string, err error) {
	found, err := detected(ctx, env, f.workspace)
	if err != nil {
		return nil, "", err
	}
	if found.Scope == detect.Ambiguous {
		result.owed = append(result.owed, nextAction{Kind: "review", Why: found.NextAction})
	}
	if n := len(found.Diagnostics); n > 0 {
		looked := program + " detect --workspace " + control.Quote(f.workspace) + " --json"
		result.owed = append(result.owed, nextAction{Kind: "command", Command: &looked, Why: "detection names " + countOf(n, "place", "places") + " that it did not read, or not to the end"})
	}
	draft, err := starter.Manifest(found, starter.Options{Minimal: f.minimal})
	if err != nil {
		return nil, err.Error(), nil
	}
	lines := strings.Split(string(draft.Text), "\n")
	for _, q := range draft.Questions {
		if q.Line >= 1 && q.Line <= len(lines) && strings.Contains(lines[q.Line-1], starter.Placeholder) {
			result.owed = append(result.owed, nextAction{Kind: "edit", Path: &q.Path, Why: q.Key + ": " + q.Why})
		}
		q.Line, q.Patch = q.Line+1, adopt.SealedPatch(q.Patch)
		result.Questions = append(result.Questions, q)
	}
	return draft.Text, "", nil
}

// topOnly refuses what is read in the top folder of a repository only.
func (f *initFlags) topOnly(dir string) error {
	if !f.ci && !f.preCommit && len(f.hooks) == 0 {
		return nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if at == dir {
				return nil
			}
			return usage("--ci, --pre-commit and --hooks are for the top folder of a repository, and %s is not", f.workspace).
				choosing("Give --workspace the top folder of the repository, or leave them out.")
		}
		if filepath.Dir(at) == at {
			return nil
		}
	}
}

// adopted is that there is a manifest.
func (f *initFlags) adopted() error {
	why := "To add a part and leave the manifest as it is, name the part: --agent-instructions, --ci, --pre-commit or --hooks."
	return (&failure{kind: configExists, code: exitUsage, msg: manifest.DefaultName + " exists, and init does not replace it", path: manifest.DefaultName}).
		offering(program+" doctor --workspace "+control.Quote(f.workspace)+" --json", "says what comes of the manifest").choosing(why)
}

// shape is what the flags ask for.
func (f *initFlags) shape() (opt adopt.Options, err error) {
	opt.Version = plimsoll.Version
	if f.workspace == "" {
		return opt, usage("--workspace is empty").choosing("Give --workspace a folder, or leave it out.")
	}
	if f.remove && (f.ci || f.preCommit || f.minimal || f.hooksGiven || f.instructionsGiven) {
		return opt, usage("--remove takes everything back and goes with --workspace, --write and --json only").
			offering(program+" init --remove --workspace "+control.Quote(f.workspace), "shows what would be taken back")
	}
	switch f.instructions {
	case "all":
		opt.Instructions = adopt.Instructions
	case "none", "default":
	default:
		for _, name := range strings.Split(f.instructions, ",") {
			t := adopt.Target(strings.TrimSpace(name))
			if !slices.Contains(adopt.Instructions, t) {
				return opt, usage("--agent-instructions names %q", name).choosing("Give --agent-instructions all, none, default, or some of " + listOf(adopt.Instructions) + ".")
			}
			opt.Instructions = append(opt.Instructions, t)
		}
	}
	for _, name := range f.hooks {
		h := hook.Host(strings.TrimSpace(name))
		if !h.Valid() {
			return opt, usage("--hooks names %q", name).choosing("Give --hooks some of " + listOf(hook.Hosts()) + ".")
		}
		opt.Hooks = append(opt.Hooks, adopt.HooksOf(h))
	}
	opt.Workflow, opt.PreCommit = f.ci, f.preCommit
	f.parts = f.ci || f.preCommit || len(opt.Hooks) > 0 || f.instructionsGiven && f.instructions != "none"
	return opt, nil
}

func listOf[T ~string](names []T) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, ", ")
}
