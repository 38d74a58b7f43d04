package check

import (
	"strings"

	"plimsoll.dev/internal/verify/tool"
)

// codexPluginChecks are the rows of §12.7 about Codex plugin packages and
// marketplaces.
var codexPluginChecks = []*Check{
	{
		ID: "SHIP-CODEX-PLUGIN-METADATA-MISSING", Category: "codex_plugin", Severity: Medium, Tier: Adapter,
		Title:          "A plugin does not say who it is",
		Description:    "Looks at the identity in a plugin's manifest.",
		Rationale:      "A plugin is installed by its name. A name that is missing, taken or different from its folder leads somewhere else.",
		FiresWhen:      "A required field of the identity is missing, the name differs from that of the plugin's folder, or two plugins have one name.",
		EvidenceFields: []string{"plugin", "source_id", "manifest_path", "issues"},
		Recommendation: "Complete the identity in .codex-plugin/plugin.json.",
		HumanReview:    true, PatchKind: Manual, Run: pluginMetadata,
	},
	{
		ID: "SHIP-CODEX-PLUGIN-COMPONENT-PATH-MISSING", Category: "codex_plugin", Severity: High, Tier: Adapter,
		Title:          "A plugin names a component that is not there",
		Description:    "Follows the paths that a plugin's manifest names.",
		Rationale:      "What is named and not there was not reviewed; what lies outside of the package is not part of what was reviewed.",
		FiresWhen:      "A path of a component is absent, or leads out of the plugin or of the manifest's directory.",
		EvidenceFields: []string{"plugin", "component", "path", "reason"},
		Recommendation: "Put the component into the package, or take its path out of the manifest.",
		HumanReview:    true, PatchKind: Manual, Run: pluginComponents,
	},
	{
		ID: "SHIP-CODEX-PLUGIN-SKILL-METADATA-MISSING", Category: "codex_plugin", Severity: Medium, Tier: Adapter,
		Title:          "A skill of a plugin does not say what it is for",
		Description:    "Looks at the head of every SKILL.md of a plugin.",
		Rationale:      "A skill is chosen by its name and description; without them, or twice under one name, the wrong one is.",
		FiresWhen:      "SKILL.md lacks a name or a description, or its name is used twice.",
		EvidenceFields: []string{"plugin", "skill", "path", "missing_fields", "duplicate"},
		Recommendation: "Give the skill a name of its own and a description.",
		HumanReview:    true, PatchKind: Manual, Run: pluginSkills,
	},
	{
		ID: "SHIP-CODEX-PLUGIN-MCP-SERVER-NOT-ENUMERABLE", Category: "codex_plugin", Severity: High, Tier: Adapter,
		Title:          "A plugin brings a server of which no tool is known",
		Description:    "Looks for an inventory of every Model Context Protocol server that a plugin brings.",
		Rationale:      "What cannot be listed cannot be reviewed, compared or refused.",
		FiresWhen:      "A server of a plugin has no loaded inventory.",
		EvidenceFields: []string{"plugin", "server", "path", "inventory_path"},
		Recommendation: "Name an inventory of the server's tools under codex_plugins.mcp_tool_inventories.",
		HumanReview:    true, PatchKind: Manual, Run: pluginServers,
	},
	{
		ID: "SHIP-CODEX-PLUGIN-APP-SURFACE-NOT-ENUMERABLE", Category: "codex_plugin", Severity: Medium, Tier: Adapter,
		Title:          "A plugin connects an app of which nothing local tells",
		Description:    "Looks for a local description of every app connector of a plugin.",
		Rationale:      "A connector opens an account somewhere else; what it can do there is not in the package.",
		FiresWhen:      "An app connector has no local surface.",
		EvidenceFields: []string{"plugin", "app", "connector_id", "path"},
		Recommendation: "Describe what the connector may do, or take it out of the plugin.",
		HumanReview:    true, PatchKind: Manual, Run: pluginApps,
	},
	{
		ID: "SHIP-CODEX-PLUGIN-MARKETPLACE-POLICY-MISSING", Category: "codex_plugin", Severity: Medium, Tier: Adapter,
		Title:          "A marketplace entry does not say how it is installed",
		Description:    "Looks at the policy and the category of local marketplace entries.",
		Rationale:      "Without a policy everybody who sees the entry decides anew who may install it and as whom it signs in.",
		FiresWhen:      "An entry lacks policy.installation, policy.authentication or category.",
		EvidenceFields: []string{"marketplace", "plugin", "missing"},
		Recommendation: "Complete the entry.",
		HumanReview:    true, PatchKind: Manual, Run: marketPolicies,
	},
}

