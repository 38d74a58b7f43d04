package plimsoll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// runFlags is the command line of run.
type runFlags struct {
	repo, phase, base, model, parameters, agent, container, runtime string
	pass                                                            []string
	roles                                                           []contract.Role
	limit                                                           time.Duration
}

func runCommand(s *session) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run TASK -- COMMAND...", Short: "Do the work of a task, in a worktree of its own",
		Long: `run claims a task and runs a command on it: in a worktree and on a branch of its own, with a
clean environment, as long as the phase allows. What comes of it is judged by the gate and
reported with its log, its tools and its environment. A verification that the gate asks for
is made in Stabilize, of exactly the commits of the run, and delivered. Evidence is delivered whatever
happens; the next start reports what died. Your own working tree is not touched, and the
worktree of a run that failed is kept.

In Build and Refactor the command may commit or not: what it changed and did not commit
becomes a commit of its own at the end. In Stabilize and Publish only commits count, and a
worktree in which tracked files were changed is kept.

The command finds PLIMSOLL_TASK, PLIMSOLL_PHASE, PLIMSOLL_EXECUTION, PLIMSOLL_BASE_COMMIT
and PLIMSOLL_OUT, a folder in which it may leave report.json. What it prints is shown line
by line, with secrets masked as in the log that is kept.

Exit codes: 0 the run succeeded, 1 it did not, 2 wrong command line, 3 it could not be
reported yet.`,
		Example: `  plimsoll run TS-001 --repo . -- claude -p "do the task in $PLIMSOLL_TASK"
  plimsoll run TS-001 --repo . --phase Stabilize -- go test ./...
  plimsoll run recover`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 1 && (len(args) != 1 || c.ArgsLenAtDash() >= 0) {
				return usage("name one task, then -- and the command")
			}
			return s.run(c.Context(), f, args[0], args[1:])
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.repo, "repo", ".", "any folder of the repository")
	flags.StringVar(&f.phase, "phase", "", "Build, Stabilize, Refactor or Publish (default: where the chain is)")
	flags.StringVar(&f.base, "base", "", "the commit a chain begins at (default: HEAD; once the chain has one, that)")
	flags.StringVar(&f.model, "model", "", "the model behind the command, as NAME@VERSION")
	flags.StringVar(&f.parameters, "model-parameters", "", "file with the parameters of the model, JSON")
	flags.StringVar(&f.agent, "agent", "codex", "who the gate takes the change to be made by: codex, claude-code or cursor")
	flags.StringVar(&f.container, "container", "", "digest of the image this runs in")
	flags.StringVar(&f.runtime, "runtime", "", "what the command runs on")
	flags.StringArrayVar(&f.pass, "env", nil, "name of a variable the command gets besides the usual; may be repeated")
	flags.DurationVar(&f.limit, "limit", 0, "how long the command may take (default: what the phase allows)")
	c.AddCommand(runList(s), runShow(s), runArtifact(s), runRelease(s), runRecover(s), runKept(s), runDiscard(s))
	return c
}

func (s *session) runner(f runFlags) (*execution.Runner, error) {
	cl, err := s.client()
	if err != nil {
		return nil, err
	}
	model := execution.Model{}
	if f.model != "" {
		model.Name, model.Version, _ = strings.Cut(f.model, "@")
		if model.Version == "" {
			model.Version = "unknown"
		}
	}
	if f.parameters != "" {
		if model.Parameters, err = readFile(s.env, f.parameters); err != nil {
			return nil, err
		}
	}
	notes := s.env.Stderr
	return execution.New(execution.Config{
		Server: &executor{cl, f.roles}, Judge: judge, Verify: s.verify, Repo: s.env.abs(f.repo), State: s.env.state(), NewID: func() string { return "run-" + strings.TrimPrefix(newKey(), "cli-") },
		Environ: s.env.Environ, Pass: f.pass, Output: s.env.Stderr, Notes: notes, Agent: gate.Actor(f.agent), Model: model,
		Container: f.container, Runtime: f.runtime, Limit: f.limit, Hard: s.env.Hard,
	})
}

