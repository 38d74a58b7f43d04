package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/cli/plimsoll"
	"plimsoll.dev/internal/demo"
)

// The program that plays the agents is this one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo" {
		os.Exit(plimsoll.Main(os.Args[1:], plimsoll.OS()))
	}
	os.Exit(m.Run())
}

// said is a line of plimsoll demo --json.
type said struct {
	Event, Address, Dir string
	Name, Who           string
	AlreadyDone         bool
	People              []struct {
		ID, Token string
		Agent     bool
	}
	Sights []demo.Sight
}

// show is a demo that is under way in this process.
type show struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
	code   chan int
	notes  *bytes.Buffer
	tokens map[string]string
	at     string
}

// begins starts a demo and reads where it serves.
func begins(t *testing.T, args ...string) *show {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	s := &show{t: t, lines: bufio.NewScanner(r), cancel: cancel, code: make(chan int, 1), notes: &bytes.Buffer{}, tokens: map[string]string{}}
	go func() {
		code := plimsoll.Main(append([]string{"demo", "--json", "--pace", "fast", "--listen", "127.0.0.1:0"}, args...), plimsoll.Env{
			Stdin: strings.NewReader(""), Stdout: w, Stderr: s.notes, Context: ctx, Dir: t.TempDir(),
			Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()},
		})
		_ = w.Close() // the reader is told
		s.code <- code
	}()
	t.Cleanup(func() {
		cancel()
		_ = r.Close() // nobody reads any more
	})
	first := s.next()
	if first.Event != "serving" {
		t.Fatalf("it begins with %+v: %s", first, s.notes)
	}
	s.at = first.Address
	for _, p := range first.People {
		s.tokens[p.ID] = p.Token
	}
	return s
}

// next is the next line; one without an event is the end of them.
func (s *show) next() said {
	s.t.Helper()
	if !s.lines.Scan() {
		return said{}
	}
	var one said
	if err := json.Unmarshal(s.lines.Bytes(), &one); err != nil {
		s.t.Fatalf("%v: %s", err, s.lines.Text())
	}
	return one
}

// steps reads the story to its end.
func (s *show) steps() (list []said, sights []demo.Sight) {
	s.t.Helper()
	for {
		one := s.next()
		switch one.Event {
		case "step":
			list = append(list, one)
		case "end":
			return list, one.Sights
		default:
			s.t.Fatalf("the story ends with %+v and code %d: %s", one, <-s.code, s.notes)
		}
	}
}

// ends interrupts the demo, and holds that it ends in order.
func (s *show) ends() {
	s.t.Helper()
	s.cancel()
	for s.lines.Scan() {
	}
	if code := <-s.code; code != 0 {
		s.t.Errorf("interrupted it exits %d: %s", code, s.notes)
	}
}

// reads reads a path of the service as somebody.
func (s *show) reads(who, path string, v any) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.at+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.tokens[who])
	r.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: s.tokens[who]})
	back, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = back.Body.Close() }()
	text, err := io.ReadAll(back.Body)
	if err != nil || back.StatusCode != http.StatusOK {
		s.t.Fatalf("%s reads %s: %d %v %s", who, path, back.StatusCode, err, text)
	}
	if v != nil {
		if err := json.Unmarshal(text, v); err != nil {
			s.t.Fatalf("%s: %v", path, err)
		}
	}
	return string(text)
}

type contract struct {
	ID, Kind, State, Status, RiskLevel, FinalDecision, Details string
}

// chain is the phase of a chain and its newest contracts, by kind.
func (s *show) chain(id string) (phase string, byKind map[string]contract, causes map[string]string) {
	s.t.Helper()
	var c struct {
		Phase     string
		Contracts []struct {
			Contract contract
			Meta     struct{ FreezeCause string }
		}
	}
	s.reads("ana", "/v1/chains/"+id, &c)
	byKind, causes = map[string]contract{}, map[string]string{}
	for _, one := range c.Contracts {
		byKind[one.Contract.Kind], causes[one.Contract.Kind] = one.Contract, one.Meta.FreezeCause
	}
	return c.Phase, byKind, causes
}

