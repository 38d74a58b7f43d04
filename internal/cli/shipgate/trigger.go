package shipgate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/gate/trigger"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify/manifest"
)

const triggerLong = `trigger says whether a change is any of the gate's business: whether verification
has to run, and which rules of the catalogue say so. It judges nothing.

The change is the paths that are named, the text of a diff, or, with --git-diff,
what git shows: of the working tree, or of a range such as main...HEAD. Rules
about the text of a diff hold only where a text is given. A change that cannot be
read in full is not evaluated, and has to be verified.

The exit code is 0 whatever the answer, 2 for a command line or a range that
cannot be.`

const triggerExamples = `  shipgate trigger tools/mcp-tools.json README.md
  git diff main... | shipgate trigger --diff-text -
  shipgate trigger --git-diff
  shipgate trigger --git-diff=origin/main...HEAD --json
  shipgate trigger --list-rules --json`

// maxDiff is the most bytes of a diff text (docs/spec/verification.md §1).
const maxDiff = 32 << 20

// triggerFlags is the command line of trigger as it was written.
type triggerFlags struct {
	workspace, text, revision           string
	present, requested, list, json, git bool
	given                               func(flag string) bool
}

// workingTree is what --git-diff stands for without a value; no ref is called so.
const workingTree = "."

func triggerCommand(env Env) *cobra.Command {
	f := &triggerFlags{}
	cmd := &cobra.Command{
		Use: "trigger [path...]", Short: "Say whether a change has to be verified",
		Long: triggerLong, Example: triggerExamples,
		RunE: func(c *cobra.Command, args []string) error {
			f.given, f.git = c.Flags().Changed, c.Flags().Changed("git-diff")
			return f.run(c.Context(), env, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.workspace, "workspace", ".", "the folder that paths are relative to")
	flags.BoolVar(&f.present, "manifest-present", false, "take it that the workspace has a manifest (default: look)")
	flags.BoolVar(&f.requested, "user-requested", false, "a person asked for the gate: no stop condition holds")
	flags.StringVar(&f.text, "diff-text", "", "the text of a unified diff; - reads stdin")
	flags.StringVar(&f.revision, "git-diff", "", "take the change from git: the working tree, or a `range` base...head")
	flags.Lookup("git-diff").NoOptDefVal = workingTree
	flags.BoolVar(&f.list, "list-rules", false, "print the catalogue instead")
	flags.BoolVar(&f.json, "json", false, "print the answer as JSON (the default in agent mode)")
	return cmd
}

// The statuses of an evaluation.
const (
	evaluated    = "evaluated"
	notEvaluated = "not_evaluated"
)

// triggered is the answer of docs/spec/verification.md §18.3. Run, DryRun and
// Action are null when nothing was evaluated: only a change that was read in full
// may be passed over (§9.4).
type triggered struct {
	SchemaVersion string              `json:"schema_version"`
	Status        string              `json:"evaluation_status"`
	TextTried     bool                `json:"diff_text_evaluated"` // rules about the text were tried
	Run           *bool               `json:"run_shipgate"`
	DryRun        *bool               `json:"dry_run_recommended"`
	Action        *string             `json:"action"` // force_run, run_shipgate, skip_shipgate, dry_run, none
	SkipReason    *trigger.SkipReason `json:"skip_reason"`
	Stopped       bool                `json:"stop_conditions_fired"`
	StopEvaluated bool                `json:"stop_conditions_evaluated"`
	Rationale     string              `json:"rationale"`
	Rules         []trigger.Match     `json:"matched_rules"`
	Files         []string            `json:"changed_files"`
	Tokens        []string            `json:"diff_tokens"`
	Next          *trigger.NextAction `json:"next_action"`
}

func (f *triggerFlags) run(ctx context.Context, env Env, args []string) error {
	switch {
	case f.workspace == "":
		return usage("--workspace is empty").choosing("Give --workspace a folder, or leave it out.")
	case f.list && (len(args) > 0 || f.git || f.given("diff-text")):
		return usage("--list-rules takes no change").offering(program+" trigger --list-rules", "it prints the catalogue")
	case f.list:
		return f.rules(env)
	case f.git && f.given("diff-text"):
		return usage("--git-diff and --diff-text both name a change").choosing("Choose one: --git-diff for what git shows, or --diff-text for a supplied text.")
	case f.git && f.revision == "":
		return usage("--git-diff= is empty").choosing("Name a range base...head, or leave = out for the working tree.")
	case f.git && f.revision == workingTree && len(args) == 1:
		f.revision, args = args[0], nil // as in --git-diff main...HEAD
	}
	if f.git && len(args) > 0 {
		return usage("--git-diff names the files itself; %q is one too many", args[0]).choosing("Leave the paths out, or leave --git-diff out.")
	}
	in, status, why, err := f.change(ctx, env, args)
	if err != nil {
		return err
	}
	t, err := f.evaluate(ctx, env, in, status, why)
	if err != nil {
		return err
	}
	if f.json || env.agentMode() {
		return env.printJSON(t)
	}
	return env.print(t.text(env.colour()))
}

// change is the change that is asked about. why says what of it is not known.
func (f *triggerFlags) change(ctx context.Context, env Env, args []string) (in trigger.Input, status, why string, err error) {
	in = trigger.Input{Agent: string((&checkFlags{given: func(string) bool { return false }}).actor(env)), ManifestPresent: f.present}
	switch {
	case f.git:
		status, why, err = f.fromGit(ctx, env, &in)
	case f.given("diff-text"):
		status, why, err = f.fromText(env, &in, len(args) > 0)
	default:
		status = evaluated
	}
	if err != nil {
		return in, "", "", err
	}
	for _, name := range args {
		clean := path.Clean(filepath.ToSlash(name))
		if filepath.IsAbs(name) {
			rel, err := filepath.Rel(env.abs(f.workspace), filepath.Clean(name))
			if err != nil {
				return in, "", "", usage("%s is not below the workspace", name).choosing("Name paths relative to the workspace.")
			}
			clean = filepath.ToSlash(rel)
		}
		if clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(clean, "\x00") {
			return in, "", "", usage("%q is no path below the workspace", name).choosing("Name paths relative to the workspace.")
		}
		in.ChangedFiles = append(in.ChangedFiles, clean)
	}
	slices.Sort(in.ChangedFiles)
	in.ChangedFiles = slices.Compact(in.ChangedFiles)
	return in, status, why, nil
}

// fromGit reads what check would judge.
func (f *triggerFlags) fromGit(ctx context.Context, env Env, in *trigger.Input) (status, why string, err error) {
	req := git.Request{Actor: gate.ActorCodex, Dir: env.Dir, Workspace: f.workspace, Environ: env.Environ}
	if f.revision != workingTree {
		base, head, two := strings.Cut(f.revision, "...")
		if !two {
			base, head, two = strings.Cut(f.revision, "..")
		}
		if !two || head == "" {
			head = "HEAD"
		}
		if base == "" {
			base = "HEAD"
		}
		req.Base, req.Head = base, head
	}
	read, err := git.Acquire(ctx, req)
	if wrong, ok := errors.AsType[*git.ShapeError](err); ok {
		return "", "", usage("%s", wrong.Error()).choosing("Name with --git-diff a range base...head of commits that are here.")
	}
	if err != nil {
		unread, ok := errors.AsType[*git.InputError](err)
		switch {
		case ok && unread.Failure == gate.NoRepository:
			return "", "", usage("--git-diff: %s is not inside a Git repository", f.workspace).
				choosing("Name with --workspace a directory of a repository, or leave --git-diff out and name the files that change.")
		case ok && f.revision != workingTree:
			msg := fmt.Sprintf("--git-diff %s cannot be read: %s", f.revision, unread.Failure)
			if unread.Detail != "" {
				msg += ": " + unread.Detail
			}
			return "", "", usage("%s", msg).choosing("Name with --git-diff a range base...head of commits that are here.")
		case ok:
			return notEvaluated, "the change could not be read: " + string(unread.Failure), nil
		}
		return "", "", internal(err)
	}
	in.ChangedFiles, in.Text = read.ChangedFiles, [][]byte{read.Text, read.IndexText}
	in.ManifestPresent = in.ManifestPresent || read.Manifest.Present
	if len(read.Issues) > 0 {
		return notEvaluated, "part of the change could not be read", nil
	}
	return evaluated, "", nil
}

// fromText takes a supplied text, and the names of the files in it. A diff of
// another form than git's says its names only when they are given.
func (f *triggerFlags) fromText(env Env, in *trigger.Input, named bool) (status, why string, err error) {
	text := []byte(f.text)
	if f.text == "-" {
		if text, err = io.ReadAll(io.LimitReader(env.Stdin, maxDiff+1)); err != nil {
			return "", "", unreadable("--diff-text", f.text, err)
		}
	}
	if len(text) > maxDiff {
		return notEvaluated, "the diff is over 32 MiB", nil
	}
	in.Text = [][]byte{text}
	records := diff.Parse(text)
	for i := range records {
		r := &records[i]
		for _, name := range []string{r.OldName, r.NewName} {
			if name != "" {
				in.ChangedFiles = append(in.ChangedFiles, name)
			}
		}
		if r.InvalidName || !r.Complete() {
			status, why = notEvaluated, "the diff is cut short or names a file in a way that cannot be read"
		}
	}
	switch {
	case status != "":
	case len(records) == 0 && !named && bytes.Contains(text, []byte("@@ -")):
		status, why = notEvaluated, "the diff is not of git's form, and no file is named beside it"
	default:
		status = evaluated
	}
	return status, why, nil
}

// evaluate runs the catalogue and the stop block. What could not be read in full
// is not evaluated.
func (f *triggerFlags) evaluate(ctx context.Context, env Env, in trigger.Input, status, why string) (*triggered, error) {
	t := &triggered{SchemaVersion: trigger.CatalogueVersion, Status: status, TextTried: len(in.Text) > 0}
	if status == notEvaluated {
		t.Next = &trigger.NextAction{Kind: "command", Command: "agents-shipgate verify --preview --json", Why: "What cannot be read has to be verified."}
		t.Rationale = "Not evaluated: " + why + ". It has to be verified."
		t.TextTried = false
		t.Rules, t.Files, t.Tokens = []trigger.Match{}, append([]string{}, in.ChangedFiles...), []string{}
		return t, nil
	}
	w, err := git.OpenWorkspace(ctx, env.Dir, f.workspace, env.Environ)
	if err != nil {
		return nil, usage("%s", err.Error()).choosing("Name with --workspace a folder that is there and can be read.")
	}
	defer w.Close()
	in.ManifestPresent = in.ManifestPresent || !f.git && slices.Contains(w.Names, manifest.DefaultName)
	r := trigger.Evaluate(in)
	r = r.Stop(in, f.requested, f.looked(in, w))
	t.Run, t.DryRun, t.SkipReason = &r.RunShipgate, &r.DryRunRecommended, r.SkipReason
	t.Stopped, t.StopEvaluated, t.Rationale = r.StopConditionsFired, r.StopConditionsEvaluated, r.Rationale
	t.Rules, t.Files, t.Tokens, t.Next = r.MatchedRules, r.ChangedFiles, r.DiffTokens, r.NextAction
	action := "none"
	switch {
	case r.StopConditionsFired:
	case r.ForceRun:
		action = string(trigger.ForceRun)
	case r.Skip:
		action = string(trigger.SkipShipgate)
	case r.RunShipgate:
		action = string(trigger.RunShipgate)
	case r.DryRunRecommended:
		action = string(trigger.DryRun)
	}
	t.Action = &action
	if !t.TextTried && !r.RunShipgate && !r.StopConditionsFired {
		t.Rationale += " Rules about the text of the diff were not tried: no text was given."
	}
	return t, nil
}

// looked is what detection says of the tree, when the tree is the one that the
// change is in: every file that is named must lie there, and all of it must have
// been understood.
func (f *triggerFlags) looked(in trigger.Input, w *git.Workspace) trigger.Detected {
	if f.requested || in.ManifestPresent || f.git && f.revision != workingTree {
		return trigger.Detected{}
	}
	for _, name := range in.ChangedFiles {
		if _, there := slices.BinarySearch(w.Names, name); !there {
			return trigger.Detected{}
		}
	}
	found, err := lookAt(w, f.workspace)
	if err != nil {
		return trigger.Detected{}
	}
	return trigger.Detected{
		Complete: len(found.Diagnostics) == 0, AgentProject: found.IsAgentProject,
		Sources: len(found.Suggested), Plugins: len(found.Plugins),
	}
}

func (f *triggerFlags) rules(env Env) error {
	d := trigger.List(string(gate.ActorCodex))
	if f.json || env.agentMode() {
		return env.printJSON(d)
	}
	t := &ink.Text{Colour: env.colour()}
	for _, r := range d.Rules {
		t.Padded(ink.Bold, r.ID, 42)
		t.Padded(ink.Plain, string(r.Action), 14)
		t.Write(r.Rationale + "\n")
	}
	return env.print(t.Bytes())
}

// text is the answer for a person.
func (t *triggered) text(colour bool) []byte {
	p := &ink.Text{Colour: colour}
	head := "nothing to verify"
	switch {
	case t.Run == nil:
		head = "not evaluated"
	case *t.Run:
		head = "verify"
	case *t.DryRun:
		head = "a dry run is advised"
	}
	p.Put(ink.Bold, head)
	if t.Action != nil {
		p.Write(": " + strings.ReplaceAll(*t.Action, "_", " "))
	}
	p.Writef(", %s\n", counted(len(t.Files), "changed file"))
	p.Write(ink.Printable(t.Rationale) + "\n")
	for i := range t.Rules {
		m := &t.Rules[i]
		p.Write("  ")
		p.Padded(ink.Plain, m.ID, 42)
		p.Write(m.Rationale + "\n")
	}
	if t.Next != nil {
		p.Write("next: " + t.Next.Command + "\n")
	}
	return p.Bytes()
}
