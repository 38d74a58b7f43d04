package report

import (
	"regexp"
	"slices"
	"sync"

	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/decision"
)

// The closed vocabularies of verifier.json.
var (
	executions     = []string{"not_run", "succeeded", "skipped", "failed"}
	applicabilites = []string{"not_evaluated", "verified", "not_applicable", "failed"}
	verdicts       = []string{"mergeable", "human_review_required", "insufficient_evidence", "blocked", "unknown"}
	baseStatuses   = []string{
		"not_requested", "skipped", "diff_from_provided", "ref_missing", "archive_failed", "missing_manifest", "scan_failed", "cache_hit", "succeeded",
	}
	completenesses = []string{"complete", "partial", "unavailable", "unknown"}
	diffReasons    = []string{
		"not_attempted", "refs_missing", "merge_base_missing", "unrelated_histories", "objects_missing", "metadata_limit_exceeded",
		"body_limit_exceeded", "git_timeout", "git_failed",
	}
	fetchable = []string{"refs_missing", "merge_base_missing", "objects_missing"}
	statuses  = []string{"not_requested", "accepted", "rejected", "not_applicable"}
	impacts   = []string{"blocks_release", "review_required", "insufficient_evidence", "informational", "none"}
	buckets   = []string{"added", "modified", "removed"}
)

// verdictOf is the merge verdict of a decision (§9.3).
var verdictOf = map[string]string{
	"passed": "mergeable", "review_required": "human_review_required", "insufficient_evidence": "insufficient_evidence", "blocked": "blocked",
}

