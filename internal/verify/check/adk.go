package check

import (
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// adkChecks are the rows of §12.7 about agents of the Google Agent Development
// Kit.
var adkChecks = []*Check{
	{
		ID: "SHIP-ADK-DYNAMIC-TOOLSET-NOT-ENUMERABLE", Category: "adk", Severity: High, Tier: Adapter,
		Title:          "A toolset is only known when the agent runs",
		Description:    "Looks for toolsets of the agent whose tools no file lists.",
		Rationale:      "What cannot be listed cannot be reviewed; the agent may get any tool the other side offers that day.",
		FiresWhen:      "A toolset is dynamic or could not be resolved, and no inventory, MCP listing or OpenAPI source stands for it.",
		EvidenceFields: []string{"toolset", "explicit_inventory"},
		Recommendation: "Give an inventory of the toolset under google_adk, or name the listing it is made from.",
		HumanReview:    true, PatchKind: Manual, Run: adkDynamic,
	},
	{
		ID: "SHIP-ADK-MCP-TOOLSET-UNFILTERED", Category: "adk", Severity: High, Floor: Medium, Dynamic: true, Tier: Adapter,
		Title:          "A server's toolset is taken without a filter",
		Description:    "Looks at toolsets that come from a Model Context Protocol server and at their tool_filter.",
		Rationale:      "Without a filter every tool the server adds becomes a tool of the agent, without a change in this repository.",
		FiresWhen:      "An McpToolset has no static tool_filter. High where the target is production or like it, medium elsewhere.",
		EvidenceFields: []string{"source_ref", "agent_name", "inventory_path"},
		Recommendation: "Name the tools that the agent needs in tool_filter.",
		HumanReview:    true, PatchKind: Manual, Run: adkUnfiltered,
	},
	{
		ID: "SHIP-ADK-FUNCTION-TOOL-METADATA-MISSING", Category: "adk", Severity: Medium, Tier: Adapter,
		Title:          "A function tool does not say what it does or takes",
		Description:    "Looks at the description and the parameters of function tools.",
		Rationale:      "The model chooses a tool by its description and fills it by its parameters; without them it guesses.",
		FiresWhen:      "A function tool has no description, or it is not known what it takes.",
		EvidenceFields: []string{"missing", "source_type"},
		Recommendation: "Write a docstring and annotate the parameters.",
		HumanReview:    true, PatchKind: Manual, Run: metadataOf(func(sourceType string) bool { return sourceType == "google_adk_function" }),
	},
	{
		ID: "SHIP-ADK-LONGRUNNING-CONTRACT-MISSING", Category: "adk", Severity: High, Tier: Adapter,
		Title:          "A long-running tool returns nothing to follow it by",
		Description:    "Looks at the output of tools that return before their work is done.",
		Rationale:      "Work that nobody can ask about is reported as finished, or started again.",
		FiresWhen:      "A long-running tool's output has neither a field like a status nor one like an id.",
		EvidenceFields: []string{"output_schema"},
		Recommendation: "Return a status and an id, and say so in the output schema.",
		HumanReview:    true, PatchKind: Manual, Run: longRunning,
	},
	{
		ID: "SHIP-ADK-GUARDRAIL-EVIDENCE-MISSING", Category: "adk", Severity: High, Tier: Adapter,
		Title:          "High-risk tools stand without callbacks or plugins",
		Description:    "Looks for callbacks and plugins of the agents beside their high-risk tools.",
		Rationale:      "Callbacks are where this framework lets code look at a call before it happens.",
		FiresWhen:      "High-risk tools of the framework are reachable and no callback or plugin is set anywhere.",
		EvidenceFields: []string{"tools"},
		Recommendation: "Put a callback before the tools that checks what they are called with.",
		HumanReview:    true, PatchKind: Manual, Run: guardrails,
	},
	{
		ID: "SHIP-ADK-EVAL-COVERAGE-MISSING", Category: "adk", Severity: Medium, Tier: Adapter,
		Title:          "An agent bound for production has no evaluation",
		Description:    "Looks for evaluation files of the framework's agents.",
		Rationale:      "Nobody has shown what the agent does when it is asked.",
		FiresWhen:      "The target is production or like it, there are agents, and no evaluation file is named.",
		EvidenceFields: []string{"agent_count", "eval_file_count"},
		Recommendation: "Name evaluation files under google_adk.eval_sets.",
		HumanReview:    true, PatchKind: Manual, Run: adkEvaluation,
	},
}

// toolset is a dynamic surface as evidence. The place is left out: it never
// enters a fingerprint.
func toolset(d *tool.Dynamic) map[string]any {
	o := map[string]any{
		"kind": d.Kind, "source_ref": d.Origin.Ref, "agent_name": orNull(d.Agent), "resolved": d.Resolved, "dynamic": true, "filtered": d.Filtered,
	}
	if d.Name != "" {
		o["name"] = d.Name
	}
	if d.Reason != "" {
		o["reason"] = d.Reason
	}
	return o
}

// openSurface is a finding about a dynamic surface that no inventory stands for.
func openSurface(d *tool.Dynamic, field string) Finding {
	f := Finding{Source: SourceOf(d.Origin), Provenance: ASTExtraction}
	if d.Origin.Location == "" && d.Origin.Start.Line == 0 {
		f.Provenance = StaticDeclaration
	}
	f.Title = "A " + strings.ReplaceAll(or(d.Kind, "surface"), "_", " ") + " cannot be enumerated"
	if d.Name != "" {
		f.Title += ": " + d.Name
	}
	f.Evidence = map[string]any{field: toolset(d), "explicit_inventory": false}
	return f
}

// inventory says whether a source of one of the types was loaded.
func inventory(s *Subject, types ...string) bool {
	return slices.ContainsFunc(s.Reading.Sources, func(src tool.Source) bool {
		return src.State == tool.Loaded && slices.Contains(types, src.Type)
	}) || slices.ContainsFunc(s.Catalog, func(t *effect.Tool) bool { return slices.Contains(types, t.Origin.Type) })
}

func adkDynamic(s *Subject) []Finding {
	if s.Reading.ADK != nil && s.Reading.ADK.Inventory || inventory(s, "google_adk_inventory", "mcp", "openapi") {
		return nil
	}
	var found []Finding
	for i := range s.Reading.Dynamic {
		if d := &s.Reading.Dynamic[i]; d.Framework == "google_adk" && !d.Resolved {
			found = append(found, openSurface(d, "toolset"))
		}
	}
	return found
}

// ofMCP says whether a dynamic surface is the toolset of a server.
func ofMCP(d *tool.Dynamic) bool { return strings.Contains(strings.ToLower(d.Kind), "mcp") }

func adkUnfiltered(s *Subject) []Finding {
	var found []Finding
	for i := range s.Reading.Dynamic {
		d := &s.Reading.Dynamic[i]
		if d.Framework != "google_adk" || !ofMCP(d) || d.Filtered {
			continue
		}
		f := Finding{Source: SourceOf(d.Origin), Provenance: ASTExtraction, Severity: belowProduction(s, High)}
		f.Title = "An McpToolset has no static tool_filter"
		f.Evidence = map[string]any{"source_ref": d.Origin.Ref, "agent_name": orNull(d.Agent), "inventory_path": orNull(d.Inventory)}
		found = append(found, f)
	}
	return found
}

// belowProduction is a severity, or medium where the target is not production.
func belowProduction(s *Subject, severity Severity) Severity {
	if s.Manifest.Environment.Production() {
		return severity
	}
	return Medium
}

// metadataOf finds tools of our source types without a description, or of
// which nobody knows what they take. A function that takes nothing is known.
func metadataOf(ours func(sourceType string) bool) func(*Subject) []Finding {
	return func(s *Subject) []Finding {
		var found []Finding
		for _, t := range s.Tools() {
			if !ours(t.Origin.Type) {
				continue
			}
			missing := []string{}
			if strings.TrimSpace(t.Description) == "" {
				missing = append(missing, "description")
			}
			if !t.SchemaKnown() {
				missing = append(missing, "parameters")
			}
			if len(missing) == 0 {
				continue
			}
			f := about(t)
			f.Title = t.Name + " lacks " + strings.Join(missing, " and ")
			f.Evidence = map[string]any{"missing": missing, "source_type": t.Origin.Type}
			found = append(found, f)
		}
		return found
	}
}

// Names of fields by which work is followed.
var (
	statusNames = []string{"status", "state", "phase", "progress", "done", "finished"}
	idNames     = []string{"id", "uuid", "operation", "job", "task", "ticket", "handle"}
)

func longRunning(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if long, _ := t.Flag("long_running"); !long || followable(t) {
			continue
		}
		f := about(t)
		f.Title = t.Name + " runs long and returns neither a status nor an id"
		f.Evidence = map[string]any{"output_schema": t.Output}
		found = append(found, f)
	}
	return found
}

