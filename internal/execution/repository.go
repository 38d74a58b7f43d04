package execution

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/pipeline/artifact"
)

// gitBound is what is read of git's output where it is no stream.
const gitBound = 64 << 20

// quiet are settings of every call: git starts no program of the repository or
// of the person, does no housekeeping, and takes bytes as they are. The gate
// reads with a list of its own (docs/spec/boundary.md §2.1); this one also
// writes a worktree, a branch and a commit.
var quiet = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.untrackedCache=false", "core.attributesFile=" + os.DevNull,
	"core.autocrlf=false", "core.safecrlf=false", "core.quotePath=false", "core.splitIndex=false",
	"core.bare=false", "core.useGvfsHelper=false", "core.virtualFilesystem=",
	"submodule.recurse=false", "commit.gpgSign=false", "gc.auto=0", "maintenance.auto=false", "advice.addEmbeddedRepo=false",
	"user.name=plimsoll run", "user.email=run@plimsoll.invalid", "user.useConfigOnly=false",
}

// repository is the repository a run adds its worktree to.
type repository struct {
	root    string // its working tree; "" when it is bare
	common  string // the git folder all worktrees share
	program string
	env     []string
	ignore  string // core.excludesFile of the person; "" is git's default place
}

// openRepository finds the repository a folder is in and silences its filters.
func openRepository(ctx context.Context, dir string, environ []string) (*repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &repository{}
	if r.root, r.common, err = locate(dir); err != nil {
		return nil, err
	}
	place := r.root
	if place == "" {
		place = r.common
	}
	if r.program = gitOutside(environ, place); r.program == "" {
		return nil, errors.New("there is no git on the search path outside the repository")
	}
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(strings.ToUpper(name), "GIT_") && !strings.HasPrefix(name, "LC_") {
			r.env = append(r.env, kv)
		}
	}
	r.env = append(r.env,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=", "GIT_EDITOR=true", "LC_ALL=C",
	)
	keys, err := r.output(ctx, "config", "--list", "-z", "--name-only")
	if err != nil {
		return nil, err
	}
	r.silence(keys)
	r.ignore = r.ignored(ctx, environ)
	return r, nil
}

// ignored is the person's own list of ignored files, the one setting of theirs
// that counts: without it a commit would gather what their git never shows.
func (r *repository) ignored(ctx context.Context, environ []string) string {
	cmd := exec.CommandContext(ctx, r.program, "config", "--global", "--type=path", "--get", "core.excludesFile")
	cmd.Dir, cmd.Env = filepath.Dir(r.common), environ
	name, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// locate walks up from dir to a repository, without asking git: git would read
// the person's settings to decide whether it may look.
func locate(dir string) (root, common string, err error) {
	for at := dir; ; {
		link := filepath.Join(at, ".git")
		if info, err := os.Stat(link); err == nil {
			folder := link
			if !info.IsDir() {
				if folder, err = pointed(link, at, "gitdir: "); err != nil {
					return "", "", err
				}
			}
			common, err := pointed(filepath.Join(folder, "commondir"), folder, "")
			if err != nil {
				common = folder
			}
			return at, common, nil
		}
		if isBare(at) {
			return "", at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", "", fmt.Errorf("%s is in no git repository", dir)
		}
		at = up
	}
}

// pointed is the path a small file of git names, relative to base.
func pointed(name, base, prefix string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if !ok {
		return "", fmt.Errorf("%s names no git folder", name)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), nil
}

func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// gitOutside is the first git of the search path that is no file of the
// repository.
func gitOutside(environ []string, root string) string {
	for _, dir := range filepath.SplitList(lookup(environ, "PATH")) {
		if !filepath.IsAbs(dir) || below(root, dir) {
			continue
		}
		program, err := exec.LookPath(filepath.Join(dir, "git"))
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(program); err == nil && !below(root, real) {
			return program
		}
	}
	return ""
}

func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// silence empties every filter driver of the settings: a checkout or a commit
// must not start one.
func (r *repository) silence(keys []byte) {
	seen := map[string]bool{}
	n := 0
	pair := func(key, value string) {
		r.env = append(r.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	for key := range strings.SplitSeq(string(keys), "\x00") {
		name, ok := strings.CutPrefix(key, "filter.")
		dot := strings.LastIndexByte(name, '.')
		if !ok || dot < 0 || seen[name[:dot]] {
			continue
		}
		seen[name[:dot]] = true
		for _, part := range []string{"clean", "smudge", "process"} {
			pair("filter."+name[:dot]+"."+part, "")
		}
		pair("filter."+name[:dot]+".required", "false")
	}
	r.env = append(r.env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// tree is a worktree of a run: where its files are and where git keeps its
// index and HEAD. Both are remembered from its making, because the command can
// write to the file that leads from one to the other.
type tree struct {
	Path   string `json:"path"`
	GitDir string `json:"gitDir"`
	Branch string `json:"branch"`
}

func (r *repository) start(ctx context.Context, t *tree, stdin []byte, args []string) *exec.Cmd {
	full := []string{"--no-replace-objects", "--no-pager", "--literal-pathspecs"}
	dir := filepath.Dir(r.common)
	if t != nil {
		full = append(full, "--git-dir="+t.GitDir, "--work-tree="+t.Path)
		dir = t.Path
	} else {
		full = append(full, "--git-dir="+r.common)
	}
	for _, s := range quiet {
		full = append(full, "-c", s)
	}
	if r.ignore != "" {
		full = append(full, "-c", "core.excludesFile="+r.ignore)
	}
	cmd := exec.CommandContext(ctx, r.program, append(full, args...)...)
	cmd.Dir, cmd.Env = dir, r.env
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	return cmd
}

// output is what git prints, without the last line feed.
func (r *repository) output(ctx context.Context, args ...string) ([]byte, error) {
	return r.in(ctx, nil, nil, args...)
}

func (r *repository) in(ctx context.Context, t *tree, stdin []byte, args ...string) ([]byte, error) {
	cmd := r.start(ctx, t, stdin, args)
	var out, said bounded
	out.room, said.room = gitBound, 4<<10
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, failure(args[0], said.kept, err)
	}
	if out.over {
		return nil, fmt.Errorf("git %s: its output is over the bound", args[0])
	}
	return bytes.TrimSuffix(out.kept, []byte("\n")), nil
}

func failure(verb string, said []byte, err error) error {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(said), "")), " ")
	if text == "" {
		text = err.Error()
	}
	return fmt.Errorf("git %s: %s", verb, redact.Text(text))
}

// bounded keeps the first room bytes and swallows the rest.
type bounded struct {
	kept []byte
	room int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	take := min(len(p), b.room-len(b.kept))
	b.kept = append(b.kept, p[:take]...)
	b.over = b.over || take < len(p)
	return len(p), nil
}

// commit is the full id of the commit that a revision names.
func (r *repository) commit(ctx context.Context, revision string) (string, error) {
	id, err := r.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s is no commit of this repository", revision)
	}
	return string(id), nil
}

