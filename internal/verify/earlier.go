package verify

import (
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
)

// Earlier is a report of an earlier run whose actions stand for a base that
// cannot be read (docs/spec/verification.md §9.1, --diff-from). It says what was
// there, never what the gate asked for: the policy of the base stays unknown.
type Earlier struct {
	path    string
	sha256  string
	size    int64
	actions []*effect.Action
}

// ReadEarlier reads a report.json. path is the file as artifacts name it. The
// error is a fault of kind Invalid.
func ReadEarlier(path string, text []byte) (*Earlier, error) {
	actions, err := delta.ReadActions(text)
	if err != nil {
		return nil, err
	}
	return &Earlier{path: path, sha256: digest(text), size: int64(len(text)), actions: actions}, nil
}

// compareEarlier compares with the earlier report where the base was not read.
func (r *Run) compareEarlier() {
	e := r.Input.Options.Earlier
	if e == nil {
		return
	}
	if r.BaseSide != nil {
		r.BaseNotes = append(r.BaseNotes, "The base itself was read; the earlier report is not needed.")
		return
	}
	r.Actions = delta.DiffReported(e.actions, r.HeadSide.Surface)
	r.Subject.Diff = r.Actions
	r.BaseStatus = "diff_from_provided"
	r.BaseNotes = append(r.BaseNotes, "The actions of the base are those of an earlier report, "+e.path+". Its policy is not known.")
}
