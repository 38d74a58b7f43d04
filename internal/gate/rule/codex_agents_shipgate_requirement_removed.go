package rule

// CodexAgentsShipgateRequirementRemoved reports instructions that no longer tell
// the agent to run the gate: the file is gone, or its wording let go
// (docs/spec/boundary.md §5.1, "Instruction wording"). It reads changed lines,
// so it speaks also where the file around them is not known.
var CodexAgentsShipgateRequirementRemoved = Rule{
	ID:             "CODEX-AGENTS-SHIPGATE-REQUIREMENT-REMOVED",
	CheckID:        "SHIP-CODEX-BOUNDARY-AGENTS-SHIPGATE-REQUIREMENT-REMOVED",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           Medium,
	Title:          "Agent instructions no longer require the gate",
	Recommendation: "Let a person confirm that the requirement may go.",
	Kinds:          []string{"shipgate_instruction_removed"},
	Check:          checkCodexAgentsShipgateRequirementRemoved,
}

func checkCodexAgentsShipgateRequirementRemoved(p *Pass) {
	for _, s := range p.Surfaces {
		if !s.IsInstructions() {
			continue
		}
		w := s.GateWording()
		if !s.Deleted && !w.Weakened() {
			continue
		}
		p.Report(s.Path, w.Line, "shipgate_instruction_removed",
			With("deleted", s.Deleted),
			With("removed_shipgate_lines", w.RemovedMention),
			With("softened_shipgate_lines", w.Softened),
			With("removed_requirement_lines", w.RemovedRequirement),
			With("replacement_requirement_lines", w.AddedRequirement))
	}
}
