package shipgate

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/hostgrant"
	"plimsoll.dev/internal/preflight"
	"plimsoll.dev/internal/verify/manifest"
)

const preflightLong = `preflight says what a plan would touch and what it would owe, before anything is
changed: protected files, evidence for capabilities of high risk, permissions
that are asked of a host. It reads files, needs no manifest, runs nothing and
writes nothing. It never says complete: what it lets go on is verified later.

The plan is JSON (shipgate schema preflight-plan): changed_files, diff_text,
capability_requests, host_permission_requests, context. Files are named from the
root of the repository. Without any plan the result says that nothing was judged.

The exit code is 0 whenever there is a result. Switch on control.state:

  agent_action_required  make the planned change, then run control.next_action
  human_review_required  stop; show control.reason and signals to a person`

const preflightExamples = `  shipgate preflight --plan plan.json --json
  echo '{"changed_files":["src/app.py"]}' | shipgate preflight --plan - --json
  git diff --name-only | shipgate preflight --changed-files -
  git diff | shipgate preflight --diff -
  shipgate preflight --changed-files AGENTS.md,src/app.py --base-preflight before.json`

// preflightFlags is the command line of preflight as it was written.
type preflightFlags struct {
	workspace, config, plan, changed, diff, base, baseline string
	capabilities                                           []string
	json                                                   bool
	given                                                  func(flag string) bool
}

// olderInputs are the flags that a plan takes the place of.
var olderInputs = []string{"changed-files", "diff", "capability-request", "base-preflight", "host-baseline"}

func preflightCommand(env Env) *cobra.Command {
	f := &preflightFlags{}
	cmd := &cobra.Command{
		Use: "preflight", Short: "Say what a plan would touch and owe, before anything is changed",
		Long: preflightLong, Example: preflightExamples, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = c.Flags().Changed
			return f.run(c.Context(), env)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.workspace, "workspace", ".", "any directory inside the repository, or one without a repository")
	flags.StringVarP(&f.config, "config", "c", manifest.DefaultName, "the manifest, relative to the workspace; it need not be there")
	flags.StringVar(&f.plan, "plan", "", "the plan as a JSON file; - reads stdin")
	flags.StringVar(&f.changed, "changed-files", "", "files that will change, separated by commas; - reads stdin, one a line")
	flags.StringVar(&f.diff, "diff", "", "the change as a unified diff; - reads stdin")
	flags.StringArrayVar(&f.capabilities, "capability-request", nil, "a capability request as a JSON file, or a list of them; - reads stdin (repeat)")
	flags.StringVar(&f.base, "base-preflight", "", "an earlier result, to see what of the policy and the protected files changed since")
	flags.StringVar(&f.baseline, "host-baseline", "", "saved host grants, to see what hosts may do now that they could not before")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON (default in agent mode)")
	return cmd
}

// shape finds what is wrong with the command line itself.
func (f *preflightFlags) shape(env Env) error {
	stdin := 0
	for _, flag := range []struct{ name, value string }{
		{"workspace", f.workspace}, {"config", f.config}, {"plan", f.plan}, {"changed-files", f.changed}, {"diff", f.diff}, {"base-preflight", f.base}, {"host-baseline", f.baseline},
	} {
		if f.given(flag.name) && flag.value == "" {
			return usage("--%s is empty", flag.name).choosing("Give --" + flag.name + " a value, or leave it out.")
		}
	}
	if f.given("plan") {
		for _, older := range olderInputs {
			if f.given(older) {
				return usage("--plan cannot be combined with --%s", older).choosing("Say it in the plan, or leave --plan out.")
			}
		}
	}
	for _, value := range append([]string{f.plan, f.changed, f.diff, f.base, f.baseline}, f.capabilities...) {
		if _, handed := env.Given[value]; value == "-" && !handed {
			stdin++
		}
	}
	if stdin > 1 {
		return usage("only one input can be read from stdin").choosing("Name files for the others.")
	}
	return nil
}

