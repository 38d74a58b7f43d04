package shipgate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// lockPath is where a team keeps its capability lock, relative to the workspace
// (docs/spec/verification.md §11.2).
const lockPath = ".agents-shipgate/capabilities.lock.json"

const capabilityLong = `capability writes what agents can do into a lock file, and compares two of them.

Neither command decides anything: the release decision is that of verify.`

func capabilityCommand(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "capability", Short: "Write down what agents can do, and compare it", Long: capabilityLong, Args: cobra.NoArgs,
		Example: "  shipgate capability export\n  shipgate capability diff --base old.lock.json --head new.lock.json",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(capabilityExportCommand(env), capabilityDiffCommand(env))
	return cmd
}

const capabilityExportLong = `export reads the tools of the working tree and writes the capability lock: one
entry for each action that an agent can take, with its effect, its authority and
the controls before it.

The lock goes to ` + lockPath + ` and, as a copy, to the reports
folder; with --out - it is only printed, and nothing is written. The same tree
gives the same bytes.`

// capabilityExport is the command line of capability export.
type capabilityExport struct {
	side         verifyFlags
	out          string
	noCopy, json bool
}

func capabilityExportCommand(env Env) *cobra.Command {
	e := &capabilityExport{side: verifyFlags{scan: true, out: reportsFolder}}
	cmd := &cobra.Command{
		Use: "export", Short: "Write what agents can do into a lock file", Long: capabilityExportLong, Args: cobra.NoArgs,
		Example: "  shipgate capability export\n  shipgate capability export -c agents/shipgate.yaml --out agents.lock.json --no-report-copy",
		RunE: func(c *cobra.Command, _ []string) error {
			e.side.given = c.Flags().Changed
			return e.run(c.Context(), env)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&e.side.workspace, "workspace", ".", "any directory inside the repository")
	flags.StringVarP(&e.side.config, "config", "c", manifest.DefaultName, "the manifest, relative to the workspace")
	flags.StringVar(&e.out, "out", lockPath, "where the lock goes, relative to the workspace; - prints it and writes nothing")
	flags.BoolVar(&e.noCopy, "no-report-copy", false, "put no copy into "+reportsFolder)
	flags.BoolVar(&e.json, "json", false, "print the lock as JSON (the default in agent mode)")
	flags.StringVar(&e.side.today, "today", "", "the evaluation date, YYYY-MM-DD (default: today in UTC)")
	return cmd
}

func (e *capabilityExport) run(ctx context.Context, env Env) error {
	if err := e.side.shape(); err != nil {
		return err
	}
	if e.out == "" {
		return usage("--out is empty").choosing("Give --out a file, or leave it out.")
	}
	lock, err := e.lock(ctx, env)
	if err != nil {
		return err
	}
	text, err := lock.JSON()
	if err != nil {
		return internal(err)
	}
	if e.out == "-" {
		return env.print(text)
	}
	workspace := env.abs(e.side.workspace)
	if err := place(workspace, e.out, text); err != nil {
		return err
	}
	if !e.noCopy {
		if _, err := e.side.folder(env, nil); err != nil {
			return err
		}
		if err := place(workspace, path.Join(reportsFolder, "capabilities.lock.json"), text); err != nil {
			return err
		}
	}
	if e.json || env.agentMode() {
		return env.print(text)
	}
	s := lock.Summary
	return env.print(fmt.Appendf(nil, "%s: %d capabilities, %d high-risk, %d that write, %d with a broad scope\n",
		filepath.ToSlash(e.out), s.Capabilities, s.HighRisk, s.Writes, s.BroadScopes))
}

// lock is the capability lock of the working tree.
func (e *capabilityExport) lock(ctx context.Context, env Env) (*delta.Lock, error) {
	pair, err := e.side.open(ctx, env, nil)
	if err != nil {
		return nil, err
	}
	defer pair.Close()
	if err := opened(pair); err != nil {
		return nil, err
	}
	side, err := verify.Load(pair.Head, verify.LoadOptions{Name: path.Base(pair.Manifest), Today: e.side.date(env)})
	if err != nil {
		return nil, sideFailure(pair.Config, err)
	}
	lock, err := delta.NewLock(side.Surface, delta.Meta{
		ConfigPath: pair.Manifest, ManifestDir: path.Dir(pair.Manifest), CLIVersion: gate.ToolVersion,
	})
	if err != nil {
		return nil, faultFailure(err)
	}
	return lock, nil
}

// opened says why there is nothing to read a side from.
func opened(pair *git.Pair) error {
	switch {
	case pair.Gap != nil:
		return &failure{kind: inputParseError, code: exitInput, msg: "the repository could not be read: " + pair.Gap.Detail}
	case pair.Head == nil:
		return noManifest(pair.Config)
	}
	return nil
}

func noManifest(config string) *failure {
	return (&failure{kind: configError, code: exitUsage, msg: "there is no manifest " + config}).
		offering(program+" init", "shows what a first manifest would hold; with --write it writes it").
		choosing("Or name with --config the manifest that is there.")
}

// sideFailure is why a side could not be read, with the exit code of
// docs/spec/verification.md §1.1.
func sideFailure(config string, err error) *failure {
	if errors.Is(err, verify.ErrNoManifest) {
		return noManifest(config)
	}
	_, wrong := errors.AsType[*manifest.Errors](err)
	_, clash := errors.AsType[*effect.ConfigError](err)
	if wrong || clash {
		return &failure{kind: configError, code: exitUsage, msg: err.Error()}
	}
	if _, unread := errors.AsType[*tool.SourceError](err); unread {
		return &failure{kind: inputParseError, code: exitInput, msg: err.Error()}
	}
	return internal(err)
}

// faultFailure is a fault of a core: what cannot be is the caller's to change,
// anything else is ours.
func faultFailure(err error) *failure {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Invalid {
		return internal(err)
	}
	out := &failure{kind: configError, code: exitUsage, msg: f.Msg}
	if f.Hint != "" {
		return out.choosing(f.Hint)
	}
	return out
}

// place writes a file in one piece. A path below the workspace stays there, also
// through links of a hostile repository; another path is the caller's own.
func place(workspace, name string, text []byte) error {
	at := within(workspace, name)
	fail := func(err error) error {
		return &failure{kind: otherError, code: exitInternal, msg: name + " could not be written", err: plainError(err)}
	}
	dir, file := filepath.Split(at)
	if rel, err := filepath.Rel(workspace, at); err == nil && filepath.IsLocal(rel) {
		dir, file = workspace, rel
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fail(err)
	}
	switch info, err := root.Lstat(file); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fail(err)
	case !info.Mode().IsRegular():
		return usage("%s is no regular file", name).choosing("Name with --out a file that may be written.")
	}
	part := filepath.Join(filepath.Dir(file), ".shipgate-"+filepath.Base(file))
	if err := root.WriteFile(part, text, 0o644); err != nil {
		return fail(err)
	}
	if err := root.Rename(part, file); err != nil {
		return fail(err)
	}
	return nil
}

