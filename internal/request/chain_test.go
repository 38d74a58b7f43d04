package request_test

import (
	"slices"
	"sync"
	"testing"

	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/worker"
)

// chains is a request for each chain in the two languages, with who does it.
var chains = []struct {
	name    string
	ask     ask
	workers []string
	stops   []string
	status  string
}{
	{
		"a decision", decision("Let us decide whether the greenhouse opens on Saturdays."),
		[]string{"Process", "Process", "Audit-Log"},
		nil, "needs_confirmation",
	},
	{
		"рішення", decision("Пропоную колу ухвалити рішення: відкривати теплицю щосуботи."),
		[]string{"Process", "Process", "Audit-Log"},
		nil, "needs_confirmation",
	},
	{
		"a letter", export("Draft a letter to the town council: we open our garden to everyone on the first of May."),
		[]string{"Privacy-Sentinel", "Gate-Policy", "Identity", "Bridge", "Process"},
		[]string{"consent_missing_for_critical"},
		"waiting_for_consent",
	},
	{
		"лист", export("Підготуй лист до міської ради: першого травня ми відкриваємо сад для всіх."),
		[]string{"Privacy-Sentinel", "Gate-Policy", "Identity", "Bridge", "Process"},
		[]string{"consent_missing_for_critical"},
		"waiting_for_consent",
	},
	{
		"a gift", gift("I would like to give our circle twenty apple saplings as a gift."),
		[]string{"Gifts", "Process", "Audit-Log"},
		nil, "needs_confirmation",
	},
	{
		"дар", gift("Хочу подарувати колу двадцять саджанців яблунь."),
		[]string{"Gifts", "Process", "Audit-Log"},
		nil, "needs_confirmation",
	},
	{
		"a merge", merge("I was offline for a week, please merge my edited notes with the shared record."),
		[]string{"Sync", "Process", "Audit-Log"},
		nil, "needs_confirmation",
	},
	{
		"зведення", merge("Тиждень був без зв'язку. Зведи мої офлайн-нотатки зі спільними."),
		[]string{"Sync", "Process", "Audit-Log"},
		nil, "needs_confirmation",
	},
	{
		"a core change", coreChange("Change the constitution: a quorum of three quarters from now on."),
		[]string{"Core-Guardian", "Process", "Gate-Policy", "Audit-Log"},
		[]string{"consent_missing_for_critical"},
		"waiting_for_consent",
	},
	{
		"зміна основ", coreChange("Пропоную змінити конституцію: кворум відтепер три чверті."),
		[]string{"Core-Guardian", "Process", "Gate-Policy", "Audit-Log"},
		[]string{"consent_missing_for_critical"},
		"waiting_for_consent",
	},
}

func TestTheFiveChainsRunEndToEnd(t *testing.T) {
	for _, c := range chains {
		for engine, all := range map[string]map[constitution.AgentID]worker.Engine{"the least engines": fakes(), "the built-in engines": worker.Engines()} {
			t.Run(c.name+" with "+engine, func(t *testing.T) {
				w := newWorld(t, func(conf *request.Config) { conf.Engines = all })
				a := c.ask
				if a.text[0] > 0x7f {
					a.locale = "uk"
				}
				p := w.answer(a)
				if got := workers(p); !slices.Equal(got, c.workers) {
					t.Errorf("workers %v, expected %v\n%s", got, c.workers, show(p))
				}
				if got := stops(p); !slices.Equal(got, append([]string{}, c.stops...)) {
					t.Errorf("stops %v, expected %v\n%s", got, c.stops, show(p))
				}
				if string(p.Status) != c.status {
					t.Errorf("status %s, expected %s\n%s", p.Status, c.status, show(p))
				}
			})
		}
	}
}

// The extra step of the Privacy-Sentinel comes first where something is delicate,
// comes from outside, or is for more than the circle.
func TestThePrivacySentinelComesFirstWhereItIsCalledFor(t *testing.T) {
	w := newWorld(t, nil)
	a := decision("Let us decide whether the greenhouse opens on Saturdays.")
	a.flags = []string{"location"}
	p := w.answer(a)
	if got := workers(p); !slices.Equal(got, []string{"Privacy-Sentinel", "Process", "Process", "Audit-Log"}) {
		t.Errorf("workers %v\n%s", got, show(p))
	}
}

