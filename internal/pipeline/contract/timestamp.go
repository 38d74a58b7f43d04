package contract

import (
	"strconv"
	"time"
)

// Timestamp is an instant together with the text it was written as. Two
// timestamps are the same text or they are not (Evidence compares so); whether
// they are the same instant is Equal (docs/spec/contracts.md §0).
//
// The zero Timestamp is absent.
type Timestamp struct {
	text string
	at   time.Time
}

// At is the timestamp of t as this system writes it: UTC with "Z", cut to whole
// milliseconds, which are written only when they are not zero.
func At(t time.Time) Timestamp {
	t = t.UTC().Truncate(time.Millisecond)
	layout := "2006-01-02T15:04:05Z"
	if t.Nanosecond() != 0 {
		layout = "2006-01-02T15:04:05.000Z"
	}
	return Timestamp{text: t.Format(layout), at: t}
}

// ParseTimestamp reads RFC 3339 with an upper-case T and "Z" or a numeric
// offset; ok is false for everything else. The sixtieth second is refused: an
// instant that cannot be compared is of no use here.
func ParseTimestamp(text string) (ts Timestamp, ok bool) {
	// time.Parse also takes a one-digit hour, a comma before the fraction and
	// an offset of +99:99, so the shape is checked first.
	const shape = "0000-00-00T00:00:00"
	if len(text) < len(shape)+1 {
		return Timestamp{}, false
	}
	for i := range len(shape) {
		if c := text[i]; shape[i] == '0' && !digit(c) || shape[i] != '0' && c != shape[i] {
			return Timestamp{}, false
		}
	}
	rest := text[len(shape):]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && digit(rest[n]) {
			n++
		}
		if n == 1 || n == len(rest) {
			return Timestamp{}, false
		}
		rest = rest[n:]
	}
	if rest != "Z" && !offset(rest) {
		return Timestamp{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return Timestamp{}, false
	}
	return Timestamp{text: text, at: at.UTC()}, true
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func offset(s string) bool {
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return false
	}
	hours, err1 := strconv.Atoi(s[1:3])
	minutes, err2 := strconv.Atoi(s[4:6])
	return err1 == nil && err2 == nil && digit(s[1]) && digit(s[4]) && hours < 24 && minutes < 60
}

// Time is the instant, in UTC.
func (t Timestamp) Time() time.Time { return t.at }

// String is the text as it was written.
func (t Timestamp) String() string { return t.text }

// IsZero says whether t is absent.
func (t Timestamp) IsZero() bool { return t.text == "" }

// Equal says whether t and u are the same instant.
func (t Timestamp) Equal(u Timestamp) bool { return t.at.Equal(u.at) }

// Before says whether t is an earlier instant than u.
func (t Timestamp) Before(u Timestamp) bool { return t.at.Before(u.at) }

// After says whether t is a later instant than u.
func (t Timestamp) After(u Timestamp) bool { return t.at.After(u.at) }
