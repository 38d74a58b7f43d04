package console_test

import (
	"os"
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
)

func TestSomebodyAsksInUkrainianAndSeesTheAnswerCome(t *testing.T) {
	w := consoletest.New(t)
	w.Garden()
	tab := w.Chromium().Tab("ada")
	tab.Open("/requests/new")
	tab.Click(`form[action="/settings/language"] button`)
	tab.Shows("Звернутися до кола")
	tab.Accessible()
	tab.Narrow()
	tab.Fits()
	tab.Wide()
	tab.Shot(shots(t), "ask")
	tab.Type("#text", "Вирішимо разом: крамниця відкривається о дев’ятій.")
	tab.Click("form button.yes")
	// The page was opened before there was an answer, and is not asked for again.
	tab.Shows("Проєкт рішення")
	tab.Shows("відповідь готова")
	if got := consoletest.Eval[string](tab, "location.pathname"); !strings.HasPrefix(got, "/requests/req-") {
		t.Errorf("the page is %s", got)
	}
	if got := tab.Text(".said mark"); got != "Вирішимо" {
		t.Errorf("underlined: %q", got)
	}
	tab.Accessible()
	tab.Shot(shots(t), "request-uk")
	tab.Dark()
	tab.Shot(shots(t), "request-dark")
	tab.Light()
	tab.Narrow()
	tab.Fits()
	tab.Shot(shots(t), "request-narrow")
	tab.Wide()

	// What was made leads to where it is decided, and the decision back here.
	tab.Click(`a.button[href^="/decisions/consents/"]`)
	tab.Shows("Якщо ви підтвердите")
	if got := consoletest.Eval[string](tab, "location.pathname"); !strings.HasPrefix(got, "/decisions/consents/art-") {
		t.Errorf("the page is %s", got)
	}
}

func TestAnOpenRequestFollowsWhatPeopleDecide(t *testing.T) {
	w := consoletest.New(t)
	w.Garden()
	p, _ := w.Consented("ada")
	tab := w.Chromium().Tab("lea")
	tab.Open("/requests/" + p.RequestID)
	tab.Shows("waits for consent")
	tab.Shows("the consent of lea")
	tab.Accessible()
	consoletest.Eval[int](tab, `window.mine = 1`)
	w.Consents(p, "lea")
	tab.Shows("waits for a confirmation")
	if consoletest.Eval[int](tab, `window.mine || 0`) != 1 {
		t.Error("the page was loaded anew")
	}
	tab.Open("/requests")
	tab.Accessible()
	tab.Shot(shots(t), "requests")
	tab.Narrow()
	tab.Fits()
	tab.Shot(shots(t), "requests-narrow")
	tab.Wide()
	tab.Open("/requests/circles/garden")
	tab.Accessible()
	tab.Shot(shots(t), "circle")
	tab.Narrow()
	tab.Fits()
	tab.Open("/requests/circles")
	tab.Fits()
	tab.Accessible()
}

// shots is where pictures are kept for the eye, when somebody asks for them.
func shots(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("PLIMSOLL_SHOTS"); dir != "" {
		return dir
	}
	return t.TempDir()
}
