package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// watch puts a git before the search path that writes down each call and, where
// a verb has company, waits until that one has been started, too.
func watch(r *repo, together ...[2]string) (calls func() []string) {
	r.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		r.t.Fatal(err)
	}
	tools := &repo{t: r.t, root: r.t.TempDir()}
	var waits strings.Builder
	for _, pair := range together {
		for i, verb := range pair {
			fmt.Fprintf(&waits, "%s) other=%s;;\n", verb, pair[1-i])
		}
	}
	tools.program("git", `
dir=`+tools.root+`
verb=
for a; do case $a in status|ls-files|diff|cat-file|merge-base|config|check-attr|update-index|ls-tree) verb=$a; break;; esac; done
printf '%s\n' "$*" | tr '\n' ' ' >>$dir/log.$$
other=
case $verb in `+waits.String()+`esac
: >$dir/started.$verb
if [ -n "$other" ]; then
	n=0
	while [ ! -e $dir/started.$other ]; do
		n=$((n+1))
		[ $n -gt 300 ] && exit 9
		sleep 0.02
	done
fi
exec `+real+` "$@"`)
	r.path = tools.root
	return func() []string {
		names, err := filepath.Glob(tools.at("log.*"))
		if err != nil {
			r.t.Fatal(err)
		}
		var out []string
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				r.t.Fatal(err)
			}
			out = append(out, string(data))
		}
		slices.Sort(out)
		return out
	}
}

// The usual check needs five processes, the last two while the third still looks
// for untracked files; an unchanged tree three; a detached diff none (docs/spec/boundary.md §2.1, Appendix C).
func TestHowManyProcessesACheckNeeds(t *testing.T) {
	t.Parallel()
	base := files{
		settings: harmless, "notes.txt": "one\n", "CLAUDE.md": "-> AGENTS.md", "AGENTS.md": advice, ".claude/skills": "-> ../kit",
		"kit/x/SKILL.md": advice, "shipgate.yaml": manifest("tools"), "tools/a.json": "{}\n", ".gitattributes": "*.png filter=lfs\n",
		"docs/notes.md": "-> none", "policies/agent-boundary.shipgate.yaml": "id: x\n",
	}
	const first, second = "status ls-files ls-files", "cat-file diff"
	for _, row := range []struct {
		name string
		do   func(r *repo)
		edit []func(*requestOf)
		want string
	}{
		{"nothing is touched", func(*repo) {}, nil, first},
		{"untracked files that do not matter", func(r *repo) { r.write(files{"a.txt": "x\n", "b.go": "x\n"}) }, nil, first},
		{"an edited boundary file", func(r *repo) { r.write(files{settings: grant}) }, nil, first + " " + second},
		{"everything staged", func(r *repo) { r.stage(files{settings: grant, "notes.txt": "two\n", "tools/a.json": "[]\n"}) }, nil, first + " " + second},
		{"an edited source", func(r *repo) { r.write(files{"notes.txt": "two\n"}) }, nil, first + " " + second},
		{"a split path", func(r *repo) { r.stage(files{settings: grant}); r.write(files{settings: wider}) }, nil, first + " " + second + " diff"},
		{"a filter driver", func(r *repo) { r.git("config", "filter.lfs.clean", "cat"); r.write(files{settings: grant}) }, nil, "config " + first + " " + second},
		{"a filter attribute above a changed path", func(r *repo) { r.write(files{settings: grant, "x.png": "x\n"}) }, nil, first + " " + second + " check-attr"},
		{"a range", func(r *repo) { r.commit(files{settings: grant}) }, []func(*requestOf){refs("HEAD~1", "HEAD")}, "cat-file merge-base diff diff"},
		{"a supplied diff", func(*repo) {}, []func(*requestOf){supplied(patch(settings, harmless, grant))}, ""},
		{"an adoption is proven", func(r *repo) {
			r.commit(files{"shipgate.yaml": ""})
			r.write(files{"shipgate.yaml": manifest("tools")})
		}, nil, first + " cat-file ls-tree"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, base)
			if !strings.Contains(row.name, "attribute") {
				r.git("rm", "-q", ".gitattributes")
				r.git("commit", "-q", "-m", "without")
			}
			row.do(r)
			calls := watch(r)
			r.input(row.edit...)
			var verbs []string
			for _, c := range calls() {
				words := strings.Fields(c)
				i := slices.IndexFunc(words, func(w string) bool {
					return slices.Contains([]string{"status", "ls-files", "diff", "cat-file", "merge-base", "config", "check-attr", "ls-tree"}, w)
				})
				if i < 0 || !strings.HasPrefix(c, "--no-replace-objects --no-pager --git-dir="+r.root+"/.git --work-tree="+r.root+" -c core.fsmonitor=false ") {
					t.Fatalf("a call of another form: %s", c)
				}
				verbs = append(verbs, words[i])
			}
			want := strings.Fields(row.want)
			slices.Sort(want)
			slices.Sort(verbs)
			if !slices.Equal(verbs, want) {
				t.Errorf("got %q, want %q", verbs, want)
			}
		})
	}
}

