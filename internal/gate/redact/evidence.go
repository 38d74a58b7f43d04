package redact

import (
	"strings"

	"plimsoll.dev/internal/canonical"
)

// Object masks evidence: the value of a key that names a secret, every value
// below env and headers, and whatever Text finds in the rest. The argument
// stays as it is; the result is a copy.
func Object(o canonical.Object) canonical.Object {
	if o == nil {
		return nil
	}
	out := make(canonical.Object, len(o))
	for i, m := range o {
		out[i] = canonical.Member{Key: m.Key, Value: Value(m.Key, m.Value)}
	}
	return out
}

// Value masks one value of an evidence object; key is the name it stands under.
// A null and a boolean tell nothing and stay.
func Value(key string, v any) any {
	switch {
	case IsSecretKey(key):
		return secret(v)
	case strings.EqualFold(key, "env"), strings.EqualFold(key, "headers"):
		return namesOnly(v)
	}
	switch v := v.(type) {
	case string:
		return Text(v)
	case []string:
		return each(v, Text)
	case []any:
		return each(v, func(e any) any { return Value("", e) })
	case []canonical.Object:
		return each(v, Object)
	case canonical.Object:
		return Object(v)
	case map[string]any:
		return eachValue(v, Value)
	}
	return v
}

func secret(v any) any {
	switch v.(type) {
	case nil, bool:
		return v
	}
	return mask
}

// namesOnly keeps the names of an object, and nothing of anything else.
func namesOnly(v any) any {
	hide := func(_ string, e any) any { return secret(e) }
	switch v := v.(type) {
	case canonical.Object:
		out := make(canonical.Object, len(v))
		for i, m := range v {
			out[i] = canonical.Member{Key: m.Key, Value: secret(m.Value)}
		}
		return out
	case map[string]any:
		return eachValue(v, hide)
	}
	return secret(v)
}

func each[T any](list []T, f func(T) T) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}

func eachValue(m map[string]any, f func(string, any) any) map[string]any {
	out := make(map[string]any, len(m))
	for k, e := range m {
		out[k] = f(k, e)
	}
	return out
}
