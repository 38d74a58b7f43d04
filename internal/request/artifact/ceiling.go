package artifact

import (
	"time"

	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// Ceiling is the widest level these flags allow (docs/spec/circle.md §7), and the
// flag that sets it, "" when none does. The level "" is none at all: nothing may
// be kept or shown.
//
// own says that nobody else is concerned: what may be private is the member's
// own, and about another it may not even be that without their consent. lifted is
// the level that the consents on record name, "" when somebody's is missing; see
// Lift. A consent lifts a ceiling to the level it names, and no further than the
// registry lets one.
func Ceiling(ceilings []constitution.Ceiling, flags []envelope.Flag, own bool, lifted envelope.Level) (envelope.Level, envelope.Flag) {
	level, by := envelope.Public, envelope.Flag("")
	for _, f := range flags {
		for _, c := range ceilings {
			if c.Flag != f {
				continue
			}
			allowed := c.Without
			if allowed == envelope.Private && !own {
				allowed = ""
			}
			if with := lifted.Min(c.WithConsent); with.Wider(allowed) {
				allowed = with
			}
			if level.Wider(allowed) {
				level, by = allowed, f
			}
		}
	}
	return level, by
}

// Lift is the level up to which everybody concerned has consented to the artifact
// as it is: the lowest of the levels that their granted consents name, "" when one
// is missing. Nobody concerned is the owner alone.
func (a *Artifact) Lift(ledger []Consent, roll circle.Roll, now time.Time) envelope.Level {
	concerned := a.Concerns
	if len(concerned) == 0 {
		concerned = []string{a.Owner}
	}
	level := envelope.Public
	for _, m := range concerned {
		c, ok := latest(ledger, a, m)
		if !ok || c.answer(a, false, roll, now) != AnswerGranted {
			return ""
		}
		level = level.Min(c.Scope.Visibility)
	}
	return level
}
