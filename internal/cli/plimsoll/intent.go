package plimsoll

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/pipeline/contract"
)

// filters that every list of contracts has.
func contractFilters(more ...filter) []filter {
	return append([]filter{
		{"state", "state", "only in this state; may be repeated, like every filter"},
		{"chain", "intentId", "only of this intent"},
		{"since", "updatedSince", "changed at this time or later, like 2026-03-29T10:00:00Z"},
	}, more...)
}

func intentCommand(s *session) *cobra.Command {
	return parent("intent", "What is wanted",
		lister[api.Contract]{
			use: "list", short: "List intents", path: "/v1/contracts", kind: contract.KindIntent, filters: contractFilters(filter{"by", "creator", "only of this actor"}),
			head: []string{"ID", "STATE", "PHASE", "PRIORITY", "BY", "INTENT"},
			row: func(c api.Contract) []string {
				d := documentOf(c)
				return []string{string(d.ID), string(d.State), string(c.Meta.Phase), d.Priority, d.Creator, d.Intent}
			},
		}.command(s),
		intentCreate(s), intentRevise(s), intentApprove(s, "approved"), intentApprove(s, "rejected"), showing(s, "intent"),
	)
}

// wanted is the flags of what an intent asks for.
type wanted struct {
	priority     string
	capabilities []string
}

func (w *wanted) flags(c *cobra.Command) {
	c.Flags().StringVar(&w.priority, "priority", "medium", "low, medium, high or critical")
	c.Flags().StringArrayVarP(&w.capabilities, "capability", "c", []string{"read_repo", "write_repo"},
		"read_repo, write_repo, install_deps, network_access, read_secrets, publish_release; may be repeated")
}

func (w *wanted) body(args []string) any {
	return map[string]any{"intent": strings.Join(args, " "), "priority": w.priority, "requestedCapabilities": w.capabilities}
}

func intentCreate(s *session) *cobra.Command {
	var w wanted
	c := &cobra.Command{
		Use: "create TEXT", Short: "Say what is wanted", Args: cobra.MinimumNArgs(1),
		Example: `  plimsoll intent create "Add a login page" --capability read_repo --capability write_repo`,
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), post("/v1/intents", w.body(args)).as(contract.Requester, contract.Admin), s.printContract)
		},
	}
	w.flags(c)
	return c
}

func intentRevise(s *session) *cobra.Command {
	var w wanted
	c := &cobra.Command{
		Use: "revise ID TEXT", Short: "Say it anew, as a next version", Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), post("/v1/intents/"+url.PathEscape(args[0])+"/revise", w.body(args[1:])).as(contract.Requester, contract.Admin), s.printContract)
		},
	}
	w.flags(c)
	return c
}

// intentApprove is approve and reject of an intent, which let it begin or not.
func intentApprove(s *session, decision string) *cobra.Command {
	return activation(s, decision, "Let an intent begin", "Refuse an intent")
}

// activation decides on a Draft of any kind.
func activation(s *session, decision, approve, reject string) *cobra.Command {
	use, about := "approve ID", approve
	if decision == "rejected" {
		use, about = "reject ID", reject
	}
	var reason string
	c := &cobra.Command{
		Use: use, Short: about, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			d, _, err := cl.version(c.Context(), args[0])
			if err != nil {
				return err
			}
			body := map[string]any{"version": d.Version, "decision": decision}
			if reason != "" {
				body["reason"] = reason
			}
			roles, err := cl.missingVotes(c.Context(), d)
			if err != nil {
				return err
			}
			return s.act(c.Context(), post("/v1/contracts/"+url.PathEscape(args[0])+"/activations", body).as(roles...), func(text []byte) error {
				var a api.Activation
				if err := decode(text, &a); err != nil {
					return err
				}
				note := ""
				if a.Entry.SelfApproved {
					note = " (approved by who asked)"
				}
				if _, err := fmt.Fprintf(s.env.Stdout, "%s version %d is %s%s\n", d.ID, d.Version, a.State, note); err != nil {
					return err
				}
				if d.Kind != contract.KindIntent || a.State != contract.Active {
					return nil
				}
				chain := cl.settle(c.Context(), d.ID, func(c *api.Chain) bool { return task(c) != nil })
				if chain == nil || task(chain) == nil {
					return nil
				}
				next := task(chain)
				_, err := fmt.Fprintf(s.env.Stdout, "%s version %d is %s\n", next.ID, next.Version, next.State)
				return err
			})
		},
	}
	c.Flags().StringVarP(&reason, "reason", "m", "", "why")
	return c
}

