package console_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline/contract"
)

func TestTheInboxHasWhatWaitsForEachOfThem(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	if a := w.Visit("lea").Get("/inbox"); a.Status != 200 || !strings.Contains(a.Body, "Nothing waits for you") {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	chain, gate := w.Gate("Add <b>payments</b>")
	draft := w.Draft("Add a login page")
	for who, wants := range map[string][]string{
		"lea": {"/decisions/gates/" + string(gate), "/decisions/activations/" + string(draft), "Add &lt;b&gt;payments&lt;/b&gt;"},
		"sam": {"/decisions/gates/" + string(gate)},
		"ada": {"Nothing waits for you"},
		"rex": {"Nothing waits for you"},
		"bot": {"account of a machine"},
	} {
		a := w.Visit(who).Get("/inbox")
		for _, want := range wants {
			if a.Status != 200 || !strings.Contains(a.Body, want) {
				t.Errorf("%s sees no %s: %s", who, want, a.Body)
			}
		}
	}
	if a := w.Visit("sam").Get("/inbox"); strings.Contains(a.Body, string(draft)) {
		t.Error("a security reviewer has no vote on an intent")
	}
	// The gate has a deadline, the draft has none: it comes first.
	lea := w.Visit("lea").Get("/inbox").Body
	if strings.Index(lea, "/decisions/gates/") > strings.Index(lea, "/decisions/activations/") || !strings.Contains(lea, "risk-high") {
		t.Errorf("%s", lea)
	}
	// Who has decided is not asked again, and neither is who asked for the work.
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	if a := w.Visit("lea").Get("/inbox"); strings.Contains(a.Body, string(gate)) {
		t.Error("a gate waits for who approved it")
	}
	if a := w.Visit("dora").Get("/inbox"); !strings.Contains(a.Body, string(gate)) {
		t.Error("a second security reviewer is not asked")
	}
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Rejected)
	if a := w.Visit("lea").Get("/inbox"); !strings.Contains(a.Body, "/decisions/chains/"+string(chain)) || !strings.Contains(a.Body, "its gate was rejected") {
		t.Errorf("the frozen chain waits for nobody: %s", a.Body)
	}
}
