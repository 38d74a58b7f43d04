package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"plimsoll.dev/internal/mcp/gate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var names = []string{gate.Capabilities, gate.Check, gate.Explain, gate.Handoff, gate.Preflight}

// every is one answer for all tools.
func every(ask gate.Ask) map[string]gate.Ask {
	all := map[string]gate.Ask{}
	for _, name := range names {
		all[name] = ask
	}
	return all
}

// connected is a client of a server, of one revision of the protocol.
func connected(t *testing.T, s *gate.Server, revision string) *mcp.ClientSession {
	t.Helper()
	theirs, out := io.Pipe()
	in, ours := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), in, out) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: ours}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		_ = in.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return session
}

// called is the text of an answer, and whether it is an error.
func called(t *testing.T, s *mcp.ClientSession, tool string, arguments any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if len(r.Content) != 1 || r.StructuredContent != nil {
		t.Fatalf("%s: %d contents, structured %v", tool, len(r.Content), r.StructuredContent)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

func TestThereAreFiveReadOnlyToolsInEveryRevision(t *testing.T) {
	arguments := map[string][]string{
		gate.Check:        {"agent", "config", "diff_text", "policy", "workspace"},
		gate.Preflight:    {"base_preflight", "capability_request", "changed_files", "config", "diff_text", "plan", "workspace"},
		gate.Explain:      {"check_id", "fingerprint", "no_plugins", "report_path"},
		gate.Capabilities: {"base_lock", "config", "head_lock", "no_plugins"},
		gate.Handoff:      {"report_path", "verifier_path", "verify_run_path"},
	}
	defaults := map[string]any{
		"agent": "codex", "workspace": ".", "diff_text": "", "config": "shipgate.yaml", "changed_files": []any{}, "no_plugins": true,
		"verifier_path": "agents-shipgate-reports/verifier.json",
	}
	for _, revision := range mcp.SupportedProtocolVersions() {
		s := connected(t, &gate.Server{Version: "1.2.3", Ask: every(nothing)}, revision)
		if got := s.InitializeResult(); got.ProtocolVersion != revision || got.ServerInfo.Version != "1.2.3" {
			t.Fatalf("%s: %+v", revision, got)
		}
		listed, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, tool := range listed.Tools {
			found = append(found, tool.Name)
			a := tool.Annotations
			if a == nil || !a.ReadOnlyHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
				t.Errorf("%s %s: annotations %+v", revision, tool.Name, a)
			}
			schema := asObject(t, tool.InputSchema)
			if schema["additionalProperties"] != false || schema["type"] != "object" || schema["required"] != nil {
				t.Errorf("%s: %v", tool.Name, schema)
			}
			properties, _ := schema["properties"].(map[string]any)
			var has []string
			for name, p := range properties {
				has = append(has, name)
				said, there := p.(map[string]any)["default"]
				if !there || fmt.Sprint(said) != fmt.Sprint(defaults[name]) {
					t.Errorf("%s: the default of %s is %v", tool.Name, name, said)
				}
			}
			slices.Sort(has)
			if !slices.Equal(has, arguments[tool.Name]) {
				t.Errorf("%s takes %v", tool.Name, has)
			}
		}
		if !slices.Equal(found, names) {
			t.Errorf("%s: %v", revision, found)
		}
	}
}

func nothing(context.Context, gate.Arguments) ([]byte, error) { return []byte("{}\n"), nil }

func asObject(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTheAnswerIsTheSameBytesInEveryRevision(t *testing.T) {
	want := "{\n  \"a\": \"<&>\u2028 ї 😀 \\u0000\"\n}\n"
	for _, revision := range mcp.SupportedProtocolVersions() {
		var got gate.Arguments
		s := connected(t, &gate.Server{Ask: every(func(_ context.Context, a gate.Arguments) ([]byte, error) {
			got = a
			return []byte(want), nil
		})}, revision)
		text, failed := called(t, s, gate.Check, map[string]any{"agent": "cursor", "diff_text": "a\x00b\n", "policy": nil})
		if failed || text != want {
			t.Errorf("%s: %q", revision, text)
		}
		if got.Text("agent") != "cursor" || got.Text("diff_text") != "a\x00b\n" || got.Text("workspace") != "." || got.Given("workspace") || got.Given("policy") || got.Text("policy") != "" {
			t.Errorf("%s: asked %+v", revision, got)
		}
	}
}

// raw is a call whose arguments are sent as they are written here.
type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestArgumentsAreRefusedInOneLine(t *testing.T) {
	s := connected(t, &gate.Server{Ask: every(func(_ context.Context, a gate.Arguments) ([]byte, error) {
		return nil, errors.New("asked")
	})}, "")
	long := strings.Repeat("x", gate.MaxText+1)
	for _, c := range []struct{ tool, arguments, want string }{
		{gate.Check, `{}`, "asked"},
		{gate.Check, `null`, "asked"},
		{gate.Check, `{"policy":null}`, "asked"},
		{gate.Check, `[]`, "the arguments are no JSON object"},
		{gate.Check, `"x"`, "the arguments are no JSON object"},
		{gate.Check, `{"execute":true}`, `there is no argument "execute"`},
		{gate.Check, `{"Agent":"codex"}`, `there is no argument "Agent"`},
		{gate.Check, `{"agent":"codex","agent":"cursor"}`, "agent is given twice"},
		{gate.Check, `{"agent":"gpt"}`, `agent is "gpt"; it must be one of codex, claude-code, cursor`},
		{gate.Check, `{"agent":""}`, `agent is ""; it must be one of codex, claude-code, cursor`},
		{gate.Check, `{"agent":null}`, "agent is null"},
		{gate.Check, `{"diff_text":["x"]}`, "diff_text is no text"},
		{gate.Check, `{"workspace":""}`, "workspace is empty"},
		{gate.Check, `{"config":""}`, "config is empty"},
		{gate.Check, `{"policy":""}`, "policy is empty"},
		{gate.Check, `{"workspace":"` + long + `"}`, "workspace is over 4096 bytes"},
		{gate.Preflight, `{"plan":{}}`, "asked"},
		{gate.Preflight, `{"plan":[]}`, "plan is no JSON object"},
		{gate.Preflight, `{"plan":"{}"}`, "plan is no JSON object"},
		{gate.Preflight, `{"plan":{},"changed_files":[]}`, "plan cannot be combined with changed_files"},
		{gate.Preflight, `{"plan":{},"diff_text":""}`, "plan cannot be combined with diff_text"},
		{gate.Preflight, `{"plan":{},"capability_request":{}}`, "plan cannot be combined with capability_request"},
		{gate.Preflight, `{"plan":{},"base_preflight":{}}`, "plan cannot be combined with base_preflight"},
		{gate.Preflight, `{"plan":null,"changed_files":["a"],"base_preflight":null}`, "asked"},
		{gate.Preflight, `{"changed_files":"a"}`, "changed_files is no list of texts"},
		{gate.Preflight, `{"changed_files":["a",1]}`, "changed_files is no list of texts"},
		{gate.Preflight, `{"changed_files":["a",""]}`, "changed_files[1] is empty"},
		{gate.Preflight, `{"changed_files":[null]}`, "changed_files[0] is empty"},
		{gate.Preflight, `{"changed_files":["a\nb"]}`, "changed_files[0] holds a line break"},
		{gate.Preflight, `{"changed_files":["` + long + `"]}`, "changed_files[0] is over 4096 bytes"},
		{gate.Preflight, `{"changed_files":[` + strings.Repeat(`"a",`, gate.MaxFiles-1) + `"a"]}`, "asked"},
		{gate.Preflight, `{"changed_files":[` + strings.Repeat(`"a",`, gate.MaxFiles) + `"a"]}`, "changed_files has more than 100000 entries"},
		{gate.Preflight, `{"capability_request":{"a":"` + strings.Repeat("x", gate.MaxDocument) + `"}}`, "capability_request is over 10 MiB"},
		{gate.Explain, `{}`, "check_id is missing; or give fingerprint with report_path"},
		{gate.Explain, `{"check_id":"A","fingerprint":"fp","report_path":"r"}`, "check_id cannot be combined with fingerprint: one call explains one thing"},
		{gate.Explain, `{"check_id":"A","report_path":"r"}`, "report_path belongs to fingerprint and cannot be combined with check_id"},
		{gate.Explain, `{"fingerprint":"fp"}`, "report_path is missing: it names the report that holds the finding"},
		{gate.Explain, `{"check_id":"A","fingerprint":null,"no_plugins":false}`, "asked"},
		{gate.Explain, `{"check_id":"A","no_plugins":"yes"}`, "no_plugins is neither true nor false"},
		{gate.Explain, `{"check_id":"A","no_plugins":null}`, "no_plugins is null"},
		{gate.Explain, `{"report_path":"r"}`, "check_id is missing; or give fingerprint with report_path"},
		{gate.Capabilities, `{"base_lock":"a"}`, "base_lock needs head_lock beside it"},
		{gate.Capabilities, `{"head_lock":"a"}`, "head_lock needs base_lock beside it"},
		{gate.Capabilities, `{"base_lock":"a","head_lock":"b","config":"shipgate.yaml"}`, "config cannot be combined with base_lock and head_lock"},
		{gate.Capabilities, `{"base_lock":"a","head_lock":"b"}`, "asked"},
		{gate.Handoff, `{"verifier_path":null}`, "verifier_path is null"},
		{gate.Handoff, `{"report_path":null}`, "asked"},
	} {
		text, failed := called(t, s, c.tool, raw(c.arguments))
		if !failed || text != c.want {
			t.Errorf("%s %.80s: %.200q, want %q", c.tool, c.arguments, text, c.want)
		}
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "shipgate.verify"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a sixth tool answers: %v", err)
	}
}

// What is refused is named, and a secret that was put in its place is not.
func TestARefusalRepeatsNoSecret(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("a1B2", 9)
	s := connected(t, &gate.Server{Ask: every(func(_ context.Context, a gate.Arguments) ([]byte, error) {
		return nil, errors.New("there is no rule " + secret)
	})}, "")
	for _, arguments := range []string{`{"agent":"` + secret + `"}`, `{"` + secret + `":1}`, `{}`} {
		text, failed := called(t, s, gate.Check, raw(arguments))
		if !failed || strings.Contains(text, secret) {
			t.Errorf("%s: %q", arguments, text)
		}
	}
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: secret})
	if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("%v", err)
	}
}

