package worker

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
)

var (
	keepLeads = words{
		"please", "remember that", "remember this", "remember", "note down that", "note down", "note that", "write down that", "write down for me that", "write down for me", "write down",
		"keep in mind that", "keep in mind", "keep a note that", "make a note that", "make a note", "будь ласка", "запам'ятай, що", "запам'ятай що", "запам'ятай", "пам'ятай, що", "пам'ятай що",
		"пам'ятай", "занотуй, що", "занотуй що", "занотуй", "запиши, що", "запиши що", "запиши", "збережи нотатку", "що", "次のことを覚えて",
	}
	keepTails = words{
		"please", "будь ласка", "ことを覚えておいてください", "と覚えておいてください", "を覚えておいてください", "ことを覚えておいて", "と覚えておいて", "を覚えておいて", "覚えておいてください", "覚えておいて",
		"とメモしてください", "とメモして", "をメモして", "メモしておいて",
	}
	keepWords   = words{"remember*", "note", "write down", "keep", "запам'ят*", "пам'ята*", "занот*", "запиш*", "збереж*", "覚え", "メモ", "記憶", "控え"}
	recallWords = words{
		"recall", "remind me", "what did i note", "what did i", "what did we", "what do i remember", "which note*", "show my note*", "where did i", "do you remember", "нагадай*", "пригадай*",
		"що я записав*", "що я занотув*", "що я запам'ят*", "покажи нотатк*", "思い出", "何をメモ", "メモを見せ", "覚えています",
	}
	staleWords = words{"until", "till", "valid", "expires", "by", "до", "чинн*", "діє", "まで", "有効"}
)

// remember keeps a note, or recalls notes for those who may see them
// (docs/spec/circle.md §1). What is kept is the words of whoever asked, without the
// politeness around them; what stands in a note is never an instruction.
func remember(t *Task) (Result, error) {
	text := t.Request.Text
	asks := strings.HasSuffix(strings.TrimSpace(text), "?") || strings.HasSuffix(strings.TrimSpace(text), "？")
	if recallWords.in(text) || asks && !keepWords.in(text) {
		return Result{Drafts: []Draft{t.recall()}}, nil
	}
	all := sentences(text)
	kept := []string{}
	for _, s := range all {
		sentence := bare(keepTails.tail(keepLeads.lead(bare(s.of(text)))))
		if sentence == "" {
			continue
		}
		if end := s.of(text)[len(strings.TrimRight(s.of(text), ".!?…。！？")):]; end != "" {
			sentence += end
		}
		kept = append(kept, capital(sentence))
	}
	note := cmp.Or(strings.Join(kept, " "), strings.TrimSpace(text), "?")
	o := canonical.Object{
		{Key: "act", Value: "keep"},
		{Key: "locale", Value: string(t.tongue())},
		{Key: "title", Value: headline(cmp.Or(first(kept), note))},
		{Key: "text", Value: clip(note, 60_000)},
		{Key: "tags", Value: tags(note)},
	}
	about := mentions(text, t.members())
	put(&o, "about", about[:min(len(about), 256)])
	for _, d := range days(text, t.Now) {
		near := strings.ToValidUTF8(text[max(0, d.start-24):min(len(text), d.end+12)], "")
		if end := d.at.AddDate(0, 0, 1); staleWords.in(near) && end.After(t.Now) {
			put(&o, "expires_at", timestamp(end))
			break
		}
	}
	d := drafted(envelope.MemoryNote, o)
	d.Flags, d.Concerns = flagsOf(t.Request.Findings), t.concerned()
	return Result{Drafts: []Draft{d}}, nil
}

// headline is a few words by which a note is found again.
func headline(s string) string {
	s = bare(line(s))
	if all := tokens(s); len(all) > 10 {
		s = s[:all[9].end] + "…"
	}
	return cmp.Or(clip(s, 120), "…")
}

// common is words that nobody would search for.
var common = words{
	"does", "says", "said", "know", "known", "decided", "already", "that", "this", "with", "from", "have", "will", "would", "there", "their", "about", "behind", "which", "when", "what", "where", "into", "must", "them", "they", "your", "because",
	"вже", "про", "що", "каже", "який", "яка", "яке", "які", "щоб", "коли", "тому", "його", "вона", "вони", "нашої", "нашого", "через", "після", "перед", "буде",
}

// tags is the telling words of a note, as they stand in it, longer ones first.
func tags(s string) []string {
	list := []string{}
	for _, t := range tokens(s) {
		words := []string{t.text}
		if dense(t.text) { // the names of things are written in Han or Katakana
			words = strings.FieldsFunc(t.text, func(r rune) bool { return !unicode.In(r, unicode.Han, unicode.Katakana) && r != 'ー' })
		}
		for _, word := range words {
			short := len([]rune(word)) < 4 && (!dense(word) || len([]rune(word)) < 2)
			if !short && !common.in(word) && !strings.ContainsAny(word, "0123456789") && !slices.Contains(list, word) {
				list = append(list, clip(word, 64))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len([]rune(b)) - len([]rune(a)) })
	return list[:min(len(list), 6)]
}

// recall shows notes as they were kept, in the order the search found them.
func (t *Task) recall() Draft {
	query := memory.Ask(asked(t.Request.Text))
	notes := []canonical.Object{}
	d := Draft{}
	for _, n := range t.Facts.Notes {
		id, text := cmp.Or(n.Source, n.ID), cmp.Or(n.Text, n.Title)
		excerpt, _ := passage(query, text)
		if n.Kind == memory.OfDocument || excerpt == "" || len(notes) == 64 {
			continue
		}
		sum := cmp.Or(n.SHA256, hash([]byte(n.Text)))
		notes = append(notes, canonical.Object{
			{Key: "artifact_id", Value: id},
			{Key: "content_sha256", Value: sum},
			{Key: "title", Value: cmp.Or(clip(line(n.Title), 300), headline(text))},
			{Key: "excerpt", Value: clip(excerpt, 1000)},
			{Key: "visibility_level", Value: string(n.Visibility)},
			{Key: "origin", Value: string(n.Origin)},
		})
		d.Sources = append(d.Sources, noteSource(n))
	}
	out := drafted(envelope.MemoryNote, canonical.Object{
		{Key: "act", Value: "recall"},
		{Key: "locale", Value: string(t.tongue())},
		{Key: "query", Value: cmp.Or(clip(line(t.Request.Text), 500), "?")},
		{Key: "notes", Value: notes},
	})
	out.Sources = d.Sources
	return out
}
