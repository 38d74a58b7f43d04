package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The kinds of personal data.
const (
	Email      Kind = "email"
	Phone      Kind = "phone"
	NationalID Kind = "national_id"
	Account    Kind = "account" // an IBAN or the number of a payment card
	Birth      Kind = "birth"
	Name       Kind = "name"
	Address    Kind = "address"
	Place      Kind = "place" // coordinates
	Illness    Kind = "health"
	Minor      Kind = "minor"
	Money      Kind = "finance"
	Law        Kind = "legal"
)

// PersonalKinds is every kind of personal data.
func PersonalKinds() []Kind {
	return []Kind{Email, Phone, NationalID, Account, Birth, Name, Address, Place, Illness, Minor, Money, Law}
}

// datum is personal data at a place of a form.
type datum struct {
	kind       Kind
	rule       string
	start, end int
}

// maxData bounds how many are reported of one form.
const maxData = 128

// personal finds personal data in a form that keeps its case. Only what is certain
// counts: numbers need their check digits or a word that says what they are, names
// a title (docs/spec/circle.md §8 asks for evidence, not for guesses).
func personal(s, lower string, words []heard) []datum {
	p := &seeker{s: s, lower: lower}
	p.emails()
	p.numbers()
	p.ibans()
	p.words(words)
	p.names()
	return p.found
}

type seeker struct {
	s, lower string
	found    []datum
}

func (p *seeker) add(kind Kind, rule string, start, end int) {
	if len(p.found) < maxData {
		p.found = append(p.found, datum{kind, rule, start, end})
	}
}

func localByte(c byte) bool {
	return c < utf8.RuneSelf && (wordRune(rune(c)) || strings.IndexByte("._%+-", c) >= 0)
}

func (p *seeker) emails() {
	s := p.s
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '@')
		if i < 0 {
			return
		}
		i += from
		from = i + 1
		start, end := i, i+1
		for start > 0 && i-start < 64 && localByte(s[start-1]) {
			start--
		}
		for end < len(s) && end-i < 255 && s[end] < utf8.RuneSelf && (wordRune(rune(s[end])) || s[end] == '.' || s[end] == '-') {
			end++
		}
		domain := strings.TrimRight(s[i+1:end], ".-")
		dot := strings.LastIndexByte(domain, '.')
		if start == i || dot < 1 || len(domain)-dot < 3 || strings.IndexFunc(domain[dot+1:], unicode.IsDigit) >= 0 {
			continue
		}
		// Addresses kept for examples belong to nobody.
		if d := strings.ToLower(domain); d == "example.com" || d == "example.org" || d == "example.net" || strings.HasSuffix(d, ".example") || strings.HasSuffix(d, ".test") || strings.HasSuffix(d, ".invalid") {
			continue
		}
		if start > 0 && s[start-1] == ':' || start > 1 && s[start-1] == '/' {
			continue // a login inside an address
		}
		p.add(Email, "personal.email", start, i+1+len(domain))
	}
}

// number is a group of figures with the signs people put between them.
type number struct {
	start, end int
	digits     string
	groups     []int // lengths
	seps       string
}

// numbers looks at every group of figures once.
func (p *seeker) numbers() {
	s := p.s
	for i := 0; i < len(s); i++ {
		if !digitByte(s[i]) || i > 0 && (localByte(s[i-1]) && s[i-1] != '-' && s[i-1] != '+' || s[i-1] >= utf8.RuneSelf && joined(s[:i])) {
			continue
		}
		n := number{start: i}
		j := i
		for {
			k := j
			for k < len(s) && digitByte(s[k]) {
				k++
			}
			n.digits += s[j:k]
			n.groups = append(n.groups, k-j)
			n.end = k
			j = k
			for j < len(s) && j-k < 2 && (s[j] == ' ' || s[j] == '-' || s[j] == '.' || s[j] == '(' || s[j] == ')') {
				j++
			}
			if j == k || j >= len(s) || !digitByte(s[j]) || len(n.digits) > 20 {
				break
			}
			n.seps += s[k:j]
		}
		p.number(n)
		i = n.end
	}
}

// joined says whether a letter ends the text: "№2" and "v2" are no numbers of
// their own, "номер2" neither. Japanese letters end nothing.
func joined(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return unicode.IsLetter(r) && scriptOf(r) != cjk
}

