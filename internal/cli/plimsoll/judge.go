package plimsoll

import (
	"context"
	"errors"
	"path/filepath"

	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
)

// judge runs the gate on a committed range for an executor: what cannot be read has a
// result too, which asks for a person or for the missing history.
func judge(ctx context.Context, r execution.Range) (*gate.Result, error) {
	input, err := git.Acquire(ctx, git.Request{Actor: r.Actor, Dir: r.Dir, Workspace: ".", Base: r.Base, Head: r.Head, Environ: r.Environ})
	if unread, ok := errors.AsType[*git.InputError](err); ok {
		return gate.ErrorResult(gate.ErrorInput{
			Actor: r.Actor, Mode: gate.GitRange, Failure: unread.Failure, Detail: unread.Detail, Workspace: ".", Base: r.Base, Head: r.Head,
			Root: r.Dir, Config: filepath.Join(r.Dir, "shipgate.yaml"),
		}), nil
	}
	if err != nil {
		return nil, err
	}
	return gate.Check(*input)
}
