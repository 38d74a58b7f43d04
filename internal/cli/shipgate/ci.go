package shipgate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/action"
	"plimsoll.dev/internal/canonical"
)

const ciLong = `ci is for the steps of a CI job: it reads what a verification left behind, so that
no script has to read JSON. It opens no connection; the job sends what is to be
sent.`

func ciCommand(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ci", Short: "Make outputs and a conclusion of a verification for a CI job", Long: ciLong, Args: cobra.NoArgs,
		Example: "  shipgate ci outcome --result verifier.json --exit-code 0 --to \"$RUNNER_TEMP/outcome\"",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(ciOutcomeCommand(env), ciCommentCommand(env))
	return cmd
}

const ciOutcomeLong = `outcome says how a CI job ends after verify or scan, and writes what it publishes:

  outputs            lines for the file that GITHUB_OUTPUT names
  summary.md         for the file that GITHUB_STEP_SUMMARY names
  commands           annotations as workflow commands
  comment.json       the body of the request that makes the comment
  check-run.json     the same for the check run, with --commit
  sarif.json         the same for code scanning, with --sarif-commit and --sarif-ref
  conclusion         success, neutral or failure, alone on its line; written last

A decision counts only when the artifacts are whole, belong together and are those
of this run: the result that the gate printed, given with --result, must be the
file in the reports folder. Everything else did not run and is a failure whatever
the policy (docs/spec/verification.md §21).

The exit code is 0 when there is an outcome; read the conclusion.`

// ciOutcome is the command line of ci outcome.
type ciOutcome struct {
	workspace, reports, result, stderr, policy, failOn, stopped, to string
	exitCode, limit                                                 int
	scan, json                                                      bool
	where                                                           action.Where
}

