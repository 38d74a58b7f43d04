package execution

import (
	"context"
	"errors"
	"path/filepath"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/git"
)

// verdict is a boundary result and what of it decides the way on.
type verdict struct {
	text           []byte
	control, route string
}

// judge runs the gate, in this process, on exactly the commits that are
// reported. A range that cannot be read has a result too, which asks for a
// person or for the missing history.
func (r *Runner) judge(ctx context.Context, repo *repository, t *tree, base, head string) (verdict, error) {
	dir := repo.root
	if dir == "" {
		dir = t.Path
	}
	input, err := git.Acquire(ctx, git.Request{
		Actor: r.conf.Agent, Dir: dir, Workspace: ".", Base: base, Head: head, Environ: r.conf.Environ,
	})
	var result *gate.Result
	if unread, ok := errors.AsType[*git.InputError](err); ok {
		result = gate.ErrorResult(gate.ErrorInput{
			Actor: r.conf.Agent, Mode: gate.GitRange, Failure: unread.Failure, Detail: unread.Detail,
			Workspace: ".", Base: base, Head: head, Root: dir, Config: filepath.Join(dir, "shipgate.yaml"),
		})
	} else if err != nil {
		return verdict{}, err
	} else if result, err = gate.Check(*input); err != nil {
		return verdict{}, err
	}
	v := verdict{text: result.JSON(), control: string(result.Control.State())}
	if next := result.Control.NextAction(); next != nil {
		v.route = string(next.Kind)
	}
	return v, nil
}
