package pyagent_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
)

func TestHostileProgramsEndSoon(t *testing.T) {
	const head = "from agents import Agent, function_tool\nfrom langchain.agents import create_agent\nfrom langgraph.graph import StateGraph\n@function_tool\ndef a(): pass\n"
	many := func(n int, line string) string { return strings.Repeat(line, n) }
	for name, text := range map[string]string{
		"agents that share a long list": "t = [" + many(1900, "a,") + "]\n" + many(6_000, "x = Agent(name='x', tools=t)\n") + many(3000, "y = create_agent('m', t)\n"),
		"agents that pass one list on":  "t = [a]\ndef f(p): pass\n" + many(10_000, "f(t); Agent(tools=t)\n"),
		"lists of lists":                "t = [a]\n" + lists(200),
		"a list with many values":       many(6_000, "t = [a]\n") + many(300, "x = Agent(tools=t)\n"),
		"classes of classes":            "class A: pass\n" + many(6_000, "class A(A, A, A): pass\n") + many(300, "x = A(tools=[a])\n"),
		"functions of one name":         many(10_000, "@function_tool\ndef a(x): pass\n"),
		"graphs":                        many(6_000, "g = StateGraph(x)\nm.bind_tools([a])\ng.add_node('n', g.compile())\n"),
		"aliases":                       many(10_000, "b = a\n") + many(300, "x = Agent(tools=[b])\n"),
		"self":                          "class C:\n def f(self):\n" + many(6_000, "  self.t = self.t + [a]\n") + many(300, "  Agent(tools=self.t)\n"),
		"clones":                        "x = Agent(tools=[a])\n" + many(6_000, "x = x.clone()\n"),
		"parameters on one line":        "@function_tool\ndef f(" + parameters(30_000) + "): pass\n",
		"pydantic":                      "from pydantic import BaseModel\n" + many(3000, "class M(BaseModel):\n x: M\n y: M\n") + many(2000, "@function_tool\ndef f(m: M): pass\n"),
		"nested agents":                 "x = " + many(190, "Agent(tools=[") + many(190, "])") + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := tree(map[string]string{"a.py": head + text})
			start := time.Now()
			_, err := pyagent.ReadAgentsSDK(&manifest.Manifest{}, manifest.Source{ID: "code", Path: "a.py"}, files)
			_, fault := pyagent.ReadLangChainSource(&manifest.Manifest{}, manifest.Source{ID: "code", Path: "a.py"}, files)
			if spent := time.Since(start); spent > 30*time.Second {
				t.Errorf("took %s (%v, %v)", spent, err, fault)
			}
		})
	}
}

func lists(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("t" + strings.Repeat("x", i+1) + " = [*t" + strings.Repeat("x", i) + ", *t" + strings.Repeat("x", i) + "]\n")
	}
	return b.String() + "x = Agent(tools=t" + strings.Repeat("x", n) + ")\n"
}

func parameters(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("p" + strings.Repeat("q", i%7) + string(rune('a'+i%26)) + ": dict[str, int] = 1, ")
	}
	return b.String()
}
