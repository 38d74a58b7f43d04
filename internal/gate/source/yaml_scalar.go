package source

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlScalar is a scalar without its place. It answers false for a text that
// is not of the core type its tag claims.
func yamlScalar(n *yaml.Node) (Value, bool) {
	switch n.Tag {
	case "!!null":
		return Value{Kind: Null}, n.Value == "" || n.Value == "~" || strings.EqualFold(n.Value, "null")
	case "!!bool":
		truth := strings.EqualFold(n.Value, "true")
		return Value{Kind: Bool, Truth: truth}, truth || strings.EqualFold(n.Value, "false")
	case "!!int":
		text, ok := yamlInteger(n.Value)
		return Value{Kind: Number, Text: text}, ok
	case "!!float":
		text, ok := yamlFloat(n)
		return Value{Kind: Number, Text: text}, ok
	case "!!timestamp":
		return Value{Kind: Date, Text: n.Value}, true
	}
	return Value{Kind: String, Text: n.Value}, true
}

func yamlInteger(text string) (string, bool) {
	if n, ok := integer(text); ok {
		return n, true
	}
	// The library also takes 64 bits without a sign for an integer.
	n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 0, 64)
	return strconv.FormatUint(n, 10), err == nil
}

func yamlFloat(n *yaml.Node) (string, bool) {
	sign, rest := cutSign(n.Value)
	switch strings.ToLower(rest) {
	case ".nan":
		return "nan", true
	case ".inf":
		return sign + "inf", true
	}
	plain := strings.ReplaceAll(n.Value, "_", "")
	if n.Style == 0 && digits(strings.ReplaceAll(rest, "_", "")) {
		// An integer beyond 64 bits, which the library calls a float.
		return decimal(plain)
	}
	return float(plain)
}