// diffHash is the hash of docs/spec/contracts.md §10.3: over the bytes of the
// full-index, binary, uncoloured diff from base to head, with everything else
// that a setting could change at git's own default. What it is over goes to seen.
func (r *repository) diffHash(ctx context.Context, base, head string, seen io.Writer) (string, error) {
	cmd := r.start(ctx, nil, nil, []string{
		"-c", "diff.orderFile=" + os.DevNull, "-c", "diff.suppressBlankEmpty=false", "-c", "diff.renameLimit=32767",
		"-c", "attr.tree=", "-c", "core.bigFileThreshold=512m",
		"diff", "--full-index", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames=50%",
		"--diff-algorithm=myers", "--no-indent-heuristic", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/",
		"--submodule=short", "--ignore-submodules=none", "--ws-error-highlight=none", "--end-of-options", base, head,
	})
	sum := sha256.New()
	said := bounded{room: 4 << 10}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(sum, seen), &said
	if err := cmd.Run(); err != nil {
		return "", failure("diff", said.kept, err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// filesBound is how many bytes of names go with a result, whose body the service
// bounds.
const filesBound = 256 << 10

// files is what was added and deleted between two commits; a file that was
// renamed is both. None are named when they are too many.
func (r *repository) files(ctx context.Context, base, head string) ([]artifact.File, error) {
	cmd := r.start(ctx, nil, nil, []string{
		"diff-tree", "-r", "-z", "--no-renames", "--name-status", "--diff-filter=AD", "--end-of-options", base, head,
	})
	out, said := bounded{room: filesBound}, bounded{room: 4 << 10}
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, failure("diff-tree", said.kept, err)
	}
	if out.over {
		return nil, nil
	}
	var list []artifact.File
	parts := strings.Split(string(out.kept), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		f := artifact.File{Change: artifact.Added, Path: parts[i+1]}
		if parts[i] == "D" {
			f.Change = artifact.Deleted
		}
		if f.Check() != nil {
			continue // a name that the service could not keep
		}
		list = append(list, f)
	}
	return list, nil
}

// file is the bytes of a file at a commit; nil when there is none.
func (r *repository) file(ctx context.Context, commit, name string) []byte {
	text, err := r.read(ctx, "cat-file", "blob", commit+":"+name)
	if err != nil {
		return nil
	}
	return text
}

// read is output with its last line feed.
func (r *repository) read(ctx context.Context, args ...string) ([]byte, error) {
	cmd := r.start(ctx, nil, nil, args)
	out := bounded{room: gitBound}
	cmd.Stdout, cmd.Stderr = &out, io.Discard
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	if out.over {
		return nil, errors.New("the file is over the bound")
	}
	if out.kept == nil {
		out.kept = []byte{}
	}
	return out.kept, nil
}

// lookup is the last value of a variable.
func lookup(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if n, v, ok := strings.Cut(kv, "="); ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			value = v
		}
	}
	return value
}
