package flow

import (
	"strings"
)

// Marks of what an expression in an address is made of.
const (
	chosen     = "\x00" // by the run or by a model
	configured = "\x01" // by the instance: $env, $vars, $secrets
)

// openHost says whether a run decides whom an HTTP tool calls: the host of the
// address is an expression, or a placeholder that the model fills in. What the
// instance sets for all its runs is no choice of a run.
func openHost(address string, placeholders bool) bool {
	text, expression := strings.CutPrefix(address, "=")
	if expression {
		text = marked(text)
	}
	host := text
	if _, rest, found := strings.Cut(text, "://"); found {
		host = rest
	}
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	return strings.Contains(host, chosen) || placeholders && len(braced(host)) > 0
}

// marked is an address with a mark for each of its expressions. One that begins
// with a text of its own leaves that text.
func marked(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inner, after, _ := strings.Cut(rest, "}}")
		inner = strings.TrimSpace(inner)
		own, more := leading(inner)
		b.WriteString(own)
		switch {
		case instance(strings.TrimLeft(more, " +")):
			b.WriteString(configured)
		case more != "":
			b.WriteString(chosen)
		}
		text = after
	}
}

// leading is the text in quotes that an expression begins with, and what follows
// it. A text with a marker of its own is none.
func leading(expression string) (own, more string) {
	if expression == "" || !strings.ContainsRune("'\"`", rune(expression[0])) {
		return "", expression
	}
	quote := expression[0]
	for i := 1; i < len(expression); i++ {
		switch {
		case expression[i] == '\\':
			return "", expression
		case expression[i] == quote:
			return expression[1:i], strings.TrimSpace(expression[i+1:])
		case quote == '`' && strings.HasPrefix(expression[i:], "${"):
			return expression[1:i], expression[i:]
		}
	}
	return "", expression
}

// instance says whether an expression is one value that the instance sets.
func instance(expression string) bool {
	for _, prefix := range []string{"$env.", "$vars.", "$secrets."} {
		if name, found := strings.CutPrefix(expression, prefix); found {
			return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == ""
		}
	}
	return false
}
