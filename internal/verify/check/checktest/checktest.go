// Package checktest builds subjects for tests of checks, so that a test says
// only what its check looks at.
//
// A subject made here is whole: every tool given is reachable and has one
// action whose assessment leaves nothing open. A test then takes away, or adds,
// the one thing that its check is about.
package checktest

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// Agent is the id of the root agent of every subject made here.
const Agent = "agent_v1:000000000000000000000001"

// Today is the evaluation date of every subject made here.
const Today = "2026-06-15"

// ManifestEdit changes a manifest.
type ManifestEdit func(*manifest.Manifest)

// Manifest is a small manifest of an agent that looks things up on staging.
func Manifest(edits ...ManifestEdit) *manifest.Manifest {
	m := &manifest.Manifest{
		Name: "shipgate.yaml", Version: "0.1",
		Project:     manifest.Project{Name: "stock"},
		Agent:       manifest.Agent{Name: "clerk", Purpose: []string{"look up and reorder stock"}},
		Environment: manifest.Environment{Target: "staging"},
		CI:          manifest.CI{Mode: "advisory"},
		Baseline:    manifest.Baseline{IntegrityMode: "warn"},
	}
	for _, edit := range edits {
		edit(m)
	}
	return m
}

// Target sets environment.target.
func Target(name string) ManifestEdit {
	return func(m *manifest.Manifest) { m.Environment.Target = name }
}

// Granted sets permissions.scopes.
func Granted(scopes ...string) ManifestEdit {
	return func(m *manifest.Manifest) { m.Permissions.Scopes = scopes }
}

// Prohibited sets agent.prohibited_actions.
func Prohibited(actions ...string) ManifestEdit {
	return func(m *manifest.Manifest) { m.Agent.Prohibited = actions }
}

// Purpose sets agent.declared_purpose.
func Purpose(sentences ...string) ManifestEdit {
	return func(m *manifest.Manifest) { m.Agent.Purpose = sentences }
}

// Approval sets policies.require_approval_for_tools.
func Approval(tools ...string) ManifestEdit {
	return func(m *manifest.Manifest) { m.Policies.Approval = selectors("require_approval_for_tools", tools) }
}

// Confirmation sets policies.require_confirmation_for_tools.
func Confirmation(tools ...string) ManifestEdit {
	return func(m *manifest.Manifest) {
		m.Policies.Confirmation = selectors("require_confirmation_for_tools", tools)
	}
}

// Idempotency sets policies.require_idempotency_for_tools.
func Idempotency(tools ...string) ManifestEdit {
	return func(m *manifest.Manifest) {
		m.Policies.Idempotency = selectors("require_idempotency_for_tools", tools)
	}
}

func selectors(key string, tools []string) []manifest.Selector {
	var list []manifest.Selector
	for i, name := range tools {
		list = append(list, manifest.Selector{Tool: name, Path: []string{"policies", key, string(rune('0' + i))}})
	}
	return list
}

// ToolEdit changes a tool.
type ToolEdit func(*effect.Tool)

// Tool is a documented, owned tool of an MCP listing with a known interface and
// one scope. It carries no hint: nothing is known of its effect.
func Tool(name string, edits ...ToolEdit) *effect.Tool {
	t := &effect.Tool{
		ID: "tool_v2_" + name, Observations: []string{"obs_v1_" + name}, Status: "structural",
		Tool: tool.Tool{
			Name: name, Description: "Does the one thing that its name says, and nothing else.", Owner: "logistics",
			Origin: tool.Origin{Type: "mcp", SourceID: "stock_mcp", Ref: "tools.json", Path: "tools.json", Pointer: "/tools/0"},
			Input:  map[string]any{"type": "object", "properties": map[string]any{}},
			Auth:   tool.Auth{Type: "oauth2", Scopes: []string{"stock:read"}},
			Method: "declared", Confidence: tool.High,
		},
		Classes: []string{"read"},
	}
	for _, edit := range edits {
		edit(t)
	}
	t.Members = []tool.Tool{t.Tool}
	return t
}

