package verification_test

import (
	"testing"

	"plimsoll.dev/internal/cli/verification"
)

func TestAParserAnswersEveryTextWithWhatItHolds(t *testing.T) {
	parse := verification.Parser()
	text := []byte("a: 1\n")
	for _, c := range []struct{ text, key, want string }{{"a: 1\n", "a", "1"}, {"a: 2\n", "a", "2"}, {"a: 1\n", "a", "1"}, {"b: 3\n", "b", "3"}} {
		copy(text, c.text) // whoever asked may use the bytes again
		v, err := parse(text)
		if err != nil || v.Get(c.key).Text != c.want {
			t.Errorf("%q: %v, %v", c.text, v, err)
		}
	}
	if _, err := parse([]byte("a: [")); err == nil {
		t.Error("a broken text is parsed")
	}
	broken := verification.Parser()
	for range 2 {
		if _, err := broken([]byte("a: [")); err == nil {
			t.Error("a broken text is parsed")
		}
	}
	if v, err := broken([]byte("a: 1\n")); err != nil || v.Get("a").Text != "1" {
		t.Error(v, err)
	}
}
