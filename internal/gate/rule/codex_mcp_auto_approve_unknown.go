package rule

// CodexMCPAutoApproveUnknown reports server tools that newly run without a
// question where no name says that they act: harmless by name, or not named at
// all (docs/spec/boundary.md §5.1).
var CodexMCPAutoApproveUnknown = Rule{
	ID:             "CODEX-MCP-AUTO-APPROVE-UNKNOWN",
	CheckID:        "SHIP-CODEX-BOUNDARY-MCP-AUTO-APPROVE-UNKNOWN",
	Family:         CodexFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "Tools that cannot be listed run without a prompt",
	Recommendation: "Name the tools, or keep prompting for them.",
	Kinds:          []string{"mcp_default_auto_approve", "mcp_tool_auto_approve"},
	Check:          func(p *Pass) { reportServerApprovals(p, false) },
}
