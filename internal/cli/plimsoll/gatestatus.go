package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/refusal"
)

const gateStatusLong = `status asks whether exactly these bytes may be released, and answers with its
exit code. Only 0 lets anything go; that something did not run is not that it
passed.

   0  passed: people agreed to these bytes, and they are published
  10  waiting: people still decide, or the gate is on hold
  11  rejected
  12  expired: nobody decided in time
  13  stale: the gate is about other bytes than these
  14  no gate was ever made for them
   3  could not decide: no service, no such repository or commit, no leave to ask
   2  the command line does not read

With --base, a commit that nobody asked about is looked for by its change since
it left that base: a rebase or a merge queue that leaves the change the same to
the byte keeps what was agreed to.`

// The exit codes of gate status, by its standings.
var standingExits = map[pipeline.Standing]int{
	pipeline.StandingPassed: exitOK, pipeline.StandingWaiting: 10, pipeline.StandingRejected: 11,
	pipeline.StandingExpired: 12, pipeline.StandingStale: 13, standingNone: 14,
}

const standingNone pipeline.Standing = "never_ran"

// gateQuestion is what a pipeline wants to know.
type gateQuestion struct{ repo, commit, base, repository, head, diff string }

// gateStatus is what a pipeline asks; its exit code is the answer.
func gateStatus(s *session) *cobra.Command {
	var q gateQuestion
	c := &cobra.Command{
		Use: "status", Short: "Ask whether a commit may be released; the exit code is the answer", Long: gateStatusLong, Args: cobra.NoArgs,
		Example: `  plimsoll gate status --repo . --commit HEAD
  plimsoll gate status --repo . --commit HEAD --base origin/main --json
  plimsoll gate status --repository app --head 8f3a91c20d77a4b1c5e6f708192a3b4c5d6e7f80`,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.gateStatus(c.Context(), q, c.Flags().Changed("commit"))
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.repo, "repo", ".", "any folder of the repository, for --commit")
	flags.StringVar(&q.commit, "commit", "HEAD", "the commit, as git here calls it")
	flags.StringVar(&q.base, "base", "", "where the commit began, for one that was rewritten")
	flags.StringVar(&q.repository, "repository", "", "only chains of this repository, as the service calls it")
	flags.StringVar(&q.head, "head", "", "the commit in full, without a repository at hand")
	flags.StringVar(&q.diff, "diff", "", "the hash of the change, without a repository at hand")
	return c
}

func (s *session) gateStatus(ctx context.Context, q gateQuestion, named bool) error {
	if q.head != "" && q.diff != "" || named && (q.head != "" || q.diff != "") {
		return usage("only one of --commit, --head and --diff can be asked about")
	}
	if q.base != "" && (q.head != "" || q.diff != "") {
		return usage("--base goes with --commit")
	}
	if q.head == "" && q.diff == "" {
		at, err := execution.FindCommit(ctx, s.env.abs(q.repo), q.commit, q.base, s.env.Environ)
		if err != nil {
			return err
		}
		q.head, q.diff = at.ID, at.DiffHash
	}
	cl, err := s.client()
	if err != nil {
		return undecided(err)
	}
	var g api.GateStatus
	var ans answer
	for _, key := range []struct{ name, value string }{{"headCommit", q.head}, {"diffHash", q.diff}} {
		if key.value == "" {
			continue
		}
		ans, err = cl.get(ctx, "/v1/gates/status", url.Values{"repository": {q.repository}, key.name: {key.value}}, &g)
		if p, ok := errors.AsType[*problem](err); !ok || p.Code != refusal.RefNotFound {
			break
		}
	}
	if p, ok := errors.AsType[*problem](err); ok && p.Code == refusal.RefNotFound {
		g, ans = api.GateStatus{Standing: standingNone}, answer{}
	} else if err != nil {
		return undecided(err)
	}
	code, known := standingExits[g.Standing]
	if !known {
		return undecided(fmt.Errorf("the service answered a standing of which this version knows nothing: %q", g.Standing))
	}
	if err := s.printStanding(q, g, ans); err != nil {
		return err
	}
	if code == exitOK {
		return nil
	}
	return &exit{code}
}

func (s *session) printStanding(q gateQuestion, g api.GateStatus, ans answer) error {
	if s.json {
		if g.Standing == standingNone {
			ans.body = canonical.UTF8.Append(nil, canonical.Object{
				{Key: "standing", Value: string(standingNone)}, {Key: "headCommit", Value: q.head}, {Key: "publishable", Value: false},
			})
		}
		return s.printJSON(ans.body)
	}
	gate := fmt.Sprintf("%s version %d", g.ID, g.Version)
	text := map[pipeline.Standing]string{
		pipeline.StandingPassed:   "may be released: " + gate + " is approved",
		pipeline.StandingWaiting:  "may not be released yet: " + gate + " is " + string(g.FinalDecision),
		pipeline.StandingRejected: "may not be released: " + gate + " is rejected",
		pipeline.StandingExpired:  "may not be released: nobody decided on " + gate + " in time",
		pipeline.StandingStale:    "may not be released: " + gate + " is about other bytes than these",
		standingNone:              "may not be released: no gate was ever made for this commit",
	}[g.Standing]
	if g.Standing == pipeline.StandingWaiting && g.FinalDecision == "approved" {
		text += ", and kept back"
	}
	if g.Correlation != "" {
		text += "\ncorrelation: " + oneLine(g.Correlation)
	}
	_, err := fmt.Fprintln(s.env.Stdout, text)
	return err
}

// undecided is an error after which nothing may go, and which is no "no": a
// refusal to answer is not an answer either.
func undecided(err error) error { return &noAnswer{err} }

type noAnswer struct{ err error }

func (u *noAnswer) Error() string { return "could not decide: " + u.err.Error() }
func (u *noAnswer) Unwrap() error { return u.err }
