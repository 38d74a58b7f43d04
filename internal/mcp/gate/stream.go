package gate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll.dev/internal/gate/redact"
)

// Limits on what a client may send.
const (
	// MaxMessage is the longest message, in bytes with its escapes; all messages
	// that wait for their answer are no longer together.
	MaxMessage = 64 << 20
	// MaxOther is the longest message that calls no tool.
	MaxOther = 64 << 10
	// MaxWaiting is how many calls may wait for their answer.
	MaxWaiting = 64
)

// busy is the code of a refusal for having too much to do.
const busy = -32000

// methods are those a client may call, and told those it may notify of: a server
// of tools needs no others, and each one more is one more to bound.
var (
	methods = []string{"initialize", "ping", "server/discover", "tools/list", callTool}
	told    = []string{"notifications/initialized", "notifications/cancelled"}
)

const (
	initialize = "initialize"
	callTool   = "tools/call"
)

// batching are the revisions of the protocol with several messages on one line.
var batching = []string{"2024-11-05", "2025-03-26"}

// stream is one client: messages on lines of their own, read with limits. What
// cannot be taken is answered here, and the next line is read as if nothing had
// been; the protocol's own reader would end the session.
type stream struct {
	in     *bufio.Reader
	out    io.Writer
	grace  time.Duration // how long the end of the input waits for answers
	lines  chan jsonrpc.Message
	closed chan struct{}
	shut   sync.Once

	mu      sync.Mutex // guards what follows
	freed   *sync.Cond
	waiting map[jsonrpc.ID]*waiting
	held    int // bytes of all that wait or whose answers are being written
	leaving int // answers that are being written
	batches bool

	writing sync.Mutex // one message at a time
}

// waiting is a call without its answer yet.
type waiting struct {
	size   int
	method string
	batch  *batch
}

// batch is the answers to a line of several calls.
type batch struct {
	left    int
	answers []json.RawMessage
}

func newStream(in io.Reader, out io.Writer, grace time.Duration) *stream {
	s := &stream{
		in: bufio.NewReaderSize(in, 64<<10), out: out, grace: grace,
		lines: make(chan jsonrpc.Message), closed: make(chan struct{}), waiting: map[jsonrpc.ID]*waiting{},
	}
	s.freed = sync.NewCond(&s.mu)
	return s
}

// Connect makes a stream the transport of a server. The goroutine it starts ends
// with the input: a read of a pipe cannot be taken back.
func (s *stream) Connect(context.Context) (mcp.Connection, error) {
	go s.pump()
	return s, nil
}

// SessionID is empty: a pair of pipes is one session.
func (s *stream) SessionID() string { return "" }

// Close ends the session.
func (s *stream) Close() error {
	s.shut.Do(func() {
		close(s.closed)
		s.mu.Lock()
		s.freed.Broadcast()
		s.mu.Unlock()
	})
	return nil
}

func (s *stream) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.closed:
		return nil, io.EOF
	case m, open := <-s.lines:
		if !open {
			return nil, io.EOF
		}
		return m, nil
	}
}

// pump reads lines until the input ends, and then waits for what is being
// answered: a client may close its end as soon as it has asked.
func (s *stream) pump() {
	defer close(s.lines)
	for {
		line, sc, err := s.line()
		if len(line) > 0 || sc.deepest > 0 {
			s.take(line, sc)
		}
		if err != nil {
			s.drain()
			return
		}
	}
}

// line is the next line without its blanks; empty when it is too long to keep.
func (s *stream) line() ([]byte, *scan, error) {
	var kept bytes.Buffer
	sc, long := &scan{}, false
	for {
		part, err := s.in.ReadSlice('\n')
		sc.feed(part)
		if long = long || kept.Len()+len(part) > MaxMessage; !long {
			kept.Write(part)
		} else {
			kept = bytes.Buffer{}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			sc.deepest = max(sc.deepest, 1) // something was there
			return nil, sc, err
		}
		return bytes.TrimSpace(kept.Bytes()), sc, err
	}
}

