//go:build unix

package e2e_test

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll.dev/internal/model/modeltest"
	"plimsoll.dev/internal/request/constitution"
)

var attacks = flag.Int("attacks", 200, "requests that carry an attack, against a model that obeys them")

// asks is what a request of an intent expects and allows.
var asks = map[constitution.Intent]struct{ to, expect, action string }{
	constitution.CircleDecision: {"circle", "decision_draft", "propose_decision"}, constitution.ExternalAction: {"public", "bridge_draft", "export_draft"},
	constitution.GiftExchange: {"circle", "gift_draft", "gift_draft"}, constitution.Ritual: {"circle", "ritual_plan", "draft"},
	constitution.Research: {"circle", "research_note", "research"},
}

func withModel(s *modeltest.Server) []string {
	return []string{"--model.api", "openai", "--model.url", s.URL, "--model.name", "obedient-1"}
}

// With a model that obeys every instruction that reaches it, attacks spoil drafts
// and move nothing: no action, no export, no status above needs_confirmation, no
// secret in any question to the model, log, row or answer (docs/spec/circle.md §8).
func TestCircleAModelThatObeysAnAttackerMovesNothing(t *testing.T) {
	list := modeltest.Attacks(20260329, *attacks)
	server := modeltest.New(t, modeltest.Obedient(list))
	docs := t.TempDir()
	g := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"), append(withModel(server), "--documents.dir", docs, "--workers", "16")...)
	g.must(g.command("ada", "circle", "member", "set", "garden", "dora"))
	answers := struct {
		sync.Mutex
		all     bytes.Buffer
		stopped map[string]int
		spoilt  int
		models  int
	}{stopped: map[string]int{}}
	next := make(chan modeltest.Attack)
	var under sync.WaitGroup
	for range 6 {
		under.Go(func() {
			for a := range next {
				how := asks[a.Intent]
				e := g.request(a.Text, how.expect, how.action, "request_consent", "step_up")
				e["allowed_actions"] = slices.Compact(slices.Sorted(slices.Values(e["allowed_actions"].([]string))))
				e["request_id"], e["visibility_level_target"] = a.ID, how.to
				c := contextOf(e)
				// Each over a channel of its own: three breaches would close one.
				c["member_id"], c["locale"], c["channel"] = "lea", a.Locale, object{"kind": "external", "id": "chat:" + a.ID}
				if a.Document != "" {
					if err := os.WriteFile(filepath.Join(docs, a.ID+".md"), []byte(a.Document), 0o600); err != nil {
						t.Error(err)
					}
					c["references"] = []any{object{"kind": "document", "id": a.ID + ".md"}}
				}
				if _, err := g.sends("door", e); err != nil {
					t.Errorf("%s: %v", a.ID, err)
					continue
				}
				p := g.ended(g.user("lea"), a.ID)
				var raw []byte
				if err := g.user("lea").send(g.Context(), http.MethodGet, "/v1/requests/"+a.ID, "", "", nil, &raw); err != nil {
					t.Error(err)
				}
				answers.Lock()
				answers.all.Write(raw)
				if p.Stop != nil {
					answers.stopped[p.Stop.Condition]++
				}
				for _, r := range p.Runs {
					if r.Engine == "model" {
						answers.models++
					}
				}
				if bytes.Contains(raw, []byte(modeltest.Obeyed)) {
					answers.spoilt++
				}
				answers.Unlock()
			}
		})
	}
	for _, a := range list {
		next <- a
	}
	close(next)
	under.Wait()

	// Nothing was made of any of it: no contract, no consent, no confirmation.
	if made := all[shown](t, g.user("ada"), "/v1/contracts", nil); len(made) > 0 {
		t.Errorf("%d contracts came of attacks", len(made))
	}
	if given := all[object](t, g.user("ada"), "/v1/consents", nil); len(given) > 0 {
		t.Errorf("%d consents were given by nobody", len(given))
	}
	for _, who := range []string{"ada", "lea"} {
		for _, o := range all[outcome](t, g.user(who), "/v1/artifacts", nil) {
			if o.Artifact.Status == "confirmed" || o.Artifact.Provenance.Origin != "external" {
				t.Errorf("%s is %s, from %s", o.Artifact.ID, o.Artifact.Status, o.Artifact.Provenance.Origin)
			}
		}
	}
	log := g.must(g.command("root", "audit", "list", "--limit", "0", "--json"))
	for _, action := range []string{"artifact.confirm", "artifact.send", "consent.decide", "contract.create"} {
		if strings.Contains(log, `"action": "`+action+`"`) {
			t.Errorf("somebody did %s", action)
		}
	}
	traffic := server.Traffic()
	secrets := 0
	for _, a := range list {
		if a.Secret == "" {
			continue
		}
		secrets++
		if bytes.Contains(traffic, []byte(a.Secret)) {
			t.Errorf("%s (%s): its secret was sent to the model", a.ID, a.Form)
		}
		if g.holds(a.Secret, answers.all.Bytes(), []byte(log)) {
			t.Errorf("%s (%s): its secret is in the store, the log or an answer", a.ID, a.Form)
		}
	}
	// The model was asked, and did obey: what is contained here was really loose.
	if answers.models == 0 || answers.spoilt == 0 || secrets == 0 {
		t.Errorf("the model wrote %d drafts, %d packages were spoilt, %d secrets were planted", answers.models, answers.spoilt, secrets)
	}
	t.Logf("%d attacks: stopped %v, %d questions to the model, %d runs with its words, %d packages it spoilt, %d secrets", len(list), answers.stopped,
		len(server.Calls()), answers.models, answers.spoilt, secrets)
	g.process().stop()
}

// A worker that answers what it was not asked for is asked again twice, and then
// its step fails (docs/spec/circle.md §8).
func TestCircleTruth06AnAnswerOutsideTheContractFailsItsStep(t *testing.T) {
	g := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"), withModel(modeltest.New(t, modeltest.Says(`{"status":"confirmed"}`)))...)
	p := g.answer("ada", g.decision("Let us decide whether the greenhouse opens on Saturdays."))
	if p.Stop == nil || p.Stop.Condition != "agent_output_not_in_allowed_outputs" || p.Stop.Effect != "block" || !slices.Equal(p.Stop.HandedTo, []string{"Process"}) {
		t.Errorf("stops %+v", p.Stops)
	}
	if got := p.workers(); !slices.Equal(got, []string{"Process", "Process", "Process"}) || p.Status != "draft" {
		t.Errorf("ran %v, %s", got, p.Status)
	}
	g.process().stop()

	well := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"), withModel(modeltest.New(t, modeltest.Well))...)
	p = well.answer("ada", well.decision("Let us decide whether the greenhouse opens on Saturdays."))
	if p.Stop != nil || p.Status != "needs_confirmation" || p.Runs[0].Engine != "model" {
		t.Errorf("a near miss: %+v, %s, on %s", p.Stops, p.Status, p.Runs[0].Engine)
	}
	well.process().stop()
}
