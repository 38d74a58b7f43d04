package check_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/verify/check"
)

// specRow is a row of a table of docs/spec/verification.md §12.
type specRow struct {
	section, id                  string
	severity, floor              check.Severity
	human, patch, notHuman, sure bool
}

var (
	idCell    = regexp.MustCompile(`^(-?[A-Z0-9]+(?:-[A-Z0-9]+)+|[A-Z]+)\b(.*)$`)
	sevCell   = regexp.MustCompile(`^(critical|high|medium|low)(?:/(critical|high|medium|low))?`)
	heading   = regexp.MustCompile(`^### (12\.\d+) `)
	prefixes  = map[string]string{"12.2": "SHIP-ACTION-", "12.3": "SHIP-MCP-"}
	postponed = []string{"SHIP-VERIFY-LOCAL-REVIEW-PROVISIONAL", "SHIP-TRUST-MANIFEST-UNPROTECTED"}
)

// specRows reads the tables of §12.1 to §12.7.
func specRows(t *testing.T) []specRow {
	t.Helper()
	text, err := os.ReadFile("../../../docs/spec/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []specRow
	section, severity := "", 1
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			section = ""
			if m := heading.FindStringSubmatch(line); m != nil {
				section = m[1]
			}
			continue
		}
		if section == "" || section > "12.7" || len(section) > 4 || !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.HasPrefix(cells[0], "Id") {
			severity = slices.Index(cells, "Sev")
			continue
		}
		human, base := strings.Contains(line, "(all H"), ""
		for part := range strings.SplitSeq(cells[0], ", ") {
			m := idCell.FindStringSubmatch(strings.TrimSpace(part))
			if m == nil {
				continue
			}
			id := m[1]
			if suffix, ok := strings.CutPrefix(id, "-"); ok { // SHIP-API-RETRY-POLICY-MISSING, -TIMEOUT-MISSING
				id = base + suffix
			}
			if prefixes[section] != "" {
				id = prefixes[section] + id
			} else if strings.HasPrefix(id, "SHIP-") {
				base = strings.Join(strings.SplitN(id, "-", 3)[:2], "-") + "-"
			} else {
				continue
			}
			sev := sevCell.FindStringSubmatch(cells[severity])
			if sev == nil {
				t.Fatalf("no severity in %q", line)
			}
			rows = append(rows, specRow{
				section: section, id: id, severity: check.Severity(sev[1]), floor: check.Severity(sev[2]),
				human:    human || section == "12.2" || regexp.MustCompile(`^ H\b`).MatchString(m[2]),
				notHuman: strings.Contains(m[2], "(not H)"), patch: strings.HasPrefix(m[2], " A"), sure: section == "12.6",
			})
		}
	}
	return rows
}

// The catalogue is the tables of the specification: the same ids in the same
// order, with the same severities and the same say of people.
func TestTheCatalogueIsTheSpecification(t *testing.T) {
	var want, have []string
	rows := specRows(t)
	if len(rows) < 85 {
		t.Fatalf("only %d rows were read", len(rows))
	}
	for _, r := range rows {
		if slices.Contains(postponed, r.id) {
			continue
		}
		want = append(want, r.id)
		c := check.ByID(r.id)
		if c == nil {
			t.Errorf("%s is missing", r.id)
			continue
		}
		if r.section != "12.7" && (c.Severity != r.severity || c.Floor != r.floor) {
			t.Errorf("%s is %s/%s, want %s/%s", r.id, c.Severity, c.Floor, r.severity, r.floor)
		}
		if c.HumanAlways != r.human {
			t.Errorf("%s: a person regardless of a patch: %t, want %t", r.id, c.HumanAlways, r.human)
		}
		if (c.PatchKind != check.Manual) != r.patch && !r.notHuman {
			t.Errorf("%s suggests %s", r.id, c.PatchKind)
		}
		if c.Autofix != (r.patch && r.sure) || c.HumanReview == c.Autofix && !r.notHuman {
			t.Errorf("%s: autofix %t, human review %t", r.id, c.Autofix, c.HumanReview)
		}
	}
	for _, c := range check.Catalogue() {
		if c.RuleID == "" {
			have = append(have, c.ID)
		}
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("the order (-specification +catalogue):\n%s", d)
	}
}

