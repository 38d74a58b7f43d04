package shipgate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/cli/verification"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

const verifyLong = `verify reads the tools of the whole repository on both sides of a change and says
what its agents can do now that they could not before, and whether that may be
released.

The head is the working tree, or a commit with --head; the base is where it left
origin/main, or --base. Nothing of the repository is run, imported or fetched.
The artifacts are written to the reports folder; --json prints verifier.json.

The exit code is 0 whenever artifacts exist, 20 when a strict gate failed, 2 for a
manifest or a command line that cannot be, 3 for an input that cannot be read.
Switch on control.state:

  complete               nothing is owed; the change may be merged
  agent_action_required  do only what control.next_action says, then verify again
  review_publishable     publish as control.permissions allows; a person decides
  human_review_required  stop; show control.reason to a person`

const verifyExamples = `  shipgate verify
  shipgate verify --base origin/main --head HEAD --json
  shipgate verify --ci-mode strict --fail-on critical,high
  shipgate verify --suggest-patches
  shipgate verify --preview --json`

// verifyFlags is the command line of verify and of scan as it was written.
type verifyFlags struct {
	workspace, config, base, head, out, format, mode, failOn string
	baseline, baselineMode, style, today, diffFrom           string
	noBase, preview, json, noHeuristics, patches, verbose    bool
	noPlugins, strictPlugins                                 bool
	packs                                                    []string
	scan                                                     bool
	given                                                    func(flag string) bool

	ahead *verify.Ahead // what was read of the head while the change was read
	yaml  source.Parser // of the manifest, for those who read it then; or nil
}

// reportsFolder is where artifacts go unless somebody says otherwise.
const reportsFolder = verification.Reports

func verifyCommand(env Env) *cobra.Command {
	f := &verifyFlags{}
	cmd := &cobra.Command{
		Use: "verify", Short: "Say what a change lets agents do, and whether it may be released",
		Long: verifyLong, Example: verifyExamples, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = c.Flags().Changed
			return f.run(c.Context(), env)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "the base of the change (default: the first of origin/HEAD, origin/main, origin/master)")
	flags.StringVar(&f.head, "head", "", "the commit to verify (default: the working tree)")
	flags.BoolVar(&f.noBase, "no-base", false, "verify the working tree without base facts")
	flags.BoolVar(&f.preview, "preview", false, "say what a verification would need; no manifest is read")
	flags.StringVar(&f.style, "pr-comment-style", verification.Comment, "what the comment leads with: capability-review, findings")
	f.common(cmd)
	return cmd
}

const scanLong = `scan reads the tools of the working tree, without a change to compare it with, and
writes the same report as verify: report.json, report.md and report.sarif; --json
prints report.json. It decides nothing about a merge, verify does, so artifacts of
an earlier verification in the same folder are taken away.`

func scanCommand(env Env) *cobra.Command {
	f := &verifyFlags{scan: true}
	cmd := &cobra.Command{
		Use: "scan", Short: "Report on the tools of one tree",
		Long: scanLong, Example: "  shipgate scan\n  shipgate scan -c shipgate.yaml --format json", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = c.Flags().Changed
			return f.run(c.Context(), env)
		},
	}
	f.common(cmd)
	return cmd
}

