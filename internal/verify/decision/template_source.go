package decision

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
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

// maxAdded bounds the entries that one template adds.
const maxAdded = 10

// declareSources asks for a source that reads the files which look like tools.
// Which type it is, is a guess, so a person says it.
func (b *builder) declareSources(w *warned) Next {
	const why = "No source reads it, so nothing of it was judged."
	var edits []Edit
	var key, what string
	var accepted []string
	id := 0
	for i := range w.adds {
		a := &w.adds[i]
		if a.Name == "" || len(edits) == maxAdded {
			continue
		}
		if a.Pointer != "/tool_sources" {
			edits = append(edits, push(a.Pointer, review))
			if key == "" {
				key, accepted = strings.TrimPrefix(a.Pointer[strings.LastIndexByte(a.Pointer, '/'):], "/"), []string{a.Name}
				what = "the file " + a.Name + " as one of the files of " + words(a.Origin.Type)
			}
			continue
		}
		id++
		edits = append(edits, push("/tool_sources", object{
			{Key: "id", Value: b.freeID(fmt.Sprintf("added_%d", id))}, {Key: "type", Value: review}, {Key: "path", Value: a.Name},
		}))
		if key == "" {
			key, accepted, what = "type", guessed(a.Origin.Type), "the type of a source that reads "+a.Name
			if a.Origin.Type != "" {
				what += " (it looks like " + a.Origin.Type + ")"
			}
		}
	}
	if len(edits) == 0 {
		return Next{
			Kind: "review_warning", Path: cmp.Or(w.adds[0].Origin.Ref, b.file()), Accepted: []string{},
			Expects: "a manifest in a folder above " + w.adds[0].Origin.Ref + " declares it in tool_sources, or a person has seen what it offers",
			Why:     why, Human: true, PatchKind: check.Manual,
		}
	}
	if n := len(w.adds) - 1; n > 0 {
		what += fmt.Sprintf(", and a source for each of %d more", n)
	}
	return b.next("review_warning", Template{Key: key, Edits: edits}, accepted, what, why)
}

// guessed is the types of tool_sources, the one that it looks like first.
func guessed(kind string) []string {
	types := manifest.SourceTypes()
	if at := slices.Index(types, kind); at > 0 {
		types = append([]string{kind}, slices.Delete(types, at, at+1)...)
	}
	return types
}

// bindOffered asks who has the new tools of a server.
func (b *builder) bindOffered(w *warned) Next {
	var names []string
	var edits []Edit
	for i := range w.adds {
		a := &w.adds[i]
		names = append(names, a.Name)
		if len(edits) < maxAdded {
			edits = append(edits, push(a.Pointer, object{{Key: "tool", Value: review}}))
		}
	}
	return b.next("review_warning", Template{Key: "tool", Edits: edits}, names,
		"the new tool that the agent has, or a person makes sure that its host offers it to nobody",
		"A host offers all tools of a server unless somebody leaves one out there too.")
}
