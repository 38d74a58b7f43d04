package delta

import (
	"slices"
	"strconv"

	"plimsoll.dev/internal/canonical"
)

// keep has the line of a fact ready for every document that repeats it.
func (f *Fact) keep() {
	f.Kept = canonical.KeepBy(f.appendLine)
	if sum := f.Kept.SHA256(); sum != "" {
		f.Digest = "sha256:" + sum
	}
}

// appendLine appends a fact as canonical.Line does, as a lock repeats it. It is
// written out because there is one of them for every tool on either side, and a
// lock is a third of what is written: TestALineIsWhatTheEncoderWrites holds both
// together.
func (f *Fact) appendLine(dst []byte) ([]byte, error) {
	l := line{dst: dst}
	l.text(`{"id":`, f.ID)
	i := &f.Identity
	l.text(`,"identity":{"agent_id":`, i.AgentID)
	l.text(`,"tool_id":`, i.ToolID)
	l.text(`,"tool_name":`, i.ToolName)
	l.text(`,"provider":`, i.Provider)
	l.text(`,"operation":`, i.Operation)
	l.text(`,"subject_kind":`, i.SubjectKind)
	l.list(`,"resource":`, i.Resource)
	l.list(`,"scope":`, i.Scope)
	e := &f.Effect
	l.text(`},"effect":{"effect":`, string(e.Effect))
	l.bool(`,"externally_visible":`, e.ExternallyVisible)
	l.bool(`,"handles_sensitive_data":`, e.HandlesSensitiveData)
	l.bool(`,"financial":`, e.Financial)
	l.bool(`,"code_execution":`, e.CodeExecution)
	l.bool(`,"high_risk":`, e.HighRisk)
	l.text(`,"reversibility":`, e.Reversibility)
	l.maybe(`,"idempotency_known":`, e.IdempotencyKnown)
	a := &f.Authority
	l.null(`},"authority":{"auth_type":`, a.AuthType)
	l.null(`,"credential_mode":`, a.CredentialMode)
	l.list(`,"scopes":`, a.Scopes)
	l.list(`,"broad_scopes":`, a.BroadScopes)
	l.null(`,"source":`, a.Source)
	c := &f.Controls
	l.maybe(`},"controls":{"approval_required":`, c.ApprovalRequired)
	l.null(`,"approval_threshold":`, c.ApprovalThreshold)
	l.bool(`,"confirmation_required":`, c.ConfirmationRequired)
	l.maybe(`,"safeguard_idempotency":`, c.SafeguardIdempotency)
	l.maybe(`,"safeguard_audit_log":`, c.SafeguardAuditLog)
	l.maybe(`,"safeguard_rollback":`, c.SafeguardRollback)
	l.maybe(`,"safeguard_dry_run":`, c.SafeguardDryRun)
	l.null(`,"evidence_owner":`, c.EvidenceOwner)
	l.null(`,"evidence_runbook":`, c.EvidenceRunbook)
	l.null(`,"evidence_approval_ticket":`, c.EvidenceApprovalTicket)
	v := &f.Evidence
	l.text(`},"evidence":{"source_type":`, v.SourceType)
	l.null(`,"source_id":`, v.SourceID)
	l.null(`,"source_ref":`, v.SourceRef)
	l.null(`,"source_location":`, v.SourceLocation)
	l.null(`,"source_path":`, v.SourcePath)
	l.number(`,"source_start_line":`, v.SourceStartLine)
	l.number(`,"source_end_line":`, v.SourceEndLine)
	l.number(`,"source_start_column":`, v.SourceStartColumn)
	l.null(`,"source_pointer":`, v.SourcePointer)
	l.text(`,"provenance_kind":`, v.ProvenanceKind)
	l.text(`,"confidence":`, string(v.Confidence))
	h := &f.Hashes
	l.text(`},"hashes":{"identity_hash":`, h.Identity)
	l.text(`,"binding_hash":`, h.Binding)
	l.text(`,"effect_hash":`, h.Effect)
	l.text(`,"authority_hash":`, h.Authority)
	l.text(`,"control_hash":`, h.Control)
	l.text(`,"schema_hash":`, h.Schema)
	l.text(`,"risk_hash":`, h.Risk)
	l.text(`,"evidence_hash":`, h.Evidence)
	l.list(`},"risk_tags":`, f.RiskTags)
	l.put(`,"semantic_assessment":`)
	l.semantic(f.Semantic)
	l.put(`}`)
	return l.dst, l.err
}

