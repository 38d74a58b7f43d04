package plimsoll

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

func taskCommand(s *session) *cobra.Command {
	return parent("task", "Work that can be done",
		lister[api.Contract]{
			use: "list", short: "List tasks", path: "/v1/tasks", filters: contractFilters(
				filter{"claimable", "claimable", "true: only those nobody is at"}, filter{"phase", "phase", "only in this phase"}, filter{"owner", "role", "only for this role"},
			),
			head: []string{"ID", "STATE", "PHASE", "OWNER", "DESCRIPTION"},
			row: func(c api.Contract) []string {
				d := documentOf(c)
				return []string{string(d.ID), string(d.State), string(c.Meta.Phase), d.Owner, d.Description}
			},
		}.command(s),
		showing(s, "task"),
		activation(s, "approved", "Let a task begin", ""), activation(s, "rejected", "", "Refuse a task"),
		reviewCommand(s), noteCommand(s), mayCommand(s), verifyCommand(s),
	)
}

func reviewCommand(s *session) *cobra.Command {
	var blocking []string
	var head string
	c := &cobra.Command{
		Use: "review ID", Short: "Record a review of the work in Refactor", Args: cobra.ExactArgs(1),
		Long:    "review records your review. Without --blocking the work is approved; with it, changes are asked for.",
		Example: "  plimsoll task review TS-001\n  plimsoll task review TS-001 --blocking 'login.go:12: the error is dropped'",
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			_, shown, err := cl.version(c.Context(), args[0])
			if err != nil {
				return err
			}
			if head == "" {
				var chain api.Chain
				if _, err := cl.get(c.Context(), "/v1/chains/"+url.PathEscape(string(shown.Meta.IntentID)), nil, &chain); err != nil {
					return err
				}
				head = chain.HeadCommit
			}
			verdict, items := "approved", []map[string]any{}
			for _, text := range blocking {
				verdict = "changes_requested"
				items = append(items, map[string]any{"text": text})
			}
			body := map[string]any{"verdict": verdict, "blocking": items, "headCommit": head}
			return s.act(c.Context(), post("/v1/tasks/"+url.PathEscape(args[0])+"/reviews", body).as(contract.ProjectLead, contract.SecurityReviewer), func([]byte) error {
				if _, err := fmt.Fprintf(s.env.Stdout, "%s at %s: %s\n", args[0], short(head), verdict); err != nil {
					return err
				}
				done := released
				if verdict != "approved" {
					done = left(phase.Refactor)
				}
				if chain := cl.settle(c.Context(), shown.Meta.IntentID, done); chain != nil {
					_, err := fmt.Fprintf(s.env.Stdout, "%s is in %s\n", chain.IntentID, chain.Phase)
					return err
				}
				return nil
			})
		},
	}
	c.Flags().StringArrayVar(&blocking, "blocking", nil, "something that must change; may be repeated")
	c.Flags().StringVar(&head, "head", "", "the commit that was reviewed (default: that of the chain)")
	return c
}

func noteCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "note ID", Short: "Print the release note", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			accept := "text/markdown"
			if s.json {
				accept = "application/json"
			}
			cl, err := s.client()
			if err != nil {
				return err
			}
			ans, err := cl.do(c.Context(), call{method: http.MethodGet, path: "/v1/tasks/" + url.PathEscape(args[0]) + "/release-note", accept: accept})
			if err != nil {
				return err
			}
			_, err = s.env.Stdout.Write(ans.body)
			return err
		},
	}
}

// mayCommand asks whether a capability may be used on a task.
func mayCommand(s *session) *cobra.Command {
	var detail string
	c := &cobra.Command{
		Use: "may ID CAPABILITY", Short: "Ask whether a capability may be used", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{"capability": args[1]}
			if detail != "" {
				body["detail"] = detail
			}
			return s.act(c.Context(), post("/v1/tasks/"+url.PathEscape(args[0])+"/operations", body).as(contract.Developer, contract.CIAgent, contract.QA), func([]byte) error {
				_, err := fmt.Fprintf(s.env.Stdout, "%s may be used on %s\n", args[1], args[0])
				return err
			})
		},
	}
	c.Flags().StringVarP(&detail, "detail", "m", "", "what for")
	return c
}

func verifyCommand(s *session) *cobra.Command {
	var base, head string
	c := &cobra.Command{
		Use: "verify ID FILE", Short: "Deliver the verify artifact that a boundary result owes", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := readFile(s.env, args[1])
			if err != nil {
				return err
			}
			if !json.Valid(text) {
				return usage("%s is no JSON", args[1])
			}
			return s.act(c.Context(), verified(contract.ID(args[0]), base, head, text), func(text []byte) error {
				var a api.Artifact
				if err := decode(text, &a); err != nil {
					return err
				}
				_, err := fmt.Fprintf(s.env.Stdout, "%s %s\n", a.Kind, a.SHA256)
				return err
			})
		},
	}
	c.Flags().StringVar(&base, "base", "", "the base commit the artifact is of")
	c.Flags().StringVar(&head, "head", "", "the head commit the artifact is of")
	must(c.MarkFlagRequired("base"))
	must(c.MarkFlagRequired("head"))
	return c
}

