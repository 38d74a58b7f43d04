package console_test

import (
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline/contract"
)

// Whoever has a chain open sees what others do, and keeps what they had open.
func TestAnOpenChainFollowsItsRunsAndDecisions(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	b := w.Chromium()
	chain := w.Draft("Add a help page")
	task := w.Activate(chain)
	decided, gate := w.Changed("Add a payment page", consoletest.Change)

	tab, other := b.Tab("lea"), b.Tab("sam")
	tab.Open("/chains/" + string(chain))
	tab.Shows("waits for somebody to take it")
	claim := w.Begin(task)
	tab.Shows("at work")
	w.Fail(claim, "the compiler says no")
	tab.Shows("the compiler says no")

	other.Open("/chains/" + string(decided))
	other.Shows("An MCP server was added")
	closed := func() bool { return !consoletest.Eval[bool](other, `document.querySelector('#file-2').open`) }
	w.Until("a file is closed", func() bool { // a click on what is being brought up to date goes nowhere
		if closed() {
			return true
		}
		other.Click("#file-2 > summary")
		return closed()
	})
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	other.Shows("lea (project lead) agreed")
	if !closed() {
		t.Error("the file that was closed is open again")
	}
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Rejected)
	other.Shows("What unfreezes it:")
	for _, size := range []func(){other.Wide, other.Narrow} {
		size()
		other.Accessible()
		other.Fits()
	}
}

func TestChainsAreReadByEverybodyEverywhere(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, _ := w.Published("Add a login page")
	tab := w.Chromium().Tab("lea")
	tab.Open("/chains")
	tab.Accessible()
	w.Draft("Add a help page")
	tab.Shows("There is news.")
	tab.Never("Add a help page")
	tab.Narrow()
	tab.Fits()
	for _, path := range []string{"/chains/" + string(chain), "/chains/" + string(chain) + "/evidence/EV-001?verify=1", "/chains/" + string(chain) + "/contracts/" + string(chain)} {
		tab.Open(path)
		tab.Accessible()
		tab.Fits()
	}
	tab.Click(`button[name=language]`)
	tab.Shows("Створено")
	tab.Open("/chains/" + string(chain))
	tab.Shows("Опис випуску")
	tab.Fits()
}
