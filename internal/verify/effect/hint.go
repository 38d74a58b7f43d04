package effect

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// The sources of hints. The last two are words.
const (
	hintReadOnly    = "readOnlyHint"
	hintDestructive = "destructiveHint"
	hintMethod      = "http_method"
	hintManual      = "manual"
	hintPreview     = "preview"
	hintKeyword     = "keyword"
	hintScope       = "scope_keyword"
)

// writeTags make a tool one that changes something.
var writeTags = []string{"write", "destructive", "external_write"}

// highRiskTags make a tool that is not read-only a high-risk one (§6.1).
var highRiskTags = []string{
	"destructive", "external_write", "financial_action", "customer_communication", "sensitive_data_access",
	"infrastructure_change", "code_execution",
}

// HasHint says whether the tool carries the tag at least that surely.
func (t *Tool) HasHint(tag string, atLeast tool.Confidence) bool {
	for _, h := range t.Hints {
		if h.Tag == tag && h.Confidence.AtLeast(atLeast) {
			return true
		}
	}
	return false
}

func (t *Tool) hasAny(tags []string, atLeast tool.Confidence) bool {
	return slices.ContainsFunc(tags, func(tag string) bool { return t.HasHint(tag, atLeast) })
}

// EffectivelyReadOnly says whether the provider sets readOnlyHint, or something
// sure says read_only and nothing says that the tool writes (§6.1).
func (t *Tool) EffectivelyReadOnly() bool {
	if hint, ok := t.Flag("readOnlyHint"); ok && hint {
		return true
	}
	return t.HasHint("read_only", tool.High) && !t.hasAny(writeTags, tool.Medium)
}

// WriteTool says whether the tool is not read-only and something says that it
// writes (§6.1).
func (t *Tool) WriteTool() bool {
	return !t.EffectivelyReadOnly() && t.hasAny(writeTags, tool.Medium)
}

// HighRisk says whether the tool is not read-only and about something that can
// hurt (§6.1).
func (t *Tool) HighRisk() bool {
	return !t.EffectivelyReadOnly() && t.hasAny(highRiskTags, tool.Medium)
}

