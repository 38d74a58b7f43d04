//go:build !windows

package execution_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/pipeline/phase"
)

// owing is a world in which the gate sends every run to verify.
func owing(t *testing.T, p phase.Phase) (w *world, asked *[]execution.Range) {
	t.Helper()
	w, asked = newWorld(t, p), &[]execution.Range{}
	// A manifest, and a change that only a verification can judge.
	w.write("shipgate.yaml", "version: \"0.1\"\nproject: {name: app}\nagent: {name: app, declared_purpose: [help]}\nenvironment: {target: local}\ntool_sources: [{id: t, type: mcp, path: tools.json}]\n")
	w.git("add", "shipgate.yaml")
	w.git("commit", "--quiet", "-m", "Adopt")
	w.git("checkout", "--quiet", "-b", "work")
	w.write("tools.json", `{"tools": []}`)
	base := w.git("rev-parse", "HEAD")
	w.git("add", "tools.json")
	w.git("commit", "--quiet", "-m", "Work")
	w.service.base, w.service.head = base, w.git("rev-parse", "HEAD")
	w.conf.Verify = func(_ context.Context, r execution.Range) (execution.Verification, error) {
		*asked = append(*asked, r)
		return execution.Verification{Decision: "passed", Artifact: []byte(`{"decision":"passed"}`)}, nil
	}
	return w, asked
}

func TestAnOwedVerificationIsMadeOfTheCommitsOfTheRun(t *testing.T) {
	w, asked := owing(t, phase.Stabilize)
	res := w.run("true")
	if res.Control != string("agent_action_required") || res.Route != "verify" {
		t.Fatalf("the gate says %s, %s", res.Control, res.Route)
	}
	if res.Status != execution.Delivered || res.Verified != "passed" || res.Owed != "" {
		t.Errorf("%+v\n%s", res, w.notes.String())
	}
	if len(*asked) != 1 || (*asked)[0].Base != w.service.base || (*asked)[0].Head != w.service.head || (*asked)[0].Actor != gate.ActorCodex {
		t.Errorf("verified %+v", *asked)
	}
	got := w.service.only(t).Verified
	if len(got) != 1 || got[0].Task != "TS-001" || got[0].BaseCommit != w.service.base || got[0].HeadCommit != w.service.head || !bytes.Equal(got[0].Artifact, []byte(`{"decision":"passed"}`)) {
		t.Errorf("delivered %+v", got)
	}
	if left := w.folders(); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestAVerificationThatDoesNotDecideStaysOwed(t *testing.T) {
	for name, c := range map[string]struct {
		phase  phase.Phase
		change func(*execution.Config)
		why    string
	}{
		"it fails": {phase.Stabilize, func(c *execution.Config) {
			c.Verify = func(context.Context, execution.Range) (execution.Verification, error) {
				return execution.Verification{}, errors.New("it came to no decision")
			}
		}, "it came to no decision"},
		"nothing can verify": {phase.Stabilize, func(c *execution.Config) { c.Verify = nil }, "cannot verify"},
		"it is made later":   {phase.Build, func(*execution.Config) {}, "made in Stabilize"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := owing(t, c.phase)
			c.change(&w.conf)
			res := w.run("true")
			if res.Outcome != phase.Succeeded || res.Status != execution.Delivered || res.Verified != "" || !strings.Contains(res.Owed, c.why) {
				t.Errorf("%+v", res)
			}
			if got := w.service.only(t).Verified; len(got) != 0 {
				t.Errorf("delivered %+v", got)
			}
		})
	}
}

func TestAVerificationThatCannotBeDeliveredIsDeliveredLaterUnchanged(t *testing.T) {
	w, asked := owing(t, phase.Stabilize)
	verify := w.conf.Verify
	w.conf.Verify = func(ctx context.Context, r execution.Range) (execution.Verification, error) {
		v, err := verify(ctx, r)
		w.service.set(func() { w.service.down = true })
		return v, err
	}
	if res := w.run("true"); res.Status != execution.Spooled {
		t.Fatalf("%+v", res)
	}
	w.service.set(func() { w.service.down = false })
	list, err := w.runner().Recover(t.Context())
	if err != nil || len(list) != 1 || list[0].Status != execution.Delivered || list[0].Verified != "passed" {
		t.Fatalf("%+v, %v", list, err)
	}
	if len(*asked) != 1 {
		t.Errorf("verified %d times", len(*asked))
	}
	if got := w.service.only(t).Verified; len(got) != 1 {
		t.Errorf("delivered %+v", got)
	}
}

func TestAnArtifactThatTheServiceRefusesLeavesTheVerificationOwed(t *testing.T) {
	w, _ := owing(t, phase.Stabilize)
	w.service.refuse["verify"] = "phase.guard_failed"
	if res := w.run("true"); res.Status != execution.Delivered || res.Verified != "" || !strings.Contains(res.Owed, "refuses") {
		t.Errorf("%+v", res)
	}
}