// The story comes to all of its ends, and leaves something to decide.
func TestTheStoryComesToItsEnds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	s := begins(t, "--dir", dir)
	list, sights := s.steps()
	story := demo.Story()
	if len(list) != len(story) {
		t.Fatalf("%d steps were told of %d", len(list), len(story))
	}
	for i, one := range list {
		if one.Name != story[i].Name || one.Who != story[i].Who {
			t.Errorf("step %d is told as %+v, and is %s", i, one, story[i].Name)
		}
	}

	phase, is, _ := s.chain("IC-001")
	if phase != "Published" || is["IntentContract"].State != "Published" || is["Acceptance"].Status != "passed" || is["PublishGate"].FinalDecision != "approved" || is["PublishGate"].RiskLevel != "high" {
		t.Errorf("the first chain is in %s: %+v", phase, is)
	}
	phase, is, why := s.chain("IC-002")
	if phase != "Stabilize" || is["IntentContract"].State != "Frozen" || is["TaskSeed"].State != "Frozen" || why["IntentContract"] != "policy_violation" ||
		is["Acceptance"].Status != "blocked" || !strings.Contains(is["Acceptance"].Details, "the boundary result asks for a person") {
		t.Errorf("the second chain is in %s: %+v, frozen for %v", phase, is, why)
	}
	phase, is, _ = s.chain("IC-003")
	if phase != "Refactor" || is["PublishGate"].FinalDecision != "pending" || is["Acceptance"].Status != "passed" {
		t.Errorf("the third chain is in %s: %+v", phase, is)
	}
	if len(sights) < 5 || sights[0].State != "Published" || sights[1].State != "Frozen" || sights[2].State != "Refactor" {
		t.Errorf("there is to see %+v", sights)
	}

	// Everybody is called by a name, and nobody was refused for want of a role.
	var everybody struct {
		Items []struct{ ActorID, Name string }
	}
	s.reads("rex", "/v1/actors", &everybody)
	called := map[string]string{}
	for _, one := range everybody.Items {
		called[one.ActorID] = one.Name
	}
	for _, p := range demo.People() {
		if called[p.ID] != p.Name {
			t.Errorf("%s is called %q", p.ID, called[p.ID])
		}
	}
	if log := s.reads("rex", "/v1/audit?actorId=rex", nil); strings.Contains(log, "role.not_named") || !strings.Contains(log, "release_manager") {
		t.Errorf("the log holds a refusal for want of a role, or nothing of rex")
	}

	// One release, told of to who asked, with its verification.
	notes := 0
	for _, of := range []string{demo.Note, demo.Time, demo.Orders, demo.Quorum} {
		var q struct {
			Contracts []struct {
				ReleaseNote *struct{ SHA256 string } `json:"release_note"`
				Results     []struct{ State string }
			}
		}
		s.reads("ana", "/v1/requests/"+of, &q)
		for _, c := range q.Contracts {
			if c.ReleaseNote != nil {
				notes++
			}
		}
	}
	if notes != 1 {
		t.Errorf("there are %d release notes", notes)
	}
	var runs struct {
		Items []struct{ ExecutionID, Phase string }
	}
	s.reads("ana", "/v1/runs?taskSeedId=TS-002", &runs)
	found := false
	for _, r := range runs.Items {
		text := s.reads("ana", "/v1/runs/"+r.ExecutionID+"/artifacts/boundary_result", nil)
		found = found || strings.Contains(text, ".claude/settings.json") && strings.Contains(text, ".mcp.json") && strings.Contains(text, "human_review_required")
	}
	if !found {
		t.Error("the boundary did not find what Magpie added")
	}

	// Lena and Sam have something to decide.
	for who, role := range map[string]string{"lena": "project_lead", "sam": "security_reviewer"} {
		var gates struct{ Items []struct{ Contract contract } }
		s.reads(who, "/v1/gates?waitingFor="+role, &gates)
		if len(gates.Items) != 1 || gates.Items[0].Contract.ID != is["PublishGate"].ID {
			t.Errorf("for %s there waits %+v", who, gates.Items)
		}
		inbox := s.reads(who, "/inbox", nil)
		for _, want := range []string{"/decisions/gates/" + is["PublishGate"].ID, "/decisions/consents/"} {
			if !strings.Contains(inbox, want) {
				t.Errorf("the inbox of %s does not lead to %s", who, want)
			}
		}
	}
	var quorum struct {
		Status string
		Owed   []struct {
			Member string `json:"member_id"`
		}
	}
	s.reads("lena", "/v1/requests/"+demo.Quorum, &quorum)
	asked := map[string]bool{}
	for _, o := range quorum.Owed {
		asked[o.Member] = true
	}
	if quorum.Status != "waiting_for_consent" || !asked["lena"] || !asked["sam"] {
		t.Errorf("the last request is %+v", quorum)
	}
	s.ends()

	// The same folder is served again, and what is there is not played again.
	again := begins(t, "--dir", dir)
	if list, sights := again.steps(); len(list) != 0 || len(sights) < 5 {
		t.Errorf("the second start plays %+v and shows %+v", list, sights)
	}
	for id, token := range s.tokens {
		if again.tokens[id] != token {
			t.Errorf("%s has another token", id)
		}
	}
	again.ends()
}

