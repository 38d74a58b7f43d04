package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll.dev/internal/gate/redact"
)

// AtOnce is how many calls work at once; others wait. A call with more than
// Heavy bytes of arguments works alone.
const (
	AtOnce = 4
	Heavy  = 4 << 20
)

// Deadline is how long a call may take, the time it waited included.
const Deadline = time.Minute

// Ask answers one call: the bytes that the program prints for it, or an error
// whose text is the answer of the tool. It stops soon after ctx ends, if it can.
type Ask func(ctx context.Context, a Arguments) ([]byte, error)

// Server is the five tools and what answers for them.
type Server struct {
	Version string
	// Ask has one entry for each tool, by its name.
	Ask map[string]Ask
	// Deadline is Deadline when it is zero.
	Deadline time.Duration
}

const instructions = `Plimsoll's gate, read-only: nothing is written, run or sent. The answers are those of the shipgate program, byte for byte. ` +
	`Switch on control.state, and do only what control.next_action says. The release decision is that of shipgate verify.`

// Serve answers on a pair of streams until the client leaves or ctx ends.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	deadline := s.Deadline
	if deadline == 0 {
		deadline = Deadline
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "shipgate", Title: "Plimsoll gate", Version: s.Version}, &mcp.ServerOptions{
		Logger: slog.New(slog.DiscardHandler), Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	desk := newDesk(deadline)
	for i := range tools {
		t := &tools[i]
		ask := s.Ask[t.name]
		if ask == nil {
			return fmt.Errorf("nothing answers for %s", t.name)
		}
		closed := false
		server.AddTool(&mcp.Tool{
			Name: t.name, Title: t.title, Description: t.about, InputSchema: t.schema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &closed},
		}, func(ctx context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return desk.call(ctx, t, ask, q.Params)
		})
	}
	err := server.Run(ctx, newStream(in, out, deadline+time.Second))
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// desk lets calls in: a few at once, a heavy one alone.
type desk struct {
	deadline time.Duration
	turn     chan struct{} // who takes several seats takes them without a rival
	seats    chan struct{}
}

func newDesk(deadline time.Duration) *desk {
	return &desk{deadline: deadline, turn: make(chan struct{}, 1), seats: make(chan struct{}, AtOnce)}
}

// call answers one call. Whatever is wrong with it is an answer of the tool: one
// line of text, marked as an error, and nothing beside it.
func (d *desk) call(ctx context.Context, t *tool, ask Ask, q *mcp.CallToolParamsRaw) (*mcp.CallToolResult, error) {
	ctx, stop := context.WithTimeout(ctx, d.deadline)
	defer stop()
	a, err := t.read(q.Arguments)
	if err != nil {
		return failed(err), nil
	}
	size := len(q.Arguments)
	q.Arguments = nil // it is kept by the call for as long as that lives
	seats := 1
	if size > Heavy {
		seats = AtOnce
	}
	if err := d.sit(ctx, seats); err != nil {
		return d.ended(ctx)
	}
	type outcome struct {
		text []byte
		err  error
	}
	answered := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{err: errors.New("internal_error: internal failure, no result")}
			}
			a.values = nil
			if seats > 1 {
				debug.FreeOSMemory() // a large diff is rare; its memory is not kept for the next
			}
			d.rise(seats)
			answered <- o
		}()
		o.text, o.err = ask(ctx, a)
	}()
	select {
	case <-ctx.Done():
		// The work goes on in its seats until it ends by itself: it cannot be taken
		// out of the middle of a file.
		return d.ended(ctx)
	case o := <-answered:
		switch {
		case ctx.Err() != nil:
			return d.ended(ctx)
		case o.err != nil:
			return failed(o.err), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(o.text)}}}, nil
	}
}

func (d *desk) sit(ctx context.Context, seats int) error {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.turn }()
	for taken := range seats {
		select {
		case d.seats <- struct{}{}:
		case <-ctx.Done():
			d.rise(taken)
			return ctx.Err()
		}
	}
	return nil
}

func (d *desk) rise(seats int) {
	for range seats {
		<-d.seats
	}
}

// ended is the answer to a call whose time is over, or that its client gave up.
func (d *desk) ended(ctx context.Context) (*mcp.CallToolResult, error) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed(fmt.Errorf("other_error: no result within %s; run the command shipgate itself", d.deadline)), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call was cancelled"}
}

// failed is an error of a tool, as one line of bounded length.
func failed(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: OneLine(err.Error())}}}
}

// OneLine is a text as one line without control characters and secrets, cut when
// it is long.
func OneLine(s string) string {
	const most = 2000
	s = redact.Text(s)
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.TrimSpace(s)
}
