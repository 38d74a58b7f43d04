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

// persons are words that say whose an illness or an address is. They are enough
// for a flag, not for a name.
const persons = "my |mine|his |her |their |your |'s |s' | he | she |i am |i have|i was|i'm|she's|he's|neighbour|neighbor|member|colleague|friend|mother|father|sister|brother|wife|husband|son |daughter|child|mrs|mr. |ms. |patient|" +
	"мій|моя|мої|моє|мого|мою|моєї|моїм|його|її|їхн|їх |сусід|учасни|колег|друг|подруг|мам|тат|батьк|сестр|брат|дружин|чоловік|син |сина|доньк|дитин|діте|пан |пані |пана |у мене|я хвор|він |вона |хворий |хвора |пацієнт|" +
	"私|僕|彼|彼女|さん|氏|様|隣人|メンバー|同僚|友人|母|父|姉|妹|兄|弟|妻|夫|息子|娘|子ども|子供|患者|本人"

// topics are in order of their rules.
var topics = []topic{
	{Address, "personal.address", []string{
		"вул. |вулиц|просп. |проспект |провулок|пров. |бульвар| street| st. | avenue| ave. | road| lane| boulevard|丁目|番地|号室",
		"#",
		persons + "|home|live|lives|living|stays|resid|мешка|живе|живу|прожива|додому|домашн|自宅|住ん|住所|家は",
	}, 40},
	{Illness, "personal.health", []string{
		"illness|disease|diagnos|cancer|diabet|depression|depressed|pregnan|hiv |hepatitis|chemotherap|surgery|hospitali|psychiatr|epilep|asthma|miscarriage|dementia|" +
			"medication|medical record|blood test|addiction|rehab |" +
			"хвороб|хворі|хворіє|хвора |хворий |захворів|діагноз|онколог|діабет|депресі|вагітн|гепатит|хіміотерап|госпіталізов|психіатр|епілепс|астм|деменці|інсульт|медичну карт|медичної карт|аналіз крові|" +
			"病気|診断|癌|がん|糖尿病|うつ病|妊娠|肝炎|化学療法|手術|入院|精神科|てんかん|喘息|認知症|脳卒中|持病|病歴|カルテ|依存症|闘病",
		persons,
	}, 60},
	{Law, "personal.legal", []string{
		"lawsuit|sued |court case|court hearing|prosecut|convicted|criminal record|arrested|divorce|custody|subpoena|indicted|" +
			"позов|судимі|кримінальн|заарешт|розлучен|обвинувач|訴訟|裁判|逮捕|起訴|有罪|離婚|親権|前科",
		persons,
	}, 60},
	{Minor, "personal.minor", []string{
		"my son|my daughter|my child|our son|our daughter|his son|her son|his daughter|her daughter|their child|their son|their daughter|year-old|years old|schoolgirl|schoolboy|toddler|minor child|" +
			"мій син|моя донька|мого сина|моєї доньки|мою доньку|наш син|наша донька|його син|її син|їхній син|їхня донька|його донька|її донька|школяр|школярк|неповнолітн|малолітн|немовл|" +
			"息子|娘さん|私の娘|うちの娘|歳の子|歳児|未成年|小学生|中学生|園児|幼児",
		"#|school|kindergarten|class |photo|grade|школ|садок|садочк|клас|фото|学校|小学|中学|幼稚園|保育園|写真|歳",
	}, 60},
	{Money, "personal.finance", []string{
		"salary|her wages|his wages|my wages|her debt|his debt|my debt|debt of|bank account|bank statement|tax return|bankrupt|mortgage|her income|his income|my income|payslip|" +
			"зарплат|заробітна плат|борг|банківський рахун|банківського рахун|податкова деклар|банкрут|іпотек|" +
			"給料|給与|年収|借金|銀行口座|口座番号|確定申告|破産|住宅ローン",
		persons,
	}, 40},
	{Place, "personal.place", []string{"lives at|lives on|is staying at|home address|мешкає за|живе на вул|живе за адрес|домашня адрес|домашню адрес|自宅の住所|住所は|に住んで"}, 40},
}

// words finds the topics, and coordinates.
func (p *seeker) words(words []heard) {
	for _, h := range words {
		if h.list != hearTopic {
			continue
		}
		t, end := &topics[h.topic], h.end
		for _, part := range t.parts[1:] {
			at := p.beside(t, part, h.start, h.end)
			if at < 0 {
				end = -1
				break
			}
			end = max(end, at)
		}
		if end < 0 {
			continue
		}
		p.add(t.kind, t.rule, h.start, end)
	}
	p.coordinates()
}

// beside is where another part of a topic ends, -1 when it is not near.
func (p *seeker) beside(t *topic, part string, start, end int) int {
	lo, hi := max(0, start-t.within), min(len(p.lower), end+t.within)
	if n := strings.LastIndexAny(p.lower[lo:start], "\n。"); n >= 0 {
		lo += n
	}
	if n := strings.IndexAny(p.lower[end:hi], "\n。"); n >= 0 {
		hi = end + n
	}
	near := " " + p.lower[lo:hi] + " "
	for w := range strings.SplitSeq(part, "|") {
		if w != "#" {
			if strings.Contains(near, w) {
				return end
			}
			continue
		}
		// "12 Oak Street", "вул. Садова, 5", "一丁目2-3"
		last := strings.LastIndexFunc(p.lower[lo:hi], unicode.IsDigit)
		if last >= 0 {
			_, n := utf8.DecodeRuneInString(p.lower[lo+last:])
			return max(end, lo+last+n)
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
