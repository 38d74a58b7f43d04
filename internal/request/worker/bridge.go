package worker

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// The ways out of the circle, and the words that ask for each.
var (
	webhookWords = words{"webhook*", "вебхук*", "ウェブフック"}
	pullWords    = words{"pull request*", "merge request*", "пул-реквест*", "запит на злиття", "запиту на злиття", "プルリクエスト"}

	bridgeWords = words{
		"draft*", "letter*", "email*", "e-mail*", "message*", "publish*", "send*", "announce*", "write*", "post*", "share*", "newsletter*", "prepare*", "reply*", "лист*", "надішл*",
		"надсил*", "повідомл*", "опублік*", "оголос*", "підготуй*", "напиши*", "розісл*", "відправ*", "手紙", "メール", "送", "公開", "発表", "投稿", "告知", "下書き",
	}
	aboutWords = words{"about", "regarding", "concerning", "про", "щодо", "стосовно"}
	// Where what is said of a letter ends and what is to be done with it begins.
	thenWords = words{
		"and send", "and publish", "and post", "then send", "after", "once", "when everybody", "й надішли", "і надішли", "та надішли", "й відправ", "і відправ", "після", "коли",
	}
	toStops = words{
		"about", "regarding", "that", "with", "for", "from", "by", "on", "and", "after", "saying", "once", "with our", "про", "щодо", "з", "із", "зі", "після", "й", "і", "та", "від", "для", "на", "коли",
	}
	thatWords   = words{"that", "saying", "що"}
	toWhom      = words{"send the", "send our", "write the", "write our", "tell the", "tell our", "email the", "email our", "message the", "message our"}
	toEnglish   = words{"to the", "to our", "to all", "to every", "to my", "to your", "for the", "to"}
	toUkrainian = words{"до"}
	letterWords = words{"лист", "листа", "повідомлення", "привітання", "запрошення", "надішли", "надіслати", "відправ", "напиши"}
	clanWords   = words{"clan", "клан*", "クラン"}
	ourselves   = words{"circle", "our circle", "кола", "колу", "коло", "サークル"}
)

// What Bridge says.
var (
	sayDear     = phrase{"To: %s", "До: %s", "%s 御中"}
	sayAbout    = phrase{"We are writing to you about %s.", "Пишемо вам про %s.", "%sについてお知らせします。"}
	sayWeSay    = phrase{"%s.", "%s.", "%s。"}
	sayFrom     = phrase{"From the circle %s", "Від кола %s", "サークル %s より"}
	sayPublic   = phrase{"everybody", "усім", "皆さま"}
	sayNamedOut = phrase{"Leave out the sentence at bytes %d-%d: somebody's personal data is in it.", "Вилучити речення, байти %d-%d: у ньому особисті дані.", "%d～%dバイト目の文を省く。個人情報がある。"}
)

