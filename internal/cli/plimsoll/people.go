package plimsoll

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
)

// loginCommand keeps an address and a token. The token is read from stdin: an
// argument could be seen by everybody on the machine.
func loginCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "login", Short: "Keep the address of a service and your token", Args: cobra.NoArgs,
		Example: "  plimsoll login --server https://plimsoll.example < token.txt",
		RunE: func(c *cobra.Command, _ []string) error {
			if s.env.Terminal {
				fmt.Fprint(s.env.Stderr, "token: ")
			}
			line, err := bufio.NewReader(s.env.Stdin).ReadString('\n')
			token := strings.TrimSpace(line)
			if token == "" {
				return usage("no token on stdin: %v", err)
			}
			address := s.server
			if address == "" {
				address = s.env.variable("PLIMSOLL_SERVER")
			}
			if address == "" {
				address = defaultServer
			}
			trial := *s
			trial.server = address
			cl, err := trial.client()
			if err != nil {
				return err
			}
			cl.token = token
			var me api.Me
			if _, err := cl.get(c.Context(), "/v1/me", nil, &me); err != nil {
				return err
			}
			if err := s.store(stored{Server: address, Token: token}); err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.env.Stdout, "%s on %s, as %s\n", me.Actor.ActorID, address, join(me.Actor.Roles))
			return err
		},
	}
}

func actorCommand(s *session) *cobra.Command {
	create := func() *cobra.Command {
		var kind, name string
		var roles []string
		c := &cobra.Command{
			Use: "create ID", Short: "Register a person, an agent or a system", Args: cobra.ExactArgs(1),
			Example: "  plimsoll actor create alice --role requester --role project_lead\n  plimsoll actor create builder-1 --type agent --role developer",
			RunE: func(c *cobra.Command, args []string) error {
				body := map[string]any{"actorId": args[0], "type": kind, "roles": append([]string{}, roles...)}
				if name != "" {
					body["name"] = name
				}
				return s.act(c.Context(), post("/v1/actors", body), s.printActor)
			},
		}
		c.Flags().StringVar(&kind, "type", "human", "human, agent or system")
		c.Flags().StringArrayVar(&roles, "role", nil, "a role; may be repeated")
		c.Flags().StringVar(&name, "name", "", "what people call them")
		return c
	}
	edit := func() *cobra.Command {
		var name string
		var active bool
		var roles []string
		c := &cobra.Command{Use: "edit ID", Short: "Change roles or name, or make inactive", Args: cobra.ExactArgs(1)}
		c.Flags().StringArrayVar(&roles, "role", nil, "the roles from now on; may be repeated")
		c.Flags().StringVar(&name, "name", "", "what people call them")
		c.Flags().BoolVar(&active, "active", true, "--active=false ends every token of theirs")
		c.RunE = func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			path := "/v1/actors/" + url.PathEscape(args[0])
			ans, err := cl.get(c.Context(), path, nil, nil)
			if err != nil {
				return err
			}
			body := map[string]any{}
			if c.Flags().Changed("role") {
				body["roles"] = roles
			}
			if c.Flags().Changed("name") {
				body["name"] = name
			}
			if c.Flags().Changed("active") {
				body["active"] = active
			}
			return s.act(c.Context(), call{method: http.MethodPatch, path: path, body: body, media: "application/merge-patch+json", match: ans.etag}, s.printActor)
		}
		return c
	}
	show := &cobra.Command{
		Use: "show [ID]", Short: "Show one actor, or who you are", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			var a api.Actor
			var ans answer
			if len(args) == 0 {
				var me api.Me
				ans, err = cl.get(c.Context(), "/v1/me", nil, &me)
				a = me.Actor
			} else {
				ans, err = cl.get(c.Context(), "/v1/actors/"+url.PathEscape(args[0]), nil, &a)
			}
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(ans.body)
			}
			return facts(s.env.Stdout, [2]string{"Id", string(a.ActorID)}, [2]string{"Type", string(a.Type)}, [2]string{"Name", a.Name},
				[2]string{"Roles", join(a.Roles)}, [2]string{"Active", fmt.Sprint(a.Active)}, [2]string{"Changed", a.UpdatedAt})
		},
	}
	return parent("actor", "Who may act",
		lister[api.Actor]{
			use: "list", short: "List actors", path: "/v1/actors", head: []string{"ID", "TYPE", "ACTIVE", "ROLES", "NAME"},
			row: func(a api.Actor) []string {
				return []string{string(a.ActorID), string(a.Type), fmt.Sprint(a.Active), join(a.Roles), a.Name}
			},
		}.command(s), show, create(), edit(),
	)
}

