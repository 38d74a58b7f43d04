//go:build unix

package e2e_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver of tables

	"plimsoll.dev/internal/store/postgres/pgtest"
)

// The one path (docs/spec/circle.md §9): from words that somebody says to a circle
// to a release, and back to who said them. Everything on it carries one correlation
// id, the one of the request.

// languages is the same request in two of them; the second says that it is
// critical, and needs a consent.
func languages(e *estate, dir string) []*path {
	return []*path{
		{estate: e, id: "path-en", dir: dir, text: "Let us decide to add the command hello to the repository app."},
		{estate: e, id: "path-uk", dir: dir, text: "Вирішімо додати команду hello до репозиторію app.", flags: []string{"critical"}},
	}
}

func TestARequestBecomesARelease(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		travelled(t, lay(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"), 1))
	})
	t.Run("three nodes on PostgreSQL", func(t *testing.T) {
		if testing.Short() {
			t.Skip("three nodes")
		}
		t.Parallel()
		travelled(t, lay(t, pgtest.New(t), 3))
	})
}

func travelled(t *testing.T, e *estate) {
	t.Helper()
	list := languages(e, adopted(t, "openapi-service", ""))
	for _, p := range list {
		p.asks()
		p.works()
		c := p.hears()
		p.told(c)
		p.noted()
		p.answers()
		p.shows()
	}
	e.proves(list[0])
	e.stopAll()
	e.correlated(list...)
}

// However often nodes are killed on the way, the path comes to the same end, and
// the request hears of it once.
func TestAPathEndsTheSameHoweverOftenNodesAreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills nodes")
	}
	reference := lay(t, "sqlite:"+filepath.Join(t.TempDir(), "reference.db"), 1)
	ends := map[string]string{}
	for _, p := range languages(reference, adopted(t, "openapi-service", "")) {
		p.asks()
		p.works()
		ends[p.id] = p.end(p.hears())
	}
	reference.stopAll()
	hunted := func(t *testing.T, e *estate) {
		t.Helper()
		seed := uint64(time.Now().UnixNano())
		dir := adopted(t, "openapi-service", "")
		stop := e.hunt(seed)
		list := languages(e, dir)
		for _, p := range list {
			p.killed = true
			p.asks()
			p.works()
			p.hears()
		}
		kills := stop()
		for _, p := range list {
			p.killed = false
			if got := p.end(p.hears()); got != ends[p.id] {
				t.Errorf("%s (seed %d) came to\n%s\nand without kills to\n%s", p.id, seed, got, ends[p.id])
			}
			p.told(p.hears())
			p.shows()
		}
		e.proveAudit()
		e.stopAll()
		e.correlated(list...)
		t.Logf("%d kills; seed %d", kills, seed)
	}
	t.Run("killed", func(t *testing.T) {
		t.Run("SQLite", func(t *testing.T) {
			t.Parallel()
			hunted(t, lay(t, "sqlite:"+filepath.Join(t.TempDir(), "plimsoll.db"), 1))
		})
		t.Run("three nodes on PostgreSQL", func(t *testing.T) {
			t.Parallel()
			hunted(t, lay(t, pgtest.New(t), 3))
		})
	})
}

// told holds what the request shows and tells of its result.
func (p *path) told(c came) {
	p.Helper()
	if c.ContractID != p.intent || c.ArtifactID != p.decision.ID || c.TaskID != p.task || c.State != "Published" || c.Phase != "Published" ||
		c.PublishedAt == nil || c.ReleaseNote == nil || c.Gate == nil || c.Gate.GateID != p.gate || len(c.Results) != 1 || c.Results[0].State != "Published" {
		p.Errorf("%s shows %+v", p.id, c)
	}
	// Only another run, judged anew, may have people asked again.
	runs := all[run1](p, p.user("ada"), "/v1/runs", url.Values{"correlationId": {p.id}})
	judged := slices.DeleteFunc(slices.Clone(runs), func(r run1) bool { return r.Phase != "Stabilize" })
	if c.Gate.Version > int64(len(judged)) {
		p.Errorf("the gate of %s is version %d after the runs %+v", p.id, c.Gate.Version, runs)
	}
	out := p.must(p.command("ada", "ask", "show", p.id))
	for _, want := range []string{
		"contract " + p.intent + " version 1: Published, in Published, from " + p.decision.ID,
		fmt.Sprintf("gate %s version %d: approved, risk high", p.gate, c.Gate.Version), // a run that was repeated asks again
		"release note of exec-", "plimsoll task note " + p.task, "result of version 1: Published, written back ",
	} {
		if !strings.Contains(out, want) {
			p.Errorf("ask show does not say %q:\n%s", want, out)
		}
	}
	var stream []byte
	if err := p.user("ada").accepting("text/event-stream").send(p.Context(), http.MethodGet, "/v1/requests/"+p.id+"/events", "", "", nil, &stream); err != nil {
		p.Fatal(err)
	}
	phases := []string{}
	results := 0
	for line := range strings.SplitSeq(string(stream), "\n") {
		var e struct{ What, Contract, To string }
		if text, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(text), &e) == nil {
			switch e.What {
			case "phase":
				phases = append(phases, e.To)
			case "result":
				results++
			}
		}
	}
	// A run that was repeated after a kill may go through a phase once more.
	visited := []string{}
	for _, one := range phases {
		if !slices.Contains(visited, one) {
			visited = append(visited, one)
		}
	}
	if results != 1 || !slices.Equal(visited, phasesFrom("Plan")) || phases[len(phases)-1] != "Published" {
		p.Errorf("%s tells of the phases %v and %d results", p.id, phases, results)
	}
	records := all[struct {
		Record struct {
			To       string
			IntentID string
		}
	}](p, p.user("root"), "/v1/audit", url.Values{"correlationId": {p.id}, "action": {"request.result"}})
	if len(records) != 1 || records[0].Record.To != "Published" || records[0].Record.IntentID != p.intent {
		p.Errorf("%s has the results %+v on record", p.id, records)
	}
}

