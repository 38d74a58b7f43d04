package rule

// CodexAppAutoApprove reports an app connector's tool that newly runs without a
// question and is harmless by its name; a risky one is
// CODEX-MCP-AUTO-APPROVE-WRITE (docs/spec/boundary.md §5.1).
var CodexAppAutoApprove = Rule{
	ID:             "CODEX-APP-AUTO-APPROVE",
	CheckID:        "SHIP-CODEX-BOUNDARY-APP-AUTO-APPROVE",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "App connector tool runs without a prompt",
	Recommendation: "Let a person accept the connector approval.",
	Kinds:          []string{"app_tool_auto_approve"},
	Check:          func(p *Pass) { reportAppApprovals(p, false) },
}
