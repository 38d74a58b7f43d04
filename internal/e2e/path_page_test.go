//go:build unix

package e2e_test

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.dev/internal/store/postgres/pgtest"
)

// The pages of the path: whoever stands on one of them finds all others by the
// correlation id, at whichever node.

// visits is what a page says within its frame to somebody who has signed in there.
func (p *process) visits(who, at, lang string) string {
	p.site.Helper()
	r, err := http.NewRequestWithContext(p.site.Context(), http.MethodGet, p.address+at, nil)
	if err != nil {
		p.site.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: p.site.tokens[who]})
	r.Header.Set("Accept-Language", lang)
	back, err := transport.Do(r)
	if err != nil {
		p.site.Fatal(err)
	}
	defer func() { _ = back.Body.Close() }()
	text, err := io.ReadAll(back.Body)
	if err != nil {
		p.site.Fatal(err)
	}
	_, body, ok := strings.Cut(string(text), "<main")
	if back.StatusCode != http.StatusOK || back.Request.URL.RequestURI() != at || !ok {
		p.site.Fatalf("%s of %s: %s at %s\n%s", at, who, back.Status, back.Request.URL, text)
	}
	return body
}

var (
	codeText   = regexp.MustCompile(`<code[^>]*>([^<]*)</code>`)
	recordLink = regexp.MustCompile(`href="(/audit/\d+)"`)
)

// factsOf is every id, digest and commit of a page.
func factsOf(body string) []string {
	list := []string{}
	for _, m := range codeText.FindAllStringSubmatch(body, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// onPages holds that pages name the path, and that every node has the same facts.
func (p *path) onPages(who string, list ...string) {
	p.Helper()
	for _, at := range list {
		var first []string
		for i, node := range p.nodes {
			facts := factsOf(node.visits(who, at, "en"))
			if !slices.Contains(facts, p.id) {
				p.Errorf("node %d: %s does not name %s: %v", i, at, p.id, facts)
			}
			if i == 0 {
				first = facts
			}
			if !slices.Equal(facts, first) {
				p.Errorf("%s is at node %d\n%v\nand at the first\n%v", at, i, facts, first)
			}
		}
	}
}

// shows holds the pages of a path that has ended.
func (p *path) shows() {
	p.Helper()
	var c chain
	p.see("ada", "/v1/chains/"+p.intent, &c)
	evidence, _ := c.of("Evidence")
	of := "/chains/" + p.intent
	p.onPages("ada", of, of+"/diff", of+"/evidence/"+evidence.Contract.ID, of+"/contracts/"+p.acceptance,
		"/requests/"+p.id, "/decisions/gates/"+p.gate, "/decisions/activations/"+p.acceptance)
	log := "/audit?" + url.Values{"correlationId": {p.id}}.Encode()
	record := recordLink.FindStringSubmatch(p.nodes[0].visits("root", log, "en"))
	if record == nil {
		p.Fatalf("%s shows no record", log)
	}
	p.onPages("root", log, record[1])
}

// hears reads a stream of a page up to the next news.
func hears(t *testing.T, lines *bufio.Scanner) bool {
	t.Helper()
	for lines.Scan() {
		if lines.Text() == "event: changed" {
			return true
		}
	}
	return false
}

// TestAPageHearsWhatAnotherNodeDidAndGoesOnElsewhere follows a page at one node
// while people decide at another, and at another once its own is killed.
func TestAPageHearsWhatAnotherNodeDidAndGoesOnElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("three nodes")
	}
	t.Parallel()
	s := found(t, pgtest.New(t))
	nodes := []*process{s.serve(), s.serve(), s.serve()}
	s.must(s.command("ada", "intent", "create", "Add a page", "-c", "read_repo", "-c", "write_repo"))
	listen := func(p *process) (*bufio.Scanner, func()) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.address+"/live?t=of%3AIC-001", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: "plimsoll-session", Value: s.tokens["ada"]})
		back, err := transport.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(back.Body)
		if !hears(t, lines) { // that it listens
			t.Fatal("the stream ends at once")
		}
		return lines, func() { _ = back.Body.Close() }
	}
	const page = "/chains/IC-001"
	lines, leave := listen(nodes[0])
	if body := nodes[0].visits("ada", page, "en"); !strings.Contains(body, "draft") {
		t.Errorf("before anybody decided, the page says\n%s", body)
	}
	begun := time.Now()
	yes := map[string]any{"version": 1, "decision": "approved"}
	if err := s.user("lea").on(nodes[1]).post(t.Context(), "/v1/contracts/IC-001/activations", "yes", yes, nil); err != nil {
		t.Fatal(err)
	}
	for { // as a page does: it asks for itself again at all news
		if !hears(t, lines) {
			t.Fatal("the page at one node does not hear of a decision at another")
		}
		if strings.Contains(nodes[0].visits("ada", page, "en"), "lea (project lead) agreed") {
			break
		}
	}
	t.Logf("the page at another node says so %s after the decision was sent", time.Since(begun).Round(time.Millisecond))
	s.use(nodes[1])
	nodes[0].kill()
	for hears(t, lines) { // what was under way still arrives
	}
	leave()
	s.must(s.command("root", "contract", "revoke", "IC-001", "--reason", "no longer wanted"))
	_, leave = listen(nodes[2])
	for _, node := range nodes[1:] {
		if body := node.visits("ada", page, "en"); !strings.Contains(body, "revoked") {
			t.Errorf("after the end, the page says\n%s", body)
		}
	}
	nodes[1].stop()
	leave()
	nodes[2].stop()
}
