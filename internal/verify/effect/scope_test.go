package effect_test

import (
	"testing"

	"plimsoll.dev/internal/verify/effect"
)

func TestBroadScopes(t *testing.T) {
	for scope, want := range map[string]bool{
		"*": true, "admin": true, "stripe:*": true, "repo/*": true, "org.admin.read": true, "write-all": true, "x:write_all": true,
		"ADMIN": true, " * ": true,
		"": false, "stripe:read": false, "repo*": false, "*:read": false, "write": false, "write all": false, "x:*:y": false,
	} {
		if got := effect.BroadScope(scope); got != want {
			t.Errorf("%q is broad: %t", scope, got)
		}
	}
}

func TestOneScopeCoversAnother(t *testing.T) {
	for _, c := range []struct {
		declared, scope string
		want            bool
	}{
		{"stock:read", "stock:read", true},
		{"Stock:Read", "stock:READ", true},
		{"*", "anything", true},
		{"stock:*", "stock:read", true},
		{"stock:*", "stock:bins:read", true},
		{"stock:*", "stock", false},
		{"stock:*", "stocks:read", false},
		{"stock*", "stock:read", false},
		{"stock/*", "stock/read", false},
		{"stock:read", "stock:*", false},
		{"stock:read", "stock:readwrite", false},
		{"", "stock:read", false},
	} {
		if got := effect.Covers(c.declared, c.scope); got != c.want {
			t.Errorf("%q covers %q: %t", c.declared, c.scope, got)
		}
	}
}

func TestTwoOrdersOfEffects(t *testing.T) {
	all := effect.Effects()
	if len(all) != 9 {
		t.Fatalf("%d effects", len(all))
	}
	for i, e := range all {
		if !e.Valid() || effect.Rank(e) != i {
			t.Errorf("%s has the resolver rank %d, want %d", e, effect.Rank(e), i)
		}
	}
	for e, want := range map[effect.Effect]int{
		effect.Read: 0, effect.PrivilegedDataAccess: 1, effect.Write: 2, effect.ExternalCommunication: 3, effect.FinancialWrite: 4,
		effect.ProductionOperation: 4, effect.IdentityAccess: 4, effect.CodeExecution: 4, effect.Destructive: 5,
		"nonsense": -1, "": -1,
	} {
		if got := effect.DeltaRank(e); got != want {
			t.Errorf("%s has the delta rank %d, want %d", e, got, want)
		}
	}
}

func TestTagsOfEffectsAndBack(t *testing.T) {
	for tag, want := range map[string]string{
		"write": "writes_data", "external_write": "external_communication", "customer_communication": "external_communication",
		"external_side_effect": "external_communication", "financial_action": "financial_write", "infrastructure_change": "production_ops",
		"production_operation": "production_ops", "sensitive_data_access": "privileged_data", "privileged_data_access": "privileged_data",
		"read_only": "read_only", "irreversible": "irreversible", "of_a_team": "of_a_team",
	} {
		same(t, tag, effect.RiskTag(tag), want)
	}
	for _, e := range effect.Effects() {
		if back, ok := effect.TagEffect(e.Tag()); !ok || back != e {
			t.Errorf("the tag %q of %s claims %q", e.Tag(), e, back)
		}
	}
	for _, tag := range []string{"irreversible", "customer_data", "network_access", ""} {
		if e, ok := effect.TagEffect(tag); ok {
			t.Errorf("the tag %q names a circumstance and claims %s", tag, e)
		}
	}
}
