package worker

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// numbers is the number words of the three languages, in halves.
var numbers = map[string]int{
	"half": 1, "a": 2, "an": 2, "one": 2, "two": 4, "three": 6, "four": 8, "five": 10, "six": 12, "seven": 14, "eight": 16, "nine": 18,
	"ten": 20, "eleven": 22, "twelve": 24, "thirteen": 26, "fourteen": 28, "fifteen": 30, "sixteen": 32, "seventeen": 34, "eighteen": 36,
	"nineteen": 38, "twenty": 40, "thirty": 60, "forty": 80, "fifty": 100, "sixty": 120, "seventy": 140, "eighty": 160, "ninety": 180,
	"hundred": 200, "dozen": 24, "пів": 1, "півтори": 3, "півтора": 3, "один": 2, "одна": 2, "одну": 2, "одне": 2, "два": 4, "дві": 4,
	"двоє": 4, "три": 6, "троє": 6, "чотири": 8, "четверо": 8, "п'ять": 10, "п'ятеро": 10, "шість": 12, "сім": 14, "вісім": 16,
	"дев'ять": 18, "десять": 20, "десятеро": 20, "одинадцять": 22, "дванадцять": 24, "тринадцять": 26, "чотирнадцять": 28,
	"п'ятнадцять": 30, "шістнадцять": 32, "сімнадцять": 34, "вісімнадцять": 36, "дев'ятнадцять": 38, "двадцять": 40, "тридцять": 60,
	"сорок": 80, "двох": 4, "трьох": 6, "чотирьох": 8, "п'яти": 10, "п'ятьох": 10, "шести": 12, "шістьох": 12, "семи": 14, "сімох": 14, "восьми": 16,
	"вісьмох": 16, "дев'яти": 18, "дев'ятьох": 18, "десяти": 20, "десятьох": 20, "одинадцяти": 22, "дванадцяти": 24, "дванадцятьох": 24,
	"п'ятнадцяти": 30, "двадцяти": 40, "тридцяти": 60, "сорока": 80, "однієї": 2, "одного": 2, "п'ятдесят": 100, "шістдесят": 120, "сімдесят": 140, "вісімдесят": 160, "дев'яносто": 180, "сто": 200,
}

// maxNumber bounds what a text may count, so that sums stay numbers.
const maxNumber = 1_000_000

// halves reads a number word or a number, in halves.
func halves(t token) (int, bool) {
	if n, ok := numbers[t.text]; ok {
		return n, true
	}
	whole, part, _ := strings.Cut(strings.ReplaceAll(t.text, ",", "."), ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n < 0 || n > maxNumber {
		return 0, false
	}
	if part == "" {
		return 2 * n, true
	}
	return 2*n + min(1, int(part[0]-'0')/5), true
}

// count is a number with the words it counts.
type count struct {
	place
	halves int
}

// counts is every number before one of the units: "forty-five minutes",
// "півтори години", "12人".
func counts(s string, units words) []count {
	list := []count{}
	all := tokens(s)
	for i, t := range all {
		if !unitAt(all, i, units) {
			continue
		}
		sum, first, seen := 0, i, false
		for j := i - 1; j >= 0 && i-j <= 3; j-- {
			n, ok := halves(all[j])
			if !ok {
				n, ok = hyphenated(all[j])
			}
			if !ok || seen && (numbers[all[j].text] == 0 || all[j].text == "a" || all[j].text == "an") {
				break
			}
			sum, first, seen = sum+n, j, true
		}
		if seen {
			list = append(list, count{place{all[first].start, t.end}, sum})
		}
	}
	for _, unit := range units {
		if !dense(unit) {
			continue
		}
		for from := 0; ; {
			i := strings.Index(s[from:], unit)
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(unit)
			if n, start := kanji(s[:at]); start < at {
				c := count{place{start, from}, 2 * n}
				if strings.HasPrefix(s[from:], "半") {
					c.halves++
				}
				list = append(list, c)
			}
		}
	}
	return list
}

func unitAt(all []token, i int, units words) bool {
	for _, u := range units {
		if !dense(u) && all[i].matches(u) {
			return true
		}
	}
	return false
}

// hyphenated reads "forty-five".
func hyphenated(t token) (int, bool) {
	tens, ones, ok := strings.Cut(t.text, "-")
	if !ok || numbers[tens] < 40 || numbers[ones] < 2 || numbers[ones] > 18 {
		return 0, false
	}
	return numbers[tens] + numbers[ones], true
}

// kanji reads the number at the end of a text, in digits or as it is written in
// Japanese, and where it begins.
func kanji(s string) (n, start int) {
	start = len(s)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:start])
		if !unicode.IsDigit(r) && !strings.ContainsRune("一二三四五六七八九十百", r) {
			break
		}
		start -= size
	}
	ones, sum := -1, 0
	for _, r := range s[start:] {
		switch digit := strings.IndexRune("一二三四五六七八九", r); {
		case digit >= 0:
			ones = max(ones, 0)*10 + digit/3 + 1 // each takes three bytes
		case r == '十':
			sum, ones = sum+10*max(1, ones), -1
		case r == '百':
			sum, ones = sum+100*max(1, ones), -1
		default:
			value := int(r - '0')
			if r >= '０' && r <= '９' {
				value = int(r - '０')
			} else if value < 0 || value > 9 {
				return 0, len(s)
			}
			ones = max(ones, 0)*10 + value
		}
		if ones > maxNumber || sum > maxNumber {
			return 0, len(s)
		}
	}
	return sum + max(ones, 0), start
}

