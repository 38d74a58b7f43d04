package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

// holds is what a page must say, and what it must not.
func holds(t *testing.T, a consoletest.Answer, status int, says []string, not ...string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("status %d, want %d", a.Status, status)
	}
	for _, s := range says {
		if !strings.Contains(a.Body, s) {
			t.Errorf("%q is missing in\n%s", s, a.Body)
		}
	}
	for _, s := range not {
		if strings.Contains(a.Body, s) {
			t.Errorf("%q is there in\n%s", s, a.Body)
		}
	}
}

var again = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// confirms presses the button of a page that asks before something is done, and
// answers what was sent as well.
func confirms(t *testing.T, v *consoletest.Visitor, asked consoletest.Answer) (consoletest.Answer, string, url.Values) {
	t.Helper()
	_, form, _ := strings.Cut(asked.Body, `<section class="narrow">`)
	_, form, ok := strings.Cut(form, `action="`)
	if !ok {
		t.Fatalf("nothing is asked (%d)\n%s", asked.Status, asked.Body)
	}
	action, form, _ := strings.Cut(form, `"`)
	form, _, _ = strings.Cut(form, "</form>")
	all := url.Values{}
	for _, m := range again.FindAllStringSubmatch(form, -1) {
		all.Add(m[1], html.UnescapeString(m[2]))
	}
	return v.Post(action, all), action, all
}

