package pyagent_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/tool"
)

const handedHead = `
from agents import Agent, function_tool
@function_tool
def wipe(): pass
@function_tool
def look(): pass
bot = Agent(name="bot", tools=[look])
`

// A list that leaves the forms that are read may gain anything: the agent's tools
// are open then, and only then.
func TestAListThatIsHandedOnIsOpen(t *testing.T) {
	for name, c := range map[string]struct{ text, agent string }{
		"kept under another name": {"t = bot.tools\nt.append(wipe)\n", "bot"},
		"added to under a name":   {"t = bot.tools\nt += [wipe]\n", "bot"},
		"given to a function":     {"import more\nmore.fill(bot.tools)\n", "bot"},
		"given by keyword":        {"import more\nmore.fill(into=bot.tools)\n", "bot"},
		"returned":                {"def lists():\n    return bot.tools\n", "bot"},
		"a part of it":            {"bot.tools[len(bot.tools):] = [wipe]\n", "bot"},
		"a place of it":           {"bot.tools[0] = wipe\n", "bot"},
		"an operator's method":    {"bot.tools.__iadd__([wipe])\n", "bot"},
		"setattr":                 {"setattr(bot, 'tools', [wipe])\n", "bot"},
		"setattr, computed":       {"setattr(bot, 'to' + x(), [wipe])\n", "bot"},
		"getattr":                 {"getattr(bot, 'tools').append(wipe)\n", "bot"},
		"handoffs":                {"bot.handoffs[0] = other()\n", "bot"},
		"a function's parameter":  {"def more(a):\n    a.tools.append(wipe)\nmore(bot)\n", ""},
		"a parameter, set":        {"def more(a):\n    a.tools = [wipe]\nmore(bot)\n", ""},
		"a parameter, grown":      {"def more(a):\n    a.tools += [wipe]\nmore(bot)\n", ""},
		"a context's agent":       {"async def on_start(context):\n    context.run.agent.tools.append(wipe)\n", ""},
		"a request to a model":    {"def before(context, request):\n    request.append_tools([wipe])\n", ""},
		"a loop over agents":      {"for a in [bot]:\n    a.tools.append(wipe)\n", ""},
		"a place of a container":  {"all = {'b': bot}\nall['b'].tools.append(wipe)\n", ""},
		"what a call gives":       {"find('bot').tools += [wipe]\n", ""},
		"its members":             {"bot.__dict__['tools'].append(wipe)\n", "bot"},
		"its members by vars":     {"vars(bot)['tools'].append(wipe)\n", "bot"},
	} {
		t.Run(name, func(t *testing.T) {
			open := openLists(sdk(t, "a.py", map[string]string{"a.py": handedHead + c.text}))
			if len(open) == 0 || open[0].Agent != c.agent || open[0].Origin.Start.Line == 0 {
				t.Errorf("open lists %+v, want one of agent %q", open, c.agent)
			}
		})
	}
	for name, text := range map[string]string{
		"looked at":               "print(len(bot.tools), sorted(bot.tools))\nlog.info('%s', bot.tools)\n",
		"gone through":            "for t in bot.tools:\n    print(t.name)\nnames = [t.name for t in bot.tools]\n",
		"kept to be looked at":    "t = bot.tools\nfor x in t:\n    x()\n",
		"made shorter":            "bot.tools.remove(look)\nbot.tools.clear()\n",
		"another attribute":       "setattr(bot, 'model', x())\ngetattr(bot, 'name')\nkeep(bot.name)\n",
		"no agent":                "keep(shop.tools)\nshop.tools[0] = wipe\nt = shop.tools\nt.append(wipe)\n",
		"an object of its own":    "class R:\n    def __init__(self):\n        self.tools = []\n    def add(self, t):\n        self.tools.append(t)\n",
		"words in a loop":         "for box in boxes:\n    box.tools.append('hammer')\nfind().tools.append(f'{x}')\n",
		"a parameter's words":     "def f(args):\n    args.tools.append('hammer')\n",
		"a parameter that's read": "def f(a):\n    return len(a.tools)\nf(bot)\n",
	} {
		t.Run(name, func(t *testing.T) {
			if open := openLists(sdk(t, "a.py", map[string]string{"a.py": handedHead + text})); len(open) != 0 {
				t.Errorf("open lists %+v", open)
			}
		})
	}
}

func openLists(r *tool.Reading) []tool.Dynamic {
	var open []tool.Dynamic
	for _, d := range r.Dynamic {
		if strings.HasSuffix(d.Kind, "_list") && d.Reason == "changed_in_place" {
			open = append(open, d)
		}
	}
	return open
}

// What a star import brings may be another tool under a name that is there.
func TestANameThatAStarImportMayReplace(t *testing.T) {
	const agent = `
from agents import Agent
from books import look
from evil import *
bot = Agent(name="bot", tools=[look])
`
	const function = "from agents import function_tool\n@function_tool\ndef %s(): pass\n"
	of := func(name string) string { return strings.ReplaceAll(function, "%s", name) }
	complete := func(evil string) (known []bool) {
		for _, e := range sdk(t, ".", map[string]string{"a.py": agent, "books.py": of("look"), "evil.py": evil}).Edges {
			known = append(known, e.Complete)
		}
		return known
	}
	if got := complete(of("look")); len(got) == 0 || got[0] {
		t.Errorf("edges complete: %v, want an edge that is not sure", got)
	}
	for _, same := range []string{of("other"), "from books import look\n", ""} {
		if got := complete(same); len(got) != 1 || !got[0] {
			t.Errorf("with %q edges complete: %v, want one that is sure", same, got)
		}
	}
}
