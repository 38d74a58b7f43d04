package model

import (
	"context"
	"net/url"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"plimsoll.dev/internal/request/constitution"
)

// chat asks an OpenAI-compatible endpoint.
type chat struct {
	service openai.ChatCompletionService
	model   string
}

// newOpenAI makes the service alone, not the library's client: that one takes an
// address, keys and headers from the environment.
func newOpenAI(base *url.URL, c Config, l *line) *chat {
	options := []option.RequestOption{option.WithBaseURL(base.String()), option.WithHTTPClient(l.client()), option.WithMaxRetries(0)}
	if c.Key.Set() {
		options = append(options, option.WithAPIKey(c.Key.text))
	}
	return &chat{service: openai.NewChatCompletionService(options...), model: c.Model}
}

// ask sends no tools, no response format and no temperature: endpoints differ in
// what they take, and the answer is checked as if nothing had been promised.
func (o *chat) ask(ctx context.Context, p constitution.Prompt, user string, tokens int64) (reply, error) {
	answer, err := o.service.New(ctx, openai.ChatCompletionNewParams{
		Model:               o.model,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(p.Text()), openai.UserMessage(user)},
		MaxCompletionTokens: openai.Int(tokens),
	})
	if err != nil {
		return reply{}, err
	}
	if answer == nil || len(answer.Choices) != 1 {
		return reply{}, &call{what: "the model endpoint answered without an answer"}
	}
	choice := answer.Choices[0]
	return reply{
		model: answer.Model, text: choice.Message.Content, in: answer.Usage.PromptTokens, out: answer.Usage.CompletionTokens,
		cut:     choice.FinishReason == "length",
		refused: choice.Message.Refusal != "" || len(choice.Message.ToolCalls) > 0 || choice.FinishReason == "content_filter" || choice.FinishReason == "tool_calls" || choice.FinishReason == "function_call",
	}, nil
}
