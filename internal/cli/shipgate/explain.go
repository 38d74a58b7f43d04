package shipgate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll.dev"
	"plimsoll.dev/internal/gate/rule"
	checks "plimsoll.dev/internal/verify/check"
)

// checkRow is one row of the check catalogue (docs/spec/verification.md §12).
// What `check` alone knows of a boundary check stands beside it.
type checkRow struct {
	ID              string `json:"id"`
	Category        string `json:"category"`
	DefaultSeverity string `json:"default_severity"`
	FloorSeverity   string `json:"floor_severity,omitempty"`
	DynamicDefault  bool   `json:"dynamic_default"`
	Tier            string `json:"mvp_tier"`

	Title          string   `json:"title"`
	Description    string   `json:"description"`
	Rationale      string   `json:"rationale"`
	FiresWhen      string   `json:"fires_when"`
	EvidenceFields []string `json:"evidence_fields"`
	Recommendation string   `json:"recommendation"`
	DocsURL        string   `json:"docs_url"`
	DocsPath       string   `json:"docs_path"`

	AutofixSafe         bool   `json:"autofix_safe"`
	RequiresHumanReview bool   `json:"requires_human_review"`
	SuggestedPatchKind  string `json:"suggested_patch_kind"`
	HumanRegardless     bool   `json:"requires_human_review_regardless_of_patch"`
	PublishIneligible   bool   `json:"publish_when_policy_ineligible"`

	DefaultAction string   `json:"default_action,omitempty"`
	EvidenceKinds []string `json:"evidence_kinds,omitempty"`
	Rule          *ruleRow `json:"rule,omitempty"`
}

// ruleRow is the boundary rule behind a check.
type ruleRow struct {
	ID        string `json:"id"`
	Family    string `json:"family"`
	Action    string `json:"action"`
	RiskLevel string `json:"risk_level"`
}

func rowOf(c *checks.Check) checkRow {
	row := checkRow{
		ID: c.ID, Category: c.Category, DefaultSeverity: string(c.Severity), FloorSeverity: string(c.Floor),
		DynamicDefault: c.Dynamic, Tier: string(c.Tier),
		Title: c.Title, Description: c.Description, Rationale: c.Rationale, FiresWhen: c.FiresWhen, EvidenceFields: c.EvidenceFields,
		Recommendation: c.Recommendation, DocsURL: checks.DocsURL(c, c.ID), DocsPath: plimsoll.RulePath(c.Page()),
		AutofixSafe: c.Autofix, RequiresHumanReview: c.HumanReview, SuggestedPatchKind: string(c.PatchKind),
		HumanRegardless: c.HumanAlways, PublishIneligible: c.PublishAlways,
	}
	if r, ok := rule.ByID(c.RuleID); ok {
		row.DefaultAction, row.EvidenceKinds = string(r.Action), r.Kinds
	}
	return row
}

// catalogueRows is every check, sorted by id.
func catalogueRows() []checkRow {
	var rows []checkRow
	for _, c := range checks.Catalogue() {
		rows = append(rows, rowOf(c))
	}
	slices.SortFunc(rows, func(a, b checkRow) int { return strings.Compare(a.ID, b.ID) })
	return rows
}

func explainCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain RULE-OR-CHECK-ID",
		Short: "Say what a rule or a check looks for, when it fires and what to do",
		Example: `  shipgate explain HOST-MCP-SERVER-ADDED
  shipgate explain SHIP-POLICY-APPROVAL-MISSING --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return explain(env, args[0], asJSON || env.agentMode()) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return knownIDs(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the catalogue row as JSON (the default in agent mode)")
	return cmd
}

func explain(env Env, id string, asJSON bool) error {
	c := checks.ByID(id)
	r, isRule := rule.ByID(id)
	if c == nil && isRule {
		c = checks.ByID(r.CheckID)
	}
	if c == nil {
		return unknownCheck(id)
	}
	if !asJSON {
		page, err := plimsoll.RulePage(c.Page())
		if err != nil {
			return internal(fmt.Errorf("read the page of %s: %w", c.Page(), err))
		}
		return env.print(page)
	}
	row := rowOf(c)
	if isRule && id == r.ID {
		row.Rule = &ruleRow{ID: r.ID, Family: string(r.Family), Action: string(r.Action), RiskLevel: string(r.Risk)}
	}
	return env.printJSON(row)
}

// unknownCheck offers the nearest id; a fingerprint was meant for the other
// command (A-11: one call explains one thing).
func unknownCheck(id string) *failure {
	if strings.HasPrefix(id, "fp_") {
		f := &failure{kind: unknownCheckID, code: exitUsage, msg: fmt.Sprintf("%q is the fingerprint of a finding, not a rule or check", id), checkID: id}
		return f.offering(program+" explain-finding "+id+" --from report.json", "explains a finding of a report")
	}
	near := nearest(id, knownIDs())
	f := &failure{
		kind: unknownCheckID, code: exitUsage, msg: fmt.Sprintf("no rule or check is called %q", id), checkID: id, suggestion: near,
	}
	return f.offering(program+" explain "+near, "the nearest id there is")
}

func listChecksCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list-checks",
		Short: "List every check",
		Example: `  shipgate list-checks
  shipgate list-checks --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rows := catalogueRows()
			if asJSON || env.agentMode() {
				return env.printJSON(rows)
			}
			var b strings.Builder
			for _, row := range rows {
				fmt.Fprintf(&b, "%-54s %-15s %-8s %s\n", row.ID, row.Category, row.DefaultSeverity, row.Title)
			}
			return env.print([]byte(b.String()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all catalogue rows as JSON (the default in agent mode)")
	return cmd
}

// printJSON prints a document with two spaces of indent and a final line end.
func (e Env) printJSON(document any) error {
	text, err := jsonText(document)
	if err != nil {
		return internal(err)
	}
	return e.print(text)
}

// jsonText is a document as it is printed.
func jsonText(document any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	return b.Bytes(), err
}

// knownIDs is every id that explain answers to.
func knownIDs() []string {
	ids := checks.IDs()
	for _, r := range rule.Catalogue() {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

// nearest is the candidate with the smallest edit distance to word, the first
// in order when several are equally near. Letter case does not count.
func nearest(word string, candidates []string) string {
	best, least := "", -1
	for _, c := range candidates {
		if d := distance(strings.ToUpper(word), strings.ToUpper(c)); least < 0 || d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is how many single characters must be added, removed or replaced to
// turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