// missingVotes is the roles that may let a Draft begin and have not said so yet.
func (c *client) missingVotes(ctx context.Context, d document) ([]contract.Role, error) {
	if len(d.Policy.Approvers) == 0 {
		return []contract.Role{contract.ProjectLead, contract.Admin}, nil
	}
	votes, err := list[api.Vote](ctx, c, "/v1/contracts/"+url.PathEscape(string(d.ID))+"/activations", nil, 0)
	if err != nil {
		return nil, err
	}
	roles := []contract.Role{}
	for _, name := range d.Policy.Approvers {
		voted := slices.ContainsFunc(votes, func(v api.Vote) bool { return v.Version == d.Version && v.Role == contract.Role(name) })
		if !voted {
			roles = append(roles, contract.Role(name))
		}
	}
	return roles, nil
}

func chainCommand(s *session) *cobra.Command {
	show := &cobra.Command{
		Use: "show INTENT", Short: "Show an intent with everything that came of it", Args: cobra.ExactArgs(1),
	}
	var watch bool
	show.Flags().BoolVarP(&watch, "watch", "w", false, "show it again whenever something happens")
	show.RunE = func(c *cobra.Command, args []string) error {
		cl, err := s.client()
		if err != nil {
			return err
		}
		print := func(ctx context.Context) error {
			var chain api.Chain
			ans, err := cl.get(ctx, "/v1/chains/"+url.PathEscape(args[0]), nil, &chain)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(ans.body)
			}
			if err := facts(s.env.Stdout,
				[2]string{"Intent", fmt.Sprintf("%s version %d", chain.IntentID, chain.Version)}, [2]string{"Phase", string(chain.Phase)},
				[2]string{"Repository", chain.Repository}, [2]string{"Commits", trimRange(chain.BaseCommit, chain.HeadCommit)},
				[2]string{"Failed runs", nonzero(chain.FailedRuns)}, [2]string{"Returns", nonzero(chain.Returns)}, [2]string{"Changed", chain.UpdatedAt},
			); err != nil {
				return err
			}
			rows := [][]string{}
			for _, one := range chain.Contracts {
				d := documentOf(one)
				rows = append(rows, []string{string(d.ID), fmt.Sprint(d.Version), string(d.Kind), string(d.State), standing(d), d.Updated})
			}
			_, _ = fmt.Fprintln(s.env.Stdout)
			return table(s.env.Stdout, []string{"ID", "VERSION", "KIND", "STATE", "STANDS", "CHANGED"}, rows)
		}
		if watch {
			return s.watch(c.Context(), cl, print)
		}
		return print(c.Context())
	}
	return parent("chain", "An intent with everything that came of it",
		lister[api.Chain]{
			use: "list", short: "List chains", path: "/v1/chains",
			filters: []filter{
				{"phase", "phase", "only in this phase"},
				{"state", "state", "only with the intent in this state"},
				{"by", "creator", "only of this actor"},
				{"since", "updatedSince", "changed at this time or later"},
			},
			head: []string{"INTENT", "VERSION", "PHASE", "COMMITS", "CHANGED"},
			row: func(c api.Chain) []string {
				return []string{string(c.IntentID), fmt.Sprint(c.Version), string(c.Phase), trimRange(c.BaseCommit, c.HeadCommit), c.UpdatedAt}
			},
		}.command(s), show,
	)
}

