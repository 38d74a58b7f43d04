package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
)

// EmptyDiffHash is the hash of a diff of no bytes: what diffHash says when base
// and head are the same commit (docs/spec/contracts.md §9.1).
const EmptyDiffHash = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// EmptyStringHash is the canonical hash of the JSON string "": what the
// workflow-cookbook producer writes when it was given no diff (§10.2, R-24).
const EmptyStringHash = "sha256:12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126"

// EmptyObjectHash is the canonical hash of {}.
const EmptyObjectHash = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

// Canonical is text in the one spelling that digests are taken over
// (docs/spec/contracts.md §10.3). The error is a *TextError.
func Canonical(text []byte) ([]byte, error) {
	v, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return CanonicalValue(v), nil
}

// CanonicalValue is the canonical spelling of a value Parse returned. Keys sort
// by code point, which for UTF-8 is the order of bytes.
func CanonicalValue(v any) []byte {
	return canonical.UTF8.Append(nil, spellNumbers(v))
}

// Hash is "sha256:" and the lower-case hex digest of b: of raw bytes as they
// are, of JSON after Canonical.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// HashJSON is the canonical hash of a JSON text.
func HashJSON(text []byte) (string, error) {
	c, err := Canonical(text)
	if err != nil {
		return "", err
	}
	return Hash(c), nil
}

// WellFormedHash says whether h has the form this system writes: "sha256:" and
// 64 lower-case hex digits. A reader takes any text.
func WellFormedHash(h string) bool {
	digits, ok := strings.CutPrefix(h, "sha256:")
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

func spellNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(spellNumber(string(v)))
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = spellNumbers(e)
		}
		return list
	case map[string]any:
		object := make(canonical.Object, 0, len(v))
		for k, e := range v {
			object = append(object, canonical.Member{Key: k, Value: spellNumbers(e)})
		}
		return object
	}
	return v
}

// spellNumber writes an integer with the digits it has and any other number
// with the fewest digits that give the same binary64 back, in the form the
// producers of Evidence use: a fraction always, an exponent from 1e+16 up and
// below 1e-04.
func spellNumber(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" { // the integer has no sign to keep
			return "0"
		}
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("contract: Parse let through the number " + text)
	}
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(scientific, "e")
	if n, _ := strconv.Atoi(exponent); f != 0 && (n < -4 || n >= 16) {
		return scientific
	}
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}

// Equal says whether a and b are the same JSON: order of members aside, numbers
// by value, strings (timestamps too) by their characters. Both must be values
// Parse returned.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(string(a), string(b))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

// sameNumber compares what Parse has bounded: a number with an exponent fits a
// binary64, so its exact value is small enough to build.
func sameNumber(a, b string) bool {
	if a == b || spellNumber(a) == spellNumber(b) {
		return true
	}
	x, ok1 := exact(a)
	y, ok2 := exact(b)
	return ok1 && ok2 && x.Cmp(y) == 0
}

func exact(text string) (*big.Rat, bool) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, false
		}
		return new(big.Rat).SetFloat64(f), true
	}
	return new(big.Rat).SetString(text)
}
