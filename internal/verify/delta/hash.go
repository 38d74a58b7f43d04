package delta

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"plimsoll.dev/internal/canonical"
)

// hasher takes the short hashes of many facts without a new buffer for each. A
// short hash is the first 16 hex digits of SHA-256 over JSON with sorted keys,
// default separators and lists sorted by their own JSON (docs/spec/verification.md
// §11.1): the order in which a file lists something is no difference. What is
// hashed is written out, because eight of them are taken of every capability on
// either side; TestHashesAreThoseOfTheParts holds it to the parts themselves.
type hasher struct {
	line
	spans [][2]int // where the entries of a list lie in dst
	draft []byte
	sums  []byte // the hashes that were taken
	last  [8]struct {
		text []byte
		hash [shortLen]byte
	}
}

const (
	shortLen = 16
	idPrefix = "cap_"
)

var hashers = sync.Pool{New: func() any { return &hasher{line: line{spaced: true}} }}

// hash gives a fact its id and its hashes, which are parts of one string: a fact
// keeps nine. inputs and required are the names of its inputs.
func (f *Fact) hash(inputs, required []string) {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	h.sums = append(h.sums[:0], idPrefix...)
	h.identity(&f.Identity)
	h.take(0)
	h.binding(f.Semantic.Binding)
	h.take(1)
	h.effect(&f.Effect)
	h.take(2)
	h.authority(&f.Authority, f.Semantic.Authority.Mode)
	h.take(3)
	h.controls(&f.Controls)
	h.take(4)
	h.inputs(inputs, required)
	h.take(5)
	h.set("", f.RiskTags)
	h.take(6)
	h.evidence(f.Semantic, &f.Evidence)
	h.take(7)
	all := string(h.sums)
	at := func(i int) string { return all[len(idPrefix)+i*shortLen:][:shortLen] }
	f.ID = all[:len(idPrefix)+shortLen]
	f.Hashes = Hashes{
		Identity: at(0), Binding: at(1), Effect: at(2), Authority: at(3), Control: at(4), Schema: at(5), Risk: at(6), Evidence: at(7),
	}
}

// take hashes what was written of one part, and begins again. Most capabilities
// have most of their parts in common with the one before.
func (h *hasher) take(part int) {
	last := &h.last[part]
	if last.text == nil || !bytes.Equal(last.text, h.dst) {
		sum := sha256.Sum256(h.dst)
		hex.Encode(last.hash[:], sum[:shortLen/2])
		last.text, h.dst = h.dst, last.text
	}
	h.sums = append(h.sums, last.hash[:]...)
	h.dst = h.dst[:0]
}

// capabilityID is the id of the fact with this identity.
func capabilityID(i *Identity) string {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	h.sums = append(h.sums[:0], idPrefix...)
	h.identity(i)
	h.take(0)
	return string(h.sums)
}

func (h *hasher) identity(i *Identity) {
	h.text(`{"agent_id": `, i.AgentID)
	h.text(`, "operation": `, i.Operation)
	h.text(`, "provider": `, i.Provider)
	h.set(`, "resource": `, i.Resource)
	h.set(`, "scope": `, i.Scope)
	h.text(`, "subject_kind": `, i.SubjectKind)
	h.text(`, "tool_id": `, i.ToolID)
	h.text(`, "tool_name": `, i.ToolName)
	h.put(`}`)
}

// binding is how the root agent reaches a tool: the way, not where in a file the
// way is written, nor how well it is known. The way is one text: its order counts.
func (h *hasher) binding(b *SemanticBinding) {
	h.draft = append(h.draft[:0], '[')
	for i, id := range b.Path {
		if i > 0 {
			h.draft = append(h.draft, ',')
		}
		h.draft = canonical.UTF8.AppendString(h.draft, id)
	}
	h.text(`{"reachable_path": `, string(append(h.draft, ']')))
	h.null(`, "root_agent_id": `, b.RootAgentID)
	h.put(`}`)
}

func (h *hasher) effect(e *Effects) {
	h.bool(`{"code_execution": `, e.CodeExecution)
	h.text(`, "effect": `, string(e.Effect))
	h.bool(`, "externally_visible": `, e.ExternallyVisible)
	h.bool(`, "financial": `, e.Financial)
	h.bool(`, "handles_sensitive_data": `, e.HandlesSensitiveData)
	h.bool(`, "high_risk": `, e.HighRisk)
	h.maybe(`, "idempotency_known": `, e.IdempotencyKnown)
	h.text(`, "reversibility": `, e.Reversibility)
	h.put(`}`)
}