// bridge drafts what would leave the circle and sends nothing (docs/spec/circle.md
// §1). The text is made of the request's words and of public sources, each of
// which is named; sentences with somebody's personal data stay here, unless it is
// the address that is written to.
func bridge(t *Task) (Result, error) {
	say := t.tongue()
	text := t.Request.Text
	channel := "message"
	switch {
	case webhookWords.in(text):
		channel = "webhook"
	case pullWords.in(text):
		channel = "pull_request"
	}
	to := t.recipients(channel)
	parts := t.parts()
	public := !slices.ContainsFunc(parts, func(s artifact.Source) bool { return s.Visibility != envelope.Public })
	topic, sentences, kept := t.letter()
	names := []string{}
	for _, p := range to {
		names = append(names, p.ID)
	}
	name := cmp.Or(t.Facts.Circle.Name, t.Request.Circle)
	opening := ""
	if topic != "" {
		opening = say.say(sayAbout, topic)
	}
	body := []string{opening}
	body = append(body, sentences...)
	for i := range t.Earlier { // what an earlier step drafted for the outside, and is public
		if a := &t.Earlier[i]; a.Visibility == envelope.Public {
			for _, key := range []string{"message", "statement"} {
				if s, _ := content(a)[key].(string); s != "" && len(s) < 20_000 {
					body = append(body, s)
				}
			}
		}
	}
	if channel == "message" {
		body = append([]string{say.say(sayDear, say.list(names[:min(len(names), 8)]))}, body...)
		body = append(body, say.say(sayFrom, name))
	}
	subject := capital(cmp.Or(topic, first(sentences), name))
	o := canonical.Object{
		{Key: "channel", Value: channel},
		{Key: "recipients", Value: parties(to)},
		{Key: "body", Value: clip(cmp.Or(paragraph(body...), subject), 60_000)},
		{Key: "parts", Value: sourcesOf(parts)},
		{Key: "public", Value: public},
		{Key: "locale", Value: string(say)},
	}
	put(&o, "subject", clip(line(bare(subject)), 200))
	if channel == "webhook" {
		o = append(o, canonical.Member{Key: "data", Value: canonical.Object{{Key: "circle", Value: clip(name, 200)}, {Key: "subject", Value: clip(line(subject), 200)}}})
	}
	if slices.Contains(t.Stops, envelope.ExportNotPublic) {
		remedies := []canonical.Object{}
		for _, s := range parts {
			if s.Visibility != envelope.Public && len(remedies) < maxRemedies {
				remedies = append(remedies, canonical.Object{
					{Key: "condition", Value: string(envelope.ExportNotPublic)},
					{Key: "change", Value: line(say.say(sayPartOut, clip(string(s.Kind)+" "+s.ID, 120), say.level(s.Visibility)))},
				})
			}
		}
		for _, p := range kept {
			if len(remedies) < maxRemedies {
				remedies = append(remedies, canonical.Object{
					{Key: "condition", Value: string(envelope.ExportNotPublic)}, {Key: "change", Value: say.say(sayNamedOut, p.start, p.end)},
				})
			}
		}
		put(&o, "remedies", remedies)
	}
	d := drafted(envelope.BridgeDraft, o)
	d.Sources, d.Concerns, d.Scope.Recipients = parts[1:], t.concerned(), to
	d.Flags = []envelope.Flag{envelope.ExternalAction}
	return Result{Drafts: []Draft{d}}, nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func sourcesOf(list []artifact.Source) []canonical.Object {
	out := make([]canonical.Object, len(list))
	for i, s := range list {
		out[i] = source(s)
	}
	return out
}

// parts is everything the text could be made of: all that was handed over.
func (t *Task) parts() []artifact.Source {
	s := t.Request.Source
	s.Kind, s.ID = artifact.FromRequest, t.Request.ID
	if !s.Visibility.Valid() {
		s.Visibility = t.Request.Target
	}
	if s.SHA256 == "" {
		s.SHA256 = artifact.Digest([]byte(t.Request.Text))
	}
	list := []artifact.Source{s}
	for _, d := range t.found() {
		list = append(list, d.Source)
	}
	for i := range t.Earlier {
		list = append(list, t.Earlier[i].AsSource())
	}
	return list[:min(len(list), 256)]
}

// letter is what the text says of what to write: the topic it names, the sentences
// that are to be in it, and the places of those that stay here.
func (t *Task) letter() (topic string, body []string, kept []place) {
	text := t.Request.Text
	if said := quoted(text); len(said) > 0 && !t.personalAt(place{0, len(text)}) {
		for _, s := range said {
			body = append(body, capital(s))
		}
	}
	order := false // the sentence that asks for the letter is no part of it
	for _, s := range sentences(text) {
		sentence := s.of(text)
		said := ""
		if !order && bridgeWords.in(sentence) {
			sentence, said = orderOf(sentence)
		}
		if topic == "" {
			if p, ok := aboutWords.find(sentence); ok && p.end < len(sentence) {
				topic = bare(thenWords.until(sentence[p.end:]))
			} else if i := strings.Index(sentence, "について"); i > 0 {
				topic = behind(sentence[:i])
			}
		}
		if !order && bridgeWords.in(sentence) {
			order = true
			switch {
			case said != "" && t.personalAt(s):
				kept = append(kept, s)
			case said != "" && len(quoted(said)) == 0:
				body = append(body, t.tongue().say(sayWeSay, capital(bare(said))))
			case topic == "":
				topic = t.object(sentence)
			}
			continue
		}
		if t.personalAt(s) {
			kept = append(kept, s)
			continue
		}
		if len(quoted(sentence)) == 0 {
			body = append(body, t.tongue().say(sayWeSay, capital(bare(sentence))))
		}
	}
	return topic, body, kept
}

// orderOf cuts a sentence into what asks for a letter and what is to be in it:
// "write to the neighbours that the fence stands", "надішли їм: зустріч у п'ятницю".
func orderOf(sentence string) (order, said string) {
	if before, after, ok := cutColon(sentence); ok {
		return before, strings.TrimSpace(after)
	}
	if p, ok := thatWords.find(sentence); ok && bridgeWords.in(sentence[:p.start]) {
		return strings.TrimRight(sentence[:p.start], " ,"), bare(thenWords.until(sentence[p.end:]))
	}
	return sentence, ""
}

// behind is what stands behind the last mark or particle of Japanese.
func behind(s string) string {
	for _, cut := range []string{"、", "。", "に", "へ", "で"} {
		if i := strings.LastIndex(s, cut); i >= 0 {
			s = s[i+len(cut):]
		}
	}
	return strings.TrimSpace(s)
}

var (
	orderLeads = append(words{
		"please", "reply", "answer", "tell", "draft", "write", "prepare", "publish", "send", "post", "announce", "share", "a", "an", "the", "letter", "email", "message", "pull request", "comment", "note",
		"підготуй", "напиши", "опублікуй", "надішли", "оголоси", "відправ", "лист", "листа", "повідомлення",
	}, toUkrainian...)
	objectStops = words{"to", "on our site", "for the", "on", "until", "до", "на", "після", "に", "へ"}
)

// object is what a sentence asks to bring out, when it does not say about what:
// "publish our spring programme".
func (t *Task) object(sentence string) string {
	s := orderLeads.lead(bare(sentence))
	if p, ok := (words{"with"}).find(s); ok {
		return bare(s[p.end:])
	}
	if i := strings.Index(s, "を"); i > 0 {
		return behind(s[:i])
	}
	s = bare(thenWords.until(objectStops.until(s)))
	if who := addressee(sentence); who != "" && strings.Contains(s, who) {
		return "" // it says to whom, and not what
	}
	return s
}

// recipients is who is written to: addresses that the text names, then whom it
// names in words. Nobody is added.
func (t *Task) recipients(channel string) []artifact.Party {
	text := t.Request.Text
	list := []artifact.Party{}
	add := func(kind artifact.PartyKind, id string) {
		id = clip(strings.Join(strings.Fields(strings.Trim(id, " ,;:.!?、。")), " "), 2000)
		if p := (artifact.Party{Kind: kind, ID: id}); id != "" && len(list) < 256 && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>()\"«»「」、。,;", r) }) {
		word = strings.TrimRight(word, ".!?:")
		if u, err := url.Parse(word); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
			add(artifact.ToOutside, word)
		} else if name, host, ok := strings.Cut(word, "@"); ok && name != "" && strings.Contains(host, ".") && channel == "message" {
			add(artifact.ToOutside, word)
		}
	}
	for _, r := range t.Request.References {
		if r.Kind == envelope.RefURL && channel != "message" {
			add(artifact.ToOutside, r.ID)
		}
	}
	if len(list) == 0 {
		for _, s := range sentences(text) {
			if who := addressee(s.of(text)); who != "" {
				kind := artifact.ToOutside
				if clanWords.in(who) {
					kind, who = artifact.ToClan, cmp.Or(t.Facts.Circle.Clan, who)
				}
				add(kind, who)
				break
			}
		}
	}
	if len(list) == 0 {
		add(artifact.ToOutside, t.tongue().say(sayPublic))
	}
	return list
}

