package rule

import "plimsoll.dev/internal/gate/surface"

// CodexMCPAutoApproveWrite reports a tool that newly runs without a question and
// whose name says that it writes or acts outside (docs/spec/boundary.md §5.1).
var CodexMCPAutoApproveWrite = Rule{
	ID:             "CODEX-MCP-AUTO-APPROVE-WRITE",
	CheckID:        "SHIP-CODEX-BOUNDARY-MCP-AUTO-APPROVE-WRITE",
	Family:         CodexFamily,
	Action:         Block,
	Risk:           Critical,
	Title:          "Side-effecting tool runs without a prompt",
	Recommendation: "Keep prompting for tools that write or act outside.",
	Kinds:          []string{"mcp_default_auto_approve", "mcp_tool_auto_approve", "app_tool_auto_approve"},
	Check:          checkCodexMCPAutoApproveWrite,
}

func checkCodexMCPAutoApproveWrite(p *Pass) {
	reportServerApprovals(p, true)
	reportAppApprovals(p, true)
}

// reportServerApprovals reports the approvals of tool servers that newly hold:
// those that cover a risky tool, or those that do not. Each goes to exactly one
// of the two rules.
func reportServerApprovals(p *Pass, risky bool) {
	for _, s := range p.Surfaces {
		before, after, ok := s.CodexConfig()
		if !ok {
			continue
		}
		for _, a := range surface.NewDefaultApprovals(before, after) {
			if len(a.Risky) > 0 == risky {
				p.Report(s.Path, a.Pos.Line, "mcp_default_auto_approve",
					With("server", a.Server), With("risky_tools", a.Risky), With("tool_names", a.Tools))
			}
		}
		for _, t := range surface.NewToolApprovals(before, after) {
			if surface.RiskyToolName(t.Name) == risky {
				p.Report(s.Path, t.Pos.Line, "mcp_tool_auto_approve", With("server", t.Owner), With("tool", t.Name))
			}
		}
	}
}

// reportAppApprovals does the same for the tools of app connectors.
func reportAppApprovals(p *Pass, risky bool) {
	for _, s := range p.Surfaces {
		before, after, ok := s.CodexConfig()
		if !ok {
			continue
		}
		for _, t := range surface.NewAppApprovals(before, after) {
			if surface.RiskyToolName(t.Name) == risky {
				p.Report(s.Path, t.Pos.Line, "app_tool_auto_approve", With("app", t.Owner), With("tool", t.Name))
			}
		}
	}
}
