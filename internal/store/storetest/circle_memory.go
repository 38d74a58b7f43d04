package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/request"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
)

func note(id string, level envelope.Level, text string) memory.Note {
	return memory.Note{
		ID: id, Kind: memory.Kept, Circle: "c-forest", Owner: "m-olha", Visibility: level, Origin: envelope.Internal, Source: "a-1", SHA256: "0a",
		Title: "T " + id, Text: text, CreatedAt: start,
	}
}

func circleMemory(t *testing.T, open Open) {
	t.Helper()
	search := func(b *bench, question string, v memory.Viewer, kinds ...memory.Kind) string {
		b.Helper()
		var found string
		b.circleView(func(cr request.Reader) error {
			list, err := cr.Search(memory.Ask(question), kinds, v, 10)
			found = ids(list, func(n memory.Note) string { return n.ID })
			return err
		})
		return found
	}
	olha := memory.Viewer{Actor: "m-olha", Circle: "c-forest", Clan: "green"}

	t.Run("notes are found by their words in three languages", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "green")
		b.circleUpdate(func(ct request.Tx) error {
			for id, text := range map[string]string{
				"n-key":     "The well pump key hangs behind the barn door.",
				"n-compost": "Компост перегортаємо щопонеділка; так вирішило коло.",
				"n-house":   "Теплиця відкрита щосуботи з травня. Ключ від теплиці в Олі.",
				"n-onshi":   "温室は土曜日に開けます。",
				"n-odd":     "\u0000 \\ ' \" * : | & ! (1e5) -- 100% Ｆｕｌｌ",
				"n-empty":   "",
			} {
				if err := ct.Keep(note(id, envelope.Circle, text)); err != nil {
					return err
				}
			}
			return nil
		})
		for question, want := range map[string]string{
			"Where is the key of the pump?":   "n-key ",
			"Що ми вирішили про компост?":     "n-compost ",
			"коли відкрито теплицю":           "n-house ",
			"温室はいつ":                           "n-onshi ",
			"full":                            "n-odd ",
			"1e5":                             "n-odd ",
			"something else entirely":         "",
			"' OR 1=1 --":                     "",
			"\" ) * : NEAR( terms:":           "",
			strings.Repeat("barn doors ", 99): "n-key ",
			"":                                "",
		} {
			if got := search(b, question, olha); got != want {
				t.Errorf("%q finds %q, want %q", question, got, want)
			}
		}
		if got := search(b, "теплиця з ключами щосуботи, компост", olha); got != "n-house n-compost " {
			t.Errorf("the note with the most words is not first: %q", got)
		}
		b.circleView(func(cr request.Reader) error {
			want := note("n-odd", envelope.Circle, "\u0000 \\ ' \" * : | & ! (1e5) -- 100% Ｆｕｌｌ")
			got, err := cr.Note("n-odd", olha)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("the note differs (-want +got):\n%s", diff)
			}
			one, limitErr := cr.Search(memory.Ask("теплиця компост"), nil, olha, 1)
			if len(one) != 1 || limitErr != nil {
				t.Errorf("a limit of 1 finds %d, %v", len(one), limitErr)
			}
			return err
		})
	})

	t.Run("a note is seen within its level and by nobody else", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "green")
		b.found("c-lake", "green")
		b.found("c-alone", "")
		b.found("c-other", "")
		b.circleUpdate(func(ct request.Tx) error {
			for _, level := range envelope.Levels() {
				for _, circle := range []string{"c-forest", "c-alone"} {
					n := note(string(level)+"-"+circle, level, "secretive moss")
					n.Circle = circle
					if err := ct.Keep(n); err != nil {
						return err
					}
				}
			}
			return nil
		})
		for _, c := range []struct {
			viewer memory.Viewer
			want   string
		}{
			{olha, "circle-c-forest clan-c-forest private-c-forest public-c-alone public-c-forest "},
			{memory.Viewer{Actor: "m-taras", Circle: "c-forest", Clan: "green"}, "circle-c-forest clan-c-forest public-c-alone public-c-forest "},
			{memory.Viewer{Actor: "m-olha", Circle: "c-lake", Clan: "green"}, "clan-c-forest public-c-alone public-c-forest "},
			{memory.Viewer{Actor: "m-olha", Circle: "c-other"}, "public-c-alone public-c-forest "},
			{memory.Viewer{Actor: "m-olha", Circle: "c-alone"}, "circle-c-alone clan-c-alone private-c-alone public-c-alone public-c-forest "},
			{memory.Viewer{}, "public-c-alone public-c-forest "},
		} {
			if got := search(b, "moss", c.viewer); got != c.want {
				t.Errorf("%+v sees %s, want %s", c.viewer, got, c.want)
			}
			b.circleView(func(cr request.Reader) error {
				_, err := cr.Note("private-c-forest", c.viewer)
				if b.absent(err) == strings.Contains(c.want, "private-c-forest") {
					t.Errorf("%+v reads what is private: %v", c.viewer, err == nil)
				}
				return nil
			})
		}
	})

	t.Run("notes are replaced by their owner, forgotten, and end", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		b.found("c-forest", "green")
		b.circleUpdate(func(ct request.Tx) error { return ct.Keep(note("n-1", envelope.Circle, "moss")) })
		b.circleUpdate(func(ct request.Tx) error {
			n := note("n-1", envelope.Private, "lichen")
			n.Kind, n.ExpiresAt = memory.OfArtifact, start.Add(time.Hour)
			return ct.Keep(n)
		})
		if got := search(b, "moss", olha); got != "" {
			t.Errorf("what was replaced is found: %s", got)
		}
		if got := search(b, "lichen", olha, memory.OfArtifact) + search(b, "lichen", olha, memory.Kept); got != "n-1 " {
			t.Errorf("what replaced it is found as %s", got)
		}
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error {
			n := note("n-1", envelope.Circle, "fern")
			n.Owner = "m-taras"
			return ct.Keep(n)
		})
		b.circleRefuse(fault.NotFound, func(ct request.Tx) error {
			n := note("n-2", envelope.Circle, "fern")
			n.Circle = "c-unheard-of"
			return ct.Keep(n)
		})
		b.at(time.Hour)
		if got := search(b, "lichen", olha); got != "" {
			t.Errorf("what has ended is found: %s", got)
		}
		b.circleUpdate(func(ct request.Tx) error { return ct.Forget("n-1") })
		b.at(0)
		if got := search(b, "lichen", olha); got != "" {
			t.Errorf("what was forgotten is found: %s", got)
		}
		b.circleRefuse(fault.NotFound, func(ct request.Tx) error { return ct.Forget("n-1") })
	})
}

