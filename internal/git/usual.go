package git

import (
	"context"
	"errors"
	"strings"

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

// TracksBelow says whether the commit that is checked out in the repository at
// root has a folder of files of its own at a path in it. A submodule is none.
func TracksBelow(ctx context.Context, root, name string, environ []string) (bool, error) {
	if strings.ContainsAny(name, "\x00\r\n") {
		return true, nil // it cannot be asked for
	}
	repo, err := open(ctx, root, environ)
	if err != nil {
		return false, err
	}
	defer repo.close()
	batch, err := repo.objects(ctx)
	if err != nil {
		return false, err
	}
	defer batch.close()
	obj, err := batch.get("HEAD:"+name, 0)
	if errors.Is(err, errObjectMissing) {
		return false, nil
	}
	return err == nil && obj.kind == "tree", err
}
