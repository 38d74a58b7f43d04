package shipgate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify"
	checks "plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/manifest"
)

const baselineLong = `baseline keeps the findings that people accepted, in a file of the repository.

A baseline marks findings; it takes none away. It never covers gaps of evidence,
the comparison with the base, or mandatory controls. To change it is a decision
of people: verify reports every change of it for review.`

// baselineFlags is the command line of the baseline commands.
type baselineFlags struct {
	config, file, from, reason, expires, today string
	json                                       bool
}

func baselineCommand(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keep the findings that people accepted",
		Long:  baselineLong,
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var f baselineFlags
	sub := func(use, short, call string, run func(Env, *baselineFlags) error) *cobra.Command {
		s := &cobra.Command{
			Use: use, Short: short, Example: "  shipgate baseline " + call, Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return run(env, &f) },
		}
		cmd.Example = strings.TrimPrefix(cmd.Example+"\n"+s.Example, "\n")
		flags := s.Flags()
		flags.StringVarP(&f.config, "config", "c", manifest.DefaultName, "the manifest; its directory is the workspace")
		flags.StringVar(&f.file, "baseline", verify.BaselinePath, "the baseline, relative to the workspace")
		flags.BoolVar(&f.json, "json", false, "print the result as JSON (the default in agent mode)")
		cmd.AddCommand(s)
		return s
	}
	save := sub("save", "Accept the active findings of a report",
		"save --from agents-shipgate-reports/report.json --expires 2027-01-31 --reason 'accepted in review 12'", saveBaseline)
	save.Flags().StringVar(&f.from, "from", "", "the report.json whose findings are accepted (required)")
	save.Flags().StringVar(&f.reason, "reason", "", "why they are accepted; kept with each new entry")
	save.Flags().StringVar(&f.expires, "expires", "", "the last day on which they are accepted, YYYY-MM-DD")
	sub("verify", "Compare the baseline with its audit log; exit 6 when it was edited", "verify", verifyBaseline)
	diff := sub("diff", "Compare a report with the baseline; judges nothing", "diff --from agents-shipgate-reports/report.json", diffBaseline)
	diff.Flags().StringVar(&f.from, "from", "", "the report.json to compare (required)")
	diff.Flags().StringVar(&f.today, "today", "", "the evaluation date, YYYY-MM-DD (default: today in UTC)")
	return cmd
}

// keptBaseline is a baseline and its audit log on disk. Both lie in the
// workspace: root refuses every link that leads out of it.
type keptBaseline struct {
	root *os.Root
	name string // of the baseline, relative to the workspace, as the log writes it
	log  string // likewise; "" when the manifest names none
	mode string // baseline.integrity_mode
}

// locate reads the manifest and says where the baseline and its log are. The
// caller closes root.
func (f *baselineFlags) locate(env Env) (*keptBaseline, error) {
	config := env.abs(f.config)
	name, err := belowWorkspace("--baseline", f.file)
	if err != nil {
		return nil, err
	}
	text, err := readBounded(config, manifest.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("there is no manifest at %s", f.config).offering(program+" init", "writes a manifest")
	}
	if err != nil {
		return nil, unreadable("--config", f.config, err)
	}
	m, err := manifest.Load(text, manifest.Options{Name: filepath.Base(config), KnownCheck: checks.Known, CheckIDs: checks.IDs()})
	if err != nil {
		return nil, usage("%s", err).choosing("Correct the manifest.")
	}
	k := &keptBaseline{name: name, mode: m.Baseline.IntegrityMode}
	if m.Baseline.AuditLog != "" {
		if k.log, err = belowWorkspace("baseline.audit_log", m.Baseline.AuditLog); err != nil {
			return nil, err
		}
	}
	if k.root, err = os.OpenRoot(filepath.Dir(config)); err != nil {
		return nil, unreadable("--config", f.config, err)
	}
	return k, nil
}

// belowWorkspace is a relative path that stays inside, with forward slashes.
func belowWorkspace(what, name string) (string, error) {
	if clean := filepath.Clean(filepath.FromSlash(name)); filepath.IsLocal(clean) && clean != "." {
		return filepath.ToSlash(clean), nil
	}
	return "", usage("%s is %q; it must lie in the workspace", what, name).choosing("Name a file below the manifest's directory.")
}

