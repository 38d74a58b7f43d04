package check

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// inventoryChecks are the rows of §12.5: whether the tools are known at all,
// and what their descriptions and schemas say to a model.
var inventoryChecks = []*Check{
	{
		ID: "SHIP-INVENTORY-NOT-ENUMERABLE", Category: "inventory", Severity: High, Tier: Core,
		Title:          "No tool of the agent could be found",
		Description:    "Looks at what all declared sources gave together.",
		Rationale:      "An agent without a known tool is either no agent or one whose power nobody has listed.",
		FiresWhen:      "No source gave a tool and no Codex plugin was read.",
		EvidenceFields: []string{"tool_sources"},
		Recommendation: "Declare a source that lists the tools: an MCP listing, an OpenAPI document, an inventory, or the agent's code.",
		HumanReview:    true, PatchKind: Manual, Run: notEnumerable,
	},
	{
		ID: "SHIP-INVENTORY-WILDCARD-TOOLS", Category: "inventory", Severity: High, Floor: Medium, Tier: Core,
		Title:          "Wildcard tool exposure declared",
		Description:    "Looks for sources that offer whatever there is instead of a list.",
		Rationale:      "A wildcard is renewed at every call: what was reviewed today is not what the agent has tomorrow.",
		FiresWhen:      "A source is marked as offering all tools.",
		EvidenceFields: []string{"source_id", "source_ref"},
		Recommendation: "List the tools that the agent may use.",
		HumanReview:    true, PatchKind: Manual, Run: wildcardTools,
	},
	{
		ID: "SHIP-INVENTORY-TOOL-SURFACE-TOO-LARGE", Category: "inventory", Severity: Medium, Tier: Hygiene,
		Title:          "The agent reaches very many tools",
		Description:    "Counts the tools that the root agent reaches.",
		Rationale:      "Models choose worse from long lists, and nobody reviews a hundred tools with care.",
		FiresWhen:      "More than 50 tools are reachable.",
		EvidenceFields: []string{"tool_count", "threshold"},
		Recommendation: "Split the agent, or give it only the tools that its purpose needs.",
		HumanReview:    true, PatchKind: Manual, Run: surfaceTooLarge,
	},
	{
		ID: "SHIP-INVENTORY-LOW-CONFIDENCE-PRODUCTION-SURFACE", Category: "inventory", Severity: High, Floor: Medium, Tier: Core,
		Title:          "Production tools are known only from reading code",
		Description:    "Looks at how surely each tool of a production agent was read.",
		Rationale:      "Code may build at run time what reading it does not show. For production the list should be a statement, not a guess.",
		FiresWhen:      "The target is production and a reachable tool was read with less than high confidence.",
		EvidenceFields: []string{"tools"},
		Recommendation: "Declare these tools by an MCP listing, an OpenAPI document or an inventory.",
		HumanReview:    true, PatchKind: Manual, Run: lowConfidence,
	},
	{
		ID: "SHIP-DOC-MISSING-DESCRIPTION", Category: "documentation", Severity: Medium, Tier: Hygiene,
		Title:          "A tool is hardly described",
		Description:    "Looks at the description that the model chooses by.",
		Rationale:      "A model that does not know what a tool is for uses it for something else.",
		FiresWhen:      "The description, trimmed, is shorter than 20 characters.",
		EvidenceFields: []string{"description_length"},
		Recommendation: "Describe what the tool does, to what, and when not to use it.",
		HumanReview:    true, PatchKind: Manual, Run: missingDescription,
	},
	{
		ID: "SHIP-SCHEMA-BROAD-FREE-TEXT", Category: "schema", Severity: High, Tier: Hygiene,
		Title:          "An acting tool takes free text",
		Description:    "Looks at the inputs of tools that act for ones that could hold anything.",
		Rationale:      "A free field carries whatever the model was told, by whomever, into the action.",
		FiresWhen:      "A tool that acts has a parameter called action, body, command, content, instructions, message, prompt, update or updates that is a string, an object or of no type, and has no enum.",
		EvidenceFields: []string{"parameter", "type"},
		Recommendation: "Constrain the parameter: an enum, a structured schema, or narrower fields.",
		HumanReview:    true, PatchKind: Manual, Run: broadFreeText,
	},
	{
		ID: "SHIP-SCHEMA-MISSING-BOUNDS", Category: "schema", Severity: High, Tier: Hygiene,
		Title:          "An amount has no upper bound",
		Description:    "Looks at numbers that say how much, in tools that write or move money.",
		Rationale:      "A bound in the schema is the last place where a wrong factor of a thousand is caught without a person.",
		FiresWhen:      "Such a tool has a number called amount, amt, cap, count, limit, max, maximum, qty, quantity, refund_amount, size or total without a maximum.",
		EvidenceFields: []string{"parameter", "type"},
		Recommendation: "Add a maximum to the parameter's schema.",
		HumanReview:    true, PatchKind: Manual, Run: missingBounds,
	},
	{
		ID: "SHIP-SCHEMA-FREEFORM-OUTPUT", Category: "schema", Severity: Medium, Tier: Hygiene,
		Title:          "A tool answers with free text",
		Description:    "Looks at what a tool gives back.",
		Rationale:      "Text from elsewhere is read by the model as if it were told; a structure can be checked first.",
		FiresWhen:      "The output type is string, or the function is annotated to return str.",
		EvidenceFields: []string{"output_schema"},
		Recommendation: "Return an object with named fields.",
		HumanReview:    true, PatchKind: Manual, Run: freeformOutput,
	},
	{
		ID: "SHIP-DOC-SECRET-IN-DESCRIPTION", Category: "security", Severity: Medium, Tier: Core,
		Title:          "A description seems to hold a secret",
		Description:    "Looks in what the model is told about a tool and its inputs for values that look like credentials.",
		Rationale:      "A description goes to the model's provider with every request, and into every log on the way.",
		FiresWhen:      "The text holds a key with a known prefix, or a label such as password or token with a long value of letters and digits. High with more than one on a tool that writes or is high-risk.",
		EvidenceFields: []string{"matched"},
		Recommendation: "Take the value out of the description and rotate the credential.",
		HumanReview:    true, PatchKind: Manual, Run: secretInDescription,
	},
	{
		ID: "SHIP-DOC-INJECTION-RISK", Category: "security", Severity: Medium, Tier: Core,
		Title:          "A description gives the model orders",
		Description:    "Looks in what the model is told about a tool and its inputs for sentences that change its instructions or its role.",
		Rationale:      "The model reads a tool's description beside its own instructions. Whoever writes the one can overrule the other.",
		FiresWhen:      "The text says to ignore, override or replace instructions or a system or developer prompt, or gives the reader a privileged role. High with more than one on a tool that writes or is high-risk.",
		EvidenceFields: []string{"matched"},
		Recommendation: "Describe the tool in neutral words.",
		HumanReview:    true, PatchKind: Manual, Run: injectionRisk,
	},
	{
		ID: "SHIP-N8N-SECRET-IN-WORKFLOW-PARAMETER", Category: "security", Severity: High, Tier: Core,
		Title:          "A workflow holds what looks like a secret",
		Description:    "Looks in the parameters, notes, pinned and static data of n8n workflows for values that look like credentials.",
		Rationale:      "A workflow file is copied, exported and committed; its credentials store is not.",
		FiresWhen:      "A value in one of those places looks like a secret.",
		EvidenceFields: []string{"source_ref", "parameter_pointer", "secret_kind"},
		Recommendation: "Move the value to n8n's credentials and rotate it.",
		HumanReview:    true, PatchKind: Manual, Run: workflowSecret,
	},
}