// ofPlugin is a finding about a file of a plugin.
func ofPlugin(p *tool.Plugin, path, title string, evidence map[string]any) Finding {
	evidence["plugin"] = orNull(p.Name)
	return Finding{
		Title:    title,
		Source:   Source{Type: "codex_plugin", Ref: or(p.ManifestPath, p.Root), Path: or(path, p.ManifestPath)},
		Evidence: evidence,
	}
}

func pluginName(p *tool.Plugin) string { return or(p.Name, p.Root) }

func pluginMetadata(s *Subject) []Finding {
	var found []Finding
	for i := range s.Reading.Plugins {
		p := &s.Reading.Plugins[i]
		if len(p.Issues) == 0 {
			continue
		}
		found = append(found, ofPlugin(p, p.ManifestPath, "The plugin "+pluginName(p)+" does not say who it is", map[string]any{
			"source_id": p.SourceID, "manifest_path": p.ManifestPath, "issues": sorted(p.Issues),
		}))
	}
	return found
}

func pluginComponents(s *Subject) []Finding {
	var found []Finding
	for i := range s.Reading.Plugins {
		p := &s.Reading.Plugins[i]
		for _, c := range p.Components {
			if c.Reason == "" {
				continue
			}
			where := " is not there"
			if c.Reason == "outside" {
				where = " lies outside"
			}
			found = append(found, ofPlugin(p, p.ManifestPath, "A component of the plugin "+pluginName(p)+where+": "+c.Path, map[string]any{
				"component": c.Kind, "path": c.Path, "reason": c.Reason,
			}))
		}
	}
	return found
}

func pluginSkills(s *Subject) []Finding {
	var found []Finding
	for i := range s.Reading.Plugins {
		p := &s.Reading.Plugins[i]
		for _, k := range p.Skills {
			if len(k.MissingFields) == 0 && !k.Duplicate {
				continue
			}
			title := "The skill " + or(k.Name, k.Path) + " lacks " + strings.Join(sorted(k.MissingFields), " and ")
			if len(k.MissingFields) == 0 {
				title = "The name of the skill " + k.Name + " is used twice"
			}
			found = append(found, ofPlugin(p, k.Path, title, map[string]any{
				"skill": orNull(k.Name), "path": k.Path, "missing_fields": sorted(k.MissingFields), "duplicate": k.Duplicate,
			}))
		}
	}
	return found
}

func pluginServers(s *Subject) []Finding {
	var found []Finding
	for i := range s.Reading.Plugins {
		p := &s.Reading.Plugins[i]
		for _, server := range p.Servers {
			if server.Inventory != "" {
				continue
			}
			found = append(found, ofPlugin(p, server.Path, "No tool of the plugin's server "+server.Name+" is known", map[string]any{
				"server": server.Name, "path": server.Path, "inventory_path": nil,
			}))
		}
	}
	return found
}

func pluginApps(s *Subject) []Finding {
	var found []Finding
	for i := range s.Reading.Plugins {
		p := &s.Reading.Plugins[i]
		for _, app := range p.Apps {
			if app.Local {
				continue
			}
			found = append(found, ofPlugin(p, app.Path, "Nothing local tells what the app "+or(app.Name, app.ConnectorID)+" may do", map[string]any{
				"app": app.Name, "connector_id": orNull(app.ConnectorID), "path": app.Path,
			}))
		}
	}
	return found
}

func marketPolicies(s *Subject) []Finding {
	var found []Finding
	for i := range s.Reading.Markets {
		m := &s.Reading.Markets[i]
		for _, e := range m.Entries {
			if len(e.Missing) == 0 {
				continue
			}
			found = append(found, Finding{
				Title:    "The marketplace entry " + e.Plugin + " lacks " + strings.Join(sorted(e.Missing), ", "),
				Source:   Source{Type: "codex_plugin", Ref: m.Path, Path: m.Path},
				Evidence: map[string]any{"marketplace": m.Path, "plugin": e.Plugin, "missing": sorted(e.Missing)},
			})
		}
	}
	return found
}