func (s *stream) take(line []byte, sc *scan) {
	switch {
	case line == nil:
		s.refuse(sc.answerTo(), jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is over %d MiB", MaxMessage>>20))
	case sc.deepest > MaxDepth:
		s.refuse(sc.answerTo(), jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is nested more than %d deep", MaxDepth))
	case !utf8.Valid(line) || !json.Valid(line):
		s.refuse(json.RawMessage("null"), jsonrpc.CodeParseError, "the line is no JSON in UTF-8")
	case line[0] == '[':
		s.takeBatch(line)
	default:
		m, no := decode(line, sc.answerTo(), len(sc.id) > 0)
		if no == nil {
			no = s.admit(m, len(line), nil)
		}
		if no != nil {
			s.send(no)
			return
		}
		s.deliver(m)
		if m != nil && m.Method == initialize {
			s.await(m.ID) // the revision says how the next line is read
		}
	}
}

// refusal is an answer that no server was asked for.
type refusal struct {
	id   json.RawMessage
	code int
	why  string
}

func (r *refusal) json() []byte {
	why, err := json.Marshal(r.why)
	if err != nil {
		why = []byte(`"refused"`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, r.id, r.code, why)
}

func (s *stream) refuse(id json.RawMessage, code int, why string) {
	s.send(&refusal{id, code, why})
}

// send writes a refusal. A client that is gone is found out by the next answer.
func (s *stream) send(r *refusal) {
	if err := s.write(r.json()); err != nil {
		s.Close()
	}
}

// decode reads one message. m is nil for one that nobody waits for: an answer to
// what was never asked, or a notice of something that is nothing to a server of
// tools.
func decode(line []byte, id json.RawMessage, named bool) (*jsonrpc.Request, *refusal) {
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, &refusal{id, jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0"}
	}
	q, ok := m.(*jsonrpc.Request)
	switch {
	case twice(line):
		return nil, &refusal{json.RawMessage("null"), jsonrpc.CodeInvalidRequest, "a name is given twice"}
	case !ok:
		return nil, nil
	case q.IsCall() && !same(q.ID, id), !q.IsCall() && named:
		// An answer under another id would be lost.
		return nil, &refusal{json.RawMessage("null"), jsonrpc.CodeInvalidRequest, "the id is neither a text nor a whole number, or it is too long"}
	case !q.IsCall() && !slices.Contains(told, q.Method):
		return nil, nil
	case q.IsCall() && !slices.Contains(methods, q.Method):
		return nil, &refusal{id, jsonrpc.CodeMethodNotFound, fmt.Sprintf("there is no method %.100q", q.Method)}
	case q.Method != callTool && len(line) > MaxOther:
		return nil, &refusal{id, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message that calls no tool is over %d KiB", MaxOther>>10)}
	}
	return q, nil
}

// same says whether an id as it was understood is the one that was sent.
func same(id jsonrpc.ID, sent json.RawMessage) bool {
	switch v := id.Raw().(type) {
	case int64:
		return strconv.FormatInt(v, 10) == string(sent)
	case string:
		var s string
		return json.Unmarshal(sent, &s) == nil && s == v
	}
	return false
}

// admit counts a call in, once there is room for its bytes. A call too many is
// refused, and one with the id of another that waits.
func (s *stream) admit(q *jsonrpc.Request, size int, b *batch) *refusal {
	if q == nil || !q.IsCall() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held > 0 && s.held+size > MaxMessage && !s.over() {
		s.freed.Wait()
	}
	switch {
	case s.waiting[q.ID] != nil:
		return &refusal{json.RawMessage("null"), jsonrpc.CodeInvalidRequest, "a call with this id waits for its answer"}
	case len(s.waiting) >= MaxWaiting:
		id, err := json.Marshal(q.ID.Raw())
		if err != nil {
			id = json.RawMessage("null")
		}
		return &refusal{id, busy, fmt.Sprintf("%d calls wait for their answer; wait for one of them", MaxWaiting)}
	}
	s.waiting[q.ID] = &waiting{size: size, method: q.Method, batch: b}
	s.held += size
	if b != nil {
		b.left++
	}
	return nil
}

// takeBatch is a line of several messages, where the revision has them.
func (s *stream) takeBatch(line []byte) {
	s.mu.Lock()
	allowed := s.batches
	s.mu.Unlock()
	null := json.RawMessage("null")
	var parts []json.RawMessage
	switch {
	case !allowed:
		s.refuse(null, jsonrpc.CodeInvalidRequest, "the protocol has no batches in this revision")
		return
	case json.Unmarshal(line, &parts) != nil || len(parts) == 0 || len(parts) > MaxWaiting:
		s.refuse(null, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a batch has 1 to %d messages", MaxWaiting))
		return
	}
	all := &batch{left: 1} // held open until every part is counted in
	var messages []*jsonrpc.Request
	for _, part := range parts {
		sc := &scan{}
		sc.feed(part)
		m, no := decode(part, sc.answerTo(), len(sc.id) > 0)
		if no == nil && m != nil && m.Method == initialize {
			no = &refusal{sc.answerTo(), jsonrpc.CodeInvalidRequest, "initialize is no part of a batch"}
		}
		if no == nil {
			no = s.admit(m, len(part), all)
		}
		if no != nil {
			s.mu.Lock()
			all.answers = append(all.answers, no.json())
			s.mu.Unlock()
			continue
		}
		messages = append(messages, m)
	}
	for _, m := range messages {
		s.deliver(m)
	}
	if err := s.finish(all, nil); err != nil {
		s.Close()
	}
}

func (s *stream) deliver(q *jsonrpc.Request) {
	if q == nil {
		return
	}
	select {
	case s.lines <- q:
	case <-s.closed:
	}
}

// over says whether the session was closed.
func (s *stream) over() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// await waits until a call is answered.
func (s *stream) await(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.waiting[id] != nil && !s.over() {
		s.freed.Wait()
	}
}

// drain waits until every call is answered, but no longer than one may take.
func (s *stream) drain() {
	late := false
	timer := time.AfterFunc(s.grace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.freed.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting)+s.leaving > 0 && !late && !s.over() {
		s.freed.Wait()
	}
}

// Write sends what the server has to say. An answer ends its call.
func (s *stream) Write(_ context.Context, m jsonrpc.Message) error {
	answer, ok := m.(*jsonrpc.Response)
	if ok && answer.Error != nil {
		answer.Error = brief(answer.Error)
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if !ok {
		return s.write(text)
	}
	s.mu.Lock()
	call := s.waiting[answer.ID]
	if call == nil {
		s.mu.Unlock()
		return s.write(text)
	}
	// The id is free before the client can know of it; the end of the input waits
	// until the answer is out.
	delete(s.waiting, answer.ID)
	s.leaving++
	if call.method == initialize {
		s.batches = batched(answer.Result)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.leaving--
		s.held -= call.size
		s.freed.Broadcast()
		s.mu.Unlock()
	}()
	if call.batch != nil {
		return s.finish(call.batch, text)
	}
	return s.write(text)
}

// batched says whether the revision that initialize agreed on has batches.
func batched(result json.RawMessage) bool {
	var agreed struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	return json.Unmarshal(result, &agreed) == nil && slices.Contains(batching, agreed.ProtocolVersion)
}

// finish counts one part of a batch out, and sends the answers with the last.
func (s *stream) finish(b *batch, answer json.RawMessage) error {
	s.mu.Lock()
	if answer != nil {
		b.answers = append(b.answers, answer)
	}
	b.left--
	answers := b.answers
	done := b.left == 0 && len(answers) > 0
	s.mu.Unlock()
	if !done {
		return nil
	}
	parts := make([][]byte, len(answers))
	for i, a := range answers {
		parts[i] = a
	}
	return s.write(slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]")))
}

// write sends one line. A client that does not read stops everything else that
// would be sent to it, and then its own calls.
func (s *stream) write(line []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.out.Write(append(line, '\n'))
	return err
}

// brief is an error that does not send back what it was sent: nothing long, and no
// secret.
func brief(err error) error {
	const most = 1 << 10
	given := err.Error()
	text := redact.Text(given[:min(len(given), 4*most)])
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text == given {
		return err
	}
	short := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		short.Code, short.Data = wire.Code, wire.Data
	}
	return short
}
