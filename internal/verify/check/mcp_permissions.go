package check

import (
	"slices"
	"strings"
	"sync"

	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// mcpPermissions are the rows of §12.3: what a Model Context Protocol server may
// do, what its tools promise and whether the promise holds.
var mcpPermissions = []*Check{
	{
		ID: "SHIP-MCP-ENV-SECRET-PASSTHROUGH", Category: "mcp_permissions", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A server is handed environment variables that look like secrets",
		Description:    "Looks at the names of the environment variables that a host passes to a server. Values are never read.",
		Rationale:      "A server is a program of somebody else. Whatever it is handed, it has.",
		FiresWhen:      "A variable passed to a server is named like a key, credential, password, secret or token.",
		EvidenceFields: []string{"source_id", "env_secret_names"},
		Recommendation: "Give the server a credential of its own with the least scope, or have a person accept that it gets this one.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: envSecrets,
	},
	{
		ID: "SHIP-MCP-AUTO-APPROVE-SIDE-EFFECT", Category: "mcp_permissions", Severity: Critical, Floor: Critical, Tier: Core,
		Title:          "A tool with side effects runs without being asked about",
		Description:    "Looks at the approval mode that the host has for a server or tool, and at what the tool may do.",
		Rationale:      "Automatic approval is for looking. For everything else it takes away the last person in the loop.",
		FiresWhen:      "The approval mode is automatic and the tool is not proven to read only; a tool of which nothing is known counts.",
		EvidenceFields: []string{"source_id", "tool", "approval_mode", "classes"},
		Recommendation: "Ask before each call, or have the server prove that the tool only reads.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: autoApproved,
	},
	{
		ID: "SHIP-MCP-ANNOTATION-CONTRADICTION", Category: "mcp_permissions", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool's annotation contradicts other evidence",
		Description:    "Compares readOnlyHint and destructiveHint with everything else that is known of the tool, and with what they said at the base.",
		Rationale:      "A hint is the server's word about itself. Where the rest disagrees, the hint is a mistake or bait.",
		FiresWhen:      "readOnlyHint is true and independent evidence says that the tool does more, or destructiveHint is false and independent evidence says that it destroys; or such a hint is new and replaces evidence of the base.",
		EvidenceFields: []string{"tool", "hint", "contradicting_claims", "form"},
		Recommendation: "Find out what the tool does; a person corrects the annotation or declares the effect.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, PublishAlways: true, Run: contradictions,
	},
	{
		ID: "SHIP-MCP-UNKNOWN-TOOL-SCHEMA", Category: "mcp_permissions", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool has no usable input schema",
		Description:    "Looks for tools of servers of which nobody says what they take.",
		Rationale:      "A tool that takes anything can be asked for anything.",
		FiresWhen:      "No input schema is given, or it says nothing.",
		EvidenceFields: []string{"source_id", "tool"},
		Recommendation: "Give the listing of the tool with its input schema.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: unknownSchema,
	},
	{
		ID: "SHIP-MCP-PERMISSION-EXPANDED", Category: "mcp_permissions", Severity: High, Floor: Medium, Tier: Core,
		Title:          "A tool of a server may do more than before",
		Description:    "Compares the capabilities of every server's tools with the base.",
		Rationale:      "A server changes without the repository changing much. What it gained is the part of the change to look at.",
		FiresWhen:      "The difference of a capability is broader, mixed, or cannot be told.",
		EvidenceFields: []string{"tool", "direction", "changes"},
		Recommendation: "Have a person review what the tool gained, or restore it.",
		HumanReview:    true, PatchKind: Manual, HumanAlways: true, Run: permissionExpanded,
	},
	{
		ID: "SHIP-MCP-READONLY-SERVER-ADDED", Category: "mcp_permissions", Severity: Low, Tier: Core,
		Title:          "A new server offers reading tools only",
		Description:    "Notes servers that were not there at the base and whose reachable tools all read.",
		Rationale:      "Nothing is wrong with it; somebody may still want to know who is listened to.",
		FiresWhen:      "A server is new against the base and every tool of it that the agent reaches only reads.",
		EvidenceFields: []string{"source_id"},
		Recommendation: "Nothing has to be done.",
		HumanReview:    false, PatchKind: NoPatch, Run: readOnlyServerAdded,
	},
}

// ofServer says whether a tool is offered by a Model Context Protocol server.
func ofServer(t *effect.Tool) bool {
	switch t.Origin.Type {
	case "mcp", "codex_config_mcp", "codex_plugin_mcp_inventory", "n8n_mcp_client_tool", "mcp_server_code", "google_adk_mcp_tool":
		return true
	}
	return false
}

// server is what tells the servers of one source apart.
type server struct{ source, name string }

func serverOf(t *effect.Tool) server {
	key := server{source: t.Origin.SourceID}
	for _, annotation := range []string{"mcp_server", "codex_plugin_mcp_server"} {
		if name, ok := t.Annotations[annotation].(string); ok && key.name == "" {
			key.name = name
		}
	}
	return key
}

// envSecrets is one finding a server: its variables are handed to all tools.
func envSecrets(s *Subject) []Finding {
	names := map[server][]string{}
	first := map[server]*effect.Tool{}
	var order []server
	for _, t := range s.Tools() {
		secrets := t.EnvSecrets()
		if len(secrets) == 0 {
			continue
		}
		key := serverOf(t)
		if first[key] == nil {
			first[key] = t
			order = append(order, key)
		}
		names[key] = append(names[key], secrets...)
	}
	var found []Finding
	for _, key := range order {
		f := Finding{Source: SourceOf(first[key].Origin)}
		f.Title = "The server " + or(key.name, key.source) + " is handed environment variables that look like secrets"
		f.Evidence = map[string]any{"source_id": key.source, "env_secret_names": sorted(names[key])}
		found = append(found, f)
	}
	return found
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func autoApproved(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		if !ofServer(t) || !t.AutoApproved() || t.ReadOnlyClasses() {
			continue
		}
		f := about(t)
		f.Title = t.Name + " runs without being asked about and is not known to read only"
		f.Evidence = map[string]any{
			"source_id": t.Origin.SourceID, "tool": t.Name, "approval_mode": t.Annotations["mcp_approval_mode"],
			"classes": append([]string{}, t.Classes...),
		}
		found = append(found, f)
	}
	return found
}

func unknownSchema(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		// A wildcard is no tool that could have a schema, and has a check of its own.
		if !ofServer(t) || t.SchemaKnown() || t.Wildcard() {
			continue
		}
		f := about(t)
		f.Title = t.Name + " has no usable input schema"
		f.Evidence = map[string]any{"source_id": t.Origin.SourceID, "tool": t.Name}
		found = append(found, f)
	}
	return found
}

