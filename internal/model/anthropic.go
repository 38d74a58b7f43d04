package model

import (
	"context"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"plimsoll.dev/internal/request/constitution"
)

// messages asks an endpoint that speaks Anthropic's protocol.
type messages struct {
	service anthropic.MessageService
	model   string
}

// newAnthropic makes the service alone, not the library's client: that one takes
// an address, keys, profiles and headers from the environment. Its spans may
// hold the text of a request, and are off.
func newAnthropic(base *url.URL, c Config, l *line) *messages {
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithBaseURL(base.String()), option.WithHTTPClient(l.client()), option.WithMaxRetries(0), option.WithoutOpenTelemetry(),
	}
	if c.Key.Set() {
		options = append(options, option.WithAPIKey(c.Key.text))
	}
	return &messages{service: anthropic.NewMessageService(options...), model: c.Model}
}

func (m *messages) ask(ctx context.Context, p constitution.Prompt, user string, tokens int64) (reply, error) {
	answer, err := m.service.New(ctx, anthropic.MessageNewParams{
		Model:     m.model,
		MaxTokens: tokens,
		System:    []anthropic.TextBlockParam{{Text: p.Text()}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(user))},
	})
	if err != nil {
		return reply{}, err
	}
	if answer == nil || len(answer.Content) == 0 {
		return reply{}, &call{what: "the model endpoint answered without an answer"}
	}
	var text strings.Builder
	r := reply{model: answer.Model, in: answer.Usage.InputTokens, out: answer.Usage.OutputTokens}
	for _, b := range answer.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "thinking", "redacted_thinking": // nobody's draft
		default:
			r.refused = true
		}
	}
	r.text = text.String()
	switch answer.StopReason {
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		r.cut = true
	case anthropic.StopReasonRefusal, anthropic.StopReasonToolUse, anthropic.StopReasonPauseTurn:
		r.refused = true
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
	}
	return r, nil
}
