package shipgatemcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/cli/shipgatemcp"
)

func server(words ...string) *exec.Cmd { return exec.Command(program("shipgate-mcp"), words...) }

// mcp-serve turns into the program beside the gate, under both of its names and
// through a link.
func TestTheGateTurnsIntoTheServer(t *testing.T) {
	dir := repository(t, "n8n-flow")
	want := must(t, dir, "", program("shipgate"), "explain", "--json", "HOST-MCP-SERVER-ADDED")
	link := filepath.Join(t.TempDir(), "gate")
	if err := os.Symlink(program("agents-shipgate"), link); err != nil {
		t.Skip(err)
	}
	for _, gate := range []string{program("shipgate"), program("agents-shipgate"), link} {
		s := client(t, dir, "", exec.Command(gate, "mcp-serve", "--workspace", "."))
		if text, failed := called(t, s, "shipgate.explain", arguments{"check_id": "HOST-MCP-SERVER-ADDED"}); failed || text != want {
			t.Errorf("%s: %s", gate, text)
		}
	}
}

func TestTheGateWorksWithoutTheServer(t *testing.T) {
	dir := repository(t, "n8n-flow")
	alone := t.TempDir()
	text, err := os.ReadFile(program("shipgate"))
	if err != nil {
		t.Fatal(err)
	}
	gate := filepath.Join(alone, "shipgate")
	if err := os.WriteFile(gate, text, 0o755); err != nil {
		t.Fatal(err)
	}
	// Neither the working directory nor PATH offers a server that is ours.
	put(t, dir, "shipgate-mcp", "#!/bin/sh\necho taken\n")
	if err := os.Chmod(filepath.Join(dir, "shipgate-mcp"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gate, "mcp-serve")
	cmd.Dir, cmd.Env = dir, environ("PATH="+dir+":"+programs)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 4 || out.Len() > 0 || !strings.Contains(errs.String(), "shipgate-mcp is not installed beside shipgate") || !strings.Contains(errs.String(), "make install") {
		t.Errorf("%v: %s%s", err, out.String(), errs.String())
	}
	must(t, dir, "", gate, "check")
	if err := os.WriteFile(filepath.Join(alone, "shipgate-mcp"), []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := started(t, dir, "", gate, "mcp-serve"); s.code != 4 || s.out != "" || !strings.Contains(s.errs, "cannot be started") {
		t.Errorf("%+v", s)
	}
}

func TestTheCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "")
	for _, c := range []struct {
		words, out, errs string
		code             int
	}{
		{"--help", "shipgate mcp-serve turns into it", "", 0},
		{"--version", "agents-shipgate 0.", "", 0},
		{"--port 80", "", "shipgate-mcp: flag provided but not defined: -port", 2},
		{"extra", "", `there is no argument "extra"`, 2},
		{"--workspace=", "", `--workspace "" is no folder`, 2},
		{"--workspace=" + file, "", "is no folder", 2},
		{"--workspace=nowhere", "", `--workspace "nowhere" is no folder`, 2},
		{"", "", "", 0},
	} {
		var out, errs bytes.Buffer
		env := shipgate.Env{Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
		code := shipgatemcp.Main(strings.Fields(c.words), env)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.errs) || c.out == "" && out.Len() > 0 || c.errs == "" && errs.Len() > 0 {
			t.Errorf("%q: %d, %q, %q", c.words, code, out.String(), errs.String())
		}
	}
	env := shipgate.Env{Dir: t.TempDir(), Stdin: strings.NewReader("garbage\n"), Stdout: broken{}, Stderr: new(bytes.Buffer)}
	if code := shipgatemcp.Main(nil, env); code == 2 {
		t.Errorf("a stream that breaks gives %d", code)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// The contract names the tools that there are.
func TestTheContractNamesTheTools(t *testing.T) {
	var said struct {
		MCPTools []string `json:"mcp_tools"`
	}
	if err := json.Unmarshal([]byte(must(t, t.TempDir(), "", program("shipgate"), "contract", "--json")), &said); err != nil {
		t.Fatal(err)
	}
	s := client(t, t.TempDir(), "", nil)
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(said.MCPTools)
	if !slices.Equal(names, said.MCPTools) {
		t.Errorf("the contract names %v, the server has %v", said.MCPTools, names)
	}
}
