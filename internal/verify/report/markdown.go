package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
)

const (
	nameLimit     = 120
	sentenceLimit = 400
)

// Markdown is the bytes of report.md: report.json for people, everything on it.
func Markdown(in *Input) []byte {
	w := &writer{in: in}
	w.b.Grow(rowSize * (2*len(in.Head.Catalog) + 2*len(in.Decision.Coverage.Gaps) + 3*len(in.Findings)))
	d := in.Decision
	m := in.Head.Manifest
	w.line("# Release report: %s", plain(cmp.Or(m.Project.Name, m.Agent.Name), nameLimit))
	w.line("")
	w.verdict()
	w.line("")
	w.line("| | |")
	w.line("|---|---|")
	w.line("| Agent | %s |", plain(m.Agent.Name, nameLimit))
	w.line("| Target | %s |", plain(m.Environment.Target, nameLimit))
	w.line("| Tools | %d known, %d reachable |", len(in.Head.Catalog), len(in.Head.Tools()))
	w.line("| Findings | %d critical, %d high, %d medium, %d low, %d info, %d suppressed |",
		in.Summary.Critical, in.Summary.High, in.Summary.Medium, in.Summary.Low, in.Summary.Info, in.Summary.Suppressed)
	w.line("| Baseline | %s |", baselineWords(&d.Baseline))
	w.line("| Run in CI | %s, %s |", plain(d.FailPolicy.Mode, nameLimit), failWords(&d.FailPolicy))

	c := ChangeOf(in)
	w.changes(&c, len(c.Added)+len(c.Modified)+len(c.Removed))
	w.roots()
	w.gaps(len(d.Coverage.Gaps))
	w.section("Findings", len(in.Findings))
	for _, f := range in.findings() {
		w.finding(f.Finding)
	}
	w.tools()
	w.disclaimer()
	return w.b.Bytes()
}

// rowSize is about how long a row of the report for people is.
const rowSize = 100

func baselineWords(d *decision.BaselineDelta) string {
	if !d.Enabled {
		return "none"
	}
	return fmt.Sprintf("%d matched, %d new, %d resolved", d.Matched, d.New, d.Resolved)
}

func failWords(p *decision.FailPolicy) string {
	if p.WouldFail {
		return fmt.Sprintf("fails with exit code %d", p.ExitCode)
	}
	return "does not fail"
}

