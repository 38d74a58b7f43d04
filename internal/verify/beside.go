package verify

import (
	"io/fs"
	"slices"

	"plimsoll.dev/internal/verify/report"
)

// Beside is what the head holds beside the working tree: its own commit, which a
// push publishes, and what is staged, which the next commit holds (ruling L1).
// A working tree that was put back takes nothing out of either.
type Beside struct {
	Dir, Root fs.FS // from the manifest's folder, and from the repository's root
	Staged    bool  // the index; else the head commit
}

// note says which state a result is about when it is not the working tree's.
func (b *Beside) note() string {
	if b.Staged {
		return "The working tree passes. What is staged, and would be the next commit, differs from it: this result is about that."
	}
	return "The working tree passes. The head commit, which a push publishes, differs from it: this result is about that commit."
}

// advice is how both become one again.
func (b *Beside) advice() string {
	if b.Staged {
		return "Stage what the working tree has, or unstage what it has not, then verify again."
	}
	return "Commit what the working tree has, then verify again."
}

// Also judges one more state of the same head. The result is the run itself when
// that state gives it no reason to answer less, else the run about that state.
// Only a run that may merge is asked: another one answers less already.
func (r *Run) Also(b Beside) (*Run, error) {
	if !r.CanMerge {
		return r, nil
	}
	// The same files with the same bytes have the same tools.
	if side, err := r.load(b.Dir); err == nil && slices.Equal(side.Files, r.HeadSide.Files) {
		return r, nil
	}
	in := *r.Input
	in.Head, in.HeadRoot, in.Ahead, in.beside = b.Dir, b.Root, nil, &b
	other, err := Verify(in)
	if err != nil || other.CanMerge {
		return r, err
	}
	return other, nil
}

// reason is a reason that says which state it is about.
func (r *Run) reason(text string) string {
	if b := r.Input.beside; b != nil {
		return b.note() + " " + text
	}
	return text
}

// besides puts what makes both states one again before everything else that is
// to be done.
func (r *Run) besides(task *report.FixTask) *report.FixTask {
	if b := r.Input.beside; b != nil && task != nil {
		task.Instructions = append([]string{b.advice()}, task.Instructions[:min(len(task.Instructions), maxInstructions-1)]...)
	}
	return task
}
