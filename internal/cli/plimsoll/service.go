package plimsoll

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/server"
)

// usualConfig is the file that is read when none is named and it is there.
const usualConfig = "plimsoll.yaml"

// configFlags is the flags of commands that need the configuration of the
// service: the file, and every setting by its key.
type configFlags struct {
	file   string
	values map[string]*[]string
	truths map[string]*bool
}

func (f *configFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "config", "", "file with settings (default: "+usualConfig+" when it is there)")
	f.values, f.truths = map[string]*[]string{}, map[string]*bool{}
	for _, s := range server.Defaults() {
		about := s.About
		if s.Default != "" {
			about += " (default " + s.Default + ")"
		}
		if s.Default == "true" || s.Default == "false" {
			f.truths[s.Key] = c.Flags().Bool(s.Key, s.Default == "true", s.About)
			continue
		}
		f.values[s.Key] = c.Flags().StringArray(s.Key, nil, about)
	}
}

// load is the effective configuration.
func (f *configFlags) load(s *session, c *cobra.Command) (server.Config, error) {
	src := server.Source{Flags: map[string][]string{}, Lookup: s.env.lookup, Name: f.file}
	for key, v := range f.values {
		if c.Flags().Changed(key) {
			src.Flags[key] = *v
		}
	}
	for key, v := range f.truths {
		if c.Flags().Changed(key) {
			src.Flags[key] = []string{fmt.Sprint(*v)}
		}
	}
	path := f.file
	if path == "" {
		path, src.Name = usualConfig, usualConfig
	}
	text, err := os.ReadFile(s.env.abs(path))
	switch {
	case err == nil:
		src.File = text
	case errors.Is(err, fs.ErrNotExist) && f.file == "":
	default:
		return server.Config{}, fault.E("plimsoll", fault.Invalid, "read "+path, err)
	}
	conf, err := server.Load(src)
	if err != nil {
		return conf, err
	}
	return conf.In(s.env.Dir), nil
}

func initCommand(s *session) *cobra.Command {
	var f configFlags
	var actors []string
	var valid time.Duration
	c := &cobra.Command{
		Use: "init", Short: "Make the database, the key of the audit log and the first actors", Args: cobra.NoArgs,
		Long: `init makes what serve needs: the database, the key that signs the audit log, and the first
actors, whose tokens are printed once. The token of the first goes into your own settings,
so that the client commands work at once; one that is there already stays, and init says so.

Without --actor there is you, with every role of a person, and "runner", an agent that does
the work. Four eyes need a second person: plimsoll actor create.`,
		Example: `  plimsoll init --solo
  plimsoll init --actor alice:human:requester,admin --actor bob:human:project_lead --actor ci:agent:developer,ci_agent,qa`,
		RunE: func(c *cobra.Command, _ []string) error {
			conf, err := f.load(s, c)
			if err != nil {
				return err
			}
			people := []server.Person{}
			for _, text := range actors {
				p, err := server.ParsePerson(text)
				if err != nil {
					return err
				}
				people = append(people, p)
			}
			if len(people) == 0 {
				people = firstPeople(s.env)
			}
			made, err := server.Setup(c.Context(), conf, people, valid)
			if err != nil {
				return err
			}
			for _, m := range made {
				if _, err := fmt.Fprintf(s.env.Stdout, "%s (%s): %s\n  token until %s: %s\n", m.ID, m.Type, m.Roles, m.Expires.Format(time.DateOnly), m.Token); err != nil {
					return err
				}
			}
			address := "http://" + conf.Listen
			if conf.TLSCert != "" {
				address = "https://" + conf.Listen
			}
			return s.keepFirst(stored{Server: address, Token: made[0].Token}, made[0].ID)
		},
	}
	f.add(c)
	c.Flags().StringArrayVar(&actors, "actor", nil, "NAME:human|agent:ROLE,ROLE; may be repeated")
	c.Flags().DurationVar(&valid, "valid", 90*24*time.Hour, "how long the tokens are valid")
	return c
}

