package effect_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

var (
	words     = rapid.SampledFrom([]string{"get", "delete", "refund", "email", "customer", "status", "shell", "stock", "deploy", "preview"})
	confident = rapid.SampledFrom([]tool.Confidence{tool.High, tool.Medium, tool.Low})
	modes     = rapid.SampledFrom([]string{"", "none", "scoped", "unscoped", "ambient"})
	scopeList = rapid.SliceOfN(rapid.SampledFrom([]string{"stock:read", "stock:write", "bins:delete", "stock:*", "*"}), 0, 3)
)

// anyTool is one observation in one of four sources.
func anyTool(t *rapid.T, n int) tool.Tool {
	source := rapid.SampledFrom([]string{"kit", "spare", "api", "bot"}).Draw(t, "source")
	kind := map[string]string{"kit": "mcp", "spare": "openai_api", "api": "openapi", "bot": "sdk_function"}[source]
	// Numbered by the source as well, so that names repeat between sources only.
	name := fmt.Sprintf("%s_%d", words.Draw(t, "name"), n)
	out := made(kind, source, name, saying(strings.Join(rapid.SliceOfN(words, 0, 3).Draw(t, "text"), " ")))
	out.Confidence = confident.Draw(t, "confidence")
	out.Auth = tool.Auth{Type: rapid.SampledFrom([]string{"", "oauth2", "none"}).Draw(t, "auth"), Scopes: scopeList.Draw(t, "scopes")}
	if source == "api" {
		out.Annotations["httpMethod"] = rapid.SampledFrom([]string{"GET", "POST", "DELETE", "TRACE"}).Draw(t, "method")
		out.Annotations["path"] = "/" + name
	}
	for _, key := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "wildcard_tools"} {
		switch rapid.IntRange(0, 5).Draw(t, key) {
		case 0:
			out.Annotations[key] = true
		case 1:
			out.Annotations[key] = false
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "inputs") {
		out.Params = append(out.Params, tool.Parameter{Name: fmt.Sprintf("p%d", i), Type: "string", Required: rapid.Bool().Draw(t, "required")})
	}
	return out
}

