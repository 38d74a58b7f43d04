package pyagent_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

// What a small program multiplies is refused before it is written out.
func TestWhatAProgramMultipliesIsBounded(t *testing.T) {
	items := strings.Repeat("a,", 1500)
	agents := "from google.adk.agents import Agent\nfrom crewai import Agent as C\ndef a(): pass\nall = [" + items + "]\n" + strings.Repeat("Agent(tools=all)\nC(role='r', tools=all)\n", 200)
	var methods strings.Builder
	methods.WriteString("from crewai import Agent\nclass K:\n")
	for i := range 14 {
		fmt.Fprintf(&methods, "  def m%d(self):\n", i)
		for range 12 {
			fmt.Fprintf(&methods, "    if x: return self.m%d()\n", i+1)
		}
	}
	methods.WriteString("  def go(self): return Agent(role='r', tools=[self.m0()])\n")
	makers := "from crewai import Agent as C, Crew\nclass P:\n def all(self): return Crew(agents=[" + strings.Repeat("self.r(),", 1500) + "])\n def r(self):\n" + strings.Repeat("  x = C(role='r')\n", 2000)
	deep := "from google.adk.agents import Agent\nx0 = [print]\n"
	for i := range 200 {
		deep += fmt.Sprintf("x%d = x%d + x%d\n", i+1, i, i)
	}
	deep += "Agent(tools=x200)\n"
	for name, text := range map[string]string{"many agents of one list": agents, "methods that give each other": methods.String(), "a method that makes many": makers, "lists of lists": deep} {
		t.Run(name, func(t *testing.T) {
			files := tree(map[string]string{"a.py": text})
			a, adkErr := pyagent.ReadADKSource(nil, manifest.Source{ID: "s", Path: "a.py"}, files)
			c, crewErr := pyagent.ReadCrewAISource(nil, manifest.Source{ID: "s", Path: "a.py"}, files)
			if multiplied := name != "lists of lists"; (crewErr != nil) != multiplied || crewErr != nil && crewErr.Problem != tool.TooLarge {
				t.Errorf("got %v", crewErr)
			}
			if a != nil && len(a.Edges) > 60_000 || c != nil && len(c.Edges) > 60_000 {
				t.Errorf("%v, %v", adkErr, crewErr)
			}
		})
	}
}
