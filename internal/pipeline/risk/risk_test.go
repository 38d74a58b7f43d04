package risk_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
)

func TestReasonsAreSortedAndOnlyWhatReachesTheLevel(t *testing.T) {
	readWrite := capability.Of(capability.ReadRepo, capability.WriteRepo)
	for name, c := range map[string]struct {
		in    risk.Circumstances
		level contract.Level
		want  []string
	}{
		"reading needs no reason":     {risk.Circumstances{Capabilities: capability.Of(capability.ReadRepo)}, contract.Low, []string{}},
		"writing is why it is medium": {risk.Circumstances{Capabilities: readWrite}, contract.Medium, []string{"capability write_repo"}},
		"writing is not why it is high": {
			risk.Circumstances{Capabilities: readWrite.Union(capability.Of(capability.NetworkAccess))},
			contract.High,
			[]string{"capability network_access"},
		},
		"capabilities, signals, rows": {
			risk.Circumstances{
				Capabilities: readWrite.Union(capability.Of(capability.PublishRelease, capability.InstallDeps)),
				Declared:     risk.SignalsOf(risk.IrreversiblePublish),
				Observed:     risk.SignalsOf(risk.CustomerDataWrite),
				Boundary: &risk.Boundary{ControlState: "human_review_required", Rows: []risk.Row{
					{RuleID: "z", Decision: "block", Level: contract.Low},
					{RuleID: "m", Decision: "require_review", Level: contract.Medium},
					{RuleID: "a", Decision: "require_review", Level: contract.High},
					{RuleID: "a", Decision: "require_review", Level: contract.High},
				}},
			},
			contract.Critical,
			[]string{
				"capability install_deps", "capability publish_release", "signal customerDataWrite",
				"signal irreversiblePublish", "boundary a", "boundary z",
			},
		},
		"a state that asks for review": {
			risk.Circumstances{Capabilities: readWrite, Boundary: &risk.Boundary{ControlState: "review_publishable"}},
			contract.High,
			[]string{"boundary review_publishable"},
		},
		"a level already recorded stays": {risk.Circumstances{Capabilities: readWrite, Floor: contract.Critical}, contract.Critical, []string{}},
	} {
		got := risk.Assess(c.in)
		if got.Level != c.level || !slices.Equal(got.Reasons, c.want) {
			t.Errorf("%s: got %s, %q", name, got.Level, got.Reasons)
		}
	}
}

