package plimsoll

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	clan "plimsoll.dev/internal/request"
)

func identityCommand(s *session) *cobra.Command {
	return parent("identity", "Second proofs of who you are, for what is critical",
		lister[api.Factor]{
			silent: true, use: "list", short: "List your factors", path: "/v1/identity", head: []string{"FACTOR", "KIND", "NAME", "COUNTS SINCE", "ENDED"},
			row: func(f api.Factor) []string { return []string{f.ID, string(f.Kind), f.Name, f.ConfirmedAt, f.RevokedAt} },
		}.command(s), identityEnroll(s), identityAnswer(s),
	)
}

func identityEnroll(s *session) *cobra.Command {
	var name, code string
	c := &cobra.Command{
		Use: "enroll [totp|webauthn]", Short: "Add a factor; its secret is printed once", Args: cobra.MaximumNArgs(1),
		Long: `enroll makes a secret for an authenticator app and prints it once. Answer with a code the app
shows, and the factor counts: plimsoll identity answer CHALLENGE --code 123456. Whoever has a
factor already proves themselves with it first, with --code.`,
		Example: "  plimsoll identity enroll --name phone",
		RunE: func(c *cobra.Command, args []string) error {
			kind := clan.TOTP
			if len(args) == 1 {
				kind = clan.FactorKind(args[0])
			}
			body := map[string]string{"kind": string(kind), "name": name}
			if code != "" {
				proved, err := s.prove(c.Context(), "", code)
				if err != nil {
					return err
				}
				body["challenge_id"] = proved
			}
			return s.act(c.Context(), post("/v1/identity/enroll", body), func(text []byte) error {
				var e api.Enrolment
				if err := decode(text, &e); err != nil {
					return err
				}
				if _, err := fmt.Fprintln(s.env.Stdout, oneLine(e.URI+string(e.Creation))); err != nil {
					return err
				}
				_, err := fmt.Fprintf(s.env.Stderr, "%s does not count yet. Answer until %s:\n  plimsoll identity answer %s --code SIX_DIGITS\n", e.FactorID, e.Challenge.ExpiresAt, e.Challenge.ID)
				return err
			})
		},
		ValidArgs: []string{string(clan.TOTP), string(clan.WebAuthn)},
	}
	c.Flags().StringVar(&name, "name", "authenticator", "what you call it")
	c.Flags().StringVar(&code, "code", "", "six digits of a factor you have already")
	return c
}

func identityAnswer(s *session) *cobra.Command {
	var code, file string
	c := &cobra.Command{
		Use: "answer CHALLENGE", Short: "Prove who you are", Args: cobra.ExactArgs(1),
		Example: "  plimsoll identity answer chal-1f2e --code 123456",
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{}
			switch {
			case code != "" && file == "":
				body["code"] = code
			case file != "" && code == "":
				text, err := s.input(file)
				if err != nil {
					return err
				}
				body["assertion"] = json.RawMessage(text)
			default:
				return usage("answer with --code, or with what a browser made in --assertion")
			}
			return s.act(c.Context(), post("/v1/identity/challenges/"+url.PathEscape(args[0]), body), func(text []byte) error {
				var a api.Answered
				if err := decode(text, &a); err != nil {
					return err
				}
				if a.Enrolled {
					_, err := fmt.Fprintf(s.env.Stdout, "%s (%s, %s) counts from now on\n", a.Factor.ID, a.Factor.Kind, oneLine(a.Factor.Name))
					return err
				}
				_, err := fmt.Fprintf(s.env.Stdout, "proved with %s; name it with --challenge %s\n", a.Factor.ID, a.ChallengeID)
				return err
			})
		},
	}
	c.Flags().StringVar(&code, "code", "", "six digits")
	c.Flags().StringVar(&file, "assertion", "", "file with what a browser made, - for stdin")
	return c
}
