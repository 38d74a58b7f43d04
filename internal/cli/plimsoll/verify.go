package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll.dev/internal/cli/verification"
	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify"
)

// verify makes the verification that a boundary result names (docs/spec/boundary.md
// §7.2): what `shipgate verify --base BASE --head HEAD --json` prints of a committed
// range, made in this process. No program of the repository takes part in it, and
// none that the search path would name.
func (s *session) verify(ctx context.Context, r execution.Range) (execution.Verification, error) {
	// The command asks for the default agent, whoever made the change.
	pair, err := git.OpenPair(ctx, git.PairRequest{Actor: gate.ActorCodex, Dir: r.Dir, Workspace: ".", Base: r.Base, Head: r.Head, Environ: r.Environ})
	if err != nil {
		return execution.Verification{}, fmt.Errorf("open the change to verify: %w", err)
	}
	defer pair.Close()
	in := verification.Input(pair)
	in.Workspace, in.Reports = ".", verification.Reports
	in.Options = verify.Options{Today: verification.Today(s.env.variable, time.Now()), Comment: verification.Comment}
	run, err := verification.Judge(ctx, in, pair)
	if err != nil {
		return execution.Verification{}, fmt.Errorf("verify: %w", err)
	}
	if run.Decision == nil {
		return execution.Verification{}, errors.New("it came to no decision: " + run.Headline)
	}
	list, err := run.Artifacts(in.Reports, verification.Program())
	if err != nil {
		return execution.Verification{}, fmt.Errorf("write the verify artifact: %w", err)
	}
	for i := range list {
		if a := &list[i]; a.Name == "verifier.json" {
			return execution.Verification{Decision: string(run.Decision.Decision), Artifact: a.Text()}, nil
		}
	}
	return execution.Verification{}, errors.New("verifier.json was not made")
}
