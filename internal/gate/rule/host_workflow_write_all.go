package rule

import "plimsoll.dev/internal/gate/surface"

// HostWorkflowWriteAll fires when the token of a root workflow, or of one of its
// jobs, may write everything now.
var HostWorkflowWriteAll = Rule{
	ID:             "HOST-WORKFLOW-WRITE-ALL",
	CheckID:        "SHIP-HOST-BOUNDARY-WORKFLOW-WRITE-ALL",
	Family:         HostFamily,
	Action:         Block,
	Risk:           Critical,
	Title:          "Workflow token may write everything",
	Recommendation: "Grant only the scopes the job needs.",
	Kinds:          []string{"workflow_write_all"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			before, after, ok := s.Workflow()
			if !ok {
				continue
			}
			for _, c := range surface.TokenContexts(&before, &after) {
				if c.WriteAllGained() {
					p.Report(s.Path, c.After.Pos.Line, "workflow_write_all", With("job", c.Job))
				}
			}
		}
	},
}
