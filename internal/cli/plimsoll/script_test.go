package plimsoll_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll.dev/internal/cli/plimsoll"
)

// The program of the scripts is this test binary under another name: a process
// of its own, with signals, files and the network, running nothing but Main.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"plimsoll": func() { os.Exit(plimsoll.Main(os.Args[1:], plimsoll.OS())) },
	})
}

// TestScripts drives the program from scripts. Beside what testscript brings
// they may use
//
//	service [ARG...]          init with the people below and serve with ARG in the background
//	stop                      interrupt the service; it must end with 0
//	as NAME                   whose token the commands use from here on
//	fails CODE CMD...         run a command that must exit CODE
//	until REGEXP CMD...       run a command until its output matches
//	repo DIR                  make a repository with one commit
//	untouched DIR             its working tree, index and branch are as repo left them
//
// and EXAMPLES names the folder of the examples.
//
// The people: alice asks, bob leads, sue reviews security, rel releases, root
// is the admin, ci does the work.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireUniqueNames: true, UpdateScripts: os.Getenv("PLIMSOLL_GOLDEN") == "1",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USER", "me")
			examples, err := filepath.Abs(filepath.Join("..", "..", "..", "examples"))
			if err != nil {
				return err
			}
			e.Setenv("EXAMPLES", examples)
			for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
				e.Setenv(name, "")
			}
			e.Values[worldKey{}] = &world{tokens: map[string]string{}, repos: map[string]string{}}
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"service": service, "stop": stop, "as": as, "fails": fails, "until": until, "repo": repo, "untouched": untouched,
		},
	})
}

type worldKey struct{}

type world struct {
	tokens map[string]string
	repos  map[string]string // what a repository looked like
	serve  *exec.Cmd
	said   *bytes.Buffer
	end    func() error
}

func of(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

var people = []string{
	"alice:human:requester", "bob:human:project_lead", "sue:human:security_reviewer", "rel:human:release_manager", "root:human:admin",
	"ci:agent:developer,ci_agent,qa",
}

var tokenLine = regexp.MustCompile(`(?m)^(\S+) \(\w+\): .*\n  token until \S+: (\S+)$`)

func service(ts *testscript.TestScript, neg bool, args []string) {
	w := of(ts)
	if neg || w.end != nil {
		ts.Fatalf("usage: service ARG..., once")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	address := l.Addr().String()
	ts.Check(l.Close())
	ts.Setenv("PLIMSOLL_LISTEN", address)
	ts.Setenv("PLIMSOLL_SERVER", "http://"+address)
	init := []string{"init"}
	for _, p := range people {
		init = append(init, "--actor", p)
	}
	out := &bytes.Buffer{}
	cmd := program(ts, init...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		ts.Fatalf("init: %v\n%s", err, out)
	}
	for _, m := range tokenLine.FindAllStringSubmatch(out.String(), -1) {
		w.tokens[m[1]] = m[2]
	}
	if len(w.tokens) != len(people) {
		ts.Fatalf("init made %d tokens:\n%s", len(w.tokens), out)
	}
	w.serve, w.said = program(ts, append([]string{"serve"}, args...)...), &bytes.Buffer{}
	w.serve.Stdout, w.serve.Stderr = w.said, w.said
	ts.Check(w.serve.Start())
	w.end = sync.OnceValue(func() error {
		_ = w.serve.Process.Signal(syscall.SIGINT)
		return w.serve.Wait()
	})
	ts.Defer(func() {
		if err := w.end(); err != nil {
			ts.Logf("serve: %v\n%s", err, w.said)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the service does not start:\n%s", w.said)
		}
	}
}

// program is the program with the environment of the script.
func program(ts *testscript.TestScript, args ...string) *exec.Cmd {
	path, err := exec.LookPath("plimsoll")
	for _, folder := range filepath.SplitList(ts.Getenv("PATH")) {
		if found := filepath.Join(folder, "plimsoll"); exists(found) {
			path, err = found, nil
			break
		}
	}
	ts.Check(err)
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{
		"HOME", "USER", "PATH", "PLIMSOLL_LISTEN", "PLIMSOLL_SERVER", "PLIMSOLL_TOKEN", "WORK", "TMPDIR", "GOCOVERDIR",
	} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func stop(ts *testscript.TestScript, neg bool, _ []string) {
	w := of(ts)
	if neg || w.end == nil {
		ts.Fatalf("nothing to stop")
	}
	if err := w.end(); err != nil {
		ts.Fatalf("serve: %v\n%s", err, w.said)
	}
}

func as(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || of(ts).tokens[args[0]] == "" {
		ts.Fatalf("usage: as NAME, of somebody there is")
	}
	ts.Setenv("PLIMSOLL_TOKEN", of(ts).tokens[args[0]])
}

func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE CMD...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("it exits %d, not %s", code, args[0])
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP CMD...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	// Each question is a process, and the service it waits for needs the processor.
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("it does not come to %s: %v", args[0], err)
		}
	}
}

func git(ts *testscript.TestScript, dir string, args ...string) string {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

func repo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	git(ts, dir, "init", "-q", "-b", "main")
	git(ts, dir, "config", "user.name", "A Person")
	git(ts, dir, "config", "user.email", "person@example.org")
	ts.Check(os.WriteFile(filepath.Join(dir, "app.txt"), []byte("one\n"), 0o644))
	git(ts, dir, "add", ".")
	git(ts, dir, "commit", "-qm", "Begin")
	// What a person has under way when a run begins.
	ts.Check(os.WriteFile(filepath.Join(dir, "app.txt"), []byte("two\n"), 0o644))
	ts.Check(os.WriteFile(filepath.Join(dir, "staged.txt"), []byte("staged\n"), 0o644))
	git(ts, dir, "add", "staged.txt")
	ts.Check(os.WriteFile(filepath.Join(dir, "new.txt"), []byte("new\n"), 0o644))
	of(ts).repos[dir] = look(ts, dir)
}

func look(ts *testscript.TestScript, dir string) string {
	return strings.Join([]string{
		git(ts, dir, "status", "--porcelain=v2", "--branch", "--untracked-files=all"), git(ts, dir, "diff"), git(ts, dir, "diff", "--cached"),
		git(ts, dir, "stash", "list"),
	}, "\n")
}

func untouched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: untouched DIR")
	}
	dir := ts.MkAbs(args[0])
	if now := look(ts, dir); now != of(ts).repos[dir] {
		ts.Fatalf("the working tree was\n%s\nand is\n%s", of(ts).repos[dir], now)
	}
}
