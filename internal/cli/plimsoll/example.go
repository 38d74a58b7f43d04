package plimsoll

import (
	"strings"

	"github.com/spf13/cobra"
)

// usages are the examples of the commands that need no more words than that, by
// their path below the program.
var usages = map[string][]string{
	"acceptance approve":    {`acceptance approve AC-001 -m "read the diff"`},
	"acceptance list":       {"acceptance list --status pending", "acceptance list --chain IC-001 --json"},
	"acceptance reevaluate": {`acceptance reevaluate AC-001 -m "the tests were fixed"`},
	"acceptance reject":     {`acceptance reject AC-001 -m "the criteria are not met"`},
	"actor edit":            {"actor edit olena --role lead --role approver", "actor edit olena --active=false"},
	"actor list":            {"actor list", "actor list --json"},
	"artifact list":         {"artifact list --status needs_confirmation", "artifact list --type decision_draft --json"},
	"ask list":              {"ask list --state running", "ask list --circle home --json"},
	"audit export":          {"audit export -o audit.jsonl", "audit export --after 5000 -o later.jsonl"},
	"audit list":            {"audit list --contract PG-001", "audit list --actor olena --date 2026-11-30 --json"},
	"chain list":            {"chain list --phase release", "chain list --by olena --json"},
	"chain show":            {"chain show IC-001", "chain show IC-001 --watch"},
	"channel list":          {"channel list --suspended true"},
	"circle list":           {"circle list", "circle list --json"},
	"consent list":          {"consent list --artifact A-7", "consent list --decision revoked --json"},
	"contract archive":      {"contract archive IC-001"},
	"contract freeze":       {`contract freeze PG-001 --reason "wait for the audit"`},
	"contract resolve":      {"contract resolve AC-001 --chosen sha256:DIGEST"},
	"contract resume":       {`contract resume PG-001 --resolution "the audit found nothing"`},
	"contract revoke":       {`contract revoke IC-001 --reason "no longer wanted"`},
	"event list":            {"event list --chain IC-001", "event list --type publishgate.created.v1 --watch"},
	"evidence list":         {"evidence list --chain IC-001", "evidence list --verdict rejected --json"},
	"gate approve":          {`gate approve PG-001 -m "agreed"`, "gate approve PG-001 --digest sha256:DIGEST"},
	"gate hold":             {`gate hold PG-001 -m "not before Monday"`},
	"gate list":             {"gate list --waiting-for lead", "gate list --decision pending --risk high --json"},
	"gate reject":           {`gate reject PG-001 -m "the migration cannot be undone"`},
	"identity list":         {"identity list"},
	"intent approve":        {"intent approve IC-001"},
	"intent list":           {"intent list --state Draft", "intent list --by olena --json"},
	"intent reject":         {`intent reject IC-001 -m "too wide"`},
	"intent revise":         {`intent revise IC-001 "Fix the typo in the footer only" --capability read_repo --capability write_repo`},
	"lock list":             {"lock list", "lock list --key repo:shop --json"},
	"run list":              {"run list --alive true", "run list --task TS-001 --json"},
	"run release":           {`run release EX-001 -m "its machine is gone"`},
	"task approve":          {"task approve TS-001"},
	"task list":             {"task list --claimable true", "task list --chain IC-001 --json"},
	"task may":              {`task may TS-001 network_access -m "download the schema"`},
	"task reject":           {`task reject TS-001 -m "split it first"`},
	"task verify":           {"task verify TS-001 agents-shipgate-reports/verifier.json"},
	"token list":            {"token list", "token list --actor olena --json"},
	"webhook create":        {"webhook create https://ci.example.com/plimsoll --type publishgate.decision.recorded.v1"},
	"webhook list":          {"webhook list"},
	"webhook replay":        {"webhook replay W-1 --after 1200"},
	"workers":               {"workers", "workers --json"},
}

// exemplify gives the commands below root their examples.
func exemplify(root *cobra.Command) {
	for path, lines := range usages {
		c, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 || c.Example != "" {
			panic("an example for no command, or a second one: " + path)
		}
		c.Example = "  " + root.Name() + " " + strings.Join(lines, "\n  "+root.Name()+" ")
	}
}
