package arch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/operation"
	"plimsoll.dev/internal/pipeline/refusal"
	"plimsoll.dev/internal/pipeline/role"
	"plimsoll.dev/testdata/contracts"
)

// The tables of docs/spec/contracts.md are held against the code, so that a
// reader of either reads the same.

// section is the text of one section of the specification, up to the next
// heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/spec/contracts.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/spec/contracts.md has no section %q", heading)
	}
	if next := regexp.MustCompile(`(?m)^##+ `).FindStringIndex(rest); next != nil {
		rest = rest[:next[0]]
	}
	return rest
}

// rows is the cells of a section's tables, without their code marks. A | in a
// cell is written \|.
func rows(text string) [][]string {
	var list [][]string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		row := make([]string, 0, len(cells))
		for _, cell := range cells[1 : len(cells)-1] {
			row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
		}
		list = append(list, row)
	}
	return list
}

func bare(cell string) string { return strings.ReplaceAll(cell, "`", "") }

func TestTheCatalogueOfTheSpecificationIsThatOfTheCode(t *testing.T) {
	status := map[int]string{refusal.Never: "–", refusal.Line: "line"}
	seen := 0
	for _, row := range rows(section(t, "## 16. Error catalogue")) {
		if row[0] == "Code" {
			continue
		}
		seen++
		code := refusal.Code(bare(row[0]))
		entry := code.Entry()
		if entry.When == "" {
			t.Errorf("the code does not know %s", code)
			continue
		}
		want, known := status[entry.Status]
		if !known {
			want = strconv.Itoa(entry.Status)
		}
		retry := map[bool]string{true: "yes", false: "no"}[entry.Retryable]
		if row[1] != string(entry.Layer) || row[2] != want || bare(row[3]) != entry.When || row[4] != retry {
			t.Errorf("%s: the specification says %q, the code %s, %s, %q, %s", code, row[1:], entry.Layer, want, entry.When, retry)
		}
	}
	if all := len(refusal.Codes()); seen != all {
		t.Errorf("the specification has %d codes, the code %d", seen, all)
	}
}

func TestTheOperationsOfTheSpecificationAreThoseOfTheCode(t *testing.T) {
	match := map[operation.Match]string{operation.Unread: "–", operation.Optional: "optional", operation.Demanded: "required"}
	key := map[bool]string{true: "yes", false: "–"}
	scope := regexp.MustCompile(`\(([a-z-]+)\)$`)
	var seen []string
	for _, row := range rows(section(t, "### 20.2 Operations")) {
		if row[0] == "Operation" {
			continue
		}
		id := bare(row[0])
		seen = append(seen, id)
		o, ok := operation.Find(id)
		if !ok {
			t.Errorf("the code has no %s", id)
			continue
		}
		asked := "-"
		if o.Scope != "" {
			asked = string(o.Scope)
		}
		said := scope.FindStringSubmatch(row[2])
		if said == nil {
			t.Errorf("%s: %q names no scope", id, row[2])
			continue
		}
		if bare(row[1]) != o.Method+" "+o.Path || said[1] != asked || !strings.HasPrefix(row[4], strconv.Itoa(o.Success)) ||
			row[6] != key[o.Key] || row[7] != match[o.Match] {
			t.Errorf("%s: the specification says %q, the code %+v", id, row[1:], o)
		}
	}
	all := operation.All()
	if len(seen) != len(all) {
		t.Fatalf("the specification has %d operations, the code %d", len(seen), len(all))
	}
	for i, o := range all {
		if seen[i] != o.ID {
			t.Errorf("operation %d is %s, in the specification %s", i+1, o.ID, seen[i])
		}
	}
}

func TestTheGrantsOfTheSpecificationAreThoseOfTheCode(t *testing.T) {
	table := rows(section(t, "## 8. Capabilities and roles (Q 8)"))
	if len(table) != 1+len(contract.Roles()) {
		t.Fatalf("the table has %d rows for %d roles", len(table)-1, len(contract.Roles()))
	}
	for _, row := range table[1:] {
		granted := role.Grants(contract.Role(row[0]))
		for i, name := range table[0][1:] {
			if (row[1+i] == "yes") != granted.Has(capability.Capability(name)) {
				t.Errorf("%s, %s: the specification says %q", row[0], name, row[1+i])
			}
		}
	}
}

func TestTheVectorsOfTheSpecificationAreCounted(t *testing.T) {
	total := 0
	for _, row := range rows(section(t, "## 19. Reading the vectors")) {
		file, vectors := strings.CutSuffix(bare(row[0]), ".json")
		if !vectors {
			if row[0] == "total" && row[1] != strconv.Itoa(total) {
				t.Errorf("the rows come to %d vectors, not %s", total, row[1])
			}
			continue
		}
		n := len(contracts.Load[map[string]any](t, file))
		total += n
		if row[1] != strconv.Itoa(n) {
			t.Errorf("%s has %d vectors, not %s", file, n, row[1])
		}
	}
	if total == 0 {
		t.Error("no file of vectors was found")
	}
}

// Every ruling on verification, on adoption and on the path stands where its specification is
// read, and the specification names no ruling that is not there.
func TestRulingsStandInTheirSpecifications(t *testing.T) {
	text := func(path string) string {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	verification, boundary := text("docs/spec/verification.md"), text("docs/spec/boundary.md")
	path := text("docs/spec/contracts.md") + text("docs/spec/circle.md")
	for _, record := range []struct {
		mark, path, specification string
		least                     int
	}{
		{"D70", "docs/decisions/0070-rulings-on-verification.md", verification, 100},
		{"D80", "docs/decisions/0080-rulings-on-adoption.md", verification + boundary, 65},
		{"D90", "docs/decisions/0090-rulings-on-the-path.md", path, 16},
	} {
		open := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \|`).FindAllStringSubmatch(text(record.path), -1) {
			if open[m[1]] {
				t.Errorf("%s has two rows %s", record.path, m[1])
			}
			open[m[1]] = true
		}
		if len(open) < record.least {
			t.Fatalf("%s has %d rulings", record.path, len(open))
		}
		marked := map[string]bool{}
		for _, m := range regexp.MustCompile(record.mark+`\.([A-Z])(\d+)(?:–[A-Z](\d+))?`).FindAllStringSubmatch(record.specification, -1) {
			first, _ := strconv.Atoi(m[2]) // digits by the pattern
			last := first
			if m[3] != "" {
				last, _ = strconv.Atoi(m[3])
			}
			for n := first; n <= last; n++ {
				marked[m[1]+strconv.Itoa(n)] = true
			}
		}
		for id := range open {
			if !marked[id] {
				t.Errorf("the specification has no mark (%s.%s)", record.mark, id)
			}
		}
		for id := range marked {
			if !open[id] {
				t.Errorf("the specification marks %s.%s, and there is no such ruling", record.mark, id)
			}
		}
	}
}
