package effect

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// sourceOfName is the source of a claim that rests on how a tool is called.
const sourceOfName = "name"

// order claims the strongest effect that the name of an observation orders, such
// as wipe_disk or shop.payInvoice (§6.1). It is a word like any other: it asks,
// it never blocks. A description may talk about deleting; a tool that is called
// so does it, whatever its hints say.
//
// It is no risk hint: the grades and the permission classes of §§6.1 and 6.3 are
// what they are without it. What other words of the tool claim already is not
// claimed again.
func (c *claims) order(m *tool.Tool, risk *manifest.Risk) {
	if m.Origin.Type == "sdk_function" && previewed(m) {
		return
	}
	verbs, words := orders(m.Name)
	var best Effect
	var said string
	for i := range wordRules {
		rule := &wordRules[i]
		if !rule.order {
			continue
		}
		verb := verbs.first(&rule.words)
		if verb == "" || rule.with.words != nil && words.first(&rule.with) == "" || risk != nil && slices.Contains(risk.RemoveTags, rule.tag) {
			continue
		}
		if e, ok := TagEffect(rule.tag); ok && Rank(e) > Rank(best) {
			best, said = e, verb
		}
	}
	if best == "" || slices.ContainsFunc(c.list, func(have Claim) bool {
		return have.Value == string(best) && have.Basis.Inferred() && have.Confidence.AtLeast(tool.Medium)
	}) {
		return
	}
	c.claim(best, InferredKeyword, tool.Medium, sourceOfName, "Its name is an order to "+said+".", m.Origin)
}

// previewed says whether the texts of a tool have the word preview.
func previewed(m *tool.Tool) bool {
	words := wordsOf(m.Name, m.Description)
	return words.first(&previewWord) != ""
}

// orders are the words that a name, or a part of it behind a namespace, begins
// with, and all of its words.
func orders(name string) (verbs, words wordSet) {
	list := make([]string, 0, 16)
	heads := make([]int, 0, 4)
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(name, "__", "."), namespace) {
		heads = append(heads, len(list))
		list = nameWords(list, part)
	}
	for _, word := range list {
		words.add(word)
	}
	for _, at := range heads {
		if at < len(list) && !isThing(list[at:]) && !handsOver(list[at:]) {
			verbs.add(list[at])
		}
	}
	return verbs, words
}

func namespace(r rune) bool { return r == '.' || r == '/' || r == ':' }

// isThing says whether the words name something and what one asks of it, and
// nothing else.
func isThing(words []string) bool {
	if len(words) < 2 || !things.has(words[0]) {
		return false
	}
	for _, word := range words[1:] {
		if !reading.has(word) && !lookedAt.has(word) {
			return false
		}
	}
	return true
}

// handsOver says whether the words are how SDKs call a handoff to another agent:
// transfer_to_billing moves a conversation, not money.
func handsOver(words []string) bool {
	return len(words) > 2 && words[0] == "transfer" && words[1] == "to"
}

// nameWords appends the words of a part of a name in lower case, in their order:
// runs of letters, and a capital begins a new one (runSQLQuery: run, sql, query).
func nameWords(words []string, part string) []string {
	start := -1
	end := func(at int) {
		if start >= 0 {
			words = append(words, strings.ToLower(part[start:at]))
		}
		start = -1
	}
	for i := range len(part) {
		switch {
		case !lower(part[i]) && !upper(part[i]):
			end(i)
			continue
		case start >= 0 && upper(part[i]) && (lower(part[i-1]) || i+1 < len(part) && lower(part[i+1])):
			end(i)
		}
		if start < 0 {
			start = i
		}
	}
	end(len(part))
	return words
}

func lower(b byte) bool { return 'a' <= b && b <= 'z' }

func upper(b byte) bool { return 'A' <= b && b <= 'Z' }
