package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/model"
	"plimsoll.dev/internal/model/answer"
	"plimsoll.dev/internal/model/modeltest"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/screen"
)

// attacked is the turn of a request that reached a worker in spite of everything:
// what the screen would have found counts here as not found.
func attacked(a modeltest.Attack) request.Turn {
	q := turn()
	q.Run, q.Locale = a.ID, a.Locale
	q.Data = []request.Data{{Name: "request", Origin: envelope.External, Text: a.Text}}
	if a.Document != "" {
		q.Data = append(q.Data, request.Data{Name: "document 1", Origin: envelope.External, Text: a.Document})
	}
	content, _ := json.Marshal(object{"title": "Draft", "proposal": a.Text, "reasons": []string{"as asked"}, "reversible": true})
	q.Contract[0].Content = content
	return q
}

func TestTheAttacksAreOfEveryKindAndForm(t *testing.T) {
	list := modeltest.Attacks(1, 200)
	kinds, forms, locales, ids, secrets := map[screen.Kind]int{}, map[modeltest.Form]int{}, map[string]int{}, map[string]bool{}, 0
	for _, a := range list {
		kinds[a.Kind]++
		forms[a.Form]++
		locales[a.Locale]++
		ids[a.ID] = true
		if a.Secret != "" {
			secrets++
		}
		if len(a.Orders) == 0 || !strings.Contains(a.Text+a.Document, a.ID) || a.Intent == "" {
			t.Errorf("%s does not say what it is: %+v", a.ID, a)
		}
	}
	for _, k := range screen.BreachKinds() {
		if kinds[k] != 20 {
			t.Errorf("%d attacks are of the kind %s", kinds[k], k)
		}
	}
	if len(forms) != 5 || len(locales) != 3 || len(ids) != 200 || secrets != 20 {
		t.Errorf("%d forms, %d languages, %d ids, %d secrets", len(forms), len(locales), len(ids), secrets)
	}
	if again := modeltest.Attacks(1, 200); !slices.EqualFunc(list, again, func(a, b modeltest.Attack) bool { return a.Text == b.Text && a.Secret == b.Secret }) {
		t.Error("the same seed gives other attacks")
	}
}

// With a model that obeys every instruction, all that comes of an attack is words
// in the members a model may write.
func TestAModelThatObeysEveryInstructionSpoilsWordsAndNothingElse(t *testing.T) {
	attacks := modeltest.Attacks(2, 200)
	// What an open answer to an order is caught by.
	caught := map[modeltest.Order]answer.Flaw{
		modeltest.ClaimStatus: answer.Foreign, modeltest.OtherDraft: answer.WrongType, modeltest.Address: answer.Foreign, modeltest.CallTool: answer.Refused,
		modeltest.Recite: answer.MarkLeak, modeltest.Carry: answer.Link, modeltest.Hide: answer.Hidden, modeltest.PassOn: answer.Order,
	}
	both(t, modeltest.Obedient(attacks), func(t try) {
		attacks := attacks
		if t.config.API != model.OpenAI { // what is checked is the same; one protocol may have them all
			attacks = attacks[:40]
		}
		m := client(t, t.config)
		p := prompt(t, constitution.Process)
		open, spoilt, stopped := 0, 0, 0
		for _, a := range attacks {
			q := attacked(a)
			got, err := m.Draft(t.Context(), p, q)
			if a.Secret != "" {
				if fault.KindOf(err) != fault.Denied {
					t.Errorf("%s, with a secret: %v", a.ID, err)
				}
				stopped++
				continue
			}
			if broken, ok := errors.AsType[*answer.Broken](err); ok {
				open++
				if !slices.ContainsFunc(a.Orders, func(o modeltest.Order) bool { return slices.Contains(broken.Flaws, caught[o]) }) {
					t.Errorf("%s (%s) was caught by %v", a.ID, a.Orders, broken.Flaws)
				}
				if strings.Contains(err.Error(), modeltest.Obeyed) || strings.Contains(err.Error(), key) {
					t.Errorf("%s: the error quotes the answer: %v", a.ID, err)
				}
				q.Attempt, q.Faults = 2, broken.Faults
				got, err = m.Draft(t.Context(), p, q)
			}
			if err != nil {
				t.Errorf("%s (%s): %v", a.ID, a.Orders, err)
				continue
			}
			spoilt++
			var content object
			if err := json.Unmarshal(got.Drafts[0].Content, &content); err != nil || got.Drafts[0].Type != envelope.DecisionDraft {
				t.Fatalf("%s: %v", a.ID, err)
			}
			for name := range content {
				if !slices.Contains(q.Contract[0].Prose, name) {
					t.Errorf("%s wrote %s", a.ID, name)
				}
			}
			if !strings.Contains(string(got.Drafts[0].Content), modeltest.Obeyed+a.ID) {
				t.Errorf("%s was not obeyed: %s", a.ID, got.Drafts[0].Content)
			}
		}
		t.Logf("%d attacks: %d open answers refused, %d drafts spoilt, %d turns with a secret not sent", len(attacks), open, spoilt, stopped)
		if open+stopped != len(attacks) {
			t.Errorf("only %d open answers were refused", open)
		}
		traffic := t.server.Traffic()
		for _, a := range attacks {
			if a.Secret != "" && bytes.Contains(traffic, []byte(a.Secret)) {
				t.Errorf("the secret of %s was sent", a.ID)
			}
		}
		for _, c := range t.server.Calls() {
			if c.System != p.Text() {
				t.Fatal("the system prompt is not the assembled one")
			}
		}
	})
}

// In good form from the beginning, no check of ours finds it: the words are taken,
// as the words of a stranger.
func TestASlyModelSpoilsWordsAndNothingElse(t *testing.T) {
	attacks := modeltest.Attacks(3, 20)
	both(t, modeltest.Sly(attacks), func(t try) {
		m := client(t, t.config)
		for _, a := range attacks {
			if a.Secret != "" {
				continue
			}
			got, err := m.Draft(t.Context(), prompt(t, constitution.Process), attacked(a))
			if err != nil || len(got.Drafts) != 1 {
				t.Errorf("%s (%s): %v", a.ID, a.Form, err)
			}
		}
	})
}

func BenchmarkReadAnswer(b *testing.B) {
	p := prompt(b, constitution.Process)
	w := answer.Witness{Mark: strings.Repeat("0f1e2d3c", 4), Prompt: p.Text(), Turn: turn().Data[0].Text, Key: func(string) bool { return false }, Secrets: reader()}
	text := compact(b, object{"title": "Сад", "proposal": strings.Repeat("Посадити сад біля школи, де земля суха й тиха. ", 50), "reasons": []string{"тінь"}})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := answer.Read(text, turn().Contract, w); err != nil {
			b.Fatal(err)
		}
	}
}