func (s *session) printActor(text []byte) error {
	var a api.Actor
	if err := decode(text, &a); err != nil {
		return err
	}
	state := "active"
	if !a.Active {
		state = "inactive"
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%s (%s, %s): %s\n", a.ActorID, a.Type, state, join(a.Roles))
	return err
}

func tokenCommand(s *session) *cobra.Command {
	create := func() *cobra.Command {
		var actor, name string
		var scopes []string
		var valid time.Duration
		c := &cobra.Command{
			Use: "create", Short: "Make a token; it is printed once", Args: cobra.NoArgs,
			Example: "  plimsoll token create --actor builder-1 --scope read --scope execute > token.txt",
			RunE: func(c *cobra.Command, _ []string) error {
				body := map[string]any{"scopes": scopes, "expiresAt": time.Now().Add(valid).UTC().Format(time.RFC3339)}
				if actor != "" {
					body["actorId"] = actor
				}
				if name != "" {
					body["name"] = name
				}
				return s.act(c.Context(), post("/v1/tokens", body), func(text []byte) error {
					var t api.Token
					if err := decode(text, &t); err != nil {
						return err
					}
					fmt.Fprintf(s.env.Stderr, "%s of %s, until %s: %s\n", t.ID, t.ActorID, t.ExpiresAt, strings.Join(t.Scopes, ", "))
					_, err := fmt.Fprintln(s.env.Stdout, t.Token)
					return err
				})
			},
		}
		c.Flags().StringVar(&actor, "actor", "", "whose (default: your own)")
		c.Flags().StringArrayVar(&scopes, "scope", []string{"read"}, "read, write, decide, execute, audit, admin or metrics; may be repeated")
		c.Flags().DurationVar(&valid, "for", 90*24*time.Hour, "how long it is valid")
		c.Flags().StringVar(&name, "name", "", "what it is for")
		return c
	}
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "End a token", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), call{method: http.MethodDelete, path: "/v1/tokens/" + url.PathEscape(args[0])}, func([]byte) error {
				_, err := fmt.Fprintln(s.env.Stdout, args[0]+" has ended")
				return err
			})
		},
	}
	return parent("token", "Credentials",
		lister[api.Token]{
			use: "list", short: "List tokens", path: "/v1/tokens", filters: []filter{{"actor", "actorId", "whose; an admin sees everybody's"}},
			head: []string{"ID", "ACTOR", "SCOPES", "NAME", "UNTIL", "ENDED"},
			row: func(t api.Token) []string {
				return []string{t.ID, string(t.ActorID), strings.Join(t.Scopes, ","), t.Name, t.ExpiresAt, t.RevokedAt}
			},
		}.command(s), create(), revoke,
	)
}

func lockCommand(s *session) *cobra.Command {
	acquire := &cobra.Command{
		Use: "acquire KEY...", Short: "Take locks, all or none", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), post("/v1/locks", map[string]any{"keys": args}).as(executors...), func(text []byte) error {
				var a api.Acquired
				if err := decode(text, &a); err != nil {
					return err
				}
				rows := [][]string{}
				for _, l := range a.Locks {
					rows = append(rows, []string{a.LockID, l.Key, fmt.Sprint(l.Token), a.LockedUntil})
				}
				return table(s.env.Stdout, []string{"LOCK", "KEY", "TOKEN", "UNTIL"}, rows)
			})
		},
	}
	release := &cobra.Command{
		Use: "release LOCK", Short: "Give locks back", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), call{method: http.MethodDelete, path: "/v1/locks/" + url.PathEscape(args[0])}, func([]byte) error {
				_, err := fmt.Fprintln(s.env.Stdout, args[0]+" is released")
				return err
			})
		},
	}
	return parent("lock", "Who has what in hand",
		lister[api.Lock]{
			use: "list", short: "List locks that are held", path: "/v1/locks",
			filters: []filter{{"key", "key", "only this key"}, {"holder", "holder", "only of this run or lock"}},
			head:    []string{"KEY", "HOLDER", "ACTOR", "SINCE", "HEARTBEAT"},
			row: func(l api.Lock) []string {
				return []string{l.Key, l.Holder, string(l.ActorID), l.AcquiredAt, l.HeartbeatAt}
			},
		}.command(s), acquire, release,
	)
}

