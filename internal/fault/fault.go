// Package fault is the one error taxonomy of the programs.
//
// An error has a kind for the machine, a sentence for the person and, where
// there is one, a hint that says what to type or change. Inside a package
// errors are plain fmt.Errorf("verb noun: %w"); a fault is made at the border
// where meaning is added.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what sort of thing went wrong. New kinds are appended, never
// inserted: the number may be stored.
type Kind int

// The kinds.
const (
	Internal    Kind = iota // an invariant of our own is broken
	Invalid                 // the caller asked for something that cannot be
	NotFound                // the named thing does not exist
	Conflict                // the named thing is in another state than assumed
	Denied                  // the caller may not
	Unavailable             // a thing we depend on does not answer
)

var kindNames = [...]string{"internal", "invalid", "not found", "conflict", "denied", "unavailable"}

// String is the kind in words.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "internal"
	}
	return kindNames[k]
}

// Error is an error with a kind. Msg starts in lower case, names the thing and
// its place, and never says "failed to".
type Error struct {
	Kind Kind
	Op   string // the operation that gave the error its meaning, for example "git.Range"
	Msg  string
	Hint string // what to type or change; empty when there is nothing to say
	Err  error
}

// E makes an Error. A nil err is allowed.
func E(op string, kind Kind, msg string, err error) *Error {
	return &Error{Kind: kind, Op: op, Msg: msg, Err: err}
}

// WithHint returns a copy of e that carries a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of the outermost fault in err's chain; Internal for an
// error that has none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}
