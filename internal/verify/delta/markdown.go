package delta

import (
	"fmt"
	"strings"
)

// maxMarkdownRows is how many rows of one kind a person is shown; the JSON
// document has all of them.
const maxMarkdownRows = 100

// Markdown is the difference for people: one table a kind, nothing for kinds
// without rows. Names come from the repository and are written as code.
func (d *LockDiff) Markdown() []byte {
	var b strings.Builder
	b.WriteString("# Capability difference\n\n")
	s := d.Summary
	fmt.Fprintf(&b, "%d added, %d removed, %d changed, %d reidentified, %d with other evidence, %d unchanged. This decides nothing by itself.\n",
		s.Added, s.Removed, s.Changed, s.Reidentified, s.EvidenceChanged, s.Unchanged)
	if d.Empty() {
		b.WriteString("\nBoth sides have the same capabilities.\n")
	}
	facts(&b, "Added", d.Added)
	facts(&b, "Removed", d.Removed)
	changes(&b, "Changed", d.Changed)
	changes(&b, "Reidentified", d.Reidentified)
	changes(&b, "Other evidence", d.EvidenceChanged)
	return []byte(b.String())
}

func facts(b *strings.Builder, title string, list []Fact) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| tool | operation | effect | scopes | tags |\n|---|---|---|---|---|\n", title)
	for i := range list[:min(len(list), maxMarkdownRows)] {
		f := &list[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", code(f.Identity.ToolName), code(f.Identity.Operation), f.Effect.Effect,
			codes(f.Authority.Scopes), codes(f.RiskTags))
	}
	more(b, len(list))
}

func changes(b *strings.Builder, title string, list []ChangedFact) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| tool | operation | direction | what |\n|---|---|---|---|\n", title)
	for i := range list[:min(len(list), maxMarkdownRows)] {
		row := &list[i]
		what := make([]string, 0, len(row.Changes))
		for j := range row.Changes {
			what = append(what, row.Changes[j].words())
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(row.ToolName), code(row.Operation), row.Direction, strings.Join(what, "; "))
	}
	more(b, len(list))
}

func (c *SemanticChange) words() string {
	if name, ok := strings.CutPrefix(c.Field, "hashes."); ok {
		return "the " + strings.TrimSuffix(name, "_hash") + " differs"
	}
	before, isList := c.Before.([]string)
	if isList {
		after, _ := c.After.([]string)
		var parts []string
		if gained := without(after, before); len(gained) > 0 {
			parts = append(parts, "gained "+codes(gained))
		}
		if lost := without(before, after); len(lost) > 0 {
			parts = append(parts, "lost "+codes(lost))
		}
		return c.Field + " " + strings.Join(parts, ", ")
	}
	return c.Field + " " + shown(c.Before) + " → " + shown(c.After)
}

func shown(v any) string {
	if v == nil {
		return "nothing"
	}
	return code(fmt.Sprint(v))
}

func more(b *strings.Builder, n int) {
	if n > maxMarkdownRows {
		fmt.Fprintf(b, "\n%d more are in the JSON document.\n", n-maxMarkdownRows)
	}
}

func codes(list []string) string {
	if len(list) == 0 {
		return "–"
	}
	quotedList := make([]string, 0, len(list))
	for _, s := range list[:min(len(list), 8)] {
		quotedList = append(quotedList, code(s))
	}
	if len(list) > 8 {
		quotedList = append(quotedList, fmt.Sprintf("and %d more", len(list)-8))
	}
	return strings.Join(quotedList, ", ")
}

// code is untrusted text as an inline code span of a table: no line break, no
// cell border and no backtick of its own, at most 120 characters.
func code(s string) string {
	runes := []rune(s)
	if len(runes) > 120 {
		runes = append(runes[:119], '…')
	}
	for i, r := range runes {
		switch {
		case r == '`' || r == '|':
			runes[i] = '\''
		case r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || (r >= 0x80 && r < 0xa0) || isBidi(r):
			runes[i] = ' '
		}
	}
	text := strings.TrimSpace(string(runes))
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}

// isBidi says whether r can turn the order of what is shown.
func isBidi(r rune) bool {
	return (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) || r == 0x200e || r == 0x200f || r == 0x061c
}
