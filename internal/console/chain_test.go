package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/request"
)

// tells holds that a page has every one of these texts, and none of those.
func tells(t *testing.T, a consoletest.Answer, there []string, absent ...string) {
	t.Helper()
	wrong := []string{}
	for _, text := range there {
		if !strings.Contains(a.Body, text) {
			wrong = append(wrong, "without "+text)
		}
	}
	for _, text := range absent {
		if strings.Contains(a.Body, text) {
			wrong = append(wrong, "with "+text)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%d: the page is %q\n%s", a.Status, wrong, a.Body)
	}
}

func TestChainsAreListedAndFound(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	draft := w.Draft("Write <script>alert(1)</script> to the shop")
	waits, gate := w.Changed("Add a payment page", consoletest.Change)
	lea := w.Visit("lea")
	tells(t, lea.Get("/chains"), []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;", "by ada", `href="/chains/` + string(draft) + `"`, "draft", "not begun", "Add a payment page", "refactor", "high", `Gate closes in`,
	}, "<script>alert", `class="empty"`)
	for query, want := range map[string]string{
		"state=Draft": "Write", "state=Active": "Add a payment", "phase=Refactor": "Add a payment", "risk=high": "Add a payment", "risk=low": "", "phase=Publish": "",
		"repository=shop": "both", "repository=other": "", "id=" + string(gate): "Add a payment", "id=" + strings.ToLower(string(draft)): "Write", "id=IC-999": "", "id=nobody": "",
		"state=Nonsense&risk=Nonsense&behind=Nonsense": "both", "id=" + string(waits) + "&state=Draft": "",
	} {
		a := lea.Get("/chains?" + query)
		switch want {
		case "both":
			tells(t, a, []string{"Write", "Add a payment"})
		case "":
			tells(t, a, []string{"No chain is like that."}, "Write", "Add a payment")
		case "Write":
			tells(t, a, []string{"Write"}, "Add a payment")
		default:
			tells(t, a, []string{want}, "Write")
		}
	}
	lea.Lang = "uk"
	tells(t, lea.Get("/chains"), []string{"Ланцюги", "чернетка", "високий", "від ada"})
	if a := w.Visit("").Get("/chains"); a.Status != http.StatusSeeOther {
		t.Errorf("somebody without a session: %d", a.Status)
	}
}

func TestALongListOfChainsIsReadInParts(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	for i := range 53 {
		w.Draft(fmt.Sprintf("Change number %02d of the shop", i))
	}
	lea := w.Visit("lea")
	first := lea.Get("/chains?state=Draft")
	tells(t, first, []string{"number 52", "number 03", "Older"}, "number 02")
	_, link, _ := strings.Cut(first.Body, `href="/chains?behind`)
	link, _, _ = strings.Cut("/chains?behind"+link, `"`)
	tells(t, lea.Get(strings.ReplaceAll(link, "&amp;", "&")), []string{"number 02", "number 00"}, "number 03", "Older")
}

