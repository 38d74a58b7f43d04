//go:build linux

package shipgatemcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peer writes bytes to a server. What comes back is read at once, whatever
// becomes of it.
type peer struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // closed when the server is gone
	next  int
}

func newPeer(t *testing.T, dir string) *peer {
	t.Helper()
	cmd := server()
	cmd.Dir, cmd.Env = dir, environ()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, cmd: cmd, in: in, lines: make(chan string, 1<<17)}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		defer close(p.lines)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			p.lines <- lines.Text()
		}
	}()
	p.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.until(`"hello"`)
	return p
}

// line is the next line of the server.
func (p *peer) line() string {
	p.t.Helper()
	select {
	case line, there := <-p.lines:
		if !there {
			p.t.Fatal("the server is gone")
		}
		if !json.Valid([]byte(line)) {
			p.t.Fatalf("a line is no JSON: %.200q", line)
		}
		return line
	case <-time.After(2 * time.Minute):
		p.t.Fatal("no answer")
		return ""
	}
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) call(id, tool string, arguments any) {
	p.t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, text))
}

// until reads lines up to the answer to a call.
func (p *peer) until(id string) string {
	p.t.Helper()
	for {
		if line := p.line(); strings.Contains(line, `"id":`+id+`,`) {
			return line
		}
	}
}

// alive asks for a sign of life.
func (p *peer) alive() {
	p.t.Helper()
	p.next++
	id := fmt.Sprintf(`"alive-%d"`, p.next)
	p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
	if line := p.until(id); strings.Contains(line, `"error"`) {
		p.t.Fatal(line)
	}
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// size is the memory of the server, in MiB.
func (p *peer) size() int {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	m := resident.FindSubmatch(text)
	if m == nil {
		p.t.Fatalf("%s", text)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		p.t.Fatal(err)
	}
	return n >> 10
}

// leave closes the input; the server ends by itself, with 0.
func (p *peer) leave() {
	p.t.Helper()
	if err := p.in.Close(); err != nil {
		p.t.Error(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	for range p.lines {
		// its last words
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the server ended with %v", err)
	}
}

// One server for one hostile client after another: it answers each of them, and
// keeps no memory of them.
func TestHostileClients(t *testing.T) {
	dir := repository(t, "n8n-flow")
	p := newPeer(t, dir)
	random := rand.New(rand.NewPCG(1, 2))
	huge := strings.Repeat("+a line of an added file\n", (31<<20)/25)
	huge = fmt.Sprintf("diff --git a/x.md b/x.md\nnew file mode 100644\n--- /dev/null\n+++ b/x.md\n@@ -0,0 +1,%d @@\n%s", (31<<20)/25, huge)
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"binary", func() {
			noise := make([]byte, 4<<20)
			for i := range noise {
				noise[i] = byte(random.Uint32())
			}
			p.send(string(noise))
			p.until("null")
		}},
		{"endless line", func() { p.send(strings.Repeat("[{", 90<<20/2)); p.until("null") }},
		{"endless text", func() {
			p.send(`{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 80<<20) + `"}}`)
			p.until("70")
		}},
		{"nested", func() {
			p.send(`{"jsonrpc":"2.0","id":71,"method":"tools/call","params":` + strings.Repeat(`{"a":[`, 100_000) + strings.Repeat("]}", 100_000) + "}")
			p.until("71")
		}},
		{"a half message, then the rest", func() {
			half := `{"jsonrpc":"2.0","id":72,"method":"tools/call","params":{"name":"shipgate.check"`
			if _, err := io.WriteString(p.in, half); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
			p.send("}}")
			if line := p.until("72"); strings.Contains(line, "error") {
				t.Errorf("%.300s", line)
			}
		}},
		{"many at once", func() {
			for i := range 1000 {
				p.call(strconv.Itoa(1000+i), "shipgate.capabilities", nil)
			}
			for seen := map[int]bool{}; len(seen) < 1000; {
				var a struct{ ID int }
				if json.Unmarshal([]byte(p.line()), &a) == nil && a.ID >= 1000 {
					seen[a.ID] = true
				}
			}
		}},
		{"large diffs, given up", func() {
			for i := range 3 {
				id := strconv.Itoa(80 + i)
				p.call(id, "shipgate.check", arguments{"diff_text": huge})
				p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
				p.until(id)
			}
		}},
		{"large diffs", func() {
			for i := range 2 {
				p.call(strconv.Itoa(90+i), "shipgate.check", arguments{"diff_text": huge})
			}
			for range 2 {
				if line := p.line(); strings.Contains(line, "isError") || strings.Contains(line, `"error"`) {
					t.Errorf("%.300s", line)
				}
			}
		}},
	} {
		begun := time.Now()
		c.do()
		p.alive()
		t.Logf("%-32s %6d ms, %4d MiB after it", c.name, time.Since(begun).Milliseconds(), p.size())
	}
	deadline := time.Now().Add(20 * time.Second)
	for p.size() > 256 && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
		p.alive()
	}
	if n := p.size(); n > 256 {
		t.Errorf("%d MiB are kept", n)
	}
	p.leave()
}

// A client that goes away in the middle of everything takes the server with it.
func TestAClientThatIsGone(t *testing.T) {
	dir := repository(t, "n8n-flow")
	for _, last := range []string{
		"", `{"jsonrpc":"2.0","id":1,"meth`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shipgate.capabilities"}}` + "\n", "\x00\xff\n\n[",
	} {
		p := newPeer(t, dir)
		if _, err := io.WriteString(p.in, last); err != nil {
			t.Fatal(err)
		}
		p.leave()
	}
}
