package surface_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/surface"
)

func TestAWorkflowSaysWhatStartsItHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"on: push", []string{"push"}},
		{"'on': push", []string{"push"}},
		{"on: [push, pull_request_target, 1]", []string{"push", "pull_request_target"}},
		{"on:\n  push:\n  pull_request_target: {types: [opened]}", []string{"push", "pull_request_target"}},
		{"true: push", []string{"push"}},
		{"on:", nil},
		{"name: x", nil},
	} {
		_, after, ok := created(ciWorkflow, c.text).Workflow()
		if !ok {
			t.Fatalf("%q is not read", c.text)
		}
		var got []string
		for _, trigger := range after.Triggers {
			got = append(got, trigger.Event)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestATokenInheritsWhatTheWorkflowSets(t *testing.T) {
	t.Parallel()
	before, after, ok := edited(ciWorkflow, `
on: push
permissions: read-all
jobs:
  own: {permissions: {contents: write}}
  freed: {permissions: {contents: read}}
  gone: {permissions: {}}
  plain: {}
`, `
on: push
permissions: {contents: WRITE, odd: [write], issues: none}
jobs:
  own: {permissions: write-all}
  freed: {permissions: }
  fresh: {permissions: {contents: write, pages: write}}
  plain: {}
`).Workflow()
	if !ok {
		t.Fatal("not read")
	}
	var got []string
	for _, c := range surface.TokenContexts(&before, &after) {
		line := c.Job
		if c.WriteAllGained() {
			line += " write-all"
		}
		got = append(got, line)
	}
	for _, g := range surface.ScopesGained(&before, &after) {
		got = append(got, g.Job+" "+g.Scope+" was "+g.Old+" line "+itoa(g.Pos.Line))
	}
	want := []string{
		"<top-level>", "own write-all", "freed", "fresh",
		"<top-level> contents was read line 3",
		"freed contents was read line 3",
		"fresh contents was read line 7",
		"fresh pages was read line 7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for scope, want := range map[string]string{"contents": "write", "odd": "<redacted>", "issues": "none", "pages": ""} {
		if got := after.Permissions.Level(scope); got != want {
			t.Errorf("level of %s is %q, want %q", scope, got, want)
		}
	}
}

// Jobs times inherited scopes is what a hostile file multiplies.
func TestAWorkflowGainsAtMostABoundedNumberOfScopes(t *testing.T) {
	t.Parallel()
	var jobs, freed, scopes strings.Builder
	for i := range 3000 {
		jobs.WriteString("  j" + itoa(i) + ": {permissions: {}}\n")
		freed.WriteString("  j" + itoa(i) + ": {}\n")
		scopes.WriteString("  s" + itoa(i) + ": write\n")
	}
	before, after, ok := edited(ciWorkflow,
		"on: push\njobs:\n"+jobs.String(),
		"on: push\npermissions:\n"+scopes.String()+"jobs:\n"+freed.String()).Workflow()
	if !ok {
		t.Fatal("not read")
	}
	if n := len(surface.ScopesGained(&before, &after)); n != surface.MaxScopesGained {
		t.Errorf("%d scopes gained, want %d", n, surface.MaxScopesGained)
	}
}

func FuzzWorkflow(f *testing.F) {
	f.Add([]byte("on: push"), []byte("on: [push, pull_request_target]\npermissions: write-all\njobs:\n  a: {permissions: {issues: write}}\n"))
	f.Add([]byte("permissions: read-all\njobs: {a: {permissions: write-all}}"), []byte("permissions: &p {contents: write}\njobs: {a: {permissions: *p}, b: }"))
	f.Add([]byte("true: push"), []byte("- on"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		was, is, ok := edited(ciWorkflow, string(before), string(after)).Workflow()
		if !ok {
			return
		}
		inside := places(after)
		for _, trigger := range is.Triggers {
			inside(t, "trigger", trigger.Pos)
		}
		for _, c := range surface.TokenContexts(&was, &is) {
			inside(t, "permissions of "+c.Job, c.After.Pos)
		}
		for _, g := range surface.ScopesGained(&was, &is) {
			inside(t, g.Scope, g.Pos)
			if g.Old == surface.LevelWrite {
				t.Fatalf("%s of %s could write before", g.Scope, g.Job)
			}
		}
		if len(surface.ScopesGained(&is, &is)) > 0 {
			t.Fatal("a workflow gains a scope over itself")
		}
	})
}
