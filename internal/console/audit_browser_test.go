package console_test

import (
	"fmt"
	"os"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
)

func TestTheLogAndTheRulesInABrowser(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Gate("Add a payment page")
	tab := w.Chromium().Tab("root")
	last := len(lines(w, pipeline.AuditFilter{}))
	looks := func(name string) {
		t.Helper()
		tab.Accessible()
		if dir := os.Getenv("PLIMSOLL_SHOTS"); dir != "" {
			tab.Shot(dir, name)
			tab.Dark()
			tab.Shot(dir, name+"-dark")
			tab.Light()
		}
		tab.Narrow()
		tab.Fits()
		if dir := os.Getenv("PLIMSOLL_SHOTS"); dir != "" {
			tab.Shot(dir, name+"-narrow")
		}
		tab.Wide()
	}
	tab.Wide()
	tab.Open("/audit")
	looks("audit")
	// News is told and moves nothing of what is being read.
	w.Draft("Something else")
	tab.Shows("There is news.")
	tab.Never("IC-002")
	tab.Open(fmt.Sprintf("/audit/%d", last))
	looks("record")
	tab.Open("/audit/verify")
	tab.Click("form[action='/audit/verify'] button")
	tab.Shows("as they were written")
	tab.Never("The log has")
	looks("verified")
	w.Damage(`UPDATE audit SET line = CAST(replace(CAST(line AS TEXT), '"version":', '"version":9') AS BLOB) WHERE position = $1`, last)
	tab.Open("/audit/verify")
	tab.Click("form[action='/audit/verify'] button")
	tab.Shows(fmt.Sprintf("Record %d does not follow", last))
	looks("damaged")
	tab.Open("/rules")
	looks("rules")
	tab.Open("/rules/HOST-MCP-SERVER-ADDED")
	looks("rule")
}
