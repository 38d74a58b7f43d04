package effect_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// The row "authority" of §6.3: what the source says, what people state for all
// of the source, and what they declare for one action.
func TestAuthority(t *testing.T) {
	type says = tool.Auth
	for _, c := range []struct {
		name     string
		own      says
		source   string // tool_sources[0].authority
		declared string // of the action
		status   effect.AuthorityStatus
		mode     string
		scopes   string
		issues   string
		concern  bool
	}{
		{name: "nothing", status: effect.AuthorityUnknown, issues: effect.MissingAuthority},
		{name: "type and scopes", own: says{Type: "oauth2", Scopes: []string{"b", "a"}}, status: effect.AuthorityStructural, mode: "scoped", scopes: "a b"},
		{name: "type only", own: says{Type: "apiKey"}, status: effect.AuthorityStructural, mode: "unscoped", issues: effect.PartialAuthority, concern: true},
		{name: "scopes only", own: says{Scopes: []string{"a"}}, status: effect.AuthorityPartial, scopes: "a", issues: effect.PartialAuthority},
		{name: "anonymous", own: says{Anonymous: true}, status: effect.AuthorityStructural, mode: "none"},
		{name: "the type none", own: says{Type: "none"}, status: effect.AuthorityStructural, mode: "none"},
		{name: "anonymous or not", own: says{Type: "oauth2", Anonymous: true}, status: effect.AuthorityConflicting, issues: effect.ConflictingAuthority},
		{
			name: "alternatives that differ", own: says{Type: "oauth2", Scopes: []string{"a"}, Differ: true},
			status: effect.AuthorityConflicting, scopes: "a", issues: effect.ConflictingAuthority,
		},
		{
			name: "one of them, as people say", own: says{Type: "apiKey", Scopes: []string{"a"}, Differ: true},
			declared: "authority: {mode: scoped, auth_type: oauth2}, scopes: [a, b]",
			status:   effect.AuthorityDeclared, mode: "scoped", scopes: "a b",
		},
		{
			name: "one of them for the whole source", own: says{Type: "apiKey", Scopes: []string{"a"}, Differ: true},
			source: "{mode: scoped, auth_type: oauth2, scopes: [a]}",
			status: effect.AuthorityDeclared, mode: "scoped", scopes: "a",
		},
		{
			name: "one of them without a scope that the source names", own: says{Type: "oauth2", Scopes: []string{"a"}, Differ: true},
			declared: "authority: {mode: none}",
			status:   effect.AuthorityConflicting, scopes: "a", issues: effect.ConflictingAuthority,
		},
		{
			name: "a call without credentials or with a key, as people say", own: says{Type: "apiKey", Anonymous: true}, declared: "authority: {mode: none}",
			status: effect.AuthorityDeclared, mode: "none",
		},
		{name: "none with scopes", own: says{Type: "None", Scopes: []string{"a"}}, status: effect.AuthorityConflicting, scopes: "a", issues: effect.ConflictingAuthority},

		{
			name: "a declaration fills what nobody says", declared: "authority: {mode: scoped, auth_type: oauth2}, scopes: [a]",
			status: effect.AuthorityDeclared, mode: "scoped", scopes: "a",
		},
		{name: "declared none", declared: "authority: {mode: none}", status: effect.AuthorityDeclared, mode: "none"},
		{
			name: "declared ambient", declared: "authority: {mode: ambient, reason: runs as the user}",
			status: effect.AuthorityDeclared, mode: "ambient", issues: effect.PartialAuthority, concern: true,
		},
		{
			name: "declared unscoped", declared: "authority: {mode: unscoped, auth_type: apiKey, reason: the vendor has no scopes}",
			status: effect.AuthorityDeclared, mode: "unscoped", issues: effect.PartialAuthority, concern: true,
		},
		{name: "declared scopes without authority", declared: "scopes: [a]", status: effect.AuthorityPartial, scopes: "a", issues: effect.PartialAuthority},
		{
			name: "a declaration replaces no half", own: says{Scopes: []string{"a"}}, declared: "authority: {mode: scoped, auth_type: oauth2}, scopes: [a]",
			status: effect.AuthorityPartial, scopes: "a", issues: effect.PartialAuthority,
		},
		{
			name: "a declaration that agrees", own: says{Type: "oauth2", Scopes: []string{"a"}}, declared: "authority: {mode: scoped, auth_type: OAuth2}, scopes: [a, b]",
			status: effect.AuthorityStructural, mode: "scoped", scopes: "a b",
		},
		{
			name: "another mode", own: says{Type: "oauth2", Scopes: []string{"a"}}, declared: "authority: {mode: none}",
			status: effect.AuthorityConflicting, scopes: "a", issues: effect.ConflictingAuthority,
		},
		{
			name: "another type", own: says{Type: "oauth2", Scopes: []string{"a"}}, declared: "authority: {mode: scoped, auth_type: apiKey}, scopes: [a]",
			status: effect.AuthorityConflicting, scopes: "a", issues: effect.ConflictingAuthority,
		},
		{
			name: "another credential mode", own: says{Type: "oauth2", Scopes: []string{"a"}, CredentialMode: "user"},
			declared: "authority: {mode: scoped, auth_type: oauth2, credential_mode: service_account}, scopes: [a]",
			status:   effect.AuthorityConflicting, scopes: "a", issues: effect.ConflictingAuthority,
		},
		{
			name: "fewer scopes", own: says{Type: "oauth2", Scopes: []string{"a", "b"}}, declared: "scopes: [a]",
			status: effect.AuthorityConflicting, scopes: "a b", issues: effect.ConflictingAuthority,
		},
		{
			name: "scopes that cover", own: says{Type: "oauth2", Scopes: []string{"a:x", "a:y"}}, declared: "scopes: ['a:*']",
			status: effect.AuthorityStructural, mode: "scoped", scopes: "a:* a:x a:y",
		},

		{
			name: "a statement about the source fills what no tool says", source: "{mode: scoped, auth_type: oauth2, scopes: [a, b]}",
			status: effect.AuthorityDeclared, mode: "scoped", scopes: "a b",
		},
		{
			name: "and what a tool says by half", own: says{Scopes: []string{"a"}}, source: "{mode: scoped, auth_type: oauth2, scopes: [a, b]}",
			status: effect.AuthorityDeclared, mode: "scoped", scopes: "a",
		},
		{
			name: "not if it leaves the scope out", own: says{Scopes: []string{"c"}}, source: "{mode: scoped, auth_type: oauth2, scopes: [a, b]}",
			status: effect.AuthorityConflicting, scopes: "c", issues: effect.ConflictingAuthority,
		},
		{
			name: "nor if it has no scopes at all", own: says{Scopes: []string{"c"}}, source: "{mode: none}",
			status: effect.AuthorityConflicting, scopes: "c", issues: effect.ConflictingAuthority,
		},
		{
			name: "an action is more exact than its source", source: "{mode: scoped, auth_type: oauth2, scopes: [a, b]}", declared: "scopes: [a]",
			status: effect.AuthorityDeclared, mode: "scoped", scopes: "a",
		},
		{
			name: "a source that contradicts a tool", own: says{Type: "apiKey"}, source: "{mode: scoped, auth_type: oauth2, scopes: [a]}",
			status: effect.AuthorityConflicting, issues: effect.ConflictingAuthority,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := bound
			if c.source != "" {
				text = strings.Replace(text, "path: kit.json,", "path: kit.json, authority: "+c.source+",", 1)
			}
			if c.declared != "" {
				text += "action_surface: {actions: [{tool: x, " + c.declared + "}]}\n"
			}
			a := action(t, resolve(t, text, reading(listed("x", note("readOnlyHint", true), auth(c.own)))), "x")
			as := &a.Assessment
			same(t, "status", string(as.AuthorityStatus), string(c.status))
			same(t, "mode", as.AuthorityMode+"="+a.Mode, c.mode+"="+c.mode)
			same(t, "scopes", strings.Join(a.Scopes, " "), c.scopes)
			same(t, "issues", kinds(as.Issues), c.issues)
			if as.ReviewConcern() != c.concern || as.PassEligible != (c.issues == "") {
				t.Errorf("review concern %t, pass-eligible %t", as.ReviewConcern(), as.PassEligible)
			}
		})
	}
}

// A concern beside a gap is no pure concern.
func TestAReviewConcernIsOneOnlyWithFullEvidence(t *testing.T) {
	a := action(t, resolve(t, bound, reading(listed("x", auth(tool.Auth{Type: "apiKey"})))), "x")
	if a.Assessment.ReviewConcern() || kinds(a.Assessment.Gaps()) != effect.MissingEffect {
		t.Errorf("%v", a.Assessment.Issues)
	}
}
