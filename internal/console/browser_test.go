package console_test

import (
	"testing"

	"plimsoll.dev/internal/console/consoletest"
)

func TestSomebodySignsInInABrowser(t *testing.T) {
	w := consoletest.New(t)
	tab := w.Chromium().Tab("")
	tab.Open("/signin?next=/inbox/nothing")
	tab.Accessible()
	tab.Narrow()
	tab.Fits()
	tab.Type("#token", w.Tokens["lea"]+"\r")
	tab.Shows("There is no such page")
	tab.Accessible()
}
