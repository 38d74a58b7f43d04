package adopt

import (
	"crypto/sha256"
	_ "embed" // the digests
	"encoding/hex"
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

// current says whether this version of the program writes this block.
func current(t Target, body string) bool {
	return body == blockText(t) || t == PreCommit && body == preCommitWhole()
}

// replacement is the block of this version in the form of an older one.
func replacement(t Target, body string) string {
	if t == PreCommit && strings.HasPrefix(body, reposLine) {
		return preCommitWhole()
	}
	return blockText(t)
}

// digestOf is how a text is known again.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A first manifest ends with the digest of what stands above. It is the only
// file that init writes and people are meant to edit: the digest tells the one
// from the other without a record anywhere else. Forging it gains nothing but
// that a file which ends so is taken for one that init wrote.
const sealBegin = "# agents-shipgate:init sha256="

// Sealed is the text of a first manifest with its digest.
func Sealed(text []byte) []byte {
	return join(text, sealBegin+digestOf(plainBreaks(text))+"\n")
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
	i := strings.LastIndex(plain, sealBegin)
	if plain[i:] == sealBegin+digestOf(plain[:i])+"\n" && (i == 0 || plain[i-1] == '\n') {
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
