package plimsoll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

// asking is the command line of ask.
type asking struct {
	id, circle, member, channel, to, consent, locale, file string
	expect, allow, flags, refs, with                       []string
	quick                                                  bool
}

func askCommand(s *session) *cobra.Command {
	var a asking
	c := &cobra.Command{
		Use: "ask TEXT|-", Short: "Ask the circle: the one entry of every request", Args: cobra.MaximumNArgs(1),
		Long: `ask sends a request to the circle and shows the answer: what was made of it, who has to consent
to what, and what waits for a confirmation, with the exact content, its digest and the command
that agrees to it. Nothing takes effect before somebody confirms it.

The text is an argument, or is read from stdin when it is -. Without --expect whatever the text
asks for is made; with it nothing else. --envelope sends a file that holds all eight fields.

Exit codes: 0 there is an answer, 1 the request was stopped or refused, 2 it was wrong, 3 nobody
answered yet. The same --id with the same request is the same request: it is done once.`,
		Example: `  plimsoll ask "Let us decide whether the greenhouse opens on Saturdays" --expect decision_draft
  plimsoll ask - --circle garden --to private < note.txt
  plimsoll ask "Summarise what we said about water" --ref artifact:art-1f2e --json
  plimsoll ask --envelope request.json`,
		RunE: func(c *cobra.Command, args []string) error { return s.ask(c.Context(), a, args) },
	}
	flags := c.Flags()
	flags.StringVar(&a.circle, "circle", "", "the circle (default: yours, when you are a member of one)")
	flags.StringVar(&a.to, "to", "circle", "who may see the outcome: private, circle, clan or public")
	flags.StringArrayVar(&a.expect, "expect", nil, "a type of artifact, like decision_draft; may be repeated")
	flags.StringArrayVar(&a.allow, "allow", nil, "an action, like propose_decision; may be repeated (default: what --expect needs)")
	flags.StringArrayVar(&a.refs, "ref", nil, "what it is about, as KIND:ID or KIND:ID@SHA256; artifact, contract, diff, document or url; may be repeated")
	flags.StringArrayVar(&a.flags, "flag", nil, "how sensitive it is, like health; more are found, none is taken away; may be repeated")
	flags.StringArrayVar(&a.with, "with", nil, "a member it concerns; may be repeated")
	flags.StringVar(&a.consent, "consent", string(envelope.ConsentNotRequired), "what you say about consent; the ledger decides")
	flags.StringVar(&a.locale, "locale", "", "the language of the answer, like uk (default: that of the text)")
	flags.StringVar(&a.id, "id", "", "your key of the request (default: a new one)")
	flags.StringVar(&a.member, "member", "", "for whom a channel adapter asks")
	flags.StringVar(&a.channel, "channel", "cli", "the way it came in, as the circle knows it")
	flags.StringVar(&a.file, "envelope", "", "file with the whole request, - for stdin")
	flags.BoolVar(&a.quick, "no-wait", false, "do not wait for the answer")
	complete(c, "to", texts(envelope.Levels()))
	complete(c, "expect", texts(envelope.ArtifactTypes()))
	complete(c, "allow", texts(envelope.Actions()))
	complete(c, "flag", texts(envelope.Flags()))
	show := &cobra.Command{
		Use: "show ID", Short: "Show a request as it stands", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			return s.showRequest(c.Context(), cl, args[0])
		},
	}
	c.AddCommand(show, requestList(s))
	return c
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// complete has the shell offer the values of a flag.
func complete(c *cobra.Command, flag string, values []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

func requestList(s *session) *cobra.Command {
	return lister[clan.Package]{
		silent: true, use: "list", short: "List requests of your circles, newest first", path: "/v1/requests",
		filters: []filter{{"circle", "circle_id", "only of this circle"}, {"member", "member_id", "only of this member"}, {"state", "state", "running or ended"}},
		head:    []string{"REQUEST", "CIRCLE", "BY", "STATE", "ANSWER", "INTENT", "STOPPED BY", "ASKED"},
		row: func(p clan.Package) []string {
			stop := ""
			if p.Stop != nil {
				stop = string(p.Stop.Condition)
			}
			return []string{p.RequestID, p.CircleID, p.MemberID, string(p.State), string(p.Status), string(p.Intent), stop, p.CreatedAt.Format(time.RFC3339)}
		},
	}.command(s)
}

func (s *session) ask(ctx context.Context, a asking, args []string) error {
	cl, err := s.client()
	if err != nil {
		return err
	}
	text, id, err := s.envelope(ctx, cl, a, args)
	if err != nil {
		return err
	}
	ans, err := cl.do(ctx, call{method: http.MethodPost, path: "/v1/requests", raw: text, media: "application/json"})
	if err != nil {
		return err
	}
	var p clan.Package
	if err := decode(ans.body, &p); err != nil {
		return err
	}
	if id == "" {
		id = p.RequestID
	}
	if p.State == clan.Running && !a.quick {
		if err := s.follow(ctx, cl, id); err != nil {
			return err
		}
	}
	return s.showRequest(ctx, cl, p.RequestID)
}

// envelope is the request as it is sent, and its id where it was made up here.
func (s *session) envelope(ctx context.Context, cl *client, a asking, args []string) (text []byte, id string, err error) {
	if a.file != "" {
		if len(args) > 0 {
			return nil, "", usage("--envelope holds the text already")
		}
		text, err = s.input(a.file)
		return text, "", err
	}
	if len(args) != 1 {
		return nil, "", usage("say what you ask for, or - to read it from stdin")
	}
	said := []byte(args[0])
	if args[0] == "-" {
		if said, err = s.input("-"); err != nil {
			return nil, "", err
		}
	}
	return s.compose(ctx, cl, a, strings.TrimRight(string(said), "\r\n"))
}

// compose is the envelope around a text, with its id.
func (s *session) compose(ctx context.Context, cl *client, a asking, said string) (text []byte, id string, err error) {
	e := api.Envelope{
		RequestID: a.id, Target: envelope.Level(a.to), Flags: words[envelope.Flag](a.flags), Consent: envelope.ConsentStatus(a.consent),
		ExpectedOutputs: words[envelope.ArtifactType](a.expect), AllowedActions: words[envelope.Action](a.allow), InputText: said,
	}
	if e.RequestID == "" {
		e.RequestID = "req-" + strings.TrimPrefix(newKey(), "cli-")
	}
	if e.Context, err = s.context(ctx, cl, a); err != nil {
		return nil, "", err
	}
	if len(e.ExpectedOutputs) == 0 {
		e.ExpectedOutputs = envelope.ArtifactTypes()
	}
	if len(e.AllowedActions) == 0 {
		e.AllowedActions = needed(e.ExpectedOutputs)
	}
	text, err = json.Marshal(e)
	return text, e.RequestID, err
}

func words[T ~string](list []string) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = T(v)
	}
	return out
}