func (s *session) run(ctx context.Context, f runFlags, task string, command []string) error {
	cl, err := s.client()
	if err != nil {
		return err
	}
	d, shown, err := cl.version(ctx, task)
	if err != nil {
		return err
	}
	order := execution.Order{Task: contract.ID(task), Phase: phase.Phase(f.phase), Command: command}
	if f.phase == "" {
		order.Phase = phase.Phase(shown.Meta.Phase)
	}
	switch order.Phase {
	case phase.Build, phase.Refactor:
		f.roles = []contract.Role{contract.Role(d.Owner)}
	case phase.Stabilize:
		f.roles = []contract.Role{contract.CIAgent, contract.QA}
	case phase.Publish:
		f.roles = []contract.Role{contract.ReleaseManager, contract.Admin}
	case phase.Plan, phase.Published:
		return usage("nothing is to be run: the chain of %s is in %s", task, order.Phase)
	default:
		return usage("%q is no phase that can be run", order.Phase)
	}
	if order.Base, err = base(ctx, cl, order.Phase, shown.Meta.IntentID, f.base); err != nil {
		return err
	}
	if len(command) == 0 {
		if order.Phase != phase.Publish {
			return usage("say what to run: plimsoll run %s -- COMMAND", task)
		}
		order.Command = []string{"true"} // to publish is to deliver the note
	}
	r, err := s.runner(f)
	if err != nil {
		return err
	}
	result, err := r.Run(ctx, order)
	if err != nil {
		return err
	}
	at := ""
	if result.Status == execution.Delivered {
		var chain *api.Chain
		switch {
		case result.Outcome != phase.Succeeded, order.Phase == phase.Refactor: // which a review ends
			chain = cl.settle(ctx, shown.Meta.IntentID, func(*api.Chain) bool { return true })
		case order.Phase == phase.Publish:
			chain = cl.settle(ctx, shown.Meta.IntentID, released)
		default:
			chain = cl.settle(ctx, shown.Meta.IntentID, left(order.Phase))
		}
		if chain != nil {
			at = "in " + string(chain.Phase)
		}
	}
	return s.printRun(result, shown.Meta.Correlation, at)
}

// base is the commit to name in a claim, "" for the chain's own: a chain begins
// where this repository is, and comes back to Build from where it began. What
// was named on the command line goes to the service in any case.
func base(ctx context.Context, cl *client, p phase.Phase, intent contract.ID, named string) (string, error) {
	if named != "" || p != phase.Build {
		return named, nil
	}
	var chain api.Chain
	if _, err := cl.get(ctx, "/v1/chains/"+url.PathEscape(string(intent)), nil, &chain); err != nil {
		return "", err
	}
	if chain.BaseCommit != "" {
		return "", nil
	}
	return "HEAD", nil
}

