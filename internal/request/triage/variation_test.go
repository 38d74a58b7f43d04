package triage_test

import (
	"encoding/base64"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Things, days and people that may stand for one another: no verdict may hang on
// them. Every word of a row takes the place of every other.
var alike = [][]string{
	{"greenhouse", "library", "workshop", "bakery"},
	{"Saturdays", "Mondays", "holidays"},
	{"May", "October", "spring"},
	{"well pump key", "ladder", "spare tyre"},
	{"barn door", "kitchen shelf", "red cupboard"},
	{"loom", "piano", "tent"},
	{"benchmark summary", "list of questions", "new logo"},
	{"upstream project", "neighbouring project", "city library"},
	{"meeting notes", "bee diary of the garden", "planting lists"},
	{"fair", "concert", "harvest"},
	{"solstice", "autumn", "new year"},
	{"transfer", "payment", "script"},
	{"neighbour’s", "teacher’s", "cousin’s"},
	{"wiki", "folder", "cupboard"},
	{"теплицю", "майстерню", "пекарню", "бібліотеку"},
	{"щосуботи", "щопонеділка", "у свята"},
	{"травня", "жовтня", "весни"},
	{"міської ради", "сусіднього села", "школи"},
	{"толоку", "виставку", "ярмарку"},
	{"саджанців малини", "книжок для дітей", "мішків насіння"},
	{"компост", "бджіл", "криницю"},
	{"тишу", "чергування", "гостей"},
	{"партнерам", "видавцям", "сусідам"},
	{"温室", "図書室", "工房"},
	{"土曜日", "月曜日", "祝日"},
}

// numbers in words.
var counts = [][]string{
	{"two", "four", "five"},
	{"three", "six", "seven"},
	{"forty", "sixty", "ninety"},
	{"twelve", "eight", "twenty"},
	{"двадцять", "сорок", "п'ятдесят"},
	{"a week", "ten days", "a month"},
	{"Тиждень", "Місяць", "Рік"},
}

var (
	figures = regexp.MustCompile(`\b\d{1,2}\b|\d{1,2}月`)
	encoded = regexp.MustCompile(`[A-Za-z0-9+/]{40,}={0,2}`)
)

// varied is a text that says the same of other things, in another order.
func varied(text, locale string, rnd *rand.Rand) string {
	if m := encoded.FindString(text); m != "" {
		if plain, err := base64.StdEncoding.DecodeString(m); err == nil {
			return strings.Replace(text, m, base64.StdEncoding.EncodeToString([]byte(varied(string(plain), locale, rnd))), 1)
		}
	}
	for _, table := range [][][]string{alike, counts} {
		for _, row := range table {
			for _, w := range row[:1] {
				text = strings.ReplaceAll(text, w, row[rnd.IntN(len(row))])
			}
		}
	}
	text = figures.ReplaceAllStringFunc(text, func(n string) string {
		return strconv.Itoa(1+rnd.IntN(12)) + strings.TrimLeft(n, "0123456789")
	})
	text = reordered(text, locale, rnd)
	greeting := map[string][]string{
		"en": {"", "Dear all, ", "Good morning! ", "Hello from Marko. "},
		"uk": {"", "Друзі, ", "Доброго ранку! ", "Вітання від Марка. "},
		"ja": {"", "皆さん、", "おはようございます。"},
	}[locale]
	return greeting[rnd.IntN(len(greeting))] + text
}

var sentences = regexp.MustCompile(`[^.!?。]+[.!?。]?\s*`)

// reordered changes the order of the sentences and, in Ukrainian, where the order
// of words is free, that of the words between commas, quotations kept whole.
func reordered(text, locale string, rnd *rand.Rand) string {
	if strings.ContainsAny(text, "“”") || strings.Contains(text, ": ") && locale == "en" {
		return text // who speaks, and of what, depends on the order
	}
	parts := sentences.FindAllString(text, -1)
	if len(parts) > 1 {
		rnd.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	}
	for i, p := range parts {
		p = strings.TrimSpace(p)
		if locale == "uk" && !strings.Contains(p, "«") {
			end := strings.TrimLeft(p, strings.TrimRight(p, ".!?"))
			clauses := strings.Split(strings.TrimRight(p, ".!?"), ", ")
			for k, c := range clauses {
				halves := strings.Split(c, " і ")
				rnd.Shuffle(len(halves), func(i, j int) { halves[i], halves[j] = halves[j], halves[i] })
				for h := range halves {
					halves[h] = rotated(halves[h], rnd)
				}
				clauses[k] = strings.Join(halves, " і ")
			}
			p = strings.Join(clauses, ", ") + end
		}
		if locale == "en" && rnd.IntN(2) == 0 {
			if first, second, two := strings.Cut(strings.TrimRight(p, "."), " and "); two {
				p = second + " and " + first + "."
			}
		}
		parts[i] = p
	}
	return strings.Join(parts, " ")
}

// fixed are Ukrainian words that have to stay before the next one.
var fixed = []string{"не", "без", "про", "до", "й", "з", "зі", "від"}

// rotated begins a clause with another of its words.
func rotated(clause string, rnd *rand.Rand) string {
	words := strings.Fields(clause)
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, ":") || slices.Contains(fixed, w) }) {
		return clause
	}
	n := rnd.IntN(len(words))
	return strings.Join(append(words[n:], words[:n]...), " ")
}

// The verdict on a request hangs on what it asks for, not on the sentence of the
// case: other things, people, numbers and another order have the same one.
func TestVerdictsSurviveOtherNamesNumbersAndWordOrder(t *testing.T) {
	d := newDesk(t)
	rnd := rand.New(rand.NewPCG(7, 11))
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			seen := map[string]bool{}
			for range 40 {
				e := v.envelope()
				e.InputText = varied(v.text(), e.Circle.Locale, rnd)
				e.RequestID, e.Circle.CircleID, e.Circle.MemberID = "r-"+strconv.Itoa(rnd.IntN(1e6)), "c-hill", "m-"+strconv.Itoa(rnd.IntN(1e6))
				if seen[e.InputText] {
					continue
				}
				seen[e.InputText] = true
				d.check(t, v, e)
			}
			if len(seen) < 2 {
				t.Errorf("the text was never varied: %q", v.text())
			}
		})
	}
}
