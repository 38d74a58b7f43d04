package state_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
	"plimsoll.dev/internal/pipeline/state"
	"plimsoll.dev/testdata/contracts"
)

type story struct {
	Name  string
	Steps []struct {
		Step     int
		Expected struct {
			Events []struct {
				ID, Subject string
				Type        event.Type
				Version     int64
			}
			Contracts []struct {
				ID      contract.ID
				Version int64
				State   contract.State
			}
		}
	}
}

// The stories need a running service; what can be said of them without one is
// that every life in them is a path of the table, and every event is one that
// the contract it names can have.
func TestTheStoriesKeepToTheTable(t *testing.T) {
	steps := 0
	for _, s := range contracts.Load[story](t, "stories") {
		lives := map[string]contract.State{}
		for _, step := range s.Steps {
			steps++
			place := fmt.Sprintf("%s, step %d", s.Name, step.Step)
			for _, c := range step.Expected.Contracts {
				key := fmt.Sprintf("%s version %d", c.ID, c.Version)
				if before := lives[key]; before != c.State && !reaches(c.ID.Kind(), before, c.State, 3) {
					t.Errorf("%s: %s cannot go from %q to %s", place, key, before, c.State)
				}
				lives[key] = c.State
			}
			for _, e := range step.Expected.Events {
				if event.TypeOf(e.ID) != e.Type || string(contract.ID(e.Subject).Kind()) != e.Type.Kind() ||
					!strings.HasPrefix(e.ID, fmt.Sprintf("%s/%s/%d", e.Type, e.Subject, e.Version)) {
					t.Errorf("%s: event %+v", place, e)
				}
			}
		}
	}
	if steps != 248 {
		t.Errorf("%d steps", steps)
	}
}

// reaches says whether the table has a path of at most n edges: one step of a
// story may be several changes of state. A contract revised in place begins
// where the version before it was, so it may begin as anything.
func reaches(k contract.Kind, from, to contract.State, n int) bool {
	if from == to || from == "" && k == contract.KindAcceptance {
		return true
	}
	for _, next := range contract.States() {
		if ok, _, _ := state.Cell(k, from, next); ok && n > 0 && reaches(k, next, to, n-1) {
			return true
		}
	}
	return false
}
