//go:build unix

package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The truths of docs/spec/circle.md §11 that one circle can show, on both
// databases. Those with a test of their own: 6 (each stop), 10 (kills), 11 (the
// chains); 3, 4, 5 and 8 are also held for every package of every test here.

func TestCircleTruth01NothingButTheOrchestratorReachesAWorker(t *testing.T) {
	g := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	// Over HTTP: workers can be listed, and nothing else.
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	if err := g.user("ada").get(t.Context(), "/openapi.json", &document); err != nil {
		t.Fatal(err)
	}
	writes := []string{}
	for path, methods := range document.Paths {
		for method, o := range methods {
			if strings.Contains(path, "worker") && (method != "get" || path != "/v1/workers") {
				t.Errorf("%s %s leads to a worker", method, path)
			}
			if strings.HasPrefix(path, "/v1/requests") && method != "get" {
				writes = append(writes, o.OperationID)
			}
		}
	}
	if !slices.Equal(writes, []string{"request.ask"}) {
		t.Errorf("requests are written by %v", writes)
	}
	for _, path := range []string{"/v1/workers", "/v1/workers/Process", "/v1/workers/Process/run", "/v1/requests/r-1/runs", "/v1/artifacts"} {
		err := g.user("ada").post(t.Context(), path, "k-"+path[4:6], object{}, nil)
		if r, ok := errors.AsType[*refusal](err); !ok || r.Status != 404 && r.Status != 405 {
			t.Errorf("POST %s: %v", path, err)
		}
	}
	// For an agent: one tool.
	cmd := exec.Command(program(t), "mcp-serve")
	cmd.Env = []string{"HOME=" + g.dir, "PLIMSOLL_TOKEN=" + g.tokens["door"], "PLIMSOLL_SERVER=" + g.address()}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := client.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 1 || tools.Tools[0].Name != "plimsoll.ask" {
		t.Fatalf("%+v, %v", tools, err)
	}
	call := func(args object) (string, bool) {
		t.Helper()
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "plimsoll.ask", Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	text, refused := call(object{
		"text": "Let us decide whether the greenhouse opens on Saturdays.", "circle_id": "garden", "member_id": "lea", "request_id": "over-mcp", "expect": []string{"decision_draft"},
	})
	var p pack
	g.read(text, &p)
	if refused || p.State != "ended" || p.Origin != "external" {
		t.Errorf("over MCP: %s", text)
	}
	g.sound(g.ended(g.user("lea"), "over-mcp"))
	if text, refused := call(object{"text": "x", "circle_id": "garden", "member_id": "dora"}); !refused || !strings.Contains(text, "circle.member_required") {
		t.Errorf("for a stranger: %s", text)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	// Whoever is no member and no adapter asks for nothing, in whatever words.
	e := g.decision("Let us decide.")
	contextOf(e)["member_id"] = "ada"
	_, err = g.sends("bot", e)
	g.no(err, 403, "circle.human_required")
	g.process().stop()
}

func TestCircleTruth02ThePromptIsTheFormula(t *testing.T) {
	g := grow(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"))
	ada := g.user("ada")
	body := func(path string) string {
		t.Helper()
		var text []byte
		if err := ada.send(t.Context(), http.MethodGet, "/v1/clan/config/file?path="+url.QueryEscape(path), "", "", nil, &text); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_, rest, ok := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(string(text), "\r\n", "\n"), "---\n"), "\n---\n")
		if !ok {
			t.Fatalf("%s has no front matter", path)
		}
		return strings.TrimSuffix(rest, "\n")
	}
	base := body("JOS_BASE.md")
	workers := all[struct {
		ID     string `json:"worker"`
		SHA256 string `json:"prompt_sha256"`
	}](t, ada, "/v1/workers", nil)
	if len(workers) != 13 {
		t.Fatalf("%d workers", len(workers))
	}
	want := map[string]string{}
	for _, w := range workers {
		sum := sha256.Sum256([]byte(base + "\n\n---\n\n" + body("workers/"+w.ID+".md")))
		want[w.ID] = hex.EncodeToString(sum[:])
		if w.SHA256 != want[w.ID] {
			t.Errorf("the prompt of %s is another", w.ID)
		}
	}
	var clan struct {
		SHA256 string `json:"orchestrator_prompt_sha256"`
	}
	if err := ada.get(t.Context(), "/v1/clan/config", &clan); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256([]byte(base + "\n\n---\n\n" + body("orchestrator.md"))); clan.SHA256 != hex.EncodeToString(sum[:]) {
		t.Error("the prompt of the orchestrator is another")
	}
	// And each run had exactly that one.
	p := g.answer("ada", g.letter("Draft a letter to the town council: we open our garden to everyone on the first of May."))
	if len(p.Runs) < 5 {
		t.Errorf("%d runs", len(p.Runs))
	}
	for _, r := range p.Runs {
		if r.PromptSHA256 != want[r.Worker] {
			t.Errorf("a run of %s had another prompt", r.Worker)
		}
	}
	g.process().stop()
}

// A secret put anywhere into a request appears nowhere afterwards: not in the
// store, the log, an artifact or an error (docs/spec/circle.md §11.7). That a
// model is sent none: TestCircleAModelThatObeys….
func TestCircleTruth07ASecretAppearsNowhereAfterwards(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		docs := t.TempDir()
		g := grow(t, db, "--documents.dir", docs, "--log.level", "debug")
		secrets := []string{}
		fresh := func() string {
			const letters = "DHKNRTVXZ234567" // of a key of this form
			n := len(secrets)
			s := "AKIA" + "Z7QK3M5XW2PLD4" + string(letters[n%15]) + string(letters[(n*7+3)%15])
			secrets = append(secrets, s)
			return s
		}
		answers := [][]byte{}
		ask := func(change func(e object, secret string)) {
			t.Helper()
			e, secret := g.decision("Let us decide whether the greenhouse opens on Saturdays."), fresh()
			change(e, secret)
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var answer []byte
			u := g.user("ada")
			if err := u.send(t.Context(), http.MethodPost, "/v1/requests", fmt.Sprintf("s-%d", len(secrets)), "application/json", text, &answer); err != nil {
				answers = append(answers, []byte(err.Error()))
				return
			}
			var p pack
			g.read(string(answer), &p)
			until(g, "the answer", func() bool {
				return u.get(t.Context(), "/v1/requests/"+p.RequestID, &answer) == nil && strings.Contains(string(answer), `"state":"ended"`)
			})
			answers = append(answers, answer)
			g.read(string(answer), &p)
			if !slices.Contains(p.conditions(), "secrets_detected") || len(p.Runs) > 0 || len(p.Artifacts) > 0 {
				t.Errorf("secret %d was not found: stops %v, runs %v", len(secrets)-1, p.conditions(), p.workers())
			}
		}
		ask(func(e object, s string) { e["input_text"] = "Let us decide: the key " + s + " opens the store." })
		ask(func(e object, s string) { e["input_text"] = "Вирішімо. Ключ: " + s })
		ask(func(e object, s string) {
			e["input_text"] = "Let us decide. " + strings.Join(strings.Split(s, ""), " ")
		})
		ask(func(e object, s string) {
			if err := os.WriteFile(filepath.Join(docs, "keys.txt"), []byte("The key is "+s), 0o600); err != nil {
				t.Fatal(err)
			}
			contextOf(e)["references"] = []any{object{"kind": "document", "id": "keys.txt"}}
		})
		ask(func(e object, s string) { e["request_id"] = s })
		ask(func(e object, s string) { contextOf(e)["channel"] = object{"kind": "internal", "id": "cli:" + s} })
		ask(func(e object, s string) {
			contextOf(e)["references"] = []any{object{"kind": "url", "id": "https://drop.example/?key=" + s}}
		})
		ask(func(e object, s string) { e["surprise_"+s] = true })
		ask(func(e object, s string) { e["visibility_level_target"] = s })
		var audit []byte
		if err := g.user("root").send(t.Context(), http.MethodGet, "/v1/audit/export", "", "", nil, &audit); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, audit)
		for i, s := range secrets {
			if g.holds(s, answers...) {
				t.Errorf("the secret %d is somewhere", i)
			}
		}
		if !g.holds("The garden") { // the search finds what is there
			t.Error("the database is not where it is looked for")
		}
		g.process().stop()
		for i, s := range secrets {
			if strings.HasPrefix(db, "sqlite:") && g.holds(s) {
				t.Errorf("the secret %d is in the file that was closed", i)
			}
		}
	})
}

