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
	settled, err := settle(evidence, true)
	if err != nil {
		return "", fmt.Errorf("fingerprint %s: %w", checkID, err)
	}
	return "fp_" + shortHash(canonical.Object{
		{Key: "check_id", Value: checkID}, {Key: "tool_name", Value: orNull(toolName)}, {Key: "evidence", Value: settled},
	}, 16), nil
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
	settled, err := settle(src, false)
	if err != nil {
		return "", err
	}
	return shortHash(canonical.Object{
		{Key: "agent_id", Value: orNull(f.AgentID)},
		{Key: "category", Value: f.Category},
		{Key: "check_id", Value: f.CheckID},
		{Key: "confidence", Value: string(f.Confidence)},
		{Key: "recommendation", Value: f.Recommendation},
		{Key: "source", Value: settled},
		{Key: "title", Value: f.Title},
		{Key: "tool_id", Value: orNull(f.ToolID)},
		{Key: "tool_name", Value: orNull(f.ToolName)},
	}, 8), nil
}

// shortHash is the first digits of the SHA-256 over v as A-6 spells it.
func shortHash(v any, digits int) string {
	sum := sha256.Sum256(spell(v))
	return hex.EncodeToString(sum[:])[:digits]
}

// spell is v in the JSON that fingerprints are taken over. DEL is the one
// byte that this form escapes and the house's spelling does not; it can only
// stand inside a string.
func spell(v any) []byte {
	return bytes.ReplaceAll(canonical.Spaced.Append(nil, v), []byte{0x7f}, []byte(`\u007f`))
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

// settle turns evidence into the values that are hashed: numbers in the text
// that A-6 gives them, lists in the order of their own JSON.
func settle(v any, drop bool) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int, int64:
		return v, nil
	case uint64:
		return json.Number(strconv.FormatUint(v, 10)), nil
	case float64:
		return number(v)
	case json.Number:
		return literal(string(v))
	case []string:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = e
		}
		return settleList(list, drop)
	case []any:
		return settleList(v, drop)
	case []map[string]any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = e
		}
		return settleList(list, drop)
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, e := range v {
			if drop && slices.Contains(dropped, key) {
				continue
			}
			settled, err := settle(e, drop)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			m[key] = settled
		}
		return m, nil
	}
	return nil, fmt.Errorf("a value of type %T is no JSON", v)
}

func settleList(list []any, drop bool) (any, error) {
	type row struct {
		value any
		text  string
	}
	rows := make([]row, len(list))
	for i, e := range list {
		settled, err := settle(e, drop)
		if err != nil {
			return nil, err
		}
		rows[i] = row{settled, string(spell(settled))}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.text, b.text) })
	sorted := make([]any, len(rows))
	for i, r := range rows {
		sorted[i] = r.value
	}
	return sorted, nil
}

// literal is a number as it stands in a JSON text: whole numbers keep all their
// digits, the others are read as binary floating point.
func literal(text string) (any, error) {
	if !strings.ContainsAny(text, ".eE") {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok || len(text) > 4300 {
			return nil, fmt.Errorf("%.40q is no number", text)
		}
		return json.Number(n.String()), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%.40q is no finite number", text)
	}
	return number(f)
}

// number is the shortest text that reads back as f, with ".0" for whole ones
// and an exponent below 1e-4 and from 1e16 on.
func number(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is no finite number", f)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return json.Number(strconv.FormatFloat(f, 'e', -1, 64)), nil
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return json.Number(text), nil
}

// decode reads one JSON value and keeps numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
