package pyagent_test

import (
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/reader/pyagent"
	"plimsoll.dev/internal/verify/tool"
)

// FuzzReaders holds that any two files are read alike twice, that every agent
// with an edge is known, and that a complete edge leads to something that was
// read.
func FuzzReaders(f *testing.F) {
	for _, text := range []string{
		"from agents import Agent, function_tool\n@function_tool\ndef a(x: int): 'A'\nbot = Agent(name='b', tools=[a], handoffs=[bot])\n",
		"from langchain.tools import tool\nfrom langgraph.prebuilt import ToolNode\n@tool\ndef a(): pass\nt = [a]\nt += [a]\nn = ToolNode(t)\n",
		"from langchain.agents import create_agent\nfrom b import *\nx = create_agent('m', tools=b.ALL + [c for c in d])\n",
		"from langgraph.graph import StateGraph\ng = StateGraph(x)\ng.add_node('a', g.compile())\nm.bind_tools(self.tools)\n",
		"from pydantic import BaseModel\nclass A(BaseModel):\n  a: 'A'\n  b: A\nfrom langchain.tools import tool\n@tool(args_schema=A)\ndef f(): pass\n",
		"from v import Toolkit\nk = Toolkit(actions={'a': {'b': True}}, config=os.environ['X'])\n",
		"from agents import Agent\nb = Agent(name='b').clone()\nb.tools.append(b.as_tool())\n",
	} {
		f.Add(text, "from agents import function_tool\n@function_tool\ndef c(): pass\nALL = [c]\n")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		files := fstest.MapFS{"a.py": {Data: []byte(one)}, "b.py": {Data: []byte(two)}}
		m := &manifest.Manifest{Name: "shipgate.yaml"}
		s := manifest.Source{ID: "code", Path: "."}
		for _, read := range []func(*manifest.Manifest, manifest.Source, fstest.MapFS) (*tool.Reading, *tool.SourceError){
			func(m *manifest.Manifest, s manifest.Source, files fstest.MapFS) (*tool.Reading, *tool.SourceError) {
				return pyagent.ReadAgentsSDK(m, s, files)
			},
			func(m *manifest.Manifest, s manifest.Source, files fstest.MapFS) (*tool.Reading, *tool.SourceError) {
				return pyagent.ReadLangChainSource(m, s, files)
			},
		} {
			r, err := read(m, s, files)
			if err != nil {
				continue
			}
			again, _ := read(m, s, files)
			if !reflect.DeepEqual(r, again) {
				t.Fatal("read otherwise the second time")
			}
			for _, e := range r.Edges {
				if !slices.ContainsFunc(r.Agents, func(a tool.Agent) bool { return a.Name == e.Agent }) {
					t.Errorf("an edge of %q, which is no agent", e.Agent)
				}
				known := slices.ContainsFunc(r.Tools, func(at tool.Tool) bool { return at.Name == e.To }) ||
					slices.ContainsFunc(r.Agents, func(a tool.Agent) bool { return a.Name == e.To })
				if e.Complete && !known {
					t.Errorf("a complete edge to %q, which was not read", e.To)
				}
			}
		}
	})
}
