package rule

import "plimsoll.dev/internal/gate/surface"

// HostMCPServerAdded fires for a server name that only the new side of a root
// MCP file has.
var HostMCPServerAdded = Rule{
	ID:             "HOST-MCP-SERVER-ADDED",
	CheckID:        "SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "MCP server added to a coding-agent host",
	Recommendation: "Let a person accept the server before it is used.",
	Kinds:          []string{"mcp_server_added"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			before, after, ok := s.MCPServers()
			if !ok {
				continue
			}
			for _, server := range surface.MCPServersGained(before, after) {
				var target any
				if server.Target != "" {
					target = server.Target
				}
				p.Report(s.Path, server.Pos.Line, "mcp_server_added",
					With("server", server.Name),
					With("transport_hint", server.Transport),
					With("command_or_url", target))
			}
		}
	},
}
