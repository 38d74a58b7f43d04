package control_test

import (
	"os/exec"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/control"
)

func TestCommandsQuoteEachValueOnce(t *testing.T) {
	s := control.Subject{Workspace: "/home/a b/it's", Config: "conf/gate$.yml", Base: "origin/next", Head: "v1.2~3"}
	cases := []struct{ name, got, want string }{
		{
			"verify names the refs of a range", control.VerifyCommand(s),
			`agents-shipgate verify --workspace '/home/a b/it'"'"'s' --config 'conf/gate$.yml' --base origin/next --head 'v1.2~3' --json`,
		},
		{
			"preview comes before the format", control.PreviewCommand(control.Subject{Workspace: "/r", Config: "shipgate.yaml"}),
			"agents-shipgate verify --workspace /r --config shipgate.yaml --preview --json",
		},
		{"detect looks at the checkout", control.DetectCommand(s), `shipgate detect --workspace '/home/a b/it'"'"'s' --json`},
		{"rerun names the agent", control.RerunCommand("claude-code"), "shipgate check --agent claude-code --workspace . --format agent-boundary-json"},
		{"an empty word stays a word", control.Quote(""), "''"},
		{"safe characters stay", control.Quote("aZ09@%+=:,./_-"), "aZ09@%+=:,./_-"},
		{"letters beyond ASCII are quoted", control.Quote("café"), "'café'"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestAShellReadsBackWhatWasQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, word := range []string{"a b", "it's", "$HOME", "`id`", `\"`, "line\nbreak", "'", "*", "~", "", "-n"} {
		out, err := exec.Command(sh, "-c", `printf '%s|' `+control.Quote(word)).Output()
		if err != nil || strings.TrimSuffix(string(out), "|") != word {
			t.Errorf("%q came back as %q (%v)", word, out, err)
		}
	}
}