func notEnumerable(s *Subject) []Finding {
	if len(s.Catalog) > 0 || len(s.Reading.Plugins) > 0 || len(s.Reading.Markets) > 0 {
		return nil
	}
	sources := []string{}
	for _, src := range s.Reading.Sources {
		sources = append(sources, src.ID)
	}
	slices.Sort(sources)
	f := inManifest(s.Manifest, "tool_sources")
	f.Title = "No tool could be enumerated from the declared sources"
	f.Evidence = map[string]any{"tool_sources": slices.Compact(sources)}
	return []Finding{f}
}

func wildcard(t *effect.Tool) bool {
	all, _ := t.Flag("wildcard_tools")
	return all
}

func wildcardTools(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if !wildcard(t) {
			continue
		}
		f := about(t)
		f.Evidence = map[string]any{"source_id": t.Origin.SourceID, "source_ref": t.Origin.Ref}
		found = append(found, f)
	}
	return found
}

// maxTools is how many tools one agent may reach before it is told to split.
const maxTools = 50

func surfaceTooLarge(s *Subject) []Finding {
	n := len(s.Tools())
	if n <= maxTools {
		return nil
	}
	f := inManifest(s.Manifest, "tool_sources")
	f.Evidence = map[string]any{"tool_count": n, "threshold": maxTools}
	return []Finding{f}
}

