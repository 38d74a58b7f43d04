package execution

import (
	"context"

	"plimsoll.dev/internal/gate"
)

// Range is the commits a run reports, as the gate is asked about them.
type Range struct {
	Actor      gate.Actor
	Dir        string // a working tree of the repository
	Base, Head string
	Environ    []string
}

// verdict is a boundary result and what of it decides the way on.
type verdict struct {
	text           []byte
	control, route string
}

// reported is the commits of a run.
func (r *Runner) reported(repo *repository, t *tree, base, head string) Range {
	dir := repo.root
	if dir == "" {
		dir = t.Path // a bare repository has no other
	}
	return Range{Actor: r.conf.Agent, Dir: dir, Base: base, Head: head, Environ: r.conf.Environ}
}

// judge runs the gate, in this process, on exactly the commits that are
// reported.
func (r *Runner) judge(ctx context.Context, repo *repository, t *tree, base, head string) (verdict, error) {
	result, err := r.conf.Judge(ctx, r.reported(repo, t, base, head))
	if err != nil {
		return verdict{}, err
	}
	v := verdict{text: result.JSON(), control: string(result.Control.State())}
	if next := result.Control.NextAction(); next != nil {
		v.route = string(next.Kind)
	}
	return v, nil
}