// promise is a hint by which a tool says that it does less than it might.
type promise struct {
	hint   string
	value  bool
	breaks func(effect.Effect) bool
}

var promises = []promise{
	{"readOnlyHint", true, func(e effect.Effect) bool { return e != effect.Read }},
	{"destructiveHint", false, func(e effect.Effect) bool { return e == effect.Destructive }},
}

func contradictions(s *Subject) []Finding {
	var found []Finding
	for _, t := range s.Tools() {
		a := s.ActionOf(t)
		if a == nil {
			continue
		}
		for _, p := range promises {
			if value, said := t.Flag(p.hint); !said || value != p.value {
				continue
			}
			claims, form := p.against(a), "static"
			if len(claims) == 0 {
				claims, form = p.replaced(s, a), "delta"
			}
			if len(claims) == 0 {
				continue
			}
			found = append(found, contradiction(t, p, claims, form))
		}
	}
	return found
}

func contradiction(t *effect.Tool, p promise, claims []effect.Claim, form string) Finding {
	list := []string{}
	for _, c := range claims {
		list = append(list, c.Value+" ("+string(c.Basis)+")")
	}
	f := about(t)
	f.Title = t.Name + " promises by " + p.hint + " what other evidence denies"
	f.Evidence = map[string]any{"tool": t.Name, "hint": p.hint, "contradicting_claims": sorted(list), "form": form}
	f.Support = conjunction(claimed(p.hint, p.value, sorted(list), claims))
	f.Confidence = f.Support.Confidence
	if onlyWords(claims) {
		f.Provenance = KeywordHeuristic
	}
	return f
}

// against are the claims that deny the promise and do not come from people: a
// declaration that goes further than a hint corrects it. Words count from
// medium confidence on.
func (p promise) against(a *effect.Action) []effect.Claim {
	var list []effect.Claim
	for _, c := range a.Assessment.Claims {
		independent := c.Basis != effect.ReviewedDeclaration && c.Basis != effect.ProtocolDefault && c.Basis != effect.UnknownBasis
		if c.Dimension == effect.EffectDimension && independent && p.breaks(effect.Effect(c.Value)) && c.Confidence.AtLeast(tool.Medium) {
			list = append(list, c)
		}
	}
	return list
}

