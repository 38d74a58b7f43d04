package execution

import (
	"context"
	"io"

	"plimsoll.dev/internal/fault"
)

// Commit is a commit of a local repository as the service knows it.
type Commit struct {
	ID string // in full
	// DiffHash is that of the change since it left base, "" when no base was named
	// (docs/spec/contracts.md §10.3).
	DiffHash string
}

// FindCommit resolves a revision in the repository that dir is in; git runs there
// as hardened as for a run. With a base it also hashes what the revision changed
// since it left that. It errs when there is no such repository or commit.
func FindCommit(ctx context.Context, dir, revision, base string, environ []string) (Commit, error) {
	const op = "find commit"
	repo, err := openRepository(ctx, dir, environ)
	if err != nil {
		return Commit{}, fault.E(op, fault.Unavailable, "no repository to ask about", err)
	}
	id, err := repo.commit(ctx, revision)
	if err != nil {
		return Commit{}, fault.E(op, fault.Unavailable, err.Error(), nil)
	}
	c := Commit{ID: id}
	if base == "" {
		return c, nil
	}
	if base, err = repo.commit(ctx, base); err != nil {
		return Commit{}, fault.E(op, fault.Unavailable, err.Error(), nil)
	}
	left, err := repo.output(ctx, "merge-base", "--end-of-options", base, id)
	if err != nil {
		return Commit{}, fault.E(op, fault.Unavailable, "the two have no commit in common", err).WithHint("fetch more of the history")
	}
	if c.DiffHash, err = repo.diffHash(ctx, string(left), id, io.Discard); err != nil {
		return Commit{}, fault.E(op, fault.Unavailable, "the change could not be read", err)
	}
	return c, nil
}
