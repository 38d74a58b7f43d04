package manifest_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/verify/manifest"
)

// least is a manifest that loads; rows add to it.
const least = `version: "0.1"
project: {name: p}
agent: {name: a, declared_purpose: [x]}
environment: {target: local}
tool_sources: [{id: s, type: mcp, path: t.json}]
`

// Each row is an addition to a manifest that loads and what is said of it; ""
// is silence. So every rule has what it refuses beside what it takes.
func TestRulesOfTheManifest(t *testing.T) {
	for _, c := range []struct{ name, add, want string }{
		{"nothing more", ``, ``},
		{"unknown key", "permissins: {}\n", `6:1: permissins: is no key that is known here; did you mean "permissions"?`},
		{"unknown key below", "ci: {fail-on: [high]}\n", `6:6: ci.fail-on: is no key that is known here; did you mean "fail_on"?`},
		{"unknown key like nothing", "zzz: 1\n", `6:1: zzz: is no key that is known here`},
		{"legacy key", "check_severity_overrides: {A: low}\n", `6:1: check_severity_overrides: was moved to checks.severity_overrides`},
		{"placeholder", "permissions: {scopes: [\"<REVIEW_REQUIRED>\"]}\n", `6:24: permissions.scopes.0: a person must replace <REVIEW_REQUIRED>`},
		{"placeholder for a list", "permissions: {scopes: <REVIEW_REQUIRED>}\n", `6:23: permissions.scopes: a person must replace`},
		{"placeholder for a boolean", "ci: {annotations: <REVIEW_REQUIRED>}\n", `ci.annotations: a person must replace`},
		{"placeholder inside of a text", "permissions: {notes: \"ask <REVIEW_REQUIRED> x\"}\n", `permissions.notes: a person must replace`},
		{"placeholder as a name", "risk_overrides: {tools: {<REVIEW_REQUIRED>: {reason: r}}}\n", `risk_overrides.tools.<REVIEW_REQUIRED>: a person must replace`},
		{"placeholder in any value", "action_surface: {policies: [{id: p, match: {}, require: {a: {b: [<REVIEW_REQUIRED>]}}, severity: low, message: m, recommendation: r}]}\n", `require.a.b.0: a person must replace`},
		{"yes", "ci: {annotations: yes}\n", `6:19: ci.annotations: must be true or false: yes is a text here, write true`},
		{"Off", "ci: {annotations: Off}\n", `must be true or false: off is a text here, write false`},
		{"number for a text", "baseline: {audit_log: 1}\n", `baseline.audit_log: must be a text, not a number; put it in quotes`},
		{"map for a list", "permissions: {scopes: {}}\n", `permissions.scopes: must be a list, not a mapping`},
		{"list for a map", "permissions: []\n", `permissions: must be a mapping, not a list`},
		{"word outside of the vocabulary", "ci: {mode: strickt}\n", `ci.mode: must be one of advisory, strict; did you mean "strict"?`},
		{"null is not given", "permissions:\nci: {fail_on: null}\norganization: ~\n", ``},
		{"null in a list", "permissions: {scopes: [~]}\n", `permissions.scopes.0: is an empty entry`},
		{"a day", "human_ack: [{affected_surface: policy, owner: o, reason: r, expires: 2026-02-29}]\n", `human_ack.0.expires: must be a day of the form YYYY-MM-DD`},
		{"a day that is", "human_ack: [{affected_surface: src/x, owner: o, reason: r, expires: 2028-02-29}]\n", ``},
		{"a time", "human_ack: [{affected_surface: policy, owner: o, reason: r, expires: 2028-02-29T00:00:00Z}]\n", `human_ack.0.expires: must be a day`},
		{"max_age_days", "organization: {exception_policy: {max_age_days: 0}}\n", `max_age_days: must be a whole number of at least 1`},
		{"merged keys are held too", "ci: {<<: {mod: strict}}\n", `ci.mod: is no key that is known here; did you mean "mode"?`},

		{"selector without a tool", "policies: {require_approval_for_tools: [{provider: p}]}\n", `policies.require_approval_for_tools.0: needs tool or tool_id`},
		{"selector by id", "policies: {require_approval_for_tools: [{tool_id: i}, t]}\n", ``},
		{"blank tool", "policies: {require_approval_for_tools: [\" \"]}\n", `policies.require_approval_for_tools.0: must not be empty`},

		{"authority none", actionWith("authority: {mode: none}"), ``},
		{"authority none with a scope", actionWith("authority: {mode: none}, scopes: [a]"), `actions.0.scopes: must not be given with mode none`},
		{"authority none with a type", actionWith("authority: {mode: none, auth_type: k}"), `authority.auth_type: must not be given with mode none`},
		{"authority scoped", actionWith("authority: {mode: scoped, auth_type: k}, scopes: [a]"), ``},
		{"authority scoped without a type", actionWith("authority: {mode: scoped}, scopes: [a]"), `authority.auth_type: is required with mode scoped`},
		{"authority scoped without a scope", actionWith("authority: {mode: scoped, auth_type: k}"), `actions.0.scopes: are required with mode scoped`},
		{"authority unscoped", actionWith("authority: {mode: unscoped, auth_type: k, reason: r}"), ``},
		{"authority unscoped without a reason", actionWith("authority: {mode: unscoped, auth_type: k}"), `authority.reason: is required with mode unscoped`},
		{"authority unscoped with a scope", actionWith("authority: {mode: unscoped, auth_type: k, reason: r}, scopes: [a]"), `scopes: must not be given with mode unscoped`},
		{"authority ambient", actionWith("authority: {mode: ambient, reason: r}"), ``},
		{"authority ambient without a reason", actionWith("authority: {mode: ambient}"), `authority.reason: is required with mode ambient`},
		{"override without an effect", actionWith("override: {evidence: e, reason: r}"), `actions.0.effect: is required with override`},
		{"override", actionWith("effect: read, override: {evidence: e, reason: r}"), ``},
		{"risk tag", actionWith("risk_tags: [writes]"), `risk_tags.0: must be one of`},
		{"two actions of one tool", "action_surface: {actions: [{tool: t}, {tool: t, effect: read}]}\n", `action_surface.actions.1: is the same tool as entry 0`},
		{"two actions of two sources", "action_surface: {actions: [{tool: t, source_id: a}, {tool: t, source_id: b}]}\n", ``},
		{"two actions of one id", "action_surface: {actions: [{tool: t, id: x}, {tool: u, id: x}]}\n", `action_surface.actions.1.id: is the same id as entry 0`},
		{"one path twice", "action_surface: {policies: [{id: p, match: {}, require: {approval.required: true, approval_policy.required: true}, severity: low, message: m, recommendation: r}]}\n", `is the same path as another one`},
		{"a policy that demands nothing", "action_surface: {policies: [{id: p, match: {}, require: {}, severity: low, message: m, recommendation: r}]}\n", `require: must have at least one entry`},

		{"declaration", "agent_bindings: {declarations: [{agent: root, complete: true, tools: [t], reason: r}]}\n", ``},
		{"declaration of nothing", "agent_bindings: {declarations: [{agent: root, complete: true, reason: r}]}\n", `declarations.0: needs tools or handoffs`},
		{"declaration of a part", "agent_bindings: {declarations: [{agent: root, complete: false, tools: [], reason: r}]}\n", `declarations.0.complete: must be true`},
		{"two of one agent", "agent_bindings: {declarations: [{agent: a, complete: true, tools: [], reason: r}, {agent: a, complete: true, tools: [], reason: r}]}\n", `declarations.1.agent: is the same agent as entry 0`},
		{"identity", identityWith("{source_id: a, tool: t}, {source_id: b, tool: t}"), ``},
		{"identity of one", identityWith("{source_id: a, tool: t}"), `members: must have at least 2 entries`},
		{"identity without its primary", identityWith("{source_id: c, tool: t}, {source_id: b, tool: t}"), `primary: must be one of the members`},
		{"identity of one thing twice", identityWith("{source_id: a, tool: t}, {source_id: a, tool: t}"), `members.1: is the same observation as entry 0`},

		{"validation", "validation: {mode: auto}\n", `validation.mode: must be one of human_in_the_loop`},
		{"blank reason", "checks: {ignore: [{check_id: A, reason: \"  \"}]}\n", `checks.ignore.0.reason: must not be empty`},
		{"pack digest", "checks: {policy_packs: [{path: p, sha256: abc}]}\n", `sha256: must be a SHA-256`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := manifest.Load([]byte(least+c.add), manifest.Options{Today: "2026-12-01"})
			said(t, err, c.want)
		})
	}
}

