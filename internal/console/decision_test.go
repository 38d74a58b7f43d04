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
	"plimsoll.dev/internal/pipeline/phase"
)

type form = url.Values

// says holds that a page says all of these.
func says(t *testing.T, a consoletest.Answer, status int, wants ...string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("status %d, want %d\n%s", a.Status, status, main(a.Body))
	}
	for _, want := range wants {
		if !strings.Contains(a.Body, want) {
			t.Errorf("the page does not say %q\n%s", want, main(a.Body))
		}
	}
}

func main(body string) string {
	_, after, ok := strings.Cut(body, "<main")
	if !ok {
		return body
	}
	return after
}

func lacks(t *testing.T, a consoletest.Answer, nots ...string) {
	t.Helper()
	for _, not := range nots {
		if strings.Contains(a.Body, not) {
			t.Errorf("the page says %q\n%s", not, main(a.Body))
		}
	}
}

func TestAGateAsksInOneSentenceAndShowsWhatItIsAbout(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add <script>alert(1)</script> payments")
	page := "/decisions/gates/" + string(gate)
	digest := w.Digest(gate)
	lea := w.Visit("lea")
	a := lea.Get(page)
	says(t, a, 200, "May bot publish the change of IC-001?", "It adds an MCP server.", "2 people must agree.", "&lt;script&gt;",
		"The gate then still asks security reviewer", "PG-001 is closed and Revoked", "IC-001, TS-001 and AC-001 are frozen",
		".mcp.json:4", "HOST-MCP-SERVER-ADDED", "main.go", `value="`+digest+`"`, "shop@a1b2c3d", "agent_boundary_1", "counts as no", "sam")
	lacks(t, a, "<script>alert")
	// Who may not agree is told who can, and gets no button that nobody lets through.
	for who, why := range map[string]string{
		"ada": "You hold no role that is still asked for", "bot": "Only people decide here", "rex": "As security reviewer can decide: dora and sam",
	} {
		a := w.Visit(who).Get(page)
		says(t, a, 200, why)
		lacks(t, a, `value="approve"`, `value="reject"`)
	}
	// An admin can stop it, and nothing else.
	root := w.Visit("root").Get(page)
	says(t, root, 200, `value="reject"`)
	lacks(t, root, `value="approve"`)
	// Somebody with several roles chooses.
	says(t, w.Visit("dora").Get(page), 200, `id="role-project_lead"`, `id="role-security_reviewer"`)
	lea.Lang = "uk"
	says(t, lea.Get(page), 200, "Чи може bot опублікувати зміну IC-001?", "Вона додає сервер MCP.", "Погодитися мають 2 людини.", "Якщо ви схвалите", "рецензент безпеки")
	says(t, lea.Get("/decisions/gates/PG-999"), 404, "Такої сторінки немає")
	says(t, lea.Get("/decisions/gates/%3Cscript%3E"), 404)
	lea.Lang = ""
	says(t, w.Visit("lea").Get("/decisions/gates/IC-001"), 404)
	// What it shows when the bytes are not those that were seen.
	other := lea.Get(page + "?seen=sha256%3A00")
	says(t, other, 200, "What this page asked about is another by now", "Look at it as it is now")
	lacks(t, other, `value="approve"`, `id="tick"`)
}

