package shipgate_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/cli/shipgate"
)

// agent is one session of a host's agent in a repository, with a cache of its own.
type agent struct {
	host       hook.Host
	session    string
	dir, cache string
	environ    []string
	event      string // what the host says, "" for an ordinary stop
}

func newAgent(t *testing.T, h hook.Host, dir string) *agent {
	t.Helper()
	a := &agent{host: h, session: "s-1", dir: dir, cache: t.TempDir()}
	a.environ = append(os.Environ(), append(quietGit(t.TempDir()), "XDG_CACHE_HOME="+a.cache)...)
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		a.environ = append(a.environ, "HOME="+a.cache, "LocalAppData="+a.cache)
	}
	return a
}

// said is an answer of the gate.
type said struct {
	Decision, Reason string
	Followup         string `json:"followup_message"`
	Notice           string `json:"systemMessage"`
	Continue         *bool
	StopReason       string `json:"stopReason"`
}

func (s *said) blocks() bool { return s.Decision == "block" && s.Reason != "" || s.Followup != "" }

// sentence is what the agent is told.
func (s *said) sentence() string { return s.Reason + s.Followup }

func (s *said) halts() bool { return s.Continue != nil && !*s.Continue && s.StopReason != "" }

// passes says whether the agent goes, told or not.
func (s *said) passes() bool { return !s.blocks() && !s.halts() }

// stop is an agent that wants to end its turn; again says that the host says that
// a hook has already sent it on.
func (a *agent) stop(t *testing.T, again bool) said {
	t.Helper()
	event := a.event
	if event == "" {
		event = stopEvent(a.host, a.session, a.dir, again)
	}
	env := shipgate.Env{Dir: a.dir, Environ: a.environ}
	code, out, errs := call(env, event, []string{"hook", string(a.host)})
	var s said
	if err := json.Unmarshal(out, &s); err != nil || code != 0 || len(errs) > 0 {
		t.Errorf("exit code %d, %q, %q (%v)", code, out, errs, err)
	}
	return s
}

func eachHost(t *testing.T, f func(t *testing.T, h hook.Host)) {
	t.Helper()
	for _, h := range hook.Hosts() {
		t.Run(string(h), func(t *testing.T) {
			t.Parallel()
			f(t, h)
		})
	}
}

const newServer = `{"mcpServers": {"files": {"command": "npx", "args": ["files"]}}}`

func waiting(t *testing.T) string { // for a person
	t.Helper()
	c := change{adopted: true, worktree: map[string]string{".mcp.json": newServer}}
	return c.build(t)
}

func unfinished(t *testing.T) string { // by the agent
	t.Helper()
	c := change{worktree: map[string]string{".mcp.json": `{"mcpServers": {}}`}}
	return c.build(t)
}

func TestAnAgentReportsOnceAndGoes(t *testing.T) {
	eachHost(t, func(t *testing.T, h hook.Host) {
		t.Helper()
		a := newAgent(t, h, waiting(t))
		first, second, third := a.stop(t, false), a.stop(t, true), a.stop(t, false)
		if !first.blocks() || !strings.Contains(first.sentence(), "MCP server added") || !strings.Contains(first.sentence(), "`.mcp.json`") {
			t.Errorf("first %+v", first)
		}
		if !second.passes() || h != hook.Cursor && !strings.Contains(second.Notice, "MCP server added") {
			t.Errorf("then %+v", second)
		}
		if !third.passes() || third.Notice != "" {
			t.Errorf("then %+v", third)
		}
		// Another result of the same session, and the same of another, are news.
		write(t, a.dir, ".mcp.json", strings.Replace(newServer, `"files":`, `"mail":`, 1))
		if s := a.stop(t, false); !s.blocks() {
			t.Errorf("another server: %+v", s)
		}
		write(t, a.dir, ".mcp.json", newServer)
		if s := a.stop(t, false); !s.passes() {
			t.Errorf("what was told before: %+v", s)
		}
		a.session = "s-2"
		if s := a.stop(t, true); !s.blocks() {
			t.Errorf("another session: %+v", s)
		}
		// Nothing is owed when the change is gone.
		write(t, a.dir, ".mcp.json", "")
		if s := a.stop(t, false); !s.passes() || s.Notice != "" {
			t.Errorf("no change: %+v", s)
		}
	})
}

