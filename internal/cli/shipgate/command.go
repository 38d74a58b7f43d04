// Package shipgate is the command line of the gate.
//
// Main is the whole program as a function of its arguments and its Env. A
// command that has a result prints it on stdout and exits 0; one that has none
// prints nothing there, says why on stderr and exits with the code of
// docs/spec/verification.md §1.1.
package shipgate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/canonical"
)

// program is the name the help uses; the binary answers to agents-shipgate too.
const program = "shipgate"

const long = `shipgate reads a git change and tells a coding agent what it may do next.

  init       prepares a repository: instructions, hooks, CI, a first manifest
  preflight  judges a plan, before anything is changed
  check      judges a change of what bounds coding agents
  verify     judges a change of the tools that your own agents get

It runs locally, opens no network connection and starts no program of the
repository. What writes says so, and where: init, verify, apply-patches and what
is told to save. Callers switch on control.state of the JSON result, never on the
exit code.`

const examples = `  # prepare this repository; without --write it only shows what it would write
  shipgate init

  # what may the agent do after the change in the working tree?
  shipgate check --agent claude-code --workspace . --format agent-boundary-json

  # the same change, for a person
  shipgate check --format text

  # a committed range, as CI sees it
  shipgate verify --base origin/main --head HEAD

  # what a rule looks for and why
  shipgate explain HOST-PERMISSION-WILDCARD-ALLOW`

// Main runs one command and returns the exit code.
func Main(args []string, env Env) int { return Run(context.Background(), args, env) }

// Run is Main for a caller that may give up: what waits for git, or reads many
// files, ends soon after ctx does.
func Run(ctx context.Context, args []string, env Env) (code int) {
	current := ""
	fail := func(f *failure) int { return f.guided().report(env.Stderr, current, env.agentMode()) }
	// A panic would end the process with 2, which means "used wrongly"; it is
	// ours, and callers must be able to tell.
	defer func() {
		if p := recover(); p != nil {
			code = fail(internal(fmt.Errorf("panic: %v", p)))
		}
	}()

	root := commands(env)
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(ctx)
	if ran != nil && ran != root {
		current = strings.TrimPrefix(ran.CommandPath(), program+" ")
	}
	if err == nil {
		return exitOK
	}
	if code, ok := errors.AsType[ended](err); ok {
		return int(code)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return fail(f)
	}
	// What is left is cobra's own: an unknown command, an argument or a wrong flag.
	return fail(misused(root, ran, err).offering(helpCommand(current), "the help names every command and flag"))
}

// misused says what cobra found wrong with the command line. Cobra calls an
// argument that a command does not take an unknown command.
func misused(root, ran *cobra.Command, err error) *failure {
	said := strings.TrimSpace(err.Error())
	var want, got int
	if _, scanned := fmt.Sscanf(said, "accepts %d arg(s), received %d", &want, &got); scanned == nil && ran != nil {
		return usage("it takes %s, and got %d: %s", counted(want, "argument"), got, strings.TrimSuffix(ran.UseLine(), " [flags]"))
	}
	if said == "unknown flag: --json" && ran != nil && ran.Name() == "check" {
		return usage("%s", said).offering(program+" check", "JSON is what check prints by itself")
	}
	name := ""
	if _, scanned := fmt.Sscanf(said, "unknown command %q for", &name); scanned != nil {
		return usage("%s", said)
	}
	if ran != nil && ran != root && !ran.HasSubCommands() {
		return usage("it takes no argument, and %q is one", name)
	}
	f := usage("%s", said)
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(name); ran == root && len(near) > 0 {
		f = f.offering(program+" "+near[0], "the command whose name is nearest")
	}
	return f
}

// guided is a failure that never leaves its reader without a way on. Where nobody
// knows better, what was named is put right; a failure of our own has none.
func (f *failure) guided() *failure {
	switch {
	case len(f.next) > 0 || f.code == exitInternal:
		return f
	case f.kind == inputParseError:
		return f.choosing("Put right what is named, or name another file, and run the command again.")
	}
	return f.choosing("Put right what is named, and run the command again.")
}

func helpCommand(current string) string {
	return strings.Join(strings.Fields(program+" "+current+" --help"), " ")
}

// commands is the table of everything the program can do.
func commands(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:           program,
		Short:         "Tell a coding agent what it may do next after reading the git change",
		Long:          long,
		Example:       examples,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			if asked, err := c.Flags().GetBool("version"); err != nil || !asked {
				return errors.Join(err, c.Help())
			}
			return env.print([]byte(versionLine()))
		},
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.Flags().Bool("version", false, "print the version and exit")
	root.SetHelpCommandGroupID("")
	root.AddCommand(
		checkCommand(env),
		ciCommand(env),
		verifyCommand(env),
		scanCommand(env),
		capabilityCommand(env),
		agentCommand(env),
		auditCommand(env),
		detectCommand(env),
		doctorCommand(env),
		hookCommand(env),
		initCommand(env),
		preflightCommand(env),
		explainCommand(env),
		explainFindingCommand(env),
		listChecksCommand(env),
		fixtureCommand(env),
		schemaCommand(env),
		contractCommand(env),
		applyPatchesCommand(env),
		baselineCommand(env),
		mcpServeCommand(env),
		selfCheckCommand(env),
		triggerCommand(env),
		versionCommand(env),
	)
	return root
}

// print writes a result in one piece. A result that could not be written in
// full is no result.
func (e Env) print(text []byte) error {
	if _, err := e.Stdout.Write(text); err != nil {
		return internal(fmt.Errorf("write result: %w", err))
	}
	return nil
}

// printDoc is print of a document of megabytes: its parts are not put together.
func (e Env) printDoc(doc canonical.Doc) error {
	if _, err := doc.WriteTo(e.Stdout); err != nil {
		return internal(fmt.Errorf("write result: %w", err))
	}
	return nil
}
