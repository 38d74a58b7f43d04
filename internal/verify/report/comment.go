package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
)

// Marker is the hidden first line by which the comment is found again and
// updated in place (§21.3).
const Marker = "<!-- agents-shipgate:pr-comment -->"

// MaxComment bounds the comment in bytes: what a forge takes, with room to
// spare.
const MaxComment = 60_000

// Style is what the comment puts first.
type Style string

// The styles of --pr-comment-style.
const (
	CapabilityFirst Style = "capability-review"
	FindingsFirst   Style = "findings"
)

// Comment is the bytes of pr-comment.md: a part for people and a part for
// agents. in is nil when nothing was decided; the verifier then says why.
func Comment(in *Input, v *Verifier, style Style) []byte {
	agents := forAgents(v)
	people := forPeople(in, v, style)
	if room := MaxComment - len(agents); len(people) > room {
		people = cut(people, room)
	}
	return []byte(people + agents)
}

// cut keeps whole lines.
func cut(s string, room int) string {
	const note = "\n\nThe rest is in report\\.md\\.\n"
	s = s[:max(room-len(note), 0)]
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i]
	}
	return s + note
}

func forPeople(in *Input, v *Verifier, style Style) string {
	if in == nil || in.Decision == nil {
		return undecided(v)
	}
	w := &writer{in: in}
	d := in.Decision
	w.line("%s", Marker)
	w.line("### Release gate for agents")
	w.line("")
	w.verdict()
	w.unread(v)
	c := ChangeOf(in)
	if style == FindingsFirst {
		w.items()
		w.changes(&c, maxRows)
	} else {
		w.changes(&c, maxRows)
		w.items()
	}
	for _, n := range v.CapabilityReview.Notes {
		w.line("")
		w.line("%s", plain(n, sentenceLimit))
	}
	w.roots()
	w.change()
	if d.Decision == decision.InsufficientEvidence || len(d.Coverage.Gaps) > 0 {
		w.gaps(maxRows)
	}
	w.disclaimer()
	return w.b.String()
}

// undecided is the comment of a run without a decision.
func undecided(v *Verifier) string {
	w := &writer{}
	w.line("%s", Marker)
	w.line("### Release gate for agents")
	w.line("")
	w.line("**Nothing was decided.** %s", plain(v.Control.Reason(), sentenceLimit))
	w.unread(v)
	for _, n := range v.BaseNotes {
		w.line("- %s", plain(n, sentenceLimit))
	}
	w.disclaimer()
	return w.b.String()
}

// unread says what of the change was not read; nothing when all of it was.
func (w *writer) unread(v *Verifier) {
	if v.DiffStatus.Reason != "" {
		w.line("")
		w.line("The change was not read in full: %s. %s", plain(strings.ReplaceAll(string(v.DiffStatus.Reason), "_", " "), nameLimit),
			plain(string(v.DiffStatus.Remediation), sentenceLimit))
	}
}

// items lists the first blockers and review items, each with its place.
func (w *writer) items() {
	d := w.in.Decision
	byID := make(map[string]*check.Finding, len(w.in.Findings))
	for i := range w.in.Findings {
		byID[w.in.Findings[i].ID] = &w.in.Findings[i]
	}
	for _, part := range []struct {
		title string
		items []decision.Item
	}{{"What blocks", d.Blockers}, {"What a person looks at", d.ReviewItems}} {
		if !w.section(part.title, len(part.items)) {
			continue
		}
		n := maxRows
		for i := range part.items {
			if n--; n < 0 {
				continue
			}
			if f := byID[part.items[i].ID]; f != nil {
				w.finding(f)
			}
		}
		w.more(n)
	}
}

// change says what would change the verdict: one thing, the first that decided.
func (w *writer) change() {
	d := w.in.Decision
	if d.Decision == decision.Passed {
		return
	}
	w.section("What would change this", 1)
	switch {
	case len(d.Blockers) > 0:
		w.line("%s, and then every other blocker\\. A waiver or a suppression does not do it by itself\\.", closing(w.in, &d.Blockers[0]))
	case d.Decision == decision.InsufficientEvidence && len(d.Coverage.Gaps) > 0:
		g := &d.Coverage.Gaps[0]
		w.line("The answer of a person: %s", plain(g.Next.Expects, sentenceLimit))
	case len(d.ReviewItems) > 0:
		w.line("%s, or a person decides that it stays\\.", closing(w.in, &d.ReviewItems[0]))
	default:
		w.line("A person looks at what is named above\\.")
	}
}

