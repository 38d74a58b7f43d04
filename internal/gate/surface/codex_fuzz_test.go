package surface_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// edit is a change of one path from one text to another.
func edit(path string, before, after []byte) *surface.Change {
	c := &surface.Change{
		Path: path,
		Old:  surface.Side{Present: true, Bytes: before},
		New:  surface.Side{Present: true, Bytes: after},
	}
	c.Added, c.Removed = surface.ChangedLines(before, after)
	return c
}

// inside fails when a known place lies outside the text. The end of a text that
// ends in a line break is the beginning of one more line.
func inside(t *testing.T, text []byte, pos source.Position) {
	t.Helper()
	if pos.Line < 0 || pos.Line > len(surface.Lines(text))+1 || pos.Line > 0 != (pos.Column > 0) {
		t.Errorf("place %+v is outside the text of %d lines", pos, len(surface.Lines(text)))
	}
}

func FuzzCodexConfig(f *testing.F) {
	for _, text := range []string{
		"", "\ufeffmodel = \"m\"\n", "profile = \"a\"\n[profiles.a]\nsandbox_mode = \"danger-full-access\"\n",
		"[permissions.lab.network.domains]\n\"*\" = true\n", "plugins.p.mcp_servers.s = {default_tools_approval_mode = \"approve\"}\n",
		"[mcp_servers.s]\nenabled_tools = [\"a\"]\n[mcp_servers.s.tools.b]\nenabled = false\napproval_mode = \"approve\"\n",
		"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"a\"\n", "x = [\n", "[a]\n[a]\n", "<<<<<<< a\n",
	} {
		f.Add([]byte(text), []byte("sandbox_mode = \"read-only\"\n"))
		f.Add([]byte("model = 1\n"), []byte(text))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		s := surface.Read(edit(".codex/config.toml", before, after))
		s.CodexProfileMissing()
		if err := s.NewDoc.Err; err != nil {
			inside(t, after, err.Pos)
		}
		old, now, ok := s.CodexConfig()
		if ok == s.Failed() {
			t.Fatalf("compared %v, failed %v", ok, s.Failed())
		}
		for _, p := range []source.Position{
			now.SandboxMode.Pos, now.DefaultPermissions.Pos, now.ApprovalPolicy.Pos, now.WorkspaceNetwork.Pos,
		} {
			inside(t, after, p)
		}
		for _, p := range now.Permissions {
			for _, d := range p.Domains {
				inside(t, after, d.Pos)
			}
			for _, k := range slices.Concat(p.Unknown, p.UnknownNetwork) {
				inside(t, after, k.Pos)
			}
		}
		for _, a := range surface.NewDefaultApprovals(old, now) {
			inside(t, after, a.Pos)
			for _, tool := range a.Risky {
				if !slices.Contains(a.Tools, tool) {
					t.Errorf("risky tool %q is not among the tools", tool)
				}
			}
		}
		for _, tool := range slices.Concat(surface.NewToolApprovals(old, now), surface.NewAppApprovals(old, now)) {
			inside(t, after, tool.Pos)
		}
		if len(surface.NewDefaultApprovals(now, now))+len(surface.NewToolApprovals(now, now))+
			len(surface.NewAppApprovals(now, now))+len(surface.NewCommandHooks(now.Hooks, now.Hooks)) > 0 {
			t.Error("a config grants something beyond itself")
		}
	})
}