var (
	minuteUnits = words{"minute*", "min", "mins", "хвилин*", "хв", "分"}
	hourUnits   = words{"hour*", "h", "годин*", "год", "時間"}
)

// minutes is how long something lasts by its text; 0 when it does not say.
func minutes(s string) int {
	sum := 0
	for _, c := range counts(s, hourUnits) {
		sum += c.halves * 30
		if rest := lowered(s[c.end:]); strings.HasPrefix(rest, " and a half") || strings.HasPrefix(rest, " з половиною") {
			sum += 30
		}
	}
	for _, c := range counts(s, minuteUnits) {
		if strings.HasSuffix(c.of(s), "分") && strings.HasSuffix(s[:c.start], "時") { // a time of day
			continue
		}
		sum += c.halves / 2
	}
	return min(sum, maxNumber)
}

// months is the months by the beginnings of their names.
var months = [12][]string{
	{"jan", "січ"},
	{"feb", "лют"},
	{"mar", "берез"},
	{"apr", "квіт"},
	{"may", "трав"},
	{"jun", "черв"},
	{"jul", "лип"},
	{"aug", "серп"},
	{"sep", "верес"},
	{"oct", "жовт"},
	{"nov", "листопад"},
	{"dec", "груд"},
}

// The words a month is written with; "march" and "may" are words too, and count
// only beside a day.
func month(t token) time.Month {
	for i, names := range months {
		for _, n := range names {
			if strings.HasPrefix(t.text, n) && len([]rune(t.text)) <= 10 {
				return time.Month(i + 1)
			}
		}
	}
	return 0
}

// day is a date that a text names.
type day struct {
	place
	at time.Time // its first instant, UTC
}

// days is the dates of a text. One without a year is the next there is.
func days(s string, now time.Time) []day {
	list := []day{}
	add := func(p place, y, m, d int) {
		year := y
		if y == 0 {
			year = now.Year()
		}
		at := time.Date(year, time.Month(m), d, 0, 0, 0, 0, time.UTC)
		if y == 0 && at.AddDate(0, 0, 1).Before(now) {
			at = time.Date(year+1, time.Month(m), d, 0, 0, 0, 0, time.UTC)
		}
		if m >= 1 && at.Month() == time.Month(m) && at.Day() == d && at.Year() >= 2000 && at.Year() < 2200 {
			list = append(list, day{p, at})
		}
	}
	all := tokens(s)
	number := func(i int) int {
		if i < 0 || i >= len(all) {
			return 0
		}
		n, err := strconv.Atoi(strings.TrimRight(all[i].text, "stndrh"))
		if err != nil {
			return 0
		}
		return n
	}
	for i, t := range all {
		if at, err := time.Parse("2006-01-02", t.text); err == nil {
			add(t.place, at.Year(), int(at.Month()), at.Day())
		}
		m := month(t)
		if m == 0 {
			continue
		}
		d, p, year := number(i-1), t.place, number(i+1)
		if d >= 1 && d <= 31 {
			p.start = all[i-1].start
		} else if d = number(i + 1); d >= 1 && d <= 31 { // May 12
			p.end, year = all[i+1].end, number(i+2)
		} else {
			continue
		}
		if year < 2000 || year >= 2200 {
			year = 0
		}
		add(p, year, int(m), d)
	}
	for from := 0; ; {
		i := strings.Index(s[from:], "月")
		if i < 0 {
			break
		}
		at := from + i
		from = at + len("月")
		m, start := kanji(s[:at])
		before, after, ok := strings.Cut(s[from:], "日")
		d, begin := kanji(before)
		if !ok || begin != 0 || m == 0 {
			continue
		}
		year := 0
		if head, has := strings.CutSuffix(s[:start], "年"); has {
			if y, yearStart := kanji(head); y >= 2000 && y < 2200 {
				year, start = y, yearStart
			}
		}
		add(place{start, len(s) - len(after)}, year, m, d)
	}
	return list
}

// clock is the time of day a text names, in minutes; -1 when it names none.
func clock(s string) int {
	all := tokens(s)
	for i, t := range all {
		h, m, ok := strings.Cut(t.text, ":")
		hours, err := strconv.Atoi(h)
		mins, bad := strconv.Atoi(m)
		if ok && err == nil && bad == nil && hours < 24 && mins < 60 {
			return hours*60 + mins
		}
		for suffix, add := range map[string]int{"am": 0, "pm": 12} {
			number, joined := strings.CutSuffix(t.text, suffix)
			if t.text == suffix && i > 0 {
				number, joined = all[i-1].text, true
			}
			if n, err := strconv.Atoi(number); joined && err == nil && n >= 1 && n <= 12 {
				return (n%12 + add) * 60
			}
		}
	}
	if before, after, ok := strings.Cut(s, "時"); ok && !strings.HasPrefix(after, "間") {
		if h, start := kanji(before); start < len(before) && h < 24 {
			if strings.HasPrefix(after, "半") {
				return h*60 + 30
			}
			if digits, _, ok := strings.Cut(after, "分"); ok {
				if m, begin := kanji(digits); begin == 0 && m < 60 {
					return h*60 + m
				}
			}
			return h * 60
		}
	}
	return -1
}
