package worker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/envelope"
)

var (
	ritualLeads = words{
		"please", "plan the agenda of", "plan the agenda for", "plan an agenda for", "plan the", "plan a", "plan our", "plan", "prepare the agenda of", "prepare an agenda for", "prepare", "we need an agenda for",
		"agenda for", "an agenda for", "draft an agenda for", "сплануй", "склади порядок денний для", "склади порядок денний", "підготуй порядок денний", "порядок денний для", "порядок денний", "підготуй", "прошу", "будь ласка",
	}
	ritualTails = words{"の進行を考えてください", "の進行を考えて", "の計画を立ててください", "の計画を立てて", "を計画してください", "を計画して", "の議題を作ってください", "の議題を作って", "の式次第を作って"}
	ritualWords = words{
		"agenda*", "plan*", "ceremon*", "ritual*", "gathering*", "meeting*", "opening", "closing", "celebrat*", "solstice", "порядок денний", "сплануй*", "зустріч*", "зібран*", "церемон*", "обряд*",
		"свят*", "відкрит*", "議題", "計画", "儀式", "集まり", "集会", "会議", "祭", "進行",
	}
	solemnWords   = words{"ceremon*", "ritual*", "opening", "closing", "solstice", "celebrat*", "memorial", "farewell", "церемон*", "обряд*", "свят*", "відкритт*", "закритт*", "сонцестоян*", "прощан*", "儀式", "祭", "お祝い", "式", "冬至", "夏至", "偲"}
	decidingWords = words{"decid*", "decision*", "vote", "agree on", "choose", "elect*", "виріш*", "рішен*", "голосув*", "обрати", "обрання", "ухвал*", "決め", "決定", "採決", "選"}
	peopleUnits   = words{"people", "persons", "participants", "members", "guests", "of us", "adults", "children", "людей", "людини", "осіб", "учасник*", "гост*", "нас", "人", "名"}
	topicMarks    = words{
		"topics are", "topics", "the agenda is", "items are", "items", "we discuss", "we will discuss", "to discuss", "discuss", "points", "теми", "питання", "обговорюємо", "обговорити", "обговоримо", "пункти",
		"議題は", "議題：", "話すことは",
	}
	bringWords = words{"bring", "we need", "needed", "materials", "принес*", "візьм*", "потрібн*", "持って", "用意"}
)

// What Ritual-Field says.
var (
	sayPurpose = phrase{"To hold this together: %s", "Провести це разом: %s", "これを共に行う：%s"}
	sayArrive  = phrase{"Arriving", "Прихід", "集まる"}
	sayQuiet   = phrase{"A moment of silence", "Хвилина тиші", "静かなひととき"}
	saySharing = phrase{"Sharing in a circle: %s", "Коло слова: %s", "輪になって話す：%s"}
	sayClosing = phrase{"Ending", "Завершення", "締めくくり"}
	formArrive = phrase{"Everybody finds a place and says hello. Whoever comes late joins quietly.", "Кожен знаходить місце й вітається. Хто спізнився, тихо приєднується.", "それぞれ席に着き、あいさつをする。遅れて来た人は静かに加わる。"}
	formQuiet  = phrase{"We are silent together. Whoever wants to keeps their eyes open.", "Мовчимо разом. Хто хоче, не заплющує очей.", "共に静かにする。目を開けていてもよい。"}
	formShare  = phrase{"Each may speak once before anybody speaks twice; passing is fine. Nothing is decided in this step.", "Кожен може сказати раз, перш ніж хтось скаже вдруге; можна пропустити. Тут нічого не вирішують.", "誰かが二度話す前に、皆が一度ずつ話してよい。話さなくてもよい。ここでは何も決めない。"}
	formDecide = phrase{"The proposal is read aloud; questions first, then objections. Decided by the consent of those present, and a no needs no reason.", "Пропозицію читають уголос; спершу питання, тоді заперечення. Вирішують за згодою присутніх, і «ні» не потребує причини.", "案を読み上げ、まず質問、次に異議を聞く。その場の人の同意で決める。断る理由は要らない。"}
	formAct    = phrase{"Somebody who offers to leads it; the others join as they like.", "Веде той, хто сам зголосився; інші долучаються, як хочуть.", "名乗り出た人が進め、ほかの人は好きなように加わる。"}
	formClose  = phrase{"A word from whoever wants to give one; what was agreed is read once more. Then we tidy up together.", "Слово, хто хоче; ще раз читаємо, про що домовилися. Тоді разом прибираємо.", "話したい人が一言。決めたことをもう一度読む。それから一緒に片づける。"}
	careSit    = phrase{"There is a seat for everybody, and standing is never needed.", "Місце сісти є кожному, стояти не обов’язково.", "全員に席がある。立たなくてもよい。"}
	careLeave  = phrase{"Anybody may leave early or say nothing, without giving a reason.", "Кожен може піти раніше або мовчати, не пояснюючи.", "理由を言わずに早く帰っても、黙っていてもよい。"}
	careHear   = phrase{"With %d people: repeat quiet words aloud, and have the agenda where all can read it.", "Людей: %d. Тихі слова повторюють уголос, порядок денний видно всім.", "%d人なので、小さな声は繰り返し、進行は皆に見えるところに置く。"}
	careChild  = phrase{"Children are among us: a break, and something to do with the hands.", "Серед нас діти: перерва й щось для рук.", "子どももいるので、休憩と手を動かすことを用意する。"}
)

