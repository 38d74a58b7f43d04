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

// tree is a manifest directory with the given files.
func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func sdk(t *testing.T, path string, files map[string]string) *tool.Reading {
	t.Helper()
	r, err := pyagent.ReadAgentsSDK(&manifest.Manifest{Name: "shipgate.yaml"}, manifest.Source{ID: "code", Type: "openai_agents_sdk", Path: path}, tree(files))
	if err != nil {
		t.Fatalf("ReadAgentsSDK: %v", err)
	}
	return r
}

func chain(t *testing.T, path string, files map[string]string) *tool.Reading {
	t.Helper()
	r, err := pyagent.ReadLangChainSource(&manifest.Manifest{Name: "shipgate.yaml"}, manifest.Source{ID: "code", Type: "langchain", Path: path}, tree(files))
	if err != nil {
		t.Fatalf("ReadLangChainSource: %v", err)
	}
	return r
}

// shown is a reading in lines, in the order in which it was read.
func shown(r *tool.Reading) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, t := range r.Tools {
		var params []string
		for _, p := range t.Params {
			need := "?"
			if p.Required {
				need = ""
			}
			params = append(params, p.Name+need+":"+p.Type)
		}
		add("tool %s(%s) %s%s", t.Name, strings.Join(params, " "), t.Origin.Type, strings.TrimRight(" "+t.Origin.Location, " "))
	}
	for _, a := range r.Agents {
		add("agent %s", a.Name)
	}
	for _, e := range r.Edges {
		open := ""
		if !e.Complete {
			open = " open"
		}
		add("%s %s -> %s%s", e.Kind, e.Agent, e.To, open)
	}
	for _, d := range r.Dynamic {
		add("dynamic %s %s agent=%s name=%s", d.Kind, d.Reason, d.Agent, d.Name)
	}
	for _, k := range r.Toolkit {
		add("toolkit %s %s bound=%s limited=%t %s config=%s", k.Provider, k.Constructor, k.Binding, k.Limited, strings.Join(k.Scopes, ","), k.Config)
	}
	for _, w := range r.Warnings {
		add("warning %s", w.Code)
	}
	return lines
}

func expect(t *testing.T, r *tool.Reading, want string) {
	t.Helper()
	got := strings.Join(shown(r), "\n")
	var trimmed []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			trimmed = append(trimmed, line)
		}
	}
	if joined := strings.Join(trimmed, "\n"); got != joined {
		t.Errorf("read:\n%s\n\nwant:\n%s", got, joined)
	}
}
