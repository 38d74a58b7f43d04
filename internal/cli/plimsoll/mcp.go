package plimsoll

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	mcp "plimsoll.dev/internal/mcp/request"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

func mcpCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "mcp-serve", Short: "Let an agent ask the circle, as its one tool over stdio", Args: cobra.NoArgs,
		Long: `mcp-serve speaks the Model Context Protocol on stdin and stdout and has one tool, ` + mcp.Tool + `. It asks under
your token, or under that of an agent with the role channel_adapter, whose requests count as
external. Nothing can be confirmed or consented to through it.`,
		Example: `  claude mcp add plimsoll -- plimsoll mcp-serve
  PLIMSOLL_TOKEN="$(cat adapter-token.txt)" plimsoll mcp-serve`,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := s.client(); err != nil {
				return err
			}
			return mcp.Serve(c.Context(), Version, io.NopCloser(s.env.Stdin), unclosed{s.env.Stdout}, s.askFor)
		},
	}
}

// unclosed is a stream that outlives who writes to it.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// askFor asks for an agent, and answers the package once there is an end.
func (s *session) askFor(ctx context.Context, q mcp.Asked, tell func(int64, string)) ([]byte, error) {
	text, err := s.answerTo(ctx, q, tell)
	if p, no := errors.AsType[*problem](err); no {
		document, failed := json.Marshal(p.Problem)
		return nil, errors.Join(&mcp.Refused{Document: document}, failed)
	}
	return text, err
}

func (s *session) answerTo(ctx context.Context, q mcp.Asked, tell func(int64, string)) ([]byte, error) {
	cl, err := s.client()
	if err != nil {
		return nil, err
	}
	a := asking{
		id: q.RequestID, circle: q.CircleID, member: q.MemberID, channel: "mcp", to: q.To, consent: string(envelope.ConsentNotRequired), locale: q.Locale,
		expect: q.Expect, allow: q.Allow, flags: q.Flags, refs: q.References,
	}
	if a.to == "" {
		a.to = string(envelope.Circle)
	}
	made, _, err := s.compose(ctx, cl, a, q.Text)
	if err != nil {
		return nil, err
	}
	ans, err := cl.do(ctx, call{method: http.MethodPost, path: "/v1/requests", raw: made, media: "application/json"})
	if err != nil {
		return nil, err
	}
	var p clan.Package
	if err := decode(ans.body, &p); err != nil {
		return nil, err
	}
	if p.State == clan.Running {
		err := cl.wait(ctx, p.RequestID, func(p clan.Progress) {
			if p.Of != "" {
				tell(p.Step, p.Of+" "+p.What)
			}
		})
		if err != nil {
			return nil, err
		}
		if ans, err = cl.get(ctx, "/v1/requests/"+url.PathEscape(p.RequestID), nil, nil); err != nil {
			return nil, err
		}
	}
	return ans.body, nil
}
