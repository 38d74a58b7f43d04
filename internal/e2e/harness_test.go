//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plimsoll.dev/internal/store/postgres/pgtest"
)

var (
	kills = flag.Int("kills", 100, "how often the crash test kills the service, over both databases")
	races = flag.Int("races", 600, "rounds of the race on a gate")
	slow  = flag.Bool("slow", false, "also wait as long as a production service waits")
)

// patience is for what happens by itself in a service that lives. It is far
// above what any test needs on an idle machine.
const patience = 90 * time.Second

var built struct {
	dir  string
	once func() (string, error)
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "plimsoll-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir = dir
	built.once = sync.OnceValues(build)
	code := pgtest.Main(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build makes the program once for all tests, as a user would get it.
func build() (string, error) {
	program := filepath.Join(built.dir, "plimsoll")
	out, err := exec.Command("go", "build", "-o", program, "plimsoll.dev/cmd/plimsoll").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build plimsoll: %w\n%s", err, out)
	}
	return program, nil
}

func program(t testing.TB) string {
	t.Helper()
	path, err := built.once()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// onEach runs a test on both databases. Where PostgreSQL is not installed the
// half of the test that did not run is named, and fails in CI.
func onEach(t *testing.T, run func(t *testing.T, db string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		run(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		run(t, pgtest.New(t))
	})
}

// staff is who works in every test: each person has the one office the name
// stands for, but for two who hold what four eyes must keep apart.
var staff = []string{
	"root:human:admin",
	"ada:human:requester",
	"lea:human:project_lead",
	"sam:human:security_reviewer",
	"rex:human:release_manager",
	"dora:human:requester,project_lead,security_reviewer",
	"bot:agent:developer,ci_agent,qa",
}

// site is one installation: a database, the key of its audit log, and tokens.
type site struct {
	testing.TB
	dir    string
	db     string
	tokens map[string]string

	mu   sync.Mutex    // guards live and next
	live *process      // the one that commands and clients of the site speak to
	next chan struct{} // closed when another one is
}

var tokenLine = regexp.MustCompile(`(?m)^(\w+) \(.*\n\s+token until .*: (\S+)$`)

// found makes an installation with plimsoll init.
func found(t testing.TB, db string) *site {
	t.Helper()
	s := &site{TB: t, dir: t.TempDir(), db: db, tokens: map[string]string{}}
	args := []string{"init", "--db", db, "--audit.key", s.key()}
	for _, person := range staff {
		args = append(args, "--actor", person)
	}
	out := s.must(s.command("", args...))
	for _, m := range tokenLine.FindAllStringSubmatch(out, -1) {
		s.tokens[m[1]] = m[2]
	}
	if len(s.tokens) != len(staff) {
		t.Fatalf("init gave %d tokens for %d people:\n%s", len(s.tokens), len(staff), out)
	}
	return s
}

func (s *site) key() string { return filepath.Join(s.dir, "audit.key") }

// output is what a command printed, and how it ended.
type output struct {
	text, notes string
	code        int
	line        string
}

// command runs plimsoll as one of the staff, with nothing of the environment of
// whoever runs the tests.
func (s *site) command(who string, args ...string) output {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(s), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"), "PLIMSOLL_TOKEN=" + s.tokens[who]}
	if at := s.address(); at != "" {
		cmd.Env = append(cmd.Env, "PLIMSOLL_SERVER="+at)
	}
	var text, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &notes
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		s.Fatalf("plimsoll %s: %v", strings.Join(args, " "), err)
	}
	return output{text.String(), notes.String(), cmd.ProcessState.ExitCode(), who + ": plimsoll " + strings.Join(args, " ")}
}

// must is the output of a command that succeeded.
func (s *site) must(o output) string {
	s.Helper()
	if o.code != 0 {
		s.Fatalf("%s: exit %d\n%s%s", o.line, o.code, o.text, o.notes)
	}
	return o.text
}

// refused holds that a command got no for an answer, with a code of the
// catalogue.
func (s *site) refused(o output, code string) {
	s.Helper()
	if o.code != 1 || !strings.Contains(o.notes, code+":") {
		s.Errorf("%s: exit %d, want 1 with %s\n%s%s", o.line, o.code, code, o.text, o.notes)
	}
}

// process is one running service.
type process struct {
	site    *site
	cmd     *exec.Cmd
	address string
	log     lockedBuffer
	exited  chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// launch starts a service and does not wait until it serves.
func (s *site) launch(settings ...string) (*process, <-chan string) {
	s.Helper()
	args := append([]string{
		"serve", "--db", s.db, "--audit.key", s.key(), "--repository", "app", "--rate.per-second", "0",
	}, settings...)
	if !slices.Contains(settings, "--listen") {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	if !slices.Contains(settings, "--log.level") {
		args = append(args, "--log.level", "warn")
	}
	p := &process{site: s, cmd: exec.Command(program(s), args...), exited: make(chan struct{})}
	p.cmd.Dir = s.dir
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home")}
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(p.kill)
	ready := make(chan string, 1)
	go func() {
		defer close(p.exited)
		defer close(ready)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if at, ok := strings.CutPrefix(lines.Text(), "serving on "); ok {
				ready <- "http://" + at
			}
		}
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	return p, ready
}

// serve starts a service and waits until it serves. Commands and clients of the
// site speak to it from now on.
func (s *site) serve(settings ...string) *process {
	s.Helper()
	p, ready := s.launch(settings...)
	select {
	case at, ok := <-ready:
		if !ok {
			<-p.exited
			s.Fatalf("the service ended instead of serving: %v\n%s", p.cmd.ProcessState, p.log.String())
		}
		p.address = at
	case <-time.After(patience):
		s.Fatalf("the service does not serve\n%s", p.log.String())
	}
	s.use(p)
	return p
}

func (s *site) use(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = p
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// process is the one that serves the site.
func (s *site) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// another is closed when the site is served by another process than now.
func (s *site) another() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// address is where the site is served, "" while it is not.
func (s *site) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return ""
	}
	return s.live.address
}

// kill ends a process as a power cut does, and waits until it is gone.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

func (p *process) signal(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig) // it may have ended by itself
}

// stop ends a process in order; that it can is part of every test.
func (p *process) stop() {
	p.site.Helper()
	p.signal(syscall.SIGTERM)
	if !p.ended(patience) {
		p.site.Errorf("the service does not stop\n%s", p.log.String())
		p.kill()
	}
	if !p.cmd.ProcessState.Success() {
		p.site.Errorf("the service stopped with %v\n%s", p.cmd.ProcessState, p.log.String())
	}
}

func (p *process) ended(within time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// until waits for something that happens by itself.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
