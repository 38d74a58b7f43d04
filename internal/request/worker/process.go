package worker

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// process gives decisions their form: the proposal, the consents it needs and the
// testimony of what was decided (docs/spec/circle.md §§1, 7).
//
// Whose consent is owed follows from the rules of package artifact and from the
// ledger, never from the text. A decision about something an earlier step drafted
// waits for the consents to that.
func process(t *Task) (Result, error) {
	var r Result
	if t.wants(envelope.TestimonyDraft) && !t.wants(envelope.DecisionDraft) {
		r.Drafts = append(r.Drafts, t.testimony())
		return r, nil
	}
	subjects := []artifact.Artifact{}
	effect := t.newest(envelope.BridgeDraft, envelope.CoreChangeProposal, envelope.GiftProposal, envelope.MergeProposal, envelope.DecisionDraft)
	if effect == nil && t.HandOver { // whatever else waits for consent
		for i := range t.Earlier {
			if a := &t.Earlier[i]; a.Status == artifact.WaitingForConsent && a.WaitsFor == "" && a.Type != envelope.ConsentRequest {
				effect = a
			}
		}
	}
	if effect != nil {
		subjects = append(subjects, *effect)
	}
	if t.wants(envelope.DecisionDraft) && !(t.HandOver && t.wants(envelope.ConsentRequest)) {
		d := t.decision()
		own := t.asArtifact(d, t.id(len(r.Drafts)))
		switch {
		case effect != nil && effect.Type != envelope.DecisionDraft && !t.demand(effect).Empty():
			d.WaitsFor = effect.ID
		default:
			subjects = append(subjects[:0], own)
		}
		r.Drafts = append(r.Drafts, d)
	}
	if t.wants(envelope.ConsentRequest) {
		for _, a := range subjects {
			if !t.demand(&a).Empty() || len(r.Drafts) == 0 {
				r.Drafts = append(r.Drafts, t.consent(&a))
			}
		}
	}
	if len(r.Drafts) == 0 {
		return Result{}, fault.E("worker.Process", fault.Invalid, "there is nothing anybody could consent to", nil)
	}
	return r, nil
}

// id is the id that the draft at this place will have.
func (t *Task) id(i int) string {
	if i < len(t.IDs) {
		return t.IDs[i]
	}
	return t.Run + "." + string(rune('a'+i%26))
}

// asArtifact is a draft of this turn as the rules of consent see it.
func (t *Task) asArtifact(d Draft, id string) artifact.Artifact {
	level := t.Request.Target
	if d.Level.Valid() {
		level = level.Min(d.Level)
	}
	flags := t.allFlags()
	for _, f := range d.Flags {
		if !slices.Contains(flags, f) {
			flags = append(flags, f)
		}
	}
	scope := d.Scope
	scope.Action, scope.Visibility = d.Type.Needs(), level
	return artifact.Artifact{
		ID: id, Version: 1, Circle: t.Request.Circle, Owner: t.Request.Member, Type: d.Type, Visibility: level, Content: d.Content,
		ContentSHA256: d.digest(), Flags: flags, Concerns: d.Concerns, Scope: scope,
	}
}

func (t *Task) demand(a *artifact.Artifact) artifact.Demand {
	return a.Demand(&t.Facts.Circle, t.Facts.Roll, t.Facts.Set.Registry().Quorum, t.Now)
}

