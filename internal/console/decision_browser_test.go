package console_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

func TestTwoPeopleDecideAtAGateInTheirBrowsers(t *testing.T) {
	w := consoletest.New(t)
	b := w.Chromium()
	lea, sam := b.Tab("lea"), b.Tab("sam")
	lea.Open("/inbox")
	lea.Shows("Nothing waits for you")
	lea.Accessible()
	_, gate := w.Gate("Add payments")
	lea.Shows("May the change of IC-001 be published?") // an empty inbox fills by itself
	lea.Accessible()
	lea.Narrow()
	lea.Fits()
	lea.Wide()
	page := "/decisions/gates/" + string(gate)
	lea.Click(`a[href="` + page + `"]`)
	lea.Shows("May bot publish the change of IC-001?")
	sam.Open(page)
	for _, tab := range []*consoletest.Tab{lea, sam} {
		tab.Accessible()
		tab.Narrow()
		tab.Fits()
		tab.Wide()
	}
	// A tick and what was written stay when the first agrees elsewhere.
	sam.Click("#tick")
	sam.Type("#reason", "read it")
	lea.Click("#tick")
	lea.Click("#approve")
	lea.Shows("You approved as project lead")
	sam.Shows("Agreed already: lea.")
	if !consoletest.Eval[bool](sam, `document.getElementById('tick').checked && document.getElementById('reason').value === 'read it'`) {
		t.Error("what sam had ticked and written is gone")
	}
	sam.Click("#approve")
	sam.Shows("sam agreed last")
	lea.Shows("sam agreed last")
	sam.Accessible()
	if lea.Has("#approve") || sam.Has("#approve") {
		t.Error("a decided gate can be approved")
	}
}

func TestAGateIsRejectedHeldAndReleasedInABrowser(t *testing.T) {
	w := consoletest.New(t)
	chain, gate := w.Gate("Add payments")
	page := "/decisions/gates/" + string(gate)
	b := w.Chromium()
	sam, lea := b.Tab("sam"), b.Tab("lea")
	sam.Open(page)
	lea.Open(page)
	sam.Click("#hold")
	sam.Shows("on hold")
	lea.Shows("Nobody can approve until it is released")
	lea.Accessible()
	lea.Click("#release")
	sam.Shows("If you approve")
	sam.Click("#tick")
	sam.Click("#reject") // without a reason
	sam.Shows("Write the reason")
	sam.Accessible()
	sam.Type("#reason", "it reaches too far")
	sam.Click("#tick")
	sam.Click("#reject")
	sam.Shows("sam rejected it")
	lea.Shows("it reaches too far")
	lea.Accessible()
	lea.Click(`#became a`)
	lea.Shows("Does " + string(chain) + " go on?")
	lea.Accessible()
	lea.Narrow()
	lea.Fits()
	lea.Wide()
	lea.Type("#resolution", "the reach is cut")
	lea.Click("#do-resume")
	lea.Shows("Nothing waits in " + string(chain))
	w.Until("the gate asks anew", func() bool {
		g, err := w.Contracts.GateGet(t.Context(), gate)
		return err == nil && g.Ref().Version == 2
	})
}

func TestBytesThatChangeTakeTheButtonsAway(t *testing.T) {
	w := consoletest.New(t)
	chain, gate := w.Gate("Add payments")
	tab := w.Chromium().Tab("sam")
	tab.Open("/decisions/gates/" + string(gate))
	tab.Click("#tick")
	before := w.Digest(gate)
	acceptance := w.Of(chain, contract.KindAcceptance)
	shown, err := w.Contracts.AcceptanceReevaluate(t.Context(), w.As("lea", contract.ProjectLead), pipeline.ReevaluateArgs{ID: acceptance, Reason: "look again"})
	consoletest.Must(w, shown, err)
	tab.Shows("What this page asked about is another by now")
	if tab.Has("#approve") || tab.Has("#tick") {
		t.Error("what was seen before can still be decided on")
	}
	tab.Accessible()
	w.Until("the gate asks anew", func() bool { return w.Digest(gate) != before })
	tab.Click("#changed a")
	tab.Shows("If you approve")
	if consoletest.Eval[bool](tab, `document.getElementById('tick').checked`) {
		t.Error("the tick of the other bytes is there")
	}
}

func TestADeadlinePassesWhileThePageIsOpen(t *testing.T) {
	w := consoletest.New(t, "deadline.high: 6s")
	tab := w.Chromium().Tab("sam")
	_, gate := w.Gate("Add payments")
	tab.Open("/decisions/gates/" + string(gate))
	tab.Shows("Expired at")
	tab.Shows("nobody decided as project lead and security reviewer")
	if tab.Has("#approve") {
		t.Error("an expired gate can be approved")
	}
	tab.Accessible()
}

func TestALostConnectionIsSaidAndTakesNothingAway(t *testing.T) {
	w := consoletest.New(t)
	_, gate := w.Gate("Add payments")
	tab := w.Chromium().Tab("sam")
	tab.Open("/decisions/gates/" + string(gate))
	tab.Click("#tick")
	tab.Type("#reason", "read it")
	w.Stop()
	tab.Shows("The connection is lost. What you see is of")
	if !consoletest.Eval[bool](tab, `document.getElementById('tick').checked && document.getElementById('reason').value === 'read it'`) {
		t.Error("what was ticked and written is gone")
	}
	tab.Never("You approved")
	if strings.Contains(w.Log(), "page failed") {
		t.Errorf("%s", w.Log())
	}
}

func TestADraftIsAgreedToByTheKeyboardInUkrainian(t *testing.T) {
	w := consoletest.New(t)
	id := w.Draft("Додати сторінку входу")
	tab := w.Chromium().Tab("lea")
	tab.Open("/inbox")
	consoletest.Eval[int](tab, `document.querySelector('button[name=language][value=uk]').click(), 1`)
	tab.Shows("Чи можна починати роботу над " + string(id))
	tab.Accessible()
	tab.Narrow()
	tab.Fits()
	tab.Wide()
	tab.Type(`a[href="/decisions/activations/`+string(id)+`"].button`, "\r")
	tab.Shows("Чи може початися робота, яку просить ada?")
	tab.Accessible()
	tab.Narrow()
	tab.Fits()
	tab.Type("#tick", " ")
	tab.Type("#approve", "\r")
	tab.Shows("погоджено")
	tab.Accessible()
	w.Of(id, contract.KindTaskSeed)
}

func TestAConsentAndAConfirmationInABrowser(t *testing.T) {
	w := consoletest.New(t)
	w.Garden()
	change := core(t, w)
	b := w.Chromium()
	lea, ada := b.Tab("lea"), b.Tab("ada")
	page := "/decisions/consents/" + change.ID
	lea.Open(page)
	ada.Open(page)
	lea.Accessible()
	lea.Narrow()
	lea.Fits()
	lea.Click("#tick")
	lea.Click("#grant")
	lea.Shows("You consented")
	lea.Accessible()
	ada.Shows("lea")
	w.Ask("Decide that the shop opens at nine.", "decision_draft", "propose_decision", "request_consent")
	ada.Open("/inbox")
	ada.Click(`tr.kind-confirm a.button`)
	ada.Shows("It stands as decided")
	ada.Accessible()
	ada.Click("#tick")
	ada.Click("#confirm")
	ada.Shows("ada confirmed it")
}
