package trigger_test

import (
	"testing"

	"plimsoll.dev/internal/gate/trigger"
)

func TestACapabilityIsFoundByPath(t *testing.T) {
	for path, want := range map[string]bool{
		"exports/mcp.json":     true,
		"openapi.yaml":         true,
		"a/conductor/b.json":   true,
		"tests/mcp.json":       true, // a candidate; whether it counts is FixturePath's to say
		"a.py":                 false,
		".codex/config.toml":   false, // a host boundary is no capability
		"prompts/a.md":         false,
		"shipgate.yaml":        false,
		"README.md":            false,
		".codex-plugin/x.json": true,
	} {
		if got := trigger.CapabilityByPath(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestACapabilityIsFoundInTheLinesThatAFileGains(t *testing.T) {
	for _, c := range []struct {
		name  string
		path  string
		added []string
		want  bool
	}{
		{"a decorator", "agent.py", []string{"import x", "@function_tool", "def f():"}, true},
		{"lines without one", "agent.py", []string{"def f():"}, false},
		{"an export by its name", "exports/mcp.json", nil, true},
		{"a tool list that spans lines", "agent.py", []string{"LlmAgent(", "tools=[", "f]"}, true},
		{"a document that shows one", "docs/a.md", []string{"@tool"}, false},
		{"a test that has one", "tests/test_a.py", []string{"@tool"}, false},
		{"a governance file", "prompts/a.txt", []string{"be kind"}, false},
		{"a prompt that has one", "prompts/a.txt", []string{"@tool"}, true},
		{"a framework version", "pyproject.toml", []string{"langchain"}, false},
	} {
		if got := trigger.Capability(c.path, c.added); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestFixturesAreWhatNothingLoads(t *testing.T) {
	for _, p := range []string{
		"test/a", "a/tests/b/c.json", "fixtures/a", "fixture/a", "golden/a/b", "goldens/a", "__snapshots__/a", "samples/x/expected/mcp.json",
	} {
		if !trigger.FixturePath(p) {
			t.Errorf("%s is no fixture", p)
		}
	}
	for _, p := range []string{
		"test", "tests", "a/test", "fixtures", "a/fixtures/b", "a/golden/b", "samples/expected/a", "samples/x/y/expected/a", "samples/x/expected",
		"testdata/a", "Tests/a", "Fixtures/a", "src/test.py",
	} {
		if trigger.FixturePath(p) {
			t.Errorf("%s is a fixture", p)
		}
	}
}