// The words a proposal is wrapped in, and those that say something of it.
var (
	decisionLeads = words{
		"let us decide on", "let us decide to", "let us decide that", "let us decide", "let's decide on", "let's decide", "let us all decide", "we should decide", "please decide", "decide", "let us vote on", "let us vote",
		"let us agree on", "let us agree that", "let us agree", "let us choose", "i propose that we", "i propose that", "i propose", "we propose that", "we propose",
		"i move that", "motion to", "please", "the circle should decide", "пропоную колу ухвалити рішення", "пропоную ухвалити рішення", "пропоную колу вирішити",
		"пропоную вирішити", "пропоную", "пропонуємо", "вирішімо", "вирішуймо", "давайте вирішимо", "давайте", "ухвалімо рішення", "ухвалімо", "оберімо", "оберім",
		"домовмося", "домовмось", "голосуймо", "проголосуймо", "прошу", "будь ласка", "次のことを決めましょう", "提案です", "提案",
	}
	decisionTails = words{
		"をサークルで決めましょう", "サークルで決めましょう", "を決めましょう", "決めましょう", "をサークルで決めたい", "を決めたい", "で合意しましょう", "を決定しましょう", "ことを提案します", "を提案します",
	}
	decisionWords = words{
		"decide*", "decision*", "vote", "agree*", "propose*", "choose", "виріш*", "рішен*", "ухвал*", "пропону*", "голосу*", "оберім*", "домов*", "決め", "決定", "提案", "合意",
	}
	reasonWords   = words{"because", "since", "as we", "so that", "тому що", "оскільки", "бо", "адже", "щоб"}
	reasonTails   = words{"なぜなら", "からです", "ためです", "ので"}
	dissentWords  = words{"against", "disagree*", "object*", "oppose*", "проти", "не згод*", "заперечу*", "反対", "異議"}
	lastingWords  = words{"delete*", "destroy*", "sell*", "demolish*", "cut down", "dissolve*", "publish*", "burn*", "видал*", "знищ*", "прода*", "знес*", "зруба*", "розпуст*", "опублік*", "оприлюдн*", "спал*", "削除", "廃棄", "売却", "売る", "取り壊", "伐採", "解散", "公開", "公表"}
	deadlineWords = words{"by", "until", "before", "no later than", "deadline", "до", "не пізніше", "まで", "締切", "締め切り"}
	urgentWords   = words{"urgent*", "at once", "immediately", "asap", "термінов*", "негайно", "至急", "緊急"}
	alternatives  = words{"or", "чи", "або", "それとも", "または"}
)

// statement is what a text asks to decide: the words of its main sentence without
// what they are wrapped in, and the sentences around it.
func statement(text string, marks, leads, tails words) (main string, rest []string) {
	all := sentences(text)
	at := 0
	for i, s := range all {
		if marks.in(s.of(text)) {
			at = i
			break
		}
	}
	for i, s := range all {
		if i == at {
			sentence := s.of(text)
			// "…; let us decide who": what stands before is said about it.
			if p, ok := leads.find(sentence); ok && p.start > 0 && strings.HasSuffix(strings.TrimSpace(sentence[:p.start]), ";") {
				rest = append(rest, strings.TrimRight(sentence[:p.start], " ;")+".")
				sentence = sentence[p.start:]
			}
			main = bare(tails.tail(leads.lead(bare(sentence))))
			if main == "" {
				main = bare(s.of(text))
			}
			continue
		}
		rest = append(rest, s.of(text))
	}
	return main, rest
}

