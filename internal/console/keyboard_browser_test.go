package console_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline/contract"
)

// keys presses keys where the focus is.
func keys(tab *consoletest.Tab, text string) { tab.Do(chromedp.KeyEvent(text)) }

// focus is what has the focus, as somebody who cannot see it would name it.
func focus(tab *consoletest.Tab) string {
	return consoletest.Eval[string](tab, `(() => { const e = document.activeElement; return e === document.body ? '' : (e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || e.id).trim() })()`)
}

// reach presses the tab key until something has the focus, which must be seen.
func reach(tab *consoletest.Tab, what string) {
	tab.Helper()
	for range 80 {
		keys(tab, kb.Tab)
		if consoletest.Eval[bool](tab, fmt.Sprintf(`document.activeElement.matches(%q)`, what)) {
			if consoletest.Eval[bool](tab, `getComputedStyle(document.activeElement).outlineStyle === 'none'`) {
				tab.Errorf("%s has the focus, and nobody sees it", what)
			}
			return
		}
	}
	tab.Fatalf("the keyboard does not reach %s; the focus is on %q\n%s", what, focus(tab), tab.Source())
}

// Nothing but a keyboard takes somebody from the sign-in to a decision.
func TestTheKeyboardAloneReachesADecision(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add a payment page")
	tab := w.Chromium().Tab("")
	tab.Wide()
	tab.Open("/signin")
	keys(tab, kb.Tab)
	if f := focus(tab); f != "Skip to the content" {
		t.Errorf("the first stop is %q", f)
	}
	reach(tab, "#token")
	keys(tab, w.Tokens["lea"])
	keys(tab, kb.Enter)
	tab.Shows("lea")
	at := fmt.Sprintf(`main a[href^="/decisions/gates/%s"]`, gate)
	reach(tab, at)
	keys(tab, kb.Enter)
	tab.Shows(string(gate))
	w.Until("the decision is open", func() bool {
		return consoletest.Eval[string](tab, `location.pathname`) == "/decisions/gates/"+string(gate)
	})
	reach(tab, `#tick`)
	keys(tab, " ")
	reach(tab, `#approve`)
	keys(tab, kb.Enter)
	w.Until("the decision is recorded", func() bool {
		shown, err := w.Contracts.GateGet(t.Context(), gate)
		return err == nil && len(shown.Document.(*contract.PublishGate).Approvals) == 1
	})

	// g and a letter open a page, / finds, and the skip link leads past both.
	tab.Open("/signin")
	for _, step := range [][2]string{{"h", "/health"}, {"p", "/actors"}, {"i", "/inbox"}} {
		key, path := step[0], step[1]
		consoletest.Eval[int](tab, `(document.activeElement?.blur(), 1)`)
		keys(tab, "g")
		keys(tab, key)
		w.Until(path+" is open", func() bool {
			return consoletest.Eval[string](tab, `document.readyState + location.pathname`) == "complete"+path
		})
	}
	keys(tab, "/")
	if id := consoletest.Eval[string](tab, `document.activeElement.id`); id != "find" {
		t.Errorf("the search has no focus: %q", id)
	}
	keys(tab, "gh") // is text there
	if path := consoletest.Eval[string](tab, `location.pathname`); path != "/inbox" {
		t.Errorf("typing opened %s", path)
	}
	tab.Open("/health")
	keys(tab, kb.Tab)
	keys(tab, kb.Enter)
	if id := consoletest.Eval[string](tab, `document.activeElement.id`); id != "main" {
		t.Errorf("the skip link leads to %q", id)
	}
}
