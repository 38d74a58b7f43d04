//go:build unix

package shipgate_test

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The paths that facts are about most often.
const (
	settingsPath = ".claude/settings.json"
	serversPath  = ".mcp.json"
	codexPath    = ".codex/config.toml"
	unifiedPath  = "policies/agent-boundary.shipgate.yaml"
	gatePath     = ".github/workflows/agents-shipgate.yml"
)

// overMiB is more than a side of a touched path may have.
var overMiB = strings.Repeat(" ", 1<<20+1)

// fixtureFacts makes true in a repository what a fixture says with a flag, and
// tells what a whole repository adds to a fixture of texts.
var fixtureFacts = map[string]func(*fixture){
	"BOUNDARY-INPUT-INCOMPLETE/each-issue": func(f *fixture) {
		// Two records of one path are not read, so nobody sees a NUL in one.
		f.without("boundary_input_binary")
		f.supply(edit("AGENTS.md", "a", "b") + "diff --git a/AGENTS.md b/AGENTS.md\nold mode 100644\nnew mode 100755\n")
	},
	"BOUNDARY-INPUT-INCOMPLETE/link-outside": func(f *fixture) { f.link("head", serversPath, "/etc/mcp.json") },
	"BOUNDARY-INPUT-INCOMPLETE/summary-not-needed": func(f *fixture) {
		delete(f.Text["base"], settingsPath)
		f.Delete = nil
		f.supply(edit(settingsPath, "{}", `{"sandbox":{}}`))
	},
	"BOUNDARY-INPUT-INCOMPLETE/summary": func(f *fixture) {
		f.Text["base"][unifiedPath] = "owner: me\n"
		f.supply(edit("AGENTS.md", "something else", "b"))
		f.instead(" "+unifiedPath+" ", " AGENTS.md ") // diagnostics come sorted
	},
	"BOUNDARY-INPUT-INCOMPLETE/summary-beside-a-workflow": func(f *fixture) {
		// A text that was resolved has no warning: another file's brings the issue.
		const workflow = ".github/workflows/ci.yml"
		f.supply("diff --git a/" + workflow + " b/" + workflow + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + workflow +
			"\n@@ -0,0 +1 @@\n+- push\n" + edit("AGENTS.md", "a", "b"))
		f.instead("INCOMPLETE "+workflow, "INCOMPLETE AGENTS.md")
	},
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/adoption-not-proven": func(f *fixture) { f.Mode = "diff" },
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/link-beside-25-and-26": func(f *fixture) {
		for _, p := range []string{".vscode/mcp.json", ".codex/requirements.toml"} {
			ext := path.Ext(p)
			f.link("base", p, "a"+ext)
			f.link("head", p, "b"+ext)
		}
	},
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/link-deleted":   func(f *fixture) { f.link("base", "CLAUDE.md", "docs/agents.md") },
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/link-explained": func(f *fixture) { f.link("head", serversPath, "conf/mcp.json") },
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/link-refused":   func(f *fixture) { f.link("head", serversPath, "/etc/mcp.json") },
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/link-same-text": func(f *fixture) {
		f.Text["head"][codexPath] = f.Text["base"][codexPath]
		f.link("head", codexPath, "conf/codex.toml")
	},
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/link-target-edited": func(f *fixture) {
		delete(f.Text["base"], "CLAUDE.md")
		delete(f.Text["head"], "CLAUDE.md")
		f.Delete = nil
		f.Links = map[string]map[string]string{"base": {"CLAUDE.md": "AGENTS.md"}}
	},
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/proposal-safe": func(f *fixture) {
		const manifest = "version: 1\nproject: shop\nagent: clerk\ntool_sources:\n- {id: z, type: mcp, path: z.json}\n"
		f.Text["base"] = files{"a.json": "{}\n", "z.json": "{}\n", "shipgate.yaml": manifest}
		f.Text["head"] = files{"shipgate.yaml": manifest + "- {id: a, type: mcp, path: a.json}\n"}
	},
	"BOUNDARY-PROTECTED-SURFACE-UNCLASSIFIED/unread": func(f *fixture) {
		f.History, f.Text["upstream"] = "conflict", files{"AGENTS.md": "Be quick.\n"}
	},
	"BOUNDARY-STATIC-REQUIREMENTS-CHANGED/malformed": func(*fixture) {}, // the text is
	"CODEX-CI-GATE-REMOVED/not-read": func(f *fixture) {
		f.Text["base"][".gitattributes"] = ".github/** filter=mask\n"
		f.Delete, f.Text["head"][gatePath] = nil, f.Text["base"][gatePath]+"# kept\n"
	},
	"CODEX-CI-GATE-REMOVED/own-action": func(f *fixture) {
		f.Text["base"]["action.yml"] = "name: Agents Shipgate\nruns:\n  using: composite\n  steps:\n    - run: shipgate verify\n"
	},
	"CODEX-CONFIG-PARSE-FAILED/config-base-not-read": func(f *fixture) { f.Text["base"][codexPath] += "# \xff\n" },
	"CODEX-CONFIG-PARSE-FAILED/config-not-read":      func(f *fixture) { f.Text["head"][codexPath] += overMiB },
	"CODEX-CONFIG-PARSE-FAILED/hooks-not-read":       func(f *fixture) { f.Text["head"][".codex/hooks.json"] += "\x00" },
	"CODEX-CONFIG-PARSE-FAILED/policy-missing": func(f *fixture) {
		f.Args = []string{"--policy", "conf/gate.yaml"}
		f.instead("the policy does not exist", "The policy named by --policy does not exist.")
	},
	"CODEX-POLICY-WEAKENED/conflict": func(f *fixture) {
		f.Text["base"]["policies/host-boundary.shipgate.yaml"] = "id: b\n"
		f.Text["base"][unifiedPath] = "rules:\n  - {id: HOST-HOOK-CHANGED, action: block}\n  - {id: HOST-HOOK-CHANGED}\n"
	},
	// A policy below the floor is also met where it is loaded (§10.5).
	"CODEX-POLICY-WEAKENED/action-lowered": func(f *fixture) { f.conflict("policy_safety_floor_downgrade") },
	"CODEX-POLICY-WEAKENED/risk-lowered":   func(f *fixture) { f.conflict("policy_safety_floor_downgrade") },
	"CODEX-POLICY-WEAKENED/second-entry-is-weaker": func(f *fixture) {
		f.conflict("policy_rule_conflict", "policy_safety_floor_downgrade")
	},
	"HOST-CONFIG-PARSE-FAILED/unresolved-old-side": func(f *fixture) { f.Text["base"][serversPath] += overMiB },
	"HOST-CONFIG-PARSE-FAILED/unresolved": func(f *fixture) {
		f.supply(edit(settingsPath, "something else", "{}"))
	},
}