// common are the flags that verify and scan share.
func (f *verifyFlags) common(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.workspace, "workspace", ".", "any directory inside the repository")
	flags.StringVarP(&f.config, "config", "c", manifest.DefaultName, "the manifest, relative to the workspace")
	flags.StringVar(&f.out, "out", reportsFolder, "where the artifacts go, relative to the workspace")
	flags.StringVar(&f.format, "format", "text", "output: text, json (default in agent mode: json)")
	flags.BoolVar(&f.json, "json", false, "the same as --format json")
	flags.StringVar(&f.mode, "ci-mode", "", "advisory or strict (default: the manifest's)")
	flags.StringVar(&f.failOn, "fail-on", "", "severities that fail a strict run, separated by commas (default: the manifest's)")
	flags.StringVar(&f.baseline, "baseline", "", "accepted findings, relative to the workspace")
	flags.StringVar(&f.baselineMode, "baseline-mode", "", "new-findings: only findings that are not accepted fail a strict run")
	flags.StringVar(&f.diffFrom, "diff-from", "", "an earlier report.json to compare with where the base has no readable manifest, relative to the workspace")
	flags.StringSliceVar(&f.packs, "policy-pack", nil, "a policy pack besides the manifest's, relative to its folder (repeat)")
	flags.BoolVar(&f.noHeuristics, "no-heuristics", false, "set aside findings that rest on words and patterns")
	flags.BoolVar(&f.patches, "suggest-patches", false, "add suggested edits to findings")
	flags.BoolVar(&f.verbose, "verbose", false, "say on stderr what was read")
	flags.BoolVar(&f.noPlugins, "no-plugins", false, "accepted; there are no plugins")
	flags.BoolVar(&f.strictPlugins, "strict-plugins", false, "accepted; there are no plugins")
	flags.StringVar(&f.today, "today", "", "the evaluation date, YYYY-MM-DD (default: today in UTC)")
	for flag, words := range map[string][]string{
		"format": {"text", "json"}, "ci-mode": {"advisory", "strict"}, "baseline-mode": {"new-findings"},
		"fail-on": {"critical", "high", "medium", "low", "info"}, "pr-comment-style": {"capability-review", "findings"},
	} {
		if flags.Lookup(flag) != nil {
			cobra.CheckErr(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
		}
	}
}

// shape finds what is wrong with the command line itself.
func (f *verifyFlags) shape() error {
	oneOf := func(flag, value string, words ...string) error {
		if f.given(flag) && !slices.Contains(words, value) {
			return usage("--%s is %q; it must be one of %s", flag, value, strings.Join(words, ", ")).
				choosing("Choose one: " + strings.Join(words, ", ") + ".")
		}
		return nil
	}
	for _, err := range []error{
		oneOf("format", f.format, "text", "json"), oneOf("ci-mode", f.mode, "advisory", "strict"),
		oneOf("baseline-mode", f.baselineMode, "new-findings"), oneOf("pr-comment-style", f.style, "capability-review", "findings"),
	} {
		if err != nil {
			return err
		}
	}
	for _, path := range []struct{ flag, value string }{
		{"workspace", f.workspace}, {"config", f.config}, {"out", f.out}, {"baseline", f.baseline}, {"diff-from", f.diffFrom}, {"base", f.base}, {"head", f.head},
	} {
		if f.given(path.flag) && path.value == "" {
			return usage("--%s is empty", path.flag).choosing("Give --" + path.flag + " a value, or leave it out.")
		}
	}
	for _, ref := range []struct{ flag, value string }{{"--base", f.base}, {"--head", f.head}} {
		if strings.HasPrefix(ref.value, "-") || strings.ContainsAny(ref.value, "\x00\r\n") {
			return usage("%s is no ref: it begins with a dash or holds a NUL or a line break", ref.flag).
				choosing("Give " + ref.flag + " a commit, branch or tag.")
		}
	}
	switch {
	case f.noBase && f.base != "":
		return usage("--no-base cannot be combined with --base").choosing("Choose one of them.")
	case f.noBase && f.head != "":
		return usage("--no-base cannot be combined with --head: a commit alone is no change").
			offering(program+" scan", "it reports on one tree")
	case f.baselineMode != "" && f.baseline == "":
		return usage("--baseline-mode needs --baseline").choosing("Name the accepted findings with --baseline.")
	}
	if f.today != "" {
		if _, err := time.Parse(time.DateOnly, f.today); err != nil {
			return usage("--today is %q; it must be a date such as 2026-11-30", f.today).choosing("Give --today a date, or leave it out.")
		}
	}
	return nil
}

