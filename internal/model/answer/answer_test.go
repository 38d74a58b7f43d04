package answer_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/model/answer"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
)

// The tests of whole answers stand beside the clients, which get them from an
// endpoint; here are those that need none.

const sound = `{"drafts":[{"type":"decision_draft","content":{"title":"Сад біля школи","reasons":["тінь","яблука"]}}]}`

func blanks() []request.Blank {
	return []request.Blank{{
		Type: envelope.DecisionDraft, Prose: []string{"title", "proposal", "reasons"},
		Content: []byte(`{"title":"Сад","proposal":"Посадити сад.","reasons":["тінь"],"reversible":true}`),
	}}
}

func TestAnAnswerThatIsNotUTF8IsInvalid(t *testing.T) {
	_, _, broken := answer.Decode(strings.Replace(sound, "Сад", "\xff", 1), blanks())
	if !slices.Equal(broken.Flaws, []answer.Flaw{answer.Shape}) {
		t.Errorf("the flaws are %v", broken.Flaws)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		sound, "", "null", "[]", `{"drafts":[]}`, "```json\n" + sound + "\n```", sound[:40], `{"drafts":[{"type":"decision_draft","content":{"title":"a","status":"confirmed"}}]}`,
		`{"drafts":[{"type":"bridge_draft","content":{"title":"\u202e"}}],"a":1}`, `{"drafts":[{"type":"decision_draft","content":{"reasons":[[[[["x"]]]]]}}]}`,
		"{\"drafts\":[{\"type\":\"decision_draft\",\"content\":{\"title\":\"\xff\"}}]}", strings.Repeat("[", 30_000), `{"drafts":[1e999999999]}`,
	} {
		f.Add(s)
	}
	asked := blanks()
	f.Fuzz(func(t *testing.T, text string) {
		drafts, texts, broken := answer.Decode(text, asked)
		if len(broken.Flaws) > 0 {
			for _, p := range broken.Faults {
				if len(p.Message) > 200 || p.Code.Status() == 0 || len(p.Path) > 40 {
					t.Errorf("the fault %v is none of ours", p)
				}
			}
			return
		}
		if len(drafts) != len(asked) || texts == nil {
			t.Fatalf("%d drafts for %d blanks", len(drafts), len(asked))
		}
		for i, d := range drafts {
			v, err := contract.Parse(d.Content)
			content, ok := v.(map[string]any)
			if err != nil || !ok || len(content) == 0 || d.Type != asked[i].Type {
				t.Fatalf("draft %d is %s of type %s: %v", i, d.Content, d.Type, err)
			}
			for name := range content {
				if !slices.Contains(asked[i].Prose, name) {
					t.Fatalf("draft %d has the member %q", i, name)
				}
			}
			// What was read is read again to the same.
			again, _, b := answer.Decode(`{"drafts":[{"type":"`+string(d.Type)+`","content":`+string(d.Content)+`}]}`, asked[i:i+1])
			if len(b.Flaws) > 0 || string(again[0].Content) != string(d.Content) {
				t.Fatalf("draft %d is read again as %q: %v", i, again, b.Faults)
			}
		}
	})
}

// A text that holds the mark is never missed, whatever stands around it.
func FuzzLeaks(f *testing.F) {
	f.Add("a", "b")
	f.Add("é", "\xff\x00")
	f.Fuzz(func(t *testing.T, before, after string) {
		const mark = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
		if !answer.Leaks(before+mark+after, mark) || !answer.Leaks(before+strings.ToUpper(mark[8:24])+after, mark) {
			t.Errorf("missed between %q and %q", before, after)
		}
	})
}
