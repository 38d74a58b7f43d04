package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// What nobody sees could make a page say what it does not: each such character is
// shown by its number, wherever the text stands, and comes back unchanged in a
// field.
func TestNothingOnAPageIsUnseen(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	tricks := map[string]string{"\u202e": "202E", "\u200b": "200B", "\u2066": "2066", "\u00ad": "00AD", "\u3164": "3164", "\U000e0041": "E0041", "\U000e0101": "E0101"}
	text, want := "Pay", []string{}
	for trick, number := range tricks {
		text += trick + "x"
		want = append(want, "⟨U+"+number+"⟩x")
	}
	text += "o" + strings.Repeat("\u0301", 40)
	want = append(want, "o\u0301\u0301\u0301⟨U+0301⟩")
	chain, gate := w.Gate(text)
	for _, path := range []string{
		"/decisions/gates/" + string(gate), "/chains/" + string(chain), "/chains", "/inbox", "/chains/" + string(chain) + "/contracts/" + string(chain), "/decisions/chains/" + string(chain),
	} {
		for _, who := range []string{"lea", "sam"} {
			a := w.Visit(who).Get(path)
			_, body, _ := strings.Cut(a.Body, "<main")
			for trick, number := range tricks {
				if i := strings.Index(body, trick); i >= 0 {
					t.Errorf("%s as %s holds U+%s: …%q", path, who, number, body[max(0, i-80):i+10])
				}
			}
			if path != "/chains" && path != "/inbox" { // those show the beginning
				says(t, a, 200, want...)
			}
		}
	}
	// A family of emoji is one sign with unseen ones in it: what somebody wrote is
	// given back as they wrote it.
	reason := "\U0001f469\u200d\U0001f4bb says no"
	page := "/decisions/gates/" + string(gate)
	says(t, w.Visit("lea").Submit(page, page, form{"do": {"reject"}, "reason": {reason}}), 422, `maxlength="2000">`+reason+"</textarea>")
}

// Who is no member of a circle learns nothing of what was done in it, also not from
// the chain that came of it.
func TestATimelineTellsNothingOfACircleToStrangers(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	id, chain := decided(w, "Let us decide to add a page with the opening hours to the repository shop.")
	timeline := func(who string) consoletest.Answer {
		a := w.Visit(who).Get("/chains/" + string(chain))
		_, a.Body, _ = strings.Cut(a.Body, `id="timeline"`)
		return a
	}
	says(t, timeline("ada"), 200, id, "Ask", "Confirm an artifact", "run-")
	for _, who := range []string{"bot", "root", "dora"} {
		a := timeline(who)
		says(t, a, 200, "Create a contract", string(chain))
		lacks(t, a, "art-", "run-", "Confirm an artifact", "Begin work")
	}
}

// Forms that no page of ours makes are refused before they are read further, and
// none of them is a fault of the service.
func TestAFormThatNoPageMadeDoesNothing(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add payments")
	page := "/decisions/gates/" + string(gate)
	digest := w.Digest(gate)
	lea := w.Visit("lea")
	open := fields(t, lea.Get(page).Body, page, form{"do": {"approve"}, "digest": {digest}})
	for name, change := range map[string]form{
		"two decisions":        {"do": {"hold", "approve"}},
		"two digests":          {"digest": {digest, "sha256:00"}},
		"two versions":         {"version": {"1", "2"}},
		"two seals":            {"seal": {open.Get("seal"), "x"}},
		"two keys":             {"key": {open.Get("key"), "page-1"}},
		"a zero in the key":    {"key": {"page-\x00"}},
		"a zero in the reason": {"reason": {"a\x00b"}},
		"no UTF-8":             {"reason": {"\xff\xfe"}},
		"no UTF-8 in a name":   {"\xff": {"x"}},
	} {
		sent := form{}
		for _, from := range []form{open, change} {
			for k, v := range from {
				sent[k] = v
			}
		}
		a := lea.Post(page, sent)
		if a.Status != http.StatusBadRequest || strings.Contains(a.Body, "inc-") {
			t.Errorf("%s: %d\n%s", name, a.Status, main(a.Body))
		}
	}
	long := form{"do": {"reject"}, "digest": {digest}, "reason": {strings.Repeat("ї", 4001)}}
	says(t, lea.Submit(page, page, long), 422, "The reason is too long", "4,000 characters")
	shown, err := w.Contracts.GateGet(t.Context(), gate)
	if g := consoletest.Must(w, shown, err).Document.(*contract.PublishGate); len(g.Approvals) != 0 || g.Action == contract.Hold {
		t.Fatalf("%+v", g)
	}
	long["reason"] = []string{strings.Repeat("ї", 4000)}
	if a := lea.Submit(page, page, long); a.Status != http.StatusSeeOther {
		t.Errorf("%d\n%s", a.Status, main(a.Body))
	}
}

