package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/rule"
)

func TestAnUndeclaredCapabilityIsFoundByNameOrByText(t *testing.T) {
	cases := []struct {
		name   string
		change change
		found  bool
	}{
		{"an OpenAPI description", change{files: files{"api/openapi.yaml": added("openapi: 3.1.0\n")}}, true},
		{"a decorated tool", change{files: files{"app/tools.py": added("@function_tool\ndef pay(): ...\n")}}, true},
		{"the same text taken out", change{files: files{"app/tools.py": edited("@function_tool\ndef pay(): ...\n", "")}}, false},
		{"ordinary code", change{files: files{"app/main.py": added("print(1)\n")}}, false},
		{"a fixture", change{files: files{"tests/openapi.yaml": added("openapi: 3.1.0\n")}}, false},
		{"an adapter path", change{files: files{".mcp.json": added("{}")}}, false},
		{"the text of another file", change{files: files{"app/a.py": added("x = 1\n"), "docs/a.md": added("@function_tool\n")}}, false},
		{"text that only the index has", change{files: files{"app/tools.py": added("x = 1\n")}, more: func(in *gate.Input) {
			in.Records = append(in.Records, record("app/tools.py", added("@function_tool\n")))
		}}, true},
	}
	for _, c := range cases {
		r := check(t, c.change)
		if got := len(diagnostics(r, "undeclared_capability_surface")) == 1; got != c.found {
			t.Errorf("%s: found %v\n%s", c.name, got, r.JSON())
		}
	}
}

func TestADeclaredSourceIsItselfOrBelow(t *testing.T) {
	for _, c := range []struct {
		source, path string
		found        bool
	}{
		{"tools/one.json", "tools/one.json", true},
		{"tools", "tools/deep/one.json", true},
		{"tools/", "tools/one.json", true},
		{"tools", "tools.json", false},
		{"tools/one", "tools/one.json", false},
		{".", "a.txt", false},
		{"", "a.txt", false},
	} {
		r := check(t, change{files: files{c.path: edited("a", "b")}, adopted: true, declared: []string{c.source}})
		if got := len(diagnostics(r, "capability_change_requires_verify")) == 1; got != c.found {
			t.Errorf("source %q, path %q: found %v", c.source, c.path, got)
		}
	}
}

func TestBothGapsAreToldAndTheUndeclaredOneIsTaken(t *testing.T) {
	r := check(t, change{
		files: files{"tools/one.json": edited("a", "b"), "api/openapi.yaml": added("openapi: 3.1.0\n")}, adopted: true, declared: []string{"tools/one.json"},
	})
	if r.Decision != rule.Warn || r.Control.NextAction().Kind != control.Discover {
		t.Errorf("%s, %+v", r.Decision, r.Control.NextAction())
	}
	want := "1 changed path(s) of declared tool sources. 1 changed path(s) of undeclared capability surfaces."
	if len(r.Trace) != 3 || r.Trace[1] != (gate.Step{Step: "coverage", Summary: want}) {
		t.Errorf("trace %v", r.Trace)
	}
}

func TestAGapIsAFactBesideARow(t *testing.T) {
	r := check(t, change{files: files{settings: added(makeLint), "api/openapi.yaml": added("openapi: 3.1.0\n")}, adopted: true})
	if r.Decision != rule.RequireReview || r.Control.State() != publishable || !r.Control.VerifyRequired() || len(diagnostics(r, "undeclared_capability_surface")) != 1 {
		t.Errorf("%s, %s\n%s", r.Decision, r.Control.State(), r.JSON())
	}
}

func TestAtMostFiveSurfacesAreNamed(t *testing.T) {
	many := files{}
	for i := range 8 {
		many[fmt.Sprintf("api/%d-openapi.yaml", i)] = added("openapi: 3.1.0\n")
	}
	d := diagnostics(check(t, change{files: many}), "undeclared_capability_surface")
	if len(d) != 1 || strings.Count(d[0].Message, "openapi") != 5 || !strings.HasSuffix(d[0].Message, " and 3 more.") {
		t.Errorf("%v", d)
	}
}
