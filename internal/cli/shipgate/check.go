package shipgate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/git"
)

// Output formats of check.
const (
	formatResult = "agent-boundary-json"
	formatText   = "text"
	formatCodex  = "codex-boundary-json" // deprecated (docs/spec/boundary.md §13.3)
)

var (
	formats = []string{formatResult, formatText, formatCodex}
	actors  = []string{string(gate.ActorCodex), string(gate.ActorClaude), string(gate.ActorCursor)}
)

const checkLong = `check reads one change of the agent boundary (host settings, MCP servers, hooks,
instructions, workflows, policies, the gate's own manifest) and prints one JSON
object that says what the calling agent may do next.

The change is the working tree and the index against HEAD; or, with --base and
--head, a committed range; or, with --diff, a unified diff from a file or stdin.

The exit code is 0 whenever there is a result. Switch on control.state:

  complete               nothing is owed; finish
  agent_action_required  do only what control.next_action says, then check again
  review_publishable     publish as control.permissions allows; a person reviews; do not merge
  human_review_required  stop; show control.reason to a person`

const checkExamples = `  shipgate check --agent claude-code --workspace . --format agent-boundary-json
  shipgate check --agent codex --base origin/main --head HEAD
  git diff | shipgate check --agent cursor --diff -
  shipgate check --format text`

// checkFlags is the command line of check as it was written.
type checkFlags struct {
	agent, workspace, config, policy, diff, base, head, format string
	// given says whether a flag was written, whatever its value.
	given func(flag string) bool
}

func checkCommand(env Env) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Judge a change and say what the agent may do next",
		Long:    checkLong,
		Example: checkExamples,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = c.Flags().Changed
			return runCheck(c.Context(), env, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.agent, "agent", "", "calling agent: "+strings.Join(actors, ", ")+" (default: from the environment, else codex)")
	flags.StringVar(&f.workspace, "workspace", ".", "any directory inside the repository")
	flags.StringVarP(&f.config, "config", "c", "shipgate.yaml", "the manifest, relative to the workspace")
	flags.StringVar(&f.policy, "policy", "", "a boundary policy, relative to the workspace")
	flags.StringVar(&f.diff, "diff", "", "a unified diff to judge instead of the repository's own change; - reads stdin")
	flags.StringVar(&f.base, "base", "", "judge the committed range base...head")
	flags.StringVar(&f.head, "head", "", "the other end of the range")
	flags.StringVar(&f.format, "format", formatResult, "output: "+strings.Join(formats, ", "))
	return cmd
}

// shape finds what is wrong with the command line itself, in the order of
// docs/spec/boundary.md §1. Shape error 7, the place of the manifest, needs the
// repository and is found by package git.
func (f *checkFlags) shape(env Env) error {
	base, head := f.given("base"), f.given("head")
	switch {
	case f.given("diff") && (base || head):
		return usage("--diff cannot be combined with --base or --head").
			choosing("Choose one: --diff for a supplied diff, or --base and --head for a committed range.")
	case f.given("diff") && f.diff == "":
		return usage("--diff is empty").choosing("Give --diff a file, or - for stdin; leave it out to judge the working tree.")
	case base != head:
		given, missing := "--base", "--head"
		if head {
			given, missing = missing, given
		}
		return usage("%s needs %s beside it", given, missing).choosing("Give both --base and --head, or neither.")
	case base && f.base == "":
		return usage("--base is empty").choosing("Give --base a commit, or leave both --base and --head out.")
	case head && f.head == "":
		return usage("--head is empty").choosing("Give --head a commit, or leave both --base and --head out.")
	}
	for _, ref := range []struct{ flag, value string }{{"--base", f.base}, {"--head", f.head}} {
		if strings.HasPrefix(ref.value, "-") {
			return usage("%s begins with a dash and is no ref", ref.flag).choosing("Give " + ref.flag + " a commit, branch or tag.")
		}
		if strings.ContainsAny(ref.value, "\x00\r\n") {
			return usage("%s holds a NUL or a line break and is no ref", ref.flag).choosing("Give " + ref.flag + " a commit, branch or tag.")
		}
	}
	if f.given("agent") && !slices.Contains(actors, f.agent) {
		// No correction is offered: a guess would change who is held to have acted.
		return usage("--agent is %q; it must be one of %s", f.agent, strings.Join(actors, ", ")).
			choosing("Name the calling agent: " + strings.Join(actors, ", ") + ".")
	}
	if !slices.Contains(formats, f.format) {
		said := usage("--format is %q; it must be one of %s", f.format, strings.Join(formats, ", "))
		if f.format == "agent-json" {
			said = usage("--format agent-json was removed in 0.14.0; use --format %s", formatResult)
		}
		if f.diff == "-" {
			return said.choosing("Send the diff again with --format " + formatResult + "; what stood on stdin is gone.")
		}
		return said.offering(f.corrected(env), "the same request in the current format")
	}
	// Not in the table: an empty value where a file is meant is a variable the
	// caller forgot to set, and to go on without, say, the policy would loosen.
	for _, path := range []struct{ flag, value string }{{"workspace", f.workspace}, {"config", f.config}, {"policy", f.policy}} {
		if f.given(path.flag) && path.value == "" {
			return usage("--%s is empty", path.flag).choosing("Give --" + path.flag + " a path, or leave it out.")
		}
	}
	return nil
}

