package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/decision"
)

// listed is a list of the given tools, one a line from the second on.
func listed(names ...string) string {
	rows := make([]string, len(names))
	for i, name := range names {
		rows[i] = fmt.Sprintf(`{"name": %q, "description": "Something of the shop, in one sentence.", "inputSchema": {"type": "object"}}`, name)
	}
	return "[\n" + strings.Join(rows, ",\n") + "\n]\n"
}

// A closed list that leaves a tool out keeps it from every agent; that somebody
// added it is said all the same, once, and by its place.
func TestNewToolsWithoutAnAgentAreNamed(t *testing.T) {
	const manifest = `version: "0.1"
project: {name: shop}
agent: {name: helper, declared_purpose: ["look up orders"]}
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools.json}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [%s], handoffs: [], reason: reviewed}
`
	both, one := fmt.Sprintf(manifest, "a, b"), fmt.Sprintf(manifest, "a")
	many := []string{"a"}
	for i := range 12 {
		many = append(many, fmt.Sprintf("more_%02d", i))
	}
	for _, c := range []struct {
		name              string
		baseText, base    string
		headText, head    string
		want              string
		nothingToCompare  bool
		sourcesOtherPlace bool
	}{
		{"a tool comes", one, listed("a"), one, listed("a", "b"), "1 tool is bound to no agent: b, tools.json:3", false, false},
		{"it was there before", one, listed("a", "b"), one, listed("b", "a"), "", false, false},
		{"an agent has it", both, listed("a", "b"), both, listed("b", "a"), "", false, false},
		{"an agent loses it", both, listed("a", "b"), one, listed("a", "b"), "1 tool is bound to no agent: b, tools.json:3", false, false},
		{"there is no base", "", "", one, listed("a", "b", "c"), "2 tools are bound to no agent: b, tools.json:3; c, tools.json:4", true, false},
		{
			"more than anybody reads", one, listed("a"), one, listed(many...),
			"12 tools are bound to no agent: more_00, tools.json:3; more_01, tools.json:4; more_02, tools.json:5; more_03, tools.json:6; " +
				"more_04, tools.json:7; more_05, tools.json:8; more_06, tools.json:9; more_07, tools.json:10; more_08, tools.json:11; " +
				"more_09, tools.json:12; and 2 more", false, false,
		},
		{"the list moves", one, listed("a", "b"), strings.Replace(one, "tools.json", "kit/tools.json", 1), listed("a", "b"), "", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var base map[string]string
			if !c.nothingToCompare {
				base = map[string]string{"shipgate.yaml": c.baseText, "tools.json": c.base}
			}
			head := map[string]string{"shipgate.yaml": c.headText, "tools.json": c.head}
			if c.sourcesOtherPlace {
				head = map[string]string{"shipgate.yaml": c.headText, "kit/tools.json": c.head}
			}
			text := string(run(t, base, head, func(in *verify.Input) {
				if c.nothingToCompare {
					in.BaseMissing = "not_requested"
				}
			}).Text(false))
			said := ""
			for line := range strings.SplitSeq(text, "\n") {
				if strings.Contains(line, "bound to no agent") {
					said = line
				}
			}
			if said != c.want {
				t.Errorf("says %q, want %q\n%s", said, c.want, text)
			}
		})
	}
}

// The host of a server offers all of its tools: a new one that a closed list
// leaves out beside others of the same server is for a person.
func TestNewToolsBesideBoundOnesAreAskedAbout(t *testing.T) {
	const manifest = `version: "0.1"
project: {name: shop}
agent: {name: helper, declared_purpose: ["look up orders"]}
environment: {target: staging}
tool_sources:
  - {id: shop, type: mcp, path: tools.json}
  - {id: more, type: mcp, path: more.json}
agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [%s], handoffs: [], reason: reviewed}
action_surface:
  actions:
    - {tool: a, effect: read, scopes: ["orders:read"], authority: {mode: scoped, auth_type: oauth2}}
permissions: {scopes: ["orders:read"]}
checks: {ignore: [{check_id: SHIP-SCHEMA-MISSING-OUTPUT-SCHEMA, reason: text by design}]}
`
	one := fmt.Sprintf(manifest, "a")
	renamed := strings.Replace(one, "id: more", "id: rest", 1)
	files := func(text, shop, more string) map[string]string {
		return map[string]string{"shipgate.yaml": text, "tools.json": shop, "more.json": more}
	}
	for _, c := range []struct {
		name       string
		base, head map[string]string
		asked      bool
	}{
		{"beside a bound one", files(one, listed("a"), listed("x")), files(one, listed("a", "b"), listed("x")), true},
		{"of a server that nobody has", files(one, listed("a"), listed("x")), files(one, listed("a"), listed("x", "y")), false},
		{"of a name that another server had", files(one, listed("a"), listed("x")), files(one, listed("a", "x"), listed("x")), true},
		{"there already", files(one, listed("a", "b"), listed("x")), files(one, listed("b", "a"), listed("x")), false},
		{"no more there", files(one, listed("a", "b"), listed("x")), files(one, listed("a"), listed("x")), false},
		{"of a source with another name", files(one, listed("a", "b"), listed("x")), files(renamed, listed("a", "b"), listed("x")), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, c.base, c.head, nil)
			var asked []decision.Gap
			for _, g := range r.Decision.Coverage.Gaps {
				if g.Kind == "source_warning" && g.Subject == "agent_bindings" {
					asked = append(asked, g)
				}
			}
			if !c.asked {
				if len(asked) > 0 {
					t.Errorf("asks %+v", asked)
				}
				return
			}
			if r.Decision.Decision != decision.ReviewRequired || r.CanMerge || r.Fix.Safe || len(asked) != 1 {
				t.Fatalf("%s", r.Text(false))
			}
			next := asked[0].Next
			if next.Template == nil || next.Template.Edits[0].Pointer != "/agent_bindings/declarations/0/tools" || len(next.Accepted) != 1 {
				t.Errorf("asks for %+v", next)
			}
			if want := "key agent_bindings.declarations[0].tools[].tool in shipgate.yaml after line 10"; !strings.Contains(next.Expects, want) {
				t.Errorf("%q does not say %q", next.Expects, want)
			}
		})
	}
}

// Many such tools are one question, whatever their number.
func TestManyNewToolsAreOneQuestion(t *testing.T) {
	base := map[string]string{"shipgate.yaml": readOnly, "tools.json": getOrder}
	var more []string
	for i := range 30 {
		more = append(more, fmt.Sprintf(`{"name": "more_%02d", "description": "Something of the shop.", "inputSchema": {"type": "object"}}`, i))
	}
	head := map[string]string{"shipgate.yaml": readOnly, "tools.json": strings.Replace(getOrder, `[{"name"`, "["+strings.Join(more, ",")+`,{"name"`, 1)}
	r := run(t, base, head, nil)
	d := r.Decision
	if d.Decision != decision.ReviewRequired || d.Coverage.SourceWarnings != 1 || len(d.Coverage.Gaps) != 1 || len(d.Coverage.Gaps[0].Next.Template.Edits) > 10 {
		t.Errorf("%s", r.Text(false))
	}
}
