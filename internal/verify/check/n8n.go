package check

import (
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// n8nChecks are the rows of §12.7 about n8n workflows.
var n8nChecks = []*Check{
	{
		ID: "SHIP-N8N-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", Category: "n8n", Severity: High, Tier: Adapter,
		Title:          "A workflow offers tools that cannot be enumerated",
		Description:    "Looks for nodes of workflows that offer an agent tools which reading the workflow cannot list.",
		Rationale:      "What cannot be listed cannot be reviewed, compared or refused.",
		FiresWhen:      "A workflow that is called could not be resolved, a tool's name is an expression, or a wildcard or community node offers tools, and no inventory is loaded.",
		EvidenceFields: []string{"surface", "explicit_inventory"},
		Recommendation: "Name workflows and tools literally, or give an inventory under n8n.",
		HumanReview:    true, PatchKind: Manual, Run: n8nDynamic,
	},
	{
		ID: "SHIP-N8N-MCP-CLIENT-TOOLSET-UNFILTERED", Category: "n8n", Severity: High, Floor: Medium, Dynamic: true, Tier: Adapter,
		Title:          "An MCP client node takes every tool of its server",
		Description:    "Looks at which tools MCP client nodes select.",
		Rationale:      "Without a selection every tool the server adds becomes a tool of the agent, without a change in this repository.",
		FiresWhen:      "The selection is all or all_except and no inventory is loaded. High where the target is production or like it, medium elsewhere.",
		EvidenceFields: []string{"source_ref", "node_id", "selection_mode", "explicit_inventory"},
		Recommendation: "Select the tools that the agent needs by name.",
		HumanReview:    true, PatchKind: Manual, Run: n8nUnfiltered,
	},
	{
		ID: "SHIP-N8N-AI-TOOL-METADATA-MISSING", Category: "n8n", Severity: Medium, Tier: Adapter,
		Title:          "A tool node does not say what it does or takes",
		Description:    "Looks at the description and the parameters of nodes that an agent can call.",
		Rationale:      "The model chooses a tool by its description and fills it by its parameters; without them it guesses.",
		FiresWhen:      "A tool node has no description, or it is not known what it takes.",
		EvidenceFields: []string{"missing", "source_type"},
		Recommendation: "Describe the tool in its node and define its inputs.",
		HumanReview:    true, PatchKind: Manual, Run: metadataOf(n8nNode),
	},
	{
		ID: "SHIP-N8N-CREDENTIAL-EVIDENCE-MISSING", Category: "n8n", Severity: High, Tier: Adapter,
		Title:          "Workflows use credentials of which nothing is known",
		Description:    "Looks for stubs that describe the credentials which workflows name.",
		Rationale:      "A credential's name says nothing about what it opens.",
		FiresWhen:      "The target is production or like it, workflows name credentials, and no credential stub is given.",
		EvidenceFields: []string{"credential_ref_count", "credential_stub_file_count"},
		Recommendation: "Export stubs of the credentials, without their secrets, and name them under n8n.credential_stubs.",
		HumanReview:    true, PatchKind: Manual, Run: n8nCredentials,
	},
	{
		ID: "SHIP-N8N-EVAL-COVERAGE-MISSING", Category: "n8n", Severity: Medium, Tier: Adapter,
		Title:          "Workflows bound for production have no evaluation",
		Description:    "Looks for evaluation files of the workflows' agents.",
		Rationale:      "Nobody has shown what the agents do when they are asked.",
		FiresWhen:      "The target is production or like it, workflows are read, and no evaluation file is named.",
		EvidenceFields: []string{"workflow_count", "ai_agent_count", "eval_file_count"},
		Recommendation: "Name evaluation files under n8n.eval_sets.",
		HumanReview:    true, PatchKind: Manual, Run: n8nEvaluation,
	},
}

// n8nNode says whether a source type is a node that an agent calls and that the
// workflow itself describes.
func n8nNode(sourceType string) bool {
	switch sourceType {
	case "n8n_ai_tool", "n8n_workflow_tool", "n8n_code_tool", "n8n_http_tool":
		return true
	}
	return false
}

func n8nInventory(s *Subject) bool {
	return s.Reading.N8N != nil && s.Reading.N8N.Inventory || inventory(s, "n8n_inventory")
}

// unfiltered says whether a dynamic surface is a client that takes what its
// server offers; that has a check of its own.
func unfiltered(d *tool.Dynamic) bool { return d.Selection == "all" || d.Selection == "all_except" }

func n8nDynamic(s *Subject) []Finding {
	if n8nInventory(s) {
		return nil
	}
	var found []Finding
	for i := range s.Reading.Dynamic {
		if d := &s.Reading.Dynamic[i]; d.Framework == "n8n" && !d.Resolved && !unfiltered(d) {
			found = append(found, openSurface(d, "surface"))
		}
	}
	return found
}

func n8nUnfiltered(s *Subject) []Finding {
	if n8nInventory(s) {
		return nil
	}
	var found []Finding
	for i := range s.Reading.Dynamic {
		d := &s.Reading.Dynamic[i]
		if d.Framework != "n8n" || d.Resolved || !unfiltered(d) {
			continue
		}
		f := Finding{Source: SourceOf(d.Origin), Severity: belowProduction(s, High)}
		f.Title = strings.TrimSpace("The MCP client "+d.Name) + " takes " + strings.ReplaceAll(d.Selection, "_", " ") + " of what its server offers"
		f.Evidence = map[string]any{
			"source_ref": d.Origin.Ref, "node_id": orNull(d.Node), "selection_mode": d.Selection, "explicit_inventory": false,
		}
		found = append(found, f)
	}
	return found
}

func n8nCredentials(s *Subject) []Finding {
	n := s.Reading.N8N
	if n == nil || n.CredentialRefs == 0 || n.CredentialStubs > 0 || !s.Manifest.Environment.Production() {
		return nil
	}
	f := inManifest(s.Manifest, "n8n")
	f.Evidence = map[string]any{"credential_ref_count": n.CredentialRefs, "credential_stub_file_count": 0}
	return []Finding{f}
}

func n8nEvaluation(s *Subject) []Finding {
	n := s.Reading.N8N
	if n == nil || n.Workflows == 0 || n.EvalFiles > 0 || !s.Manifest.Environment.Production() {
		return nil
	}
	f := inManifest(s.Manifest, "n8n")
	f.Evidence = map[string]any{"workflow_count": n.Workflows, "ai_agent_count": n.AIAgents, "eval_file_count": 0}
	return []Finding{f}
}