// noted holds the release note: who asked, what makes the risk, who agreed to
// what, and what ran.
func (p *path) noted() {
	p.Helper()
	note := p.must(p.command("ada", "task", "note", p.task))
	var c chain
	p.see("ada", "/v1/chains/"+p.intent, &c)
	gate, _ := c.of("PublishGate")
	for _, want := range []string{
		"- Request: " + p.id + " of ada in circle garden, decided as " + p.decision.ID + " " + p.decision.SHA256 + "\n", "- Correlation: " + p.id + "\n",
		"- Asked by: ada ", "- added .claude/commands/hello.md\n", "- Risk: high\n", "## Risk signals\n\n- undeclared ", "- boundary ", "\n- verification ",
		"- project_lead lea approved ", "- security_reviewer sam approved ", gate.Meta.Digest + " ", c.HeadCommit + "\n",
		"\n- Build exec-", "\n- Stabilize exec-", "\n- Refactor exec-", ", exit 0, boundary ", ", verify ", "Written by rex (release_manager) at ",
	} {
		if !strings.Contains(note, want) {
			p.Errorf("the note of %s does not say %q:\n%s", p.task, want, note)
		}
	}
	var q struct {
		Contracts []came
	}
	p.see("ada", "/v1/requests/"+p.id, &q)
	stored := p.must(p.command("ada", "run", "artifact", q.Contracts[0].ReleaseNote.ExecutionID, "release_note"))
	if stored != note {
		p.Errorf("the note that was stored is another:\n%s", stored)
	}
}

// answers holds the correlation id in what the service and the commands answer.
func (p *path) answers() {
	p.Helper()
	type meta struct {
		Correlation string `json:"correlationId"`
	}
	for _, id := range []string{p.intent, p.task, p.acceptance, p.gate} {
		var one struct{ Meta meta }
		p.see("ada", "/v1/contracts/"+id, &one)
		if one.Meta.Correlation != p.id {
			p.Errorf("%s is of the path %q", id, one.Meta.Correlation)
		}
		if out := p.must(p.command("ada", "intent", "show", p.intent)); !strings.Contains(out, p.id) {
			p.Errorf("intent show does not name %s:\n%s", p.id, out)
		}
	}
	var chains struct {
		Items []struct {
			IntentID    string `json:"intentId"`
			Correlation string `json:"correlationId"`
		}
	}
	p.see("ada", "/v1/chains?correlationId="+p.id, &chains)
	if len(chains.Items) != 1 || chains.Items[0].IntentID != p.intent || chains.Items[0].Correlation != p.id {
		p.Errorf("the chains of %s are %+v", p.id, chains.Items)
	}
	runs := all[run1](p, p.user("ada"), "/v1/runs", url.Values{"correlationId": {p.id}})
	for _, r := range runs {
		if r.Correlation != p.id {
			p.Errorf("the run %s is of the path %q", r.ExecutionID, r.Correlation)
		}
	}
	if len(runs) != 4 {
		p.Errorf("%s has %d runs", p.id, len(runs))
	}
	events := all[struct {
		Event struct{ Correlationid, Partitionkey string }
	}](p, p.user("ada"), "/v1/events", url.Values{"correlationid": {p.id}})
	if n := len(all[event](p, p.user("ada"), "/v1/events", url.Values{"partitionkey": {p.intent}})); n != len(events) || n == 0 {
		p.Errorf("%s has %d events, its chain %d", p.id, len(events), n)
	}
	for _, e := range events {
		if e.Event.Correlationid != p.id || e.Event.Partitionkey != p.intent {
			p.Errorf("an event of %s is %+v", p.id, e.Event)
		}
	}
	for _, args := range [][]string{
		{"intent", "show", p.intent},
		{"gate", "show", p.gate},
		{"run", "show", runs[0].ExecutionID},
		{"gate", "status", "--repo", p.dir, "--repository", "app", "--head", headOf(p)},
	} {
		if args[1] == "status" {
			args = slices.Delete(args, 2, 4) // --head needs no repository at hand
		}
		if out := p.must(p.command("ada", args...)); !strings.Contains(out, p.id) {
			p.Errorf("plimsoll %s does not name %s:\n%s", strings.Join(args, " "), p.id, out)
		}
	}
}

