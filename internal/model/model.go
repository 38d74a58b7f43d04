// Package model asks language models for drafts. It serves the port
// request.Model over an OpenAI-compatible endpoint or over Anthropic's
// (docs/spec/circle.md §6 Engines, §8).
//
// The system prompt is a constitution.Prompt and nothing else. Whatever came
// with a request stands in the user turn, between markers drawn for that one
// question, and is called data. The model is given no tools: all it can do is
// answer, and its answer is read as the words of a stranger.
//
// Only package server links this one.
package model

import (
	"context"
	"encoding/hex"
	"io"
	"strings"
	"sync"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/model/answer"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/constitution"
)

// API is the protocol an endpoint speaks.
type API string

// The protocols.
const (
	OpenAI    API = "openai"    // POST <base>/chat/completions
	Anthropic API = "anthropic" // POST <base>/v1/messages
)

// Valid says whether a is one of the two.
func (a API) Valid() bool { return a == OpenAI || a == Anthropic }

// Config is what a Client is made of. All of it is the operator's: nothing of a
// request, and no environment variable but the key's, changes whom we ask.
type Config struct {
	API     API
	BaseURL string // absolute, https; no user, query or fragment
	Plain   bool   // http is taken for other machines than this one
	Model   string // as the endpoint calls it
	Key     Key    // none for an endpoint that asks for none
	Limits  Limits

	Secrets answer.Secrets
	Random  io.Reader // of the markers; crypto/rand.Reader but in tests
}

// Limits bounds what one question and one run may cost. A zero member is its
// default.
type Limits struct {
	Requests int           // of one run, repeats after an outage included; 3
	Tokens   int64         // of one run, both ways; 200,000
	Answer   int64         // tokens of one answer, thinking included; 8,192
	Turn     int           // bytes of the user turn; 262,144
	Text     int           // bytes of the answer; 262,144
	Response int64         // bytes of the whole response; 1,048,576
	Timeout  time.Duration // of one question; 45 s
}

func (l Limits) filled() Limits {
	return Limits{
		Requests: either(l.Requests, 3), Tokens: either(l.Tokens, 200_000), Answer: either(l.Answer, 8192), Turn: either(l.Turn, 256<<10),
		Text: either(l.Text, 256<<10), Response: either(l.Response, 1<<20), Timeout: either(l.Timeout, 45*time.Second),
	}
}

func either[T int | int64 | time.Duration](v, usual T) T {
	if v > 0 {
		return v
	}
	return usual
}

// Client asks one endpoint. It may be used by many at once.
type Client struct {
	conf   Config
	ask    asker
	line   *line
	budget *budget

	mu      sync.Mutex      // guards prompts
	prompts map[string]bool // whether a secret was found in the prompt of this digest
}

var _ request.Model = (*Client)(nil)

// asker is one protocol. The prompt is the only way to say what the model is.
type asker interface {
	ask(ctx context.Context, p constitution.Prompt, user string, tokens int64) (reply, error)
}

// reply is what an endpoint answered, in the words both protocols share.
type reply struct {
	model   string
	text    string
	in, out int64 // tokens, as the endpoint counts them
	cut     bool  // the answer was longer than it may be
	refused bool  // the model would not, or wanted to do something else than answer
}

// New is a client. The error is of kind Invalid.
func New(c Config) (*Client, error) {
	const op = "model.New"
	base, err := baseURL(c.BaseURL, c.Plain)
	if err != nil {
		return nil, err
	}
	switch {
	case !c.API.Valid():
		return nil, fault.E(op, fault.Invalid, "an endpoint speaks openai or anthropic", nil)
	case !named(c.Model):
		return nil, fault.E(op, fault.Invalid, "the name of the model is empty, longer than 200 bytes, or holds other characters than letters, digits and ._:/@+-", nil)
	case c.Secrets == nil:
		return nil, fault.E(op, fault.Invalid, "nothing reads what is sent for secrets", nil)
	case c.Random == nil:
		return nil, fault.E(op, fault.Invalid, "no source of markers", nil)
	}
	c.Limits = c.Limits.filled()
	l := newLine(base, c.Limits)
	m := &Client{conf: c, line: l, budget: newBudget(c.Limits), prompts: map[string]bool{}}
	switch c.API {
	case Anthropic:
		m.ask = newAnthropic(base, c, l)
	default:
		m.ask = newOpenAI(base, c, l)
	}
	return m, nil
}

// Close gives back the connections that nobody uses.
func (c *Client) Close() { c.line.close() }

// Name implements request.Model.
func (c *Client) Name() string { return c.conf.Model }

