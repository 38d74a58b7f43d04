package plimsoll

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// readFile is a file, or stdin for "-".
func readFile(env Env, path string) ([]byte, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(env.Stdin)
	} else {
		text, err = os.ReadFile(env.abs(path))
	}
	if err != nil {
		return nil, fault.E("plimsoll", fault.Invalid, "read "+path, err)
	}
	return text, nil
}

// executors is the roles that carry work out.
var executors = []contract.Role{contract.CIAgent, contract.Developer, contract.QA, contract.ReleaseManager, contract.Admin}

func evidenceCommand(s *session) *cobra.Command {
	return parent("evidence", "The trail of every run",
		lister[api.Contract]{
			use: "list", short: "List Evidence", path: "/v1/evidence", filters: contractFilters(
				filter{"task", "taskSeedId", "only of this task"}, filter{"actor", "actor", "only of this executor"}, filter{"execution", "executionId", "only of this run"},
				filter{"verdict", "policyVerdict", "approved, rejected or manual_review_required"},
			),
			head: []string{"ID", "TASK", "RANGE", "VERDICT", "ACTOR", "MODEL", "ENDED"},
			row: func(c api.Contract) []string {
				d := documentOf(c)
				return []string{string(d.ID), string(d.TaskSeedID), trimRange(d.Base, d.Head), d.Verdict, d.Actor, d.Model.Name, d.End}
			},
		}.command(s), showing(s, "Evidence"), evidenceIngest(s),
	)
}

func eventCommand(s *session) *cobra.Command {
	var after int64
	var follow bool
	var types, chains, paths []string
	c := &cobra.Command{
		Use: "list", Short: "List what happened, oldest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			query := url.Values{"type": types, "partitionkey": chains, "correlationid": paths}
			if !follow {
				if after > 0 {
					query.Set("after", strconv.FormatInt(after, 10))
				}
				items, err := list[api.Event](c.Context(), cl, "/v1/events", query, 0)
				if err != nil {
					return err
				}
				if s.json {
					return s.printItems(items)
				}
				for _, e := range items {
					if err := s.printEvent(e.Position, e.Event); err != nil {
						return err
					}
				}
				return nil
			}
			for c.Context().Err() == nil {
				err := cl.stream(c.Context(), query, after, func(position int64, _ string, data []byte) error {
					after = position
					if s.json {
						_, err := s.env.Stdout.Write(append(bytes.Clone(data), '\n'))
						return err
					}
					return s.printEvent(position, data)
				})
				if p, ok := errors.AsType[*problem](err); ok {
					return p
				}
				select {
				case <-c.Context().Done():
				case <-time.After(time.Second):
				}
			}
			return nil
		},
	}
	c.Flags().Int64Var(&after, "after", 0, "only behind this position")
	c.Flags().BoolVarP(&follow, "watch", "w", false, "go on as things happen")
	c.Flags().StringArrayVar(&types, "type", nil, "only events of this type")
	c.Flags().StringArrayVar(&chains, "chain", nil, "only of this intent")
	c.Flags().StringArrayVar(&paths, "correlation", nil, "only of this path: a request, or an intent nobody asked for through a circle")
	return parent("event", "What happened", c)
}

func (s *session) printEvent(position int64, text []byte) error {
	var e struct{ Type, Subject, Time string }
	if err := decode(text, &e); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%6d  %s  %-34s %s\n", position, oneLine(e.Time), oneLine(e.Type), oneLine(e.Subject))
	return err
}

// lastEvent is the position behind which nothing has happened yet. Positions have
// no gaps, so it is found by halving.
func (c *client) lastEvent(ctx context.Context) (int64, error) {
	more := func(after int64) (bool, error) {
		var page api.Page[api.Event]
		_, err := c.get(ctx, "/v1/events", url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {"1"}}, &page)
		if refusal.CodeOf(err) == refusal.EventSequenceGone {
			return true, nil // older than what is kept
		}
		return len(page.Items) > 0, err
	}
	low, high := int64(-1), int64(1) // something is behind low, if anything at all; nothing may be behind high
	for {
		there, err := more(high)
		if err != nil {
			return 0, err
		}
		if !there {
			break
		}
		low, high = high, 2*high
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		there, err := more(middle)
		if err != nil {
			return 0, err
		}
		if there {
			low = middle
		} else {
			high = middle
		}
	}
	return max(high, 0), nil
}

// stream calls fn for every event behind a position until the connection ends.
func (c *client) stream(ctx context.Context, query url.Values, after int64, fn func(position int64, kind string, data []byte) error) error {
	query.Set("after", strconv.FormatInt(after, 10))
	return c.sse(ctx, "/v1/events", query, func(id, kind string, data []byte) error {
		position, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return fault.E("plimsoll", fault.Unavailable, "the stream has a position that is no number", nil)
		}
		return fn(position, kind, data)
	})
}

// sse reads a stream of events until it ends, which is an error as well: who reads
// knows whether that was to be expected.
func (c *client) sse(ctx context.Context, path string, query url.Values, fn func(id, kind string, data []byte) error) error {
	body, err := c.open(ctx, call{method: http.MethodGet, path: path, query: query, accept: "text/event-stream"})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewReader(body)
	var id, kind string
	var data []byte
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return unanswered(c.base, err)
		}
		name, value, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = append(data, value...)
		case "":
			if len(data) > 0 {
				if err := fn(id, kind, data); err != nil {
					return err
				}
			}
			kind, data = "", nil
		}
	}
}

