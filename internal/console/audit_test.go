package console_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/event"
)

// lines is the whole audit log of a world.
func lines(w *consoletest.World, f pipeline.AuditFilter) []pipeline.AuditLine {
	list, err := w.Contracts.AuditList(w.Context(), 0, f, 0)
	return consoletest.Must(w, list, err)
}

var shownRecord = regexp.MustCompile(`<td class="num"><a href="/audit/([0-9]+)">`)

// positions is the records a page lists, in its order.
func positions(a consoletest.Answer) (list []int64) {
	for _, m := range shownRecord.FindAllStringSubmatch(a.Body, -1) {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		list = append(list, n)
	}
	return list
}

func TestTheLogIsListedFromItsEndAndFiltered(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, gate := w.Gate("Add a payment page")
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	v := w.Visit("root")
	all := lines(w, pipeline.AuditFilter{})
	first := v.Get("/audit")
	holds(t, first, 200, []string{"<h1>Audit</h1>", "Decide at a gate", "<code class=\"quiet\">gate.decide</code>", `href="/audit/verify"`})
	got := positions(first)
	if len(got) != min(50, len(all)) || got[0] != all[len(all)-1].Position || got[1] != got[0]-1 {
		t.Errorf("%d of %d records are shown: %v", len(got), len(all), got)
	}
	today := contract.At(time.Now()).String()[:10]
	digest := w.Digest(gate)
	for _, try := range []struct {
		query  string
		filter pipeline.AuditFilter
	}{
		{"contractId=" + strings.ToLower(string(gate)), pipeline.AuditFilter{Contracts: []contract.ID{gate}}},
		{"correlationId=" + string(chain), pipeline.AuditFilter{Correlations: []string{string(chain)}}},
		{"taskSeedId=TS-001", pipeline.AuditFilter{TaskSeeds: []contract.ID{"TS-001"}}},
		{"actorId=lea", pipeline.AuditFilter{Actors: []contract.ActorID{"lea"}}},
		{"role=security_reviewer", pipeline.AuditFilter{Roles: []contract.Role{contract.SecurityReviewer}}},
		{"action=activation.decide&actorId=sam", pipeline.AuditFilter{Actions: []string{"activation.decide"}, Actors: []contract.ActorID{"sam"}}},
		{"riskLevel=high", pipeline.AuditFilter{Levels: []contract.Level{contract.High}}},
		{"finalDecision=pending", pipeline.AuditFilter{FinalDecisions: []contract.FinalDecision{contract.DecisionPending}}},
		{"date=" + today, pipeline.AuditFilter{}},
		{"date=2020-01-01", pipeline.AuditFilter{Actions: []string{"none"}}},
		{"contractId=" + url.QueryEscape(digest), pipeline.AuditFilter{Mentions: digest[len(digest)-64:]}},
		{"contractId=" + url.QueryEscape(digest[len(digest)-64:len(digest)-60]+" "+digest[len(digest)-60:len(digest)-56]), pipeline.AuditFilter{Mentions: digest[len(digest)-64 : len(digest)-56]}},
	} {
		want := lines(w, try.filter)
		if len(want) == 0 && try.query != "date=2020-01-01" {
			t.Fatalf("%s: the story has no such record", try.query)
		}
		a := v.Get("/audit?" + try.query)
		got := positions(a)
		if a.Status != 200 || len(got) != min(50, len(want)) {
			t.Errorf("%s: %d, %d records instead of %d", try.query, a.Status, len(got), len(want))
			continue
		}
		for i, n := range got {
			if n != want[len(want)-1-i].Position {
				t.Errorf("%s: record %d at %d", try.query, n, i)
			}
		}
	}
	holds(t, v.Get("/audit?contractId="+string(gate)), 200, []string{`href="/audit?correlationId=` + string(chain) + `"`, `href="/chains/` + string(chain) + `"`})
	holds(t, v.Get("/audit?contractId=IC-999"), 200, []string{"No record says this"})
	holds(t, v.Get("/audit?date=yesterday"), 200, []string{"This is no day"})
	holds(t, v.Get("/audit?actorId=%3Cscript%3Ealert(1)%3C/script%3E"), 200, []string{"&lt;script&gt;alert(1)"}, "<script>alert")
	v.Lang = "uk"
	holds(t, v.Get("/audit"), 200, []string{"<h1>Аудит</h1>", "Вирішити на воротах", "керівник проєкту"}, ">audit.", ">action.")
}

func TestALongLogIsPagedBackwards(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	for i := range 120 {
		a, err := w.Contracts.ActorCreate(t.Context(), w.As("root", contract.Admin), pipeline.ActorArgs{ID: contract.ActorID(fmt.Sprintf("w%03d", i)), Type: contract.Agent})
		consoletest.Must(w, a, err)
	}
	v, seen, next := w.Visit("root"), int64(0), "/audit?action=actor.create"
	for n := 0; next != ""; n++ {
		a := v.Get(next)
		for _, p := range positions(a) {
			if seen != 0 && p >= seen {
				t.Fatalf("record %d comes behind %d", p, seen)
			}
			seen = p
		}
		_, link, ok := strings.Cut(a.Body, `<a class="button" href="/audit?`)
		if next = ""; ok {
			link, _, _ = strings.Cut(link, `"`)
			next = "/audit?" + strings.ReplaceAll(link, "&amp;", "&")
		}
		if n > 0 && !strings.Contains(a.Body, `href="/audit?action=actor.create">Newest</a>`) {
			t.Error("there is no way back to the newest")
		}
	}
	if want := lines(w, pipeline.AuditFilter{Actions: []string{"actor.create"}}); seen != want[0].Position {
		t.Errorf("the last page ends at %d, not at %d", seen, want[0].Position)
	}
}

