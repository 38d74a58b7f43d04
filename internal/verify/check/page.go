package check

import (
	"fmt"
	"strings"
)

// Markdown is the check's page (docs/rules/<id>.md). A boundary check has none
// of its own: its rule's page is written by hand.
func (c *Check) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s. Category `%s`, severity %s, %s.\n", c.ID, c.Title, c.Category, c.Severity, c.bounds())
	for _, part := range []struct{ heading, text string }{
		{"What it looks at", c.Description},
		{"Why it matters", c.Rationale},
		{"Fires", c.FiresWhen},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", part.heading, part.text)
	}
	b.WriteString("\nEvidence:")
	for i, field := range c.EvidenceFields {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " `%s`", field)
	}
	fmt.Fprintf(&b, ".\n\n## What to do\n\n%s\n\n%s\n", c.Recommendation, c.closing())
	return []byte(b.String())
}

func (c *Check) bounds() string {
	switch {
	case c.Floor == "":
		return "no floor"
	case c.Dynamic:
		return "by what is found, never below " + string(c.Floor)
	}
	return "never below " + string(c.Floor)
}

// closing says who may close a finding.
func (c *Check) closing() string {
	switch {
	case c.HumanAlways:
		return "Only a person may close it, even where a patch exists."
	case c.Autofix:
		return "A coding agent may apply the patch that comes with it when its confidence is high."
	case c.PatchKind != Manual:
		return "A patch may come with it; it is a proposal, and a person decides."
	}
	return "A person decides; an agent prepares the question and stops."
}
