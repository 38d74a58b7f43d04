package hostgrant

import (
	"fmt"
	"slices"
	"strconv"
)

// expansion is what a change lets a host do more, in one line; "" when it does
// not. What cannot be told to be less counts as more.
func expansion(was, is *Grant) string {
	switch {
	case was == nil && is.limits():
		return ""
	case was == nil && is.Access == NoAccess && is.Kind != InstructionTrustRoot:
		return ""
	case was == nil:
		return signal("added", is, fmt.Sprintf("access %s, risk %s", is.Access, is.Risk))
	case is == nil && was.limits():
		return signal("limit removed", was, "")
	case is == nil:
		return ""
	case is.Kind == Requirement:
		return signal("limit changed", is, "")
	}
	switch why := widened(was, is); {
	case why != "":
		return signal("widened", is, why)
	case is.Access == NoAccess && is.Kind != InstructionTrustRoot:
		return ""
	case was.ConfigSHA256 != is.ConfigSHA256 && opaque(is):
		return signal("changed", is, "what it does is not in the inventory")
	}
	return ""
}

// limits says whether a grant takes something from a host.
func (g *Grant) limits() bool {
	switch g.Kind {
	case PermissionRule:
		return g.Disposition != Allow
	case Requirement:
		return true
	case Sandbox, PermissionMode, PluginOrApp, MCPServer:
		// A domain that is denied, a mode that is switched off: without the entry
		// the host's own default decides.
		return g.Access == NoAccess || g.Setting == "sandbox_mode" || g.Setting == "approval_policy"
	case AdditionalPath, Hook, InstructionTrustRoot, Profile, Workflow:
	}
	return false
}

// opaque grants are read by their names: a change of the rest may mean anything.
// Which job of a workflow writes is not in the inventory.
func opaque(g *Grant) bool {
	switch g.Kind {
	case Hook, InstructionTrustRoot, MCPServer, PluginOrApp, Profile, PermissionMode, Sandbox:
		return true
	case Workflow:
		return g.Access != Read
	case AdditionalPath, PermissionRule, Requirement:
	}
	return false
}

// widened is by which of its members a grant reaches further.
func widened(was, is *Grant) string {
	switch {
	case rank(accesses, was.Access) < rank(accesses, is.Access):
		return fmt.Sprintf("access %s, was %s", is.Access, was.Access)
	case rank(risks, was.Risk) < rank(risks, is.Risk):
		return fmt.Sprintf("risk %s, was %s", is.Risk, was.Risk)
	case is.Disposition == Allow && was.Disposition != Allow:
		return "it is allowed now"
	case is.Wildcard && !was.Wildcard:
		return "it is a wildcard now"
	case is.OnTarget && !was.OnTarget:
		return "pull_request_target starts it now"
	case gained(was.WriteScopes, is.WriteScopes), is.WriteAll && !was.WriteAll:
		return "its token writes more"
	case gained(was.Triggers, is.Triggers):
		return "more starts it"
	case is.Endpoint != was.Endpoint || is.Transport != was.Transport:
		return "it is another program or host"
	case gained(was.EnvKeys, is.EnvKeys), gained(was.HeaderKeys, is.HeaderKeys):
		return "it is given more variables or headers"
	}
	return ""
}

// rank is the place in an order in which unknown is last: it may be anything.
func rank[T comparable](order []T, v T) int { return slices.Index(order, v) }

func gained(was, is []string) bool {
	return slices.ContainsFunc(is, func(s string) bool { return !slices.Contains(was, s) })
}

// Summary is the kind of a grant and its name, for people.
func (g *Grant) Summary() string {
	if name := g.name(); name != "" {
		return string(g.Kind) + " " + strconv.QuoteToGraphic(clip(name))
	}
	return string(g.Kind)
}

// name is what tells a grant from others of its kind in its file.
func (g *Grant) name() string {
	switch g.Kind {
	case AdditionalPath:
		return g.Path
	case Hook:
		return g.Event
	case MCPServer:
		return g.Server
	case PermissionMode, Sandbox:
		return g.Setting + " = " + g.Value
	case PermissionRule:
		return string(g.Disposition) + " " + g.Rule
	case PluginOrApp, Profile, Requirement:
		return g.Name
	case InstructionTrustRoot, Workflow:
	}
	return ""
}

func signal(what string, g *Grant, why string) string {
	text := fmt.Sprintf("%s: %s %s in %s", what, g.Host, g.Summary(), g.Source)
	if why != "" {
		text += ": " + why
	}
	return text
}
