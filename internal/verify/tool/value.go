package tool

import (
	"encoding/json"
	"path"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// Parse reads one structured input: JSON when the name ends in .json or the
// first non-blank byte is { or [, YAML otherwise (§1). A byte order mark is
// tolerated. A duplicate key is refused: two readers, two meanings.
func Parse(name string, text []byte) (source.Value, *SourceError) {
	text, _ = source.TrimBOM(text)
	read := source.ParseYAML
	if IsJSON(name, text) {
		read = source.ParseJSON
	}
	v, err := read(text)
	if err != nil {
		detail := "is not valid YAML"
		if err.Parser == source.JSONParser {
			detail = "is not valid JSON"
		}
		return source.Value{}, &SourceError{
			Path: name, Line: err.Pos.Line, Problem: Malformed, Detail: detail + ", or holds a key twice", Err: err,
		}
	}
	return v, nil
}

// IsJSON says whether a structured input is read as JSON.
func IsJSON(name string, text []byte) bool {
	if strings.EqualFold(path.Ext(name), ".json") {
		return true
	}
	rest := strings.TrimLeft(string(text[:min(len(text), 4096)]), " \t\r\n")
	return strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[")
}

// Plain is v as decoded JSON: nil, bool, json.Number, string, []any and
// map[string]any. A date, infinity and not-a-number are their text.
func Plain(v source.Value) any {
	switch v.Kind {
	case source.Bool:
		return v.Truth
	case source.Number:
		if !json.Valid([]byte(v.Text)) {
			return v.Text
		}
		return json.Number(v.Text)
	case source.List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = Plain(item)
		}
		return list
	case source.Map:
		m := make(map[string]any, len(v.Members))
		for _, member := range v.Members {
			m[member.Key] = Plain(member.Value)
		}
		return m
	case source.String, source.Date:
		return v.Text
	default:
		return nil
	}
}

// EndLine is the last line on which a value inside of v begins.
func EndLine(v source.Value) int {
	last := v.Pos.Line
	for _, item := range v.Items {
		last = max(last, EndLine(item))
	}
	for _, m := range v.Members {
		last = max(last, m.Pos.Line, EndLine(m.Value))
	}
	return last
}

// Pointer is the RFC 6901 pointer through the given keys.
func Pointer(keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1"))
	}
	return b.String()
}
