package shipgate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev"
	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate"
	"plimsoll.dev/internal/gate/control"
	"plimsoll.dev/internal/verify/delta"
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

// contract is the document of docs/spec/verification.md §17, member by member.
func contract() canonical.Object {
	var o canonical.Object
	add := func(key string, value any) { o = append(o, canonical.Member{Key: key, Value: value}) }

	add("contract_version", strconv.Itoa(gate.ContractVersion))
	add("minimum_control_contract_version", minimumControlContract)
	add("cli_version", gate.ToolVersion)
	for _, document := range []string{
		"report", "packet", "verifier", "verify_run", "verification_plan", "unit_result", "artifact_manifest", "receipt",
		"human_authorization", "agent_handoff", "codex_boundary_result", "agent_boundary_result", "capability_lock",
		"capability_lock_diff", "preflight", "capability_standard", "attestation", "registry", "org_evidence_bundle",
		"host_grants_inventory", "host_grants_baseline", "host_grants_drift", "trigger_catalog",
	} {
		switch document {
		case "agent_boundary_result":
			add(document+"_schema_version", gate.SchemaVersion)
			add(document+"_schema_path", plimsoll.ResultSchemaPath)
		case "capability_lock":
			add(document+"_schema_version", delta.LockVersion)
			add(document+"_schema_path", "docs/contracts/capability-lock.v0.6.schema.json")
		case "capability_lock_diff":
			add(document+"_schema_version", delta.LockDiffVersion)
			add(document+"_schema_path", "docs/contracts/capability-lock-diff.v0.7.schema.json")
		case "codex_boundary_result":
			add(document+"_schema_version", gate.CodexSchemaVersion)
		default:
			add(document+"_schema_version", nil)
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
	add("agent_interface_operations", nil)
	add("exit_code_policy", canonical.Object{
		{Key: "0", Value: "a result was printed, whatever its state"},
		{Key: "2", Value: "the command line was wrong; nothing was evaluated"},
		{Key: "4", Value: "an internal failure or a command that is not built; no result"},
	})
	add("mcp_tools", nil)
	add("primary_commands", canonical.Object{
		{Key: "check_codex", Value: control.RerunCommand(string(gate.ActorCodex))},
		{Key: "check_claude_code", Value: control.RerunCommand(string(gate.ActorClaude))},
		{Key: "check_cursor", Value: control.RerunCommand(string(gate.ActorCursor))},
		{Key: "verify_pr", Value: nil},
		{Key: "host_audit", Value: nil},
	})
	add("commands", contractCommands())
	add("default_paths", canonical.Object{
		{Key: "manifest", Value: "shipgate.yaml"},
		{Key: "reports_dir", Value: nil},
		{Key: "local_contract", Value: nil},
	})
	add("artifacts", canonical.Object{})
	add("agent_read_order", []string{
		"control.state", "control.next_action", "control.permissions", "control.human_review", "pending_review", "violations",
	})
	add("verifier_read_order", nil)
	add("merge_verdicts", nil)
	add("release_decisions", nil)
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

// contractCommands is every command by name: how to call it, null while it is
// not built.
func contractCommands() canonical.Object {
	o := canonical.Object{
		{Key: "check", Value: program + " check --workspace . --format " + formatResult},
		{Key: "capability_export", Value: program + " capability export --json"},
		{Key: "capability_diff", Value: program + " capability diff --base <lock> --head <lock> --json"},
		{Key: "explain", Value: program + " explain <id> --json"},
		{Key: "list_checks", Value: program + " list-checks --json"},
		{Key: "explain_finding", Value: program + " explain-finding <fingerprint> --from <report> --json"},
		{Key: "baseline_save", Value: program + " baseline save --from <report> --json"},
		{Key: "baseline_verify", Value: program + " baseline verify --json"},
		{Key: "baseline_diff", Value: program + " baseline diff --from <report> --json"},
		{Key: "fixture", Value: program + " fixture missing-install"},
		{Key: "schema", Value: program + " schema result"},
		{Key: "contract", Value: program + " contract --json"},
		{Key: "self_check", Value: program + " self-check --json"},
		{Key: "version", Value: program + " --version"},
	}
	for _, name := range notBuilt {
		o = append(o, canonical.Member{Key: strings.ReplaceAll(name, "-", "_"), Value: nil})
	}
	return o
}
