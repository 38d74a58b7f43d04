package policy

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/rule"
)

// hundred is a catalogue of a hundred rules and a policy that raises each.
func hundred(b *testing.B) ([]*rule.Rule, File) {
	b.Helper()
	var list []*rule.Rule
	text := "rules:\n"
	for i := range 100 {
		r := &rule.Rule{
			ID: fmt.Sprintf("HOST-RULE-%03d", i), CheckID: fmt.Sprintf("SHIP-HOST-BOUNDARY-RULE-%03d", i), Family: rule.HostFamily,
			Action: rule.RequireReview, Risk: rule.Medium, Title: strings.Repeat("t", 40), Recommendation: strings.Repeat("r", 60),
		}
		list = append(list, r)
		text += "  - id: " + r.ID + "\n    action: block\n    risk_level: high\n"
	}
	return list, File{Found: true, Bytes: []byte(text)}
}

// BenchmarkPolicy100Rules is the cost of evaluating a policy of a hundred rules
// that has been parsed: floors, duplicates, and one grade asked for each rule.
// The budget is 50,000 ns (docs/spec/boundary.md §10; it counts evaluation, not
// reading the file).
func BenchmarkPolicy100Rules(b *testing.B) {
	list, file := hundred(b)
	l := newLoader(list)
	doc, p := read(file, l.catalogue, l.families)
	if p != nil || len(doc.entries) != 100 {
		b.Fatalf("%+v, %d entries", p, len(doc.entries))
	}
	for b.Loop() {
		l.out.grades = make(map[string]Grade, len(list))
		l.apply(doc, Unified, l.families)
		for _, r := range list {
			if l.out.Grade(r).Action != rule.Block {
				b.Fatal("a rule was not raised")
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/50_000, "of-budget")
}

// BenchmarkLoad is a whole load of the same policy, parsing and digests
// included.
func BenchmarkLoad(b *testing.B) {
	list, file := hundred(b)
	files := Files{Workspace: map[string]File{Unified: file}}
	for b.Loop() {
		Load(files, list)
	}
}

// BenchmarkLoadDefaults is what every run without a policy pays.
func BenchmarkLoadDefaults(b *testing.B) {
	list, _ := hundred(b)
	for b.Loop() {
		Load(Files{}, list[:23])
	}
}
