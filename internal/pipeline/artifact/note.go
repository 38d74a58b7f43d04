package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Note is the data of a release note, named as its schema names it.
type Note struct {
	Intent struct {
		ID       contract.ID       `json:"id"`
		Version  int64             `json:"version"`
		Text     string            `json:"text"`
		Creator  contract.ActorID  `json:"creator"`
		Priority contract.Priority `json:"priority"`
	} `json:"intent"`
	TaskSeed   Reference `json:"taskSeed"`
	Acceptance struct {
		Reference
		Status contract.Status `json:"status"`
	} `json:"acceptance"`
	Gate struct {
		Reference
		FinalDecision  contract.FinalDecision `json:"finalDecision"`
		ApprovalDigest string                 `json:"approvalDigest"`
	} `json:"gate"`
	Risk struct {
		Level   contract.Level `json:"level"`
		Reasons []string       `json:"reasons"` // as risk.Assess sorts them
		Signals []NoteSignal   `json:"signals,omitempty"`
	} `json:"risk"`
	Commits struct {
		Base string `json:"base"`
		Head string `json:"head"`
	} `json:"commits"`
	DiffHash  string         `json:"diffHash"`
	Files     []File         `json:"files"`
	Approvals []NoteApproval `json:"approvals"`
	Reviews   []NoteReview   `json:"reviews"`
	Checks    []NoteCheck    `json:"checks"`
	Evidence  []contract.ID  `json:"evidence"`
	WrittenBy struct {
		ActorID contract.ActorID `json:"actorId"`
		Role    contract.Role    `json:"role"`
	} `json:"writtenBy"`
	At string `json:"at"`

	CorrelationID string        `json:"correlationId,omitempty"`
	Request       *NoteRequest  `json:"request,omitempty"` // nil where nobody asked through a circle
	Boundary      *NoteBoundary `json:"boundary,omitempty"`
	Runs          []NoteRun     `json:"runs,omitempty"`
}

// Reference is a contract with its version.
type Reference struct {
	ID      contract.ID `json:"id"`
	Version int64       `json:"version"`
}

// File is one changed file.
type File struct {
	Change string `json:"change"`
	Path   string `json:"path"`
}

// The changes a file can have had.
const (
	Added    = "added"
	Modified = "modified"
	Deleted  = "deleted"
	Renamed  = "renamed"
)

// Check says whether f is a file that has changed in one of the four ways.
func (f File) Check() error {
	switch f.Change {
	case Added, Modified, Deleted, Renamed:
	default:
		return fmt.Errorf("%q is no change of a file", f.Change)
	}
	if f.Path == "" || !utf8.ValidString(f.Path) || strings.ContainsRune(f.Path, 0) {
		return fmt.Errorf("%q is no path", f.Path)
	}
	return nil
}

// NoteApproval is an approval with the digest it was given for, nil for an
// automatic one.
type NoteApproval struct {
	Role      contract.Role     `json:"role"`
	ActorID   contract.ActorID  `json:"actorId"`
	Decision  contract.Decision `json:"decision"`
	DecidedAt string            `json:"decidedAt"`
	Digest    *string           `json:"digest"`

	BaseCommit   string `json:"baseCommit,omitempty"` // recorded with the digest
	HeadCommit   string `json:"headCommit,omitempty"`
	SelfApproved bool   `json:"selfApproved,omitempty"`
}

// NoteReview is one review.
type NoteReview struct {
	Role       contract.Role    `json:"role"`
	Reviewer   contract.ActorID `json:"reviewer"`
	Verdict    string           `json:"verdict"`
	At         string           `json:"at"`
	HeadCommit string           `json:"headCommit"`
}

// NoteCheck is how one criterion fared.
type NoteCheck struct {
	Criterion string `json:"criterion"`
	Passed    bool   `json:"passed"`
	Detail    string `json:"detail"`
}

// Sort brings files and Evidence into the order the note has them in: paths by
// code point, ids by number. Approvals, reviews and checks keep theirs.
func (n *Note) Sort() {
	slices.SortFunc(n.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(n.Evidence, func(a, b contract.ID) int {
		if c := len(number(a)) - len(number(b)); c != 0 {
			return c
		}
		return strings.Compare(string(a), string(b))
	})
}

func number(id contract.ID) string {
	_, digits, _ := strings.Cut(string(id), "-")
	return strings.TrimLeft(digits, "0")
}

// ReadNote reads the data of a note strictly; the error is every fault at once.
func ReadNote(text []byte) (*Note, error) {
	v, err := contract.Parse(text)
	if err != nil {
		return nil, contract.Unreadable(err)
	}
	if faults := Validate(ReleaseNoteForm, v); len(faults) > 0 {
		return nil, faults
	}
	n := &Note{}
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("the schema of the release note admits more than its type: %w", err)
	}
	return n, nil
}

