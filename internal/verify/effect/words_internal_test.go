package effect

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The bits of a text are its words, told apart as by hand, whatever its letters.
func TestWordsOfATextAreTheVocabularysAmongItsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"delete", "Delete", "DELETE", "sms", "_", " ", "-", "\u212a", "\u017f", "\u0130", "e", "deleted", "credentialscredentials"}),
			rapid.StringN(0, 3, -1),
		)).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		want := map[string]bool{}
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
			want[word] = true
		}
		got := wordsOf(text)
		for word, n := range vocabulary {
			if got.has(n) != want[word] {
				t.Fatalf("%q has the word %s: %v, want %v", text, word, got.has(n), want[word])
			}
		}
	})
}