func (f *verifyFlags) severities() ([]check.Severity, error) {
	if !f.given("fail-on") {
		return nil, nil
	}
	list := []check.Severity{}
	for word := range strings.SplitSeq(f.failOn, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		if check.Severity(word).Rank() < 0 {
			return nil, usage("--fail-on names %q, which is no severity", word).choosing("Name some of critical, high, medium, low, info.")
		}
		list = append(list, check.Severity(word))
	}
	return list, nil
}

// run verifies, writes the artifacts and prints the result.
func (f *verifyFlags) run(ctx context.Context, env Env) error {
	if err := f.shape(); err != nil {
		return err
	}
	env.prepareHeap()
	pair, err := f.open(ctx, env, f.readAhead(env))
	if err != nil {
		return err
	}
	defer pair.Close()
	in, err := f.input(env, pair)
	if err != nil {
		return err
	}
	folder, err := f.folder(env, pair)
	if err != nil {
		return err
	}
	run, err := verification.Judge(ctx, in, pair)
	if err != nil {
		return internal(err)
	}
	list, err := run.Artifacts(f.shown(), verification.Program())
	if err != nil {
		return internal(err)
	}
	if err := folder.write(list); err != nil {
		return err
	}
	if f.verbose {
		f.tell(env, run)
	}
	if err := f.print(env, run, list); err != nil {
		return err
	}
	return f.exit(run)
}

// readAhead reads the sources of the head; nil for a preview, which reads none.
func (f *verifyFlags) readAhead(env Env) func(fs.FS, string) {
	if f.preview {
		return nil
	}
	f.yaml = verification.Parser()
	return func(head fs.FS, name string) {
		f.ahead = verify.ReadAhead(head, verify.LoadOptions{Name: name, Today: f.date(env), Packs: f.packs, Each: verification.Each, YAML: f.yaml})
	}
}

// open opens the change. meanwhile is as in git.PairRequest.
func (f *verifyFlags) open(ctx context.Context, env Env, meanwhile func(fs.FS, string)) (*git.Pair, error) {
	req := git.PairRequest{
		Actor: gate.ActorCodex, Dir: env.Dir, Workspace: f.workspace, Base: f.base, Head: f.head, NoBase: f.noBase || f.scan, Environ: env.Environ,
		YAML: f.yaml, Meanwhile: meanwhile,
	}
	if f.given("config") {
		req.Config = f.config
	}
	pair, err := git.OpenPair(ctx, req)
	if wrong, ok := errors.AsType[*git.ShapeError](err); ok {
		if wrong.Flag != "--config" {
			return nil, usage("%s", wrong.Error()).choosing("Name with " + wrong.Flag + " one of both in full.")
		}
		return nil, usage("%s", wrong.Error()).
			choosing("Name with " + wrong.Flag + " one regular file inside the repository, spelled as it is stored.")
	}
	if none, ok := errors.AsType[*git.InputError](err); ok && none.Failure == gate.NoRepository {
		return nil, usage("%s is not inside a Git repository", f.workspace).choosing("Name with --workspace a directory of the repository to verify.")
	}
	if err != nil {
		return nil, internal(err)
	}
	return pair, nil
}

// input is what Verify looks at.
func (f *verifyFlags) input(env Env, p *git.Pair) (*verify.Input, error) {
	failOn, err := f.severities()
	if err != nil {
		return nil, err
	}
	in := verification.Input(p)
	in.Workspace, in.Reports, in.Ahead = f.workspace, f.shown(), f.ahead
	in.Options = verify.Options{
		Mode: f.mode, FailOn: failOn, NewOnly: f.baselineMode == "new-findings", NoHeuristics: f.noHeuristics,
		Patches: f.patches, Preview: f.preview, Scan: f.scan, Today: f.date(env), Packs: f.packs, Comment: f.style,
	}
	if f.baseline != "" {
		at := within(env.abs(f.workspace), f.baseline)
		if in.Options.Baseline, err = readFile(at, tool.MaxFile); err == nil {
			_, err = check.ReadBaseline(in.Options.Baseline)
		}
		if err != nil {
			return nil, unreadable("--baseline", f.baseline, err)
		}
		in.Options.BaselinePath = below(p.Root, at)
	}
	if f.diffFrom != "" {
		at := within(env.abs(f.workspace), f.diffFrom)
		text, err := readFile(at, delta.MaxReport)
		if err == nil {
			in.Options.Earlier, err = verify.ReadEarlier(below(p.Root, at), text)
		}
		if err != nil {
			return nil, unreadable("--diff-from", f.diffFrom, err)
		}
	}
	return in, nil
}