func FuzzCodexHooks(f *testing.F) {
	for _, text := range []string{
		"", "{}", "[]", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}`, `{"Stop":{"command":["a"]}}`,
		`{"hooks":[{"command":"a","n":1e400,"m":-0.0}]}`, `{"a":{"hooks":{"hooks":{"command":"x"}}}}`, `{"a":`, "\ufeff{}",
	} {
		f.Add([]byte("{}"), []byte(text))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		old, now, _ := surface.Read(edit("x/.codex/hooks.json", before, after)).CodexHooks()
		for _, h := range surface.NewCommandHooks(old, now) {
			inside(t, after, h.Pos)
		}
		if fresh := surface.NewCommandHooks(now, now); fresh != nil {
			t.Errorf("a hooks file has handlers beyond itself: %+v", fresh)
		}
	})
}

func FuzzInstructions(f *testing.F) {
	for _, line := range []string{
		"You must run shipgate check before finishing.", "shipgate check is optional", "ship\u200bgate check", "don’t run agents-shipgate",
		"before before before report shipgate scan", "\xff shipgate verify \U000E0073", "",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		g := surface.ReadGateLine(line)
		if g.Requires && !g.Mentions {
			t.Error("a line demands what it does not mention")
		}
		if !strings.ContainsFunc(line, func(r rune) bool { return r >= 0x80 }) {
			if upper := surface.ReadGateLine(strings.ToUpper(line)); upper != g {
				t.Errorf("case matters: %+v and %+v", g, upper)
			}
			if g.Softens && !g.Mentions {
				t.Error("a plain line softens what it does not mention")
			}
		}
		s := surface.Read(edit("AGENTS.md", []byte(line), []byte(line)))
		if s.GateWording().Weakened() {
			t.Error("an unchanged file weakens the gate")
		}
		s = surface.Read(edit("AGENTS.md", []byte(line), []byte("x\n"+line)))
		if w := s.GateWording(); w.Weakened() && !w.RemovedMention {
			t.Error("weakened without a mention that went")
		}
	})
}

func FuzzGateWorkflow(f *testing.F) {
	for _, text := range []string{
		"- run: shipgate verify\n", "run: |\n  A='x y' env python3 -m agents_shipgate scan\n", "- uses: ./\r\n- uses: plimsoll-dev/shipgate@v1",
		"\ufeffshipgate check", "env env env", "=\"'", "- \t- uses: '",
	} {
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, own bool) {
		c := edit(".github/workflows/agents-shipgate.yml", nil, text)
		c.ActionUsesGate = own
		s := surface.Read(c)
		at := s.GateInvocation()
		if at < 0 || at > len(surface.Lines(text)) {
			t.Fatalf("line %d of %d", at, len(surface.Lines(text)))
		}
		surface.ActionIsGate(s.NewDoc.Value)
		var commented []byte
		for _, line := range surface.Lines(text) {
			commented = append(append(append(commented, '#'), line...), '\n')
		}
		if got := surface.Read(edit(c.Path, nil, commented)).GateInvocation(); got != 0 {
			t.Errorf("a comment runs the gate at line %d", got)
		}
		if at > 0 {
			alone := edit(c.Path, nil, []byte(surface.Lines(text)[at-1]))
			alone.ActionUsesGate = own
			if got := surface.Read(alone).GateInvocation(); got != 1 {
				t.Errorf("line %d runs the gate only in company", at)
			}
		}
	})
}

func FuzzPolicyFile(f *testing.F) {
	for _, text := range []string{
		"id: a\nrules:\n  - id: A\n    action: block\n", "- {id: A, action: warn}\n", "id: A\naction: block\n", "    risk_level: low\n  - id: B\n",
		"rules: [\n", "{{{,,,:::", "- - id: A\n", "&a [*a]\n", "",
	} {
		f.Add([]byte("- {id: A, action: block}\n"), []byte(text))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		c := edit("policies/agent-boundary.shipgate.yaml", before, after)
		_, now, _ := surface.Read(c).PolicyRules()
		for _, r := range now {
			inside(t, after, r.Pos)
			if r.ID == "" {
				t.Error("a parsed entry without an id is listed")
			}
		}
		c.New.Unresolved, c.NewHunkLines = "workspace_file_missing", surface.Lines(after)
		_, now, ok := surface.Read(c).PolicyRules()
		if !ok {
			t.Error("hunks are not read")
		}
		for _, r := range now {
			inside(t, after, r.Pos)
			if r.ID+r.Action+r.Risk == "" {
				t.Error("an entry that says nothing is listed")
			}
		}
	})
}

func FuzzSkill(f *testing.F) {
	for _, text := range []string{"Run: scripts/a.sh\n", "ba\u200bsh x", "prose", "\xff\xfecmd:", ""} {
		f.Add([]byte("a\n"), []byte(text))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		c := edit(".claude/skills/a/SKILL.md", before, after)
		line, found := surface.Read(c).SkillCommand()
		if found && !slices.Contains(c.Added, line) {
			t.Errorf("%+v is no added line", line)
		}
		c.Added = append(c.Added, surface.AddedLine{Text: "run: x"})
		if again, still := surface.Read(c).SkillCommand(); !still || found && again != line {
			t.Errorf("another command hides the first: %+v, then %+v", line, again)
		}
	})
}
