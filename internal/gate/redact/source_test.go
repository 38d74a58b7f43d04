package redact_test

import (
	"testing"

	"plimsoll.dev/internal/gate/redact"
)

func TestSourceLeavesWhereAChangeLeads(t *testing.T) {
	for _, line := range []string{
		`"url": "https://pay.example/mcp/v2"`, "see https://docs.example/a/release-notes?page=2#top", "http://localhost:8080/health", "plain text",
	} {
		if got := redact.Source(line); got != line {
			t.Errorf("%q became %q", line, got)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"https://me:" + sentinel + "@pay.example/mcp", "https://pay.example/<redacted-path>"},
		{"https://pay.example/mcp?api_key=" + sentinel, "https://pay.example/<redacted-path>"},
		{"https://hooks.example/services/T0/B0a1b2c3d4e5f6g7h8", "https://hooks.example/<redacted-path>"},
		{"https://hooks.example/550e8400-e29b-41d4-a716-446655440000", "https://hooks.example/<redacted-path>"},
		{"DEPLOY_TOKEN=" + sentinel + " https://pay.example/mcp", "DEPLOY_TOKEN=<redacted> https://pay.example/mcp"},
		{`client_secret = "` + sentinel + `"`, `client_secret = "<redacted>"`},
	} {
		if got := redact.Source(c.line); got != c.want {
			t.Errorf("%q became %q", c.line, got)
		}
		if got := redact.Source(c.want); got != c.want {
			t.Errorf("a second time %q became %q", c.want, got)
		}
	}
}
