package plimsoll

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	clan "plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

func artifactCommand(s *session) *cobra.Command {
	shown := lister[api.Outcome]{
		silent: true, use: "list", short: "List what your circles have made, newest first", path: "/v1/artifacts",
		filters: []filter{
			{"circle", "circle_id", "only of this circle"},
			{"request", "request_id", "only of this request"},
			{"owner", "owner_id", "only of this member's requests"},
			{"type", "type", "only of this type, like decision_draft"},
			{"status", "status", "draft, needs_confirmation, waiting_for_consent or confirmed"},
		},
		head: []string{"ARTIFACT", "TYPE", "STATUS", "SEEN BY", "OF", "CIRCLE", "CHANGED"},
		row: func(o api.Outcome) []string {
			var a piece
			_ = decode(o.Artifact, &a) // what does not read is shown as nothing
			return []string{a.ID, string(a.Type), a.Status, string(a.Level), o.OwnerID, a.CircleID, o.UpdatedAt}
		},
	}.command(s)
	complete(shown, "type", texts(envelope.ArtifactTypes()))
	complete(shown, "status", []string{"draft", "needs_confirmation", "waiting_for_consent", "confirmed"})
	return parent("artifact", "What workers made, and what takes effect", shown, artifactShow(s), artifactConfirm(s),
		artifactMove(s, "decline", "Say no to an artifact, which stays as a draft"),
		artifactMove(s, "adopt", "Ask that a draft take effect: it waits for a confirmation then"),
	)
}

func artifactPath(id string) string { return "/v1/artifacts/" + url.PathEscape(id) }

func artifactShow(s *session) *cobra.Command {
	var content bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show an artifact with its exact content, its digest and what it waits for", Args: cobra.ExactArgs(1),
		Example: "  plimsoll artifact show art-1f2e\n  plimsoll artifact show art-1f2e --content | sha256sum   # the digest, by another program",
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			var o api.Outcome
			ans, err := cl.get(c.Context(), artifactPath(args[0]), nil, &o)
			if err != nil {
				return err
			}
			if content {
				var a piece
				if err := decode(o.Artifact, &a); err != nil {
					return err
				}
				_, err := s.env.Stdout.Write(a.Content)
				return err
			}
			if s.json {
				return s.printJSON(ans.body)
			}
			return s.printOutcome(&o)
		},
	}
	c.Flags().BoolVar(&content, "content", false, "print the bytes the digest is of, and nothing else")
	return c
}

func (s *session) printOutcome(o *api.Outcome) error {
	var a piece
	if err := decode(o.Artifact, &a); err != nil {
		return err
	}
	out := &bytes.Buffer{}
	if err := s.writePiece(out, &a); err != nil {
		return err
	}
	if o.ConfirmedBy != "" {
		fmt.Fprintf(out, "  confirmed by %s at %s\n", o.ConfirmedBy, o.ConfirmedAt)
	}
	if o.WaitsFor != "" {
		fmt.Fprintf(out, "  it waits for the consents to %s\n", o.WaitsFor)
	}
	if o.ConsentBy != "" {
		fmt.Fprintf(out, "  silence until %s is no consent\n", o.ConsentBy)
	}
	s.writeOwed(out, &a, o.Owed)
	_, err := s.env.Stdout.Write(out.Bytes())
	return err
}

// moved says in one line how an artifact stands after somebody moved it.
func (s *session) moved(text []byte) error {
	var o api.Outcome
	if err := decode(text, &o); err != nil {
		return err
	}
	return s.stands(&o)
}

func (s *session) stands(o *api.Outcome) error {
	var a piece
	if err := decode(o.Artifact, &a); err != nil {
		return err
	}
	line := fmt.Sprintf("%s version %d is %s", a.ID, a.Version, inWords(a.Status))
	if a.ContractID != "" {
		line += fmt.Sprintf("; it became %s, a draft that plimsoll intent approve %s lets begin", a.ContractID, a.ContractID)
	}
	if _, err := fmt.Fprintln(s.env.Stdout, oneLine(line)); err != nil {
		return err
	}
	out := &bytes.Buffer{}
	s.writeOwed(out, &a, o.Owed)
	_, err := s.env.Stdout.Write(out.Bytes())
	return err
}

func artifactConfirm(s *session) *cobra.Command {
	var sum, answer string
	c := &cobra.Command{
		Use: "confirm ID --sha256 DIGEST", Short: "Let exactly the content you have seen take effect", Args: cobra.MaximumNArgs(1),
		Long: `confirm names the digest of what you saw: nobody confirms what they did not see, and a content
that has changed since is refused. Only a person who is a member of the circle can.

With --answer, whatever waits for a confirmation in an answer that ask --json saved is confirmed,
at the digests that stand there.`,
		Example: "  plimsoll artifact confirm art-1f2e --sha256 3b0c…\n  plimsoll artifact confirm --answer answer.json",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case answer != "" && len(args) == 0 && sum == "":
				return s.confirmAnswer(c.Context(), answer)
			case len(args) != 1 || answer != "":
				return usage("name one artifact, or the answer with --answer")
			case sum == "":
				return usage("name the digest of what you saw with --sha256: plimsoll artifact show %s prints both", args[0])
			}
			return s.act(c.Context(), post(artifactPath(args[0])+"/confirm", map[string]string{"content_sha256": sum}), s.moved)
		},
	}
	c.Flags().StringVar(&sum, "sha256", "", "the digest of the content you saw")
	c.Flags().StringVar(&answer, "answer", "", "file with an answer of ask --json")
	return c
}

// confirmAnswer confirms what waits for it in an answer, at the digests it shows.
func (s *session) confirmAnswer(ctx context.Context, name string) error {
	text, err := s.input(name)
	if err != nil {
		return err
	}
	var p clan.Package
	if err := decode(text, &p); err != nil {
		return usage("%s is no answer of plimsoll ask --json", name)
	}
	found := false
	for _, o := range p.Owed {
		if o.Kind != clan.OwedConfirmation {
			continue
		}
		found = true
		if err := s.act(ctx, post(artifactPath(o.ArtifactID)+"/confirm", map[string]string{"content_sha256": o.SHA256}), s.moved); err != nil {
			return err
		}
	}
	if !found {
		return usage("nothing in %s waits for a confirmation", name)
	}
	return nil
}

func artifactMove(s *session, verb, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), call{method: http.MethodPost, path: artifactPath(args[0]) + "/" + verb}, s.moved)
		},
	}
}
