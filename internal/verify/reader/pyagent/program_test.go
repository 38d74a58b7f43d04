package pyagent_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

const lookup = `
from agents import function_tool
@function_tool
def lookup(q: str): "Looks it up."
ALL = [lookup]
`

func TestNamesAreFollowedFromFileToFile(t *testing.T) {
	for name, c := range map[string]struct {
		path  string
		files map[string]string
	}{
		"a relative import": {"bot", map[string]string{
			"bot/agent.py": "from agents import Agent\nfrom .tools import lookup as find\nbot = Agent(name='b', tools=[find])",
			"bot/tools.py": lookup,
		}},
		"a list of another file": {"bot", map[string]string{
			"bot/agent.py": "from agents import Agent\nfrom . import tools as t\nbot = Agent(name='b', tools=t.ALL)",
			"bot/tools.py": lookup,
		}},
		"an absolute import of a neighbour": {"bot", map[string]string{
			"bot/agent.py": "from agents import Agent\nimport tools\nbot = Agent(name='b', tools=[*tools.ALL])",
			"bot/tools.py": lookup,
		}},
		"an import from the root of the repository": {"src/bot/", map[string]string{
			"src/bot/agent.py": "from agents import Agent\nfrom src.bot.tools import ALL\nbot = Agent(name='b', tools=ALL)",
			"src/bot/tools.py": lookup,
		}},
		"a manifest inside of a package": {"inner/bot", map[string]string{
			"inner/bot/agent.py": "from agents import Agent\nfrom outer.inner.bot.tools import ALL\nbot = Agent(name='b', tools=ALL)",
			"inner/bot/tools.py": lookup,
		}},
		"a re-export": {"bot", map[string]string{
			"bot/__init__.py": "from .tools import lookup as shown\n",
			"bot/agent.py":    "from agents import Agent\nfrom . import shown\nbot = Agent(name='b', tools=[shown])",
			"bot/tools.py":    lookup,
		}},
		"a star": {"bot", map[string]string{
			"bot/agent.py": "from agents import *\nfrom .tools import *\nbot = Agent(name='b', tools=[lookup])",
			"bot/tools.py": lookup,
		}},
		"the decorator re-exported": {".", map[string]string{
			"agent.py": "from sdk import Agent\nfrom tools import lookup\nbot = Agent(name='b', tools=[lookup])",
			"sdk.py":   "from agents import Agent, function_tool",
			"tools.py": strings.Replace(lookup, "from agents", "from sdk", 1),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := sdk(t, c.path, c.files)
			dir := strings.TrimSuffix(c.path, "/") + "/"
			if dir == "./" {
				dir = ""
			}
			expect(t, r, "tool lookup(q:string) sdk_function "+dir+"tools.py:4\nagent bot\ndirect_tool bot -> lookup")
			if at := r.Tools[0].Origin; at.Ref != dir+"tools.py" || at.SourceID != "code" {
				t.Errorf("origin %+v", at)
			}
		})
	}
}

func TestANameOfAnotherProgramIsNotResolvedByChance(t *testing.T) {
	r := sdk(t, ".", map[string]string{
		"agent.py": "from agents import Agent\nfrom vendor.tools import lookup\nbot = Agent(name='b', tools=[lookup])",
		"tools.py": lookup,
	})
	expect(t, r, `
		tool lookup(q:string) sdk_function tools.py:4
		agent bot
		dynamic tool unresolved_name agent=bot name=lookup`)
}

func TestAFileThatIsNotDeclaredIsNotRead(t *testing.T) {
	r := sdk(t, "agent.py", map[string]string{
		"agent.py": "from agents import Agent\nfrom tools import lookup\nbot = Agent(name='b', tools=[lookup])",
		"tools.py": lookup,
	})
	expect(t, r, "agent bot\ndynamic tool unresolved_name agent=bot name=lookup")
}

func TestHandoffsBetweenFiles(t *testing.T) {
	r := sdk(t, "team", map[string]string{
		"team/billing.py": "import agents\nbilling_agent = agents.Agent(name='Billing')",
		"team/triage.py":  "from agents import Agent, handoff\nfrom team.billing import billing_agent\ntriage = Agent(name='T', handoffs=[handoff(billing_agent)])",
	})
	expect(t, r, "agent billing_agent\nagent triage\nhandoff triage -> billing_agent")
}

func TestSourcesThatStopTheReading(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		text    string
		problem tool.Problem
		line    int
	}{
		"not there":        {"other.py", "", tool.NotThere, 0},
		"outside":          {"../a.py", "", tool.Outside, 0},
		"no Python":        {"a.py", "x = 1\ndef f(:\n  pass\n", tool.Malformed, 2},
		"Python 2":         {"a.py", "print 'x'\n", tool.Malformed, 1},
		"another encoding": {"a.py", "# coding: latin-1\n", tool.Malformed, 1},
		"a folder without": {"empty", "", tool.NotThere, 0},
	} {
		t.Run(name, func(t *testing.T) {
			files := tree(map[string]string{"a.py": c.text, "empty/notes.txt": ""})
			_, err := pyagent.ReadAgentsSDK(&manifest.Manifest{}, manifest.Source{ID: "code", Path: c.path}, files)
			if err == nil || err.Problem != c.problem || err.Line != c.line || err.SourceID != "code" {
				t.Fatalf("got %+v, want %s in line %d", err, c.problem, c.line)
			}
			if _, err := pyagent.ReadLangChainSource(&manifest.Manifest{}, manifest.Source{ID: "code", Path: c.path}, files); err == nil || err.Problem != c.problem {
				t.Errorf("langchain: %+v", err)
			}
		})
	}
}

