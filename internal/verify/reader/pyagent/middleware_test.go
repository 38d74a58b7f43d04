package pyagent_test

import "testing"

// Middleware may bring tools of its own; an agent with such middleware has more
// than its list says.
func TestMiddlewareThatBringsTools(t *testing.T) {
	const head = `
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ShellToolMiddleware, before_model
import langchain.agents.middleware as mw
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from elsewhere import Strange
class Counting(AgentMiddleware):
    def before_model(self, state, runtime): return None
class Loaded(AgentMiddleware):
    tools = [x]
class Late(AgentMiddleware):
    def __init__(self):
        self.tools = [x]
class Odd(Strange): pass
@before_model
def hook(state, runtime): return None
`
	for middleware, name := range map[string]string{
		"[ShellToolMiddleware()]":                       "ShellToolMiddleware",
		"[HumanInTheLoopMiddleware(interrupt_on={})]":   "",
		"[mw.PIIMiddleware('email'), hook, Counting()]": "",
		"[AnthropicPromptCachingMiddleware(ttl='5m')]":  "",
		"[Counting(), Loaded()]":                        "Loaded",
		"[Late()]":                                      "Late",
		"[Odd()]":                                       "Odd",
		"[Strange()]":                                   "Strange",
		"[mw.FilesystemFileSearchMiddleware(root='/')]": "mw.FilesystemFileSearchMiddleware",
		"unknown()":                                     "unknown",
		"[]":                                            "",
	} {
		t.Run(middleware, func(t *testing.T) {
			r := chain(t, "a.py", map[string]string{"a.py": head + "bot = create_agent('m', [], middleware=" + middleware + ")\n"})
			got := ""
			for _, d := range r.Dynamic {
				if d.Kind == "middleware" && d.Agent == "bot" {
					got += d.Name
				}
			}
			if got != name {
				t.Errorf("open for %q, want %q", got, name)
			}
		})
	}
}