// Addresses that do not read name no page, and are no fault.
func TestAnAddressThatIsNoTextNamesNothing(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	lea := w.Visit("lea")
	for _, path := range []string{
		"/chains/%00", "/chains/%FF", "/decisions/gates/%00", "/decisions/consents/%FF", "/requests/%00", "/requests/a%FFb", "/requests/circles/%00",
		"/actors/%FF", "/actors/a%00", "/audit?correlationId=%00", "/audit?contractId=%FF%FF%FF%FF%FF%FF%FF%FF", "/audit?actorId=%00", "/rules/%00",
		"/requests?circle=%00", "/chains?q=%FF", "/chains/IC-001/diff?run=%00",
	} {
		if a := lea.Get(path); a.Status != http.StatusNotFound || strings.Contains(a.Body, "inc-") {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	secret := w.Tokens["lea"]
	if a := lea.Get("/health?x=%zz&t=" + secret); a.Status != http.StatusBadRequest || strings.Contains(a.Body, secret) {
		t.Errorf("a token behind what does not read: %d", a.Status)
	}
}

// What a stream keeps of a page is small.
func TestAStreamKeepsNoLongTopic(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	for _, topics := range []url.Values{{"t": {strings.Repeat("x", 300)}}, {"t": strings.Fields("a b c d e f g h i")}, {}} {
		if a := w.Visit("lea").Get("/live?" + topics.Encode()); a.Status != http.StatusNoContent {
			t.Errorf("%d", a.Status)
		}
	}
}

// Whoever makes a change decides how many files it has; a page names so many and
// says how many it does not.
func TestAChangeOfVeryManyFilesMakesNoLongPage(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	var change strings.Builder
	files := []string{}
	for i := range 2000 {
		fmt.Fprintf(&change, "diff --git a/f%[1]d b/f%[1]d\nindex 1..2 100644\n--- a/f%[1]d\n+++ b/f%[1]d\n@@ -1 +1 @@\n-a\n+b\n", i)
		files = append(files, fmt.Sprintf(`"f%d"`, i))
	}
	chain := w.Draft("Touch everything")
	task := w.Activate(chain)
	result := strings.Replace(consoletest.Checked("review_publishable", "review", consoletest.Widening), `".mcp.json","main.go"`, strings.Join(files, ","), 1)
	w.Execute(task, consoletest.Run{Phase: phase.Build, Boundary: result, Change: change.String()})
	w.Reaches(chain, phase.Stabilize)
	w.Execute(task, consoletest.Run{Phase: phase.Stabilize, Boundary: result, Change: change.String()})
	acceptance := w.Judged(chain)
	w.Votes(acceptance, "lea", contract.ProjectLead)
	w.Votes(acceptance, "sam", contract.SecurityReviewer)
	gate := w.Of(chain, contract.KindPublishGate)
	for _, path := range []string{"/decisions/gates/" + string(gate), "/chains/" + string(chain), "/chains/" + string(chain) + "/diff"} {
		a := w.Visit("lea").Get(path)
		says(t, a, 200, "1,500 more files are not named here.")
		if n := strings.Count(a.Body, "<li"); n > 600 {
			t.Errorf("%s has %d entries", path, n)
		}
	}
}