func (p *seeker) number(n number) {
	s := p.s
	plus := n.start > 0 && s[n.start-1] == '+'
	paren := n.start > 0 && s[n.start-1] == '('
	d := n.digits
	before := p.lower[max(0, n.start-48):n.start]
	about := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(before, w) {
				return true
			}
		}
		return false
	}
	switch {
	case plus && len(d) >= 9 && len(d) <= 15:
		p.add(Phone, "personal.phone", n.start-1, n.end)
	case len(d) >= 13 && len(d) <= 19 && card(d) && (len(n.groups) == 1 || n.groups[0] == 4):
		p.add(Account, "personal.card", n.start, n.end)
	case len(d) == 10 && d[0] == '0' && (ukrainianMobile(d) || about("тел", "tel", "phone", "подзвон", "дзвони", "моб")):
		p.add(Phone, "personal.phone", n.start, n.end)
	case len(d) == 11 && (d[:3] == "090" || d[:3] == "080" || d[:3] == "070") && (len(n.groups) == 3 || about("電話", "携帯")):
		p.add(Phone, "personal.phone", n.start, n.end)
	case len(d) == 10 && d[0] == '0' && len(n.groups) == 3 && strings.Contains(n.seps, "-") && about("電話", "連絡先", "tel"):
		p.add(Phone, "personal.phone", n.start, n.end)
	case len(d) == 10 && paren && len(n.groups) == 3 && n.groups[0] == 3 && n.groups[1] == 3:
		p.add(Phone, "personal.phone", n.start-1, n.end)
	case len(d) >= 7 && len(d) <= 12 && about("phone", "mobile", "call me", "call her", "call him", "телефон", "тел.", "мобільн", "подзвон", "電話番号", "携帯番号"):
		p.add(Phone, "personal.phone", n.start, n.end)
	case len(d) == 10 && len(n.groups) == 1 && taxNumber(d) && about("іпн", "рнокпп", "ідентифікаційн", "податков", "инн", "tax"):
		p.add(NationalID, "personal.id-ua", n.start, n.end)
	case len(d) == 12 && myNumber(d) && (about("マイナンバー", "個人番号", "my number") || len(n.groups) == 3 && n.groups[0] == 4 && n.groups[1] == 4):
		p.add(NationalID, "personal.id-jp", n.start, n.end)
	case len(d) == 9 && len(n.groups) == 3 && n.groups[0] == 3 && n.groups[1] == 2 && n.seps == "--" && socialSecurity(d):
		p.add(NationalID, "personal.id-us", n.start, n.end)
	case (len(d) == 9 || len(d) == 6) && about("паспорт", "passport", "旅券番号", "パスポート"):
		p.add(NationalID, "personal.passport", n.start, n.end)
	case len(d) == 7 && len(n.groups) == 2 && n.groups[0] == 3 && n.seps == "-" && (strings.HasSuffix(before, "〒") || about("郵便番号")):
		p.add(Address, "personal.postcode", n.start, n.end)
	case len(d) >= 6 && len(d) <= 8 || len(n.groups) >= 2:
		if about("born", "birthday", "date of birth", "народи", "народжен", "生年月日", "誕生日") {
			p.add(Birth, "personal.birth", n.start, n.end)
		}
	}
}

func at(d string, i int) int { return int(d[i] - '0') }

// card is the check digit of payment cards (ISO/IEC 7812) with the first digits
// that are given out.
func card(d string) bool {
	sum := 0
	for i := range d {
		v := at(d, len(d)-1-i)
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0 && (d[0] >= '2' && d[0] <= '6') && strings.Trim(d, d[:1]) != ""
}

// taxNumber is the check digit of the Ukrainian taxpayer number.
func taxNumber(d string) bool {
	weights := [...]int{-1, 5, 7, 9, 4, 6, 10, 5, 7}
	sum := 0
	for i, w := range weights {
		sum += w * at(d, i)
	}
	return ((sum%11+11)%11)%10 == at(d, 9)
}

// myNumber is the check digit of the Japanese individual number.
func myNumber(d string) bool {
	sum := 0
	for n := 1; n <= 11; n++ {
		q := n + 1
		if n > 6 {
			q = n - 5
		}
		sum += at(d, 11-n) * q
	}
	check := 0
	if r := sum % 11; r > 1 {
		check = 11 - r
	}
	return check == at(d, 11)
}

// socialSecurity says whether the parts of a United States number are given out.
func socialSecurity(d string) bool {
	return d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
}

func ukrainianMobile(d string) bool {
	switch d[:3] {
	case "039", "050", "063", "066", "067", "068", "073", "075", "077", "091", "092", "093", "094", "095", "096", "097", "098", "099":
		return true
	}
	return false
}

// ibans finds account numbers by their check digits (ISO 13616).
func (p *seeker) ibans() {
	s := p.s
	for i := 0; i+15 <= len(s); i++ {
		if s[i] < 'A' || s[i] > 'Z' || s[i+1] < 'A' || s[i+1] > 'Z' || !digitByte(s[i+2]) || !digitByte(s[i+3]) || i > 0 && localByte(s[i-1]) {
			continue
		}
		var b []byte
		ends := []int{}
		for j := i; j < len(s) && len(b) < 34; j++ {
			c := s[j]
			if c == ' ' && len(b)%4 == 0 {
				continue
			}
			if !digitByte(c) && (c < 'A' || c > 'Z') {
				break
			}
			b = append(b, c)
			ends = append(ends, j+1)
		}
		for n := len(b); n >= 15; n-- {
			if end := ends[n-1]; (end == len(s) || !localByte(s[end]) || s[end] == '.') && checkIBAN(b[:n]) {
				p.add(Account, "personal.iban", i, end)
				i = end
				break
			}
		}
	}
}

func checkIBAN(b []byte) bool {
	rest := 0
	for i := range b {
		c := b[(i+4)%len(b)]
		if digitByte(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}