func anyReading(t *rapid.T) *tool.Reading {
	r := &tool.Reading{}
	for n := range rapid.IntRange(1, 8).Draw(t, "tools") {
		r.Tools = append(r.Tools, anyTool(t, n))
	}
	agents := []string{"a", "b", "c"}[:rapid.IntRange(0, 3).Draw(t, "agents")]
	for i, name := range agents {
		r.Agents = append(r.Agents, tool.Agent{Name: name, Origin: code(i + 1)})
	}
	if len(agents) > 0 {
		for i := range rapid.IntRange(0, 8).Draw(t, "edges") {
			e := tool.Edge{
				Kind: tool.DirectTool, Agent: rapid.SampledFrom(agents).Draw(t, "from"), Complete: rapid.Bool().Draw(t, "complete"),
				Origin: code(10 + i),
			}
			if rapid.Bool().Draw(t, "handoff") {
				e.Kind, e.To = tool.Handoff, rapid.SampledFrom(agents).Draw(t, "to")
			} else {
				to := rapid.SampledFrom(r.Tools).Draw(t, "tool")
				e.To, e.ToSource = to.Name, to.Origin.SourceID
			}
			r.Edges = append(r.Edges, e)
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "dynamic") == 0 {
		r.Dynamic = append(r.Dynamic, tool.Dynamic{Kind: "toolset", Reason: "runtime_call", Agent: rapid.SampledFrom([]string{"", "a"}).Draw(t, "holder"), Origin: code(30)})
	}
	return r
}

// anyManifest is one of several loaded manifests that talk about such readings.
func anyManifest(t *rapid.T) *manifest.Manifest {
	m, err := manifest.Load([]byte(rapid.SampledFrom([]string{header, bound}).Draw(t, "manifest")), manifest.Options{Name: "shipgate.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "root") {
		m.Bindings.RootObject = "a"
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "policies") {
		sel := manifest.Selector{
			Tool: fmt.Sprintf("%s_%d", words.Draw(t, "selected"), rapid.IntRange(0, 7).Draw(t, "number")),
			Path: []string{"policies", "require_approval_for_tools", fmt.Sprint(n)},
		}
		m.Policies.Approval = append(m.Policies.Approval, sel)
	}
	return m
}

func resolved(t *rapid.T, m *manifest.Manifest, r *tool.Reading) *effect.Surface {
	s, err := effect.Resolve(m, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// written is everything of a surface that others read, as text.
func written(s *effect.Surface) string {
	text, err := json.MarshalIndent([]any{s.Catalog, s.Reach, s.Paths, s.Graph, s.Actions, s.Warnings}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestTheOrderOfFilesAndRowsChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, r := anyManifest(t), anyReading(t)
		shuffled := *r
		mix := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		shuffled.Tools, shuffled.Agents, shuffled.Edges = slices.Clone(r.Tools), slices.Clone(r.Agents), slices.Clone(r.Edges)
		mix.Shuffle(len(shuffled.Tools), func(i, j int) { shuffled.Tools[i], shuffled.Tools[j] = shuffled.Tools[j], shuffled.Tools[i] })
		mix.Shuffle(len(shuffled.Agents), func(i, j int) {
			shuffled.Agents[i], shuffled.Agents[j] = shuffled.Agents[j], shuffled.Agents[i]
		})
		mix.Shuffle(len(shuffled.Edges), func(i, j int) { shuffled.Edges[i], shuffled.Edges[j] = shuffled.Edges[j], shuffled.Edges[i] })
		if a, b := written(resolved(t, m, r)), written(resolved(t, m, &shuffled)); a != b {
			t.Fatalf("one order\n%s\nanother\n%s", a, b)
		}
	})
}

func TestRenamingOneToolChangesNoOtherId(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, r := anyManifest(t), anyReading(t)
		n := rapid.IntRange(0, len(r.Tools)-1).Draw(t, "renamed")
		renamed := *r
		renamed.Tools = slices.Clone(r.Tools)
		old := r.Tools[n].Name
		renamed.Tools[n].Name = "another"
		ids := func(s *effect.Surface) (ids []string) {
			for _, c := range s.Catalog {
				if c.Name != old && c.Name != "another" {
					ids = append(ids, c.ID)
				}
			}
			return ids
		}
		if a, b := ids(resolved(t, m, r)), ids(resolved(t, m, &renamed)); !slices.Equal(a, b) {
			t.Fatalf("%v\n%v", a, b)
		}
	})
}

func anyClaim(t *rapid.T) effect.Claim {
	return effect.Claim{
		ID: rapid.StringMatching(`[a-c]`).Draw(t, "id"), Dimension: effect.EffectDimension,
		Value: string(rapid.SampledFrom(effect.Effects()).Draw(t, "value")),
		Basis: rapid.SampledFrom([]effect.Basis{
			effect.ReviewedDeclaration, effect.ProtocolStructure, effect.TypedProviderFact, effect.StructuralScope,
			effect.InferredKeyword, effect.InferredRegex, effect.ProtocolDefault, effect.UnknownBasis,
		}).Draw(t, "basis"),
		Eligible: rapid.Bool().Draw(t, "eligible"), Confidence: confident.Draw(t, "confidence"),
		Source: rapid.StringMatching(`[a-c]`).Draw(t, "source"),
	}
}

func TestTheStrongestClaimIsAJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyClaim(t), anyClaim(t), anyClaim(t)
		join := effect.Stronger
		if join(a, a) != a {
			t.Fatalf("%+v with itself is %+v", a, join(a, a))
		}
		if join(a, b) != join(b, a) {
			t.Fatalf("%+v and %+v: %+v or %+v", a, b, join(a, b), join(b, a))
		}
		if join(a, join(b, c)) != join(join(a, b), c) {
			t.Fatalf("%+v, %+v, %+v", a, b, c)
		}
		if j := effect.Rank(effect.Effect(join(a, b).Value)); j < effect.Rank(effect.Effect(a.Value)) || j < effect.Rank(effect.Effect(b.Value)) {
			t.Fatalf("the join of %s and %s is weaker than one of them", a.Value, b.Value)
		}
	})
}

func TestCompleteEdgesOnlyReachMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyReading(t)
		m := anyManifest(t)
		m.Bindings.RootObject = "a"
		r.Agents = append(r.Agents, tool.Agent{Name: "a", Origin: code(1)})
		before := resolved(t, m, r)
		more := *r
		e := tool.Edge{Kind: tool.DirectTool, Agent: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "agent"), Complete: true, Origin: code(90)}
		if rapid.Bool().Draw(t, "to an agent") {
			e.Kind, e.To = tool.Subagent, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "handed to")
		} else {
			to := rapid.SampledFrom(r.Tools).Draw(t, "bound")
			e.To, e.ToSource = to.Name, to.Origin.SourceID
		}
		more.Edges = append(slices.Clone(r.Edges), e)
		after := resolved(t, m, &more)
		rank := map[effect.Reach]int{effect.Unbound: 0, effect.Possible: 1, effect.Reachable: 2}
		for id, was := range before.Reach {
			if rank[after.Reach[id]] < rank[was] {
				t.Fatalf("%s was %s and is %s after one more edge %+v", id, was, after.Reach[id], e)
			}
		}
	})
}

func TestScopeCoverIsReflexiveAndTransitive(t *testing.T) {
	scope := rapid.StringMatching(`(\*|([aA]:){0,2}([ab*]|b:\*))`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := scope.Draw(t, "a"), scope.Draw(t, "b"), scope.Draw(t, "c")
		if !effect.Covers(a, a) {
			t.Fatalf("%q does not cover itself", a)
		}
		if effect.Covers(a, b) && effect.Covers(b, c) && !effect.Covers(a, c) {
			t.Fatalf("%q covers %q, that covers %q, and the first does not cover the last", a, b, c)
		}
		if declared := []string{a, b}; effect.NewCover(declared).Has(c) != (effect.Covers(a, c) || effect.Covers(b, c)) {
			t.Fatalf("%q cover %q: %t", declared, c, effect.NewCover(declared).Has(c))
		}
		if effect.Covers(a, b) && effect.BroadScope(b) && !effect.BroadScope(a) {
			t.Fatalf("%q is not broad and covers %q, which is", a, b)
		}
	})
}

