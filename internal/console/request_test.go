package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

var unworded = regexp.MustCompile(`>(request|circle)\.(is|of|for|stop|type|flag|step|does|event|level|status|action|intent|claim|role|answer|origin|source|engine|class|run|why|reason|effect|open|no|owes)\.[._a-z]*`)

// shows holds that a page says all of this, and none of that.
func shows(t *testing.T, a consoletest.Answer, want []string, never ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(a.Body, text) {
			t.Errorf("%q is missing (status %d)\n%s", text, a.Status, a.Body)
			return
		}
	}
	if key := unworded.FindString(a.Body); key != "" {
		t.Errorf("%s has no words", key)
	}
	for _, text := range never {
		if strings.Contains(a.Body, text) {
			t.Errorf("%q is there\n%s", text, a.Body)
		}
	}
}

func TestARequestIsShownAsItWasWrittenAndAsItStands(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	text := "Вирішимо разом: крамниця відкривається о дев’ятій. <script>alert(1)</script> & \u202eend"
	p := w.Ask(text, "decision_draft", "propose_decision", "request_consent")

	ada := w.Visit("ada")
	a := ada.Get("/requests/" + p.RequestID)
	shows(t, a, []string{
		"<mark>", "⟨U&#43;202E⟩", "&lt;script&gt;alert(1)&lt;/script&gt; &amp;", ">U+202E<", "waits for a confirmation", "draft of a decision", "Process", "heavy",
		"drafts decisions and asks for consents", "a decision of the circle", "/decisions/consents/", "constitution 1.", "What it says about consent",
		"propose a decision", "The garden", `<code>cli</code>`, "<code>" + p.RequestID + "</code>", "the answer was there", `lang="uk"`,
	}, "<script>alert", "\u202e", "ZgotmplZ")
	uk := w.Visit("ada")
	uk.Lang = "uk"
	shows(t, uk.Get("/requests/"+p.RequestID), []string{"чекає на підтвердження", "проєкт рішення", "рішення кола", "Хто над цим працює", "готує рішення"})

	shows(t, ada.Get("/requests"), []string{"Вирішимо разом", "waits for a confirmation", "a confirmation of somebody in the circle", "Ask the circle"}, "<script>alert")
	shows(t, ada.Get("/requests?made=needs_confirmation&state=ended&circle=garden"), []string{p.RequestID})
	shows(t, ada.Get("/requests?made=confirmed"), []string{"No request is like that", "Show all"}, p.RequestID)
	shows(t, w.Visit("lea").Get("/requests"), []string{p.RequestID})

	// rex is in no circle.
	if a := w.Visit("rex").Get("/requests/" + p.RequestID); a.Status != http.StatusNotFound {
		t.Errorf("rex sees it: %d", a.Status)
	}
	shows(t, w.Visit("rex").Get("/requests"), []string{"You are in no circle", "plimsoll circle create"}, p.RequestID)
	if a := ada.Get("/requests/no-such"); a.Status != http.StatusNotFound {
		t.Errorf("%d", a.Status)
	}
	if a := ada.Get("/requests?circle=lake"); a.Status != http.StatusForbidden {
		t.Errorf("somebody else's circle: %d", a.Status)
	}
}

// decided is a request whose decision ada has confirmed, and the draft it became.
func decided(w *consoletest.World, text string) (id string, chain contract.ID) {
	w.Helper()
	id = w.Ask(text, "decision_draft", "propose_decision", "request_consent").RequestID
	open := func() *request.Opened {
		o, err := w.Circle.RequestOpen(w.Context(), w.As("ada", ""), id)
		return consoletest.Must(w, o, err)
	}
	for _, d := range open().Artifacts {
		if d.Type == envelope.DecisionDraft {
			done, err := w.Circle.ArtifactConfirm(w.Context(), w.As("ada", ""), request.MoveArgs{ID: d.ID, SHA256: d.ContentSHA256})
			consoletest.Must(w, done, err)
		}
	}
	o := open()
	if len(o.Contracts) == 0 {
		w.Fatalf("%+v", o.Artifacts)
	}
	return id, o.Contracts[0].ContractID
}

