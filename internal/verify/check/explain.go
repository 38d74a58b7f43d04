package check

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
)

// Contribution is how a finding counted in the release decision of its report;
// the zero Contribution is "the report does not say".
type Contribution struct{ Category, Rule string }

// shownItems is how many entries of a list an explanation shows.
const shownItems = 5

// Explain says in three to five sentences what a finding is: what its check
// looks for, where it fired, on which evidence, what follows for the gate, and
// what the agent may do (docs/spec/verification.md §14). The same finding gives
// the same text. c is nil for a check outside of the catalogue.
func Explain(f *Finding, c *Check, counted Contribution) []string {
	looks := f.CheckID + " is no check of the catalogue: a rule of the team's own says " + quote(f.Title) + "."
	if c != nil {
		looks = c.ID + ": " + c.Description
	}
	sentences := []string{looks, "It fired " + place(f) + "."}
	if evidence := evidenceText(f.Evidence); evidence != "" {
		sentences = append(sentences, "Evidence: "+evidence+".")
	}
	return append(sentences, consequence(f, counted), permitted(f))
}

func place(f *Finding) string {
	at := ""
	switch src := f.Source; {
	case src.Path != "" && src.StartLine > 0:
		at = fmt.Sprintf("%s:%d", src.Path, src.StartLine)
	case src.Path != "" && src.Pointer != "":
		at = src.Path + "#" + src.Pointer
	case src.Path != "":
		at = src.Path
	case src.Ref != "":
		at = src.Ref
	case src.Type != "":
		at = "the " + src.Type
	}
	switch {
	case f.ToolName != "" && at != "":
		return "on the tool " + quote(f.ToolName) + ", at " + at
	case f.ToolName != "":
		return "on the tool " + quote(f.ToolName)
	case at != "":
		return "at " + at
	}
	return "on the whole"
}

// evidenceText is the evidence in key order; long lists are cut and say so.
func evidenceText(evidence map[string]any) string {
	keys := make([]string, 0, len(evidence))
	for key := range evidence {
		if !slices.Contains(dropped, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	parts := make([]string, 0, len(keys))
	for _, key := range keys {
		parts = append(parts, key+" is "+valueText(evidence[key]))
	}
	return strings.Join(parts, "; ")
}

func valueText(v any) string {
	switch v := finite(v).(type) {
	case []string:
		return listText(v)
	case []any:
		return listText(v)
	default:
		text, err := compact.append(nil, v)
		if err != nil {
			return "not shown"
		}
		return clip(string(text))
	}
}

func listText[T any](list []T) string {
	if len(list) == 0 {
		return "empty"
	}
	list, err := ordered(&compact, list)
	if err != nil {
		return "not shown"
	}
	var shown []string
	for _, e := range list[:min(len(list), shownItems)] {
		text, err := compact.append(nil, e)
		if err != nil {
			return "not shown"
		}
		shown = append(shown, clip(string(text)))
	}
	text := strings.Join(shown, ", ")
	if more := len(list) - shownItems; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// clip keeps a value readable; it cuts between characters.
func clip(s string) string {
	const most = 200
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

func quote(s string) string { return canonical.UTF8.String(clip(s)) }

// consequence is what the finding does to the release decision.
func consequence(f *Finding, counted Contribution) string {
	switch counted.Category {
	case "blocker":
		return "It blocks the release (" + counted.Rule + ")."
	case "review_item":
		return "It asks for a person's review before the release (" + counted.Rule + ")."
	case "excluded":
		return "It does not count in the release decision (" + counted.Rule + ")."
	}
	switch {
	case f.Support != nil && !f.Support.PolicyEligible:
		return "It rests on evidence that may ask and decides nothing, so it does not count in the release decision."
	case f.Suppressed && !Mandatory(f):
		return "It is suppressed, so it does not count in the release decision."
	case f.BaselineStatus == "matched":
		return "The baseline accepts it, so it does not block."
	case f.BlocksRelease || f.Severity == Critical:
		return "It blocks the release while it is there."
	case f.Severity.Rank() >= Medium.Rank() || f.HumanReview:
		return "It asks for a person's review; it blocks where ci.fail_on lists its severity."
	}
	return "By itself it neither blocks nor asks for review."
}

// permitted says what agent_action means.
func permitted(f *Finding) string {
	switch f.AgentAction {
	case AutoApply:
		return "A coding agent may apply the patch that comes with it and then run the verification again."
	case Propose:
		return "A coding agent may propose the patch that comes with it; a person decides."
	case Escalate:
		return "A coding agent may not close it: it asks a person and stops."
	case Informational:
		return "Nothing is asked of a coding agent."
	}
	return "What a coding agent may do about it is not said: it asks a person and stops."
}