func TestProcessesRunBesideEachOther(t *testing.T) {
	t.Parallel()
	r := newRepo(t, files{settings: harmless})
	r.write(files{settings: grant})
	watch(r, [2]string{"status", "ls-files"}, [2]string{"diff", "cat-file"})
	change(t, r.input(), settings, "git_worktree")
}

// Temporary files are no part of the repository, wherever the environment puts
// them.
func TestNothingIsWrittenIntoTheRepository(t *testing.T) {
	r := newRepo(t, files{settings: harmless, ".gitattributes": "*.json filter=crypt\n", "tmp/x": "x\n", "src/x": "x\n"})
	r.git("update-index", "--refresh")
	r.git("sparse-checkout", "set", "--cone", "--sparse-index", "src", "tmp")
	r.write(files{settings: grant, ".gitattributes": "*.json filter=other\n"})
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	tools := &repo{t: t, root: t.TempDir()}
	tools.program("git", `
case $GIT_INDEX_FILE$GIT_OBJECT_DIRECTORY in *`+r.root+`/tmp*) echo "$GIT_INDEX_FILE $GIT_OBJECT_DIRECTORY" >>`+tools.at("inside")+`;; esac
case $GIT_INDEX_FILE in ?*) : >`+tools.at("index")+`;; esac
case $GIT_OBJECT_DIRECTORY in ?*) : >`+tools.at("objects")+`;; esac
exec `+real+` "$@"`)
	r.path = tools.root
	t.Setenv("TMPDIR", r.at("tmp"))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	expect(t, r.input(), `
		files .claude/settings.json .gitattributes
		disk .claude/settings.json: (input_filtered) -> (input_filtered)
		issue input_filtered .claude/settings.json
		record .claude/settings.json edited 100644
		record .gitattributes edited 100644 -1 +1`)
	if data, err := os.ReadFile(tools.at("inside")); err == nil {
		t.Errorf("temporary files in the repository: %s", data)
	}
	for _, needed := range []string{"index", "objects"} {
		if _, err := os.Stat(tools.at(needed)); err != nil {
			t.Errorf("no temporary %s was needed", needed)
		}
	}
}

// Past what a command line carries, git lists the whole tree, where every other
// file has a new time stamp: it would like to write that down and call its hook.
func TestMoreChangesThanFitOnACommandLine(t *testing.T) {
	t.Parallel()
	base, next := files{settings: harmless}, files{settings: grant}
	for i := range 800 {
		p := fmt.Sprintf("a folder with a long name/and another one/file %d.txt", i)
		base[p] = "one\n"
		if i < 600 {
			next[p] = "two\n"
		}
	}
	r := newRepo(t, base)
	r.git("config", "diff.autoRefreshIndex", "true")
	r.program(".git/hooks/post-index-change", "touch "+r.at("ran"))
	r.write(next)
	in := r.input()
	if len(in.ChangedFiles) != len(next) || len(in.Records) != len(next) || len(in.Changes) != 1 {
		t.Errorf("%d changed files, %d records, %d changes of %d", len(in.ChangedFiles), len(in.Records), len(in.Changes), len(next))
	}
}
