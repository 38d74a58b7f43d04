package control_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/control"
)

func marshal(t *testing.T, c control.Control) string {
	t.Helper()
	text, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestJSONHasTheMembersOfTheSchemaInOrder(t *testing.T) {
	got := marshal(t, control.Derive(facts(control.Worktree, high)))
	want := `{"state":"review_publishable","reason":"1 boundary change needs a person's decision before merge.",` +
		`"completion_allowed":false,"must_stop":false,"verify_required":false,` +
		`"next_action":{"actor":"human","kind":"review","command":null,"expects":null,"why":"high"},` +
		`"allowed_next_commands":["` + verifyHere + `"],` +
		`"permissions":{"edit":true,"commit":true,"push":true,"update_pr":true,"merge":false,"report_complete":false},` +
		`"human_review":{"required":true,"why":"high","required_reviewers":["agent-platform"]},"stop_reason":null}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheDeprecatedFormatReadsAPublishableReviewAsAStop(t *testing.T) {
	c := control.Derive(facts(control.Worktree, high))
	got, err := c.LegacyJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"state":"human_review_required","reason":"1 boundary change needs a person's decision before merge.",` +
		`"completion_allowed":false,"must_stop":true,"verify_required":false,` +
		`"next_action":{"actor":"human","kind":"review","command":null,"expects":null,"why":"high"},` +
		`"allowed_next_commands":[],` +
		`"human_review":{"required":true,"why":"high","required_reviewers":["agent-platform"]},"stop_reason":"high"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c.State() != control.ReviewPublishable {
		t.Error("printing changed the control")
	}
}

func TestOlderControlsReadWithoutPermissions(t *testing.T) {
	permissions := `"permissions":{"edit":true,"commit":true,"push":true,"update_pr":true,"merge":true,"report_complete":true},`
	old := strings.Replace(marshal(t, control.Derive(facts(control.Worktree))), permissions, "", 1)
	var c control.Control
	if err := c.UnmarshalJSON([]byte(old)); err != nil || !c.Permissions().Merge {
		t.Errorf("an old complete control allows everything: %v, %+v", err, c.Permissions())
	}
	publish := strings.Replace(permissions, `"merge":true,"report_complete":true`, `"merge":false,"report_complete":false`, 1)
	old = strings.Replace(marshal(t, control.Derive(facts(control.Worktree, graded))), publish, "", 1)
	if err := c.UnmarshalJSON([]byte(old)); err != nil || c.Permissions() != (control.Permissions{}) {
		t.Errorf("an old agent route allows nothing: %v, %+v", err, c.Permissions())
	}
	old = strings.Replace(marshal(t, control.Derive(facts(control.Worktree, high))), publish, "", 1)
	if err := c.UnmarshalJSON([]byte(old)); err == nil {
		t.Error("a publishable review without permissions is no old control")
	}
}

func TestAContradictingControlIsRefused(t *testing.T) {
	stop := marshal(t, control.Derive(facts(control.Worktree, blocking)))
	agent := marshal(t, control.Derive(facts(control.Worktree, graded)))
	done := marshal(t, control.Derive(facts(control.Worktree)))
	cases := []struct{ name, text, old, new string }{
		{"a stop that may complete", stop, `"completion_allowed":false`, `"completion_allowed":true`},
		{"a stop that need not stop", stop, `"must_stop":true`, `"must_stop":false`},
		{"a stop with a permission", stop, `"edit":false`, `"edit":true`},
		{"a stop with a command", stop, `"allowed_next_commands":[]`, `"allowed_next_commands":["x"]`},
		{"a stop without a reason", stop, `"stop_reason":"blocking"`, `"stop_reason":null`},
		{"an agent that may merge", agent, `"merge":false`, `"merge":true`},
		{"an agent's verify that is not required", agent, `"verify_required":true`, `"verify_required":false`},
		{"an agent's action owned by a person", agent, `"actor":"coding_agent"`, `"actor":"human"`},
		{"another first command", agent, `"allowed_next_commands":["agents`, `"allowed_next_commands":["a","agents`},
		{"a complete control that owes verification", done, `"verify_required":false`, `"verify_required":true`},
		{"a complete control with a command", done, `"allowed_next_commands":[]`, `"allowed_next_commands":["x"]`},
		{"an unknown state", done, `"state":"complete"`, `"state":"fine"`},
		{"an unknown member", done, `"state"`, `"extra":1,"state"`},
		{"no reason", done, `"reason":"No recognised boundary change needs action."`, `"reason":""`},
	}
	for _, c := range cases {
		text := strings.Replace(c.text, c.old, c.new, 1)
		if text == c.text {
			t.Fatalf("%s: the test changes nothing in %s", c.name, c.text)
		}
		var got control.Control
		if err := got.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s was read: %s", c.name, text)
		}
		if got.State() != "" {
			t.Errorf("%s left a control behind", c.name)
		}
	}
}

func TestTheZeroControlAllowsNothing(t *testing.T) {
	var c control.Control
	if c.CompletionAllowed() || c.Permissions() != (control.Permissions{}) || len(c.AllowedNextCommands()) > 0 {
		t.Error("the zero control allows something")
	}
}

func TestRoutesWithoutASubjectGiveNoPermission(t *testing.T) {
	install := control.NeedsInstall("none", "pipx install agents-shipgate")
	refs := control.NeedsRefs("unread", "a and b", "fetch them")
	person := control.NeedsPerson("unread", "look")
	for _, c := range []control.Control{install, refs, person} {
		if c.Permissions() != (control.Permissions{}) || c.CompletionAllowed() {
			t.Errorf("%s allows something", marshal(t, c))
		}
		var again control.Control
		if err := again.UnmarshalJSON([]byte(marshal(t, c))); err != nil {
			t.Errorf("%s does not read again: %v", marshal(t, c), err)
		}
	}
	if !install.VerifyRequired() || refs.VerifyRequired() {
		t.Error("an install owes verification, missing refs do not (OP-24, §12.3)")
	}
}
