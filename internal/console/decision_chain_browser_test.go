package console_test

import (
	"fmt"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

// The decisions on a whole chain, each pressed by somebody whose it is.
func TestWorkIsReviewedFrozenResumedAndRevokedInABrowser(t *testing.T) {
	w := consoletest.New(t)
	chain, gate := w.Gate("Add payments")
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Approved)
	task := w.Of(chain, contract.KindTaskSeed)
	w.Reaches(chain, phase.Refactor)
	w.Execute(task, consoletest.Run{Phase: phase.Refactor})
	page := "/decisions/chains/" + string(chain)
	b := w.Chromium()
	lea, sam := b.Tab("lea"), b.Tab("sam")
	becomes := func(id contract.ID, want contract.State) {
		w.Until(fmt.Sprintf("%s is %s", id, want), func() bool {
			shown, err := w.Contracts.ContractGet(t.Context(), id, 0)
			return err == nil && shown.Document.Head().State == want
		})
	}
	reviews := func(tab *consoletest.Tab) {
		tab.Open(page)
		tab.Accessible()
		tab.Click("#tick")
		tab.Click("#do-review")
	}
	reviews(lea)
	lea.Shows("lea\t● approved")
	// Whoever writes is not disturbed by what others do meanwhile.
	lea.Click("#freeze summary")
	lea.Type("#freeze-reason", "the re")
	reviews(sam)
	lea.Shows("Nothing waits in " + string(chain))
	keys(lea, "gistry is down")
	if got := consoletest.Eval[string](lea, `document.getElementById('freeze-reason').value`); got != "the registry is down" {
		t.Errorf("what was written is %q on %s", got, consoletest.Eval[string](lea, `location.pathname`))
	}
	w.Reaches(chain, phase.Publish)
	lea.Click("#freeze button.no")
	becomes(chain, contract.Frozen)
	lea.Shows("Does " + string(chain) + " go on?")
	lea.Type("#resolution", "it answers again")
	lea.Click("#do-resume")
	becomes(chain, contract.Active)
	lea.Shows("Nothing waits in " + string(chain))
	lea.Click("#revoke summary")
	lea.Type("#revoke-reason", "nobody wants it any more")
	lea.Click("#sure")
	lea.Click("#do-revoke")
	w.Until("something of "+string(chain)+" is revoked", func() bool {
		shown, err := w.Contracts.ChainGet(t.Context(), chain)
		if err != nil {
			return false
		}
		for _, c := range shown.Contracts {
			if c.Document.Head().State == contract.Revoked {
				return true
			}
		}
		return false
	})
	lea.Accessible()
}

// A Draft is changed from two places at once; the lead sees what each would have it say,
// and chooses. Nobody without the role can.
func TestSomebodyChoosesBetweenUpdatesThatCompeteInABrowser(t *testing.T) {
	w := consoletest.New(t)
	intent := w.Draft("Show the last order")
	edit := func(who string, as contract.Role, text string) error {
		_, err := w.Contracts.ContractEdit(t.Context(), w.As(who, as), pipeline.EditArgs{ID: intent, Version: 2, Patch: map[string]any{"intent": text}})
		return err
	}
	if err := edit("ada", contract.Requester, "Show the last two orders"); err != nil {
		t.Fatal(err)
	}
	if err := edit("ada", contract.Requester, "Show the last <b>three</b> orders"); refusal.CodeOf(err) != refusal.ContractVersionConflict {
		t.Fatalf("the second edit was answered %v", err)
	}
	page := "/decisions/chains/" + string(intent)
	b := w.Chromium()
	sam := b.Tab("sam")
	sam.Open(page)
	sam.Shows("You hold no role that may choose. As project lead can decide: dora and lea.")
	if sam.Has("#do-settle") || sam.Has("#choose-0") {
		t.Error("somebody without the role can choose")
	}
	lea := b.Tab("lea")
	lea.Open("/inbox")
	lea.Shows(string(intent) + " has contents that compete. Which one stands?")
	lea.Open(page)
	lea.Shows(string(intent) + " has 2 contents")
	lea.Shows("Show the last <b>three</b> orders") // as text
	lea.Accessible()
	lea.Click("#choose-1")
	lea.Click("#do-settle")
	lea.Shows("Nothing waits in " + string(intent))
	shown, err := w.Contracts.ContractGet(t.Context(), intent, 0)
	if d := consoletest.Must(w, shown, err).Document.(*contract.Intent); d.Intent != "Show the last <b>three</b> orders" || d.Head().State != contract.Draft {
		t.Errorf("%s says %q and is %s", intent, d.Intent, d.Head().State)
	}
}

// A chain that was resumed after its gate was rejected, without being judged
// again, is judged when somebody asks for it.
func TestAChainIsJudgedAgainInABrowser(t *testing.T) {
	w := consoletest.New(t)
	chain, gate := w.Gate("Add payments")
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Rejected)
	lea := w.Chromium().Tab("lea")
	lea.Open("/decisions/chains/" + string(chain))
	lea.Click("#judge")
	lea.Type("#resolution", "sam was asked")
	lea.Click("#do-resume")
	lea.Shows("Judge the work again")
	lea.Accessible()
	lea.Click("#do-judge")
	w.Until("the gate asks anew", func() bool {
		shown, err := w.Contracts.GateGet(t.Context(), gate)
		return err == nil && shown.Ref().Version == 2
	})
}