// followable says whether the output, or a contract that is written down, names
// a status or an id.
func followable(t *effect.Tool) bool {
	for _, schema := range []any{t.Output, t.Annotations["long_running_contract"]} {
		object, _ := schema.(map[string]any)
		properties, ok := object["properties"].(map[string]any)
		if !ok {
			properties = object
		}
		for name := range properties {
			if followName(name) {
				return true
			}
		}
	}
	return false
}

func followName(name string) bool {
	lower := strings.ToLower(name)
	if slices.Contains(statusNames, lower) || slices.Contains(idNames, lower) {
		return true
	}
	return strings.HasSuffix(lower, "_status") || strings.HasSuffix(lower, "_state") || strings.HasSuffix(lower, "_id") ||
		strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "Status")
}

func ofADK(t *effect.Tool) bool { return strings.HasPrefix(t.Origin.Type, "google_adk_") }

func guardrails(s *Subject) []Finding {
	if s.Reading.ADK != nil && s.Reading.ADK.Callbacks > 0 {
		return nil
	}
	risky := namesOf(s, func(t *effect.Tool) bool { return ofADK(t) && t.HighRisk() })
	if len(risky) == 0 {
		return nil
	}
	f := inManifest(s.Manifest, "google_adk")
	f.Title = "High-risk tools stand without callbacks or plugins"
	f.Confidence = tool.Medium
	f.Evidence = map[string]any{"tools": risky}
	return []Finding{f}
}

func adkEvaluation(s *Subject) []Finding {
	adk := s.Reading.ADK
	if adk == nil || adk.Agents == 0 || adk.EvalFiles > 0 || !s.Manifest.Environment.Production() {
		return nil
	}
	f := inManifest(s.Manifest, "google_adk")
	f.Evidence = map[string]any{"agent_count": adk.Agents, "eval_file_count": 0}
	return []Finding{f}
}