// printRun says what became of a run, of which path it is and where its chain is
// then. The exit code
// is that of the program.
func (s *session) printRun(r *execution.Result, correlation, chain string) error {
	if s.json {
		text, err := json.Marshal(struct {
			ExecutionID  string           `json:"executionId"`
			Correlation  string           `json:"correlationId,omitempty"`
			TaskSeedID   contract.ID      `json:"taskSeedId"`
			Phase        phase.Phase      `json:"phase"`
			Status       execution.Status `json:"status"`
			Outcome      phase.Outcome    `json:"outcome"`
			Reason       string           `json:"reason,omitempty"`
			ExitCode     int              `json:"exitCode"`
			BaseCommit   string           `json:"baseCommit,omitempty"`
			HeadCommit   string           `json:"headCommit,omitempty"`
			DiffHash     string           `json:"diffHash,omitempty"`
			Branch       string           `json:"branch,omitempty"`
			Worktree     string           `json:"worktree,omitempty"`
			Control      string           `json:"control,omitempty"`
			Route        string           `json:"route,omitempty"`
			Verified     string           `json:"verified,omitempty"`
			Owed         string           `json:"verificationOwed,omitempty"`
			EvidenceID   contract.ID      `json:"evidenceId,omitempty"`
			RetryAllowed bool             `json:"retryAllowed,omitempty"`
		}{
			r.ExecutionID, correlation, r.Task, r.Phase, r.Status, r.Outcome, r.Reason, r.ExitCode, r.BaseCommit, r.HeadCommit, r.DiffHash, r.Branch,
			r.Worktree, r.Control, r.Route, r.Verified, r.Owed, r.Evidence, r.Ended.RetryAllowed,
		})
		if err != nil {
			return err
		}
		if err := s.printJSON(text); err != nil {
			return err
		}
	} else {
		retry := ""
		if r.Ended.RetryAllowed {
			retry = "may be tried again"
		}
		verified := r.Verified
		if r.Owed != "" {
			verified = "owed: " + r.Owed
		}
		if err := facts(s.env.Stdout,
			[2]string{"Run", fmt.Sprintf("%s of %s, %s", r.ExecutionID, r.Task, r.Phase)}, [2]string{"Outcome", strings.TrimSuffix(string(r.Outcome)+": "+r.Reason, ": ")},
			[2]string{"Report", strings.TrimSuffix(string(r.Status)+": "+errorText(r.Err), ": ")}, [2]string{"Evidence", string(r.Evidence)},
			[2]string{"Commits", trimRange(r.BaseCommit, r.HeadCommit)}, [2]string{"Branch", r.Branch}, [2]string{"Gate", strings.TrimSuffix(r.Control+", "+r.Route, ", ")},
			[2]string{"Verified", verified}, [2]string{"Worktree", r.Worktree}, [2]string{"Retry", retry}, [2]string{"Chain", chain},
			[2]string{"Correlation", correlation},
		); err != nil {
			return err
		}
	}
	switch {
	case r.Status == execution.Spooled:
		return &exit{exitUnknown}
	case r.Status != execution.Delivered || r.Outcome != phase.Succeeded:
		return &exit{exitNo}
	}
	return nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// executor speaks the executor protocol (docs/spec/contracts.md §20.3).
//
// Several roles may run some phase; roles is the one that runs this one
// (docs/spec/contracts.md §4.3), for a caller who holds it and names none.
type executor struct {
	c     *client
	roles []contract.Role
}

// Claim implements execution.Server.
func (x *executor) Claim(ctx context.Context, key string, q execution.ClaimRequest) (*execution.Claim, error) {
	body := map[string]any{"phase": q.Phase}
	if q.BaseCommit != "" {
		body["baseCommit"] = q.BaseCommit
	}
	ans, err := x.c.do(ctx, call{method: http.MethodPost, path: "/v1/tasks/" + url.PathEscape(string(q.Task)) + "/claim", body: body, key: key, prefer: x.roles})
	if err != nil {
		return nil, err
	}
	var got api.Claim
	if err := decode(ans.body, &got); err != nil {
		return nil, err
	}
	doc, faults := contract.Decode(got.TaskSeed.Contract)
	task, ok := doc.(*contract.TaskSeed)
	if faults != nil || !ok {
		return nil, fault.E("plimsoll", fault.Unavailable, "the task of the claim does not read", faults)
	}
	claim := &execution.Claim{
		ExecutionID: got.ExecutionID, LockToken: got.LockToken, LockedUntil: instant(got.LockedUntil), Heartbeat: time.Duration(got.HeartbeatSeconds) * time.Second,
		Phase: phase.Phase(got.Phase), Role: got.Role, BaseCommit: got.BaseCommit, HeadCommit: got.HeadCommit, Stale: got.Stale, Task: task,
	}
	if got.RunDeadline != nil {
		claim.Deadline = instant(*got.RunDeadline)
	}
	return claim, nil
}

func instant(text string) time.Time {
	stamp, _ := contract.ParseTimestamp(text)
	return stamp.Time()
}

func (x *executor) path(run execution.Ticket, verb string) string {
	return "/v1/runs/" + url.PathEscape(run.ExecutionID) + "/" + verb
}

// Heartbeat implements execution.Server.
func (x *executor) Heartbeat(ctx context.Context, run execution.Ticket) (execution.Beat, error) {
	var b api.Beat
	ans, err := x.c.do(ctx, call{method: http.MethodPost, path: x.path(run, "heartbeat"), lock: run.LockToken})
	if err == nil {
		err = decode(ans.body, &b)
	}
	return execution.Beat{LockedUntil: instant(b.LockedUntil), Stop: b.Stop}, err
}

// Put implements execution.Server.
func (x *executor) Put(ctx context.Context, run execution.Ticket, key string, kind phase.Proof, b []byte) error {
	_, err := x.c.do(ctx, call{
		method: http.MethodPut, path: x.path(run, "artifacts/"+url.PathEscape(string(kind))), raw: b, media: artifact.MediaType(kind), key: key, lock: run.LockToken,
	})
	return err
}

// End implements execution.Server.
func (x *executor) End(ctx context.Context, run execution.Ticket, key string, e execution.End) (execution.Ended, error) {
	verb, body := "complete", map[string]any{"outcome": e.Outcome, "headCommit": e.HeadCommit, "evidence": json.RawMessage(e.Evidence)}
	if e.Outcome == phase.Failed {
		verb, body = "fail", map[string]any{"reason": e.Reason, "evidence": json.RawMessage(e.Evidence)}
		if e.HeadCommit != "" {
			body["headCommit"] = e.HeadCommit
		}
	} else {
		if len(e.Checks) > 0 {
			body["checks"] = e.Checks
		}
		if len(e.Signals) > 0 {
			body["riskSignals"] = e.Signals
		}
		if len(e.Facts) > 0 {
			body["facts"] = e.Facts
		}
		if len(e.Files) > 0 {
			body["files"] = e.Files
		}
	}
	ans, err := x.c.do(ctx, call{method: http.MethodPost, path: x.path(run, verb), body: body, key: key, lock: run.LockToken})
	if p, ok := errors.AsType[*problem](err); ok {
		return execution.Ended{Evidence: contract.ID(p.EvidenceID)}, p
	}
	if err != nil {
		return execution.Ended{}, err
	}
	var got api.Ended
	if err := decode(ans.body, &got); err != nil {
		return execution.Ended{}, err
	}
	ended := execution.Ended{Evidence: got.EvidenceID, RetryAllowed: got.RetryAllowed}
	if got.Completed != nil {
		ended.Completed, ended.Outcome, ended.Runs = true, got.Completed.Outcome, got.Completed.Runs
	}
	return ended, nil
}

// Verify implements execution.Server.
func (x *executor) Verify(ctx context.Context, key string, v execution.VerifyRequest) error {
	q := verified(v.Task, v.BaseCommit, v.HeadCommit, v.Artifact)
	q.key = key
	_, err := x.c.do(ctx, q)
	return err
}

// Note implements execution.Server.
func (x *executor) Note(ctx context.Context, task contract.ID) ([]byte, error) {
	ans, err := x.c.do(ctx, call{method: http.MethodGet, path: "/v1/tasks/" + url.PathEscape(string(task)) + "/release-note", accept: "text/markdown"})
	return ans.body, err
}

func runList(s *session) *cobra.Command {
	return lister[api.Run]{
		use: "list", short: "List runs, newest first", path: "/v1/runs",
		filters: []filter{
			{"task", "taskSeedId", "only of this task"},
			{"phase", "phase", "only in this phase"},
			{"actor", "actorId", "only of this executor"},
			{"outcome", "outcome", "succeeded, failed, timed_out or blocked"},
			{"alive", "alive", "true: only those that go on"},
		},
		head: []string{"RUN", "TASK", "PHASE", "ATTEMPT", "OUTCOME", "COMMITS", "ACTOR", "STARTED"},
		row: func(r api.Run) []string {
			outcome := r.Outcome
			if r.Alive {
				outcome = "goes on"
			}
			return []string{
				r.ExecutionID, string(r.TaskSeed.ID), string(r.Phase), fmt.Sprintf("%d.%d", r.Series, r.Attempt), outcome, trimRange(r.BaseCommit, r.HeadCommit),
				string(r.ActorID), r.StartedAt,
			}
		},
	}.command(s)
}

func runShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show one run and its artifacts", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			var r api.Run
			path := "/v1/runs/" + url.PathEscape(args[0])
			ans, err := cl.get(c.Context(), path, nil, &r)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(ans.body)
			}
			items, err := list[api.Artifact](c.Context(), cl, path+"/artifacts", nil, 0)
			if err != nil {
				return err
			}
			names := []string{}
			for _, a := range items {
				names = append(names, fmt.Sprintf("%s (%d bytes)", a.Kind, a.Size))
			}
			return facts(s.env.Stdout,
				[2]string{"Run", r.ExecutionID}, [2]string{"Task", fmt.Sprintf("%s version %d", r.TaskSeed.ID, r.TaskSeed.Version)},
				[2]string{"Correlation", r.Correlation},
				[2]string{"Phase", string(r.Phase)}, [2]string{"Executor", fmt.Sprintf("%s as %s", r.ActorID, r.Role)}, [2]string{"Outcome", r.Outcome},
				[2]string{"Commits", trimRange(r.BaseCommit, r.HeadCommit)}, [2]string{"Started", r.StartedAt}, [2]string{"Until", r.RunDeadline},
				[2]string{"Ended", r.EndedAt}, [2]string{"Evidence", string(r.EvidenceID)}, [2]string{"Artifacts", strings.Join(names, "\n")},
			)
		},
	}
}