// supply makes the change a diff that somebody wrote.
func (f *fixture) supply(text string) { f.Mode, f.Diff.Text = "diff", &text }

// edit is a diff that replaces one line by another.
func edit(p, from, to string) string {
	return "diff --git a/" + p + " b/" + p + "\n--- a/" + p + "\n+++ b/" + p + "\n@@ -1 +1 @@\n-" + from + "\n+" + to + "\n"
}

// instead says what a whole repository makes of a row.
func (f *fixture) instead(from, to string) {
	for i, row := range f.want {
		f.want[i] = strings.ReplaceAll(row, from, to)
	}
	slices.Sort(f.want)
}

// without drops the rows that hold a word.
func (f *fixture) without(word string) {
	f.want = slices.DeleteFunc(f.want, func(row string) bool { return strings.Contains(row, word) })
}

// link puts a link where a layer has a file, and the file where the link leads.
func (f *fixture) link(layer, p, target string) {
	if text, ok := f.Text[layer][p]; ok && !path.IsAbs(target) {
		f.Text[layer][target] = text
	}
	delete(f.Text[layer], p)
	f.Delete = slices.DeleteFunc(f.Delete, func(gone string) bool { return layer == "head" && gone == p })
	if !path.IsAbs(target) {
		target, _ = filepath.Rel(path.Dir(p), target) // both are relative
	}
	if f.Links == nil {
		f.Links = map[string]map[string]string{"base": {}, "head": {}}
	}
	f.Links[layer][p] = target
}

// conflict adds the row of a policy that contradicts itself.
func (f *fixture) conflict(issues ...string) {
	object := `{"kind":"boundary_policy_conflict","issues":["` + strings.Join(issues, `","`) + `"]}`
	if err := f.wants("CODEX-POLICY-WEAKENED", unifiedPath, object); err != nil {
		panic(err)
	}
}
