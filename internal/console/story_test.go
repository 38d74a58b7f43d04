package console_test

import (
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline/contract"
)

// The stories that the tests of the pages begin with come to where they say.
func TestTheStoriesComeToTheirEnds(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add a payment page")
	shown, err := w.Contracts.GateGet(t.Context(), gate)
	if g := consoletest.Must(w, shown, err).Document.(*contract.PublishGate); g.FinalDecision != contract.DecisionPending || g.RiskLevel != contract.High {
		t.Errorf("%s is %s at %s", gate, g.FinalDecision, g.RiskLevel)
	}
	w.Published("Add a login page")
	w.Garden()
	if p := w.Ask("Decide that the shop opens at nine.", "decision_draft", "propose_decision", "request_consent"); len(p.Artifacts) == 0 {
		t.Errorf("%+v", p)
	}
}
