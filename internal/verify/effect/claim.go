package effect

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// methodEffect is what an HTTP method promises (§6.2).
var methodEffect = map[string]Effect{
	"GET": Read, "HEAD": Read, "OPTIONS": Read, "POST": Write, "PUT": Write, "PATCH": Write, "DELETE": Destructive,
}

// mcpType says whether a source type is tools of an MCP server, whose protocol
// has a default for those that say nothing.
func mcpType(sourceType string) bool {
	switch sourceType {
	case "mcp", "codex_config_mcp", "codex_plugin_mcp_inventory", "n8n_mcp_client_tool", "mcp_server_code",
		"google_adk_mcp_tool", "conductor_mcp_tool":
		return true
	}
	return false
}

// claims collects the evidence about one action, the strongest first.
type claims struct {
	t    *Tool
	hand *hand
	list []Claim
}

type claimKey struct {
	dimension, value, source, sourceID string
	basis                              Basis
	confidence                         tool.Confidence
	eligible                           bool
}

// claimID is the id of a claim. Where it stands is no part of it: a moved line is
// the same evidence.
func (h *hand) claimID(c *Claim) string {
	k := claimKey{c.Dimension, c.Value, c.Source, c.At.SourceID, c.Basis, c.Confidence, c.Eligible}
	id, ok := h.claimIDs[k]
	if !ok {
		id = "claim_" + digest(canonical.Spaced, canonical.Object{
			{Key: "basis", Value: string(k.basis)},
			{Key: "confidence", Value: string(k.confidence)},
			{Key: "dimension", Value: k.dimension},
			{Key: "policy_eligible", Value: k.eligible},
			{Key: "source", Value: k.source},
			{Key: "source_id", Value: k.sourceID},
			{Key: "value", Value: k.value},
		})[:16]
		h.claimIDs[k] = id
	}
	return id
}

// claim adds one effect claim.
func (c *claims) claim(e Effect, basis Basis, sure tool.Confidence, source, why string, o tool.Origin) {
	c.add(Claim{Dimension: EffectDimension, Value: string(e), Basis: basis, Confidence: sure, Source: source, Why: why, At: o})
}

func (c *claims) add(claim Claim) {
	claim.Eligible = claim.Value != "" && (claim.Basis == ReviewedDeclaration || claim.Basis.Structural())
	switch {
	case claim.Basis.Inferred():
		claim.Provenance = "keyword_heuristic"
	case claim.Basis != ReviewedDeclaration && claim.At.Location != "":
		claim.Provenance = "ast_extraction"
	default:
		claim.Provenance = "static_declaration"
	}
	claim.ID = c.hand.claimID(&claim)
	for i := range c.list {
		if c.list[i].ID == claim.ID {
			if compareClaims(&claim, &c.list[i]) < 0 {
				c.list[i] = claim
			}
			return
		}
	}
	c.list = append(c.list, claim)
}

// effects adds every claim about the effect of the tool (§6.2).
func (c *claims) effects(scopes []string, d *manifest.Action, risk *manifest.Risk) {
	t := c.t
	c.reviewed(d, risk)
	for i := range t.Members {
		c.structural(&t.Members[i])
	}
	for _, scope := range scopes {
		c.scope(scope)
	}
	c.inferred()
	for i := range t.Members {
		c.order(&t.Members[i], risk)
	}
	if len(c.list) == 0 && slices.ContainsFunc(t.Members, func(m tool.Tool) bool { return mcpType(m.Origin.Type) }) {
		c.claim(Write, ProtocolDefault, tool.Low, "protocol", "An MCP tool that says nothing may write.", t.Origin)
	}
	slices.SortFunc(c.list, func(a, b Claim) int { return compareClaims(&a, &b) })
}

const (
	sourceEffect   = "action_surface.actions[].effect"
	sourceRiskTags = "action_surface.actions[].risk_tags"
	sourceOverride = "risk_overrides.tools"
)

