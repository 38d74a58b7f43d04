package constitution_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/request/constitution"
)

// due is the workers of a chain that have a turn.
func due(t *testing.T, r *constitution.Registry, chain string, f constitution.Facts) []constitution.AgentID {
	t.Helper()
	c, ok := r.Chain(chain)
	if !ok {
		t.Fatalf("there is no chain %s", chain)
	}
	var list []constitution.AgentID
	for _, s := range c.Steps {
		turn, err := s.Due(f)
		if err != nil {
			t.Fatal(err)
		}
		if turn {
			list = append(list, s.Worker)
		}
	}
	return list
}

// The chains of docs/spec/circle.md §6: which of their conditional steps run.
func TestConditionalStepsHaveTheirTurnWhenTriggered(t *testing.T) {
	const (
		process, privacy, gate, audit = constitution.Process, constitution.PrivacySentinel, constitution.GatePolicy, constitution.AuditLog
		gifts, bridge                 = constitution.Gifts, constitution.Bridge
	)
	r := load(t, folder(t)).Registry()
	plain := constitution.Facts{Origin: "internal", Target: "circle"}
	with := func(change func(*constitution.Facts)) constitution.Facts {
		f := plain
		change(&f)
		return f
	}
	decision := func(content map[string]any) func(*constitution.Facts) {
		return func(f *constitution.Facts) {
			f.Artifacts = []constitution.Fact{{Type: "decision_draft", Worker: "Process", Content: content}}
		}
	}
	for name, c := range map[string]struct {
		chain string
		facts constitution.Facts
		want  []constitution.AgentID
	}{
		"nothing triggers either": {"circle_decision", plain, []constitution.AgentID{process, process, audit}},
		"a flag":                  {"circle_decision", with(func(f *constitution.Facts) { f.Flags = []string{"finance"} }), []constitution.AgentID{process, privacy, process, audit}},
		"an outside channel":      {"circle_decision", with(func(f *constitution.Facts) { f.Origin = "external" }), []constitution.AgentID{process, privacy, process, audit}},
		"a wider target":          {"circle_decision", with(func(f *constitution.Facts) { f.Target = "clan" }), []constitution.AgentID{process, privacy, process, audit}},
		"a critical flag": {
			"circle_decision", with(func(f *constitution.Facts) { f.Flags = []string{"critical"} }),
			[]constitution.AgentID{process, privacy, gate, process, audit},
		},
		"a flag that was reported on": {
			"circle_decision", with(func(f *constitution.Facts) {
				f.Flags, f.Artifacts = []string{"finance"}, []constitution.Fact{{Type: "privacy_report"}}
			}),
			[]constitution.AgentID{process, process, audit},
		},
		"a diff": {"circle_decision", with(func(f *constitution.Facts) { f.References = []string{"diff"} }), []constitution.AgentID{process, gate, process, audit}},
		"a draft with a change": {
			"circle_decision", with(decision(map[string]any{"change": map[string]any{"repository": "x"}})),
			[]constitution.AgentID{process, gate, process, audit},
		},
		"a draft that is delicate": {
			"circle_decision", with(decision(map[string]any{"sensitivity": []any{"health"}})),
			[]constitution.AgentID{process, privacy, process, audit},
		},
		"a draft that is not": {"circle_decision", with(decision(map[string]any{"sensitivity": []any{}})), []constitution.AgentID{process, process, audit}},
		"a gift at home":      {"gift_exchange", plain, []constitution.AgentID{gifts, process, audit}},
		"a gift that leaves": {
			"gift_exchange", with(func(f *constitution.Facts) {
				f.Artifacts = []constitution.Fact{{Type: "gift_draft", Content: map[string]any{"leaves_circle": true}}}
			}),
			[]constitution.AgentID{gifts, process, bridge, audit},
		},
		"a gift for the clan": {"gift_exchange", with(func(f *constitution.Facts) { f.Target = "clan" }), []constitution.AgentID{gifts, process, bridge, audit}},
		"a letter":            {"external_action", plain, []constitution.AgentID{privacy, gate, constitution.Identity, bridge, process}},
		"a merge":             {"offline_merge", plain, []constitution.AgentID{constitution.Sync, process, audit}},
		"a core change":       {"core_change", plain, []constitution.AgentID{constitution.CoreGuardian, process, gate, audit}},
	} {
		if got := due(t, r, c.chain, c.facts); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v have a turn, want %v", name, got, c.want)
		}
	}
}

// A registry with one condition, on the second step of the chain of a decision.
func conditional(t *testing.T, condition string) *constitution.Registry {
	t.Helper()
	files := folder(t)
	text := string(files[constitution.RegistryPath].Data)
	at := strings.Index(text, "when: >-")
	end := at + strings.Index(text[at:], "    - worker")
	put(files, constitution.RegistryPath, text[:at]+"when: '"+condition+"'\n"+text[end:])
	return load(t, files).Registry()
}

// A content is what a worker returned: a condition that it does not fit is an
// error for the caller, and never a yes.
func TestAConditionThatDoesNotFitIsAnError(t *testing.T) {
	for _, condition := range []string{
		`any(artifacts, len(.content.options) > 1)`,
		`any(artifacts, .content.people > 3)`,
		`any(artifacts, .content.sensitivity[0] == "health")`,
		`wider(intent, target)`,
	} {
		r := conditional(t, condition)
		c, _ := r.Chain("circle_decision")
		met, err := c.Steps[1].Due(constitution.Facts{
			Target: "circle", Artifacts: []constitution.Fact{{Type: "x", Content: map[string]any{"options": 1, "people": "many"}}},
		})
		if err == nil || met {
			t.Errorf("%s: %v, %v", condition, met, err)
		}
	}
}

func TestAConditionIsBounded(t *testing.T) {
	for name, condition := range map[string]string{
		"nodes": strings.TrimSuffix(strings.Repeat(`intent == "x" or `, 60), " or "),
		"bytes": `intent == "` + strings.Repeat("x", 2000) + `"`,
	} {
		files := folder(t)
		text := string(files[constitution.RegistryPath].Data)
		put(files, constitution.RegistryPath, strings.Replace(text, `"external_action" in flags or wider(target, "circle")`, condition, 1))
		if got := faults(t, files); len(got) != 1 || !strings.Contains(got[0], "the condition of a step of the chain gift_exchange does not read") {
			t.Errorf("%s: %q", name, got)
		}
	}
	// A range of a billion is never built.
	r := conditional(t, `len(1..1000000000) > 5`)
	c, _ := r.Chain("circle_decision")
	if met, err := c.Steps[1].Due(constitution.Facts{}); err == nil || met {
		t.Errorf("a condition may take all memory: %v, %v", met, err)
	}
}

func BenchmarkLoad(b *testing.B) {
	files := folder(b)
	for b.Loop() {
		load(b, files)
	}
}

func BenchmarkAssemble(b *testing.B) {
	s := load(b, folder(b))
	for b.Loop() {
		if _, err := s.Assemble(constitution.Process); err != nil {
			b.Fatal(err)
		}
	}
}

// One look at every condition of a chain.
func BenchmarkDue(b *testing.B) {
	c, _ := load(b, folder(b)).Registry().Chain("circle_decision")
	f := constitution.Facts{
		Flags: []string{"finance"}, Origin: "internal", Target: "circle",
		Artifacts: []constitution.Fact{{Type: "decision_draft", Content: map[string]any{"sensitivity": []any{"health"}}}},
	}
	for b.Loop() {
		for _, s := range c.Steps {
			if _, err := s.Due(f); err != nil {
				b.Fatal(err)
			}
		}
	}
}