func webhookCommand(s *session) *cobra.Command {
	secret := func(text []byte) error {
		var w api.Webhook
		if err := decode(text, &w); err != nil {
			return err
		}
		fmt.Fprintf(s.env.Stderr, "%s to %s\n", w.ID, oneLine(w.URL))
		_, err := fmt.Fprintln(s.env.Stdout, w.Secret)
		return err
	}
	var types, subjects []string
	create := &cobra.Command{
		Use: "create URL", Short: "Subscribe; the secret is printed once", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{"url": args[0]}
			if len(types) > 0 {
				body["types"] = types
			}
			if len(subjects) > 0 {
				body["subjects"] = subjects
			}
			return s.act(c.Context(), post("/v1/webhooks", body), secret)
		},
	}
	create.Flags().StringArrayVar(&types, "type", nil, "only events of this type; may be repeated")
	create.Flags().StringArrayVar(&subjects, "subject", nil, "only about this contract; may be repeated")
	var after int64
	verb := func(use, short string, q func(id string) call, print func([]byte) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), q(url.PathEscape(args[0])), print)
		}}
	}
	replay := verb("replay ID", "Deliver again from a position on", func(id string) call {
		return post("/v1/webhooks/"+id+"/replay", map[string]any{"after": after})
	}, nil)
	replay.Flags().Int64Var(&after, "after", 0, "the position to begin behind")
	remove := &cobra.Command{
		Use: "delete ID", Short: "Unsubscribe", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			path := "/v1/webhooks/" + url.PathEscape(args[0])
			ans, err := cl.get(c.Context(), path, nil, nil)
			if err != nil {
				return err
			}
			_, err = cl.do(c.Context(), call{method: http.MethodDelete, path: path, match: ans.etag})
			return err
		},
	}
	deliveries := &cobra.Command{
		Use: "deliveries ID", Short: "List what was delivered, newest first", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			items, err := list[api.Delivery](c.Context(), cl, "/v1/webhooks/"+url.PathEscape(args[0])+"/deliveries", nil, 100)
			if err != nil {
				return err
			}
			if s.json {
				return s.printItems(items)
			}
			rows := [][]string{}
			for _, d := range items {
				rows = append(rows, []string{fmt.Sprint(d.Position), string(d.Status), fmt.Sprint(d.Attempts), d.NextAt, d.LastError, d.EventID})
			}
			return table(s.env.Stdout, []string{"POSITION", "STATUS", "ATTEMPTS", "NEXT", "ERROR", "EVENT"}, rows)
		},
	}
	return parent("webhook", "Who is told of events",
		lister[api.Webhook]{
			use: "list", short: "List subscribers", path: "/v1/webhooks", head: []string{"ID", "ENABLED", "URL", "TYPES"},
			row: func(w api.Webhook) []string { return []string{w.ID, fmt.Sprint(w.Enabled), w.URL, join(w.Types)} },
		}.command(s), create, remove, replay, deliveries,
		verb("test ID", "Send a test event", func(id string) call { return call{method: http.MethodPost, path: "/v1/webhooks/" + id + "/test"} }, nil),
		verb("rotate ID", "Make a new secret; it is printed once", func(id string) call {
			return call{method: http.MethodPost, path: "/v1/webhooks/" + id + "/rotate"}
		}, secret),
	)
}
