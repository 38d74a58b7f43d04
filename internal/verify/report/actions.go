package report

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/tool"
)

type actionFactsJSON struct {
	Actions []actionJSON `json:"actions"`
}

// actionJSON is the action record of §5.5.
type actionJSON struct {
	ID            string         `json:"action_id"`
	AgentID       string         `json:"agent_id"`
	ToolID        string         `json:"tool_id"`
	ToolName      string         `json:"tool_name"`
	Provider      string         `json:"provider"`
	Operation     string         `json:"operation"`
	Effect        string         `json:"effect"`
	RiskTags      []string       `json:"risk_tags"`
	Scopes        []string       `json:"required_scopes"`
	AuthorityMode Text           `json:"authority_mode"`
	AuthType      Text           `json:"auth_type"`
	Credential    Text           `json:"credential_mode"`
	Approval      approvalJSON   `json:"approval_policy"`
	Confirmation  bool           `json:"confirmation_required"`
	Safeguards    safeguardsJSON `json:"safeguards"`
	Evidence      evidenceJSON   `json:"evidence"`
	Inputs        []string       `json:"input_fields"`
	Required      []string       `json:"required_input_fields"`
	Assessment    assessmentJSON `json:"semantic_assessment"`
	Declared      bool           `json:"declared"`
	IdentityHash  string         `json:"identity_hash"`
	SchemaHash    string         `json:"schema_hash"`
	PolicyHash    string         `json:"policy_hash"`
	RiskHash      string         `json:"risk_hash"`
}

type approvalJSON struct {
	Required  *bool `json:"required"`
	Threshold Text  `json:"threshold"`
}

// safeguardsJSON: null is "nobody said".
type safeguardsJSON struct {
	Idempotency *bool `json:"idempotency"`
	AuditLog    *bool `json:"audit_log"`
	Rollback    *bool `json:"rollback"`
	DryRun      *bool `json:"dry_run"`
}

type evidenceJSON struct {
	Owner   Text `json:"owner"`
	Runbook Text `json:"runbook"`
	Ticket  Text `json:"approval_ticket"`
}

type assessmentJSON struct {
	EffectStatus     string      `json:"effect_status"`
	EffectConfidence string      `json:"effect_confidence"`
	ControlEffects   []string    `json:"control_effects"`
	AuthorityStatus  string      `json:"authority_status"`
	SurfaceComplete  bool        `json:"surface_complete"`
	PassEligible     bool        `json:"pass_eligible"`
	Claims           []claimJSON `json:"claims"`
	Issues           []string    `json:"issues"`
}

type claimJSON struct {
	ID        string `json:"claim_id"`
	Dimension string `json:"dimension"`
	Value     string `json:"value"`
	Basis     string `json:"basis"`
	Eligible  bool   `json:"policy_eligible"`
}

func known(c effect.Control) *bool {
	if !c.Known {
		return nil
	}
	return &c.Value
}

func actionFactsOf(s *effect.Surface, each tool.Each) actionFactsJSON {
	facts := actionFactsJSON{Actions: make([]actionJSON, len(s.Actions))}
	each.Do(len(s.Actions), func(i int) { facts.Actions[i] = actionOf(s.Actions[i]) })
	return facts
}