// Interrupted after any step the story goes on from there.
func TestAStoryThatWasCutOffGoesOn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	did := map[string]int{}
	for _, at := range []string{"circle.sam", demo.Note + ".build", demo.Note + ".gate.sam", demo.Time + ".consent", demo.Orders + ".stabilize"} {
		s := begins(t, "--dir", dir)
		for {
			one := s.next()
			if one.Event != "step" {
				t.Fatalf("before %s there is %+v: %s", at, one, s.notes)
			}
			if !one.AlreadyDone {
				did[one.Name]++
			}
			if one.Name == at {
				break
			}
		}
		s.ends()
		if !strings.Contains(s.notes.String(), "plimsoll demo --dir "+dir) {
			t.Errorf("it does not say how to go on: %s", s.notes)
		}
	}
	s := begins(t, "--dir", dir)
	_, sights := s.steps()
	if len(sights) < 5 || sights[0].State != "Published" || sights[1].State != "Frozen" || sights[2].State != "Refactor" {
		t.Errorf("it comes to %+v", sights)
	}
	s.ends()
	for name, times := range did {
		if times > 2 { // the one that was cut off, and once more
			t.Errorf("%s was done %d times", name, times)
		}
	}
}

// The sample passes its own check, and each work is done once.
func TestTheSample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := demo.Lay(t.Context(), dir, os.Environ()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".mcp.json", ".claude/settings.json", "AGENTS.md", "shipgate.yaml", "api/orders.yaml", ".git/HEAD"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	var out bytes.Buffer
	if err := demo.Work(dir, "check", &out); err != nil || out.String() != "3 operations, each with its function\n" {
		t.Errorf("%v %q", err, out.String())
	}
	if err := demo.Work(dir, demo.Time, &out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{".mcp.json": "shell-helper", ".claude/settings.json": "Bash(*)"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) || name == ".mcp.json" && !json.Valid(text) {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
	for _, name := range []string{demo.Time, "nothing"} {
		if err := demo.Work(dir, name, &out); err == nil {
			t.Errorf("%s is done a second time", name)
		}
	}
	server := filepath.Join(dir, "server", "app.py")
	text, err := os.ReadFile(server)
	if err = errors.Join(err, os.WriteFile(server, bytes.Replace(text, []byte("def get_order("), []byte("def read_order("), 1), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := demo.Work(dir, "check", &out); err == nil || !strings.Contains(err.Error(), "get_order") {
		t.Errorf("without a function the check says %v", err)
	}
}

// Killed in the middle of a run, the next start reports what died and goes on.
func TestAStoryThatWasKilledGoesOn(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "demo")
	for _, at := range []string{demo.Note + ".build", demo.Note + ".stabilize", demo.Note + ".publish", demo.Time + ".build"} {
		cmd := exec.CommandContext(t.Context(), program, "demo", "--json", "--once", "--pace", "fast", "--listen", "127.0.0.1:0", "--dir", dir)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		var notes bytes.Buffer
		cmd.Stderr = &notes
		out, err := cmd.StdoutPipe()
		if err = errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		reached := false
		for lines := bufio.NewScanner(out); !reached && lines.Scan(); {
			var one said
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				t.Fatalf("%v: %s", err, lines.Text())
			}
			reached = one.Name == at && !one.AlreadyDone
		}
		// Wherever it is by now: the run may have begun, or not.
		time.Sleep(60 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if !reached {
			t.Fatalf("the story does not come to %s: %s", at, notes.String())
		}
	}
	s := begins(t, "--dir", dir)
	_, sights := s.steps()
	if len(sights) < 5 || sights[0].State != "Published" || sights[1].State != "Frozen" || sights[2].State != "Refactor" {
		t.Errorf("it comes to %+v", sights)
	}
	s.ends()
}