func auditCommand(s *session) *cobra.Command {
	return parent("audit", "Who did what, accepted or refused",
		lister[api.AuditRecord]{
			use: "list", short: "List records, oldest first", path: "/v1/audit", filters: []filter{
				{"contract", "contractId", "only about this contract"},
				{"task", "taskSeedId", "only about this task"},
				{"actor", "actorId", "only by this actor"},
				{"role", "role", "only under this role"},
				{"action", "action", "only this action"},
				{"risk", "riskLevel", "only at this risk"},
				{"decision", "finalDecision", "only with the gate so decided"},
				{"date", "date", "only of this UTC day, like 2026-03-29"},
				{"correlation", "correlationId", "only of this path"},
				{"after", "after", "only behind this position"},
			},
			head: []string{"POSITION", "TIME", "ACTOR", "ROLE", "ACTION", "CONTRACT", "OUTCOME"},
			row: func(r api.AuditRecord) []string {
				var rec struct {
					Timestamp, ID, ActorID, Role, Action string
					Success                              bool
					Error                                struct{ Code string }
					Self                                 bool `json:"self_approved"`
				}
				_ = json.Unmarshal(r.Record, &rec)
				outcome := rec.Error.Code
				if rec.Success {
					outcome = "done"
				}
				if rec.Self {
					outcome += " (self-approved)"
				}
				return []string{strconv.FormatInt(r.Position, 10), rec.Timestamp, rec.ActorID, rec.Role, rec.Action, rec.ID, outcome}
			},
		}.command(s),
		auditExport(s), auditCheckpoint(s), auditVerify(s),
	)
}

func auditExport(s *session) *cobra.Command {
	var after int64
	var out string
	c := &cobra.Command{
		Use: "export", Short: "Write a sealed copy of the log", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			cl, err := s.client()
			if err != nil {
				return err
			}
			query := url.Values{}
			if after > 0 {
				query.Set("after", strconv.FormatInt(after, 10))
			}
			body, err := cl.open(c.Context(), call{method: http.MethodGet, path: "/v1/audit/export", query: query})
			if err != nil {
				return err
			}
			defer func() { _ = body.Close() }()
			to := s.env.Stdout
			if out != "" {
				f, err := os.OpenFile(s.env.abs(out), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				if err != nil {
					return fault.E("plimsoll", fault.Invalid, "write "+out, err)
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				to = f
			}
			if _, err := io.Copy(to, body); err != nil {
				return unanswered(cl.base, err)
			}
			return nil
		},
	}
	c.Flags().Int64Var(&after, "after", 0, "only behind this position")
	c.Flags().StringVarP(&out, "out", "o", "", "file to write; it must not be there")
	return c
}

func auditCheckpoint(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "checkpoint", Short: "Print the signed note of how far the log has come", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			ans, err := cl.do(c.Context(), call{method: http.MethodGet, path: "/v1/audit/checkpoint"})
			if err != nil {
				return err
			}
			_, err = s.env.Stdout.Write(ans.body)
			return err
		},
	}
}

// auditVerify asks nobody: the copy, the public key and the checkpoints that
// were kept are all it reads.
func auditVerify(s *session) *cobra.Command {
	var keys, known []string
	c := &cobra.Command{
		Use: "verify FILE", Short: "Check a copy of the log, offline", Args: cobra.ExactArgs(1),
		Long: `verify checks a copy that audit export wrote, without the service: that no record was
edited, left out, added or moved, that it ends where its last checkpoint says, and, with
checkpoints you kept, that it is not an older or another log.`,
		Example: "  plimsoll audit verify log.jsonl --key plimsoll.key.pub --known checkpoint.txt",
		RunE: func(_ *cobra.Command, args []string) (err error) {
			texts := []string{}
			for _, path := range keys {
				text, err := readFile(s.env, path)
				if err != nil {
					return err
				}
				texts = append(texts, strings.Fields(string(text))...)
			}
			verifiers, err := auditlog.Keys(texts...)
			if err != nil {
				return usage("%v", err)
			}
			points := []auditlog.Checkpoint{}
			for _, path := range known {
				text, err := readFile(s.env, path)
				if err != nil {
					return err
				}
				point, err := auditlog.Open(text, verifiers)
				if err != nil {
					return usage("%s: %v", path, err)
				}
				points = append(points, point)
			}
			in := s.env.Stdin
			if args[0] != "-" {
				f, err := os.Open(s.env.abs(args[0]))
				if err != nil {
					return fault.E("plimsoll", fault.Invalid, "read "+args[0], err)
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				in = f
			}
			report, err := auditlog.Verify(in, verifiers, points...)
			if wrong, ok := errors.AsType[*auditlog.Problem](err); ok {
				fmt.Fprintf(s.env.Stdout, "not good: %s: %s\n", wrong.Kind, wrong.Error())
				return &exit{exitNo}
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.env.Stdout, "good: %s, records %d to %d, %d checkpoints, closed %s\n",
				report.Origin, report.From.Count+1, report.To.Count, report.Checkpoints, report.Closed.UTC().Format(time.RFC3339))
			return err
		},
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "file with the public key of the log; may be repeated")
	c.Flags().StringArrayVar(&known, "known", nil, "file with a checkpoint that was kept; may be repeated")
	must(c.MarkFlagRequired("key"))
	return c
}
