package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll.dev/internal/gate/source"
)

// Code says what sort of fault a Problem is.
type Code string

// The codes.
const (
	Unreadable    Code = "unreadable"      // the text is no YAML or JSON of ours
	UnknownKey    Code = "unknown_key"     //
	LegacyKey     Code = "legacy_key"      // §4.1 rule 4
	MissingKey    Code = "missing_key"     //
	WrongType     Code = "wrong_type"      //
	WrongValue    Code = "wrong_value"     // outside of a vocabulary or a form
	Blank         Code = "blank"           //
	ReviewNeeded  Code = "review_required" // §4.1 rule 6
	Duplicate     Code = "duplicate"       //
	Contradiction Code = "contradiction"   // two places that cannot both hold
	OverrideRule  Code = "override_rule"   // §4.9, floors, tiers and expiry
	TooLarge      Code = "too_large"       //
	TooMany       Code = "too_many"        // the rest of the problems is not listed
)

// Problem is one fault of one file. Message is a sentence without a value of the
// file, unless the value is one word of a closed vocabulary.
type Problem struct {
	Path       string // dotted, list items by their index; "" is the whole file
	Pos        source.Position
	Code       Code
	Message    string
	Suggestion string // the known word or path that is meant, or ""
}

// Errors is every fault of one file, in the order of the file. Class is the exit
// code they lead to: 2 for the manifest, 3 for a file that it names
// (docs/spec/verification.md §1.1).
type Errors struct {
	File     string
	Class    int
	Problems []Problem
}

// maxProblems bounds the list: a hostile file has half a million keys.
const maxProblems = 200

// Error is one line a problem: file:line:column: path: message.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.line(p)
	}
	return strings.Join(lines, "\n")
}

// ExitCode is the class.
func (e *Errors) ExitCode() int { return e.Class }

func (e *Errors) line(p Problem) string {
	var b strings.Builder
	b.WriteString(e.File)
	if p.Pos.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Pos.Line, p.Pos.Column)
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", p.Suggestion)
	}
	return b.String()
}

// faults collects the problems of one file.
type faults struct {
	list []Problem
	full bool
	seen map[string]bool // code and path: one fault is told once
}

func (f *faults) add(path []string, pos source.Position, code Code, format string, args ...any) {
	f.suggest(path, pos, code, "", format, args...)
}

func (f *faults) suggest(path []string, pos source.Position, code Code, suggestion, format string, args ...any) {
	if f.full {
		return
	}
	if len(f.list) == maxProblems {
		f.full = true
		f.list = append(f.list, Problem{Pos: pos, Code: TooMany, Message: "there are more problems, which are not listed"})
		return
	}
	p := Problem{Path: dotted(path), Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Suggestion: suggestion}
	id := string(code) + "\x00" + p.Path
	if f.seen[id] {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[id] = true
	f.list = append(f.list, p)
}

// dotted is a path as it is shown. A key is the file's own word, so what could
// steer a terminal is quoted away and what is long is cut.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, key := range path {
		if len(key) > maxShown {
			key = strings.ToValidUTF8(key[:maxShown], "") + "…"
		}
		if quoted := strconv.Quote(key); len(quoted) != len(key)+2 && !strings.Contains(key, "\"") {
			key = quoted
		}
		parts[i] = key
	}
	return strings.Join(parts, ".")
}

// maxShown is the longest key that is shown in full.
const maxShown = 120

// broken says whether something at or below a place is already faulty, so that
// what follows from it need not be told too.
func (f *faults) broken(path ...string) bool {
	at := dotted(path)
	return slices.ContainsFunc(f.list, func(p Problem) bool {
		return p.Path == at || strings.HasPrefix(p.Path, at+".")
	})
}

// errors is nil when there is no fault.
func (f *faults) errors(file string, class int) *Errors {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b Problem) int {
		if (a.Code == TooMany) != (b.Code == TooMany) {
			if a.Code == TooMany {
				return 1
			}
			return -1
		}
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line - b.Pos.Line
		}
		return a.Pos.Column - b.Pos.Column
	})
	return &Errors{File: file, Class: class, Problems: f.list}
}
