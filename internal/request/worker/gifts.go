package worker

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

var (
	acceptWords = words{"accept*", "gladly take", "приймаю", "приймаємо", "прийм*", "受け取り", "受け取る", "いただきます"}
	thanksWords = words{"thank*", "grateful", "дякую", "дякуємо", "подяк*", "вдячн*", "ありがとう", "お礼", "感謝"}
	tradeWords  = words{
		"in return for", "in exchange for", "in exchange", "in return", "expect in return", "if we get", "натомість", "в обмін", "взамін", "お返しに", "と引き換え", "の代わりに",
	}
	freeWords = words{
		"nothing in return", "without anything in return", "no return", "не треба нічого натомість", "нічого натомість", "нічого взамін", "безоплатно", "お返しは",
	}
	giftLeads = words{
		"i would like to give our circle", "i would like to give the circle", "i would like to give", "i would like to donate", "i'd like to give", "i want to give", "i want to donate", "we want to give", "we want to donate", "we would like to donate", "we donate",
		"we would like to give", "i give", "we give", "i donate", "i offer", "we offer", "i am giving away", "please accept", "our circle", "the circle", "as a gift", "a gift of",
		"we accept", "i accept", "we gladly accept", "i gladly accept", "thank you for", "thanks for", "thank them for", "we thank", "i thank", "хочу подарувати колу", "хочу подарувати",
		"хочемо подарувати", "дарую колу", "дарую", "даруємо", "подарувати колу", "віддам", "віддаю", "жертвую", "приймаю", "приймаємо", "дякую за", "дякуємо за", "подякуй за", "колу", "прошу",
		"我々の", "サークルに",
	}
	giftTails = words{
		"as a gift", "nothing in return", "to our circle", "to the circle", "for our circle", "for the circle", "на подарунок", "безоплатно", "нічого натомість", "нашому колу", "колу",
		"を贈りたいです", "を贈りたい", "を贈ります", "を寄付したいです", "を寄付したい", "を寄付します", "を差し上げます", "を受け取ります", "をありがとうございました", "をありがとうございます", "をありがとう",
	}
	giftWords = words{
		"gift*", "donat*", "give", "giving", "offer*", "accept*", "thank*", "present", "подару*", "дару*", "дарун*", "пожертв*", "віддам", "віддаю", "прийм*", "дяку*", "подяк*",
		"贈", "寄付", "寄贈", "プレゼント", "差し上げ", "受け取", "ありがとう", "お礼",
	}
	conditionWords = words{
		"can be fetched", "can be picked up", "pick up", "picked up", "fetch", "until", "from", "only if you", "забрати", "забирати", "можна взяти", "до", "від", "самовивіз", "受け取り", "取りに", "まで", "から",
	}
	forWords  = words{"for", "за"}
	giftUnits = words{
		"kg", "kilo*", "litre*", "liter*", "metre*", "meter*", "piece*", "pieces", "box*", "bag*", "seedling*", "jar*", "book*", "chair*", "bottle*", "sack*", "кілограм*", "кг", "літр*", "метр*",
		"штук*", "шт", "мішк*", "ящик*", "саджан*", "банк*", "книж*", "книг*", "стільц*", "пляш*", "個", "本", "冊", "キロ", "箱", "袋", "枚", "脚",
	}
)

// What Gifts says.
var (
	sayOffer     = phrase{"%s offers %s: %s. Nothing is expected in return, and it can be declined without a word.", "Дар пропонує %s. Кому: %s. Що: %s. Натомість нічого не чекають, і відмовитися можна без жодного слова.", "%sから%sへの贈り物：%s。お返しは要らず、何も言わずに断ってよい。"}
	sayAccept    = phrase{"%[2]s accepts from %[1]s: %[3]s.", "Приймає %[2]s. Від кого: %[1]s. Що: %[3]s.", "%[2]sは%[1]sから受け取る：%[3]s。"}
	sayThanks    = phrase{"%[2]s thanks %[1]s for this: %[3]s.", "Дякує %[2]s. Кому: %[1]s. За що: %[3]s.", "%[2]sから%[1]sへ、次のことへのお礼：%[3]s。"}
	sayTrade     = phrase{"Something is expected in return, and that makes it a trade and no gift: %s. Is it a gift all the same?", "Тут чекають чогось натомість, тож це обмін, а не дар: %s. Чи це все ж дар?", "お返しが求められているので、贈り物ではなく取り引きになる：%s。それでも贈り物ですか。"}
	sayTheCircle = phrase{"the circle %s", "коло %s", "サークル%s"}
)

