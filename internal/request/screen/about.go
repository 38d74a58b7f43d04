package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// topic is a kind of personal data that words give away. All parts must be there,
// near one another.
type topic struct {
	kind   Kind
	rule   string
	parts  []string // each is a list of words or stems, parted by "|"
	within int      // bytes between the first part and the others
}

// topics are in order of their rules.
var topics = []topic{
	{Address, "personal.address", []string{
		"вул. |вулиц|просп. |проспект |провулок|пров. |бульвар| street| st. | avenue| ave.| road| lane| boulevard|丁目|番地|番号室|県|市|区",
		"#",
	}, 40},
	{Law, "personal.legal", []string{
		"lawsuit|sued |suing|court case|court hearing|prosecut|convicted|conviction|criminal record|arrested|divorce|custody|subpoena|indict|" +
			"позов|судов|судимі|кримінальн|прокурат|заарешт|розлучен|опік|обвинувач|адвокат|訴訟|裁判|逮捕|起訴|有罪|離婚|親権|前科|弁護士",
	}, 0},
	{Illness, "personal.health", []string{
		"illness|disease|diagnos|cancer|diabet|depress|pregnan|hiv |hepatitis|chemotherap|surgery|hospitali|psychiatr|epilep|asthma|miscarriage|dementia|" +
			"stroke|allerg|medication|prescription|medical record|blood test|therapy session|addict|mental health|rehab|" +
			"хвороб|хворі|хворіє|захворюв|діагноз|рак легень|онколог|діабет|депресі|вагітн|віл-|гепатит|хіміотерап|операці|госпіталі|психіатр|епілепс|астм|деменці|інсульт|алергі|ліки|рецепт від лікаря|медичн карт|медичну карт|аналіз крові|залежніст|лікарн|" +
			"病気|診断|癌|がん|糖尿病|うつ病|妊娠|肝炎|化学療法|手術|入院|精神科|てんかん|喘息|認知症|脳卒中|アレルギー|持病|病歴|カルテ|依存症|通院|闘病",
	}, 0},
	{Minor, "personal.minor", []string{
		"my son|my daughter|my child|our son|our daughter|his son|her son|his daughter|her daughter|their child|their son|their daughter|year-old|years old|schoolgirl|schoolboy|toddler|minor child|" +
			"мій син|моя донька|мого сина|моєї доньки|мою доньку|наш син|наша донька|його син|її син|їхній син|їхня донька|його донька|її донька|років хлопч|річн|школяр|школярк|неповнолітн|малолітн|немовл|" +
			"息子|娘さん|私の娘|うちの娘|歳の子|歳児|未成年|小学生|中学生|園児|幼児",
		"#|school|kindergarten|class |photo|grade|школ|садок|садочк|клас|фото|学校|小学|中学|幼稚園|保育園|写真|歳",
	}, 60},
	{Money, "personal.finance", []string{
		"salary|salaries|wage of|her wages|his wages|debt of|her debt|his debt|bank account|bank statement|tax return|bankrupt|mortgage|loan of|income of|her income|his income|payslip|" +
			"зарплат|заробітна плат|борг|банківськ рахун|банківський рахун|банківського рахун|виписк з рахун|податкова деклар|банкрут|іпотек|кредит|дохід|доходи|" +
			"給料|給与|年収|借金|銀行口座|口座番号|確定申告|破産|住宅ローン|所得",
	}, 0},
	{Place, "personal.place", []string{"lives at|lives on|is staying at|home address|мешкає за|живе на вул|живе за адрес|домашня адрес|домашню адрес|自宅|住所は|に住んで"}, 0},
}

// words finds the topics, and coordinates.
func (p *seeker) words(words []heard) {
	for _, h := range words {
		if h.list != hearTopic {
			continue
		}
		t, end := &topics[h.topic], h.end
		if len(t.parts) > 1 {
			if end = p.beside(t, h.start, h.end); end < 0 {
				continue
			}
		}
		p.add(t.kind, t.rule, h.start, end)
	}
	p.coordinates()
}

