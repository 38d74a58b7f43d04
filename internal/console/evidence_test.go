package console_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline/phase"
)

func TestEvidenceIsCheckedAgainstEverythingThatIsKept(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, _ := w.Published("Add a login page")
	lea := w.Visit("lea")
	tells(t, lea.Get("/chains/"+string(chain)+"/evidence/EV-001"), []string{"Verify", "hashes are computed again"}, "checks passed")
	for _, id := range []string{"EV-001", "EV-002", "EV-003", "EV-004"} {
		a := lea.Get("/chains/" + string(chain) + "/evidence/" + id + "?verify=1")
		tells(t, a, []string{
			"checks passed", "The stored text is this document", "Its run exists and says the same", "Everything the run delivered has its recorded hash",
			"Its approvals are those of the gate at that time", "The audit log has a record of it", "That record follows from the one before",
		}, "checks failed", "check failed", "evidence.")
	}
	// The publication's output is the release note, which is kept.
	tells(t, lea.Get("/chains/"+string(chain)+"/evidence/EV-004?verify=1"), []string{"2 approvals."})
	lea.Lang = "uk"
	tells(t, lea.Get("/chains/"+string(chain)+"/evidence/EV-001?verify=1"), []string{"перевірок пройдено", "У журналі аудиту є запис про нього"})
	if a := lea.Get("/chains/IC-999/evidence/EV-001?verify=1"); a.Status != 404 {
		t.Errorf("%d", a.Status)
	}
}

func TestTheDiffOfEvidenceIsHashedAgain(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	task := w.Activate(w.Draft("Add a payment page"))
	w.Execute(task, consoletest.Run{Phase: phase.Build, Change: consoletest.Change, Boundary: consoletest.Checked("complete", "")})
	w.Reaches("IC-001", phase.Stabilize)
	w.Execute(task, consoletest.Run{Phase: phase.Stabilize, Change: consoletest.Change, Diff: "other bytes", Boundary: consoletest.Checked("complete", "")})
	w.Until("both are kept", func() bool {
		return strings.Contains(w.Visit("lea").Get("/chains/IC-001").Body, "EV-002")
	})
	tells(t, w.Visit("lea").Get("/chains/IC-001/evidence/EV-001?verify=1"), []string{"The diff has the stated hash"}, "failed")
	tells(t, w.Visit("lea").Get("/chains/IC-001/evidence/EV-002?verify=1"), []string{"What was delivered has another hash.", "1 check failed"})
}