func actionWith(rest string) string { return "action_surface: {actions: [{tool: t, " + rest + "}]}\n" }

func identityWith(members string) string {
	return "tool_identity: {bindings: [{id: i, provider: p, reason: r, primary: {source_id: a, tool: t}, members: [" + members + "]}]}\n"
}

func said(t *testing.T, err error, want string) {
	t.Helper()
	var faults *manifest.Errors
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want == "":
	case err == nil:
		t.Errorf("loaded, want %q", want)
	case !strings.Contains(err.Error(), want):
		t.Errorf("%v\nwant %q", err, want)
	case !errors.As(err, &faults) || faults.ExitCode() != 2:
		t.Errorf("%T of another class", err)
	}
}

func TestSourcesOfTheManifest(t *testing.T) {
	for _, c := range []struct{ sources, want string }{
		{`[{id: s, type: mcp}]`, "tool_sources.0.path: is required for a source of type mcp"},
		{`[{id: s, type: openai_agents_sdk}]`, ""},
		{`[{id: s, type: n8n, path: p}]`, "tool_sources.0.type: belongs to the block n8n, not to tool_sources"},
		{`[{id: s, type: anthropic_api, path: p}]`, "belongs to the block anthropic,"},
		{`[{id: s, type: open_api, path: p}]`, `did you mean "openapi"?`},
		{`[{id: s, type: mcp_server, path: p}, {id: s, type: mcp, path: q}]`, "tool_sources.1.id: is the same id as entry 0"},
		{`[{id: s, type: codex_plugin, path: p, mode: folder}]`, "tool_sources.0.mode: must be package or marketplace"},
		{`[{id: s, type: mcp, path: p, authority: {mode: scoped, auth_type: k, scopes: []}}]`, "tool_sources.0.authority.scopes: are required"},
		{`[{id: s, type: mcp, path: p, binding: {complete: false, reason: r}}]`, "tool_sources.0.binding.complete: must be true"},
		{`[]`, "tool_sources: nothing names a tool"},
		{"[]\nn8n: {}", ""},
		{"[]\ncodex_plugins: {}", "nothing names a tool"},
	} {
		text := strings.Replace(least, "[{id: s, type: mcp, path: t.json}]", c.sources, 1)
		_, err := manifest.Load([]byte(text), manifest.Options{})
		said(t, err, c.want)
	}
}

