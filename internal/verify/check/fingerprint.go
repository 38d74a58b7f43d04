package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
)

// Fingerprint is the identity of a finding across runs (§7.3): fp_ and the
// first 16 hex digits over check, tool and evidence. Where a finding stands is
// no part of it, so that moving a line accepts nothing and forgets nothing.
//
// Evidence holds JSON values: nil, bool, string, int, int64, float64,
// json.Number, lists and maps of them. Anything else, and a number that is not
// finite, is refused.
func Fingerprint(checkID, toolName string, evidence map[string]any) (string, error) {
	text := append(make([]byte, 0, 512), `{"check_id": `...)
	text = fingerprinted.text(text, checkID)
	text, err := fingerprinted.append(append(text, `, "evidence": `...), evidence)
	if err != nil {
		return "", fmt.Errorf("fingerprint %s: %w", checkID, err)
	}
	text = append(text, `, "tool_name": `...)
	if toolName == "" {
		text = append(text, "null"...)
	} else {
		text = fingerprinted.text(text, toolName)
	}
	return "fp_" + shortHash(append(text, '}'), 16), nil
}

// collisionSuffix tells findings of one fingerprint apart (§7.3).
func collisionSuffix(f *Finding) (string, error) {
	text, err := json.Marshal(f.Source)
	if err != nil {
		return "", err
	}
	src, err := decode(text)
	if err != nil {
		return "", err
	}
	text, err = spaced.append(nil, map[string]any{
		"agent_id": orNull(f.AgentID), "category": f.Category, "check_id": f.CheckID, "confidence": string(f.Confidence),
		"recommendation": f.Recommendation, "source": src, "title": f.Title, "tool_id": orNull(f.ToolID), "tool_name": orNull(f.ToolName),
	})
	if err != nil {
		return "", err
	}
	return shortHash(text, 8), nil
}

// shortHash is the first digits of the SHA-256 over a text.
func shortHash(text []byte, digits int) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:digits/2])
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// dropped are the evidence keys that say how a finding was made rather than
// what it is about; they are left out at every level.
var dropped = []string{"default_severity", "source_provenance", "observed"}

// form is a spelling in which evidence is hashed: numbers in the text that A-6
// gives them, lists in the order of their own JSON.
type form struct {
	spelling     canonical.Spelling
	comma, colon string
	del          bool // DEL is escaped: the one byte that A-6 escapes and the house's spelling does not
	drop         bool // without the dropped keys
}

// The forms: that of A-6, the same over what a finding is about, and that of
// supports.
var (
	spaced        = form{spelling: canonical.Spaced, comma: ", ", colon: ": ", del: true}
	fingerprinted = form{spelling: canonical.Spaced, comma: ", ", colon: ": ", del: true, drop: true}
	compact       = form{spelling: canonical.UTF8, comma: ",", colon: ":"}
)

// append writes v after dst.
func (f *form) append(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return f.text(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case float64:
		n, err := number(v)
		return append(dst, n...), err
	case json.Number:
		n, err := literal(string(v))
		return append(dst, n...), err
	case []string:
		return appendSet(f, dst, v)
	case []any:
		return appendSet(f, dst, v)
	case []map[string]any:
		return appendSet(f, dst, v)
	case map[string]any:
		return f.object(dst, v)
	}
	return dst, fmt.Errorf("a value of type %T is no JSON", v)
}

func (f *form) text(dst []byte, s string) []byte {
	n := len(dst)
	dst = f.spelling.AppendString(dst, s)
	if f.del && bytes.IndexByte(dst[n:], 0x7f) >= 0 {
		return append(dst[:n], bytes.ReplaceAll(dst[n:], []byte{0x7f}, []byte(`\u007f`))...)
	}
	return dst
}

func (f *form) object(dst []byte, m map[string]any) ([]byte, error) {
	keys := make([]string, 0, 8)
	for key := range m {
		if !f.drop || !slices.Contains(dropped, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, f.comma...)
		}
		var err error
		if dst, err = f.append(append(f.text(dst, key), f.colon...), m[key]); err != nil {
			return dst, fmt.Errorf("%s: %w", key, err)
		}
	}
	return append(dst, '}'), nil
}

// appendSet writes a list in order.
func appendSet[T any](f *form, dst []byte, list []T) ([]byte, error) {
	list, err := ordered(f, list)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, f.comma...)
		}
		if dst, err = f.append(dst, e); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// ordered is a list in the order of how A-6 spells its entries.
func ordered[T any](f *form, list []T) ([]T, error) {
	if len(list) < 2 {
		return list, nil
	}
	by := spaced
	by.drop = f.drop
	type entry struct {
		value T
		text  []byte
	}
	entries := make([]entry, len(list))
	for i, e := range list {
		text, err := by.append(nil, e)
		if err != nil {
			return nil, err
		}
		entries[i] = entry{e, text}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return bytes.Compare(a.text, b.text) })
	sorted := make([]T, len(list))
	for i := range entries {
		sorted[i] = entries[i].value
	}
	return sorted, nil
}

// literal is a number as it stands in a JSON text: whole numbers keep all their
// digits, the others are read as binary floating point.
func literal(text string) (string, error) {
	if !strings.ContainsAny(text, ".eE") {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok || len(text) > 4300 {
			return "", fmt.Errorf("%.40q is no number", text)
		}
		return n.String(), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", fmt.Errorf("%.40q is no finite number", text)
	}
	return number(f)
}

// number is the shortest text that reads back as f, with ".0" for whole ones
// and an exponent below 1e-4 and from 1e16 on.
func number(f float64) (string, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", fmt.Errorf("%v is no finite number", f)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64), nil
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text, nil
}

// decode reads one JSON value and keeps numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
