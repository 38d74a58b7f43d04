package gate_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/rule"
)

func TestEveryFailureHasARoute(t *testing.T) {
	fetching := []gate.Failure{gate.RefMissing, gate.HistoryShallow, gate.ObjectsMissing}
	people := []gate.Failure{
		gate.DiffMissing, gate.DiffUnreadable, gate.DiffTooLarge, gate.DiffLinked, gate.StdinTooLarge, gate.NoRepository,
		gate.HistoryUnjoined, gate.WorktreeObjects, gate.ObjectDamaged, gate.HeadUnborn, gate.GitFailed, "something new",
	}
	messages := map[string]bool{}
	for _, f := range append(slices.Clone(fetching), people...) {
		r := gate.ErrorResult(gate.ErrorInput{
			Actor: gate.ActorClaude, Mode: gate.GitRange, Failure: f, Base: "main", Head: "topic", Workspace: ".", Root: "/repo", Config: "/repo/shipgate.yaml",
		})
		sound(t, r)
		a := r.Control.NextAction()
		fetch := slices.Contains(fetching, f)
		switch {
		case fetch && (a.Kind != control.FetchBase || !strings.HasPrefix(a.Expects, "main and topic") || r.Control.State() != control.AgentActionRequired):
			t.Errorf("%s: %+v", f, a)
		case !fetch && (a.Kind != control.Review || r.Control.State() != control.HumanReviewRequired):
			t.Errorf("%s: %+v", f, a)
		}
		if r.Decision != rule.Block || r.RiskLevel != rule.Medium || r.InputCoverage != gate.CoverageUnknown ||
			r.Control.Permissions() != (control.Permissions{}) || len(r.Control.AllowedNextCommands()) > 0 || len(r.Repair.ForbiddenShortcuts) != 6 {
			t.Errorf("%s allows or knows something:\n%s", f, r.JSON())
		}
		if len(r.Policies) != 1 || r.Policies[0].Source != policy.Missing || r.Policies[0].Snapshot != strings.Repeat("0", 64) {
			t.Errorf("%s: policies %+v (ruling R7)", f, r.Policies)
		}
		if f.Valid() != (f != "something new") {
			t.Errorf("%s: valid %v", f, f.Valid())
		}
		messages[r.Diagnostics[0].Message] = true
	}
	if len(messages) != len(fetching)+len(people)-1 {
		t.Errorf("%d messages for %d failures", len(messages), len(fetching)+len(people)-1)
	}
}

func TestAShallowCloneIsAskedForTheCommonHistory(t *testing.T) {
	r := gate.ErrorResult(gate.ErrorInput{Actor: gate.ActorCodex, Mode: gate.GitRange, Failure: gate.HistoryShallow, Base: "a", Head: "b"})
	if got := r.Control.NextAction().Expects; got != "a and b, with their common history" {
		t.Errorf("expects %q", got)
	}
}

func TestWhatGitSaidIsMasked(t *testing.T) {
	r := gate.ErrorResult(gate.ErrorInput{
		Actor: gate.ActorCodex, Mode: gate.Worktree, Failure: gate.GitFailed, Detail: "fatal: https://user:sk-sentinel@host.test/x?token=sk-sentinel",
	})
	if strings.Contains(string(r.JSON()), "sk-sentinel") || !strings.Contains(r.Diagnostics[0].Message, "fatal") {
		t.Errorf("%s", r.Diagnostics[0].Message)
	}
}