// open is the bytes of one regular file of the workspace.
func (k *keptBaseline) open(name string, most int64) ([]byte, error) {
	info, err := k.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, errors.New("it is no regular file, or too large")
	}
	return k.root.ReadFile(name)
}

// read is the baseline's bytes and what they say.
func (k *keptBaseline) read() ([]byte, *checks.Baseline, error) {
	text, err := k.open(k.name, checks.MaxBaseline)
	if err != nil {
		return nil, nil, unread(k.name, "the baseline cannot be read", plainError(err))
	}
	b, err := checks.ReadBaseline(text)
	if err != nil {
		return nil, nil, unread(k.name, "cannot be used", err)
	}
	return text, b, nil
}

// readLog is the audit log; nil when there is none.
func (k *keptBaseline) readLog() ([]byte, error) {
	if k.log == "" {
		return nil, nil
	}
	log, err := k.open(k.log, checks.MaxAuditLog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unread(k.log, "the audit log cannot be read", plainError(err))
	}
	if log == nil {
		log = []byte{}
	}
	return log, nil
}

// put writes a file in one piece, through a new one beside it.
func (k *keptBaseline) put(name string, text []byte) error {
	part := path.Join(path.Dir(name), ".shipgate-"+path.Base(name))
	err := k.root.MkdirAll(path.Dir(name), 0o755)
	if err == nil {
		err = k.root.WriteFile(part, text, 0o644)
	}
	if err == nil {
		err = k.root.Rename(part, name)
	}
	if err != nil {
		return &failure{kind: otherError, code: exitInternal, msg: name + " cannot be written", err: plainError(err)}
	}
	return nil
}

// savedResult is what baseline save did.
type savedResult struct {
	Baseline string `json:"baseline"`
	Entries  int    `json:"entries"`
	Left     int    `json:"not_coverable"`
	Changed  bool   `json:"changed"`
	SHA256   string `json:"sha256"`
	AuditLog bool   `json:"audit_log_written"`
	Report   string `json:"source_report"`
}