// The largest arguments are lines of their own: a client would take most of the
// time, writing them.
func TestADiffHasALimit(t *testing.T) {
	diff := strings.Repeat("я", gate.MaxDiff/2)
	for rest, want := range map[string]string{"": "asked", "x": "diff_text is over 32 MiB"} {
		input := io.MultiReader(strings.NewReader(greeting("2025-11-25")), strings.NewReader(call("1", `{"diff_text":"`+diff+rest+`"}`)+"\n"))
		var out bytes.Buffer
		ask := func(context.Context, gate.Arguments) ([]byte, error) { return nil, errors.New("asked") }
		if err := (&gate.Server{Ask: every(ask)}).Serve(t.Context(), input, &out); err != nil {
			t.Fatal(err)
		}
		_, line, _ := bytes.Cut(out.Bytes(), []byte("\n")) // behind the greeting
		var got answer
		if err := json.Unmarshal(line, &got); err != nil || string(got.ID) != "1" {
			t.Fatalf("%v: %.200q", err, line)
		}
		var r mcp.CallToolResult
		if err := json.Unmarshal(got.Result, &r); err != nil {
			t.Fatalf("%v: %.200s", err, got.Result)
		}
		if len(r.Content) != 1 || !r.IsError || r.Content[0].(*mcp.TextContent).Text != want {
			t.Errorf("%d bytes: %.200s, want %q", len(diff)+len(rest), got.Result, want)
		}
	}
}