// addressee is whom a sentence names: behind "to", behind "до", in the dative that
// follows a letter in Ukrainian, before "に" in Japanese.
func addressee(s string) string {
	s, _ = orderOf(bare(s))
	for _, w := range []words{toEnglish, toUkrainian} {
		from := 0
		for range 2 * most {
			p, ok := w.after(s, from)
			if !ok || p.end >= len(s) {
				break
			}
			from = p.end
			rest := s[p.end:]
			if p.of(s) == "to" || p.of(s) == "To" { // "to our town" and "to Oslo", not "to go"
				if r := firstRune(strings.TrimSpace(rest)); !unicode.IsUpper(r) {
					continue
				}
			}
			who := bare(toStops.until(upToMark(rest)))
			if who != "" && !ourselves.in(who) && !orderLeads.in(who) {
				return who
			}
		}
	}
	if p, ok := toWhom.find(s); ok && p.end < len(s) {
		rest := s[p.end:]
		if who := bare((words{"a", "an", "the"}).until(toStops.until(rest))); who != "" && (len(who) < len(bare(rest)) || p.of(s)[0]|0x20 != 's') && !ourselves.in(who) && !orderLeads.in(who) {
			return who
		}
	}
	if p, ok := letterWords.find(s); ok && p.end < len(s) {
		rest := strings.TrimSpace(s[p.end:])
		if q, again := letterWords.find(rest); again && q.start == 0 {
			rest = strings.TrimSpace(rest[q.end:])
		}
		who := bare(toStops.until(upToMark(rest)))
		if !ourselves.in(who) && len(tokens(who)) <= 4 {
			return who
		}
	}
	for _, mark := range []string{"宛", "へ", "に"} {
		if i := strings.Index(s, mark); i > 0 && dense(s[:i]) {
			if who := behind(s[:i]); who != "" && !ourselves.in(who) && !strings.Contains(who, "を") {
				return who
			}
		}
	}
	return ""
}

// upToMark is s up to the first mark that ends a part of a sentence.
func upToMark(s string) string {
	if i := strings.IndexAny(s, ",;:()"); i >= 0 {
		return s[:i]
	}
	return s
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
