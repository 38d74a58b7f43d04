//go:build unix

package e2e_test

import (
	"slices"
	"testing"
)

// The five chains on the built-in engines, in two languages, with people who
// consent and confirm through the commands (docs/spec/circle.md §6, §11.11).
func TestCircleTruth11TheFiveChainsRunEndToEnd(t *testing.T) {
	chains := []struct {
		name, uk, en, expect, to string
		workers, stops           []string
		confirmed                []string
	}{
		{
			"circle decision", "Вирішімо, чи відкривати теплицю щосуботи.", "Let us decide whether the greenhouse opens on Saturdays.", "decision_draft", "circle",
			[]string{"Process", "Process", "Audit-Log"},
			nil,
			[]string{"decision_draft", "testimony_draft"},
		},
		{
			"external action", "Підготуй лист до міської ради: першого травня ми відкриваємо сад для всіх.",
			"Draft a letter to the town council: we open our garden to everyone on the first of May.", "bridge_draft", "public",
			[]string{"Privacy-Sentinel", "Gate-Policy", "Identity", "Bridge", "Process"},
			[]string{"consent_missing_for_critical"},
			[]string{"bridge_draft"},
		},
		{
			"gift exchange", "Хочу подарувати колу двадцять саджанців яблунь.", "I would like to give our circle twenty apple saplings as a gift.", "gift_draft", "circle",
			[]string{"Gifts", "Process", "Audit-Log"},
			nil,
			[]string{"gift_draft"},
		},
		{
			"offline merge", "Тиждень був без зв'язку. Зведи мої офлайн-нотатки зі спільними.",
			"I was offline for a week, please merge my edited notes with the shared record.", "merge_proposal", "circle",
			[]string{"Sync", "Process", "Audit-Log"},
			nil,
			[]string{"merge_proposal"},
		},
		{
			"core change", "Пропоную змінити конституцію: кворум відтепер три чверті.", "Change the constitution: a quorum of three quarters from now on.",
			"core_change_proposal", "circle",
			[]string{"Core-Guardian", "Process", "Gate-Policy", "Audit-Log"},
			[]string{"consent_missing_for_critical"},
			[]string{"core_change_proposal"},
		},
	}
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		g := grow(t, db)
		for _, c := range chains {
			for locale, text := range map[string]string{"uk": c.uk, "en": c.en} {
				out := g.must(g.command("ada", "ask", text, "--circle", "garden", "--expect", c.expect, "--to", c.to, "--locale", locale, "--json"))
				var p pack
				g.read(out, &p)
				g.sound(&p)
				if got := p.workers(); !slices.Equal(got, c.workers) {
					t.Errorf("%s, %s: workers %v, want %v", c.name, locale, got, c.workers)
				}
				if got := p.conditions(); !slices.Equal(got, append([]string{}, c.stops...)) {
					t.Errorf("%s, %s: stops %v, want %v", c.name, locale, got, c.stops)
				}
				for _, r := range p.Runs {
					if r.Engine != "builtin" {
						t.Errorf("%s, %s: %s ran on %s", c.name, locale, r.Worker, r.Engine)
					}
				}
				confirmed := g.settle(&p)
				for _, want := range c.confirmed {
					if !slices.Contains(confirmed, want) {
						t.Errorf("%s, %s: no %s was confirmed, only %v", c.name, locale, want, confirmed)
					}
				}
			}
		}
		g.proveAudit()
		g.process().stop()
	})
}
