package shipgate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/hostgrant"
)

const auditLong = `audit --host lists what the configuration files of coding agents' hosts allow:
tool servers, permissions, hooks, sandboxes, plugins, workflows and instructions of
Codex, Claude Code, Cursor, VS Code and GitHub. Files are read as text; nothing is
run, no session is looked at, and no value of a variable or header is shown.

The scope repository reads the files that git tracks or does not ignore;
local_static adds the user's own files below the home folder, and ignored ones.

A person saves the list with --save-baseline to .agents-shipgate/host-grants.json;
--drift says what changed since. A list that is incomplete is neither saved nor
compared. The exit code is 0 whatever is found; with --fail-on-drift it is 20 when
something changed or the two cannot be compared.`

const auditExamples = `  shipgate audit --host
  shipgate audit --host --json --out agents-shipgate-reports/host-grants.json
  shipgate audit --host --scope local_static
  shipgate audit --host --save-baseline
  shipgate audit --host --drift --fail-on-drift --json`

// auditFlags is the command line of audit.
type auditFlags struct {
	workspace, scope, out                string
	host, json, drift, failOnDrift, save bool
}

func auditCommand(env Env) *cobra.Command {
	f := &auditFlags{}
	cmd := &cobra.Command{
		Use: "audit", Short: "List what the hosts of coding agents are allowed, and what changed",
		Long: auditLong, Example: auditExamples, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), env) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.host, "host", false, "audit the configuration of hosts (required; there is no other audit)")
	flags.StringVar(&f.workspace, "workspace", ".", "any directory inside the repository")
	flags.StringVar(&f.scope, "scope", string(hostgrant.Repository), "whose files: repository, local_static")
	flags.StringVar(&f.out, "out", "", "also write the JSON to this file, relative to the workspace")
	flags.BoolVar(&f.drift, "drift", false, "compare with the saved baseline")
	flags.BoolVar(&f.failOnDrift, "fail-on-drift", false, "exit 20 on drift, or when it cannot be told (implies --drift)")
	flags.BoolVar(&f.save, "save-baseline", false, "save the list as the baseline, in "+hostgrant.BaselinePath)
	flags.BoolVar(&f.json, "json", false, "print the list, or the drift, as JSON (the default in agent mode)")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(
		[]string{string(hostgrant.Repository), string(hostgrant.LocalStatic)}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (f *auditFlags) run(ctx context.Context, env Env) error {
	f.drift = f.drift || f.failOnDrift
	switch scope := hostgrant.Scope(f.scope); {
	case !f.host:
		return usage("audit needs --host: there is no other audit").offering(program+" audit --host", "lists what hosts are allowed")
	case !scope.Valid():
		return usage("--scope is %q; it must be repository or local_static", f.scope).choosing("Choose one: repository, local_static.")
	case f.save && f.drift:
		return usage("--save-baseline and --drift exclude each other: a comparison is looked at before anything is saved").
			offering(program+" audit --host --drift", "compares with what is saved")
	case f.workspace == "":
		return usage("--workspace is empty").choosing("Give --workspace a folder, or leave it out.")
	}
	w, err := openAudited(ctx, env, f.workspace)
	if err != nil {
		return err
	}
	defer w.Close()
	inventory := f.inventory(env, w)
	var document interface{ JSON() ([]byte, error) } = inventory
	var drift *hostgrant.Drift
	if f.drift {
		text, err := savedGrants(w.Dir)
		if err != nil {
			return err
		}
		drift = hostgrant.Compare(hostgrant.BaselinePath, text, inventory)
		document = drift
	}
	if f.save {
		if err := saveGrants(w.Dir, inventory); err != nil {
			return err
		}
	}
	text, err := document.JSON()
	if err != nil {
		return internal(err)
	}
	if f.out != "" {
		if err := f.write(env, w.Dir, text); err != nil {
			return err
		}
	}
	switch {
	case f.json || env.agentMode():
		err = env.print(text)
	case drift != nil:
		err = env.print(driftText(drift, env.colour()))
	default:
		err = env.print(grantsText(inventory, f.save, env.colour()))
	}
	if err == nil && f.failOnDrift && (drift.HasDrift == nil || *drift.HasDrift) {
		return ended(exitGate)
	}
	return err
}

// openAudited opens the root of the repository that a workspace lies in, or the
// workspace itself where there is none: hosts read both in the same way.
func openAudited(ctx context.Context, env Env, workspace string) (*git.Workspace, error) {
	dir := env.abs(workspace)
	if root, _ := git.Root(dir); root != "" {
		dir = root
	}
	w, err := git.OpenWorkspace(ctx, env.Dir, dir, env.Environ)
	if err != nil {
		return nil, usage("--workspace %s is no folder that can be read", workspace).choosing("Name with --workspace a folder that is there and can be read.")
	}
	return w, nil
}

// inventory reads the files of the scope.
func (f *auditFlags) inventory(env Env, w *git.Workspace) *hostgrant.Inventory {
	in := hostgrant.Input{
		Workspace: fromRoot(w.Dir, env.abs(f.workspace)), Scope: hostgrant.Scope(f.scope), System: runtime.GOOS, Partial: w.Partial,
		Files: hostgrant.Collect(w.Tree, hostgrant.Repository, w.Names),
	}
	in.Files = append(in.Files, hostgrant.CollectSpecial(w.Tree, in.Files)...)
	if in.Scope == hostgrant.LocalStatic {
		in.Files = append(in.Files, hostgrant.CollectLocal(w.Tree, in.Files)...)
		for _, u := range hostgrant.UserFiles(runtime.GOOS) {
			if u.Folder != "" && env.lookup(u.Folder) != "" {
				in.Moved = append(in.Moved, u.Folder)
			}
		}
		in.Files = append(in.Files, userFiles(env)...)
	}
	return hostgrant.Take(in)
}

// fromRoot is a folder as artifacts name it: relative to the root, so that the same
// repository gives the same bytes wherever it lies.
func fromRoot(root, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		if top, err := filepath.EvalSymlinks(root); err == nil {
			root, dir = top, real
		}
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "."
	}
	return filepath.ToSlash(rel)
}

