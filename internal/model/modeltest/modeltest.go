// Package modeltest is a model endpoint for tests: it speaks both protocols of
// package model, answers as a test wants it to, and remembers every byte it was
// sent. Its worst model obeys every instruction that reaches it, wherever it
// stands; what it is made to say is in a Corpus.
package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Call is one question as the endpoint received it.
type Call struct {
	Raw    []byte // the request line, headers and body
	Path   string
	Model  string
	System string
	User   string // the user turn

	Mark   string
	Data   []Piece // the pieces of the request, without the drafts
	Drafts []Draft
	Faults string // why the answer before was not taken; "" in a first question
}

// Piece is a text between two marks.
type Piece struct {
	Name   string
	Origin string
	Text   string
}

// Draft is what is asked for.
type Draft struct {
	Type    string
	Members []string // that the model may write
	Content string   // as it stands, JSON
}

// Reply is what a model answers.
type Reply struct {
	Text  string
	Cut   bool // the answer ended at its limit
	Tool  bool // it wants a tool called, which nobody offered
	Model string
	Raw   http.HandlerFunc // writes the whole response instead
}

// Model is how an endpoint answers. Any number of goroutines may call it.
type Model func(Call) Reply

// Server is an endpoint that runs until its test ends.
type Server struct {
	URL string

	model Model
	mu    sync.Mutex // guards calls
	calls []Call
}

// New starts an endpoint.
func New(tb testing.TB, m Model) *Server {
	tb.Helper()
	s := &Server{model: m}
	h := httptest.NewServer(s)
	tb.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	s.URL = h.URL
	return s
}

// Calls is every question so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call{}, s.calls...)
}

// Traffic is everything that was sent so far, to be searched for what must never
// be sent. The body of a question stands there twice, as bytes and as text, so
// that no escape of JSON hides anything.
func (s *Server) Traffic() []byte {
	var b bytes.Buffer
	for _, c := range s.Calls() {
		b.Write(c.Raw)
		b.WriteString("\n" + c.System + "\n" + c.User + "\n")
	}
	return b.Bytes()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := httputil.DumpRequest(r, true)
	if err != nil {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	body, _ := io.ReadAll(r.Body)
	c, err := read(body)
	if err != nil {
		http.Error(w, "no question", http.StatusBadRequest)
		return
	}
	c.Raw, c.Path = raw, r.URL.Path
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	reply := s.model(c)
	if reply.Raw != nil {
		reply.Raw(w, r)
		return
	}
	if reply.Model == "" {
		reply.Model = c.Model
	}
	answer, known := any(nil), true
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		answer = chat(c, reply)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		answer = message(c, reply)
	default:
		known = false
	}
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

type object = map[string]any

func chat(c Call, r Reply) object {
	message, reason := object{"role": "assistant", "content": r.Text}, "stop"
	if r.Cut {
		reason = "length"
	}
	if r.Tool {
		reason = "tool_calls"
		message["tool_calls"] = []object{{"id": "call_1", "type": "function", "function": object{"name": "send", "arguments": "{}"}}}
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": r.Model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": reason, "logprobs": nil}},
		"usage":   object{"prompt_tokens": (len(c.System) + len(c.User)) / 4, "completion_tokens": len(r.Text)/4 + 1, "total_tokens": (len(c.System)+len(c.User)+len(r.Text))/4 + 1},
	}
}

func message(c Call, r Reply) object {
	content, reason := []object{{"type": "text", "text": r.Text}}, "end_turn"
	if r.Cut {
		reason = "max_tokens"
	}
	if r.Tool {
		reason = "tool_use"
		content = append(content, object{"type": "tool_use", "id": "toolu_1", "name": "send", "input": object{}})
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "content": content, "stop_reason": reason, "stop_sequence": nil,
		"usage": object{"input_tokens": (len(c.System) + len(c.User)) / 4, "output_tokens": len(r.Text)/4 + 1},
	}
}

// text is a content of either protocol: a string, or a list of blocks.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Text string }
	_ = json.Unmarshal(raw, &blocks)
	for _, b := range blocks {
		s += b.Text
	}
	return s
}

// read takes a question of either protocol apart, as a model would see it.
func read(body []byte) (Call, error) {
	var q struct {
		Model    string
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return Call{}, fmt.Errorf("read a question: %w", err)
	}
	c := Call{Model: q.Model, System: text(q.System)}
	for _, m := range q.Messages {
		switch m.Role {
		case "system", "developer":
			c.System += text(m.Content)
		default:
			c.User += text(m.Content)
		}
	}
	c.read()
	return c, nil
}

var (
	begins = regexp.MustCompile(`(?m)^<<<DATA ([0-9a-f]{32}) (\d+): (.*), provenance=(\w+)>>>\n`)
	asks   = regexp.MustCompile(`(?m)^Draft \d+ is a (\w+)\. You write these members of its content and no others: (.*)\.$`)
)

// read finds the pieces of the user turn by the mark that comes first, as a model
// that was told of it does.
func (c *Call) read() {
	at := begins.FindAllStringSubmatchIndex(c.User, -1)
	if len(at) == 0 {
		return
	}
	c.Mark = c.User[at[0][2]:at[0][3]]
	outside, last := "", 0
	for _, m := range at {
		mark, n := c.User[m[2]:m[3]], c.User[m[4]:m[5]]
		if mark != c.Mark || m[0] < last {
			continue
		}
		end := strings.Index(c.User[m[1]:], "\n<<<END "+mark+" "+n+">>>\n")
		if end < 0 {
			continue
		}
		p := Piece{Name: c.User[m[6]:m[7]], Origin: c.User[m[8]:m[9]], Text: c.User[m[1] : m[1]+end]}
		outside += c.User[last:m[0]]
		last = m[1] + end
		switch {
		case p.Name == "faults":
			c.Faults = p.Text
		case strings.HasPrefix(p.Name, "draft "):
			c.Drafts = append(c.Drafts, Draft{Content: p.Text})
		default:
			c.Data = append(c.Data, p)
		}
	}
	for i, m := range asks.FindAllStringSubmatch(outside, -1) {
		if i == len(c.Drafts) {
			break
		}
		c.Drafts[i].Type = m[1]
		for name := range strings.SplitSeq(m[2], ", ") {
			if name, err := strconv.Unquote(name); err == nil {
				c.Drafts[i].Members = append(c.Drafts[i].Members, name)
			}
		}
	}
}
