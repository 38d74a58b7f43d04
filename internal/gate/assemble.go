package gate

import (
	"fmt"
	"slices"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/policy"
	"plimsoll.dev/internal/gate/rule"
)

// maxAffected is how many files affected_files names.
const maxAffected = 20

// result puts together what the steps found.
func (r *run) result(c Checker) *Result {
	facts := r.facts()
	ctl := control.Derive(facts)
	advice := control.Advise(facts)
	_, _, reviewers := ctl.HumanReview()
	res := &Result{
		SchemaVersion:           SchemaVersion,
		Agent:                   r.in.Actor,
		Tool:                    Tool{Name: ToolName, Version: c.Version},
		Subject:                 Subject{Agent: r.in.Actor},
		Decision:                facts.Decision(),
		RiskLevel:               facts.RiskLevel(),
		PolicyVersion:           r.policy.Version(),
		Summary:                 ctl.Reason(),
		ChangedFiles:            append([]string{}, r.in.ChangedFiles...),
		Control:                 ctl,
		Repair:                  advice.Repair,
		Policy:                  r.policy.Aggregate(),
		AffectedFiles:           r.affectedFiles(),
		Undeclared:              r.undeclared,
		RequiredReviewers:       reviewers,
		Explanation:             ctl.Reason(),
		SuggestedFixes:          advice.SuggestedFixes,
		AgentRepairInstructions: advice.Instructions,
		Diagnostics:             make([]Diagnostic, len(r.diagnostics)),
		SourceArtifacts:         map[string]string{},
		Trigger:                 &r.trigger,
		FindingFingerprints:     make([]string, len(r.rows)),
		PolicySnapshot:          r.policy.Set,
		Actor:                   r.in.Actor,
		InputMode:               r.in.Mode,
		Scope:                   scope,
		InputCoverage:           r.coverage,
		HostCoverage:            r.hosts,
		AffectedHosts:           append([]string{}, r.affected...),
		Policies:                r.policy.Records,
		PolicySet:               r.policy.Set,
		Issues:                  append([]string{}, r.codes...),
		Violations:              make([]Violation, len(r.rows)),
		PendingReview:           advice.Pending,
		StaticAnalysisOnly:      true,
		ExcludedScopes:          excludedScopes(),
	}
	for i := range r.rows {
		res.Violations[i] = r.rows[i].violation
		res.FindingFingerprints[i] = res.Violations[i].Fingerprint()
	}
	res.ViolatedRules = res.Violations
	for i, d := range r.diagnostics {
		res.Diagnostics[i] = Diagnostic(d)
	}
	res.Trace = r.trace(res.Decision)
	r.identify(res, c.Rules)
	return res
}

// scope is the only scope there is.
const scope = "repository"

// affectedFiles is the paths of the rows, or the change itself without rows.
func (r *run) affectedFiles() []AffectedFile {
	var paths []string
	for i := range r.rows {
		if p := r.rows[i].violation.Path; p != "" {
			paths = append(paths, p)
		}
	}
	if len(r.rows) == 0 {
		paths = r.in.ChangedFiles
	}
	paths = slices.Compact(sorted(paths))
	files := make([]AffectedFile, 0, min(len(paths), maxAffected))
	for _, p := range paths[:min(len(paths), maxAffected)] {
		files = append(files, AffectedFile{Path: p})
	}
	return files
}

func (r *run) trace(decision rule.Action) []Step {
	steps := []Step{{"policy_discovery", fmt.Sprintf("%d policy families loaded.", len(r.policy.Records))}}
	if s := r.gapTrace(); s != "" {
		steps = append(steps, Step{"coverage", s})
	}
	return append(steps, Step{"decision", fmt.Sprintf("%d row(s), decision %s.", len(r.rows), decision)})
}

// identify computes both audit ids.
func (r *run) identify(res *Result, rules []*rule.Rule) {
	legacy := legacyFacts{
		agent: r.in.Actor, mode: r.in.Mode, changedFiles: r.in.ChangedFiles, records: r.in.Records,
		evaluated: evaluatedFiles(r.surfaces), policyVersion: res.PolicyVersion,
	}
	for _, known := range rules {
		if known.Family == rule.CodexFamily {
			legacy.ruleIDs = append(legacy.ruleIDs, known.ID)
		}
	}
	for i := range r.rows {
		if r.rows[i].rule.Family == rule.CodexFamily {
			legacy.fingerprints = append(legacy.fingerprints, res.FindingFingerprints[i])
		}
	}
	res.codexID = legacyID(&legacy)
	res.AuditID = auditID(&auditFacts{
		actor: r.in.Actor, mode: r.in.Mode, replayable: r.in.Mode.Replayable(), trigger: r.trigger, control: res.Control,
		subject: subjectSHA256(r.in.Text, r.in.IndexText), legacyID: res.codexID,
		changedFiles: r.in.ChangedFiles, fingerprints: res.FindingFingerprints, policySet: r.policy.Set,
	})
}

// noPolicy is the record of a result for which no policy was loaded (ruling R7).
func noPolicy(id, version string, discovery ...string) policy.Record {
	return policy.Record{
		ID: id, Version: version, Source: policy.Missing, Snapshot: zeroSHA256, Discovery: append([]string{}, discovery...),
	}
}

const zeroSHA256 = "0000000000000000000000000000000000000000000000000000000000000000"

// bare is a result about no change: what error and install results share.
func bare(actor Actor, mode Mode, ctl control.Control, none policy.Record) *Result {
	_, _, reviewers := ctl.HumanReview()
	return &Result{
		SchemaVersion: SchemaVersion,
		Agent:         actor, Actor: actor,
		Tool:     Tool{Name: ToolName, Version: ToolVersion},
		Subject:  Subject{Agent: actor},
		Decision: rule.Block,
		Summary:  ctl.Reason(), Explanation: ctl.Reason(),
		Control: ctl,
		Policy:  none, Policies: []policy.Record{none}, PolicyVersion: none.Version, PolicySet: zeroSHA256,
		InputMode: mode, Scope: scope, InputCoverage: CoverageUnknown,
		RequiredReviewers: reviewers,
		ChangedFiles:      []string{}, AffectedFiles: []AffectedFile{}, AffectedHosts: []string{},
		Violations: []Violation{}, ViolatedRules: []Violation{}, FindingFingerprints: []string{},
		SuggestedFixes: []string{}, AgentRepairInstructions: []string{},
		HostCoverage: []HostCoverage{}, PendingReview: []control.Pending{}, SourceArtifacts: map[string]string{},
		StaticAnalysisOnly: true,
		ExcludedScopes:     []string{"runtime_tool_behavior"},
	}
}
