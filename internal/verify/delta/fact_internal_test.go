package delta

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// words are texts that are easy to write and texts that are not.
var words = rapid.OneOf(
	rapid.SampledFrom([]string{"", "a", "a b", "a!", "orders:read", "say \"no\"", "C:\\temp", "tab\there", "<b>&", "日本", "\u2028", "\xff", "😀"}),
	rapid.String(),
)

var flags = rapid.Ptr(rapid.Bool(), true)

// drawn is a fact with anything in it.
func drawn(t *rapid.T) *Fact {
	word := func(label string) string { return words.Draw(t, label) }
	names := func(label string) []string {
		return append([]string{}, rapid.SliceOfN(words, 0, 4).Draw(t, label)...)
	}
	yes := func(label string) bool { return rapid.Bool().Draw(t, label) }
	number := func(label string) Line { return Line(rapid.IntRange(0, 9999).Draw(t, label)) }
	claims := func(label string) []SemanticClaim {
		return append([]SemanticClaim{}, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) SemanticClaim {
			return SemanticClaim{
				ClaimID: Text(words.Draw(t, "id")), Dimension: words.Draw(t, "dimension"), Value: words.Draw(t, "value"), Basis: effect.Basis(words.Draw(t, "basis")),
				PolicyEligible: rapid.Bool().Draw(t, "eligible"), Confidence: tool.Confidence(words.Draw(t, "confidence")),
				ProvenanceKind: words.Draw(t, "kind"), Source: words.Draw(t, "source"), SourcePointer: Text(words.Draw(t, "pointer")),
				Evidence: evidence.Draw(t, "evidence"),
			}
		}), 0, 3).Draw(t, label)...)
	}
	issues := func(label string) []SemanticIssue {
		return append([]SemanticIssue{}, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) SemanticIssue {
			return SemanticIssue{
				Kind: words.Draw(t, "kind"), Dimension: words.Draw(t, "dimension"), Message: words.Draw(t, "message"),
				Source: Text(words.Draw(t, "source")), SourcePointer: Text(words.Draw(t, "pointer")),
			}
		}), 0, 2).Draw(t, label)...)
	}
	return &Fact{
		Identity: Identity{
			AgentID: word("agent"), ToolID: word("tool"), ToolName: word("name"), Provider: word("provider"), Operation: word("operation"),
			SubjectKind: word("kind"), Resource: names("resource"), Scope: names("scope"),
		},
		Effect: Effects{
			Effect: effect.Effect(word("effect")), ExternallyVisible: yes("visible"), HandlesSensitiveData: yes("sensitive"), Financial: yes("financial"),
			CodeExecution: yes("code"), HighRisk: yes("risk"), Reversibility: word("reversibility"), IdempotencyKnown: flags.Draw(t, "idempotency"),
		},
		Authority: Authority{
			AuthType: Text(word("auth")), CredentialMode: Text(word("credential")), Scopes: names("scopes"), BroadScopes: names("broad"), Source: Text(word("from")),
		},
		Controls: Controls{
			ApprovalRequired: flags.Draw(t, "approval"), ApprovalThreshold: Text(word("threshold")), ConfirmationRequired: yes("confirmation"),
			SafeguardIdempotency: flags.Draw(t, "idempotent"), SafeguardAuditLog: flags.Draw(t, "log"), SafeguardRollback: flags.Draw(t, "rollback"),
			SafeguardDryRun: flags.Draw(t, "dry run"), EvidenceOwner: Text(word("owner")), EvidenceRunbook: Text(word("runbook")),
			EvidenceApprovalTicket: Text(word("ticket")),
		},
		Evidence: Evidence{
			SourceType: word("type"), SourceID: Text(word("source")), SourceRef: Text(word("ref")), SourceLocation: Text(word("location")),
			SourcePath: Text(word("path")), SourceStartLine: number("line"), SourceEndLine: number("end"), SourceStartColumn: number("column"),
			SourcePointer: Text(word("pointer")), ProvenanceKind: word("provenance"), Confidence: tool.Confidence(word("confidence")),
		},
		RiskTags: names("tags"),
		Semantic: &Semantic{
			ConservativeEffect: effect.Effect(word("effect")),
			Effect: SemanticEffect{
				Status: effect.EffectStatus(word("status")), Confidence: tool.Confidence(word("confidence")), Claims: claims("claims"), Issues: issues("issues"),
			},
			Authority: SemanticAuthority{
				Status: effect.AuthorityStatus(word("status")), Mode: word("mode"), AuthType: Text(word("auth")), CredentialMode: Text(word("credential")),
				Scopes: names("scopes"), Claims: claims("claims"), Issues: issues("issues"),
			},
			Binding: &SemanticBinding{
				Status: word("status"), Confidence: tool.Confidence(word("confidence")), RootAgentID: Text(word("root")), Path: names("path"),
				PassEligible: yes("eligible"), Claims: claims("claims"), Issues: issues("issues"),
			},
			Identity: &SemanticIdentity{
				ToolID: word("tool"), Status: word("status"), Provider: word("provider"), Primary: word("primary"), Observations: names("observations"),
				BindingID: Text(word("binding")), PassEligible: yes("eligible"), Claims: claims("claims"), Issues: issues("issues"),
			},
			PassEligible: yes("eligible"),
		},
	}
}