func TestASourceWithoutAPathIsTheEntrypoint(t *testing.T) {
	files := tree(map[string]string{"app/bot.py": lookup})
	m := &manifest.Manifest{Agent: manifest.Agent{SDK: manifest.SDK{Entrypoint: "app/bot.py"}}}
	r, err := pyagent.ReadAgentsSDK(m, manifest.Source{ID: "code"}, files)
	if err != nil || len(r.Tools) != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	if _, err := pyagent.ReadAgentsSDK(&manifest.Manifest{Name: "shipgate.yaml"}, manifest.Source{ID: "code"}, files); err == nil {
		t.Error("a source without a path and an entrypoint was read")
	}
}

func TestTheLangChainBlock(t *testing.T) {
	files := tree(map[string]string{
		"agent.py":   "from langchain.agents import create_agent\nfrom tools import find\nbot = create_agent('m', [find])",
		"tools.py":   "from langchain.tools import tool\n@tool\ndef find(): 'Finds.'",
		"tools.json": `[{"name": "remote", "description": "R"}]`,
	})
	m := &manifest.Manifest{Name: "shipgate.yaml", LangChain: &manifest.Framework{
		Entrypoints: []manifest.Artifact{{Path: "agent.py"}, {Path: "tools.py"}, {Path: "gone.py", Optional: true}},
		Inventories: []manifest.Artifact{{Path: "tools.json"}},
	}}
	r, err := pyagent.ReadLangChain(m, files)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, `
		tool find() langchain_function tools.py:3
		tool remote() langchain_inventory
		agent bot
		direct_tool bot -> find
		warning missing_optional_source`)
	var rows []string
	for _, s := range r.Sources {
		rows = append(rows, fmt.Sprintf("%s %s %d", s.ID, s.State, s.Tools))
	}
	want := []string{"langchain loaded 1", "langchain:gone.py missing 0", "langchain:tools.json loaded 1"}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("sources %q", rows)
	}
	m.LangChain.Entrypoints[2].Optional = false
	if _, err := pyagent.ReadLangChain(m, files); err == nil || err.Problem != tool.NotThere {
		t.Errorf("an entrypoint that is not there: %v", err)
	}
}

func TestToolkitsAndTheirLists(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a list of texts": {
			`
from vendor.kit import VendorToolkit as VT
ACTIONS = ["read", "write"]
kit = VT(key="x", actions=ACTIONS)`,
			"toolkit vendor.kit VendorToolkit bound=kit limited=true read,write config=",
		},
		"a map inside of a configuration": {
			`
from stripe_agent_toolkit.openai.toolkit import StripeAgentToolkit
kit = StripeAgentToolkit(secret_key=k, configuration={"actions": {"payment_links": {"create": True, "delete": False}, "products": {"read": True}}})`,
			"toolkit stripe_agent_toolkit.openai.toolkit StripeAgentToolkit bound=kit limited=true payment_links.create,products.read config=",
		},
		"a class of another name, by its list": {
			`
import vendor
client = vendor.Client(allowed_tools={"b", "a"})
other = vendor.Client(timeout=3)`,
			"toolkit vendor Client bound=client limited=true a,b config=",
		},
		"a list that is computed is none": {
			`
from vendor import Toolkit
kit = Toolkit(actions=load())
two = Toolkit(actions=None)
three = Toolkit()`,
			`toolkit vendor Toolkit bound=kit limited=false  config=
			 toolkit vendor Toolkit bound=two limited=false  config=
			 toolkit vendor Toolkit bound=three limited=false  config=`,
		},
		"an empty list": {
			`
from vendor import Toolkit
kit = Toolkit(actions=[])`,
			"toolkit vendor Toolkit bound=kit limited=true  config=",
		},
		"configured by a file or the environment": {
			`
import os
from vendor import Toolkit
a = Toolkit(config="kit.yaml")
b = Toolkit.from_file("conf/kit.json", scopes=("s",))
c = Toolkit(config_path=os.environ["KIT"])
d = Toolkit(config=os.getenv("KIT2"), settings="https://user:pass@host/x.yaml")`,
			`toolkit vendor Toolkit bound=a limited=false  config=kit.yaml
			 toolkit vendor Toolkit.from_file bound=b limited=true s config=conf/kit.json
			 toolkit vendor Toolkit bound=c limited=false  config=env KIT
			 toolkit vendor Toolkit bound=d limited=false  config=env KIT2`,
		},
		"a class of another name, by what it gives": {
			`
from vendor import Hub, Box
from langchain.agents import create_agent
hub = Hub()
bot = create_agent("m", hub.get_tools() + [Box(actions=["x"])])`,
			`agent bot
			 dynamic tool runtime_call agent=bot name=Box
			 dynamic tool_list runtime_call agent=bot name=hub.get_tools
			 toolkit vendor Hub bound=hub limited=false  config=
			 toolkit vendor Box bound=bot limited=true x config=`,
		},
		"no toolkit: a class of the program": {`
class MyToolkit: pass
kit = MyToolkit(actions=["a"])`, ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, chain(t, "a.py", map[string]string{"a.py": c.text}), c.want) })
	}
}

func TestNoDefaultOfAFunctionIsKept(t *testing.T) {
	secret := "sk-" + "live-0123456789abcdef"
	r := chain(t, "a.py", map[string]string{"a.py": `
from langchain.tools import tool
from typing import Literal
@tool
def a(key: str = "` + secret + `", n: int = 3, kind: Literal["x"] = "x"): pass
`})
	all := fmt.Sprintf("%+v", r)
	if strings.Contains(all, secret) {
		t.Errorf("the secret is in %s", all)
	}
	if got := r.Tools[0].Signature; got != "a(key: str = …, n: int = …, kind: Literal[…] = …)" {
		t.Errorf("signature %q", got)
	}
}
