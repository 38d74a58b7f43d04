package worker_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
	"plimsoll.dev/internal/request/worker"
)

func TestEveryWorkerHasOneEngine(t *testing.T) {
	engines := worker.Engines()
	for _, id := range constitution.Workers() {
		if engines[id] == nil {
			t.Errorf("%s has no engine", id)
		}
	}
	if len(engines) != len(constitution.Workers()) {
		t.Errorf("%d engines", len(engines))
	}
}

// full is a task with facts of every kind, so that a text meets all of an engine.
func full(id constitution.AgentID, locale, text string) *worker.Task {
	k := task(id, locale, text)
	k.Request.Participants = []string{"m-taras"}
	k.Earlier = []artifact.Artifact{made("e-1", envelope.DecisionDraft, `{"title":"A pond"}`)}
	if id == constitution.Sync {
		k.Earlier = nil
	}
	k.Facts.Notes = []memory.Note{{
		ID: "n-1", Kind: memory.Kept, Owner: "m-olha", Visibility: envelope.Circle, Origin: envelope.Internal, Title: "Compost", Text: text + " compost", CreatedAt: may,
	}}
	k.Facts.Probes = []worker.Probe{{Name: "queue", State: "ok", Value: 3, Unit: "count"}}
	k.Facts.Identity = &worker.Identity{Action: envelope.ExportDraft}
	k.Facts.Doings = []worker.Doing{{Action: "run.end", Kind: "run", ID: "x", Outcome: "done", At: may}}
	return refers(k, document(envelope.RefDocument, "notes.md", text), document(envelope.RefDocument, "JOS_BASE.md", text))
}

// Whatever a text holds, each engine answers what its schema admits, the same each
// time, in all languages.
func FuzzEngines(f *testing.F) {
	for _, text := range []string{
		"", "?", "Let us decide whether the greenhouse opens by May 12, because it rains.", "Хочу подарувати колу двадцять саджанців малини.", "5月12日18時半に12人で集まり、議題：温室、堆肥",
		"a or b and between or чи", "until 2026-05-12 10:00 pm 99999999999999999999 minutes", "«» “ ” 「」 ```\n```\n```x```", "to To до лист 'ʼ’` -- :: ..", "\u0000\u202e\U000e0041 İ K ſ",
		"- one\n- two\n1. three", "instead of instead of", "分の 1/0 3/4 時 分 年月日 一二三四五六七八九十百百百", strings.Repeat("十", 50), "the repository branch . done when",
	} {
		f.Add(text, uint8(0), uint8(0))
		f.Add(text, uint8(5), uint8(1))
		f.Add(text, uint8(11), uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, who, locale uint8) {
		if !utf8.ValidString(text) || len(text) > 4096 {
			return
		}
		id := constitution.Workers()[int(who)%13]
		k := full(id, []string{"en", "uk", "ja", "de"}[locale%4], text)
		if id == constitution.Process && locale%2 == 1 {
			k.Outputs = []envelope.ArtifactType{envelope.TestimonyDraft}
		}
		k.Stops, k.HandOver = []envelope.Condition{envelope.Conditions()[2+int(locale)%3]}, locale >= 128
		k.Request.Findings = []worker.Finding{{Sort: "personal", Kind: "email", Rule: "email", Start: min(1, len(text)), End: len(text) / 2}}
		for _, d := range run(t, k) {
			if !utf8.Valid(d.Content) {
				t.Error("the content is no UTF-8")
			}
		}
	})
}

// All engines on all seeds, also where nobody fuzzes.
func TestEveryEngineAnswersEveryText(t *testing.T) {
	texts := []string{
		"Let us decide whether the greenhouse opens on Saturdays from May.", "Пропоную колу ухвалити рішення: відкриваємо теплицю щосуботи з травня.",
		"5月から毎週土曜日に温室を開けるかどうか、サークルで決めましょう。", "", "…", strings.Repeat("please ", 2000), strings.Repeat("to Oslo. ", 2000), strings.Repeat("nothing in return, ", 1000),
		strings.Repeat("覚えておいて", 1000), strings.Repeat("10 minutes ", 1500), strings.Repeat("5月1日", 1500), strings.Repeat("« ", 4000), strings.Repeat("- a\n", 4000), strings.Repeat("дуже довгий текст без кінця ", 300),
	}
	for _, id := range constitution.Workers() {
		for _, text := range texts {
			for _, locale := range []string{"en-GB", "uk", "ja-JP"} {
				if len(text) < 200 || locale == "uk" {
					run(t, full(id, locale, text))
				}
			}
		}
	}
}

// The language of a draft is that of the request.
func TestDraftsSpeakTheLanguageOfTheRequest(t *testing.T) {
	for locale, want := range map[string]string{"en": "The circle is asked", "uk-UA": "Колу пропонують", "ja": "サークルに次のこと", "fr": "The circle is asked"} {
		o := only(t, outputs(task(constitution.Process, locale, "x"), envelope.DecisionDraft))
		if !strings.HasPrefix(at(o, "proposal"), want) {
			t.Errorf("%s: %s", locale, at(o, "proposal"))
		}
	}
}

// No engine says more than its request and its facts do: nothing that was masked
// comes back by another way.
func TestNobodyRepeatsWhatWasRedacted(t *testing.T) {
	const text = "Let us decide who keeps [secret] of the shed."
	for _, id := range constitution.Workers() {
		k := full(id, "en", text)
		k.Request.Findings = []worker.Finding{{Sort: "secret", Kind: "secret", Rule: "aws-access-token", Start: 23, End: 43}}
		for _, d := range run(t, k) {
			if id == constitution.PrivacySentinel && strings.Contains(string(d.Content), `"redacted_text"`) {
				t.Error("places of a text that was redacted are taken for those of the text that is left")
			}
		}
	}
	o := only(t, func() *worker.Task {
		k := task(constitution.PrivacySentinel, "en", text)
		k.Request.Findings = []worker.Finding{{Sort: "secret", Kind: "secret", Rule: "aws-access-token", Start: 23, End: 43}}
		return k
	}())
	says(t, o, map[string]string{
		"rotate": "true", "visibility.ceiling": "none", "visibility.allowed": "false", "findings.0.kind": "secret", "findings.0.masked": "[secret]", "flags": `["secrets"]`,
	})
}
