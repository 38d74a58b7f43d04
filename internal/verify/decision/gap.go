package decision

import (
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Gap is one thing that keeps the decision from being made (§8.3).
type Gap struct {
	Kept       canonical.Kept `json:"-"`
	Kind       string         `json:"kind"`
	Subject    string         `json:"subject"`
	SourceType *string        `json:"source_type"`
	SourceRef  *string        `json:"source_ref"`
	Why        string         `json:"why"`
	Next       Next           `json:"next_action"`
}

// Next is the answer that a gap asks for: which key, in which file and line.
// A person answers; nothing is applied by a machine.
type Next struct {
	Kind      string          `json:"kind"`
	Path      string          `json:"path"`
	Command   *string         `json:"command"` // always null: no command answers for a person
	Expects   string          `json:"expects"`
	Why       string          `json:"why"`
	Accepted  []string        `json:"accepted_values"`
	Template  *Template       `json:"declaration_template"`
	Human     bool            `json:"requires_human_review"`
	Auto      bool            `json:"auto_apply"`
	PatchKind check.PatchKind `json:"suggested_patch_kind"`
}

// Template is a patch that is ready but for the answer: every value that a
// person owns is manifest.Review, which the loader refuses. Edits hold in their
// order; the vocabulary is that of §19. Key is the member that the accepted
// values are for. A value that forbids or demands other members has a variant
// of its own.
type Template struct {
	File     string    `json:"target_file"`
	Key      string    `json:"key"`
	Edits    []Edit    `json:"edits"`
	Variants []Variant `json:"variants"`
}

// Edit is one change of the manifest. Pointer is RFC 6901; append_pointer names
// the list, which may not be there yet.
type Edit struct {
	Kind    check.PatchKind `json:"kind"` // set_pointer or append_pointer
	Pointer string          `json:"pointer"`
	Value   any             `json:"value"` // a string, a list or a canonical.Object
	Line    int             `json:"line"`  // one-based: where it stands, or the last line before what is added
}

// Variant is the edits when the key gets this value.
type Variant struct {
	When  string `json:"when"`
	Edits []Edit `json:"edits"`
}

// EditsFor is the edits of a template when its key gets the accepted value v;
// v itself still has to be filled in where the variants do not name it.
func (t *Template) EditsFor(v string) []Edit {
	for i := range t.Variants {
		if t.Variants[i].When == v {
			return t.Variants[i].Edits
		}
	}
	return t.Edits
}

// gapFamily orders gaps: binding, semantic, policy, extraction.
type gapFamily int

const (
	bindingGap gapFamily = iota
	semanticGap
	policyGap
	extractionGap
)

// families is the 29 kinds of the schema.
var families = map[string]gapFamily{
	"missing_binding_evidence":     bindingGap,
	"partial_binding_evidence":     bindingGap,
	"conflicting_binding_evidence": bindingGap,
	"ambiguous_root_agent":         bindingGap,
	"unresolved_agent_binding":     bindingGap,
	"unresolved_bound_tool":        bindingGap,
	"incomplete_handoff_graph":     bindingGap,
	"invalid_binding_annotation":   bindingGap,

	"incomplete_surface":             semanticGap,
	"missing_effect_evidence":        semanticGap,
	"inferred_effect_only":           semanticGap,
	"conflicting_effect_evidence":    semanticGap,
	"missing_authority_evidence":     semanticGap,
	"partial_authority_evidence":     semanticGap,
	"conflicting_authority_evidence": semanticGap,
	"invalid_semantic_annotation":    semanticGap,
	"invalid_evidence_provenance":    semanticGap,
	"incomplete_tool_identity":       semanticGap,
	"conflicting_tool_identity":      semanticGap,
	"unresolved_tool_selector":       semanticGap,
	"ambiguous_tool_selector":        semanticGap,
	"ambiguous_legacy_tool_identity": semanticGap,
	"invalid_tool_binding":           semanticGap,

	"inferred_policy_applicability": policyGap,
	"mixed_policy_evidence":         policyGap,
	"unknown_policy_evidence":       policyGap,
	"conflicting_policy_evidence":   policyGap,

	"low_confidence_tool": extractionGap,
	"source_warning":      extractionGap,
}

// identityKinds are the semantic gaps that identity_coverage counts.
var identityKinds = map[string]bool{
	"incomplete_tool_identity": true, "conflicting_tool_identity": true, "unresolved_tool_selector": true,
	"ambiguous_tool_selector": true, "ambiguous_legacy_tool_identity": true, "invalid_tool_binding": true,
}

// row is the gap of an issue, without its answer.
func (b *builder) row(i *effect.Issue) Gap {
	subject := i.Subject
	if subject == "" {
		subject = "agent"
		if t := b.in.Head.Tool(i.ToolID); t != nil {
			subject = t.Name
		}
	}
	return Gap{Kind: i.Kind, Subject: subject, SourceType: orNull(&i.SourceType), SourceRef: orNull(&i.SourceRef), Why: redact.Text(sentence(i.Why))}
}

func orNull(s *string) *string {
	if *s == "" {
		return nil
	}
	return s
}

// answer is the one key that closes a gap, by its kind.
func (b *builder) answer(i *effect.Issue) Next {
	if next, ok := b.elsewhere(i); ok {
		return next
	}
	switch i.Kind {
	case "missing_effect_evidence", "inferred_effect_only", "invalid_semantic_annotation":
		return b.effect(i, "declare_action_effect", false)
	case "conflicting_effect_evidence":
		return b.effect(i, "resolve_semantic_conflict", true)
	case "missing_authority_evidence", "partial_authority_evidence":
		return b.authority(i, "declare_action_authority")
	case "conflicting_authority_evidence":
		return b.authority(i, "resolve_semantic_conflict")
	case "incomplete_surface":
		return b.tool(i, "provide_complete_inventory")
	case "low_confidence_tool":
		return b.tool(i, "declare_tool_inventory")

	case "incomplete_tool_identity":
		return b.identity(i, "declare_source_identity")
	case "conflicting_tool_identity":
		return b.identity(i, "resolve_tool_identity_conflict")
	case "invalid_tool_binding":
		return b.identity(i, "provide_tool_binding")
	case "unresolved_tool_selector", "ambiguous_tool_selector":
		return b.selector(i, "qualify_tool_selector")
	case "ambiguous_legacy_tool_identity":
		return b.selector(i, "regenerate_identity_artifact")

	case "ambiguous_root_agent":
		if i.Key == "agent_bindings.declarations" {
			// No source shows any agent: one declaration of root says who it is and
			// what it reaches.
			return b.binding(i, "declare_agent_bindings")
		}
		return b.root(i)
	case "missing_binding_evidence", "unresolved_agent_binding":
		return b.binding(i, "declare_agent_bindings")
	case "unresolved_bound_tool":
		return b.boundTool(i, "provide_static_binding_source")
	case "partial_binding_evidence", "incomplete_handoff_graph":
		return b.binding(i, "provide_complete_binding_graph")
	case "conflicting_binding_evidence", "invalid_binding_annotation":
		return b.binding(i, "resolve_binding_conflict")
	case "invalid_evidence_provenance":
		return b.binding(i, "regenerate_binding_artifact")

	case "inferred_policy_applicability", "unknown_policy_evidence":
		return b.policyEvidence(i, "provide_policy_evidence")
	case "mixed_policy_evidence":
		return b.policyEvidence(i, "review_policy_evidence")
	default: // conflicting_policy_evidence
		return b.policyEvidence(i, "resolve_policy_evidence_conflict")
	}
}

// policyEvidence asks for what the predicate could not see: the authority while
// that is open and the effect is not, else the effect.
func (b *builder) policyEvidence(i *effect.Issue, kind string) Next {
	if a := b.in.Head.Action(i.ToolID); a != nil {
		as := &a.Assessment
		effectKnown := as.EffectStatus == effect.EffectDeclared || as.EffectStatus == effect.EffectStructural
		authorityOpen := as.AuthorityStatus == effect.AuthorityPartial || as.AuthorityStatus == effect.AuthorityUnknown ||
			as.AuthorityStatus == effect.AuthorityConflicting
		if effectKnown && authorityOpen {
			return b.authority(i, kind)
		}
	}
	return b.effect(i, kind, i.Kind != "unknown_policy_evidence" && i.Kind != "inferred_policy_applicability")
}

// reviewWarning asks a person to look at the source: no key of the manifest can
// answer for a file that was not understood.
func reviewWarning(w *warned) Next {
	return Next{
		Kind: "review_warning", Path: placePath(w.at, w.name), Accepted: []string{},
		Expects: "the place is put right, or a person has seen that no tool is left out",
		Why:     "What was not understood may offer tools that nobody looked at.",
		Human:   true, PatchKind: check.Manual,
	}
}

func placePath(o tool.Origin, name string) string {
	if p := place(o); p != "" {
		return p
	}
	return name
}
