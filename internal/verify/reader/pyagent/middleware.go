package pyagent

import (
	"slices"

	"plimsoll.dev/internal/verify/python"
)

// quietMiddleware is LangChain's own middleware that gives an agent no tool that
// reaches beyond its conversation.
var quietMiddleware = []string{
	"SummarizationMiddleware", "HumanInTheLoopMiddleware", "ModelCallLimitMiddleware", "ToolCallLimitMiddleware",
	"ModelFallbackMiddleware", "PIIMiddleware", "ToolRetryMiddleware", "ModelRetryMiddleware", "LLMToolSelectorMiddleware",
	"ContextEditingMiddleware", "LLMToolEmulator", "TodoListMiddleware", "AnthropicPromptCachingMiddleware",
	"OpenAIModerationMiddleware",
}

// middleware opens an agent's tools when middleware that it is made with may bring
// some: somebody else's that is not known to bring none, and the program's own
// that has tools.
func (r *chainReader) middleware(h holder, c *python.Call) {
	value := c.Arg("middleware")
	if value == nil {
		return
	}
	l := h.mod.readList(value)
	for _, it := range l.items {
		if it.mod.bringsTools(it.expr) {
			it.mod.dynamic("middleware", runtimeCall, h.name, label(it.expr), it.expr.At())
		}
	}
	h.gaps("middleware", l)
}

func (m *module) bringsTools(e python.Expr) bool {
	defs := m.defsOf(e)
	if len(defs) == 0 {
		return true
	}
	return slices.ContainsFunc(defs, func(d def) bool {
		switch made := d.bind.Value.(type) {
		case *python.Call:
			return d.mod.makerBringsTools(made.Func)
		default:
			return d.bind.Function == nil // a hook that is a function has no tools
		}
	})
}

func (m *module) makerBringsTools(maker python.Expr) bool {
	if m.is(maker, quietMiddleware, chainPackages) || m.is(maker, quietMiddleware, []string{"langchain_anthropic", "langchain_openai"}) {
		return false
	}
	own := false
	for _, d := range m.defs(maker) {
		if d.bind.Class == nil {
			return true
		}
		own = true
		if d.mod.attributes(d.bind.Class)["tools"] != nil || !d.classIs([]string{"AgentMiddleware"}, chainPackages) {
			return true
		}
	}
	return !own
}
