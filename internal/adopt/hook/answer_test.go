package hook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
)

func controlOf(t *testing.T, f control.Facts) *control.Control {
	t.Helper()
	c := control.Derive(f)
	return &c
}

// reviewed is a control that stops the agent for a person, publishable one that
// a person reviews later, owed one under which the agent has to act.
func reviewed(t *testing.T) *control.Control {
	t.Helper()
	c := control.NeedsPerson("A change waits.", "Somebody must look.")
	if c.State() != control.HumanReviewRequired {
		t.Fatal(c.State())
	}
	return &c
}

func owed(t *testing.T) *control.Control {
	t.Helper()
	c := control.NeedsInstall("No gate is installed.", "pipx install agents-shipgate")
	if c.State() != control.AgentActionRequired {
		t.Fatal(c.State())
	}
	return &c
}

func finished(t *testing.T) *control.Control {
	t.Helper()
	c := controlOf(t, control.Facts{Mode: control.Worktree, Covered: true})
	if c.State() != control.Complete {
		t.Fatal(c.State())
	}
	return c
}

func publishable(t *testing.T) *control.Control {
	t.Helper()
	c := controlOf(t, control.Facts{
		Mode: control.Worktree, Covered: true, Subject: control.Subject{Workspace: "/w", Config: "shipgate.yaml"},
		Rows: []control.Row{{RuleID: "HOST-MCP-SERVER-ADDED", Action: rule.RequireReview, Risk: rule.High, Title: "A server is new.", Path: ".mcp.json", GovernsGate: true}},
	})
	if c.State() != control.ReviewPublishable {
		t.Fatal(c.State())
	}
	return c
}

func judged(c *control.Control) hook.Finding {
	return hook.Judge(hook.Result{Control: c, Places: []string{".mcp.json"}})
}

func TestWhatAControlMeansForAnAgentThatStops(t *testing.T) {
	fetch := control.NeedsRefs("The change could not be read.", "main and topic", "Make both refs available.")
	for _, c := range []struct {
		name    string
		control *control.Control
		weight  hook.Weight
		says    []string
	}{
		{"complete", finished(t), hook.Clear, nil},
		{"a person is needed", reviewed(t), hook.Person, []string{"Stop all work", "A change waits; Somebody must look (`.mcp.json`)."}},
		{"a person reviews later", publishable(t), hook.Person, []string{"Do not merge", "after that run `agents-shipgate verify", "`.mcp.json`"}},
		{"the agent has to act", owed(t), hook.Work, []string{"Do not claim completion", "`pipx install agents-shipgate`", "end your turn (No gate is installed)."}},
		{"the agent has to fetch", &fetch, hook.Work, []string{"Do not claim completion", "`main and topic`"}},
		{"nothing", &control.Control{}, hook.Failure, []string{"could not check"}},
	} {
		f := judged(c.control)
		if f.Weight != c.weight {
			t.Errorf("%s: %s", c.name, f.Weight)
		}
		for _, part := range c.says {
			if !strings.Contains(f.Sentence, part) {
				t.Errorf("%s: %q does not say %q", c.name, f.Sentence, part)
			}
		}
		if remembered := f.Digest != ""; remembered != (f.Weight == hook.Person || f.Weight == hook.Work) {
			t.Errorf("%s: digest %q", c.name, f.Digest)
		}
	}
}

func TestAResultIsAnotherWhenItsViolationsAre(t *testing.T) {
	c := reviewed(t)
	one := hook.Judge(hook.Result{Control: c, Also: []byte("[1]")})
	same := hook.Judge(hook.Result{Control: c, Also: []byte("[1]")})
	other := hook.Judge(hook.Result{Control: c, Also: []byte("[2]")})
	if one.Digest != same.Digest || one.Digest == other.Digest {
		t.Errorf("%s, %s and %s", one.Digest, same.Digest, other.Digest)
	}
}

// The names of files and the reasons of results are whatever somebody called
// them: one line, no secret, bounded.
func TestSentencesAreOneLineWithoutSecrets(t *testing.T) {
	secret := strings.Repeat("A1b2", 9)
	c := control.NeedsPerson("A\nchange\x1b[2J API_TOKEN="+secret+" waits "+strings.Repeat("ä ", 2000), "Look.")
	f := hook.Judge(hook.Result{Control: &c, Places: []string{"a\r\nb", "c", "c", "d", "e"}})
	if strings.ContainsAny(f.Sentence, "\n\r\x1b") || strings.Contains(f.Sentence, secret) || len(f.Sentence) > 1200 || !utf8.ValidString(f.Sentence) {
		t.Errorf("%q", f.Sentence)
	}
	short := control.NeedsPerson("A change waits.", "Look.")
	f = hook.Judge(hook.Result{Control: &short, Places: []string{"e", "c", "c", "d", "b"}})
	if !strings.HasSuffix(f.Sentence, "A change waits; Look (`b`, `c`, `d` and 1 more).") {
		t.Errorf("%q", f.Sentence)
	}
}

func stop(h hook.Host, again bool) *hook.Event {
	return &hook.Event{Host: h, Name: h.Events()[0], Session: "s", Roots: []string{"/w"}, Again: again}
}

func TestAPersonIsToldOnce(t *testing.T) {
	f := judged(reviewed(t))
	for _, h := range hook.Hosts() {
		first := hook.Answer(stop(h, false), &f, 0)
		second := hook.Answer(stop(h, true), &f, first.Told)
		third := hook.Answer(stop(h, false), &f, second.Told)
		if first.Act != hook.Block || second.Act != hook.Allow || third.Act != hook.Allow || third.Says != "" {
			t.Errorf("%s: %+v, %+v, %+v", h, first, second, third)
		}
		// Where the host can speak to the person, it is not left to the agent.
		if h != hook.Cursor && !strings.Contains(second.Says, "A change waits") {
			t.Errorf("%s: the person is told %q", h, second.Says)
		}
	}
}

