package request_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll.dev/internal/mcp/request"
)

// connected is a client of a server that asks with ask. told gets the progress,
// which the client hears of at its own time, perhaps after the answer.
func connected(t *testing.T, told chan<- string, ask request.Ask) *mcp.ClientSession {
	t.Helper()
	theirs, out := io.Pipe()
	in, ours := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- request.Serve(t.Context(), "1.2.3", in, out, ask) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, q *mcp.ProgressNotificationClientRequest) {
			told <- q.Params.Message
		},
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		_ = in.Close() // the pipe of a client that left
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return session
}

func TestThereIsOneToolAndItOnlyAsks(t *testing.T) {
	s := connected(t, nil, func(context.Context, request.Asked, func(int64, string)) ([]byte, error) { return []byte(`{}`), nil })
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 1 || tools.Tools[0].Name != "plimsoll.ask" {
		t.Fatalf("%+v, %v", tools, err)
	}
	text, err := json.Marshal(tools.Tools[0].InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Required   []string
		Properties map[string]any
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(schema.Required, []string{"text"}) || schema.Properties["execute"] != nil || len(schema.Properties) != reflect.TypeFor[request.Asked]().NumField() {
		t.Errorf("%s", text)
	}
}

func TestTheAnswerIsThePackageAndItsProgress(t *testing.T) {
	var got request.Asked
	told := make(chan string, 8)
	s := connected(t, told, func(_ context.Context, a request.Asked, tell func(int64, string)) ([]byte, error) {
		got = a
		tell(1, "Process done")
		return []byte(`{"status":"draft"}`), nil
	})
	params := &mcp.CallToolParams{Name: request.Tool, Arguments: map[string]any{"text": "Let us decide", "expect": []string{"decision_draft"}}}
	params.SetProgressToken("p")
	r, err := s.CallTool(t.Context(), params)
	if err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	if text := r.Content[0].(*mcp.TextContent).Text; text != `{"status":"draft"}` || got.Text != "Let us decide" || !slices.Equal(got.Expect, []string{"decision_draft"}) {
		t.Errorf("%s for %+v", text, got)
	}
	select {
	case what := <-told:
		if what != "Process done" || len(told) > 0 {
			t.Errorf("told %q and %d more", what, len(told))
		}
	case <-time.After(30 * time.Second):
		t.Error("nothing was told")
	}
}

func TestARefusalIsAnAnswerAndNoFault(t *testing.T) {
	s := connected(t, nil, func(_ context.Context, a request.Asked, _ func(int64, string)) ([]byte, error) {
		if a.Text == "broken" {
			return nil, errors.New("the service does not answer")
		}
		return nil, &request.Refused{Document: []byte(`{"code":"channel.suspended"}`)}
	})
	for text, want := range map[string]string{"x": "channel.suspended", "broken": "does not answer"} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: request.Tool, Arguments: map[string]any{"text": text}})
		if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, want) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	// What nobody knows is refused before anybody is asked.
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: request.Tool, Arguments: map[string]any{"text": "x", "execute": true}})
	if err == nil && !r.IsError {
		t.Error("a member nobody knows was taken")
	}
}