// keepFirst puts the first token into the settings of whoever runs init. One that
// is there may be the only copy of somebody's, so it stays.
func (s *session) keepFirst(first stored, of contract.ActorID) error {
	kept, err := s.stored()
	if err != nil {
		return err
	}
	if kept.Token == "" {
		if err := s.store(first); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.env.Stdout, "kept for %s in %s\n", of, s.env.settings())
		return err
	}
	_, err = fmt.Fprintf(s.env.Stdout, `not kept: %s holds a token for %s already, and client commands go on with that one
  to use the token of %s instead, start the service and give it the token: plimsoll login --server %s
  or set PLIMSOLL_SERVER=%[4]s and PLIMSOLL_TOKEN for one shell
`, s.env.settings(), cmp.Or(kept.Server, "any service"), of, first.Server)
	return err
}

// firstPeople is who a service begins with when nobody is named.
func firstPeople(env Env) []server.Person {
	name := env.variable("USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	if name == "" {
		name = "admin"
	}
	return []server.Person{
		{ID: contract.ActorID(name), Type: contract.Human, Roles: contract.RolesOf(
			contract.Requester, contract.Developer, contract.CIAgent, contract.QA, contract.ProjectLead, contract.ReleaseManager, contract.SecurityReviewer, contract.Admin,
		)},
		{ID: "runner", Type: contract.Agent, Roles: contract.RolesOf(contract.Developer, contract.CIAgent, contract.QA)},
	}
}

func serveCommand(s *session) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use: "serve", Short: "Run the service", Args: cobra.NoArgs,
		Long: `serve runs the service until it is interrupted: it then takes no more requests, finishes those
under way, finishes the jobs under way and closes the database. A second interrupt cancels.

Settings come from flags, then the environment (PLIMSOLL_LISTEN for listen), then the file,
then the default. A key that is not known stops the start. plimsoll config prints them.`,
		Example: "  plimsoll serve --solo\n  plimsoll serve --db postgres://plimsoll@db/plimsoll --listen :7419 --audit.key /etc/plimsoll/audit.key",
		RunE: func(c *cobra.Command, _ []string) error {
			conf, err := f.load(s, c)
			if err != nil {
				return err
			}
			running, err := server.New(c.Context(), conf, server.Options{
				Log: s.env.Stderr, Version: Version, Hard: s.env.Hard,
				Ready: func(address string) {
					_, _ = fmt.Fprintf(s.env.Stdout, "serving on %s\n", address)
				},
			})
			if err != nil {
				return err
			}
			return running.Run(c.Context())
		},
	}
	f.add(c)
	return c
}

func configCommand(s *session) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use: "config", Short: "Print the effective settings of the service, without secrets", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			conf, err := f.load(s, c)
			if err != nil {
				return err
			}
			if s.json {
				return s.printItems(conf.List())
			}
			rows := [][]string{}
			for _, one := range conf.List() {
				rows = append(rows, []string{one.Key, one.Value, one.Variable, one.About})
			}
			return table(s.env.Stdout, []string{"SETTING", "VALUE", "VARIABLE", "ABOUT"}, rows)
		},
	}
	f.add(c)
	show := &cobra.Command{
		Use: "remote", Short: "Print the rules a running service works by", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			var got api.Settings
			ans, err := cl.get(c.Context(), "/v1/config", nil, &got)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(ans.body)
			}
			return facts(s.env.Stdout,
				[2]string{"Profile", got.Profile}, [2]string{"Solo", fmt.Sprint(got.Solo)}, [2]string{"One role a person", fmt.Sprint(got.DistinctActors)},
				[2]string{"No self-approval", fmt.Sprint(got.ForbidSelfApproval)}, [2]string{"Deadline, high", (time.Duration(got.Deadlines.High) * time.Second).String()},
				[2]string{"Deadline, critical", (time.Duration(got.Deadlines.Critical) * time.Second).String()}, [2]string{"Returns", fmt.Sprint(got.MaxReturns)},
				[2]string{"Tests automatic", fmt.Sprint(got.AutomaticTests)}, [2]string{"Audit log kept", kept("a year", got.Retention.AuditExtra)},
				[2]string{"Events kept", kept("", got.Retention.Events)},
			)
		},
	}
	c.AddCommand(show)
	return c
}