func TestTheRegistryIsForEverybodyAndItsFormsForAdmins(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	lea := w.Visit("lea")
	holds(t, lea.Get("/actors"), 200, []string{">lea</a>", "project lead", "agent", "security reviewer", "Admins register actors"}, `action="/actors/create"`)
	holds(t, lea.Get("/actors/sam"), 200, []string{"<code>sam</code>", "Their tokens are theirs"}, `action="/actors/edit"`, "tok-", `action="/actors/tokens/create"`)
	holds(t, lea.Get("/actors/nobody"), 404, []string{"There is no such page"})
	holds(t, w.Visit("root").Get("/actors"), 200, []string{`action="/actors/create"`})
	root := w.Visit("root").Get("/actors/sam")
	holds(t, root, 200, []string{`action="/actors/edit"`, "tok-", `action="/actors/tokens/revoke"`, "read the audit log"}, w.Tokens["sam"])
	lea.Lang = "uk"
	holds(t, lea.Get("/actors"), 200, []string{"Учасники", "керівник проєкту", "людина"}, "actor.")
	holds(t, lea.Get("/actors/me"), 200, []string{"Токени", "з ним ви увійшли"}, "actor.", "token.", "scope.")
	// What the form of an admin would do is refused to everybody else.
	a := lea.Get("/actors/me")
	_, seal, _ := strings.Cut(a.Body, `name="seal" value="`)
	seal, _, _ = strings.Cut(seal, `"`)
	for path, form := range map[string]url.Values{
		"/actors/create":        {"actor": {"eve"}, "type": {"human"}, "role": {"admin"}},
		"/actors/edit":          {"actor": {"lea"}, "role": {"admin"}, "active": {"yes"}},
		"/actors/tokens/create": {"actor": {"root"}, "scope": {"admin"}, "days": {"30"}},
	} {
		form.Set("seal", seal)
		form.Set("confirm", "yes")
		form.Set("key", "page-1")
		if a := lea.Post(path, form); a.Status != 403 || strings.Contains(a.Body, "plm_") {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	if a, err := w.Contracts.ActorGet(t.Context(), "lea"); consoletest.Must(w, a, err).Roles.Has(contract.Admin) {
		t.Error("lea made herself an admin")
	}
}

func TestALongRegistryIsPaged(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	for i := range 60 {
		a, err := w.Contracts.ActorCreate(t.Context(), w.As("root", contract.Admin), pipeline.ActorArgs{ID: contract.ActorID(fmt.Sprintf("worker/%02d <b>", i)), Type: contract.Agent})
		consoletest.Must(w, a, err)
	}
	v := w.Visit("lea")
	first := v.Get("/actors")
	holds(t, first, 200, []string{"worker/59 &lt;b&gt;", `href="/actors?behind=`}, "worker/00", "<b>&lt;", "worker/59 <b>")
	_, next, _ := strings.Cut(first.Body, `href="/actors?behind=`)
	next, _, _ = strings.Cut(next, `"`)
	second := v.Get("/actors?behind=" + html.UnescapeString(next))
	holds(t, second, 200, []string{"worker/00 &lt;b&gt;", ">lea</a>"}, "worker/59", `href="/actors?behind=`)
	holds(t, v.Get("/actors/"+url.PathEscape("worker/00 <b>")), 200, []string{"worker/00 &lt;b&gt;"})
	holds(t, v.Get("/actors?behind=nonsense"), 200, []string{"worker/59"})
}

func TestAnAdminRegistersAndChangesAnActorKnowingWhatWillHappen(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	root := w.Visit("root")
	asked := root.Submit("/actors", "/actors/create", url.Values{"actor": {" eve@example.org "}, "name": {"Eve <script>"}, "type": {"human"}, "role": {"qa", "developer"}})
	holds(t, asked, 200, []string{"Register eve@example.org?", "registered as a person", "Eve &lt;script&gt;", "developer, QA", "never given to anybody else"}, "<script>alert", "Eve <script>")
	if _, err := w.Contracts.ActorGet(t.Context(), "eve@example.org"); err == nil {
		t.Fatal("she was registered before it was confirmed")
	}
	done, action, form := confirms(t, root, asked)
	if done.Status != 303 || done.Header.Get("Location") != "/actors/eve@example.org" {
		t.Fatalf("%d %v %s", done.Status, done.Header, done.Body)
	}
	if twice := root.Post(action, form); twice.Status != 303 {
		t.Errorf("the same form again: %d", twice.Status)
	}
	holds(t, root.Submit("/actors", "/actors/create", url.Values{"actor": {"e v e"}, "type": {"human"}}), 422, []string{"no space"})
	taken, _, _ := confirms(t, root, root.Submit("/actors", "/actors/create", url.Values{"actor": {"lea"}, "type": {"human"}}))
	holds(t, taken, 409, []string{"Ids are never given twice"})

	holds(t, root.Submit("/actors/eve@example.org", "/actors/edit", url.Values{"name": {"Eve <script>"}, "role": {"developer", "qa"}, "active": {"yes"}}), 422, []string{"Nothing was changed"})
	asked = root.Submit("/actors/eve@example.org", "/actors/edit", url.Values{"name": {"Eve"}, "role": {"qa", "project_lead"}, "active": {"yes"}})
	holds(t, asked, 200, []string{"Change eve@example.org?", "“Eve”", "May act as: project lead, from now on", "May no longer act as: developer"}, "stops counting")
	// Somebody else was quicker: nothing is done over what they did.
	name := "Evelyn"
	edited, err := w.Contracts.ActorEdit(t.Context(), w.As("root", contract.Admin), pipeline.ActorEdit{ID: "eve@example.org", Name: &name})
	consoletest.Must(w, edited, err)
	late, _, _ := confirms(t, root, asked)
	holds(t, late, 412, []string{"Somebody changed this"})
	asked = root.Submit("/actors/eve@example.org", "/actors/edit", url.Values{"name": {"Eve"}, "role": {"qa"}})
	holds(t, asked, 200, []string{"every token stops counting at once"})
	if done, _, _ := confirms(t, root, asked); done.Status != 303 {
		t.Fatalf("%d %s", done.Status, done.Body)
	}
	eve, err := w.Contracts.ActorGet(t.Context(), "eve@example.org")
	if consoletest.Must(w, eve, err); eve.Active || eve.Name != "Eve" || eve.Roles != contract.RolesOf(contract.QA) {
		t.Errorf("%+v", eve)
	}
	asked = root.Submit("/actors/root", "/actors/edit", url.Values{"role": {"qa"}, "active": {"yes"}})
	holds(t, asked, 200, []string{"This is you"})
	last, _, _ := confirms(t, root, asked)
	holds(t, last, 409, []string{"last active admin", "actor.last_admin"})
}

func TestASecretIsShownOnceOnThePageThatMadeIt(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	lea := w.Visit("lea")
	holds(t, lea.Submit("/actors/me", "/actors/tokens/create", url.Values{"days": {"30"}}), 422, []string{"Choose what the token allows"})
	asked := lea.Submit("/actors/me", "/actors/tokens/create", url.Values{"name": {"laptop"}, "scope": {"read", "decide"}, "days": {"7"}})
	holds(t, asked, 200, []string{"Make a token for lea?", "read, decide", "acts as lea", "shown once"}, "administer the service")
	made, action, form := confirms(t, lea, asked)
	secret := regexp.MustCompile(`plm_[A-Za-z0-9_-]+`).FindString(made.Body)
	if made.Status != 200 || secret == "" || made.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", made.Status, made.Header, made.Body)
	}
	who, err := w.Contracts.Authenticate(t.Context(), secret)
	if consoletest.Must(w, who, err); who.Actor.ID != "lea" || strings.Join(who.Token.Scopes, " ") != "decide read" || who.Token.ExpiresAt.Before(time.Now().Add(6*24*time.Hour)) {
		t.Errorf("%+v", who)
	}
	twice := lea.Post(action, form)
	holds(t, twice, 200, []string{"was made before", "cannot be shown again"}, "plm_")
	list, err := w.Contracts.TokenList(t.Context(), w.As("lea", ""), "", pipeline.Page{})
	if len(consoletest.Must(w, list, err)) != 2 {
		t.Errorf("there are %d tokens", len(list))
	}
	page := lea.Get("/actors/me")
	holds(t, page, 200, []string{"laptop"}, secret, w.Tokens["lea"])
	if strings.Contains(w.Log(), secret) {
		t.Error("the log holds a secret")
	}

	// Somebody else cannot end it, whoever has it can, and then it opens nothing.
	id := who.Token.ID
	sam := w.Visit("sam")
	foreign := sam.Submit("/actors/me", "/actors/tokens/revoke", url.Values{"actor": {"lea"}, "token": {id}})
	if foreign.Status != 403 {
		t.Errorf("sam is asked whether to revoke lea's: %d", foreign.Status)
	}
	asked = lea.Submit("/actors/me", "/actors/tokens/revoke", url.Values{"token": {id}})
	holds(t, asked, 200, []string{"Revoke laptop?", "at once, for good"}, "you will be signed out")
	if done, _, _ := confirms(t, lea, asked); done.Status != 303 || done.Header.Get("Location") != "/actors/me" {
		t.Errorf("%d %v", done.Status, done.Header)
	}
	if _, err := w.Contracts.Authenticate(t.Context(), secret); err == nil {
		t.Error("the token lives on")
	}
	holds(t, lea.Get("/actors/me"), 200, []string{"revoked"})
}

func TestAnAdminMakesATokenForSomebodyAndSeesWhatTheyDid(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add a payment page")
	root := w.Visit("root")
	asked := root.Submit("/actors/bot", "/actors/tokens/create", url.Values{"scope": {"execute", "admin"}, "days": {"1"}})
	holds(t, asked, 200, []string{"Make a token for bot?", "execute work, administer", "It can administer the service"})
	made, _, _ := confirms(t, root, asked)
	secret := regexp.MustCompile(`plm_[A-Za-z0-9_-]+`).FindString(made.Body)
	if who, err := w.Contracts.Authenticate(t.Context(), secret); err != nil || who.Actor.ID != "bot" {
		t.Errorf("%+v %v", who, err)
	}
	holds(t, root.Get("/actors/bot"), 200, []string{"<code>run.end</code>", `href="/audit/`, `/audit?actorId=bot`}, "Gates that wait")
	holds(t, root.Get("/actors/sam"), 200, []string{"Gates that wait", `href="/decisions/gates/` + string(gate) + `"`, "high"})
	holds(t, root.Get("/actors/ada"), 200, []string{"No gate waits"})
}

func TestSomebodyAddsASecondFactorAndProvesItBeforeAnother(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	lea := w.Visit("lea")
	holds(t, lea.Get("/actors/me"), 200, []string{"You have none."})
	offered := lea.Submit("/actors/me", "/actors/me/factors", url.Values{"name": {"phone"}})
	secret := regexp.MustCompile(`id="secret">([A-Z2-7]+)<`).FindStringSubmatch(offered.Body)
	if offered.Status != 200 || secret == nil || !strings.Contains(offered.Body, `href="otpauth://totp/`) || offered.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", offered.Status, offered.Body)
	}
	answer := func(page consoletest.Answer, code string) consoletest.Answer {
		t.Helper()
		_, form, ok := strings.Cut(page.Body, `action="/actors/me/factors/answer"`)
		if !ok {
			t.Fatalf("no code is asked for\n%s", page.Body)
		}
		form, _, _ = strings.Cut(form, "</form>")
		all := url.Values{"code": {code}}
		for _, m := range again.FindAllStringSubmatch(form, -1) {
			all.Add(m[1], m[2])
		}
		return lea.Post("/actors/me/factors/answer", all)
	}
	now := time.Now()
	nonsense := "000000"
	for step := -2; step <= 2; step++ {
		if totp(secret[1], now.Add(time.Duration(step)*30*time.Second)) == nonsense {
			nonsense = "111111"
		}
	}
	wrong := answer(offered, nonsense)
	holds(t, wrong, 422, []string{"proves nothing", "Type the code"}, secret[1])
	if done := answer(wrong, totp(secret[1], now)); done.Status != 303 || done.Header.Get("Location") != "/actors/me" {
		t.Fatalf("%d %s", done.Status, done.Body)
	}
	holds(t, lea.Get("/actors/me"), 200, []string{"phone", "codes of an app", "counts"}, secret[1])

	proof := lea.Submit("/actors/me", "/actors/me/factors", url.Values{"name": {"tablet"}})
	holds(t, proof, 200, []string{"Prove that it is you"}, "otpauth")
	holds(t, answer(proof, nonsense), 422, []string{"proves nothing"}, "otpauth")
	// A code counts once: the next one does.
	next := answer(proof, totp(secret[1], now.Add(30*time.Second)))
	holds(t, next, 200, []string{"Add tablet", "otpauth://"}, secret[1])
	if strings.Contains(w.Log(), secret[1]) {
		t.Error("the log holds a secret")
	}
	if a := w.Visit("bot").Get("/actors/me"); strings.Contains(a.Body, "/actors/me/factors") || a.Status != http.StatusOK {
		t.Errorf("an agent is offered a second factor: %d", a.Status)
	}
}