// Every rule of the boundary is one row, and the rows say no more than rules.
func TestTheBoundaryIsListedOnce(t *testing.T) {
	floors := map[check.Severity]int{}
	rows := map[string]*check.Check{}
	for _, c := range check.Catalogue() {
		if c.RuleID != "" {
			rows[c.RuleID] = c
			floors[c.Floor]++
		}
	}
	for _, r := range rule.Catalogue() {
		c := rows[r.ID]
		if c == nil || c.ID != r.CheckID || string(c.Severity) != string(r.Risk) || c.Run != nil || !c.HumanAlways {
			t.Errorf("%s: %+v", r.ID, c)
		}
	}
	if len(rows) != len(rule.Catalogue()) || floors[check.Critical] != 3 || floors[check.High] != 4 || floors[""] != 0 {
		t.Errorf("%d rows, floors %v", len(rows), floors)
	}
}

// What holds for every row by itself.
func TestEveryRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range check.Catalogue() {
		if seen[c.ID] {
			t.Errorf("%s is listed twice", c.ID)
		}
		seen[c.ID] = true
		if c.Severity.Rank() < 0 || c.Floor != "" && (c.Floor.Rank() < 0 || c.Floor.Rank() > c.Severity.Rank()) {
			t.Errorf("%s: severity %q, floor %q", c.ID, c.Severity, c.Floor)
		}
		if c.Dynamic && c.Floor == "" {
			t.Errorf("%s sets its severity and has no floor", c.ID)
		}
		if c.HumanAlways && !c.HumanReview {
			t.Errorf("%s needs a person always and not at all", c.ID)
		}
		if c.Autofix && (c.HumanReview || c.PatchKind == check.Manual) {
			t.Errorf("%s is fixed by machine: human review %t, patch %s", c.ID, c.HumanReview, c.PatchKind)
		}
		for name, text := range map[string]string{
			"title": c.Title, "description": c.Description, "rationale": c.Rationale, "fires_when": c.FiresWhen, "recommendation": c.Recommendation,
		} {
			sentence := name != "title"
			if len(text) < 12 || sentence != strings.HasSuffix(text, ".") || strings.Contains(text, "  ") {
				t.Errorf("%s: %s is %q", c.ID, name, text)
			}
		}
		if len(c.EvidenceFields) == 0 || c.Category == "" || !slices.Contains([]check.Tier{check.Core, check.Hygiene, check.Adapter, check.Evidence, check.Lifecycle}, c.Tier) {
			t.Errorf("%s: evidence %v, category %q, tier %q", c.ID, c.EvidenceFields, c.Category, c.Tier)
		}
	}
}

// Which rows another pass evaluates, and that all others run.
func TestEveryOtherRowRuns(t *testing.T) {
	elsewhere := []string{"verify", "baseline", "host_boundary", "codex_boundary"}
	for _, c := range check.Catalogue() {
		if c.ID == check.OperationalReadiness {
			continue // an old name, never emitted
		}
		if (c.Run == nil) != slices.Contains(elsewhere, c.Category) {
			t.Errorf("%s of category %s: has a function %t", c.ID, c.Category, c.Run != nil)
		}
	}
}

// The catalogue is handed out anew: a caller that sorts it changes nobody
// else's.
func TestTheCatalogueCannotBeReordered(t *testing.T) {
	first := check.IDs()
	list := check.Catalogue()
	slices.Reverse(list)
	if d := cmp.Diff(first, check.IDs()); d != "" {
		t.Error(d)
	}
}