// needed is the actions without which the outputs cannot be made, and those that
// ask people.
func needed(outputs []envelope.ArtifactType) []envelope.Action {
	list := []envelope.Action{envelope.Read, envelope.Draft, envelope.RequestConsent, envelope.StepUp}
	for _, o := range outputs {
		if a := o.Needs(); a != "" && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// context is who asks, where, and about what.
func (s *session) context(ctx context.Context, cl *client, a asking) (api.Context, error) {
	var me api.Me
	if _, err := cl.get(ctx, "/v1/me", nil, &me); err != nil {
		return api.Context{}, err
	}
	out := api.Context{
		CircleID: a.circle, MemberID: a.member, Locale: a.locale, Channel: api.Channelled{Kind: envelope.Internal, ID: a.channel},
		Participants: append([]string{}, a.with...), References: []api.ReferredTo{},
	}
	if slices.Contains(me.Actor.Roles, contract.ChannelAdapter) {
		out.Channel.Kind = envelope.External
		if a.member == "" {
			return out, usage("an adapter names the member it asks for with --member")
		}
	} else if out.MemberID == "" {
		out.MemberID = string(me.Actor.ActorID)
	}
	if out.CircleID == "" {
		mine, err := list[api.Circle](ctx, cl, "/v1/circles", nil, 10)
		if err != nil {
			return out, err
		}
		switch len(mine) {
		case 0:
			return out, fault.E("ask", fault.Invalid, "you are a member of no circle", nil).WithHint(`plimsoll circle create "The name of it" founds one; a steward admits you to another`)
		case 1:
			out.CircleID = mine[0].ID
		default:
			names := make([]string, len(mine))
			for i, c := range mine {
				names[i] = c.ID
			}
			return out, usage("name one of your circles with --circle: %s", strings.Join(names, ", "))
		}
	}
	for _, text := range a.refs {
		kind, id, ok := strings.Cut(text, ":")
		if !ok || !envelope.ReferenceKind(kind).Valid() {
			return out, usage("--ref %q is no KIND:ID; kinds are artifact, contract, diff, document and url", text)
		}
		sum := ""
		if at := strings.LastIndexByte(id, '@'); at >= 0 && len(id)-at-1 == 64 {
			id, sum = id[:at], id[at+1:]
		}
		out.References = append(out.References, api.ReferredTo{Kind: envelope.ReferenceKind(kind), ID: id, SHA256: sum})
	}
	return out, nil
}

// maxInput is more than any request may have.
const maxInput = 1 << 20

// input is a file, or stdin for "-".
func (s *session) input(name string) ([]byte, error) {
	if name != "-" {
		return readFile(s.env, name)
	}
	text, err := io.ReadAll(io.LimitReader(s.env.Stdin, maxInput+1))
	if err != nil {
		return nil, fault.E("plimsoll", fault.Invalid, "read stdin", err)
	}
	if len(text) > maxInput {
		return nil, usage("stdin holds more than %d bytes", maxInput)
	}
	return text, nil
}

// errEnded ends the reading of a stream whose last event has come.
var errEnded = errors.New("the request has its answer")

// follow waits until a request has its answer, and shows on a terminal what
// happens meanwhile in one line.
func (s *session) follow(ctx context.Context, cl *client, id string) error {
	line := func(text string) {
		if s.env.Terminal {
			fmt.Fprintf(s.env.Stderr, "\r\x1b[K%s", clip(oneLine(text), 78))
		}
	}
	defer line("")
	line("asked: " + id)
	return cl.wait(ctx, id, func(p clan.Progress) {
		if p.Of != "" {
			line(fmt.Sprintf("step %d: %s %s", p.Step, p.Of, p.What))
		}
	})
}

// wait reads what happens to a request until it has its answer.
func (c *client) wait(ctx context.Context, id string, tell func(clan.Progress)) error {
	for ctx.Err() == nil {
		err := c.sse(ctx, "/v1/requests/"+url.PathEscape(id)+"/events", nil, func(_, kind string, data []byte) error {
			if kind == "package" {
				return errEnded
			}
			var p clan.Progress
			if err := decode(data, &p); err != nil {
				return err
			}
			tell(p)
			return nil
		})
		if errors.Is(err, errEnded) {
			return nil
		}
		if p, no := errors.AsType[*problem](err); no {
			return p
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return fault.E("ask", fault.Unavailable, "the request goes on without you", ctx.Err()).WithHint("plimsoll ask show %s shows how far it is", id)
}

// showRequest shows the package of a request. Its exit code says whether the
// request was stopped, or goes on.
func (s *session) showRequest(ctx context.Context, cl *client, id string) error {
	var p clan.Package
	ans, err := cl.get(ctx, "/v1/requests/"+url.PathEscape(id), nil, &p)
	if err != nil {
		return err
	}
	if s.json {
		err = s.printJSON(ans.body)
	} else {
		var now outcomes
		if p.State == clan.Ended {
			now, err = outcomesOf(ctx, cl, id)
		}
		if err == nil {
			err = s.printPackage(&p, now)
		}
	}
	switch {
	case err != nil:
		return err
	case p.State == clan.Running:
		return &exit{exitUnknown}
	case p.Stop != nil && p.Stop.Effect == clan.Halt:
		return &exit{exitNo}
	}
	return nil
}