func runArtifact(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "artifact RUN KIND", Short: "Print an artifact of a run, as build_log or boundary_result", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := s.client()
			if err != nil {
				return err
			}
			ans, err := cl.do(c.Context(), call{method: http.MethodGet, path: "/v1/runs/" + url.PathEscape(args[0]) + "/artifacts/" + url.PathEscape(args[1])})
			if err != nil {
				return err
			}
			_, err = s.env.Stdout.Write(ans.body)
			return err
		},
	}
}

func runRelease(s *session) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "release RUN", Short: "Stop somebody's run, as an admin", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.act(c.Context(), post("/v1/runs/"+url.PathEscape(args[0])+"/release", map[string]any{"reason": reason}), func([]byte) error {
				_, err := fmt.Fprintln(s.env.Stdout, args[0]+" has ended")
				return err
			})
		},
	}
	c.Flags().StringVarP(&reason, "reason", "m", "released by an admin", "why")
	return c
}

func runRecover(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "recover", Short: "Report the runs of this machine that died", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := s.runner(runFlags{repo: ".", agent: "codex"})
			if err != nil {
				return err
			}
			results, err := r.Recover(c.Context())
			if err != nil {
				return err
			}
			for _, one := range results {
				if _, err := fmt.Fprintf(s.env.Stdout, "%s of %s: %s\n", one.ExecutionID, one.Task, one.Status); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func runKept(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "kept", Short: "List the worktrees of runs that failed on this machine", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			r, err := s.runner(runFlags{repo: ".", agent: "codex"})
			if err != nil {
				return err
			}
			list, err := r.Kept()
			if err != nil {
				return err
			}
			rows := [][]string{}
			for _, k := range list {
				rows = append(rows, []string{k.Run, string(k.Task), string(k.Phase), string(k.Status), k.Worktree, k.Reason})
			}
			return table(s.env.Stdout, []string{"RUN", "TASK", "PHASE", "STATUS", "WORKTREE", "REASON"}, rows)
		},
	}
}

func runDiscard(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "discard RUN", Short: "Remove the worktree of a run that failed; its branch stays", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := s.runner(runFlags{repo: ".", agent: "codex"})
			if err != nil {
				return err
			}
			return r.Discard(c.Context(), args[0])
		},
	}
}
