package secrets_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/config"
	"pgregory.net/rapid"

	"github.com/pelletier/go-toml/v2"

	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/secrets"
)

func finder(tb testing.TB) *secrets.Finder {
	tb.Helper()
	f, err := secrets.New()
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// joined puts a sample together, so that no file holds anything that looks like a
// secret.
func joined(parts ...string) string { return strings.Join(parts, "") }

func TestSecretsAreFoundWhereTheyStand(t *testing.T) {
	f := finder(t)
	for name, secret := range map[string]string{
		"aws-access-token":    joined("AKIA", "QYLPMN", "5HFIQR", "7XYA"),
		"github-pat":          joined("ghp_", "uT7qLm2Rz9Xc", "4VbN8sKd1WfH", "6JyP3aQe0GiB"),
		"stripe-access-token": joined("sk_", "live_", "51HxQ8zLkT", "mVw92RbNcYp"),
		"generic-api-key":     joined("zaCELgL.", "0imfnc8mVLWwsAa", "wjYr4Rx-Af50DDqtlx"),
		"slack-bot-token":     joined("xoxb-", "781236542736-", "2364535789652-", "GkwFDQoHqzXDVsC6GzqYUypD"),
	} {
		before := "please look at "
		if name == "generic-api-key" {
			before = "api_key = "
		}
		text := before + secret + " before noon, and " + secret + " again"
		var starts []int
		for _, m := range f.Find(text) {
			if text[m.Start:m.End] == secret && m.Rule == name {
				starts = append(starts, m.Start)
			}
		}
		if !slices.Equal(starts, []int{len(before), strings.LastIndex(text, secret)}) {
			t.Errorf("%s: found at %d", name, starts)
		}
	}
}

func TestTalkAboutSecretsHoldsNone(t *testing.T) {
	f := finder(t)
	for _, text := range []string{
		"The AKIA prefix marks a key; the token is in the safe, the password is not written down.",
		"api_key = your_api_key_here", "password: <password>", "Паролі міняємо щомісяця: це правило.",
	} {
		if m := f.Find(text); len(m) > 0 {
			t.Errorf("%q: %v", text, m)
		}
	}
}

// An allow mark inside a text would let whoever writes the text through.
func TestATextCannotSwitchTheRulesOff(t *testing.T) {
	text := joined("AKIA", "QYLPMN", "5HFIQR", "7XYA") + " gitleaks:allow"
	if len(finder(t).Find(text)) == 0 {
		t.Error("the mark counts")
	}
}

// plainRule is a rule as it stands in the configuration of gitleaks.
type plainRule struct {
	ID       string
	Regex    string
	Keywords []string
}

func plainRules(tb testing.TB) []plainRule {
	tb.Helper()
	var d struct{ Rules []plainRule }
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &d); err != nil {
		tb.Fatal(err)
	}
	return d.Rules
}

// What a pattern finds in the whole text, looking around the keywords finds too.
// The texts are drawn from the patterns themselves.
func TestLookingAroundKeywordsMissesNothing(t *testing.T) {
	f := finder(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for _, r := range plainRules(t) {
		if r.Regex == "" {
			continue
		}
		whole := regexp.MustCompile(r.Regex)
		samples := rapid.StringMatching(strings.NewReplacer(`\b`, ``, `(?-i:`, `(?:`).Replace(r.Regex))
		for seed := range 12 {
			sample := draw(t, samples, seed)
			text := "Some words, " + sample + " and more of them.\n" + strings.Repeat("Nothing here. ", rnd.IntN(40)) + sample + " "
			// The letters beyond ASCII that (?i) takes for k and s reach the rules
			// in their normal form.
			if !hasKeyword(text, r.Keywords) || strings.ContainsAny(text, "\u212a\u017f") {
				continue
			}
			got := map[[2]int]bool{}
			for _, m := range f.Find(text) {
				got[[2]int{m.Start, m.End}] = true
			}
			for _, m := range whole.FindAllStringSubmatchIndex(text, -1) {
				if !f.Takes(r.ID, text, m) {
					continue
				}
				from, to := f.Secret(r.ID, m)
				covered++
				if !got[[2]int{from, to}] {
					t.Errorf("%s: the secret at %d-%d of a text of %d bytes is missed", r.ID, from, to, len(text))
				}
			}
		}
	}
	if covered < 500 {
		t.Errorf("only %d matches were compared", covered)
	}
}

func hasKeyword(text string, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// draw is the sample of a seed, "" when the pattern cannot be drawn from.
func draw(t *testing.T, g *rapid.Generator[string], seed int) (s string) {
	t.Helper()
	defer func() {
		if recover() != nil {
			s = ""
		}
	}()
	return g.Example(seed)
}

func FuzzFind(f *testing.F) {
	find := finder(f)
	for _, name := range []string{"../bench/triage/testdata/benign.txt", "../bench/triage/testdata/attacks.txt"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text[:2000]))
	}
	f.Add("password=" + joined("zaCELgL", "0imfnc8mVLWw"))
	f.Fuzz(func(t *testing.T, text string) {
		var last screen.Match
		for _, m := range find.Find(text) {
			if m.Start < 0 || m.End <= m.Start || m.End > len(text) || m.Start < last.Start || m == last {
				t.Fatalf("%+v after %+v in %d bytes", m, last, len(text))
			}
			last = m
		}
	})
}

func BenchmarkFind(b *testing.B) {
	f := finder(b)
	for _, c := range []struct{ name, text string }{
		{"clean", "Let us decide whether the greenhouse opens on Saturdays from May. The hut is kept. "},
		{"token in every sentence", "Let us decide whether the greenhouse opens on Saturdays from May. The token is kept. "},
	} {
		text := strings.Repeat(c.text, 48)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f.Find(text)
			}
		})
	}
}
