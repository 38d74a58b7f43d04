package source

import "strings"

// tomlDate is the normal form of a TOML date, time or both: T between the two
// and Z for UTC, whatever was written (docs/spec/boundary.md, OP-25). It
// answers false for what RFC 3339 refuses; the library leaves that to its user.
func tomlDate(text string) (string, bool) {
	text = strings.Replace(strings.ToUpper(text), " ", "T", 1)
	date, clock, both := strings.Cut(text, "T")
	if !both && len(text) > 2 && text[2] == ':' {
		date, clock = "", text
	}
	switch {
	case date != "" && !validDay(date):
		return "", false
	case !both && date != "":
		return text, true
	}
	offset := strings.IndexAny(clock, "Z+-")
	if offset >= 0 {
		if date == "" || !validOffset(clock[offset:]) {
			return "", false
		}
		clock = clock[:offset]
	}
	return text, validClock(clock)
}

func validDay(s string) bool {
	if !shaped(s, "0000-00-00") {
		return false
	}
	year, month, day := numeral(s[:4]), numeral(s[5:7]), numeral(s[8:])
	last := 31
	switch month {
	case 4, 6, 9, 11:
		last = 30
	case 2:
		last = 28
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			last = 29
		}
	}
	return 1 <= month && month <= 12 && 1 <= day && day <= last
}

// validClock accepts second 60, which RFC 3339 keeps for leap seconds.
func validClock(s string) bool {
	whole, fraction, has := strings.Cut(s, ".")
	return shaped(whole, "00:00:00") && numeral(whole[:2]) < 24 && numeral(whole[3:5]) < 60 && numeral(whole[6:]) <= 60 &&
		digits(fraction) && has == (fraction != "")
}

func validOffset(s string) bool {
	return s == "Z" || shaped(s[1:], "00:00") && numeral(s[1:3]) < 24 && numeral(s[4:]) < 60
}

// shaped says whether s has a digit where shape has 0, and shape's byte
// everywhere else.
func shaped(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(s) {
		if isDigit := '0' <= s[i] && s[i] <= '9'; shape[i] == '0' && !isDigit || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return true
}

// numeral is the value of a few digits.
func numeral(s string) int {
	n := 0
	for i := range len(s) {
		n = 10*n + int(s[i]-'0')
	}
	return n
}