func TestADecisionNamesWhatItIsAbout(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add payments")
	page := "/decisions/gates/" + string(gate)
	digest := w.Digest(gate)
	lea := w.Visit("lea")
	pending := func() {
		t.Helper()
		shown, err := w.Contracts.GateGet(t.Context(), gate)
		if g := consoletest.Must(w, shown, err).Document.(*contract.PublishGate); g.FinalDecision != contract.DecisionPending || len(g.Approvals) != 0 {
			t.Fatalf("%+v", g)
		}
	}
	says(t, lea.Submit(page, page, form{"do": {"approve"}}), 422, "Your decision was not taken", "Tick what you decide on")
	pending()
	says(t, lea.Submit(page, page, form{"do": {"approve"}, "digest": {"sha256:" + strings.Repeat("0", 64)}, "reason": {"kept <text>"}}), 409,
		"What you ticked is not what the gate asks about now", "kept &lt;text&gt;", `value="`+digest+`"`)
	pending()
	says(t, lea.Submit(page, page, form{"do": {"reject"}, "digest": {digest}, "reason": {"  "}}), 422, "Write the reason")
	says(t, lea.Submit(page, page, form{"do": {"approve"}, "digest": {digest}, "role": {"security_reviewer"}}), 403, "You do not hold that role")
	says(t, lea.Submit(page, page, form{"do": {"dance"}, "digest": {digest}}), 400)
	pending()
	a := lea.Submit(page, page, form{"do": {"approve"}, "digest": {digest}})
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != page {
		t.Fatalf("%d %v", a.Status, a.Header)
	}
	says(t, lea.Get(page), 200, "You approved as project lead", "Still asked: security reviewer", "Agreed already: lea")
	// The second of two people sees the state that the first left.
	sam := w.Visit("sam")
	open := sam.Get(page)
	w.Decide(gate, "dora", contract.SecurityReviewer, contract.Rejected)
	late := sam.Post(page, fields(t, open.Body, page, form{"do": {"approve"}, "digest": {digest}}))
	says(t, late, 409, "Somebody was faster", "dora rejected it", "read the change", "Resolve it")
	lacks(t, late, `value="approve"`, "inc-")
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// fields is what a form of a page that was opened before carries, with more.
func fields(t *testing.T, body, action string, more form) form {
	t.Helper()
	_, text, ok := strings.Cut(body, `action="`+action+`"`)
	if !ok {
		t.Fatalf("there is no form for %s\n%s", action, main(body))
	}
	text, _, _ = strings.Cut(text, "</form>")
	out := form{}
	for _, m := range hiddenField.FindAllStringSubmatch(text, -1) {
		out.Add(m[1], m[2])
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestAFormThatIsSentTwiceDecidesOnce(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add payments")
	page := "/decisions/gates/" + string(gate)
	lea := w.Visit("lea")
	all := fields(t, lea.Get(page).Body, page, form{"do": {"approve"}, "digest": {w.Digest(gate)}})
	for range 2 {
		if a := lea.Post(page, all); a.Status != http.StatusSeeOther || a.Header.Get("Location") != page {
			t.Fatalf("%d %s", a.Status, main(a.Body))
		}
	}
	shown, err := w.Contracts.GateGet(t.Context(), gate)
	if g := consoletest.Must(w, shown, err).Document.(*contract.PublishGate); len(g.Approvals) != 1 {
		t.Errorf("%+v", g.Approvals)
	}
}

func TestAGateIsHeldAndReleased(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add payments")
	page := "/decisions/gates/" + string(gate)
	sam, lea := w.Visit("sam"), w.Visit("lea")
	if a := sam.Submit(page, page, form{"do": {"hold"}, "reason": {"wait for the audit"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	held := sam.Get(page)
	says(t, held, 200, "on hold", "Nobody can approve until it is released", `value="reject"`)
	lacks(t, held, `value="approve"`, `value="release"`)
	says(t, lea.Get("/inbox"), 200, "The gate of IC-001 is on hold")
	if a := lea.Submit(page, page, form{"do": {"release"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	says(t, sam.Get(page), 200, `value="approve"`)
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	if a := sam.Submit(page, page, form{"do": {"approve"}, "digest": {w.Digest(gate)}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	says(t, sam.Get(page), 200, "sam agreed last", "CI may let a1b2c3d pass")
}

func TestADraftIsAgreedToOrNot(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	first, second := w.Draft("Add a login page"), w.Draft("Add a cookie wall", "read_repo", "network_access")
	made, err := w.Contracts.IntentCreate(t.Context(), w.As("dora", contract.Requester), pipeline.IntentArgs{Intent: "Add a menu", Priority: "low", RequestedCapabilities: []string{"read_repo"}})
	own := consoletest.Must(w, made, err).Ref().ID
	lea := w.Visit("lea")
	page := "/decisions/activations/" + string(first)
	a := lea.Get(page)
	says(t, a, 200, "May the work that ada asks for begin?", "Add a login page", "write to the repository", "becomes Active, and a task is made from it")
	digest := tick(t, a.Body)
	says(t, lea.Submit(page, page, form{"do": {"approve"}}), 422, "Tick what you decide on")
	says(t, lea.Submit(page, page, form{"do": {"approve"}, "digest": {"sha256:" + strings.Repeat("1", 64)}}), 409, "Somebody changed it since the page was opened")
	if a := lea.Submit(page, page, form{"do": {"approve"}, "digest": {digest}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	says(t, lea.Get(page), 200, "was agreed to", "lea")
	w.Of(first, contract.KindTaskSeed)
	// The next version asks while the one before is under way.
	next, err := w.Contracts.IntentRevise(t.Context(), w.As("ada", contract.Requester), first, pipeline.IntentArgs{
		Intent: "Add a login page with a key", Priority: "high", RequestedCapabilities: []string{"read_repo"},
	})
	consoletest.Must(w, next, err)
	says(t, lea.Get("/inbox"), 200, page, "Add a login page with a key")
	says(t, lea.Get(page), 200, "version 2", "Add a login page with a key", `id="approve"`)

	page = "/decisions/activations/" + string(second)
	says(t, lea.Get(page), 200, "read the repository and use the network")
	if a := lea.Submit(page, page, form{"do": {"reject"}, "digest": {tick(t, lea.Get(page).Body)}, "reason": {"no need"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	rejected := lea.Get(page)
	says(t, rejected, 200, "Version 1 was rejected", "no need")
	lacks(t, rejected, `id="tick"`)
	lacks(t, lea.Get("/inbox"), string(second))

	// Who asked for the work does not agree to it.
	page = "/decisions/activations/" + string(own)
	dora := w.Visit("dora")
	asked := dora.Get(page)
	says(t, asked, 200, "You asked for this work, so somebody else has to agree to it")
	lacks(t, asked, `value="approve"`)
	lacks(t, dora.Get("/inbox"), page)
	says(t, lea.Get("/inbox"), 200, page)
	lea.Lang = "uk"
	says(t, lea.Get(page), 200, "Чи може початися робота, яку просить dora?", "читати репозиторій")
	says(t, lea.Get("/decisions/activations/IC-999"), 404)
}

// tick is the digest that a page asks to be ticked.
func tick(t *testing.T, body string) string {
	t.Helper()
	m := regexp.MustCompile(`id="tick" name="digest" value="([^"]+)"`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("nothing to tick\n%s", main(body))
	}
	return m[1]
}

func TestAFrozenChainGoesOnAndAsksAnew(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, gate := w.Gate("Add payments")
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Rejected)
	page := "/decisions/chains/" + string(chain)
	lea := w.Visit("lea")
	says(t, lea.Get(page), 200, "Does IC-001 go on?", "its gate was rejected", "The gate PG-001 was rejected", "a new gate asks")
	says(t, w.Visit("ada").Get(page), 200, "You hold no role that may resume this", "As project lead can decide: dora and lea")
	says(t, lea.Submit(page, page+"/resume", form{"ref": {"IC-001.1"}}), 422, "Write how the cause was resolved")
	says(t, w.Visit("ada").Post(page+"/resume", fields(t, lea.Get(page).Body, page+"/resume", form{})), 403)
	all := form{"ref": {"AC-001.1", "IC-001.1", "TS-001.1"}, "reason": {"talked to sam"}, "judge": {"yes"}}
	shown, err := w.Contracts.ChainGet(t.Context(), chain)
	all["ref"] = nil
	for _, c := range consoletest.Must(w, shown, err).Contracts {
		if c.Document.Head().State == contract.Frozen {
			all["ref"] = append([]string{string(c.Ref().ID) + "." + string(rune('0'+c.Ref().Version))}, all["ref"]...)
		}
	}
	if a := lea.Submit(page, page+"/resume", all); a.Status != http.StatusSeeOther || a.Header.Get("Location") != page {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	w.Until("the gate asks anew", func() bool {
		g, err := w.Contracts.GateGet(t.Context(), gate)
		return err == nil && g.Ref().Version == 2 && g.Document.(*contract.PublishGate).FinalDecision == contract.DecisionPending
	})
	says(t, lea.Get("/inbox"), 200, "/decisions/gates/"+string(gate))
	says(t, lea.Get("/decisions/chains/IC-999"), 404)
}

func TestWorkIsReviewedFrozenAndRevoked(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, gate := w.Gate("Add payments")
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Approved)
	task := w.Of(chain, contract.KindTaskSeed)
	w.Reaches(chain, phase.Refactor)
	lea := w.Visit("lea")
	lacks(t, lea.Get("/inbox"), "good enough")
	w.Execute(task, consoletest.Run{Phase: phase.Refactor})
	page := "/decisions/chains/" + string(chain)
	for _, who := range []string{"lea", "sam"} {
		v := w.Visit(who)
		says(t, v.Get("/inbox"), 200, "Is the work of IC-001 good enough to be published?", page)
		says(t, v.Submit(page, page+"/review", form{"do": {"approved"}}), 422, "Tick what you decide on")
		says(t, v.Submit(page, page+"/review", form{"do": {"changes_requested"}, "digest": {consoletest.Head}}), 422, "Write what has to change")
		says(t, v.Submit(page, page+"/review", form{"do": {"approved"}, "digest": {consoletest.Base}}), 409, "another commit by now")
		if a := v.Submit(page, page+"/review", form{"do": {"approved"}, "digest": {consoletest.Head}}); a.Status != http.StatusSeeOther {
			t.Fatalf("%d %s", a.Status, main(a.Body))
		}
	}
	w.Reaches(chain, phase.Publish)
	says(t, lea.Get(page), 200, "Nothing waits in IC-001", "Freeze something of this chain")
	if a := lea.Submit(page, page+"/freeze", form{"ref": {string(task) + ".1"}, "cause": {"external_dependency"}, "reason": {"the registry is down"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	says(t, lea.Get(page), 200, "something outside that the work needs is not there")
	says(t, lea.Submit(page, page+"/revoke", form{"ref": {string(task) + ".1"}, "ground": {"manual_stop"}, "reason": {"not wanted"}}), 422, "this cannot be undone")
	says(t, lea.Submit(page, page+"/revoke", form{"ref": {string(task) + ".1"}, "ground": {"audit"}, "reason": {"not wanted"}, "sure": {"yes"}}), 403)
	if a := lea.Submit(page, page+"/revoke", form{"ref": {string(task) + ".1"}, "ground": {"manual_stop"}, "reason": {"not wanted"}, "sure": {"yes"}}); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, main(a.Body))
	}
	shown, err := w.Contracts.ContractGet(t.Context(), task, 1)
	if s := consoletest.Must(w, shown, err).Document.Head().State; s != contract.Revoked {
		t.Errorf("%s is %s", task, s)
	}
}