// standing is the one word that says how a document of its kind stands.
func standing(d document) string {
	for _, word := range []string{d.Status, d.Decision, d.Verdict} {
		if word != "" {
			if d.Risk != "" {
				return d.Risk + ", " + word
			}
			return word
		}
	}
	return ""
}

func nonzero(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func contractCommand(s *session) *cobra.Command {
	list := &cobra.Command{
		Use: "versions ID", Short: "Show every version, replaced contents included", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			items, err := list[api.Version](c.Context(), cl, "/v1/contracts/"+url.PathEscape(args[0])+"/versions", nil, 0)
			if err != nil {
				return err
			}
			if s.json {
				return s.printItems(items)
			}
			rows := [][]string{}
			for _, v := range items {
				d := documentOf(api.Contract{Contract: v.Contract})
				state := string(d.State)
				if v.ReplacedAt != "" {
					state = "replaced " + v.ReplacedAt
				}
				rows = append(rows, []string{fmt.Sprint(d.Version), state, d.Updated})
			}
			return table(s.env.Stdout, []string{"VERSION", "STATE", "CHANGED"}, rows)
		},
	}
	return parent("contract", "What can be done to every contract", showing(s, "contract"), list, contractEdit(s),
		change(s, "freeze", "Suspend it", []part{{"cause", "manual_check", "why, as one of the causes"}, {"reason", "", "why, in words"}}),
		change(s, "resume", "Let it go on", []part{{"resolution", "", "what was done about the cause"}}),
		change(s, "revoke", "Make it invalid", []part{{"ground", "manual_stop", "audit or manual_stop"}, {"reason", "", "why, in words"}}),
		change(s, "archive", "Put it away", []part{{"rule", "", "the recorded operating rule, when retention is not reached"}}),
		change(s, "resolve", "Choose one of conflicting updates", []part{{"chosen", "", "the digest of the one that is to stay"}}),
	)
}

// part is a member of a body that a flag gives.
type part struct{ name, usual, about string }

func change(s *session, verb, about string, parts []part) *cobra.Command {
	c := &cobra.Command{Use: verb + " ID", Short: about, Args: cobra.ExactArgs(1)}
	values := make([]*string, len(parts))
	for i, p := range parts {
		values[i] = c.Flags().String(p.name, p.usual, p.about)
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
		for i, p := range parts {
			if *values[i] != "" || p.name != "rule" {
				body[p.name] = *values[i]
			}
		}
		return s.act(c.Context(), post("/v1/contracts/"+url.PathEscape(args[0])+"/"+verb, body).as(contract.ProjectLead, contract.SecurityReviewer, contract.Admin, contract.Requester), s.printContract)
	}
	return c
}

func contractEdit(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "edit ID PATCH", Short: "Change members of a Draft by a JSON merge patch", Args: cobra.ExactArgs(2),
		Example: `  plimsoll contract edit IC-001 '{"priority":"high"}'`,
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			var shown api.Contract
			ans, err := cl.get(c.Context(), "/v1/contracts/"+url.PathEscape(args[0]), nil, &shown)
			if err != nil {
				return err
			}
			patch := map[string]any{}
			if err := json.Unmarshal([]byte(args[1]), &patch); err != nil {
				return usage("the patch is no JSON object: %v", err)
			}
			if _, given := patch["version"]; !given {
				patch["version"] = documentOf(shown).Version + 1
			}
			return s.act(c.Context(), call{
				method: http.MethodPatch, path: "/v1/contracts/" + url.PathEscape(args[0]), body: patch, media: "application/merge-patch+json", match: ans.etag,
				prefer: []contract.Role{contract.Requester, contract.ProjectLead, contract.Admin},
			}, s.printContract)
		},
	}
}