func actionOf(a *effect.Action) actionJSON {
	as := &a.Assessment
	row := actionJSON{
		ID: a.ID, AgentID: a.AgentID, ToolID: a.Tool.ID, ToolName: a.Tool.Name, Provider: a.Provider, Operation: a.Operation,
		Effect: string(a.Effect), RiskTags: list(a.RiskTags), Scopes: list(a.Scopes), AuthorityMode: Text(a.Mode),
		AuthType: Text(a.AuthType), Credential: Text(a.Credential), Approval: approvalJSON{known(a.Approval), Text(a.Threshold)},
		Confirmation: a.Confirmation,
		Safeguards:   safeguardsJSON{known(a.Idempotency), known(a.AuditLog), known(a.Rollback), known(a.DryRun)},
		Evidence:     evidenceJSON{Text(a.Owner), Text(a.Runbook), Text(a.ApprovalTicket)},
		Inputs:       list(a.Inputs), Required: list(a.RequiredInputs), Declared: a.Declared != nil,
		Assessment: assessmentJSON{
			EffectStatus: string(as.EffectStatus), EffectConfidence: string(as.EffectConfidence), ControlEffects: []string{},
			AuthorityStatus: string(as.AuthorityStatus), SurfaceComplete: as.SurfaceComplete, PassEligible: as.PassEligible,
			Claims: []claimJSON{}, Issues: []string{},
		},
		IdentityHash: a.IdentityHash, SchemaHash: a.SchemaHash, PolicyHash: a.PolicyHash, RiskHash: a.RiskHash,
	}
	for _, e := range as.Control {
		row.Assessment.ControlEffects = append(row.Assessment.ControlEffects, string(e))
	}
	for i := range as.Claims {
		c := &as.Claims[i]
		row.Assessment.Claims = append(row.Assessment.Claims, claimJSON{c.ID, c.Dimension, c.Value, string(c.Basis), c.Eligible})
	}
	for _, i := range as.Issues {
		row.Assessment.Issues = append(row.Assessment.Issues, i.Kind)
	}
	row.Assessment.Issues = sortedSet(row.Assessment.Issues)
	return row
}

type actionDiffJSON struct {
	Enabled bool            `json:"enabled"`
	Note    Text            `json:"note"`
	Rows    []actionRowJSON `json:"rows"`
}

type actionRowJSON struct {
	Type      string   `json:"type"`
	ActionID  string   `json:"action_id"`
	ToolID    string   `json:"tool_id"`
	AgentID   string   `json:"agent_id"`
	ToolName  string   `json:"tool_name"`
	Operation string   `json:"operation"`
	Severity  string   `json:"severity"`
	Reason    string   `json:"reason"`
	Before    any      `json:"before"`
	After     any      `json:"after"`
	Added     []string `json:"added"`
	Removed   []string `json:"removed"`
	Path      Text     `json:"source_path"`
	Line      Line     `json:"source_start_line"`
}

func actionDiffOf(d *delta.Actions) actionDiffJSON {
	j := actionDiffJSON{Rows: []actionRowJSON{}}
	if d == nil {
		return j
	}
	j.Enabled, j.Note = d.Enabled, Text(d.Note)
	for i := range d.Rows {
		r := &d.Rows[i]
		j.Rows = append(j.Rows, actionRowJSON{
			string(r.Type), r.ActionID, r.ToolID, r.AgentID, r.ToolName, r.Operation, r.Severity, r.Reason, r.Before, r.After,
			list(r.Added), list(r.Removed), Text(r.SourcePath), Line(r.SourceLine),
		})
	}
	return j
}

// CapabilityChange is what agents can do now and could not before, and the other
// way round.
type CapabilityChange struct {
	Added    []Change `json:"added"`
	Removed  []Change `json:"removed"`
	Modified []Change `json:"modified"`
}

// Change is one member of a capability change.
type Change struct {
	ID              string   `json:"id"`
	ChangeType      string   `json:"change_type"`
	SubjectKind     string   `json:"subject_kind"`
	Subject         string   `json:"subject"`
	Rationale       string   `json:"rationale"`
	Before          any      `json:"before"`
	After           any      `json:"after"`
	RelatedFindings []string `json:"related_finding_ids"`
	SourcePath      Text     `json:"source_path"`
	SourceLine      Line     `json:"source_start_line"`
	Impact          string   `json:"release_impact"`
	weight          int
}

