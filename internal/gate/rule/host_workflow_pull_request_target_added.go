package rule

// HostWorkflowPullRequestTargetAdded fires when a root workflow begins to run,
// with the repository's secrets, on pull requests from outside.
var HostWorkflowPullRequestTargetAdded = Rule{
	ID:             "HOST-WORKFLOW-PULL-REQUEST-TARGET-ADDED",
	CheckID:        "SHIP-HOST-BOUNDARY-PULL-REQUEST-TARGET-ADDED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           Critical,
	Title:          "Workflow runs with secrets on outside pull requests",
	Recommendation: "Let a person check the new trigger and what it exposes.",
	Kinds:          []string{"workflow_pull_request_target_added"},
	Check: func(p *Pass) {
		const event = "pull_request_target"
		for _, s := range p.Surfaces {
			before, after, ok := s.Workflow()
			if !ok {
				continue
			}
			_, had := before.Triggered(event)
			if pos, has := after.Triggered(event); has && !had {
				p.Report(s.Path, pos.Line, "workflow_pull_request_target_added")
			}
		}
	},
}
