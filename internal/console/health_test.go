package console_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
)

func TestPeopleSeeHowTheServiceDoesAndAdminsTheNumbers(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Draft("Add a login page")
	lea := w.Visit("lea").Get("/health")
	for _, want := range []string{"Everything works", "SQLite", "One process works on this database", "Nobody has subscribed", "Plimsoll 1.2.3", "The numbers behind this are for admins"} {
		if !strings.Contains(lea.Body, want) {
			t.Errorf("%q is missing\n%s", want, lea.Body)
		}
	}
	if strings.Contains(lea.Body, "answers you") || strings.Contains(lea.Body, `id="checkpoint"`) {
		t.Error("somebody who is no admin sees the numbers")
	}
	root := w.Visit("root").Get("/health")
	for _, want := range []string{"answers you", "node-", "1.2.3", "plimsoll.test/log", `id="checkpoint"`} {
		if !strings.Contains(root.Body, want) {
			t.Errorf("%q is missing\n%s", want, root.Body)
		}
	}
	if a := w.Visit("").Get("/health"); a.Status != 303 {
		t.Errorf("somebody who has not signed in: %d", a.Status)
	}
	uk := w.Visit("root")
	uk.Lang = "uk"
	if a := uk.Get("/health"); !strings.Contains(a.Body, "Усе працює") || strings.Contains(a.Body, "health.") {
		t.Errorf("%s", a.Body)
	}
}
