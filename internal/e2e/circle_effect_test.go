//go:build unix

package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A confirmed decision about the repository is an intent, in Draft, of the member
// who confirmed it: nothing begins by it (docs/spec/circle.md §9).
func TestCircleAConfirmedDecisionBecomesADraftThatSomebodyHasToActivate(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		g := grow(t, db)
		e := g.decision("Let us decide to change the code in the repository app: add a page about the greenhouse.")
		d := g.of(g.answer("ada", e), "decision_draft")
		g.refused(g.command("lea", "artifact", "confirm", d.ID, "--sha256", d.SHA256), "role.not_permitted") // who is no requester
		out := g.must(g.command("ada", "artifact", "confirm", d.ID, "--sha256", d.SHA256))
		if !strings.Contains(out, "it became IC-001, a draft") {
			t.Errorf("confirmed: %q", out)
		}
		if got := g.show("ada", d.ID).Artifact; got.ContractID != "IC-001" || got.Status != "confirmed" {
			t.Errorf("the decision is %s, its contract %q", got.Status, got.ContractID)
		}
		var made shown
		if err := g.user("ada").get(t.Context(), "/v1/contracts/IC-001", &made); err != nil || made.Contract.State != "Draft" {
			t.Errorf("the intent is %s: %v", made.Contract.State, err)
		}
		if tasks := all[shown](t, g.user("ada"), "/v1/tasks", nil); len(tasks) > 0 {
			t.Errorf("%d tasks came of a draft", len(tasks))
		}
		g.must(g.command("lea", "intent", "approve", "IC-001"))
		until(t, "the task", func() bool { return len(all[shown](t, g.user("ada"), "/v1/tasks", nil)) == 1 })
		g.refused(g.command("ada", "artifact", "confirm", d.ID, "--sha256", d.SHA256), "artifact.transition_forbidden")
		g.proveAudit()
		g.process().stop()
	})
}

// What was confirmed leaves once, to whom people saw it would go, and not before
// (docs/spec/circle.md §10).
func TestCircleAConfirmedDraftLeavesOnce(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		var mu sync.Mutex
		ids, bodies := []string{}, []string{}
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			ids, bodies = append(ids, r.Header.Get("webhook-id")), append(bodies, string(body))
			if len(ids) == 1 { // the first attempt does not come through
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		t.Cleanup(hook.Close)
		g := grow(t, db, "--webhook.allow", "127.0.0.1")
		var made struct {
			ID string `json:"id"`
		}
		if err := g.user("root").post(t.Context(), "/v1/webhooks", "hook", object{"url": hook.URL, "types": []string{"publishgate.decision.recorded.v1"}}, &made); err != nil {
			t.Fatal(err)
		}
		p := g.answer("ada", g.letter("Prepare a webhook to "+hook.URL+" that says our garden is open to everyone on the first of May."))
		d := g.of(p, "bridge_draft")
		if !strings.Contains(string(d.Content), `"channel":"webhook"`) || !strings.Contains(string(d.Content), hook.URL) {
			t.Fatalf("the draft is %s", d.Content)
		}
		g.settle(p)
		seen := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(ids)
		}
		until(t, "the delivery", func() bool { return seen() >= 2 })
		time.Sleep(2 * time.Second) // in which a third attempt would come
		mu.Lock()
		defer mu.Unlock()
		if len(ids) != 2 || ids[0] != ids[1] || bodies[0] == "" {
			t.Errorf("deliveries %v", ids)
		}
		if !strings.Contains(bodies[1], "first of May") || !strings.Contains(bodies[1], "plimsoll.circle.bridge.v1") {
			t.Errorf("left: %s", bodies[1])
		}
		g.process().stop()
	})
}