// Hint adds a risk tag as package effect would find it.
func Hint(tag string, confidence tool.Confidence) ToolEdit {
	return func(t *effect.Tool) {
		t.Hints = append(t.Hints, tool.Hint{Tag: tag, Source: "test", Confidence: confidence, Evidence: tag})
	}
}

// Word adds a risk tag that only words give.
func Word(tag string, confidence tool.Confidence) ToolEdit {
	return func(t *effect.Tool) {
		t.Hints = append(t.Hints, tool.Hint{Tag: tag, Source: "keyword", Confidence: confidence, Evidence: "the word " + tag})
	}
}

// Writes makes a tool one that changes something, by its typed annotation.
func Writes() ToolEdit {
	return func(t *effect.Tool) {
		Hint("write", tool.High)(t)
		t.Classes = []string{"write"}
	}
}

// ReadOnly makes a tool read-only by its typed annotation.
func ReadOnly() ToolEdit {
	return func(t *effect.Tool) {
		Annotation("readOnlyHint", true)(t)
		Hint("read_only", tool.High)(t)
		t.Classes = []string{"read"}
	}
}

// Annotation sets one annotation.
func Annotation(key string, value any) ToolEdit {
	return func(t *effect.Tool) {
		if t.Annotations == nil {
			t.Annotations = map[string]any{}
		}
		t.Annotations[key] = value
	}
}

// Described sets the description.
func Described(text string) ToolEdit {
	return func(t *effect.Tool) { t.Description = text }
}

// From sets the source type and the source id.
func From(sourceType, sourceID string) ToolEdit {
	return func(t *effect.Tool) { t.Origin.Type, t.Origin.SourceID = sourceType, sourceID }
}

// Scopes sets the scopes that the source asks for.
func Scopes(scopes ...string) ToolEdit {
	return func(t *effect.Tool) { t.Auth.Scopes = scopes }
}

// Owned sets the owner; "" takes it away.
func Owned(owner string) ToolEdit { return func(t *effect.Tool) { t.Owner = owner } }

// Parsed says that the tool was read out of code.
func Parsed(confidence tool.Confidence) ToolEdit {
	return func(t *effect.Tool) { t.Tool.Method, t.Confidence = "parsed", confidence }
}

// Param adds one input.
func Param(p tool.Parameter) ToolEdit {
	return func(t *effect.Tool) { t.Params = append(t.Params, p) }
}

// Output sets the output schema.
func Output(schema any) ToolEdit { return func(t *effect.Tool) { t.Output = schema } }

// Edit is any other change.
func Edit(edit func(*effect.Tool)) ToolEdit { return edit }

// Surface is one side on which the root agent reaches every given tool.
func Surface(m *manifest.Manifest, tools ...*effect.Tool) *effect.Surface {
	s := &effect.Surface{
		Manifest: m, Reading: &tool.Reading{}, Reach: map[string]effect.Reach{},
		Graph: effect.Graph{
			Nodes: []effect.Node{{ID: Agent, Name: m.Agent.Name}}, Root: Agent, Status: "structural", Eligible: true,
		},
	}
	seen := map[string]bool{}
	for _, t := range tools {
		s.Catalog = append(s.Catalog, t)
		s.Reach[t.ID] = effect.Reachable
		s.Actions = append(s.Actions, controlled(m, Action(t)))
		if !seen[t.Origin.SourceID] {
			seen[t.Origin.SourceID] = true
			s.Reading.Sources = append(s.Reading.Sources, tool.Source{
				ID: t.Origin.SourceID, Type: t.Origin.Type, Path: t.Origin.Path, State: tool.Loaded,
			})
		}
	}
	slices.SortFunc(s.Catalog, func(a, b *effect.Tool) int { return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID) })
	slices.SortFunc(s.Actions, func(a, b *effect.Action) int { return strings.Compare(a.ID, b.ID) })
	return s
}

