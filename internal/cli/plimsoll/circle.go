package plimsoll

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
)

func circlePath(id string) string { return "/v1/circles/" + url.PathEscape(id) }

func circleCommand(s *session) *cobra.Command {
	return parent("circle", "People who decide together",
		lister[api.Circle]{
			silent: true, use: "list", short: "List your circles", path: "/v1/circles", head: []string{"CIRCLE", "NAME", "CLAN", "CHANGED"},
			row: func(c api.Circle) []string { return []string{c.ID, c.Name, c.Clan, c.UpdatedAt} },
		}.command(s), circleShow(s), circleCreate(s), circleQuorum(s), memberCommand(s),
	)
}

func circleShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a circle with its members", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			ans, err := cl.get(c.Context(), circlePath(args[0]), nil, nil)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(ans.body)
			}
			return s.printCircle(ans.body)
		},
	}
}

func (s *session) printCircle(text []byte) error {
	var c api.Circle
	if err := decode(text, &c); err != nil {
		return err
	}
	members := make([]string, len(c.Members))
	for i, m := range c.Members {
		members[i] = m.ID + ": " + join(m.Roles)
	}
	quorum := ""
	if q := c.Quorum; q != nil {
		quorum = fmt.Sprintf("%d of %d of the council, at least %d", q.Numerator, q.Denominator, q.Members)
	}
	return facts(s.env.Stdout, [2]string{"Circle", c.ID}, [2]string{"Name", c.Name}, [2]string{"Clan", c.Clan}, [2]string{"Quorum", quorum},
		[2]string{"Members", strings.Join(members, "\n")}, [2]string{"Founded", c.CreatedAt})
}

func circleCreate(s *session) *cobra.Command {
	var id, clan string
	c := &cobra.Command{
		Use: "create NAME", Short: "Found a circle, with you as its steward", Args: cobra.ExactArgs(1),
		Example: "  plimsoll circle create Garden\n  plimsoll circle create \"The forest\" --id forest --clan valley",
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]string{"name": args[0]}
			if id != "" {
				body["circle_id"] = id
			}
			if clan != "" {
				body["clan"] = clan
			}
			return s.act(c.Context(), post("/v1/circles", body), s.printCircle)
		},
	}
	c.Flags().StringVar(&id, "id", "", "its id (default: one is made)")
	c.Flags().StringVar(&clan, "clan", "", "the union of circles it belongs to")
	return c
}

func circleQuorum(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "quorum ID [N/M]", Short: "Set which part of the council must consent to a core change", Args: cobra.RangeArgs(1, 2),
		Long: "quorum sets the part, which is more than a half and at most all. Without one, that of the registry holds again.",
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{}
			if len(args) == 2 {
				var n, of int
				if _, err := fmt.Sscanf(args[1], "%d/%d", &n, &of); err != nil || fmt.Sprintf("%d/%d", n, of) != args[1] {
					return usage("%q is no part like 2/3", args[1])
				}
				body["fraction"] = map[string]int{"numerator": n, "denominator": of}
			}
			return s.act(c.Context(), call{method: http.MethodPut, path: circlePath(args[0]) + "/quorum", body: body}, s.printCircle)
		},
	}
}

func memberCommand(s *session) *cobra.Command {
	list := &cobra.Command{
		Use: "list CIRCLE", Short: "List the members", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			items, err := list[api.Member](c.Context(), cl, circlePath(args[0])+"/members", nil, 0)
			if err != nil {
				return err
			}
			if s.json {
				return s.printItems(items)
			}
			rows := [][]string{}
			for _, m := range items {
				rows = append(rows, []string{m.ID, join(m.Roles), m.Since, m.By})
			}
			return table(s.env.Stdout, []string{"MEMBER", "ROLES", "SINCE", "BY"}, rows)
		},
	}
	var roles []string
	set := &cobra.Command{
		Use: "set CIRCLE ACTOR", Aliases: []string{"add"}, Short: "Admit a person, or give a member other roles", Args: cobra.ExactArgs(2),
		Example: "  plimsoll circle member set garden petro --role council",
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{"member_id": args[1]}
			if len(roles) > 0 {
				body["roles"] = roles
			}
			return s.act(c.Context(), post(circlePath(args[0])+"/members", body), s.printCircle)
		},
	}
	set.Flags().StringArrayVar(&roles, "role", nil, "council or steward, besides member; may be repeated")
	complete(set, "role", []string{"member", "council", "steward"})
	remove := &cobra.Command{
		Use: "remove CIRCLE ACTOR", Short: "End a membership; everybody may end their own", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), call{method: http.MethodDelete, path: circlePath(args[0]) + "/members", query: url.Values{"member_id": {args[1]}}}, s.printCircle)
		},
	}
	return parent("member", "Who is a member", list, set, remove)
}

func channelCommand(s *session) *cobra.Command {
	lift := &cobra.Command{
		Use: "lift CHANNEL", Short: "Open a channel again that breaches have closed; a steward may", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), call{method: http.MethodPost, path: "/v1/channels/" + url.PathEscape(args[0]) + "/lift"}, func(text []byte) error {
				var ch api.Channel
				if err := decode(text, &ch); err != nil {
					return err
				}
				_, err := fmt.Fprintf(s.env.Stdout, "%s is open again, lifted by %s\n", ch.ID, ch.LiftedBy)
				return err
			})
		},
	}
	return parent("channel", "The ways requests come in over",
		lister[api.Channel]{
			silent: true, use: "list", short: "List the channels of your circles", path: "/v1/channels",
			filters: []filter{{"circle", "circle_id", "only of this circle"}, {"suspended", "suspended", "true: only those that are closed"}},
			head:    []string{"CHANNEL", "CIRCLE", "KIND", "NAME", "OF", "SUSPENDED", "LIFTED BY"},
			row: func(c api.Channel) []string {
				return []string{c.ID, c.CircleID, string(c.Kind), c.Name, c.MemberID + c.AdapterID, c.SuspendedAt, c.LiftedBy}
			},
		}.command(s), lift,
	)
}

func workersCommand(s *session) *cobra.Command {
	c := lister[api.Worker]{
		silent: true, use: "workers", short: "List the thirteen workers, by priority", path: "/v1/workers",
		head: []string{"", "WORKER", "CLASS", "ENGINE", "PROMPT", "MAKES"},
		row: func(w api.Worker) []string {
			return []string{fmt.Sprint(w.Priority), string(w.ID), string(w.Class), string(w.Engine), w.PromptVersion, join(w.Outputs)}
		},
	}.command(s)
	return c
}
