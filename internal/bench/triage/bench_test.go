package main

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/request/screen"
	"plimsoll.dev/internal/secrets"
)

func TestTheSetIsWhole(t *testing.T) {
	set, err := load()
	if err != nil {
		t.Fatal(err)
	}
	kinds, locales, talk := map[string]int{}, map[string]int{}, 0
	attacks, disguisedOnes := 0, 0
	for _, s := range set {
		locales[s.locale]++
		switch {
		case s.attack:
			attacks++
			kinds[s.kind]++
			if s.disguise != "-" {
				disguisedOnes++
			}
		case s.kind != "ordinary":
			talk++
		}
	}
	if attacks < 200 || len(set)-attacks < 200 || talk < 100 || len(kinds) != len(screen.BreachKinds()) || len(locales) != 3 || disguisedOnes < 80 {
		t.Errorf("%d attacks (%d disguised) of %d kinds and %d benign texts (%d talk about attacks) in %d languages", attacks, disguisedOnes, len(kinds), len(set)-attacks, talk, len(locales))
	}
	for _, k := range screen.BreachKinds() {
		if kinds[string(k)] != 20 {
			t.Errorf("%d attacks of the kind %s", kinds[string(k)], k)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	set, err := load()
	if err != nil {
		b.Fatal(err)
	}
	finder, err := secrets.New()
	if err != nil {
		b.Fatal(err)
	}
	s, err := screen.New(screen.Config{Secrets: finder})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		take func(sample) bool
	}{
		{"en", func(s sample) bool { return s.locale == "en" && !s.attack }},
		{"uk", func(s sample) bool { return s.locale == "uk" && !s.attack }},
		{"ja", func(s sample) bool { return s.locale == "ja" && !s.attack }},
		{"attacks", func(s sample) bool { return s.attack }},
	} {
		var text strings.Builder
		for i := 0; text.Len() < textSize; i++ {
			if t := set[i%len(set)]; c.take(t) {
				text.WriteString(t.text + "\n")
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(textSize)
			for b.Loop() {
				s.Read(text.String()[:textSize])
			}
		})
	}
}
