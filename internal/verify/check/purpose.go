package check

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// The word sets of §12.4.
var (
	purposeReads  = []string{"answer", "lookup", "lookups", "read", "readonly", "read-only", "search", "status", "view"}
	purposeWrites = []string{
		"cancel", "create", "delete", "email", "issue", "modify", "refund", "remove", "send", "update", "write",
	}
	stopWords = []string{"a", "an", "and", "before", "for", "from", "the", "to", "with", "without"}
)

// words are the lower-case words of texts; a hyphen inside of a word gives the
// word and its parts.
func words(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }) {
			word = strings.Trim(word, "-")
			set[word] = true
			for part := range strings.SplitSeq(word, "-") {
				set[part] = true
			}
		}
	}
	delete(set, "")
	return set
}

func containsAny(set map[string]bool, of []string) bool {
	return slices.ContainsFunc(of, func(word string) bool { return set[word] })
}

func outsidePurpose(s *Subject) []Finding {
	purpose := words(s.Manifest.Agent.Purpose...)
	if !containsAny(purpose, purposeReads) || containsAny(purpose, purposeWrites) {
		return nil
	}
	var found []Finding
	for _, t := range s.Tools() {
		if !t.WriteTool() {
			continue
		}
		f := about(t)
		f.Title = t.Name + " writes, and the agent's purpose is to read"
		f.Confidence = tool.Medium
		f.Evidence = map[string]any{"declared_purpose": s.Manifest.Agent.Purpose, "risk_tags": riskTags(t)}
		f.Support, f.Provenance = restsOn(s, t, "write", "destructive", "external_write")
		found = append(found, f)
	}
	return found
}

func prohibitedTool(s *Subject) []Finding {
	type rule struct {
		text  string
		words map[string]bool
	}
	var rules []rule
	for _, text := range s.Manifest.Agent.Prohibited {
		set := words(text)
		for _, stop := range stopWords {
			delete(set, stop)
		}
		rules = append(rules, rule{text, set})
	}
	var found []Finding
	for _, t := range s.Tools() {
		if t.EffectivelyReadOnly() || len(rules) == 0 {
			continue
		}
		of := words(t.Name, t.Description)
		for _, r := range rules {
			shared, tags := overlap(t, of, r.words)
			if !shared && len(tags) == 0 || controlNamed(s, t, r.words) {
				continue
			}
			f := about(t)
			f.Title = t.Name + " appears to overlap with a prohibited action"
			f.Confidence = tool.Medium
			f.Evidence = map[string]any{"prohibited_action": r.text, "risk_tags": riskTags(t)}
			if shared {
				f.Provenance = KeywordHeuristic
			} else {
				f.Support, f.Provenance = restsOn(s, t, tags...)
			}
			found = append(found, f)
			break // one prohibition is reason enough to look at the tool
		}
	}
	return found
}

// overlap says how a tool meets a prohibition: by two words of its name and
// description, or by risk tags that stand for what the words are about.
func overlap(t *effect.Tool, of, prohibited map[string]bool) (shared bool, tags []string) {
	common := 0
	for word := range prohibited {
		if of[word] {
			common++
		}
	}
	if prohibited["email"] || prohibited["external"] {
		for _, tag := range []string{"external_write", "customer_communication"} {
			if t.HasHint(tag, tool.Medium) {
				tags = append(tags, tag)
			}
		}
	}
	if prohibited["refund"] && t.WriteTool() && t.HasHint("financial_action", tool.Medium) {
		tags = append(tags, "financial_action")
	}
	if prohibited["cancel"] && t.HasHint("destructive", tool.Medium) {
		tags = append(tags, "destructive")
	}
	return common >= 2, tags
}

// controlNamed says whether a prohibition names controls ("without approval")
// and every one it names stands before the tool.
func controlNamed(s *Subject, t *effect.Tool, prohibited map[string]bool) bool {
	named := 0
	for _, c := range []struct {
		word   string
		stands func(*Subject, *effect.Tool) bool
	}{{"approval", approved}, {"confirmation", confirmed}, {"idempotency", idempotent}} {
		if !prohibited[c.word] {
			continue
		}
		named++
		if !c.stands(s, t) {
			return false
		}
	}
	return named > 0
}