func TestARequestHearsWhatBecameOfItsDecision(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	id, chain := decided(w, "Let us decide to add a page with the opening hours to the repository shop.")
	ada := w.Visit("ada")
	link := `href="/chains/` + string(chain) + `"`
	shows(t, ada.Get("/requests/"+id), []string{link, "What came of it", "draft", "/decisions/activations/" + string(chain), "ada confirmed it"})

	gate := w.ToGate(chain)
	shows(t, ada.Get("/requests/"+id), []string{"active", "/decisions/gates/" + string(gate), "pending", "phase of"}, "/decisions/activations/")
	w.Release(chain, gate)
	w.Until("the result is written back", func() bool {
		o, err := w.Circle.RequestOpen(t.Context(), w.As("ada", ""), id)
		return err == nil && len(o.Contracts[0].Results) > 0
	})
	shows(t, ada.Get("/requests/"+id), []string{"published", "Release note", "as version 1", "a1b2c3d", "came to its end"})
	shows(t, ada.Get("/requests"), []string{link, "published"})

	other, frozen := decided(w, "Let us decide to add a page about tulips to the repository shop.")
	w.Decide(w.ToGate(frozen), "sam", contract.SecurityReviewer, contract.Rejected)
	w.Until("it is frozen", func() bool {
		o, err := w.Circle.RequestOpen(t.Context(), w.As("ada", ""), other)
		return err == nil && o.Contracts[0].State == contract.Frozen
	})
	shows(t, ada.Get("/requests/"+other), []string{"frozen", "its gate was rejected", "rejected"})
}

func TestWhatCameFromOutsideSaysSoEverywhere(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	p, err := w.Circle.Ask(t.Context(), w.As("ada", ""), []byte(`{"request_id":"r-outside","circle_context":{"circle_id":"garden","member_id":"ada",
		"channel":{"kind":"external","id":"mail"},"participants":["lea"],"references":[{"kind":"url","id":"https://sadok.example/<b>"}]},
		"visibility_level_target":"circle","sensitivity_flags":["legal"],"consent_status":"not_required","allowed_actions":["read","draft","propose_decision"],
		"expected_output":"decision_draft","input_text":"Let us decide that the shop opens at nine."}`))
	consoletest.Must(w, p, err)
	w.Until("it has its answer", func() bool {
		p, err = w.Circle.RequestGet(t.Context(), w.As("ada", ""), "r-outside")
		return err == nil && p.State == request.Ended
	})
	lea := w.Visit("lea")
	a := lea.Get("/requests/r-outside")
	shows(t, a, []string{"from outside", "<code>mail</code>", "Whom it concerns: lea", "https://sadok.example/&lt;b&gt;", "law", "looks for secrets and personal data"}, "example/<b>")
	// The request itself, what was made of it, and each run.
	if n := strings.Count(a.Body, `<span class="tag external">external</span>`); n < 1+len(p.Artifacts)+len(p.Runs) {
		t.Errorf("%d marks for %d artifacts and %d runs", n, len(p.Artifacts), len(p.Runs))
	}
	shows(t, lea.Get("/requests"), []string{`<span class="tag external">external</span>`})
	uk := w.Visit("lea")
	uk.Lang = "uk"
	shows(t, uk.Get("/requests"), []string{`<span class="tag external">ззовні</span>`})
}

func TestASecretIsNeverShown(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	secret := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	p := w.Ask("The key "+secret+" opens the shop.", "decision_draft", "propose_decision")
	shows(t, w.Visit("ada").Get("/requests/"+p.RequestID), []string{"▇▇▇", "github-pat", "stopped", "A secret was found", "Replace the secret"}, secret)
	shows(t, w.Visit("ada").Get("/requests"), []string{"▇", "stopped"}, secret)
	shows(t, w.Visit("lea").Get("/requests/"+p.RequestID), []string{"only who asked may read"}, secret, "opens the shop")
}

func TestAskingKeepsWhatWasTypedAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	ada := w.Visit("ada")
	form := url.Values{
		"text": {"Let us decide <b>that</b> the shop opens at nine."}, "circle": {"garden"}, "target": {"circle"}, "consent": {"not_required"}, "locale": {""},
		"action": {"read", "draft"}, "output": {"decision_draft"}, "participants": {"lea, nobody"}, "references": {"paper:x\ncontract:IC-001"}, "flag": {"legal"},
	}
	a := ada.Submit("/requests/new", "/requests/new", form)
	if a.Status != http.StatusUnprocessableEntity {
		t.Errorf("%d", a.Status)
	}
	shows(t, a, []string{
		"Nothing was asked yet", "Let us decide &lt;b&gt;that&lt;/b&gt; the shop opens at nine.", "lea, nobody", "paper:x\ncontract:IC-001", "To get this, allow what it needs",
		`id="output-decision_draft" name="output" value="decision_draft" checked`, `id="flag-legal" name="flag" value="legal" checked`,
	}, "<b>that")
	if strings.Contains(a.Body, `id="action-research" name="action" value="research" checked`) {
		t.Error("what was unticked is ticked again")
	}
	list, _, err := w.Circle.RequestPage(t.Context(), w.As("ada", ""), request.Filter{}, pipeline.Page{})
	if consoletest.Must(w, list, err); len(list) != 0 {
		t.Errorf("%d were asked", len(list))
	}

	form["action"] = append(form["action"], "propose_decision", "request_consent")
	form["participants"], form["references"], form["flag"] = []string{"lea"}, []string{""}, nil
	first := ada.Submit("/requests/new", "/requests/new", form)
	at := first.Header.Get("Location")
	if first.Status != http.StatusSeeOther || !strings.HasPrefix(at, "/requests/req-") {
		t.Fatalf("%d %s\n%s", first.Status, at, first.Body)
	}
	w.Until("the request has its answer", func() bool {
		o, err := w.Circle.RequestOpen(t.Context(), w.As("ada", ""), strings.TrimPrefix(at, "/requests/"))
		return err == nil && o.State == request.Ended
	})
	shows(t, ada.Get(at), []string{"<code>console</code>", "Let us decide &lt;b&gt;that", "draft of a decision"})

	// The same form again asks nothing anew; an agent cannot ask.
	shows(t, w.Visit("bot").Get("/requests/new"), []string{"in no circle"}, "<textarea")
	shows(t, w.Visit("rex").Get("/requests/new"), []string{"in no circle"}, "<textarea")
}