// replaced are the claims of the base that denied the promise, where the promise
// is new and nothing else than it says why they are gone.
func (p promise) replaced(s *Subject, a *effect.Action) []effect.Claim {
	if s.Base == nil || a.Declared != nil && a.Declared.Effect != "" {
		return nil
	}
	before := s.Base.Action(a.Tool.ID)
	if before == nil {
		return nil
	}
	if value, said := before.Tool.Flag(p.hint); said && value == p.value {
		return nil
	}
	for _, c := range a.Assessment.Claims {
		if c.Dimension == effect.EffectDimension && c.Basis == effect.ProtocolStructure && !p.breaks(effect.Effect(c.Value)) {
			return nil // the protocol itself says so now
		}
	}
	return eligible(p.against(before))
}

// permissionExpanded compares capabilities, not text: what a person declared
// better is no expansion.
func permissionExpanded(s *Subject) []Finding {
	if s.Base == nil {
		return nil
	}
	if !slices.ContainsFunc(s.Tools(), ofServer) {
		return nil
	}
	var found []Finding
	for _, row := range delta.Changed(s.Base, s.Surface) {
		t := s.Tool(row.After.Identity.ToolID)
		if t == nil || s.Reach[t.ID] != effect.Reachable || !ofServer(t) {
			continue
		}
		switch row.Direction {
		case delta.Broadened, delta.Mixed, delta.Unclear:
			found = append(found, expansion(s, t, &row))
		case delta.Added, delta.Removed, delta.Narrowed, delta.EvidenceOnly:
		}
	}
	return found
}

// expansion rests on what is written down somewhere. Where only words raised the
// effect or its tags it is shown and decides nothing.
func expansion(s *Subject, t *effect.Tool, row *delta.ChangedFact) Finding {
	changes := []map[string]any{}
	kinds := []string{}
	written := false
	for _, c := range row.Changes {
		if c.Direction == delta.EvidenceOnly || c.Direction == delta.Narrowed {
			continue
		}
		changes = append(changes, map[string]any{"kind": c.Kind, "field": c.Field, "before": c.Before, "after": c.After})
		kinds = append(kinds, c.Kind)
		written = written || !strings.HasPrefix(c.Field, "effect.") && c.Field != "risk_tags"
	}
	f := about(t)
	p := predicate("capability_expanded", true, "nothing more than at the base", sorted(kinds))
	if claims := gained(s, t); !written {
		p = claimed("capability_expanded", p.Expected, p.Observed, claims)
		if !p.PolicyEligible {
			f.Provenance = KeywordHeuristic
		}
	}
	f.Support = conjunction(p)
	f.Confidence = f.Support.Confidence
	f.Title = t.Name + " may do more than before: " + strings.Join(sorted(kinds), ", ")
	if row.Direction == delta.Unclear {
		f.Title = "It cannot be told whether " + t.Name + " may do more than before: " + strings.Join(sorted(kinds), ", ")
	}
	f.Evidence = map[string]any{"tool": t.Name, "direction": string(row.Direction), "changes": changes}
	return f
}

// gained are the claims about the effect of a tool that its base did not prove.
func gained(s *Subject, t *effect.Tool) []effect.Claim {
	a, before := s.ActionOf(t), s.Base.Action(t.ID)
	if a == nil {
		return nil
	}
	var claims []effect.Claim
	for _, c := range a.Assessment.Claims {
		if c.Dimension == effect.EffectDimension && (before == nil || !before.Assessment.Eligible(effect.Effect(c.Value))) {
			claims = append(claims, c)
		}
	}
	return claims
}

func readOnlyServerAdded(s *Subject) []Finding {
	if s.Base == nil {
		return nil
	}
	known := sync.OnceValue(func() map[server]bool {
		known := map[server]bool{}
		for _, t := range s.Base.Catalog {
			known[serverOf(t)] = true
		}
		return known
	})
	tools := map[server][]*effect.Tool{}
	var order []server
	for _, t := range s.Tools() {
		if !ofServer(t) || s.Base.Shares(t) {
			continue // a tool that the base has is one of a server that it has
		}
		key := serverOf(t)
		if known()[key] {
			continue
		}
		if tools[key] == nil {
			order = append(order, key)
		}
		tools[key] = append(tools[key], t)
	}
	var found []Finding
	for _, key := range order {
		if slices.ContainsFunc(tools[key], func(t *effect.Tool) bool { return !t.ReadOnlyClasses() }) {
			continue
		}
		f := Finding{Source: SourceOf(tools[key][0].Origin)}
		f.Title = "The new server " + or(key.name, key.source) + " offers reading tools only"
		f.Evidence = map[string]any{"source_id": key.source}
		found = append(found, f)
	}
	return found
}