// beside is where the second part of a topic ends, -1 when it is not near.
func (p *seeker) beside(t *topic, start, end int) int {
	lo, hi := max(0, start-t.within/2), min(len(p.lower), end+t.within)
	if n := strings.IndexAny(p.lower[end:hi], "\n。"); n >= 0 {
		hi = end + n
	}
	near := p.lower[lo:hi]
	for w := range strings.SplitSeq(t.parts[1], "|") {
		switch {
		case w == "#" && t.kind == Address:
			// "12 Oak Street", "вул. Садова, 5", "一丁目2-3"
			for _, c := range []byte(near) {
				if digitByte(c) {
					return max(end, hi)
				}
			}
		case w == "#":
			if strings.IndexFunc(near, unicode.IsDigit) >= 0 {
				return end
			}
		case strings.Contains(near, w):
			return end
		}
	}
	return -1
}

// coordinates finds two numbers with at least three decimals that can be a
// latitude and a longitude.
func (p *seeker) coordinates() {
	s := p.s
	for i := 0; i < len(s); i++ {
		if !digitByte(s[i]) || i > 0 && (digitByte(s[i-1]) || s[i-1] == '.') {
			continue
		}
		first, ok := decimal(s, i, 90)
		if !ok {
			i = max(i, first-1)
			continue
		}
		j := first
		for j < len(s) && j-first < 4 && strings.IndexByte(", ;-NnEeSsWw", s[j]) >= 0 {
			j++
		}
		if second, ok := decimal(s, j, 180); ok && j > first {
			p.add(Place, "personal.coordinates", i, second)
			i = second
			continue
		}
		i = first
	}
}

// decimal reads a number with at least three decimals up to a limit.
func decimal(s string, i, limit int) (int, bool) {
	whole, j := 0, i
	for j < len(s) && digitByte(s[j]) && j-i < 4 {
		whole = whole*10 + int(s[j]-'0')
		j++
	}
	if j == i || j >= len(s) || s[j] != '.' || whole > limit {
		return j, false
	}
	k := j + 1
	for k < len(s) && digitByte(s[k]) {
		k++
	}
	return k, k-j > 3
}

// titles stand before or after the name of a person.
var (
	titlesBefore = []string{"Mr. ", "Mrs. ", "Ms. ", "Mr ", "Mrs ", "Ms ", "Dr. ", "пан ", "пані ", "пана ", "пану ", "паном ", "Пан ", "Пані ", "Пана ", "доктор ", "лікарка ", "лікар "}
	titlesAfter  = []string{"さん", "氏", "様", "先生"}
	noNames      = []string{"皆", "みな", "客", "母", "父", "兄", "姉", "弟", "妹", "娘", "息子", "奥", "医者", "お医者", "隣", "新人", "運営", "管理者", "参加者", "各", "同", "摂", "彼", "どなた", "会員", "利用者", "業者", "孫", "祖父", "祖母", "おじい", "おばあ"}
)

// names finds people by their titles.
func (p *seeker) names() {
	for _, t := range titlesBefore {
		for from := 0; ; {
			n := strings.Index(p.s[from:], t)
			if n < 0 {
				break
			}
			start := from + n
			from = start + len(t)
			if b, _ := utf8.DecodeLastRuneInString(p.s[:start]); start > 0 && wordRune(b) {
				continue
			}
			end, letters := wordEnd(p.s, from)
			if r, _ := utf8.DecodeRuneInString(p.s[from:]); letters > 1 && unicode.IsUpper(r) {
				p.add(Name, "personal.name", start, end)
			}
		}
	}
	for _, t := range titlesAfter {
		for from := 0; ; {
			n := strings.Index(p.s[from:], t)
			if n < 0 {
				break
			}
			end := from + n
			from = end + len(t)
			start, letters := end, 0
			for start > 0 && letters < 5 {
				r, size := utf8.DecodeLastRuneInString(p.s[:start])
				if !unicode.In(r, unicode.Han, unicode.Katakana) {
					break
				}
				start -= size
				letters++
			}
			if letters > 0 && !(t == "氏" && letters == 1) && !endsWith(p.s[start:end], noNames) {
				p.add(Name, "personal.name", start, from)
			}
		}
	}
}

func endsWith(s string, ends []string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}
