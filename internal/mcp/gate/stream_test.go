package gate_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/mcp/gate"
)

// greeting opens a session of a revision.
func greeting(revision string) string {
	return `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

func call(id, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"shipgate.check","arguments":` + arguments + `}}`
}

// answer is one line of the server.
type answer struct {
	ID    json.RawMessage
	Error *struct {
		Code    int
		Message string
	}
	Result json.RawMessage
}

// reporter is a test, a benchmark or a property.
type reporter interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// session sends everything at once, closes the input and reads what comes.
func session(t reporter, input io.Reader, ask gate.Ask) []answer {
	t.Helper()
	var out bytes.Buffer
	if err := (&gate.Server{Ask: every(ask), Deadline: 10 * time.Second}).Serve(context.Background(), input, &out); err != nil {
		t.Fatal(err)
	}
	var all []answer
	for line := range bytes.Lines(out.Bytes()) {
		if !bytes.HasPrefix(line, []byte("[")) {
			line = bytes.Join([][]byte{[]byte("["), line, []byte("]")}, nil)
		}
		var some []answer
		if err := json.Unmarshal(line, &some); err != nil {
			t.Fatalf("%v in %.200q", err, line)
		}
		all = append(all, some...)
	}
	return all
}

func TestWhatCannotBeTakenIsAnsweredAndTheNextLineIsRead(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	long := strings.Repeat("x", gate.MaxMessage)
	for name, c := range map[string]struct {
		line, id string
		code     int
	}{
		"words":             {"hello there", "null", -32700},
		"binary":            {"\x00\x01\xfe\xff\x7f{[", "null", -32700},
		"not UTF-8":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + "\xff" + `"}}`, "null", -32700},
		"half a message":    {`{"jsonrpc":"2.0","id":1,"meth`, "null", -32700},
		"two on a line":     {ping("1") + ping("2"), "null", -32700},
		"a number":          {"42", "null", -32600},
		"two ids":           {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "null", -32600},
		"two methods":       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shipgate.check"},"m\u0065thod":"ping"}`, "null", -32600},
		"two tools":         {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shipgate.check","arguments":{},"name":"shipgate.handoff"}}`, "null", -32600},
		"another version":   {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", -32600},
		"no version":        {`{"id":"a","method":"ping"}`, `"a"`, -32600},
		"an id that is not": {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, "null", -32600},
		"a null id":         {ping("null"), "null", -32600},
		"a broken id":       {ping("1.5"), "null", -32600},
		"an id too large":   {ping("90071992547409931"), "null", -32600},
		"an id too long":    {ping(`"` + strings.Repeat("x", 300) + `"`), "null", -32600},
		"a method nobody knows": {
			`{"jsonrpc":"2.0","id":7,"method":"shell/run","params":{}}`, "7", -32601,
		},
		"a list of resources": {`{"jsonrpc":"2.0","id":7,"method":"resources/list"}`, "7", -32601},
		"a subscription":      {`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{}}`, "7", -32601},
		"an empty method":     {`{"jsonrpc":"2.0","id":7,"method":""}`, "7", -32601},
		"a method as number":  {`{"jsonrpc":"2.0","id":7,"method":7}`, "7", -32600},
		"deep":                {`{"jsonrpc":"2.0","method":"tools/call","params":` + deep(gate.MaxDepth) + `,"id":8}`, "8", -32600},
		"very deep":           {strings.Repeat("[", 1_000_000), "null", -32600},
		"a long ping":         {`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + long[:gate.MaxOther] + `"}}`, "9", -32600},
		"a batch":             {"[" + ping("1") + "]", "null", -32600},
		"too long, id last":   {`{"params":{"id":3,"x":"` + long + `","y":{"id":4}},"id" : "z\"" }`, `"z\""`, -32600},
		"too long for words":  {long + "x", "null", -32600},
		"no tool":             {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shipgate.verify"}}`, "7", -32602},
		"params as a list":    {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1,2]}`, "7", -32602},
		"a long tool name":    {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["` + long[:1<<20] + `"]}}`, "7", -32602},
	} {
		t.Run(name, func(t *testing.T) {
			got := session(t, strings.NewReader(greeting("2025-11-25")+c.line+"\r\n\n  \n"+ping(`"next"`)), nothing)
			if len(got) != 3 {
				t.Fatalf("%d answers: %+v", len(got), got)
			}
			found := false
			for _, a := range got {
				switch string(a.ID) {
				case `"hello"`, `"next"`:
					if a.Error != nil {
						t.Errorf("%s: %+v", a.ID, a.Error)
					}
				default:
					found = true
					if string(a.ID) != c.id || a.Error == nil || a.Error.Code != c.code || len(a.Error.Message) > 1100 || strings.Contains(a.Error.Message, "\n") {
						t.Errorf("%s: %+v", a.ID, a.Error)
					}
				}
			}
			if !found {
				t.Error("no answer")
			}
		})
	}
}

func TestWhatAsksForNothingIsPassedOver(t *testing.T) {
	lines := []string{
		"", " \t ", `{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"shipgate.check"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized","params":null}`, `{"jsonrpc":"2.0","method":"nothing"}`,
	}
	got := session(t, strings.NewReader(greeting("2025-06-18")+strings.Join(lines, "\n")+"\n"+ping("1")), nothing)
	if len(got) != 2 || string(got[1].ID) != "1" || got[1].Error != nil {
		t.Errorf("%+v", got)
	}
}

// A client may close its end as soon as it has asked.
func TestTheEndOfTheInputWaitsForAnswers(t *testing.T) {
	slow := func(ctx context.Context, _ gate.Arguments) ([]byte, error) {
		select {
		case <-time.After(30 * time.Millisecond):
			return []byte("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	input := greeting("2025-03-26")
	for i := range 9 {
		input += call(fmt.Sprint(i), "{}") + "\n"
	}
	got := session(t, strings.NewReader(strings.TrimSuffix(input, "\n")), slow)
	answered := 0
	for _, a := range got {
		if bytes.Contains(a.Result, []byte("done")) {
			answered++
		}
	}
	if len(got) != 10 || answered != 9 {
		t.Errorf("%d answers, %d of them done", len(got), answered)
	}
}

func TestBatchesAreOfTheOldRevisions(t *testing.T) {
	batch := "[" + strings.Join([]string{
		ping("1"), call("2", "{}"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`, ping("1"), `"x"`,
		strings.TrimSpace(strings.Split(greeting("2025-03-26"), "\n")[0]), `{"jsonrpc":"2.0","id":3,"method":"nobody"}`,
	}, ",") + "]\n"
	for _, revision := range []string{"2024-11-05", "2025-03-26"} {
		got := session(t, strings.NewReader(greeting(revision)+batch), nothing)
		count := map[string]int{}
		for _, a := range got {
			key := string(a.ID)
			if a.Error != nil {
				key += fmt.Sprint(a.Error.Code)
			}
			count[key]++
		}
		want := map[string]int{`"hello"`: 1, "1": 1, "2": 1, "null-32600": 2, `"hello"-32600`: 1, "3-32601": 1}
		if fmt.Sprint(count) != fmt.Sprint(want) {
			t.Errorf("%s: %v", revision, count)
		}
	}
	for _, wrong := range []string{"[]", "[" + strings.Repeat(ping("1")+",", gate.MaxWaiting) + ping("1") + "]"} {
		got := session(t, strings.NewReader(greeting("2025-03-26")+wrong), nothing)
		if len(got) != 2 || got[1].Error == nil {
			t.Errorf("%.80s: %+v", wrong, got)
		}
	}
	// Notices alone are owed no answer.
	if got := session(t, strings.NewReader(greeting("2025-03-26")+`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`), nothing); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestCallsTooManyAreRefused(t *testing.T) {
	in, ours := io.Pipe()
	theirs, out := io.Pipe()
	release := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- (&gate.Server{Ask: every(func(context.Context, gate.Arguments) ([]byte, error) {
			<-release
			return []byte("done"), nil
		})}).Serve(t.Context(), in, out)
		out.Close()
	}()
	go func() {
		_, err := io.WriteString(ours, greeting("2025-11-25"))
		for i := range gate.MaxWaiting + 2 {
			if err == nil {
				_, err = io.WriteString(ours, call(fmt.Sprint(i), "{}")+"\n")
			}
		}
		if err == nil {
			_, err = io.WriteString(ours, call("3", "{}")+"\n")
		}
		if err = errors.Join(err, ours.Close()); err != nil {
			t.Error(err)
		}
	}()
	busy, twice, done := 0, 0, 0
	lines := bufio.NewScanner(theirs)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		switch {
		case a.Error == nil && bytes.Contains(a.Result, []byte("done")):
			done++
		case a.Error != nil && a.Error.Code == -32000:
			busy++
		case a.Error != nil && string(a.ID) == "null":
			twice++
			close(release)
		}
	}
	if err := <-ended; err != nil || busy != 2 || twice != 1 || done != gate.MaxWaiting {
		t.Errorf("%d busy, %d twice, %d done, %v", busy, twice, done, err)
	}
}

// A client that never reads and never closes keeps the server waiting, and
// nothing more; it ends with its context.
func TestAClientThatDoesNotRead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, ours := io.Pipe()
	stuck := blocked{ctx}
	ended := make(chan error, 1)
	go func() { ended <- (&gate.Server{Ask: every(nothing)}).Serve(ctx, in, stuck) }()
	sent := make(chan int, 1)
	go func() {
		n := 0
		for {
			if _, err := io.WriteString(ours, ping(fmt.Sprint(n))+"\n"); err != nil {
				sent <- n
				return
			}
			n++
		}
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	in.Close()
	if n := <-sent; n > 2*gate.MaxWaiting+64<<10/len(ping("0")) {
		t.Errorf("%d messages were taken from a client that does not read", n)
	}
}

// blocked is a pipe that nobody reads until ctx ends.
type blocked struct{ ctx context.Context }

func (b blocked) Write([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, errors.New("closed")
}

// Whatever a client sends, every line that comes back is JSON, no call is
// answered twice, and the server ends with the input.
func FuzzServe(f *testing.F) {
	for _, revision := range []string{"2024-11-05", "2025-11-25"} {
		for _, line := range []string{
			ping("1"), call("2", `{"agent":"codex"}`), "[" + ping("1") + "]", `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"shipgate.check","_meta":{"progressToken":[1],"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null}}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, `{"jsonrpc":"2.0","id":6,"method":"initialize","params":null}`,
			`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shipgate.check","inputResponses":{"a":{}},"requestState":"x","arguments":{}}}`,
		} {
			f.Add([]byte(greeting(revision) + line + "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		seen := map[string]int{}
		begun := time.Now()
		defer func() {
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("%s for %q", took, input)
			}
		}()
		for _, a := range session(t, bytes.NewReader(input), nothing) {
			if id := string(a.ID); a.Error == nil {
				seen[id]++
				if strings.Count(string(input), id) < seen[id] && !strings.Contains(string(input), `\`) {
					t.Errorf("%d answers to %s in %q", seen[id], id, input)
				}
			}
		}
	})
}
