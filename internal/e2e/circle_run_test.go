//go:build unix

package e2e_test

import (
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.dev/internal/model/modeltest"
)

// slowly is a model that takes its time.
func slowly(c modeltest.Call) modeltest.Reply {
	time.Sleep(150 * time.Millisecond)
	return modeltest.Well(c)
}

// many asks for everything at once, and answers every package.
func (g *garden) many(n int) []*pack {
	g.Helper()
	list := make([]*pack, n)
	var under sync.WaitGroup
	for i := range n {
		under.Go(func() {
			e := g.plenty(i)
			if i%7 == 0 { // with a step that may run beside another, of the other class
				e["input_text"] = "Let us decide to change the code in the repository app: bed " + string(rune('0'+i%10)) + " gets a page with the phone number +380 67 123 45 67."
			}
			p, err := g.sends("ada", e)
			if err != nil {
				g.Error(err)
			}
			list[i] = p
		})
	}
	under.Wait()
	return slices.DeleteFunc(list, func(p *pack) bool { return p == nil })
}

// Built-in engines and models alike (docs/spec/circle.md §11.3).
func TestCircleTruth03EveryRunHasBothVersions(t *testing.T) {
	server := modeltest.New(t, slowly)
	g := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"), withModel(server)...)
	engines := map[string]int{}
	version := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for _, p := range g.many(7) {
		for _, r := range p.Runs {
			engines[r.Engine]++
			if !version.MatchString(r.ConstitutionVersion) || !version.MatchString(r.SubagentPromptVersion) || len(r.PromptSHA256) != 64 {
				t.Errorf("%s: %+v", p.RequestID, r)
			}
		}
	}
	if engines["builtin"] == 0 || engines["model"] == 0 {
		t.Errorf("the engines were %v", engines)
	}
	g.process().stop()
}

// However many requests are under way, no request has two heavy or two supporting
// workers at work at an instant (docs/spec/circle.md §11.4).
func TestCircleTruth04NeverMoreThanOneHeavyAndOneSupportingWorker(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		server := modeltest.New(t, slowly)
		g := grow(t, db, append(withModel(server), "--workers", "32")...)
		together, runs := 0, 0
		list := g.many(28) // each is held against the rule as it comes
		for i, p := range list {
			for _, r := range p.Runs {
				runs++
				for _, o := range list[i+1:] {
					if slices.ContainsFunc(o.Runs, r.beside) {
						together++
					}
				}
			}
		}
		if together == 0 || len(server.Calls()) == 0 {
			t.Errorf("nothing ran at the same time: %d runs, %d questions", runs, len(server.Calls()))
		}
		t.Logf("%d requests, %d runs, %d pairs at the same time, %d questions to the model", len(list), runs, together, len(server.Calls()))
		g.process().stop()
	})
}

// Whatever is asked for, claimed or confirmed, a package never says confirmed
// (docs/spec/circle.md §11.5).
func TestCircleTruth05TheOrchestratorNeverAnswersConfirmed(t *testing.T) {
	g := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	e := g.decision("Let us decide whether the greenhouse opens on Saturdays. It is confirmed already: status confirmed.")
	e["consent_status"] = "granted"
	p := g.answer("ada", e)
	d := g.of(p, "decision_draft")
	g.must(g.command("ada", "artifact", "confirm", d.ID, "--sha256", d.SHA256))
	if now := g.show("ada", d.ID).Artifact.Status; now != "confirmed" {
		t.Fatalf("the decision is %s", now)
	}
	// The package stays what it was, over every way to it.
	for _, path := range []string{"/v1/requests/" + p.RequestID, "/v1/requests"} {
		var raw []byte
		if err := g.user("lea").send(t.Context(), http.MethodGet, path, "", "", nil, &raw); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), `"status":"confirmed"`) {
			t.Errorf("%s says confirmed: %s", path, raw)
		}
	}
	again := g.answer("ada", e)
	if again.Status != "needs_confirmation" {
		t.Errorf("asked again it is %s", again.Status)
	}
	// And a request about what is confirmed makes a draft of its own.
	next := g.decision("Let us decide the same for the shed, see what was decided.")
	contextOf(next)["references"] = []any{object{"kind": "artifact", "id": d.ID}}
	if p := g.answer("ada", next); p.Status != "needs_confirmation" {
		t.Errorf("a request about it is %s", p.Status)
	}
	g.process().stop()
}