func (f *preflightFlags) run(ctx context.Context, env Env) error {
	if err := f.shape(env); err != nil {
		return err
	}
	in, err := f.locate(env)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.FromSlash(in.Root))
	if err != nil {
		return usage("--workspace %s cannot be opened", f.workspace).choosing("Name with --workspace a directory that can be read.")
	}
	defer root.Close()
	in.Files = plainTree{root.FS()}
	if err := f.read(env, in); err != nil {
		return err
	}
	if in.Tree, err = preflight.List(in.Files); err != nil {
		return unread(f.workspace, "the workspace cannot be listed", plainError(err)).choosing("Name with --workspace the repository alone.")
	}
	if f.given("host-baseline") {
		if in.Host, err = f.hosts(ctx, env); err != nil {
			return err
		}
	}
	if in.Repository {
		if in.Change, err = f.change(ctx, env, in.Plan.DiffText); err != nil {
			return err
		}
	}
	result, err := preflight.Evaluate(*in)
	if errors.Is(err, preflight.ErrTooManyLinks) {
		return unread(f.workspace, "the workspace is not judged", err).stopping("A person looks at the links below .claude, .codex, .cursor and the like.")
	}
	if err != nil {
		return f.refused(f.source(), err)
	}
	if !f.json && !env.agentMode() {
		return env.print(result.Text(env.colour()))
	}
	text, err := result.JSON()
	if err != nil {
		return internal(err)
	}
	return env.print(text)
}

// locate finds the root that paths are relative to, and the manifest below it.
func (f *preflightFlags) locate(env Env) (*preflight.Input, error) {
	workspace := env.abs(f.workspace)
	if info, err := os.Stat(workspace); err != nil || !info.IsDir() {
		return nil, usage("--workspace %s is no directory", f.workspace).choosing("Name with --workspace a directory of the repository.")
	}
	root, at := git.Root(workspace)
	repository := root != ""
	if !repository {
		root, at = workspace, workspace
	}
	rel, err := filepath.Rel(root, within(at, f.config))
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil, usage("--config: %s is outside the repository", f.config).
			choosing("Name with --config one regular file inside the repository, spelled as it is stored.")
	}
	below, err := filepath.Rel(root, at)
	if err != nil {
		return nil, internal(err)
	}
	in := &preflight.Input{
		Below:      filepath.ToSlash(below),
		Repository: repository,
		Workspace:  f.workspace, Config: f.config, Root: filepath.ToSlash(root), Manifest: path.Clean(filepath.ToSlash(rel)),
		Today: (&verifyFlags{}).date(env),
	}
	return in, nil
}

// plainTree is a folder that no link leads out of and that opens nothing but
// files and folders: a pipe would never answer.
type plainTree struct{ fs.FS }

// Open opens a file or a folder.
func (t plainTree) Open(name string) (fs.File, error) {
	info, err := fs.Stat(t.FS, name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return t.FS.Open(name)
}

// Stat, Lstat, ReadLink and ReadDir open nothing, or folders.
func (t plainTree) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(t.FS, name) }
func (t plainTree) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(t.FS, name) }
func (t plainTree) ReadLink(name string) (string, error)       { return fs.ReadLink(t.FS, name) }
func (t plainTree) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(t.FS, name) }

// read reads the plan, or the older inputs that make one.
func (f *preflightFlags) read(env Env, in *preflight.Input) (err error) {
	if f.given("plan") {
		text, err := f.input(env, "--plan", f.plan, preflight.MaxPlan)
		if err != nil {
			return err
		}
		if in.Plan, err = preflight.ParsePlan(text); err != nil {
			return f.refused(f.plan, err)
		}
		return nil
	}
	in.Plan = &preflight.Plan{}
	if in.Plan.ChangedFiles, err = f.files(env); err != nil {
		return err
	}
	if f.given("diff") {
		text, err := f.input(env, "--diff", f.diff, preflight.MaxDiff)
		if err != nil {
			return err
		}
		in.Plan.DiffText = string(text)
	}
	for _, name := range f.capabilities {
		text, err := f.input(env, "--capability-request", name, preflight.MaxPlan)
		if err != nil {
			return err
		}
		list, err := preflight.ParseCapabilityRequests(text)
		if err != nil {
			return f.refused(name, err)
		}
		in.Plan.Capabilities = append(in.Plan.Capabilities, list...)
	}
	if err := preflight.CheckPlan(in.Plan); err != nil {
		return f.refused(f.source(), err)
	}
	if f.given("base-preflight") {
		text, err := f.input(env, "--base-preflight", f.base, preflight.MaxBase)
		if err != nil {
			return err
		}
		if in.Base, err = preflight.ParseBase(text); err != nil {
			return unread(f.base, "is no result of preflight that can be compared with", err).
				offering(program+" preflight --json", "it prints a result to compare with later")
		}
	}
	return nil
}