func TestAnUnknownSignalIsNotOverlooked(t *testing.T) {
	for _, named := range []map[string]bool{{"customerDataWrit": true}, {"customerDataWrit": false}} {
		if _, err := risk.ParseSignals(named); err == nil {
			t.Errorf("%v was read", named)
		}
	}
	if s, err := risk.ParseSignals(map[string]bool{"legalConcern": true, "customerDataWrite": false}); err != nil || s != risk.SignalsOf(risk.LegalOrContractConcern) {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestAFactWithAMisspeltMemberIsNotEvaluated(t *testing.T) {
	for _, f := range []risk.Fact{
		{},
		{Action: "overwrite"},
		{Action: "write", Environment: "prod"},
		{Action: "finding"},
		{Action: "finding", Certainty: "maybe"},
		{Action: "transmit", DataClass: "secrets"},
	} {
		if f.Check() == nil {
			t.Errorf("%+v passes", f)
		}
	}
	if err := (risk.Fact{Action: "write", Environment: "production", Resource: "data"}).Check(); err != nil {
		t.Error(err)
	}
}

func TestAGateShowsHowEachSignalIsKnown(t *testing.T) {
	got := risk.Statuses(risk.SignalsOf(risk.CustomerDataWrite, risk.IrreversiblePublish), risk.SignalsOf(risk.IrreversiblePublish))
	if len(got) != 6 || got[0].Status != risk.Undeclared || got[2].Status != risk.Declared || got[5].Status != risk.Observed {
		t.Errorf("got %v", got)
	}
}

func TestABoundaryStateNobodyKnowsBlocks(t *testing.T) {
	for _, b := range []risk.Boundary{{ControlState: "fine"}, {ControlState: "agent_action_required", RouteKind: "verify", Verify: "ok"}} {
		if status, reason := b.Admits(); status != contract.Blocked || reason == "" {
			t.Errorf("%+v: %s", b, status)
		}
	}
	if _, reason := (&risk.Boundary{ControlState: "agent_action_required", RouteKind: "verify"}).Admits(); reason != "verification owed" {
		t.Errorf("got %q", reason)
	}
}

func circumstances(t *rapid.T, label string) risk.Circumstances {
	c := risk.Circumstances{
		Capabilities: capability.Set(rapid.Uint8Range(1, uint8(capability.All)).Draw(t, label+" capabilities")),
		Declared:     risk.Signals(rapid.Uint8Range(0, 63).Draw(t, label+" declared")),
		Observed:     risk.Signals(rapid.Uint8Range(0, 63).Draw(t, label+" observed")),
		Floor:        rapid.SampledFrom(append(contract.Levels(), "")).Draw(t, label+" floor"),
	}
	if rapid.Bool().Draw(t, label+" boundary") {
		c.Boundary = &risk.Boundary{
			ControlState: rapid.SampledFrom([]string{"complete", "review_publishable", "human_review_required", "agent_action_required"}).Draw(t, label+" state"),
			RouteKind:    rapid.SampledFrom([]string{"verify", "repair"}).Draw(t, label+" route"),
			Verify:       rapid.SampledFrom([]string{"", "passed", "review_required", "blocked"}).Draw(t, label+" verify"),
			Rows: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) risk.Row {
				return risk.Row{
					RuleID:   rapid.StringMatching(`[a-c]`).Draw(t, "id"),
					Decision: rapid.SampledFrom([]string{"allow", "warn", "require_review", "block"}).Draw(t, "decision"),
					Level:    rapid.SampledFrom(contract.Levels()).Draw(t, "level"),
				}
			}), 0, 4).Draw(t, label+" rows"),
		}
	}
	return c
}

// Adding a capability, a signal, a row or a floor never lowers the level.
func TestRiskOnlyRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := circumstances(t, "less")
		more := c
		more.Capabilities = c.Capabilities.Union(capability.Set(rapid.Uint8Range(0, uint8(capability.All)).Draw(t, "capabilities")))
		more.Declared |= risk.Signals(rapid.Uint8Range(0, 63).Draw(t, "declared"))
		more.Observed |= risk.Signals(rapid.Uint8Range(0, 63).Draw(t, "observed"))
		more.Floor = c.Floor.Max(rapid.SampledFrom(contract.Levels()).Draw(t, "floor"))
		if c.Boundary == nil {
			more.Boundary = circumstances(t, "more").Boundary
		} else {
			b := *c.Boundary
			b.Rows = append(slices.Clone(b.Rows), risk.Row{RuleID: "x", Decision: "block", Level: contract.Low})
			more.Boundary = &b
		}
		less, greater := risk.Assess(c), risk.Assess(more)
		if greater.Level.Below(less.Level) {
			t.Fatalf("%s fell to %s", less.Level, greater.Level)
		}
		if less.Level.Human() && c.Floor.Below(less.Level) && len(less.Reasons) == 0 {
			t.Fatal("people are asked and not told why")
		}
	})
}

// The order of rows is no input.
func TestRowsAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := circumstances(t, "c")
		if c.Boundary == nil {
			return
		}
		d := c
		b := *c.Boundary
		b.Rows = rapid.Permutation(c.Boundary.Rows).Draw(t, "order")
		d.Boundary = &b
		x, y := risk.Assess(c), risk.Assess(d)
		if x.Level != y.Level || !slices.Equal(x.Reasons, y.Reasons) {
			t.Fatalf("%v and %v", x, y)
		}
	})
}