func headOf(p *path) string {
	p.Helper()
	var c chain
	p.see("ada", "/v1/chains/"+p.intent, &c)
	return c.HeadCommit
}

// proves holds that a chain somebody asked for can be proved as any other.
func (e *estate) proves(p *path) {
	e.Helper()
	to := filepath.Join(e.dir, "bundle")
	e.must(e.command("root", "export", p.gate, "-o", to))
	if out := e.must(e.command("", "verify-bundle", to, "--key", e.key()+".pub")); !strings.Contains(out, "good: "+p.gate) {
		e.Errorf("the bundle is not good: %s", out)
	}
}

// correlated holds that everything of a path carries its correlation id, and
// nothing else does: every row, and every line of a log. No node runs any more.
func (e *estate) correlated(list ...*path) {
	e.Helper()
	driver, name := "pgx", e.db
	if file, ok := strings.CutPrefix(e.db, "sqlite:"); ok {
		driver, name = "sqlite", file
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	column := func(query string, args ...any) []string {
		e.Helper()
		rows, err := db.QueryContext(e.Context(), query, args...)
		if err != nil {
			e.Fatalf("%s: %v", query, err)
		}
		defer func() { _ = rows.Close() }()
		out := []string{}
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				e.Fatal(err)
			}
			out = append(out, text)
		}
		if err := rows.Err(); err != nil {
			e.Fatal(err)
		}
		return out
	}
	ids := []string{""}
	for _, p := range list {
		ids = append(ids, p.id)
		of := `(SELECT id FROM contracts WHERE chain = $1)`
		for table, which := range map[string]string{
			"chains": "id = $1", "contracts": "chain = $1", "runs": "chain = $1", "phase_artifacts": "chain = $1", "reviews": "chain = $1", "events": "chain = $1",
			"votes": "contract IN " + of, "consents": "gate IN " + of, "audit": "contract IN " + of + " OR task_seed IN " + of,
		} {
			if got := column(`SELECT DISTINCT correlation_id FROM `+table+` WHERE `+which, p.intent); !slices.Equal(got, []string{p.id}) {
				e.Errorf("%s of %s are of the paths %q, want %s", table, p.intent, got, p.id)
			}
			if got := column(`SELECT DISTINCT correlation_id FROM `+table+` WHERE NOT (`+which+`) AND correlation_id = '`+p.id+`'`, p.intent); table != "audit" && len(got) > 0 {
				e.Errorf("%s of others are of the path %s", table, p.id)
			}
		}
		// The circle's records are of the same path.
		actions := column(`SELECT DISTINCT action FROM audit WHERE correlation_id = $1`, p.id)
		for _, want := range []string{"request.ask", "artifact.confirm", "artifact.contract", "contract.create", "activation.decide", "gate.decide", "request.result"} {
			if !slices.Contains(actions, want) {
				e.Errorf("the log has no %s of the path %s: %v", want, p.id, actions)
			}
		}
	}
	e.logLines(ids, list)
}

// logLines holds the lines of all logs.
func (e *estate) logLines(ids []string, list []*path) {
	e.Helper()
	seen := map[string]int{}
	for _, l := range e.lines() {
		if !slices.Contains(ids, l.Correlation) {
			e.Errorf("a line is of another path: %s", l.text)
		}
		want := ""
		for _, p := range list {
			if l.Chain == p.intent || l.Chain == p.id {
				want = p.id
			}
		}
		switch {
		case l.Chain != "" && want == "":
			e.Errorf("a line is of a chain nobody knows: %s", l.text)
		case want != "" && l.Correlation != want:
			e.Errorf("a line of %s does not name its path: %s", want, l.text)
		case l.Msg == "request" && l.Status < 300 && !l.Replayed && concerns[l.Operation] && l.Correlation == "":
			e.Errorf("a line of an operation does not name its path: %s", l.text)
		}
		if l.Correlation != "" {
			seen[l.Msg+l.Job+l.Operation+" "+l.Correlation]++
		}
	}
	for _, p := range list {
		for _, what := range []string{"jobcircle_step", "jobgenerate_taskseed", "jobjudge_execution", "jobmake_gate", "jobcircle_result", "requesttask.claim", "requestgate.decide", "requestoutcome.confirm"} {
			if seen[what+" "+p.id] == 0 && !p.killed && len(e.logs) == len(e.nodes) {
				e.Errorf("no line says that %s was done for %s: %v", what, p.id, fmt.Sprint(seen))
			}
		}
	}
}

// concerns is the operations that are about one path.
var concerns = map[string]bool{
	"request.ask": true, "request.get": true, "outcome.confirm": true, "outcome.get": true, "consent.decide": true, "activation.decide": true,
	"activation.list": true, "task.claim": true, "run.heartbeat": true, "run.complete": true, "artifact.put": true, "artifact.list": true, "artifact.get": true,
	"verify.record": true, "gate.decide": true, "gate.get": true, "gate.status": true, "review.record": true, "review.list": true, "note.get": true,
	"chain.get": true, "contract.get": true, "run.get": true,
}
