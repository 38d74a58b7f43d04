package surface_test

import (
	"slices"
	"testing"

	"plimsoll.dev/internal/gate/surface"
)

func TestALinkPointIsInTheWayOfTheAdaptersThatNameIt(t *testing.T) {
	for path, want := range map[string][]surface.AdapterID{
		".codex":                {surface.Codex},
		"sub/.codex":            {surface.Codex},
		".claude":               {surface.ClaudeCode},
		".claude/skills/pack":   {surface.ClaudeCode},
		".cursor/rules":         {surface.Cursor},
		".vscode":               {surface.VSCodeMCP},
		"x/.github/workflows":   {surface.Shared},
		"policies":              {surface.Shared},
		"src":                   nil,
		".claude/settings.json": nil,
	} {
		if got := surface.AdaptersThrough(path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
