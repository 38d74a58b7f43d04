package action

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/ink"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/verify/report"
)

// artifactOutputs are the outputs that are paths, by their key in artifacts{}.
var artifactOutputs = []string{
	"report_json", "report_markdown", "report_sarif", "verifier_json", "verify_run_json", "agent_handoff_json",
	"verification_receipt_json", "pr_comment_markdown", "capability_lock_json", "base_capability_lock_json",
	"capability_lock_diff_json", "capability_lock_diff_markdown",
}

// HandoffFile is the packet for the next agent, where the job keeps one.
const HandoffFile = "agent-handoff.json"

// scanned are the artifacts of a scan, which has no list of them.
var scanned = map[string]string{"report_json": "report.json", "report_markdown": "report.md", "report_sarif": "report.sarif"}

// outputs are all outputs, in the order of the specification; what is not known
// is "".
func outputs(in *Input, e *evidence, status Status) []Output {
	var list []Output
	add := func(name, value string) { list = append(list, Output{name, oneLine(value)}) }
	// count is a number of a run that decided.
	count := func(name string, n int) {
		value := ""
		if status == Evaluated {
			value = strconv.Itoa(n)
		}
		add(name, value)
	}
	truth := func(name string, known, value bool) {
		said := ""
		if known {
			said = strconv.FormatBool(value)
		}
		add(name, said)
	}
	v, decided := e.verifier, status == Evaluated
	known := v != nil
	if !known {
		v = &report.Verifier{}
	}
	add("status", string(status))
	code := ""
	if in.Stopped == "" {
		code = strconv.Itoa(in.ExitCode)
	}
	add("exit_code", code)
	add("decision", e.decision())
	add("merge_verdict", e.verdict())
	summary := ""
	if v.AgentSummary != nil {
		summary = v.AgentSummary.Verdict
	}
	add("verifier_verdict", summary)
	truth("can_merge_without_human", known, v.CanMerge)
	state, reason := "", ""
	if known {
		state, reason = string(v.Control.State()), v.Control.Reason()
	}
	add("agent_control_state", state)
	add("agent_control_reason", reason)
	truth("agent_controller_must_stop", known, v.Control.MustStop())
	add("agent_controller_stop_reason", v.Control.StopReason())
	truth("agent_controller_completion_allowed", known, v.Control.CompletionAllowed())
	var blockers, items int
	var fails bool
	if d := e.report.Decision; d != nil {
		blockers, items = len(d.Blockers), len(d.ReviewItems)
		fails = d.Fail != nil && d.Fail.WouldFail
	}
	truth("ci_would_fail", decided, fails)
	count("blocker_count", blockers)
	count("review_item_count", items)
	count("critical_count", e.report.Summary.Critical)
	count("high_count", e.report.Summary.High)
	count("medium_count", e.report.Summary.Medium)
	count("baseline_new_count", e.report.Baseline.New)
	count("baseline_matched_count", e.report.Baseline.Matched)
	count("baseline_resolved_count", e.report.Baseline.Resolved)
	truth("diff_enabled", decided && known, slices.Contains([]string{"succeeded", "diff_from_provided"}, v.BaseStatus))
	truth("action_diff_enabled", decided, e.report.Actions.Enabled)
	added, modified, removed := e.actions()
	count("actions_added", added)
	count("actions_modified", modified)
	count("actions_removed", removed)
	review := v.CapabilityReview
	for _, c := range []struct {
		name string
		n    int
	}{{"added", review.Added}, {"modified", review.Modified}, {"removed", review.Removed}} {
		value := ""
		if decided && known {
			value = strconv.Itoa(c.n)
		}
		add("capability_changes_"+c.name, value)
	}
	truth("trust_root_touched", known, review.TrustRootTouched)
	truth("policy_weakened", decided && known, review.PolicyWeakened)
	run := v.Trigger.ShouldRun
	truth("should_run", run != nil, run != nil && *run)
	add("trigger_action", string(v.Trigger.Action))
	trigger := ""
	if known {
		trigger = v.Trigger.EvaluationStatus
	}
	add("trigger_evaluation_status", trigger)
	add("trigger_rule_ids", strings.Join(v.Trigger.RuleIDs, ","))
	for _, key := range artifactOutputs {
		at := v.Artifacts[key]
		if name := scanned[key]; in.Scan && decided && name != "" {
			at = path.Join(in.Folder, name)
		}
		if key == "agent_handoff_json" && decided && known && e.handoff(in) {
			at = path.Join(in.Folder, HandoffFile)
		}
		add(key, at)
	}
	at := ""
	if decided && in.Annotations > 0 {
		at = path.Join(in.Folder, AnnotationsFile)
	}
	add("check_annotations_json", at)
	add("request_id", string(v.RequestID))
	id := string(v.RequestID)
	if in.Scan && decided {
		id = e.report.RunID
	}
	add("run_id", id)
	add("receipt_id", e.receipt.ReceiptID)
	add("decision_id", string(v.DecisionID))
	add("artifact_set_id", e.receipt.ArtifactSetID)
	return list
}

// actions counts the actions that came, changed and went.
func (e *evidence) actions() (added, modified, removed int) {
	changed := map[string]bool{}
	for _, r := range e.report.Actions.Rows {
		switch r.Type {
		case "ACTION_ADDED":
			added++
		case "ACTION_REMOVED":
			removed++
		default:
			changed[r.ActionID] = true
		}
	}
	return added, len(changed), removed
}

// maxValue bounds a value in characters.
const maxValue = 4000

// oneLine is a value that ends with its line, whatever it holds: a name in the
// change cannot begin another output.
func oneLine(s string) string {
	s = ink.Printable(redact.Text(s))
	if r := []rune(s); len(r) > maxValue {
		s = string(r[:maxValue]) + "…"
	}
	return s
}

// File is the outputs as lines of the file that GITHUB_OUTPUT names. Neither
// names nor the form name=value need a delimiter, so none can be guessed.
func (o *Outcome) File() []byte {
	var b strings.Builder
	for _, out := range o.Outputs {
		b.WriteString(out.Name + "=" + out.Value + "\n")
	}
	return []byte(b.String())
}
