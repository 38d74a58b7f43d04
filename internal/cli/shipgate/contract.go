package shipgate

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"plimsoll.dev"
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/gate/trigger"
	"plimsoll.dev/internal/hostgrant"
	"plimsoll.dev/internal/preflight"
	"plimsoll.dev/internal/verify"
	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/delta"
	"plimsoll.dev/internal/verify/handoff"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/report"
)

// minimumControlContract is the oldest contract whose control a reader may still
// read (docs/spec/verification.md §2).
const minimumControlContract = "14"

func contractCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "contract",
		Short: "Print the runtime contract: versions, commands, states",
		Long: `contract prints what this binary promises to programs: the version of every
document it emits, its commands and the states to switch on. What is not built
is null and never claimed.`,
		Example: `  shipgate contract --json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON || env.agentMode() {
				return env.printJSON(contract())
			}
			return env.print(fmt.Appendf(nil, "runtime contract %d, control readable since %s\n%s",
				gate.ContractVersion, minimumControlContract, versionLine()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the contract as JSON (the default in agent mode)")
	return cmd
}

// documents are what the contract speaks of, in its order. One without a version
// is not built; one without a path has no published schema.
var documents = []struct{ key, version, path string }{
	{"report", report.Version, "docs/contracts/report.v0.34.schema.json"},
	{key: "packet"},
	{"verifier", report.VerifierVersion, "docs/contracts/verifier.v0.8.schema.json"},
	{"verify_run", report.RunVersion, "docs/contracts/verify-run.v4.schema.json"},
	{key: "verification_plan", version: report.PlanVersion},
	{key: "unit_result", version: report.UnitResultVersion},
	{key: "artifact_manifest", version: report.ArtifactManifestVersion},
	{key: "receipt", version: report.ReceiptVersion},
	{key: "human_authorization"},
	{"agent_handoff", handoff.Version, "docs/contracts/agent-handoff.v7.schema.json"},
	{key: "codex_boundary_result", version: gate.CodexSchemaVersion},
	{"agent_boundary_result", gate.SchemaVersion, plimsoll.ResultSchemaPath},
	{"capability_lock", delta.LockVersion, "docs/contracts/capability-lock.v0.6.schema.json"},
	{"capability_lock_diff", delta.LockDiffVersion, "docs/contracts/capability-lock-diff.v0.7.schema.json"},
	{"preflight", preflight.SchemaVersion, "docs/contracts/preflight-result.v3.schema.json"},
	{key: "capability_standard", version: delta.StandardVersion},
	{key: "attestation"},
	{key: "registry"},
	{key: "org_evidence_bundle"},
	{"host_grants_inventory", hostgrant.InventoryVersion, "docs/contracts/host-grants-inventory.v0.2.schema.json"},
	{key: "host_grants_baseline", version: hostgrant.BaselineVersion},
	{"host_grants_drift", hostgrant.DriftVersion, "docs/contracts/host-grants-drift.v0.2.schema.json"},
	{key: "trigger_catalog", version: trigger.CatalogueVersion},
	{"manifest", manifest.Version, "docs/contracts/shipgate-manifest.schema.json"},
	{key: "baseline", version: check.BaselineVersion},
}

// contract is the document of docs/spec/verification.md §17, member by member.
func contract() canonical.Object {
	var o canonical.Object
	add := func(key string, value any) { o = append(o, canonical.Member{Key: key, Value: value}) }

	add("contract_version", strconv.Itoa(gate.ContractVersion))
	add("minimum_control_contract_version", minimumControlContract)
	add("cli_version", gate.ToolVersion)
	for _, d := range documents {
		if d.version == "" {
			add(d.key+"_schema_version", nil)
			continue
		}
		add(d.key+"_schema_version", d.version)
		if d.path != "" {
			add(d.key+"_schema_path", d.path)
		}
	}
	add("gating_signal", "control.state")
	add("agent_control_fields", []string{
		"state", "reason", "completion_allowed", "must_stop", "verify_required", "next_action",
		"allowed_next_commands", "permissions", "human_review", "stop_reason",
	})
	add("agent_control_states", []string{
		string(control.Complete), string(control.AgentActionRequired),
		string(control.ReviewPublishable), string(control.HumanReviewRequired),
	})
	add("manual_review_signals", []string{"control.must_stop", "control.human_review.required", "pending_review"})
	add("agent_interface_operations", []string{"verify_pr", "verify_local", "verify_preview"})
	add("exit_code_policy", canonical.Object{
		{Key: "0", Value: "a result was printed or artifacts were written, whatever they say; a strict gate had nothing to fail on"},
		{Key: "2", Value: "the command line, the manifest, an id or a patch was wrong; nothing was evaluated"},
		{Key: "3", Value: "an input file could not be read or lies outside the manifest's folder; nothing was evaluated"},
		{Key: "4", Value: "an internal failure, a self-check that is not ready, or a program that is missing; no result"},
		{Key: "5", Value: "a patch leaves the manifest's folder; nothing was written"},
		{Key: "6", Value: "the baseline is not what its audit log says"},
		{Key: "20", Value: "a strict gate failed; the artifacts say why"},
	})
	add("mcp_tools", []string{"shipgate.check", "shipgate.preflight", "shipgate.explain", "shipgate.capabilities", "shipgate.handoff"})
	add("primary_commands", canonical.Object{
		{Key: "check_codex", Value: control.RerunCommand(string(gate.ActorCodex))},
		{Key: "check_claude_code", Value: control.RerunCommand(string(gate.ActorClaude))},
		{Key: "check_cursor", Value: control.RerunCommand(string(gate.ActorCursor))},
		{Key: "verify_pr", Value: "agents-shipgate verify --base origin/main --head HEAD --json"},
		{Key: "host_audit", Value: program + " audit --host --json --out agents-shipgate-reports/host-grants.json"},
	})
	add("commands", contractCommands())
	add("default_paths", canonical.Object{
		{Key: "manifest", Value: manifest.DefaultName},
		{Key: "reports_dir", Value: reportsFolder},
		{Key: "local_contract", Value: ".shipgate/agent-contract.json"},
	})
	add("artifacts", contractArtifacts())
	add("agent_read_order", []string{
		"control.state", "control.next_action", "control.permissions", "control.human_review", "pending_review", "violations",
	})
	add("verifier_read_order", []string{
		"control.state", "control.next_action", "control.permissions", "control.human_review", "merge_verdict",
		"can_merge_without_human", "fix_task", "capability_review", "release_decision",
	})
	add("merge_verdicts", []string{
		string(verify.Mergeable), string(verify.NeedsHuman), string(verify.NeedsEvidence), string(verify.BlockedFromMerge),
		string(verify.UnknownVerdict),
	})
	add("release_decisions", []string{
		string(decision.Passed), string(decision.ReviewRequired), string(decision.InsufficientEvidence), string(decision.Blocked),
	})
	add("deprecated_surfaces", []string{
		"check --format " + formatCodex, "policies/codex-boundary.shipgate.yaml", "policies/host-boundary.shipgate.yaml",
	})
	add("external_integration_surfaces", nil)
	add("do_not_auto_assert", []string{
		"action_effect", "action_authority", "agent_binding", "approval", "confirmation", "idempotency", "broad-scope",
		"prohibited-action", "runtime-trace", "human-ack", "human-authorization", "suppression", "waiver", "baseline",
		"policy-weakening",
	})
	return o
}

// contractArtifacts are the files that verify may write, by their key in its
// artifacts, relative to the reports folder; null for one that is not written.
func contractArtifacts() canonical.Object {
	return canonical.Object{
		{Key: "report_json", Value: "report.json"},
		{Key: "report_markdown", Value: "report.md"},
		{Key: "report_sarif", Value: "report.sarif"},
		{Key: "verifier_json", Value: "verifier.json"},
		{Key: "verify_run_json", Value: "verify-run.json"},
		{Key: "pr_comment_markdown", Value: "pr-comment.md"},
		{Key: "capability_lock_json", Value: "capabilities.lock.json"},
		{Key: "base_capability_lock_json", Value: "base.capabilities.lock.json"},
		{Key: "capability_lock_diff_json", Value: "capability-lock-diff.json"},
		{Key: "capability_lock_diff_markdown", Value: "capability-lock-diff.md"},
		{Key: "verification_plan_json", Value: "verification-plan.json"},
		{Key: "verification_unit_result_json", Value: "verification-unit-result.json"},
		{Key: "verification_artifacts_json", Value: "verification-artifacts.json"},
		{Key: "verification_receipt_json", Value: "verification-receipt.json"},
		{Key: "suggested_inventory_json", Value: "suggested-inventory.json"},
		{Key: "suggested_declarations_yaml", Value: "suggested-declarations.yaml"},
		{Key: "verification_base_report_json", Value: nil},
		{Key: "verification_input_diff", Value: nil},
		{Key: "packet_json", Value: nil},
		{Key: "agent_handoff_json", Value: nil},
		{Key: "check_annotations_json", Value: nil},
	}
}

// contractCommands is every command by name: how to call it.
func contractCommands() canonical.Object {
	return canonical.Object{
		{Key: "check", Value: program + " check --workspace . --format " + formatResult},
		{Key: "verify", Value: program + " verify --workspace . --config shipgate.yaml --ci-mode advisory --json"},
		{Key: "verify_preview", Value: program + " verify --preview --json"},
		{Key: "scan", Value: program + " scan --config shipgate.yaml --json"},
		{Key: "detect", Value: program + " detect --workspace . --json"},
		{Key: "trigger", Value: program + " trigger --git-diff --json"},
		{Key: "doctor", Value: program + " doctor --config shipgate.yaml --json"},
		{Key: "ci_outcome", Value: program + " ci outcome --result <file> --exit-code 0 --to <folder> --json"},
		{Key: "ci_comment", Value: program + " ci comment"},
		{Key: "init", Value: program + " init --workspace . --write --json"},
		{Key: "preflight", Value: program + " preflight --workspace . --plan <file> --json"},
		{Key: "hook", Value: program + " hook <host>"},
		{Key: "apply_patches", Value: program + " apply-patches --from <report> --json"},
		{Key: "capability_export", Value: program + " capability export --json"},
		{Key: "capability_diff", Value: program + " capability diff --base <lock> --head <lock> --json"},
		{Key: "agent_handoff", Value: program + " agent handoff --json"},
		{Key: "audit_host", Value: program + " audit --host --json"},
		{Key: "explain", Value: program + " explain <id> --json"},
		{Key: "list_checks", Value: program + " list-checks --json"},
		{Key: "explain_finding", Value: program + " explain-finding <fingerprint> --from <report> --json"},
		{Key: "baseline_save", Value: program + " baseline save --from <report> --json"},
		{Key: "baseline_verify", Value: program + " baseline verify --json"},
		{Key: "baseline_diff", Value: program + " baseline diff --from <report> --json"},
		{Key: "fixture", Value: program + " fixture missing-install"},
		{Key: "schema", Value: program + " schema result"},
		{Key: "contract", Value: program + " contract --json"},
		{Key: "mcp_serve", Value: program + " mcp-serve"},
		{Key: "self_check", Value: program + " self-check --json"},
		{Key: "version", Value: program + " --version"},
	}
}