func (h *hasher) authority(a *Authority, mode string) {
	h.null(`{"authority": {"auth_type": `, a.AuthType)
	h.set(`, "broad_scopes": `, a.BroadScopes)
	h.null(`, "credential_mode": `, a.CredentialMode)
	h.set(`, "scopes": `, a.Scopes)
	h.null(`, "source": `, a.Source)
	h.text(`}, "mode": `, mode)
	h.put(`}`)
}

func (h *hasher) controls(c *Controls) {
	h.maybe(`{"approval_required": `, c.ApprovalRequired)
	h.null(`, "approval_threshold": `, c.ApprovalThreshold)
	h.bool(`, "confirmation_required": `, c.ConfirmationRequired)
	h.null(`, "evidence_approval_ticket": `, c.EvidenceApprovalTicket)
	h.null(`, "evidence_owner": `, c.EvidenceOwner)
	h.null(`, "evidence_runbook": `, c.EvidenceRunbook)
	h.maybe(`, "safeguard_audit_log": `, c.SafeguardAuditLog)
	h.maybe(`, "safeguard_dry_run": `, c.SafeguardDryRun)
	h.maybe(`, "safeguard_idempotency": `, c.SafeguardIdempotency)
	h.maybe(`, "safeguard_rollback": `, c.SafeguardRollback)
	h.put(`}`)
}

func (h *hasher) inputs(inputs, required []string) {
	h.set(`{"input_fields": `, inputs)
	h.set(`, "required_input_fields": `, required)
	h.put(`}`)
}

// evidence is the place of the tool, how well everything is known and by which
// claims, without their places.
func (h *hasher) evidence(s *Semantic, e *Evidence) {
	h.put(`{"assessment": {"claims": [`)
	h.spans = h.spans[:0]
	for _, claims := range [][]SemanticClaim{s.Effect.Claims, s.Authority.Claims} {
		for i := range claims {
			c := &claims[i]
			h.begin()
			h.text(`{"basis": `, string(c.Basis))
			h.text(`, "dimension": `, c.Dimension)
			h.bool(`, "policy_eligible": `, c.PolicyEligible)
			h.text(`, "value": `, c.Value)
			h.put(`}`)
			h.end()
		}
	}
	h.arrange()
	h.text(`], "semantic_assessment.authority.status": `, string(s.Authority.Status))
	h.text(`, "semantic_assessment.binding.status": `, s.Binding.Status)
	h.text(`, "semantic_assessment.effect.confidence": `, string(s.Effect.Confidence))
	h.text(`, "semantic_assessment.effect.status": `, string(s.Effect.Status))
	h.text(`, "semantic_assessment.identity.status": `, s.Identity.Status)
	h.bool(`, "semantic_assessment.pass_eligible": `, s.PassEligible)
	h.text(`}, "source": {"confidence": `, string(e.Confidence))
	h.text(`, "provenance_kind": `, e.ProvenanceKind)
	h.number(`, "source_end_line": `, e.SourceEndLine)
	h.null(`, "source_id": `, e.SourceID)
	h.null(`, "source_location": `, e.SourceLocation)
	h.null(`, "source_path": `, e.SourcePath)
	h.null(`, "source_pointer": `, e.SourcePointer)
	h.null(`, "source_ref": `, e.SourceRef)
	h.number(`, "source_start_column": `, e.SourceStartColumn)
	h.number(`, "source_start_line": `, e.SourceStartLine)
	h.text(`, "source_type": `, e.SourceType)
	h.put(`}}`)
}

// set writes a list in the order of its entries' own text.
func (h *hasher) set(lead string, names []string) {
	h.put(lead)
	h.put(`[`)
	h.spans = h.spans[:0]
	for _, name := range names {
		h.begin()
		h.text("", name)
		h.end()
	}
	h.arrange()
	h.put(`]`)
}

// begin and end stand around an entry of a list that arrange puts in order.
func (h *hasher) begin() {
	if len(h.spans) > 0 {
		h.put(`, `)
	}
	h.spans = append(h.spans, [2]int{len(h.dst)})
}

func (h *hasher) end() { h.spans[len(h.spans)-1][1] = len(h.dst) }

// arrange puts the entries that end here in the order of their text, which most
// lists have already.
func (h *hasher) arrange() {
	of := func(s [2]int) []byte { return h.dst[s[0]:s[1]] }
	byText := func(a, b [2]int) int { return bytes.Compare(of(a), of(b)) }
	if len(h.spans) < 2 || slices.IsSortedFunc(h.spans, byText) {
		return
	}
	from := h.spans[0][0]
	slices.SortFunc(h.spans, byText)
	h.draft = h.draft[:0]
	for i, s := range h.spans {
		if i > 0 {
			h.draft = append(h.draft, `, `...)
		}
		h.draft = append(h.draft, of(s)...)
	}
	copy(h.dst[from:], h.draft)
}