func TestAChainIsOnePictureFromItsIntentToItsGate(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, gate := w.Changed("Add a payment page", consoletest.Change)
	lea := w.Visit("lea")
	a := lea.Get("/chains/" + string(chain))
	tells(t, a, []string{
		"<h1>Add a payment page</h1>", "in refactor", "Request", "nobody asked through the circle", "lea (project lead) agreed", "for: developer", "stabilize, try 1", "1 earlier", "passed",
		`href="/decisions/gates/` + string(gate) + `"`, "pending", "high", "not yet", `<ol class="picture"`,
		// The change, its digest and what was found in it, at its line.
		"These are the bytes", "2 files", ".mcp.json", "added", `id="f1-3"`, "An MCP server was added", `id="f2-11"`, "serve(&#34;new&#34;)",
		// What happened, and the proof of it.
		"the gate was announced", "EV-001", "people decide", "verify=1",
	}, "cause.", "state.", "outcome.", "chain.step")
	if !strings.Contains(a.Body, `"mcpServers"`) && !strings.Contains(a.Body, "&#34;mcpServers&#34;") {
		t.Error("the diff is not there")
	}
	// The finding stands behind its line and before the next.
	_, rest, _ := strings.Cut(a.Body, `id="f1-3"`)
	at, next := strings.Index(rest, "An MCP server was added"), strings.Index(rest, `id="f1-4"`)
	if at < 0 || at > next {
		t.Errorf("the finding stands at %d, the next line at %d", at, next)
	}
	lea.Lang = "uk"
	tells(t, lea.Get("/chains/"+string(chain)), []string{"Намір", "Ворота", "етап: впорядкування", "lea (керівник проєкту): згода", "Це ті самі байти", "Що сталося", "1 раніший"})
	for _, path := range []string{"/chains/IC-999", "/chains/nonsense", "/chains/" + string(gate), "/chains/IC-999/diff", "/chains/" + string(chain) + "/diff?run=none", "/chains/" + string(chain) + "/contracts/TS-999", "/chains/" + string(chain) + "/evidence/EV-999"} {
		if a := lea.Get(path); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	if a := w.Visit("").Get("/chains/" + string(chain)); a.Status != http.StatusSeeOther {
		t.Errorf("somebody without a session: %d", a.Status)
	}
}

func TestAChainThatStandsStillSaysWhyAndWhatHelps(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, gate := w.Changed("Add a payment page", consoletest.Change)
	w.Decide(gate, "sam", contract.SecurityReviewer, contract.Rejected)
	w.Until("it is frozen", func() bool {
		list, err := w.Contracts.ContractList(w.Context(), pipeline.ContractFilter{Chains: []contract.ID{chain}, States: []contract.State{contract.Frozen}}, pipeline.Page{})
		return err == nil && len(list) > 0
	})
	tells(t, w.Visit("lea").Get("/chains/"+string(chain)), []string{
		"is frozen.", "its gate was rejected", "What unfreezes it:", `href="/decisions/chains/` + string(chain) + `"`, `frozen"`, "rejected", "sam (security reviewer) said no",
	})
}

func TestFailedTriesLieBehindTheNewest(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain := w.Draft("Add a payment page")
	task := w.Activate(chain)
	lea := w.Visit("lea")
	tells(t, lea.Get("/chains/"+string(chain)), []string{"waits for somebody to take it", "Nothing has changed yet"})
	w.Fail(w.Begin(task), "the compiler says <no>")
	w.Begin(task)
	tells(t, lea.Get("/chains/"+string(chain)), []string{"at work", "1 earlier", "failed", "the compiler says &lt;no&gt;", "build, try 2"}, "<no>")
}

func TestAPublishedChainShowsItsReleaseNote(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, gate := w.Published("Add a *payment* page")
	a := w.Visit("lea").Get("/chains/" + string(chain))
	tells(t, a, []string{"Release note of " + string(chain), "Add a *payment* page", "Who agreed", "sam (security reviewer): agreed", "plimsoll export " + string(gate), "12 of 12 tests", "none was declared or observed", "Older"})
	if n := strings.Count(a.Body, `class="whole">`+w.Digest(gate)); n < 3 {
		t.Errorf("the digest that was agreed to stands %d times on the page", n)
	}
	if len(a.Body) > 60<<10 {
		t.Errorf("the page has %d bytes", len(a.Body))
	}
	tells(t, a, []string{"did not deliver its diff", "git diff " + consoletest.Base + " " + consoletest.Head})
	tells(t, w.Visit("lea").Get("/chains/"+string(chain)+"?kind=decision"), []string{"lea", "sam"}, "was announced")
	tells(t, w.Visit("lea").Get("/chains/"+string(chain)+"?kind=event"), []string{"the intent was announced"})
	older := w.Visit("lea").Get("/chains/" + string(chain) + "?from=25")
	if older.Status != http.StatusOK {
		t.Errorf("%d", older.Status)
	}
}

func TestEveryVersionOfAContractCanBeReached(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain := w.Draft("Add a payment page")
	w.Activate(chain)
	made, err := w.Contracts.IntentRevise(w.Context(), w.As("ada", contract.Requester), chain, pipeline.IntentArgs{
		Intent: "Add a page that takes payments", Priority: "high", RequestedCapabilities: []string{"read_repo", "write_repo"},
	})
	consoletest.Must(w, made, err)
	lea := w.Visit("lea")
	tells(t, lea.Get("/chains/"+string(chain)), []string{"contracts/" + string(chain) + "?version=1", "contracts/" + string(chain) + "?version=2"})
	tells(t, lea.Get("/chains/"+string(chain)+"/contracts/"+string(chain)+"?version=1"), []string{"Add a payment page", "version 2"}, "takes payments")
	tells(t, lea.Get("/chains/"+string(chain)+"/contracts/"+string(chain)), []string{"takes payments"})
	if a := lea.Get("/chains/" + string(chain) + "/contracts/" + string(chain) + "?version=7"); a.Status != http.StatusNotFound {
		t.Errorf("%d", a.Status)
	}
}

func TestAChainThatWasAskedForLeadsToItsRequest(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Garden()
	p := w.Ask("Let us decide to add the command hello to the repository shop.", "decision_draft", "propose_decision", "request_consent")
	var draft struct {
		ID     string `json:"artifact_id"`
		SHA256 string `json:"content_sha256"`
	}
	for _, text := range p.Artifacts {
		if strings.Contains(string(text), `"decision_draft"`) {
			if err := json.Unmarshal(text, &draft); err != nil {
				t.Fatal(err)
			}
		}
	}
	made, err := w.Circle.ArtifactConfirm(w.Context(), w.As("ada", ""), request.MoveArgs{ID: draft.ID, SHA256: draft.SHA256})
	consoletest.Must(w, made, err)
	for _, who := range []string{"ada", "bot"} { // who may see the request, and who may not
		tells(t, w.Visit(who).Get("/chains?id="+p.RequestID), []string{`href="/chains/IC-001"`, "<code>" + p.RequestID + "</code>"})
		tells(t, w.Visit(who).Get("/chains/IC-001"), []string{
			`correlation id <a href="/requests/` + p.RequestID + `">`, `href="/requests/` + p.RequestID + `"><code>`, "asked", "Create a contract",
		}, "nobody asked")
	}
}

func TestARunWhoseDiffIsCutShowsEveryFile(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	var long strings.Builder
	long.WriteString("diff --git a/long.txt b/long.txt\nnew file mode 100644\nindex 00..11\n--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1,1200 @@\n")
	for i := range 1200 {
		fmt.Fprintf(&long, "+line %04d\n", i+1)
	}
	long.WriteString("diff --git a/logo.bin b/logo.bin\nnew file mode 100644\nindex 00..22\n#omitted 12 700\n")
	long.WriteString("diff --git \"a/t\\303\\257.txt\" \"b/t\\303\\257.txt\"\nindex 33..44 100644\n--- \"a/t\\303\\257.txt\"\n+++ \"b/t\\303\\257.txt\"\n@@ -1 +1,2 @@\n-old\n#withheld\n+DEPLOY_TOKEN=<redacted>\n+PASSWORD=" + "swordfish\n")
	task := w.Activate(w.Draft("Add a long text"))
	w.Execute(task, consoletest.Run{Phase: phase.Build, Change: long.String(), Diff: "something else", Boundary: consoletest.Checked("complete", "")})
	w.Reaches("IC-001", phase.Stabilize)
	lea := w.Visit("lea")
	tells(t, lea.Get("/chains/IC-001"), []string{
		"3 files", "long.txt", "logo.bin", "not text", "tï.txt", "Not all bytes are shown", "1 line is withheld", "12 lines (700", "line 0100", "Show all of it: 1,205 lines", "git diff " + consoletest.Base,
	}, "line 0200", "swordfish")
	run, err := w.Contracts.RunList(w.Context(), pipeline.RunFilter{}, pipeline.Page{})
	path := "/chains/IC-001/diff?run=" + consoletest.Must(w, run, err)[0].ExecutionID
	tells(t, lea.Get(path), []string{"line 0001", "line 0499", "Further"}, "line 0501")
	tells(t, lea.Get(path+"&from=1000"), []string{"2 lines are withheld", "line 1000", "line 1200", "withheld in part", "PASSWORD=&lt;redacted&gt;", "The content is not text"}, "line 0999", "Further", "swordfish")
	tells(t, lea.Get(path+"&file=3"), []string{"DEPLOY_TOKEN"}, "line 0001")
}

func TestADiffThatIsNotWhatPeopleDecideOnSaysSo(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	task := w.Activate(w.Draft("Add a payment page"))
	w.Execute(task, consoletest.Run{Phase: phase.Build, Change: consoletest.Change, Diff: "other bytes", Boundary: consoletest.Checked("complete", "")})
	w.Reaches("IC-001", phase.Stabilize)
	tells(t, w.Visit("lea").Get("/chains/IC-001"), []string{"These are other bytes", "Do not decide by it"}, "These are the bytes")
}
