package check

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is not looked at would not have matched.
func TestNoPatternMatchesWithoutOneOfItsWords(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		" ", ".", "-", "is", "=", "a1", "sk-", "SK-", "ghp_", "AKIA", "akia", "Password", "SECRET", "token", "api key", "API_KEY", "apikey",
		"Aa0Bb1Cc2Dd3Ee4Ff5Gg6Hh7", "ABCDEFGHIJKLMNOPQRST", "ignore", "Disregard", "forget", "OVERRIDE", "replace", "bypass", "all", "your",
		"previous", "system", "developer", "instructions", "rules", "prompt", "message", "you are", "You're", "act as", "behave as", "now", "an",
		"admin", "Administrator", "root", "superuser", "\u017f", "\u212a", "\u017fecret", "to\u212aen", "\u212aey",
	})
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		secrets := len(named(secretPatterns(), text)) > 0 || labelled().MatchString(text)
		orders := len(named(orderPatterns(), text)) > 0
		if secrets && !mayMatch(text, secretWords) || orders && !mayMatch(text, orderWords) {
			t.Fatalf("%q matches and would not be looked at", text)
		}
		if secrets || orders {
			matched++
		}
	})
	if matched == 0 {
		t.Error("no text ever matched")
	}
}
