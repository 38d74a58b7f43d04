package delta_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

func TestALockSaysWhatAnAgentCanDo(t *testing.T) {
	refund := action("refund", does(effect.FinancialWrite), scoped("orders:write", "orders:*"), func(a *effect.Action) {
		a.Approval, a.Idempotency, a.Confirmation, a.Threshold, a.Owner = yes("policy"), yes("parameter"), true, "500 EUR", "finance"
	})
	l := locked(t, surface(action("get_stock"), refund))
	if got := l.Summary; got != (delta.LockSummary{Capabilities: 2, HighRisk: 1, Writes: 1, Financial: 1, BroadScopes: 1}) {
		t.Errorf("the summary counts %+v", got)
	}
	f := l.Capabilities[1]
	if id := delta.CapabilityID(refund); id != f.ID {
		t.Errorf("findings would call it %s, the lock calls it %s", id, f.ID)
	}
	if f.Identity.ToolName != "refund" || f.ID != "cap_"+f.Hashes.Identity {
		t.Errorf("the second capability is %s of %s", f.ID, f.Identity.ToolName)
	}
	if !slices.Equal(f.Authority.BroadScopes, []string{"orders:*"}) || !f.Effect.Financial || f.Effect.IdempotencyKnown == nil {
		t.Errorf("authority %+v, effect %+v", f.Authority, f.Effect)
	}
	if f.Controls.ApprovalRequired == nil || !*f.Controls.ApprovalRequired || f.Controls.SafeguardRollback != nil || f.Controls.EvidenceOwner != "finance" {
		t.Errorf("controls %+v", f.Controls)
	}
	if got := f.Semantic.Binding.Path; !slices.Equal(got, []string{root}) {
		t.Errorf("the way to it is %q", got)
	}
}

func TestALockIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := locked(t, anySurface(t))
		text := written(t, l)
		again, err := delta.ReadLock(text)
		if err != nil {
			t.Fatal(err)
		}
		if second := written(t, again); !bytes.Equal(text, second) {
			t.Fatalf("read and written again it differs:\n%s\n%s", text, second)
		}
		if d := compared(t, l, again); !d.Empty() {
			t.Fatalf("it differs from itself: %s", d.Markdown())
		}
	})
}

func TestWhereSomethingStandsIsNoPartOfWhatItCanDo(t *testing.T) {
	moved := func(a *effect.Action) {
		a.Tool.Origin.Path, a.Tool.Origin.Ref, a.Tool.Origin.Pointer = "moved/tools.json", "moved/tools.json", "/tools/7"
		a.Tool.Origin.Start = source.Position{Line: 40, Column: 2}
		a.Assessment.Claims[0].At = a.Tool.Origin
		a.Assessment.Claims[0].ID = "claim_moved"
	}
	base, head := locked(t, surface(action("get_stock"))), locked(t, surface(action("get_stock", moved)))
	if base.Hashes.Semantic != head.Hashes.Semantic {
		t.Error("moving a file changes the digest of what agents can do")
	}
	if base.Hashes.Evidence == head.Hashes.Evidence {
		t.Error("moving a file does not change the digest of the evidence")
	}
	if base.Hashes.Source != head.Hashes.Source {
		t.Error("moving a file changes the digest of the sources")
	}
	other := locked(t, surface(action("get_stock", does(effect.Write))))
	if base.Hashes.Semantic == other.Hashes.Semantic {
		t.Error("another effect does not change the digest of what agents can do")
	}
}

// What an agent acts with is part of what it can do, also where no scope says so.
func TestTheModeOfTheAuthorityIsPartOfWhatItCanDo(t *testing.T) {
	mode := func(mode string) *delta.Lock {
		return locked(t, surface(action("get_stock", func(a *effect.Action) { a.Assessment.AuthorityMode = mode })))
	}
	if mode("none").Hashes.Semantic == mode("ambient").Hashes.Semantic {
		t.Error("acting with nothing and acting with what the host has are the same")
	}
}

func TestWarningsAreNoPartOfTheSources(t *testing.T) {
	quiet, loud := surface(action("get_stock")), surface(action("get_stock"))
	loud.Reading.Warnings = append(loud.Reading.Warnings, loud.Reading.Warnings...)
	loud.Warnings = make([]tool.Warning, 3)
	a, b := locked(t, quiet), locked(t, loud)
	if b.Source.SourceWarningCount != 3 || a.Hashes.Source != b.Hashes.Source {
		t.Errorf("%d warnings, digests %s and %s", b.Source.SourceWarningCount, a.Hashes.Source, b.Hashes.Source)
	}
}

func TestTheSourcesHaveADigestOfTheirOwn(t *testing.T) {
	one := locked(t, surface(action("get_stock")))
	for name, other := range map[string]*effect.Surface{
		"another tool": surface(action("get_stock"), action("refund")),
		"another source": func() *effect.Surface {
			s := surface(action("get_stock"))
			s.Reading.Sources = append(s.Reading.Sources, tool.Source{ID: "more"})
			return s
		}(),
		"another agent": func() *effect.Surface {
			s := surface(action("get_stock"))
			s.Manifest.Agent.Name = "helper"
			return s
		}(),
	} {
		if locked(t, other).Hashes.Source == one.Hashes.Source {
			t.Errorf("%s does not change the digest of the sources", name)
		}
	}
}

func TestTheOrderOfActionsIsNoPartOfALock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySurface(t)
		first := written(t, locked(t, s))
		s.Actions = rapid.Permutation(s.Actions).Draw(t, "order")
		for _, a := range s.Actions {
			a.Scopes = rapid.Permutation(a.Scopes).Draw(t, "scopes")
			a.RiskTags = rapid.Permutation(a.RiskTags).Draw(t, "tags")
		}
		if second := written(t, locked(t, s)); !bytes.Equal(first, second) {
			t.Fatalf("%s\n%s", first, second)
		}
	})
}