// files are the names of --changed-files: one a line from stdin or from a caller
// in the same process, else separated by commas, quoted where one holds a comma.
func (f *preflightFlags) files(env Env) ([]string, error) {
	if !f.given("changed-files") {
		return nil, nil
	}
	if _, handed := env.Given[f.changed]; handed || f.changed == "-" {
		text, err := f.input(env, "--changed-files", f.changed, preflight.MaxPlan)
		if err != nil {
			return nil, err
		}
		lines := strings.TrimSuffix(string(text), "\n")
		if lines == "" {
			return nil, nil
		}
		return strings.Split(lines, "\n"), nil
	}
	names, err := csv.NewReader(strings.NewReader(f.changed)).Read()
	if err != nil {
		return nil, usage("--changed-files is no list of names separated by commas").choosing(`Quote a name that holds a comma or a quote: '"a,b.txt",c.txt'.`)
	}
	return names, nil
}

// input is the bytes of a file that a flag names, of stdin, or of what a caller
// in the same process handed over; at most so many.
func (f *preflightFlags) input(env Env, flag, name string, most int) ([]byte, error) {
	var text []byte
	var err error
	switch handed, ok := env.Given[name]; {
	case ok:
		text = handed
	case name == "-":
		text, err = io.ReadAll(io.LimitReader(env.Stdin, int64(most)+1))
	default:
		text, err = readFile(env.abs(name), int64(most))
	}
	if err == nil && len(text) > most {
		err = fs.ErrInvalid
	}
	if errors.Is(err, fs.ErrInvalid) {
		err = fmt.Errorf("it is no regular file, or larger than %d bytes", most)
	}
	if err != nil {
		failed := unreadable(flag, name, err)
		failed.path = name
		return nil, failed.choosing("Name with " + flag + " a file that can be read, or - for stdin.")
	}
	return text, nil
}

// change is the plan's diff as check reads it.
func (f *preflightFlags) change(ctx context.Context, env Env, text string) (*gate.Input, error) {
	req := git.Request{
		Actor: gate.ActorCodex, Dir: env.Dir, Workspace: f.workspace, Environ: env.Environ,
		Diff: &git.Supplied{Reader: strings.NewReader(text)},
	}
	if f.given("config") {
		req.Config = f.config
	}
	in, err := git.Acquire(ctx, req)
	if wrong, ok := errors.AsType[*git.ShapeError](err); ok {
		return nil, usage("%s", wrong.Error()).
			choosing("Name with " + wrong.Flag + " one regular file inside the repository, spelled as it is stored.")
	}
	if err != nil {
		return nil, unread(f.source(), "the change cannot be judged in this repository", err).
			stopping("A person looks at the repository: " + program + " check says more about it.")
	}
	return in, nil
}

// hosts compares what hosts may do now with a baseline, in the baseline's scope.
func (f *preflightFlags) hosts(ctx context.Context, env Env) (*preflight.HostDrift, error) {
	text, err := f.input(env, "--host-baseline", f.baseline, hostgrant.MaxBaseline)
	if err != nil {
		return nil, err
	}
	w, err := openAudited(ctx, env, f.workspace)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	var drift *hostgrant.Drift
	for _, scope := range []hostgrant.Scope{hostgrant.Repository, hostgrant.LocalStatic} {
		audit := auditFlags{workspace: f.workspace, scope: string(scope)}
		if drift = hostgrant.Compare(f.baseline, text, audit.inventory(env, w)); !slices.Contains(drift.Reasons, "scope_differs") {
			break
		}
	}
	document, err := drift.JSON()
	if err != nil {
		return nil, internal(err)
	}
	differs := drift.HasDrift == nil || *drift.HasDrift
	reasons := []string{fmt.Sprintf("%s and %s differ.", counted(len(drift.Changes), "grant"), counted(len(drift.ArtifactChanges), "file"))}
	if drift.HasDrift == nil {
		reasons = []string{"They cannot be compared: " + strings.Join(drift.Reasons, ", ") + "."}
	}
	return &preflight.HostDrift{Document: document, Baseline: f.baseline, Differs: differs, Reasons: reasons}, nil
}

// source is what the plan came from, as messages name it.
func (f *preflightFlags) source() string {
	switch {
	case f.given("plan"):
		return f.plan
	case f.given("diff") && !f.given("changed-files"):
		return f.diff
	}
	return "--changed-files"
}

// refused is a plan that cannot be, or a failure of our own.
func (f *preflightFlags) refused(name string, err error) error {
	if name == "-" {
		name = "stdin"
	}
	if _, ok := errors.AsType[*preflight.DocumentError](err); ok {
		return unread(name, "is no plan", err).offering(program+" schema preflight-plan", "the schema says what a plan may hold")
	}
	return internal(err)
}
