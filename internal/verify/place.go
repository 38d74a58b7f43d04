package verify

import (
	"path"
	"strings"

	"plimsoll.dev/internal/verify/check"
)

// place is a path below the manifest's folder as a reader of the repository
// writes it: artifacts name places from the Git root (docs/spec/verification.md
// §1). Records of tools and capabilities keep the shorter form: their identity
// does not move with the folder.
func (r *Run) place(p string) string {
	dir := path.Dir(r.Input.ManifestPath)
	if p == "" || dir == "." {
		return p
	}
	return path.Join(dir, p)
}

// rooted gives the places of findings and of changed actions from the Git root.
// What was found in the change itself, and a baseline, have theirs already.
func (r *Run) rooted() {
	for _, list := range [][]check.Finding{r.Evaluation.Findings, r.Evaluation.Aside} {
		for i := range list {
			if s := &list[i].Source; s.Type != "git" && s.Type != "baseline" {
				short := s.Path
				s.Path = r.place(short)
				s.Ref, s.Location = moved(s.Ref, short, s.Path), moved(s.Location, short, s.Path)
			}
		}
	}
	for i := range r.Actions.Rows {
		r.Actions.Rows[i].SourcePath = r.place(r.Actions.Rows[i].SourcePath)
	}
}

// target gives the file of a patch from the Git root: report.json alone names a
// folder of the machine, for those who apply patches (§1). It is nil when no
// patches are wanted.
func (r *Run) target() func(string) string {
	if !r.Input.Options.Patches {
		return nil
	}
	return func(file string) string {
		return r.place(strings.TrimPrefix(file, strings.TrimSuffix(r.Input.Dir, "/")+"/"))
	}
}

// moved is a text that begins with a path, with another path in its place.
func moved(s, from, to string) string {
	rest, ok := strings.CutPrefix(s, from)
	if !ok || from == "" || rest != "" && rest[0] != ':' && rest[0] != '#' {
		return s
	}
	return to + rest
}
