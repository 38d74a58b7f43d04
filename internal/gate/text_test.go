package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate"
)

func TestTextSaysWhatAPersonNeeds(t *testing.T) {
	cases := []struct {
		name   string
		change change
		want   string
	}{
		{"complete", change{}, `complete  decision allow, risk none
No recognised boundary change needs action.
`},
		{"a block beside a review", change{files: files{
			settings:    added("{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(*)\"\n    ]\n  }\n}\n"),
			"AGENTS.md": added("Be kind.\n"),
		}}, `human review required  decision block, risk critical
1 of 2 boundary changes is blocked.

  block   critical  .claude/settings.json:4
                    A whole tool is allowed without prompts (Bash(*))
                    HOST-PERMISSION-WILDCARD-ALLOW: Allow single commands, not the whole tool.
  review  medium    AGENTS.md
                    Protected file changed in a way no rule explains
                    BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED: Let a person look at this protected file.

next       stop: A whole tool is allowed without prompts
reviewers  agent-platform, security
`},
		{
			"a capability gap",
			change{files: files{"workflows/conductor/pay.json": added(conductor)}, adopted: true},
			`agent action required  decision warn, risk none
A changed capability surface is not declared in the manifest.

  warning  A capability surface changed that no manifest declares: workflows/conductor/pay.json.

next       discover: Detection names the surfaces that the manifest lacks.
command    shipgate detect --workspace /repo --json
`,
		},
	}
	for _, c := range cases {
		r := check(t, c.change)
		if diff := cmp.Diff(c.want, string(r.Text(false))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		coloured := string(r.Text(true))
		if !strings.Contains(coloured, "\x1b[") || uncoloured(coloured) != c.want {
			t.Errorf("%s: colour changes the words", c.name)
		}
	}
}

func uncoloured(s string) string {
	for _, code := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[1m", "\x1b[2m", "\x1b[0m"} {
		s = strings.ReplaceAll(s, code, "")
	}
	return s
}

func TestTextCannotMoveTheCursor(t *testing.T) {
	r := check(t, change{files: files{"prompts/\x1b[2Jx\u202ey\nz.md": added("a\n")}})
	text := string(r.Text(false))
	if strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, `prompts/\x1b[2Jx\u202ey\nz.md`) {
		t.Errorf("%q", text)
	}
}

func TestTextNamesTheFirstRowsAndCountsTheRest(t *testing.T) {
	many := files{}
	for _, a := range "abcdefghijklmnopqrstuvwxyz" {
		many["prompts/"+string(a)+".md"] = added("a\n")
	}
	text := string(check(t, change{files: many}).Text(false))
	if strings.Count(text, "prompts/") != 20 || !strings.Contains(text, "\n  and 6 more\n") {
		t.Errorf("%s", text)
	}
}

func TestTextOfAnErrorNamesWhatIsExpected(t *testing.T) {
	r := gate.ErrorResult(gate.ErrorInput{Actor: gate.ActorCodex, Mode: gate.GitRange, Failure: gate.RefMissing, Base: "main", Head: "topic"})
	want := `agent action required  decision block, risk medium
The change to check could not be read.

  error    A requested ref does not exist in this repository.

next       fetch_base: Make both refs available in the workspace, then run the same check again; the check fetches nothing.
expects    main and topic
`
	if diff := cmp.Diff(want, string(r.Text(false))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