func (t *Task) decision() Draft {
	say := t.tongue()
	text := t.Request.Text
	main, rest := statement(text, decisionWords, decisionLeads, decisionTails)
	if main == "" {
		main = say.say(sayUntitled)
	}
	background := ""
	if len(rest) > 0 {
		background = say.say(sayBackground, strings.Join(rest, "\n"))
	}
	o := canonical.Object{
		{Key: "title", Value: clip(line(capital(main)), 200)},
		{Key: "proposal", Value: clip(paragraph(say.say(sayProposal, capital(main)+mark(say)), background), 60_000)},
		{Key: "reasons", Value: reasons(text)},
		{Key: "decided_by", Value: t.deciders()},
	}
	change := t.change(main)
	lasting, found := lastingWords.find(text)
	switch {
	case found:
		word := lasting.of(text)
		for _, s := range sentences(text) {
			if s.start <= lasting.start && lasting.end <= s.end {
				word = bare(decisionTails.tail(decisionLeads.lead(s.of(text))))
			}
		}
		o = append(o, canonical.Member{Key: "reversible", Value: false}, canonical.Member{Key: "undo", Value: line(say.say(sayNoUndo, word))})
	case change != nil:
		repository, _ := change.Get("repository").(string)
		o = append(o, canonical.Member{Key: "reversible", Value: true}, canonical.Member{Key: "undo", Value: line(say.say(sayUndoCode, repository))})
	default:
		o = append(o, canonical.Member{Key: "reversible", Value: true}, canonical.Member{Key: "undo", Value: say.say(sayUndo)})
	}
	o = append(o, canonical.Member{Key: "locale", Value: string(say)})
	put(&o, "options", options(main))
	sensitive := flagsOf(t.Request.Findings)
	put(&o, "sensitivity", texts(sensitive))
	basis := []canonical.Object{}
	for i := range t.Earlier {
		if a := &t.Earlier[i]; a.Type != envelope.PrivacyReport && len(basis) < 64 {
			basis = append(basis, artifactRef(a.ID, a.ContentSHA256))
		}
	}
	put(&o, "basis", basis)
	if change != nil {
		o = append(o, canonical.Member{Key: "change", Value: change})
	}
	d := drafted(envelope.DecisionDraft, o)
	d.Flags, d.Concerns = sensitive, t.concerned()
	for _, f := range t.found() {
		d.Sources = append(d.Sources, f.Source)
	}
	return d
}

// mark is what a sentence ends with.
func mark(say tongue) string {
	if say == japanese {
		return "。"
	}
	return "."
}