const capabilityDiffLong = `diff compares two capability locks: what was added, what was removed, what changed
and whether that is more or less than before. Locks of version 0.1 to 0.6 are
read; two of different versions are refused, since they measure differently.`

// capabilityDiff is the command line of capability diff.
type capabilityDiff struct {
	base, head, out string
	json            bool
}

func capabilityDiffCommand(env Env) *cobra.Command {
	var d capabilityDiff
	cmd := &cobra.Command{
		Use: "diff", Short: "Compare two lock files", Long: capabilityDiffLong, Args: cobra.NoArgs,
		Example: "  shipgate capability diff --base old.lock.json --head new.lock.json\n  shipgate capability diff --base old.lock.json --head new.lock.json --json",
		RunE:    func(*cobra.Command, []string) error { return d.run(env) },
	}
	flags := cmd.Flags()
	flags.StringVar(&d.base, "base", "", "the earlier lock (required)")
	flags.StringVar(&d.head, "head", "", "the later lock (required)")
	flags.StringVar(&d.out, "out", "", "also write the difference as JSON to this file")
	flags.BoolVar(&d.json, "json", false, "print the difference as JSON (the default in agent mode)")
	return cmd
}

func (d *capabilityDiff) run(env Env) error {
	if d.base == "" || d.head == "" {
		return usage("--base and --head are both needed").choosing("Name two lock files that shipgate capability export wrote.")
	}
	base, err := readLock(env, "--base", d.base)
	if err != nil {
		return err
	}
	head, err := readLock(env, "--head", d.head)
	if err != nil {
		return err
	}
	diff, err := delta.DiffLocks(base, head)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Invalid {
		return usage("%s", f.Msg).offering(f.Hint, "it writes the older lock again, by the standard of this version")
	}
	if err != nil {
		return internal(err)
	}
	text, err := diff.JSON()
	if err != nil {
		return internal(err)
	}
	if d.out != "" {
		if err := place(env.Dir, d.out, text); err != nil {
			return err
		}
	}
	if d.json || env.agentMode() {
		return env.print(text)
	}
	return env.print(diff.Markdown())
}

func readLock(env Env, flag, name string) (*delta.Lock, error) {
	text, err := readFile(env.abs(name), tool.MaxFile)
	if err != nil {
		return nil, unreadable(flag, name, err)
	}
	lock, err := delta.ReadLock(text)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Invalid {
		return nil, (&failure{kind: inputParseError, code: exitInput, msg: flag + " " + name + ": " + f.Msg}).choosing(f.Hint)
	}
	if err != nil {
		return nil, internal(err)
	}
	lock.Path = filepath.ToSlash(name)
	return lock, nil
}
