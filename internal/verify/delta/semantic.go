package delta

import (
	"cmp"
	"slices"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

// Semantic is semantic_assessment: what is known of a capability and how well
// (docs/spec/verification.md §6.3, as published).
type Semantic struct {
	ConservativeEffect effect.Effect     `json:"conservative_effect"`
	Effect             SemanticEffect    `json:"effect"`
	Authority          SemanticAuthority `json:"authority"`
	Binding            *SemanticBinding  `json:"binding,omitempty"`
	Identity           *SemanticIdentity `json:"identity"`
	PassEligible       bool              `json:"pass_eligible"`
}

// SemanticEffect is the effect dimension.
type SemanticEffect struct {
	Status     effect.EffectStatus `json:"status"`
	Confidence tool.Confidence     `json:"confidence"`
	Claims     []SemanticClaim     `json:"claims"`
	Issues     []SemanticIssue     `json:"issues"`
}

// SemanticAuthority is the authority dimension. Mode is unknown when nobody
// says.
type SemanticAuthority struct {
	Status         effect.AuthorityStatus `json:"status"`
	Mode           string                 `json:"mode"`
	AuthType       Text                   `json:"auth_type"`
	CredentialMode Text                   `json:"credential_mode"`
	Scopes         []string               `json:"scopes"`
	Claims         []SemanticClaim        `json:"claims"`
	Issues         []SemanticIssue        `json:"issues"`
}

// SemanticBinding is how the root agent reaches the tool. Path is node ids from
// the root to the agent that holds the tool.
type SemanticBinding struct {
	Status       string          `json:"status"`
	Confidence   tool.Confidence `json:"confidence"`
	RootAgentID  Text            `json:"root_agent_id"`
	Path         []string        `json:"reachable_path"`
	PassEligible bool            `json:"pass_eligible"`
	Claims       []SemanticClaim `json:"claims"`
	Issues       []SemanticIssue `json:"issues"`
}

// SemanticIdentity is which tool it is.
type SemanticIdentity struct {
	ToolID       string          `json:"tool_id"`
	Status       string          `json:"status"`
	Provider     string          `json:"provider"`
	Primary      string          `json:"primary_observation_id"`
	Observations []string        `json:"observation_ids"`
	BindingID    Text            `json:"binding_id"`
	PassEligible bool            `json:"pass_eligible"`
	Claims       []SemanticClaim `json:"claims"`
	Issues       []SemanticIssue `json:"issues"`
}

// SemanticClaim is one claim as published.
type SemanticClaim struct {
	ClaimID        Text            `json:"claim_id"`
	Dimension      string          `json:"dimension"`
	Value          string          `json:"value"`
	Basis          effect.Basis    `json:"basis"`
	PolicyEligible bool            `json:"policy_eligible"`
	Confidence     tool.Confidence `json:"confidence"`
	ProvenanceKind string          `json:"provenance_kind"`
	Source         string          `json:"source"`
	SourcePointer  Text            `json:"source_pointer"`
	Evidence       map[string]any  `json:"evidence"`
}

// SemanticIssue is one open question as published.
type SemanticIssue struct {
	Kind          string `json:"kind"`
	Dimension     string `json:"dimension"`
	Message       string `json:"message"`
	Source        Text   `json:"source"`
	SourcePointer Text   `json:"source_pointer"`
}

// interfaceClaim is the value of the identity claim that carries the names of
// the inputs. The published fact has no other place for them, and without them
// two lock files could not say which input was added.
const interfaceClaim = "input_interface"

const (
	inputFields    = "input_fields"
	requiredFields = "required_input_fields"
)

// dimensionOf sorts the kinds of issues that a fact may carry; the other kinds
// of §8.3 concern policies and extraction, not one capability.
func dimensionOf(kind string) (string, bool) {
	switch kind {
	case "incomplete_tool_identity", "conflicting_tool_identity", "unresolved_tool_selector", "ambiguous_tool_selector",
		"ambiguous_legacy_tool_identity", "invalid_tool_binding", "incomplete_surface", "invalid_evidence_provenance":
		return "identity", true
	case "missing_effect_evidence", "inferred_effect_only", "conflicting_effect_evidence", "invalid_semantic_annotation":
		return "effect", true
	case "missing_authority_evidence", "partial_authority_evidence", "conflicting_authority_evidence":
		return "authority", true
	case "missing_binding_evidence", "partial_binding_evidence", "conflicting_binding_evidence", "ambiguous_root_agent",
		"unresolved_agent_binding", "unresolved_bound_tool", "incomplete_handoff_graph", "invalid_binding_annotation":
		return "binding", true
	}
	return "", false
}

// semanticOf is what is known of an action, whose scopes and inputs are sorted.
func semanticOf(s *effect.Surface, a *effect.Action, scopes, inputs, required []string) *Semantic {
	as := &a.Assessment
	// One piece of memory: there are as many as there are tools.
	out := &struct {
		Semantic
		binding  SemanticBinding
		identity SemanticIdentity
		claims   [1]SemanticClaim
	}{
		Semantic: Semantic{
			ConservativeEffect: a.Effect,
			Effect:             SemanticEffect{Status: as.EffectStatus, Confidence: orLow(as.EffectConfidence)},
			Authority: SemanticAuthority{
				Status: as.AuthorityStatus, Mode: cmp.Or(as.AuthorityMode, "unknown"), AuthType: Text(a.AuthType),
				CredentialMode: Text(a.Credential), Scopes: scopes,
			},
			PassEligible: as.PassEligible,
		},
		binding: SemanticBinding{
			Status: orUnknown(s.Graph.Status), Confidence: tool.Medium, RootAgentID: Text(s.Graph.Root),
			Path: path(s, a), PassEligible: as.BindingEligible, Claims: []SemanticClaim{},
		},
		identity: SemanticIdentity{
			ToolID: a.Tool.ID, Status: orUnknown(a.Tool.Status), Provider: a.Provider, BindingID: Text(a.Tool.BindingID),
			Observations: sorted(a.Tool.Observations), PassEligible: as.IdentityEligible,
		},
		claims: [1]SemanticClaim{interfaceOf(a, inputs, required)},
	}
	if as.BindingEligible {
		out.binding.Confidence = tool.High
	}
	if len(a.Tool.Observations) > 0 {
		out.identity.Primary = a.Tool.Observations[0] // the primary comes first
	}
	out.identity.Claims = out.claims[:]
	out.Effect.Claims, out.Authority.Claims = claimsOf(as)
	issues := [...]struct {
		dimension string
		list      *[]SemanticIssue
	}{
		{"identity", &out.identity.Issues}, {"binding", &out.binding.Issues}, {"effect", &out.Effect.Issues}, {"authority", &out.Authority.Issues},
	}
	for _, of := range issues {
		*of.list = []SemanticIssue{}
	}
	for i := range as.Issues {
		issue := &as.Issues[i]
		dimension, _ := dimensionOf(issue.Kind)
		for _, of := range issues {
			if of.dimension == dimension {
				*of.list = append(*of.list, SemanticIssue{
					Kind: issue.Kind, Dimension: dimension, Message: issue.Why, Source: Text(issue.SourceRef),
				})
			}
		}
	}
	out.Binding, out.Identity = &out.binding, &out.identity
	return &out.Semantic
}

func path(s *effect.Surface, a *effect.Action) []string {
	if p := s.Paths[a.Tool.ID]; p != nil {
		return slices.Clip(p)
	}
	return []string{}
}

// claimsOf is the claims of the two dimensions that have some.
func claimsOf(as *effect.Assessment) (ofEffect, ofAuthority []SemanticClaim) {
	all := make([]SemanticClaim, 0, len(as.Claims))
	of := func(dimension string) []SemanticClaim {
		from := len(all)
		for i := range as.Claims {
			c := &as.Claims[i]
			if c.Dimension != dimension {
				continue
			}
			all = append(all, SemanticClaim{
				ClaimID: Text(c.ID), Dimension: c.Dimension, Value: c.Value, Basis: c.Basis, PolicyEligible: c.Eligible,
				Confidence: orLow(c.Confidence), ProvenanceKind: provenanceOf(c), Source: sourceOf(&c.At),
				SourcePointer: Text(c.At.Pointer), Evidence: seen(c),
			})
		}
		return slices.Clip(all[from:])
	}
	return of("effect"), of("authority")
}

func provenanceOf(c *effect.Claim) string {
	switch {
	case c.Basis == effect.InferredRegex:
		return "regex_heuristic"
	case c.Provenance != "":
		return c.Provenance
	case c.Basis == effect.InferredKeyword:
		return "keyword_heuristic"
	}
	return provenance(&c.At)
}

func seen(c *effect.Claim) map[string]any {
	evidence := map[string]any{"why": c.Why}
	if c.Source != "" {
		evidence["read"] = c.Source
	}
	return evidence
}

func sourceOf(o *tool.Origin) string {
	for _, s := range []string{o.Location, o.Path, o.Ref, o.SourceID, o.Type} {
		if s != "" {
			return s
		}
	}
	return "manifest"
}

func interfaceOf(a *effect.Action, inputs, required []string) SemanticClaim {
	return SemanticClaim{
		Dimension: "identity", Value: interfaceClaim, Basis: effect.ProtocolStructure, Confidence: orLow(a.Tool.Confidence),
		ProvenanceKind: provenance(&a.Tool.Origin), Source: sourceOf(&a.Tool.Origin), SourcePointer: Text(a.Tool.Origin.Pointer),
		Evidence: map[string]any{inputFields: inputs, requiredFields: required},
	}
}

func list(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = n
	}
	return out
}

