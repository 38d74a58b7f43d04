package report_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/decision"
	"plimsoll.dev/internal/verify/report"
	"plimsoll.dev/internal/verify/tool"
)

// parts splits a comment into what people read and the JSON that agents read.
func parts(t testing.TB, comment []byte) (people string, agents map[string]any) {
	t.Helper()
	text := string(comment)
	if strings.Count(text, "```json\n") != 1 || strings.Count(text, "```") != 2 {
		t.Fatalf("not exactly one fenced block:\n%s", text)
	}
	people, rest, _ := strings.Cut(text, "```json\n")
	block, _, _ := strings.Cut(rest, "```")
	if err := json.Unmarshal([]byte(block), &agents); err != nil {
		t.Fatalf("%v\n%s", err, block)
	}
	return people, agents
}

func TestTheCommentHasAPartForPeopleAndOneForAgents(t *testing.T) {
	in := given(t)
	v := verifierOf(t, in)
	people, agents := parts(t, report.Comment(in, v, report.CapabilityFirst))
	if !strings.HasPrefix(people, report.Marker+"\n") || strings.Count(people, "<!--") != 1 {
		t.Error("the hidden marker is the first line, and the only one")
	}
	order := []string{
		"**Blocked.**", "What agents can do now", "added `place_order`", "What blocks", "SHIP-ACTION-WILDCARD-SCOPE", "`svc/tools.json:12`",
		"What a person looks at", "Inputs of the gate itself", "svc/shipgate.yaml", "What would change this", "What is not known",
		"static evidence only",
	}
	at := 0
	for _, want := range order {
		i := strings.Index(people[at:], want)
		if i < 0 {
			t.Fatalf("no %q after %q in\n%s", want, people[:at], people)
		}
		at += i
	}
	if c := agents["control"].(map[string]any); c["state"] != "human_review_required" {
		t.Errorf("control: %v", c)
	}
	if agents["fix_task"] == nil || len(agents["forbidden_file_edits"].([]any)) != 1 || agents["decision"] != "blocked" {
		t.Errorf("agents read %v", agents)
	}

	findingsFirst := string(report.Comment(in, v, report.FindingsFirst))
	if strings.Index(findingsFirst, "What blocks") > strings.Index(findingsFirst, "What agents can do now") {
		t.Error("the style findings puts findings first")
	}
}

// markup is what a forge would make of a text that is not harmless.
var markup = regexp.MustCompile(`(?i)<[a-z/!]|!\[|\]\(|@\w|#\d|\bgh-\d|https?://|www\.\w|\n# `)

// unescaped is Markdown without its code spans and with a blank for each escaped
// mark: what is left is what a renderer gives a meaning.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`")); {
		case text[i] == '\\' && i+1 < len(text):
			b.WriteByte(' ')
			i += 2
		case run > 0:
			rest := text[i+run:]
			end := regexp.MustCompile("(^|[^`])" + strings.Repeat("`", run) + "([^`]|$)").FindStringIndex(rest)
			if end == nil {
				b.WriteString(text[i : i+run])
				i += run
				continue
			}
			i += run + strings.Index(rest[end[0]:], strings.Repeat("`", run)) + end[0] + run
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}

func TestTextOfTheRepositoryIsNoMarkup(t *testing.T) {
	in := given(t)
	for _, comment := range [][]byte{report.Comment(in, verifierOf(t, in), report.CapabilityFirst), report.Markdown(in)} {
		text := string(comment)
		text = strings.ReplaceAll(text, report.Marker, "")
		text, _, _ = strings.Cut(text, "\n<details>")
		text = unescaped(text)
		if got := markup.FindString(strings.TrimPrefix(text, "# ")); got != "" {
			t.Errorf("%q in\n%s", got, text)
		}
		if strings.ContainsRune(text, '\u202e') {
			t.Error("a direction mark is left")
		}
	}
}