func TestWhatAnAgentIsForMustBeSaid(t *testing.T) {
	for _, c := range []struct {
		from, to string
		said     bool
	}{
		{"", "", false},
		{"declared_purpose: [x]", "declared_purpose: [x]", true},
		{"{name: a}", "{name: a, instructions_preview: be kind}", true},
		{"{name: a}", "{name: a, instructions_preview: ' '}", false},
		{"type: mcp", "type: crewai", true},
		{"type: mcp", "type: openai_agents_sdk", false},
		{"tool_sources", "anthropic: {prompt_files: [p.md]}\ntool_sources", true},
		{"tool_sources", "openai_api: {tools: [p.json]}\ntool_sources", false},
		{"tool_sources", "langchain: {}\ntool_sources", true},
	} {
		text := strings.Replace(least, ", declared_purpose: [x]}", "}", 1)
		if c.from == "declared_purpose: [x]" {
			text = least
		}
		text = strings.Replace(text, c.from, c.to, 1)
		if _, err := manifest.Load([]byte(text), manifest.Options{}); (err == nil) != c.said {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

func TestSeverityOverrides(t *testing.T) {
	known := func(id string) (severity, floor string, ok bool) {
		row, ok := map[string][2]string{"SHIP-CRIT": {"critical", "high"}, "SHIP-HIGH": {"high", ""}, "SHIP-MED": {"medium", ""}}[id]
		return row[0], row[1], ok
	}
	ack := func(id, expires string) string {
		return ", acknowledge_overrides: [{check_id: " + id + ", reason: r, expires: " + expires + "}]"
	}
	for _, c := range []struct{ overrides, rest, want string }{
		{"SHIP-MED: low", "", ""},
		{"SHIP-MED: info", "", "lowers medium to info: a person must add it to checks.acknowledge_overrides"},
		{"SHIP-MED: critical", "", ""},
		{"SHIP-HIGH: medium", "", "checks.severity_overrides.SHIP-HIGH: lowers high to medium"},
		{"SHIP-HIGH: medium", ack("SHIP-HIGH", "2026-12-01"), ""},
		{"SHIP-HIGH: medium", ack("SHIP-MED", "2026-12-01"), "lowers high to medium"},
		{"SHIP-HIGH: medium", ack("SHIP-HIGH", "2026-11-30"), "acknowledge_overrides.0.expires: has passed"},
		{"SHIP-CRIT: high", ack("SHIP-CRIT", "2027-01-01"), ""},
		{"SHIP-CRIT: medium", ack("SHIP-CRIT", "2027-01-01"), "must not be below high, the floor of this check"},
		{"SHIP-MED: {severity: low, reason: r, expires: 2026-12-01}", "", ""},
		{"SHIP-MED: {severity: low, reason: r, expires: 2026-11-30}", "", "SHIP-MED.expires: has passed"},
		{"SHIP-MED: {severity: low}", "", "SHIP-MED.reason: is required"},
		{"SHIP-MEDI: low", "", `is no check that is known; did you mean "SHIP-MED"?`},
		{"our-own-rule: low", "", ""},
		{"SHIP-MED: loud", "", "SHIP-MED: must be one of"},
		{"SHIP-HIGH: medium", ack("SHIP-HIGH", "2027-01-01, owner: o"), "acknowledge_overrides.0.owner: is no key that is known here"},
	} {
		text := least + "checks: {severity_overrides: {" + c.overrides + "}" + c.rest + "}\n"
		_, err := manifest.Load([]byte(text), manifest.Options{KnownCheck: known, CheckIDs: []string{"SHIP-CRIT", "SHIP-HIGH", "SHIP-MED"}, Today: "2026-12-01"})
		said(t, err, c.want)
	}
}

func TestTextsThatAreNoManifest(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	for _, c := range []struct{ name, text, want string }{
		{"s.yaml", "", "the file is empty"},
		{"s.yaml", "- a\n", "s.yaml:1:1: the file is a list; it must be a mapping"},
		{"s.json", "3", "s.json:1:1: the file is a number"},
		{"s.yaml", "a: [\n", "this is no valid YAML"},
		{"s.json", "a: 1\n", "s.json:1:1: this is no valid JSON"},
		{"s.yaml", `{"a": 1,}`, "this is no valid JSON"},
		{"s.yaml", least + "ci: {}\nci: {}\n", "s.yaml:7:1: this key is there twice"},
		{"s.json", `{"ci": {}, "c\u0069": {}}`, "s.json:1:12: this key is there twice"},
		{"s.yaml", "a: 1\n---\nb: 1\n", "a second YAML document"},
		{"s.yaml", bomb, "too many values once its aliases are written out"},
		{"s.yaml", "a: &a [*a]\n", "an alias stands inside of what it names"},
		{"s.yaml", "a: " + strings.Repeat("[", 600) + strings.Repeat("]", 600), "the file nests too deep"},
		{"s.yaml", "<<<<<<< ours\na: 1\n", "merge conflict marker"},
		{"s.yaml", "a: \xff\n", "no UTF-8"},
		{"s.yaml", strings.Repeat("#", manifest.MaxFile+1), "the file is over 10 MiB"},
		{"s.yaml", "version: 0.1\n" + strings.SplitN(least, "\n", 2)[1], "version: must be a text, not a number; put it in quotes"},
		{"s.yaml", "version: \"0.2\"\n" + strings.SplitN(least, "\n", 2)[1], "version: must be one of 0.1"},
	} {
		_, err := manifest.Load([]byte(c.text), manifest.Options{Name: c.name})
		said(t, err, c.want)
	}
}

func TestAllFaultsAreToldTogetherInTheOrderOfTheFile(t *testing.T) {
	text := "version: \"0.1\"\nproject: {nam: p}\nagent: {name: a, declared_purpose: x}\nenvironment: {target: moon}\ntool_sources: [{id: s, type: mcp}]\n"
	_, err := manifest.Load([]byte(text), manifest.Options{})
	want := strings.Join([]string{
		`shipgate.yaml:2:10: project.name: is required`,
		`shipgate.yaml:2:11: project.nam: is no key that is known here; did you mean "name"?`,
		`shipgate.yaml:3:36: agent.declared_purpose: must be a list, not a text`,
		`shipgate.yaml:4:23: environment.target: must be one of local, staging, production_like, production, template`,
		`shipgate.yaml:5:16: tool_sources.0.path: is required for a source of type mcp`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

func TestAHostileFileIsToldOfInPart(t *testing.T) {
	var b strings.Builder
	b.WriteString(least)
	for i := range 50_000 {
		fmt.Fprintf(&b, "key%d_%s: 1\n", i, strings.Repeat("x", 40))
	}
	b.WriteString("\"\\e[31m\\n\": 1\n")
	_, err := manifest.Load([]byte(b.String()), manifest.Options{})
	var faults *manifest.Errors
	if !errors.As(err, &faults) || len(faults.Problems) > 300 || faults.Problems[len(faults.Problems)-1].Code != manifest.TooMany {
		t.Errorf("%d problems", len(faults.Problems))
	}
	_, err = manifest.Load([]byte(least+"\"\\e[31m\\n\": 1\n"), manifest.Options{})
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("a key reaches the terminal: %q", err)
	}
}

func TestDefaultsOfTheManifest(t *testing.T) {
	m, err := manifest.Load([]byte(least), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(manifest.CI{Mode: "advisory", PRComment: true, UploadArtifact: true}, m.CI); diff != "" {
		t.Error(diff)
	}
	wantOutput := manifest.Output{Directory: "agents-shipgate-reports", Formats: []string{"markdown", "json"}, Packet: true, PacketFormats: []string{"md", "json", "html"}}
	if diff := cmp.Diff(wantOutput, m.Output); diff != "" {
		t.Error(diff)
	}
	if m.Baseline.IntegrityMode != "warn" || !m.Agent.SDK.StaticExtract || m.OpenAI != nil || m.Validation != nil || m.Organization != nil || m.N8N != nil || m.Surface.RequireExplicit {
		t.Errorf("%+v", m)
	}
	if at := m.At("tool_sources", "0", "type"); at.Line != 5 || at.Column != 24 {
		t.Errorf("type stands at %v", at)
	}
	if at := m.At("tool_sources", "1"); at.Line != 0 {
		t.Errorf("what is not there stands at %v", at)
	}
	m, err = manifest.Load([]byte(least+"validation: {mode: human_in_the_loop}\nrisk_overrides: {tools: {b: {reason: r}, a: {reason: r}}}\nci: {fail_on: []}\naction_surface: {policies: [{id: p, match: {}, require: {scopes: []}, severity: low, message: m, recommendation: r}]}\n"), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Validation.Posture != "recommendation_only" || m.Risks[0].Tool != "a" || m.Risks[0].Confidence != "manual" || m.CI.FailOn == nil {
		t.Errorf("%+v, %+v, %+v", m.Validation, m.Risks, m.CI)
	}
	if p := m.Surface.Policies[0]; !p.Block || p.Require[0].Path != "required_scopes" {
		t.Errorf("%+v", p)
	}
}

func TestJSONAndYAMLLoadTheSame(t *testing.T) {
	yaml, err := manifest.Load([]byte(least), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	json := `{"version":"0.1","project":{"name":"p"},"agent":{"name":"a","declared_purpose":["x"]},"environment":{"target":"local"},"tool_sources":[{"id":"s","type":"mcp","path":"t.json"}]}`
	for _, name := range []string{"shipgate.yaml", "x.json"} {
		m, err := manifest.Load([]byte("\ufeff \n"+json), manifest.Options{Name: name})
		if err != nil || !cmp.Equal(yaml, m, loose) {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(yaml, m, loose))
		}
	}
}

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"", "", 1},
		{"abc", "", 0},
		{"abc", "abc", 1},
		{"abc", "xyz", 0},
		{"scope", "scopes", 10.0 / 11},
		{"tool_surces", "tool_sources", 22.0 / 23},
		{"name", "mane", 4.0 / 8},
		{"name", "naem", 6.0 / 8},
	} {
		if got := manifest.Similarity(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.want)
		}
		if manifest.Similarity(c.a, c.b) != manifest.Similarity(c.b, c.a) {
			t.Errorf("%q and %q are not equally far from each other", c.a, c.b)
		}
	}
	known := []string{"name", "names", "owner"}
	for word, want := range map[string]string{"naem": "name", "Owner": "owner", "address": "", "namess": "names", strings.Repeat("n", 100): ""} {
		if got := manifest.Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