// kept says for how long, in days beside what is kept anyway.
func kept(least string, seconds int64) string {
	days := fmt.Sprintf("%d days", seconds/(24*60*60))
	switch {
	case seconds == 0 && least == "":
		return "for ever"
	case seconds == 0:
		return least
	case least == "":
		return days
	}
	return least + " and " + days
}

// doctorCommand looks at everything a client needs and says what is wrong with
// it. Its exit code is 0 when nothing is.
func doctorCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look what is wrong", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			bad := false
			say := func(what string, err error, good string) {
				if err == nil {
					_, _ = fmt.Fprintf(s.env.Stdout, "ok    %s: %s\n", what, good)
					return
				}
				bad = true
				_, _ = fmt.Fprintf(s.env.Stdout, "wrong %s: %s\n", what, oneLine(err.Error()))
				if f, ok := errors.AsType[*fault.Error](err); ok && f.Hint != "" {
					_, _ = fmt.Fprintf(s.env.Stdout, "      %s\n", f.Hint)
				}
			}
			out, err := exec.CommandContext(c.Context(), "git", "version").Output()
			say("git", err, strings.TrimSpace(string(out)))
			info, err := os.Stat(s.env.settings())
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				err = errors.New("others may read it")
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			say("settings", err, s.env.settings())
			cl, err := s.client()
			if err != nil {
				say("service", err, "")
				return &exit{exitNo}
			}
			var health api.Health
			_, err = cl.get(c.Context(), "/readyz", nil, &health)
			say("service", err, cl.base.Redacted())
			if err == nil {
				var me api.Me
				_, err = cl.get(c.Context(), "/v1/me", nil, &me)
				say("token", err, fmt.Sprintf("%s, as %s, until %s", me.Actor.ActorID, join(me.Actor.Roles), me.Token.ExpiresAt))
			}
			if r, err := s.runner(runFlags{repo: ".", agent: "codex"}); err == nil {
				list, err := r.Kept()
				say("runs", err, fmt.Sprintf("%d worktrees of failed runs are kept", len(list)))
			}
			if bad {
				return &exit{exitNo}
			}
			return nil
		},
	}
}

func backupCommand(s *session) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use: "backup FILE", Short: "Copy the database while the service runs", Args: cobra.ExactArgs(1),
		Long: `backup writes a consistent copy of an SQLite database, also while it is served. The key of the
audit log is no part of it: keep that apart. A PostgreSQL database is copied by its own tools.`,
		RunE: func(c *cobra.Command, args []string) error {
			conf, err := f.load(s, c)
			if err != nil {
				return err
			}
			if err := server.Backup(c.Context(), conf, s.env.abs(args[0])); err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.env.Stdout, args[0])
			return err
		},
	}
	f.add(c)
	return c
}

func restoreCommand(s *session) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use: "restore FILE", Short: "Make the database from a copy, after checking it", Args: cobra.ExactArgs(1),
		Long: `restore checks a copy (the database itself, and that the audit log follows from its beginning) and
puts it where the service looks. It never overwrites a database.`,
		RunE: func(c *cobra.Command, args []string) error {
			conf, err := f.load(s, c)
			if err != nil {
				return err
			}
			head, err := server.Restore(c.Context(), conf, s.env.abs(args[0]))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.env.Stdout, "restored, with %d records in the audit log\n", head.Count)
			return err
		},
	}
	f.add(c)
	return c
}
