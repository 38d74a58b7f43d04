package surface

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ChangedLines is the multiset difference of the lines of two texts, with CRLF
// and CR read as LF: what a person would call the added and the removed lines.
// Moving a line is no change of lines (§2.7).
func ChangedLines(before, after []byte) (added, removed []AddedLine) {
	olds, news := Lines(before), Lines(after)
	count := make(map[string]int, len(olds))
	for _, l := range olds {
		count[l]++
	}
	for i, l := range news {
		if count[l] > 0 {
			count[l]--
			continue
		}
		added = append(added, AddedLine{Text: Lossy(l), Line: i + 1})
	}
	for i := len(olds) - 1; i >= 0; i-- {
		if l := olds[i]; count[l] > 0 {
			count[l]--
			removed = append(removed, AddedLine{Text: Lossy(l), Line: i + 1})
		}
	}
	for i, j := 0, len(removed)-1; i < j; i, j = i+1, j-1 {
		removed[i], removed[j] = removed[j], removed[i]
	}
	return added, removed
}

// Lines splits a text at LF, CRLF and CR, without an empty last line.
func Lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	s := string(text)
	if bytes.IndexByte(text, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// Lossy decodes bytes as UTF-8; each byte that belongs to no valid sequence
// becomes one U+FFFD (ruling R16).
func Lossy(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += size
	}
	return b.String()
}