// Tags are the tags of the hints that are at least so sure, sorted.
func (t *Tool) Tags(atLeast tool.Confidence) []string {
	tags := []string{}
	for _, h := range t.Hints {
		if h.Confidence.AtLeast(atLeast) {
			tags = append(tags, h.Tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Method is the HTTP method of an operation whose reader saw it as structure, in
// upper case, and its path; "" for everything else. A listing is free to carry
// an annotation of that name: it proves nothing there.
func (t *Tool) Method() (method, path string) {
	for i := range t.Members {
		if method, path = methodOf(&t.Members[i]); method != "" {
			return method, path
		}
	}
	return methodOf(&t.Tool)
}

func methodOf(t *tool.Tool) (method, path string) {
	switch t.Origin.Type {
	case "openapi", "n8n_http_tool":
		method, _ = t.Annotations["httpMethod"].(string)
		path, _ = t.Annotations["path"].(string)
		return strings.ToUpper(method), path
	}
	return "", ""
}

// hint derives the risk hints of a canonical tool from each observation behind
// it and from the manifest, one per (tag, source), the surest kept (§6.1).
func (t *Tool) hint(h *hand, risk *manifest.Risk) {
	t.Hints = h.hints[:0]
	for i := range t.Members {
		for _, h := range t.Members[i].Hints {
			t.add(h)
		}
		t.hintStructure(&t.Members[i])
	}
	words := make([]wordSet, 0, 4)
	for i := range t.Members {
		m := &t.Members[i]
		words = append(words, wordsOf(m.Name, m.Description))
		t.hintWords(m, &words[i], &wordSet{}, true)
	}
	t.hintManual(risk)
	for i := range t.Members {
		m := &t.Members[i]
		scopes := wordsOf(m.Auth.Scopes...)
		t.hintWords(m, &words[i], &scopes, false)
	}
	t.hintManual(risk)
	slices.SortFunc(t.Hints, func(a, b tool.Hint) int {
		return cmp.Or(strings.Compare(a.Tag, b.Tag), strings.Compare(a.Source, b.Source))
	})
	h.hints, t.Hints = t.Hints, own(t.Hints)
}

// add keeps one hint per (tag, source).
func (t *Tool) add(h tool.Hint) {
	for i, have := range t.Hints {
		if have.Tag == h.Tag && have.Source == h.Source {
			if h.Confidence.Rank() > have.Confidence.Rank() {
				t.Hints[i] = h
			}
			return
		}
	}
	t.Hints = append(t.Hints, h)
}

func (t *Tool) say(tag, source string, sure tool.Confidence, evidence string) {
	t.add(tool.Hint{Tag: tag, Source: source, Confidence: sure, Evidence: evidence})
}

func (t *Tool) hintStructure(m *tool.Tool) {
	if hint, ok := m.Flag("readOnlyHint"); ok && hint {
		t.say("read_only", hintReadOnly, tool.High, "readOnlyHint: true")
	}
	if hint, ok := m.Flag("destructiveHint"); ok && hint {
		t.say("write", hintDestructive, tool.High, "destructiveHint: true")
		t.say("destructive", hintDestructive, tool.High, "destructiveHint: true")
	}
	method, _ := methodOf(m)
	switch method {
	case "POST", "PUT", "PATCH":
		t.say("write", hintMethod, tool.High, "HTTP "+method)
	case "DELETE":
		t.say("write", hintMethod, tool.High, "HTTP DELETE")
		t.say("destructive", hintMethod, tool.High, "HTTP DELETE")
	}
}

// hintWords goes once over the rules of what a tool does and once over the rules
// of what it is about.
func (t *Tool) hintWords(m *tool.Tool, words, scopes *wordSet, behaviour bool) {
	preview := m.Origin.Type == "sdk_function" && words.first(&previewWord) != ""
	if behaviour && preview {
		t.say("read_only", hintPreview, tool.High, "the word preview")
	}
	keyword := keywordSource(m.Origin.Type)
	for i := range wordRules {
		rule := &wordRules[i]
		if rule.order || rule.behaviour != behaviour || rule.behaviour && preview || rule.keyword && !keyword {
			continue
		}
		word, source := words.first(&rule.words), hintKeyword
		if word == "" && rule.scopes {
			word, source = scopes.first(&rule.words), hintScope
		}
		if word != "" {
			t.topic(rule.tag, source, word, words, scopes)
		}
	}
	if method, _ := methodOf(m); behaviour && method == "GET" && !t.hasAny(writeTags, tool.Low) {
		t.say("read_only", hintMethod, tool.High, "HTTP GET")
	}
}

// topic grades a word: what a read-only tool is about weighs less than what a
// writing one is about.
func (t *Tool) topic(tag, source, word string, words, scopes *wordSet) {
	evidence := "the word " + word
	if source == hintScope {
		evidence = "the scope word " + word
	}
	readOnly, writes := t.EffectivelyReadOnly(), t.WriteTool()
	sure := tool.Medium
	switch {
	case tag == "financial_action" && !readOnly && (writes || scopes.first(&writeWord) != ""):
		sure = tool.High
	case tag == "financial_action":
		sure = tool.Low
	case tag == "customer_communication" && readOnly:
		sure = tool.Low
	case tag == "customer_communication" && writes:
		sure = tool.High
	}
	t.say(tag, source, sure, evidence)
	if out := words.first(&outgoing); tag == "customer_communication" && out != "" && !readOnly {
		t.say("external_write", source, tool.Medium, evidence+" with "+out)
	}
}

// hintManual applies what people say.
func (t *Tool) hintManual(risk *manifest.Risk) {
	if risk == nil {
		return
	}
	t.Hints = slices.DeleteFunc(t.Hints, func(h tool.Hint) bool { return slices.Contains(risk.RemoveTags, h.Tag) })
	for _, tag := range risk.Tags {
		t.say(tag, hintManual, tool.High, "risk_overrides.tools: "+risk.Reason)
	}
}