// A declaration may add to what controls rest on. It takes nothing away, and one
// that is below the evidence is a conflict unless it says why it stands.
func TestADeclarationLowersNothingInSilence(t *testing.T) {
	tags := rapid.SampledFrom([]string{"read_only", "write", "destructive", "financial_write", "customer_data"})
	rapid.Check(t, func(t *rapid.T) {
		r := &tool.Reading{Tools: []tool.Tool{anyTool(t, 0)}}
		m, err := manifest.Load([]byte(bound), manifest.Options{Name: "shipgate.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		before := resolved(t, m, r).Actions[0]

		d := manifest.Action{
			Selector: manifest.Selector{Tool: r.Tools[0].Name}, Effect: string(rapid.SampledFrom(effect.Effects()).Draw(t, "declared")),
			RiskTags: rapid.SliceOfN(tags, 0, 2).Draw(t, "tags"), Scopes: scopeList.Draw(t, "declared scopes"),
		}
		if mode := modes.Draw(t, "mode"); mode != "" {
			d.Authority = &manifest.Authority{Mode: mode, AuthType: "oauth2"}
		}
		if rapid.Bool().Draw(t, "override") {
			d.Override = &manifest.Override{Evidence: "e", Reason: "r"}
		}
		declared := *m
		declared.Surface.Actions = []manifest.Action{d}
		if rapid.Bool().Draw(t, "risk override") {
			declared.Risks = []manifest.Risk{{Tool: r.Tools[0].Name, Tags: []string{"read_only"}, RemoveTags: []string{"write", "destructive"}}}
		}
		after := resolved(t, &declared, r).Actions[0]
		as := &after.Assessment

		for _, e := range before.Assessment.Control {
			if !as.Eligible(e) {
				t.Fatalf("%s was proven and is gone: %v", e, as.Control)
			}
			if effect.Rank(after.Effect) < effect.Rank(e) {
				t.Fatalf("the effect %s is below the proof of %s", after.Effect, e)
			}
			if below := effect.Rank(effect.Effect(d.Effect)) < effect.Rank(e); below && d.Override == nil {
				if as.EffectStatus != effect.EffectConflicting || as.PassEligible {
					t.Fatalf("declared as %s against the proof of %s: %s, pass-eligible %t", d.Effect, e, as.EffectStatus, as.PassEligible)
				}
			}
		}
		for _, scope := range before.Scopes {
			if !slices.Contains(after.Scopes, scope) {
				t.Fatalf("the scope %s is gone: %v", scope, after.Scopes)
			}
		}
		if before.Assessment.AuthorityStatus == effect.AuthorityPartial && as.PassEligible {
			t.Fatal("a declaration replaced what the source says by half")
		}
	})
}

// What passes is known in every dimension; what does not says why.
func TestWhatDoesNotPassSaysWhy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := resolved(t, anyManifest(t), anyReading(t))
		for _, a := range s.Actions {
			as := &a.Assessment
			if as.PassEligible && (!as.IdentityEligible || !as.BindingEligible || !as.SurfaceComplete || len(as.Issues) > 0 || len(a.Tool.Issues) > 0) {
				t.Fatalf("%s passes: %+v", a.Tool.Name, as)
			}
			if !as.PassEligible && len(as.Issues) == 0 && len(s.Graph.Issues) == 0 {
				t.Fatalf("%s does not pass and nothing says why: %+v", a.Tool.Name, as)
			}
		}
		if !s.Graph.Eligible && len(s.Graph.Issues) == 0 {
			t.Fatalf("the graph is %s and nothing says why", s.Graph.Status)
		}
		for _, c := range s.Catalog {
			if (s.Action(c.ID) != nil) != (s.Reach[c.ID] == effect.Reachable) {
				t.Fatalf("%s is %s", c.Name, s.Reach[c.ID])
			}
		}
	})
}

// Annotations are free text of others.
func TestNoAnnotationBreaksAnything(t *testing.T) {
	keys := rapid.SampledFrom([]string{
		"readOnlyHint", "permission_class", "permission_classes", "agent_bindings", "agent_handoffs", "binding_surface_partial",
		"adk_agent_name", "adk_agent_source_id", "codex_plugin", "codex_plugin_mcp_server", "mcp_env_secret_names", "mcp_approval_mode",
		"httpMethod", "path", "auditLog",
	})
	values := rapid.SampledFrom([]any{
		nil, true, "a", "", json.Number("1e9"), []any{}, []any{"a", "b"}, []any{nil, "a"}, map[string]any{"a": []any{}}, []string{"a"},
	})
	rapid.Check(t, func(t *rapid.T) {
		r := anyReading(t)
		for range rapid.IntRange(1, 8).Draw(t, "annotations") {
			c := rapid.IntRange(0, len(r.Tools)-1).Draw(t, "tool")
			if r.Tools[c].Origin.Type == "openapi" {
				continue // its method and path are its reader's, and part of its id
			}
			r.Tools[c].Annotations[keys.Draw(t, "key")] = values.Draw(t, "value")
		}
		s := resolved(t, anyManifest(t), r)
		for _, c := range s.Catalog {
			if len(c.Classes) == 0 || effect.RiskScore(c) < 0 || effect.RiskScore(c) > 100 {
				t.Fatalf("%v weighs %d", c.Classes, effect.RiskScore(c))
			}
		}
	})
}
