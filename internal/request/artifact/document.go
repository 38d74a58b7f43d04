package artifact

import (
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request/envelope"
)

// Document is the artifact as the schema has it, in canonical JSON
// (docs/contracts/clan-artifact.schema.json).
func (a *Artifact) Document() []byte {
	content, err := contract.Parse(a.Content)
	if err != nil {
		panic("artifact: our own content does not parse: " + err.Error())
	}
	o := canonical.Object{
		{Key: "artifact_id", Value: a.ID},
		{Key: "version", Value: a.Version},
		{Key: "circle_id", Value: a.Circle},
		{Key: "type", Value: string(a.Type)},
		{Key: "visibility_level", Value: string(a.Visibility)},
		{Key: "status", Value: string(a.Status)},
		{Key: "content", Value: content},
		{Key: "content_sha256", Value: a.ContentSHA256},
		{Key: "created_at", Value: timestamp(a.CreatedAt)},
		{Key: "provenance", Value: a.Provenance.object()},
	}
	if a.Reason != "" {
		o = append(o, canonical.Member{Key: "reason", Value: string(a.Reason)})
	}
	if len(a.Blocks) > 0 {
		o = append(o, canonical.Member{Key: "blocked_by", Value: names(a.Blocks)})
	}
	if a.ContractID != "" {
		o = append(o, canonical.Member{Key: "contract_id", Value: a.ContractID})
	}
	return canonical.UTF8.Append(nil, o)
}

func (p Provenance) object() canonical.Object {
	sources := make([]canonical.Object, len(p.Sources))
	for i, s := range p.Sources {
		sources[i] = canonical.Object{
			{Key: "kind", Value: string(s.Kind)},
			{Key: "id", Value: s.ID},
			{Key: "sha256", Value: s.SHA256},
			{Key: "visibility_level", Value: string(s.Visibility)},
			{Key: "origin", Value: string(s.Origin)},
		}
	}
	o := canonical.Object{
		{Key: "origin", Value: string(p.Origin)},
		{Key: "request_id", Value: p.RequestID},
		{Key: "worker", Value: string(p.Worker)},
		{Key: "run_id", Value: p.RunID},
		{Key: "CONSTITUTION_VERSION", Value: p.ConstitutionVersion},
		{Key: "SUBAGENT_PROMPT_VERSION", Value: p.SubagentPromptVersion},
		{Key: "engine", Value: string(p.Engine)},
		{Key: "sources", Value: sources},
	}
	if p.Model != "" {
		o = append(o, canonical.Member{Key: "model", Value: p.Model})
	}
	return o
}

// Document is the record as the ledger shows it: the members of
// docs/spec/circle.md §7.
func (c Consent) Document() []byte {
	recipients := make([]canonical.Object, len(c.Scope.Recipients))
	for i, p := range c.Scope.Recipients {
		recipients[i] = canonical.Object{{Key: "kind", Value: string(p.Kind)}, {Key: "id", Value: p.ID}}
	}
	o := canonical.Object{
		{Key: "consent_id", Value: c.ID},
		{Key: "circle_id", Value: c.Circle},
		{Key: "member_id", Value: c.Member},
		{Key: "request_id", Value: c.RequestID},
		{Key: "artifact_id", Value: c.ArtifactID},
		{Key: "content_sha256", Value: c.ContentSHA256},
		{Key: "scope", Value: canonical.Object{
			{Key: "action", Value: string(c.Scope.Action)},
			{Key: "visibility_level", Value: string(c.Scope.Visibility)},
			{Key: "recipients", Value: recipients},
		}},
		{Key: "decision", Value: string(c.Decision)},
		{Key: "decided_at", Value: timestamp(c.DecidedAt)},
	}
	for _, t := range []struct {
		key string
		at  time.Time
	}{{"expires_at", c.ExpiresAt}, {"revoked_at", c.RevokedAt}} {
		if !t.at.IsZero() {
			o = append(o, canonical.Member{Key: t.key, Value: timestamp(t.at)})
		}
	}
	if c.StepUp != "" {
		o = append(o, canonical.Member{Key: "step_up", Value: c.StepUp})
	}
	return canonical.UTF8.Append(nil, o)
}

// timestamp is an instant in UTC, to the microsecond the store keeps.
func timestamp(t time.Time) string {
	return t.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.999999Z07:00")
}

func names(list []envelope.Condition) []string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = string(c)
	}
	return out
}
