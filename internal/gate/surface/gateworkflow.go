package surface

import (
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// gateActions are the published actions that run the gate, folded, with the "@"
// before the version: the original one and our own.
var gateActions = [...]string{"threemoonslab/agents-shipgate@", "plimsoll-dev/shipgate@"}

// GateInvocation is the one-based number of the first line of a gate workflow's
// new text that runs the gate; 0 when none does, or when the text is not known
// (docs/spec/boundary.md §5.1, "Gate workflow").
func (s *Surface) GateInvocation() int {
	if s.New.Unresolved != "" || !s.New.Present {
		return 0
	}
	body, _ := source.TrimBOM(s.New.Bytes)
	for i, line := range Lines(body) {
		if runsGate(line) || usesGate(line, s.ActionUsesGate) {
			return i + 1
		}
	}
	return 0
}

// ActionIsGate says whether a repository's own action.yml is the gate's action:
// it bears the name and a step of it runs or uses the product. Only then does
// "uses: ./" in a gate workflow run the gate.
func ActionIsGate(actionYAML source.Value) bool {
	if actionYAML.Get("name").Str() != "Agents Shipgate" {
		return false
	}
	for _, step := range actionYAML.At("runs", "steps").Items {
		if isGateAction(step.Get("uses").Str()) {
			return true
		}
		for _, line := range Lines([]byte(step.Get("run").Str())) {
			if isGateCommand(trimBlank(line)) {
				return true
			}
		}
	}
	return false
}

// runsGate reads one line of YAML text: "- run: NAME=value shipgate verify …",
// where all before the command may be missing. A line of a block scalar is such
// a line too. A comment, an echo and a quotation begin with something else.
func runsGate(line string) bool {
	rest := afterDash(trimBlank(line))
	if command, ok := afterKey(rest, "run:"); ok {
		rest = unquoted(command)
	}
	return isGateCommand(rest)
}

// usesGate reads "- uses: <action>@<version>".
func usesGate(line string, ownAction bool) bool {
	action, ok := afterKey(afterDash(trimBlank(line)), "uses:")
	if !ok {
		return false
	}
	action = unquoted(action)
	if end := strings.IndexAny(action, " \t'\""); end >= 0 {
		action = action[:end]
	}
	return isGateAction(action) || ownAction && action == "./"
}

func isGateAction(ref string) bool {
	folded := lowerASCII(ref)
	for _, prefix := range gateActions {
		if version, ok := strings.CutPrefix(folded, prefix); ok && version != "" {
			return true
		}
	}
	return false
}

// isGateCommand says whether a command line runs the gate: assignments and
// "env", the program, and one of the subcommands that judge.
func isGateCommand(line string) bool {
	word, rest := firstWord(line)
	for word == "env" || isAssignment(word) {
		word, rest = firstWord(rest)
	}
	switch word {
	case "agents-shipgate", "shipgate":
	case "python", "python3":
		flag, after := firstWord(rest)
		module, after := firstWord(after)
		if flag != "-m" || module != "agents_shipgate" {
			return false
		}
		rest = after
	default:
		return false
	}
	rest = trimBlank(rest)
	end := 0
	for end < len(rest) && (isAlnum(rest[end]) || strings.IndexByte("_-./=", rest[end]) >= 0) {
		end++
	}
	switch rest[:end] {
	case "verify", "scan", "check":
		return true
	}
	return false
}

// firstWord splits off the first word of a shell command. A quoted part belongs
// to the word it stands in.
func firstWord(line string) (word, rest string) {
	line = trimBlank(line)
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t':
			return line[:i], line[i:]
		}
	}
	return line, ""
}

// isAssignment says whether a word is NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := 0; i < len(name); i++ {
		if !isAlnum(name[i]) && name[i] != '_' {
			return false
		}
	}
	return true
}

func trimBlank(s string) string { return strings.TrimLeft(s, " \t") }

// afterDash drops the dash of a list item.
func afterDash(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok && rest != trimBlank(rest) {
		return trimBlank(rest)
	}
	return s
}

// afterKey is what follows a YAML key and the blank that ends it.
func afterKey(s, key string) (string, bool) {
	rest, ok := strings.CutPrefix(s, key)
	if !ok || rest == trimBlank(rest) {
		return "", false
	}
	return trimBlank(rest), true
}

// unquoted drops the quotation mark that opens a YAML scalar.
func unquoted(s string) string {
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		return s[1:]
	}
	return s
}