// Draft implements request.Model. Its errors:
//
//   - Invalid, an *answer.Broken: the model answered, and the answer must not be used.
//     What is wrong with it may be told to the model in Turn.Faults.
//   - Denied: nothing was sent, because of a secret, a size or the budget.
//   - Unavailable: no answer. Where the endpoint says when to ask again, the
//     error holds a *pipeline.Again, which is never longer than a minute.
//   - Internal: the caller's mistake.
func (c *Client) Draft(ctx context.Context, p constitution.Prompt, t request.Turn) (request.Drafted, error) {
	const op = "model.Draft"
	switch {
	case !p.Assembled():
		return request.Drafted{}, fault.E(op, fault.Internal, "the prompt was not assembled", nil)
	case len(t.Contract) == 0 || len(t.Contract) > maxDrafts:
		return request.Drafted{}, fault.E(op, fault.Internal, "a turn asks for one draft at least, and for a few", nil)
	}
	mark, err := c.mark(p, t)
	if err != nil {
		return request.Drafted{}, err
	}
	turn := compose(t, mark)
	if len(turn) > c.conf.Limits.Turn {
		return request.Drafted{}, fault.E(op, fault.Denied, "the turn is larger than a turn may be; it was not sent", nil)
	}
	if err := c.guard(p, t); err != nil {
		return request.Drafted{}, err
	}
	size := estimate(len(p.Text()) + len(turn))
	if err := c.budget.take(t.Run, size+c.conf.Limits.Answer); err != nil {
		return request.Drafted{}, err
	}
	timed, cancel := context.WithTimeout(ctx, c.conf.Limits.Timeout)
	defer cancel()
	r, err := c.ask.ask(timed, p, turn, c.conf.Limits.Answer)
	if err != nil {
		// What was reserved stays spent: the endpoint may have worked for it.
		return request.Drafted{}, failure(timed, err)
	}
	c.budget.settle(t.Run, size+c.conf.Limits.Answer, max(size, r.in)+max(estimate(len(r.text)), r.out))
	switch {
	case r.refused:
		return request.Drafted{}, answer.Break(answer.Refused, "there is no draft: only an answer in words is one")
	case r.cut:
		return request.Drafted{}, answer.Break(answer.Cut, "the answer is longer than an answer may be")
	case len(r.text) > c.conf.Limits.Text:
		return request.Drafted{}, answer.Break(answer.TooLarge, "the answer has more bytes than an answer may have")
	}
	drafts, err := answer.Read(r.text, t.Contract, answer.Witness{Mark: mark, Prompt: p.Text(), Turn: turn, Key: c.conf.Key.in, Secrets: c.conf.Secrets})
	if err != nil {
		return request.Drafted{}, err
	}
	name := c.conf.Model
	if named(r.model) {
		name = r.model
	}
	return request.Drafted{Model: name, Drafts: drafts}, nil
}

// mark draws the marker of one question: 128 bits, so that no text can hold it
// but by having read it.
func (c *Client) mark(p constitution.Prompt, t request.Turn) (string, error) {
	b := make([]byte, 16)
	for range 3 {
		if _, err := io.ReadFull(c.conf.Random, b); err != nil {
			return "", fault.E("model.Draft", fault.Internal, "draw a marker", err)
		}
		mark := hex.EncodeToString(b)
		if !strings.Contains(p.Text(), mark) && !strings.Contains(compose(t, ""), mark) {
			return mark, nil
		}
	}
	return "", fault.E("model.Draft", fault.Internal, "the source of markers repeats itself", nil)
}

// guard is the last look at what would be sent. The screen at the door has
// redacted every secret; one that is here came another way, and nothing goes out.
func (c *Client) guard(p constitution.Prompt, t request.Turn) error {
	// The marker is left out: random digits look like a secret.
	if c.secret(compose(t, "")) || c.secretPrompt(p) {
		return fault.E("model.Draft", fault.Denied, "there is a secret in the turn; it was not sent", nil)
	}
	return nil
}

func (c *Client) secret(text string) bool {
	report := c.conf.Secrets.Read(text)
	return report.Secrets() || c.conf.Key.in(text)
}

// maxPrompts is how many verdicts on prompts are kept: those of some reloads.
const maxPrompts = 256

// secretPrompt is secret of a prompt. The same few are sent again and again, and
// reading one takes longer than reading a request.
func (c *Client) secretPrompt(p constitution.Prompt) bool {
	c.mu.Lock()
	found, known := c.prompts[p.SHA256()]
	c.mu.Unlock()
	if known {
		return found
	}
	found = c.secret(p.Text())
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.prompts) >= maxPrompts {
		clear(c.prompts)
	}
	c.prompts[p.SHA256()] = found
	return found
}

// failure is why there is no answer, in words that hold nothing of the endpoint's.
func failure(ctx context.Context, err error) error {
	const op = "model.Draft"
	f := refusal(err)
	switch {
	case ctx.Err() != nil && f.status == 0:
		return fault.E(op, fault.Unavailable, "the model did not answer in time", context.Cause(ctx))
	case f.after > 0:
		return fault.E(op, fault.Unavailable, f.Error(), &pipeline.Again{After: f.after})
	}
	return fault.E(op, fault.Unavailable, f.Error(), nil).WithHint("%s", f.hint())
}

// maxName is the longest name of a model, as the artifact schema has it.
const maxName = 200

// named says whether a text can stand as the name of a model, in a record and in
// an artifact. What an endpoint calls itself is not believed further than that.
func named(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._:/@+-", r)
	}) < 0
}