// gifts drafts an offer, an acceptance or thanks (docs/spec/circle.md §1). It
// keeps no accounts: the gifts there were are read only to find the one that is
// answered.
func gifts(t *Task) (Result, error) {
	say := t.tongue()
	text := t.Request.Text
	act := "offer"
	answered := t.answered(text)
	switch {
	case thanksWords.in(text):
		act = "thanks"
	case acceptWords.in(text) && !(words{"please accept"}).in(text):
		act = "acceptance"
	}
	main, rest := statement(text, giftWords, giftLeads, giftTails)
	gift := bare(giftTails.tail(freeWords.until(strings.TrimRight(tradeWords.until(conditionWords.until(main)), " ,;、"))))
	if i := strings.Index(gift, "を"); i > 0 {
		gift = behind(gift[:i])
	}
	if p, ok := forWords.find(gift); ok && act == "thanks" && p.end < len(gift) {
		gift = bare(gift[p.end:])
	}
	giver, receiver := t.giverAndReceiver(act, answered)
	if at := strings.Index(gift, receiver.ID); receiver.Kind == artifact.ToOutside && at > 0 {
		gift = bare(append(slices.Clone(toEnglish), "до", "для", "for", "the").tail(gift[:at]))
	}
	if act != "offer" && answered != nil {
		if s, _ := content(answered)["gift"].(string); s != "" {
			gift = s
		}
	}
	gift = cmp.Or(line(gift), line(main), line(bare(text)), t.Request.ID)
	trade := tradeWords.in(strings.NewReplacer(freed(text)...).Replace(text))
	message := say.say(map[string]phrase{"offer": sayOffer, "acceptance": sayAccept, "thanks": sayThanks}[act], t.called(giver), t.called(receiver), gift)
	if trade {
		message = say.say(sayTrade, gift)
	}
	leaves := t.beyond(giver) || t.beyond(receiver)
	o := canonical.Object{
		{Key: "act", Value: act},
		{Key: "giver", Value: party(giver)},
		{Key: "receiver", Value: party(receiver)},
		{Key: "gift", Value: gift},
		{Key: "message", Value: message},
		{Key: "leaves_circle", Value: leaves},
		{Key: "expects_return", Value: false},
		{Key: "locale", Value: string(say)},
	}
	if c := counts(main, giftUnits); len(c) > 0 {
		put(&o, "quantity", clip(line(c[0].of(main)), 200))
	}
	conditions := []string{}
	for _, s := range append([]string{main}, rest...) {
		if p, ok := conditionWords.find(s); ok && p.start > 0 && s == main && len(conditions) < 32 {
			conditions = append(conditions, line(bare(s[p.start:])))
		} else if ok && s != main && len(conditions) < 32 {
			conditions = append(conditions, line(bare(s)))
		}
	}
	conditions = slices.DeleteFunc(conditions, func(s string) bool { return s == "" || tradeWords.in(s) || freeWords.in(s) })
	put(&o, "conditions", conditions)
	if act != "offer" && answered != nil {
		o = append(o, canonical.Member{Key: "answers", Value: artifactRef(answered.ID, answered.ContentSHA256)})
	}
	d := drafted(envelope.GiftProposal, o)
	d.Concerns = t.concerned()
	if leaves {
		d.Flags = append(d.Flags, envelope.ExternalAction)
	}
	for _, f := range t.found() {
		d.Sources = append(d.Sources, f.Source)
	}
	if act != "offer" && answered != nil && !slices.Contains(d.Sources, answered.AsSource()) {
		d.Sources = append(d.Sources, answered.AsSource())
	}
	return Result{Drafts: []Draft{d}}, nil
}