func (c *claims) reviewed(d *manifest.Action, risk *manifest.Risk) {
	where := tool.Origin{Type: "manifest"}
	if d != nil {
		where.Start = d.Pos
		if d.Effect != "" {
			c.claim(Effect(d.Effect), ReviewedDeclaration, tool.High, sourceEffect, "People declare the effect "+d.Effect+".", where)
		}
		for _, tag := range d.RiskTags {
			if e, ok := TagEffect(tag); ok {
				c.claim(e, ReviewedDeclaration, tool.High, sourceRiskTags, "People declare the risk tag "+tag+".", where)
			}
		}
	}
	if risk != nil {
		where.Start = risk.Pos
		for _, tag := range risk.Tags {
			if e, ok := TagEffect(tag); ok {
				c.claim(e, ReviewedDeclaration, tool.High, sourceOverride, "People give the tool the tag "+tag+".", where)
			}
		}
	}
}

func (c *claims) structural(m *tool.Tool) {
	if method, _ := methodOf(m); method != "" {
		if e, ok := methodEffect[method]; ok {
			c.claim(e, ProtocolStructure, tool.High, "httpMethod", "It is an HTTP "+method+".", m.Origin)
		}
	}
	if hint, ok := m.Flag("readOnlyHint"); ok && hint {
		c.claim(Read, TypedProviderFact, tool.High, "readOnlyHint", "The provider sets readOnlyHint.", m.Origin)
	}
	if hint, ok := m.Flag("destructiveHint"); ok && hint {
		c.claim(Destructive, TypedProviderFact, tool.High, "destructiveHint", "The provider sets destructiveHint.", m.Origin)
	}
	found, _ := annotatedClasses(m)
	for _, class := range found {
		if e := classes[class].effect; e != "" {
			c.claim(e, TypedProviderFact, tool.High, "permission_classes", "The provider gives it the permission class "+class+".", m.Origin)
		}
	}
}

// scope reads the verbs of one scope.
func (c *claims) scope(scope string) {
	writes, destroys := false, false
	for word := range strings.FieldsFuncSeq(strings.ToLower(scope), func(r rune) bool { return r < 'a' || r > 'z' }) {
		writes = writes || strings.HasPrefix(word, "write") || word == "readwrite"
		destroys = destroys || word == "delete" || word == "destroy"
	}
	if writes {
		c.claim(Write, StructuralScope, tool.High, "auth.scopes", "It acts with the scope "+scope+".", c.t.Origin)
	}
	if destroys {
		c.claim(Destructive, StructuralScope, tool.High, "auth.scopes", "It acts with the scope "+scope+".", c.t.Origin)
	}
}

func (c *claims) inferred() {
	for _, h := range c.t.Hints {
		switch h.Source {
		case hintReadOnly, hintDestructive, hintMethod, hintManual:
			continue // said above, as what they are
		}
		e, ok := TagEffect(h.Tag)
		if !ok {
			continue
		}
		basis, why := UnknownBasis, "The source gives it the tag "+h.Tag+"."
		switch h.Source {
		case hintKeyword, hintScope, hintPreview:
			basis, why = InferredKeyword, "It is suggested by "+h.Evidence+"."
		}
		c.claim(e, basis, h.Confidence, cmp.Or(h.Source, "words"), why, c.t.Origin)
	}
}

// authority adds the evidence about the authority of the action.
func (c *claims) authority(a authority) {
	t := c.t
	claim := Claim{Dimension: AuthorityDimension, Value: a.mode, Confidence: tool.High, At: t.Origin, Source: cmp.Or(t.Auth.Source, "auth")}
	switch a.status {
	case AuthorityDeclared:
		claim.Basis, claim.Source = ReviewedDeclaration, "authority"
		claim.Why = "People declare the authority " + a.mode + "."
	case AuthorityStructural:
		claim.Basis = TypedProviderFact
		if t.Origin.Type == "openapi" {
			claim.Basis = ProtocolStructure
		}
		claim.Why = "The source says " + a.mode + "."
	case AuthorityPartial, AuthorityConflicting:
		claim.Basis, claim.Value, claim.Confidence, claim.Why = UnknownBasis, string(a.status), tool.Medium, a.why
	case AuthorityUnknown:
		return
	}
	c.add(claim)
}