func TestFailuresAreOneBoundedLine(t *testing.T) {
	var err error
	s := connected(t, &gate.Server{Ask: every(func(context.Context, gate.Arguments) ([]byte, error) {
		if err == nil {
			panic("secret words")
		}
		return []byte("half"), err
	})}, "")
	for said, want := range map[string]string{
		"a\nb\r\n\x1b[31mc\u2028d\xff":             "a b [31mc d?",
		strings.Repeat("я\n", 5000):                "", // cut
		"config_error: no manifest; next: do this": "config_error: no manifest; next: do this",
	} {
		err = errors.New(said)
		text, failed := called(t, s, gate.Check, nil)
		if !failed || strings.ContainsAny(text, "\n\r\x1b") || len(text) > 2010 || want != "" && text != want {
			t.Errorf("%q gives %q", said, text)
		}
	}
	err = nil
	if text, failed := called(t, s, gate.Check, nil); !failed || text != "internal_error: internal failure, no result" {
		t.Errorf("a panic gives %q", text)
	}
	if _, failed := called(t, s, gate.Check, map[string]any{"x": 1}); !failed {
		t.Error("the server did not outlive a panic")
	}
}

func TestAFewCallsWorkAtOnceAndAHeavyOneAlone(t *testing.T) {
	var now, most, heavy atomic.Int64
	s := connected(t, &gate.Server{Ask: every(func(_ context.Context, a gate.Arguments) ([]byte, error) {
		at := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); at > old && !most.CompareAndSwap(old, at); old = most.Load() {
		}
		time.Sleep(10 * time.Millisecond)
		if len(a.Text("diff_text")) > gate.Heavy {
			heavy.Store(max(heavy.Load(), now.Load()))
		}
		return []byte("{}"), nil
	})}, "")
	var done sync.WaitGroup
	for i := range 40 {
		done.Go(func() {
			diff := ""
			if i%10 == 3 {
				diff = strings.Repeat("x", gate.Heavy+1)
			}
			if text, failed := called(t, s, gate.Check, map[string]any{"diff_text": diff}); failed {
				t.Error(text)
			}
		})
	}
	done.Wait()
	if most.Load() != gate.AtOnce || heavy.Load() != 1 {
		t.Errorf("%d at once, %d beside a heavy one", most.Load(), heavy.Load())
	}
}

