package shipgate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	checks "plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/patch"
	"plimsoll.dev/internal/verify/tool"
)

const applyPatchesLong = `apply-patches makes the edits that a report suggests for its findings.

Without --apply it writes nothing and prints what it would change as unified
diffs. With it, every file is read once, must be the one that the report speaks
of, and is written once: either all edits can be made, or none is. Comments,
order and quoting of everything else stay as they are.

A patch that asks a person is never applied; it is printed as it stands.`

const applyPatchesExamples = `  shipgate apply-patches --from agents-shipgate-reports/report.json
  shipgate apply-patches --from agents-shipgate-reports/report.json --apply
  shipgate apply-patches --from report.json --kinds remove_pointer --confidence medium --json`

// applyPatchesFlags is the command line of apply-patches.
type applyPatchesFlags struct {
	from, confidence string
	kinds            []string
	apply, json      bool
}

func applyPatchesCommand(env Env) *cobra.Command {
	var f applyPatchesFlags
	cmd := &cobra.Command{
		Use:     "apply-patches",
		Short:   "Make the edits that a report suggests",
		Long:    applyPatchesLong,
		Example: applyPatchesExamples,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return applyPatches(env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "the report.json to take the patches from")
	flags.StringVar(&f.confidence, "confidence", "high", "the least confidence of a patch: high, medium, low")
	flags.StringSliceVar(&f.kinds, "kinds", nil, "kinds of patches, separated by commas (default: all that edit a file)")
	flags.BoolVar(&f.apply, "apply", false, "write the files; without it nothing is written")
	flags.BoolVar(&f.json, "json", false, "print one JSON object (the default in agent mode)")
	return cmd
}

// appliedFile is one file of the result.
type appliedFile struct {
	Path         string         `json:"path"` // below the manifest directory
	BeforeSHA256 string         `json:"before_sha256"`
	AfterSHA256  string         `json:"after_sha256"`
	Patches      []appliedPatch `json:"patches"`
	Diff         string         `json:"diff"`
}

// appliedPatch is one patch and the finding it is for.
type appliedPatch struct {
	CheckID      string           `json:"check_id"`
	Fingerprint  string           `json:"fingerprint"`
	Kind         checks.PatchKind `json:"kind"`
	Pointer      string           `json:"pointer,omitempty"`
	Confidence   tool.Confidence  `json:"confidence,omitempty"`
	Rationale    string           `json:"rationale,omitempty"`
	Instructions string           `json:"instructions,omitempty"`
}

// appliedResult is what the command prints as JSON.
type appliedResult struct {
	Applied     bool           `json:"applied"`
	ManifestDir string         `json:"manifest_dir"`
	Files       []appliedFile  `json:"files"`
	Manual      []appliedPatch `json:"manual"`
	NotChosen   int            `json:"not_chosen"` // patches left out by --confidence or --kinds
}

func applyPatches(env Env, f applyPatchesFlags) error {
	kinds, err := f.shape()
	if err != nil {
		return err
	}
	report, err := readReport(env, f.from)
	if err != nil {
		return err
	}
	chosen, left := report.Choose(tool.Confidence(f.confidence), kinds)
	disk, err := targetsOf(report.ManifestDir, len(chosen) > 0)
	if err != nil {
		return err
	}
	changes, refused := patch.Plan(chosen, disk)
	if refused != nil {
		return patchFailure(refused, f.from, "")
	}
	if f.apply {
		if err := disk.write(changes); err != nil {
			return err
		}
	}
	result := appliedOf(changes, report, f.apply && len(changes) > 0, left)
	if f.json || env.agentMode() {
		return env.printJSON(result)
	}
	var b strings.Builder
	b.WriteString(result.summary())
	for i, file := range result.Files {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(file.Diff)
	}
	return env.print([]byte(b.String()))
}

func (f *applyPatchesFlags) shape() ([]checks.PatchKind, error) {
	if f.from == "" {
		return nil, usage("--from is missing").choosing("Give --from the report.json of a run with --suggest-patches.")
	}
	if !slices.Contains([]string{"high", "medium", "low"}, f.confidence) {
		return nil, usage("--confidence is %q; it must be high, medium or low", f.confidence).choosing("Give --confidence high, medium or low.")
	}
	var kinds []checks.PatchKind
	for _, kind := range f.kinds {
		k := checks.PatchKind(strings.TrimSpace(kind))
		if !slices.Contains(patch.Kinds, k) {
			return nil, usage("--kinds names %q; it must be set_pointer, append_pointer or remove_pointer", kind).
				choosing("Give --kinds one or more of set_pointer, append_pointer, remove_pointer.")
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func readReport(env Env, from string) (*patch.Report, error) {
	text, err := readTarget(env.abs(from))
	if err != nil {
		return nil, &failure{kind: inputParseError, code: exitInput, msg: "the report " + from + " cannot be read", err: plainError(err)}
	}
	report, refused := patch.ParseReport(text)
	if refused != nil {
		return nil, patchFailure(refused, from, from+": ")
	}
	return report, nil
}

// patchFailure is why nothing was written. What is wrong with the report itself
// begins with its name.
func patchFailure(e *patch.Error, from, begin string) error {
	f := &failure{code: int(e.Class), msg: begin + e.Error()}
	switch e.Class {
	case patch.Malformed:
		f.kind = malformedPatch
		return f.choosing("Make the report again with --suggest-patches; " + from + " asks for what cannot be done.")
	case patch.Outside:
		f.kind = otherError
		return f.stopping("A person looks at " + from + ": it names a file that is none of the manifest's.")
	case patch.Input:
	}
	f.kind = inputParseError
	return f.choosing("Make the report again with --suggest-patches, or edit the file by hand.")
}

// targets are the files below one manifest directory.
type targets struct{ dir, real string }

// targetsOf looks up the manifest directory of a report. Without a patch to apply
// nobody needs it.
func targetsOf(dir string, needed bool) (*targets, error) {
	if !needed {
		return &targets{dir: dir}, nil
	}
	bad := func(what string) error {
		return (&failure{kind: malformedPatch, code: exitUsage, msg: "manifest_dir of the report " + what}).
			choosing("Make the report again in the repository it is for.")
	}
	if !filepath.IsAbs(dir) {
		return nil, bad("is no absolute path")
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, bad("does not exist")
	}
	if filepath.Dir(resolved) == resolved {
		return nil, bad("is the root of the file system")
	}
	return &targets{dir, resolved}, nil
}

// Within implements patch.Files.
func (t *targets) Within(target string) (path, name string, err error) {
	if !filepath.IsAbs(target) {
		return "", "", errors.New("it is no absolute path")
	}
	path, err = filepath.EvalSymlinks(target)
	if err != nil {
		if pathBelow(t.dir, target) == "" && pathBelow(t.real, target) == "" {
			return "", "", nil
		}
		return "", "", plainError(err)
	}
	return path, pathBelow(t.real, path), nil
}

// pathBelow is a path relative to a directory with forward slashes, "" when it does
// not lie in it.
func pathBelow(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// Read implements patch.Files.
func (t *targets) Read(path string) ([]byte, error) {
	text, err := readTarget(path)
	if err != nil {
		return nil, plainError(err)
	}
	return text, nil
}

// write writes every file once, through a new file beside it. A file that
// changed since it was read ends the writing before it begins.
func (t *targets) write(changes []patch.Change) error {
	for i := range changes {
		if now, err := readTarget(changes[i].Path); err != nil || !bytes.Equal(now, changes[i].Before) {
			return &failure{kind: inputParseError, code: exitInput, msg: changes[i].Name + ": changed while it was edited; nothing was written"}
		}
	}
	for i := range changes {
		if err := writeBeside(changes[i].Path, changes[i].After); err != nil {
			said := fmt.Sprintf("%s: cannot be written; %d of %d files were written", changes[i].Name, i, len(changes))
			return &failure{kind: otherError, code: exitInternal, msg: said, err: plainError(err)}
		}
	}
	return nil
}

// writeBeside puts a new file with the same permissions in the place of one.
func writeBeside(path string, text []byte) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".shipgate-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Chmod(f.Name(), info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// readTarget is the bytes of one regular file of at most manifest.MaxFile.
func readTarget(path string) ([]byte, error) {
	info, err := os.Stat(path) // opening a pipe would wait
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, manifest.MaxFile+1))
	if err == nil && len(text) > manifest.MaxFile {
		err = fmt.Errorf("is over %d MiB", manifest.MaxFile>>20)
	}
	return text, err
}

// plainError is an error of the disk without the path, which stands before it.
func plainError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

func appliedOf(changes []patch.Change, report *patch.Report, applied bool, left int) appliedResult {
	r := appliedResult{Applied: applied, ManifestDir: report.ManifestDir, Files: []appliedFile{}, Manual: []appliedPatch{}, NotChosen: left}
	row := func(s patch.Suggestion) appliedPatch {
		p := s.Patch
		return appliedPatch{s.Finding.CheckID, s.Finding.Fingerprint, p.Kind, p.Pointer, p.Confidence, p.Rationale, p.Instructions}
	}
	digest := func(text []byte) string {
		sum := sha256.Sum256(text)
		return hex.EncodeToString(sum[:])
	}
	for i := range changes {
		c := &changes[i]
		file := appliedFile{Path: c.Name, BeforeSHA256: digest(c.Before), AfterSHA256: digest(c.After), Diff: c.Diff()}
		for _, s := range c.Patches {
			file.Patches = append(file.Patches, row(s))
		}
		r.Files = append(r.Files, file)
	}
	for _, s := range report.Manual() {
		r.Manual = append(r.Manual, row(s))
	}
	return r
}

// summary is the result in words. What follows is a diff that git can apply, so no
// word of the report may begin a line here.
func (r *appliedResult) summary() string {
	var b strings.Builder
	edits := 0
	for _, f := range r.Files {
		edits += len(f.Patches)
	}
	switch {
	case edits == 0:
		b.WriteString("no patch to apply\n")
	case r.Applied:
		fmt.Fprintf(&b, "applied %s to %s; run the gate again\n", countOf(edits, "patch", "patches"), countOf(len(r.Files), "file", "files"))
	default:
		fmt.Fprintf(&b, "%s to %s; nothing was written, add --apply\n", countOf(edits, "patch", "patches"), countOf(len(r.Files), "file", "files"))
	}
	if r.NotChosen > 0 {
		fmt.Fprintf(&b, "%s left out by --confidence or --kinds\n", countOf(r.NotChosen, "patch", "patches"))
	}
	for _, m := range r.Manual {
		fmt.Fprintf(&b, "by hand, %s: %s\n", oneLine(m.CheckID), oneLine(m.Instructions))
	}
	return b.String()
}

// oneLine is a text of the report as a terminal may see it.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