func ciOutcomeCommand(env Env) *cobra.Command {
	o := &ciOutcome{}
	cmd := &cobra.Command{
		Use: "outcome", Short: "Say how a CI job ends after a verification", Long: ciOutcomeLong, Args: cobra.NoArgs,
		Example: `  shipgate ci outcome --result verifier.json --exit-code 0 --policy blocked-fails --to outcome
  shipgate ci outcome --stopped "the base is not in the checkout" --to outcome --json`,
		RunE: func(*cobra.Command, []string) error { return o.run(env) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.workspace, "workspace", ".", "the workspace that was verified")
	flags.StringVar(&o.reports, "reports", reportsFolder, "the folder of the artifacts, relative to the workspace")
	flags.StringVar(&o.result, "result", "", "the file that holds what the gate printed with --json")
	flags.StringVar(&o.stderr, "stderr", "", "the file that holds what the gate printed on stderr")
	flags.IntVar(&o.exitCode, "exit-code", 0, "the exit code of the gate")
	flags.BoolVar(&o.scan, "scan", false, "the gate was called with scan")
	flags.StringVar(&o.stopped, "stopped", "", "why the gate was not started")
	flags.StringVar(&o.policy, "policy", string(action.Advisory), "what fails the job: advisory, blocked-fails, require-mergeable")
	flags.StringVar(&o.failOn, "fail-on-merge-verdicts", "", "merge verdicts that fail the job besides, separated by commas")
	flags.IntVar(&o.limit, "annotation-limit", action.MaxAnnotations, "how many annotations to make; 0 for none")
	flags.StringVar(&o.where.Name, "check-name", "Shipgate", "the name of the check run")
	flags.StringVar(&o.where.Commit, "commit", "", "the commit of the check run")
	flags.StringVar(&o.where.SARIFCommit, "sarif-commit", "", "the commit that code scanning knows the report by")
	flags.StringVar(&o.where.SARIFRef, "sarif-ref", "", "the ref that code scanning knows the report by")
	flags.StringVar(&o.to, "to", "", "a folder of its own for what is published; it may not be there yet")
	flags.BoolVar(&o.json, "json", false, "print the outcome as JSON (the default in agent mode)")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("policy",
		cobra.FixedCompletions([]string{"advisory", "blocked-fails", "require-mergeable"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// maxResult bounds the result that the gate printed.
const maxResult = 256 << 20

func (o *ciOutcome) run(env Env) error {
	in := &action.Input{
		Scan: o.scan, Stopped: o.stopped, ExitCode: o.exitCode, Policy: action.Policy(o.policy), Annotations: o.limit,
		Folder: filepath.ToSlash(filepath.Clean(o.reports)),
	}
	var err error
	switch {
	case o.to == "":
		return usage("--to is missing").choosing("Name with --to a folder of its own for what is published.")
	case o.result == "" && o.stopped == "":
		return usage("--result is missing").choosing("Name with --result the file that holds what the gate printed, or say with --stopped why it was not started.")
	case !in.Policy.Valid():
		return usage("--policy is %q; it must be one of advisory, blocked-fails, require-mergeable", o.policy).
			choosing("Choose one: advisory, blocked-fails, require-mergeable.")
	case o.limit < 0 || o.limit > action.MaxAnnotations:
		return usage("--annotation-limit is %d; it must be between 0 and %d", o.limit, action.MaxAnnotations).
			choosing(fmt.Sprintf("Give --annotation-limit a number from 0 to %d.", action.MaxAnnotations))
	}
	if in.FailOn, err = action.ParseFailOn(o.failOn); err != nil {
		return usage("--fail-on-merge-verdicts: %s", err).choosing("Name some of " + strings.Join(action.Verdicts, ", ") + ".")
	}
	if err := o.where.Check(); err != nil {
		return usage("--commit, --sarif-commit or --sarif-ref: %s", err).choosing("Give commits by their whole id, and a ref by its whole name.")
	}
	if o.stopped == "" {
		// A result that cannot be read is none: it is no error of this command.
		if in.Result, err = readFile(env.abs(o.result), maxResult); err != nil {
			in.Result = nil
		}
		if o.stderr != "" {
			if in.Said, err = readFile(env.abs(o.stderr), maxPage); err != nil {
				in.Said = nil
			}
		}
		root, err := os.OpenRoot(within(env.abs(o.workspace), o.reports))
		if err == nil {
			defer root.Close()
			in.Reports = root.FS()
		}
	}
	out := action.Conclude(in)
	if err := o.write(env, in, out); err != nil {
		return err
	}
	if !o.json && !env.agentMode() {
		return env.print([]byte(string(out.Conclusion) + ": " + out.Why + "\n"))
	}
	outputs := canonical.Object{}
	for _, v := range out.Outputs {
		outputs = append(outputs, canonical.Member{Key: v.Name, Value: v.Value})
	}
	return env.printJSON(canonical.Object{
		{Key: "status", Value: string(out.Status)},
		{Key: "conclusion", Value: string(out.Conclusion)},
		{Key: "why", Value: out.Why},
		{Key: "outputs", Value: outputs},
	})
}

// write puts everything that is published into --to, and the annotations beside
// the artifacts.
func (o *ciOutcome) write(env Env, in *action.Input, out *action.Outcome) error {
	fail := func(err error) error {
		return &failure{kind: otherError, code: exitInternal, msg: "the outcome could not be written to " + o.to, err: plainError(err)}
	}
	to := env.abs(o.to)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fail(err)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fail(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(outcomeFiles, e.Name()) {
			return usage("--to %s holds %q, which no outcome wrote", o.to, e.Name()).choosing("Name with --to a folder of its own; it may not be there yet.")
		}
	}
	// An earlier outcome must not be taken for this one, wherever this one stops:
	// its conclusion goes first and the new one comes last.
	for _, name := range outcomeFiles {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail(err)
		}
	}
	comment, err1 := out.CommentBody()
	run, err2 := out.CheckRunBody(&o.where)
	sarif, err3 := out.SARIFBody(&o.where)
	notes, err4 := out.AnnotationsJSON()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return internal(err)
	}
	if in.Reports != nil && out.Status == action.Evaluated && o.limit > 0 {
		beside, err := os.OpenRoot(within(env.abs(o.workspace), o.reports))
		if err != nil {
			return fail(err)
		}
		defer beside.Close()
		if err := beside.WriteFile(action.AnnotationsFile, notes, 0o644); err != nil {
			return fail(err)
		}
	}
	texts := map[string][]byte{
		"outputs": out.File(), "summary.md": out.Summary, "commands": out.Commands(), "comment.json": comment,
		"check-run.json": run, "sarif.json": sarif, "conclusion": []byte(string(out.Conclusion) + "\n"),
	}
	for _, name := range slices.Backward(outcomeFiles) {
		if texts[name] == nil {
			continue
		}
		if err := root.WriteFile(name, texts[name], 0o600); err != nil {
			return fail(err)
		}
	}
	return nil
}

// outcomeFiles are the files of an outcome; the first is the last to be written.
var outcomeFiles = []string{"conclusion", "outputs", "summary.md", "commands", "comment.json", "check-run.json", "sarif.json"}

const ciCommentLong = `comment looks for the gate's own comment on one page of a pull request's comments,
as GitHub's API lists them, read from stdin. It prints one line: "found" and the
number of the comment, "more" when another page may hold it, or "none".

Ours carries the marker and was written by the user of the token: give the answer
to GET /user with --user. Without it the comment of some bot is taken, never that
of a person, who could change it afterwards.`

// maxPage bounds a page of comments.
const maxPage = 32 << 20

func ciCommentCommand(env Env) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use: "comment", Short: "Find the gate's comment among those of a pull request", Long: ciCommentLong, Args: cobra.NoArgs,
		Example: "  shipgate ci comment < page.json\n  shipgate ci comment --user user.json < page.json",
		RunE: func(*cobra.Command, []string) error {
			login := ""
			if user != "" {
				text, err := readFile(env.abs(user), maxPage)
				if err == nil {
					login, err = action.Login(text)
				}
				if err != nil {
					return unreadable("--user", user, err)
				}
			}
			page, err := io.ReadAll(io.LimitReader(env.Stdin, maxPage+1))
			if err == nil && len(page) > maxPage {
				err = fs.ErrInvalid
			}
			var id int64
			var more bool
			if err == nil {
				id, more, err = action.FindComment(page, login)
			}
			if err != nil {
				return unread("stdin", "it is no page of comments", err)
			}
			line := "none"
			switch {
			case id != 0:
				line = fmt.Sprintf("found %d", id)
			case more:
				line = "more"
			}
			return env.print([]byte(line + "\n"))
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "the file that holds the answer to who the token belongs to")
	return cmd
}