func saveBaseline(env Env, f *baselineFlags) error {
	if f.expires != "" {
		if _, err := time.Parse(time.DateOnly, f.expires); err != nil {
			return usage("--expires is %q; it must be a date such as 2026-11-30", f.expires)
		}
	}
	report, from, err := reportFile(env, f.from)
	if err != nil {
		return err
	}
	k, err := f.locate(env)
	if err != nil {
		return err
	}
	defer k.root.Close()
	clock := time.Now().UTC()
	now := clock.Format(time.RFC3339)
	b, left := report.Baseline(now, checks.Acceptance{Reason: f.reason, Expires: f.expires})
	before, old, err := k.read()
	if err == nil {
		err = b.Keep(old, clock.Format(time.DateOnly))
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	text, err := b.Write()
	if err != nil {
		return internal(err)
	}
	result := savedResult{
		Baseline: k.name, Entries: len(b.Entries), Left: left, Changed: string(before) != string(text), SHA256: checks.HashOf(text), Report: from,
	}
	log, err := k.readLog()
	if err != nil {
		return err
	}
	if k.log != "" {
		// The line comes before the file: a save that ends between the two shows as
		// a mismatch and never as an accepted file that nobody logged.
		log, err = checks.AppendSaved(log, checks.Saved{At: now, Baseline: k.name, SHA256: result.SHA256, RunID: b.RunID})
		if err != nil {
			return unread(k.log, "cannot be continued", err).stopping("A person looks at the audit log and starts a new one.")
		}
		if err := k.put(k.log, log); err != nil {
			return err
		}
		result.AuditLog = true
	}
	if err := k.put(k.name, text); err != nil {
		return err
	}
	if f.json || env.agentMode() {
		return env.printJSON(result)
	}
	said := fmt.Sprintf("%s accepts %d findings", k.name, result.Entries)
	if left > 0 {
		said += fmt.Sprintf("; %d cannot be accepted by a baseline", left)
	}
	return env.print([]byte(said + "\n"))
}

// verifiedResult is what baseline verify found.
type verifiedResult struct {
	Baseline string `json:"baseline"`
	Mode     string `json:"integrity_mode"`
	checks.Integrity
}

func verifyBaseline(env Env, f *baselineFlags) error {
	k, err := f.locate(env)
	if err != nil {
		return err
	}
	defer k.root.Close()
	if k.log == "" {
		return usage("the manifest names no baseline.audit_log, so there is nothing to compare with").
			choosing("Name a file under baseline.audit_log and save the baseline again.")
	}
	text, _, err := k.read()
	if err != nil {
		return err
	}
	log, err := k.readLog()
	if err != nil {
		return err
	}
	result := verifiedResult{Baseline: k.name, Mode: k.mode, Integrity: checks.VerifyIntegrity(text, log, k.name)}
	said := k.name + " is what was saved\n"
	if !result.OK {
		said = k.name + ": " + result.Why + "\n"
	}
	if f.json || env.agentMode() {
		err = env.printJSON(result)
	} else {
		err = env.print([]byte(said))
	}
	if err == nil && !result.OK {
		return ended(exitIntegrity)
	}
	return err
}

// comparedResult is what baseline diff found.
type comparedResult struct {
	Baseline string        `json:"baseline"`
	Report   string        `json:"source_report"`
	Matched  int           `json:"matched_count"`
	New      int           `json:"new_count"`
	Resolved int           `json:"resolved_count"`
	Expired  int           `json:"expired_count"`
	Rows     []comparedRow `json:"findings"`
}

type comparedRow struct {
	Status      string          `json:"baseline_status"` // new, matched, resolved or expired
	Fingerprint string          `json:"fingerprint"`
	CheckID     string          `json:"check_id"`
	ToolName    *string         `json:"tool_name"`
	Severity    checks.Severity `json:"severity"`
	Title       string          `json:"title"`
}

func diffBaseline(env Env, f *baselineFlags) error {
	today := (&verifyFlags{today: f.today}).date(env)
	if _, err := time.Parse(time.DateOnly, today); err != nil {
		return usage("the evaluation date is %q; it must be a date such as 2026-11-30", today)
	}
	report, from, err := reportFile(env, f.from)
	if err != nil {
		return err
	}
	k, err := f.locate(env)
	if err != nil {
		return err
	}
	defer k.root.Close()
	_, b, err := k.read()
	if err != nil {
		if failed, ok := errors.AsType[*failure](err); ok {
			return failed.offering(program+" baseline save --from "+control.Quote(from), "accepts what the report found")
		}
		return err
	}
	c := report.Compare(b, today)
	r := comparedResult{
		Baseline: k.name, Report: from, Matched: len(c.Matched), New: len(c.New), Resolved: len(c.Resolved), Expired: len(c.Expired),
		Rows: []comparedRow{},
	}
	for _, found := range c.New {
		r.Rows = append(r.Rows, comparedRow{"new", found.Fingerprint, found.CheckID, named(found.ToolName), found.Severity, found.Title})
	}
	for _, found := range c.Matched {
		r.Rows = append(r.Rows, comparedRow{"matched", found.Fingerprint, found.CheckID, named(found.ToolName), found.Severity, found.Title})
	}
	for _, e := range c.Resolved {
		r.Rows = append(r.Rows, comparedRow{"resolved", e.Fingerprint, e.CheckID, named(e.ToolName), e.Severity, e.Title})
	}
	for _, e := range c.Expired {
		r.Rows = append(r.Rows, comparedRow{"expired", e.Fingerprint, e.CheckID, named(e.ToolName), e.Severity, e.Title})
	}
	if f.json || env.agentMode() {
		return env.printJSON(r)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d new, %d matched, %d resolved, %d expired\n", r.New, r.Matched, r.Resolved, r.Expired)
	for _, row := range r.Rows {
		fmt.Fprintf(&out, "%-9s %-8s %s %s %s\n", row.Status, row.Severity, row.Fingerprint, row.CheckID, row.Title)
	}
	return env.print([]byte(out.String()))
}

func named(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