// An agent that only stops again is sent on again. When it will not act, a host
// that can is asked to end the turn without a pass; in the next turn it begins
// anew.
func TestWorkThatIsOwedNeverBecomesAPass(t *testing.T) {
	f := judged(owed(t))
	for _, h := range hook.Hosts() {
		told, again := 0, false
		for i := range 3 * hook.Patience {
			r := hook.Answer(stop(h, again), &f, told)
			halts := h != hook.Cursor && i%(hook.Patience+1) == hook.Patience
			if r.Act == hook.Allow || r.Says == "" || halts != (r.Act == hook.Halt) {
				t.Fatalf("%s: stop %d: %+v", h, i+1, r)
			}
			told, again = r.Told, true
		}
		if r := hook.Answer(stop(h, false), &f, hook.Patience); r.Act != hook.Block || r.Told != 1 {
			t.Errorf("%s: in a new turn %+v", h, r)
		}
	}
}

// Nothing but a result that was clear, or that was told, lets an agent go; and
// every answer is one line of JSON in a form that the shell program takes.
func TestAnswersAreSafeAndReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(hook.Hosts()).Draw(t, "host")
		f := hook.Finding{
			Weight:   rapid.SampledFrom([]hook.Weight{hook.Clear, hook.Person, hook.Work, hook.Failure, "", "new"}).Draw(t, "weight"),
			Sentence: rapid.String().Draw(t, "sentence"), Notice: rapid.String().Draw(t, "notice"),
		}
		told := rapid.IntRange(-2, 12).Draw(t, "told")
		r := hook.Answer(stop(h, rapid.Bool().Draw(t, "again")), &f, told)
		allowed := f.Weight == hook.Clear || f.Weight == hook.Person && told > 0
		if (r.Act == hook.Allow) != allowed {
			t.Fatalf("%+v after %d times: %+v", f, told, r)
		}
		text := string(r.Bytes(h))
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || !json.Valid([]byte(text)) {
			t.Fatalf("%q", text)
		}
		forms := map[hook.Act][]string{hook.Allow: {"{}", `{"systemMessage":"`}, hook.Block: {`{"decision":"block","reason":"`}, hook.Halt: {`{"continue":false,"stopReason":"`}}
		if h == hook.Cursor {
			forms = map[hook.Act][]string{hook.Allow: {"{}"}, hook.Block: {`{"followup_message":"`}}
		}
		known := false
		for _, form := range forms[r.Act] {
			known = known || strings.HasPrefix(text, form)
		}
		if !known {
			t.Fatalf("%+v is said as %q", r, text)
		}
	})
}

// The person hears it from the gate, not from a host that gave up.
func TestPatienceLiesWithinEveryHosts(t *testing.T) {
	for _, h := range hook.Hosts() {
		if n := h.Loops(); n != 0 && hook.Patience > n {
			t.Errorf("%s gives up after %d times", h, n)
		}
		if n := h.Limit(); n != 0 && hook.HostSeconds > n {
			t.Errorf("%s has a limit of %d s", h, n)
		}
	}
}

// People read the facts of the hosts in the specification.
func TestTheSpecificationRepeatsTheFacts(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../../docs/spec/verification.md"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int, unit string) string {
		if n == 0 {
			return "no number"
		}
		return strconv.Itoa(n) + unit
	}
	for _, h := range hook.Hosts() {
		e, events := hook.Entries(h)[0], h.Events()
		hooked := "`" + events[0] + "`"
		if len(events) > 1 {
			hooked += " (`" + strings.Join(events[1:], "`, `") + "`)"
		}
		row := "\n| `" + string(h) + "` | " + strings.Join([]string{"`" + e.File + "`", hooked, number(h.Limit(), " s"), number(h.Loops(), " times")}, " | ") + " | "
		if e.Event != events[0] || !strings.Contains(string(text), row) {
			t.Errorf("there is no row%s", row)
		}
	}
	for _, part := range []string{
		fmt.Sprintf("The gate gives itself %d s", hook.GateSeconds), fmt.Sprintf("kills it after %d s", hook.ShellSeconds),
		fmt.Sprintf("asks %d s of the host", hook.HostSeconds), fmt.Sprintf("After %d times in one turn", hook.Patience),
		fmt.Sprintf("%d MiB", hook.MaxEvent>>20), fmt.Sprintf("%d KiB", hook.MaxMemory>>10),
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("it does not say %q", part)
		}
	}
}

func TestTheWorseOfTwoFindingsBinds(t *testing.T) {
	order := []hook.Finding{{Weight: hook.Clear}, judged(reviewed(t)), judged(owed(t)), hook.Failed("no time")}
	for i, a := range order {
		for j, b := range order {
			if got := hook.Worse(a, b); got != order[max(i, j)] {
				t.Errorf("%s and %s: %+v", a.Weight, b.Weight, got)
			}
		}
	}
	// Both are said when both have something to say, or one would count as told
	// that was not.
	other := control.NeedsPerson("Another change waits.", "Look.")
	two := hook.Worse(order[1], judged(&other))
	if !strings.Contains(two.Sentence, "A change waits") || !strings.Contains(two.Sentence, "Another change waits") || two.Digest == order[1].Digest {
		t.Errorf("%+v", two)
	}
}
