package arch_test

import (
	"strings"
	"testing"
)

// Whoever could call a worker's engine could leave triage, the stops and the plan
// aside: only the orchestrator does (docs/spec/circle.md §§6, 11.1).
func TestOnlyTheOrchestratorReachesAWorker(t *testing.T) {
	for _, l := range layers {
		for _, may := range l.may {
			reaches := may == "internal/request/worker" || strings.HasSuffix(may, "/...") && strings.HasPrefix("internal/request/worker", strings.TrimSuffix(may, "..."))
			if reaches && l.path != "internal/request" {
				t.Errorf("%s may import internal/request/worker: a worker has one door, internal/request", l.path)
			}
		}
	}
}
