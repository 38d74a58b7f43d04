package delta

import (
	"slices"

	"plimsoll.dev/internal/verify/effect"
)

// Direction says whether a change gives the agent more or less.
type Direction string

// The directions of the published difference.
const (
	Added        Direction = "added"
	Removed      Direction = "removed"
	Broadened    Direction = "broadened"
	Narrowed     Direction = "narrowed"
	Mixed        Direction = "mixed"
	Unclear      Direction = "unknown"
	EvidenceOnly Direction = "evidence_only"
)

// Joined is the direction of several changes together. More beats what is not
// known, because that is the worse reading; what is not known beats less, because
// less must be certain (docs/spec/verification.md §11.3, A-8).
func Joined(directions ...Direction) Direction {
	var broader, narrower, unclear bool
	for _, d := range directions {
		broader = broader || d == Broadened || d == Mixed || d == Added
		narrower = narrower || d == Narrowed || d == Mixed || d == Removed
		unclear = unclear || d == Unclear
	}
	switch {
	case broader && narrower:
		return Mixed
	case broader:
		return Broadened
	case unclear:
		return Unclear
	case narrower:
		return Narrowed
	}
	return EvidenceOnly
}

// aspect is one field of a capability that people read, and how a change of it
// is judged.
type aspect struct {
	kind   string
	field  string
	hash   string // the hash that it explains
	value  func(*Fact) any
	judged func(before, after any) Direction
}

// aspects is the whole direction algebra of §11.3. A difference of a hash that
// none of them shows is hash_changed, which nobody can judge.
var aspects = []aspect{
	{"scope_changed", "identity.scope", "identity_hash", func(f *Fact) any { return f.Identity.Scope }, entries},
	{"resource_changed", "identity.resource", "identity_hash", func(f *Fact) any { return f.Identity.Resource }, entries},

	{"effect_changed", "effect.effect", "effect_hash", func(f *Fact) any { return string(f.Effect.Effect) }, ranked},
	{"effect_flag_changed", "effect.externally_visible", "effect_hash", func(f *Fact) any { return f.Effect.ExternallyVisible }, raised},
	{"effect_flag_changed", "effect.handles_sensitive_data", "effect_hash", func(f *Fact) any { return f.Effect.HandlesSensitiveData }, raised},
	{"effect_flag_changed", "effect.financial", "effect_hash", func(f *Fact) any { return f.Effect.Financial }, raised},
	{"effect_flag_changed", "effect.code_execution", "effect_hash", func(f *Fact) any { return f.Effect.CodeExecution }, raised},
	{"effect_flag_changed", "effect.high_risk", "effect_hash", func(f *Fact) any { return f.Effect.HighRisk }, raised},
	{"reversibility_changed", "effect.reversibility", "effect_hash", func(f *Fact) any { return f.Effect.Reversibility }, reversed},
	{"idempotency_changed", "effect.idempotency_known", "effect_hash", func(f *Fact) any { return optional(f.Effect.IdempotencyKnown) }, dropped},

	{"authority_changed", "authority.auth_type", "authority_hash", func(f *Fact) any { return f.Authority.AuthType.value() }, unclear},
	{"authority_changed", "authority.credential_mode", "authority_hash", func(f *Fact) any { return f.Authority.CredentialMode.value() }, unclear},
	{"authority_changed", "semantic_assessment.authority.mode", "authority_hash", func(f *Fact) any { return f.mode() }, unclear},
	{"authority_changed", "authority.source", "authority_hash", func(f *Fact) any { return f.Authority.Source.value() }, unclear},
	{"authority_scope_changed", "authority.scopes", "authority_hash", func(f *Fact) any { return f.Authority.Scopes }, entries},
	{"broad_scope_changed", "authority.broad_scopes", "authority_hash", func(f *Fact) any { return f.Authority.BroadScopes }, entries},

	{"control_changed", "controls.approval_required", "control_hash", func(f *Fact) any { return optional(f.Controls.ApprovalRequired) }, dropped},
	{"control_changed", "controls.confirmation_required", "control_hash", func(f *Fact) any { return f.Controls.ConfirmationRequired }, dropped},
	{"control_changed", "controls.safeguard_idempotency", "control_hash", func(f *Fact) any { return optional(f.Controls.SafeguardIdempotency) }, dropped},
	{"control_changed", "controls.safeguard_audit_log", "control_hash", func(f *Fact) any { return optional(f.Controls.SafeguardAuditLog) }, dropped},
	{"control_changed", "controls.safeguard_rollback", "control_hash", func(f *Fact) any { return optional(f.Controls.SafeguardRollback) }, dropped},
	{"control_changed", "controls.safeguard_dry_run", "control_hash", func(f *Fact) any { return optional(f.Controls.SafeguardDryRun) }, dropped},
	{"control_metadata_changed", "controls.approval_threshold", "control_hash", func(f *Fact) any { return f.Controls.ApprovalThreshold.value() }, unclear},
	{"control_metadata_changed", "controls.evidence_owner", "control_hash", func(f *Fact) any { return f.Controls.EvidenceOwner.value() }, unclear},
	{"control_metadata_changed", "controls.evidence_runbook", "control_hash", func(f *Fact) any { return f.Controls.EvidenceRunbook.value() }, unclear},
	{"control_metadata_changed", "controls.evidence_approval_ticket", "control_hash", func(f *Fact) any { return f.Controls.EvidenceApprovalTicket.value() }, unclear},

	{"risk_changed", "risk_tags", "risk_hash", func(f *Fact) any { return f.RiskTags }, tags},
}