func lowConfidence(s *Subject) []Finding {
	if s.Manifest.Environment.Target != "production" {
		return nil
	}
	var names []string
	for _, t := range s.Tools() {
		if t.Confidence != tool.High {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	f := inManifest(s.Manifest, "environment", "target")
	f.Evidence = map[string]any{"tools": slices.Compact(names)}
	return []Finding{f}
}

// minDescription is how many characters say anything.
const minDescription = 20

func missingDescription(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		n := utf8.RuneCountInString(strings.TrimSpace(t.Description))
		if n >= minDescription || wildcard(t) { // a wildcard is no tool that could be described
			continue
		}
		f := about(t)
		f.Title = t.Name + " has no usable description"
		f.Evidence = map[string]any{"description_length": n}
		found = append(found, f)
	}
	return found
}

var (
	freeNames  = []string{"action", "body", "command", "content", "instructions", "message", "prompt", "update", "updates"}
	boundNames = []string{
		"amount", "amt", "cap", "count", "limit", "max", "maximum", "qty", "quantity", "refund_amount", "size", "total",
	}
)

func broadFreeText(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if !t.WriteTool() && !t.HighRisk() {
			continue
		}
		for _, p := range t.Params {
			if !slices.Contains(freeNames, strings.ToLower(p.Name)) || len(p.Enum) > 0 || !anything(p.Type) {
				continue
			}
			f := about(t)
			f.Title = t.Name + " accepts broad free-form action input"
			f.Confidence = tool.Medium
			f.Recommendation = "Constrain " + t.Name + "." + p.Name + " with an enum, a structured schema, or narrower fields."
			f.Evidence = map[string]any{"parameter": p.Name, "type": orNull(p.Type)}
			found = append(found, f)
		}
	}
	return found
}

// anything says whether a type lets anything through.
func anything(kind string) bool {
	return kind == "" || slices.ContainsFunc(strings.Split(kind, "|"), func(k string) bool { return k == "string" || k == "object" })
}

func missingBounds(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if t.EffectivelyReadOnly() || !t.WriteTool() && !t.HasHint("financial_action", tool.Medium) {
			continue
		}
		for _, p := range t.Params {
			if !slices.Contains(boundNames, strings.ToLower(p.Name)) || p.Maximum != "" || len(p.Enum) > 0 || !numeric(p.Type) {
				continue
			}
			f := about(t)
			f.Title = t.Name + "." + p.Name + " has no maximum bound"
			f.Recommendation = "Add a maximum to " + t.Name + "." + p.Name + ", or name an equal limit in the tool's policy."
			f.Evidence = map[string]any{"parameter": p.Name, "type": p.Type}
			found = append(found, f)
		}
	}
	return found
}

func numeric(kind string) bool {
	return slices.ContainsFunc(strings.Split(kind, "|"), func(k string) bool { return k == "number" || k == "integer" })
}

func freeformOutput(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		schema := t.Output
		if schema == nil && strings.HasSuffix(strings.TrimRight(t.Signature, " :"), "-> str") {
			schema = map[string]any{"type": "string"}
		}
		m, _ := schema.(map[string]any)
		if m["type"] != "string" || m["enum"] != nil || m["const"] != nil {
			continue
		}
		f := about(t)
		f.Title = t.Name + " returns free-form text output"
		f.Confidence = tool.Medium
		f.Evidence = map[string]any{"output_schema": m}
		found = append(found, f)
	}
	return found
}

// pattern is one thing to look for in a text; only its name is ever shown.
type pattern struct {
	name string
	find *regexp.Regexp
}

