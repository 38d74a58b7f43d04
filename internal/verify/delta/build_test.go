package delta_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

const root = "agent_v1:000000000000000000000001"

// edit changes an action of a test.
type edit func(*effect.Action)

// action is a read that nothing is unclear about.
func action(name string, edits ...edit) *effect.Action {
	t := &effect.Tool{
		ID: "tool_v2_" + name, Observations: []string{"obs_v1_" + name}, Status: "structural",
		Tool: tool.Tool{
			Name: name, Confidence: tool.High, Auth: tool.Auth{Type: "oauth2", Scopes: []string{"stock:read"}, Source: "source"},
			Origin: tool.Origin{Type: "mcp", SourceID: "stock", Ref: "tools.json", Path: "tools.json", Pointer: "/tools/0"},
		},
	}
	a := &effect.Action{
		ID: root + ":action_v2_" + name, AgentID: root, Tool: t, Provider: "stock", Operation: name,
		Effect: effect.Read, RiskTags: []string{"read_only"}, Scopes: []string{"stock:read"}, AuthType: "oauth2", Mode: "scoped",
		Inputs: []string{"id"}, RequiredInputs: []string{"id"},
		Assessment: effect.Assessment{
			EffectStatus: effect.EffectStructural, EffectConfidence: tool.High, Control: []effect.Effect{effect.Read},
			Claims: []effect.Claim{{
				ID: "claim_" + name, Dimension: "effect", Value: "read", Basis: effect.TypedProviderFact, Eligible: true,
				Confidence: tool.High, Why: "readOnlyHint is true", At: t.Origin,
			}},
			AuthorityStatus: effect.AuthorityStructural, AuthorityMode: "scoped",
			IdentityEligible: true, BindingEligible: true, SurfaceComplete: true, PassEligible: true,
		},
	}
	for _, e := range edits {
		e(a)
	}
	return a
}

func yes(from string) effect.Control { return effect.Control{Known: true, Value: true, From: from} }

func no() effect.Control {
	return effect.Control{Known: true, Declared: new(false), From: "declaration"}
}

// does is an action with an effect and the tag of it.
func does(e effect.Effect) edit {
	return func(a *effect.Action) {
		a.Effect = e
		a.RiskTags = []string{e.Tag()}
		a.Assessment.Control = []effect.Effect{e}
		a.Assessment.Claims = []effect.Claim{{
			ID: "claim_" + string(e), Dimension: "effect", Value: string(e), Basis: effect.ReviewedDeclaration, Eligible: true,
			Confidence: tool.High, Why: "declared",
		}}
	}
}

func tagged(tags ...string) edit   { return func(a *effect.Action) { a.RiskTags = tags } }
func scoped(scopes ...string) edit { return func(a *effect.Action) { a.Scopes = scopes } }

// surface is a side with the given actions.
func surface(actions ...*effect.Action) *effect.Surface {
	s := &effect.Surface{
		Manifest: &manifest.Manifest{
			Name: "shipgate.yaml", Project: manifest.Project{Name: "depot"}, Agent: manifest.Agent{Name: "clerk"},
			Environment: manifest.Environment{Target: "staging"},
		},
		Reading: &tool.Reading{Sources: []tool.Source{{ID: "stock", Type: "mcp", Path: "tools.json", State: tool.Loaded}}},
		Reach:   map[string]effect.Reach{}, Paths: map[string][]string{},
		Graph:   effect.Graph{Nodes: []effect.Node{{ID: root, Name: "clerk"}}, Root: root, Status: "structural", Eligible: true},
		Actions: actions,
	}
	for _, a := range actions {
		s.Catalog = append(s.Catalog, a.Tool)
		s.Reach[a.Tool.ID] = effect.Reachable
		s.Paths[a.Tool.ID] = []string{root}
	}
	slices.SortFunc(s.Actions, func(a, b *effect.Action) int { return strings.Compare(a.ID, b.ID) })
	return s
}

func locked(t rapid.TB, s *effect.Surface) *delta.Lock {
	t.Helper()
	l, err := delta.NewLock(s, delta.Meta{ConfigPath: "shipgate.yaml", ManifestDir: ".", CLIVersion: "0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	written(t, l)
	return l
}

// changedBy is the one row by which an action and the same action, edited,
// differ; both ways around.
func changedBy(t *testing.T, before []edit, after []edit) (there, back delta.ChangedFact) {
	t.Helper()
	base, head := locked(t, surface(action("get_stock", before...))), locked(t, surface(action("get_stock", after...)))
	one := func(d *delta.LockDiff) delta.ChangedFact {
		rows := slices.Concat(d.Changed, d.Reidentified, d.EvidenceChanged)
		if len(rows) != 1 || len(d.Added)+len(d.Removed) > 0 {
			t.Fatalf("%d rows: %s", len(rows), d.Markdown())
		}
		return rows[0]
	}
	return one(compared(t, base, head)), one(compared(t, head, base))
}

var (
	someTags   = []string{"read_only", "writes_data", "destructive", "external_communication", "financial_write", "privileged_data", "irreversible"}
	someScopes = []string{"stock:read", "stock:write", "stock:*", "admin", "orders:write"}
	someInputs = []string{"id", "amount", "note", "limit"}
)

// subset draws a set of a few words.
func subset(t *rapid.T, label string, of []string) []string {
	var list []string
	for _, word := range of {
		if rapid.Bool().Draw(t, label+" "+word) {
			list = append(list, word)
		}
	}
	return list
}

func someControl(t *rapid.T, label string) effect.Control {
	return rapid.SampledFrom([]effect.Control{{}, no(), yes("policy")}).Draw(t, label)
}

// anySurface draws a side of up to four tools out of five names.
func anySurface(t *rapid.T) *effect.Surface {
	var actions []*effect.Action
	for i := range 5 {
		name := fmt.Sprintf("tool_%d", i)
		if !rapid.Bool().Draw(t, name+" exists") {
			continue
		}
		actions = append(actions, action(name, does(rapid.SampledFrom(effect.Effects()).Draw(t, "effect")), func(a *effect.Action) {
			a.RiskTags = subset(t, "tag", someTags)
			a.Scopes = subset(t, "scope", someScopes)
			a.Inputs = subset(t, "input", someInputs)
			a.RequiredInputs = slices.DeleteFunc(slices.Clone(a.Inputs), func(string) bool { return rapid.Bool().Draw(t, "optional") })
			a.Approval, a.AuditLog = someControl(t, "approval"), someControl(t, "audit")
			a.Rollback, a.Idempotency = someControl(t, "rollback"), someControl(t, "idempotency")
			a.Confirmation = rapid.Bool().Draw(t, "confirmation")
			a.Threshold = rapid.SampledFrom([]string{"", "500 EUR", "900 EUR"}).Draw(t, "threshold")
			a.AuthType = rapid.SampledFrom([]string{"", "oauth2", "api_key"}).Draw(t, "auth")
			a.Tool.Origin.Start = source.Position{Line: rapid.IntRange(0, 3).Draw(t, "line")}
		}))
	}
	return surface(actions...)
}

// anotherLike is a side with the same actions, of which some have another
// confirmation.
func anotherLike(t *rapid.T, s *effect.Surface) *effect.Surface {
	var actions []*effect.Action
	for _, a := range s.Actions {
		other := *a
		if rapid.Bool().Draw(t, "differs") {
			other.Confirmation = !other.Confirmation
		}
		actions = append(actions, &other)
	}
	return surface(actions...)
}