// entries: more entries are broader.
func entries(before, after any) Direction {
	added, removed := difference(before, after)
	return both(len(added) > 0, len(removed) > 0)
}

// tags: more tags are broader. read_only is the one tag that promises instead
// of warning, and counts the other way.
func tags(before, after any) Direction {
	added, removed := difference(before, after)
	promise := func(tag string) bool { return tag == "read_only" }
	warning := func(tag string) bool { return !promise(tag) }
	return both(
		slices.ContainsFunc(added, warning) || slices.ContainsFunc(removed, promise),
		slices.ContainsFunc(removed, warning) || slices.ContainsFunc(added, promise),
	)
}

// ranked: a higher delta rank is broader. Two effects of one rank are different
// things, neither more nor less.
func ranked(before, after any) Direction {
	b, _ := before.(string)
	a, _ := after.(string)
	return compared(effect.DeltaRank(effect.Effect(b)), effect.DeltaRank(effect.Effect(a)))
}

// reversed: toward irreversible is broader; what is not known stands between.
func reversed(before, after any) Direction {
	b, _ := before.(string)
	a, _ := after.(string)
	return compared(slices.Index(reversibleWords, b), slices.Index(reversibleWords, a))
}

func compared(before, after int) Direction {
	switch {
	case after > before:
		return Broadened
	case after < before:
		return Narrowed
	}
	return Unclear
}

// raised: a flag that warns, from false to true.
func raised(_, after any) Direction {
	if after == true {
		return Broadened
	}
	return Narrowed
}

// dropped: a control, from true to anything else. From "nobody said" to false
// or back nothing is gained or lost that anybody relied on.
func dropped(before, after any) Direction {
	switch {
	case before == true:
		return Broadened
	case after == true:
		return Narrowed
	}
	return Unclear
}

func unclear(_, _ any) Direction { return Unclear }

func both(broader, narrower bool) Direction {
	switch {
	case broader && narrower:
		return Mixed
	case broader:
		return Broadened
	case narrower:
		return Narrowed
	}
	return Unclear
}

// difference is what two sorted sets do not share.
func difference(before, after any) (added, removed []string) {
	b, _ := before.([]string)
	a, _ := after.([]string)
	return without(a, b), without(b, a)
}

// without is the entries of list that are not in other, sorted.
func without(list, other []string) []string {
	has := make(map[string]bool, len(other))
	for _, s := range other {
		has[s] = true
	}
	var out []string
	for _, s := range sorted(list) {
		if !has[s] {
			out = append(out, s)
		}
	}
	return out
}