var digest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// Check says what in a verifier contradicts itself; nil when nothing does.
func (v *Verifier) Check() error {
	for _, check := range []func() error{v.words, v.projection, v.passed, v.mergeable, v.publication, v.authorized, v.fix, v.diff} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (v *Verifier) refuse(format string, args ...any) error {
	return contradiction("verifier.json", format, args...)
}

func (v *Verifier) words() error {
	for _, w := range []struct {
		name, value string
		of          []string
	}{
		{"execution", v.Execution, executions},
		{"head_status", v.HeadStatus, executions},
		{"applicability", v.Applicability, applicabilites},
		{"merge_verdict", v.MergeVerdict, verdicts},
		{"base_status", v.BaseStatus, baseStatuses},
		{"diff_status.completeness", v.DiffStatus.Completeness, completenesses},
		{"authorization.status", v.Authorization.Status, statuses},
		{"verifier_schema_version", v.SchemaVersion, []string{VerifierVersion}},
	} {
		if !slices.Contains(w.of, w.value) {
			return v.refuse("%s is %q", w.name, w.value)
		}
	}
	if !v.Control.State().Valid() {
		return v.refuse("it has no control")
	}
	if !v.StaticOnly || v.RuntimeVerified {
		return v.refuse("static analysis verifies no behaviour")
	}
	a := &v.Authorization
	for _, id := range []Text{
		v.RequestID, v.SubjectID, v.InputSetID, v.EngineRequirementID, v.ExecutorID, v.DecisionID,
		a.ID, a.RequestID, a.TrustPolicyID, a.KeyID, a.OperationID,
	} {
		if id != "" && !digest().MatchString(string(id)) {
			return v.refuse("an id is no digest")
		}
	}
	for i := range v.CapabilityReview.TopChanges {
		c := &v.CapabilityReview.TopChanges[i]
		if !slices.Contains(impacts, c.Impact) || !slices.Contains(buckets, c.Bucket) {
			return v.refuse("a capability change has impact %q in %q", c.Impact, c.Bucket)
		}
	}
	return nil
}

// projection is the table of §9.3.
func (v *Verifier) projection() error {
	if v.HeadStatus != v.Execution {
		return v.refuse("head_status %s is not execution %s", v.HeadStatus, v.Execution)
	}
	if v.Control.CompletionAllowed() != v.CanMerge {
		return v.refuse("completion and can_merge_without_human differ")
	}
	d := string(v.Decision)
	if (v.ReleaseDecision == nil) != (d == "") {
		return v.refuse("decision and release_decision are not there together")
	}
	if v.ReleaseDecision != nil && string(v.ReleaseDecision.Decision) != d {
		return v.refuse("decision %s is not that of the release decision", d)
	}
	if want, ok := verdictOf[d]; ok && v.MergeVerdict != want {
		return v.refuse("decision %s has merge verdict %s", d, v.MergeVerdict)
	}
	switch v.Execution {
	case "succeeded":
		if d == "" || v.Applicability != "verified" {
			return v.refuse("it succeeded with applicability %s and decision %q", v.Applicability, d)
		}
	case "skipped":
		if d != "" || v.Applicability != "not_applicable" {
			return v.refuse("it was skipped with applicability %s and decision %q", v.Applicability, d)
		}
	case "failed":
		if d != "" || v.Applicability != "failed" || v.MergeVerdict != "unknown" {
			return v.refuse("it failed with applicability %s, decision %q and verdict %s", v.Applicability, d, v.MergeVerdict)
		}
	default: // not_run
		if d != "" || v.Applicability != "not_evaluated" || v.MergeVerdict != "unknown" {
			return v.refuse("it did not run, with applicability %s, decision %q and verdict %s", v.Applicability, d, v.MergeVerdict)
		}
	}
	return nil
}

// passed: nothing is open (the schema's first conditional).
func (v *Verifier) passed() error {
	if v.Decision != "passed" {
		return nil
	}
	d := v.ReleaseDecision
	switch {
	case v.FixTask != nil:
		return v.refuse("it passed with a fix task")
	case v.CapabilityReview.TrustRootTouched || v.CapabilityReview.PolicyWeakened:
		return v.refuse("it passed with a trust root touched or a policy weakened")
	case !v.CanMerge || v.Control.State() != control.Complete:
		return v.refuse("it passed and control is %s", v.Control.State())
	case len(d.Blockers)+len(d.ReviewItems)+len(d.Coverage.Gaps) > 0 || d.Coverage.ReviewRecommended:
		return v.refuse("it passed with something open")
	case d.Decision != decision.Passed:
		return v.refuse("it passed with decision %s", d.Decision)
	}
	return nil
}

// mergeable: without a person only in two shapes (the second conditional).
func (v *Verifier) mergeable() error {
	complete := v.Control.State() == control.Complete
	if !v.CanMerge {
		if complete {
			return v.refuse("control is complete and it may not be merged without a person")
		}
		return nil
	}
	verified := v.Applicability == "verified" && v.Decision == "passed" && v.Execution == "succeeded"
	skipped := v.Applicability == "not_applicable" && v.Decision == "" && v.Execution == "skipped"
	if !complete || !verified && !skipped {
		return v.refuse("it may be merged without a person although it neither passed nor was skipped")
	}
	return nil
}

// publication: only what was read in full and is not blocked (the third).
func (v *Verifier) publication() error {
	if v.Control.CompletionAllowed() || !v.Control.Permissions().UpdatePR {
		return nil
	}
	if v.DiffStatus.Completeness != "complete" || v.Execution != "succeeded" || v.ReleaseDecision == nil ||
		v.ReleaseDecision.Decision == decision.Blocked || v.ReleaseDecision.Decision == "" {
		return v.refuse("it may be published although it was not read in full, or is blocked")
	}
	return nil
}

// authorized: a grant of a person allows one repair, and nothing else (the
// fourth).
func (v *Verifier) authorized() error {
	a := &v.Authorization
	if a.SchemaVersion != AuthorizationVersion {
		return v.refuse("authorization is of version %q", a.SchemaVersion)
	}
	fields := []Text{a.ID, a.RequestID, a.TrustPolicyID, a.KeyID, a.Provider, a.Principal, a.OperationID, a.Command, a.IssuedAt, a.ExpiresAt}
	given := len(slices.DeleteFunc(slices.Clone(fields), func(t Text) bool { return t == "" }))
	switch a.Status {
	case "not_requested":
		if given > 0 || len(a.ReasonCodes) > 0 {
			return v.refuse("an authorization that nobody asked for says something")
		}
		return nil
	case "not_applicable":
		if given > 0 {
			return v.refuse("an authorization that does not apply says something")
		}
		return nil
	case "rejected":
		if a.Command != "" || len(a.ReasonCodes) == 0 {
			return v.refuse("a rejected authorization allows something, or does not say why")
		}
		return nil
	}
	next := v.Control.NextAction()
	if given != len(fields) || len(a.ReasonCodes) > 0 {
		return v.refuse("an accepted authorization does not say everything")
	}
	if v.Decision != "review_required" || v.FixTask != nil || v.Execution != "succeeded" ||
		v.Control.State() != control.AgentActionRequired || next == nil || next.Kind != control.Repair || len(v.Control.AllowedNextCommands()) != 1 {
		return v.refuse("an accepted authorization is for one repair of a change under review")
	}
	return nil
}

func (v *Verifier) fix() error {
	t := v.FixTask
	switch {
	case t == nil:
		return nil
	case v.MergeVerdict == "mergeable":
		return v.refuse("it is mergeable and has a fix task")
	case t.Actor != control.CodingAgent && t.Actor != control.Human:
		return v.refuse("the fix task is for %q", t.Actor)
	case t.Actor == control.Human && t.Safe:
		return v.refuse("a fix task of a person is safe for an agent")
	case t.Safe && t.Command == "":
		return v.refuse("a safe fix task names no command that verifies it")
	case t.Safe && (v.CapabilityReview.PolicyWeakened || v.CapabilityReview.TrustRootTouched ||
		v.Decision == "insufficient_evidence" || v.ReleaseDecision == nil):
		return v.refuse("a safe fix task beside what only a person decides")
	}
	return nil
}

func (v *Verifier) diff() error {
	d := &v.DiffStatus
	reasoned := d.Completeness == "partial" || d.Completeness == "unavailable"
	switch {
	case reasoned != (d.Reason != ""):
		return v.refuse("a diff that is %s has reason %q", d.Completeness, d.Reason)
	case d.Reason != "" && !slices.Contains(diffReasons, string(d.Reason)):
		return v.refuse("the reason of the diff is %q", d.Reason)
	case d.FetchRepairable && !slices.Contains(fetchable, string(d.Reason)):
		return v.refuse("a fetch does not repair %q", d.Reason)
	case v.Trigger.ShouldRun != nil && d.Completeness != "complete":
		return v.refuse("a trigger was read from a diff that is %s", d.Completeness)
	}
	return nil
}