// inputs is the interface of a fact, and whether the fact carries it: a file of
// another writer does not.
func (f *Fact) inputs() (inputs, required []string, known bool) {
	inputs, required = []string{}, []string{}
	if f.Semantic == nil || f.Semantic.Identity == nil {
		return inputs, required, false
	}
	for _, c := range f.Semantic.Identity.Claims {
		if c.Value != interfaceClaim {
			continue
		}
		in, okIn := names(c.Evidence[inputFields])
		req, okReq := names(c.Evidence[requiredFields])
		if okIn && okReq {
			return in, req, true
		}
	}
	return inputs, required, false
}

// names are those of a claim of ours, or of one that was read.
func names(v any) ([]string, bool) {
	if list, ours := v.([]string); ours {
		return sorted(list), true
	}
	items, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return sorted(out), true
}

// mode is the mode of the authority, "" when the fact does not carry it.
func (f *Fact) mode() string {
	if f.Semantic == nil {
		return ""
	}
	return f.Semantic.Authority.Mode
}

type status struct {
	field string
	value any
}

// statuses say how well each dimension is known.
func (s *Semantic) statuses() []status {
	if s == nil {
		return nil
	}
	list := []status{
		{"semantic_assessment.authority.status", string(s.Authority.Status)},
		{"semantic_assessment.effect.confidence", string(s.Effect.Confidence)},
		{"semantic_assessment.effect.status", string(s.Effect.Status)},
		{"semantic_assessment.pass_eligible", s.PassEligible},
	}
	if s.Binding != nil {
		list = append(list, status{"semantic_assessment.binding.status", s.Binding.Status})
	}
	if s.Identity != nil {
		list = append(list, status{"semantic_assessment.identity.status", s.Identity.Status})
	}
	return list
}

func orLow(c tool.Confidence) tool.Confidence {
	if c == "" {
		return tool.Low
	}
	return c
}

func orUnknown(status string) string {
	if status == "" {
		return "unknown"
	}
	return status
}
