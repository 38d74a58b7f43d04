package adopt

import (
	"crypto/sha256"
	_ "embed" // the digests
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// rendered holds, a line each, a target and the SHA-256 of a text that this
// program wrote for it, in any version. Lines are added and never taken away:
// what is known here may be replaced and taken back.
//
//go:embed rendered.txt
var rendered string

// renderedBefore says whether some version of the program wrote this text for
// the target. The text has plain line breaks.
func renderedBefore(t Target, text string) bool {
	want := string(t) + " " + digestOf(text)
	for line := range strings.Lines(rendered) {
		if strings.TrimRight(line, "\r\n") == want {
			return true
		}
	}
	return false
}

// digestOf is how a text is known again.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A first manifest begins with the digest of what stands below. It is the only
// file that init writes and people are meant to edit: the digest tells the one
// from the other without a record anywhere else. Forging it gains nothing but
// that a file which begins so is taken for one that init wrote.
const sealBegin = "# agents-shipgate:init sha256="

// Sealed is the text of a first manifest below its digest, one line longer.
func Sealed(text []byte) []byte {
	return join([]byte(sealBegin+digestOf(plainBreaks(text))+"\n"), string(text))
}

const hunkHeader = `(?m)^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$`

// SealedPatch is a patch of the text as one of the sealed text. What a line of
// a file says cannot be taken for a header: it stands behind a sign.
func SealedPatch(patch string) string {
	headers := regexp.MustCompile(hunkHeader)
	return headers.ReplaceAllStringFunc(patch, func(header string) string {
		m := headers.FindStringSubmatch(header)
		next := func(n string) string {
			line, err := strconv.Atoi(n)
			if err != nil {
				return n
			}
			return strconv.Itoa(line + 1)
		}
		return "@@ -" + next(m[1]) + m[2] + " +" + next(m[3]) + m[4] + " @@"
	})
}

type seal string

const (
	noSeal     seal = "none"
	brokenSeal seal = "broken"
	wholeSeal  seal = "whole"
)

// sealOf says whether a manifest is as init wrote it.
func sealOf(text []byte) seal {
	plain := plainBreaks(text)
	if !strings.Contains(plain, sealBegin) {
		return noSeal
	}
	if first, rest, _ := strings.Cut(plain, "\n"); first == sealBegin+digestOf(rest) {
		return wholeSeal
	}
	return brokenSeal
}

// newer says whether version a comes after b. Versions are numbers with dots;
// one that is not comes after none.
func newer(a, b string) bool {
	left, right := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(left), len(right)) {
		m, err := strconv.Atoi(left[i])
		n, err2 := strconv.Atoi(right[i])
		if err != nil || err2 != nil {
			return false
		}
		if m != n {
			return m > n
		}
	}
	return len(left) > len(right)
}
