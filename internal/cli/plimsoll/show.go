package plimsoll

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/pipeline/contract"
)

// document is the members of the five kinds that a person is shown.
type document struct {
	ID       contract.ID    `json:"id"`
	Kind     contract.Kind  `json:"kind"`
	State    contract.State `json:"state"`
	Version  int64          `json:"version"`
	Updated  string         `json:"updatedAt"`
	Intent   string         `json:"intent"`
	Creator  string         `json:"creator"`
	Priority string         `json:"priority"`
	Wants    []string       `json:"requestedCapabilities"`

	IntentID    contract.ID `json:"intentId"`
	Description string      `json:"description"`
	Owner       string      `json:"ownerRole"`
	Plan        []string    `json:"executionPlan"`
	Snapshot    []string    `json:"requestedCapabilitiesSnapshot"`
	Policy      struct {
		Auto      bool     `json:"auto_activate"`
		Approvers []string `json:"requiredActivationApprovals"`
	} `json:"generationPolicy"`

	TaskSeedID contract.ID `json:"taskSeedId"`
	Status     string      `json:"status"`
	Details    string      `json:"details"`
	Criteria   []string    `json:"criteria"`

	EntityID  contract.ID    `json:"entityId"`
	Action    string         `json:"action"`
	Risk      string         `json:"riskLevel"`
	Required  []string       `json:"requiredApprovals"`
	Approvals []api.Approval `json:"approvals"`
	Decision  string         `json:"finalDecision"`
	Deadline  string         `json:"approvalDeadline"`

	Base    string `json:"baseCommit"`
	Head    string `json:"headCommit"`
	Actor   string `json:"actor"`
	Verdict string `json:"policyVerdict"`
	End     string `json:"endTime"`
	Model   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"model"`
}

func documentOf(c api.Contract) document {
	var d document
	_ = json.Unmarshal(c.Contract, &d) // members that are not shown may have any form
	return d
}

// table writes rows under a head, columns aligned.
func table(w io.Writer, head []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			row[i] = clip(oneLine(strings.ReplaceAll(cell, "\n", " ")), 60)
		}
		if _, err := fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// facts writes names and values of one thing; what has no value is left out.
func facts(w io.Writer, list ...[2]string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range list {
		if f[1] == "" {
			continue
		}
		value := strings.ReplaceAll(oneLine(f[1]), "\n", "\n\t")
		if _, err := fmt.Fprintf(t, "%s\t%s\n", f[0], value); err != nil {
			return err
		}
	}
	return t.Flush()
}

func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func short(commit string) string {
	if len(commit) > 12 {
		return commit[:12]
	}
	return commit
}

// printJSON writes what the service answered, indented.
func (s *session) printJSON(text []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(text), "", "  "); err != nil {
		_, err := s.env.Stdout.Write(text)
		return err
	}
	b.WriteByte('\n')
	_, err := s.env.Stdout.Write(b.Bytes())
	return err
}

func (s *session) printItems(items any) error {
	text, err := json.Marshal(struct {
		Items any `json:"items"`
	}{items})
	if err != nil {
		return err
	}
	return s.printJSON(text)
}

// lister is a command that shows a list: flags that filter, columns, rows.
type lister[V any] struct {
	use, short, path string
	kind             contract.Kind // of a list of contracts
	filters          []filter
	head             []string
	row              func(V) []string
	silent           bool // its changes are no events: --watch looks again every two seconds
}

// filter is a flag that becomes a query parameter.
type filter struct{ flag, parameter, about string }

func (l lister[V]) command(s *session) *cobra.Command {
	var limit int
	var watch bool
	values := make([]*[]string, len(l.filters))
	c := &cobra.Command{Use: l.use, Short: l.short, Args: cobra.NoArgs}
	for i, f := range l.filters {
		values[i] = c.Flags().StringArray(f.flag, nil, f.about)
	}
	c.Flags().IntVarP(&limit, "limit", "n", 50, "how many at most; 0 shows all")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "show it again whenever something happens")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cl, err := s.client()
		if err != nil {
			return err
		}
		show := func(ctx context.Context) error {
			query := url.Values{}
			if l.kind != "" {
				query.Set("kind", string(l.kind))
			}
			for i, f := range l.filters {
				for _, v := range *values[i] {
					query.Add(f.parameter, v)
				}
			}
			items, err := list[V](ctx, cl, l.path, query, limit)
			if err != nil {
				return err
			}
			if s.json {
				return s.printItems(items)
			}
			rows := make([][]string, 0, len(items))
			for _, item := range items {
				rows = append(rows, l.row(item))
			}
			return table(s.env.Stdout, append([]string{}, l.head...), rows)
		}
		switch {
		case watch && l.silent:
			return s.again(c.Context(), show)
		case watch:
			return s.watch(c.Context(), cl, show)
		}
		return show(c.Context())
	}
	return c
}

// again shows something now and every two seconds, until it is interrupted.
func (s *session) again(ctx context.Context, show func(context.Context) error) error {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		if err := s.afresh(ctx, show); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// afresh shows something on a terminal that is cleared first.
func (s *session) afresh(ctx context.Context, show func(context.Context) error) error {
	if s.env.Terminal {
		_, _ = io.WriteString(s.env.Stdout, "\x1b[H\x1b[2J")
	}
	return show(ctx)
}

// watch shows something now and whenever an event happened, until it is
// interrupted.
func (s *session) watch(ctx context.Context, c *client, show func(context.Context) error) error {
	again := func() error { return s.afresh(ctx, show) }
	last, err := c.lastEvent(ctx)
	if err != nil {
		return err
	}
	if err := again(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := c.stream(ctx, url.Values{}, last, func(position int64, _ string, _ []byte) error {
			last = position
			return again()
		})
		if err != nil && ctx.Err() == nil {
			if _, refused := errors.AsType[*problem](err); refused {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

// act runs a write and prints the outcome.
func (s *session) act(ctx context.Context, q call, print func(text []byte) error) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	ans, err := c.do(ctx, q)
	if err != nil {
		return err
	}
	if s.json && len(ans.body) > 0 {
		return s.printJSON(ans.body)
	}
	if print == nil {
		return nil
	}
	return print(ans.body)
}

// printContract prints one contract in one line, after a write.
func (s *session) printContract(text []byte) error {
	var c api.Contract
	if err := decode(text, &c); err != nil {
		return err
	}
	d := documentOf(c)
	state := string(d.State)
	if c.Meta.FreezeCause != "" {
		state += " (" + string(c.Meta.FreezeCause) + ")"
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%s version %d is %s\n", d.ID, d.Version, state)
	return err
}

// showContract prints one contract with everything a person asks for.
func (s *session) showContract(ctx context.Context, path string) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	var shown api.Contract
	ans, err := c.get(ctx, path, nil, &shown)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(ans.body)
	}
	d, m := documentOf(shown), shown.Meta
	outstanding, commits := "", ""
	if m.Outstanding != nil {
		outstanding = join(*m.Outstanding)
	}
	if m.Commits != nil {
		commits = short(m.Commits.Base) + ".." + short(m.Commits.Head)
	}
	approvals := []string{}
	for _, a := range d.Approvals {
		approvals = append(approvals, fmt.Sprintf("%s by %s as %s at %s", a.Decision, a.ActorID, a.Role, a.DecidedAt))
	}
	return facts(s.env.Stdout,
		[2]string{"Id", fmt.Sprintf("%s version %d", d.ID, d.Version)}, [2]string{"State", string(d.State)},
		[2]string{"Frozen for", string(m.FreezeCause)}, [2]string{"Phase", string(m.Phase)}, [2]string{"Chain", string(m.IntentID)}, [2]string{"Correlation", m.Correlation},
		[2]string{"Intent", d.Intent}, [2]string{"Asked by", d.Creator}, [2]string{"Priority", d.Priority}, [2]string{"Capabilities", join(append(d.Wants, d.Snapshot...))},
		[2]string{"Description", d.Description}, [2]string{"Owner", d.Owner}, [2]string{"Plan", strings.Join(d.Plan, "\n")},
		[2]string{"Activated by", join(d.Policy.Approvers)}, [2]string{"Task", string(d.TaskSeedID)},
		[2]string{"Status", d.Status}, [2]string{"Details", d.Details}, [2]string{"Criteria", strings.Join(d.Criteria, "\n")},
		[2]string{"Acceptance", string(d.EntityID)}, [2]string{"Risk", d.Risk}, [2]string{"Action", d.Action}, [2]string{"Decision", d.Decision},
		[2]string{"Needs", join(d.Required)}, [2]string{"Still needs", outstanding}, [2]string{"Until", d.Deadline},
		[2]string{"Approvals", strings.Join(approvals, "\n")}, [2]string{"Commits", commits}, [2]string{"Digest", m.Digest},
		[2]string{"Range", trimRange(d.Base, d.Head)}, [2]string{"Actor", d.Actor}, [2]string{"Verdict", d.Verdict},
		[2]string{"Ended", d.End}, [2]string{"Model", strings.TrimPrefix(d.Model.Name+"@"+d.Model.Version, "@")}, [2]string{"Changed", d.Updated},
	)
}

func trimRange(base, head string) string {
	if base == "" {
		return ""
	}
	return short(base) + ".." + short(head)
}

func join[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// version is the version of a contract as it stands, for a write that names it.
func (c *client) version(ctx context.Context, id string) (document, api.Contract, error) {
	var shown api.Contract
	_, err := c.get(ctx, "/v1/contracts/"+url.PathEscape(id), nil, &shown)
	return documentOf(shown), shown, err
}

// showing is a command that shows one contract of a kind.
func showing(s *session, noun string) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one " + noun, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.showContract(c.Context(), "/v1/contracts/"+url.PathEscape(args[0]))
		},
	}
}

func post(path string, body any) call { return call{method: http.MethodPost, path: path, body: body} }