// controlled gives an action the controls that the manifest's policies and the
// tool's own annotation and parameters give it.
func controlled(m *manifest.Manifest, a *effect.Action) *effect.Action {
	yes := true
	named := func(list []manifest.Selector) bool {
		return slices.ContainsFunc(list, func(s manifest.Selector) bool { return s.Tool == a.Tool.Name })
	}
	if named(m.Policies.Approval) {
		a.Approval = effect.Control{Known: true, Value: true, Inherited: &yes, From: "policy"}
	}
	a.Confirmation = named(m.Policies.Confirmation)
	hint, _ := a.Tool.Flag("idempotentHint")
	if named(m.Policies.Idempotency) || hint || a.Tool.IdempotencyParameter() {
		a.Idempotency = effect.Control{Known: true, Value: true, Inherited: &yes, From: "policy"}
	}
	return a
}

// ActionEdit changes an action.
type ActionEdit func(*effect.Action)

// Action is a fully assessed read of a tool.
func Action(t *effect.Tool, edits ...ActionEdit) *effect.Action {
	a := &effect.Action{
		ID: Agent + ":action_v2_" + t.Name, AgentID: Agent, Tool: t,
		Provider: t.Origin.SourceID, Operation: t.Name, Effect: effect.Read, RiskTags: []string{"read_only"},
		Scopes: t.Auth.Scopes, AuthType: t.Auth.Type, Mode: "scoped", Owner: t.Owner,
		Assessment: effect.Assessment{
			EffectStatus: effect.EffectStructural, EffectConfidence: tool.High, Control: []effect.Effect{effect.Read},
			AuthorityStatus: effect.AuthorityStructural, AuthorityMode: "scoped",
			IdentityEligible: true, BindingEligible: true, SurfaceComplete: true, PassEligible: true,
		},
	}
	for _, edit := range edits {
		edit(a)
	}
	return a
}

// Does gives an action an effect that a reviewed declaration states.
func Does(e effect.Effect) ActionEdit {
	return func(a *effect.Action) {
		a.Effect = e
		a.Assessment.Control = []effect.Effect{e}
		a.Assessment.Claims = []effect.Claim{{
			ID: "claim_" + string(e), Dimension: "effect", Value: string(e), Basis: effect.ReviewedDeclaration,
			Eligible: true, Confidence: tool.High, Why: "declared",
		}}
	}
}

// Act replaces the action of a tool, named by the tool's name.
func Act(t testing.TB, s *effect.Surface, name string, edits ...ActionEdit) *effect.Action {
	t.Helper()
	for _, a := range s.Actions {
		if a.Tool.Name == name {
			for _, edit := range edits {
				edit(a)
			}
			return a
		}
	}
	t.Fatalf("no action of a tool called %q", name)
	return nil
}

// Subject is one side without a base.
func Subject(head *effect.Surface) *check.Subject {
	return &check.Subject{Surface: head, Diff: &delta.Actions{Note: "no base"}, Today: Today}
}

// Change is a subject with a base and the rows that changed.
func Change(base, head *effect.Surface, rows ...delta.ActionRow) *check.Subject {
	return &check.Subject{Surface: head, Base: base, Diff: &delta.Actions{Enabled: true, Rows: rows}, Today: Today}
}

// Run is what one check of the catalogue finds.
func Run(t testing.TB, id string, s *check.Subject) []check.Finding {
	t.Helper()
	c := check.ByID(id)
	if c == nil {
		t.Fatalf("no check is called %s", id)
	}
	if c.Run == nil {
		t.Fatalf("%s is evaluated by another pass", id)
	}
	found := c.Find(s)
	for _, f := range found {
		if f.CheckID != id {
			t.Fatalf("%s reports a finding of %q", id, f.CheckID)
		}
	}
	return found
}

// Silent wants a check to find nothing.
func Silent(t testing.TB, id string, s *check.Subject) {
	t.Helper()
	for _, f := range Run(t, id, s) {
		t.Errorf("%s fires: %s %v", id, f.Title, f.Evidence)
	}
}

// Fires wants a check to find exactly one thing, and gives it back.
func Fires(t testing.TB, id string, s *check.Subject) check.Finding {
	t.Helper()
	found := Run(t, id, s)
	if len(found) != 1 {
		t.Fatalf("%s finds %d things, want 1: %v", id, len(found), found)
	}
	return found[0]
}