// freed is what takes the words out of a text that say nothing is expected.
func freed(text string) []string {
	list := []string{}
	from := 0
	for range most {
		p, ok := freeWords.after(text, from)
		if !ok {
			break
		}
		list, from = append(list, p.of(text), ""), p.end
	}
	return list
}

// answered is the gift that a text answers: one that is referred to, else the
// newest whose words it has.
func (t *Task) answered(text string) *artifact.Artifact {
	for i := range t.Facts.Referred {
		if t.Facts.Referred[i].Type == envelope.GiftProposal {
			return &t.Facts.Referred[i]
		}
	}
	var best *artifact.Artifact
	most := 0
	said := tokens(text)
	for i := range t.Facts.Gifts {
		g := &t.Facts.Gifts[i]
		gift, _ := content(g)["gift"].(string)
		n := 0
		for _, word := range tokens(gift) {
			if letters := []rune(word.text); len(letters) > 2 && slices.ContainsFunc(said, func(s token) bool {
				return strings.HasPrefix(s.text, string(letters[:max(3, len(letters)-2)]))
			}) {
				n++
			}
		}
		if n > most {
			best, most = g, n
		}
	}
	return best
}

// giverAndReceiver is who gives and who gets, by the words of the text and, for an
// answer, by the gift that is answered.
func (t *Task) giverAndReceiver(act string, answered *artifact.Artifact) (giver, receiver artifact.Party) {
	me := artifact.Party{Kind: artifact.ToMember, ID: t.Request.Member}
	circle := artifact.Party{Kind: artifact.ToCircle, ID: t.Request.Circle}
	other := circle
	text := t.Request.Text
	others := slices.DeleteFunc(mentions(text, t.members()), func(m string) bool { return m == t.Request.Member })
	for _, p := range t.Request.Participants {
		if len(others) == 0 && p != t.Request.Member && slices.Contains(t.members(), p) && !ourselves.in(text) {
			others = append(others, p)
		}
	}
	outside := ""
	for _, s := range sentences(text) {
		if outside == "" && !ourselves.in(s.of(text)) && giftWords.in(s.of(text)) {
			outside = addressee(s.of(text))
		}
	}
	switch {
	case len(others) > 0:
		other = artifact.Party{Kind: artifact.ToMember, ID: others[0]}
	case outside != "":
		other = artifact.Party{Kind: artifact.ToOutside, ID: clip(outside, 200)}
	}
	if act == "offer" {
		return me, other
	}
	if answered != nil {
		read := func(key string) artifact.Party {
			p, _ := content(answered)[key].(map[string]any)
			kind, _ := p["kind"].(string)
			id, _ := p["id"].(string)
			return artifact.Party{Kind: artifact.PartyKind(kind), ID: id}
		}
		if g, r := read("giver"), read("receiver"); g.ID != "" && r.ID != "" {
			return g, r
		}
	}
	if other == circle {
		return circle, me
	}
	return other, me
}

// called is a party as people call it.
func (t *Task) called(p artifact.Party) string {
	if p.Kind == artifact.ToCircle {
		name := p.ID
		if p.ID == t.Request.Circle {
			name = cmp.Or(t.Facts.Circle.Name, p.ID)
		}
		return t.tongue().say(sayTheCircle, name)
	}
	return p.ID
}

// beyond says whether a party is not of this circle.
func (t *Task) beyond(p artifact.Party) bool {
	switch p.Kind {
	case artifact.ToMember:
		return p.ID != t.Request.Member && !slices.Contains(t.members(), p.ID)
	case artifact.ToCircle:
		return p.ID != t.Request.Circle
	case artifact.ToClan, artifact.ToOutside:
	}
	return true
}
