package effect_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

func TestPermissionClassesAndTheirWeight(t *testing.T) {
	for _, c := range []struct {
		name    string
		tool    tool.Tool
		classes string
		score   int
		level   string
	}{
		{"read", listed("x", note("readOnlyHint", true)), "read", 10, "low"},
		{"write by scope", listed("x", scopes("bins:write")), "write", 40, "medium"},
		{"external", listed("x", note("permission_class", "external")), "external", 70, "high"},
		{"financial", listed("x", note("permission_class", "financial")), "financial", 90, "critical"},
		{"production beside read", listed("x", note("permission_classes", []any{"read", "production"})), "production read", 90, "critical"},
		{"destructive", listed("x", note("destructiveHint", true)), "destructive", 95, "critical"},
		{"nothing is known", listed("x"), "unknown", 60, "medium"},
		{"words suggest", listed("delete_x"), "destructive", 95, "critical"},
		{"words do not add to proof", listed("delete_x", note("readOnlyHint", true)), "read", 10, "low"},
		{"words never suggest reading", made("n8n_mcp_client_tool", "kit", "get_x"), "unknown", 60, "medium"},
		{"a wildcard is unknown whatever it says", listed("x", note("readOnlyHint", true), note("wildcard_tools", true)), "unknown read", 90, "critical"},
		{"a read that is approved by itself", listed("x", note("readOnlyHint", true), note("mcp_approval_mode", "auto")), "read", 10, "low"},
		{"a write that is approved by itself", listed("x", scopes("bins:write"), note("mcp_approval_mode", "auto")), "write", 60, "medium"},
		{"an unknown that is approved by itself", listed("x", note("mcp_approval_mode", "approve")), "unknown", 80, "high"},
		{"one that asks", listed("x", note("mcp_approval_mode", "prompt")), "unknown", 60, "medium"},
		{"secrets of the environment", listed("x", note("readOnlyHint", true), note("mcp_env_secret_names", []any{"API_KEY"})), "read", 25, "low"},
		{"a broad scope", listed("x", note("readOnlyHint", true), scopes("repo:*")), "read", 20, "low"},
		{"no schema", listed("x", note("readOnlyHint", true), note("mcp_unknown_schema", true)), "read", 20, "low"},
		{
			"everything", listed("x", note("destructiveHint", true), note("wildcard_tools", true), note("mcp_approval_mode", "auto")),
			"unknown destructive", 100, "critical",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolve(t, header, reading(c.tool)).Catalog[0]
			same(t, "classes", strings.Join(got.Classes, " "), c.classes)
			if score := effect.RiskScore(got); score != c.score {
				t.Errorf("it weighs %d, want %d", score, c.score)
			}
			same(t, "level", effect.RiskLevel(effect.RiskScore(got)), c.level)
		})
	}
	same(t, "nothing at all", effect.RiskLevel(0), "")
}

func TestTheLatticeOfClasses(t *testing.T) {
	order := [][]string{{"read"}, {"write"}, {"external"}, {"financial", "production"}, {"destructive"}, {"unknown"}}
	for rank, classes := range order {
		for _, c := range classes {
			if effect.ClassRank(c) != rank {
				t.Errorf("%s has rank %d, want %d", c, effect.ClassRank(c), rank)
			}
		}
	}
	if effect.ClassRank("harmless") != -1 {
		t.Error("harmless is no class")
	}
}
