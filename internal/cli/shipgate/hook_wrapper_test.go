//go:build unix

package shipgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll.dev/internal/adopt/hook"
)

// hosted is a project as a host sees it, with a gate that is found outside it.
type hosted struct {
	host         hook.Host
	shell        string // what runs the program inside the entry
	project, bin string
	home         string
	environ      []string
	stdin        io.Reader
	stdoutIsShut bool
}

func host(t *testing.T, h hook.Host, shell string) *hosted {
	t.Helper()
	d := &hosted{host: h, shell: shell, project: t.TempDir(), bin: t.TempDir(), home: t.TempDir()}
	d.finding(d.bin)
	d.stdin = strings.NewReader(stopEvent(h, "s", d.project, false))
	return d
}

// finding makes the search path of the host begin with a folder.
func (d *hosted) finding(dir string) {
	d.environ = append(quietGit(d.home), "PATH="+dir+":"+os.Getenv("PATH"))
}

// stopEvent is what a host says when its agent wants to stop.
func stopEvent(h hook.Host, session, dir string, again bool) string {
	event := map[string]any{"hook_event_name": h.Events()[0], "unheard_of": []any{nil}}
	if h == hook.Cursor {
		event["conversation_id"], event["workspace_roots"], event["status"], event["loop_count"] = session, []string{dir}, "completed", 0
		if again {
			event["loop_count"] = 1
		}
	} else {
		event["session_id"], event["cwd"], event["stop_hook_active"] = session, dir, again
	}
	text, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// fake puts a program in the place of the gate. Another process writes it: a
// test beside this one may start a process while this one holds the file open for
// writing, and the system would then refuse to run it.
func (d *hosted) fake(t *testing.T, body string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `cat >"$0" && chmod 755 "$0"`, filepath.Join(d.bin, "shipgate"))
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + body + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// hookAnswer is what became of an entry that was run.
type hookAnswer struct {
	code           int
	stdout, stderr string
	after          time.Duration
	err            error
}

// stop runs the entry of the settings as the host does.
func (d *hosted) stop(t *testing.T) hookAnswer {
	t.Helper()
	return d.begin(t)(t)
}

// begin starts the entry and returns what waits for its answer, so that many can
// hang at once. The answer is whole only when nobody holds the streams open.
func (d *hosted) begin(t *testing.T) func(*testing.T) hookAnswer {
	t.Helper()
	program, found := strings.CutPrefix(hook.Entries(d.host)[0].Command, "/bin/sh ")
	if !found {
		t.Fatal("the entry does not begin with its shell")
	}
	cmd := exec.Command(d.shell, "-c", d.shell+" "+program)
	cmd.Dir, cmd.Env, cmd.Stdin = d.project, append(d.environ, "PWD="+d.project), d.stdin
	if variable := d.host.ProjectVariable(); variable != "" {
		cmd.Env = append(cmd.Env, variable+"="+d.project)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if d.stdoutIsShut {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read.Close()
		cmd.Stdout = write
		t.Cleanup(func() { write.Close() })
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan hookAnswer, 1)
	go func() {
		err := cmd.Wait()
		a := hookAnswer{after: time.Since(start), code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String()}
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			a.err = err
		}
		done <- a
	}()
	return func(t *testing.T) hookAnswer {
		t.Helper()
		a := <-done
		if a.err != nil {
			t.Fatal(a.err)
		}
		if a.after > hook.HostSeconds*time.Second {
			t.Errorf("the answer came after %s", a.after)
		}
		return a
	}
}

// refuses says whether an answer sends the agent on, and whether in the words of
// the gate or in those of the entry.
func (a *hookAnswer) refuses(h hook.Host) (own, ok bool) {
	if h != hook.Cursor && a.code == 2 {
		return false, a.stdout == "" && a.stderr == hook.NoAnswer
	}
	var said struct {
		Decision, Reason string
		Followup         string `json:"followup_message"`
	}
	if a.code != 0 || a.stderr != "" || json.Unmarshal([]byte(a.stdout), &said) != nil {
		return false, false
	}
	if h == hook.Cursor {
		return said.Followup != hook.NoAnswer, said.Followup != ""
	}
	return true, said.Decision == "block" && said.Reason != ""
}

// shells are those that are here, each once: the one that hosts start first.
func shells(t *testing.T) []string {
	t.Helper()
	var list, known []string
	for _, name := range []string{"sh", "bash", "dash", "ksh", "zsh"} {
		shell, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(shell)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(known, real) {
			list, known = append(list, shell), append(known, real)
		}
	}
	return list
}

// everywhere runs a test for each host under each shell that is here.
func everywhere(t *testing.T, f func(t *testing.T, d *hosted)) {
	t.Helper()
	for _, shell := range shells(t) {
		for _, h := range hook.Hosts() {
			t.Run(filepath.Base(shell)+"/"+string(h), func(t *testing.T) {
				t.Parallel()
				f(t, host(t, h, shell))
			})
		}
	}
}

// atOnce begins a case for each host under each shell and then waits for all of
// them: what takes long only waits.
type atOnce struct{ waiting []func() }

func (o *atOnce) add(t *testing.T, name string, prepare func(d *hosted), judge func(d *hosted, a hookAnswer) error) {
	t.Helper()
	for _, shell := range shells(t) {
		for _, h := range hook.Hosts() {
			d := host(t, h, shell)
			prepare(d)
			end := d.begin(t)
			o.waiting = append(o.waiting, func() {
				a := end(t)
				if err := judge(d, a); err != nil {
					t.Errorf("%s, %s under %s: %v; exit code %d, %q, %q after %s", name, h, filepath.Base(shell), err, a.code, a.stdout, a.stderr, a.after)
				}
			})
		}
	}
}

func (o *atOnce) wait() {
	for _, w := range o.waiting {
		w()
	}
}

// A gate that is gone, broken or talks nonsense lets nobody go.
func TestHooksWithoutAGateRefuse(t *testing.T) {
	for name, body := range map[string]string{
		"missing":                      "",
		"killed":                       `kill -9 $$`,
		"killed behind its answer":     `echo "{}"; kill -9 $$`,
		"crashed":                      `kill -SEGV $$`,
		"not to be run":                "no program",
		"prints nothing":               `exit 0`,
		"prints nothing and fails":     `exit 1`,
		"fails behind its answer":      `echo "{}"; exit 4`,
		"speaks on stderr":             `echo "{}" >&2`,
		"an empty line":                `echo`,
		"garbage":                      `head -c 4096 /dev/urandom | tr -d "\n\000"; echo`,
		"much garbage":                 `head -c 4000000 /dev/zero | tr "\000" x; echo`,
		"many lines":                   `i=0; while [ $i -lt 200 ]; do echo "{}"; i=$((i+1)); done`,
		"an answer broken off":         `printf "{}"`,
		"two answers":                  `echo "{}"; echo "{}"`,
		"an answer in a sentence":      `echo "0{}"`,
		"a pass in another form":       `echo "{\"decision\":\"allow\"}"`,
		"a pass in a third form":       `echo "{\"continue\":true}"`,
		"a block with nothing in it":   `echo "{\"decision\":\"block\"}"`,
		"closes stdout":                `exec >&-; exit 0`,
		"a result of check, not ours":  `echo "{\"control\":{\"state\":\"complete\"}}"`,
		"a first line that is no pass": `echo ok; echo 0; echo 0`,
		"a usage text":                 `echo "unknown command" >&2; exit 2`,
		"of another time":              `echo "{}"; exit 127`,
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, d *hosted) {
				t.Helper()
				switch name {
				case "missing":
				case "not to be run":
					if err := os.WriteFile(filepath.Join(d.bin, "shipgate"), []byte("\x7fELF"), 0o755); err != nil {
						t.Fatal(err)
					}
				default:
					d.fake(t, body)
				}
				a := d.stop(t)
				if own, ok := a.refuses(d.host); own || !ok {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

// The entry kills a gate that hangs, far inside the host's limit. It takes its
// real time, which is why all of them hang at once, beside other tests.
func TestHooksWithAGateThatHangsRefuse(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes the half minute that a gate may hang")
	}
	binary := build(t, t.TempDir(), "shipgate")
	var all atOnce
	for name, body := range map[string]string{
		"sleeps":                    `exec sleep 300`,
		"stopped":                   `kill -STOP $$`,
		"deaf":                      `trap "" TERM INT HUP PIPE; while :; do sleep 1; done`,
		"answered and did not end":  `echo "{}"; exec sleep 300`,
		"closed stdout and sleeps":  `exec >&-; exec sleep 300`,
		"talks without a line":      `while printf x; do sleep 1; done`,
		"left it to a child":        `sleep 300 & wait`,
		"answered without its line": `printf "{}"; exec sleep 300`,
		"the gate itself, stopped":  `(sleep 1; kill -STOP $$) & exec ` + binary + ` "$@"`,
	} {
		all.add(t, name, func(d *hosted) {
			d.fake(t, `echo $$ >"$HOME/pid"; `+body)
			d.stdin = silence(t)
		}, func(d *hosted, a hookAnswer) error {
			own, ok := a.refuses(d.host)
			switch pid := d.pid(t); {
			case own || !ok:
				return errors.New("no refusal")
			case a.after < hook.GateSeconds*time.Second:
				return errors.New("a gate that may be at work was given up")
			case !ends(pid):
				return fmt.Errorf("the gate %d still runs", pid)
			}
			return nil
		})
	}
	// Git that hangs is the gate's own to end: it still has time for an answer.
	all.add(t, "git hangs", func(d *hosted) {
		d.project = repository(t)
		d.stdin = silence(t, stopEvent(d.host, "s", d.project, false))
		d.fake(t, `echo $$ >"$HOME/pid"; exec sleep 300`)
		if err := os.Rename(filepath.Join(d.bin, "shipgate"), filepath.Join(d.bin, "git")); err != nil {
			t.Fatal(err)
		}
		d.fake(t, `exec `+binary+` "$@"`)
	}, func(d *hosted, a hookAnswer) error {
		if own, ok := a.refuses(d.host); !own || !ok {
			return errors.New("no refusal of the gate's own")
		}
		if pid := d.pid(t); !ends(pid) {
			return fmt.Errorf("git, %d, still runs", pid)
		}
		return nil
	})
	all.wait()
}

// pid is the number that the gate wrote down.
func (d *hosted) pid(t *testing.T) int {
	t.Helper()
	for range 400 {
		text, err := os.ReadFile(filepath.Join(d.home, "pid"))
		if pid, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
			return pid
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("the gate was never started")
	return 0
}

// ends says whether a process is gone, or dead and only not yet counted.
func ends(pid int) bool {
	for range 200 {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(text), ") Z ") {
			return true
		}
		time.Sleep(25 * time.Millisecond)
	}
	return false
}

// What a gate left behind does not keep the host waiting, and an event that is
// not read to its end does not either.
func TestHooksWaitForNobodyButTheGate(t *testing.T) {
	everywhere(t, func(t *testing.T, d *hosted) {
		t.Helper()
		d.fake(t, `sleep 60 & echo "{}"`)
		d.stdin = strings.NewReader(stopEvent(d.host, "s", d.project, false) + strings.Repeat(" ", 1<<20))
		a := d.stop(t)
		if a.code != 0 || a.stdout != "{}" || a.stderr != "" || a.after > hook.GateSeconds*time.Second {
			t.Errorf("%+v", a)
		}
	})
}

func TestHooksPassTheGatesAnswersOn(t *testing.T) {
	f := hook.Finding{Sentence: `Stop, "now" \ or $HOME %s never.`, Notice: "It's `owed`."}
	everywhere(t, func(t *testing.T, d *hosted) {
		t.Helper()
		for _, act := range []hook.Act{hook.Allow, hook.Block, hook.Halt} {
			for _, says := range []string{f.Sentence, f.Notice} {
				r := hook.Reply{Act: act, Says: says}
				if err := os.WriteFile(filepath.Join(d.bin, "answer"), r.Bytes(d.host), 0o600); err != nil {
					t.Fatal(err)
				}
				d.fake(t, `[ "$*" = "hook `+string(d.host)+`" ] && cat "`+d.bin+`/answer"`)
				d.stdin = strings.NewReader("{}")
				a := d.stop(t)
				if want := strings.TrimSuffix(string(r.Bytes(d.host)), "\n"); a.code != 0 || a.stdout != want || a.stderr != "" {
					t.Errorf("%s: %+v", want, a)
				}
			}
		}
	})
}

// A host that no longer listens is told with the exit code at least, where it
// reads one.
func TestHooksWhoseStdoutIsShutRefuse(t *testing.T) {
	everywhere(t, func(t *testing.T, d *hosted) {
		t.Helper()
		d.fake(t, `echo "{}"`)
		d.stdoutIsShut = true
		if a := d.stop(t); a.code == 0 {
			t.Error("nobody was told, and the exit code says success")
		}
	})
}

// Nothing of the project is run, however a search path leads into it.
func TestHooksRunNothingOfTheProject(t *testing.T) {
	everywhere(t, func(t *testing.T, d *hosted) {
		t.Helper()
		inside := filepath.Join(d.project, "bin")
		link := filepath.Join(t.TempDir(), "link")
		for _, err := range []error{os.MkdirAll(inside, 0o755), os.Symlink(d.project, link)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"shipgate", "sleep", "printf", "kill", "sh"} {
			if err := os.WriteFile(filepath.Join(inside, name), []byte("#!/bin/sh\ntouch '"+d.project+"/ran'\necho '{}'\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		project := d.project
		for _, c := range []struct{ path, where string }{{inside, project}, {"bin", project}, {"./bin", project}, {"", inside}, {inside, link}, {link + "/bin", link}, {link + "/bin", project}, {project + "/../" + filepath.Base(project) + "/bin", project}} {
			d.project = c.where
			d.finding(c.path)
			d.stdin = strings.NewReader(stopEvent(d.host, "s", d.project, false))
			a := d.stop(t)
			if own, ok := a.refuses(d.host); own || !ok {
				t.Errorf("%q: %+v", c.path, a)
			}
			if _, err := os.Lstat(filepath.Join(project, "ran")); err == nil {
				t.Fatalf("%q in %s: a program of the project was run", c.path, c.where)
			}
		}
	})
}

// A shell takes functions out of its environment. None of them answers in the
// gate's place.
func TestHooksTakeNoFunctionForTheGate(t *testing.T) {
	everywhere(t, func(t *testing.T, d *hosted) {
		t.Helper()
		bare := d.environ
		for _, function := range []string{
			`shipgate%%=() { echo '{}'; echo 0; echo 0; }`, `read%%=() { a='{}'; b=0; }`, `printf%%=() { exit 0; }`, `command%%=() { echo /bin/true; }`,
			`wait%%=() { return 0; }`, `echo%%=() { builtin echo '{}'; }`, `kill%%=() { exit 0; }`, `cd%%=() { exit 0; }`, `pwd%%=() { exit 0; }`,
		} {
			d.environ = append(bare[:len(bare):len(bare)], "BASH_FUNC_"+function)
			d.stdin = strings.NewReader(stopEvent(d.host, "s", d.project, false))
			a := d.stop(t)
			if own, ok := a.refuses(d.host); own || !ok {
				t.Errorf("%.12s: %+v", function, a)
			}
		}
	})
}

// The gate itself, ended from outside in the middle of its work.
func TestHooksWhoseGateIsKilledRefuse(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "crashed": syscall.SIGSEGV, "ended": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, d *hosted) {
				t.Helper()
				d.fake(t, `echo $$ >"$HOME/pid"; exec `+binary+` "$@"`)
				d.stdin = silence(t) // the event does not come, so the gate is at work
				end := d.begin(t)
				if err := syscall.Kill(d.pid(t), signal); err != nil {
					t.Fatal(err)
				}
				a := end(t)
				if own, ok := a.refuses(d.host); own || !ok {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

// Where nothing can be written, nothing is remembered, and nobody passes.
func TestHooksOnAFullDiskSayItAgain(t *testing.T) {
	binary := build(t, t.TempDir(), "shipgate")
	everywhere(t, func(t *testing.T, d *hosted) {
		t.Helper()
		d.project = waiting(t)
		d.fake(t, `ulimit -f 0; exec `+binary+` "$@"`)
		for _, again := range []bool{false, true, true} {
			d.stdin = strings.NewReader(stopEvent(d.host, "s", d.project, again))
			a := d.stop(t)
			if own, ok := a.refuses(d.host); !own || !ok || !strings.Contains(a.stdout, "MCP server added") {
				t.Errorf("%+v", a)
			}
		}
	})
}

// silence is a stream on which something was said and that never ends.
func silence(t *testing.T, said ...string) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		read.Close()
		write.Close()
	})
	if _, err := write.WriteString(strings.Join(said, "")); err != nil {
		t.Fatal(err)
	}
	return read
}

// A stdin that never ends is no reason to wait once the event is complete; one
// that never says anything ends in the gate's own refusal.
func TestHooksWhoseStdinStaysOpenAnswer(t *testing.T) {
	t.Parallel()
	binary := build(t, t.TempDir(), "shipgate")
	var all atOnce
	for name, said := range map[string]func(d *hosted) string{
		"an event":            func(d *hosted) string { return stopEvent(d.host, "s", d.project, false) },
		"nothing":             func(*hosted) string { return "" },
		"half of an event":    func(*hosted) string { return `{"session_id":"s","cwd":"/` },
		"blanks":              func(*hosted) string { return strings.Repeat(" \n", 2000) },
		"a depth of brackets": func(*hosted) string { return strings.Repeat("[", 60000) },
	} {
		all.add(t, name, func(d *hosted) {
			if err := os.Symlink(binary, filepath.Join(d.bin, "shipgate")); err != nil {
				t.Fatal(err)
			}
			d.project = repository(t)
			d.stdin = silence(t, said(d))
		}, func(d *hosted, a hookAnswer) error {
			own, ok := a.refuses(d.host)
			switch {
			case name != "an event" && (!own || !ok):
				return errors.New("no refusal of the gate's own")
			case name == "an event" && (a.code != 0 || a.stdout != "{}"):
				return errors.New("no pass")
			}
			return nil
		})
	}
	all.wait()
}
