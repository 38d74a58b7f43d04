package surface

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// This file is the one place that knows how permission rules compare. Today
// direction is plain set difference and width is a shape of the text
// (docs/spec/boundary.md §5.2, OP-14; ruling R8): narrowing therefore counts as
// expansion, which errs on the safe side. A decision procedure that names a
// concrete action as its witness can replace the bodies below without a change
// in any rule.

// PermissionRule is one allow, ask or deny entry of a host.
type PermissionRule struct {
	// List is the list the entry stands in. The same text under "read" and
	// under "write" is two permissions.
	List string
	Text string
	Pos  source.Position
}

// permissionRules reads the strings of one list; what is no string is no rule
// of any host we know.
func permissionRules(list string, v source.Value) []PermissionRule {
	var out []PermissionRule
	for _, e := range v.Strings() {
		out = append(out, PermissionRule{List: list, Text: e.Text, Pos: e.Pos})
	}
	return out
}

// PermissionsGained lists the rules of after that before does not have, each
// once, in file order.
func PermissionsGained(before, after []PermissionRule) []PermissionRule {
	type key struct{ list, text string }
	seen := make(map[key]bool, len(before)+len(after))
	for _, r := range before {
		seen[key{r.List, r.Text}] = true
	}
	var out []PermissionRule
	for _, r := range after {
		k := key{r.List, r.Text}
		if !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// Wildcard says whether the rule covers a whole tool: it is "*", names a tool
// without an argument ("Bash", "mcp__git"), or its argument starts with "*". An
// empty argument restricts nothing and counts too.
func (r PermissionRule) Wildcard() bool {
	_, argument, has := r.split()
	return !has || argument == "" || strings.HasPrefix(argument, "*")
}

// Masked is the rule as evidence shows it: the tool's name and whether the
// argument is a wildcard, never the argument, which may hold a secret (§5.2, §14).
func (r PermissionRule) Masked() string {
	name, argument, has := r.split()
	name = maskTool(name)
	switch {
	case !has:
		return name
	case argument == "", argument == "*" && strings.HasSuffix(r.Text, "(*)"):
		return name + "(" + argument + ")"
	case strings.HasPrefix(argument, "*"):
		return name + "(<wildcard>)"
	default:
		return name + "(<redacted-arguments>)"
	}
}

// split cuts "Tool(argument)"; a missing closing bracket does not hide the
// argument.
func (r PermissionRule) split() (tool, argument string, has bool) {
	tool, argument, has = strings.Cut(strings.TrimSpace(r.Text), "(")
	argument = strings.TrimSuffix(argument, ")")
	return strings.TrimSpace(tool), strings.TrimSpace(argument), has
}

// maxToolName bounds what can pass for the name of a tool.
const maxToolName = 128

// maskTool keeps the part of a name that can be a tool's name. A bare rule is
// printed as it is, and people do write whole command lines there.
func maskTool(name string) string {
	end := strings.IndexFunc(name, func(c rune) bool {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return false
		}
		return !strings.ContainsRune("_-.*", c)
	})
	if end < 0 {
		end = len(name)
	}
	if end == len(name) && end <= maxToolName {
		return name
	}
	return name[:min(end, maxToolName)] + redacted
}

// redacted stands for text that is not shown (§14).
const redacted = "<redacted>"
