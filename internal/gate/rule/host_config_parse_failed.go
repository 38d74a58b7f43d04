package rule

import (
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// HostConfigParseFailed speaks where the text of a host file, or a key in it,
// is not understood. A text that failed stops every other host rule of its
// surface (docs/spec/boundary.md §5.2).
var HostConfigParseFailed = Rule{
	ID:             "HOST-CONFIG-PARSE-FAILED",
	CheckID:        "SHIP-HOST-BOUNDARY-CONFIG-PARSE-FAILED",
	Family:         HostFamily,
	Action:         RequireReview,
	Risk:           Medium,
	Title:          "Host configuration is not fully understood",
	Recommendation: "Repair the file, or let a person read the change.",
	Kinds: []string{
		"host_config_content_unresolved", "json_parse_failed", "old_json_parse_failed",
		"workflow_yaml_parse_failed", "old_workflow_yaml_parse_failed", "workflow_not_a_mapping",
		"unknown_host_config_key",
	},
	Check: func(p *Pass) {
		for _, s := range p.Surfaces {
			switch s.Role {
			case surface.RoleClaudeSettings, surface.RoleMCPServers, surface.RoleCursorCLI, surface.RoleCursorHooks:
				if !reportUnread(p, s, "host_config_content_unresolved", "json_parse_failed") {
					reportUnknownKeys(p, s)
				}
			case surface.RoleWorkflow:
				if !reportUnread(p, s, "host_config_content_unresolved", "workflow_yaml_parse_failed") {
					reportNoMapping(p, s)
				}
			case surface.RoleCodexConfig, surface.RoleCodexHooks, surface.RolePolicy, surface.RoleSyntax, surface.RoleText:
			}
		}
	},
}

// reportUnread reports the first reason why a surface cannot be compared: an
// unknown text before a malformed one, the new side before the old one.
func reportUnread(p *Pass, s *surface.Surface, unresolved, failed string) bool {
	for _, side := range []surface.Side{s.New, s.Old} {
		if side.Unresolved != "" {
			p.Report(s.Path, 0, unresolved, With("source", side.Unresolved))
			return true
		}
	}
	if err := s.NewDoc.Err; err != nil {
		p.Report(s.Path, err.Pos.Line, failed, err.Evidence()...)
		return true
	}
	if err := s.OldDoc.Err; err != nil {
		p.Report(s.Path, 0, "old_"+failed, err.Evidence()...)
		return true
	}
	return false
}

// reportNoMapping: a workflow that is no mapping has a kind of its own after
// the change. Before it, it is a text that no host could read (ruling R6).
func reportNoMapping(p *Pass, s *surface.Surface) {
	if v := s.NewDoc.Value; v.Kind != source.Map {
		p.Report(s.Path, v.Pos.Line, "workflow_not_a_mapping")
		return
	}
	if v := s.OldDoc.Value; v.Kind != source.Map {
		err := source.ParseError{Parser: source.YAMLParser, Pos: v.Pos}
		p.Report(s.Path, 0, "old_workflow_yaml_parse_failed", err.Evidence()...)
	}
}

func reportUnknownKeys(p *Pass, s *surface.Surface) {
	var changed []surface.Setting
	if before, after, ok := s.ClaudeSettings(); ok {
		changed = surface.ChangedSettings(before.Unknown, after.Unknown)
	}
	if before, after, ok := s.CursorCLI(); ok {
		changed = surface.ChangedSettings(before.Unknown, after.Unknown)
	}
	for _, key := range changed {
		p.Report(s.Path, key.Pos.Line, "unknown_host_config_key", With("key", key.Key))
	}
}