// bent is a written lock with one piece of its text replaced.
func bent(t *testing.T, old, new string) string {
	t.Helper()
	text := string(written(t, locked(t, surface(action("get_stock")))))
	if !strings.Contains(text, old) {
		t.Fatalf("no %q in %s", old, text)
	}
	return strings.Replace(text, old, new, 1)
}

func TestReadLockRefuses(t *testing.T) {
	secret := "not-to-be" + "-repeated"
	for name, text := range map[string]string{
		"nothing":                 "",
		"no object":               "[]",
		"no version":              "{}",
		"a version to come":       bent(t, `_version": "0.6"`, `_version": "0.7"`),
		"an unknown member":       bent(t, `"cli_version"`, `"surprise": "`+secret+`", "cli_version"`),
		"a member with a dash":    bent(t, `"cli_version"`, `"`+secret+`": 1, "cli_version"`),
		"a member in capitals":    bent(t, `"risk_tags"`, `"Risk_Tags"`),
		"a member given twice":    bent(t, `"cli_version"`, `"cli_version": "`+secret+`", "cli_version"`),
		"a folded letter":         bent(t, `"risk_tags"`, "\"risk_tag\u017f\": [], \"risk_tags\""),
		"an unknown effect":       bent(t, `"effect":"read"`, `"effect": "`+secret+`"`),
		"a wrong type":            bent(t, `"risk_tags":[`, `"risk_tags": ["`+secret+`", 1,`),
		"a capability without id": bent(t, `"id":"cap_`, `"id": "", "was": "`),
		"an empty id":             bent(t, `"id":"cap_`, `"id": "" , "semantic_assessment": null, "id": "`),
		"text after its end":      bent(t, `{`, `{`) + "{}",
		"an unknown issue":        bent(t, `"issues":[]`, `"issues": [{"kind": "`+secret+`", "dimension": "effect", "message": ""}]`),
		"an unknown basis":        bent(t, `"basis":"typed_provider_fact"`, `"basis": "`+secret+`"`),
		"too long":                strings.Repeat(" ", delta.MaxLock+1),
		"too deep":                strings.Repeat("[", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := delta.ReadLock([]byte(text))
			if err == nil {
				t.Fatalf("read as %+v", l)
			}
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("the kind is %v", fault.KindOf(err))
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats the text: %v", err)
			}
		})
	}
}

func TestTwoCapabilitiesWithOneIDAreRefused(t *testing.T) {
	text := written(t, locked(t, surface(action("get_stock"))))
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	list := document["capabilities"].([]any)
	document["capabilities"] = append(list, list[0])
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := delta.ReadLock(text); err == nil || !strings.Contains(err.Error(), "one id") {
		t.Errorf("the error is %v", err)
	}
}

// A lock of an older version has fewer members; what is missing gets the
// default of the schema.
func TestOlderLocksAreRead(t *testing.T) {
	for _, version := range []string{"0.1", "0.2", "0.3", "0.4", "0.5"} {
		text := fmt.Sprintf(`{
			"capability_lock_schema_version": %q, "cli_version": "0.5.0", "experimental": true, "former_member": [1],
			"source": {"config_path": "shipgate.yaml", "manifest_dir": ".", "agent_id": "a", "agent_name": "a"},
			"summary": {}, "hashes": {"semantic_capability_set_hash": "s", "evidence_set_hash": "e", "source_set_hash": "o"},
			"capabilities": [{
				"id": "cap_1",
				"identity": {"agent_id": "a", "tool_id": "tool:x", "tool_name": "x", "provider": "p", "operation": "x"},
				"effect": {"effect": "write"}, "authority": {}, "controls": {}, "evidence": {"source_type": "mcp"},
				"hashes": {"identity_hash": "1", "effect_hash": "1", "authority_hash": "1", "control_hash": "1", "schema_hash": "1", "risk_hash": "1", "evidence_hash": "1"}
			}]
		}`, version)
		l, err := delta.ReadLock([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		f := l.Capabilities[0]
		if f.Hashes.Binding != "legacy_binding_unknown" || f.Identity.SubjectKind != "action" || f.Effect.Reversibility != "unknown" || !l.Source.PluginsEnabled {
			t.Errorf("%s: the defaults are %+v", version, f)
		}
		if d, err := delta.DiffLocks(l, l); err != nil || !d.Empty() || d.Summary.Unchanged != 1 {
			t.Errorf("%s: it differs from itself: %v, %v", version, d, err)
		}
	}
}

func FuzzReadLock(f *testing.F) {
	text, err := func() ([]byte, error) {
		l, err := delta.NewLock(surface(action("get_stock"), action("refund", does(effect.FinancialWrite))), delta.Meta{ConfigPath: "shipgate.yaml"})
		if err != nil {
			return nil, err
		}
		return l.JSON()
	}()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(bytes.Replace(text, []byte(`"0.6"`), []byte(`"0.3"`), 1))
	f.Add([]byte(`{"capability_lock_schema_version": "0.6", "capabilities": [{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := delta.ReadLock(text)
		if err != nil {
			return
		}
		d, err := delta.DiffLocks(l, l)
		if err != nil || !d.Empty() {
			t.Fatalf("a lock differs from itself: %v", err)
		}
		out, err := l.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if l.Version == delta.LockVersion {
			valid(t, "capability-lock.v0.6", out)
		}
		if again, err := delta.ReadLock(out); err != nil || len(again.Capabilities) != len(l.Capabilities) {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
	})
}