func TestARecordIsToldInWordsWithItsProof(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	chain, gate := w.Gate("Add a <b>payment</b> page")
	w.Decide(gate, "lea", contract.ProjectLead, contract.Approved)
	list := lines(w, pipeline.AuditFilter{Actions: []string{"gate.decide"}, Actors: []contract.ActorID{"lea"}})
	l := list[len(list)-1]
	before := lines(w, pipeline.AuditFilter{})[l.Position-2]
	v := w.Visit("root")
	path := fmt.Sprintf("/audit/%d", l.Position)
	a := v.Get(path)
	holds(t, a, 200, []string{
		"Decide at a gate", "done", l.Link.String(), before.Link.String(), "It follows from the record before it", "read the change",
		`href="/chains/` + string(chain) + `"`, `href="/actors/lea"`, "project lead", fmt.Sprintf(`href="/audit/%d"`, l.Position-1),
		"<dt>Reason</dt>", "&#34;timestamp&#34;:",
	}, "audit.member")
	var members map[string]any
	if err := json.Unmarshal(l.Text, &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members {
		if text, ok := value.(string); ok && text != "" && name != "timestamp" && !strings.Contains(a.Body, text) {
			t.Errorf("%s is not shown: %s", name, text)
		}
	}
	v.Lang = "uk"
	holds(t, v.Get(path), 200, []string{"Вирішити на воротах", "Він випливає з попереднього запису", "<dt>Причина</dt>"}, "audit.member")
	for _, none := range []string{"/audit/0", "/audit/999999", "/audit/x"} {
		holds(t, v.Get(none), 404, nil)
	}
}

func TestOnlyWhoMayReadTheLogDoes(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	made, err := w.Contracts.TokenCreate(t.Context(), w.As("lea", ""), pipeline.TokenArgs{Scopes: []string{"read"}, ExpiresAt: time.Now().AddDate(0, 0, 1)})
	w.Tokens["reader"] = consoletest.Must(w, made, err).Secret
	v := w.Visit("reader")
	for _, path := range []string{"/audit", "/audit/1", "/audit/verify"} {
		holds(t, v.Get(path), 403, []string{"auth.scope_missing"}, `href="/audit/1"`)
	}
	holds(t, w.Visit("").Get("/audit"), 303, nil)
}

// verifies has the log verified as somebody does on the page.
func verifies(w *consoletest.World, known string) consoletest.Answer {
	return w.Visit("root").Submit("/audit/verify", "/audit/verify", url.Values{"known": {known}})
}

func TestTheLogIsVerifiedAndTheFirstBadRecordIsNamed(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	w.Draft("One")
	w.Draft("Two")
	good := verifies(w, "")
	n := len(lines(w, pipeline.AuditFilter{}))
	holds(t, good, 200, []string{fmt.Sprintf("All %d records, from ", n), "as they were written", "Keep this checkpoint", "</html>"}, `role="alert"`)
	_, note, _ := strings.Cut(good.Body, `<pre tabindex="0">`)
	note, _, _ = strings.Cut(note, "</pre>")
	note = strings.ReplaceAll(note, "&#43;", "+")
	holds(t, verifies(w, note), 200, []string{fmt.Sprintf("Your checkpoint of record %d", n), "lies in this log"}, `role="alert"`)
	holds(t, verifies(w, strings.Replace(note, fmt.Sprintf("\n%d\n", n), "\n1\n", 1)), 422, []string{"This is no checkpoint of this log"})

	w.Damage(`UPDATE audit SET line = CAST(replace(CAST(line AS TEXT), '"role":"requester"', '"role":"admin"') AS BLOB) WHERE position = $1`, n)
	bad := verifies(w, note)
	holds(t, bad, 200, []string{fmt.Sprintf(`<a href="/audit/%d">Record %d</a> does not follow`, n, n), fmt.Sprintf("The %d records before it are good.", n-1), "</html>"}, "as they were written", "Keep this checkpoint")
	holds(t, w.Visit("root").Get(fmt.Sprintf("/audit/%d", n)), 200, []string{"It does not follow from the record before it"}, "It follows from")

	// Whoever also makes the hashes anew is found by who kept a checkpoint.
	all := lines(w, pipeline.AuditFilter{})
	next := event.Head{Count: int64(n - 1), Link: all[n-2].Link}.Append(all[n-1].Text)
	w.Damage(`UPDATE audit SET link = $1 WHERE position = $2`, next.Link[:], n)
	w.Damage(`UPDATE heads SET audit_link = $1`, next.Link[:])
	holds(t, verifies(w, ""), 200, []string{"as they were written"})
	holds(t, verifies(w, note), 200, []string{"the log was made anew"}, "as they were written")

	w.Damage(`DELETE FROM audit WHERE position = 3`)
	holds(t, verifies(w, ""), 200, []string{"Record 3 is not there.", "The 2 records before it are good."})
	v := w.Visit("root")
	v.Lang = "uk"
	holds(t, v.Submit("/audit/verify", "/audit/verify", nil), 200, []string{"Запис 3 відсутній.", "2 записи перед ним справні."}, "verify.")
}
