package shipgate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/cli/verification"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/git"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/manifest"
)

// workplace is a folder to judge, and the repository around it; top is "" where
// there is none.
type workplace struct{ dir, top string }

// workplaces are the folders to judge: those that the event names, and the
// project that the host names, because an agent may have gone elsewhere. Each is
// judged from the nearest folder upwards that has a manifest, else from the top of
// its repository: below, an adopted repository would look as if it were none.
// A folder outside every repository counts only when there is no other, and is
// then a result of its own.
//
// A repository that lies where another one has files of its own does not hide them:
// both are judged. One command makes such a repository.
func workplaces(ctx context.Context, env Env, e *hook.Event) ([]workplace, error) {
	dirs := e.Roots
	if name := e.Host.ProjectVariable(); name != "" {
		if project := env.lookup(name); filepath.IsAbs(project) {
			dirs = append(dirs[:len(dirs):len(dirs)], project)
		}
	}
	var inside, outside []workplace
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			return nil, errors.New("the event names a folder that is not absolute here")
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, errors.New("the event names a folder that does not exist")
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, errors.New("the event names a folder that is none")
		}
		w := workplaceOf(dir)
		switch {
		case w.top == "":
			outside = append(outside, w)
		case !slices.Contains(inside, w):
			inside = append(inside, w)
		}
		for w.top != "" {
			outer := workplaceOf(filepath.Dir(w.top))
			if outer.top == "" || outer.top == w.top {
				break
			}
			hidden, err := filepath.Rel(outer.top, w.top)
			if err != nil {
				return nil, errors.New("the folders around the repository cannot be told apart")
			}
			// One that git cannot read says so when it is judged.
			tracked, err := git.TracksBelow(ctx, outer.top, filepath.ToSlash(hidden), env.Environ)
			if (tracked || err != nil) && !slices.Contains(inside, outer) {
				inside = append(inside, outer)
			}
			w = outer
		}
	}
	if len(inside) > 0 {
		return inside, nil
	}
	return outside[:1], nil
}

// workplaceOf finds the manifest and the repository of a folder. It only says
// which folders belong together; what a repository is, git says.
func workplaceOf(dir string) workplace {
	w := workplace{dir: dir}
	adopted := false
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, manifest.DefaultName)); err == nil && !adopted {
			w.dir, adopted = at, true
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			w.top = at
			if !adopted {
				w.dir = at
			}
			return w
		}
		if filepath.Dir(at) == at {
			return workplace{dir: dir}
		}
	}
}

// judgeFolder is what the agent is owed or owes for the change in one folder:
// what check says, and where that is only that verification is owed, what the
// verification says. Nothing is written.
//
// Agents commit what they did before they stop, and a check of the working tree
// begins at the last commit. So what is committed since the usual base is judged
// too, unless a verification did, which begins there.
func judgeFolder(ctx context.Context, env Env, host hook.Host, dir string) hook.Finding {
	env.Dir = dir
	uncommitted, verified := judgeChange(ctx, env, host, dir, "")
	if verified {
		return uncommitted
	}
	base, err := git.UsualBase(ctx, dir, env.Environ)
	switch unread, known := errors.AsType[*git.InputError](err); {
	case known && unread.Failure == gate.NoRepository:
		return uncommitted // it says so
	case err != nil:
		return hook.Worse(uncommitted, hook.Failed("git or the check itself did not work"))
	case base == "":
		return uncommitted
	}
	committed, _ := judgeChange(ctx, env, host, dir, base)
	return hook.Worse(uncommitted, committed)
}

// judgeChange judges what is not committed, or with a base what is since then;
// verified says that the finding is of a verification.
func judgeChange(ctx context.Context, env Env, host hook.Host, dir, base string) (found hook.Finding, verified bool) {
	given := []string{"agent", "workspace"}
	f := &checkFlags{agent: string(host), workspace: dir, base: base}
	if base != "" {
		f.head, given = "HEAD", append(given, "base", "head")
	}
	f.given = func(flag string) bool { return slices.Contains(given, flag) }
	input, err := git.Acquire(ctx, git.Request{Actor: gate.Actor(host), Dir: dir, Workspace: dir, Base: f.base, Head: f.head, Environ: env.Environ})
	if ctx.Err() != nil {
		return hook.Failed("there was no time left"), false
	}
	var result *gate.Result
	unread, acquired := errors.AsType[*git.InputError](err)
	switch {
	case err == nil:
		result, err = gate.Check(*input)
	case acquired && unread.Failure != gate.GitFailed:
		result, err = gate.ErrorResult(f.errorInput(env, gate.Actor(host), unread)), nil
	}
	if err != nil {
		return hook.Failed("git or the check itself did not work"), false
	}
	if next := result.Control.NextAction(); next != nil && next.Kind == control.Verify {
		return verifyFolder(ctx, env, dir), true
	}
	violations, err := json.Marshal(result.Violations)
	if err != nil {
		return hook.Failed("an internal failure"), false
	}
	var places []string
	for i := range result.Violations {
		if v := &result.Violations[i]; v.Path != "" && (v.Action == rule.RequireReview || v.Action == rule.Block) {
			places = append(places, v.Path)
		}
	}
	return hook.Judge(hook.Result{Control: &result.Control, Repair: result.SuggestedFixes, Places: places, Also: located(dir, violations)}), false
}

// verifyFolder is what verification says. It is run here, as the check orders:
// the word of an agent that it ran one, or a file that lies in the workspace,
// would be no evidence.
func verifyFolder(ctx context.Context, env Env, dir string) hook.Finding {
	f := &verifyFlags{workspace: dir, out: reportsFolder, style: "capability-review", given: func(string) bool { return false }}
	if env.lookup("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
	pair, err := f.open(ctx, env, f.readAhead(env))
	if err != nil {
		return hook.Failed("the verification that is owed did not work")
	}
	defer pair.Close()
	in, err := f.input(env, pair)
	if err != nil {
		return hook.Failed("the verification that is owed did not work")
	}
	run, err := verification.Judge(ctx, in, pair)
	if err != nil || ctx.Err() != nil {
		return hook.Failed("the verification that is owed did not work")
	}
	r := hook.Result{Control: &run.Control, Also: located(dir, nil)}
	if run.Fix != nil && run.Fix.Safe {
		r.Repair = run.Fix.Instructions
	}
	if run.Decision != nil {
		for _, list := range [][]decision.Item{run.Decision.Blockers, run.Decision.ReviewItems} {
			for i := range list {
				if at := list[i].Source; at != nil && at.Path != "" {
					r.Places = append(r.Places, at.Path)
				}
			}
		}
		decided, err := json.Marshal(run.Decision)
		if err != nil {
			return hook.Failed("an internal failure")
		}
		r.Also = located(dir, decided)
	}
	return hook.Judge(r)
}

// located makes a result one of its folder: a session may work in several that come to
// the same.
func located(dir string, result []byte) []byte {
	return append(append([]byte(dir), 0), result...)
}
