package request_test

import (
	"slices"
	"testing"
)

func TestADecisionIsDraftedForThosesWhoDecide(t *testing.T) {
	w := newWorld(t, nil)
	p := w.answer(decision("Let us decide whether the greenhouse opens on Saturdays."))
	if got := workers(p); !slices.Equal(got, []string{"Process", "Process", "Audit-Log"}) {
		t.Errorf("workers %v\n%s", got, show(p))
	}
	if len(p.Stops) > 0 || p.Status != "needs_confirmation" {
		t.Errorf("stops %v, status %s\n%s", stops(p), p.Status, show(p))
	}
}
