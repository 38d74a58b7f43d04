package artifact_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

func TestCeilings(t *testing.T) {
	ceilings := []constitution.Ceiling{
		{Flag: envelope.Secrets},
		{Flag: envelope.Health, Without: envelope.Private, WithConsent: envelope.Circle},
		{Flag: envelope.Minors, Without: envelope.Private, WithConsent: envelope.Circle},
		{Flag: envelope.PersonalData, Without: envelope.Circle, WithConsent: envelope.Public},
		{Flag: envelope.Finance, Without: envelope.Clan, WithConsent: envelope.Public},
	}
	for _, c := range []struct {
		flags  string
		others bool
		lifted envelope.Level
		want   envelope.Level
		by     envelope.Flag
	}{
		{"", false, "", envelope.Public, ""},
		{"critical core_change", false, "", envelope.Public, ""},
		{"secrets", false, envelope.Public, "", envelope.Secrets},
		{"health", false, "", envelope.Private, envelope.Health},
		{"health", true, "", "", envelope.Health},
		{"health", true, envelope.Private, envelope.Private, envelope.Health},
		{"health", true, envelope.Circle, envelope.Circle, envelope.Health},
		{"health", false, envelope.Public, envelope.Circle, envelope.Health},
		{"personal_data", true, "", envelope.Circle, envelope.PersonalData},
		{"personal_data", true, envelope.Clan, envelope.Clan, envelope.PersonalData},
		{"personal_data", true, envelope.Private, envelope.Circle, envelope.PersonalData},
		{"personal_data", true, envelope.Public, envelope.Public, ""},
		{"finance personal_data", false, "", envelope.Circle, envelope.PersonalData},
		{"finance personal_data", false, envelope.Clan, envelope.Clan, envelope.Finance},
		{"minors finance secrets", false, envelope.Public, "", envelope.Secrets},
	} {
		flags := []envelope.Flag{}
		for _, f := range strings.Fields(c.flags) {
			flags = append(flags, envelope.Flag(f))
		}
		if got, by := artifact.Ceiling(ceilings, flags, !c.others, c.lifted); got != c.want || by != c.by {
			t.Errorf("%s, others concerned %v, lifted to %q: %q by %q, want %q by %q", c.flags, c.others, c.lifted, got, by, c.want, c.by)
		}
	}
}

func TestALiftNeedsEverybodyConcerned(t *testing.T) {
	b := newBench(t, func(m *artifact.Making) {
		health(m)
		m.Concerns = []string{"m-ben", "m-ira"}
	})
	b.says(olha, artifact.Granted)
	b.says(ben, artifact.Granted)
	if got := b.a.Lift(b.ledger, b.roll, b.now); got != "" {
		t.Errorf("one of two lifts to %s", got)
	}
	b.says(ira, artifact.Granted)
	if got := b.a.Lift(b.ledger, b.roll, b.now); got != envelope.Circle {
		t.Errorf("both lift to %q", got)
	}
	b.revoke(ben)
	if got := b.a.Lift(b.ledger, b.roll, b.now); got != "" {
		t.Errorf("after one took it back: %s", got)
	}
	own := newBench(t, func(m *artifact.Making) { health(m); m.Concerns = nil })
	own.says(olha, artifact.Granted)
	if got := own.a.Lift(own.ledger, own.roll, own.now); got != envelope.Circle {
		t.Errorf("one's own: %q", got)
	}
}
