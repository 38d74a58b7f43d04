// Package plimsoll is the command line of the control plane: the service itself,
// and the client of its API.
//
// Main is the whole program as a function of its arguments and its Env. Exit
// codes: 0 done, 1 the answer is no, 2 the command was used wrongly, 3 nobody
// could decide (the service or the network did not answer).
package plimsoll

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	module "plimsoll.dev"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/refusal"
)

// The exit codes.
const (
	exitOK      = 0
	exitNo      = 1
	exitUsage   = 2
	exitUnknown = 3
)

// Version is the version of the program.
const Version = module.Version

const long = `plimsoll keeps the path from a request to a release, for work that coding agents do.

An intent says what is wanted and which capabilities it needs. A task is claimed
and run in a worktree of its own. The gate judges exactly the commits of the run;
people agree to exactly those bytes; everything leaves proof.`

const examples = `  # a service to try it with, for one person
  plimsoll init --solo
  plimsoll serve --solo

  # what is wanted, who lets it begin, and the work
  plimsoll intent create "Add a login page" --capability read_repo --capability write_repo
  plimsoll intent approve IC-001
  plimsoll run TS-001 --repo . -- make the-change

  # a circle, a request to it, and what takes effect
  plimsoll circle create Garden
  plimsoll ask "Let us decide whether the greenhouse opens on Saturdays" --json > answer.json
  plimsoll artifact confirm --answer answer.json

  # what waits for me, and my decision
  plimsoll gate list --waiting-for project_lead
  plimsoll gate approve PG-001`

// Main runs one command and returns the exit code.
func Main(args []string, env Env) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(env.Stderr, "plimsoll: fault of the program: %v\n", p)
			code = exitUnknown
		}
	}()
	root := commands(env)
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(env.Context)
	if err == nil {
		return exitOK
	}
	if silent, ok := errors.AsType[*exit](err); ok {
		return silent.code
	}
	return report(env, ran, err)
}

// exit is an exit code whose reason is printed already.
type exit struct{ code int }

func (e *exit) Error() string { return fmt.Sprintf("exit %d", e.code) }

// usageError is a command line that does not read.
type usageError struct{ msg string }

func (u *usageError) Error() string { return u.msg }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// report prints an error and answers its exit code.
func report(env Env, ran *cobra.Command, err error) int {
	fmt.Fprintln(env.Stderr, "plimsoll: "+oneLine(err.Error()))
	if p, ok := errors.AsType[*problem](err); ok {
		for i, e := range p.Errors {
			if i > 0 {
				fmt.Fprintln(env.Stderr, "  "+e.Error())
			}
		}
		if p.EvidenceID != "" {
			fmt.Fprintln(env.Stderr, "  the Evidence was kept as "+p.EvidenceID)
		}
		if p.Code == refusal.RoleNotNamed {
			fmt.Fprintln(env.Stderr, "  name the role with --as")
		}
		if p.Code == refusal.AuthRequired {
			fmt.Fprintln(env.Stderr, "  set PLIMSOLL_TOKEN, or run plimsoll login")
		}
		return exitOf(err, p.exit())
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Hint != "" {
			fmt.Fprintln(env.Stderr, "  "+f.Hint)
		}
		switch f.Kind {
		case fault.Invalid, fault.NotFound:
			return exitOf(err, exitUsage)
		case fault.Conflict, fault.Denied:
			return exitOf(err, exitNo)
		case fault.Unavailable, fault.Internal:
		}
		return exitUnknown
	}
	if _, ok := errors.AsType[*usageError](err); ok || strings.HasPrefix(err.Error(), "unknown") || ran != nil && isCobra(err) {
		if ran != nil {
			fmt.Fprintln(env.Stderr, "  see "+ran.CommandPath()+" --help")
		}
		return exitUsage
	}
	return exitUnknown
}

// exitOf is code, but for an error after which there is no answer at all.
func exitOf(err error, code int) int {
	if _, ok := errors.AsType[*noAnswer](err); ok {
		return exitUnknown
	}
	return code
}

// isCobra says whether an error is of the library that reads the command line:
// those have no kind of ours, and nothing that failed later lacks one.
func isCobra(err error) bool { return errors.Unwrap(err) == nil && fault.KindOf(err) == fault.Internal }

// oneLine keeps what a server said from writing over the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r < ' ' || r == 0x7f:
			return ' '
		}
		return r
	}, text)
}

// commands is the table of everything the program can do.
func commands(env Env) *cobra.Command {
	root := &cobra.Command{
		Use: "plimsoll", Short: "Govern the path from a request to a release, for work that coding agents do",
		Long: long, Example: examples, Version: Version, SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("plimsoll {{.Version}}\n")
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	s := &session{env: env}
	flags := root.PersistentFlags()
	flags.StringVar(&s.server, "server", "", "address of the service (default: PLIMSOLL_SERVER, else what login stored, else "+defaultServer+")")
	flags.StringVar(&s.as, "as", "", "the role to act under, when several of yours may do it")
	flags.BoolVar(&s.json, "json", false, "print what the service answered")
	root.AddGroup(
		&cobra.Group{ID: "service", Title: "The service"},
		&cobra.Group{ID: "work", Title: "Work"},
		&cobra.Group{ID: "circle", Title: "The circle"},
		&cobra.Group{ID: "proof", Title: "Proof"},
		&cobra.Group{ID: "people", Title: "People and machines"},
	)
	for _, group := range []struct {
		id   string
		list []*cobra.Command
	}{
		{"service", []*cobra.Command{demoCommand(s), initCommand(s), serveCommand(s), configCommand(s), doctorCommand(s), backupCommand(s), restoreCommand(s)}},
		{"work", []*cobra.Command{intentCommand(s), chainCommand(s), taskCommand(s), runCommand(s), acceptanceCommand(s), gateCommand(s), contractCommand(s)}},
		{"circle", []*cobra.Command{
			askCommand(s), artifactCommand(s), consentCommand(s), identityCommand(s), circleCommand(s), channelCommand(s), workersCommand(s), clanCommand(s), mcpCommand(s),
		}},
		{"proof", []*cobra.Command{evidenceCommand(s), eventCommand(s), auditCommand(s), exportCommand(s), verifyBundle(s)}},
		{"people", []*cobra.Command{loginCommand(s), actorCommand(s), tokenCommand(s), lockCommand(s), webhookCommand(s)}},
	} {
		for _, c := range group.list {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	exemplify(root)
	return root
}

// parent is a command that only holds others.
func parent(use, short string, list ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(list...)
	return c
}
