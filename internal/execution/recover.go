package execution

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline/lock"
)

// Recover finishes what earlier runners could not: it delivers the accounts that
// found no service, and makes the account of a run whose runner died. Runs that
// somebody is working on are left alone. A service that does not answer is no
// error; the Result says Spooled.
func (r *Runner) Recover(ctx context.Context) ([]*Result, error) {
	names, err := runs(r.conf.State)
	if err != nil {
		return nil, fault.E("execution.Recover", fault.Unavailable, "read the folder for runs: "+err.Error(), err)
	}
	var list []*Result
	patient := *r
	for _, name := range names {
		res, err := patient.recover(ctx, name)
		if err != nil {
			r.note("run %s is left as it is: %v", name, err)
			continue
		}
		if res != nil {
			list = append(list, res)
			if res.Status == Spooled {
				patient.conf.Patience = 0 // one wait for a service that is away is enough
			}
		}
	}
	return list, nil
}

// unknownCommit stands for the base of a run that died before it had one, in a
// repository that is gone. The schema wants a text of this length or more.
const unknownCommit = "unknown"

// recover is Recover of one folder; nil when there is nothing to do.
func (r *Runner) recover(ctx context.Context, name string) (*Result, error) {
	f, err := take(r.conf.State, name)
	if errors.Is(err, errHeld) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { f.release() }()
	switch f.Stage {
	case claiming:
		// A claim that may have arrived is taken up by Run under the same key.
		// After the lock's time the service has given the run up by itself.
		if r.conf.Now().Sub(f.Since) >= lock.TTL {
			return nil, f.forget()
		}
		return nil, nil
	case kept, refused:
		return nil, nil
	case working, delivering:
	}
	// A repository that is gone keeps no account from being made.
	repo, err := openRepository(ctx, f.Repo, r.conf.Environ)
	if err != nil {
		r.note("the repository of run %s is gone: %v", f.Run, err)
		repo = nil
	}
	if f.Stage == working {
		r.note("run %s has lost its runner", f.Ticket.ExecutionID)
		killMarked("PLIMSOLL_RUN=" + f.Run)
		if f.Tree == nil {
			f.Tree = f.unrecorded()
		}
		if f.Base == "" {
			f.Base = unknownCommit
			if repo != nil {
				if head, err := repo.commit(ctx, "HEAD"); err == nil {
					f.Base = head
				}
			}
		}
		e := ending{-1, "the runner ended without an account"}
		if err := r.account(ctx, f, repo, e, Report{}, nil, f.lastSign()); err != nil {
			return nil, err
		}
	}
	return r.deliver(ctx, f, repo)
}

// unrecorded is a worktree that was made just before the runner died, when the
// journal had no word of it yet.
func (f *folder) unrecorded() *tree {
	path := f.path(treeDir)
	folder, err := pointed(filepath.Join(path, ".git"), path, "gitdir: ")
	if err != nil {
		return nil
	}
	return &tree{Path: path, GitDir: folder, Branch: "plimsoll/" + string(f.Task) + "/" + f.Run}
}

// lastSign is when a run was last seen alive: the last output, or its start.
func (f *folder) lastSign() time.Time {
	at := f.Started
	if info, err := os.Stat(f.path(logFile)); err == nil && info.ModTime().After(at) {
		at = info.ModTime()
	}
	return at
}

// Kept is the folders of runs that are over, by name.
func (r *Runner) Kept() ([]Kept, error) {
	names, err := runs(r.conf.State)
	if err != nil {
		return nil, fault.E("execution.Kept", fault.Unavailable, "read the folder for runs: "+err.Error(), err)
	}
	list := []Kept{}
	for _, name := range names {
		j, err := readJournal(filepath.Join(r.conf.State, name, journalFile))
		if err != nil || j.Stage != kept && j.Stage != refused {
			continue
		}
		k := Kept{Run: j.Run, ExecutionID: j.Ticket.ExecutionID, Task: j.Task, Phase: j.Phase, Status: j.Status, Reason: j.Reason, Since: j.Since}
		if j.Tree != nil {
			k.Branch, k.Worktree = j.Tree.Branch, j.Tree.Path
		}
		list = append(list, k)
	}
	return list, nil
}

// Discard removes the folder of a run that is over, with its worktree. The
// branch stays.
func (r *Runner) Discard(ctx context.Context, run string) error {
	const op = "execution.Discard"
	list, err := r.Kept()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(k Kept) bool { return k.Run == run }) {
		return fault.E(op, fault.NotFound, "no run "+run+" is kept", nil)
	}
	f, err := take(r.conf.State, run)
	if err != nil {
		return fault.E(op, fault.Conflict, "run "+run+": "+err.Error(), err)
	}
	defer func() { f.release() }()
	if f.Tree != nil {
		if repo, err := openRepository(ctx, f.Repo, r.conf.Environ); err == nil {
			if err := repo.remove(ctx, f.Tree); err != nil {
				return fault.E(op, fault.Unavailable, "remove the worktree of run "+run, err)
			}
		}
	}
	if err := f.forget(); err != nil {
		return fault.E(op, fault.Unavailable, "remove the folder of run "+run, err)
	}
	return nil
}