// write puts a text at a path of a repository; "" takes the file away.
func write(t *testing.T, dir, path, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(path))
	err := os.MkdirAll(filepath.Dir(at), 0o755)
	switch {
	case err != nil:
	case text == "":
		err = os.Remove(at)
	default:
		err = os.WriteFile(at, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnAgentThatWillNotActNeverPasses(t *testing.T) {
	eachHost(t, func(t *testing.T, h hook.Host) {
		t.Helper()
		a := newAgent(t, h, unfinished(t))
		halts := 0
		for i := range 3*hook.Patience + 2 {
			s := a.stop(t, i > 0)
			if s.passes() || s.blocks() && !strings.Contains(s.sentence(), "agents-shipgate verify") {
				t.Fatalf("stop %d: %+v", i+1, s)
			}
			if s.halts() {
				halts++
			}
		}
		if want := map[bool]int{true: 0, false: 2}[h == hook.Cursor]; halts != want {
			t.Errorf("halted %d times", halts)
		}
		if s := a.stop(t, false); !s.blocks() {
			t.Errorf("in a new turn: %+v", s)
		}
	})
}

// Where the check only says that a verification is owed, the hook runs it: it
// would be no evidence that the agent says it did. The task that comes of it is
// named until it is done.
func TestAHookVerifiesWhatIsOwed(t *testing.T) {
	eachHost(t, func(t *testing.T, h hook.Host) {
		t.Helper()
		stale := strings.Replace(agreedManifest, "    - {check_id:", "    - {check_id: SHIP-DOC-MISSING-DESCRIPTION, tool: gone, reason: short}\n    - {check_id:", 1)
		described := strings.Replace(agreedTools, "by its number.", "by its number or date.", 1)
		if stale == agreedManifest || described == agreedTools {
			t.Fatal("the files that agree have changed")
		}
		c := change{adopted: true, commits: map[string]string{"shipgate.yaml": stale}}
		a := newAgent(t, h, c.build(t))
		git(t, a.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
		write(t, a.dir, "tools/tools.json", described)
		for range 3 {
			if s := a.stop(t, false); !s.blocks() || !strings.Contains(s.sentence(), "repair it") {
				t.Errorf("%+v", s)
			}
		}
		write(t, a.dir, "shipgate.yaml", agreedManifest)
		if s := a.stop(t, true); !s.passes() {
			t.Errorf("repaired: %+v", s)
		}
		if _, err := os.Lstat(filepath.Join(a.dir, "agents-shipgate-reports")); err == nil {
			t.Error("the hook wrote reports")
		}
	})
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(cmd.Environ(), quietGit(dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// A gate without a result refuses every time: nothing was told that a person
// could decide.
func TestFailuresAreNeverRemembered(t *testing.T) {
	eachHost(t, func(t *testing.T, h hook.Host) {
		t.Helper()
		repo := waiting(t)
		for name, breaks := range map[string]func(a *agent){
			"no event":       func(a *agent) { a.event = "\n" },
			"no JSON":        func(a *agent) { a.event = "stop" },
			"no folder":      func(a *agent) { a.dir = filepath.Join(repo, "gone") },
			"a file":         func(a *agent) { a.dir = filepath.Join(repo, ".mcp.json") },
			"a relative one": func(a *agent) { a.event = stopEvent(h, "s", "shop", false) },
			"no git":         func(a *agent) { a.environ = append(a.environ, "PATH="+a.cache) },
			"another event": func(a *agent) {
				a.event = strings.Replace(stopEvent(h, "s", repo, false), h.Events()[0], "SessionEnd", 1)
			},
			"an endless event": func(a *agent) { a.event = `{"x":"` + strings.Repeat("x", hook.MaxEvent+10) },
		} {
			a := newAgent(t, h, repo)
			breaks(a)
			for range 3 {
				if s := a.stop(t, true); !s.blocks() || !strings.Contains(s.sentence(), "shipgate could not check this change") {
					t.Errorf("%s: %+v", name, s)
				}
			}
			if found, err := os.ReadDir(a.cache); err != nil || len(found) > 0 {
				t.Errorf("%s: something is remembered (%v)", name, err)
			}
		}
	})
}

// A memory that cannot be used, whatever somebody made of it, is no reason to let
// an agent go, and no reason to fail.
func TestWithoutAMemoryItIsSaidAgain(t *testing.T) {
	repo := waiting(t)
	file := func(t *testing.T, a *agent) string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(a.cache, "*", "hooks", "*.json"))
		if more, bad := filepath.Glob(filepath.Join(a.cache, "Library", "Caches", "*", "hooks", "*.json")); bad == nil {
			found = append(found, more...)
		}
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		return found[0]
	}
	replace := func(with func(t *testing.T, at string, old []byte) error) func(*testing.T, *agent) {
		t.Helper()
		return func(t *testing.T, a *agent) {
			t.Helper()
			at := file(t, a)
			old, err := os.ReadFile(at)
			if err == nil {
				err = os.Remove(at)
			}
			if err == nil {
				err = with(t, at, old)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, breaks := range map[string]func(t *testing.T, a *agent){
		"gone":    replace(func(*testing.T, string, []byte) error { return nil }),
		"garbage": replace(func(_ *testing.T, at string, _ []byte) error { return os.WriteFile(at, []byte("\x00{]"), 0o600) }),
		"half":    replace(func(_ *testing.T, at string, old []byte) error { return os.WriteFile(at, old[:len(old)/2], 0o600) }),
		"too much": replace(func(_ *testing.T, at string, old []byte) error {
			return os.WriteFile(at, append(old, make([]byte, 1<<20)...), 0o600)
		}),
		"a folder": replace(func(_ *testing.T, at string, _ []byte) error { return os.MkdirAll(filepath.Join(at, "in"), 0o700) }),
		"a link to a memory beside it": replace(func(_ *testing.T, at string, old []byte) error {
			if err := os.WriteFile(filepath.Join(filepath.Dir(at), "beside"), old, 0o600); err != nil {
				return err
			}
			return os.Symlink("beside", at)
		}),
		"a link to a memory elsewhere": replace(func(t *testing.T, at string, old []byte) error {
			t.Helper()
			elsewhere := filepath.Join(t.TempDir(), "memory.json")
			if err := os.WriteFile(elsewhere, old, 0o600); err != nil {
				return err
			}
			return os.Symlink(elsewhere, at)
		}),
		"no folder at all": func(t *testing.T, a *agent) {
			t.Helper()
			a.environ = append(a.environ, "XDG_CACHE_HOME=", "HOME=", "LocalAppData=")
		},
		"a relative folder": func(t *testing.T, a *agent) {
			t.Helper()
			a.environ = append(a.environ, "XDG_CACHE_HOME=cache", "HOME=home", "LocalAppData=cache")
		},
		"a folder that is a file": func(t *testing.T, a *agent) {
			t.Helper()
			at := filepath.Join(repo, ".mcp.json")
			a.environ = append(a.environ, "XDG_CACHE_HOME="+at, "HOME="+at, "LocalAppData="+at)
		},
		"inside the repository": func(t *testing.T, a *agent) {
			t.Helper()
			a.environ = append(a.environ, "XDG_CACHE_HOME="+repo, "HOME="+repo, "LocalAppData="+repo)
		},
		"in a repository by a link": func(t *testing.T, a *agent) {
			t.Helper()
			link := filepath.Join(t.TempDir(), "cache")
			if err := os.Symlink(repo, link); err != nil {
				t.Fatal(err)
			}
			a.environ = append(a.environ, "XDG_CACHE_HOME="+link+"/below", "HOME="+link, "LocalAppData="+link)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(name, "link") {
				t.Skip("links need a right there")
			}
			before, err := digest(repo)
			if err != nil {
				t.Fatal(err)
			}
			a := newAgent(t, hook.ClaudeCode, repo)
			if s := a.stop(t, false); !s.blocks() {
				t.Fatalf("%+v", s)
			}
			breaks(t, a)
			if s := a.stop(t, true); !s.blocks() {
				t.Errorf("%+v", s)
			}
			if after, err := digest(repo); err != nil || after != before {
				t.Errorf("the repository was changed (%v)", err)
			}
		})
	}
}

// Many at once, of one session and of many, answer all; the memory stays whole.
func TestManyHooksAtOnce(t *testing.T) {
	a := newAgent(t, hook.ClaudeCode, waiting(t))
	var all sync.WaitGroup
	for i := range 32 {
		b := *a
		if i%2 == 1 {
			b.session = "other-" + strconv.Itoa(i)
		}
		all.Go(func() {
			if s := b.stop(t, false); b.session != a.session && !s.blocks() {
				t.Errorf("%s: %+v", b.session, s)
			}
		})
	}
	all.Wait()
	if s := a.stop(t, false); !s.passes() {
		t.Errorf("what was told in this session: %+v", s)
	}
	b := *a
	b.session = "other-1"
	if s := b.stop(t, true); !s.passes() {
		t.Errorf("what was told in another: %+v", s)
	}
	err := filepath.WalkDir(a.cache, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".json" {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheMemoryIsBounded(t *testing.T) {
	a := newAgent(t, hook.ClaudeCode, waiting(t))
	a.stop(t, false)
	found, err := filepath.Glob(filepath.Join(a.cache, "*", "hooks"))
	if err != nil || len(found) != 1 {
		t.Skip("the cache of this system lies elsewhere")
	}
	folder := found[0]
	long := time.Now().Add(-365 * 24 * time.Hour)
	for i := range 3000 {
		at := filepath.Join(folder, strconv.Itoa(i)+map[bool]string{true: ".tmp", false: ".json"}[i%3 == 0])
		if err := os.WriteFile(at, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := os.Chtimes(at, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.session = "another"
	a.stop(t, false)
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 256 {
		t.Errorf("%d files are left (%v)", len(left), err)
	}
	old := 0
	for _, e := range left {
		if e.Name()[0] == '2' { // one of those above
			old++
			if err := os.Chtimes(filepath.Join(folder, e.Name()), long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := *a
	b.session = "yet another"
	b.stop(t, false)
	if now, err := os.ReadDir(folder); err != nil || old < 100 || len(now) > len(left)-old+1 {
		t.Errorf("of %d files, %d of them old, %d are left (%v)", len(left), old, len(now), err)
	}
	if s := a.stop(t, true); !s.passes() {
		t.Errorf("what was just told is forgotten: %+v", s)
	}
}

// The agent's own folder is not the only one that counts: the project is judged
// as well, from where it was adopted.
func TestTheProjectCountsWhereverTheAgentIs(t *testing.T) {
	a := newAgent(t, hook.ClaudeCode, waiting(t))
	project := a.dir
	for name, dir := range map[string]string{"elsewhere": t.TempDir(), "another repository": repository(t), "below": filepath.Join(project, "tools")} {
		b := *a
		b.dir, b.session = dir, name
		if name != "below" {
			if s := b.stop(t, false); name == "another repository" && !s.passes() {
				t.Errorf("%s, of no project: %+v", name, s)
			}
			b.environ = append(slices.Clone(b.environ), "CLAUDE_PROJECT_DIR="+project)
		}
		if s := b.stop(t, false); !s.blocks() || !strings.Contains(s.sentence(), "MCP server added") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A folder without a repository is no pass.
func TestAFolderWithoutARepositoryIsNoPass(t *testing.T) {
	eachHost(t, func(t *testing.T, h hook.Host) {
		t.Helper()
		if s := newAgent(t, h, t.TempDir()).stop(t, false); !s.blocks() {
			t.Errorf("%+v", s)
		}
	})
}

// What was told about one repository was not told about another.
func TestAResultBelongsToItsRepository(t *testing.T) {
	for name, path := range map[string]string{"of the check": ".claude/settings.json", "of the verification": "tools/tools.json"} {
		text := `{"permissions": {"allow": ["Bash(*)"]}}`
		if name == "of the verification" {
			text = strings.Replace(agreedTools, `"readOnlyHint": true`, `"destructiveHint": true`, 1)
		}
		c := change{adopted: true, worktree: map[string]string{path: text}}
		a := newAgent(t, hook.Codex, c.build(t))
		for range 2 {
			if s := a.stop(t, false); !s.blocks() {
				t.Errorf("%s: %+v", name, s)
			}
			if s := a.stop(t, true); !s.passes() {
				t.Errorf("%s: %+v", name, s)
			}
			a.dir = c.build(t)
		}
	}
}

func TestAPersonWhoAbortsIsNotTalkedTo(t *testing.T) {
	a := newAgent(t, hook.Cursor, waiting(t))
	a.event = strings.Replace(stopEvent(a.host, a.session, a.dir, false), "completed", "aborted", 1)
	if s := a.stop(t, false); !s.passes() {
		t.Errorf("%+v", s)
	}
	a.event = ""
	if s := a.stop(t, false); !s.blocks() {
		t.Errorf("the next stop: %+v", s)
	}
}
