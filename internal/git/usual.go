package git

import (
	"context"
	"errors"

	"plimsoll.dev/internal/gate"
)

// UsualBase names the remote branch that work in a folder is compared with when
// nobody names another (docs/spec/verification.md §9.1): the first of those that
// exists, by its whole name. It is empty where there is none, or where HEAD is
// that commit and nothing can have been committed since. Errors are *InputError.
func UsualBase(ctx context.Context, dir string, environ []string) (string, error) {
	root, _ := findRoot(absolute(dir, dir))
	if root == "" {
		return "", &InputError{Failure: gate.NoRepository}
	}
	a := &acquisition{ctx: ctx, root: root, in: &gate.Input{Mode: gate.GitRange}}
	ref, err := a.usualBase(environ)
	if err != nil {
		return "", a.inputError(err)
	}
	return ref, nil
}

func (a *acquisition) usualBase(environ []string) (string, error) {
	var err error
	if a.repo, err = open(a.ctx, a.root, environ); err != nil {
		return "", err
	}
	defer a.repo.close()
	batch, err := a.repo.objects(a.ctx)
	if err != nil {
		return "", err
	}
	defer batch.close()
	head, err := batch.namedCommit("--head", "HEAD")
	if errors.Is(err, errObjectMissing) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, name := range usualBases {
		ref := "refs/remotes/" + name
		switch base, err := batch.namedCommit("--base", ref); {
		case errors.Is(err, errObjectMissing):
		case err != nil:
			return "", err
		case base.id == head.id:
			return "", nil
		default:
			return ref, nil
		}
	}
	return "", nil
}