// writer writes the parts that report.md and the comment share.
type writer struct {
	in   *Input
	b    bytes.Buffer
	said map[string]string // sentences that were written before, as they are written
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// row is a line of parts that stand as they are: there are thousands of them.
func (w *writer) row(parts ...string) {
	for _, p := range parts {
		w.b.WriteString(p)
	}
	w.b.WriteByte('\n')
}

// sentence is plain text of a sentence. What is to be done about one tool is to be
// done about hundreds of them, in the same words.
func (w *writer) sentence(s string) string {
	if text, ok := w.said[s]; ok {
		return text
	}
	if w.said == nil {
		w.said = map[string]string{}
	}
	text := plain(s, sentenceLimit)
	w.said[s] = text
	return text
}

// section starts a heading when there is something below it.
func (w *writer) section(title string, n int) bool {
	if n > 0 {
		w.line("\n## %s\n", title)
	}
	return n > 0
}

func (w *writer) verdict() {
	d := w.in.Decision
	w.line("**%s** %s", verdictWords(d.Decision), plain(d.Reason, sentenceLimit))
}

func verdictWords(v decision.Verdict) string {
	switch v {
	case decision.Passed:
		return "Passed."
	case decision.Blocked:
		return "Blocked."
	case decision.InsufficientEvidence:
		return "Not enough evidence."
	case decision.ReviewRequired:
	}
	return "A person has to look."
}

// changes lists at most n capability changes: what was added first, then what
// was broadened.
func (w *writer) changes(c *CapabilityChange, n int) {
	all := len(c.Added) + len(c.Modified) + len(c.Removed)
	if !w.section("What agents can do now", all) {
		if a := w.in.Actions; a != nil && a.Enabled {
			w.line("\nNothing that agents can do has changed.")
		}
		return
	}
	for _, part := range []struct {
		word string
		list []Change
	}{{"added", c.Added}, {"changed", c.Modified}, {"removed", c.Removed}} {
		for i := range part.list {
			if n--; n < 0 {
				continue
			}
			m := &part.list[i]
			w.row("- ", part.word, " ", code(m.Subject, nameLimit), ": ", w.sentence(m.Rationale), w.at(string(m.SourcePath), int(m.SourceLine)))
		}
	}
	w.more(n)
}

// more says how many rows were left out; n is negative by that many.
func (w *writer) more(n int) {
	if n < 0 {
		w.line("- and %d more in report\\.json", -n)
	}
}

func (w *writer) at(path string, line int) string {
	switch {
	case path == "":
		return ""
	case line > 0:
		return " (" + code(path+":"+strconv.Itoa(line), 2*nameLimit) + ")"
	}
	return " (" + code(path, 2*nameLimit) + ")"
}

func (w *writer) roots() {
	if !w.section("Inputs of the gate itself", len(w.in.TrustRoots)+len(w.in.Weakened)) {
		return
	}
	n := maxRows
	for _, r := range w.in.TrustRoots {
		if n--; n >= 0 {
			w.line("- %s changed: %s", plain(strings.ReplaceAll(r.Class, "_", " "), nameLimit), code(r.Path, 2*nameLimit))
		}
	}
	w.more(n)
	for _, s := range w.in.Weakened {
		w.line("- weaker than before: %s", plain(s, sentenceLimit))
	}
}

func (w *writer) gaps(n int) {
	gaps := w.in.Decision.Coverage.Gaps
	if !w.section("What is not known", len(gaps)) {
		return
	}
	for i := range gaps {
		if n--; n < 0 {
			continue
		}
		g := &gaps[i]
		w.row("- ", code(g.Subject, nameLimit), ": ", w.sentence(g.Why))
		w.row("  A person adds: ", w.sentence(g.Next.Expects))
	}
	w.more(n)
	w.line("\nTemplates of the answers are in suggested\\-declarations\\.yaml\\. Each asks, none answers\\.")
}

func (w *writer) finding(f *check.Finding) {
	state := ""
	switch {
	case f.Suppressed:
		state = ", suppressed"
	case f.BaselineStatus == "matched":
		state = ", accepted in the baseline"
	}
	about := ""
	if f.ToolName != "" {
		about = " on " + code(f.ToolName, nameLimit)
	}
	w.row("- **", string(f.Severity), "** ", code(f.CheckID, nameLimit), about, w.at(f.Source.Path, f.Source.StartLine), state)
	w.row("  ", plain(f.Title, sentenceLimit))
	if f.Recommendation != "" && !f.Suppressed {
		w.row("  What to do: ", w.sentence(f.Recommendation))
	}
}

func (w *writer) tools() {
	head := w.in.Head
	if !w.section("Tools", len(head.Catalog)) {
		return
	}
	w.line("| tool | reached | effect | authority | read from |")
	w.line("|---|---|---|---|---|")
	actions := make(map[string]*effect.Action, len(head.Actions))
	for _, a := range head.Actions {
		actions[a.Tool.ID] = a
	}
	for _, t := range head.Catalog {
		does, acts := "", ""
		if a := actions[t.ID]; a != nil {
			does = w.sentence(string(a.Effect) + " (" + string(a.Assessment.EffectStatus) + ")")
			acts = w.sentence(cmp.Or(a.Mode, "unknown") + " (" + string(a.Assessment.AuthorityStatus) + ")")
		}
		w.row("| ", code(t.Name, nameLimit), " | ", string(cmp.Or(head.Reach[t.ID], effect.Unbound)), " | ", does, " | ", acts, " | ",
			code(cmp.Or(w.in.path(t.Origin.Path), t.Origin.Ref), nameLimit), " |")
	}
}

func (w *writer) disclaimer() { w.line("\n%s", plain(decision.Disclaimer, 1000)) }

// maxRows is how many rows of one kind the comment shows.
const maxRows = 8
