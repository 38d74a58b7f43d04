package pyagent_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

const shelved = "from agents import function_tool\n\n@function_tool\ndef %s(): pass\n"

// An agent of the Agents SDK is a package with packages in it; what stands
// beside its code is not it, and an import of that is unresolved.
func TestAFolderOfTheAgentsSDKIsItsPackages(t *testing.T) {
	files := map[string]string{
		"desk/agent.py":          "from agents import Agent\nfrom desk.tools.books import find\nfrom .tools.deep.loans import lend\ndesk = Agent(name='d', tools=[find, lend])\n",
		"desk/tools/__init__.py": "", "desk/tools/books.py": fmt.Sprintf(shelved, "find"),
		"desk/tools/deep/loans.py": fmt.Sprintf(shelved, "lend"),
		"desk/tests/fakes.py":      fmt.Sprintf(shelved, "fake"), "desk/.venv/lib/x.py": "def broken((\n",
		"desk/venv/x.py": "def broken((\n", "desk/build/lib/books.py": fmt.Sprintf(shelved, "find"), "desk/notes/readme.txt": "text",
		"other/y.py": fmt.Sprintf(shelved, "elsewhere"),
	}
	expect(t, sdk(t, "desk", files), `
		tool find() sdk_function desk/tools/books.py:4
		tool lend() sdk_function desk/tools/deep/loans.py:4
		agent desk
		direct_tool desk -> find
		direct_tool desk -> lend`)
	files["desk/agent.py"] = "from agents import Agent\nfrom desk.tests.fakes import fake\ndesk = Agent(name='d', tools=[fake])\n"
	r := sdk(t, "desk", files)
	if len(r.Dynamic) != 1 || r.Dynamic[0].Agent != "desk" {
		t.Errorf("an import of what is left out is %v", shown(r))
	}
}

// For the other frameworks a folder stays its own files (§5.2).
func TestAFolderOfLangChainIsItsOwnFiles(t *testing.T) {
	const text = "from langchain.tools import tool\n\n@tool\ndef %s(): pass\n"
	expect(t, chain(t, "desk", map[string]string{"desk/a.py": fmt.Sprintf(text, "a"), "desk/deep/b.py": fmt.Sprintf(text, "b")}), `
		tool a() langchain_function desk/a.py:4`)
}

func TestAFolderHasItsBounds(t *testing.T) {
	many := fstest.MapFS{}
	for i := range 2001 {
		many[fmt.Sprintf("desk/p%d/a.py", i%50)+strings.Repeat("y", i/50)+".py"] = &fstest.MapFile{}
	}
	deep := fstest.MapFS{"desk/" + strings.Repeat("a/", 18) + "b.py": {Data: []byte(fmt.Sprintf(shelved, "deep"))}}
	for name, c := range map[string]struct {
		tree fstest.MapFS
		want tool.Problem
	}{"too many files": {many, tool.TooLarge}, "too deep": {deep, tool.TooLarge}} {
		_, err := pyagent.ReadAgentsSDK(&manifest.Manifest{}, manifest.Source{ID: "code", Path: "desk"}, c.tree)
		if err == nil || err.Problem != c.want || err.SourceID != "code" {
			t.Errorf("%s: %+v", name, err)
		}
	}
}