// ChangeOf is the capability change of a run: one member a row of the action
// surface difference. Its impact is the worst contribution of the findings on
// the same tool, or what the whole decision lacks.
func ChangeOf(in *Input) CapabilityChange {
	c := CapabilityChange{Added: []Change{}, Removed: []Change{}, Modified: []Change{}}
	if in.Actions == nil {
		return c
	}
	changed := map[string]bool{} // by tool id
	for i := range in.Actions.Rows {
		changed[in.Actions.Rows[i].ToolID] = true
	}
	related, impact := map[string][]string{}, map[string]string{}
	category := map[string]decision.Category{}
	if in.Decision != nil && len(changed) > 0 {
		for i := range in.Decision.Contributions {
			category[in.Decision.Contributions[i].FindingID] = in.Decision.Contributions[i].Category
		}
	}
	for i := range in.Findings {
		f := &in.Findings[i]
		if f.ToolID == "" || f.Suppressed || !changed[f.ToolID] {
			continue
		}
		related[f.ToolID] = append(related[f.ToolID], f.ID)
		switch category[f.ID] {
		case decision.Blocker:
			impact[f.ToolID] = "blocks_release"
		case decision.ReviewItem:
			impact[f.ToolID] = cmp.Or(impact[f.ToolID], "review_required")
		case decision.Excluded:
		}
	}
	unknown := map[string]bool{}
	for _, a := range in.Head.Actions {
		if changed[a.Tool.ID] {
			unknown[a.Tool.ID] = !a.Assessment.PassEligible
		}
	}
	for i := range in.Actions.Rows {
		r := &in.Actions.Rows[i]
		m := Change{
			ID:         "chg_" + canonical.Compact.SHA256(canonical.Object{{Key: "action_id", Value: r.ActionID}, {Key: "safeguard", Value: r.Safeguard}, {Key: "type", Value: string(r.Type)}})[:16],
			ChangeType: strings.ToLower(string(r.Type)), SubjectKind: "action", Subject: r.ToolName, Rationale: r.Reason,
			Before: r.Before, After: r.After, RelatedFindings: sortedSet(related[r.ToolID]), SourcePath: Text(r.SourcePath), SourceLine: Line(r.SourceLine),
			weight: severityRank(r.Severity),
		}
		switch {
		case r.Type == delta.ActionRemoved:
			m.Impact, m.RelatedFindings = "none", []string{}
		case impact[r.ToolID] != "":
			m.Impact = impact[r.ToolID]
		case unknown[r.ToolID]:
			m.Impact = "insufficient_evidence"
		default:
			m.Impact = "informational"
		}
		switch r.Type {
		case delta.ActionAdded:
			c.Added = append(c.Added, m)
		case delta.ActionRemoved:
			c.Removed = append(c.Removed, m)
		default:
			c.Modified = append(c.Modified, m)
		}
	}
	return c
}

func severityRank(s string) int {
	return slices.Index([]string{"info", "low", "medium", "high", "critical"}, s)
}

// maxTop is how many changes verifier.json names.
const maxTop = 10

// Top is the changes worst first, at most ten: what verifier.json and the
// comment show.
func (c *CapabilityChange) Top() []TopChange {
	type row struct {
		bucket string
		*Change
	}
	var rows []row
	for _, part := range []struct {
		bucket string
		list   []Change
	}{{"added", c.Added}, {"modified", c.Modified}, {"removed", c.Removed}} {
		for i := range part.list {
			rows = append(rows, row{part.bucket, &part.list[i]})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(slices.Index(impacts, a.Impact), slices.Index(impacts, b.Impact)),
			cmp.Compare(b.weight, a.weight),
			cmp.Compare(slices.Index(buckets, a.bucket), slices.Index(buckets, b.bucket)),
			strings.Compare(a.Subject, b.Subject), strings.Compare(a.ChangeType, b.ChangeType), strings.Compare(a.ID, b.ID),
		)
	})
	top := []TopChange{}
	for _, r := range rows[:min(len(rows), maxTop)] {
		top = append(top, TopChange{
			ID: r.ID, Bucket: r.bucket, ChangeType: r.ChangeType, SubjectKind: r.SubjectKind, Subject: r.Subject, Rationale: r.Rationale,
			Impact: r.Impact, RelatedFindings: list(r.RelatedFindings), SourcePath: r.SourcePath, SourceLine: r.SourceLine,
		})
	}
	return top
}

// Review is the counts of the change for verifier.json; the caller adds what
// else it knows.
func (c *CapabilityChange) Review() CapabilityReview {
	return CapabilityReview{Added: len(c.Added), Modified: len(c.Modified), Removed: len(c.Removed), TopChanges: c.Top(), Notes: []string{}}
}
