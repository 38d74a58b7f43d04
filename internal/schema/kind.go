package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// kinds is a set of the types of JSON; 0 is no demand.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	object
	array
	integer // every integer is a number as well
	number
	text
)

var kindNames = []string{"null", "boolean", "object", "array", "integer", "number", "string"}

func kindsOf(v any) (kinds, error) {
	if one, ok := v.(string); ok {
		v = []any{one}
	}
	list, err := listOf[string](v)
	if err != nil {
		return 0, err
	}
	var k kinds
	for _, name := range list {
		found := false
		for i, known := range kindNames {
			if name == known {
				k, found = k|1<<i, true
			}
		}
		if !found {
			return 0, fmt.Errorf("%q is no type", name)
		}
	}
	return k, nil
}

func (k kinds) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// kindOf is the type of a value; a number without a fraction is an integer,
// however it is written.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case map[string]any:
		return object
	case []any:
		return array
	case string:
		return text
	case json.Number:
		n, ok := numberOf(v)
		if ok && (n.whole || n.float == math.Trunc(n.float)) {
			return integer | number
		}
		return number
	}
	return 0
}

// value is a number as it is compared.
type value struct {
	whole   bool
	integer int64 // where whole
	float   float64
}

// numberOf reads a number; ok is false when binary64 has no room for it.
func numberOf(n json.Number) (v value, ok bool) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return value{true, i, float64(i)}, true
	}
	f, err := strconv.ParseFloat(string(n), 64)
	return value{float: f}, err == nil
}

// below says whether a is less than b.
func below(a, b value) bool {
	if a.whole && b.whole {
		return a.integer < b.integer
	}
	return a.float < b.float
}

// key is a text that two values have in common if and only if they are equal.
func key(v any) string {
	var b strings.Builder
	writeKey(&b, v)
	return b.String()
}

func writeKey(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		b.WriteString(strconv.Quote(v))
	case json.Number:
		n, _ := numberOf(v)
		if n.whole || n.float == math.Trunc(n.float) && math.Abs(n.float) < 1<<53 {
			if !n.whole {
				n.integer = int64(n.float)
			}
			b.WriteString(strconv.FormatInt(n.integer, 10))
			return
		}
		b.WriteString(strconv.FormatFloat(n.float, 'g', -1, 64))
	case []any:
		b.WriteByte('[')
		for _, e := range v {
			writeKey(b, e)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, name := range sorted(v) {
			b.WriteString(strconv.Quote(name))
			b.WriteByte(':')
			writeKey(b, v[name])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}
