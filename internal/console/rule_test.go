package console_test

import (
	"html"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev"
	"plimsoll.dev/internal/console/consoletest"
	"plimsoll.dev/internal/gate/rule"
	"plimsoll.dev/internal/verify/check"
)

func TestEveryRuleIsListedAndHasItsPage(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	v := w.Visit("lea")
	list := v.Get("/rules")
	if len(list.Body) > 60<<10 {
		t.Errorf("the list has %d bytes", len(list.Body))
	}
	pages := 0
	see := func(id, title, finding string) {
		t.Helper()
		pages++
		holds(t, list, 200, []string{`href="/rules/` + id + `" lang="en">` + html.EscapeString(title) + `<`, "<code>" + id + "</code>"}, "rules.group", ">rules.")
		a := v.Get("/rules/" + id)
		if found := v.Get("/rules/" + finding); found.Status != 200 || a.Status != 200 || !strings.Contains(found.Body, `data-copy="`+finding+`"`) {
			t.Fatalf("%s: %d, %s: %d", id, a.Status, finding, found.Status)
		}
		text, err := plimsoll.RulePage(id)
		if err != nil {
			t.Fatal(err)
		}
		// What the page says is there, fence by fence and heading by heading.
		inside := false
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.HasPrefix(line, "```") {
				inside = !inside
				continue
			}
			switch {
			case inside:
				if !strings.Contains(a.Body, strings.ReplaceAll(html.EscapeString(line), "+", "&#43;")) {
					t.Errorf("%s lacks %q", id, line)
				}
			case strings.HasPrefix(line, "## "):
				if !strings.Contains(a.Body, "<h2>"+line[3:]+"</h2>") {
					t.Errorf("%s lacks the part %q", id, line)
				}
			}
		}
		_, doc, _ := strings.Cut(a.Body, `<article class="doc" lang="en">`)
		doc, _, _ = strings.Cut(doc, "</article>")
		for _, raw := range []string{"**", "](", "|---"} {
			if strings.Contains(withoutCode(doc), raw) {
				t.Errorf("%s shows %q as it is written", id, raw)
			}
		}
	}
	for _, r := range rule.Catalogue() {
		see(r.ID, r.Title, r.CheckID)
	}
	for _, k := range check.Catalogue() {
		if k.RuleID == "" {
			see(k.ID, k.Title, k.ID)
		}
	}
	files, err := filepath.Glob("../../docs/rules/*.md")
	if err != nil || len(files) != pages {
		t.Errorf("%d pages of rules are shown, there are %d (%v)", pages, len(files), err)
	}
	holds(t, v.Get("/rules/NO-SUCH-RULE"), 404, nil)
	holds(t, v.Get("/rules/..%2F..%2Fdoc"), 404, nil)
}

// withoutCode is markup without what stands in code and examples.
func withoutCode(text string) string {
	for _, tag := range []string{"pre", "code"} {
		for {
			before, after, ok := strings.Cut(text, "<"+tag)
			if !ok {
				break
			}
			_, after, _ = strings.Cut(after, "</"+tag+">")
			text = before + after
		}
	}
	return text
}

func TestRulesAreFoundByTextAndKind(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	v := w.Visit("lea")
	holds(t, v.Get("/rules?q=mcp+server+added"), 200, []string{"HOST-MCP-SERVER-ADDED"}, "CODEX-NETWORK-WILDCARD")
	holds(t, v.Get("/rules?kind=verification"), 200, []string{"SHIP-AUTH-MANIFEST-BROAD-SCOPE"}, "HOST-MCP-SERVER-ADDED")
	holds(t, v.Get("/rules?kind=boundary"), 200, []string{"HOST-MCP-SERVER-ADDED", "27 rules of "}, "SHIP-AUTH-MANIFEST-BROAD-SCOPE")
	holds(t, v.Get("/rules?q=%3Cimg%3E"), 200, []string{"No rule says this", "&lt;img&gt;"}, "<img>")
	holds(t, v.Get("/rules/HOST-MCP-SERVER-ADDED"), 200, []string{
		"A person, before the change is published", "A gate of this risk asks for: project lead and security reviewer", "Does not fire", `data-copy="SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED"`,
	})
	v.Lang = "uk"
	holds(t, v.Get("/rules"), 200, []string{"<h1>Правила</h1>", "середовища агентів"}, ">rules.")
	holds(t, v.Get("/rules/SHIP-AUTH-MANIFEST-BROAD-SCOPE"), 200, []string{`<h1 lang="en">`, "Хто має подивитися", "лише людина"}, ">rule.", ">rules.")
}

func TestTheFindingsOfAGateLeadToTheirRules(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t)
	_, gate := w.Gate("Add a payment page")
	v := w.Visit("lea")
	a := v.Get("/decisions/gates/" + string(gate))
	_, link, ok := strings.Cut(a.Body, `href="/rules/`)
	link, _, _ = strings.Cut(link, `"`)
	if !ok || v.Get("/rules/"+link).Status != 200 {
		t.Errorf("%q is no page of a rule", link)
	}
}