func TestACallHasADeadline(t *testing.T) {
	release := make(chan struct{})
	s := connected(t, &gate.Server{Deadline: 50 * time.Millisecond, Ask: every(func(ctx context.Context, a gate.Arguments) ([]byte, error) {
		if a.Text("agent") == "cursor" {
			<-release // does not listen to ctx
			return []byte("late"), nil
		}
		return []byte("{}"), nil
	})}, "")
	for range gate.AtOnce {
		text, failed := called(t, s, gate.Check, map[string]any{"agent": "cursor"})
		if !failed || !strings.HasPrefix(text, "other_error: no result within 50ms") {
			t.Errorf("%q", text)
		}
	}
	// All seats are taken by work that nobody waits for.
	if text, failed := called(t, s, gate.Check, nil); !failed {
		t.Errorf("a fifth call worked: %q", text)
	}
	close(release)
	for {
		if text, failed := called(t, s, gate.Check, nil); !failed {
			if text != "{}" {
				t.Errorf("%q", text)
			}
			return
		}
	}
}

func TestACancelledCallFreesItsSeat(t *testing.T) {
	begun := make(chan struct{})
	s := connected(t, &gate.Server{Ask: every(func(ctx context.Context, a gate.Arguments) ([]byte, error) {
		if a.Text("agent") == "cursor" {
			begun <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return []byte("{}"), nil
	})}, "")
	for range 3 * gate.AtOnce {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: gate.Check, Arguments: map[string]any{"agent": "cursor"}})
			gone <- err
		}()
		<-begun
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if text, failed := called(t, s, gate.Check, nil); failed {
		t.Error(text)
	}
}

func TestAServerNeedsAnAnswerForEveryTool(t *testing.T) {
	asks := every(nothing)
	delete(asks, gate.Handoff)
	err := (&gate.Server{Ask: asks}).Serve(t.Context(), strings.NewReader(""), io.Discard)
	if err == nil || !strings.Contains(err.Error(), gate.Handoff) {
		t.Errorf("%v", err)
	}
}