// step is one part of a meeting, with its share of the time.
type step struct {
	title  string
	form   phrase
	weight int
}

// ritualField gives a meeting its form: the topics the text names in its order,
// with arriving and ending around them, and minutes that add up to the time there
// is (docs/spec/circle.md §1). Nobody is given a part: names stay open.
func ritualField(t *Task) (Result, error) {
	say := t.tongue()
	text := t.Request.Text
	main, _ := statement(text, ritualWords, ritualLeads, ritualTails)
	main = clip(line(t.occasion(main)), 160)
	topics := t.topics()
	people := 0
	for _, c := range counts(text, peopleUnits) {
		people = max(people, c.halves/2)
	}
	if people == 0 && len(t.Request.Participants) > 0 {
		people = len(t.Request.Participants)
		if !slices.Contains(t.Request.Participants, t.Request.Member) {
			people++
		}
	}
	steps := []step{{say.say(sayArrive), formArrive, 2}}
	solemn := solemnWords.in(text)
	if solemn {
		steps = append(steps, step{say.say(sayQuiet), formQuiet, 1})
	}
	for _, topic := range topics {
		switch {
		case decidingWords.in(topic):
			steps = append(steps, step{capital(topic), formDecide, 6})
		case solemn:
			steps = append(steps, step{capital(topic), formAct, 5})
		default:
			steps = append(steps, step{capital(topic), formShare, 4})
		}
	}
	if len(topics) == 0 {
		if solemn {
			steps = append(steps, step{capital(main), formAct, 5})
		}
		form := formShare
		if decidingWords.in(text) {
			form = formDecide
		}
		steps = append(steps, step{say.say(saySharing, main), form, 6})
	}
	steps = append(steps, step{say.say(sayClosing), formClose, 2})
	total := minutes(text)
	if total == 0 {
		total = 30 + 15*max(1, len(topics))
	}
	total = min(max(total, len(steps)), 10_080)
	objects := make([]canonical.Object, len(steps))
	for i, m := range shares(steps, total) {
		objects[i] = canonical.Object{
			{Key: "title", Value: clip(line(steps[i].title), 200)}, {Key: "minutes", Value: m}, {Key: "form", Value: say.say(steps[i].form)},
		}
	}
	o := canonical.Object{
		{Key: "title", Value: capital(main)},
		{Key: "purpose", Value: line(say.say(sayPurpose, main))},
		{Key: "minutes", Value: total},
		{Key: "steps", Value: objects},
		{Key: "locale", Value: string(say)},
	}
	care := []string{say.say(careSit), say.say(careLeave)}
	if people > 0 {
		o = append(o, canonical.Member{Key: "people", Value: min(people, 100_000)})
		if people > 10 {
			care = append(care, say.say(careHear, people))
		}
	}
	if (words{"children", "kids", "діти", "дітей", "дітьми", "子ども", "子供"}).in(text) {
		care = append(care, say.say(careChild))
	}
	if on := days(text, t.Now); len(on) > 0 {
		if at := clock(text); at >= 0 {
			put(&o, "starts_at", timestamp(on[0].at.Add(time.Duration(at)*time.Minute)))
		}
	}
	materials := []string{}
	for _, s := range sentences(text) {
		if p, ok := bringWords.find(s.of(text)); ok && s.start+p.end < s.end && !dense(s.of(text)) {
			materials = append(materials, items(bare(s.of(text)[p.end:]))...)
		}
	}
	put(&o, "materials", materials[:min(len(materials), 64)])
	put(&o, "care", care)
	d := drafted(envelope.RitualPlan, o)
	d.Concerns = t.concerned()
	return Result{Drafts: []Draft{d}}, nil
}