// verified delivers a verify artifact of the commits of a chain.
func verified(task contract.ID, base, head string, text []byte) call {
	body := map[string]any{"baseCommit": base, "headCommit": head, "artifact": json.RawMessage(text)}
	return post("/v1/tasks/"+url.PathEscape(string(task))+"/verifications", body)
}

// must is for what cannot fail unless this program is wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func acceptanceCommand(s *session) *cobra.Command {
	var reason string
	again := &cobra.Command{
		Use: "reevaluate ID", Short: "Have the last result judged again", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{}
			if reason != "" {
				body["reason"] = reason
			}
			return s.act(c.Context(), post("/v1/acceptances/"+url.PathEscape(args[0])+"/reevaluate", body).as(contract.ProjectLead, contract.SecurityReviewer, contract.QA, contract.Admin), s.printContract)
		},
	}
	again.Flags().StringVarP(&reason, "reason", "m", "", "why")
	return parent("acceptance", "Whether work did what was asked",
		lister[api.Contract]{
			use: "list", short: "List acceptances", path: "/v1/contracts", kind: contract.KindAcceptance, filters: contractFilters(
				filter{"status", "status", "pending, passed, failed or blocked"}, filter{"task", "taskSeedId", "only of this task"},
			),
			head: []string{"ID", "VERSION", "STATE", "STATUS", "TASK", "DETAILS"},
			row: func(c api.Contract) []string {
				d := documentOf(c)
				return []string{string(d.ID), fmt.Sprint(d.Version), string(d.State), d.Status, string(d.TaskSeedID), d.Details}
			},
		}.command(s),
		showing(s, "acceptance"), again,
		activation(s, "approved", "Let an acceptance count", ""), activation(s, "rejected", "", "Refuse an acceptance"),
	)
}

func gateCommand(s *session) *cobra.Command {
	return parent("gate", "Whether work may be released, and who agreed",
		lister[api.Contract]{
			use: "list", short: "List gates", path: "/v1/gates", filters: contractFilters(
				filter{"waiting-for", "waitingFor", "pending, and this role has not decided"}, filter{"risk", "riskLevel", "low, medium, high or critical"},
				filter{"decision", "finalDecision", "pending, approved, rejected or expired"}, filter{"due-before", "dueBefore", "whose time ends before"},
			),
			head: []string{"ID", "VERSION", "STATE", "RISK", "DECISION", "STILL NEEDS", "UNTIL"},
			row: func(c api.Contract) []string {
				d := documentOf(c)
				outstanding := ""
				if c.Meta.Outstanding != nil {
					outstanding = join(*c.Meta.Outstanding)
				}
				return []string{string(d.ID), fmt.Sprint(d.Version), string(d.State), d.Risk, d.Decision, outstanding, d.Deadline}
			},
		}.command(s),
		showing(s, "gate"), gateStatus(s), gateDecide(s, "approve", "approved"), gateDecide(s, "reject", "rejected"),
		gateHold(s, "hold"), gateHold(s, "release"),
	)
}

func gateDecide(s *session, verb, decision string) *cobra.Command {
	var reason, digest string
	c := &cobra.Command{
		Use: verb + " ID", Short: strings.ToUpper(verb[:1]) + verb[1:] + " a release", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			var shown api.Contract
			if _, err := cl.get(c.Context(), "/v1/gates/"+url.PathEscape(args[0]), nil, &shown); err != nil {
				return err
			}
			if digest == "" {
				digest = shown.Meta.Digest
			}
			roles := []contract.Role{}
			if shown.Meta.Outstanding != nil {
				roles = *shown.Meta.Outstanding
			}
			body := map[string]any{"version": documentOf(shown).Version, "decision": decision, "digest": digest}
			if reason != "" {
				body["reason"] = reason
			}
			return s.act(c.Context(), post("/v1/gates/"+url.PathEscape(args[0])+"/decisions", body).as(roles...), func(text []byte) error {
				var r api.GateResult
				if err := decode(text, &r); err != nil {
					return err
				}
				more := ""
				if len(r.Outstanding) > 0 {
					more = ", still needs " + join(r.Outstanding)
				}
				_, err := fmt.Fprintf(s.env.Stdout, "%s is %s (%s)%s\n", args[0], r.FinalDecision, r.State, more)
				return err
			})
		},
	}
	c.Flags().StringVarP(&reason, "reason", "m", "", "why")
	c.Flags().StringVar(&digest, "digest", "", "the digest you agreed to (default: the current one)")
	return c
}

func gateHold(s *session, verb string) *cobra.Command {
	var reason string
	c := &cobra.Command{Use: verb + " ID", Short: "Take a gate off hold", Args: cobra.ExactArgs(1)}
	if verb == "hold" {
		c.Short = "Keep a gate from being approved for now"
		c.Flags().StringVarP(&reason, "reason", "m", "", "why")
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		cl, err := s.client()
		if err != nil {
			return err
		}
		d, _, err := cl.version(c.Context(), args[0])
		if err != nil {
			return err
		}
		body := map[string]any{"version": d.Version}
		if reason != "" {
			body["reason"] = reason
		}
		return s.act(c.Context(), post("/v1/gates/"+url.PathEscape(args[0])+"/"+verb, body).as(contract.ProjectLead, contract.SecurityReviewer, contract.ReleaseManager, contract.Admin), s.printContract)
	}
	return c
}
