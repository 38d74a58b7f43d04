// Package git reads a change out of a repository: through the git program for
// the working tree, the index and a committed range, and from disk alone for a
// supplied diff. It yields one gate.Input and decides nothing.
//
// The repository is hostile. Git is called with both folders named, with every
// setting that can start a program or change its output overridden, and what
// it says about protected files is checked against the bytes on disk
// (docs/spec/boundary.md §2, rulings R1 to R4 and R15 to R17). Nothing is
// written, nothing of the workspace is run, nothing is fetched.
package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The bounds of docs/spec/boundary.md, Appendix C.
const (
	timeout       = 60 * time.Second
	patchBound    = 32 << 20
	patchLines    = 2_500_000 // each costs memory of its own, however short
	listingBound  = 64 << 20
	entryBound    = 16 << 20
	settingsBound = 1 << 20
	stderrKept    = 8 << 10
	stderrShown   = 240
)

// runner is the one place that starts git.
type runner struct {
	root    string
	program string // the git executable, absolute; "" when there is none
	env     []string
}

// settings are passed with -c on every call; the reasons stand in §2.1.
var settings = []string{
	"core.fsmonitor=false", "core.untrackedCache=false", "core.hooksPath=" + os.DevNull,
	"diff.autoRefreshIndex=false", "core.autocrlf=input", "core.safecrlf=false",
	"core.fileMode=false", "core.precomposeUnicode=false", "core.ignoreCase=false",
	"core.symlinks=" + strconv.FormatBool(runtime.GOOS != "windows"),
	"core.sparseCheckout=true", "sparse.expectFilesOutsideOfPatterns=false",
	"core.bigFileThreshold=32m", "core.quotePath=false", "diff.suppressBlankEmpty=false",
	"submodule.recurse=false", "core.attributesFile=" + os.DevNull, "core.commitGraph=false",
	"diff.renameLimit=32767", "advice.graftFileDeprecated=false",
	// status reads the order file too, where no -O can be given.
	"diff.orderFile=" + os.DevNull,
	// A split index would let update-index on a temporary index write into the git folder.
	"core.splitIndex=false",
	// Later versions can take attributes from a tree; one that does not exist counts as not set.
	"attr.tree=",
	// Microsoft's Git: a program that says which files exist, and a helper that downloads.
	"core.virtualFilesystem=", "core.useGvfsHelper=false",
}

// diffOptions fix the output of every diff, whatever the repository's settings
// say. One run gives the NUL-separated listing, one further NUL and the patch.
var diffOptions = []string{
	"--raw", "-z", "-p", "--no-abbrev", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color",
	"--no-color-moved", "--ws-error-highlight=none", "--diff-algorithm=myers", "--no-indent-heuristic",
	"--unified=3", "--inter-hunk-context=0", "-O" + os.DevNull, "--src-prefix=a/", "--dst-prefix=b/",
	"--no-relative", "--find-renames=50%", "--submodule=short", "--ignore-submodules=dirty",
}

// newRunner prepares calls in the repository at root. environ is the caller's
// environment; drivers are the filter drivers the repository's configuration
// names, each of which is emptied (ruling R17).
func newRunner(root string, environ, drivers []string) *runner {
	env := make([]string, 0, len(environ)+24+8*len(drivers))
	for _, kv := range environ {
		if !strings.HasPrefix(strings.ToUpper(kv), "GIT_") && !strings.HasPrefix(kv, "LC_ALL=") {
			env = append(env, kv)
		}
	}
	env = append(env,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_GRAFT_FILE="+os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PROTOCOL_FROM_USER=0", "GIT_ALLOW_PROTOCOL=",
		"GIT_PAGER=cat", "LC_ALL=C",
	)
	// Not by -c: a driver's name may hold "=". An empty process silences clean
	// and smudge too; without required=false Git would give up instead.
	n := 0
	pair := func(key, value string) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	for _, d := range drivers {
		for _, key := range []string{"clean", "smudge", "process"} {
			pair("filter."+d+"."+key, "")
		}
		pair("filter."+d+".required", "false")
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
	return &runner{root: root, program: gitProgram(environ, root), env: env}
}

// gitProgram is the first git of the search path that lies outside the
// repository: tools put folders of the workspace, such as node_modules/.bin, on
// the path, and nothing of the workspace is run.
func gitProgram(environ []string, root string) string {
	search := ""
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && (name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH")) {
			search = value
		}
	}
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		program, err := exec.LookPath(filepath.Join(dir, "git"))
		if err == nil && !liesBelow(root, dir) && !liesBelow(root, program) {
			return program
		}
	}
	return ""
}

// liesBelow says whether path is root or below it, by its letters or by where
// it leads.
func liesBelow(root, path string) bool {
	if _, inside := relative(root, path); inside {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return true
	}
	_, inside := relative(realRoot, real)
	return inside
}

// with is a runner with further environment entries.
func (r *runner) with(kv ...string) *runner {
	return &runner{root: r.root, program: r.program, env: append(slices.Clone(r.env), kv...)}
}

func (r *runner) command(ctx context.Context, args []string) *exec.Cmd {
	full := make([]string, 0, 4+2*len(settings)+len(args))
	full = append(full, "--no-replace-objects", "--no-pager", "--git-dir="+r.root+"/.git", "--work-tree="+r.root)
	for _, s := range settings {
		full = append(full, "-c", s)
	}
	cmd := exec.CommandContext(ctx, r.program, append(full, args...)...)
	if r.program == "" {
		cmd.Err = errNoGit
	}
	cmd.Dir = r.root
	cmd.Env = r.env
	cmd.WaitDelay = time.Second
	return cmd
}