// evidence is what a claim rests on: of ours, and of a file that says anything.
var evidence = rapid.OneOf(
	rapid.Just[map[string]any](nil),
	rapid.Just(map[string]any{}),
	rapid.Map(words, func(s string) map[string]any { return map[string]any{"why": s, "read": "keyword"} }),
	rapid.Map(words, func(s string) map[string]any {
		return map[string]any{inputFields: []any{s, "id"}, requiredFields: []any{}, "more": map[string]any{s: nil, "n": 1.5, "yes": true}}
	}),
)

func TestALineIsWhatTheEncoderWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		f.hash(nil, nil)
		switch rapid.IntRange(0, 3).Draw(t, "of another writer") {
		case 0:
			f.Semantic = nil
		case 1:
			f.Semantic.Binding, f.Semantic.Identity = nil, nil
		case 2:
			f.RiskTags, f.Semantic.Effect.Claims, f.Semantic.Effect.Issues = nil, nil, nil
		}
		want, err := canonical.Line(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.appendLine([]byte("before"))
		if err != nil || string(got) != "before"+string(want) {
			t.Fatalf("%v\n got %s\nwant %s", err, got[6:], want)
		}
	})
}

// A value that has no JSON is kept by nobody: the document says so.
func TestWhatHasNoJSONIsNotKept(t *testing.T) {
	f := &Fact{Semantic: &Semantic{Effect: SemanticEffect{Claims: []SemanticClaim{{Evidence: map[string]any{"why": func() {}}}}}}}
	if f.keep(); f.Digest != "" {
		t.Error("it is kept")
	}
	if _, err := document(f); err == nil {
		t.Error("it is written")
	}
}

func TestHashesAreThoseOfTheParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		inputs := append([]string{}, rapid.SliceOfN(words, 0, 4).Draw(t, "inputs")...)
		required := append([]string{}, rapid.SliceOfN(words, 0, 4).Draw(t, "required")...)
		f.hash(inputs, required)
		first := f.Hashes
		if f.hash(inputs, required); f.Hashes != first {
			t.Fatal("a second one like it has other hashes")
		}
		s := f.Semantic
		claims := []any{}
		for _, c := range slices.Concat(s.Effect.Claims, s.Authority.Claims) {
			claims = append(claims, map[string]any{"basis": c.Basis, "dimension": c.Dimension, "policy_eligible": c.PolicyEligible, "value": c.Value})
		}
		for _, part := range []struct {
			name, got string
			of        any
		}{
			{"id", f.ID[len(idPrefix):], f.Identity},
			{"identity", f.Hashes.Identity, f.Identity},
			{"binding", f.Hashes.Binding, map[string]any{"reachable_path": canonical.UTF8.String(s.Binding.Path), "root_agent_id": s.Binding.RootAgentID}},
			{"effect", f.Hashes.Effect, f.Effect},
			{"authority", f.Hashes.Authority, map[string]any{"authority": f.Authority, "mode": s.Authority.Mode}},
			{"control", f.Hashes.Control, f.Controls},
			{"schema", f.Hashes.Schema, map[string]any{"input_fields": inputs, "required_input_fields": required}},
			{"risk", f.Hashes.Risk, f.RiskTags},
			{"evidence", f.Hashes.Evidence, map[string]any{
				"assessment": map[string]any{
					"claims": claims, "semantic_assessment.authority.status": s.Authority.Status, "semantic_assessment.binding.status": s.Binding.Status,
					"semantic_assessment.effect.confidence": s.Effect.Confidence, "semantic_assessment.effect.status": s.Effect.Status,
					"semantic_assessment.identity.status": s.Identity.Status, "semantic_assessment.pass_eligible": s.PassEligible,
				},
				"source": f.Evidence,
			}},
		} {
			if want := canonical.Spaced.SHA256(set(t, part.of))[:shortLen]; part.got != want {
				t.Errorf("the hash of the %s is %s, want %s", part.name, part.got, want)
			}
		}
	})
}

// set is the JSON of v with every list in the order of its entries' own text.
func set(t *rapid.T, v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	var arrange func(any)
	arrange = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				arrange(member)
			}
		case []any:
			for _, entry := range v {
				arrange(entry)
			}
			slices.SortFunc(v, func(a, b any) int {
				return bytes.Compare(canonical.Spaced.Append(nil, a), canonical.Spaced.Append(nil, b))
			})
		}
	}
	arrange(tree)
	return tree
}
