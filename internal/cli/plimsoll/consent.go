package plimsoll

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
)

// record is a consent as the ledger has it.
type record struct {
	ID         string `json:"consent_id"`
	CircleID   string `json:"circle_id"`
	MemberID   string `json:"member_id"`
	RequestID  string `json:"request_id"`
	ArtifactID string `json:"artifact_id"`
	SHA256     string `json:"content_sha256"`
	Decision   string `json:"decision"`
	DecidedAt  string `json:"decided_at"`
	ExpiresAt  string `json:"expires_at"`
	StepUp     string `json:"step_up"`
}

func consentCommand(s *session) *cobra.Command {
	revoke := &cobra.Command{
		Use: "revoke CONSENT", Short: "Take a consent of yours back", Args: cobra.ExactArgs(1),
		Long: "revoke ends a consent. What was confirmed with it stays confirmed; what was not can no longer be.",
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), call{method: http.MethodPost, path: "/v1/consents/" + url.PathEscape(args[0]) + "/revoke"}, s.consented)
		},
	}
	return parent("consent", "Who agreed to what, by its digest",
		lister[api.Consent]{
			silent: true, use: "list", short: "List the ledger of your circles, newest first", path: "/v1/consents",
			filters: []filter{
				{"circle", "circle_id", "only of this circle"},
				{"member", "member_id", "only of this member"},
				{"artifact", "artifact_id", "only about this artifact"},
				{"decision", "decision", "granted, refused or revoked"},
			},
			head: []string{"CONSENT", "DECISION", "MEMBER", "ARTIFACT", "DIGEST", "PROVED BY", "AT", "UNTIL"},
			row: func(c api.Consent) []string {
				var r record
				_ = decode(c.Consent, &r) // what does not read is shown as nothing
				return []string{r.ID, r.Decision, r.MemberID, r.ArtifactID, short(r.SHA256), r.StepUp, r.DecidedAt, r.ExpiresAt}
			},
		}.command(s),
		consentDecide(s, "grant", "granted", "Agree to exactly the content you have seen"),
		consentDecide(s, "refuse", "refused", "Say no: it falls back to a draft"), revoke,
	)
}

func consentDecide(s *session, verb, decision, about string) *cobra.Command {
	var sum, challenge, code string
	var valid time.Duration
	c := &cobra.Command{
		Use: verb + " ARTIFACT --sha256 DIGEST", Short: about, Args: cobra.ExactArgs(1),
		Example: "  plimsoll consent " + verb + " art-1f2e --sha256 3b0c…\n  plimsoll consent " + verb + " art-1f2e --sha256 3b0c… --code 123456   # where identity is to be proved anew",
		RunE: func(c *cobra.Command, args []string) error {
			if sum == "" {
				return usage("name the digest of what you saw with --sha256: plimsoll artifact show %s prints both", args[0])
			}
			if code != "" {
				proved, err := s.prove(c.Context(), args[0], code)
				if err != nil {
					return err
				}
				challenge = proved
			}
			body := map[string]any{"artifact_id": args[0], "content_sha256": sum, "decision": decision}
			if challenge != "" {
				body["challenge_id"] = challenge
			}
			if valid > 0 {
				body["expires_at"] = time.Now().Add(valid).UTC().Format(time.RFC3339)
			}
			return s.act(c.Context(), post("/v1/consents", body), s.consented)
		},
	}
	c.Flags().StringVar(&sum, "sha256", "", "the digest of the content you saw")
	c.Flags().StringVar(&code, "code", "", "six digits of your authenticator, where identity is to be proved anew")
	c.Flags().StringVar(&challenge, "challenge", "", "a challenge you have just answered, instead of --code")
	c.Flags().DurationVar(&valid, "for", 0, "how long it holds (default: until it is taken back)")
	return c
}

// prove opens a challenge for an artifact and answers it with a code.
func (s *session) prove(ctx context.Context, artifact, code string) (string, error) {
	cl, err := s.client()
	if err != nil {
		return "", err
	}
	body := map[string]string{}
	if artifact != "" {
		body["artifact_id"] = artifact
	}
	ans, err := cl.do(ctx, post("/v1/identity/challenges", body))
	if err != nil {
		return "", err
	}
	var asked api.Challenge
	if err := decode(ans.body, &asked); err != nil {
		return "", err
	}
	if _, err := cl.do(ctx, post("/v1/identity/challenges/"+url.PathEscape(asked.ID), map[string]string{"code": code})); err != nil {
		return "", err
	}
	return asked.ID, nil
}

// consented says what was decided and how the artifact stands after it.
func (s *session) consented(text []byte) error {
	var c api.Consent
	if err := decode(text, &c); err != nil {
		return err
	}
	var r record
	if err := decode(c.Consent, &r); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.env.Stdout, "%s: %s by %s for %s\n", r.ID, r.Decision, r.MemberID, r.ArtifactID); err != nil {
		return err
	}
	if c.Artifact == nil {
		return nil
	}
	return s.stands(c.Artifact)
}