var errNoGit = errors.New("there is no git on the search path outside the repository")

// failure is a git process that ended badly or said something unreadable.
type failure struct {
	verb   string
	stderr string
	err    error
}

func (f *failure) Error() string {
	if f.stderr != "" {
		return fmt.Sprintf("git %s: %s", f.verb, f.stderr)
	}
	return fmt.Sprintf("git %s: %v", f.verb, f.err)
}

func (f *failure) Unwrap() error { return f.err }

// objectError is the reason of a git process that ended over an object which it
// could not read, nil for any other end. The messages are fixed by LC_ALL=C.
func objectError(err error) error {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return nil
	}
	if strings.Contains(f.stderr, "promisor remote") {
		return errObjectMissing
	}
	if strings.Contains(f.stderr, "object ") && strings.Contains(f.stderr, "is corrupt") {
		return errObjectDamaged
	}
	_, what, _ := strings.Cut(f.stderr, "unable to read ")
	id, _, _ := strings.Cut(strings.TrimPrefix(what, "tree "), " ")
	if _, err := hex.DecodeString(strings.Trim(id, "()")); err == nil && len(id) >= 40 {
		return errObjectMissing
	}
	return nil
}

// stream runs git and hands its standard output to read, which may stop early.
func (r *runner) stream(ctx context.Context, stdin []byte, read func(*bufio.Reader) error, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := r.command(ctx, args)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var stderr limitedBuffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return &failure{verb: args[0], err: err}
	}
	if err := cmd.Start(); err != nil {
		return &failure{verb: args[0], err: err}
	}
	readErr := read(bufio.NewReaderSize(out, 64<<10))
	if errors.Is(readErr, errTooLong) {
		cancel()
	} else if readErr != nil {
		// Often git died in the middle: let it say why.
		io.Copy(io.Discard, out) //nolint:errcheck // only its end is awaited
	}
	waitErr := cmd.Wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{verb: args[0], err: ctx.Err()}
	case waitErr != nil && !errors.Is(readErr, errTooLong):
		return &failure{verb: args[0], stderr: shown(r.root, stderr.kept.String()), err: waitErr}
	case readErr != nil:
		return &failure{verb: args[0], err: readErr}
	}
	return nil
}

var errTooLong = errors.New("its output is over the bound")

// readDiff reads the text of a diff.
func readDiff(in io.Reader) ([]byte, error) {
	text, err := readAll(in, patchBound)
	if err == nil && tooManyLines(text) {
		err = errTooLong
	}
	return text, err
}

func tooManyLines(text []byte) bool { return bytes.Count(text, []byte{'\n'}) > patchLines }

// output is all of git's standard output, at most bound bytes.
func (r *runner) output(ctx context.Context, stdin []byte, bound int64, args ...string) ([]byte, error) {
	var out []byte
	err := r.stream(ctx, stdin, func(in *bufio.Reader) error {
		var err error
		out, err = readAll(in, bound)
		return err
	}, args...)
	return out, err
}

func readAll(in io.Reader, bound int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, bound+1))
	if err == nil && int64(len(data)) > bound {
		err = errTooLong
	}
	return data, err
}

// fields calls each for every NUL-terminated field. The slice is valid until
// the next call; each copies what it keeps and returns how many bytes that is.
func fields(in *bufio.Reader, each func(field []byte) (kept int, err error)) error {
	var long []byte
	kept := 0
	for {
		part, err := in.ReadSlice(0)
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, part...); len(long) > entryBound {
				return errTooLong
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			if len(long)+len(part) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		field := part[:len(part)-1]
		if long != nil {
			field = append(long, field...)
			long = nil
		}
		n, err := each(field)
		if err != nil {
			return err
		}
		if kept += n; kept > listingBound {
			return errTooLong
		}
	}
}

// limitedBuffer keeps the first stderrKept bytes and swallows the rest. It does
// not embed its buffer, whose ReadFrom would take everything.
type limitedBuffer struct{ kept bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := stderrKept - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// shown is what may be printed of an error or of git's standard error: one line, printable,
// short, with absolute paths masked.
func shown(root, text string) string {
	text = strings.ReplaceAll(text, root, "<path>")
	text = strings.Join(strings.Fields(maskPaths(text)), " ")
	text = strings.Map(func(c rune) rune {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, text)
	if len(text) > stderrShown {
		text = strings.ToValidUTF8(text[:stderrShown], "")
	}
	return text
}

// maskPaths replaces every path that starts at a root, or at a place already
// masked: up to its closing quotation mark, else up to the next blank.
func maskPaths(text string) string {
	const mask = "<path>"
	var b strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		if (c != '/' && c != '\\') || i > 0 && isWordByte(text[i-1]) {
			b.WriteByte(c)
			i++
			continue
		}
		if !strings.HasSuffix(b.String(), mask) {
			b.WriteString(mask)
		}
		end := strings.IndexAny(text[i:], " \t\r\n'\"")
		if i > 0 && (text[i-1] == '\'' || text[i-1] == '"') {
			if quoted := strings.IndexByte(text[i:], text[i-1]); quoted >= 0 {
				end = quoted
			}
		}
		if end < 0 {
			break
		}
		i += end
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}
