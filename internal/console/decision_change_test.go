package console_test

import (
	"testing"

	"plimsoll.dev/internal/console/consoletest"
)

// Whoever decides sees the bytes they decide on, with the findings at their
// lines, or how to see them where they were not delivered.
func TestTheChangeThatIsDecidedOnStandsOnItsPage(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Changed("Add a payment page", consoletest.Change)
	lea := w.Visit("lea")
	says(t, lea.Get("/decisions/gates/"+string(gate)), 200, `id="change"`, "These are the bytes", "https://pay.example/mcp", `class="found"`, "An MCP server was added", "Why this risk")
	_, bare := w.Gate("Add a login page") // its executor delivered no diff
	says(t, lea.Get("/decisions/gates/"+string(bare)), 200, `id="change"`, "git diff "+consoletest.Base)
}
