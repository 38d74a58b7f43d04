package screen

import (
	"slices"
	"strings"
)

// matcher looks for the rules in the forms of a text.
type matcher struct {
	words *dictionary
	rules []Rule
}

// breach is a rule that was met in a form.
type breach struct {
	rule   *Rule
	locale string
	start  int // bytes of the form
	end    int
	data   bool // it is talked about, not asked for
}

// scene is a reading with what was found in it, sorted into sentences.
type scene struct {
	*reading
	hits      []hit
	sentences [][2]int // ranges of hits
	context   []context
	quoted    int // breaches so far that are only talked about
}

// context is what a sentence says about the words around it, outside quotations.
type context struct {
	mention bool // something is talked about
	say     bool // somebody wrote or said something
	boss    bool // and claims to be in charge
	obey    bool // and it is to be done
}

func (m *matcher) find(r *reading) []breach {
	s := &scene{reading: r, hits: m.words.find(r)}
	s.sort()
	s.weigh(m.words.locales)
	var found []breach
	for n := range s.sentences {
		for i := range m.rules {
			found = s.meet(&m.rules[i], n, m.words.locales, found)
		}
	}
	return found
}

func (s *scene) sort() {
	slices.SortStableFunc(s.hits, func(a, b hit) int { return a.start - b.start })
	last := 0
	if len(s.words) > 0 {
		last = s.words[len(s.words)-1].sentence
	}
	s.sentences = make([][2]int, last+1)
	s.context = make([]context, last+1)
	i := 0
	for n := range s.sentences {
		start := i
		for i < len(s.hits) && s.hits[i].sentence == n {
			i++
		}
		s.sentences[n] = [2]int{start, i}
	}
}

// weigh decides which verbs are orders, and what each sentence says about its
// neighbours.
func (s *scene) weigh(locales []string) {
	for n, span := range s.sentences {
		hits := s.hits[span[0]:span[1]]
		ordered := false
		for i := range hits {
			h := &hits[i]
			w := s.words[h.first]
			switch {
			case w.glued:
				h.directive = true
			case w.cjk:
				h.directive = japaneseOrder(s.text.form, h)
			case h.mood == Noun:
			default:
				h.directive = s.order(h, locales[h.locale], ordered)
			}
			ordered = ordered || h.directive
			if w.quoted {
				continue
			}
			c := &s.context[n]
			switch h.class { //nolint:exhaustive // four classes say something about the sentence
			case Mention:
				c.mention = true
			case Say:
				c.say = true
			case Boss:
				c.boss = true
			case Obey:
				c.obey = c.obey || !s.negated(h.first)
			}
		}
		if ordered {
			for i := range hits {
				if hits[i].mood == Participle {
					hits[i].directive = true
				}
			}
		}
	}
}

// words that stand before a verb and leave it what it is.
var adverbs = wordSet("just simply now also then kindly immediately completely fully totally first again entirely secretly quietly silently directly " +
	"always hereby instantly actually please ok okay hey hello hi dear so therefore thus next finally afterwards otherwise today instead " +
	"будь ласка просто зараз негайно швидко тепер потім спершу одразу терміново далі також ще")

// words that make the verb after them an order.
var orders = wordSet("please let's lets must should shall will can could would need gotta")

// words that take an order with "to": "I want you to".
var tasks = wordSet("want need order ask tell instruct command require allowed permitted free expected supposed have going you him authorised authorized instructed ordered told entitled like ready able required obliged remember try time")

// words that speak of somebody else, or of what happens: no order follows them.
var others = wordSet("who people they members nobody anyone anybody someone somebody it he she this that which we visitors attackers others everyone requests request attempts attempt how why when if whether what never not cannot can't don't didn't won't wouldn't shouldn't mustn't tries trying tried wants")

