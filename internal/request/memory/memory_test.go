package memory_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll.dev/internal/request/memory"
)

func TestTheWordsOfATextInThreeLanguages(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"The well-pump KEY hangs behind barn 7.": "the well pump key hangs behind barn 7",
		"Що ми вирішили про теплицю?": "що ми вирішили про теплицю",
		"об'їзд, обʼїзд":              "об їзд обʼїзд",
		"Ｆｕｌｌ ﬁle":                    "full file",
		"STRASSE Straße":              "strasse strasse",
		"温室を開ける":                      "温室 室を を開 開け ける",
		"カレー123円":                     "カレ レー 123 円",
		"5月から":                        "5 月か から",
		"e\u0301te\u0301":             "été",
	} {
		if got := strings.Join(memory.Terms(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAQuestionFindsWhatIsSaidInOtherForms(t *testing.T) {
	notes := []memory.Note{
		{ID: "greenhouse", Title: "Теплиця", Text: "Теплиця відкрита щосуботи з травня."},
		{ID: "compost", Text: "The compost heap is turned on Mondays; we decided so in April."},
		{ID: "onshitsu", Text: "温室は土曜日に開けます。"},
		{ID: "empty"},
	}
	for question, want := range map[string]string{
		"Що ми вирішили про теплицю?":         "greenhouse",
		"Who is turning the composted heaps?": "compost",
		"温室はいつ開けますか":                          "onshitsu",
		"heap":                                "compost",
	} {
		if got := memory.Ask(question).Ranked(notes)[0].ID; got != want {
			t.Errorf("%q finds %s first, want %s", question, got, want)
		}
	}
	if n := memory.Ask("Що ми про це").Hits("про що"); n != 2 {
		t.Errorf("short words alone do not count: %d", n)
	}
	if q := memory.Ask("the key of it, and barn 7"); !slices.Equal(q, memory.Query{{Text: "barn"}, {Text: "7"}}) {
		t.Errorf("the telling words are %+v", q)
	}
	if q := memory.Ask("  ?! "); len(q) != 0 {
		t.Errorf("a question without words asks %+v", q)
	}
}

func FuzzTerms(f *testing.F) {
	for _, seed := range []string{"Що ми вирішили?", "温室を開ける", "a\u0301\u0301 ﬁ", "\xff\xfe", strings.Repeat("a ", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := memory.Terms(text)
		for _, term := range terms {
			if term == "" || !utf8.ValidString(term) || utf8.RuneCountInString(term) > 64 {
				t.Fatalf("%q is a word of %q", term, text)
			}
		}
		if again := memory.Terms(text); !slices.Equal(again, terms) {
			t.Fatal("the same text has other words")
		}
		q := memory.Ask(text)
		if len(q) > 32 || len(terms) < 1000 && q.Hits(text) != len(q) {
			t.Fatalf("%q does not find itself: %d of %+v", text, q.Hits(text), q)
		}
	})
}