// userFiles are the files of the user that are there. They are the user's own,
// so a link among them is followed.
func userFiles(env Env) []hostgrant.File {
	home := env.lookup("HOME")
	if runtime.GOOS == "windows" {
		home = env.lookup("USERPROFILE")
	}
	var out []hostgrant.File
	for _, u := range hostgrant.UserFiles(runtime.GOOS) {
		folder, set := "", false
		if u.Folder != "" {
			folder = env.lookup(u.Folder)
			set = folder != ""
		}
		at := filepath.Join(home, filepath.FromSlash(u.Home))
		switch {
		case set:
			at = filepath.Join(env.abs(folder), filepath.FromSlash(u.Name))
		case home == "":
			continue
		}
		f := hostgrant.File{Path: u.Path(set), Scope: hostgrant.LocalStatic, As: u.As}
		text, err := readBounded(at, hostgrant.MaxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			f.Unread = "not to be read, no plain file, or larger than 1 MiB"
		default:
			f.Bytes = text
		}
		out = append(out, f)
	}
	return out
}

// savedGrants is the baseline's bytes; nil when there is none.
func savedGrants(root string) ([]byte, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, unread(hostgrant.BaselinePath, "cannot be read", plainError(err))
	}
	k := &keptBaseline{root: r}
	defer r.Close()
	text, err := k.open(hostgrant.BaselinePath, hostgrant.MaxBaseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unread(hostgrant.BaselinePath, "the baseline cannot be read", plainError(err)).
			stopping("A person looks at what lies at " + hostgrant.BaselinePath + ".")
	}
	if text == nil {
		text = []byte{}
	}
	return text, nil
}

func saveGrants(root string, v *hostgrant.Inventory) error {
	text, err := hostgrant.Save(v)
	if err != nil {
		return (&failure{kind: inputParseError, code: exitInput, msg: "nothing was saved", err: err}).
			choosing("Mend or remove the file, and save again.")
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return &failure{kind: otherError, code: exitInternal, msg: hostgrant.BaselinePath + " cannot be written", err: plainError(err)}
	}
	defer r.Close()
	return putWhole(r, hostgrant.BaselinePath, text)
}

// putWhole writes a file below a folder in one piece. What lies there must be a
// plain file or nothing, and no folder above it a link: a link would be written
// through, or lose what it stands for.
func putWhole(r *os.Root, name string, text []byte) error {
	fail := func(err error) error {
		return (&failure{kind: otherError, code: exitInternal, msg: name + " cannot be written", err: plainError(err), path: name}).
			choosing("Make room at " + name + ", or name another place.")
	}
	part := name
	for {
		info, err := r.Lstat(filepath.FromSlash(part))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fail(err)
		case part == name && !info.Mode().IsRegular(), part != name && !info.IsDir():
			return fail(fmt.Errorf("%s is no plain file or folder", part))
		}
		if part = path.Dir(part); part == "." || part == "/" {
			break
		}
	}
	return (&keptBaseline{root: r}).put(name, text)
}

// write keeps the document beside what is printed. A file that is there already
// is replaced only when it is an earlier one of these documents.
func (f *auditFlags) write(env Env, root string, text []byte) error {
	at := within(env.abs(f.workspace), f.out)
	top := root
	rel, err := filepath.Rel(top, at)
	if err != nil || !filepath.IsLocal(rel) {
		top, rel = filepath.Dir(at), filepath.Base(at) // a place of the caller's own choice
	}
	name := filepath.ToSlash(rel)
	refuse := func(why string) error {
		return usage("--out %s %s", f.out, why).choosing("Name with --out a file that is not there yet, or an earlier one of this command.")
	}
	if name == "." || strings.HasSuffix(f.out, "/") {
		return refuse("names no file")
	}
	if hostgrant.Reads(name) && top == root || name == hostgrant.BaselinePath && top == root {
		return refuse("is one of the files that this command reads")
	}
	r, err := os.OpenRoot(top)
	if err != nil {
		return refuse("lies in a folder that is not there")
	}
	defer r.Close()
	switch info, err := r.Lstat(rel); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return refuse("cannot be written")
	case !info.Mode().IsRegular():
		return refuse("is no plain file")
	case info.Size() > hostgrant.MaxBaseline:
		return refuse("is a file of something else")
	default:
		old, err := r.ReadFile(rel)
		if err != nil || len(old) > 0 && !ownDocument(old) {
			return refuse("is a file of something else")
		}
	}
	return putWhole(r, name, text)
}

// ownDocument says whether a text is an inventory or a drift.
func ownDocument(text []byte) bool {
	doc, err := source.ParseJSON(text)
	return err == nil && (doc.Get("host_grants_inventory_schema_version").Present() || doc.Get("host_grants_schema_version").Present())
}