// Markdown renders the note. Every free text is escaped, so that a request
// cannot write a heading, a table or an approval into it.
func (n *Note) Markdown() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# Release note: %s version %d\n", n.Intent.ID, n.Intent.Version)
	for _, line := range lines(n.Intent.Text) {
		p("%s", strings.TrimRight("> "+line, " "))
	}
	p("\n- Asked by: %s (priority %s)", escape(string(n.Intent.Creator)), n.Intent.Priority)
	n.writePath(p)
	p("- Task: %s version %d", n.TaskSeed.ID, n.TaskSeed.Version)
	p("- Acceptance: %s version %d, %s", n.Acceptance.ID, n.Acceptance.Version, n.Acceptance.Status)
	p("- Gate: %s version %d, %s", n.Gate.ID, n.Gate.Version, n.Gate.FinalDecision)
	p("- Approval digest: %s", n.Gate.ApprovalDigest)
	p("- Risk: %s", n.Risk.Level)
	p("- Commits: %s..%s", escape(n.Commits.Base), escape(n.Commits.Head))
	p("- Diff: %s", escape(n.DiffHash))
	section(&b, "Why this risk", n.Risk.Reasons, escape)
	n.writeRisk(&b)
	section(&b, "Changed files", n.Files, func(f File) string { return f.Change + " " + escape(f.Path) })
	section(&b, "Approvals", n.Approvals, func(a NoteApproval) string {
		digest := "none"
		if a.Digest != nil {
			digest = *a.Digest
		}
		return fmt.Sprintf("%s %s %s %s %s", a.Role, escape(string(a.ActorID)), a.Decision, moment(a.DecidedAt), digest) + a.agreedTo()
	})
	section(&b, "Reviews", n.Reviews, func(r NoteReview) string {
		return fmt.Sprintf("%s %s %s %s %s", r.Role, escape(string(r.Reviewer)), r.Verdict, moment(r.At), escape(r.HeadCommit))
	})
	section(&b, "Checks", n.Checks, func(c NoteCheck) string {
		verdict := "failed"
		if c.Passed {
			verdict = "passed"
		}
		return fmt.Sprintf("%s: %s (%s)", verdict, escape(c.Criterion), escape(c.Detail))
	})
	n.writeRuns(&b)
	section(&b, "Evidence", n.Evidence, func(id contract.ID) string { return string(id) })
	p("\nWritten by %s (%s) at %s", escape(string(n.WrittenBy.ActorID)), n.WrittenBy.Role, moment(n.At))
	return b.Bytes()
}

func section[T any](b *bytes.Buffer, title string, list []T, line func(T) string) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if len(list) == 0 {
		b.WriteString("- none\n")
	}
	for _, e := range list {
		b.WriteString("- " + line(e) + "\n")
	}
}

// lines splits the intent's text at its line ends, each line escaped by itself.
func lines(text string) []string {
	list := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range list {
		list[i] = escape(line)
	}
	return list
}

// escape makes one line of plain text of anything: runs of white space and
// control characters are one blank, the ends are trimmed, and what Markdown
// could read gets a backslash.
func escape(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.Is(unicode.White_Space, r) || r < 0x20 || r >= 0x7f && r <= 0x9f
	})
	var b strings.Builder
	for _, r := range strings.Join(words, " ") {
		if strings.ContainsRune("\\`*_[]<>#|", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// moment writes a time as this system does, whatever offset it came with.
func moment(text string) string {
	ts, ok := contract.ParseTimestamp(text)
	if !ok {
		return escape(text)
	}
	return contract.At(ts.Time()).String()
}

const notesHeading = "\n## Notes\n"

// CheckNote says whether stored is the note of n: the rendered bytes, and after
// them at most a section of a person's own. The hash is the outputHash of the
// Publish Evidence.
func CheckNote(n *Note, stored []byte) (outputHash string, err error) {
	rest, begins := bytes.CutPrefix(stored, n.Markdown())
	if !begins || len(rest) > 0 && !bytes.HasPrefix(rest, []byte(notesHeading)) {
		return "", refusal.New(refusal.PhaseEvidenceMissing, "the stored release note is not the one of this chain")
	}
	return contract.Hash(stored), nil
}