// corrected is the same request with a format that exists: every argument
// repeated and quoted, --workspace and --diff made absolute.
func (f *checkFlags) corrected(env Env) string {
	words := []string{program, "check"}
	add := func(flag, value string) { words = append(words, "--"+flag, control.Quote(value)) }
	if f.given("agent") {
		add("agent", f.agent)
	}
	add("workspace", env.abs(f.workspace))
	for _, flag := range []struct{ name, value string }{
		{"config", f.config},
		{"policy", f.policy},
		{"diff", env.abs(f.diff)},
		{"base", f.base},
		{"head", f.head},
	} {
		if f.given(flag.name) {
			add(flag.name, flag.value)
		}
	}
	add("format", formatResult)
	return strings.Join(words, " ")
}

// actor is who calls: the flag, else the harness that the environment shows.
func (f *checkFlags) actor(env Env) gate.Actor {
	switch {
	case f.given("agent"):
		return gate.Actor(f.agent)
	case env.lookup(claudeVariable) != "":
		return gate.ActorClaude
	case env.lookup(cursorVariable) != "":
		return gate.ActorCursor
	}
	return gate.ActorCodex
}

func runCheck(ctx context.Context, env Env, f checkFlags) error {
	if err := f.shape(env); err != nil {
		return err
	}
	result, err := f.judge(ctx, env)
	if err != nil {
		return err
	}
	switch f.format {
	case formatText:
		return env.print(result.Text(env.colour()))
	case formatCodex:
		return env.print(result.CodexJSON())
	}
	return env.print(result.JSON())
}

// judge reads the change and judges it. A change that could not be read is a
// result too.
func (f *checkFlags) judge(ctx context.Context, env Env) (*gate.Result, error) {
	req := git.Request{
		Actor: f.actor(env), Dir: env.Dir, Workspace: f.workspace, Policy: f.policy,
		Base: f.base, Head: f.head, Environ: env.Environ,
	}
	if f.given("config") {
		req.Config = f.config // unset it is the default name, which no caller could correct
	}
	switch {
	case f.diff == "-":
		req.Diff = &git.Supplied{Reader: env.Stdin}
	case f.given("diff"):
		req.Diff = &git.Supplied{Path: f.diff}
	}
	input, err := git.Acquire(ctx, req)
	if err == nil {
		result, err := gate.Check(*input)
		if err != nil {
			return nil, internal(err)
		}
		return result, nil
	}
	if wrong, ok := errors.AsType[*git.ShapeError](err); ok {
		if wrong.Flag != "--config" {
			return nil, usage("%s", wrong.Error()).choosing("Name with " + wrong.Flag + " one of both in full.")
		}
		return nil, usage("%s", wrong.Error()).
			choosing("Name with " + wrong.Flag + " one regular file inside the repository, spelled as it is stored.")
	}
	if unread, ok := errors.AsType[*git.InputError](err); ok {
		return gate.ErrorResult(f.errorInput(env, req.Actor, unread)), nil
	}
	return nil, internal(err)
}

// errorInput is the request of a change that could not be read: the words as
// given, and the places they mean for the audit id (docs/spec/boundary.md §9.6).
func (f *checkFlags) errorInput(env Env, actor gate.Actor, unread *git.InputError) gate.ErrorInput {
	root := env.abs(f.workspace)
	in := gate.ErrorInput{
		Actor: actor, Mode: gate.Worktree, Failure: unread.Failure, Detail: unread.Detail,
		Workspace: f.workspace, Diff: f.diff, Base: f.base, Head: f.head,
		Root: root, Config: within(root, f.config),
	}
	switch {
	case f.given("diff"):
		in.Mode = gate.ProvidedDiff
	case f.given("base"):
		in.Mode = gate.GitRange
	}
	if f.given("policy") {
		in.Policy = within(root, f.policy)
	}
	if f.given("diff") && f.diff != "-" {
		in.DiffPath = env.abs(f.diff)
	}
	return in
}

// within is a path that is relative to the workspace, made absolute.
func within(root, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(root, path)
}