func (l *line) semantic(s *Semantic) {
	if s == nil {
		l.put("null")
		return
	}
	l.text(`{"conservative_effect":`, string(s.ConservativeEffect))
	l.text(`,"effect":{"status":`, string(s.Effect.Status))
	l.text(`,"confidence":`, string(s.Effect.Confidence))
	l.findings(s.Effect.Claims, s.Effect.Issues)
	l.text(`},"authority":{"status":`, string(s.Authority.Status))
	l.text(`,"mode":`, s.Authority.Mode)
	l.null(`,"auth_type":`, s.Authority.AuthType)
	l.null(`,"credential_mode":`, s.Authority.CredentialMode)
	l.list(`,"scopes":`, s.Authority.Scopes)
	l.findings(s.Authority.Claims, s.Authority.Issues)
	l.put(`}`)
	if b := s.Binding; b != nil {
		l.text(`,"binding":{"status":`, b.Status)
		l.text(`,"confidence":`, string(b.Confidence))
		l.null(`,"root_agent_id":`, b.RootAgentID)
		l.list(`,"reachable_path":`, b.Path)
		l.bool(`,"pass_eligible":`, b.PassEligible)
		l.findings(b.Claims, b.Issues)
		l.put(`}`)
	}
	if i := s.Identity; i != nil {
		l.text(`,"identity":{"tool_id":`, i.ToolID)
		l.text(`,"status":`, i.Status)
		l.text(`,"provider":`, i.Provider)
		l.text(`,"primary_observation_id":`, i.Primary)
		l.list(`,"observation_ids":`, i.Observations)
		l.null(`,"binding_id":`, i.BindingID)
		l.bool(`,"pass_eligible":`, i.PassEligible)
		l.findings(i.Claims, i.Issues)
		l.put(`}`)
	} else {
		l.put(`,"identity":null`)
	}
	l.bool(`,"pass_eligible":`, s.PassEligible)
	l.put(`}`)
}

// findings are the claims and the open questions of one dimension.
func (l *line) findings(claims []SemanticClaim, issues []SemanticIssue) {
	l.put(`,"claims":`)
	rows(l, claims, func(c *SemanticClaim) {
		l.null(`{"claim_id":`, c.ClaimID)
		l.text(`,"dimension":`, c.Dimension)
		l.text(`,"value":`, c.Value)
		l.text(`,"basis":`, string(c.Basis))
		l.bool(`,"policy_eligible":`, c.PolicyEligible)
		l.text(`,"confidence":`, string(c.Confidence))
		l.text(`,"provenance_kind":`, c.ProvenanceKind)
		l.text(`,"source":`, c.Source)
		l.null(`,"source_pointer":`, c.SourcePointer)
		l.put(`,"evidence":`)
		l.any(c.Evidence)
		l.put(`}`)
	})
	l.put(`,"issues":`)
	rows(l, issues, func(i *SemanticIssue) {
		l.text(`{"kind":`, i.Kind)
		l.text(`,"dimension":`, i.Dimension)
		l.text(`,"message":`, i.Message)
		l.null(`,"source":`, i.Source)
		l.null(`,"source_pointer":`, i.SourcePointer)
		l.put(`}`)
	})
}

// line writes members; lead is what stands before a value.
type line struct {
	dst    []byte
	spaced bool // texts are spelled as short hashes have them
	err    error
}

func (l *line) put(text string) { l.dst = append(l.dst, text...) }

func (l *line) text(lead, s string) {
	if l.spaced {
		l.dst = canonical.Spaced.AppendString(append(l.dst, lead...), s)
		return
	}
	l.dst = canonical.AppendString(append(l.dst, lead...), s)
}

func (l *line) null(lead string, t Text) {
	if t == "" {
		l.dst = append(append(l.dst, lead...), "null"...)
		return
	}
	l.text(lead, string(t))
}

func (l *line) number(lead string, n Line) {
	l.put(lead)
	if n == 0 {
		l.put("null")
		return
	}
	l.dst = strconv.AppendInt(l.dst, int64(n), 10)
}

func (l *line) bool(lead string, b bool) {
	l.dst = strconv.AppendBool(append(l.dst, lead...), b)
}

func (l *line) maybe(lead string, b *bool) {
	if b == nil {
		l.dst = append(append(l.dst, lead...), "null"...)
		return
	}
	l.bool(lead, *b)
}

func (l *line) list(lead string, names []string) {
	l.put(lead)
	rows(l, names, func(s *string) { l.dst = canonical.AppendString(l.dst, *s) })
}

// any is evidence: texts and lists of texts as a rule, whatever a file holds else.
func (l *line) any(v any) {
	switch v := v.(type) {
	case string:
		l.dst = canonical.AppendString(l.dst, v)
	case []string:
		l.list("", v)
	case []any:
		rows(l, v, func(item *any) { l.any(*item) })
	case map[string]any:
		if v == nil {
			l.put("null")
			return
		}
		keys := make([]string, 0, 8) // on the stack: evidence has two members
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for i, k := range keys {
			lead := byte(',')
			if i == 0 {
				lead = '{'
			}
			l.dst = append(canonical.AppendString(append(l.dst, lead), k), ':')
			l.any(v[k])
		}
		if len(keys) == 0 {
			l.put("{")
		}
		l.put("}")
	default:
		text, err := canonical.Line(l.dst, v)
		if l.dst = text; err != nil && l.err == nil {
			l.err = err
		}
	}
}

// rows writes a list; nil is null, as everywhere in JSON.
func rows[T any](l *line, list []T, write func(*T)) {
	if list == nil {
		l.put("null")
		return
	}
	l.put("[")
	for i := range list {
		if i > 0 {
			l.put(",")
		}
		write(&list[i])
	}
	l.put("]")
}