// below is an absolute path as artifacts name it: from the root of the
// repository, or by its last part alone where it lies elsewhere. No artifact
// names a folder of the machine.
func below(root, name string) string {
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(name)
}

func (f *verifyFlags) date(env Env) string {
	if f.today != "" {
		return f.today
	}
	return verification.Today(env.lookup, time.Now())
}

// readFile is the bytes of one regular file, at most so many.
func readFile(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(name)
}

// unreadable is a file that the command line names and that cannot be read.
func unreadable(flag, name string, err error) *failure {
	return &failure{kind: inputParseError, code: exitInput, msg: fmt.Sprintf("%s %s cannot be read", flag, name), err: plainError(err)}
}

// shown is the reports folder as artifacts name it.
func (f *verifyFlags) shown() string { return filepath.ToSlash(filepath.Clean(f.out)) }

// tell says on stderr what was read.
func (f *verifyFlags) tell(env Env, run *verify.Run) {
	if run.HeadSide == nil {
		return
	}
	for _, s := range run.HeadSide.Surface.Reading.Sources {
		fmt.Fprintf(env.Stderr, "%s: %s %s: %s, %d tools\n", program, s.Type, s.ID, s.State, s.Tools)
	}
	for _, w := range run.HeadSide.Surface.Reading.Warnings {
		fmt.Fprintf(env.Stderr, "%s: warning: %s\n", program, w.Message)
	}
}

func (f *verifyFlags) print(env Env, run *verify.Run, list []verify.Artifact) error {
	if f.scan && run.Decision == nil {
		return nil // there is no report; the error says why
	}
	if !f.json && f.format != "json" && (f.given("format") || !env.agentMode()) {
		if f.scan {
			return env.print(run.ScanText(env.colour()))
		}
		return env.print(run.Text(env.colour()))
	}
	name := "verifier.json"
	if f.scan {
		name = "report.json"
	}
	for i := range list {
		if a := &list[i]; a.Name == name {
			return env.printDoc(a.Doc)
		}
	}
	return internal(fmt.Errorf("%s was not made", name))
}

// exit is the process's end: what the report's fail policy says, or why the head
// could not be judged (§1.1).
func (f *verifyFlags) exit(run *verify.Run) error {
	if f.preview || run.Err == nil && run.Diff.Completeness != "unavailable" {
		if run.ExitCode == exitOK {
			return nil
		}
		return ended(run.ExitCode)
	}
	// What a source holds may be wrong in the way a manifest can: it is still an input.
	_, source := errors.AsType[*tool.SourceError](run.Err)
	_, wrong := errors.AsType[*manifest.Errors](run.Err)
	_, clash := errors.AsType[*effect.ConfigError](run.Err)
	switch {
	case source:
		return &failure{kind: inputParseError, code: exitInput, msg: run.Err.Error()}
	case errors.Is(run.Err, verify.ErrNoManifest):
		return (&failure{kind: configError, code: exitUsage, msg: run.Headline}).
			offering(run.Preview(), "it says what a manifest would have to declare").
			offering(run.Initialize(), "it writes a first manifest for a person to review")
	case run.Err == nil, wrong, clash:
		msg := run.Headline
		if run.Err != nil {
			msg = run.Err.Error()
		}
		return &failure{kind: configError, code: exitUsage, msg: msg}
	}
	return &failure{kind: inputParseError, code: exitInput, msg: run.Err.Error()}
}
