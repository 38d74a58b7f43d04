package surface_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

const gateWorkflow = ".github/workflows/agents-shipgate.yml"

func workflowSurface(text string) *surface.Surface {
	return surface.Read(&surface.Change{Path: gateWorkflow, New: surface.Side{Present: true, Bytes: []byte(text)}})
}

func TestLinesThatRunTheGate(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"- run: agents-shipgate verify --ci-mode strict",
		"      - run: shipgate check",
		"\t\tshipgate scan",
		"run: python -m agents_shipgate verify",
		"-   run:   python3  -m  agents_shipgate  scan .",
		"- run: CI=1 shipgate verify",
		`- run: env CI=1 NOTE="a b" shipgate verify`,
		`run: "shipgate verify --json"`,
		"run: 'shipgate verify'",
		"shipgate verify; echo done",
		"shipgate verify|tee log",
		"shipgate verify&&make",
		`shipgate verify\`,
		"- uses: ThreeMoonsLab/agents-shipgate@v1",
		"uses: threemoonslab/AGENTS-SHIPGATE@0123abc # pinned",
		"- uses: plimsoll-dev/shipgate@v1",
		`- uses: "plimsoll-dev/shipgate@v1"`,
	} {
		text := "jobs:\n" + line + "\n"
		if got := workflowSurface(text).GateInvocation(); got != 2 {
			t.Errorf("%q: line %d, want 2", line, got)
		}
		if got := workflowSurface(strings.ReplaceAll(text, "\n", "\r\n")).GateInvocation(); got != 2 {
			t.Errorf("%q with CRLF: line %d, want 2", line, got)
		}
	}
}

func TestLinesThatOnlyLookLikeIt(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"# shipgate verify",
		"- # run: shipgate verify",
		"- run: # shipgate verify",
		`echo "shipgate verify"`,
		"run: echo shipgate verify",
		"- name: shipgate verify",
		"shipgate",
		"shipgate # verify",
		"shipgate verify-nothing",
		"shipgate verifyx",
		"shipgate verify.sh",
		"shipgate --version",
		"myshipgate verify",
		"shipgate-mcp verify",
		"ship\u200bgate verify",
		"Shipgate verify",
		"python agents_shipgate verify",
		"python -m agents-shipgate verify",
		"python2 -m agents_shipgate verify",
		"1X=1 shipgate verify",
		"X-Y=1 shipgate verify",
		"CI=1; shipgate_verify",
		`NOTE="shipgate verify"`,
		`NOTE=" shipgate verify`,
		"-run: shipgate verify",
		"run:shipgate verify",
		"- uses: ThreeMoonsLab/agents-shipgate",
		"- uses: ThreeMoonsLab/agents-shipgate@",
		"- uses: other/agents-shipgate@v1",
		"- uses: x/plimsoll-dev/shipgate@v1",
		"- uses: ./",
		"# uses: plimsoll-dev/shipgate@v1",
	} {
		if got := workflowSurface("jobs:\n" + line + "\n").GateInvocation(); got != 0 {
			t.Errorf("%q runs nothing, but counts at line %d", line, got)
		}
	}
}

func TestATextThatIsNotThereRunsNothing(t *testing.T) {
	t.Parallel()
	for name, side := range map[string]surface.Side{
		"absent":     {Bytes: []byte("shipgate verify")},
		"unresolved": {Present: true, Unresolved: "boundary_input_oversized", Bytes: []byte("shipgate verify")},
		"empty":      {Present: true},
	} {
		if got := surface.Read(&surface.Change{Path: gateWorkflow, New: side}).GateInvocation(); got != 0 {
			t.Errorf("%s: line %d", name, got)
		}
	}
}

func TestTheActionInTheRootCountsWhenItIsTheGate(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"- uses: ./", "uses: './'", "- uses: ./ # ours"} {
		s := workflowSurface(line)
		if got := s.GateInvocation(); got != 0 {
			t.Errorf("%q counts although the action is another", line)
		}
		s.ActionUsesGate = true
		if got := s.GateInvocation(); got != 1 {
			t.Errorf("%q does not count although the action is the gate", line)
		}
	}
	s := workflowSurface("- uses: ./sub\n- uses: ../\n")
	s.ActionUsesGate = true
	if got := s.GateInvocation(); got != 0 {
		t.Errorf("an action in another folder counts at line %d", got)
	}
}

func TestWhichActionIsTheGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"a step runs it", "name: Agents Shipgate\nruns:\n  using: composite\n  steps:\n    - run: |\n        set -e\n        shipgate verify\n", true},
		{"a step uses it", "name: Agents Shipgate\nruns:\n  steps:\n    - uses: ThreeMoonsLab/agents-shipgate@v1\n", true},
		{"another name", "name: Gate\nruns:\n  steps:\n    - run: shipgate verify\n", false},
		{"the name alone", "name: Agents Shipgate\nruns:\n  using: node20\n  main: index.js\n", false},
		{"a step prints it", "name: Agents Shipgate\nruns:\n  steps:\n    - run: echo shipgate verify\n", false},
		{"a comment", "name: Agents Shipgate\nruns:\n  steps:\n    - run: |\n        # shipgate verify\n", false},
		{"no mapping", "- shipgate verify\n", false},
		{"empty", "", false},
	} {
		doc, _ := source.ParseYAML([]byte(c.text))
		if got := surface.ActionIsGate(doc); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if surface.ActionIsGate(source.Value{}) {
		t.Error("an action that is not there is the gate")
	}
}