// occasion is what is held, without how long, for how many and when.
func (t *Task) occasion(main string) string {
	main = clip(main, 500)
	for led, i := true, 0; led && i < most; i++ { // "12人で40分の…"
		led = false
		for _, units := range []words{minuteUnits, hourUnits, peopleUnits} {
			for _, c := range counts(main, units) {
				if c.start == 0 && c.end < len(main) {
					main, led = strings.TrimLeft(main[c.end:], " ,、でのとを半"), true
					break
				}
			}
		}
	}
	cuts := []place{}
	for _, units := range []words{minuteUnits, hourUnits, peopleUnits} {
		for _, c := range counts(main, units) {
			cuts = append(cuts, c.place)
		}
	}
	for i := range main {
		if strings.HasPrefix(main[i:], ":") || strings.HasPrefix(main[i:], "：") {
			if p, ok := topicMarks.find(main[:i]); ok && i-p.end < 4 {
				main = main[:p.start]
			} else {
				main = main[:i]
			}
			break
		}
	}
	end := len(main)
	for _, c := range cuts {
		if c.start < end {
			end = c.start
		}
	}
	s := strings.TrimRight(main[:end], " ,;、(")
	for changed := true; changed; {
		changed = false
		for _, small := range []string{" for", " of", " with", " на", " для", " із", " з", " за", " about", " in", "、", "の", "で"} {
			if cut, ok := strings.CutSuffix(s, small); ok && cut != "" {
				s, changed = strings.TrimRight(cut, " ,"), true
			}
		}
	}
	return cmp.Or(bare(s), bare(main), t.Request.ID)
}

// topics is what a text lists: behind a colon, on lines with a dash or a number,
// or behind the words for that.
func (t *Task) topics() []string {
	text := t.Request.Text
	list := []string{}
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		item := strings.TrimSpace(strings.TrimLeft(l, "-*•・0123456789.)"))
		if item != l && item != "" {
			list = append(list, bare(item))
		}
	}
	if len(list) > 1 {
		return list[:min(len(list), 40)]
	}
	for _, s := range sentences(text) {
		sentence := s.of(text)
		if _, after, ok := cutColon(sentence); ok {
			return items(after)
		}
		if p, ok := topicMarks.find(sentence); ok && p.end < len(sentence) && !bringWords.in(sentence) {
			return items(bare(sentence[p.end:]))
		}
	}
	return nil
}

func cutColon(s string) (before, after string, ok bool) {
	for i := range s {
		for _, c := range []string{": ", "：", ":\n"} {
			if strings.HasPrefix(s[i:], c) {
				return s[:i], s[i+len(c):], true
			}
		}
	}
	return s, "", false
}

// items is the things a list in a sentence names.
func items(s string) []string {
	list := []string{}
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",;、，", r) }) {
		for _, and := range []string{" and ", " та ", " і ", " й ", "と"} {
			if i := strings.LastIndex(part, and); i > 0 && (and != "と" || !strings.ContainsAny(part, " ")) {
				list = append(list, part[:i])
				part = part[i+len(and):]
				break
			}
		}
		list = append(list, part)
	}
	for i := range list {
		s := strings.TrimSpace(list[i])
		for _, and := range []string{"and ", "та ", "і ", "й "} {
			s = strings.TrimPrefix(s, and)
		}
		list[i] = clip(line(bare(s)), 200)
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	return list[:min(len(list), 40)]
}

// shares divides the minutes by the weights of the steps: each gets one, and what
// rounding leaves goes to the heaviest.
func shares(steps []step, total int) []int {
	sum, heaviest := 0, 0
	for i, s := range steps {
		sum += s.weight
		if s.weight > steps[heaviest].weight {
			heaviest = i
		}
	}
	list := make([]int, len(steps))
	left := total
	for i, s := range steps {
		list[i] = max(1, total*s.weight/sum)
		left -= list[i]
	}
	for i := 0; left < 0; i = (i + 1) % len(list) { // everybody had one, and there were too few
		if list[i] > 1 {
			list[i]--
			left++
		}
	}
	list[heaviest] += left
	return list
}