var secretPatterns = sync.OnceValue(func() []pattern {
	return []pattern{
		{"sk_key", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`)},
		{"github_token", regexp.MustCompile(`\bghp_[A-Za-z0-9]{16,}`)},
		{"aws_access_key", regexp.MustCompile(`\bAKIA[A-Z0-9]{16}`)},
	}
})

// labelled is a label with a value of at least 20 characters.
var labelled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:password|secret|token|api[ _-]?key)\b["'` + "`" + `]?\s*(?:[:=]|\bis\b)\s*["'` + "`" + `]?([A-Za-z0-9_+/=.~-]{20,})`)
})

var orderPatterns = sync.OnceValue(func() []pattern {
	const (
		change = `(?i)\b(?:ignore|disregard|forget|override|replace|bypass)\b`
		whose  = `(?:\s+(?:all|any|every|the|of|your|previous|prior|earlier|above|other|existing|these|those|system|developer|safety)){1,4}`
	)
	return []pattern{
		{"instruction_override", regexp.MustCompile(change + whose + `\s+(?:instructions?|rules|guidelines|guardrails|prompts?)\b`)},
		{"prompt_override", regexp.MustCompile(change + `[^.!?\n]{0,60}\b(?:system|developer)\s+(?:prompt|message|instruction)s?\b`)},
		{"privileged_role", regexp.MustCompile(
			`(?i)\b(?:you\s+are|you're|act\s+as|behave\s+as|assume\s+the\s+role\s+of)\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:system\s+)?(?:admin|administrator|root|superuser|developer|system)\b`,
		)},
	}
})

// Words without one of which no pattern matches. Most texts have none, and a
// pattern takes far longer to say so.
var (
	secretWords = []string{"sk-", "ghp_", "akia", "password", "secret", "token", "api"}
	orderWords  = []string{
		"ignore", "disregard", "forget", "override", "replace", "bypass", "admin", "root", "superuser", "developer", "system",
	}
)

// mayMatch says whether a text has one of the words. One with letters beyond ASCII
// is always looked at: patterns take some of them for ours.
func mayMatch(text string, words []string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return true
		}
	}
	lower := strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(lower, word) })
}

func secretInDescription(s *Subject) []Finding {
	return matching(s, " seems to hold a secret in its description", secretsIn)
}

// secretsIn names what looks like a secret.
func secretsIn(text string) []string {
	if !mayMatch(text, secretWords) {
		return nil
	}
	names := named(secretPatterns(), text)
	for _, m := range labelled().FindAllStringSubmatch(text, -1) {
		if strings.ContainsAny(m[1], "0123456789") && strings.ContainsFunc(m[1], letter) {
			names = append(names, "labelled_value")
			break
		}
	}
	return names
}

func letter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func injectionRisk(s *Subject) []Finding {
	return matching(s, " gives the model orders in its description", func(text string) []string {
		if !mayMatch(text, orderWords) {
			return nil
		}
		return named(orderPatterns(), text)
	})
}

func named(patterns []pattern, text string) []string {
	var names []string
	for _, p := range patterns {
		if p.find.MatchString(text) {
			names = append(names, p.name)
		}
	}
	return names
}

// matching finds tools whose description, or a parameter's, shows one of the
// patterns. What was matched is named and never shown.
func matching(s *Subject, title string, look func(string) []string) []Finding {
	var found []Finding
	seen := map[string][]string{} // tools of one source often share a text
	once := func(text string) []string {
		names, ok := seen[text]
		if !ok && text != "" {
			names = look(text)
			seen[text] = names
		}
		return names
	}
	for _, t := range s.Tools() {
		names := slices.Clone(once(t.Description))
		for _, p := range t.Params {
			names = append(names, once(p.Description)...)
		}
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		names = slices.Compact(names)
		f := about(t)
		f.Title = t.Name + title
		f.Confidence, f.Provenance = tool.Medium, RegexHeuristic
		if len(names) > 1 && (t.WriteTool() || t.HighRisk()) {
			f.Severity = High
		}
		f.Evidence = map[string]any{"matched": names}
		found = append(found, f)
	}
	return found
}

func workflowSecret(s *Subject) []Finding {
	if s.Reading.N8N == nil {
		return nil
	}
	var found []Finding
	for _, site := range s.Reading.N8N.Secrets {
		found = append(found, Finding{
			Title: "A workflow parameter seems to hold a secret", Confidence: tool.Medium, Provenance: RegexHeuristic,
			Evidence: map[string]any{"source_ref": site.Path, "parameter_pointer": site.Pointer, "secret_kind": site.Kind},
			Source:   Source{Type: "n8n", Ref: site.Path, Path: site.Path, Pointer: site.Pointer},
		})
	}
	return found
}