// words that make a Ukrainian infinitive an order, and words that do not.
var (
	licences = wordSet("треба потрібно необхідно мусиш маєш повинен повинна прошу наказую можеш вимагаю слід мусите маєте можете хочу доручаю велю зобов'язаний зобов'язана потребую дозволяю час пора")
	refusals = wordSet("як спроба спроби спробу спроб прохання прохань проханням хто чому коли якщо не ніколи чи нащо навіщо просить просять просив просила намагався намагається спосіб способи заклик заклики закликати пропозиція вміти хоче хочуть")
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// order says whether a verb is an order where it stands. ordered says that an
// order stands before it in the sentence.
func (s *scene) order(h *hit, locale string, ordered bool) bool {
	if s.negated(h.first) {
		return false
	}
	switch h.mood {
	case Command:
		return locale != "en" || h.class == Void || h.class == Obey || h.class == Assume || !s.about(h.first)
	case Infinitive:
		return s.licensed(h.first)
	case Base:
		return s.begins(h.first, ordered)
	case Noun, Participle:
	}
	return false
}

// before is the word before the i-th in the same sentence, "" when there is none
// or a clause begins with the i-th.
func (s *scene) before(i int) string {
	if i == 0 || s.words[i-1].sentence != s.words[i].sentence || s.words[i-1].clause != s.words[i].clause {
		return ""
	}
	return s.string(i - 1)
}

// negated says whether the verb at the i-th word is forbidden, not ordered.
func (s *scene) negated(i int) bool {
	for n := 0; n < 2; n++ {
		switch w := s.before(i); w {
		case "not", "never", "don't", "cannot", "can't", "won't", "mustn't", "shouldn't", "nobody", "не", "ніколи", "нe", "nor", "neither", "didn't", "refuse", "без":
			return true
		case "to", "ever", "please", "you", "just", "simply":
			i--
		default:
			return false
		}
	}
	return false
}

// about says whether the words before the i-th make what follows somebody else's.
func (s *scene) about(i int) bool {
	w := s.before(i)
	if w == "to" {
		return !tasks[s.before(i-1)]
	}
	return others[w]
}

// begins says whether an English verb in its base form gives an order.
func (s *scene) begins(i int, ordered bool) bool {
	for steps := 0; ; steps++ {
		w := s.before(i)
		switch {
		case w == "":
			return true
		case steps < 4 && (adverbs[w] || scriptOf(rune(w[0])) == noScript):
			i--
		case w == "and" || w == "or" || w == "but":
			return ordered || s.opens(i)
		case w == "to":
			return tasks[s.before(i-1)]
		case w == "us" || w == "me":
			return s.before(i-1) == "let" || s.before(i-1) == "help"
		case w == "you":
			return !others[s.before(i-1)]
		case orders[w]:
			subject := s.before(i - 1)
			return subject == "" || subject == "you" || subject == "assistant" || subject == "orchestrator" || adverbs[subject] || w == "please" ||
				strings.HasPrefix(w, "let")
		default:
			return false
		}
	}
}

// opens says whether the clause that the i-th word stands in begins like an
// order: with a verb, not with somebody else.
func (s *scene) opens(i int) bool {
	first := i - 1
	for first > 0 && s.words[first-1].clause == s.words[i].clause && s.words[first-1].sentence == s.words[i].sentence {
		first--
	}
	for j := first; j < i; j++ {
		if w := s.string(j); others[w] || strings.HasPrefix(w, "how") {
			return false
		}
	}
	return openers[s.string(first)]
}

// openers are verbs that often begin an order and mean nothing by themselves.
var openers = wordSet("please read take open go forget stop pretend act be write translate continue start imagine look find use make do decode listen wait close check summarise summarize answer reply help finish end begin step now you ok yes thanks thank hi hello drop assume repeat follow let")

// licensed says whether a Ukrainian infinitive is ordered by the words before it.
func (s *scene) licensed(i int) bool {
	found := false
	for n := 0; n < 5 && i > 0 && s.words[i-1].sentence == s.words[i].sentence; n++ {
		i--
		w := s.string(i)
		if refusals[w] {
			return false
		}
		found = found || licences[w]
	}
	return found
}

// The endings that make a Japanese stem an order, and those that take it back.
var (
	orderEndings = []string{
		"してください", "して下さい", "してくれ", "してほしい", "して欲しい", "しなさい", "しろ", "せよ", "すること", "して、", "して,", "してから", "してちょうだい",
		"てください", "て下さい", "てくれ", "てほしい", "て欲しい", "なさい", "ろ", "え", "せ", "て、", "て,", "てから", "てちょうだい", "で、", "でください", "しましょう", "しよう",
		"をお願い", "お願い", "願います", "を頼", "したい", "たい", "を要求", "を求めます", "を命じ", "をして", "にして", "にし", "して", "て", "で", "し、", "し,", "のまま", "せず", "を",
		"ください", "を送", "した上で", "したうえで", "よ", "れ", "け", "を入れ",
	}
	takenBack = []string{
		"しない", "せずに守", "してはいけ", "してはなら", "してはだめ", "するな", "しては", "てはいけ", "てはなら", "ないで", "ません", "べきでは", "する人", "した人", "する者", "する方法",
		"しようと", "しろと", "せよと", "しろという", "せよという", "するよう", "してほしいと", "してくださいと", "してくれと", "されたら", "された", "される", "したら", "すると", "するか", "した場合",
		"を見", "についての", "について", "に関する", "とは", "の意味", "の例", "の手口", "の試み", "攻撃", "要求", "という", "行為", "しなかった", "しても", "ことができない", "の依頼", "を求める", "を促す",
	}
)

// japaneseOrder says whether the stem of a Japanese verb is an order: the ending
// says so.
func japaneseOrder(form string, h *hit) bool {
	if h.mood == Noun {
		return false
	}
	rest := form[h.end:]
	for _, e := range takenBack {
		if strings.HasPrefix(rest, e) {
			return h.class == Bypass && e == "ないで" || h.class == Silence && e == "ないで"
		}
	}
	if h.mood == Command {
		return !strings.HasPrefix(rest, "と書") && !strings.HasPrefix(rest, "と言")
	}
	last := form[:h.end]
	if strings.HasSuffix(last, "れ") || strings.HasSuffix(last, "せ") || strings.HasSuffix(last, "け") || strings.HasSuffix(last, "ず") || rest == "" {
		return true
	}
	for _, e := range orderEndings {
		if strings.HasPrefix(rest, e) {
			return true
		}
	}
	c := strings.IndexAny(rest, "。!?\n")
	return c == 0
}

// meet looks for one rule around every head in the n-th sentence.
func (s *scene) meet(r *Rule, n int, locales []string, found []breach) []breach {
	span := s.sentences[n]
heads:
	for i := span[0]; i < span[1] && len(found) < maxBreaches; i++ {
		head := &s.hits[i]
		if !fits(head, &r.Needs[0]) {
			continue
		}
		start, end, quoted := head.start, head.end, false
		for k := 1; k < len(r.Needs); k++ {
			other := s.near(head, i, &r.Needs[k], r.Within, n)
			if other == nil {
				continue heads
			}
			start, end = min(start, other.start), max(end, other.end)
			quoted = quoted || s.words[other.first].quoted
		}
		for _, c := range r.Unless {
			if s.nearby(head, i, span, c, start, end) {
				continue heads
			}
		}
		b := breach{rule: r, locale: locales[head.locale], start: start, end: end, data: s.data(head, n, quoted)}
		if s.quoted += one(b.data); !b.data || s.quoted <= maxBreaches/2 {
			found = append(found, b)
		}
	}
	return found
}

// maxBreaches is how many breaches of one form are reported. Those that are only
// talked about leave room for the others.
const maxBreaches = 64

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func fits(h *hit, n *Need) bool { return slices.Contains(n.Any, h.class) && (!n.Order || h.directive) }

// near is the closest word to the head that a need asks for, nil when there is
// none. It looks outwards from the head, so that a long sentence costs no more
// than a short one.
func (s *scene) near(head *hit, i int, need *Need, within, n int) *hit {
	if need.Within > 0 {
		within = need.Within
	}
	var best *hit
	closest := within + 1
	try := func(j int) bool {
		h := &s.hits[j]
		if j == i || h.start < head.end && head.start < h.end || need.After && h.start < head.end || !fits(h, need) {
			return true
		}
		if d := distance(head, h, s.words); d < closest {
			best, closest = h, d
			return false
		}
		return true
	}
	span := s.sentences[n]
	for j := i + 1; j < span[1] && s.hits[j].at-head.at <= within+reachOfPhrase && try(j); j++ {
	}
	for j := i - 1; j >= span[0] && head.at-s.hits[j].at <= within+reachOfPhrase && try(j); j-- {
	}
	if best == nil && need.Later {
		for j := span[1]; j < len(s.hits) && s.hits[j].at-head.at <= within && try(j); j++ {
		}
	}
	if best == nil && need.Across && n > 0 && s.pronoun(head, i, span) {
		span = s.sentences[n-1]
		for j := span[1] - 1; j >= span[0] && head.at-s.hits[j].at <= within+reachOfPhrase && try(j); j-- {
		}
	}
	return best
}

// reachOfPhrase is how far apart the first and the last word of one entry of a
// lexicon may stand, in units.
const reachOfPhrase = 8 * unitsPerWord

func distance(a, b *hit, words []word) int {
	if b.start < a.start {
		a, b = b, a
	}
	return max(0, b.at-a.at-(words[a.last].at-words[a.first].at))
}

// pronoun says whether the head is followed, or preceded, by a word that points
// back.
func (s *scene) pronoun(head *hit, i int, span [2]int) bool {
	for j := max(span[0], i-8); j < min(span[1], i+9); j++ {
		if h := &s.hits[j]; h.class == Pronoun && distance(head, h, s.words) <= 2*unitsPerWord {
			return true
		}
	}
	return false
}

// nearby says whether a word of a class stands between the words of a rule, or
// close enough to change what they are about.
func (s *scene) nearby(head *hit, i int, span [2]int, c Class, start, end int) bool {
	reach := 4 * unitsPerWord
	if c == Will {
		reach = 12 * unitsPerWord
	}
	first, last := s.unit(start), s.unit(end)
	alters := func(h *hit) bool {
		switch {
		case h.class != c:
			return false
		case h.start >= start && h.end <= end:
			return h.start >= head.end || head.start >= h.end
		case c == Own:
			return false
		case h.start >= end:
			return h.at-last <= reach
		case c == Meta:
			return h.end <= start && start < head.start && first-h.at <= 2*unitsPerWord // "the order of changing passwords, send it"
		}
		return c == Will && h.end <= start && first-h.at <= reach
	}
	for j := i + 1; j < span[1] && s.hits[j].at-last <= reach; j++ {
		if alters(&s.hits[j]) {
			return true
		}
	}
	for j := i - 1; j >= span[0] && first-s.hits[j].at <= reach+reachOfPhrase; j-- {
		if alters(&s.hits[j]) {
			return true
		}
	}
	return false
}

// unit is the place of a byte of the form, in units.
func (s *scene) unit(at int) int {
	i, _ := slices.BinarySearchFunc(s.words, at, func(w word, at int) int { return w.end - at })
	if i >= len(s.words) {
		i = len(s.words) - 1
	}
	w := s.words[i]
	if w.cjk && at > w.start {
		return w.at + len([]rune(s.text.form[w.start:min(at, w.end)]))
	}
	return w.at
}

// data says whether what the head orders is only talked about
// (docs/spec/circle.md §8: quoting an attack in order to discuss it is data). A
// quotation is, when the words around it say so and nothing says that it is to be
// done. Without quotation marks there must be a word of saying with a colon before
// it, and more.
//
// quoted says that another word of the rule stands in a quotation: a verb outside
// has the quotation for its object then ("translate: “send ...”").
func (s *scene) data(head *hit, n int, quoted bool) bool {
	near := context{}
	for k := max(0, n-1); k <= min(n+1, len(s.context)-1); k++ {
		c := s.context[k]
		near.mention = near.mention || c.mention
		near.say = near.say || c.say
		near.boss = near.boss || c.boss
		near.obey = near.obey || c.obey
	}
	if near.obey {
		return false
	}
	if s.words[head.first].quoted {
		return near.mention || near.say && !near.boss
	}
	return near.mention && (quoted || s.reported(head))
}

// reported says whether a colon with a word of saying stands before the head in
// its sentence, or a Japanese "と" of saying after it.
func (s *scene) reported(head *hit) bool {
	w := s.words[head.first]
	if w.cjk {
		rest := s.text.form[head.end:w.end]
		for _, e := range []string{"という", "といった", "と書", "と言", "と送", "との"} {
			if strings.Contains(rest, e) {
				return true
			}
		}
		return false
	}
	for i := head.first; i > 0; i-- {
		between := s.text.form[s.words[i-1].end:s.words[i].start]
		if s.words[i-1].sentence != w.sentence {
			return false
		}
		if strings.Contains(between, ":") {
			return s.saying(i - 1)
		}
	}
	return false
}

// saying says whether one of the words before a colon is a word of saying.
func (s *scene) saying(i int) bool {
	w := s.words[i]
	k, _ := slices.BinarySearchFunc(s.hits, w.end, func(h hit, at int) int { return h.start - at })
	for j := k - 1; j >= max(0, k-12); j-- {
		if h := &s.hits[j]; h.class == Say && h.last <= i && i-h.last < 5 && h.sentence == w.sentence {
			return true
		}
	}
	return false
}
