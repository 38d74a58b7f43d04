package decision_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

const policed = shop + `agent_bindings:
  declarations:
    - {agent: root, complete: true, tools: [a, b, c, d], handoffs: [], reason: reviewed}
policies: {require_approval_for_tools: [a, b]}
action_surface:
  policies:
    - id: money
      severity: high
      message: money needs approval
      recommendation: ask for it
      match: {effects: [financial_write]}
      require: {approval.required: true}
`

// Who brought a gap in is the same whether the sides share what they have alike
// or each was judged for itself.
func TestWhatBothSidesShareIsInheritedAsIfEachHadItsOwn(t *testing.T) {
	m, err := manifest.Load([]byte(policed), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var edits []func(*tool.Tool)
	for _, a := range []tool.Auth{{}, {Type: "oauth2"}, {Scopes: []string{"stock:read"}}} {
		edits = append(edits, acts(a))
	}
	edits = append(edits, hint("readOnlyHint", true), hint("readOnlyHint", "yes"), hint("mcp_unknown_schema", true),
		func(t *tool.Tool) { t.Description = "Refund a payment." }, func(t *tool.Tool) { t.Confidence = tool.Low }, from("spare"))
	anyTools := func(t *rapid.T, name string) []tool.Tool {
		var tools []tool.Tool
		for _, of := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 4, rapid.ID[string]).Draw(t, name) {
			x := seen(of, rapid.SliceOfN(rapid.SampledFrom(edits), 0, 3).Draw(t, of)...)
			x.Once = new(tool.Once)
			tools = append(tools, x)
		}
		return tools
	}
	resolve := func(t *rapid.T, tools []tool.Tool, dynamic []tool.Dynamic, other *effect.Surface) *effect.Surface {
		p, err := effect.Prepare(m, &tool.Reading{Tools: tools, Dynamic: dynamic}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Judge(other)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	gaps := func(head, base *effect.Surface) []decision.Gap {
		of := func(s *effect.Surface) []effect.Issue { return check.PolicyGaps(&check.Subject{Surface: s}) }
		before := decision.GapsBefore(decision.Input{Head: base, Other: head, PolicyGaps: of(base)})
		return decision.Decide(decision.Input{Head: head, Other: base, PolicyGaps: of(head), BaseGaps: &before}).Coverage.Gaps
	}
	shared := 0
	rapid.Check(t, func(t *rapid.T) {
		headTools := anyTools(t, "head")
		baseTools := slices.Clone(headTools)
		for _, x := range anyTools(t, "base") {
			baseTools = slices.DeleteFunc(baseTools, func(o tool.Tool) bool { return o.Name == x.Name })
			if rapid.Bool().Draw(t, "there") {
				baseTools = append(baseTools, x)
			}
		}
		var dynamic [2][]tool.Dynamic
		for i := range dynamic {
			if rapid.IntRange(0, 3).Draw(t, "unread list") == 0 {
				dynamic[i] = []tool.Dynamic{{Kind: "tool_list", Reason: "comprehension", Origin: tool.Origin{SourceID: "spare"}}}
			}
		}
		head := resolve(t, headTools, dynamic[0], nil)
		base := resolve(t, baseTools, dynamic[1], head)
		for _, x := range base.Catalog {
			if head.Shares(x) {
				shared++
			}
		}
		got, want := gaps(head, base), gaps(head, resolve(t, baseTools, dynamic[1], nil))
		if !slices.EqualFunc(got, want, func(a, b decision.Gap) bool { return a.Kind == b.Kind && a.Subject == b.Subject && a.Why == b.Why }) {
			t.Fatalf("got\n%+v\nwant\n%+v", got, want)
		}
	})
	if shared == 0 {
		t.Error("the sides never shared a tool")
	}
}