// reasons is the reasons a text gives, in its own words.
func reasons(text string) []string {
	list := []string{}
	for _, s := range sentences(text) {
		sentence := s.of(text)
		if p, ok := reasonWords.find(sentence); ok {
			list = append(list, line(capital(bare(sentence[p.end:]))))
		} else if _, ok := reasonTails.find(sentence); ok {
			list = append(list, line(bare(sentence)))
		}
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	return list[:min(len(list), 64)]
}

// options is what may be chosen between, where a proposal names it.
func options(main string) []canonical.Object {
	subject := reasonWords.until(main)
	for _, lead := range []words{{"between", "whether", "чи", "між"}} {
		if p, ok := lead.find(subject); ok && p.end < len(subject) {
			subject = subject[p.end:]
		}
	}
	p, ok := alternatives.find(subject)
	if !ok && strings.Contains(main, "between ") {
		p, ok = words{"and"}.find(subject)
	}
	if !ok && strings.HasPrefix(lowered(main), "між ") {
		p, ok = words{"та", "і", "й"}.find(subject)
	}
	if !ok {
		return nil
	}
	parts := strings.FieldsFunc(subject[:p.start], func(r rune) bool { return strings.ContainsRune(",;、", r) })
	parts = append(parts, subject[p.end:])
	list := []canonical.Object{}
	for i, part := range parts {
		part = line(bare((words{"чи", "або", "or"}).lead(strings.Trim(part, " ,;、"))))
		if part != "" && i < 32 {
			list = append(list, canonical.Object{{Key: "id", Value: "o" + strconv.Itoa(len(list)+1)}, {Key: "text", Value: part}})
		}
	}
	if len(list) < 2 || len(list) > 9 {
		return nil
	}
	return list
}

// deciders is who decides and how: the council for what the circle rests on, else
// everybody who is a member now, each of whom may refuse.
func (t *Task) deciders() canonical.Object {
	rule, members := "consent", t.members()
	council := t.Facts.Roll.With(circle.Council, t.Now)
	needed := len(members)
	if t.Request.Has(envelope.CoreChange) || t.Request.Intent == constitution.CoreChange {
		rule, needed = "council", t.Facts.Circle.Needed(len(council), t.Facts.Set.Registry().Quorum)
		if len(council) > 0 {
			members = council
		}
	}
	if len(members) == 0 {
		members, needed = []string{t.Request.Member}, max(1, needed)
	}
	of := len(members)
	if rule == "council" {
		of = len(council)
	}
	members = members[:min(len(members), 1024)]
	o := canonical.Object{
		{Key: "rule", Value: rule},
		{Key: "members", Value: members},
		{Key: "quorum", Value: canonical.Object{{Key: "needed", Value: needed}, {Key: "of", Value: of}}},
	}
	if by := t.deadline(); !by.IsZero() {
		o = append(o, canonical.Member{Key: "deadline", Value: timestamp(by)})
	}
	return o
}

// deadline is until when the text wants it decided: the end of a day it names
// after one of the words for that.
func (t *Task) deadline() time.Time {
	text := t.Request.Text
	for _, d := range days(text, t.Now) {
		near := text[max(0, d.start-24):min(len(text), d.end+16)]
		end := d.at.AddDate(0, 0, 1)
		if deadlineWords.in(strings.ToValidUTF8(near, "")) && end.After(t.Now) {
			return end
		}
	}
	return time.Time{}
}

var (
	repositoryWords = words{"repository", "repo", "репозитор*", "リポジトリ"}
	branchWords     = words{"branch", "гілк*", "ブランチ"}
	doneWords       = words{"done when", "accepted when", "acceptance", "готово, коли", "готово коли", "прийнято, коли", "完了条件", "受け入れ条件"}
)

// change is the change of a repository that the decision is about; nil when it is
// about none, or does not say of which.
func (t *Task) change(main string) canonical.Object {
	text := t.Request.Text
	diff := slices.ContainsFunc(t.Request.References, func(r envelope.Reference) bool { return r.Kind == envelope.RefDiff })
	if !diff && !asksFor[0].words.in(text) {
		return nil
	}
	repository := named(text, repositoryWords)
	for _, r := range t.Request.References {
		if repository == "" && r.Kind == envelope.RefURL && strings.Contains(r.ID, "://") {
			repository = r.ID
		}
	}
	if repository == "" {
		return nil
	}
	set, ok := judged(t.newest(envelope.GateVerdict))
	if !ok {
		set = capabilities(text, diff)
	}
	if set.Empty() {
		set = capability.Of(capability.ReadRepo)
	}
	priority := "medium"
	if urgentWords.in(text) {
		priority = "high"
	}
	o := canonical.Object{
		{Key: "repository", Value: clip(repository, 2048)},
		{Key: "intent", Value: clip(capital((words{"whether to", "whether", "чи"}).lead(main)), 8192)},
		{Key: "priority", Value: priority},
		{Key: "requested_capabilities", Value: texts(set.List())},
	}
	put(&o, "base", clip(named(text, branchWords), 256))
	done := []string{}
	for _, s := range sentences(text) {
		if p, ok := doneWords.find(s.of(text)); ok && p.end < s.end-s.start {
			done = append(done, line(bare(strings.TrimLeft(s.of(text)[p.end:], " :："))))
		}
	}
	put(&o, "acceptance", done)
	return o
}

// named is the name that stands beside one of the words: "the website repository",
// "репозиторію acme/site", "branch next".
func named(text string, w words) string {
	p, ok := w.find(text)
	if !ok {
		return ""
	}
	name := func(s string, last bool) string {
		fields := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n,;:：、。\"'“”«»「」()", r) })
		if len(fields) == 0 {
			return ""
		}
		f := fields[0]
		if last {
			f = fields[len(fields)-1]
		}
		f = strings.Trim(f, ".?!")
		for _, r := range f {
			if r > 0x7e || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@~", r) {
				return ""
			}
		}
		if (words{"the", "our", "a", "this", "that", "and", "in", "of", "to", "is", "on", "so", "with", "for", "by", "from", "should", "must", "will", "new"}).in(f) && len(tokens(f)) == 1 {
			return ""
		}
		return f
	}
	for _, candidate := range []string{name(text[p.end:], false), name(text[:p.start], true)} {
		if candidate != "" {
			return candidate
		}
	}
	return ""
}