func identity(t *testing.T, open Open) {
	t.Helper()
	factor := func() *request.Factor {
		return &request.Factor{ID: "f-1", Actor: "m-olha", Kind: request.TOTP, Name: "phone", Material: []byte{0, 1}, Counter: 5, CreatedAt: start}
	}
	challenge := func() *request.Challenge {
		return &request.Challenge{
			ID: "ch-1", Actor: "m-olha", Circle: "c-forest", Request: "req-1", Action: envelope.ExportDraft, Kind: request.WebAuthn,
			Material: []byte("x"), CreatedAt: start, ExpiresAt: start.Add(time.Minute),
		}
	}
	t.Run("a factor's counter never goes back", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		want := factor()
		b.circleUpdate(func(ct request.Tx) error { return ct.CreateFactor(want) })
		b.circleUpdate(func(ct request.Tx) error {
			f, err := ct.Factor("f-1")
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, f); diff != "" {
				t.Errorf("the factor differs (-want +got):\n%s", diff)
			}
			f.Counter, f.ConfirmedAt, f.RevokedAt, f.Material, f.Name = 6, start, start.Add(time.Minute), []byte{2}, "old phone"
			want = f
			return ct.UpdateFactor(f)
		})
		b.circleView(func(cr request.Reader) error {
			list, err := cr.Factors("m-olha")
			if diff := cmp.Diff([]*request.Factor{want}, list); diff != "" {
				t.Errorf("the factors differ (-want +got):\n%s", diff)
			}
			if none, err := cr.Factors("m-taras"); len(none) != 0 || err != nil {
				t.Errorf("m-taras has %d, %v", len(none), err)
			}
			if _, err := cr.Factor("f-2"); !b.absent(err) {
				t.Error("f-2 was found")
			}
			return err
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { f := *want; f.Counter = 5; return ct.UpdateFactor(&f) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { f := *want; f.Revision = 1; return ct.UpdateFactor(&f) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateFactor(factor()) })
		b.circleRefuse(fault.NotFound, func(ct request.Tx) error {
			f := factor()
			f.ID, f.Actor = "f-3", "m-unheard-of"
			return ct.CreateFactor(f)
		})
	})

	t.Run("a challenge is answered once", func(t *testing.T) {
		b := newBench(t, open)
		b.people()
		want := challenge()
		b.circleUpdate(func(ct request.Tx) error { return ct.CreateChallenge(want) })
		b.circleUpdate(func(ct request.Tx) error {
			n, err := ct.Challenge("ch-1")
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, n); diff != "" {
				t.Errorf("the challenge differs (-want +got):\n%s", diff)
			}
			n.Attempts = 1
			return ct.UpdateChallenge(n)
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { n := challenge(); n.Revision = 2; return ct.UpdateChallenge(n) }) // attempts go back
		b.circleUpdate(func(ct request.Tx) error {
			n, err := ct.Challenge("ch-1")
			if err != nil {
				return err
			}
			n.Attempts, n.AnsweredAt, n.Factor = 2, start.Add(time.Second), "f-1"
			want = n
			return ct.UpdateChallenge(n)
		})
		b.circleView(func(cr request.Reader) error {
			n, err := cr.Challenge("ch-1")
			if diff := cmp.Diff(want, n); diff != "" {
				t.Errorf("the challenge differs (-want +got):\n%s", diff)
			}
			return err
		})
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { n := *want; n.Attempts = 3; return ct.UpdateChallenge(&n) })
		b.circleRefuse(fault.Conflict, func(ct request.Tx) error { return ct.CreateChallenge(challenge()) })
		b.circleView(func(cr request.Reader) error {
			if _, err := cr.Challenge("ch-2"); !b.absent(err) {
				t.Error("ch-2 was found")
			}
			return nil
		})
	})
}