func TestCircleTruth08WhatCameFromOutsideStaysMarked(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		g := grow(t, db)
		// An adapter's request is external, whatever it says of its channel.
		e := g.decision("Let us decide whether the greenhouse opens on Saturdays.")
		p := g.answer("door", e)
		if p.Origin != "external" {
			t.Fatalf("an adapter's request is %s", p.Origin)
		}
		here := g.ended(g.user("ada"), p.RequestID)
		source := g.of(here, "decision_draft")
		// And so is what somebody makes of it inside, and what is made of that.
		for range 2 {
			e := g.decision("Let us decide about the greenhouse, see what was proposed.")
			contextOf(e)["references"] = []any{object{"kind": "artifact", "id": source.ID}}
			p := g.answer("ada", e)
			next := g.of(p, "decision_draft")
			if p.Origin != "internal" || next.Provenance.Origin != "external" {
				t.Errorf("a request of origin %s made of an external artifact one of origin %s", p.Origin, next.Provenance.Origin)
			}
			source = next
		}
		log := g.must(g.command("root", "audit", "list", "--limit", "0", "--json"))
		if !strings.Contains(log, "provenance=external") {
			t.Error("the audit log does not show provenance=external")
		}
		g.process().stop()
	})
}

func TestCircleTruth09AConsentForOneDigestServesNoOther(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		t.Helper()
		g := grow(t, db)
		one := g.of(g.answer("ada", g.letter("Draft a letter to the town council: we open our garden to everyone on the first of May.")), "bridge_draft")
		two := g.of(g.answer("ada", g.letter("Draft a letter to the town council: our garden is closed to everyone in August.")), "bridge_draft")
		if one.SHA256 == two.SHA256 {
			t.Fatal("two letters have one digest")
		}
		g.enrols("ada")
		code := func() string { return g.factors["ada"].code(t) }
		g.refused(g.command("ada", "consent", "grant", one.ID, "--sha256", two.SHA256, "--code", code()), "consent.digest_mismatch")
		g.factors["ada"].step = 0 // a code that proved something is spent, also when the consent was refused
		until(t, "the consent", func() bool {
			o := g.command("ada", "consent", "grant", one.ID, "--sha256", one.SHA256, "--code", code())
			g.factors["ada"].step = 0
			return o.code == 0
		})
		if got := g.show("ada", two.ID).Artifact.Status; got != "waiting_for_consent" {
			t.Errorf("the other letter is %s", got)
		}
		g.refused(g.command("ada", "artifact", "confirm", two.ID, "--sha256", two.SHA256), "artifact.transition_forbidden")
		g.must(g.command("ada", "artifact", "confirm", one.ID, "--sha256", one.SHA256))
		// What leaves the circle was seen by somebody who is a member and a person.
		list := all[struct {
			Consent struct {
				SHA256 string `json:"content_sha256"`
				StepUp string `json:"step_up"`
			} `json:"consent"`
		}](t, g.user("lea"), "/v1/consents", nil)
		if len(list) != 1 || list[0].Consent.SHA256 != one.SHA256 || list[0].Consent.StepUp != "totp" {
			t.Errorf("the ledger: %+v", list)
		}
		g.process().stop()
	})
}