func TestTheLongestTextIsAskedAndALongerOneIsGivenBack(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	ada := w.Visit("ada")
	text := "Вирішимо разом: " + strings.Repeat("теплиця та крамниця ", 1700)
	for len(text) < 65_535 {
		text += "я"
	}
	form := url.Values{
		"text": {text}, "circle": {"garden"}, "target": {"circle"}, "consent": {"not_required"}, "action": {"read", "draft", "propose_decision"}, "output": {"decision_draft"},
	}
	a := ada.Submit("/requests/new", "/requests/new", form)
	if a.Status != http.StatusSeeOther {
		t.Fatalf("%d bytes: %d", len(text), a.Status)
	}
	page := ada.Get(a.Header.Get("Location"))
	shows(t, page, []string{"Show all of the text"})
	if len(page.Body) > 60<<10 {
		t.Errorf("the page has %d bytes", len(page.Body))
	}
	if all := ada.Get(a.Header.Get("Location") + "?text=all"); len(all.Body) < len(text) {
		t.Errorf("all of it is %d bytes", len(all.Body))
	}
	form.Set("text", text+"яя")
	again := ada.Submit("/requests/new", "/requests/new", form)
	shows(t, again, []string{"The text is too long", text + "яя</textarea>"})
}

func TestAFormThatIsSentTwiceAsksOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	ada := w.Visit("ada")
	page := ada.Get("/requests/new").Body
	value := func(name string) string {
		_, rest, _ := strings.Cut(page, `name="`+name+`" value="`)
		v, _, _ := strings.Cut(rest, `"`)
		return v
	}
	form := url.Values{
		"seal": {value("seal")}, "key": {value("key")}, "text": {"Let us decide that the shop opens at nine."}, "circle": {"garden"}, "target": {"circle"},
		"consent": {"not_required"}, "action": {"read", "draft", "propose_decision"},
	}
	one, two := ada.Post("/requests/new", form), ada.Post("/requests/new", form)
	if one.Status != http.StatusSeeOther || one.Header.Get("Location") != two.Header.Get("Location") {
		t.Errorf("%d %s, %d %s", one.Status, one.Header.Get("Location"), two.Status, two.Header.Get("Location"))
	}
	form.Set("text", "Let us decide that the shop opens at ten.")
	if three := ada.Post("/requests/new", form); three.Status != http.StatusSeeOther || three.Header.Get("Location") == one.Header.Get("Location") {
		t.Errorf("another text: %d %s", three.Status, three.Header.Get("Location"))
	}
}

func TestTheListOfRequestsIsPaged(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	for range 51 {
		w.Asked("Let us decide that the shop opens at nine.")
	}
	// A request that goes on moves to the top, from one page to another.
	w.Until("every request has its answer", func() bool {
		list, _, err := w.Circle.RequestList(t.Context(), w.As("ada", ""), request.Filter{States: []request.RequestState{request.Running}}, pipeline.Page{Limit: 1})
		return err == nil && len(list) == 0
	})
	ada := w.Visit("ada")
	first := ada.Get("/requests")
	_, rest, more := strings.Cut(first.Body, `rel="next" href="`)
	if n := strings.Count(first.Body, `class="request-what"`); n != 50 || !more {
		t.Fatalf("%d rows, more: %v", n, more)
	}
	next, _, _ := strings.Cut(rest, `"`)
	second := ada.Get(strings.ReplaceAll(next, "&amp;", "&"))
	if n := strings.Count(second.Body, `class="request-what"`); n != 1 || strings.Contains(second.Body, `rel="next"`) {
		t.Errorf("%d rows on the second page", n)
	}
}
