package console

import (
	"strconv"
	"time"
)

// Times are relative with the exact one beside them (docs/console.md); all are
// UTC, which the exact one says.

var ukrainianMonths = [...]string{"січ.", "лют.", "бер.", "квіт.", "трав.", "черв.", "лип.", "серп.", "вер.", "жовт.", "лист.", "груд."}

// instant is an exact time as the language writes it.
func (w *words) instant(t time.Time) string {
	if t.IsZero() {
		return w.say("when.never")
	}
	t = t.UTC()
	if w.lang == "uk" {
		return t.Format("2 ") + ukrainianMonths[t.Month()-1] + t.Format(" 2006, 15:04:05 UTC")
	}
	return t.Format("2 Jan 2006, 15:04:05 UTC")
}

// ago is how long something is past.
func (w *words) ago(t, now time.Time) string {
	if t.IsZero() {
		return w.say("when.never")
	}
	d := now.Sub(t)
	if d < 10*time.Second {
		return w.say("when.now")
	}
	return w.say("when.ago", w.span(d))
}

// left is how long there is still until something, or since when it is over.
func (w *words) left(t, now time.Time) string {
	if t.IsZero() {
		return w.say("when.open")
	}
	if d := t.Sub(now); d > 0 {
		return w.span(d)
	}
	return w.say("when.over")
}

// span is a length of time in its largest unit.
func (w *words) span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return w.say("when.seconds", max(1, int(d.Seconds())))
	case d < time.Hour:
		return w.say("when.minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return w.say("when.hours", int(d.Hours()))
	}
	return w.say("when.days", int(d.Hours()/24))
}

// size is a number of bytes.
func (w *words) size(n int64) string {
	unit, name := int64(1), "B"
	for _, u := range []struct {
		n    int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.n {
			unit, name = u.n, u.name
			break
		}
	}
	return strconv.FormatInt(n/unit, 10) + "\u00a0" + name
}