func TestWhoeverIsNotUnderstoodIsAskedOneQuestion(t *testing.T) {
	w := newWorld(t, nil)
	a := remember("The sky is blue today.")
	a.actions, a.outputs = []string{"read", "draft", "remember", "research"}, []string{"memory_note", "research_note"}
	p := w.answer(a)
	if p.Question == "" || len(p.Runs) > 0 || p.Status != "draft" {
		t.Errorf("an unclear request: %s", show(p))
	}
}

func TestAStepMayRunBesideTheOneBefore(t *testing.T) {
	w := newWorld(t, nil)
	a := decision("Let us decide whether the greenhouse opens on Saturdays, as the contract says.")
	a.references = []envelope.Reference{{Kind: envelope.RefContract, ID: "git@example.org:app"}}
	p := w.answer(a)
	if got := workers(p); !slices.Equal(got, []string{"Process", "Gate-Policy", "Process", "Audit-Log"}) {
		t.Errorf("workers %v\n%s", got, show(p))
	}
	for _, s := range p.Plan {
		if s.Worker == "Privacy-Sentinel" && s.Skipped != request.SkipCondition {
			t.Errorf("a step nobody needs was not left out: %+v", s)
		}
	}
}

// Whoever's note would be seen by the whole clan is asked, though no chain asks.
func TestWhatIsCriticalOutsideOfAChainIsHandedToProcess(t *testing.T) {
	w := newWorld(t, func(conf *request.Config) { conf.Engines = worker.Engines() })
	a := remember("Remember that the pump key hangs behind the barn door.")
	a.target = "clan"
	p := w.answer(a)
	if p.Stop == nil || p.Stop.Condition != envelope.ConsentOwed || !slices.Equal(handed(p), []string{"Process"}) || p.Status != "waiting_for_consent" {
		t.Fatalf("%s", show(p))
	}
	note, asks := of(t, p, "memory_note"), of(t, p, "consent_request")
	if len(p.Owed) != 1 || p.Owed[0].ArtifactID != note.ID {
		t.Errorf("owed %+v", p.Owed)
	}
	must(w.consents("olha", note, "granted", ""))
	if w.status(note.ID) != "needs_confirmation" || w.status(asks.ID) != "needs_confirmation" {
		t.Errorf("the note is %s, the request for consent %s", w.status(note.ID), w.status(asks.ID))
	}
}

func TestATestimonyWaitsForWhatItsDecisionWaitsFor(t *testing.T) {
	w := newWorld(t, func(conf *request.Config) { conf.Engines = worker.Engines() })
	a := decision("Let us decide whether the greenhouse opens on Saturdays.")
	a.target = "clan"
	p := w.answer(a)
	d, says := of(t, p, "decision_draft"), of(t, p, "testimony_draft")
	if len(p.Owed) != 1 || p.Owed[0].ArtifactID != d.ID {
		t.Fatalf("owed %+v\n%s", p.Owed, show(p))
	}
	must(w.consents("olha", d, "granted", ""))
	must(w.ArtifactConfirm(t.Context(), as("petro"), request.MoveArgs{ID: says.ID, SHA256: says.SHA256}))
}

func TestTwoWhoAskTheSameAtOnceGetOneAnswer(t *testing.T) {
	both(t, func(t *testing.T, at string) {
		t.Helper()
		w := newWorldAt(t, at, nil)
		a := decision("Let us decide whether the greenhouse opens on Saturdays.")
		a.id = "at-once"
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() {
				if _, err := w.Ask(t.Context(), as("olha"), a.document()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		w.drain()
		if p := must(w.RequestGet(t.Context(), as("olha"), "at-once")); len(p.Runs) != 3 {
			t.Errorf("%s", show(p))
		}
	})
}
