package verify

import (
	"cmp"
	"path"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
)

// making is an artifact whose text is still to be made.
type making struct {
	Artifact
	text func() (canonical.Doc, error)
}

func textOf(text []byte, err error) (canonical.Doc, error) { return canonical.Text(text), err }

// make makes artifacts that need nothing of each other, and takes their digests
// at once. What takes longest comes first.
func (a *artifacts) make(list []*making) error {
	failed := make([]error, len(list))
	a.run.Input.Each.Do(len(list), func(i int) {
		m := list[i]
		if m.Doc, failed[i] = m.text(); failed[i] == nil {
			m.sha256 = m.Doc.SHA256()
		}
	})
	return cmp.Or(failed...)
}

func artifactsOf(list []*making) []Artifact {
	all := make([]Artifact, len(list))
	for i, m := range list {
		all[i] = m.Artifact
	}
	return all
}

// put lists artifacts that are made.
func (a *artifacts) put(list []*making) {
	for _, m := range list {
		a.list = append(a.list, m.Artifact)
	}
}

// locks are the capability locks of both sides (§11), the head first.
type locks struct {
	locks []*delta.Lock
	files []*making
}

// The files of what both sides may do, and of what is different.
var (
	lockFiles = []Artifact{
		{Name: "capabilities.lock.json", Key: "capability_lock_json"}, {Name: "base.capabilities.lock.json", Key: "base_capability_lock_json"},
	}
	lockDiffFiles = []Artifact{
		{Name: "capability-lock-diff.json", Key: "capability_lock_diff_json"}, {Name: "capability-lock-diff.md", Key: "capability_lock_diff_markdown"},
	}
)

// describe has the capabilities of both sides ready, which the locks, the report
// and the result of the unit name.
func (a *artifacts) describe() {
	r := a.run
	var before *effect.Surface
	if r.BaseSide != nil {
		before = r.BaseSide.Surface
	}
	r.facts, a.base = delta.FactsOf(r.Input.Each, r.HeadSide.Surface, before)
	a.in.Facts = r.facts
}

// locks makes the locks of both sides; the base has none where there is no base.
func (a *artifacts) locks() *locks {
	r := a.run
	sides := []*Side{r.HeadSide}
	if r.BaseSide != nil {
		sides = append(sides, r.BaseSide)
	}
	l := &locks{locks: make([]*delta.Lock, len(sides))}
	for i, facts := range [][]delta.Fact{r.facts, a.base}[:len(sides)] {
		l.files = append(l.files, &making{Artifact: lockFiles[i], text: func() (canonical.Doc, error) {
			lock, err := delta.NewLockOf(sides[i].Surface, facts, delta.Meta{
				ConfigPath: r.Input.ManifestPath, ManifestDir: path.Dir(r.Input.ManifestPath), CLIVersion: gate.ToolVersion,
			})
			if err != nil {
				return canonical.Doc{}, err
			}
			doc, err := lock.Doc(r.Input.Each)
			lock.Path = path.Join(a.out, lockFiles[i].Name)
			l.locks[i] = lock
			return doc, err
		}})
	}
	return l
}

// lockNames are the artifacts that compared lists.
func (a *artifacts) lockNames() []Artifact {
	if a.run.BaseSide == nil {
		return lockFiles[:1]
	}
	return append(lockFiles[:2:2], lockDiffFiles...)
}

// compared lists the locks and, where there are two, how they differ.
func (a *artifacts) compared(l *locks) error {
	a.put(l.files)
	if len(l.locks) == 1 {
		return nil
	}
	diff, err := delta.DiffLocks(l.locks[1], l.locks[0])
	if err != nil {
		return err
	}
	text, err := diff.JSON()
	if err := a.add(lockDiffFiles[0].Name, lockDiffFiles[0].Key, text, err); err != nil {
		return err
	}
	return a.add(lockDiffFiles[1].Name, lockDiffFiles[1].Key, diff.Markdown(), nil)
}