func TestNothingGetsOutOfTheComment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.String(), rapid.StringMatching("[`|<>@#!\\[\\](){}a-z:/.\\-\n\\\\_*~$&]{0,40}"),
			rapid.SampledFrom([]string{"``", "```", "``a", "a``", "\n``"}),
		).Draw(t, "text")
		in := &report.Input{ConfigPath: "shipgate.yaml", Head: rapidSide(s), Findings: []check.Finding{{
			ID: "fp_1", Fingerprint: "fp_1", CheckID: s, Title: s, Severity: check.Critical, Recommendation: s, ToolName: s,
			Source: check.Source{Type: "mcp", Path: s, StartLine: 1},
		}}}
		in.Decision = decision.Decide(decision.Input{Findings: in.Findings, Head: in.Head, Mode: "advisory"})
		text := string(report.Comment(in, &report.Verifier{Control: rapidControl(t)}, report.CapabilityFirst))
		people, _, found := strings.Cut(text, "\n<details>")
		if !found || strings.Count(text, "</details>") != 1 || strings.Count(text, report.Marker) != 1 {
			t.Fatalf("the frame is broken:\n%s", text)
		}
		for _, line := range strings.Split(people, "\n") {
			if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
				t.Fatalf("a fence begins in the part for people:\n%s", people)
			}
		}
		if !utf8.ValidString(text) {
			t.Fatal("not UTF-8")
		}
	})
}

func TestTheCommentIsBounded(t *testing.T) {
	in := given(t)
	for i := range 2000 {
		in.Findings = append(in.Findings, check.Finding{
			ID: fmt.Sprintf("fp_x%d", i), Fingerprint: "x", CheckID: "SHIP-X", Title: strings.Repeat("long ", 400), Severity: check.Critical,
			Recommendation: strings.Repeat("more ", 400), ToolName: strings.Repeat("name", 400), Confidence: tool.High,
		})
		in.TrustRoots = append(in.TrustRoots, report.TrustRoot{Path: strings.Repeat("p/", 500), Class: "policy"})
		in.Weakened = append(in.Weakened, strings.Repeat("weak ", 400))
	}
	in.Decision = decision.Decide(decision.Input{Findings: in.Findings, Head: in.Head, Summary: in.Summary, Mode: "advisory"})
	v := verifierOf(t, in)
	for range 500 {
		v.FixTask.Forbidden = append(v.FixTask.Forbidden, report.Repair{ID: "x", Actor: "human", Kind: "review", Reason: strings.Repeat("why ", 300)})
	}
	comment := report.Comment(in, v, report.CapabilityFirst)
	if len(comment) > report.MaxComment {
		t.Errorf("%d bytes", len(comment))
	}
	people, agents := parts(t, comment)
	if agents["truncated"] != true || agents["control"] == nil {
		t.Errorf("agents read %v", agents)
	}
	if !strings.Contains(people, "The rest is in report") {
		t.Error("people are not told that there is more")
	}
}

func TestARunWithoutADecisionSaysSo(t *testing.T) {
	v, err := report.NewVerifier(report.Verifier{
		Workspace: ".", Config: "shipgate.yaml", Mode: "advisory", BaseStatus: "ref_missing", Execution: "failed", HeadStatus: "failed",
		Applicability: "failed", MergeVerdict: "unknown", Control: controlOf(t, "stop"), BaseNotes: []string{hostile},
		DiffStatus: report.DiffStatus{Completeness: "unavailable", Reason: "refs_missing", FetchRepairable: true, Remediation: "Fetch the base."},
	})
	if err != nil {
		t.Fatal(err)
	}
	people, agents := parts(t, report.Comment(nil, v, report.CapabilityFirst))
	if !strings.Contains(people, "Nothing was decided") || !strings.Contains(people, "refs missing") || agents["decision"] != nil {
		t.Errorf("people read\n%s\nagents read %v", people, agents)
	}
}

func TestAPassIsShort(t *testing.T) {
	in := clean(t)
	people, _ := parts(t, report.Comment(in, verifierOf(t, in), report.CapabilityFirst))
	if !strings.Contains(people, "**Passed.**") || strings.Contains(people, "What would change") || strings.Count(people, "\n") > 12 {
		t.Errorf("people read\n%s", people)
	}
}
