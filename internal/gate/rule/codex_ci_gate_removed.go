package rule

import "plimsoll.dev/internal/gate/surface"

// CodexCIGateRemoved reports a gate workflow that no longer runs the gate
// (docs/spec/boundary.md §5.1, "Gate workflow"). A text that is not known runs
// nothing that could be shown.
var CodexCIGateRemoved = Rule{
	ID:             "CODEX-CI-GATE-REMOVED",
	CheckID:        "SHIP-CODEX-BOUNDARY-CI-GATE-REMOVED",
	Family:         CodexFamily,
	Action:         Block,
	Risk:           Critical,
	Title:          "CI no longer runs the gate",
	Recommendation: "Put the gate step back; removing it is a person's decision.",
	Kinds:          []string{"shipgate_ci_gate_removed"},
	Check:          checkCodexCIGateRemoved,
}

func checkCodexCIGateRemoved(p *Pass) {
	for _, s := range p.Surfaces {
		if !surface.IsGateWorkflow(s.Path) || s.GateInvocation() > 0 {
			continue
		}
		if !s.Old.Present && !s.New.Present && s.New.Unresolved == "" && !s.Deleted {
			continue // on neither side: nothing is lost here
		}
		p.Report(s.Path, 0, "shipgate_ci_gate_removed",
			With("deleted", s.Deleted),
			With("source", gateSource(s)),
			With("shipgate_invocation_present", false))
	}
}

// gateSource says where the new text was read, or why it was not. Rows do not
// name the after-state (docs/spec/boundary.md §2.2), so the index counts as the
// working tree it belongs to: the same loss in both is one row.
func gateSource(s *surface.Surface) string {
	switch {
	case s.New.Unresolved != "":
		return s.New.Unresolved
	case s.Source == surface.GitIndex:
		return string(surface.GitWorktree)
	}
	return string(s.Source)
}
