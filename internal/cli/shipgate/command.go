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
)

// program is the name the help uses; the binary answers to agents-shipgate too.
const program = "shipgate"

const long = `shipgate reads a git change and tells a coding agent what it may do next.

It runs locally, writes nothing in the repository, opens no network connection
and starts no program of the repository. Callers switch on control.state of the
JSON result, never on the exit code.`

const examples = `  # what may the agent do after the change in the working tree?
  shipgate check --agent claude-code --workspace . --format agent-boundary-json

  # the same change, for a person
  shipgate check --format text

  # a committed range, as CI sees it
  shipgate check --base origin/main --head HEAD

  # what a rule looks for and why
  shipgate explain HOST-PERMISSION-WILDCARD-ALLOW`

// Main runs one command and returns the exit code.
func Main(args []string, env Env) int { return Run(context.Background(), args, env) }

// Run is Main for a caller that may give up: what waits for git, or reads many
// files, ends soon after ctx does.
func Run(ctx context.Context, args []string, env Env) (code int) {
	current := ""
	fail := func(f *failure) int { return f.report(env.Stderr, current, env.agentMode()) }
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
	// What is left is cobra's own: an unknown command or a wrong flag.
	return fail(usage("%s", strings.TrimSpace(err.Error())).offering(helpCommand(current), "the help names every command and flag"))
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
