package rule

import "plimsoll.dev/internal/gate/surface"

// HostMCPServerChanged fires for a server that both sides have and that would
// run, or be reached, differently. Evidence names the keys and shows no value.
var HostMCPServerChanged = Rule{
	ID:             "HOST-MCP-SERVER-CHANGED",
	CheckID:        "SHIP-HOST-BOUNDARY-MCP-SERVER-CHANGED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           High,
	Title:          "MCP server points somewhere else or runs differently",
	Recommendation: "Let a person compare the old and new server entry.",
	Kinds:          []string{"mcp_server_changed"},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			before, after, ok := s.MCPServers()
			if !ok {
				continue
			}
			for _, change := range surface.MCPServersChanged(before, after) {
				keys := make([]string, len(change.Changed))
				for i, setting := range change.Changed {
					keys[i] = setting.Key
				}
				p.Report(s.Path, change.Server.Pos.Line, "mcp_server_changed",
					With("server", change.Server.Name),
					With("changed_keys", keys))
			}
		}
	},
}
