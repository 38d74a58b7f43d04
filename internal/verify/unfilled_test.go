package verify_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/tool"
)

func TestAPlaceholderThatIsLeftIsNamedWithItsPlace(t *testing.T) {
	tree := func(purpose string) fstest.MapFS {
		return fstest.MapFS{
			"tools.json": {Data: []byte(`{"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}`)},
			"shipgate.yaml": {Data: []byte(`version: "0.1"
project: {name: shop}
agent:
  name: helper
  declared_purpose: ["` + purpose + `"]
environment: {target: staging}
tool_sources: [{id: shop, type: mcp, path: tools.json}]
`)},
		}
	}
	load := func(purpose string) []tool.Warning {
		side, err := verify.Load(tree(purpose), verify.LoadOptions{Name: "shipgate.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(side.Surface.Warnings, func(w tool.Warning) bool { return w.Code != "placeholder_left" })
	}
	left := load("CHANGE_ME")
	if len(left) != 1 || left[0].Message != "The manifest still says CHANGE_ME for agent.declared_purpose[0], in line 5." ||
		left[0].Origin.Path != "shipgate.yaml" || left[0].Origin.Start.Line != 5 || left[0].Origin.Pointer != "/agent/declared_purpose/0" {
		t.Errorf("%+v", left)
	}
	if left := load("ask before CHANGE_ME is used"); len(left) > 0 {
		t.Errorf("a text that speaks of it: %+v", left)
	}
}