func closing(in *Input, item *decision.Item) string {
	for i := range in.Findings {
		if f := &in.Findings[i]; f.ID == item.ID && f.Recommendation != "" {
			return code(item.CheckID, nameLimit) + ": " + strings.TrimSuffix(plain(f.Recommendation, sentenceLimit), "\\.")
		}
	}
	return code(item.CheckID, nameLimit) + " is closed"
}

// agentPart is what an agent reads: nothing in it is prose to be interpreted.
type agentPart struct {
	SchemaVersion string          `json:"verifier_schema_version"`
	Decision      Text            `json:"decision"`
	MergeVerdict  string          `json:"merge_verdict"`
	Control       control.Control `json:"control"`
	FixTask       *FixTask        `json:"fix_task"`
	ForbiddenEdit []string        `json:"forbidden_file_edits"`
	Verifier      Text            `json:"verifier_json"`
	Truncated     bool            `json:"truncated"`
}

// maxAgents bounds the part for agents in bytes.
const maxAgents = 24_000

// minRepair is less than the names of a repair's members take.
const minRepair = 100

// forAgents is one fenced block of JSON. What does not fit is left out and said
// to be: verifier.json has it.
func forAgents(v *Verifier) string {
	p := agentPart{
		SchemaVersion: v.SchemaVersion, Decision: v.Decision, MergeVerdict: v.MergeVerdict, Control: v.Control,
		ForbiddenEdit: list(v.ForbiddenEdits), Verifier: Text(v.Artifacts["verifier_json"]),
	}
	text := ""
	if t := v.FixTask; t == nil || (len(t.Allowed)+len(t.Forbidden))*minRepair <= maxAgents {
		p.FixTask = masked(t)
		text = fenced(p)
	}
	if (text == "" || len(text) > maxAgents) && v.FixTask != nil {
		t := *v.FixTask
		t.Patches, t.Allowed, t.Forbidden, p.Truncated = nil, nil, nil, true
		p.FixTask = masked(&t)
		text = fenced(p)
	}
	if len(text) > maxAgents {
		p.FixTask, p.ForbiddenEdit, p.Truncated = nil, []string{}, true
		text = fenced(p)
	}
	return "\n<details><summary>For agents</summary>\n\n" + text + "\n</details>\n"
}

// masked is a fix task without secrets in its sentences and patches.
func masked(t *FixTask) *FixTask {
	if t == nil {
		return nil
	}
	c := *t
	c.Instructions = make([]string, len(t.Instructions))
	for i, s := range t.Instructions {
		c.Instructions[i] = redact.Text(s)
	}
	c.Patches = make([]FixTaskPatch, len(t.Patches))
	for i, p := range t.Patches {
		var v any
		d := json.NewDecoder(bytes.NewReader(p.Patch))
		d.UseNumber()
		if d.Decode(&v) == nil {
			if text, err := json.Marshal(redact.Value("", v)); err == nil {
				p.Patch = text
			}
		}
		c.Patches[i] = p
	}
	for _, repairs := range []*[]Repair{&c.Allowed, &c.Forbidden} {
		masked := make([]Repair, len(*repairs))
		for i, r := range *repairs {
			r.Reason = redact.Text(r.Reason)
			masked[i] = r
		}
		*repairs = masked
	}
	return &c
}

// fenced is v as indented JSON in a fence. HTML escapes keep <, > and & out of
// the block, so no text of a repository ends the fence or the details around it;
// backticks, @ and # are escaped for the same reason.
func fenced(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("```json\n{\"error\": %q}\n```", "the control could not be printed")
	}
	text := b.String()
	for _, r := range []string{"`", "@", "<", ">"} {
		text = strings.ReplaceAll(text, r, fmt.Sprintf(`\u%04x`, r[0]))
	}
	return "```json\n" + text + "```"
}
