package decision

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
)

// elsewhere is the answer to an issue of the graph that no declaration of agents
// settles: the source itself has to say it, or an inventory stands for what
// cannot be read. A declaration would leave the gap where it is (§6.4).
func (b *builder) elsewhere(i *effect.Issue) (Next, bool) {
	if block, ok := strings.CutSuffix(i.Key, ".tool_inventories"); ok && i.Kind == "partial_binding_evidence" {
		return b.inventory(i, "provide_complete_binding_graph", block), true
	}
	if !i.InSource {
		return Next{}, false
	}
	var kind, what string
	switch i.Kind {
	case "partial_binding_evidence":
		kind, what = "provide_complete_binding_graph", "the list of tools is written out, or a literal allow-list limits it to tools that the sources list"
	case "unresolved_agent_binding":
		kind, what = "declare_agent_bindings", "the annotation names exactly one agent that the sources show"
		if len(i.Candidates) > 0 {
			what += ": " + strings.Join(i.Candidates[:min(len(i.Candidates), maxAccepted)], ", ")
		}
	case "invalid_binding_annotation":
		kind, what = "resolve_binding_conflict", "the annotation is a list of agent names"
	case "conflicting_authority_evidence":
		kind, what = "resolve_semantic_conflict", "the tool says that it needs no credentials, or which"
	default:
		return Next{}, false
	}
	at := i.At.Path
	if i.At.Pointer != "" {
		at += "#" + i.At.Pointer
	} else if p := place(i.At); p != "" {
		at = p
	}
	return Next{
		Kind: kind, Path: cmp.Or(i.At.Path, i.At.Ref, b.file()), Accepted: []string{},
		Expects: fmt.Sprintf("at %s %s", at, what), Why: "No key of the manifest stands for what the source has to say.",
		Human: true, PatchKind: check.Manual,
	}, true
}
