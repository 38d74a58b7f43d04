package shipgate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"

	"plimsoll.dev/internal/adopt/hook"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/git"
)

// workplace is a folder in which the agent works, and the repository around it;
// top is "" where there is none.
type workplace struct{ dir, top string }

// workplaces are the folders to judge: those of the event, and the project that
// the host names, because an agent may have gone elsewhere; one for each
// repository. A folder outside every repository counts only when there is no
// other, and is then a result of its own.
func workplaces(env Env, e *hook.Event) ([]workplace, error) {
	dirs := e.Roots
	if name := e.Host.ProjectVariable(); name != "" {
		if project := env.lookup(name); filepath.IsAbs(project) {
			dirs = append(dirs[:len(dirs):len(dirs)], project)
		}
	}
	var inside, outside []workplace
	seen := map[string]bool{}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			return nil, errors.New("the event names a folder that is not absolute here")
		}
		dir = filepath.Clean(dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, errors.New("the event names a folder that does not exist")
		}
		w := workplace{dir: dir, top: repositoryOf(dir)}
		switch {
		case w.top == "":
			outside = append(outside, w)
		case !seen[w.top]:
			seen[w.top] = true
			inside = append(inside, w)
		}
	}
	if len(inside) > 0 {
		return inside, nil
	}
	return outside[:1], nil
}

// repositoryOf is the nearest folder from dir upwards that has a .git, "" when
// there is none. It only says which folders belong together; what a repository
// is, git says.
func repositoryOf(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// judgeFolder is what the agent is owed or owes for the change in one folder:
// what check says, and where that is only that verification is owed, what the
// verification says. Nothing is written.
func judgeFolder(ctx context.Context, env Env, host hook.Host, dir string) hook.Finding {
	env.Dir = dir
	f := &checkFlags{agent: string(host), workspace: dir, given: func(flag string) bool { return flag == "agent" || flag == "workspace" }}
	input, err := git.Acquire(ctx, git.Request{Actor: gate.Actor(host), Dir: dir, Workspace: dir, Environ: env.Environ})
	if ctx.Err() != nil {
		return hook.Failed("there was no time left")
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
		return hook.Failed("git or the check itself did not work")
	}
	if next := result.Control.NextAction(); next != nil && next.Kind == control.Verify {
		return verifyFolder(ctx, env, dir)
	}
	violations, err := json.Marshal(result.Violations)
	if err != nil {
		return hook.Failed("an internal failure")
	}
	var places []string
	for i := range result.Violations {
		if v := &result.Violations[i]; v.Path != "" && (v.Action == rule.RequireReview || v.Action == rule.Block) {
			places = append(places, v.Path)
		}
	}
	return hook.Judge(hook.Result{Control: &result.Control, Repair: result.SuggestedFixes, Places: places, Also: violations})
}

// verifyFolder is what verification says. It is run here, as the check orders:
// the word of an agent that it ran one, or a file that lies in the workspace,
// would be no evidence.
func verifyFolder(ctx context.Context, env Env, dir string) hook.Finding {
	f := &verifyFlags{workspace: dir, out: reportsFolder, style: "capability-review", given: func(string) bool { return false }}
	if env.lookup("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
	pair, err := f.open(ctx, env)
	if err != nil {
		return hook.Failed("the verification that is owed did not work")
	}
	defer pair.Close()
	in, err := f.input(env, pair)
	if err != nil {
		return hook.Failed("the verification that is owed did not work")
	}
	run, err := judge(ctx, in, pair)
	if err != nil || ctx.Err() != nil {
		return hook.Failed("the verification that is owed did not work")
	}
	r := hook.Result{Control: &run.Control}
	if run.Fix != nil && run.Fix.Safe {
		r.Repair = run.Fix.Instructions
	}
	if run.Decision != nil {
		if r.Also, err = json.Marshal(run.Decision); err != nil {
			return hook.Failed("an internal failure")
		}
	}
	return hook.Judge(r)
}
