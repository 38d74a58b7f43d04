// Package request is the circle's one entry point as a tool of the Model Context
// Protocol (docs/spec/circle.md §10). It has one tool, and that only asks: what
// is made is agreed to by people, elsewhere.
package request

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is the name of the one tool.
const Tool = "plimsoll.ask"

// Asked is what an agent asks for. Only the text is demanded.
type Asked struct {
	Text       string   `json:"text" jsonschema:"what is asked for, in any language"`
	RequestID  string   `json:"request_id,omitempty" jsonschema:"your key: the same request again is done once"`
	CircleID   string   `json:"circle_id,omitempty" jsonschema:"the circle; may be left out by a member of one circle"`
	MemberID   string   `json:"member_id,omitempty" jsonschema:"the member a channel adapter asks for"`
	To         string   `json:"to,omitempty" jsonschema:"who may see the outcome: private, circle, clan or public"`
	Expect     []string `json:"expect,omitempty" jsonschema:"types of artifact, like decision_draft; left out, whatever the text asks for"`
	Allow      []string `json:"allow,omitempty" jsonschema:"actions, like propose_decision; left out, what the expected types need"`
	Flags      []string `json:"flags,omitempty" jsonschema:"how sensitive it is, like health; more are found, none is taken away"`
	References []string `json:"references,omitempty" jsonschema:"what it is about, each as KIND:ID"`
	Locale     string   `json:"locale,omitempty" jsonschema:"the language of the answer, like uk"`
}

// Refused is a refusal of the service: its problem document, which is the answer
// of the tool.
type Refused struct{ Document []byte }

func (r *Refused) Error() string { return "the service refused the request" }

// Ask sends a request and answers its package as JSON. tell is told of what
// happens meanwhile, once for each step.
type Ask func(ctx context.Context, a Asked, tell func(step int64, what string)) ([]byte, error)

// about is what a model is told of the tool.
const about = `Asks the circle. Every request of people or agents goes through this one entry; it is sorted, screened and answered
with drafts. The answer is a package: its status is draft, needs_confirmation or waiting_for_consent, and never confirmed.
Nothing takes effect before a person confirms it or consents to it themselves, with the commands of their own program: this tool
cannot. Show the people concerned what is owed, with its digest, and stop there.`

// Serve answers on a pair of streams until the client leaves or ctx ends.
func Serve(ctx context.Context, version string, in io.ReadCloser, out io.WriteCloser, ask Ask) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "plimsoll", Version: version}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	never, here := false, true
	mcp.AddTool(s, &mcp.Tool{
		Name: Tool, Title: "Ask the circle", Description: about,
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &never, IdempotentHint: false, OpenWorldHint: &here},
	}, func(ctx context.Context, q *mcp.CallToolRequest, a Asked) (*mcp.CallToolResult, any, error) {
		return answer(ctx, q, a, ask)
	})
	err := s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

func answer(ctx context.Context, q *mcp.CallToolRequest, a Asked, ask Ask) (*mcp.CallToolResult, any, error) {
	tell := func(step int64, what string) {
		if token := q.Params.GetProgressToken(); token != nil {
			// A client that does not listen still gets its answer.
			_ = q.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(step), Message: what})
		}
	}
	text, err := ask(ctx, a, tell)
	no, refused := errors.AsType[*Refused](err)
	if refused {
		text = no.Document
	} else if err != nil {
		return nil, nil, err
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, IsError: refused}
	if json.Valid(text) {
		result.StructuredContent = json.RawMessage(text)
	}
	return result, nil, nil
}
